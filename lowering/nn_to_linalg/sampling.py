"""Tables of positions and weights for nn.resize, computed at run time.

The formulas are those of `Resampling.taps` in `dialects/nn/resize.py`, in f64 as there.
"""

from __future__ import annotations

from dataclasses import dataclass

from ...dialects import arith, math
from ...dialects.nn.resize import Resampling
from ...ir.core import Value
from ...ir.types import Type, f32, f64, i1, i32, i64
from .emitter import Emitter
from .extents import Size
from .scalars import convert


@dataclass(frozen=True)
class Along:
    """How a dimension is sampled: its extent and the result's, the scale, and the region in it."""

    axis: int
    extent: Size
    length: Size
    scale: Value
    region: tuple[Value, Value] | None


class Reals:
    """Emits arithmetic on f64."""

    def __init__(self, e: Emitter) -> None:
        self.e = e

    def of(self, number: Size | float | Value) -> Value:
        """A number, or a value of type index, as f64."""
        if not isinstance(number, Value):
            return self.e.constant(float(number), f64)
        if number.type is f64:
            return number
        return convert(self.e, self.e.from_index(number, i64), i64, f64)

    def _two(self, op, a, b) -> Value:
        return self.e.insert(op(self.of(a), self.of(b))).result

    def add(self, a, b) -> Value:
        return self._two(arith.AddF, a, b)

    def sub(self, a, b) -> Value:
        return self._two(arith.SubF, a, b)

    def mul(self, a, b) -> Value:
        return self._two(arith.MulF, a, b)

    def div(self, a, b) -> Value:
        return self._two(arith.DivF, a, b)

    def floor(self, a) -> Value:
        return self.e.insert(math.Floor(self.of(a))).result

    def ceil(self, a) -> Value:
        return self.e.insert(math.Ceil(self.of(a))).result

    def round(self, a) -> Value:
        """The nearest integer; of two, the even one."""
        return self.e.insert(math.RoundEven(self.of(a))).result

    def abs(self, a) -> Value:
        return self.e.insert(math.AbsF(self.of(a))).result

    def compare(self, predicate: str, a, b) -> Value:
        return self.e.insert(arith.CmpF(predicate, self.of(a), self.of(b))).result

    def select(self, condition: Value, a, b) -> Value:
        return self.e.insert(arith.Select(condition, self.of(a), self.of(b))).result

    def clamp(self, a, low, high) -> Value:
        """The value limited to a range; `low` for NaN."""
        return self._two(arith.MinNumF, self._two(arith.MaxNumF, a, low), high)

    def rounded(self, a: Value) -> Value:
        """The value rounded to f32."""
        return convert(self.e, convert(self.e, a, f64, f32), f32, f64)

    def to_index(self, a: Value) -> Value:
        """A whole number as an index."""
        return self.e.to_index(self.e.insert(arith.FPToSI(a, out=i64)).result)


@dataclass(frozen=True)
class Inverse:
    """1 / the scale of a dimension, as the fraction `factor / divisor`.

    If the scale is the ratio of the extents, rounded to f32, `exact` is true and the fraction is
    that of the extents; otherwise it is 1 / scale.
    """

    factor: Value
    divisor: Value
    exact: Value

    @staticmethod
    def of(e: Emitter, r: Reals, along: Along) -> Inverse:
        """The inverse of the scale of a dimension."""
        quotient = r.rounded(ratio(e, along.length, along.extent))
        exact = r.compare("oeq", quotient, r.rounded(along.scale))
        factor = r.select(exact, along.extent, 1.0)
        return Inverse(factor, r.select(exact, along.length, along.scale), exact)

    def times(self, r: Reals, a: Value) -> Value:
        """A position in the result converted to one in the operand."""
        return r.div(r.mul(a, self.factor), self.divisor)

    def single(self, r: Reals, a: Value) -> Value:
        """A position rounded to f32, unless the fraction is `exact`."""
        return r.select(self.exact, a, r.rounded(a))


