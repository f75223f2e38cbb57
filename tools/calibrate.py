"""`nnc calibrate`: measures this machine, shows its calibration, or removes it."""

from __future__ import annotations

import argparse
from typing import TYPE_CHECKING

from ..ir.diagnostics import NncError

if TYPE_CHECKING:
    from .command import Streams

_LONGEST = 3600.0


def calibrate_machine(args: argparse.Namespace, streams: Streams) -> int:
    """Run `nnc calibrate`; returns 1 if the measurement is not stored."""
    from ..driver.calibrating.calibrate import described, machine_name
    from ..targets.base import find_host
    from ..targets.calibration import forget

    if not 0 < args.seconds <= _LONGEST:
        raise NncError(f"nnc: --seconds is above 0 and at most {_LONGEST:g}, not {args.seconds:g}")
    if args.show and args.forget:
        raise NncError("nnc: --show and --forget exclude each other")
    one = described(args.target)
    if args.forget:
        gone = forget(machine_name(one))
        find_host.cache_clear()
        print("removed" if gone else "nothing was kept", file=streams.stdout)
        return 0
    return _show(args, streams) if args.show else _measure(args, streams)


def _show(args: argparse.Namespace, streams: Streams) -> int:
    from ..driver.calibrating.calibrate import described, machine_name
    from ..driver.calibrating.table import REFUSED, table
    from ..targets.calibration import file_of, stored

    one = described(args.target)
    found = stored(machine_name(one))
    if found is None:
        text = f"nothing is kept of {machine_name(one)}; `nnc calibrate` measures it"
        print(text, file=streams.stdout)
        return 1
    print(f"{found.machine}: {file_of(found.machine)}", file=streams.stdout)
    for line in table(found, one.machine):
        print(line, file=streams.stdout)
    for line in found.about.get(REFUSED, "").splitlines():
        print(f"not kept: {line}", file=streams.stdout)
    return 0


def _measure(args: argparse.Namespace, streams: Streams) -> int:
    from ..driver.calibrating.calibrate import calibrate, described
    from ..driver.calibrating.table import table
    from ..targets.base import HOST, find_host
    from ..targets.calibration import SWITCH, is_for_all, is_on, store
    from .progress import Progress

    told = (lambda text: None) if args.quiet else Progress(streams)
    measured = calibrate(args.target, args.seconds, told)
    for line in table(measured.calibration, described(args.target).machine):
        print(line, file=streams.stdout)
    for line in (*measured.refused.values(), *(measured.beside if measured.refused else ())):
        print(f"nnc: disturbed: {line}", file=streams.stderr)
    kept = measured.kept(args.force)
    if kept is None:
        text = "nothing is stored: too few numbers can be trusted; try again, or --force"
        print(f"nnc: {text}", file=streams.stderr)
        return 1
    path = store(kept)
    find_host.cache_clear()
    if not is_on():
        used = f"it is not used: {SWITCH} is off"
    elif args.target == HOST:
        used = "`host` takes it from now on"
    elif is_for_all():
        used = f"'{args.target}' takes it, as {SWITCH} is all"
    else:
        used = f"named targets keep their built-in numbers: {SWITCH}=all gives them these"
    left = [name for name in measured.refused if name not in kept.numbers]
    without = f" without {', '.join(left)}" if left else ""
    print(f"stored in {path}{without}; {used}", file=streams.stdout)
    return 0
