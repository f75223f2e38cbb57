"""Routes of uploads."""

from __future__ import annotations

from typing import Any

from fastapi import APIRouter, Request
from fastapi.concurrency import contextmanager_in_threadpool, run_in_threadpool
from starlette.exceptions import HTTPException
from starlette.requests import ClientDisconnect

from ..errors import InvalidError
from ..storage.blobs import CHUNK
from ..uploads import Part
from .asking import Asker, Serving
from .shapes import NewUpload, Upload

router = APIRouter(tags=["uploads"])


@router.get("/uploads", response_model=list[Upload], response_model_exclude_none=True)
def uploads(service: Serving, user: Asker) -> Any:
    """The user's running uploads."""
    return service.uploads.all(user.id)


@router.post("/uploads", response_model=Upload, response_model_exclude_none=True, status_code=201)
def begin(asked: NewUpload, service: Serving, user: Asker) -> Any:
    """Announce a file: name, size and, to have it checked, SHA-256."""
    return service.uploads.begin(user.id, asked.name, asked.bytes, asked.sha256, asked.purpose)


@router.get("/uploads/{id}", response_model=Upload, response_model_exclude_none=True)
def upload(id: str, service: Serving, user: Asker) -> Any:
    """The state of an upload; an interrupted one resumes at `offset`."""
    return service.uploads.get(user.id, id)


@router.patch(
    "/uploads/{id}",
    response_model=Upload,
    response_model_exclude_none=True,
    openapi_extra={
        "parameters": [
            {
                "name": "Upload-Offset",
                "in": "header",
                "required": True,
                "schema": {"type": "integer", "minimum": 0},
            }
        ],
        "requestBody": {
            "required": True,
            "content": {"application/octet-stream": {"schema": {"type": "string"}}},
        },
    },
)
async def append(id: str, request: Request, service: Serving, user: Asker) -> Any:
    """Append bytes at an offset, which must be the upload's own; the last byte finishes it.

    Bytes that have arrived are kept whatever happens to the rest.
    """
    if request.headers.get("content-type") != "application/octet-stream":
        raise HTTPException(415, "the body of an upload is application/octet-stream")
    offset = request.headers.get("upload-offset", "")
    if not (offset.isascii() and offset.isdigit() and len(offset) < 20):
        raise InvalidError("the header Upload-Offset is where the upload goes on, a whole number")
    writing = service.uploads.writing(user.id, id, int(offset))
    async with contextmanager_in_threadpool(writing) as part:
        await _receive(request, part)
    return await run_in_threadpool(service.uploads.finish, user.id, id)


async def _receive(request: Request, part: Part) -> None:
    waiting = bytearray()
    try:
        async for chunk in request.stream():
            waiting += chunk
            if len(waiting) >= CHUNK:
                ready, waiting = waiting, bytearray()
                await run_in_threadpool(part.write, ready)
    except ClientDisconnect:
        await run_in_threadpool(part.write, waiting)
        raise HTTPException(400, "the connection broke") from None
    except HTTPException:  # too slow
        await run_in_threadpool(part.write, waiting)
        raise
    await run_in_threadpool(part.write, waiting)


@router.delete("/uploads/{id}", status_code=204)
def delete_upload(id: str, service: Serving, user: Asker) -> None:
    """Delete an upload; a model that it became stays."""
    service.uploads.remove(user.id, id)
