"""Experiments on elementwise functions of vectors that are loaded."""

from __future__ import annotations

from collections.abc import Iterator

from ...targets.processor import Processor
from .loops import CYCLES, Loop
from .measuring import Experiment

FUNCTIONS = {
    **dict.fromkeys(
        ("absf", "sqrt", "rsqrt", "exp", "log", "tanh", "erf", "sin", "cos"),
        "math.{name} %v{i}",
    ),
    "powf": "math.powf %v{i}, %v{i}",
    "divf": "arith.divf %init, %v{i}",
}
"""The measured fields of `OperationCosts`, and the operation of each."""

OTHERS = {name: f"math.{name} %v{{i}}" for name in ("exp2", "log2", "tan", "atan")}
"""Functions without a field of their own: `other_math` is their mean cost."""

OTHER = 20
"""The estimated cost of these, which determines the length of a run."""

VECTORS = 4
"""The vectors of one loop iteration with a function."""


def function_experiments(machine: Processor) -> Iterator[Experiment]:
    """An experiment for each function, and one for loads alone."""
    lanes = machine.lanes(4)
    for name, operation in {"plain": "", **FUNCTIONS, **OTHERS}.items():
        rows = []
        for i in range(VECTORS):
            row = vector_at(i, lanes, 512 * lanes)
            applied = operation.format(name=name, i=i)
            if applied:
                row += f"\n    %w{i} = {applied} : vector<{lanes}xf32>"
            value = f"%w{i}" if applied else f"%v{i}"
            rows.append(f"{row}\n    %n{i} = arith.addf %a{i}, {value} : vector<{lanes}xf32>")
        weight = getattr(machine.costs.operations, name, 0 if name == "plain" else OTHER)
        about = 2 * round(1 + weight * machine.fma_cycles(4 * lanes))
        loop = over_vectors(rows, lanes, per_vector=about)
        yield Experiment(name=f"function {name}", loop=loop, units=loop.steps * VECTORS)


def vector_at(i: int, lanes: int, size: int) -> str:
    """The lines that load vector `%v<i>` of a step."""
    return (
        f"    %k{i} = arith.constant {i * lanes} : index\n"
        f"    %j{i} = arith.addi %i, %k{i} : index\n"
        f"    %v{i} = vector.transfer_read %x[%j{i}], %zero {{in_bounds = [true]}}\n"
        f"        : memref<{size}xf32>, vector<{lanes}xf32>"
    )


def over_vectors(
    rows: list[str], lanes: int, before: str = "", results: int = 0, per_vector: int = 10
) -> Loop:
    """Passes over 512 vectors, four per step; each vector takes about `per_vector` cycles."""
    elements = 512 * lanes
    return Loop(
        rows=rows,
        lanes=lanes,
        size=elements,
        end=elements,
        step=VECTORS * lanes,
        passes=max(1, CYCLES // 512 // per_vector),
        before=before,
        results=results,
    )
