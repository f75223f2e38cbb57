"""The search: which candidates are measured next, when a kernel is left alone, when it ends.

It is independent of schedules and clocks: candidates come from one function, ratios of times from
another. So its decisions are tested with made-up times. Several experiments may run at once
(`flights.py`); with one at a time, the same measurements give the same decisions.
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
"""A function from a kernel's faster candidates so far, the best first, to the next candidate; None
at the end."""

Compare = Callable[[Mapping[str, Candidate]], tuple[Mapping[str, Ratio], Ratio]]
"""Compares the whole model with and without candidates for some kernels; returns the ratio of each
kernel, and of the model. Raises ExperimentError."""

SMALL = 0.03
"""The part of the model's time that the cheapest kernels, which are not tuned, take together."""
FIRST = 16
"""The candidates of a kernel before its search may stop: those that the model proposes."""
PATIENCE = 10
"""The number of candidates without a gain after which a kernel's search stops, and of experiments
after which the whole search does."""
ROUNDS = 3
"""The most repeated measurements of a candidate that seems faster than the best."""
FINALISTS = 3
"""The candidates of a kernel that are tried in the whole model, one after the other until one
gains."""
_COMPARISONS = 3
"""The most comparisons of the whole model until every kept candidate is faster."""
PROPOSING = 0.02
"""The part of the search's time for proposing the candidates of one experiment: the first proposals
of a kernel take long, and kernels that take the most time come first."""
FAULTY = Ratio(1e3, 1e3, 1e3)
"""The ratio of a candidate without times in an experiment whose other candidates have some."""
_LEAST_GAIN = 0.003
_PARENTS = 4
_LATELY = 3
"""The number of latest experiments from which the duration of the next one is estimated."""


@dataclass
class Trial:
    """A measured candidate.

    `first` is its first measurement. Of many candidates the one that looks best is often the
    luckiest, so `again` combines only the later measurements; None if there are none yet.
    """

    candidate: Candidate
    first: Ratio
    again: Ratio | None = None
    rounds: int = 0
    """The number of repeated measurements."""
    asked: bool = False
    """Whether a repeated measurement is running, or has failed."""

    @property
    def ratio(self) -> Ratio:
        """The ratio without the luck of the first measurement, if it was measured again."""
        return self.again or self.first

    @property
    def is_confirmed(self) -> bool:
        """Whether it was faster than the default beyond the spread when measured again."""
        return self.again is not None and self.again.is_faster


@dataclass
class KernelSearch:
    """The state of one kind of kernel. `share` is its part of the model's time."""

    key: str
    label: str
    share: float
    propose: Propose
    trials: list[Trial] = field(default_factory=list)
    note: Callable[[Candidate, Ratio], None] = lambda candidate, ratio: None
    """Called with the first measurement of each candidate."""
    frozen: str = ""
    """Why the search of this kernel stopped; empty while it goes on."""

    def faster(self) -> list[Trial]:
        """The candidates that are faster than the default beyond the spread; confirmed ones first,
        the best of them at the head.
        """
        found = (trial for trial in self.trials if trial.ratio.is_faster)
        return sorted(found, key=lambda trial: (not trial.is_confirmed, trial.ratio.median))

    @property
    def best(self) -> Trial | None:
        """The fastest confirmed candidate; None if there is none."""
        return next((trial for trial in self.faster() if trial.is_confirmed), None)

    @property
    def gain(self) -> float:
        """The part of the model's time that the best candidate saves."""
        return self.share * self.best.ratio.gain if self.best is not None else 0.0

    @property
    def expected_gain(self) -> float:
        """The part of the model's time that the next candidate is expected to save."""
        sure = [t.ratio.median if t.ratio.is_faster else 1.0 for t in self.trials]
        return expected_gain(self.share, sure)

    def challenger(self) -> Trial | None:
        """The candidate to be measured again: one that looks faster than the best.

        It is repeated until the candidate is surely faster than the default, or falls behind.
        """
        bound = 1.0 if self.best is None else self.best.ratio.median
        found = [
            trial
            for trial in self.trials
            if not trial.asked
            and not trial.is_confirmed
            and trial.rounds < ROUNDS
            and trial.ratio.median < bound
            and (trial.rounds or trial.first.is_faster or trial.first.seems_below(bound))
        ]
        return min(found, key=lambda trial: trial.ratio.median, default=None)

    def next(self) -> Candidate | None:
        """The next candidate, at times one to be measured again; None if the kernel is to be left
        alone.
        """
        if (trial := self.challenger()) is not None:
            trial.asked = True
            return trial.candidate
        made = self.propose([trial.candidate for trial in self.faster()[:_PARENTS]])
        if made is None and not any(trial.asked and trial.rounds < ROUNDS for trial in self.trials):
            self.frozen = "all candidates were measured"
        return made

    def add(self, candidate: Candidate, ratio: Ratio) -> None:
        """Record a measurement."""
        if (trial := self._asked(candidate)) is not None:
            trial.again = ratio if trial.again is None else trial.again.with_more(ratio)
            trial.rounds, trial.asked = trial.rounds + 1, False
        else:
            self.trials.append(Trial(candidate, ratio))
            self.note(candidate, ratio)
        if len(self.trials) < max(FIRST, PATIENCE + 1) or self.challenger() is not None:
            return
        before = min(trial.ratio.median for trial in self.trials[:-PATIENCE])
        lately = min(trial.ratio.median for trial in self.trials[-PATIENCE:])
        if lately > before - _LEAST_GAIN:
            self.frozen = f"no gain in {PATIENCE} candidates"

    def refute(self, candidate: Candidate) -> None:
        """Record that a noticed candidate failed when it was measured again."""
        if (trial := self._asked(candidate)) is not None:
            trial.again, trial.rounds, trial.asked = FAULTY, ROUNDS, False

    def _asked(self, candidate: Candidate) -> Trial | None:
        return next((t for t in self.trials if t.asked and t.candidate is candidate), None)

    def finalists(self) -> list[Trial]:
        """The candidates that may be kept, in the order in which they are tried."""
        return self.faster()[:FINALISTS]


