"""Lowers Strassen's transforms: one `linalg.generic` reads the operand once and writes all sums."""

from __future__ import annotations

from collections.abc import Sequence

from ...dialects import arith, nn
from ...dialects.nn.strassen import PRODUCTS, terms
from ...ir.affine import AffineConstant, AffineDim, AffineExpr, AffineMap
from ...ir.core import Value
from .emitter import Emitter
from .table import lowers


def _parts(op: nn.StrassenOp, rank: int) -> list[AffineMap]:
    """The maps to the four quarters of a matrix in a tensor of this rank."""

    def part(a: int, b: int) -> AffineMap:
        at: list[AffineExpr] = [AffineDim(d) for d in range(rank)]
        at[op.rows], at[op.columns] = at[op.rows] * 2 + a, at[op.columns] * 2 + b
        return AffineMap(rank, 0, tuple(at))

    return [part(a, b) for a in range(2) for b in range(2)]


def _products(op: nn.StrassenOp, rank: int) -> list[AffineMap]:
    """The map to each of the seven sums or products in the tensor that holds them."""
    dims = [AffineDim(d) for d in range(rank)]
    before, after = dims[: op.products], dims[op.products :]
    return [AffineMap(rank, 0, (*before, AffineConstant(p), *after)) for p in range(PRODUCTS)]


@lowers(nn.StrassenInput, nn.StrassenWeight)
def lower_strassen_split(e: Emitter, op: nn.StrassenInput | nn.StrassenWeight) -> None:
    """out[.., p, .., m, .., k, ..] = the p-th of the seven sums of the four quarters of x"""
    rank = op.x.type.rank
    _transform(e, op, _parts(op, rank), _products(op, rank))


@lowers(nn.StrassenOutput)
def lower_strassen_output(e: Emitter, op: nn.StrassenOutput) -> None:
    """quarter (a, b) of out = a sum of some of the seven products x[.., p, .., m, .., n, ..]"""
    rank = op.out.type.rank
    _transform(e, op, _products(op, rank), _parts(op, rank))


def _transform(
    e: Emitter, op: nn.StrassenOp, reads: list[AffineMap], writes: list[AffineMap]
) -> None:
    def body(e: Emitter, *elements: Value) -> list[Value]:
        return [_sum(e, factors, elements[: len(reads)]) for factors in op.matrix]

    source, target = e.buffer(op.x), e.destination(op.out)
    rank = reads[0].dim_count
    e.generic(
        [source] * len(reads),
        [target] * len(writes),
        [*reads, *writes],
        ["parallel"] * rank,
        body,
    )


def _sum(e: Emitter, factors: Sequence[int], values: Sequence[Value]) -> Value:
    added, subtracted = terms(factors)
    total = values[added[0]]
    for i in added[1:]:
        total = e.insert(arith.AddF(total, values[i])).result
    for i in subtracted:
        total = e.insert(arith.SubF(total, values[i])).result
    return total
