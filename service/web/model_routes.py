"""Routes for models, input files, and what can be ordered for them."""

from __future__ import annotations

from contextlib import suppress
from typing import Any

from fastapi import APIRouter, Request
from fastapi.responses import HTMLResponse

from ...ir.diagnostics import NncError
from ..orders import Wish
from .asking import Asker, Serving
from .files import SANDBOXED, file_answer
from .shapes import (
    Engine,
    InputsFile,
    Job,
    Model,
    ModelRow,
    NewExperiment,
    NewOrder,
    Order,
    Target,
)

router = APIRouter(tags=["models"])

_LARGEST_PAGE = 64 << 20
"""The largest page, in bytes, which is read into memory before it is sent."""


@router.get("/models", response_model=list[ModelRow])
def models(service: Serving, user: Asker) -> Any:
    """The user's models, the newest first."""
    return service.models.all(user.id)


@router.get("/models/{id}", response_model=Model)
def model(id: str, service: Serving, user: Asker) -> Any:
    """A model with the results of the look."""
    return service.models.get(user.id, id)


@router.delete("/models/{id}", status_code=204)
def delete_model(id: str, service: Serving, user: Asker) -> None:
    """Delete a model with its orders and their results; a running job is ended."""
    service.models.remove(user.id, id)


@router.get("/models/{id}/explore", response_class=HTMLResponse)
def explore(id: str, request: Request, service: Serving, user: Asker) -> Any:
    """The page that shows a model's inside; in a browser it can have schedules tried.

    For browsers, the data of the job's page is put into this version's page. If it is of another
    version, it is sent unchanged, without access to the service.
    """
    from ...explorer.served import served_page

    blob = service.models.page(user.id, id)
    if "authorization" not in request.headers and blob.bytes <= _LARGEST_PAGE:
        name = service.models.get(user.id, id)["name"]
        text = b"".join(service.blobs.read(blob.id)).decode(errors="replace")
        with suppress(NncError):
            page = served_page(text, f"/api/v1/models/{id}", name)
            policy = f"{page.policy}; frame-ancestors 'self'"
            return HTMLResponse(page.text, headers={"Content-Security-Policy": policy})
    return file_answer(service, blob, "text/html; charset=utf-8", headers=SANDBOXED)


@router.post("/models/{id}/orders", response_model=Order, status_code=201)
def add_order(id: str, asked: NewOrder, service: Serving, user: Asker) -> Any:
    """Order a package for each target and precision."""
    wish = Wish(
        asked.targets, asked.precisions, asked.threads, asked.seconds, asked.engines, asked.inputs
    )
    return service.orders.add(user.id, id, wish)


@router.post("/models/{id}/experiments", response_model=Job, status_code=201)
def add_experiment(id: str, asked: NewExperiment, service: Serving, user: Asker) -> Any:
    """Have a kernel's schedule checked, and measured beside the one that nnc chose."""
    return service.orders.add_experiment(user.id, id, asked.model_dump())


@router.get("/inputs", response_model=list[InputsFile])
def inputs(service: Serving, user: Asker) -> Any:
    """The user's input files, the newest first."""
    return service.models.inputs(user.id)


@router.delete("/inputs/{id}", status_code=204)
def delete_inputs(id: str, service: Serving, user: Asker) -> None:
    """Delete an input file; waiting orders continue with random inputs."""
    service.models.remove_inputs(user.id, id)


@router.get("/targets", response_model=list[Target])
def targets(service: Serving, user: Asker) -> Any:
    """The targets that models can be packaged for, and where they are measured."""
    return service.catalogue.targets


@router.get("/engines", response_model=list[Engine])
def engines(service: Serving, user: Asker) -> Any:
    """The engines that models can be measured on."""
    return service.catalogue.engines


@router.get("/precisions", response_model=list[str])
def precisions(service: Serving, user: Asker) -> Any:
    """The precisions that models can be packaged in."""
    return service.catalogue.precisions()