class Search:
    """Measures one candidate of each kernel that is not frozen, repeatedly.

    `slots` is the number of experiments that may run at once, which may change; without it, the
    searching thread runs one after the other. `abandon` ends running experiments. `comparison` is
    the number of seconds reserved for the comparison after the search; by default, the time of two
    experiments.
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
        comparison: float | None = None,
    ) -> None:
        self.kernels = {kernel.key: kernel for kernel in kernels}
        self._measure, self._clock, self._say, self._found = measure, clock, say, found
        self._seconds, self._trials, self._started = seconds, trials, clock()
        self._slots, self._abandon = slots or (lambda: 1), abandon
        self._flights = Flights(measure, clock, threads=slots is not None)
        self._queue: list[dict[str, Candidate]] = []
        """Parts of failed experiments, to find out which candidate is at fault."""
        self._gains: list[float] = []
        self._lasted: list[float] = []
        """The durations of the experiments in seconds."""
        self._comparison = comparison
        self.curve: list[tuple[float, float]] = []
        """(seconds since the start, part of the model's time saved by then)."""
        self.experiments = 0
        self._doubts: list[tuple[Flight, ExperimentError]] = []
        """Candidates that failed before anything was measured: the default may fail, too."""
        self.dropped: list[str] = []
        """Messages on candidates that crashed, took too long or gave wrong results."""
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
        """Search until the end, also by Ctrl-C, and return the reason for it.

        Finished measurements count; experiments still running do not. Raises NncError, and
        OverError if no more experiments are possible.
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
            # The first experiment has its own time.
            left = self._left() - self._kept_back / 2 if self._lasted else None
            if not self._flights.wait(left):
                return reason or "the time is over"
            with uninterrupted():
                for flight in self._flights.ended():
                    self._take_in(flight)
            self._resolve_doubts()

    def _left(self) -> float:
        return self._seconds - (self._clock() - self._started)

    def _start_some(self) -> str:
        """Start an experiment for each free slot. Returns why the search is over, or ""."""
        while len(self._flights.open) < self._slots():
            if reason := self._over(self._left()):
                return reason
            chosen = self._next()
            if not chosen:
                break
            self.experiments += 1
            self._flights.start(self.experiments, chosen)
        return ""

    @property
    def _longest(self) -> float:
        """The longest time of recent experiments in seconds, without the first one, which also
        starts the workers.
        """
        return max(self._lasted[1:][-_LATELY:] or self._lasted, default=0.0)

    @property
    def _kept_back(self) -> float:
        """Seconds reserved for the comparison, once there is something to compare."""
        is_found = any(kernel.faster() for kernel in self.kernels.values())
        if self._comparison is None or not is_found:
            return 2 * self._longest
        return self._comparison

    def _over(self, left: float) -> str:
        """Why the search is over: another experiment could take too long, say; "" if it is not."""
        if self._trials is not None and self.experiments >= self._trials:
            return f"{self.experiments} experiments were made"
        if self._lasted and left < self._longest + self._kept_back:
            return "too little time is left for another experiment"
        had_their_turn = all(
            kernel.frozen or (len(kernel.trials) >= PATIENCE and kernel.challenger() is None)
            for kernel in self.kernels.values()
        )
        if len(self._gains) > max(FIRST, PATIENCE) and (
            had_their_turn and self._gains[-1] < self._gains[-1 - PATIENCE] + _LEAST_GAIN / 3
        ):
            return f"no gain in {PATIENCE} experiments"
        return ""

    def _next(self) -> dict[str, Candidate]:
        if self._queue:
            return self._queue.pop()
        chosen, until = {}, self._clock() + PROPOSING * self._seconds
        gains = {k.key: k.expected_gain for k in self.kernels.values() if not k.frozen}
        for key in worthwhile(gains):
            if chosen and self._clock() > until:
                break
            if (made := self.kernels[key].next()) is not None:
                chosen[key] = made
        return chosen

    def _take_in(self, flight: Flight) -> None:
        """Record the measurements of an experiment, or its failure."""
        self._lasted.append(flight.seconds)
        try:
            self._add(flight.chosen, flight.result())
        except ExperimentError as error:
            self._add_failure(flight, error)
        self._tell(flight)

    def _add_failure(self, flight: Flight, error: ExperimentError) -> None:
        """Record a failure; of several candidates that fail together, halves are tried next."""
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
        self.kernels[key].refute(candidate)
        self.dropped.append(f"{self.kernels[key].label}, {candidate}: {error}")
        self._say(f"dropped a candidate of {self.dropped[-1]}")

    def _resolve_doubts(self) -> None:
        """Raise NncError if no experiment seems possible at all."""
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
        self.curve.append((self._clock() - self._started, self.gain))

    def _tell(self, flight: Flight) -> None:
        open_ones = sum(not kernel.frozen for kernel in self.kernels.values())
        self._say(
            f"experiment {flight.number}: {len(flight.chosen)} candidates; {self.gain:.1%} of the "
            f"time saved so far; {open_ones} of {len(self.kernels)} kernels open, "
            f"{max(0.0, self._left()):.0f} s left"
        )


def confirm(
    found: Mapping[str, Sequence[Candidate]],
    gain: Callable[[str], float],
    measure: Compare,
    say: Callable[[str], None] = lambda message: None,
) -> tuple[dict[str, tuple[Candidate, Ratio]], Ratio | None]:
    """The candidates to keep with their ratios, and the ratio of the whole model with all of them.

    `found` has the candidates of each kernel, the best first. `measure` compares the model with and
    without candidates in interleaved blocks. A candidate without gain there is replaced once by the
    kernel's next one, then dropped. If the rest does not make the model faster, all are dropped. If
    candidates fail together, the less promising half is dropped.
    """
    left = {key: list(some) for key, some in found.items() if some}
    kept = dict[str, tuple[Candidate, Ratio]]()
    for number in range(_COMPARISONS):
        left, ratios, whole = _compared(left, gain, measure, say)
        if whole is None:
            return {}, None
        before, kept = kept, {}
        for key, some in left.items():
            ratio = ratios[key]
            if key in before:
                ratio = before[key][1].with_more(ratio)
            if ratio.is_faster:
                kept[key] = some[0], ratio
        if len(kept) == len(left):
            return (kept, whole) if whole.is_faster else ({}, whole)
        others = {} if number else {key: some[1:] for key, some in left.items() if some[1:]}
        left = {key: left[key] if key in kept else others[key] for key in {**kept, **others}}
    return {}, whole


def _compared(
    left: Mapping[str, Sequence[Candidate]],
    gain: Callable[[str], float],
    measure: Compare,
    say: Callable[[str], None],
) -> tuple[Mapping[str, Sequence[Candidate]], Mapping[str, Ratio], Ratio | None]:
    """The ratios of the first candidates, and the kernels compared: fewer if all together fail."""
    while left:
        try:
            return left, *measure({key: some[0] for key, some in left.items()})
        except ExperimentError as error:
            say(f"all together fail: {error}; half of them is left out")
            ordered = sorted(left, key=gain, reverse=True)
            left = {key: left[key] for key in ordered[: len(ordered) // 2]}
    return {}, {}, None
