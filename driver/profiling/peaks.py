"""What the machine can do at most, measured: arithmetic in registers, reading from each memory.

The best that was ever measured of a processor is kept, so that a run on a disturbed machine finds
the peaks that a quiet one had.
"""

from __future__ import annotations

import json
import threading
import time
from collections.abc import Callable, Sequence
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

from ...ir.cache_home import cache_home
from ...ir.diagnostics import NncError
from ...ir.files import write_whole
from ...ir.syntax.parser import parse_module
from ...targets.attribute import detailed
from ...targets.base import host
from ...targets.processor import Processor
from ..compile import compile_model

if TYPE_CHECKING:
    from ...runtime.model import Model

_STEPS = 500_000
"""Passes of the loop of arithmetic."""
_READ = 32 << 20
"""Bytes that a try reads, in several passes over what fits a cache."""
_FROM_MEMORY = 128 << 20
"""Bytes that no cache holds."""
_FEWEST, _MOST, _AGREE = 15, 60, 1.02
"""Tries: at least so many, then until two are within a factor of the best, at most so many."""


@dataclass(frozen=True)
class Level:
    """A cache or the memory: the largest data that stays in it, and how fast it is read.

    Units: bytes of all threads together; 10^9 bytes a second, of all threads together.
    """

    name: str
    bytes: float
    gigabytes: float


@dataclass(frozen=True)
class Peaks:
    """float32 operations in 10^9 a second, all threads together, and memories, nearest first."""

    gflops: float
    levels: Sequence[Level]

    @property
    def gigabytes(self) -> float:
        """Bytes read from memory in 10^9 a second."""
        return self.levels[-1].gigabytes

    def level(self, size: float) -> Level:
        """Where data of so many bytes stays."""
        return next((one for one in self.levels if size <= one.bytes), self.levels[-1])


