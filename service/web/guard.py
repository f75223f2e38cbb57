"""Checks of every request before its route: host, size and pace of the body; and headers."""

from __future__ import annotations

import asyncio
import logging
import re
import time
from collections.abc import Mapping

from starlette.datastructures import Headers, MutableHeaders
from starlette.exceptions import HTTPException
from starlette.responses import JSONResponse
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from ..limits import Limits
from .settings import WebSettings

_log = logging.getLogger("nnc.service")

_UPLOAD = re.compile(r"/api/v1/uploads/[^/]+", re.ASCII)

PAGE_POLICY = (
    "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data:; "
    "font-src 'self'; connect-src 'self'; frame-src 'self'; form-action 'self'; "
    "base-uri 'none'; frame-ancestors 'none'"
)
"""The content security policy of the service's pages, which run only its own scripts."""

SANDBOX_POLICY = (
    "sandbox allow-scripts allow-downloads; default-src 'none'; "
    "script-src 'unsafe-inline' 'wasm-unsafe-eval' blob:; worker-src blob:; "
    "style-src 'unsafe-inline'; img-src data: blob:; font-src data:; "
    "base-uri 'none'; form-action 'none'; frame-ancestors 'self'"
)
"""The policy of pages made of a user's model: an origin of their own, without cookies or network.
"""

_HEADERS = {
    "Content-Security-Policy": PAGE_POLICY,
    "X-Content-Type-Options": "nosniff",
    "Referrer-Policy": "no-referrer",
    "Cross-Origin-Opener-Policy": "same-origin",
    "Cross-Origin-Resource-Policy": "same-origin",
    "Permissions-Policy": "camera=(), geolocation=(), microphone=()",
    "Cache-Control": "no-store",
}


class Guard:
    """ASGI middleware around the whole application."""

    def __init__(self, app: ASGIApp, settings: WebSettings, limits: Limits) -> None:
        self._app = app
        self._settings = settings
        self._limits = limits
        self._headers = dict(_HEADERS)
        if settings.secure:
            self._headers["Strict-Transport-Security"] = "max-age=31536000"

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != "http":
            if scope["type"] == "lifespan":
                await self._app(scope, receive, send)
            return
        send = _with_headers(send, self._headers)
        headers = Headers(scope=scope)
        known = headers.get("host", "") in self._settings.hosts
        if not known and scope["path"] != "/healthz":  # which a monitor asks by address
            answer = JSONResponse({"error": "this service has another address"}, 421)
            await answer(scope, receive, send)
            return
        is_upload = scope["method"] == "PATCH" and _UPLOAD.fullmatch(scope["path"]) is not None
        limits = self._limits
        most = limits.upload_bytes if is_upload else limits.request_bytes
        announced = headers.get("content-length", "0")
        if not announced.isascii() or not announced.isdigit() or int(announced) > most:
            answer = JSONResponse({"error": f"a body has at most {most:,} bytes here"}, 413)
            await answer(scope, receive, send)
            return
        body = _Body(receive, most, limits, is_upload)
        answering = _Answering(send)
        try:
            await self._app(scope, body.receive, answering.send)
        except Exception:
            _log.exception("%s %s failed", scope["method"], scope["path"])
            if answering.begun:  # the client sees that the rest is missing
                raise
            answer = JSONResponse({"error": "the service failed; its log says more"}, 500)
            await answer(scope, receive, send)


class _Answering:
    """Tracks whether an answer has begun."""

    def __init__(self, send: Send) -> None:
        self._send = send
        self.begun = False

    async def send(self, message: Message) -> None:
        self.begun = True
        await self._send(message)


class _Body:
    """The body of a request; it fails if it is too slow or too large."""

    def __init__(self, receive: Receive, most: int, limits: Limits, is_upload: bool) -> None:
        self._receive = receive
        self._most = most
        self._limits = limits
        self._is_upload = is_upload
        self._started: float | None = None
        self._bytes = 0
        self._more = True

    async def receive(self) -> Message:
        if not self._more:  # what comes now is a disconnection, at any time
            return await self._receive()
        if self._started is None:  # from here on it is the client that takes its time
            self._started = time.monotonic()
        try:
            message = await asyncio.wait_for(self._receive(), self._patience(self._started))
        except TimeoutError:
            raise HTTPException(408, "the body of the request did not arrive in time") from None
        if message["type"] == "http.request":
            self._bytes += len(message.get("body", b""))
            self._more = message.get("more_body", False)
            if self._bytes > self._most:
                raise HTTPException(413, f"a body has at most {self._most:,} bytes here")
        return message

    def _patience(self, started: float) -> float:
        """The seconds until the next part must arrive."""
        limits, passed = self._limits, time.monotonic() - started
        if not self._is_upload:
            return max(0.0, limits.request_seconds - passed)
        late = passed > limits.idle_seconds and self._bytes < passed * limits.least_rate
        return 0.0 if late else limits.idle_seconds


def _with_headers(send: Send, headers: Mapping[str, str]) -> Send:
    """Add the headers that an answer does not set itself."""

    async def sending(message: Message) -> None:
        if message["type"] == "http.response.start":
            has = MutableHeaders(scope=message)
            for name, value in headers.items():
                has.setdefault(name, value)
        await send(message)

    return sending
