"""Who carries out experiments: processes of this machine here, workers of a fleet in `fleet.py`."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from queue import SimpleQueue
from typing import Protocol

from ...kernels.tuned import TunedSchedule
from .experiments import Experiments, LostError
from .worker import Answer, Request

TRIES = 3
"""How often an experiment is tried if its process or worker is lost each time."""


class Crew(Protocol):
    """Carries out experiments on one model, those of several threads at once."""

    def run(
        self,
        schedules: Mapping[str, TunedSchedule],
        seconds: float | None = None,
        whole: bool = False,
    ) -> Answer:
        """Times of the model with these schedules.

        Raises ExperimentError that says why not, OverError where there will be none any more.
        """
        ...

    @property
    def slots(self) -> Callable[[], int] | None:
        """How many experiments may be carried out at once; None for one by the caller's thread."""
        ...

    def abandon(self) -> None:
        """End what other threads have carried out; new experiments may follow."""
        ...

    def close(self) -> None:
        """End all that is being carried out, and let go of what was kept for more."""
        ...


class LocalCrew:
    """Workers that are processes of this machine."""

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
    """What `run` gives, tried again where it was lost and is still wanted."""
    for _ in range(TRIES - 1):
        try:
            return run()
        except LostError:
            if not wanted():
                raise
    return run()
