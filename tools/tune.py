"""`nnc tune`: searches faster schedules for a model's kernels, shows them, and replays them."""

from __future__ import annotations

import argparse
from collections.abc import Iterator
from contextlib import closing, nullcontext
from difflib import unified_diff
from hashlib import sha256
from pathlib import Path
from typing import TYPE_CHECKING

from ..dialects import schedule
from ..driver.compile import run_stages
from ..driver.program import make_program
from ..driver.tuning.choices import for_machine, read_choices, tell
from ..driver.tuning.graph import GraphFound
from ..driver.tuning.results import Tuned
from ..driver.tuning.tune import tune_model
from ..ir.decisions import Decisions
from ..ir.diagnostics import NncError
from ..ir.files import write_whole
from ..ir.version import VERSION
from ..kernels.tuned import (
    TunedFolder,
    TunedSchedule,
    check_schedule,
    fingerprint,
    kernel_functions,
    numbers_digest,
    schedule_digest,
)
from ..targets.attribute import attach, machine_name, target_of
from .inputs import check_inputs, gather_inputs
from .tune_folders import exported, measurements, merged, pruned
from .worker import fleet_of

if TYPE_CHECKING:
    from ..dialects import func
    from ..targets.base import Target
    from .session import Session


FORMS = (
    "-o FOLDER",
    "--replay FOLDER",
    "--explain FOLDER",
    "--prune FOLDER",
    "--merge FROM -o FOLDER",
    "--export FOLDER -o FILE",
    "--measurements FILE.csv",
)
ACTIONS = ("replay", "explain", "prune", "merge", "export", "measurements")
NEED_OUTPUT = ("merge", "export")
WITHOUT_MODEL = (*NEED_OUTPUT, "measurements")


def tune(args: argparse.Namespace, session: Session) -> int:
    """Run an action of `nnc tune`."""
    asked = [name for name in ACTIONS if getattr(args, name)]
    action = asked[0] if asked else "output"
    if len(asked) > 1 or (action in ("output", *NEED_OUTPUT)) != bool(args.output):
        raise NncError(f"nnc: tune takes one of {', '.join(FORMS[:-1])} and {FORMS[-1]}")
    if args.drop and action != "prune":
        raise NncError("nnc: --drop needs --prune")
    if args.curve and action != "output":
        raise NncError("nnc: --curve needs a search: give -o FOLDER")
    if (args.model is None) == (action not in WITHOUT_MODEL):
        what = "needs a model" if args.model is None else "takes no model"
        raise NncError(f"nnc: tune {'-o' if action == 'output' else f'--{action}'} {what}")
    folder = session.streams.path(getattr(args, action))
    output = session.streams.path(args.output) if args.output else folder
    match action:
        case "replay":
            return _replay(args, session, folder)
        case "explain":
            lines = _explained(args, session, folder)
        case "prune":
            lines = pruned(args, session, folder)
        case "merge":
            lines = merged(folder, output, session.say)
        case "export":
            lines = exported(folder, output)
        case "measurements":
            lines = measurements(folder)
        case _:
            return _search(args, session, folder)
    for line in lines:
        session.say(line)
    return 0


def _search(args: argparse.Namespace, session: Session, folder: Path) -> int:
    if not args.seconds > 0:
        raise NncError(f"nnc: --seconds is above 0, not {args.seconds:g}")
    if args.trials is not None and args.trials < 1:
        raise NncError(f"nnc: --trials is at least 1, not {args.trials}")
    curve = session.streams.path(args.curve) if args.curve else None
    if curve is not None and not curve.parent.is_dir():
        raise NncError(f"cannot write '{curve}': there is no folder '{curve.parent}'")
    args.random = True
    fleet = fleet_of(args, session.streams, session.progress)
    with closing(fleet) if fleet is not None else nullcontext():
        module = session.load()
        check_inputs(module, args, session.streams)
        found = tune_model(
            module,
            lambda executable: gather_inputs(executable, args, session.streams),
            folder,
            seconds=args.seconds,
            trials=args.trials,
            threads=args.threads,
            target=args.target,
            seed=args.seed,
            precision=args.precision,
            say=session.progress,
            workers=args.workers or 1,
            fleet=fleet,
        )
    if curve is not None:
        write_whole(curve, curve_of(found))
    for line in told_of_graph(found.graph):
        session.say(line)
    for one in sorted(found.schedules.values(), key=lambda one: -one.gain):
        session.say(f"{one.gain:7.1%} +- {one.spread:.1%}  {one.schedule.kernel}  ({one.told})")
    for line in found.dropped:
        session.say(f"dropped: {line}")
    if not found.schedules or found.whole is None:
        about = f" ({found.whole} of the whole)" if found.whole is not None else ""
        session.say(
            f"no schedule surely faster than the default was found in {found.experiments} "
            f"experiments{about}: {found.ended}; none is kept"
        )
        return 0
    session.say(
        f"{len(found.schedules)} schedules in {folder}: the model takes "
        f"{found.whole.median:.1%} of its time with default schedules, +- {found.whole.spread:.1%}"
    )
    if found.graph.whole is not None and found.total is not None:
        session.say(
            f"with the choices on the graph: {found.total.median:.1%} of the untuned model's time, "
            f"+- {found.total.spread:.1%}"
        )
    return 0


