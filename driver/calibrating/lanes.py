"""Experiments on vectors whose lanes are apart in memory (strided loads and stores)."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

from ...targets.processor import Processor
from .functions import VECTORS, over_vectors
from .loops import CYCLES
from .measuring import Experiment

APART = 9
"""The distance of lanes that are loaded or stored one by one. Units: elements."""


def lane_experiments(machine: Processor) -> Iterator[Experiment]:
    """Experiments on vectors whose lanes are apart in memory."""
    lanes = machine.lanes(4)
    if lanes == 1:
        return
    size = 512 * lanes
    offsets = ", ".join(str(APART * i) for i in range(lanes))
    before = (
        f"  %lanes = arith.constant dense<[{offsets}]> : vector<{lanes}xindex>\n"
        f"  %mask = arith.constant dense<true> : vector<{lanes}xi1>"
    )
    types = f"vector<{lanes}xindex>, vector<{lanes}xi1>, vector<{lanes}xf32>"
    reach, end = APART * lanes, (size // (2 * APART * lanes)) * lanes
    loads, stores = [], []
    for i in range(VECTORS):
        at = f"    %k{i} = arith.constant {i} : index\n    %j{i} = arith.addi %i, %k{i} : index\n"
        loads.append(
            f"{at}    %v{i} = vector.gather %x[%j{i}] [%lanes], %mask, %init\n"
            f"        : memref<{size}xf32>, {types} into vector<{lanes}xf32>\n"
            f"    %n{i} = arith.addf %a{i}, %v{i} : vector<{lanes}xf32>"
        )
        lines = [at.rstrip()]
        for lane in range(lanes):
            lines += [
                f"    %o{i}_{lane} = arith.constant {APART * lane} : index",
                f"    %p{i}_{lane} = arith.addi %j{i}, %o{i}_{lane} : index",
                f"    %e{i}_{lane} = vector.extract %a{i}[{lane}] : f32 from vector<{lanes}xf32>",
                f"    memref.store %e{i}_{lane}, %y[%p{i}_{lane}] : memref<{size}xf32>",
            ]
        lines.append(f"    %n{i} = arith.addf %a{i}, %init : vector<{lanes}xf32>")
        stores.append("\n".join(lines))
    assert end + VECTORS + reach <= size
    for name, rows, begin in (("gather", loads, before), ("scatter", stores, "")):
        loop = replace(over_vectors(rows, lanes, begin, size), end=end, step=VECTORS)
        loop = replace(loop, passes=max(1, CYCLES // 10 // (loop.steps // loop.passes * VECTORS)))
        units = loop.steps * VECTORS * lanes
        yield Experiment(name=name, loop=loop, units=units)
