"""Metrics for Prometheus, and the health check."""

from __future__ import annotations

import time
from collections.abc import Iterator

from fastapi import APIRouter, Request
from fastapi.responses import PlainTextResponse
from prometheus_client import (
    CONTENT_TYPE_LATEST,
    CollectorRegistry,
    Counter,
    Histogram,
    ProcessCollector,
    generate_latest,
)
from prometheus_client.core import GaugeMetricFamily
from prometheus_client.registry import Collector
from sqlalchemy import select
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from ..errors import ForbiddenError
from ..service import Service
from ..storage.schema import meta
from .asking import current_user, service_of, settings_of

router = APIRouter(tags=["operations"])

_STATES = ("queued", "running", "done", "failed", "cancelled")


class Metrics:
    """The counters of one application."""

    def __init__(self, service: Service) -> None:
        self.registry = CollectorRegistry()
        self.requests = Counter(
            "nnc_requests", "Requests by route and status.", ("method", "route", "status"),
            registry=self.registry,
        )  # fmt: skip
        self.seconds = Histogram(
            "nnc_request_seconds", "Time until an answer has begun.", ("route",),
            registry=self.registry,
        )  # fmt: skip
        ProcessCollector(registry=self.registry)
        self.registry.register(_Jobs(service))


class _Jobs(Collector):
    """The number of jobs in each state, queried when metrics are read."""

    def __init__(self, service: Service) -> None:
        self._service = service

    def collect(self) -> Iterator[GaugeMetricFamily]:
        counts = self._service.queue.counts()
        family = GaugeMetricFamily("nnc_jobs", "Jobs by state.", labels=["state"])
        for state in _STATES:
            family.add_metric([state], counts.get(state, 0))
        yield family

    def describe(self) -> list[GaugeMetricFamily]:
        return []  # so that registering asks no database


class Measured:
    """ASGI middleware that counts and times requests."""

    def __init__(self, app: ASGIApp, metrics: Metrics) -> None:
        self._app = app
        self._metrics = metrics

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != "http":
            await self._app(scope, receive, send)
            return
        started = time.perf_counter()

        async def sending(message: Message) -> None:
            if message["type"] == "http.response.start":
                route = _pattern(scope)
                labels = (scope["method"], route, str(message["status"]))
                self._metrics.requests.labels(*labels).inc()
                self._metrics.seconds.labels(route).observe(time.perf_counter() - started)
            await send(message)

        await self._app(scope, receive, sending)


def _pattern(scope: Scope) -> str:
    """The path with its parameters' names in place of their values; "none" without a route."""
    if "route" not in scope:
        return "none"
    path: str = scope["path"]
    names: dict[str, str] = {
        value: f"{{{name}}}" for name, value in scope.get("path_params", {}).items()
    }
    return "/".join(names.get(part, part) for part in path.split("/"))


@router.get("/healthz", response_class=PlainTextResponse)
def health(request: Request) -> str:
    """`ok` if the database answers."""
    with service_of(request).database.read() as connection:
        connection.execute(select(meta.c.value)).first()
    return "ok\n"


@router.get("/metrics", response_class=PlainTextResponse)
def metrics(request: Request) -> PlainTextResponse:
    """Metrics in Prometheus' format, for this machine itself and for operators with a token."""
    client = request.client.host if request.client else ""
    near = client in ("127.0.0.1", "::1") and not settings_of(request).proxied
    if not near and not current_user(request).operator:
        raise ForbiddenError("metrics are for operators")
    text = generate_latest(request.app.state.metrics.registry)
    return PlainTextResponse(text, media_type=CONTENT_TYPE_LATEST)
