"""Pages in headless Chromium, from a server on the loopback that ends with them."""

from __future__ import annotations

import json
import os
import queue
import shutil
import signal
import subprocess
import tempfile
import threading
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager, suppress
from functools import partial
from http.server import SimpleHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any

ISOLATED = {
    "Cross-Origin-Opener-Policy": "same-origin",
    "Cross-Origin-Embedder-Policy": "require-corp",
}
"""The headers that a page needs to have shared memory."""
_FLAGS = (
    "--headless", "--no-sandbox", "--disable-gpu", "--disable-quic", "--no-first-run",
    "--disable-background-networking", "--disable-component-update", "--disable-sync",
)  # fmt: skip
GPU_FLAGS = ("--enable-unsafe-webgpu", "--use-webgpu-adapter=swiftshader")
"""Flags that give WebGPU to a machine without a GPU: Chromium's driver that runs on
the processor.
"""
_TYPES = {".mjs": "text/javascript", ".wasm": "application/wasm", ".weights": "application/data"}


def find_chromium() -> str | None:
    """The path of Chromium or Chrome; None if none is installed."""
    names = ("chromium", "chromium-browser", "google-chrome")
    return next(filter(None, map(shutil.which, names)), None)


Answer = Callable[[Any, Mapping[str, str]], tuple[int, Any]]
"""A function from a request's body (parsed JSON, None if empty) and its headers to the status and
the JSON of the answer.
"""


class _Handler(SimpleHTTPRequestHandler):
    """Serves files of some folders, by the first part of the path; bodies of POST requests go to a
    queue.
    """

    extensions_map = SimpleHTTPRequestHandler.extensions_map | _TYPES

    def __init__(
        self,
        *arguments: Any,
        folders: Mapping[str, Path],
        headers: Mapping[str, str],
        posted: queue.Queue[Any],
        missed: list[str],
        answers: Mapping[str, Answer],
    ) -> None:
        self.folders, self.more_headers, self.posted = folders, headers, posted
        self.missed, self.answers = missed, answers
        super().__init__(*arguments)

    def translate_path(self, path: str) -> str:
        first, _, rest = path.split("?")[0].lstrip("/").partition("/")
        folder = self.folders.get(first)
        return str(folder / rest) if folder and ".." not in rest else os.devnull + "/"

    def end_headers(self) -> None:
        for name, value in self.more_headers.items():
            self.send_header(name, value)
        self.send_header("Cache-Control", "no-store")
        super().end_headers()

    def do_GET(self) -> None:
        if self.path in self.answers:
            self._answer(None)
        else:
            super().do_GET()

    def do_POST(self) -> None:
        body = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
        if self.path in self.answers:
            self._answer(body)
            return
        self.posted.put(body)
        self.send_response(204)
        self.end_headers()

    def _answer(self, body: Any) -> None:
        status, found = self.answers[self.path](body, dict(self.headers.items()))
        data = json.dumps(found).encode()
        self.send_response(status)
        self.send_header("Content-Type", "application/json")
        self.send_header("Content-Length", str(len(data)))
        self.end_headers()
        self.wfile.write(data)

    def send_error(self, *arguments: Any, **words: Any) -> None:
        self.missed.append(self.path)
        super().send_error(*arguments, **words)

    def log_message(self, *arguments: Any) -> None:
        pass


class Server:
    """A server of folders by name. `address` is the start of its URLs; `missed` lists paths not
    found.

    `answers` are functions that answer requests, by their paths.
    """

    def __init__(
        self,
        folders: Mapping[str, Path],
        headers: Mapping[str, str],
        answers: Mapping[str, Answer],
    ) -> None:
        self._posted: queue.Queue[Any] = queue.Queue()
        self.missed: list[str] = []
        handler = partial(
            _Handler,
            folders=folders,
            headers=headers,
            posted=self._posted,
            missed=self.missed,
            answers=answers,
        )
        self.server = ThreadingHTTPServer(("127.0.0.1", 0), handler)
        self.address = f"http://127.0.0.1:{self.server.server_port}"

    def posted(self, seconds: float) -> Any:
        """The next body that a page posts. Raises TimeoutError after `seconds`."""
        try:
            return self._posted.get(timeout=seconds)
        except queue.Empty:
            raise TimeoutError(f"the page has posted nothing for {seconds:.0f} s") from None


@contextmanager
def serving(
    folders: Mapping[str, Path],
    headers: Mapping[str, str] = ISOLATED,
    answers: Mapping[str, Answer] | None = None,
) -> Iterator[Server]:
    """Run a server while the block runs."""
    served = Server(folders, headers, answers or {})
    thread = threading.Thread(target=served.server.serve_forever, daemon=True)
    thread.start()
    try:
        yield served
    finally:
        served.server.shutdown()
        served.server.server_close()
        thread.join()


@contextmanager
def showing(url: str, *flags: str) -> Iterator[None]:
    """Show a page in Chromium, with a new profile, while the block runs."""
    program = find_chromium()
    assert program is not None
    with tempfile.TemporaryDirectory(prefix="nnc-chromium-", ignore_cleanup_errors=True) as profile:
        command = [program, *_FLAGS, *flags, f"--user-data-dir={profile}", url]
        process = subprocess.Popen(
            command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, start_new_session=True
        )
        try:
            yield
        finally:
            with suppress(ProcessLookupError):
                os.killpg(process.pid, signal.SIGTERM)
            try:
                process.wait(10)
            except subprocess.TimeoutExpired:
                os.killpg(process.pid, signal.SIGKILL)
                process.wait()
