"""nnc: the user's command line: import, compile, run, bench, profile, calibrate, tune, stages,
check, why, compare, cache, targets.
"""

from __future__ import annotations

import argparse
import os
import sys
import time
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from .. import __version__
from ..artifacts.options import FORMS, PLACES, ArtifactOptions, prefix_of
from ..ir.diagnostics import NncError
from ..ir.files import check_folder
from ..ir.timing import untimed
from ..numerics.options import options_of
from ..targets.base import all_targets, find_host
from ..targets.base import target as find_target
from .command import Streams, leave, run_command
from .nnc_options import argument_parser
from .session import Session

if TYPE_CHECKING:
    from ..driver.explaining.summary import Summary
    from ..ir.core import Operation
    from ..numerics.checking import CheckNumerics
    from ..targets.base import Target


def main(argv: Sequence[str] | None = None, streams: Streams | None = None) -> int:
    """Run nnc; returns the exit code."""
    arguments = sys.argv[1:] if argv is None else argv
    return run_command("nnc", _main, arguments, streams or Streams.standard())


def cli() -> None:
    """Entry point of the installed script."""
    leave(main())


def _main(argv: Sequence[str], streams: Streams) -> int:
    parser = argument_parser()
    try:
        args = parser.parse_args(argv)
    except SystemExit as done:  # --help
        return int(done.code or 0)
    if args.version:
        print(f"nnc {__version__}", file=streams.stdout)
        return 0
    if args.completion:
        from .completion import completion_script

        streams.stdout.write(completion_script("nnc", args.completion))
        return 0
    if args.command is None:
        parser.print_help(streams.stdout)
        return 1
    if getattr(args, "threads", 1) < 1:
        raise NncError(f"nnc: --threads is at least 1, not {args.threads}")
    if args.command == "cache":
        return _cache(args, streams)
    if args.command == "calibrate":
        from .calibrate import calibrate_machine

        return calibrate_machine(args, streams)
    if args.command == "targets":
        return _targets(streams)
    for written in (getattr(args, name, None) for name in ("output", "html", "trace")):
        if written:
            check_folder(streams.path(written))
    _check_level()
    session = Session(args, streams)
    try:
        return _COMMANDS[args.command](args, session)
    finally:
        session.end_progress()


def _check_level() -> None:
    """Raises NncError where the environment's NNC_LEVEL names no target."""
    if level := os.environ.get("NNC_LEVEL"):
        try:
            find_target(level)
        except NncError as error:
            raise NncError(f"NNC_LEVEL: {error.message}") from None


def _one_of(given: Sequence[str], names: Sequence[str]) -> str | None:
    """The one of the names that is given, if any. Raises NncError for several."""
    found = sorted({name for name in given if name in names})
    if len(found) > 1:
        raise NncError(f"nnc: --weights cannot be both {' and '.join(found)}")
    return found[0] if found else None


def _import(args: argparse.Namespace, session: Session) -> int:
    from ..ir.weights_file import write_module

    module = session.load()
    write_module(module, session.streams.path(args.output))
    return 0


def _compile(args: argparse.Namespace, session: Session) -> int:
    from ..driver.artifacts import check_output, kind_of, write_artifact
    from ..driver.compile import run_stages, told
    from ..driver.explaining.summary import summary
    from ..driver.levels import check_levels, make_levels
    from ..driver.program import check_fallback
    from ..driver.specializing import notes_on_shapes
    from ..ir.decisions import Decisions
    from ..lowering.pipelines import GRAPH_STAGES
    from ..targets.attribute import target_of
    from ..targets.base import target as named_target
    from .opt_report import Timing

    output = session.streams.path(args.output)
    options = _artifact_options(args)
    check_output(output, options)
    several = args.target.split(",") if args.target and "," in args.target else []
    levels = check_levels(several, output, options) if several else []
    check, tuned = _numerics(args, session), session.tuned(args)
    timing = Timing() if args.mlir_timing else None
    timed = timing.scope if timing is not None else untimed
    timed = told(None if session.quiet else session.progress, timed)
    with timed("Import"):
        module = session.load()
    if args.target and not levels:
        target_of(module, named_target(args.target).for_file(output).name)
    targets = levels or [target_of(module)]
    file = targets[0].file_in(output, options)
    for target in targets:
        target.check_file(file, options)
    for note in notes_on_shapes(module):
        session.progress(f"note: {note}")

    decisions = Decisions()
    summaries: list[Summary | None] = []

    def scheduled(name: str, module: Operation) -> None:
        if name == GRAPH_STAGES[-1].name:
            summaries.append(summary(module, decisions.made))
            decisions.made.clear()
            if args.prove:
                _prove(module, targets[0], session)

    def stages(module: Operation) -> None:
        run_stages(
            module,
            tuned=tuned,
            after_stage=scheduled,
            decisions=decisions,
            progress=session.progress,
            prepare_milliseconds=options.prepare_milliseconds(kind_of(file, targets[0])),
            instrumentations=[one for one in (check, timing) if one is not None],
            timed=timed,
        )

    try:
        if levels:
            program = make_levels(module, levels, stages, options, timed)
            written = levels[0].write(program, file, options, timed)
        else:
            stages(module)
            if args.fallback == "error":
                check_fallback(targets[0].fallbacks(module), targets[0])
            written = write_artifact(module, output, options, timed, session.progress)
    finally:
        if check is not None:
            check.print_notes(session.streams.stderr)
    _tell_expected(module, targets, summaries, session)
    _tell_written(written, file, options, session)
    if timing is not None:
        report = timing.report(args.mlir_timing_display)
        print(report, end="", file=session.streams.stderr)
    return 0


