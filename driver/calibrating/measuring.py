"""Times of experiments, in rounds that take turns, on as many threads at once as each asks for."""

from __future__ import annotations

import mmap as mmap_module
import threading
import time
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from math import prod
from mmap import mmap
from typing import TYPE_CHECKING, Any, Protocol

import numpy as np

from ...ir.diagnostics import NncError
from ...ir.syntax.parser import parse_module
from ...runtime.executable import Executable
from ...runtime.memory import aligned_buffer
from ..compile import compile_model

if TYPE_CHECKING:
    from ...runtime.model import Model

Round = dict[str, float]
"""Of each experiment by its name: seconds of one of what it counts."""

TRIES = 5
"""Runs of an experiment in a round, of which the fastest counts: the others were interrupted."""
FEWEST_ROUNDS = 5


class Code(Protocol):
    """A function of one input, as IR."""

    @property
    def bytes(self) -> int:
        """Of the input."""
        ...

    @property
    def dtype(self) -> np.dtype:
        """Of its elements."""
        ...

    @property
    def shape(self) -> tuple[int, ...]:
        """Of the input."""
        ...

    def text(self) -> str:
        """The function."""
        ...


@dataclass(frozen=True, kw_only=True)
class Experiment:
    """A loop or a network, and of how many operations or bytes its time is.

    `callers` threads run it at once, each on its own memory, or one call has `threads` of them.
    With `fresh`, its results go to memory that the system has just given; with `cold`, each run
    reads another part of a memory of that many bytes, so that no cache has it.
    """

    name: str
    loop: Code
    units: float
    callers: int = 1
    threads: int = 1
    fresh: bool = False
    cold: int = 0

    @property
    def bytes(self) -> int:
        """Of the memory that each of its callers works on."""
        return self.cold or self.loop.bytes


EMPTY = "call"
"""The experiment that does nothing: what every other one takes besides."""


class Bench:
    """Experiments that are compiled, with the memory that they work on."""

    def __init__(
        self,
        experiments: Iterable[Experiment],
        target: str,
        progress: Callable[[str], None] = lambda text: None,
    ) -> None:
        """Raises NncError where the target's code does not run here."""
        self.experiments = list(experiments)
        progress(f"compiling {len(self.experiments)} experiments")
        self._models: dict[str, Model] = {}
        made: dict[tuple[str, int], Model] = {}
        for one in self.experiments:
            text = one.loop.text()
            if (text, one.threads) not in made:
                made[text, one.threads] = compile_model(
                    parse_module(text),
                    target=target,
                    threads=one.threads,
                    cache=False,
                    emulate=False,
                )
            self._models[one.name] = made[text, one.threads]
        callers = max(one.callers for one in self.experiments)
        sizes = [max(e.bytes for e in self.experiments if e.callers > i) for i in range(callers)]
        self._memory = [_filled(size) for size in sizes]
        self._turn = 0

    def round(self) -> Round:
        """The time of one of what each experiment counts, without that of the call. Seconds."""
        found = {one.name: self._best(one) for one in self.experiments}
        call = found.get(EMPTY, 0.0)
        return {
            one.name: max(found[one.name] - (call if one.name != EMPTY else 0.0), 1e-9) / one.units
            for one in self.experiments
        }

    def _best(self, one: Experiment) -> float:
        model, run = self._models[one.name], _seconds_on_fresh if one.fresh else seconds_on_threads
        return min(run(model, self._arrays(one)) for _ in range(TRIES))

    def _arrays(self, one: Experiment) -> list[np.ndarray]:
        """What its callers work on."""
        at = 0
        if one.cold:
            self._turn += 1
            at = self._turn % (one.cold // one.loop.bytes) * one.loop.bytes
        memory = (self._memory[i][at : at + one.loop.bytes] for i in range(one.callers))
        return [part.view(one.loop.dtype).reshape(one.loop.shape) for part in memory]


PAGE = 2 << 20
"""Bytes. What lies in one page is in the caches' sets as evenly as it can be."""


def _filled(size: int) -> np.ndarray:
    """Bytes at the start of a large page, which are halves as floats."""
    raw = aligned_buffer(size + PAGE)
    start = -raw.ctypes.data % PAGE
    memory = raw[start : start + -(-size // 64) * 64]
    memory.view(np.float32)[:] = 0.5
    return memory


def _seconds_on_fresh(model: Any, arrays: Sequence[np.ndarray]) -> float:
    """The time of a run whose results go to memory that nothing was written to yet."""
    if not isinstance(model, Executable):
        raise NncError("only code in this process can be given memory of its own")
    (type,) = model.output_types
    with mmap(-1, 4 * prod(type.shape) + PAGE) as memory:  # type: ignore[arg-type]
        if hasattr(memory, "madvise") and hasattr(mmap_module, "MADV_HUGEPAGE"):
            memory.madvise(mmap_module.MADV_HUGEPAGE)
        made = np.frombuffer(memory, np.uint8)
        address = made.ctypes.data
        del made
        started = time.perf_counter()
        model.call_at([arrays[0].ctypes.data], [address + -address % PAGE])
        return time.perf_counter() - started


def seconds_on_threads(model: Callable[..., object], arrays: Sequence[np.ndarray]) -> float:
    """How long calls take, one for each array, that several threads make at once."""
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


def measure(bench: Bench, seconds: float, progress: Callable[[str], None]) -> list[Round]:
    """As many rounds as fit the time, and no fewer than the fewest; a first one warms up."""
    progress(f"measuring for about {max(seconds, 1):.0f} s")
    bench.round()
    rounds: list[Round] = []
    started = time.perf_counter()
    while len(rounds) < FEWEST_ROUNDS or time.perf_counter() - started < seconds:
        rounds.append(bench.round())
    return rounds
