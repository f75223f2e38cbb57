"""The search: which candidates are measured next, when a kernel is left alone, when it ends.

It knows nothing of schedules and clocks of kernels: candidates come from a function, ratios of
times from another one. So its decisions are tested with made-up times. Several experiments may be
made at once (`flights.py`); with one at a time the same measurements give the same decisions.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from typing import Any

from ...ir.diagnostics import NncError
from .experiments import ExperimentError, OverError
from .flights import Flight, Flights, Measure, uninterrupted
from .ratio import Ratio
from .worth import expected_gain, worthwhile

Candidate = Any
Propose = Callable[[Sequence[Candidate]], "Candidate | None"]
"""The next candidate of a kernel, given the faster ones so far, the best first; None at the end."""

SMALL = 0.03
"""The part of the model's time of which the cheapest kernels together are left as they are."""
FIRST = 16
"""Candidates of a kernel before it can be left alone, the model's proposals."""
PATIENCE = 10
"""Candidates without a gain after which a kernel is left alone, and experiments for the whole."""
_LEAST_GAIN = 0.003
_PARENTS = 4


@dataclass(frozen=True)
class Trial:
    """A candidate as it was measured."""

    candidate: Candidate
    ratio: Ratio


@dataclass
class KernelSearch:
    """What is known of one kind of kernel. `share` is its part of the model's time."""

    key: str
    label: str
    share: float
    propose: Propose
    trials: list[Trial] = field(default_factory=list)
    note: Callable[[Candidate, Ratio], None] = lambda candidate, ratio: None
    """Is told of each measurement."""
    frozen: str = ""
    """Why no more candidates are measured; empty where some are."""

    def faster(self) -> list[Trial]:
        """The candidates that are faster than the default beyond the spread, the best first."""
        found = (trial for trial in self.trials if trial.ratio.is_faster)
        return sorted(found, key=lambda trial: trial.ratio.median)

    @property
    def best(self) -> Trial | None:
        """The fastest candidate; None where none is faster than the default."""
        return next(iter(self.faster()), None)

    @property
    def gain(self) -> float:
        """The part of the model's time that the best candidate saves."""
        return self.share * self.best.ratio.gain if self.best is not None else 0.0

    @property
    def expected_gain(self) -> float:
        """The part of the model's time that the next candidate is expected to save."""
        sure = [t.ratio.median if t.ratio.is_faster else 1.0 for t in self.trials]
        return expected_gain(self.share, sure)

    def next(self) -> Candidate | None:
        """The next candidate; where there is none, the kernel is left alone."""
        made = self.propose([trial.candidate for trial in self.faster()[:_PARENTS]])
        if made is None:
            self.frozen = "all candidates were measured"
        return made

    def add(self, candidate: Candidate, ratio: Ratio) -> None:
        """Remember a measurement."""
        self.trials.append(Trial(candidate, ratio))
        self.note(candidate, ratio)
        if len(self.trials) < max(FIRST, PATIENCE + 1):
            return
        before = min(trial.ratio.median for trial in self.trials[:-PATIENCE])
        lately = min(trial.ratio.median for trial in self.trials[-PATIENCE:])
        if lately > before - _LEAST_GAIN:
            self.frozen = f"no gain in {PATIENCE} candidates"


