"""Runs jobs on the workers of a fleet, and tells jobs for whose target there is no worker.

With a fleet, this machine runs looks (the checks of uploaded models) and jobs for the target
`host`; jobs for other targets go to workers that joined the fleet for these targets.
"""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Collection
from contextlib import suppress
from pathlib import Path

from sqlalchemy.exc import SQLAlchemyError

from ...delivery.carrying.fleet import carry_on
from ...delivery.carrying.job import Job, LostError, Outcome, Progress
from ...driver.tuning.experiments import OverError
from ...driver.tuning.fleet import Fleet, Member
from ...ir.diagnostics import NncError
from ..jobs import Wanted
from ..queue import Queue
from .hands import MEASURING

PATIENCE = 600.0
"""How long a job waits for a worker for its target before it fails. Units: seconds."""
HANDS = 16
"""The most workers that one server uses at the same time."""
_LOOK = 5.0
"""Seconds between two assignments of waiting jobs to workers."""


class Members:
    """The workers of a fleet, as hands use them; reconnects to a scheduler that was gone."""

    def __init__(self, connect: Callable[[], Fleet]) -> None:
        """Raises NncError if no scheduler answers now."""
        self._connect = connect
        self._lock = threading.Lock()
        self._fleet: Fleet | None = connect()

    def fleet(self) -> Fleet:
        """The connection to the fleet. Raises NncError."""
        with self._lock:
            if self._fleet is None:
                self._fleet = self._connect()
            return self._fleet

    def lost(self, fleet: Fleet) -> None:
        """Drop a connection whose scheduler is gone."""
        with self._lock:
            if self._fleet is fleet:
                self._fleet = None
        fleet.close()

    def targets(self) -> set[str]:
        """The targets that workers exist for; none while the scheduler is gone."""
        with suppress(NncError):
            fleet = self.fleet()
            try:
                return fleet.targets()
            except OverError:
                self.lost(fleet)
        return set()

    def close(self) -> None:
        """Disconnect from the fleet."""
        with self._lock:
            if self._fleet is not None:
                self._fleet.close()
            self._fleet = None


class OfFleet:
    """Hands that run each job on any idle worker, reserved from one call of
    `wanted` to the next.
    """

    def __init__(self, name: str, members: Members) -> None:
        self.name = name
        self._members = members
        self._held: tuple[Fleet, Member] | None = None
        self._turn = 0

    def wanted(self) -> Wanted | None:
        """The jobs for an idle worker's target; several workers take turns.

        Raises NncError if the scheduler is gone.
        """
        self._let_go()
        fleet = self._members.fleet()
        try:
            free = fleet.free()
        except OverError as error:
            self._members.lost(fleet)
            raise NncError(str(error)) from None
        self._turn += 1
        turned = free[self._turn % len(free) :] + free if free else free
        member = fleet.reserve(turned)
        if member is None or member.identity is None:
            return None
        self._held = fleet, member
        return Wanted(MEASURING, [member.identity.measured.name], others=False)

    def _let_go(self) -> None:
        if self._held is not None:
            self._held[1].busy = False
        self._held = None

    def carry(
        self, job: Job, folder: Path, progress: Progress, cancelled: Callable[[], bool]
    ) -> Outcome:
        """Run the job on the reserved worker."""
        if self._held is None:
            raise LostError("no worker was free")
        fleet, member = self._held
        try:
            return carry_on(fleet, member, job, folder, progress, cancelled)
        except OverError as error:
            self._members.lost(fleet)
            raise LostError(str(error)) from None
        finally:
            self._let_go()


class Waiting:
    """Tells jobs that there is no worker for them, and fails them after a while."""

    def __init__(
        self,
        queue: Queue,
        members: Members,
        targets: Collection[str],
        patience: float = PATIENCE,
    ) -> None:
        self._queue, self._members, self._targets = queue, members, list(targets)
        self._patience = patience
        self._seen: dict[str, float] = dict.fromkeys(targets, time.time())
        self._stopping = threading.Event()
        self._thread = threading.Thread(target=self._serve, name="nnc-waiting", daemon=True)

    def __enter__(self) -> Waiting:
        self._thread.start()
        return self

    def __exit__(self, *about: object) -> None:
        self._stopping.set()
        self._thread.join()

    def _serve(self) -> None:
        while not self._stopping.wait(min(_LOOK, self._patience / 4)):
            with suppress(SQLAlchemyError):
                self.look()

    def look(self) -> None:
        """Check all targets once."""
        now, there = time.time(), self._members.targets()
        self._seen.update(dict.fromkeys(there, now))
        missing = [name for name in self._targets if name not in there]
        for name in self._queue.waiting(missing):
            alone = now - self._seen[name]
            why = f"no worker for '{name}' has joined the fleet"
            if alone > self._patience:
                error = f"{why} for {self._patience:g} s"
                self._queue.give_up(name, now - self._patience, error)
            else:
                self._queue.explain(name, why)
