"""A calibration of what a target runs on here: experiments, numbers, and what disturbed them."""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import dataclass

from ... import __version__
from ...ir.diagnostics import NncError
from ...targets.base import HOST, Target, described_host, host, target
from ...targets.calibration import VERSION, Calibration, identity
from ...targets.groups import GroupMachine
from ...targets.machine import Machine
from ...targets.processor import Processor
from .devices import device_experiments, fit_device
from .disturbance import Load, disturbances
from .fitting import fit
from .measuring import Bench
from .memories import memory_experiments
from .processors import core_experiments
from .sampling import Round, measure
from .table import DISTURBED

Progress = Callable[[str], None]


@dataclass(frozen=True)
class Measured:
    """What was measured, and what speaks against keeping it, a line each."""

    calibration: Calibration
    complaints: list[str]


def described(name: str) -> Target:
    """A target with its built-in numbers. Raises NncError where there is none of the name."""
    return (described_host() or host()) if name == HOST else target(name)


def machine_name(one: Target) -> str:
    """What a target's numbers are kept under."""
    return identity(one.name, one.processor, one.machine)


def calibrate(name: str, seconds: float, progress: Progress) -> Measured:
    """Measure the machine of a target for about so many seconds.

    Raises NncError where its code does not run in this process.
    """
    one = described(name)
    machine = one.machine
    if not isinstance(machine, Processor | GroupMachine):
        raise NncError(f"there are no experiments for '{name}': calibrate a processor or a device")
    one.check_runs_here()
    started, before = time.perf_counter(), Load.now()
    if isinstance(machine, GroupMachine):
        experiments = device_experiments(name)
    else:
        experiments = [*core_experiments(machine), *memory_experiments(machine)]
    bench = Bench(experiments, name, progress)
    left = seconds - (time.perf_counter() - started)
    rounds = measure(bench, left, progress)
    after = Load.now()
    beside = list(after.since(before)) if before and after else []
    return judged(machine_name(one), rounds, machine, beside)


def judged(kept_as: str, rounds: list[Round], machine: Machine, beside: list[str]) -> Measured:
    """The calibration that rounds give, with the numbers whose runs do not agree.

    What else went on meanwhile is told, and speaks against it only where such numbers are left.
    """
    if isinstance(machine, GroupMachine):
        found = fit_device(rounds, machine)
    else:
        assert isinstance(machine, Processor)
        found = fit(rounds, machine)
    complaints = list(disturbances(found.numbers))
    if complaints:
        complaints += beside
    about = {
        "measured": time.strftime("%Y-%m-%d %H:%M"),
        "nnc": f"{__version__}, experiments {VERSION}",
        **({"beside": "; ".join(beside)} if beside else {}),
        DISTURBED: "\n".join(complaints),
    }
    return Measured(Calibration(kept_as, found.numbers, found.observed, about), complaints)
