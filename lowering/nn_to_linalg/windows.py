"""Convolutions and poolings: padding first, then one reduction."""

from __future__ import annotations

import itertools
from collections.abc import Sequence
from typing import Any

from ...dialects import arith, memref, nn
from ...dialects.nn.windows import runs
from ...ir.affine import AffineDim, AffineMap
from ...ir.conversions import is_small
from ...ir.core import Value
from ...ir.types import FloatType, IntegerType, TensorType, Type, i64
from .comprehensions import dimension_sizes, lower, result_sizes, write
from .emitter import Emitter
from .extents import Size
from .padding import padded
from .scalars import widen
from .table import lowers


def lowest(type: Type) -> float:
    """The least value of a type, the neutral element of max."""
    if isinstance(type, FloatType):
        return float("-inf")
    assert isinstance(type, IntegerType)
    if type.signedness == "u" or type.width == 1:
        return 0
    return -(1 << (type.width - 1))


def type_of(buffer: Value, element: Type) -> TensorType:
    """The tensor type with a buffer's shape and this element type of nn."""
    return TensorType(buffer.type.shape, element)


# -- convolutions ------------------------------------------------------------------------------


@lowers(nn.Conv)
def lower_conv(e: Emitter, op: nn.Conv) -> None:
    """Emit the sums of products; with groups, the operands get a dimension for them.

    `decompose` has made padding and bias ops of their own.
    """
    weight_type = op.weight.type
    if op.groups == 1 or weight_type.shape[:2] == (op.groups, 1):
        lower(e, op)
        return
    element, window = op.x.type.element_type, op.window(op.operand_types, op)
    whole = e.buffer(op.weight)
    x, weight = (
        split_dimension(e, e.buffer(op.x), 1, op.groups),
        split_dimension(e, whole, 0, op.groups),
    )
    types = [type_of(x, element), type_of(weight, element)]
    scope = {"strides": window.strides, "dilations": window.dilations}
    form = op.bind(op.groups_apart, types, scope)
    N, _, _, *spatial = result_sizes(e, form, [x, weight])
    out = e.destination(op.out, [N, e.sizes(whole)[0], *spatial])
    write(e, form, [x, weight], split_dimension(e, out, 1, op.groups), element)


@lowers(nn.BlockedPaddedConv)
def lower_blocked_padded_conv(e: Emitter, op: nn.BlockedPaddedConv) -> None:
    """Emit a convolution for each part of the result to which the same kernel
    elements contribute.
    """
    types: Any = op.operand_types
    x, weight = e.buffer(op.x), e.buffer(op.weight)
    out = e.destination(op.out)
    spatial = len(op.pads) // 2
    ones = (1,) * spatial
    strides, dilations = op.strides or ones, op.dilations or ones
    N, Co, *extents, B = types[0].shape
    Mo, *kernel, _, _, A = types[1].shape
    wanted = op.out.type.shape[2:-1]
    along = list(map(runs, extents, kernel, strides, dilations, op.pads, wanted))
    for part in itertools.product(*along):
        counts, taps = [r.count for r in part], [r.taps for r in part]
        target = e.subview(out, [0, 0, *(r.start for r in part), 0], [N, Mo, *counts, A])
        if 0 in taps:
            e.fill(e.element(0, types[0].element_type), target)
            continue
        spans = zip(counts, taps, strides, dilations, strict=True)
        reach = [(n - 1) * s + (k - 1) * d + 1 for n, k, s, d in spans]
        source = e.subview(x, [0, 0, *(r.first for r in part), 0], [N, Co, *reach, B])
        used = e.subview(weight, [0, *(r.tap for r in part), 0, 0, 0], [Mo, *taps, Co, B, A])
        element = types[0].element_type
        form = op.part([type_of(source, element), type_of(used, element)], op)
        write(e, form, [source, used], target, element)


def split_dimension(e: Emitter, buffer: Value, axis: int, parts: int) -> Value:
    """A view with a dimension split into two: `parts`, and what is left."""
    sizes = e.sizes(buffer)
    groups = [[i] if i < axis else [i + 1] for i in range(len(sizes))]
    groups[axis] = [axis, axis + 1]
    shape = [*sizes[:axis], parts, e.floordiv(sizes[axis], parts), *sizes[axis + 1 :]]
    return e.insert(memref.ExpandShape.of(buffer, groups, shape)).result


# -- poolings ------------------------------------------------------------------------------------


@lowers(nn.MaxPoolWithIndices)
def lower_max_pool_with_indices(e: Emitter, op: nn.MaxPoolWithIndices) -> None:
    """Find the largest element of each window and its index, in one reduction with two results.

    The index is -1 until an element inside the operand was met; padding is never chosen.
    """
    element = op.out.type.element_type
    window = op.window(op.operand_types, op)
    source = e.buffer(op.x)
    x = padded(e, source, window.begin, window.end, lowest(element), element)
    form = op.pool(op.operand_types, op, "max=")
    sizes = result_sizes(e, form, [x])
    out, places = e.destination(op.out, sizes), e.destination(op.indices, sizes)
    e.fill(e.element(lowest(element), element), out)
    e.fill(e.constant(-1, i64), places)
    extents = e.sizes(source)
    rank, spatial = len(sizes), len(op.kernel)
    dims = dimension_sizes(e, form, [x])
    kernel = e.window([int(k) for k in dims[rank:]])  # type: ignore[arg-type]
    count = len(form.dims)
    taps = AffineMap(count, 0, tuple(AffineDim(d) for d in range(rank, count)))

    def better(e: Emitter, value: Value, _: Value, best: Value, place: Value) -> Sequence[Value]:
        at: list[Size] = [e.position(0), e.position(1)]
        inside = None
        for i in range(spatial):
            step = e.mul(e.position(rank + i), window.dilations[i])
            coordinate = e.add(e.mul(e.position(2 + i), window.strides[i]), step)
            coordinate = e.sub(coordinate, window.begin[i])
            at.append(coordinate)
            # Unsigned: what lies before the start is larger than any extent.
            fits = e.compare("ult", coordinate, extents[2 + i])
            inside = fits if inside is None else e.insert(arith.AndI(inside, fits)).result
        flat: Size = 0
        for coordinate, extent in zip(at, extents, strict=True):
            flat = e.add(e.mul(flat, extent), coordinate)
        larger = _greater(e, value, best, element)
        if op.keeps_nan and isinstance(element, FloatType):
            number = widen(e, value, element) if is_small(element) else value
            missing = e.insert(arith.CmpF("uno", number, number)).result
            larger = e.insert(arith.OrI(larger, missing)).result
        first = e.insert(arith.CmpI("slt", place, e.constant(0, i64))).result
        wins = e.insert(arith.OrI(larger, first)).result
        wins = e.insert(arith.AndI(wins, inside)).result
        here = e.insert(arith.IndexCast(e.value(flat), out=i64)).result
        return (
            e.insert(arith.Select(wins, value, best)).result,
            e.insert(arith.Select(wins, here, place)).result,
        )

    e.generic(
        [x, kernel],
        [out, places],
        [form.accesses[0].map, taps, form.out, form.out],
        form.iterators,
        better,
    )


def _greater(e: Emitter, a: Value, b: Value, element: Type) -> Value:
    a, b = (widen(e, v, element) if is_small(element) else v for v in (a, b))
    if isinstance(element, FloatType):
        return e.insert(arith.CmpF("ogt", a, b)).result
    unsigned = element.signedness == "u" or element.width == 1  # type: ignore[attr-defined]
    return e.insert(arith.CmpI("ugt" if unsigned else "sgt", a, b)).result