class Search:
    """Measures one candidate of each kernel that is not frozen, again and again.

    `slots` says how many experiments may be made at once, which may change; without it, one is made
    after the other by the thread that searches. `abandon` ends those that are being made.
    """

    def __init__(
        self,
        kernels: Sequence[KernelSearch],
        measure: Measure,
        *,
        clock: Callable[[], float],
        seconds: float,
        trials: int | None = None,
        slots: Callable[[], int] | None = None,
        abandon: Callable[[], None] = lambda: None,
        say: Callable[[str], None] = lambda message: None,
        found: Callable[[KernelSearch], None] = lambda kernel: None,
    ) -> None:
        self.kernels = {kernel.key: kernel for kernel in kernels}
        self._measure, self._clock, self._say, self._found = measure, clock, say, found
        self._seconds, self._trials, self._started = seconds, trials, clock()
        self._slots, self._abandon = slots or (lambda: 1), abandon
        self._flights = Flights(measure, clock, threads=slots is not None)
        self._queue: list[dict[str, Candidate]] = []
        """Parts of experiments that failed: which candidate is at fault is still to be found."""
        self._gains: list[float] = []
        self._longest = 0.0
        self.experiments = 0
        self._doubts: list[tuple[Flight, ExperimentError]] = []
        """Candidates that failed before anything was measured: perhaps the default fails, too."""
        self.dropped: list[str] = []
        """Candidates that crashed, took too long or gave wrong numbers, and which of these."""
        self._freeze_small()

    @property
    def gain(self) -> float:
        """The part of the model's time that all best candidates save together."""
        return sum(kernel.gain for kernel in self.kernels.values())

    def _freeze_small(self) -> None:
        together = 0.0
        for kernel in sorted(self.kernels.values(), key=lambda kernel: kernel.share):
            together += kernel.share
            if together < SMALL:
                kernel.frozen = f"{kernel.share:.1%} of the time"

    def run(self) -> str:
        """Search until the end, and say why it is one; Ctrl-C is one, too.

        What was measured by then counts; experiments that are still being made do not. Raises
        NncError, and OverError where no more experiments can be made.
        """
        self._started = self._clock()
        try:
            return self._search()
        except KeyboardInterrupt:
            return "interrupted"
        finally:
            with uninterrupted():
                for flight in self._flights.ended():
                    with suppress(OverError):
                        self._take_in(flight)
                self._abandon()

    def _search(self) -> str:
        while True:
            reason = self._start_some()
            if not self._flights.open:
                return reason or "all kernels are done"
            # Some of the time is for the comparison of the whole. The first experiment has its own.
            left = self._left() - self._longest if self._longest else None
            if not self._flights.wait(left):
                return reason or "the time is over"
            with uninterrupted():
                for flight in self._flights.ended():
                    self._take_in(flight)
            self._resolve_doubts()

    def _left(self) -> float:
        return self._seconds - (self._clock() - self._started)

    def _start_some(self) -> str:
        """Start an experiment for each free slot. Returns why the search is over, if it is."""
        while len(self._flights.open) < self._slots():
            if reason := self._over(self._left()):
                return reason
            chosen = self._next()
            if not chosen:
                break
            self.experiments += 1
            self._flights.start(self.experiments, chosen)
        return ""

    def _over(self, left: float) -> str:
        """Why the search is over; two more experiments are needed after it."""
        if self._trials is not None and self.experiments >= self._trials:
            return f"{self.experiments} experiments were made"
        if self.experiments and left < 3 * self._longest:
            return "the time is over"
        if len(self._gains) > FIRST and (
            self._gains[-1] < self._gains[-1 - PATIENCE] + _LEAST_GAIN / 3
        ):
            return f"no gain in {PATIENCE} experiments"
        return ""

    def _next(self) -> dict[str, Candidate]:
        if self._queue:
            return self._queue.pop()
        chosen = {}
        gains = {k.key: k.expected_gain for k in self.kernels.values() if not k.frozen}
        for key in worthwhile(gains):
            if (made := self.kernels[key].next()) is not None:
                chosen[key] = made
        return chosen

    def _take_in(self, flight: Flight) -> None:
        """Remember what an experiment measured, or that it failed."""
        self._longest = max(self._longest, flight.seconds)
        try:
            self._add(flight.chosen, flight.result())
        except ExperimentError as error:
            self._add_failure(flight, error)
        self._tell(flight)

    def _add_failure(self, flight: Flight, error: ExperimentError) -> None:
        """Of several candidates that fail together, halves are tried next."""
        keys = list(flight.chosen)
        if len(keys) > 1:
            self._say(f"experiment {flight.number} failed: {error}; its halves are next")
            half = len(keys) // 2
            self._queue += (
                {key: flight.chosen[key] for key in part} for part in (keys[half:], keys[:half])
            )
        elif self._gains or self.dropped:
            self._drop(flight, error)
        else:
            self._doubts.append((flight, error))

    def _drop(self, flight: Flight, error: ExperimentError) -> None:
        ((key, candidate),) = flight.chosen.items()
        self.dropped.append(f"{self.kernels[key].label}, {candidate}: {error}")
        self._say(f"dropped a candidate of {self.dropped[-1]}")

    def _resolve_doubts(self) -> None:
        """Raises NncError where no experiment can be made at all, as far as is known."""
        if self._doubts and not self._gains:
            try:
                self._measure({})
            except ExperimentError:
                error = self._doubts[0][1]
                raise NncError(f"no experiment can be made here: {error}") from None
        for flight, error in self._doubts:
            self._drop(flight, error)
        self._doubts.clear()

    def _add(self, chosen: Mapping[str, Candidate], ratios: Mapping[str, Ratio]) -> None:
        for key, candidate in chosen.items():
            kernel = self.kernels[key]
            old = kernel.best
            kernel.add(candidate, ratios[key])
            if kernel.best is not old:
                self._found(kernel)
        self._gains.append(self.gain)

    def _tell(self, flight: Flight) -> None:
        open_ones = sum(not kernel.frozen for kernel in self.kernels.values())
        self._say(
            f"experiment {flight.number}: {len(flight.chosen)} candidates; {self.gain:.1%} of the "
            f"time saved so far; {open_ones} of {len(self.kernels)} kernels open, "
            f"{max(0.0, self._left()):.0f} s left"
        )


def confirm(
    found: Mapping[str, Candidate],
    gain: Callable[[str], float],
    measure: Callable[[Mapping[str, Candidate]], tuple[Mapping[str, Ratio], Ratio]],
    say: Callable[[str], None] = lambda message: None,
) -> tuple[dict[str, Ratio], Ratio | None]:
    """The candidates to be kept with their ratios, and the ratio of the whole.

    `measure` compares the model with candidates and without in interleaved blocks. What does not
    gain there is dropped; if the rest does not make the model faster, all is. Of what fails
    together, the half that promises less is dropped.
    """
    left, sure = dict(found), dict[str, Ratio]()
    while left:
        try:
            ratios, whole = measure(left)
        except ExperimentError as error:
            say(f"all together fail: {error}; half of them is left out")
            ordered = sorted(left, key=gain, reverse=True)
            left = {key: left[key] for key in ordered[: len(ordered) // 2]}
            continue
        if sure:
            return (sure, whole) if whole.is_faster else ({}, whole)
        sure = {key: ratios[key] for key in left if ratios[key].is_faster}
        if len(sure) == len(left):
            return (sure, whole) if whole.is_faster else ({}, whole)
        left = {key: left[key] for key in sure}
    return {}, None
