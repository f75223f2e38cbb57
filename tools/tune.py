"""`nnc tune`: faster schedules for a model's kernels, what was found, and the same code again."""

from __future__ import annotations

import argparse
from collections.abc import Iterator
from difflib import unified_diff
from hashlib import sha256
from pathlib import Path
from typing import TYPE_CHECKING

from ..dialects import schedule
from ..driver.compile import run_stages
from ..driver.program import make_program
from ..driver.tuning.choices import for_machine, read_choices, tell
from ..driver.tuning.graph import GraphFound
from ..driver.tuning.tune import tune_model
from ..ir.decisions import Decisions
from ..ir.diagnostics import NncError
from ..kernels.tuned import TunedFolder, fingerprint, kernel_functions
from ..targets.attribute import attach, detailed, target_of
from .inputs import check_inputs, gather_inputs

if TYPE_CHECKING:
    from .session import Session


def tune(args: argparse.Namespace, session: Session) -> int:
    """What `nnc tune` was asked for."""
    asked = [name for name in ("output", "replay", "explain") if getattr(args, name)]
    if len(asked) != 1:
        raise NncError("nnc: tune takes one of -o FOLDER, --replay FOLDER and --explain FOLDER")
    folder = session.streams.path(getattr(args, asked[0]))
    if args.replay:
        return _replay(args, session, folder)
    if args.explain:
        for line in _explained(args, session, folder):
            session.say(line)
        return 0
    return _search(args, session, folder)


def _search(args: argparse.Namespace, session: Session, folder: Path) -> int:
    if not args.seconds > 0:
        raise NncError(f"nnc: --seconds is above 0, not {args.seconds:g}")
    if args.trials is not None and args.trials < 1:
        raise NncError(f"nnc: --trials is at least 1, not {args.trials}")
    args.random = True
    module = session.load()
    check_inputs(module, args)
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
    )
    for line in told_of_graph(found.graph):
        session.say(line)
    for one in sorted(found.schedules.values(), key=lambda one: -one.gain):
        session.say(f"{one.gain:7.1%} +- {one.spread:.1%}  {one.schedule.kernel}  ({one.told})")
    for line in found.dropped:
        session.say(f"dropped: {line}")
    if not found.schedules or found.whole is None:
        about = f" ({found.whole} of the whole)" if found.whole is not None else ""
        session.say(f"nothing is faster than the default{about}; nothing is kept")
        return 0
    session.say(
        f"{len(found.schedules)} schedules in {folder}: the model takes "
        f"{found.whole.median:.1%} of the default's time, +- {found.whole.spread:.1%}"
    )
    return 0


def told_of_graph(found: GraphFound) -> Iterator[str]:
    """What was found on the graph."""
    for one in found.choices:
        yield f"{one.gain:7.1%} +- {one.spread:.1%}  of the model: {one}"
    for line in found.dropped:
        yield f"dropped: {line}"
    if found.whole is not None:
        yield (
            f"{len(found.choices)} choices on the graph: the model takes {found.whole.median:.1%} "
            f"of the default's time, +- {found.whole.spread:.1%}"
        )


def _replay(args: argparse.Namespace, session: Session, folder: Path) -> int:
    """Compile with what was found, and print the digest of the code."""
    TunedFolder(folder).read()
    module = session.load()
    run_stages(module, target=args.target, tuned=TunedFolder(folder), progress=session.progress)
    code = make_program(module).code
    session.say(f"{sha256(code).hexdigest()}  {len(code):,} bytes of code")
    return 0


def _explained(args: argparse.Namespace, session: Session, folder: Path) -> Iterator[str]:
    """For each kernel, what was found and how its schedule differs from the default."""
    known = TunedFolder(folder).read()
    module = session.load()
    machine = detailed(attach(module, target_of(module, args.target)))
    decisions = Decisions()
    tell(decisions, TunedFolder(folder), machine)
    run_stages(module, last="bufferize", progress=session.progress, decisions=decisions)
    run_stages(module, last="schedule")
    taken = {one.key for one in decisions.made if one.told}
    for one in for_machine(read_choices(TunedFolder(folder)), machine):
        if one.key in taken:
            yield f"{one}: {one.gain:.1%} of the model's time saved, +- {one.spread:.1%}"
    default = schedule.schedules(module)
    for function in kernel_functions(module):
        name = function.sym_name
        if name not in default:
            continue
        found = [one for (key, _), one in known.items() if key == fingerprint(function)]
        if not found:
            yield f"{name}: the default"
        for one in found:
            yield f"{name}: {one.gain:.1%} faster, +- {one.spread:.1%}; {one.told}"
            if one.machine != machine:
                yield f"  measured on {one.machine}; this is {machine}"
            ours, theirs = (str(s).splitlines()[1:] for s in (default[name], one.schedule))
            for line in list(unified_diff(ours, theirs, lineterm="", n=1))[2:]:
                yield f"  {line}"
