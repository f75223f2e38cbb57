"""Downloads a file from a server: completely and unchanged, or not at all."""

from __future__ import annotations

import base64
import hashlib
import re
from io import BufferedRandom
from pathlib import Path

import httpx

from ...ir.files import check_folder, folder_beside, write_together
from .exchange import Exchange
from .failures import RemoteError, Retry, unexpected
from .routes import Route
from .uploads import Told

_DIGEST = re.compile(r"sha-256=:([A-Za-z0-9+/]{43}=):")
"""The digest in the header Repr-Digest of a file (RFC 9530)."""
_SIZE = re.compile(r"[0-9]{1,18}")


def fetch_file(
    exchange: Exchange, route: Route, identifier: str, path: Path, about: str, told: Told
) -> None:
    """Write the answer of a route into a file, whole or not at all. Raises NncError."""
    check_folder(path)
    tries, furthest = exchange.patience.tries(), 0
    with folder_beside(path) as folder:
        made = folder / "part"
        with made.open("w+b") as file:
            while True:
                try:
                    _fetch(exchange, route, identifier, file, about, told)
                    break
                except RemoteError as error:
                    if file.tell() > furthest:
                        furthest = file.tell()
                        tries.renew()
                    if not exchange.may_repeat(error, route) or not tries.again(error.after):
                        raise
        write_together({path: made})


def _fetch(
    exchange: Exchange,
    route: Route,
    identifier: str,
    file: BufferedRandom,
    about: str,
    told: Told,
) -> None:
    """Try once, from the beginning of the file. Raises RemoteError."""
    file.seek(0)
    file.truncate()
    with exchange.stream(route, identifier, about=about) as response:
        size, digest = _announced(exchange, response)
        for part in response.iter_raw():
            file.write(part)
            if file.tell() > size:
                raise unexpected(exchange.url, "more of a file than it had announced")
            told(file.tell(), size)
    if file.tell() < size:
        text = f"{exchange.url}: the connection ended before the {about} was whole"
        raise RemoteError(text, None, Retry.IF_SAFE)
    file.seek(0)
    if hashlib.file_digest(file, "sha256").digest() != digest:
        raise RemoteError(
            f"{exchange.url}: the {about} is damaged: what arrived has another digest than the "
            "server says; nothing was written"
        )
    file.flush()


def _announced(exchange: Exchange, response: httpx.Response) -> tuple[int, bytes]:
    """The announced size and SHA-256 of the file. Raises RemoteError if one is missing."""
    digest = _DIGEST.fullmatch(response.headers.get("repr-digest", ""))
    size = _SIZE.fullmatch(response.headers.get("content-length", ""))
    if digest is None or size is None:
        raise unexpected(exchange.url, "a file without its digest or its size")
    return int(size[0]), base64.b64decode(digest[1])
