"""nnc: the user's command line: import, compile, run, bench, profile, calibrate, tune, try, worker,
fleet, serve, remote, stages, check, why, explore, compare, package, cache, targets.
"""

from __future__ import annotations

if __name__ == "__main__":  # before the imports, which Ctrl-C may interrupt
    from .start import nnc

    nnc()

import argparse
import os
import sys
import time
from collections.abc import Iterator, Sequence
from pathlib import Path

from .. import __version__
from ..ir.diagnostics import NncError
from ..ir.files import check_folder, sparing
from ..targets.base import all_targets, find_host
from ..targets.base import target as find_target
from .command import Streams, run_command
from .nnc_options import argument_parser
from .session import Session


def main(argv: Sequence[str] | None = None, streams: Streams | None = None) -> int:
    """Run nnc; returns the exit code."""
    arguments = sys.argv[1:] if argv is None else argv
    return run_command("nnc", _main, arguments, streams or Streams.standard())


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
    if args.command != "package" and getattr(args, "threads", 1) < 1:
        raise NncError(f"nnc: --threads is at least 1, not {args.threads}")
    if args.command in _WITHOUT_SESSION:
        return _WITHOUT_SESSION[args.command](args, streams)
    return _with_session(args, streams)


def _with_session(args: argparse.Namespace, streams: Streams) -> int:
    """Run a command that compiles; its output files may not overwrite its input files."""
    with sparing(_read_files(args, streams)):
        for written in (getattr(args, name, None) for name in ("output", "html", "trace", "curve")):
            if written:
                check_folder(streams.path(written))
            elif written is not None:
                raise NncError("nnc: the name of a file or folder to write is empty")
        for written in (getattr(args, name, None) for name in ("html", "trace", "curve")):
            if written and streams.path(written).is_dir():
                raise NncError(f"cannot write '{written}': it is a folder")
        _check_level()
        session = Session(args, streams)
        try:
            return _COMMANDS[args.command](args, session)
        finally:
            session.end_progress()


def _read_files(args: argparse.Namespace, streams: Streams) -> Iterator[Path]:
    """The input files of a command line, which no output may overwrite."""
    names = (
        getattr(args, key, None)
        for key in ("model", "other", "against", "expect", "inputs", "schedule")
    )
    for name in (*names, *getattr(args, "input", ())):
        if name:
            yield streams.path(name)
            yield streams.path(name.partition("=")[2] or name)


def _check_level() -> None:
    """Raise NncError if the environment's NNC_LEVEL is not a target."""
    if level := os.environ.get("NNC_LEVEL"):
        try:
            find_target(level)
        except NncError as error:
            raise NncError(f"NNC_LEVEL: {error.message}") from None


def _import(args: argparse.Namespace, session: Session) -> int:
    from ..ir.weights_file import write_module

    module = session.load()
    write_module(module, session.streams.path(args.output))
    return 0


def _compile(args: argparse.Namespace, session: Session) -> int:
    from .compile import compile_to_file

    return compile_to_file(args, session)


def _run(args: argparse.Namespace, session: Session) -> int:
    from ..driver.compile import compile_model
    from .inputs import (
        check_inputs,
        check_readable,
        describe,
        gather_inputs,
        read_expected,
        save_outputs,
    )

    if args.expect is not None:
        check_readable(session.streams.path(args.expect))
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
        accept=lambda module: check_inputs(module, args, session.streams),
    )
    inputs = gather_inputs(executable, args, session.streams)
    started = time.perf_counter()
    outputs = session.run(executable, inputs)
    session.progress(f"ran in {1e3 * (time.perf_counter() - started):.2f} ms")
    if args.output:  # before the lines, which nobody may read (`| head`)
        save_outputs(session.streams.path(args.output), outputs)
    for name, array in outputs.items():
        session.say(describe(name, array))
    if args.expect is not None:
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
    check_inputs(module, args, session.streams)
    profile = profile_model(
        Path(session.model).name,
        module,
        lambda executable: gather_inputs(executable, args, session.streams),
        threads=args.threads,
        target=args.target,
        runs=args.runs,
        progress=session.progress,
    )
    if args.html:
        write_whole(session.streams.path(args.html), html_page(profile))
    if args.trace:
        write_whole(session.streams.path(args.trace), chrome_trace(profile))
    for line in table(profile, None if args.all else 20):
        session.say(line)
    return 0


def _tune(args: argparse.Namespace, session: Session) -> int:
    from .tune import tune

    return tune(args, session)


def _try(args: argparse.Namespace, session: Session) -> int:
    from .try_schedule import try_edited

    return try_edited(args, session)


def _check(args: argparse.Namespace, session: Session) -> int:
    from .check import check_model

    return check_model(args, session)


def _why(args: argparse.Namespace, session: Session) -> int:
    from .why import why_model

    return why_model(args, session)


def _explore(args: argparse.Namespace, session: Session) -> int:
    from .explore import explore_model

    return explore_model(args, session)


def _compare(args: argparse.Namespace, session: Session) -> int:
    from .compare import compare_model

    return compare_model(args, session)


def _package(args: argparse.Namespace, session: Session) -> int:
    from .package import package_model

    return package_model(args, session)


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


def _calibrate(args: argparse.Namespace, streams: Streams) -> int:
    from .calibrate import calibrate_machine

    return calibrate_machine(args, streams)


def _worker(args: argparse.Namespace, streams: Streams) -> int:
    from .worker import worker

    return worker(args, streams)


def _fleet(args: argparse.Namespace, streams: Streams) -> int:
    from .worker import fleet

    return fleet(args, streams)


def _remote(args: argparse.Namespace, streams: Streams) -> int:
    from .remote import remote

    return remote(args, streams)


def _serve(args: argparse.Namespace, streams: Streams) -> int:
    from .serve import serve

    return serve(args, streams)


def _targets(args: argparse.Namespace, streams: Streams) -> int:
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
    "try": _try,
    "stages": _stages,
    "check": _check,
    "why": _why,
    "explore": _explore,
    "compare": _compare,
    "package": _package,
}
_WITHOUT_SESSION = {
    "cache": _cache,
    "calibrate": _calibrate,
    "fleet": _fleet,
    "remote": _remote,
    "serve": _serve,
    "targets": _targets,
    "worker": _worker,
}
"""The commands that load no model."""