def curve_of(found: Tuned) -> str:
    """A CSV table of the gain over time: seconds since the start, the saved part of the model's
    time, and its source: the sum of kernels' gains during the search, or the measured gain of
    the whole model.
    """
    rows = ["seconds,gain,measured"]
    rows += (f"{seconds:.1f},{gain:.4f},search" for seconds, gain in found.curve)
    kept = found.total.gain if found.total is not None else 0.0
    return "\n".join([*rows, f"{found.seconds:.1f},{kept:.4f},whole"]) + "\n"


def told_of_graph(found: GraphFound) -> Iterator[str]:
    """The choices found for the graph, as lines for people."""
    for one in found.choices:
        yield f"{one.gain:7.1%} +- {one.spread:.1%}  of the model: {one}"
    for line in found.dropped:
        yield f"dropped: {line}"
    if found.whole is not None:
        yield (
            f"{len(found.choices)} choices on the graph: the model takes {found.whole.median:.1%} "
            f"of the untuned model's time, +- {found.whole.spread:.1%}"
        )


def _replay(args: argparse.Namespace, session: Session, folder: Path) -> int:
    """Compile with the stored schedules, and print the digest of the code."""
    TunedFolder(folder).read()
    module = session.load()
    run_stages(module, target=args.target, tuned=TunedFolder(folder), progress=session.progress)
    code = make_program(module).code
    session.say(f"{sha256(code).hexdigest()}  {len(code):,} bytes of code")
    return 0


def _explained(args: argparse.Namespace, session: Session, folder: Path) -> Iterator[str]:
    """For each kernel, the stored schedule, whether it holds, and how it differs from default."""
    known = TunedFolder(folder).read()
    module = session.load()
    target = attach(module, target_of(module, args.target))
    machine = machine_name(target)
    decisions = Decisions()
    tell(decisions, TunedFolder(folder), machine)
    run_stages(module, last="bufferize", progress=session.progress, decisions=decisions)
    run_stages(module, last="schedule")
    taken = {one.key for one in decisions.made if one.told}
    for one in for_machine(read_choices(TunedFolder(folder)), machine):
        if one.key in taken:
            yield f"{one}: {one.gain:.1%} of the model's time saved, +- {one.spread:.1%}"
    default = schedule.schedules(module)
    seen: set[str] = set()
    for function in kernel_functions(module):
        name, key = function.sym_name, fingerprint(function)
        if name not in default:
            continue
        seen.add(key)
        found = [one for (kernel, _), one in known.items() if kernel == key]
        if not found:
            yield f"{name}: the default"
        for one in found:
            yield f"{name}: {one.gain:.1%} faster, +- {one.spread:.1%}; {one.told}"
            for line in _doubts(one, function, default[name], target):
                yield f"  {line}"
            ours, theirs = (str(s).splitlines()[1:] for s in (default[name], one.schedule))
            for line in list(unified_diff(ours, theirs, lineterm="", n=1))[2:]:
                yield f"  {line}"
    others = sum(kernel not in seen for kernel, _ in known)
    if others:
        yield f"{others} schedules are for kernels that this model does not have"


def _doubts(
    one: TunedSchedule, function: func.FuncOp, default: schedule.For, target: Target
) -> Iterator[str]:
    """Reasons why a stored schedule's measurement may not hold any more, or not here."""
    if one.edited:
        yield "edited by hand since: what it takes now is not known"
    if one.machine != machine_name(target):
        yield (
            f"measured on {one.machine}; this is {machine_name(target)}, which takes it only "
            "with --tuned-anywhere"
        )
    elif one.numbers != numbers_digest(target):
        yield "the machine's numbers have changed since: to be measured again"
    if one.version != VERSION:
        yield f"measured with nnc {one.version}, this is {VERSION}: to be measured again"
    if one.machine == machine_name(target) and one.default != schedule_digest(default):
        yield "the default has changed since it was compared with it: to be measured again"
    if one.threads:
        yield f"measured with {one.threads} thread{'s' if one.threads > 1 else ''}"
    try:
        check_schedule(one.copy(), function.body.blocks[0])
    except NncError as error:
        yield f"not legal any more, the default is taken: {error.message}"
