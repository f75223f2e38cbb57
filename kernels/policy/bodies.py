"""Which part of a stage's body is computed once for several points of its iteration space.

    out[m, n] += lhs[m, k] * (part(words[k / 8, n], k % 8) * scale[n] + offset[n])

Here the rows of a register tile (`m`) share the right-hand side, since it does not depend on `m`,
and eight steps of the reduction (`k`) share a word and what is computed from it alone.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from math import prod

from ...dialects import linalg
from ...ir.core import Operation, Value
from ...ir.types import IntegerType, VectorType, element_type
from ...targets.costs import OperationCosts
from ..model.extents import expected
from ..model.plan import Loop
from ..model.stages import Stage


@dataclass(frozen=True)
class BodyWork:
    """The cost of those operations of a body whose operands vary along the same dimensions.

    Units: `weight` in multiply-adds.
    """

    dims: frozenset[int]
    weight: int


def body_work(stage: Stage, costs: OperationCosts) -> list[BodyWork]:
    """The cost of a body, by the dimensions that its operations vary along; at least 1 in all."""
    everything = frozenset(range(stage.rank))
    known: dict[Value, frozenset[int]] = {a.argument: a.used for a in stage.inputs}
    known.update((out.argument, everything) for out in stage.outputs)
    steps = steps_of_reductions(stage)
    found: Counter[frozenset[int]] = Counter()
    for op in stage.body_ops():
        dims = frozenset().union(*(known.get(value, frozenset()) for value in op.operands))
        if isinstance(op, linalg.Index):
            dims = frozenset({op.dim})
        known.update(dict.fromkeys(op.results, dims))
        if op not in steps:
            found[dims] += weight_of(op.name, costs)
    # A comparison and a select that keep the larger number are one instruction.
    found[everything] -= stage.combiners.count("maxnumf")
    if found.total() < 1:
        return [BodyWork(everything, 1)]
    return [BodyWork(dims, weight) for dims, weight in found.items() if weight]


def work_per_point(stage: Stage, costs: OperationCosts) -> int:
    """The cost of a body at one point of the iteration space. Units: multiply-adds."""
    return sum(part.weight for part in body_work(stage, costs))


def steps_of_reductions(stage: Stage) -> set[Operation]:
    """Operations that depend on nothing but indices of reductions: unrolled, they are constants."""
    found: set[Operation] = set()
    for op in stage.body_ops():
        own = [v.defining_op for v in op.operands]
        if isinstance(op, linalg.Index):
            is_step = stage.kinds[op.dim] == "reduction"
        else:
            inside = [d for d in own if d is not None and d.parent is op.parent]
            is_step = bool(inside) and all(d in found for d in inside) and None not in own
        if is_step:
            found.add(op)
    return found


def weight_of(name: str, costs: OperationCosts) -> int:
    """The cost of one operation of a body. Units: multiply-adds.

    A multiplication costs nothing, since it becomes part of a multiply-add.
    """
    dialect, _, name = name.partition(".")
    if dialect == "math":
        return getattr(costs, name, costs.other_math)
    if dialect == "arith" and name not in ("constant", "mulf"):
        return costs.divf if name == "divf" else 1
    return 0


def steps_shared(stage: Stage, dims: frozenset[int], loops: Sequence[Loop]) -> int:
    """How many steps of the innermost reductions reuse a value that varies along `dims` alone."""
    inner: list[int] = []
    for loop in reversed([loop for loop in loops if loop.is_reduction]):
        if not dims.isdisjoint(loop.dims):
            break
        inner.append(expected(loop.extent))
    return prod(inner) if dims else 1


def widest_element(stage: Stage) -> int:
    """Bytes of the widest element that the stage computes with."""
    types = [a.element_type for a in stage.accesses]
    steps = steps_of_reductions(stage)
    types += [v.type for op in stage.body_ops() if op not in steps for v in op.results]
    scalars = [element_type(t) for t in types if not isinstance(t, VectorType)]
    return max((getattr(t, "byte_width", 8) for t in scalars), default=4)


def makes_integers(stage: Stage) -> bool:
    """Whether all results of a stage are integers."""
    return all(isinstance(a.element_type, IntegerType) for a in stage.outputs)


def products(stage: Stage) -> int:
    """How many multiplications a body has; without multiply-adds each costs an instruction."""
    return sum(op.name == "arith.mulf" for op in stage.body_ops())
