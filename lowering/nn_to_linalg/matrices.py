"""Determinants by Gaussian elimination with the largest element of a column as its pivot."""

from __future__ import annotations

from ...dialects import arith, nn
from ...ir.core import Value
from ...ir.types import index
from .emitter import Emitter
from .extents import Size
from .scalars import apply, compute_type, narrow, widen
from .table import lowers


@lowers(nn.Determinant)
def lower_determinant(e: Emitter, op: nn.Determinant) -> None:
    """Multiply the pivots; each exchange of rows changes the sign."""
    source = e.buffer(op.x)
    *batch, rows, columns = e.sizes(source)
    e.require_equal(rows, columns, "the matrices are not square")
    element = op.x.type.element_type
    kind = compute_type(element)
    out = e.destination(op.out, batch)
    matrix = e.alloc([rows, rows], kind)
    with e.loops(batch) as where:
        with e.loops([rows, rows]) as at:
            e.store(widen(e, e.load(source, [*where, *at]), element), matrix, at)

        def eliminate(k: Value, total: Value) -> list[Value]:
            pivot = _exchange(e, matrix, rows, k)
            stays = e.compare("eq", pivot, k)
            value = e.load(matrix, [k, k])
            signed = e.insert(arith.Select(stays, value, apply(e, "neg", kind, [value]))).result
            is_regular = e.insert(arith.CmpF("une", value, e.constant(0, kind))).result
            with e.when(is_regular), e.loop(rows, lower=e.add(k, 1)) as i:
                factor = apply(e, "div", kind, [e.load(matrix, [i, k]), value])
                with e.loop(rows, lower=e.add(k, 1)) as j:
                    taken = apply(e, "mul", kind, [factor, e.load(matrix, [k, j])])
                    left = apply(e, "sub", kind, [e.load(matrix, [i, j]), taken])
                    e.store(left, matrix, [i, j])
            return [apply(e, "mul", kind, [total, signed])]

        (total,) = e.fold_loop(rows, [e.constant(1, kind)], eliminate)
        e.store(narrow(e, total, element), out, where)


def _exchange(e: Emitter, matrix: Value, rows: Size, k: Value) -> Value:
    """Exchange row k with the row >= k of largest magnitude in column k; returns its index."""
    kind = matrix.type.element_type

    def larger(i: Value, best: Value, size: Value) -> list[Value]:
        candidate = apply(e, "abs", kind, [e.load(matrix, [i, k])])
        wins = e.insert(arith.CmpF("ogt", candidate, size)).result
        return [
            e.insert(arith.Select(wins, i, best)).result,
            e.insert(arith.Select(wins, candidate, size)).result,
        ]

    first = apply(e, "abs", kind, [e.load(matrix, [k, k])])
    pivot, _ = e.fold_loop(rows, [k, first], larger, lower=e.add(k, 1))
    assert pivot.type is index
    with e.loop(rows, lower=k) as j:
        upper, lower = e.load(matrix, [k, j]), e.load(matrix, [pivot, j])
        e.store(lower, matrix, [k, j])
        e.store(upper, matrix, [pivot, j])
    return pivot
