"""The measured peaks of a machine: arithmetic in registers, reading from each memory.

The best value ever measured on a processor is stored, so that a run on a busy machine uses the
peaks of an idle one.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack, suppress
from dataclasses import dataclass
from functools import partial
from pathlib import Path

import numpy as np

from ...ir.cache_home import cache_home
from ...ir.diagnostics import NncError
from ...ir.files import write_whole
from ...ir.syntax.parser import parse_module
from ...targets.attribute import detailed
from ...targets.base import Target, described_host, host
from ...targets.processor import core_of
from ..calibrating.engine import EngineBench
from ..calibrating.loops import READERS, Loop, accumulators, multiply_adds, reading
from ..calibrating.measuring import Experiment, seconds_on_threads
from ..compile import compile_model

_STEPS = 500_000
"""The iterations of the arithmetic loop."""
_READ = 32 << 20
"""The bytes that one try reads, in several passes over what fits a cache."""
_FROM_MEMORY = 128 << 20
"""A size in bytes that exceeds all caches."""
_FEWEST, _MOST, _AGREE = 15, 60, 1.02
"""The least and the most tries, and the factor within which two of them must come to the best."""


@dataclass(frozen=True)
class Level:
    """A cache or the memory: the largest data that stays in it, and its read speed.

    Units: bytes, and 10^9 bytes a second, both of all threads together.
    """

    name: str
    bytes: float
    gigabytes: float


@dataclass(frozen=True)
class Peaks:
    """The peak of float32 operations (10^9/s, all threads), and memories, the nearest first."""

    gflops: float
    levels: Sequence[Level]

    @property
    def gigabytes(self) -> float:
        """Bytes per second read from memory, in 10^9."""
        return self.levels[-1].gigabytes

    def level(self, size: float) -> Level:
        """The nearest memory in which data of `size` bytes stays."""
        return next((one for one in self.levels if size <= one.bytes), self.levels[-1])


def measure_peaks(threads: int = 1, engine: Target | None = None) -> Peaks:
    """The best of several tries on this many threads at once, now or earlier on this processor: by
    native code, or by that of a target's engine.

    Raises NncError if the engine is missing.
    """
    here = described_host() or host()
    machine = core_of(here)
    vectors = core_of(here if engine is None else engine)
    lanes, chains = vectors.lanes(4), accumulators(vectors)
    loops = {"arithmetic": multiply_adds(vectors, lanes, chains, _STEPS)}
    done = {"arithmetic": 2 * lanes * chains * _STEPS}
    sizes = {"L1": machine.l1_bytes, "L2": machine.l2_bytes, "L3": machine.l3_bytes}
    for name, size in {**sizes, "memory": 2 * _FROM_MEMORY}.items():
        # Half of it, as a level is shared with all else that is in use.
        own = size // 2 if name != "L3" else size // 2 // threads
        elements = max(own // 4 // (READERS * lanes), 1) * READERS * lanes
        passes = max(1, _READ // (4 * elements))
        loops[name], done[name] = reading(lanes, elements, passes), 4 * elements * passes
    if engine is None:
        seconds = {name: _best(loop, threads) for name, loop in loops.items()}
    else:
        seconds = _best_in_engine(loops, threads, engine)
    rates = {name: threads * done[name] / seconds[name] for name in loops}
    key = detailed(here) if engine is None else f"{engine.name} on {detailed(here)}"
    best = _kept(f"{key}, {threads} threads", rates)
    bounds = (machine.l1_bytes * threads, machine.l2_bytes * threads, machine.l3_bytes, np.inf)
    levels = [
        Level(name, bound, best[name] / 1e9)
        for name, bound in zip((*sizes, "memory"), bounds, strict=True)
    ]
    return Peaks(best["arithmetic"] / 1e9, levels)


def _kept(key: str, rates: dict[str, float]) -> dict[str, float]:
    """For each rate, the highest of this one and earlier ones, which are stored in a file."""
    path = cache_home() / "peaks.json"
    known = _read(path)
    best = rates | {
        name: max(rates[name], rate) for name, rate in known.get(key, {}).items() if name in rates
    }
    if best != known.get(key):
        with suppress(NncError, OSError):  # what cannot be kept is measured again
            path.parent.mkdir(parents=True, exist_ok=True)
            write_whole(path, json.dumps({**known, key: best}, indent=1))
    return best


def _read(path: Path) -> dict[str, dict[str, float]]:
    """The stored rates of each processor; empty if the file is damaged."""
    try:
        found = json.loads(path.read_text())
    except (OSError, ValueError):
        return {}
    rows = found.items() if isinstance(found, dict) else ()
    return {key: row for key, row in rows if _are_rates(row)}


def _are_rates(row: object) -> bool:
    return isinstance(row, dict) and all(
        isinstance(rate, float) and 0 < rate < 1e16 for rate in row.values()
    )


def _best(loop: Loop, threads: int) -> float:
    """Seconds that the loop takes when that many threads run it at once."""
    executable = compile_model(parse_module(loop.text()), cache=False)
    arrays = [np.full(loop.size, 0.5, np.float32) for _ in range(threads)]
    return _settled(lambda: seconds_on_threads(executable, arrays))


def _best_in_engine(loops: Mapping[str, Loop], threads: int, engine: Target) -> dict[str, float]:
    """The seconds of all loops in an engine for each thread. Raises NncError."""
    experiments = [Experiment(name=name, loop=loop, units=1) for name, loop in loops.items()]
    with ExitStack() as opened:
        pool = opened.enter_context(ThreadPoolExecutor(threads))
        benches = [EngineBench(experiments, engine) for _ in range(threads)]
        for one in benches:
            opened.callback(one.close)

        def seconds(name: str) -> float:
            return max(pool.map(lambda one: one.times([name])[0].seconds, benches))

        return {name: _settled(partial(seconds, name)) for name in loops}


def _settled(seconds: Callable[[], float]) -> float:
    """The minimum of several tries, repeated until two agree or a limit is reached."""
    times = [seconds() for _ in range(_FEWEST)]
    while len(times) < _MOST and sorted(times)[1] > _AGREE * min(times):
        times.append(seconds())
    return min(times)
