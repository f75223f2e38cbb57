"""Progress of `nnc remote`: of transfers, and of jobs on the server."""

from __future__ import annotations

import time
from contextlib import AbstractContextManager
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from ..service.remote.answers import Job
    from .command import Streams

_OFTEN = 10.0
"""Seconds between two lines about a transfer if the output is no terminal."""


class Transfer(AbstractContextManager["Transfer"]):
    """A transfer of bytes: a bar on a terminal, an occasional line elsewhere."""

    def __init__(self, streams: Streams, name: str, quiet: bool) -> None:
        self._stream, self._name, self._quiet = streams.stderr, name, quiet
        self._bar: Any = None
        self._said = time.monotonic()

    def __call__(self, done: int, total: int) -> None:
        """Report the bytes transferred so far, and their total."""
        if self._quiet:
            return
        if self._stream.isatty():
            self._move(done, total)
        elif time.monotonic() - self._said > _OFTEN:
            self._said = time.monotonic()
            text = f"{self._name}: {done / 1e6:,.1f} of {total / 1e6:,.1f} MB"
            print(text, file=self._stream, flush=True)

    def _move(self, done: int, total: int) -> None:
        from tqdm import tqdm

        if self._bar is None:
            stream = getattr(self._stream, "stream", self._stream)  # which may be commanded
            self._bar = tqdm(
                total=total, initial=done, unit="B", unit_scale=True, file=stream, leave=False,
                desc=self._name[-40:], dynamic_ncols=True,
            )  # fmt: skip
        self._bar.n = done
        self._bar.refresh()

    def __exit__(self, *_: object) -> None:
        if self._bar is not None:
            self._bar.close()


class Following:
    """Prints jobs as they change: a line for each noteworthy change."""

    def __init__(self, streams: Streams, quiet: bool) -> None:
        self._stream, self._quiet = streams.stderr, quiet
        self._said: dict[str, str] = {}
        self.jobs: dict[str, Job] = {}
        """The last known state of each job."""

    def __call__(self, job: Job) -> None:
        """Report a job that has changed."""
        self.jobs[job.id] = job
        text = said_job(job)
        if not self._quiet and self._said.get(job.id) != text:
            self._said[job.id] = text
            print(text, file=self._stream, flush=True)


def said_job(job: Job) -> str:
    """A job in one line; the progress of a running step is in tenths."""
    what = [str(job.options[name]) for name in ("target", "precision") if name in job.options]
    text = "  ".join([job.id, " ".join(what) or job.kind, job.state])
    if job.state == "queued" and job.place is not None:
        return f"{text}, place {job.place} in the queue"
    if job.state == "running" and job.progress is not None:
        done = job.progress.done
        part = "" if done is None else f" {int(10 * min(max(done, 0.0), 1.0)) * 10} %"
        return f"{text}: {job.progress.step}{part}"
    return f"{text}: {job.error}" if job.error else text
