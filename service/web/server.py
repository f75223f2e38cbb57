"""Serves until a signal: uvicorn around the application, with an orderly end."""

from __future__ import annotations

import signal
import socket
import threading
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import AbstractContextManager, ExitStack, contextmanager
from dataclasses import dataclass
from pathlib import Path
from types import FrameType

import uvicorn

from ...ir.diagnostics import NncError
from ..service import Service
from .app import make_app
from .events import Streams
from .protocol import hurried
from .settings import WebSettings

_GRACE_SECONDS = 10
"""How long running requests may continue after a signal to stop."""

_KEPT_SECONDS = 20
"""How long an idle connection stays open: well beyond the 5 s for which clients with httpx reuse
one, or a request might meet its closing and be lost."""

_POLL_SECONDS = 0.02

_SIGNALS = (signal.SIGINT, signal.SIGTERM)

_MOST_CONNECTIONS = 1000
"""The most connections at a time; further ones are answered with 503."""

Dispatcher = Callable[[Service], AbstractContextManager[object]]
"""A context in which the jobs of a service are carried out."""


@dataclass(frozen=True)
class Listening:
    """The socket that the server listens on, and its certificate, if any."""

    listener: socket.socket
    certificate: Path | None = None
    key: Path | None = None


class _Server(uvicorn.Server):
    """Ends event streams when it ends, which would otherwise keep it running forever."""

    def __init__(self, service: Service, settings: WebSettings, listening: Listening) -> None:
        app = make_app(service, settings)
        config = uvicorn.Config(
            app,
            log_level="warning",
            http=hurried(service.limits.request_seconds),
            ws="none",
            limit_concurrency=_MOST_CONNECTIONS,
            timeout_keep_alive=_KEPT_SECONDS,
            server_header=False,
            proxy_headers=False,
            timeout_graceful_shutdown=_GRACE_SECONDS,
            ssl_certfile=listening.certificate,
            ssl_keyfile=listening.key,
        )
        super().__init__(config)
        self._streams: Streams = app.state.streams

    @contextmanager
    def capture_signals(self) -> Iterator[None]:
        """Unlike uvicorn, do not raise signals again at the end: the callers end, too."""
        if threading.current_thread() is not threading.main_thread():
            yield
            return
        before = {one: signal.signal(one, self.handle_exit) for one in _SIGNALS}
        try:
            yield
        finally:
            for one, handler in before.items():
                signal.signal(one, handler)

    def handle_exit(self, sig: int, frame: FrameType | None) -> None:
        super().handle_exit(sig, frame)
        self._streams.closing = True

    def end(self) -> None:
        """End as after a signal."""
        self.should_exit = self._streams.closing = True


def bind(host: str, port: int) -> socket.socket:
    """The socket to listen on; port 0 is any free one. Raises NncError if it is taken."""
    family = socket.AF_INET6 if ":" in host else socket.AF_INET
    listener = socket.socket(family, socket.SOCK_STREAM)
    listener.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
    try:
        listener.bind((host, port))
    except OSError as error:
        listener.close()
        raise NncError(f"cannot listen at {host}:{port}: {error.strerror or error}") from None
    return listener


def serve(
    service: Service,
    settings: WebSettings,
    listening: Listening,
    dispatchers: Sequence[Dispatcher] = (),
) -> None:
    """Serve until SIGINT or SIGTERM: running requests are finished, jobs are stopped."""
    server = _Server(service, settings, listening)
    with ExitStack() as stack:
        stack.callback(service.close)
        for dispatcher in dispatchers:
            stack.enter_context(dispatcher(service))
        server.run(sockets=[listening.listener])


@contextmanager
def serving(service: Service, settings: WebSettings, listening: Listening) -> Iterator[None]:
    """Serve on a thread of this process while the block runs."""
    server = _Server(service, settings, listening)
    thread = threading.Thread(target=server.run, args=([listening.listener],))
    thread.start()
    try:
        while thread.is_alive() and not server.started:
            time.sleep(_POLL_SECONDS)
        yield
    finally:
        server.end()
        thread.join()