def measure_peaks(threads: int = 1) -> Peaks:
    """The best of some tries on this many threads at once, now or before on this processor."""
    target = host()
    machine = target.machine
    assert isinstance(machine, Processor)  # as all machines that run this are
    lanes = machine.lanes(4)
    operations = 2 * lanes * _accumulators(machine) * _STEPS
    rates = {"arithmetic": threads * operations / _best(_arithmetic(machine), lanes, threads)}
    sizes = {"L1": machine.l1_bytes, "L2": machine.l2_bytes, "L3": machine.l3_bytes}
    for name, size in {**sizes, "memory": 2 * _FROM_MEMORY}.items():
        # Half of it, as a level is shared with all else that is in use.
        own = size // 2 if name != "L3" else size // 2 // threads
        elements = max(own // 4 // (_READERS * lanes), 1) * _READERS * lanes
        passes = max(1, _READ // (4 * elements))
        seconds = _best(_reading(lanes, elements, passes), elements, threads)
        rates[name] = threads * 4 * elements * passes / seconds
    best = _kept(f"{detailed(target)}, {threads} threads", rates)
    bounds = (machine.l1_bytes * threads, machine.l2_bytes * threads, machine.l3_bytes, np.inf)
    levels = [
        Level(name, bound, best[name] / 1e9)
        for name, bound in zip((*sizes, "memory"), bounds, strict=True)
    ]
    return Peaks(best["arithmetic"] / 1e9, levels)


def _kept(key: str, rates: dict[str, float]) -> dict[str, float]:
    """The rates, or the higher ones that were measured before and are kept in a file."""
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
    """What the file has of each processor; nothing where it is damaged."""
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


def _best(text: str, elements: int, threads: int) -> float:
    """How many seconds the function of the text takes when that many threads run it at once."""
    executable = compile_model(parse_module(text), cache=False)
    arrays = [np.full(elements, 0.5, np.float32) for _ in range(threads)]
    times = [_seconds(executable, arrays) for _ in range(_FEWEST)]
    while len(times) < _MOST and sorted(times)[1] > _AGREE * min(times):
        times.append(_seconds(executable, arrays))
    return min(times)


def _seconds(executable: Model, arrays: Sequence[np.ndarray]) -> float:
    run: Callable[[np.ndarray], object] = executable
    workers = [threading.Thread(target=run, args=(array,)) for array in arrays]
    started = time.perf_counter()
    for worker in workers:
        worker.start()
    for worker in workers:
        worker.join()
    return time.perf_counter() - started


_ENTRY = """
func.func @main(%x: memref<{size}xf32>, %y: memref<{lanes}xf32>) attributes {{
    nn.entry, nn.input_names = ["x"], nn.output_names = ["y"],
    nn.inputs = [tensor<{size}xf32>], nn.outputs = [tensor<{lanes}xf32>]}} {{
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %passes = arith.constant {passes} : index
  %step = arith.constant {step} : index
  %end = arith.constant {end} : index
  %zero = arith.constant 0.0 : f32
  %init = vector.transfer_read %x[%c0], %zero {{in_bounds = [true]}}
      : memref<{size}xf32>, vector<{lanes}xf32>
  {results} = scf.for %p = %c0 to %passes step %c1 iter_args({outer}) -> ({types}) {{
    {inner_results} = scf.for %i = %c0 to %end step %step iter_args({inner}) -> ({types}) {{
{body}
      scf.yield {yielded} : {types}
    }}
    scf.yield {inner_values} : {types}
  }}
{sum}
  vector.transfer_write %sum{last}, %y[%c0] {{in_bounds = [true]}}
      : vector<{lanes}xf32>, memref<{lanes}xf32>
  return
}}
"""


def _loop(size: int, lanes: int, passes: int, step: int, end: int, rows: Sequence[str]) -> str:
    """Passes over a loop that carries a vector for each row; rows[i] computes %n<i> from %a<i>."""
    vector, count = f"vector<{lanes}xf32>", len(rows)
    sums = [
        f"  %sum{i} = arith.addf {'%r#0' if i == 1 else f'%sum{i - 1}'}, %r#{i} : {vector}"
        for i in range(1, count)
    ]
    return _ENTRY.format(
        size=size,
        lanes=lanes,
        passes=passes,
        step=step,
        end=end,
        results=f"%r:{count}",
        inner_results=f"%q:{count}",
        inner_values=", ".join(f"%q#{i}" for i in range(count)),
        outer=", ".join(f"%o{i} = %init" for i in range(count)),
        inner=", ".join(f"%a{i} = %o{i}" for i in range(count)),
        types=", ".join([vector] * count),
        body="\n".join(rows),
        yielded=", ".join(f"%n{i}" for i in range(count)),
        sum="\n".join(sums),
        last=count - 1,
    )


def _accumulators(machine: Processor) -> int:
    """Vectors that the loop of arithmetic carries."""
    return 12 if machine.vector_registers >= 16 else 6


def _arithmetic(machine: Processor) -> str:
    """Multiply-adds on registers alone, enough of them to hide their latency."""
    lanes = machine.lanes(4)
    vector = f"vector<{lanes}xf32>"
    rows = []
    for i in range(_accumulators(machine)):
        if machine.has_fma:
            rows.append(f"    %n{i} = vector.fma %a{i}, %init, %init : {vector}")
        else:
            rows.append(
                f"    %p{i} = arith.mulf %a{i}, %init : {vector}\n"
                f"    %n{i} = arith.addf %p{i}, %init : {vector}"
            )
    return _loop(lanes, lanes, 1, 1, _STEPS, rows)


_READERS = 8
"""Vectors that one step of the reading loop loads."""


def _reading(lanes: int, elements: int, passes: int) -> str:
    """Sums of a buffer, in so many passes over it."""
    vector = f"vector<{lanes}xf32>"
    rows = [
        f"    %k{i} = arith.constant {i * lanes} : index\n"
        f"    %j{i} = arith.addi %i, %k{i} : index\n"
        f"    %v{i} = vector.transfer_read %x[%j{i}], %zero {{in_bounds = [true]}}\n"
        f"        : memref<{elements}xf32>, {vector}\n"
        f"    %n{i} = arith.addf %a{i}, %v{i} : {vector}"
        for i in range(_READERS)
    ]
    return _loop(elements, lanes, passes, _READERS * lanes, elements, rows)
