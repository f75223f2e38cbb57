"""Run code in a process of its own, so that it may crash, print, or never end."""

from __future__ import annotations

import faulthandler
import os
import pickle
import select
import signal
import sys
import tempfile
import time
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, BinaryIO

from ..ir.diagnostics import NncError, signal_name


@dataclass(frozen=True)
class Done:
    """The value of the work, and its standard output."""

    value: Any
    printed: str


def run_isolated(work: Callable[[], Any], *, seconds: float = 60.0) -> Done:
    """Run `work` in a copy of this process, and return its value.

    Raises the NncError that `work` raises, or one that says how the process ended. The value must
    be picklable. Changes that `work` makes in memory are lost.
    """
    sys.stdout.flush()
    sys.stderr.flush()
    reading, writing = os.pipe()
    # Of a child that is killed, or leaves without a look back, this process removes what it made.
    with tempfile.TemporaryFile() as output, tempfile.TemporaryDirectory(prefix="nnc-") as scratch:
        child = os.fork()
        if child == 0:
            faulthandler.disable()  # a crash is told by its signal
            os.close(reading)
            tempfile.tempdir = os.environ["TMPDIR"] = scratch
            _work_and_leave(work, writing, output)
        os.close(writing)
        data = _read_all(reading, child, seconds)
        _, status = os.waitpid(child, 0)
        output.seek(0)
        printed = output.read().decode("utf-8", "replace")
    if data is None:
        raise NncError(f"the machine code did not end within {seconds:g} s")
    if os.WIFSIGNALED(status):
        raise NncError(f"the machine code ended with {signal_name(os.WTERMSIG(status))}")
    if not data:
        raise NncError(
            f"the machine code ended the process with {os.waitstatus_to_exitcode(status)}"
        )
    kind, value = pickle.loads(data)
    if kind == "error":
        raise NncError(value)
    return Done(value, printed)


def _work_and_leave(work: Callable[[], Any], writing: int, output: BinaryIO) -> None:
    """Run the work in the child process; never returns."""
    try:
        os.dup2(output.fileno(), 1)
        # LLVM's linker says there what its error says too.
        os.dup2(os.open(os.devnull, os.O_WRONLY), 2)
        try:
            answer = ("value", work())
        except NncError as error:
            answer = ("error", error.message)
        except Exception as error:
            answer = ("error", f"{type(error).__name__}: {error}")
        _flush_c()
        with os.fdopen(writing, "wb") as pipe:
            pickle.dump(answer, pipe, protocol=pickle.HIGHEST_PROTOCOL)
    finally:
        os._exit(0)


def _flush_c() -> None:
    import ctypes

    ctypes.CDLL(None).fflush(None)


def _read_all(reading: int, child: int, seconds: float) -> bytes | None:
    """The bytes that the child writes until it closes the pipe; None after the time limit."""
    deadline = time.monotonic() + seconds
    parts: list[bytes] = []
    try:
        while True:
            left = deadline - time.monotonic()
            ready = left > 0 and select.select([reading], [], [], left)[0]
            if not ready:
                os.kill(child, signal.SIGKILL)
                return None
            part = os.read(reading, 1 << 20)
            if not part:
                return b"".join(parts)
            parts.append(part)
    except BaseException:
        os.kill(child, signal.SIGKILL)
        raise
    finally:
        os.close(reading)
