"""The real service on loopback, for tests of client and pages; and a proxy that cuts connections."""

import socket
import threading
import time
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from pathlib import Path

import uvicorn
from nnc.service.catalogue import Catalogue, EngineEntry, TargetEntry
from nnc.service.limits import Limits
from nnc.service.remote import Patience, Remote
from nnc.service.service import Service
from nnc.service.web.app import make_app
from nnc.service.web.settings import WebSettings

CATALOGUE = Catalogue(
    (TargetEntry("host", "this machine", True), TargetEntry("c", "C99", False, "nothing runs it")),
    (EngineEntry("nnc", "nnc itself", True), EngineEntry("tvm", "TVM", False, "not installed")),
    ("f32", "f16"),
)
QUICK = Patience(seconds=5.0, first=0.01, longest=0.1)


def free_port() -> int:
    with socket.socket() as one:
        one.bind(("127.0.0.1", 0))
        return one.getsockname()[1]


@dataclass
class Serving:
    """A service in a folder, served at a port of loopback; it can be stopped and started again."""

    folder: Path
    names: tuple[int, ...] = ()
    """Ports that it is reached by beside its own, as through a proxy."""
    limits: Limits = field(default_factory=lambda: Limits(free_bytes=0))
    catalogue: Catalogue = CATALOGUE
    port: int = field(default_factory=free_port)

    def start(self) -> "Serving":
        self.service = Service(self.folder, catalogue=self.catalogue, limits=self.limits)
        ports = (self.port, *self.names)
        settings = WebSettings(tuple(f"http://127.0.0.1:{port}" for port in ports))
        self.app = make_app(self.service, settings)
        listener = socket.socket()
        listener.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        listener.bind(("127.0.0.1", self.port))
        config = uvicorn.Config(self.app, log_level="critical", timeout_graceful_shutdown=1)
        self.server = uvicorn.Server(config)
        self.thread = threading.Thread(
            target=self.server.run, kwargs={"sockets": [listener]}, daemon=True
        )
        self.thread.start()
        while not self.server.started:
            time.sleep(0.005)
        return self

    def stop(self) -> None:
        self.app.state.streams.closing = True
        self.server.should_exit = self.server.force_exit = True
        self.thread.join(10)
        self.service.close()

    def add_user(self, name: str, quota=None) -> str:
        """A new user's token."""
        user = self.service.accounts.add(name, quota)
        return self.service.accounts.add_token(user, "test")[1]

    def remote(self, token: str, port: int | None = None, **options) -> Remote:
        options = {"patience": QUICK, "timeout": 10.0, **options}
        return Remote(f"http://127.0.0.1:{port or self.port}", token, **options)

    def work(self, finish):
        """Carry out the next package by calling finish(job, folder); models before it are good."""
        while (job := self.service.queue.claim("test:1", 60)) is not None and job.kind == "look":
            assert self.service.queue.finish(job, "done", {"operations": 7})
        assert job is not None
        folder = self.folder / "work" / job.id
        folder.mkdir(parents=True)
        return finish(job, folder)

    def look_at_all(self, refused: str = "") -> None:
        """Look at the models that were uploaded, as if all were good but those of this name."""
        while (job := self.service.queue.claim("test:1", 60)) is not None:
            assert job.kind == "look"
            if job.model_name == refused:
                assert self.service.queue.finish(job, "failed", error="it is no model")
                continue
            assert self.service.queue.finish(job, "done", {"operations": 7})


@contextmanager
def served(folder: Path, **options):
    serving = Serving(folder, **options).start()
    try:
        yield serving
    finally:
        serving.stop()


class Cutting:
    """A proxy that relays pieces of connections, and breaks what it carries at one of them."""

    PIECE = 16 << 10

    def __init__(self, port: int) -> None:
        self.to = port
        self.listener = socket.create_server(("127.0.0.1", 0))
        self.port = self.listener.getsockname()[1]
        self.left: int | None = None
        self.relayed = 0
        self._lock = threading.Lock()
        threading.Thread(target=self._accept, daemon=True).start()

    def cut_at(self, piece: int | None) -> None:
        """Break the connection that relays the piece of this number, counted from now on, once."""
        self.left, self.relayed = piece, 0

    def close(self) -> None:
        self.listener.close()

    def _accept(self) -> None:
        with suppress(OSError):
            while True:
                one, _ = self.listener.accept()
                try:
                    other = socket.create_connection(("127.0.0.1", self.to))
                except OSError:
                    one.close()
                    continue
                for source, sink in ((one, other), (other, one)):
                    threading.Thread(target=self._relay, args=(source, sink), daemon=True).start()

    def _relay(self, source: socket.socket, sink: socket.socket) -> None:
        with suppress(OSError):
            while piece := source.recv(self.PIECE):
                with self._lock:
                    cut = self.left is not None and self.relayed == self.left
                    self.relayed += 1
                if cut:
                    self.left = None
                    sink.sendall(piece[: len(piece) // 2])
                    break
                sink.sendall(piece)
        for end in (source, sink):
            with suppress(OSError):
                end.shutdown(socket.SHUT_RDWR)
            end.close()