def _tell_expected(
    module: Operation, targets: Sequence[Target], found: Sequence[Summary | None], session: Session
) -> None:
    """Say what a run does and takes, and what was not taken: a line for each target."""
    if len(targets) > 1:
        for target, one in zip(targets, found, strict=True):
            if one is not None:
                session.progress(f"{target.name}: {one.line('')}")
        return
    told = targets[0].told(module)
    if found and found[0] is not None:
        session.progress(found[0].line(told))
    elif told:
        session.progress(told)
    for note in targets[0].notes(module):
        if note != told:
            session.progress(note)


def _artifact_options(args: argparse.Namespace) -> ArtifactOptions:
    """What the command line says of the files to write."""
    place, form = (_one_of(args.weights, names) for names in (PLACES, FORMS))
    prefix = args.prefix
    if prefix is None:
        prefix = prefix_of(args.model) if args.bindings else "nnc"
    return ArtifactOptions(place, form, prefix, args.static, args.bindings, args.memory)


def _tell_written(
    written: Sequence[Path], file: Path, options: ArtifactOptions, session: Session
) -> None:
    """Say which files are there now."""
    for path in written:
        if path.parent == file.parent:
            session.progress(f"wrote {path.name} ({path.stat().st_size:,} bytes)")
    for language in options.bindings:
        session.progress(f"wrote {language}/, which its README.md says how to build")


def _prove(module: Operation, target: Target, session: Session) -> None:
    """Prove the kernels of a module with schedules. Raises NncError where one is wrong."""
    from ..ir.location import node_of
    from ..ir.passes import PassContext, PassManager
    from ..lowering.pipelines import pipeline

    if target.proof is None:
        raise NncError(f"--prove is for devices; '{target.name}' has no kernels to prove")
    session.progress(f"{target.proof.name}: {target.proof.summary}")
    context = PassContext(progress=session.progress)
    PassManager(pipeline(target.proof.text()), context).run(module.clone())
    counts = context.statistics.get("prove-kernels", {})
    proven, left = counts.get("proven", 0), counts.get("open", 0)
    session.progress(f"{proven} of {proven + left} launches proven, as groups and as threads")
    for one in context.diagnostics:
        place = node_of(one.location) if one.location is not None else ""
        session.progress(f"note: {place}{': ' if place else ''}{one.message}")


def _numerics(args: argparse.Namespace, session: Session) -> CheckNumerics | None:
    """What `--check-numerics` asks for."""
    options = options_of(args)
    if options is None:
        return None
    from ..numerics.checking import CheckNumerics

    name = options.reproducer or f"{Path(args.model).stem}.numerics.mlir"
    return CheckNumerics.writing(options, session.streams.path(name), name)


