"""Times experiments in this process: the seconds of each run, also with several threads."""

from __future__ import annotations

import mmap as mmap_module
import threading
import time
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from math import prod
from mmap import mmap
from typing import TYPE_CHECKING, NamedTuple, Protocol

import numpy as np

from ...ir.diagnostics import NncError
from ...ir.syntax.parser import parse_module
from ...runtime.executable import Executable
from ...runtime.memory import aligned_buffer
from ..compile import compile_model

if TYPE_CHECKING:
    from ...runtime.model import Model

EMPTY = "call"
"""The name of the experiment that does nothing, whose time is subtracted from all others."""
EMPTY_OPEN = "open call"
"""The same for experiments whose input may have any size."""
CLOCK = "clock"
"""The name of the experiment whose units take one cycle each."""


class Code(Protocol):
    """A function of one input, as IR text."""

    @property
    def bytes(self) -> int:
        """The size of the input in bytes."""
        ...

    @property
    def dtype(self) -> np.dtype:
        """The element type of the input."""
        ...

    @property
    def shape(self) -> tuple[int, ...]:
        """The shape of the input."""
        ...

    def text(self) -> str:
        """The function's IR text."""
        ...


@dataclass(frozen=True, kw_only=True)
class Experiment:
    """A loop or a network, and the number of operations or bytes that its time stands for.

    `units` is that number, `threads` the threads of the code. With `fresh`, results go to memory
    newly mapped by the system; with `cold`, each run reads another part of a memory of `cold`
    bytes, so that no cache has it. With `in_cycles`, the time scales with the core's clock, which
    is measured beside it; else it depends on memory or the system. Runs agree if they differ by at
    most the factor `agree`. `below` is (another experiment, a part of its time): if no run takes
    less than that, none got all of its threads.
    """

    name: str
    loop: Code
    units: float
    threads: int = 1
    fresh: bool = False
    cold: int = 0
    in_cycles: bool = True
    agree: float = 0.02
    below: tuple[str, float] | None = None

    @property
    def is_open(self) -> bool:
        """Whether the input may have any size."""
        return "memref<?x" in self.loop.text()

    @property
    def empty(self) -> str | None:
        """The name of the experiment for the fixed cost that this one's time includes."""
        if self.name in (EMPTY, EMPTY_OPEN):
            return None
        return EMPTY_OPEN if self.is_open else EMPTY

    @property
    def bytes(self) -> int:
        """The bytes of the memory that it works on."""
        return self.cold or self.loop.bytes


class Timing(NamedTuple):
    """A run's time, and whether some of it passed with none of this process's threads running."""

    seconds: float
    waited: bool = False


WAITED = 0.1
"""The part of a run's time for which its threads may have waited for a processor."""


class Timed(Protocol):
    """A set of experiments that can be run."""

    @property
    def experiments(self) -> Sequence[Experiment]: ...

    def times(self, names: Sequence[str]) -> list[Timing]:
        """The times of one run of each of these experiments, in order. Raises NncError."""
        ...