def ratio(e: Emitter, length: Size, extent: Size) -> Value:
    """The scale by which an extent becomes `length`."""
    return Reals(e).div(length, e.max(extent, 1))


def scaled_extent(e: Emitter, extent: Size, scale: Value) -> Size:
    """An extent times a scale, in f32, rounded down."""
    r = Reals(e)
    found = r.clamp(r.floor(r.rounded(r.mul(extent, scale))), 0, _most(e))
    return e.max(r.to_index(found), 0)


def _most(e: Emitter) -> int:
    """An index that f64 holds exactly, larger than any extent that memory has room for."""
    return (e.globals.largest_index + 1) // 2


def sampling_tables(
    e: Emitter, op: Resampling, along: Along, wide: Type
) -> tuple[Value, Value | None, Value | None]:
    """The elements' indices [T, P] as i32, their weights [T, P], and which results lie outside [P].

    T is the number of taps and P the result's extent. There are no weights in mode nearest.
    """
    r, count = Reals(e), along.length
    _check(e, r, along)
    inverse = Inverse.of(e, r, along)
    last = e.max(e.sub(along.extent, 1), 0)
    outside = e.alloc([count], i1) if op.crops else None
    if op.mode == "nearest":
        places = e.alloc([1, count], i32)
        with e.loop(count) as i:
            at = _coordinate(e, r, op, along, inverse, i)
            _note_outside(e, r, at, along.extent, outside, i)
            at = inverse.single(r, at)
            _place(e, r, _nearest(r, op.nearest_mode, at), last, places, (0, i))
        return places, None, outside
    stretch, reach = _kernel(e, r, op, along)
    taps = e.mul(2, reach)
    places, weights = e.alloc([taps, count], i32), e.alloc([taps, count], wide)
    with e.loop(count) as i:
        at = _coordinate(e, r, op, along, inverse, i)
        _note_outside(e, r, at, along.extent, outside, i)
        first = r.sub(r.floor(at), r.of(e.sub(reach, 1)))

        def tap(t: Size) -> tuple[Value, Value]:
            position = r.add(first, t)
            return position, _weight(e, r, op, at, position, stretch, along.extent)

        total = None
        if op.normalizes:
            (total,) = e.fold_loop(taps, [r.of(0)], lambda t, sum_: [r.add(sum_, tap(t)[1])])
        with e.loop(taps) as t:
            position, weight = tap(t)
            weight = weight if total is None else r.div(weight, total)
            e.store(convert(e, weight, f64, wide), weights, (t, i))
            _place(e, r, position, last, places, (t, i))
    return places, weights, outside


def _check(e: Emitter, r: Reals, along: Along) -> None:
    """Emit checks that the scale is positive, and that there is something to sample."""
    none = e.compare("eq", along.length, 0)
    positive = r.compare("ogt", along.scale, 0)
    e.require(e.insert(arith.OrI(none, positive)).result, "a scale is not positive")
    some = e.compare("sgt", along.extent, 0)
    e.require(e.insert(arith.OrI(none, some)).result, "there is no element to sample")


def _kernel(e: Emitter, r: Reals, op: Resampling, along: Along) -> tuple[Value, Size]:
    """By what to multiply distances, and the kernel's radius in elements of the operand."""
    if not op.antialias:
        return r.of(1.0), op.reach
    stretch = r.select(r.compare("olt", along.scale, 1), along.scale, 1.0)
    reach = r.clamp(r.ceil(r.div(op.reach, stretch)), op.reach, _most(e))
    return stretch, r.to_index(reach)


