"""The values that operations use from outside, to be arguments of a function made of them."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence

from ..dialects import arith
from ..ir.core import Operation, Value
from ..ir.types import IndexType


def captures(
    ops: Sequence[Operation],
    values: Iterable[Value],
    is_cloned: Callable[[Operation], bool],
    given: Iterable[Value] = (),
) -> tuple[list[Value], list[Value]]:
    """What the operations use from outside, and `values`: (values to pass, values to clone).

    Each occurs once, in order. Results of operations for which `is_cloned` is true are cloned,
    along with their operands. `given` values are left out.
    """
    passed: dict[Value, None] = {}
    cloned: dict[Value, None] = {}

    def use(value: Value) -> None:
        waiting = [value]
        while waiting:
            op = (last := waiting[-1]).defining_op
            if op is None or not is_cloned(op):
                passed[last] = None
            elif missing := [v for v in op.operands if v not in passed and v not in cloned]:
                waiting += reversed(missing)
                continue
            else:
                cloned[last] = None
            waiting.pop()

    for value in values:
        use(value)
    all_ops = [inner for op in ops for inner in op.walk()]
    inside = {block for op in all_ops for region in op.regions for block in region.blocks}
    own = {*given, *(result for op in ops for result in op.results)}
    for op in all_ops:
        for value in op.operands:
            if value.parent_block not in inside and value not in own:
                use(value)
    return list(passed), list(cloned)


_INDEX_ARITHMETIC = (arith.AddI, arith.SubI, arith.MulI)


def is_index_arithmetic(op: Operation) -> bool:
    """Whether an operation is a sum or product of indices, as in addresses.

    If it is cloned into a function, it is seen there which addresses differ by a constant.
    """
    return isinstance(op, _INDEX_ARITHMETIC) and isinstance(op.results[0].type, IndexType)
