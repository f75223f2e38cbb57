"""Takes jobs from the queue, has them run, and commits their results: a thread for each slot.

A job that was cancelled, or meanwhile given to another dispatcher, is stopped within seconds. After
a restart, this dispatcher's jobs are queued again at once: it owns them by a name stored in the
service's folder, so that several dispatchers may share a database.
"""

from __future__ import annotations

import secrets
import threading
import time
import traceback
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from pathlib import Path
from typing import Any

from sqlalchemy.exc import SQLAlchemyError

from ...delivery.carrying.job import CancelledError, LostError, Outcome
from ...delivery.carrying.job import Job as Work
from ...delivery.carrying.results import remove
from ...ir.diagnostics import NncError
from ...ir.files import write_whole
from ..errors import StoreFullError
from ..jobs import Job
from ..service import Service
from .hands import Hands

LEASE = 60.0
"""How long a claimed job stays claimed unless the claim is renewed. Units: seconds."""
_RENEW, _ASK, _TELL = 15.0, 2.0, 0.5
"""Seconds between renewals of a claim, checks whether a job is cancelled, and progress reports."""
_IDLE = 0.5
"""Seconds between polls of an empty queue."""
_TROUBLE = 5.0
"""Seconds to wait after the database or the store failed."""
_STORING = 5
"""The most attempts to store a job's results."""
Say = Callable[[str], None]


class Dispatcher:
    """Runs the jobs of a service until it is stopped; `say` gets messages about failures."""

    def __init__(
        self, service: Service, hands: Sequence[Hands], say: Say = lambda line: None
    ) -> None:
        self._service, self._queue, self._say = service, service.queue, say
        self._stopping = threading.Event()
        self._work = service.folder / "work"
        self._name = _own_name(service.folder)
        self._threads = [
            threading.Thread(target=self._serve, args=(one,), name=f"nnc-{one.name}", daemon=True)
            for one in hands
        ]

    def start(self) -> None:
        """Remove the files that a killed server left, and start the threads."""
        remove(self._work)
        self._work.mkdir(mode=0o700)
        for one in self._threads:
            one.start()

    def stop(self) -> None:
        """End the running commands; their jobs are queued again."""
        self._stopping.set()
        for one in self._threads:
            one.join()

    def __enter__(self) -> Dispatcher:
        self.start()
        return self

    def __exit__(self, *about: object) -> None:
        self.stop()

    def _serve(self, hands: Hands) -> None:
        """Run one job after the other."""
        owner = f"{self._name}:{hands.name}"
        released = False
        while not self._stopping.is_set():
            try:
                if not released:
                    self._queue.release(owner)
                    released = True
                wanted = hands.wanted()
                job = self._queue.claim(owner, LEASE, wanted) if wanted is not None else None
                if job is None:
                    self._stopping.wait(_IDLE)
                    continue
                released = False  # what is not finished below is queued again
                if _Attempt(self._service, job, hands, self._stopping).go(self._work):
                    released = True
            except (SQLAlchemyError, NncError, OSError) as error:
                self._say(f"{hands.name}: {_line(error)}")
                self._stopping.wait(_TROUBLE)
            except Exception:
                self._say(f"{hands.name}: {traceback.format_exc()}")
                self._stopping.wait(_TROUBLE)
        with suppress(SQLAlchemyError):
            self._queue.release(owner)


class _Attempt:
    """One job, from its claim to its commit."""

    def __init__(self, service: Service, job: Job, hands: Hands, stopping: threading.Event) -> None:
        self._service, self._queue = service, service.queue
        self._job, self._hands, self._stopping = job, hands, stopping
        self._asked = self._renewed = time.monotonic()
        self._told = 0.0
        self._unwanted = False

    def go(self, work: Path) -> bool:
        """Run the job; returns whether it is settled: committed, or no longer ours."""
        folder = work / f"{self._job.id}-{self._job.attempt}"
        try:
            folder.mkdir(mode=0o700)
            try:
                outcome = self._carried(folder)
            except CancelledError:
                return not self._stopping.is_set()
            except LostError:
                return False
            self._commit(outcome)
            return True
        finally:
            remove(folder)

    def _carried(self, folder: Path) -> Outcome:
        job, arrived = self._job, folder / "arrived"
        arrived.mkdir()
        try:
            files = self._queue.fetch(job, arrived)
            earlier = self._queue.fetch_log(job, folder / "earlier")
        except StoreFullError as error:
            return Outcome("failed", error.message)
        work = Work(job.kind, job.options, files, float(job.seconds), job.model)  # type: ignore[arg-type]
        try:
            outcome = self._hands.carry(work, folder, self._tell, self._is_unwanted)
            if earlier is not None and "log" in outcome.files:
                log = outcome.files["log"]
                log.write_bytes(earlier.read_bytes() + log.read_bytes())
            return outcome
        except (OSError, ValueError, RuntimeError, NncError) as error:
            return Outcome("failed", f"it could not be carried out: {_line(error)}")

    def _is_unwanted(self) -> bool:
        """Whether the job is to be stopped; renews its lease meanwhile."""
        if self._stopping.is_set() or self._unwanted:
            return True
        now = time.monotonic()
        with suppress(SQLAlchemyError):  # a database that is away for a while
            if now - self._renewed > _RENEW:
                self._renewed = self._asked = now
                self._unwanted = not self._queue.renew(self._job, LEASE)
            elif now - self._asked > _ASK:
                self._asked = now
                self._unwanted = self._queue.cancelled(self._job)
        return self._unwanted

    def _tell(self, note: Mapping[str, Any]) -> None:
        now = time.monotonic()
        if now - self._told > _TELL:
            self._told = now
            with suppress(SQLAlchemyError):
                self._queue.progress(self._job, note)

    def _commit(self, outcome: Outcome) -> None:
        """Store the results and the state. If there is no room for results, the job has failed.

        Raises NncError if even that cannot be stored.
        """
        files = dict(outcome.files)
        for left in reversed(range(_STORING)):
            try:
                if outcome.then is not None:
                    self._queue.go_on(self._job, outcome.then, outcome.summary, files)
                    return
                self._queue.finish(
                    self._job, outcome.state, outcome.summary, files, outcome.message or None
                )
                return
            except StoreFullError as error:
                outcome, files = Outcome("failed", f"its results: {error.message}"), {}
            except (NncError, SQLAlchemyError):
                if not left or not all(path.exists() for path in files.values()):
                    raise
                self._stopping.wait(1.0)
                if self._is_unwanted():
                    return


def _own_name(folder: Path) -> str:
    """The name of this dispatcher, distinct in the database and kept across restarts."""
    path = folder / "dispatcher"
    with suppress(OSError, ValueError):
        if name := path.read_text(encoding="ascii").strip():
            return name
    name = secrets.token_hex(8)
    write_whole(path, name)
    return name


def _line(error: BaseException) -> str:
    text = getattr(error, "strerror", None) or getattr(error, "message", None) or str(error)
    return (str(text).strip().splitlines() or [type(error).__name__])[0]
