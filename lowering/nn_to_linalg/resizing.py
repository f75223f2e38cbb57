"""nn.resize: along one dimension after the other, a weighted sum of a few source elements.

Positions and weights are tables, computed now where extents are static, otherwise by the
program from the same formulas.
"""

from __future__ import annotations

from ...dialects import arith, math, nn
from ...ir.affine import AffineDim, AffineMap
from ...ir.attributes import DenseElements
from ...ir.core import Value
from ...ir.diagnostics import PassError
from ...ir.types import FloatType, IntegerType, Type, f32, f64
from .emitter import Emitter, storage_type
from .scalars import convert, narrow
from .table import lowers

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
    current, current_type = source, element
    for number, axis in enumerate(moving):
        positions, weights, beyond = op.taps(known, axis)
        sizes = [result[d] if d == axis else n for d, n in enumerate(sizes)]
        last = number == len(moving) - 1
        plain = last and not beyond.any() and not outside.any()
        target = out if plain else e.alloc(sizes, wide)
        _stage(e, op, axis, positions, weights, (current, current_type), target, element, wide)
        current, current_type = target, wide
        outside = outside | _along(beyond, axis, len(shape))
    if current is not out:
        _finish(e, op, current, out, element, outside)


def _wide(op: nn.Resize, element: Type) -> Type:
    if op.mode == "nearest":
        return element
    return f64 if element is f64 else f32


def _along(values, axis: int, rank: int):
    return values.reshape([-1 if d == axis else 1 for d in range(rank)])


def _stage(e, op, axis, positions, weights, source, target, element, wide) -> None:
    """target[.., p, ..] = sum over t of weights[p, t] * source[.., positions[p, t], ..]"""
    import numpy as np

    buffer, kind = source
    rank, taps = buffer.type.rank, positions.shape[1]
    places = e.global_(DenseElements.from_numpy(np.ascontiguousarray(positions, np.int32)))
    factors = None
    if op.mode != "nearest":
        dtype = np.float64 if wide is f64 else np.float32
        factors = e.global_(DenseElements.from_numpy(np.ascontiguousarray(weights, dtype)))
    is_final = target.type.element_type is storage_type(element)

    def tap(e: Emitter, where, t) -> Value:
        at = e.load_index(places, [where[axis], t])
        value = e.load(buffer, [*where[:axis], at, *where[axis + 1 :]])
        if factors is None:
            return value
        value = convert(e, value, kind, wide)
        return e.insert(arith.MulF(value, e.load(factors, [where[axis], t]))).result

    def sample(e: Emitter, _: Value) -> Value:
        where = [e.position(d) for d in range(rank)]
        total = tap(e, where, 0)
        if taps <= _UNROLLED:
            for t in range(1, taps):
                total = e.insert(arith.AddF(total, tap(e, where, t))).result
        else:

            def add(t: Value, sum_: Value):
                return [e.insert(arith.AddF(sum_, tap(e, where, t))).result]

            (total,) = e.fold_loop(taps, [total], add, lower=1)
        return rounded(e, total, element) if is_final and factors is not None else total

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
