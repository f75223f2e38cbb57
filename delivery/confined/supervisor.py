"""The process that watches a command from outside, and reports how it ended.

It holds the end of a pipe of the requesting program. When that program ends, in whatever way, the
pipe closes, and the command is ended. The command's first process ends when this one does.
"""

from __future__ import annotations

import json
import os
import resource
import select
import signal
import time
from contextlib import suppress
from typing import NoReturn

from . import inside, namespaces, system
from .limits import Cause, Limits
from .request import Request
from .tree import Tree, size

CANCEL = b"c"
"""Written to the pipe to stop the command."""
_LOOK = 0.1
"""Seconds between checks of the processes."""
_LEAST_BETWEEN_SIZES, _SHARE_OF_SIZES = 0.5, 20
"""The least seconds between measurements of the folder, and the least ratio of that interval to the
duration of a measurement."""
_NEARLY = 0.8
"""The part of the limit of processor time, as counted here, from which on a kill by the kernel
counts as exceeding it."""
_SHARED = 3
"""Processes whose memory, with shared pages counted in each, exceeds the limit by less than this
factor are measured exactly, which takes time."""
_WRITTEN = 4
"""The most bytes written, as a multiple of the disk limit; deleted files count too."""


def supervise(request: Request, control: int, output: int, error: int, answer: int) -> NoReturn:
    """Run a command to its end, and write how it ended."""
    found: dict[str, object] = {"status": -1, "cause": "unstarted", "message": "it did not start"}
    try:
        system.end_with_parent(signal.SIGKILL)
        found = _supervise(request, control, output, error)
    except BaseException as problem:
        text = problem.strerror if isinstance(problem, OSError) else None
        found["message"] = f"{text or problem}"
    finally:
        with suppress(OSError):
            os.write(answer, json.dumps(found).encode())
        os._exit(0)


def _supervise(request: Request, control: int, output: int, error: int) -> dict[str, object]:
    apart = request.mode == "namespaces"
    started = time.monotonic()
    for name in (*namespaces.SCRATCH.values(), ".home", ".cache", ".data"):
        os.makedirs(f"{request.folder}/{name}", mode=0o700, exist_ok=True)
    if apart:
        namespaces.enter(request.folder)
    else:
        system.adopt_orphans()
    report, other_report = os.pipe()
    first = os.fork()
    if first == 0:
        inside.begin(request, output, error, other_report)
    for one in (other_report, output, error):
        os.close(one)
    watch = _Watch(request, first, control, apart=apart, started=started)
    problem = watch.wait_for_start(report)
    if not problem:
        watch.wait()
    return watch.finish(problem)


