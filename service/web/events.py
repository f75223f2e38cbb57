"""Server-sent events: the changes of an order, until all of its jobs have ended."""

from __future__ import annotations

import asyncio
import json
from collections import Counter
from collections.abc import AsyncIterator
from typing import Any

from fastapi.concurrency import run_in_threadpool

from ..errors import NotFoundError, QuotaError
from ..jobs import ACTIVE
from ..service import Service

_PERIOD = 0.5
"""Seconds between two polls of the database."""

_SILENCE = 15
"""Seconds of silence after which a comment keeps proxies and browsers from closing the stream."""


class Streams:
    """All open streams."""

    def __init__(self, service: Service) -> None:
        self._service = service
        self._open: Counter[str] = Counter()
        self.closing = False
        """Set when the server stops: streams end, and browsers reconnect later."""

    def follow(self, user: str, order: str) -> AsyncIterator[str]:
        """The events of an order. Raises QuotaError where the user follows too many."""
        if self._open[user] >= self._service.limits.event_streams:
            raise QuotaError("this user follows too many orders at once: close some pages")
        return self._follow(user, order)

    async def _follow(self, user: str, order: str) -> AsyncIterator[str]:
        self._open[user] += 1
        told: dict[str, Any] = {}
        silent = 0.0
        try:
            while not self.closing:
                found = await run_in_threadpool(self._service.orders.states, user, order)
                for job in found:
                    if told.get(job["id"]) != job:
                        told[job["id"]] = job
                        silent = 0.0
                        yield _event("job", await run_in_threadpool(self._whole, user, job))
                if not any(job["state"] in ACTIVE for job in found):
                    break
                if silent >= _SILENCE:
                    silent = 0.0
                    yield ": still here\n\n"
                await asyncio.sleep(_PERIOD)
                silent += _PERIOD
            if not self.closing:
                yield _event("end", {})
        finally:
            self._open[user] -= 1

    def _whole(self, user: str, job: dict[str, Any]) -> dict[str, Any]:
        """A job with its report, if it has ended and was not deleted meanwhile."""
        if job["state"] in ACTIVE:
            return job
        try:
            return self._service.queue.get(user, job["id"])
        except NotFoundError:
            return job


def _event(name: str, content: Any) -> str:
    return f"event: {name}\ndata: {json.dumps(content)}\n\n"
