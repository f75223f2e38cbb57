"""Follows the jobs of an order, over connections that may break."""

from __future__ import annotations

import time
from collections.abc import Iterator

import httpx

from . import answers, routes
from .answers import Job
from .exchange import Exchange
from .failures import RemoteError, unexpected

_KIND = "text/event-stream"
MOST_EVENT = 4 << 20
"""The largest event, in bytes."""
LEAST = 1.0
"""The least seconds between requests for the whole order: a server without events, or behind a
proxy that buffers them, is polled this often."""


def watch_order(exchange: Exchange, identifier: str) -> Iterator[Job]:
    """Yield each job now, and again whenever it has changed, until all have ended.

    Raises RemoteError.
    """
    about = f"order '{identifier}'"
    known: dict[str, Job] = {}
    tries = exchange.patience.tries()
    while True:
        asked = time.monotonic()
        order = exchange.ask(routes.ORDER, identifier, shape=answers.ORDER, about=about)
        tries.renew()
        yield from _changed(known, order.jobs)
        if order.over:
            return
        try:
            for job in _jobs(exchange, identifier, about):
                if job.id in known:
                    yield from _changed(known, [job])
                if all(job.over for job in known.values()):
                    break  # the order may have what no event says: its comparison
        except RemoteError as error:
            if not exchange.may_repeat(error, routes.EVENTS) or not tries.again(error.after):
                raise
        time.sleep(max(0.0, LEAST - (time.monotonic() - asked)))


def _changed(known: dict[str, Job], jobs: list[Job]) -> Iterator[Job]:
    for job in jobs:
        if known.get(job.id) != job:
            known[job.id] = job
            yield job


def _jobs(exchange: Exchange, identifier: str, about: str) -> Iterator[Job]:
    """The jobs in events, until the connection ends or nothing comes for a while."""
    with exchange.stream(
        routes.EVENTS, identifier, headers={"Accept": _KIND}, about=about
    ) as response:
        exchange.check_kind(response, _KIND)
        for name, data in _events(exchange, response):
            if name == "job":
                yield exchange.shaped(answers.JOB, data)


def _events(exchange: Exchange, response: httpx.Response) -> Iterator[tuple[str, bytes]]:
    """The names and data of server-sent events. Raises RemoteError for an overlong one."""
    name, data = "message", bytearray()
    for line in _lines(exchange, response):
        if not line:
            if data:
                yield name, bytes(data)
            name, data = "message", bytearray()
            continue
        field, _, value = line.partition(b":")
        value = value.removeprefix(b" ")
        if field == b"event":
            name = value.decode("utf-8", "replace")
        elif field == b"data":
            data += (b"\n" if data else b"") + value
            if len(data) > MOST_EVENT:
                raise unexpected(exchange.url, "an event without an end")


def _lines(exchange: Exchange, response: httpx.Response) -> Iterator[bytes]:
    """The lines of a response as they arrive, without line ends."""
    rest = bytearray()
    for part in response.iter_raw():
        rest += part
        *lines, last = rest.split(b"\n")
        rest = bytearray(last)
        if len(rest) > MOST_EVENT:
            raise unexpected(exchange.url, "an event without an end")
        for line in lines:
            yield bytes(line.removesuffix(b"\r"))
