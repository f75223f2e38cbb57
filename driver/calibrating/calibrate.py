"""Calibrates the machine of a target: experiments, numbers, and what disturbed them."""

from __future__ import annotations

import os
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, NamedTuple

from ... import __version__
from ...ir.diagnostics import NncError
from ...targets.base import HOST, Target, described_host, host, target
from ...targets.calibration import VERSION, Calibration, Number, identity, implausible
from ...targets.groups import GroupMachine
from ...targets.machine import Machine
from ...targets.processor import Processor
from .devices import CPU_DEVICE, device_experiments, fit_device
from .disturbance import Load, disturbances
from .engine import EngineBench
from .fitting import Fitted, fit
from .measuring import Bench, Experiment
from .processors import processor_experiments
from .sampling import Round, measure
from .table import REFUSED

Progress = Callable[[str], None]

NEEDED = ("gigahertz", "launch_microseconds")
"""Numbers that all others are relative to: without them no other one is kept."""


class Kind(NamedTuple):
    """How a kind of machine is measured: its experiments, for a target's name and its machine, and
    the numbers that follow from their rounds.
    """

    experiments: Callable[[str, Any], Iterator[Experiment]]
    fit: Callable[[Sequence[Round], Any], Fitted]


KINDS: Mapping[type[Machine], Kind] = {
    Processor: Kind(lambda _, machine: processor_experiments(machine), fit),
    GroupMachine: Kind(device_experiments, fit_device),
}


@dataclass(frozen=True)
class Measured:
    """The measured numbers, and the refused ones with the reasons, by name."""

    calibration: Calibration
    refused: Mapping[str, str]
    beside: Sequence[str]
    """Other activity on the machine during the measurement, a line each."""

    def kept(self, force: bool) -> Calibration | None:
        """The calibration to store: numbers not refused, or with `force` all plausible ones; None
        if too few are left.
        """
        numbers = {
            path: number
            for path, number in self.calibration.numbers.items()
            if path not in self.refused or (force and implausible(path, number) is None)
        }
        if "memory_bandwidth" not in numbers:
            numbers.pop("costs.runs.memory", None)
        if not any(path in numbers for path in NEEDED):
            return None
        about = {**self.calibration.about}
        if self.refused:
            about[REFUSED] = "\n".join(self.refused.values())
        return replace(self.calibration, numbers=numbers, about=about)


def described(name: str) -> Target:
    """A target with its built-in numbers. Raises NncError for an unknown name."""
    return (described_host() or host()) if name == HOST else target(name)


def machine_name(one: Target) -> str:
    """The key under which a target's numbers are stored."""
    return identity(one.name, one.processor, one.machine)


def calibrate(name: str, seconds: float, progress: Progress) -> Measured:
    """Measure the machine of a target for at most `seconds` seconds.

    Raises NncError unless its code runs in this process or in a WebAssembly engine, as the times of
    an emulator mean nothing.
    """
    one = described(name)
    kind = KINDS.get(type(one.machine))
    if kind is None:
        raise NncError(f"there are no experiments for '{name}': calibrate a processor or a device")
    in_engine = one.engine() is not None
    if not in_engine:
        one.check_runs_here()
    machine = with_cores_here(one)
    before = Load.now()
    experiments = list(kind.experiments(name, machine))
    if in_engine:
        bench = EngineBench(experiments, one, progress)
        try:
            rounds = measure(bench, seconds, progress)
        finally:
            bench.close()
    else:
        rounds = measure(Bench(experiments, name, progress), seconds, progress)
    after = Load.now()
    beside = list(after.since(before)) if before and after else []
    return judged(machine_name(one), rounds, machine, beside)


def with_cores_here(one: Target) -> Machine:
    """A target's machine, with this machine's number of cores if the code runs on it."""
    on_cores = one.machine.calls_kernels or one.name == CPU_DEVICE
    cores = len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count()
    return replace(one.machine, cores=cores or 1) if on_cores else one.machine


def judged(
    kept_as: str, rounds: Sequence[Round], machine: Machine, beside: Sequence[str]
) -> Measured:
    """The calibration from all rounds. Numbers are refused if their fastest runs disagree, or if
    they are implausible. Other load during the measurement is reported only.
    """
    found = KINDS[type(machine)].fit(rounds, machine)
    cores = float(machine.cores)
    numbers = {"cores": Number(cores, cores, cores), **found.numbers}
    refused = disturbances(numbers)
    for path, number in numbers.items():
        if (text := implausible(path, number)) is not None:
            refused[path] = text
    about = {
        "measured": time.strftime("%Y-%m-%d %H:%M"),
        "nnc": f"{__version__}, experiments {VERSION}",
        **({"beside": "; ".join(beside)} if beside else {}),
    }
    return Measured(Calibration(kept_as, numbers, found.observed, about), refused, beside)
