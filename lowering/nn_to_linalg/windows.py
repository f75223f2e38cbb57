"""Convolutions and poolings: padding as a stage of its own, then one reduction."""

from __future__ import annotations

import itertools
from collections.abc import Sequence
from typing import Any

from ...dialects import arith, math, memref, nn
from ...dialects.nn.windows import Window, runs
from ...ir.affine import AffineDim, AffineMap
from ...ir.attributes import DenseElements
from ...ir.comprehension import Comprehension, bind
from ...ir.core import Value
from ...ir.types import FloatType, IntegerType, TensorType, Type, f32, i64
from .comprehensions import dimension_sizes, result_sizes, write
from .emitter import Emitter, Size, storage_type
from .padding import padded
from .scalars import compute_type, convert, narrow
from .table import lowers


def lowest(type: Type) -> float:
    """The value that any maximum beats."""
    if isinstance(type, FloatType):
        return float("-inf")
    assert isinstance(type, IntegerType)
    if type.signedness == "u" or type.width == 1:
        return 0
    return -(1 << (type.width - 1))


def type_of(buffer: Value, element: Type) -> TensorType:
    """A buffer's shape with an nn element type."""
    return TensorType(buffer.type.shape, element)  # type: ignore[attr-defined]


# -- convolutions ------------------------------------------------------------------------------


@lowers(nn.Conv)
def lower_conv(e: Emitter, op: nn.Conv) -> None:
    """Padding, the sums of products, the bias."""
    types: Any = op.operand_types
    element = types[0].element_type
    window = op.window(types, op)
    x = padded(e, e.buffer(op.x), window.begin, window.end, 0, element)
    weight = e.buffer(op.weight)
    form = op.comprehension()
    assert form is not None
    sizes = result_sizes(e, form, [x, weight])
    out = e.destination(op.out, sizes)
    total = out if op.bias is None else e.alloc(sizes, element)
    channels = types[1].shape[1]
    if op.groups == 1 or channels == types[1].shape[0] // op.groups == 1:
        write(e, form, [x, weight], total, element)
    else:
        _grouped(e, op.groups, window, x, weight, total, element)
    if op.bias is not None:
        add_bias(e, total, e.operand(op.bias), out, element)


@lowers(nn.BlockedPaddedConv)
def lower_blocked_padded_conv(e: Emitter, op: nn.BlockedPaddedConv) -> None:
    """For each part of the results that the same taps contribute to, a convolution of its own."""
    types: Any = op.operand_types
    x, weight = e.buffer(op.x), e.buffer(op.weight)
    out = e.destination(op.out)
    spatial = len(op.pads) // 2
    ones = (1,) * spatial
    strides, dilations = op.strides or ones, op.dilations or ones
    N, Co, *extents, B = types[0].shape
    Mo, _, *kernel, _, A = types[1].shape
    wanted = op.out.type.shape[2:-1]
    along = list(map(runs, extents, kernel, strides, dilations, op.pads, wanted))
    for part in itertools.product(*along):
        counts, taps = [r.count for r in part], [r.taps for r in part]
        target = e.subview(out, [0, 0, *(r.start for r in part), 0], [N, Mo, *counts, A])
        if 0 in taps:
            e.fill(e.constant(0, storage_type(types[0].element_type)), target)
            continue
        spans = zip(counts, taps, strides, dilations, strict=True)
        reach = [(n - 1) * s + (k - 1) * d + 1 for n, k, s, d in spans]
        source = e.subview(x, [0, 0, *(r.first for r in part), 0], [N, Co, *reach, B])
        used = e.subview(weight, [0, 0, *(r.tap for r in part), 0, 0], [Mo, Co, *taps, B, A])
        element = types[0].element_type
        form = nn.BlockedConv.comprehend([type_of(source, element), type_of(used, element)], op)
        write(e, form, [source, used], target, element)


def add_bias(e: Emitter, total: Value, bias: Value, out: Value, element: Type) -> None:
    """out[n, m, ..] = total[n, m, ..] + bias[m]"""
    rank = out.type.rank  # type: ignore[attr-defined]
    same = AffineMap.identity(rank)

    def add(e: Emitter, x: Value, *rest: Value) -> Value:
        b = rest[0] if len(rest) == 2 else bias
        wide = compute_type(element)
        x, b = (convert(e, v, element, wide) for v in (x, b))
        op = arith.AddF if isinstance(element, FloatType) else arith.AddI
        return narrow(e, e.insert(op(x, b)).result, element)

    if not hasattr(bias.type, "shape"):
        e.elementwise([total], out, add)
        return
    maps = [same, AffineMap(rank, 0, (AffineDim(1),)), same]
    e.generic([total, bias], [out], maps, ["parallel"] * rank, add)


