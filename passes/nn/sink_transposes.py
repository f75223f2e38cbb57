"""Networks whose channels come last are computed with the channels first.

Formats with channels last give each convolution and pool a transposition before and after it. For
the ops between two of these it does not matter where the channels are, so the first transposition
moves down to the second, and both are removed.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

from ...dialects import nn
from ...dialects.nn.pooling import PoolingOp
from ...dialects.nn.reductions import ReductionOp
from ...dialects.nn.traits import Broadcasting
from ...dialects.strict_math import is_strict
from ...ir.builder import Builder
from ...ir.core import Operation
from ...ir.passes import Pass, PassContext
from ...ir.types import TensorType
from ...ir.values import Value
from .building import element_of, is_arranged_constant, on_operands, reshape, shape_of

Order = tuple[int, ...]


@dataclass(frozen=True)
class SinkTransposes(
    Pass,
    name="sink-transposes",
    anchor="func.func",
    statistics={"transposes-sunk": "Number of ops that transpositions were moved below"},
):
    """Move transpositions of channels to the end below ops that treat all dimensions equally.

        %0 = nn.conv ..                                  %0 = nn.conv ..
        %1 = nn.transpose %0 {0, 2, 3, 1}          ->    %1 = nn.relu %0
        %2 = nn.relu %1                                  %3 = nn.conv %1
        %3 = nn.conv (nn.transpose %2 {0, 3, 1, 2})

    That is done for results of ops whose channels are the second dimension, and for padding before
    such ops. Two transpositions that meet and undo each other are removed. Sums over height and
    width are added in another order.

    The rows of a product are also multiplied in the order in which they lie in memory, if their
    innermost extent is unknown and may be 1: a product of rows in another order is fast only if
    that extent is large.
    """

    numerics = "rounding"

    def run(self, op: Operation, context: PassContext) -> None:
        """Walk the ops once, in order, so that a transposition sinks all the way."""
        for block in op.regions[0].blocks:
            images: set[Value] = set()
            rows: set[Value] = set()
            for inner in list(block):
                if isinstance(inner, nn.Transpose):
                    _meet(inner)
                elif _has_channels_second(inner):
                    images.update(inner.results)
                elif (order := _order_before(inner, images)) is not None:
                    context.statistic("transposes-sunk", _sink(inner, order, images))
                elif isinstance(inner, nn.Matmul):
                    context.statistic("transposes-sunk", _sink_rows(inner, rows))
                elif (order := _order_of_rows(inner, rows)) is not None:
                    context.statistic("transposes-sunk", _sink(inner, order, rows))


def _has_channels_second(op: Operation) -> bool:
    return isinstance(op, nn.Conv | nn.ConvTranspose | nn.BatchNorm | PoolingOp)


def _order_before(op: Operation, images: set[Value]) -> Order | None:
    """The permutation by which an operand's channels were moved to the end; None if
    they were not.
    """
    for value in op.operands:
        moved = value.defined_by(nn.Transpose)
        if moved is not None and moved.x in images:
            rank = len(moved.permutation)
            last = (0, *range(2, rank), 1)
            if rank > 2 and tuple(moved.permutation) == last:
                return last
    return None


def _order_of_rows(op: Operation, rows: set[Value]) -> Order | None:
    """The permutation of an operand that transposes a product's rows; None if there is none."""
    for value in op.operands:
        moved = value.defined_by(nn.Transpose)
        if moved is not None and moved.x in rows:
            return tuple(moved.permutation)
    return None


def _sink_rows(op: nn.Matmul, rows: set[Value]) -> int:
    """Multiply the rows before their transposition by the matrix. Returns 1 if done, else 0."""
    moved, shape = op.lhs.defined_by(nn.Transpose), shape_of(op.lhs)
    if moved is None or len(shape) < 3 or len(shape_of(op.rhs)) != 2 or shape[-2] is not None:
        return 0
    order = tuple(moved.permutation)
    if order[-1] != len(order) - 1:
        return 0
    b = Builder.before_op(op)
    out = TensorType((*shape_of(moved.x)[:-1], shape_of(op.out)[-1]), element_of(op.out))
    return _transposed(b, op, b.insert(nn.Matmul(moved.x, op.rhs, out=out)), order, rows)


def _meet(op: nn.Transpose) -> None:
    """Cancel a transposition with the one before it, or move it before a padding."""
    pad, order = op.x.defined_by(nn.Pad), tuple(op.permutation)
    rank = len(order)
    if pad is not None and op.x.has_one_use and order == (0, rank - 1, *range(1, rank - 1)):
        b = Builder.before_op(op)
        x = b.insert(nn.Transpose(pad.x, order)).out
        moved = b.insert(_padded(pad, [x], order, op.out.type))
        op.replace_with(moved.results[0])
        pad.erase()
        return
    before = op.x.defined_by(nn.Transpose)
    if before is not None and _inverse(before.permutation) == tuple(op.permutation):
        op.replace_with(before.x)
        if not before.out.has_uses:
            before.erase()


