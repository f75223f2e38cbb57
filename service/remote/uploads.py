"""Sends a file in parts, resuming at the byte that the server lacks.

The server knows an unfinished upload by the digest of its file: after a broken connection, or a
restart of the server or the client, sending the same file again resumes it.
"""

from __future__ import annotations

import hashlib
from collections.abc import Callable
from io import FileIO
from pathlib import Path
from typing import Any, Literal

import httpx

from ...ir.diagnostics import NncError
from . import answers, routes
from .answers import Upload
from .exchange import Exchange
from .failures import RemoteError, Retry, unexpected

PART = 8 << 20
"""The size of a request in bytes, which is the most that is lost when a connection breaks."""

Told = Callable[[int, int], None]
"""Called with the bytes uploaded so far, and the total."""


def digest_of(path: Path) -> str:
    """The SHA-256 of a file's bytes. Raises NncError where it cannot be read."""
    try:
        with path.open("rb") as file:
            return hashlib.file_digest(file, "sha256").hexdigest()
    except OSError as error:
        raise _unreadable(path, error) from None


def _unreadable(path: Path, error: OSError) -> NncError:
    return NncError(f"cannot read '{path}': {error.strerror or error}")


def send_file(
    exchange: Exchange,
    path: Path,
    digest: str,
    name: str,
    purpose: Literal["model", "inputs"],
    told: Told,
) -> str:
    """Send a file, or its missing rest; returns the id of the model or input file it became.

    Raises NncError if the file cannot be read or changes, RemoteError.
    """
    try:
        file = path.open("rb", buffering=0)  # what is sent is what is there then
        size = file.seek(0, 2)
    except OSError as error:
        raise _unreadable(path, error) from None
    with file:
        if not size:
            raise NncError(f"'{path}' is empty")
        sending = _Sending(exchange, file, path, size, told)
        asked = {"name": name, "bytes": size, "sha256": digest, "purpose": purpose}
        return sending.from_offset(_begun(exchange, asked))


def _begun(exchange: Exchange, asked: dict[str, Any]) -> Upload:
    """The unfinished upload of the same file, or a new one. Raises RemoteError."""
    tries = exchange.patience.tries()
    while True:
        for found in exchange.ask(routes.UPLOADS, shape=answers.UPLOADS):
            same = found.sha256 == asked["sha256"] and found.bytes == asked["bytes"]
            if same and found.purpose == asked["purpose"] and found.made is None:
                return found
        try:
            return exchange.ask(routes.NEW_UPLOAD, shape=answers.UPLOAD, json=asked)
        except RemoteError as error:
            # It may have begun, with the answer lost: the list says.
            if error.retry is not Retry.IF_SAFE or not tries.again(error.after):
                raise


class _Sending:
    """A file in transfer."""

    def __init__(self, exchange: Exchange, file: FileIO, path: Path, size: int, told: Told) -> None:
        self._exchange, self._file, self._path = exchange, file, path
        self._size, self._told = size, told

    def from_offset(self, upload: Upload) -> str:
        """Send what the server lacks; returns the id of the model or input file it became."""
        tries, furthest = self._exchange.patience.tries(), upload.offset
        while (made := upload.made) is None:
            if upload.offset > self._size:
                raise unexpected(self._exchange.url, "more bytes of a file than it has")
            self._told(upload.offset, self._size)
            try:
                upload = self._send(upload)
                if upload.offset > furthest:
                    furthest = upload.offset
                    tries.renew()
                    continue
                error = unexpected(self._exchange.url, "an upload that does not get on")
            except RemoteError as failed:
                error = failed
                if not self._may_go_on(error):
                    raise
            if upload.made is None:
                if not tries.again(error.after):
                    raise error
                about = f"upload '{upload.id}'"
                upload = self._exchange.ask(
                    routes.UPLOAD, upload.id, shape=answers.UPLOAD, about=about
                )
        self._told(self._size, self._size)
        return made

    def _send(self, upload: Upload) -> Upload:
        """Send the next part: an empty one, if all have arrived but the upload is not finished."""
        part = self._part(upload.offset)
        headers = {
            "Upload-Offset": str(upload.offset),
            "Content-Type": "application/octet-stream",
        }
        with self._exchange.stream(
            routes.SEND,
            upload.id,
            content=part,
            headers=headers,
            about=f"upload '{upload.id}'",
        ) as response:
            body = self._exchange.whole(response)
        return self._exchange.shaped(answers.UPLOAD, body)

    def _part(self, offset: int) -> bytes:
        """The bytes of the next part. Raises NncError if the file is shorter now."""
        wanted = min(PART, self._size - offset)
        try:
            self._file.seek(offset)
            part = self._file.read(wanted)
        except OSError as error:
            raise _unreadable(self._path, error) from None
        if len(part) < wanted:
            raise NncError(f"'{self._path}' became shorter while it was sent")
        return part

    def _may_go_on(self, error: RemoteError) -> bool:
        """Whether to ask for the offset and continue there, which is safe: nothing is done twice.

        409 means that the offset is another one, as after an answer that was lost.
        """
        return error.retry is not Retry.NEVER or error.status == httpx.codes.CONFLICT