def _coordinate(
    e: Emitter, r: Reals, op: Resampling, along: Along, inverse: Inverse, i: Value
) -> Value:
    """The place in the operand, in elements, of the result's position `i`."""
    if op.cubic_steps:
        return _place_of_table(e, r, op, along, i)
    extent, length, scale = along.extent, along.length, along.scale
    many = e.compare("sgt", length, 1)
    far = e.sub(extent, 1)
    steps = e.max(e.sub(length, 1), 1)
    middle = inverse.times(r, r.add(i, 0.5))
    centre = r.sub(inverse.single(r, middle) if op.mode == "nearest" else middle, 0.5)
    match op.coordinate_transform:
        case "half_pixel":
            return centre
        case "half_pixel_symmetric":
            adjustment = r.div(length, r.mul(scale, extent))
            shift = r.mul(r.div(extent, 2), r.sub(1, adjustment))
            return r.add(shift, centre)
        case "pytorch_half_pixel":
            return r.select(many, centre, 0.0)
        case "align_corners":
            return r.div(r.mul(i, far), steps)
        case "asymmetric":
            return inverse.times(r, r.of(i))
    assert along.region is not None
    begin, end = along.region
    path = r.mul(r.mul(i, r.sub(end, begin)), far)
    several = r.add(r.mul(begin, far), r.div(path, steps))
    return r.select(many, several, r.mul(r.mul(0.5, r.add(begin, end)), far))


def _place_of_table(e: Emitter, r: Reals, op: Resampling, along: Along, i: Value) -> Value:
    """As `_coordinate`, but in f32, and rounded down to the steps of a table of cubic weights."""
    extent, length = along.extent, e.max(along.length, 1)
    scale = r.rounded(r.div(extent, length))
    if op.coordinate_transform == "align_corners":
        path = r.rounded(r.div(e.sub(extent, 1), e.max(e.sub(length, 1), 1)))
        scale = r.select(e.compare("sgt", along.length, 1), path, scale)
    half = 0.5 if op.coordinate_transform == "half_pixel" else 0.0
    at = r.rounded(r.mul(r.rounded(r.add(i, half)), scale))
    at = r.rounded(r.sub(at, half))
    whole = r.floor(at)
    steps = r.round(r.mul(r.sub(at, whole), op.cubic_steps))
    return r.add(whole, r.div(steps, op.cubic_steps))


def _note_outside(e: Emitter, r: Reals, at: Value, extent: Size, mask, i: Value) -> None:
    if mask is not None:
        before, after = r.compare("olt", at, 0), r.compare("ogt", at, e.sub(extent, 1))
        e.store(e.insert(arith.OrI(before, after)).result, mask, [i])


def _nearest(r: Reals, mode: str, at: Value) -> Value:
    match mode:
        case "round_prefer_floor":
            return r.ceil(r.sub(at, 0.5))
        case "round_prefer_ceil":
            return r.floor(r.add(at, 0.5))
        case "floor":
            return r.floor(at)
        case _:
            return r.ceil(at)


def _place(e: Emitter, r: Reals, position: Value, last: Size, places: Value, where) -> None:
    """Store a position, clamped to the operand."""
    inside = r.clamp(position, 0, last)
    e.store(e.insert(arith.FPToSI(inside, out=i32)).result, places, where)


def _weight(
    e: Emitter, r: Reals, op: Resampling, at: Value, position: Value, stretch: Value, extent: Size
) -> Value:
    distance = r.mul(r.abs(r.sub(at, position)), stretch)
    if op.mode == "linear":
        near = r.compare("olt", distance, 1)
        weight = r.select(near, r.sub(1, distance), 0.0)
    else:
        weight = _cubic(r, op.cubic_coeff_a, distance)
    if op.exclude_outside:
        before, after = r.compare("olt", position, 0), r.compare("oge", position, extent)
        weight = r.select(e.insert(arith.OrI(before, after)).result, 0.0, weight)
    return weight


def _cubic(r: Reals, a: float, d: Value) -> Value:
    """The weight of an element at distance d. Source: R. Keys, Cubic convolution interpolation,
    1981, (4).
    """
    near = r.add(r.mul(r.mul(r.sub(r.mul(a + 2, d), a + 3), d), d), 1)
    far = r.sub(r.mul(r.add(r.mul(r.sub(r.mul(a, d), 5 * a), d), 8 * a), d), 4 * a)
    is_far = r.compare("olt", d, 2)
    return r.select(r.compare("ole", d, 1), near, r.select(is_far, far, 0.0))
