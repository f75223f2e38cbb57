"""The FastAPI application: its routes, and its error answers."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager, suppress

from fastapi import APIRouter, FastAPI, Request
from fastapi.concurrency import run_in_threadpool
from fastapi.exceptions import RequestValidationError
from starlette.exceptions import HTTPException
from starlette.responses import JSONResponse

from ...ir.diagnostics import NncError
from ...ir.version import VERSION
from ..errors import ServiceError
from ..service import Service
from . import account_routes, job_routes, metrics, model_routes, pages, upload_routes
from .events import Streams
from .guard import Guard
from .settings import WebSettings
from .shapes import Failure

API = "/api/v1"
"""The prefix of all REST routes."""

_SWEEP_SECONDS = 600
"""Seconds between two removals of expired data."""

_log = logging.getLogger("nnc.service")


def make_app(service: Service, settings: WebSettings) -> FastAPI:
    """The application that serves a service."""
    app = FastAPI(
        title="nnc serve",
        version=VERSION,
        lifespan=_lifespan,
        docs_url=None,  # which would load its scripts from elsewhere
        redoc_url=None,
        responses={"4XX": {"model": Failure}, "5XX": {"model": Failure}},
    )
    app.state.service = service
    app.state.settings = settings
    app.state.streams = Streams(service)
    app.state.metrics = metrics.Metrics(service)
    api = APIRouter(prefix=API)
    for routes in (account_routes, upload_routes, model_routes, job_routes):
        api.include_router(routes.router)
    app.include_router(api)
    app.include_router(metrics.router)
    app.include_router(pages.router())
    app.add_exception_handler(NncError, _refused)
    app.add_exception_handler(RequestValidationError, _invalid)
    app.add_exception_handler(HTTPException, _http_error)
    app.add_middleware(metrics.Measured, metrics=app.state.metrics)
    app.add_middleware(Guard, settings=settings, limits=service.limits)
    return app


@asynccontextmanager
async def _lifespan(app: FastAPI) -> AsyncIterator[None]:
    sweeping = asyncio.create_task(_sweep(app.state.service))
    yield
    app.state.streams.closing = True
    sweeping.cancel()
    with suppress(asyncio.CancelledError):
        await sweeping


async def _sweep(service: Service) -> None:
    while True:
        try:
            await run_in_threadpool(service.sweep)
        except Exception:
            _log.exception("sweeping")
        await asyncio.sleep(_SWEEP_SECONDS)


def _refused(_request: Request, error: Exception) -> JSONResponse:
    if isinstance(error, ServiceError):
        headers = {"WWW-Authenticate": "Bearer"} if error.status == 401 else None
        return JSONResponse({"error": error.message}, error.status, headers)
    _log.error("%s", error)
    return JSONResponse({"error": "the service cannot do this now; its log says more"}, 503)


def _invalid(_request: Request, error: Exception) -> JSONResponse:
    assert isinstance(error, RequestValidationError)
    first = error.errors()[0]
    place = ".".join(str(part) for part in first["loc"] if part != "body")
    said = f"{place}: {first['msg']}" if place else first["msg"]
    return JSONResponse({"error": said}, 422)


def _http_error(_request: Request, error: Exception) -> JSONResponse:
    assert isinstance(error, HTTPException)
    said = "there is nothing at this address" if error.status_code == 404 else str(error.detail)
    return JSONResponse({"error": said}, error.status_code, error.headers)
