"""Experiments on one model, run by the workers of a fleet that are of one kind."""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping
from typing import Any

from ...kernels.tuned import TunedSchedule
from . import fleet_board
from .crew import tried
from .experiments import LostError, OverError
from .fleet import LOOK, Fleet, Member, digest_of
from .fleet_messages import MessageError, packed, read_answer
from .worker import Answer, Request

Foreign = Callable[[Mapping[str, TunedSchedule], Answer], None]
"""Called with an answer measured on another kind of processor than the search is for."""


class FleetCrew:
    """Runs experiments on a model, by the workers of a machine and processor."""

    def __init__(
        self,
        fleet: Fleet,
        request: Request,
        inputs: Mapping[str, Any],
        kind: tuple[str, str],
        foreign: Foreign,
    ) -> None:
        """`kind` is the machine and the processor. Raises NncError for inputs that are no arrays of
        numbers.
        """
        self._fleet, self._kind, self._foreign = fleet, kind, foreign
        self._seconds = request.seconds
        arrays = request.folder / "inputs"
        arrays.write_bytes(packed(inputs))
        paths = [request.model, request.model.with_suffix(".safetensors"), arrays]
        self._files = {digest_of(path): path for path in paths if path.exists()}
        self._job = {
            "files": {path.name: digest for digest, path in self._files.items()},
            "threads": request.threads,
            "seconds": request.seconds,
            "tolerance": request.tolerance,
            "memory": request.memory,
        }
        self._abandoned = 0

    @property
    def slots(self) -> Callable[[], int] | None:
        return lambda: max(1, len(self._fleet.usable(*self._kind)))

    def run(
        self,
        schedules: Mapping[str, TunedSchedule],
        seconds: float | None = None,
        whole: bool = False,
    ) -> Answer:
        known = self._abandoned

        def wanted() -> bool:
            return self._abandoned == known

        measured = self._seconds if seconds is None else seconds
        return tried(lambda: self._run(schedules, (measured, whole), wanted), wanted)

    def abandon(self) -> None:
        self._abandoned += 1

    def close(self) -> None:
        self.abandon()

    def _run(
        self,
        schedules: Mapping[str, TunedSchedule],
        how: tuple[float, bool],
        wanted: Callable[[], bool],
    ) -> Answer:
        fleet, one = self._fleet, self._take(wanted)
        try:
            limit = self._make_ready(one, wanted)
            texts = [schedule.text for schedule in schedules.values()]
            message = fleet.call(one, limit, wanted, fleet_board.measure, self._job, texts, *how)
            try:
                answer = read_answer(message)
            except MessageError as error:
                fleet.refuse(one, f"gave {error}")
                raise LostError(f"its worker gave {error}") from None
        finally:
            one.busy = False
        if answer.whole and answer.processor != self._kind[1]:
            fleet.refuse(one, f"measured on {answer.processor}, not on {self._kind[1]}")
            self._foreign(schedules, answer)
            raise LostError("its worker has another processor")
        return answer

    def _take(self, wanted: Callable[[], bool]) -> Member:
        """An idle worker. Raises OverError if there is none for too long."""
        alone = time.monotonic()
        while wanted():
            there = self._fleet.usable(*self._kind)
            if (one := self._fleet.reserve(there)) is not None:
                return one
            if there:
                alone = time.monotonic()
            elif time.monotonic() - alone > self._fleet.patience.another:
                text = f"no worker for {self._kind[0]} is left at {self._fleet.address}"
                raise OverError(f"{text}; {self._fleet.joined()}")
            time.sleep(LOOK)
        raise LostError("it is not wanted any more")

    def _make_ready(self, one: Member, wanted: Callable[[], bool]) -> float:
        """Send the model's files to a worker and have it compile the default program.

        Returns the seconds that an experiment may take there.
        """
        key = str(self._job)
        if key not in one.limits:
            fleet = self._fleet
            fleet.send(one, self._files, wanted)
            bound = fleet_board.COMPILING
            limit = fleet.call(one, bound, wanted, fleet_board.prepare, self._job)
            one.limits[key] = float(limit)
        return one.limits[key]
