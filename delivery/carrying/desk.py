"""The worker's side of a service's jobs: it runs one at a time, confined, as the server does.

A server calls the functions at the end. A job begins with its files, which are sent by digests as
those of `nnc tune` are; then the server asks about its progress every second or so, fetches the
results in parts, and ends it. A job that no server asks about is ended.
"""

from __future__ import annotations

import json
import secrets
import threading
import time
from collections.abc import Callable, Mapping
from contextlib import suppress
from hashlib import file_digest
from pathlib import Path
from tempfile import mkdtemp
from typing import TYPE_CHECKING, Any

from ...driver.tuning.fleet_board import Board, board_of
from ...driver.tuning.fleet_messages import MessageError
from ...ir.diagnostics import NncError
from ...targets.base import HOST, find_host
from ..confined.limits import Limits
from ..confined.start import Confinement
from .carry import PRELOAD, carry
from .job import CancelledError, Job, LostError, Outcome
from .names import file_name
from .results import remove

if TYPE_CHECKING:
    from distributed import Worker

FORGOTTEN = 90.0
"""Seconds without a request from a server after which a job is ended."""
PART = 8 << 20
"""The bytes of a result that are sent at once."""
_FILES = ("model", "inputs")
_KINDS = ("package", "experiment")


class _Running:
    """A running job, later with its results."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.state = "running"
        self.note: Mapping[str, Any] | None = None
        self.outcome = Outcome("failed")
        self.heard = time.monotonic()
        self.ended = False
        self.thread: threading.Thread | None = None

    def unwanted(self) -> bool:
        return self.ended or time.monotonic() - self.heard > FORGOTTEN


class Desk:
    """The state of a worker for a service's jobs; `unconfined` allows jobs without confinement."""

    def __init__(self, board: Board, *, unconfined: bool = False) -> None:
        self.board, self._unconfined = board, unconfined
        self._work = Path(mkdtemp(prefix="nnc-desk-"))
        self._lock = threading.Lock()
        self._confinement: Confinement | None = None
        self._jobs: dict[str, _Running] = {}

    def close(self) -> None:
        """End the running job."""
        for key in list(self._jobs):
            self.end(key)
        if self._confinement is not None:
            self._confinement.close()
        with suppress(NncError):
            remove(self._work)

    def begin(self, message: Mapping[str, Any]) -> dict[str, Any]:
        """Start a job and return its `id`; `busy` if there is another one.

        Raises MessageError, and NncError if commands cannot be confined here.
        """
        with self._lock:
            for key, one in list(self._jobs.items()):
                if one.unwanted():
                    self._forget(key)
            if self._jobs:
                return {"busy": True}
            if self._confinement is None:
                self._confinement = Confinement([self._work], PRELOAD, unconfined=self._unconfined)
            key = secrets.token_hex(16)
            running = _Running(self._work / key)
            running.folder.mkdir()
            job = self._job(message, running.folder)
            running.thread = threading.Thread(target=self._carry, args=(job, running), daemon=True)
            self._jobs[key] = running
            running.thread.start()
            return {"id": key}

    def _job(self, message: Mapping[str, Any], folder: Path) -> Job:
        """The job in a message, with its files. Raises MessageError."""
        try:
            kind, seconds = message["kind"], float(message["seconds"])
            options = json.loads(message["options"])
            files = {str(name): (str(a), str(b)) for name, (a, b) in message["files"].items()}
        except (KeyError, TypeError, ValueError, AttributeError) as error:
            raise MessageError(f"a job that cannot be read ({error})") from None
        if kind not in _KINDS or not isinstance(options, dict) or "model" not in files:
            raise MessageError("a job of no kind that is known")
        arrived = folder / "arrived"
        arrived.mkdir()
        found = {}
        for file, (digest, name) in files.items():
            if file not in _FILES or name != file_name(name):
                raise MessageError(f"no file of a job is called '{name[:40]}'")
            found[file] = arrived / file / name
            found[file].parent.mkdir()
            self.board.copy(digest, found[file])
        self.board.trim()
        here = find_host()
        if here is not None and here.name == self.board.target.name:
            options["target"] = HOST  # with the machine's own numbers
        return Job(kind, options, found, seconds)

    def _carry(self, job: Job, running: _Running) -> None:
        def note(told: Mapping[str, Any]) -> None:
            running.note = told

        assert self._confinement is not None
        try:
            running.outcome = carry(
                job, running.folder, self._confinement, Limits(), note, running.unwanted
            )
            running.state = running.outcome.state
        except (LostError, CancelledError) as error:
            running.outcome, running.state = Outcome("failed", str(error)), "lost"
        except Exception as error:
            running.outcome = Outcome("failed", f"it could not be carried out: {error}")
            running.state = "failed"

    def look(self, key: str) -> dict[str, Any]:
        """The progress of a job, or its outcome. Raises MessageError."""
        one = self._known(key)
        one.heard = time.monotonic()
        if one.state == "running":
            return {"state": "running", "progress": dict(one.note or {})}
        outcome = one.outcome
        files = {}
        for name, path in outcome.files.items():
            with path.open("rb") as file:
                files[name] = (path.stat().st_size, file_digest(file, "sha256").hexdigest())
        summary = json.dumps(outcome.summary)
        return {
            "state": one.state,
            "message": outcome.message,
            "summary": summary,
            "files": files,
        }

    def part(self, key: str, name: str, offset: int) -> bytes:
        """A part of a result file. Raises MessageError."""
        one = self._known(key)
        one.heard = time.monotonic()
        if one.state == "running" or name not in one.outcome.files:
            raise MessageError(f"no result is called '{name}'")
        with one.outcome.files[name].open("rb") as file:
            file.seek(offset)
            return file.read(PART)

    def end(self, key: str) -> None:
        """Forget a job, and stop it if it runs."""
        with self._lock:
            self._forget(key)

    def _forget(self, key: str) -> None:
        one = self._jobs.get(key)
        if one is None:
            return
        one.ended = True
        if one.thread is not None:
            one.thread.join()
        with suppress(NncError):
            remove(one.folder)
        del self._jobs[key]

    def _known(self, key: str) -> _Running:
        if not isinstance(key, str) or key not in self._jobs:
            raise MessageError("no such job is here")
        return self._jobs[key]


# -- what a server calls ---------------------------------------------------------------------------


def join(worker: Worker, desk: Desk) -> None:
    """Enable a Dask worker, which has a board, to run jobs of services."""
    worker.nnc_desk = desk  # type: ignore[attr-defined]


def _answered(do: Callable[[Desk], Any]) -> dict[str, Any]:
    from distributed import get_worker

    try:
        worker = get_worker()
        board_of(worker)
        desk = getattr(worker, "nnc_desk", None)
        if not isinstance(desk, Desk):
            raise LookupError("this worker does not carry out jobs of a service")
        return {"value": do(desk)}
    except (NncError, OSError, LookupError, TypeError, ValueError) as error:
        return {"unable": f"{type(error).__name__}: {error}"}


def begin(message: Mapping[str, Any]) -> dict[str, Any]:
    """Start a job, see `Desk.begin`."""
    return _answered(lambda desk: desk.begin(message))


def look(key: str) -> dict[str, Any]:
    """The progress of a job, see `Desk.look`."""
    return _answered(lambda desk: desk.look(key))


def part(key: str, name: str, offset: int) -> dict[str, Any]:
    """A part of a result file."""
    return _answered(lambda desk: desk.part(key, name, offset))


def end(key: str) -> dict[str, Any]:
    """End a job."""
    return _answered(lambda desk: desk.end(key))
