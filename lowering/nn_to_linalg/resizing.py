"""nn.resize: along one dimension after the other, a weighted sum of a few source elements.

Positions and weights are tables, computed now where extents are static, otherwise by the
program from the same formulas.
"""

from __future__ import annotations

from collections.abc import Sequence
from math import prod
from typing import Any

from ...dialects import arith, math, nn
from ...ir.affine import AffineDim, AffineMap
from ...ir.attributes import DenseElements
from ...ir.core import Value
from ...ir.diagnostics import PassError
from ...ir.types import FloatType, IntegerType, Type, f32, f64
from .emitter import Emitter, storage_type
from .scalars import convert, narrow
from .table import lowers

Table = tuple[int, Any, Any]
"""A dimension, and of each of its results the positions and weights of what it is made of."""

_UNROLLED = 4
"""Up to so many source elements are added without a loop."""


@lowers(nn.Resize)
def lower_resize(e: Emitter, op: nn.Resize) -> None:
    """One stage for each dimension that changes."""
    import numpy as np

    source = e.buffer(op.x)
    shape, element = op.x.type.shape, op.out.type.element_type
    known = tuple(1 if n is None else n for n in shape)
    moving = [d for d in range(len(shape)) if op.samples(d, known)]
    if any(shape[d] is None for d in moving):
        raise PassError("cannot resample a dimension whose extent is not known")
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
        positions, weights, beyond = op.taps(known, axis)
        tables.append((axis, positions, weights))
        outside = outside | _along(beyond, axis, len(shape))
    current, current_type = source, element
    for number, group in enumerate(groups := _together(tables, known, result)):
        axes = [axis for axis, _, _ in group]
        sizes = [result[d] if d in axes else n for d, n in enumerate(sizes)]
        last = number == len(groups) - 1
        target = out if last and not outside.any() else e.alloc(sizes, wide)
        _stage(e, op, group, (current, current_type), target, element, wide)
        current, current_type = target, wide
    if current is not out:
        _finish(e, op, current, out, element, outside)


def _wide(op: nn.Resize, element: Type) -> Type:
    if op.mode == "nearest":
        return element
    return f64 if element is f64 else f32


def _along(values, axis: int, rank: int):
    return values.reshape([-1 if d == axis else 1 for d in range(rank)])


def _together(
    tables: list[Table], before: Sequence[int], after: Sequence[int]
) -> list[list[Table]]:
    """Which dimensions one stage does, and in which order.

    All at once where that takes few elements and the last dimension stays, along which they are
    read as vectors. Else what becomes shorter comes first, and of the others the last
    dimension, whose elements are gathered one by one.
    """
    taps = prod(positions.shape[1] for _, positions, _ in tables)
    if taps <= _UNROLLED and tables[-1][0] != len(before) - 1:
        return [tables]
    order = sorted(tables, key=lambda one: (after[one[0]] >= before[one[0]], -one[0]))
    return [[one] for one in order]


def _stage(e, op, tables: list[Table], source, target, element, wide) -> None:
    """target[.., p, ..] = sum over t of weights[p, t] * source[.., positions[p, t], ..]

    Along several dimensions, the sums over those of the first one are innermost.
    """
    import numpy as np

    buffer, kind = source
    rank = buffer.type.rank
    dtype = np.float64 if wide is f64 else np.float32
    smooth = op.mode != "nearest"
    places, factors = {}, {}
    for axis, positions, weights in tables:
        positions = np.ascontiguousarray(positions.T, np.int32)
        places[axis] = e.global_(DenseElements.from_numpy(positions))
        if smooth:
            weights = np.ascontiguousarray(weights.T, dtype)
            factors[axis] = e.global_(DenseElements.from_numpy(weights))
    is_final = target.type.element_type is storage_type(element)

    def total(e: Emitter, at: list[Value], where: list[Value], left: list[Table]) -> Value:
        if not left:
            value = e.load(buffer, at)
            return convert(e, value, kind, wide) if smooth else value
        *rest, (axis, positions, _) = left

        def tap(t) -> Value:
            place = e.load_index(places[axis], [t, where[axis]])
            value = total(e, [*at[:axis], place, *at[axis + 1 :]], where, rest)
            if not smooth:
                return value
            return e.insert(arith.MulF(value, e.load(factors[axis], [t, where[axis]]))).result

        def add(t, sum_: Value) -> Value:
            return e.insert(arith.AddF(sum_, tap(t))).result

        taps, found = positions.shape[1], tap(0)
        if taps <= _UNROLLED:
            for t in range(1, taps):
                found = add(t, found)
        else:
            (found,) = e.fold_loop(taps, [found], lambda t, sum_: [add(t, sum_)], lower=1)
        return found

    def sample(e: Emitter, _: Value) -> Value:
        where = [e.position(d) for d in range(rank)]
        value = total(e, where, where, tables)
        return rounded(e, value, element) if is_final and smooth else value

    e.elementwise([], target, sample)


def rounded(e: Emitter, value: Value, element: Type) -> Value:
    """An interpolated value as an element: integers are rounded and clamped."""
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


def _finish(e, op, current: Value, out: Value, element: Type, outside) -> None:
    """The extrapolation value where a coordinate lies outside the operand."""
    import numpy as np

    rank = outside.ndim
    mask = e.global_(DenseElements.from_numpy(np.ascontiguousarray(outside)))
    shape = outside.shape
    used = tuple(AffineDim(d) for d in range(rank))
    reads = AffineMap(
        rank, 0, tuple(u if n != 1 else u * 0 for u, n in zip(used, shape, strict=True))
    )
    value = e.constant(op.extrapolation_value, f32)

    def choose(e: Emitter, x: Value, is_outside: Value, _: Value) -> Value:
        other = convert(e, value, f32, x.type)
        x = e.insert(arith.Select(is_outside, other, x)).result
        return x if x.type is out.type.element_type else rounded(e, x, element)

    maps = [AffineMap.identity(rank), reads, AffineMap.identity(rank)]
    e.generic([current, mask], [out], maps, ["parallel"] * rank, choose)
