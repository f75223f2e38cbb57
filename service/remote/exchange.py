"""Requests to one server, and checks of its answers."""

from __future__ import annotations

import ssl
import time
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Any, TypeVar

import httpx
from pydantic import TypeAdapter, ValidationError

from ...ir.diagnostics import NncError
from ...ir.version import VERSION
from .address import checked_token, checked_url
from .failures import RemoteError, Retry, lost, refusal, unexpected
from .patience import Patience
from .routes import Route

MOST_JSON = 64 << 20
"""The largest JSON answer, in bytes: that about a model of 100,000 nodes has some 20 MB."""
_MOST_ERROR = 64 << 10
"""The largest error answer, in bytes."""
LONGEST = 300.0
"""The longest time of a JSON answer, in seconds, however slowly it arrives."""
_CONNECTING = 10.0
"""The longest time to connect, in seconds."""

Shape = TypeVar("Shape")


class Exchange:
    """The address of a server, the client's token, and its timeouts.

    `timeout` is the number of seconds that may pass without a byte. Requests to a server that has
    answered before are repeated as long as there is `patience`; to one that never did, they are
    not.
    """

    def __init__(
        self,
        url: str,
        token: str,
        *,
        timeout: float,
        patience: Patience,
        certificates: Path | None,
        plain: bool,
    ) -> None:
        self.url = checked_url(url, plain)
        self.patience = patience
        self._met = False
        self._client = httpx.Client(
            headers={
                "Authorization": f"Bearer {checked_token(token)}",
                "User-Agent": f"nnc/{VERSION}",
                # Nothing is unpacked here: a small answer cannot become a large one.
                "Accept-Encoding": "identity",
            },
            timeout=httpx.Timeout(timeout, connect=min(timeout, _CONNECTING)),
            verify=_trusted(self.url, certificates),
        )

    def close(self) -> None:
        """Close the connections."""
        self._client.close()

    def ask(
        self,
        route: Route,
        *identifiers: str,
        shape: TypeAdapter[Shape],
        json: Mapping[str, Any] | None = None,
        about: str = "",
    ) -> Shape:
        """The answer parsed as `shape`, after as many tries as it takes. Raises RemoteError.

        `about` is the name of the requested thing in messages.
        """
        body = self.read(route, *identifiers, json=json, about=about)
        return self.shaped(shape, body)

    def read(
        self,
        route: Route,
        *identifiers: str,
        json: Mapping[str, Any] | None = None,
        about: str = "",
        kind: str = "application/json",
    ) -> bytes:
        """The body of the answer, of content type `kind`, or b"" if empty. Raises RemoteError."""
        tries, uncertain = self.patience.tries(), False
        while True:
            try:
                with self.stream(route, *identifiers, json=json, about=about) as response:
                    if response.status_code == httpx.codes.NO_CONTENT:
                        return b""
                    self.check_kind(response, kind)
                    return self.whole(response)
            except RemoteError as error:
                gone = error.status == httpx.codes.NOT_FOUND and route.method == "DELETE"
                if gone and uncertain:
                    return b""  # a try before had done it
                if not self.may_repeat(error, route) or not tries.again(error.after):
                    raise
                uncertain = uncertain or error.retry is Retry.IF_SAFE

    def may_repeat(self, error: RemoteError, route: Route) -> bool:
        """Whether a request that failed with this error may be repeated."""
        if not self._met:
            return False
        return error.retry is Retry.ALWAYS or (error.retry is Retry.IF_SAFE and route.safe)

    @contextmanager
    def stream(
        self,
        route: Route,
        *identifiers: str,
        json: Mapping[str, Any] | None = None,
        content: bytes | None = None,
        headers: Mapping[str, str] | None = None,
        about: str = "",
    ) -> Iterator[httpx.Response]:
        """Send a request once; yields its successful answer, with the body still unread.

        Raises RemoteError, also if the connection breaks while the block reads.
        """
        address = self.url + route.address(*identifiers)
        try:
            with self._client.stream(
                route.method, address, json=json, content=content, headers=headers
            ) as response:
                if not response.is_success:
                    raise refusal(self.url, response, self._reason(response), about)
                self._met = True
                if response.headers.get("content-encoding", "identity") != "identity":
                    raise unexpected(self.url, "a compressed answer")
                yield response
        except (httpx.HTTPError, httpx.InvalidURL, httpx.StreamError) as error:
            raise lost(self.url, error) from None

    def _reason(self, response: httpx.Response) -> bytes:
        """The beginning of the body of a refusal."""
        body = bytearray()
        ends = time.monotonic() + _CONNECTING
        for part in response.iter_raw():
            body += part
            if len(body) > _MOST_ERROR or time.monotonic() > ends:
                break
        return bytes(body[:_MOST_ERROR])

    def check_kind(self, response: httpx.Response, kind: str) -> None:
        """Raise RemoteError if an answer is of another content type than requested."""
        found = response.headers.get("content-type", "none").partition(";")[0].strip()
        if found != kind:
            raise unexpected(self.url, f"an answer of type {found[:60]} in place of {kind}")

    def whole(self, response: httpx.Response) -> bytes:
        """All bytes of an answer. Raises RemoteError if there are too many."""
        body = bytearray()
        ends = time.monotonic() + LONGEST
        for part in response.iter_raw():
            body += part
            if len(body) > MOST_JSON:
                raise unexpected(self.url, f"more than {MOST_JSON >> 20} MiB at once")
            if time.monotonic() > ends:
                raise RemoteError(f"{self.url}: the answer takes more than {LONGEST:.0f} s")
        return bytes(body)

    def shaped(self, shape: TypeAdapter[Shape], body: bytes) -> Shape:
        """JSON parsed as `shape`. Raises RemoteError if it does not fit."""
        try:
            return shape.validate_json(body, strict=True)
        except ValidationError as error:
            first = error.errors(include_url=False, include_input=False, include_context=False)[0]
            place = ".".join(str(part) for part in first["loc"])[:100] or "the whole"
            fault = f"an answer with a fault at {place} ({first['msg'][:100]})"
            raise unexpected(self.url, fault) from None


def _trusted(url: str, certificates: Path | None) -> ssl.SSLContext:
    """The trusted signers of a server's certificate: the usual ones, or those of a file.

    Raises NncError if the file has none.
    """
    if url.startswith("http:"):
        return ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT)  # nobody: TLS is not spoken
    if certificates is None:
        return httpx.create_ssl_context()
    try:
        return ssl.create_default_context(cafile=str(certificates))
    except (OSError, ssl.SSLError) as error:
        reason = getattr(error, "reason", None) or error.strerror or str(error)
        raise NncError(f"'{certificates}' has no certificates: {reason}") from None
