"""The server's side of jobs that workers of a fleet run; the other side is desk.py.

A worker's messages are checked on arrival: names, sizes, digests, JSON. If a worker dies or sends
something invalid, the job is lost and is tried elsewhere.
"""

from __future__ import annotations

import json
import time
from collections.abc import Callable, Mapping
from contextlib import suppress
from dataclasses import dataclass
from hashlib import sha256
from pathlib import Path
from typing import Any

from ...driver.tuning.experiments import ExperimentError
from ...driver.tuning.experiments import LostError as MemberLostError
from ...driver.tuning.fleet import Fleet, Member, digest_of
from ...ir.diagnostics import NncError
from . import desk
from .job import CancelledError, Job, LostError, Outcome, Progress
from .place import MOST_RESULT, progress_note
from .results import MOST_JSON, read_json

RESULTS = ("package", "report", "log", "explore")
"""The permitted names of results."""
_LOOK = 1.0
"""Seconds between polls of a job's progress."""
_BEGINNING = 120.0
"""Seconds in which a worker must have begun a job: it may first have to find out how to confine it.
"""
_LONGEST = 4000


def carry_on(
    fleet: Fleet,
    member: Member,
    job: Job,
    folder: Path,
    progress: Progress,
    cancelled: Callable[[], bool],
) -> Outcome:
    """Have a worker run a job; its results are files in the folder.

    Raises LostError, CancelledError, OverError.
    """
    worker = _Worker(fleet, member, lambda: not cancelled())
    try:
        key = _begin(worker, job)
        try:
            return _outcome(worker, key, _wait(worker, key, job, progress), folder)
        finally:
            with suppress(Exception):  # the worker forgets it later by itself
                fleet.call(member, 0, lambda: True, desk.end, key)
    except (MemberLostError, ExperimentError) as error:
        if cancelled():
            raise CancelledError from None
        raise LostError(str(error)) from None
    except _WrongError as error:
        fleet.refuse(member, f"gave {error}")
        raise LostError(f"its worker gave {error}") from None


class _WrongError(Exception):
    """An invalid message from a worker."""


@dataclass(frozen=True)
class _Worker:
    """A fleet worker that runs a job as long as the job is `wanted`."""

    fleet: Fleet
    member: Member
    wanted: Callable[[], bool]

    def ask(self, function: Callable[..., Any], *arguments: Any, seconds: float = 0) -> Any:
        """The result of a function that the worker runs. Raises as `Fleet.call`, and once the job
        is no longer wanted.
        """
        return self.fleet.call(self.member, seconds, self.wanted, function, *arguments)


def _begin(worker: _Worker, job: Job) -> str:
    """Send a job and its files; returns the worker's key of the job."""
    digests = {name: digest_of(path) for name, path in job.files.items()}
    sent = {digests[name]: path for name, path in job.files.items()}
    worker.fleet.send(worker.member, sent, worker.wanted)
    message = {
        "kind": job.kind,
        "options": json.dumps(dict(job.options)),
        "seconds": job.seconds,
        "files": {name: (digests[name], path.name) for name, path in job.files.items()},
    }
    found = worker.ask(desk.begin, message, seconds=_BEGINNING)
    if isinstance(found, Mapping) and found.get("busy"):
        raise LostError("its worker has another job")
    if not isinstance(found, Mapping) or not isinstance(found.get("id"), str):
        raise _WrongError("no answer that is known")
    return found["id"]


def _wait(worker: _Worker, key: str, job: Job, progress: Progress) -> Mapping[str, Any]:
    """Wait for the end of a job; returns the worker's message about it."""
    deadline = time.monotonic() + job.seconds + worker.fleet.patience.answer
    while time.monotonic() < deadline:
        found = worker.ask(desk.look, key)
        if not isinstance(found, Mapping):
            raise _WrongError("no answer that is known")
        if found.get("state") != "running":
            return found
        if (note := progress_note(found.get("progress"))) is not None:
            progress(note)
        time.sleep(_LOOK)
    raise _WrongError("no result in time")


def _outcome(worker: _Worker, key: str, found: Mapping[str, Any], folder: Path) -> Outcome:
    """The outcome of a job, with its files fetched and checked."""
    state, message, listed = found.get("state"), found.get("message"), found.get("files")
    if state == "lost":
        raise LostError(str(message)[:_LONGEST])
    summary = found.get("summary")
    if state not in ("done", "failed") or not isinstance(message, str):
        raise _WrongError("no state of a job that is known")
    if not isinstance(summary, str) or not isinstance(listed, Mapping):
        raise _WrongError("no result that can be read")
    try:
        read = read_json(summary.encode()[: MOST_JSON + 1], "the summary")
    except NncError as error:
        raise _WrongError(error.message) from None
    results = folder / "results"
    results.mkdir(exist_ok=True)
    files = {}
    for name, about in listed.items():
        expected = _about(name, about)
        files[name] = results / name
        _fetch(worker, key, expected, files[name])
    return Outcome(state, message[:_LONGEST], files, read)


def _about(name: Any, about: Any) -> tuple[int, str]:
    """The size and the digest of a result, as the worker gives them."""
    try:
        size, digest = about
    except (TypeError, ValueError):
        raise _WrongError("a result that is none") from None
    if name not in RESULTS or not isinstance(size, int) or not 0 <= size <= MOST_RESULT:
        raise _WrongError("a result of a wrong name or size")
    return size, str(digest)


def _fetch(worker: _Worker, key: str, expected: tuple[int, str], path: Path) -> None:
    """Fetch a result file in parts, and check its size and digest."""
    size, digest = expected
    seen, offset = sha256(), 0
    with path.open("wb") as file:
        while offset < size:
            part = worker.ask(desk.part, key, path.name, offset)
            if not isinstance(part, bytes) or not part or offset + len(part) > size:
                raise _WrongError("a result of another size than it said")
            file.write(part)
            seen.update(part)
            offset += len(part)
    if seen.hexdigest() != digest:
        raise _WrongError("a result that came otherwise than it was sent")
