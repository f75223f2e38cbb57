"""Routes for orders and jobs: states, events, results."""

from __future__ import annotations

from pathlib import PurePath
from typing import Any

from fastapi import APIRouter, Request
from fastapi.concurrency import run_in_threadpool
from fastapi.responses import HTMLResponse, PlainTextResponse
from starlette.responses import StreamingResponse

from .asking import Asker, Serving
from .events import Streams
from .files import SANDBOXED, file_answer
from .shapes import Job, Order

router = APIRouter(tags=["orders"])


@router.get("/orders", response_model=list[Order])
def orders(service: Serving, user: Asker) -> Any:
    """The user's orders, the newest first."""
    return service.orders.all(user.id)


@router.get("/orders/{id}", response_model=Order)
def order(id: str, service: Serving, user: Asker) -> Any:
    """An order with its jobs, and a comparison of their measurements."""
    return service.orders.get(user.id, id)


@router.delete("/orders/{id}", status_code=204)
def delete_order(id: str, service: Serving, user: Asker) -> None:
    """Delete an order with its results; its jobs end."""
    service.orders.remove(user.id, id)


@router.get("/orders/{id}/events", response_class=StreamingResponse)
async def events(id: str, request: Request, service: Serving, user: Asker) -> Any:
    """Server-sent events: `job` with a job whenever one changes, and finally `end`."""
    await run_in_threadpool(service.orders.get, user.id, id)
    streams: Streams = request.app.state.streams
    return StreamingResponse(
        streams.follow(user.id, id),
        media_type="text/event-stream",
        headers={"X-Accel-Buffering": "no"},
    )


@router.get("/jobs/{id}", response_model=Job)
def job(id: str, service: Serving, user: Asker) -> Any:
    """A job: its state, its place in the queue, its progress."""
    return service.queue.get(user.id, id)


@router.post("/jobs/{id}/cancel", response_model=Job)
def cancel(id: str, service: Serving, user: Asker) -> Any:
    """End a job without a result."""
    service.queue.cancel(user.id, id)
    return service.queue.get(user.id, id)


@router.get("/jobs/{id}/package", response_class=StreamingResponse)
def package(id: str, service: Serving, user: Asker) -> Any:
    """The package that a job made, a zip archive."""
    blob = service.queue.file(user.id, id, "package")
    found = service.queue.get(user.id, id)
    stem = PurePath(service.models.get(user.id, found["model"])["name"]).stem
    options = found["options"]
    name = f"{stem}-{options['target']}-{options['precision']}.zip"
    return file_answer(service, blob, "application/zip", save_as=name)


@router.get("/jobs/{id}/report", response_class=HTMLResponse)
def report(id: str, service: Serving, user: Asker) -> Any:
    """The report of a job, a page; it has no access to the service's own pages."""
    blob = service.queue.file(user.id, id, "report")
    return file_answer(service, blob, "text/html; charset=utf-8", headers=SANDBOXED)


@router.get("/jobs/{id}/log", response_class=PlainTextResponse)
def log(id: str, service: Serving, user: Asker) -> Any:
    """The output of a job's commands."""
    blob = service.queue.file(user.id, id, "log")
    return file_answer(service, blob, "text/plain; charset=utf-8")
