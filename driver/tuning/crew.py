"""Who runs experiments: processes of this machine here, workers of a fleet in `fleet_crew.py`."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from queue import SimpleQueue
from typing import Protocol

from ...kernels.tuned import TunedSchedule
from .experiments import Experiments, LostError
from .worker import Answer, Request

TRIES = 3
"""The most attempts of an experiment whose process or worker is lost."""


class Crew(Protocol):
    """Runs experiments on one model, called from several threads at once."""

    def run(
        self,
        schedules: Mapping[str, TunedSchedule],
        seconds: float | None = None,
        whole: bool = False,
    ) -> Answer:
        """The times of the model with these schedules.

        Raises ExperimentError with the reason of a failure, OverError if no more experiments are
        possible.
        """
        ...

    @property
    def slots(self) -> Callable[[], int] | None:
        """The number of experiments that may run at once; None for one, on the caller's thread."""
        ...

    def abandon(self) -> None:
        """End the experiments of other threads; new experiments may follow."""
        ...

    def close(self) -> None:
        """End all experiments, and release what was kept for further ones."""
        ...


class LocalCrew:
    """Worker processes of this machine."""

    def __init__(
        self, request: Request, limit: float, count: int = 1, command: Sequence[str] | None = None
    ) -> None:
        self._all = [Experiments(request, limit, command) for _ in range(count)]
        self._free: SimpleQueue[Experiments] = SimpleQueue()
        for one in self._all:
            self._free.put(one)
        self._abandoned = 0

    @property
    def slots(self) -> Callable[[], int] | None:
        count = len(self._all)
        return (lambda: count) if count > 1 else None

    def run(
        self,
        schedules: Mapping[str, TunedSchedule],
        seconds: float | None = None,
        whole: bool = False,
    ) -> Answer:
        known = self._abandoned
        return tried(lambda: self._run(schedules, seconds, whole), lambda: self._abandoned == known)

    def _run(
        self, schedules: Mapping[str, TunedSchedule], seconds: float | None, whole: bool
    ) -> Answer:
        one = self._free.get()
        try:
            return one.run(schedules, seconds, whole)
        finally:
            self._free.put(one)

    def abandon(self) -> None:
        self._abandoned += 1
        for one in self._all:
            one.stop()

    def close(self) -> None:
        self.abandon()
        for one in self._all:
            one.close()


def tried(run: Callable[[], Answer], wanted: Callable[[], bool]) -> Answer:
    """The result of `run`, which is repeated if it was lost and is still wanted."""
    for _ in range(TRIES - 1):
        try:
            return run()
        except LostError:
            if not wanted():
                raise
    return run()
