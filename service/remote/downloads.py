"""Taking a file from a server: all of it or nothing, as it was sent."""

from __future__ import annotations

import base64
import hashlib
import re
from io import BufferedRandom
from pathlib import Path

import httpx

from ...ir.files import check_folder, folder_beside, write_together
from .exchange import Exchange
from .failures import RemoteError, unexpected
from .routes import Route
from .uploads import Told

_DIGEST = re.compile(r"sha-256=:([A-Za-z0-9+/=]{44}):")
"""What the header Repr-Digest has of RFC 9530."""
_RANGE = re.compile(r"bytes (\d{1,18})-\d{1,18}/(\d{1,18})")


def fetch_file(
    exchange: Exchange, route: Route, identifier: str, path: Path, about: str, told: Told
) -> None:
    """Write what a route gives into a file, whole or not at all. Raises NncError."""
    check_folder(path)
    with folder_beside(path) as folder:
        made = folder / "part"
        with made.open("w+b") as file:
            _Fetching(exchange, route, identifier, file, about, told).whole()
        write_together({path: made})


class _Fetching:
    """A file that is being fetched: what is there of it, and what the server says of all of it."""

    def __init__(
        self,
        exchange: Exchange,
        route: Route,
        identifier: str,
        file: BufferedRandom,
        about: str,
        told: Told,
    ) -> None:
        self._exchange, self._route, self._identifier = exchange, route, identifier
        self._file, self._about, self._told = file, about, told
        self._size, self._digest, self._tag = 0, b"", ""

    def whole(self) -> None:
        """Fetch all of it, going on where a connection broke. Raises RemoteError."""
        tries, furthest = self._exchange.patience.tries(), 0
        while True:
            try:
                self._more()
                return self._check()
            except RemoteError as error:
                if self._file.tell() > furthest:
                    furthest = self._file.tell()
                    tries.renew()
                repeat = self._exchange.may_repeat(error, self._route)
                if not repeat or not tries.again(error.after):
                    raise

    def _more(self) -> None:
        """Take what comes; from what is there already on, where the server can."""
        there = self._file.tell()
        headers = {"Range": f"bytes={there}-", "If-Range": self._tag} if there else None
        with self._exchange.stream(
            self._route,
            self._identifier,
            headers=headers if self._tag else None,
            about=self._about,
        ) as response:
            self._begin(response, there)
            for part in response.iter_raw():
                self._file.write(part)
                if self._file.tell() > self._size:
                    raise unexpected(self._exchange.url, "more of a file than it had announced")
                self._told(self._file.tell(), self._size)

    def _begin(self, response: httpx.Response, there: int) -> None:
        """Read what the server says of the file, and go to where its answer belongs."""
        url = self._exchange.url
        if response.status_code == httpx.codes.PARTIAL_CONTENT:
            part = _RANGE.fullmatch(response.headers.get("content-range", ""))
            if part is None or (int(part[1]), int(part[2])) != (there, self._size):
                raise unexpected(url, "another part of a file than was asked for")
            return
        digest = _DIGEST.search(response.headers.get("repr-digest", ""))
        size = response.headers.get("content-length", "")
        if digest is None or not (size.isascii() and size.isdecimal() and len(size) < 19):
            raise unexpected(url, "a file without its digest or its size")
        self._file.seek(0)
        self._file.truncate()
        try:
            self._digest = base64.b64decode(digest[1], validate=True)
        except ValueError:
            raise unexpected(url, "a file with a digest that is none") from None
        self._size, self._tag = int(size), response.headers.get("etag", "")

    def _check(self) -> None:
        """Raises RemoteError where it is not what the server has."""
        self._file.flush()
        self._file.seek(0)
        if hashlib.file_digest(self._file, "sha256").digest() != self._digest:
            raise RemoteError(
                f"{self._exchange.url}: the {self._about} is damaged: what arrived has another "
                "digest than the server says; nothing was written"
            )
