"""nn.resize: a weighted sum of a few elements, along one dimension after the other.

Indices and weights of the elements are tables: constants where extents are known, else computed by
the program with the same formulas (`sampling.py`).
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from math import prod
from typing import Any

from ...dialects import arith, math, memref, nn
from ...dialects.nn.resize import Resampling
from ...ir.affine import AffineDim, AffineMap
from ...ir.attributes import DenseElements
from ...ir.core import Value
from ...ir.lazy import np
from ...ir.types import FloatType, IntegerType, Type, f32, f64
from .bounds import inside
from .emitter import Emitter
from .extents import Size
from .sampling import Along, ratio, sampling_tables, scaled_extent
from .scalars import convert, narrow
from .storage import storage_type
from .table import lowers


@dataclass(frozen=True)
class Taps:
    """Tables [taps, results] in memory: which elements are summed along a dimension, and their
    weights.
    """

    axis: int
    count: Size
    places: Value
    weights: Value | None
    """None if each result has one element, of weight 1."""


Table = tuple[int, Any, Any]
"""A dimension, with the indices and the weights of its elements, two arrays [results, taps]."""

_UNROLLED = 4
"""The most elements that are added without a loop."""


@lowers(nn.Resize)
def lower_resize(e: Emitter, op: nn.Resize) -> None:
    """Lower nn.resize to stages, each of which resizes one dimension, or several at once."""
    shape = op.x.type.shape
    moving = [d for d in range(len(shape)) if op.samples(d, shape)]
    if any(shape[d] is None for d in moving):
        _resize_by_scales(e, op, moving)
        return
    source, element = e.buffer(op.x), op.out.type.element_type
    known = tuple(1 if n is None else n for n in shape)
    result = list(op.result_shape(known))
    sizes = e.sizes(source)
    final = [result[d] if d in moving else n for d, n in enumerate(sizes)]
    out = e.destination(op.out, final)
    if not moving:
        e.copy(source, out)
        return
    wide = _wide(op, element)
    outside = np.zeros((), np.bool_)
    tables = []
    for axis in moving:
        positions, weights, beyond = op.taps_along(axis, known[axis])
        tables.append((axis, positions, weights))
        outside = outside | _along(beyond, axis, len(shape))
    current, current_type = source, element
    for number, group in enumerate(groups := _together(tables, known, result)):
        axes = [axis for axis, _, _ in group]
        sizes = [result[d] if d in axes else n for d, n in enumerate(sizes)]
        last = number == len(groups) - 1
        target = out if last and not outside.any() else e.alloc(sizes, wide)
        taps = [_constants(e, op, table, wide) for table in group]
        _stage(e, op, taps, (current, current_type), target, element, wide)
        current, current_type = target, wide
    if current is not out:
        rank = len(shape)
        mask = e.global_(DenseElements.from_numpy(np.ascontiguousarray(outside)))
        used = [AffineDim(d) for d in range(rank)]
        reads = [u if n != 1 else u * 0 for u, n in zip(used, outside.shape, strict=True)]
        _finish(e, op, current, out, [(mask, AffineMap(rank, 0, tuple(reads)))])


def _constants(e: Emitter, op: nn.Resize, table: Table, wide: Type) -> Taps:
    """Tables as constants of the module."""
    axis, positions, weights = table
    places = e.global_(DenseElements.from_numpy(np.ascontiguousarray(positions.T, np.int32)))
    factors = None
    if op.mode != "nearest":
        dtype = np.float64 if wide is f64 else np.float32
        factors = e.global_(DenseElements.from_numpy(np.ascontiguousarray(weights.T, dtype)))
    return Taps(axis, positions.shape[1], places, factors)


def _resize_by_scales(e: Emitter, op: nn.Resize, moving: list[int]) -> None:
    """Resize dimensions of unknown extents, by known scales or to known lengths."""
    source = e.buffer(op.x)
    along = []
    for d in moving:
        extent, length = e.size(source, d), op.out.type.shape[d]
        scale = None if op.scales is None else e.constant(op.scales[d], f64)
        if length is None:
            assert scale is not None and op.scales is not None
            by = op.scales[d]
            # As `symbolic_results` says, which others know the extent by.
            length = e.mul(extent, int(by)) if by == int(by) else scaled_extent(e, extent, scale)
        scale = ratio(e, length, extent) if scale is None else scale
        begin, end = (e.constant(number, f64) for number in op.region(d))
        along.append(Along(d, extent, length, scale, (begin, end)))
    resize_along(e, op, along)


@lowers(nn.ResizeDynamic)
def lower_resize_dynamic(e: Emitter, op: nn.ResizeDynamic) -> None:
    """Resize by scales, extents and regions that are read from memory."""
    source, scales, sizes = e.buffer(op.x), e.buffer(op.scales), e.buffer(op.sizes)
    roi = e.buffer(op.roi) if op.roi is not None else None
    count = len(op.axes)
    for buffer, times, what in ((scales, 1, "scales"), (sizes, 1, "sizes"), (roi, 2, "roi")):
        if buffer is not None:
            text = f"the number of elements of {what} is not {times * count}"
            e.require_equal(e.size(buffer, 0), times * count, text)

    def number(buffer: Value, at: int) -> Value:
        return convert(e, e.load(buffer, [at]), f32, f64)

    along = []
    for i, axis in enumerate(op.axes):
        read = e.load_extent(sizes, [i])
        known = op.out.type.shape[axis]
        region = None if roi is None else (number(roi, i), number(roi, i + count))
        length = read if known is None else known
        along.append(Along(axis, e.size(source, axis), length, number(scales, i), region))
    resize_along(e, op, along)


def resize_along(e: Emitter, op: Resampling, along: Sequence[Along]) -> None:
    """Emit the stages in the order of `_together`, with tables computed at run time."""
    source, element = e.buffer(op.x), op.out.type.element_type
    sizes = e.sizes(source)
    lengths = {one.axis: one.length for one in along}
    out = e.destination(op.out, [lengths.get(d, n) for d, n in enumerate(sizes)])
    if not along:
        e.copy(source, out)
        return
    wide, rank = _wide(op, element), len(sizes)
    current, current_type = source, element
    masks, made = [], []
    for one in sorted(along, key=lambda one: -one.axis):
        places, weights, outside = sampling_tables(e, op, one, wide)
        made.append(Taps(one.axis, e.size(places, 0), places, weights))
        if outside is not None:
            masks.append((outside, AffineMap(rank, 0, (AffineDim(one.axis),))))
    is_one = _is_one_stage([(taps.axis, taps.count) for taps in made], rank)
    stages = [made[::-1]] if is_one else [[taps] for taps in made]
    for group in stages:
        for taps in group:
            sizes[taps.axis] = lengths[taps.axis]
        target = out if group is stages[-1] and not op.crops else e.alloc(sizes, wide)
        _stage(e, op, group, (current, current_type), target, element, wide)
        current, current_type = target, wide
    if current is not out:
        _finish(e, op, current, out, masks)


def _wide(op: Resampling, element: Type) -> Type:
    if op.mode == "nearest":
        return element
    return f64 if element is f64 else f32


def _along(values, axis: int, rank: int):
    return values.reshape([-1 if d == axis else 1 for d in range(rank)])


def _together(
    tables: list[Table], before: Sequence[int], after: Sequence[int]
) -> list[list[Table]]:
    """The stages in order, each with the dimensions that it resizes.

    There is one stage for all if each result has few elements and the last dimension, along which
    vectors are read, does not change. Otherwise each dimension has a stage: first those that become
    shorter, then the others; among both, later dimensions come before earlier ones, because
    elements along the last one are gathered one by one.
    """
    if _is_one_stage([(axis, positions.shape[1]) for axis, positions, _ in tables], len(before)):
        return [tables]
    order = sorted(tables, key=lambda one: (after[one[0]] >= before[one[0]], -one[0]))
    return [[one] for one in order]


def _is_one_stage(along: Sequence[tuple[int, Size]], rank: int) -> bool:
    """Whether one stage resizes all dimensions, given as (axis, number of taps)."""
    counts = [count for _, count in along if isinstance(count, int)]
    return (
        len(counts) == len(along)
        and prod(counts) <= _UNROLLED
        and all(axis != rank - 1 for axis, _ in along)
    )


def _stage(e, op: Resampling, tables: list[Taps], source, target, element, wide) -> None:
    """target[.., p, ..] = sum over t of weights[t, p] * source[.., places[t, p], ..]

    Along several dimensions, the sums over those of the first one are innermost.
    """
    buffer, kind = source
    rank, sizes = buffer.type.rank, e.sizes(buffer)
    smooth = op.mode != "nearest"
    is_final = target.type.element_type is storage_type(element)

    def total(e: Emitter, at: list[Value], where: list[Value], left: list[Taps]) -> Value:
        if not left:
            value = e.load(buffer, at)
            return convert(e, value, kind, wide) if smooth else value
        *rest, taps = left
        axis = taps.axis

        def tap(t) -> Value:
            place = e.load_index(taps.places, [t, where[axis]])
            if taps.places.defined_by(memref.GetGlobal) is None:
                place = e.value(inside(e, place, sizes[axis]))
            value = total(e, [*at[:axis], place, *at[axis + 1 :]], where, rest)
            if taps.weights is None:
                return value
            return e.insert(arith.MulF(value, e.load(taps.weights, [t, where[axis]]))).result

        def add(t, sum_: Value) -> Value:
            return e.insert(arith.AddF(sum_, tap(t))).result

        found = tap(0)
        if isinstance(taps.count, int) and taps.count <= _UNROLLED:
            for t in range(1, taps.count):
                found = add(t, found)
        else:
            (found,) = e.fold_loop(taps.count, [found], lambda t, sum_: [add(t, sum_)], lower=1)
        return found

    def sample(e: Emitter, _: Value) -> Value:
        where = [e.position(d) for d in range(rank)]
        value = total(e, where, where, tables)
        return rounded(e, value, element) if is_final and smooth else value

    e.elementwise([], target, sample)


def rounded(e: Emitter, value: Value, element: Type) -> Value:
    """An interpolated value as an element; to integers it is rounded and clamped."""
    if isinstance(element, FloatType):
        return narrow(e, value, element)
    assert isinstance(element, IntegerType)
    unsigned = element.signedness == "u"
    low = 0 if unsigned else -(1 << (element.width - 1))
    high = (1 << (element.width if unsigned else element.width - 1)) - 1
    value = e.insert(math.RoundEven(value)).result
    value = e.insert(arith.MaximumF(value, e.constant(float(low), value.type))).result
    value = e.insert(arith.MinimumF(value, e.constant(float(high), value.type))).result
    return convert(e, value, value.type, element)


def _finish(
    e: Emitter,
    op: Resampling,
    current: Value,
    out: Value,
    masks: Sequence[tuple[Value, AffineMap]],
) -> None:
    """Write the result; elements where a mask is set get the extrapolation value."""
    element, rank = op.out.type.element_type, op.out.type.rank
    value = e.constant(op.extrapolation_value, f32)

    def choose(e: Emitter, x: Value, first: Value, *rest: Value) -> Value:
        other = convert(e, value, f32, x.type)
        is_outside = first
        for one in rest[:-1]:
            is_outside = e.insert(arith.OrI(is_outside, one)).result
        x = e.insert(arith.Select(is_outside, other, x)).result
        return x if x.type is out.type.element_type else rounded(e, x, element)

    every = AffineMap.identity(rank)
    buffers, maps = zip(*masks, strict=True)
    e.generic([current, *buffers], [out], [every, *maps, every], ["parallel"] * rank, choose)
