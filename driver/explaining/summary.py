"""The summary after a compilation: kernels, host, copies, time, and the best alternative."""

from __future__ import annotations

from collections.abc import Container, Iterable, Mapping, Sequence
from dataclasses import dataclass

from ...ir.core import Operation
from ...ir.decisions import Alternative, Decision
from ...ir.location import node_of
from ...ir.types import MemRefType
from ...kernels.model.executions import kernel_calls, run_time, times_of
from ...kernels.model.extents import UNKNOWN_EXTENT
from ...targets.attribute import target_of
from ...targets.machine import Machine

_LEAST = 0.01
"""The least gain of a choice, as a part of a run's time, that is mentioned."""


@dataclass(frozen=True)
class NotTaken:
    """An alternative that was not taken, and the times of a run with it and with the chosen one.

    Units: microseconds.
    """

    place: str
    name: str
    microseconds: float
    chosen: float
    reason: str

    def __str__(self) -> str:
        return (
            f"fastest not taken: '{self.name}' of {self.place}, {self.microseconds:.3g} us for "
            f"{self.chosen:.3g} us: {self.reason}"
        )


@dataclass(frozen=True)
class Summary:
    """The expected work of a module in a run. Units: microseconds.

    `unknown` kernels, such as those with tuned schedules, have no expected time. With `is_open`,
    some have extents known only at run time.
    """

    kernels: int
    calls: int
    microseconds: float
    not_taken: NotTaken | None
    unknown: int = 0
    is_open: bool = False

    def line(self, device: str) -> str:
        """The summary in one line; `device` is a device's own summary in place of a processor's."""
        steps = (
            f"{self.kernels} kernels in {self.calls:,} calls, 0 steps of the host, 0 bytes copied "
            f"per run, {self.microseconds / 1000:.3g} ms expected"
        )
        if self.unknown:
            steps += f" of all but {self.unknown} kernels"
        if self.is_open:
            steps += f" if each extent that only a run tells is {UNKNOWN_EXTENT:,}"
        return "; ".join(filter(None, (device or steps, str(self.not_taken or ""))))


@dataclass(frozen=True)
class Expected:
    """The expected times of kernels by their schedules. Units: microseconds."""

    chosen: Mapping[str, Alternative]
    unit: float
    """Cycles in a microsecond."""

    @staticmethod
    def of(decisions: Iterable[Decision], kernels: Container[str], machine: Machine) -> Expected:
        """The expected times of those of the kernels whose schedules were decided on."""
        made = [d for d in decisions if d.kind == "schedule" and d.subject in kernels]
        return Expected({d.subject: d.chosen for d in made}, machine.cycles_per_microsecond)

    def of_a_call(self, kernel: str, threads: int) -> float | None:
        """The microseconds of a call on so many threads; None if no schedule was chosen for the
        kernel.
        """
        found = self.chosen.get(kernel)
        return None if found is None else found.cycles * max(1, found.cores / threads) / self.unit

    def of_run(self, module: Operation, threads: int) -> float:
        """The time of all kernels of a run."""

        def of_a_call(kernel: str, is_beside: bool) -> float:
            return self.of_a_call(kernel, 1 if is_beside else threads) or 0.0

        return run_time(module, of_a_call, threads)


def summary(module: Operation, decisions: Sequence[Decision]) -> Summary | None:
    """The summary of a module with schedules; None if no decision is about a kernel's schedule."""
    executions = kernel_calls(module)
    calls = {name: times_of(some) for name, some in executions.items()}
    machine = target_of(module).machine
    expected = Expected.of(decisions, calls, machine)
    if not expected.chosen:
        return None
    unit, total = machine.cycles_per_microsecond, expected.of_run(module, machine.cores)
    others = [one for one in _not_taken(decisions, calls, unit) if one.chosen >= _LEAST * total]
    least = min(others, key=lambda one: one.microseconds - one.chosen, default=None)
    unknown = len(calls.keys() - expected.chosen.keys())
    is_open = any(has_open_extents(some[0].op) for some in executions.values())
    return Summary(len(calls), sum(calls.values()), total, least, unknown, is_open)


def has_open_extents(call: Operation) -> bool:
    """Whether an operand of a call has an extent known only at run time."""
    types = (operand.type for operand in call.operands)
    return any(isinstance(type, MemRefType) and None in type.shape for type in types)


def _not_taken(
    decisions: Iterable[Decision], calls: Mapping[str, int], unit: float
) -> Iterable[NotTaken]:
    """The alternatives with a known time."""
    for one in decisions:
        count = calls.get(one.subject, 0) if one.subject else 1
        if not count or one.chosen.terms is None or one.told:
            continue
        for other in one.others:
            if other.terms not in (None, one.chosen.terms) and not other.fault:
                times = (count * other.cycles / unit, count * one.chosen.cycles / unit)
                place = one.subject or node_of(one.location)
                yield NotTaken(place, other.name, *times, reason(other, one))


def reason(other: Alternative, decision: Decision) -> str:
    """Why an alternative was not taken."""
    if other.fault:
        return other.fault
    if other.terms is None or decision.chosen.terms is None:
        return decision.because
    part = other.cycles / max(decision.chosen.cycles, 1e-9)
    if decision.told:
        return f"expected to take {part:.3g} times as long; the other was {decision.told}"
    if abs(part - 1) < 0.005:
        return "expected to take as long"
    if part >= 1:
        return f"expected to take {part:.3g} times as long"
    if decision.because:
        return f"expected to take {part:.3g} times as long; by rule, {decision.because}"
    least = 1 - decision.margin
    return f"a gain of {1 - part:.0%} is less than the {least:.0%} that the models tell apart"
