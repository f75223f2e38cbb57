"""`nnc compile`: writes a model as the kind of file that the output's suffix names."""

from __future__ import annotations

import argparse
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING

from ..artifacts.options import FORMS, PLACES, ArtifactOptions, prefix_of
from ..driver.artifacts import check_output, kind_of, write_artifact
from ..driver.compile import run_stages, told
from ..driver.explaining.summary import Summary, summary
from ..driver.levels import check_levels, make_levels
from ..driver.program import check_fallback
from ..driver.specializing import notes_on_shapes
from ..ir.decisions import Decisions
from ..ir.diagnostics import NncError
from ..ir.timing import Timed, untimed
from ..lowering.pipelines import GRAPH_STAGES
from ..numerics.options import options_of
from ..targets.attribute import target_of
from ..targets.base import Target
from ..targets.base import target as named_target
from .opt_report import Timing
from .session import Session

if TYPE_CHECKING:
    from ..ir.core import Operation
    from ..ir.passes import Instrumentation
    from ..kernels.tuned import TunedFolder
    from ..numerics.checking import CheckNumerics


def compile_to_file(args: argparse.Namespace, session: Session) -> int:
    """Compile a model and write it; returns 0. Raises NncError, and then writes nothing."""
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
    prepared = options.prepare_milliseconds(kind_of(file, targets[0]))
    watching = [one for one in (check, timing) if one is not None]
    stages = _Stages(session, targets[0], tuned, args.prove, prepared, watching, timed)
    try:
        if levels:
            program = make_levels(module, levels, stages.run, options, timed)
            written = levels[0].write(program, file, options, timed)
        else:
            stages.run(module)
            if args.fallback == "error":
                check_fallback(targets[0].fallbacks(module), targets[0])
            written = write_artifact(module, output, options, timed, session.progress)
    finally:
        if check is not None:
            check.print_notes(session.streams.stderr)
    _tell_expected(module, targets, stages.summaries, session)
    _tell_written(written, file, options, session)
    if timing is not None:
        report = timing.report(args.mlir_timing_display)
        print(report, end="", file=session.streams.stderr)
    return 0


@dataclass
class _Stages:
    """Takes modules through the stages, and keeps a summary of each."""

    session: Session
    target: Target
    tuned: TunedFolder | None
    proves: bool
    prepare_milliseconds: int | None
    instrumentations: Sequence[Instrumentation]
    timed: Timed
    decisions: Decisions = field(default_factory=Decisions)
    summaries: list[Summary | None] = field(default_factory=list)

    def run(self, module: Operation) -> None:
        run_stages(
            module,
            tuned=self.tuned,
            after_stage=self._after,
            decisions=self.decisions,
            progress=self.session.progress,
            prepare_milliseconds=self.prepare_milliseconds,
            instrumentations=self.instrumentations,
            timed=self.timed,
        )

    def _after(self, name: str, module: Operation) -> None:
        if name == GRAPH_STAGES[-1].name:
            self.summaries.append(summary(module, self.decisions.made))
            self.decisions.made.clear()
            if self.proves:
                _prove(module, self.target, self.session)


def _tell_expected(
    module: Operation, targets: Sequence[Target], found: Sequence[Summary | None], session: Session
) -> None:
    """Print the expected work of a run, and the best alternative: a line for each target."""
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
    """The options for the files to write, from the command line."""
    place, form = (_one_of(args.weights, names) for names in (PLACES, FORMS))
    prefix = args.prefix
    if prefix is None:
        prefix = prefix_of(args.model) if args.bindings else "nnc"
    return ArtifactOptions(place, form, prefix, args.static, args.bindings, args.memory)


def _tell_written(
    written: Sequence[Path], file: Path, options: ArtifactOptions, session: Session
) -> None:
    """Print which files were written."""
    for path in written:
        if path.parent == file.parent:
            session.progress(f"wrote {path.name} ({path.stat().st_size:,} bytes)")
    for language in options.bindings:
        session.progress(f"wrote {language}/, which its README.md says how to build")


def _prove(module: Operation, target: Target, session: Session) -> None:
    """Prove the kernels of a module with schedules. Raises NncError for a wrong one."""
    from ..ir.location import node_of
    from ..ir.passes import PassContext, PassManager
    from ..lowering.pipelines import past_stages, pipeline

    if target.proof is None:
        raise NncError(f"--prove is for devices; '{target.name}' has no kernels to prove")
    if past := past_stages(module, target):
        raise NncError(f"--prove starts from a schedule, but the IR is past '{past[-1]}'")
    session.progress(f"{target.proof.name}: {target.proof.summary}")
    context = PassContext(progress=session.progress)
    # Compiling runs the same passes on the same module, and does not verify it after each, either.
    PassManager(pipeline(target.proof.text()), context, verify_each=False).run(module.clone())
    counts = context.statistics.get("prove-kernels", {})
    proven, left = counts.get("proven", 0), counts.get("open", 0)
    session.progress(f"{proven} of {proven + left} launches proven, as groups and as threads")
    notes = Counter(
        f"{node_of(one.location) if one.location is not None else ''}: {one.message}"
        for one in context.diagnostics
    )
    for note, times in notes.items():
        session.progress(f"note: {note.removeprefix(': ')}{f' ({times} times)' * (times > 1)}")


def _numerics(args: argparse.Namespace, session: Session) -> CheckNumerics | None:
    """The check that `--check-numerics` requests; None without it."""
    options = options_of(args)
    if options is None:
        return None
    from ..numerics.checking import CheckNumerics

    name = options.reproducer or f"{Path(args.model).stem}.numerics.mlir"
    return CheckNumerics.writing(options, session.streams.path(name), name)


def _one_of(given: Sequence[str], names: Sequence[str]) -> str | None:
    """The only one of the names that is given, or None. Raises NncError for several."""
    found = sorted({name for name in given if name in names})
    if len(found) > 1:
        raise NncError(f"nnc: --weights cannot be both {' and '.join(found)}")
    return found[0] if found else None
