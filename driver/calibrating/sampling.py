"""The floor of each experiment: its time when nothing disturbs it.

Anything else that runs on a machine makes an experiment slower and never faster: an interrupt,
another process, a hypervisor, a neighbour on the same core. So of many short runs the fastest
count, once several that are apart in time agree, and no later ones are faster. Experiments are
visited in turns, and those whose floor is found are left alone, so that time goes where it is
missing.

Only one thing makes a run look fast: a disturbed clock measurement beside it, as times are divided
by the clock's. So the clock is measured before and after each run, and the faster of both counts.
If they differ, and neither is as fast as the clock has ever been, the run does not count. And runs
longer than a busy machine's time slice are all interrupted, each about equally: so a run does not
count either if the process's threads got clearly less processor time than the time it took.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterable
from dataclasses import dataclass, field
from math import inf, isinf
from typing import NamedTuple

from .measuring import CLOCK, EMPTY, EMPTY_OPEN, Experiment, Timed

Round = dict[str, float]
"""The seconds per unit of each experiment, by its name."""

TAKEN = 5
"""The number of fastest runs that must agree."""
RUNS = 3
"""The runs of one visit, after a first one that warms up."""
FEWEST_VISITS = 8
"""The least visits of each experiment, so that a short disturbance is not mistaken for the machine.
"""
APART = 3
"""The least number of visits that the agreeing runs must come from."""
UNKNOWN = 10
"""The assumed ratio between the runs of an experiment if too few of them were undisturbed."""
CALLS = 20
"""The visits of a call that does nothing, before all others."""
MOST = 1000
"""The most runs of an experiment that are kept."""
TOO_FAST = 20
"""If times are divided by the clock's, one of so many runs may seem too fast, and is left out."""
SURE = 3 * TAKEN
"""The number of runs with the fastest clock that suffice; with fewer, the nearest ones count too.
"""
CLOCKS_AGREE = 0.02
"""The relative difference up to which clocks before and after a run, or the fastest one, agree."""
PART = 0.25
"""The part of the time that is used even if all floors seem to be found."""
TOLD = 2.0
"""Seconds between messages."""


class Run(NamedTuple):
    """One run of an experiment."""

    value: float
    """The time per unit. Units: seconds, or cycles."""
    visit: int
    clock: float = 0.0
    """Seconds of a cycle, measured beside the run; 0 if the value is in seconds."""