class Bench:
    """Experiments compiled for this process, with the memory that they work on."""

    def __init__(
        self,
        experiments: Iterable[Experiment],
        target: str,
        progress: Callable[[str], None] = lambda text: None,
    ) -> None:
        """Raises NncError if the target's code does not run here."""
        self.experiments: Sequence[Experiment] = list(experiments)
        progress(f"compiling {len(self.experiments)} experiments")
        made: dict[tuple[str, int], Executable] = {}
        self._runs: dict[str, Callable[[], float]] = {}
        self._memory = _filled(max(one.bytes for one in self.experiments))
        self._turn = 0
        for one in self.experiments:
            key = one.loop.text(), one.threads
            if key not in made:
                made[key] = _compiled(one, target)
            self._runs[one.name] = self._run_of(one, made[key])

    def times(self, names: Sequence[str]) -> list[Timing]:
        found = []
        for name in names:
            before = time.process_time()
            seconds = self._runs[name]()
            had = time.process_time() - before
            found.append(Timing(seconds, had < (1 - WAITED) * seconds))
        return found

    def _run_of(self, one: Experiment, model: Executable) -> Callable[[], float]:
        """A function that runs an experiment once and returns the seconds."""
        start = self._memory.ctypes.data
        if one.fresh:
            return lambda: _checked(one, *_seconds_on_fresh(model, start))
        if one.is_open:
            return self._open_run(one, model)
        outputs = [_filled(bytes_of(model, i)) for i in range(len(model.output_types))]
        made = [array.ctypes.data for array in outputs]

        def run(outputs: Sequence[np.ndarray] = outputs) -> float:
            del outputs  # which live as long as this function
            begin = start + self._part(one)
            started = time.perf_counter()
            status = model.call_at([begin], made)
            return _checked(one, time.perf_counter() - started, status)

        return run

    def _open_run(self, one: Experiment, model: Executable) -> Callable[[], float]:
        """As `_run_of`, for a loop whose input may have any size."""
        size = one.loop.bytes

        def run() -> float:
            begin = self._part(one)
            array = self._memory[begin : begin + size].view(one.loop.dtype)
            started = time.perf_counter()
            model(array)
            return time.perf_counter() - started

        return run

    def _part(self, one: Experiment) -> int:
        """The offset of the part that the next run reads."""
        if not one.cold:
            return 0
        self._turn += 1
        return self._turn % (one.cold // one.loop.bytes) * one.loop.bytes


def _compiled(one: Experiment, target: str) -> Executable:
    model: Model = compile_model(
        parse_module(one.loop.text()),
        target=target,
        threads=one.threads,
        cache=False,
        emulate=False,
    )
    if not isinstance(model, Executable):
        raise NncError(f"code for '{target}' does not run in this process")
    return model


def _checked(one: Experiment, seconds: float, status: int) -> float:
    if status:
        raise NncError(f"the experiment '{one.name}' failed with status {status}")
    return seconds


PAGE = 2 << 20
"""The size of a large page in bytes. Within one, memory is spread evenly over a cache's sets."""


def _filled(size: int) -> np.ndarray:
    """Bytes at the start of a large page, filled with floats of 0.5."""
    raw = aligned_buffer(size + PAGE + 64)
    start = -raw.ctypes.data % PAGE
    memory = raw[start : start + -(-size // 64) * 64]
    memory.view(np.float32)[:] = 0.5
    return memory


def bytes_of(model: Model, i: int) -> int:
    """The bytes of output `i`, whose elements have at most eight bytes."""
    return 8 * prod(model.output_types[i].shape)  # type: ignore[arg-type]


def _seconds_on_fresh(model: Executable, start: int) -> tuple[float, int]:
    """A run whose results go to untouched memory: its time in seconds, and its status."""
    with mmap(-1, bytes_of(model, 0) + PAGE) as memory:
        if hasattr(memory, "madvise") and hasattr(mmap_module, "MADV_HUGEPAGE"):
            memory.madvise(mmap_module.MADV_HUGEPAGE)
        made = np.frombuffer(memory, np.uint8)
        address = made.ctypes.data
        del made
        started = time.perf_counter()
        status = model.call_at([start], [address + -address % PAGE])
        return time.perf_counter() - started, status


def seconds_on_threads(model: Callable[..., object], arrays: Sequence[np.ndarray]) -> float:
    """Seconds that concurrent calls take, one thread for each array."""
    if len(arrays) == 1:
        started = time.perf_counter()
        model(arrays[0])
        return time.perf_counter() - started
    workers = [threading.Thread(target=model, args=(array,)) for array in arrays]
    started = time.perf_counter()
    for worker in workers:
        worker.start()
    for worker in workers:
        worker.join()
    return time.perf_counter() - started
