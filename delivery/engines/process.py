"""The process of an engine, and its commands; see `worker.py`."""

from __future__ import annotations

import json
import os
import pickle
import re
import select
import signal
import subprocess
import sys
import tempfile
import time
from collections.abc import Mapping
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from .table import Engine

WORKER = Path(__file__).parent / "worker.py"
_PATIENCE = 10.0
"""Seconds that a process has to end when told to."""
_MOST_ANSWER = 1 << 26
"""The most bytes of an answer."""
_RAISED = re.compile(r"[A-Za-z_][\w.]*(Error|Exception): ")
"""The line at the end of a traceback that names the exception."""
_MOST_SAID = 300
"""The most characters of a process's last output that a reason quotes."""


class EngineError(RuntimeError):
    """Why an engine fails on this model, in one line."""


@dataclass(frozen=True)
class Job:
    """The engine, model, inputs (an .npz file) and options that a process loads and runs.

    `python` is the interpreter whose environment has the engine, `packages` a folder that is
    searched for modules first.
    """

    engine: Engine
    model: Path | str
    inputs: Path
    threads: int
    options: Mapping[str, Any] = field(default_factory=dict)
    python: str = sys.executable
    packages: str = ""

    def pickled(self) -> bytes:
        """The job for the worker: plain values only, as its environment may lack nnc."""
        return pickle.dumps(
            {
                "file": str(self.engine.file),
                "function": self.engine.function,
                "imports": list(self.engine.imports),
                "distributions": list(self.engine.distributions),
                "model": str(self.model),
                "inputs": str(self.inputs),
                "threads": self.threads,
                "options": dict(self.options),
            }
        )


class EngineProcess:
    """An engine in a process, which leads a process group so that all it starts ends with it."""

    def __init__(self, job: Job) -> None:
        self.folder = tempfile.TemporaryDirectory(prefix="nnc-engine-")
        file = Path(self.folder.name) / "job.pickle"
        file.write_bytes(job.pickled())
        self._log = tempfile.TemporaryFile("w+b")  # noqa: SIM115 - closed in `end`
        path = os.pathsep.join(filter(None, [job.packages, *sys.path]))
        if job.python != sys.executable:
            path = job.packages or os.environ.get("PYTHONPATH", "")
        try:
            self.process = subprocess.Popen(
                [job.python, "-P", str(WORKER), str(file)],
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                stderr=self._log,
                env={
                    **os.environ,
                    "PYTHONPATH": path,
                    "PYTHONDONTWRITEBYTECODE": "1",  # beside bindings that are to be shipped
                    "TMPDIR": self.folder.name,
                },
                start_new_session=True,
            )
        except OSError as error:
            self._log.close()
            self.folder.cleanup()
            raise EngineError(f"cannot start '{job.python}': {error.strerror or error}") from None

    def ask(self, command: str, seconds: float) -> dict[str, Any]:
        """Send a command and wait for the answer. Raises EngineError if the process ends, the time
        is over, or the answer is unreadable.
        """
        assert self.process.stdin is not None
        try:
            self.process.stdin.write(f"{command}\n".encode())
            self.process.stdin.flush()
        except OSError:
            pass  # it has ended, as `_line` will see
        line = self._line(time.monotonic() + seconds)
        if line is None:
            self._kill()
            raise EngineError(f"no answer to '{command.partition(' ')[0]}' within {seconds:g} s")
        if not line:
            raise EngineError(self._last_words())
        try:
            found = json.loads(line)
        except ValueError:
            found = None
        if not isinstance(found, dict):
            self._kill()
            raise EngineError("the process gave an answer that cannot be read")
        return found

    def _line(self, until: float) -> bytes | None:
        """The next line; empty at the end of the stream, None on timeout."""
        assert self.process.stdout is not None
        handle, parts, size = self.process.stdout.fileno(), [], 0
        while True:
            left = until - time.monotonic()
            if left <= 0 or size > _MOST_ANSWER or not select.select([handle], [], [], left)[0]:
                return None
            part = os.read(handle, 1 << 16)
            if not part:
                return b""
            parts.append(part)
            size += len(part)
            if part.endswith(b"\n"):  # a process answers once for each command
                return b"".join(parts)

    def _last_words(self) -> str:
        """Why the process ended, from its output."""
        with suppress(subprocess.TimeoutExpired):
            self.process.wait(timeout=_PATIENCE)
        self._kill()
        code = self.process.wait()
        if code < 0:
            with suppress(ValueError):
                return f"the process ended by {signal.Signals(-code).name}"
        size = self._log.seek(0, os.SEEK_END)
        self._log.seek(max(0, size - (1 << 16)))
        said = self._log.read().decode("utf-8", "replace").splitlines()
        lines = [text.strip() for text in said if text.strip()]
        # An exception may say several lines, of which the first is what it is about, or announces
        # an exception further in.
        raised = [text for text in said if _RAISED.match(text) and not text.rstrip().endswith(":")]
        last = (raised or [text for text in lines if _RAISED.match(text)] or lines)[-1:]
        return last[0][:_MOST_SAID] if last else f"exit code {code}"

    def _kill(self) -> None:
        with suppress(ProcessLookupError, PermissionError):
            os.killpg(self.process.pid, signal.SIGKILL)

    def end(self) -> None:
        """End the process, which then removes its files."""
        assert self.process.stdin is not None and self.process.stdout is not None
        with suppress(OSError):
            self.process.stdin.close()
        with suppress(subprocess.TimeoutExpired):
            self.process.wait(timeout=_PATIENCE)
        self._kill()
        self.process.wait()
        self.process.stdout.close()
        self._log.close()
        with suppress(OSError):
            self.folder.cleanup()