def _run(args: argparse.Namespace, session: Session) -> int:
    from ..driver.compile import compile_model
    from .inputs import check_inputs, describe, gather_inputs, read_expected, save_outputs

    executable = compile_model(
        session.model,
        **session.choices,
        threads=args.threads,
        target=args.target,
        fast_math=session.fast_math,
        cache=args.cache,
        fallback=args.fallback != "error",
        tuned=session.tuned(args),
        progress=session.progress,
        accept=lambda module: check_inputs(module, args),
    )
    inputs = gather_inputs(executable, args, session.streams)
    started = time.perf_counter()
    outputs = session.run(executable, inputs)
    session.progress(f"ran in {1e3 * (time.perf_counter() - started):.2f} ms")
    for name, array in outputs.items():
        session.say(describe(name, array))
    if args.output:
        save_outputs(session.streams.path(args.output), outputs)
    if args.expect:
        from .inputs import compare

        expected = read_expected(session.streams.path(args.expect), executable)
        complaints = compare(outputs, expected, args.tolerance)
        for line in complaints:
            print(line, file=session.streams.stderr)
        if not complaints:
            part = "" if len(expected) >= len(outputs) else f"{len(expected)} of {len(outputs)}: "
            session.say(f"{part}agrees with {args.expect} within {args.tolerance:g}")
        return 1 if complaints else 0
    return 0


def _bench(args: argparse.Namespace, session: Session) -> int:
    from .bench import bench_model

    if args.runs < 1:
        raise NncError(f"nnc: --runs is at least 1, not {args.runs}")
    args.random = True
    for line in bench_model(session.model, args, session):
        session.say(line)
    return 0


def _profile(args: argparse.Namespace, session: Session) -> int:
    from ..driver.profiling.collect import profile_model
    from ..driver.profiling.page import html_page
    from ..driver.profiling.report import chrome_trace, table
    from ..ir.files import write_whole
    from .inputs import check_inputs, gather_inputs

    if args.runs < 1:
        raise NncError(f"nnc: --runs is at least 1, not {args.runs}")
    args.random = True
    module = session.load()
    check_inputs(module, args)
    profile = profile_model(
        Path(session.model).name,
        module,
        lambda executable: gather_inputs(executable, args, session.streams),
        threads=args.threads,
        target=args.target,
        runs=args.runs,
        progress=session.progress,
    )
    for line in table(profile, None if args.all else 20):
        session.say(line)
    if args.html:
        write_whole(session.streams.path(args.html), html_page(profile))
    if args.trace:
        write_whole(session.streams.path(args.trace), chrome_trace(profile))
    return 0


def _tune(args: argparse.Namespace, session: Session) -> int:
    from .tune import tune

    return tune(args, session)


def _check(args: argparse.Namespace, session: Session) -> int:
    from .check import check_model

    return check_model(args, session)


def _why(args: argparse.Namespace, session: Session) -> int:
    from .why import why_model

    return why_model(args, session)


def _compare(args: argparse.Namespace, session: Session) -> int:
    from .compare import compare_model

    return compare_model(args, session)


def _stages(args: argparse.Namespace, session: Session) -> int:
    from ..driver.compile import write_stages

    folder: Path = session.streams.path(args.output)
    for path in write_stages(
        session.model,
        folder,
        **session.choices,
        target=args.target,
        fast_math=session.fast_math,
        progress=session.progress,
    ):
        session.say(f"{path}")
    return 0


def _cache(args: argparse.Namespace, streams: Streams) -> int:
    from ..driver.cache import ModelCache

    cache = ModelCache()
    if args.clear:
        freed = cache.clear()
        print(f"removed {freed / 1e6:,.1f} MB from {cache.folder}", file=streams.stdout)
        return 0
    entries = cache.entries()
    used = sum(entry.bytes for entry in entries)
    print(f"folder:  {cache.folder}", file=streams.stdout)
    print(f"models:  {len(entries)}", file=streams.stdout)
    print(f"size:    {used / 1e6:,.1f} MB of at most {cache.limit / 1e6:,.0f}", file=streams.stdout)
    for entry in entries:
        when = time.strftime("%Y-%m-%d %H:%M", time.localtime(entry.used))
        print(f"  {when}  {entry.bytes / 1e6:10,.1f} MB  {entry.path.name}", file=streams.stdout)
    return 0


def _targets(streams: Streams) -> int:
    from ..targets.attribute import detailed

    here = find_host()
    if here is not None:
        print(f"host: {detailed(here)}", file=streams.stdout)
    found = (one for row in all_targets() for one in (row, *row.variants))
    rows = [(", ".join((one.name, *one.aliases)), one) for one in found]
    width = max(len(names) for names, _ in rows)
    for names, one in rows:
        print(f"{names:{width}}  {one.where_it_runs():13}  {one.summary}", file=streams.stdout)
    return 0


_COMMANDS = {
    "import": _import,
    "compile": _compile,
    "run": _run,
    "bench": _bench,
    "profile": _profile,
    "tune": _tune,
    "stages": _stages,
    "check": _check,
    "why": _why,
    "compare": _compare,
}


if __name__ == "__main__":
    cli()
