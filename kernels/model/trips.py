"""How often operations run, from the constant bounds of their loops."""

from __future__ import annotations

from collections.abc import Callable

from ...dialects import arith, scf
from ...ir.core import Operation, Value
from ...ir.rewriting import constant_int
from .extents import UNKNOWN_EXTENT


def trips(
    op: Operation, inside: Operation | None, number: Callable[[Value], int | None] | None = None
) -> int:
    """How often an operation runs per execution of `inside`, an operation around it.

    A loop without iterations counts as one iteration. If given, `number` returns the value of
    bounds that are not constant; a loop that has no iterations by such bounds makes the count 0.
    """
    count, around = 1, op.parent_op
    while around is not None and around is not inside:
        if isinstance(around, scf.For):
            known, least = _bounds(around), 1
            if None in known and number is not None:
                known, least = [number(v) for v in (around.lower, around.upper, around.step)], 0
            lower, upper, step = known
            if lower is None or upper is None or not step:
                count *= UNKNOWN_EXTENT
            else:
                count *= max(least, -(-(upper - lower) // step))
        around = around.parent_op
    return count


def _bounds(loop: scf.For) -> list[int | None]:
    return [constant_int(loop.lower), _most(loop.upper), _most(loop.step)]


def _most(value: Value) -> int | None:
    """An estimate of an index's maximum, which groups at the edges do not reach; None if unknown.

    Subtrahends are taken to be indices, and so not negative.
    """
    op = value.defining_op
    match op:
        case arith.MinSI() | arith.MinUI():
            return min((n for n in map(_most, op.operands) if n is not None), default=None)
        case arith.MaxSI() | arith.AddI() | arith.MulI() | arith.DivUI():
            found = [n for n in map(_most, op.operands) if n is not None]
            if len(found) < 2:
                return None
            return {arith.MaxSI: max, arith.AddI: int.__add__, arith.MulI: int.__mul__}.get(
                type(op), int.__floordiv__
            )(*found)
        case arith.SubI():
            return _most(op.lhs)
    return constant_int(value)