def _grouped(
    e: Emitter,
    groups: int,
    window: Window,
    x: Value,
    weight: Value,
    out: Value,
    element: Type,
    flipped: bool = False,
) -> None:
    """A convolution in groups of channels: the same with a dimension more in all operands."""
    x = split_dimension(e, x, 1, groups)
    weight = split_dimension(e, weight, 0, groups)
    kernel = ", ".join(f"k{i}" for i in range(len(window.kernel)))
    spatial = kernel if not flipped else _flipped(window)
    channels = f"c, m, {spatial}" if flipped else f"m, c, {kernel}"
    taps = ", ".join(
        f"p{i}*{s} + k{i}*{d}"
        for i, (s, d) in enumerate(
            zip(
                [1] * len(window.strides) if flipped else window.strides,
                window.dilations,
                strict=True,
            )
        )
    )
    points = ", ".join(f"p{i}" for i in range(len(window.kernel)))
    text = f"out[n, g, m, {points}] += x[n, g, c, {taps}] * weight[g, {channels}]"
    extents = {f"k{i}": k for i, k in enumerate(window.kernel)}
    form = bind(text, ["x", "weight"], [type_of(x, element), type_of(weight, element)], {}, extents)
    write(e, form, [x, weight], split_dimension(e, out, 1, groups), element)


def _flipped(window: Window) -> str:
    return ", ".join(f"{k - 1} + k{i}*(-1)" for i, k in enumerate(window.kernel))  # type: ignore[operator]


def split_dimension(
    e: Emitter, buffer: Value, axis: int, parts: Size, rest: Size | None = None
) -> Value:
    """A dimension seen as (parts, the rest)."""
    sizes = e.sizes(buffer)
    groups = [[i] if i < axis else [i + 1] for i in range(len(sizes))]
    groups[axis] = [axis, axis + 1]
    rest = e.floordiv(sizes[axis], parts) if rest is None else rest
    shape = [*sizes[:axis], parts, rest, *sizes[axis + 1 :]]
    return e.insert(memref.ExpandShape.of(buffer, groups, shape)).result


@lowers(nn.ConvTranspose)
def lower_conv_transpose(e: Emitter, op: nn.ConvTranspose) -> None:
    """A convolution with the flipped kernel, of the operand with zeros between its elements."""
    types: Any = op.operand_types
    element = types[0].element_type
    window = op.window(types, op)
    x, weight = e.buffer(op.x), e.buffer(op.weight)
    sizes, M = e.sizes(x), e.size(weight, 1)
    spatial: list[Size] = []
    for i, extra in enumerate(op.extra(op, len(window.kernel))):
        reach = window.reach(i) + extra - window.begin[i] - window.end[i]
        spatial.append(e.add(e.mul(e.sub(sizes[2 + i], 1), window.strides[i]), reach))
    shape = [sizes[0], e.mul(M, op.groups), *spatial]
    out = e.destination(op.out, shape)
    spread = _spread(e, x, window, spatial, element)
    total = out if op.bias is None else e.alloc(shape, element)
    _grouped(e, op.groups, window, spread, weight, total, element, flipped=True)
    if op.bias is not None:
        add_bias(e, total, e.operand(op.bias), out, element)


