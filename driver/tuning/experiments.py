"""Experiments, each in a process of its own with limits on time and memory."""

from __future__ import annotations

import os
import pickle
import shutil
import signal
import subprocess
import sys
from collections.abc import Mapping, Sequence
from contextlib import suppress
from dataclasses import replace
from pathlib import Path
from tempfile import mkdtemp

from ...kernels.tuned import TunedSchedule
from .worker import Answer, Request

Command = Sequence[str]


class ExperimentError(Exception):
    """An experiment gave no times: it crashed, took too long, or its numbers are wrong."""


class LostError(ExperimentError):
    """What carried an experiment out was ended from outside: another try may give times."""


class OverError(Exception):
    """No more experiments can be made: what carries them out is gone."""


def worker_command() -> list[str]:
    """What starts a worker, but for the folder of its request."""
    return [sys.executable, "-P", "-c", f"from {__package__}.worker import main; main()"]


class Experiments:
    """Carries out experiments on one model; `limit` is how many seconds one may take."""

    def __init__(self, base: Request, limit: float, command: Command | None = None) -> None:
        self.base, self.limit = base, limit
        self._command = command or worker_command()
        self._child: subprocess.Popen | None = None

    def run(self, schedules: Mapping[str, TunedSchedule], seconds: float | None = None) -> Answer:
        """Times of the model with these schedules. Raises ExperimentError that says why not."""
        folder = Path(mkdtemp(dir=self.base.folder, prefix="experiment-"))
        try:
            (folder / "schedules").mkdir()
            for one in schedules.values():
                one.write(folder / "schedules")
            request = replace(
                self.base,
                schedules=folder / "schedules",
                seconds=self.base.seconds if seconds is None else seconds,
            )
            (folder / "request.pickle").write_bytes(pickle.dumps(request))
            self._start(folder)
            answer: Answer = pickle.loads((folder / "answer.pickle").read_bytes())
        finally:
            shutil.rmtree(folder, ignore_errors=True)
        if answer.wrong:
            raise ExperimentError(f"its numbers are wrong, {answer.wrong}")
        return answer

    def stop(self) -> None:
        """End the experiment that another thread carries out, if there is one: it is lost."""
        if (child := self._child) is not None:
            _end(child)

    def _start(self, folder: Path) -> None:
        """Wait for a worker. Raises ExperimentError where it leaves no answer."""
        environment = {**os.environ, "PYTHONPATH": os.pathsep.join(filter(None, sys.path))}
        with (folder / "said").open("wb") as said:
            # In a session of its own, Ctrl-C does not reach it, and its children end with it.
            child = self._child = subprocess.Popen(
                [*self._command, str(folder)],
                stdin=subprocess.DEVNULL,
                stdout=said,
                stderr=said,
                env=environment,
                start_new_session=True,
            )
            try:
                status = child.wait(self.limit)
            except subprocess.TimeoutExpired:
                raise ExperimentError(f"it took more than {self.limit:.0f} s") from None
            finally:
                _end(child)
                self._child = None
        if status < 0:
            kind = LostError if _signal_name(-status) == "SIGKILL" else ExperimentError
            raise kind(f"it crashed ({_signal_name(-status)})")
        if status or not (folder / "answer.pickle").exists():
            lines = (folder / "said").read_text(errors="replace").strip().splitlines()
            raise ExperimentError(f"it failed ({lines[-1] if lines else f'status {status}'})")


def _end(child: subprocess.Popen) -> None:
    """End a worker and what it has started, if it runs still."""
    if child.poll() is None:
        with suppress(OSError):
            if hasattr(os, "killpg"):
                os.killpg(child.pid, signal.SIGKILL)
            else:
                child.kill()
        child.wait()


def _signal_name(number: int) -> str:
    try:
        return signal.Signals(number).name
    except ValueError:
        return f"signal {number}"
