"""What the machine can do at most, measured: arithmetic in registers, reading from memory."""

from __future__ import annotations

import threading
import time
from dataclasses import dataclass

import numpy as np

from ...ir.syntax.parser import parse_module
from ...targets.base import host
from ...targets.machine import Machine
from ..compile import compile_model

_STEPS = 2_000_000
_BYTES = 128 << 20
_TRIES = 5


@dataclass(frozen=True)
class Peaks:
    """float32 operations and bytes read from memory, in 10^9 a second, all threads together."""

    gflops: float
    gigabytes: float


def measure_peaks(threads: int = 1) -> Peaks:
    """The best of a few tries on this many threads at once."""
    machine = host().machine
    lanes = machine.lanes(4)
    accumulators = 12 if machine.vector_registers >= 16 else 6
    operations = 2 * lanes * accumulators * _STEPS
    arithmetic = _seconds(_arithmetic(machine, accumulators), lanes, threads)
    elements = _BYTES // 4
    reading = _seconds(_reading(lanes, elements), elements, threads)
    return Peaks(threads * operations / arithmetic / 1e9, threads * _BYTES / reading / 1e9)


def _seconds(text: str, elements: int, threads: int) -> float:
    """How long the function of the text takes when that many threads run it at once."""
    executable = compile_model(parse_module(text), cache=False)
    arrays = [np.full(elements, 0.5, np.float32) for _ in range(threads)]
    best = float("inf")
    for _ in range(_TRIES):
        workers = [threading.Thread(target=executable, args=(array,)) for array in arrays]
        started = time.perf_counter()
        for worker in workers:
            worker.start()
        for worker in workers:
            worker.join()
        best = min(best, time.perf_counter() - started)
    return best


_ENTRY = """
func.func @main(%x: memref<{size}xf32>, %y: memref<{lanes}xf32>) attributes {{
    nn.entry, nn.input_names = ["x"], nn.output_names = ["y"],
    nn.inputs = [tensor<{size}xf32>], nn.outputs = [tensor<{lanes}xf32>]}} {{
  %c0 = arith.constant 0 : index
  %step = arith.constant {step} : index
  %end = arith.constant {end} : index
  %zero = arith.constant 0.0 : f32
  %init = vector.transfer_read %x[%c0], %zero {{in_bounds = [true]}}
      : memref<{size}xf32>, vector<{lanes}xf32>
  {results} = scf.for %i = %c0 to %end step %step iter_args({carried}) -> ({types}) {{
{body}
    scf.yield {yielded} : {types}
  }}
{sum}
  vector.transfer_write %sum{last}, %y[%c0] {{in_bounds = [true]}}
      : vector<{lanes}xf32>, memref<{lanes}xf32>
  return
}}
"""


def _loop(size: int, lanes: int, count: int, step: int, end: int, rows: list[str]) -> str:
    """A loop with `count` independent vectors carried; rows[i] computes %n<i> from %a<i>."""
    vector = f"vector<{lanes}xf32>"
    sums = [
        f"  %sum{i} = arith.addf {'%r#0' if i == 1 else f'%sum{i - 1}'}, %r#{i} : {vector}"
        for i in range(1, count)
    ]
    return _ENTRY.format(
        size=size,
        lanes=lanes,
        step=step,
        end=end,
        results=f"%r:{count}",
        carried=", ".join(f"%a{i} = %init" for i in range(count)),
        types=", ".join([vector] * count),
        body="\n".join(rows),
        yielded=", ".join(f"%n{i}" for i in range(count)),
        sum="\n".join(sums),
        last=count - 1,
    )


def _arithmetic(machine: Machine, count: int) -> str:
    """Multiply-adds on registers alone, enough of them to hide their latency."""
    lanes = machine.lanes(4)
    vector = f"vector<{lanes}xf32>"
    rows = []
    for i in range(count):
        if machine.has_fma:
            rows.append(f"    %n{i} = vector.fma %a{i}, %init, %init : {vector}")
        else:
            rows.append(f"    %p{i} = arith.mulf %a{i}, %init : {vector}")
            rows.append(f"    %n{i} = arith.addf %p{i}, %init : {vector}")
    return _loop(lanes, lanes, count, 1, _STEPS, rows)


def _reading(lanes: int, elements: int) -> str:
    """Sums of a buffer that no cache holds."""
    count = 8
    vector = f"vector<{lanes}xf32>"
    rows = []
    for i in range(count):
        rows += [
            f"    %o{i} = arith.constant {i * lanes} : index",
            f"    %j{i} = arith.addi %i, %o{i} : index",
            f"    %v{i} = vector.transfer_read %x[%j{i}], %zero {{in_bounds = [true]}}",
            f"        : memref<{elements}xf32>, {vector}",
            f"    %n{i} = arith.addf %a{i}, %v{i} : {vector}",
        ]
    return _loop(elements, lanes, count, count * lanes, elements, rows)
