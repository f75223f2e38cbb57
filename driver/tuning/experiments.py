"""Experiments, in a process of their own with limits on time and memory.

The process runs one experiment after the other, so that common work is done once. If it crashes,
takes too long or fails, the next experiment gets a new process.
"""

from __future__ import annotations

import os
import pickle
import queue
import re
import shutil
import signal
import subprocess
import sys
import threading
import time
import weakref
from collections.abc import Mapping, Sequence
from contextlib import suppress
from dataclasses import replace
from pathlib import Path
from tempfile import mkdtemp
from typing import IO

from ...ir.diagnostics import NncError, signal_name
from ...kernels.tuned import TunedSchedule
from .checking import WRONG
from .patched import Kernel
from .worker import Answer, Request

Command = Sequence[str]


class ExperimentError(Exception):
    """A failed experiment: it crashed, took too long, or its numbers are wrong."""


class LostError(ExperimentError):
    """An experiment that was ended from outside: another try may succeed."""


class OverError(Exception):
    """No more experiments are possible: the process or workers that run them are gone."""


def worker_command() -> list[str]:
    """The command that starts a worker, without the folder of its request."""
    return [sys.executable, "-P", "-c", f"from {__package__}.worker import main; main()"]


class Experiments:
    """Runs experiments on one model; one may take `limit` seconds."""

    def __init__(self, base: Request, limit: float, command: Command | None = None) -> None:
        self.base, self.limit = base, limit
        self._command = command or worker_command()
        self._worker: _Process | None = None
        self._is_closed = False

    def run(
        self,
        schedules: Mapping[str, TunedSchedule],
        seconds: float | None = None,
        whole: bool = False,
    ) -> Answer:
        """Times of the model with these schedules. Raises ExperimentError with the reason of a
        failure.

        If a candidate ends the process, the answer lists it among its faults, and the others are
        measured. With `whole`, the whole model is compiled, as users do.
        """
        left, faults = dict(schedules), dict[str, str]()
        while True:
            answer = Answer()
            if left or not schedules:
                try:
                    answer = self._answer(left, seconds, whole)
                except _BlameError as error:
                    del left[error.key]
                    faults[error.key] = str(error)
                    continue
            if answer.wrong:
                raise ExperimentError(f"{WRONG}, {answer.wrong}")
            answer.faults |= faults
            return answer

    def stop(self) -> None:
        """End the experiment that another thread runs, if there is one: it is lost."""
        if (worker := self._worker) is not None:
            worker.end()

    def close(self) -> None:
        """End the process. What another thread runs is lost, and so are later experiments."""
        self._is_closed = True
        self._leave()

    def _leave(self) -> None:
        worker, self._worker = self._worker, None
        if worker is not None:
            worker.end()

    def _answer(
        self, schedules: Mapping[str, TunedSchedule], seconds: float | None, whole: bool
    ) -> Answer:
        """The answer of a worker. Raises _BlameError if it ended at one kernel's candidate.

        A worker that served other experiments may have been damaged by them: if it crashes, the
        result of a new one decides.
        """
        folder = self._folder(schedules, seconds, whole)
        try:
            was_used = self._worker is not None
            try:
                return self._asked(folder)
            except _CrashError as error:
                if not was_used or error.hung:
                    raise self._blame(error, schedules) from None
            try:
                return self._asked(folder)
            except _CrashError as error:
                raise self._blame(error, schedules) from None
        finally:
            shutil.rmtree(folder, ignore_errors=True)

    def _folder(
        self, schedules: Mapping[str, TunedSchedule], seconds: float | None, whole: bool
    ) -> Path:
        """A folder with a request. Raises NncError where it cannot be written."""
        folder: Path | None = None
        try:
            folder = Path(mkdtemp(dir=self.base.folder, prefix="experiment-"))
            (folder / "schedules").mkdir()
            for one in schedules.values():
                one.write(folder / "schedules")
            request = replace(
                self.base,
                schedules=folder / "schedules",
                seconds=self.base.seconds if seconds is None else seconds,
                whole=whole,
            )
            (folder / "request.pickle").write_bytes(pickle.dumps(request))
        except BaseException as error:
            if folder is not None:
                shutil.rmtree(folder, ignore_errors=True)
            if isinstance(error, OSError):
                where, why = self.base.folder, error.strerror or error
                raise NncError(f"cannot write to '{where}', for experiments: {why}") from None
            raise
        return folder

    def _asked(self, folder: Path) -> Answer:
        """The answer of a worker. Raises ExperimentError; the worker is then gone."""
        done = False
        try:
            worker = self._worker
            if self._is_closed:
                raise LostError("no more experiments are wanted")
            if worker is None or worker.has_ended:
                worker = self._worker = _Process([*self._command, str(folder)], self.base.folder)
                if self._is_closed:  # meanwhile, by another thread, which did not see this process
                    raise LostError("no more experiments are wanted")
            else:
                worker.ask(folder)
            worker.wait(folder, self.limit)
            try:
                answer: Answer = pickle.loads((folder / "answer.pickle").read_bytes())
            except (OSError, EOFError, pickle.UnpicklingError) as error:
                raise ExperimentError(f"its answer cannot be read ({error})") from None
            done = not worker.has_ended
            return answer
        finally:
            if not done:
                self._leave()

    def _blame(self, error: _CrashError, schedules: Mapping[str, TunedSchedule]) -> ExperimentError:
        """The error as a fault of the candidate being run, if it is known."""
        if not error.kernel or not self.base.kernels.exists():
            return error
        kernels: Mapping[str, Kernel] = pickle.loads(self.base.kernels.read_bytes())
        kernel = kernels.get(error.kernel)
        if kernel is None or kernel.key not in schedules:
            return error
        return _BlameError(str(error), kernel.key)


