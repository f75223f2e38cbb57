"""`nnc calibrate`: measure this machine, show what was measured, or forget it."""

from __future__ import annotations

import argparse
from typing import TYPE_CHECKING

from ..ir.diagnostics import NncError

if TYPE_CHECKING:
    from .command import Streams

_LONGEST = 3600.0


def calibrate_machine(args: argparse.Namespace, streams: Streams) -> int:
    """The exit code: 1 where what was measured is not kept."""
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
    from ..driver.calibrating.table import DISTURBED, table
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
    for line in found.about.get(DISTURBED, "").splitlines():
        print(f"disturbed: {line}", file=streams.stdout)
    return 0


def _measure(args: argparse.Namespace, streams: Streams) -> int:
    from ..driver.calibrating.calibrate import calibrate, described
    from ..driver.calibrating.table import table
    from ..targets.base import HOST, find_host
    from ..targets.calibration import SWITCH, check_plausible, is_on, store
    from .progress import Progress

    told = (lambda text: None) if args.quiet else Progress(streams)
    measured = calibrate(args.target, args.seconds, told)
    found = measured.calibration
    for line in table(found, described(args.target).machine):
        print(line, file=streams.stdout)
    for line in measured.complaints:
        print(f"nnc: disturbed: {line}", file=streams.stderr)
    check_plausible(found.numbers)
    if measured.complaints and not args.force:
        text = "nothing is stored: the machine is disturbed; try again when it is quiet, or --force"
        print(f"nnc: {text}", file=streams.stderr)
        return 1
    path = store(found)
    find_host.cache_clear()
    if args.target != HOST:
        used = "named targets keep their built-in numbers: it is for --show"
    elif is_on():
        used = "`host` takes it from now on"
    else:
        used = f"it is not used: {SWITCH} is off"
    print(f"stored in {path}; {used}", file=streams.stdout)
    return 0
