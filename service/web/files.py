"""Answers with files of the store."""

from __future__ import annotations

from base64 import b64encode
from collections.abc import Mapping
from typing import Any
from urllib.parse import quote

from starlette.responses import StreamingResponse

from ..service import Service
from .guard import SANDBOX_POLICY

SANDBOXED = {"Content-Security-Policy": SANDBOX_POLICY}
"""The headers of a page made of a user's model."""


def file_answer(
    service: Service,
    blob: Any,
    kind: str,
    *,
    save_as: str | None = None,
    headers: Mapping[str, str] | None = None,
) -> StreamingResponse:
    """A blob's content; with `save_as` browsers save it under that name."""
    digest = b64encode(bytes.fromhex(blob.sha256)).decode()
    all_headers = {
        "Content-Length": str(blob.bytes),
        "Repr-Digest": f"sha-256=:{digest}:",  # RFC 9530
        **(headers or {}),
    }
    if save_as is not None:
        all_headers["Content-Disposition"] = disposition(save_as)
    return StreamingResponse(service.blobs.read(blob.id), media_type=kind, headers=all_headers)


def disposition(name: str) -> str:
    """The header's value for a name that may have any characters: RFC 6266 and RFC 8187."""
    plain = "".join(c if c.isascii() and (c.isalnum() or c in "._-") else "_" for c in name)
    return f"attachment; filename=\"{plain}\"; filename*=UTF-8''{quote(name, safe='')}"
