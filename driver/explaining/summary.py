"""The summary after a compilation: kernels, host, copies, time, and the best alternative."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from ...ir.core import Operation
from ...ir.decisions import Alternative, Decision
from ...ir.location import node_of
from ...memory.device_note import calls_of_kernels
from ...targets.attribute import target_of

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

    `unknown` kernels, such as those with tuned schedules, have no expected time.
    """

    kernels: int
    calls: int
    microseconds: float
    not_taken: NotTaken | None
    unknown: int = 0

    def line(self, device: str) -> str:
        """The summary in one line; `device` is a device's own summary in place of a processor's."""
        steps = (
            f"{self.kernels} kernels in {self.calls} calls, 0 steps of the host, 0 bytes copied "
            f"per run, {self.microseconds / 1000:.3g} ms expected"
        )
        if self.unknown:
            steps += f" of all but {self.unknown} kernels"
        return "; ".join(filter(None, (device or steps, str(self.not_taken or ""))))


def summary(module: Operation, decisions: Sequence[Decision]) -> Summary | None:
    """The summary of a module with schedules; None if none of its kernels was decided on here."""
    calls = [call.callee for call in calls_of_kernels(module)]
    target = target_of(module)
    made = [d for d in decisions if d.kind == "schedule" and d.subject in calls]
    if not made:
        return None
    unit = target.machine.cycles_per_microsecond
    total = sum(calls.count(d.subject) * d.chosen.cycles for d in made) / unit
    others = [one for one in _not_taken(decisions, calls, unit) if one.chosen >= _LEAST * total]
    least = min(others, key=lambda one: one.microseconds - one.chosen, default=None)
    kernels = set(calls)
    unknown = len(kernels.difference(d.subject for d in made))
    return Summary(len(kernels), len(calls), total, least, unknown)


def _not_taken(
    decisions: Iterable[Decision], calls: Sequence[str], unit: float
) -> Iterable[NotTaken]:
    """The alternatives with a known time."""
    for one in decisions:
        count = calls.count(one.subject) if one.subject else 1
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
