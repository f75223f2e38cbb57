"""Running experiments ("flights"): on the calling thread, or on one thread each."""

from __future__ import annotations

import signal
import threading
from collections import deque
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any

from .ratio import Ratio

Measure = Callable[[Mapping[str, Any]], Mapping[str, Ratio]]
"""Measures candidates, at most one for each kernel, relative to the default's time. Raises
ExperimentError, and OverError if no more experiments can be made."""


@dataclass
class Flight:
    """An experiment with its candidates. Units: seconds."""

    number: int
    chosen: dict[str, Any]
    seconds: float = 0.0
    outcome: Mapping[str, Ratio] | Exception | None = None

    def result(self) -> Mapping[str, Ratio]:
        """The measured ratios. Raises the experiment's exception."""
        assert self.outcome is not None
        if isinstance(self.outcome, Exception):
            raise self.outcome
        return self.outcome


class Flights:
    """Starts experiments and returns them in the order in which they end.

    Without `threads`, an experiment has ended when `start` returns.
    """

    def __init__(self, measure: Measure, clock: Callable[[], float], threads: bool) -> None:
        self._measure, self._clock, self._threads = measure, clock, threads
        self._ended = deque[Flight]()
        self._changed = threading.Condition()
        self.open: set[int] = set()
        """The numbers of the flights that were started and not yet returned."""

    def start(self, number: int, chosen: dict[str, Any]) -> None:
        """Start an experiment."""
        flight = Flight(number, chosen)
        self.open.add(number)
        if self._threads:
            threading.Thread(target=self._make, args=(flight,), daemon=True).start()
        else:
            self._make(flight)

    def _make(self, flight: Flight) -> None:
        before = self._clock()
        try:
            flight.outcome = self._measure(flight.chosen)
        except Exception as error:
            flight.outcome = error
        flight.seconds = self._clock() - before
        with self._changed:
            self._ended.append(flight)
            self._changed.notify()

    def wait(self, seconds: float | None) -> bool:
        """Wait until an experiment ends, forever if `seconds` is None; returns whether one has."""
        with self._changed:
            bound = None if seconds is None else max(0.0, seconds)
            return self._changed.wait_for(lambda: bool(self._ended), bound)

    def ended(self) -> Iterator[Flight]:
        """The experiments that have ended, each once."""
        while self._ended:
            flight = self._ended.popleft()
            self.open.discard(flight.number)
            yield flight


@contextmanager
def uninterrupted() -> Iterator[None]:
    """Delay a KeyboardInterrupt by Ctrl-C until the end of the block."""
    handler = signal.getsignal(signal.SIGINT)
    here = threading.current_thread() is threading.main_thread()
    if not here or not callable(handler):
        yield
        return
    pressed: list[Any] = []
    signal.signal(signal.SIGINT, lambda *about: pressed.append(about))
    try:
        yield
    finally:
        signal.signal(signal.SIGINT, handler)
        if pressed:
            handler(*pressed[0])