class _Watch:
    """Watches a command from its start to its end."""

    def __init__(
        self, request: Request, first: int, control: int, *, apart: bool, started: float
    ) -> None:
        self._folder, self._limits, self._control = request.folder, request.limits, control
        self._first, self._tree = first, Tree(first, apart=apart)
        self._handle = os.pidfd_open(first)
        self._started = started
        self._cause: Cause = ""
        self._message = ""
        self._memory = self._disk = 0
        self._next_size = 0.0

    def wait_for_start(self, report: int) -> str:
        """Wait until the command itself runs; returns why it does not, or ""."""
        deadline = self._started + self._limits.seconds
        waiting = select.poll()
        for one in (report, self._control):
            waiting.register(one, select.POLLIN)
        text = b""
        while not self._cause:
            left = deadline - time.monotonic()
            ready = dict(waiting.poll(max(0.0, left) * 1000))
            if self._control in ready:
                self._heard()
            elif report in ready:
                if part := os.read(report, 500):
                    text += part
                else:
                    break
            elif left <= 0:
                self._end_because("time", _time(self._limits))
        os.close(report)
        return text.decode(errors="replace")

    def wait(self) -> None:
        """Watch the command until it has ended, or is to be ended."""
        waiting = select.poll()
        for one in (self._handle, self._control):
            waiting.register(one, select.POLLIN)
        while not self._cause:
            ready = dict(waiting.poll(_LOOK * 1000))
            if self._handle in ready:
                return
            if self._control in ready:
                self._heard()
            else:
                self._look()
                self._tree.reap()

    def _heard(self) -> None:
        if os.read(self._control, 1) == CANCEL:
            self._end_because("cancelled", "it was cancelled")
        else:
            self._end_because("lost", "the program that had started it has ended")

    def _end_because(self, cause: Cause, message: str) -> None:
        self._cause, self._message = cause, message

    def _look(self) -> None:
        """End the command if it exceeds a limit."""
        limits, usage = self._limits, self._tree.usage()
        now = time.monotonic()
        if limits.memory < usage.memory < _SHARED * limits.memory:
            usage.memory = self._tree.memory()
        self._memory = max(self._memory, usage.memory)
        if now - self._started > limits.seconds:
            self._end_because("time", _time(limits))
        elif usage.processor_seconds > limits.processor_seconds:
            self._end_because("processor time", _processor_time(limits))
        elif usage.memory > limits.memory:
            self._end_because("memory", f"it needed more than {_bytes(limits.memory)} of memory")
        elif usage.threads > limits.processes + 2:  # the first process, and what it waits for
            most = f"it had more than {limits.processes} processes and threads"
            self._end_because("processes", most)
        elif usage.written > _WRITTEN * limits.disk:
            most = f"it wrote more than {_bytes(_WRITTEN * limits.disk)}"
            self._end_because("disk", most)
        elif now > self._next_size:
            self._look_at_folder(now)

    def _look_at_folder(self, now: float) -> None:
        self._disk, endless = size(self._folder)
        took = time.monotonic() - now
        self._next_size = now + max(_LEAST_BETWEEN_SIZES, _SHARE_OF_SIZES * took)
        if endless:
            self._end_because("disk", "it made too many files, or too deep folders")
        elif self._disk > self._limits.disk:
            self._end_because("disk", f"it needed more than {_bytes(self._limits.disk)} of disk")

    def finish(self, problem: str) -> dict[str, object]:
        """End the command's remaining processes; returns how it ended."""
        status = self._end_all()
        used = resource.getrusage(resource.RUSAGE_CHILDREN)
        spent = used.ru_utime + used.ru_stime
        if problem:
            self._end_because("unstarted", problem)
        elif not self._cause:
            self._look_at_folder(time.monotonic())
            killed = status in (-signal.SIGXCPU, -signal.SIGKILL)
            if killed and spent >= _NEARLY * self._limits.processor_seconds:
                self._end_because("processor time", _processor_time(self._limits))
        return {
            "status": status,
            "cause": self._cause,
            "message": self._message,
            "seconds": time.monotonic() - self._started,
            "processor_seconds": spent,
            "memory": max(self._memory, used.ru_maxrss * 1024),
            "disk": self._disk,
        }

    def _end_all(self) -> int:
        """End all processes; returns the exit status of the first one."""
        about = os.waitid(os.P_PID, self._first, os.WEXITED | os.WNOHANG | os.WNOWAIT)
        if about is not None:
            _, how = os.waitpid(self._first, 0)
            status = os.waitstatus_to_exitcode(how)
            self._tree.end()
        else:
            self._tree.end()
            status = -signal.SIGKILL
            with suppress(ChildProcessError):
                os.waitpid(self._first, 0)
        return 128 - status if 128 < status < 193 else status


def _time(limits: Limits) -> str:
    return f"it took longer than {limits.seconds:g} s"


def _processor_time(limits: Limits) -> str:
    return f"it needed more than {limits.processor_seconds:g} s of processor time"


def _bytes(number: int) -> str:
    """Bytes in words: `1.5 GB`."""
    for prefix, factor in (("G", 1e9), ("M", 1e6)):
        if number >= factor:
            return f"{number / factor:.3g} {prefix}B"
    return f"{number} bytes"