class _CrashError(ExperimentError):
    """The worker has ended, or has `hung`; `kernel` is the one whose candidate was running."""

    def __init__(self, message: str, kernel: str, hung: bool = False) -> None:
        super().__init__(message)
        self.kernel, self.hung = kernel, hung


class _BlameError(ExperimentError):
    """A crash, with the fingerprint of the kernel whose candidate is at fault."""

    def __init__(self, message: str, key: str) -> None:
        super().__init__(message)
        self.key = key


class _Process:
    """A worker process, and its messages."""

    def __init__(self, command: Command, folder: Path) -> None:
        # Of its own, so that nothing is left of what it had begun if it is killed.
        self._scratch = Path(mkdtemp(dir=folder, prefix="scratch-"))
        path = os.pathsep.join(filter(None, sys.path))
        environment = {**os.environ, "PYTHONPATH": path, "TMPDIR": str(self._scratch)}
        self._said = self._scratch / "said"
        with self._said.open("wb") as said:
            # In a session of its own, Ctrl-C does not reach it, and its children end with it.
            self._child = subprocess.Popen(
                command,
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                stderr=said,
                env=environment,
                start_new_session=True,
            )
        self._lines: queue.SimpleQueue[str] = queue.SimpleQueue()
        assert self._child.stdout is not None
        threading.Thread(target=_read, args=(self._child.stdout, self._lines), daemon=True).start()
        self.end = weakref.finalize(self, _end, self._child, self._scratch)
        """Ends the process and its children, if it still runs."""

    @property
    def has_ended(self) -> bool:
        """Whether the process has ended."""
        return self._child.poll() is not None

    def ask(self, folder: Path) -> None:
        """Send another request; if the process is gone, `wait` notices."""
        assert self._child.stdin is not None
        with suppress(OSError, ValueError):  # a pipe that another thread has closed
            self._child.stdin.write(f"{folder}\n".encode())
            self._child.stdin.flush()

    def wait(self, folder: Path, limit: float) -> None:
        """Wait for the answer. Raises ExperimentError if none comes in time."""
        kernel, until = "", time.monotonic() + limit
        while True:
            try:
                line = self._lines.get(timeout=max(0.0, until - time.monotonic()))
            except queue.Empty:
                raise _CrashError(f"it took more than {limit:.0f} s", kernel, True) from None
            match line.split(maxsplit=2):
                case ["done"]:
                    return
                case ["at", "check", name]:
                    kernel = name
                case ["at", *_]:
                    kernel = ""
                case []:
                    break
        status = self._child.wait()
        if (folder / "answer.pickle").exists() and not status:
            return
        if status < 0 and signal_name(-status) == "SIGKILL":
            raise LostError("it was ended from outside (SIGKILL)")
        if status < 0:
            raise _CrashError(f"it crashed ({signal_name(-status)})", kernel)
        lines = self._said.read_text(errors="replace").strip().splitlines()
        errors = [line for line in lines if re.match(r"[\w.]*Error: ", line)]
        said = [f"status {status}", *lines[-1:], *errors[-1:]][-1]
        raise _CrashError(f"it failed ({said})", kernel)


def _read(pipe: IO[bytes], lines: queue.SimpleQueue[str]) -> None:
    """Put the lines of a pipe into a queue, and an empty one at the end."""
    for line in pipe:
        if text := line.decode(errors="replace").strip():
            lines.put(text)
    lines.put("")


def _end(child: subprocess.Popen, scratch: Path) -> None:
    """End a worker and its child processes, and remove its temporary files."""
    if child.poll() is None:
        with suppress(OSError):
            if hasattr(os, "killpg"):
                os.killpg(child.pid, signal.SIGKILL)
            else:
                child.kill()
        child.wait()
    for pipe in (child.stdin, child.stdout):
        assert pipe is not None
        with suppress(OSError):
            pipe.close()
    shutil.rmtree(scratch, ignore_errors=True)