def _spread(e: Emitter, x: Value, window: Window, spatial: Sequence[Size], element: Type) -> Value:
    """The operand with stride - 1 zeros between elements, padded to give `spatial` results."""
    sizes = e.sizes(x)
    full = [e.add(p, window.reach(i) - 1) for i, p in enumerate(spatial)]
    out = e.alloc([*sizes[:2], *full], element)
    e.fill(e.constant(0, storage_type(element)), out)
    skipped: list[Size] = [0, 0]
    counts: list[Size] = list(sizes[:2])
    starts: list[Size] = [0, 0]
    for i, stride in enumerate(window.strides):
        start = window.reach(i) - 1 - window.begin[i]
        skip = -(start // stride) if start < 0 else 0
        first = start + skip * stride
        # As many as lie before the end.
        room = e.add(e.floordiv(e.sub(full[i], first + 1), stride), 1)
        skipped.append(skip)
        starts.append(first)
        counts.append(e.min(e.sub(sizes[2 + i], skip), room))
    part = e.subview(x, skipped, counts)
    e.copy(part, e.subview(out, starts, counts, [1, 1, *window.strides]))
    return out


# -- poolings ------------------------------------------------------------------------------------


def _pool(
    e: Emitter, op: nn.PoolingOp, fill: float, combine: str, value: str | None = None
) -> tuple[Value, Comprehension]:
    """The padded operand, and the reduction of its windows."""
    types: Any = op.operand_types
    window = op.window(types, op)
    x = padded(e, e.buffer(op.x), window.begin, window.end, fill, types[0].element_type)
    form = op.pool(types, op, combine) if value is None else op.pool(types, op, combine, value)
    return x, form


@lowers(nn.MaxPool)
def lower_max_pool(e: Emitter, op: nn.MaxPool) -> None:
    """The largest of each window of the operand, padded with what never wins."""
    element = op.out.type.element_type
    x, form = _pool(e, op, lowest(element), "max=")
    out = e.destination(op.out, result_sizes(e, form, [x]))
    write(e, form, [x], out, element, over_nan=True)


@lowers(nn.SumPool)
def lower_sum_pool(e: Emitter, op: nn.SumPool) -> None:
    """The sum of each window."""
    x, form = _pool(e, op, 0, "+=")
    out = e.destination(op.out, result_sizes(e, form, [x]))
    write(e, form, [x], out, op.out.type.element_type)


@lowers(nn.AvgPool)
def lower_avg_pool(e: Emitter, op: nn.AvgPool) -> None:
    """The sum of each window divided by how many elements count."""
    element = op.out.type.element_type
    wide = compute_type(element)
    x, form = _pool(e, op, 0, "+=")
    sizes = result_sizes(e, form, [x])
    out = e.destination(op.out, sizes)
    total = e.alloc(sizes, wide)
    write(e, form, [x], total, wide)
    counts = _counts(e, op)
    rank = len(sizes)
    same = AffineMap.identity(rank)

    def divide(e: Emitter, x: Value, *rest: Value) -> Value:
        if len(rest) == 2:
            count = rest[0]
        elif isinstance(counts, Value):
            count = counts
        else:
            count = _count_here(e, op, e.buffer(op.x))
        count = convert(e, count, count.type, wide)
        by = arith.DivF if isinstance(wide, FloatType) else arith.DivSI
        return narrow(e, e.insert(by(x, count)).result, element)

    if isinstance(counts, Value) and hasattr(counts.type, "shape"):
        maps = [same, AffineMap(rank, 0, same.results[2:]), same]
        e.generic([total, counts], [out], maps, ["parallel"] * rank, divide)
    else:
        e.elementwise([total], out, divide)


def _counts(e: Emitter, op: nn.AvgPool) -> Value | None:
    """How many elements of each window count: a scalar, a table, or None if not yet known."""
    spatial = op.x.type.shape[2:]
    given = Window.of(op, op.x.type, kernel=op.kernel)
    whole = op.window(op.operand_types, op)
    elements = 1
    for k in op.kernel:
        elements *= k
    if not given.has_padding and whole == given:
        return e.constant(elements, f32)
    if op.count_include_pad and whole == given:
        return e.constant(elements, f32)
    if None in spatial:
        return None
    import numpy as np

    table = np.ascontiguousarray(op.counts(spatial)[0, 0], np.float32)
    return e.global_(DenseElements.from_numpy(table))


def _count_here(e: Emitter, op: nn.AvgPool, x: Value) -> Value:
    """The number of elements that count, from the position of the window in the region."""
    window = Window.of(op, op.x.type, kernel=op.kernel)
    total: Size = 1
    for i, kernel in enumerate(op.kernel):
        extent = e.size(x, 2 + i)
        begin = window.begin[i]
        if op.count_include_pad:
            extent, begin = e.add(extent, begin + window.end[i]), 0
        start = e.sub(e.mul(e.position(2 + i), window.strides[i]), begin)
        d = window.dilations[i]
        low = e.ceildiv(e.max(e.sub(0, start), 0), d)
        high = e.min(e.ceildiv(e.sub(extent, start), d), kernel)
        total = e.mul(total, e.sub(high, low))
    count = e.from_index(total, i64)
    return e.insert(arith.SIToFP(count, out=f32)).result


@lowers(nn.LpPool)
def lower_lp_pool(e: Emitter, op: nn.LpPool) -> None:
    """The p-th root of the sum of p-th powers."""
    element, p = op.out.type.element_type, op.p
    wide = compute_type(element)
    at = "x[n, c, p..*strides + k..*dilations]"
    value = {1: f"abs({at})", 2: f"{at} * {at}"}.get(p, f"pow(abs({at}), {float(p)})")
    x, form = _pool(e, op, 0, "+=", value)
    sizes = result_sizes(e, form, [x])
    out = e.destination(op.out, sizes)
    total = e.alloc(sizes, wide) if p != 1 else out
    write(e, form, [x], total, wide if p != 1 else element)
    if p == 1:
        return

    def root(e: Emitter, x: Value, _: Value) -> Value:
        if p == 2:
            value = e.insert(math.Sqrt(x)).result
        else:
            value = e.insert(math.PowF(x, e.constant(1 / p, x.type))).result
        return narrow(e, value, element)

    e.elementwise([total], out, root)


@lowers(nn.MaxPoolWithIndices)
def lower_max_pool_with_indices(e: Emitter, op: nn.MaxPoolWithIndices) -> None:
    """The largest of each window and its place: one reduction with two results.

    The place is -1 until an element inside the operand was seen; padding never is.
    """
    element = op.out.type.element_type
    window = op.window(op.operand_types, op)
    source = e.buffer(op.x)
    x, form = _pool(e, op, lowest(element), "max=")
    sizes = result_sizes(e, form, [x])
    out, places = e.destination(op.out, sizes), e.destination(op.indices, sizes)
    e.fill(e.constant(lowest(element), storage_type(element)), out)
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
    if isinstance(element, FloatType):
        return e.insert(arith.CmpF("ogt", a, b)).result
    unsigned = element.signedness == "u" or element.width == 1  # type: ignore[attr-defined]
    return e.insert(arith.CmpI("ugt" if unsigned else "sgt", a, b)).result
