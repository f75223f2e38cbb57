"""`nnc tune`: faster schedules for a model's kernels, what was found, and the same code again."""

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
from ..driver.tuning.tune import tune_model
from ..ir.diagnostics import NncError
from ..kernels.tuned import TunedFolder, fingerprint, kernel_functions
from ..targets.attribute import detailed, target_of
from .inputs import check_inputs, gather_inputs
from .worker import fleet_of

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
    fleet = fleet_of(args, session.streams, session.progress)
    with closing(fleet) if fleet is not None else nullcontext():
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
            say=session.progress,
            workers=args.workers or 1,
            fleet=fleet,
        )
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
    run_stages(module, target=args.target, last="bufferize", progress=session.progress)
    run_stages(module, last="schedule")
    machine = detailed(target_of(module))
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