def _inverse(order: Sequence[int]) -> Order:
    return tuple(sorted(range(len(order)), key=order.__getitem__))


def _sink(op: Operation, order: Order, images: set[Value]) -> int:
    """Compute the op before the transposition, and transpose its result. Returns 1
    if done, else 0.
    """
    if len(op.results) != 1 or not isinstance(op.results[0].type, TensorType):
        return 0
    result = op.results[0]
    if isinstance(op, ReductionOp):
        return _sink_reduction(op, order, images)
    if len(shape_of(result)) != len(order):
        return 0
    b = Builder.before_op(op)
    if op.has_trait(Broadcasting):
        if not all(_fits(v, order, shape_of(result)) for v in op.operands):
            return 0
        operands = [_before(b, v, order) for v in op.operands]
        rebuild: Any = _same
    elif rebuild := _REBUILT.get(type(op)):
        moving = op.inputs if isinstance(op, nn.Concat) else op.operands[:1]
        if not all(_is_moved(v, order) or is_arranged_constant(v) for v in moving):
            return 0
        operands = [_before(b, v, order) for v in moving]
    else:
        return 0
    shape = shape_of(result)
    out = TensorType(tuple(shape[i] for i in _inverse(order)), element_of(result))
    inner = b.insert(rebuild(op, operands, _inverse(order), out))
    return _transposed(b, op, inner, order, images)


def _sink_reduction(op: ReductionOp, order: Order, images: set[Value]) -> int:
    if len(op.operands) != 1 or not _is_moved(op.x, order) or is_strict(op):
        return 0
    source = op.x.defined_by(nn.Transpose).x  # type: ignore[union-attr]
    axes = tuple(sorted(order[axis] for axis in op.axes))
    kept = [d for d in order if op.keep_dims or d not in axes]
    sizes = shape_of(source)
    extents = {d: 1 if d in axes else sizes[d] for d in kept}
    out = TensorType(tuple(extents[d] for d in sorted(kept)), element_of(op.out))
    b = Builder.before_op(op)
    inner = b.insert(type(op)(source, axes=axes, keep_dims=op.keep_dims, out=out))
    inner.loc = op.loc
    back = tuple(sorted(kept).index(d) for d in kept)
    return _transposed(b, op, inner, back, images)


def _transposed(
    b: Builder, op: Operation, inner: Operation, order: Order, images: set[Value]
) -> int:
    """Replace the op by `inner`, with its result transposed."""
    inner.loc = op.loc
    found = inner.results[0]
    images.add(found)
    if order != tuple(sorted(order)):
        found = b.insert(nn.Transpose(found, order, out=op.results[0].type)).out
    op.replace_with(found)
    return 1


def _is_moved(value: Value, order: Order) -> bool:
    moved = value.defined_by(nn.Transpose)
    return moved is not None and tuple(moved.permutation) == order


def _fits(value: Value, order: Order, out: Sequence[Any]) -> bool:
    """Whether an operand is there before the transposition, or can easily be transposed back."""
    own = shape_of(value)
    if len(own) == len(order) and _is_moved(value, order):
        return True
    if is_arranged_constant(value):
        return True
    is_small = tuple(own) != tuple(out) and sum(d != 1 for d in own) <= 2
    return is_small and list(own).count(None) <= 1


def _before(b: Builder, value: Value, order: Order) -> Value:
    """An operand with the dimensions in the order before the transposition."""
    own = shape_of(value)
    if all(d == 1 for d in own):
        return value if len(own) < len(order) else reshape(b, value, (1,) * len(order))
    if len(own) == len(order) and _is_moved(value, order):
        return value.defined_by(nn.Transpose).x  # type: ignore[union-attr]
    wide = reshape(b, value, (1,) * (len(order) - len(own)) + tuple(own))
    return b.insert(nn.Transpose(wide, _inverse(order))).out


def _same(op: Operation, operands: Sequence[Value], order: Order, out: TensorType) -> Operation:
    """The op on other operands."""
    return on_operands(op, operands, out)


def _padded(op: nn.Pad, operands: Sequence[Value], order: Order, out: TensorType) -> Operation:
    rank = len(order)
    pads = [op.pads[half + i] for half in (0, rank) for i in order]
    return nn.Pad(operands[0], op.value, pads=pads, mode=op.mode, out=out)


def _sliced(op: nn.Slice, operands: Sequence[Value], order: Order, out: TensorType) -> Operation:
    steps = op.steps or (1,) * len(order)
    return nn.Slice(operands[0], [op.starts[i] for i in order], [steps[i] for i in order], out=out)


def _joined(op: nn.Concat, operands: Sequence[Value], order: Order, out: TensorType) -> Operation:
    return nn.Concat(operands, order.index(op.axis), out=out)


_REBUILT: dict[type[Operation], Callable[..., Operation]] = {
    nn.Pad: _padded,
    nn.Slice: _sliced,
    nn.Concat: _joined,
}
"""For op classes with attributes for each dimension: the function that makes the op with these
permuted.
"""
