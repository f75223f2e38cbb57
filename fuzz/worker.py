"""Worker processes that run cases, and the process that watches them and survives their crashes."""

from __future__ import annotations

import contextlib
import gc
import os
import pickle
import resource
import signal
import sys
import tempfile
import time
import traceback
from dataclasses import dataclass, field
from hashlib import blake2s
from pathlib import Path

from . import grammar_text, reference, seeds
from .cases import Case, random_for
from .minimize import minimized
from .modes import modes
from .oracle import Finding, check

CASES_PER_PROCESS = 1500
"""Caches of types and attributes grow; a new process starts with empty ones."""

MEMORY = 6 << 30
"""Bytes of address space of the worker, LLVM and NumPy included."""

SILENCE = 900
"""The seconds without a new case after which a worker is killed: a hang that ignores signals."""


@dataclass
class Run:
    """A run of the fuzzer: its modes, its time, and the folder for findings."""

    modes: tuple[str, ...]
    seed: int
    seconds: float
    folders: tuple[str, ...]
    output: Path
    number: int = 0
    spent: float = 0.0
    counts: dict[str, int] = field(default_factory=dict)

    def go(self) -> int:
        """Run until the time is spent; returns the number of distinct findings."""
        self.output.mkdir(parents=True, exist_ok=True)
        self._warm_up()
        with tempfile.TemporaryDirectory() as folder:
            while self.spent < self.seconds:
                self._supervise(Path(folder))
        found = len(list(self.output.glob("*.txt")))
        print(f"{self.number} cases, {self.spent:.0f} s of CPU, {found} findings in {self.output}")
        return found

    def _warm_up(self) -> None:
        """Compute what all workers share, before the first one starts."""
        grammar_text.productions()
        grammar_text.literals()
        grammar_text.costs()
        seeds.texts(self.folders)
        seeds.stages()
        if "onnx" in self.modes:
            seeds.node_cases()
        if "graphs" in self.modes:
            reference.load()

    def _supervise(self, scratch: Path) -> None:
        """Run one worker from its start until it ends in any way."""
        state = scratch / "state.pickle"
        state.unlink(missing_ok=True)
        gc.freeze()
        pid = os.fork()
        if pid == 0:
            code = 3
            try:
                self._work(scratch, state)
                code = 0
            except BaseException:
                traceback.print_exc()
            finally:
                os._exit(code)
        status, used = self._wait(pid, state)
        self.spent += used
        known = _read(state)
        if known is None:
            raise SystemExit("the worker died before its first case")
        mode, self.number, case = known
        self.number += 1
        if status == 0:
            return
        if status == 3 << 8:
            raise SystemExit("the fuzzer itself is at fault")
        how = f"killed by signal {status & 127}" if status & 127 else f"left with {status >> 8}"
        self._save(mode, case, Finding(f"process {how}", how), scratch)

    def _wait(self, pid: int, state: Path) -> tuple[int, float]:
        started = time.time()
        while True:
            done, status, usage = os.wait4(pid, os.WNOHANG)
            if done:
                return status, usage.ru_utime + usage.ru_stime
            last = state.stat().st_mtime if state.exists() else started + SILENCE
            if time.time() - last > SILENCE:
                os.kill(pid, signal.SIGKILL)
            time.sleep(1)

    def _work(self, scratch: Path, state: Path) -> None:
        resource.setrlimit(resource.RLIMIT_AS, (MEMORY, MEMORY))
        resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
        made = modes(self.folders)
        left = self.seconds - self.spent
        for number in range(self.number, self.number + CASES_PER_PROCESS):
            mode = self.modes[number % len(self.modes)]
            case = made[mode](random_for(mode, self.seed, number))
            _write(state, (mode, number, case))
            finding = check(case, scratch)
            if finding is not None:
                self.number = number
                self._save(mode, case, finding, scratch)
            if time.process_time() > left:
                break

    def _save(self, mode: str, case: Case, finding: Finding, scratch: Path) -> None:
        """Write a finding, once for each key, with a minimized input."""
        name = f"{mode}-{blake2s(finding.key.encode(), digest_size=5).hexdigest()}"
        report = self.output / f"{name}.txt"
        others = list(self.output.glob(f"*-{name.rpartition('-')[2]}.txt"))
        if others:
            return
        if not finding.key.startswith("process"):
            case = minimized(case, finding.key, scratch)
        (self.output / f"{name}{case.suffix}").write_bytes(case.data)
        command = f"{case.tool} {' '.join(case.arguments)}"
        head = f"{finding.key}\nmode {mode}, seed {self.seed}, case {self.number}\n{command}\n"
        text = f"{head}\n{finding.report}\n"
        report.write_text(text, encoding="utf-8", errors="backslashreplace")
        print(f"{name}: {finding.key}", flush=True)


def _write(path: Path, value: object) -> None:
    path.write_bytes(pickle.dumps(value))


def _read(path: Path):
    with contextlib.suppress(OSError, EOFError, pickle.UnpicklingError):
        return pickle.loads(path.read_bytes())
    return None


def reproduce(mode: str, seed: int, number: int, folders: tuple[str, ...]) -> int:
    """Repeat one case of a run and print its input and its finding."""
    case = modes(folders)[mode](random_for(mode, seed, number))
    sys.stdout.buffer.write(case.data + b"\n")
    print(case.tool, *case.arguments)
    with tempfile.TemporaryDirectory() as folder:
        finding = check(case, Path(folder))
    print(
        finding.key if finding else "nothing is wrong", finding.report if finding else "", sep="\n"
    )
    return 1 if finding else 0