@dataclass
class Samples:
    """The runs of one experiment."""

    one: Experiment
    clock: Samples | None = None
    """The samples of the clock, if values are in cycles."""
    runs: list[Run] = field(default_factory=list)
    doubtful: list[float] = field(default_factory=list)
    """Values of runs during which the clock changed, or that waited for a processor."""
    _known: tuple[object, bool] | None = field(default=None, repr=False)
    """The cached answer whether the floor was found, and the runs that it was found from."""

    def add(self, runs: Iterable[Run]) -> None:
        """Record runs; of very many, the slower half is dropped."""
        self.runs += runs
        if len(self.runs) > MOST:
            middle = sorted(run.value for run in self.runs)[MOST // 2]
            self.runs = [run for run in self.runs if run.value <= middle]

    def fastest(self) -> float:
        """The time of the fastest run; infinite before the first."""
        return min((run.value for run in self.runs), default=inf)

    def floor(self) -> list[float]:
        """The times of the fastest runs that agree with each other, sorted.

        If none agree, those of the `TAKEN` fastest runs; if even these are disturbed, the last one
        is `UNKNOWN` times the first, so that the spread shows it.
        """
        found = self._agreeing()
        if found is not None:
            return [run.value for run in found]
        values = sorted(run.value for run in self._counted())
        if len(values) >= TAKEN:
            return values[:TAKEN]
        values = sorted([*(run.value for run in self.runs), *self.doubtful])
        return [*values[: TAKEN - 1], UNKNOWN * values[0]]

    def is_found(self) -> bool:
        """Whether the fastest runs agree, are apart in time, and later ones are no faster."""
        asked = self.runs[-1:], len(self.runs), self.clock and self.clock.fastest()
        if self._known is None or self._known[0] != asked:
            self._known = asked, self._is_found()
        return self._known[1]

    def _is_found(self) -> bool:
        found = self._agreeing()
        if found is None:
            return False
        counted, enough = self._counted(), found[0].value * (1 + self.one.agree)
        if len({run.visit for run in counted if run.value <= enough}) < APART:
            return False
        before = counted[: 2 * len(counted) // 3]
        return min(run.value for run in before) <= enough

    def _counted(self) -> list[Run]:
        """The runs with an undisturbed clock beside them, which cannot be falsely fast; if there
        are few, the ones that come closest.
        """
        if self.clock is None:
            return self.runs
        fast = self.clock.fastest() * (1 + CLOCKS_AGREE)
        sure = [run for run in self.runs if run.clock <= fast]
        if len(sure) >= SURE:
            return sure
        closest = sorted(self.runs, key=lambda run: run.clock)[:SURE]
        return sorted(closest, key=lambda run: run.visit)

    def _agreeing(self) -> list[Run] | None:
        """The fastest runs that agree, or None; in cycles, some too fast ones may be skipped."""
        ordered = sorted(self._counted())
        left_out = len(ordered) // TOO_FAST if self.one.in_cycles else 0
        for first in range(min(left_out + 1, len(ordered) - TAKEN + 1)):
            found = ordered[first : first + TAKEN]
            if found[-1].value <= found[0].value * (1 + self.one.agree):
                return found
        return None


class Sampler:
    """Visits experiments and records their runs, in seconds or in cycles."""

    def __init__(self, bench: Timed) -> None:
        self.bench = bench
        self.samples = {one.name: Samples(one) for one in bench.experiments}
        for samples in self.samples.values():
            if samples.one.in_cycles and samples.one.name != CLOCK:
                samples.clock = self.samples.get(CLOCK)
        self.visits = 0

    def missing(self) -> list[Experiment]:
        """The experiments whose floors are not found, or invalid as threads were missing."""
        return [s.one for s in self.samples.values() if not s.is_found() or not self._is_low(s)]

    def _is_low(self, samples: Samples) -> bool:
        if samples.one.below is None:
            return True
        other, part = samples.one.below
        return samples.fastest() < part * self.samples[other].fastest()

    def visit_calls(self) -> None:
        """Measure the cost of a call, which is subtracted from all other measurements."""
        for _ in range(CALLS):
            for name in (EMPTY, EMPTY_OPEN):
                if name in self.samples:
                    self.visit(self.samples[name].one)

    def visit(self, one: Experiment) -> None:
        """Run an experiment a few times, with the clock beside each run if it counts cycles."""
        clock = self.samples[one.name].clock
        if clock is None:
            for run in self.bench.times([one.name] * (RUNS + 1))[1:]:
                self._keep(one, self._net(one, run.seconds), is_doubtful=run.waited)
            return
        times = self.bench.times([one.name, CLOCK, *[one.name, CLOCK] * RUNS])[1:]
        cycles = [self._net(clock.one, run.seconds) for run in times[0::2]]
        self._keep(clock.one, min(cycles))
        for i, run in enumerate(times[1::2]):
            fast, slow = sorted(cycles[i : i + 2])
            value = self._net(one, run.seconds) / fast
            is_as_ever = fast <= clock.fastest() * (1 + CLOCKS_AGREE)
            steady = is_as_ever or slow <= fast * (1 + CLOCKS_AGREE)
            self._keep(one, value, fast, run.waited or not steady)

    def _net(self, one: Experiment, seconds: float) -> float:
        """Seconds per unit of an experiment, without the cost of the call."""
        empty = one.empty
        call = self.samples[empty].fastest() if empty in self.samples else 0.0
        call = 0.0 if isinf(call) else call
        return max(seconds - call, 1e-9) / one.units

    def _keep(
        self, one: Experiment, value: float, clock: float = 0.0, is_doubtful: bool = False
    ) -> None:
        samples = self.samples[one.name]
        if is_doubtful:
            samples.doubtful.append(value)
        else:
            samples.add([Run(value, self.visits, clock)])

    def rounds(self) -> list[Round]:
        """Rounds of floors, in seconds at the fastest clock: the first has each experiment's
        fastest run, the last the slowest of those that agree.
        """
        floors = {name: samples.floor() for name, samples in self.samples.items()}
        cycle = floors.get(CLOCK, [1.0])[0]
        units = {n: 1.0 if s.clock is None else cycle for n, s in self.samples.items()}
        return [
            {name: values[min(i, len(values) - 1)] * units[name] for name, values in floors.items()}
            for i in range(TAKEN)
        ]


def measure(
    bench: Timed,
    seconds: float,
    progress: Callable[[str], None],
    now: Callable[[], float] = time.perf_counter,
) -> list[Round]:
    """Run all experiments in turns until their floors (undisturbed times) are found.

    Returns the runs that agree on the floors, the fastest of each experiment in the first round.
    Takes at most `seconds`, unless the minimal number of visits takes longer; `progress` gets
    messages, and `now` returns the time in seconds.
    """
    sampler, started, told = Sampler(bench), now(), 0.0
    sampler.visit_calls()
    progress(f"measuring for at most {max(seconds, 1):.0f} s")
    while True:
        spent = now() - started
        missing = sampler.missing()
        enough = sampler.visits >= FEWEST_VISITS
        if enough and (spent >= seconds or (not missing and spent >= PART * seconds)):
            return sampler.rounds()
        if spent - told > TOLD:
            told = spent
            count = len(bench.experiments)
            progress(f"{count - len(missing)} of {count} floors found")
        for one in missing if enough and missing else bench.experiments:
            if enough and now() - started >= seconds:
                break
            sampler.visit(one)
        sampler.visits += 1
