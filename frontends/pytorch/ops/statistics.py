"""Counts, order statistics, distinct values, and running extremes."""

from __future__ import annotations

from ...common import arrays
from ...common.scans import logcumsumexp, running_extremes
from ...common.statistics import histogram
from ...common.statistics import mode as mode_of
from ...common.unique import consecutive_rows, unique_rows
from ...common.vocabulary import *
from ..layer import AtenLayer
from ..rows import ROWS
from .elementwise import as_bool, interpolated
from .reductions import sort, sum_

# -- running extremes ------------------------------------------------------------------------------


@ROWS("aten.cummax", "aten.cummin")
def cummax(n: AtenLayer, self: Value, dim: int) -> list[Value]:
    if self.type.rank == 0:
        return [self, n.constant(0, i64)]
    axis = n.axis(dim, self.type.rank)
    return running_extremes(n, self, axis, "cummax" in n.kind)


@ROWS("aten.logcumsumexp")
def running_log_of_sums(n: AtenLayer, self: Value, dim: int) -> Value:
    axis = n.axis(dim, self.type.rank)
    return logcumsumexp(n, n.floating(self), axis) if self.type.rank else self


@ROWS("aten.aminmax")
def aminmax(n: AtenLayer, self: Value, dim: Any = None, keepdim: bool = False) -> list[Value]:
    axes = n.axes(dim, self.type.rank)
    ops = (nn.ReduceMin, nn.ReduceMax)
    return [reduced(n, self, op, axes, keep=keepdim) if axes else self for op in ops]


@ROWS("aten.gradient")
def gradient(
    n: AtenLayer, self: Value, spacing: Any = None, dim: Any = None, edge_order: int = 1
) -> list[Value]:
    """The slope of the parabola through an element and its neighbours, or of a line at the ends.

    `spacing` is a distance, or the coordinates of all elements along an axis.
    """
    axes = n.axes(dim, self.type.rank)
    given = spacing if isinstance(spacing, list) else [spacing] * len(axes)
    x = Term(n, n.floating(self))
    return [
        _slope(n, x, axis, 1.0 if step is None else step, edge_order).value
        for axis, step in zip(axes, given, strict=True)
    ]


def _slope(n: AtenLayer, x: Term, axis: int, spacing: Any, edge_order: int) -> Term:
    count = n.int(n.size(x.value, axis))
    places: Any = constant(n, np.arange(count) * 1.0, x.element)
    if isinstance(spacing, Value) and spacing.type.rank:
        places = Term(n, n.cast(spacing, x.element))
    else:
        places = places * Term(n, n.as_value(spacing, x.element))
    places = places.spread(0, x.rank - 1 - axis)

    def differences(of: Term, at: int) -> Term:
        return of.part(at, 1, count) - of.part(at, 0, count - 1)

    wide = differences(places, 0)
    slopes = differences(x, axis) / wide
    left, right = slopes.part(axis, 0, count - 2), slopes.part(axis, 1, count - 1)
    before, after = wide.part(0, 0, count - 2), wide.part(0, 1, count - 1)
    bend = (right - left) / (before + after)
    ends = [slopes.part(axis, 0, 1), slopes.part(axis, count - 2, count - 1)]
    if edge_order == 2:
        first, last = bend.part(axis, 0, 1), bend.part(axis, count - 3, count - 2)
        ends[0] = ends[0] - first * wide.part(0, 0, 1)
        ends[1] = ends[1] + last * wide.part(0, count - 2, count - 1)
    return joined([ends[0], left + bend * before, ends[1]], axis)


_SEGMENTS = {"sum": 0.0, "mean": 0.0, "prod": 1.0, "max": -math.inf, "min": math.inf}
"""The default result of an empty segment, by reduction."""


@ROWS("aten.segment_reduce")
def segment_reduce(
    n: AtenLayer,
    data: Value,
    reduce: str,
    lengths: Value | None = None,
    indices: Any = None,
    offsets: Value | None = None,
    axis: int = 0,
    unsafe: bool = False,
    initial: Any = None,
) -> Value:
    """One number for each of consecutive segments: [.., P, ..] -> [.., S, ..]."""
    if lengths is not None:
        ends = Term(n, n(nn.Cumsum(as_i64(n, lengths), axis=axis)))
        starts = ends - Term(n, as_i64(n, lengths))
    else:
        assert offsets is not None
        places, count = Term(n, as_i64(n, offsets)), n.int(n.size(offsets, axis))
        starts, ends = places.part(axis, 0, count - 1), places.part(axis, 1, count)
    x = Term(n, data)
    place = counting(n, extent(n, (data, axis)))
    inside = (place >= starts.spread(0, 1)) & (place < ends.spread(0, 1))
    inside = inside.spread(0, x.rank - 1 - axis)
    first = _SEGMENTS[reduce] if initial is None else float(initial)
    neutral = _SEGMENTS[reduce]
    shape = [*n.shape(data)[:axis], 1, *n.shape(data)[axis:]]
    chosen = inside.choose(Term(n, n.reshape(data, shape)), neutral)
    ops = {"prod": nn.ReduceProd, "max": nn.ReduceMax, "min": nn.ReduceMin}
    found = chosen.made(ops.get(reduce, nn.ReduceSum)(chosen.value, axes=(axis + 1,)))
    if reduce in ("max", "min"):
        return (found.max(first) if reduce == "max" else found.min(first)).value
    if reduce == "prod":
        return (found * first).value
    found = found + first
    if reduce == "mean":
        count = (ends - starts).spread(0, x.rank - 1 - axis).cast(x.element)
        none = found if initial is not None else found * math.nan
        found = (count > 0.0).choose(found / count, none)
    return found.value


# -- order -----------------------------------------------------------------------------------------


def _placed(found: Term, axis: int, keep: bool) -> Term:
    return found if keep else found.column(0, axis)


@ROWS("aten.msort")
def msort(n: AtenLayer, self: Value) -> Value:
    return sort(n, self, 0)[0]


@ROWS("aten.kthvalue")
def kthvalue(
    n: AtenLayer, self: Value, k: Any, dim: int = -1, keepdim: bool = False
) -> list[Value]:
    if self.type.rank == 0:
        return [self, n.constant(0, i64)]
    axis, at = n.axis(dim, self.type.rank), n.int(k)
    found = largest(n, self, n.constant(at, i64), axis, greatest=False)
    last = (Term(n, slice_axis(n, v, axis, at - 1, FAR)) for v in found)
    return [_placed(v, axis, keepdim).value for v in last]


@ROWS("aten.mode")
def mode(n: AtenLayer, self: Value, dim: int = -1, keepdim: bool = False) -> list[Value]:
    """The most frequent value, the smallest of ties, and its last index."""
    if self.type.rank == 0:
        return [self, n.constant(0, i64)]
    axis = n.axis(dim, self.type.rank)
    return [_placed(v, axis, keepdim).value for v in mode_of(Term(n, self), axis)]


@ROWS("aten.nanmedian")
def nanmedian(n: AtenLayer, self: Value, dim: Any = None, keepdim: bool = False) -> Any:
    """The lower one of the middle non-NaN elements, and its index."""
    if self.type.rank == 0 and dim is not None:
        return [self, n.constant(0, i64)]
    x = Term(n, self) if dim is not None else Term(n, self).flat()
    axis = n.axis(0 if dim is None else dim, x.rank)
    numbers = x
    count = extent(n, (x.value, axis))
    if isinstance(x.element, FloatType):
        none = x.function(nn.IsNan)
        numbers = none.choose(math.inf, x)
        count = (~none).cast(i64).sum(axis, keep=True)
    at = ((count - 1) / 2).max(0)
    at = at if at.rank else at.reshape(*[1] * x.rank)
    found = []
    for v in ordered(n, numbers.value, axis):
        whole = [1 if i == axis else n.size(x.value, i) for i in range(x.rank)]
        rows = n.expand(at.value, whole)
        found.append(Term(n, gathered_elements(n, v, rows, axis)))
    if isinstance(x.element, FloatType):
        found[0] = count.equals(0).choose(math.nan, found[0])
    parts = [_placed(v, axis, keepdim).value for v in found]
    return parts[0] if dim is None else parts


@ROWS("aten.quantile", "aten.nanquantile")
def quantile(
    n: AtenLayer,
    self: Value,
    q: Any,
    dim: int | None = None,
    keepdim: bool = False,
    interpolation: str = "linear",
) -> Value:
    """The interpolation of sorted elements at q * (count - 1); q's dimension comes first."""
    rank = self.type.rank
    if not rank:
        dim, keepdim = None, False
    x = Term(n, self).flat() if dim is None else Term(n, self)
    axis = n.axis(0 if dim is None else dim, x.rank)
    x = Term(n, swapped(n, x.value, axis, x.rank - 1))
    last = x.rank - 1
    none = x.function(nn.IsNan)
    count = (~none).cast(i64).sum(last, keep=True)
    in_order = Term(n, ordered(n, none.choose(math.inf, x).value, last)[0])
    share = Term(n, n.as_value(q, x.element))
    at = (count - 1).cast(x.element) * share.flat()
    low, high = at.function(nn.Floor), at.function(nn.Ceil)
    if interpolation in ("lower", "higher", "nearest"):
        place = {"lower": low, "higher": high, "nearest": at.function(nn.Round)}[interpolation]
        low = high = place
    ends = [in_order.gather_elements(v.max(0.0).cast(i64), last) for v in (low, high)]
    found = ends[0]
    if interpolation in ("linear", "midpoint"):
        rest = at - low
        if interpolation == "midpoint":
            rest = rest.zeros() + 0.5
        found = interpolated(ends[0], ends[1], rest)
    missing = count.equals(0) if "nan" in n.kind else count < extent(n, (x.value, last))
    found = missing.choose(math.nan, found)
    out = Term(n, swapped(n, found.value, axis, last))
    if dim is None and keepdim:
        out = out.reshape((out.value, 0), *[1] * (rank - 1))
        axis = 0
    order = [axis, *(i for i in range(out.rank) if i != axis)]
    moved = out.transpose(*order) if out.rank > 1 else out
    if keepdim:
        moved = moved.reshape((moved.value, 0), *_kept(moved, axis))
    return moved.value if share.rank else moved.column(0, 0).value


def _kept(moved: Term, axis: int) -> list[Any]:
    """The extents after the first one, with extent 1 inserted at an axis."""
    others: list[Any] = [(moved.value, i) for i in range(1, moved.rank)]
    return [*others[:axis], 1, *others[axis:]]


# -- counts ----------------------------------------------------------------------------------------


@ROWS("aten.count_nonzero")
def count_nonzero(n: AtenLayer, self: Value, dim: Any = None) -> Value:
    found = Term(n, as_bool(n, self)).cast(i64)
    axes = n.axes(dim, self.type.rank)
    return found.sum(*axes).value if axes else found.value


@ROWS("aten.bincount")
def bincount(n: AtenLayer, self: Value, weights: Value | None = None, minlength: Any = 0) -> Value:
    """How often each number up to the largest occurs, or the sum of its weights."""
    if weights is not None and not isinstance(weights.type.element_type, FloatType):
        weights = n.cast(weights, f64)
    given = None if weights is None else Term(n, weights)
    return arrays.bincount(Term(n, self), given, Term(n, n.as_value(minlength, i64))).value


@ROWS("aten.histc")
def histc(n: AtenLayer, self: Value, bins: int = 100, min: Any = 0, max: Any = 0) -> Value:
    """Counts of elements in equal bins of a range, by default that of the elements."""
    x = Term(n, self).flat()
    low, high = (constant(n, v, x.element) for v in (min, max))
    if min == max:
        low, high = (Term(n, v) for v in aminmax(n, x.value))
    return histogram(x, low, high, bins).value


# -- different values ------------------------------------------------------------------------------


@ROWS("aten._unique2", "aten._unique")
def unique(n: AtenLayer, self: Value, sorted: bool = True, **wanted: bool) -> list[Value]:
    """The distinct elements, sorted; the index of each element among them, and their counts."""
    flat = Term(n, self).flat()
    found = unique_rows(n, flat.spread(0, 1).value, True, equal_nan=False)
    values = flat.gather(Term(n, found.first)).value
    return [values, n.reshape(found.inverse, n.shape(self)), found.counts]


@ROWS("aten.unique_dim")
def unique_dim(n: AtenLayer, self: Value, dim: int, sorted: bool = True, **wanted: bool) -> list:
    axis = n.axis(dim, self.type.rank)
    rows = Term(n, swapped(n, self, 0, axis)).flattened(1)
    found = unique_rows(n, rows.value, True, equal_nan=False)
    values = Term(n, self).gather(Term(n, found.first), axis).value
    return [values, found.inverse, found.counts]


@ROWS("aten.unique_consecutive")
def unique_consecutive(
    n: AtenLayer,
    self: Value,
    return_inverse: bool = False,
    return_counts: bool = False,
    dim: int | None = None,
) -> list[Value]:
    """Rows that differ from the previous one; the index of each row's run, and run lengths."""
    x = Term(n, self).flat() if dim is None else Term(n, self)
    axis = 0 if dim is None else n.axis(dim, x.rank)
    rows = Term(n, swapped(n, x.value, 0, axis))
    rows = rows.flattened(1) if x.rank > 1 else rows.spread(0, 1)
    found = consecutive_rows(n, rows.value)
    inverse = n.reshape(found.inverse, n.shape(self)) if dim is None else found.inverse
    return [x.gather(Term(n, found.first), axis).value, inverse, found.counts]


# -- integrals -------------------------------------------------------------------------------------


@ROWS("aten.trapezoid", "aten.trapz", "aten.cumulative_trapezoid")
def trapezoid(n: AtenLayer, y: Value, x: Value | None = None, dx: Any = 1, dim: int = -1) -> Value:
    """The integral by the trapezoidal rule: the sum of means times distances.

    Integers wrap where PyTorch adds them as integers.
    """
    axis, is_running = n.axis(dim, y.type.rank), "cumulative" in n.kind
    if x is None and not is_running:
        first, last = (Term(n, column(n, y, axis, i)) for i in (0, -1))
        ends = Term(n, n.floating((first + last).value)) * 0.5
        return ((Term(n, n.floating(sum_(n, y, axis))) - ends) * dx).value
    both = _sides(n, y, axis)
    areas = (both[0] + both[1]).value
    if x is None:
        areas = (Term(n, n.floating(areas)) * (dx / 2)).value
    else:
        near, far = _sides(n, x, 0 if x.type.rank == 1 else axis)
        width = far - near
        width = width.spread(0, y.type.rank - 1 - axis) if x.type.rank == 1 else width
        areas = n(nn.Mul(*n.promoted(areas, width.value)))
    found = n(nn.Cumsum(areas, axis=axis)) if is_running else sum_(n, areas, axis)
    return found if x is None else (Term(n, n.floating(found)) / 2.0).value


def _sides(n: AtenLayer, x: Value, axis: int) -> list[Term]:
    """The elements of an axis without the last, and without the first."""
    return [Term(n, slice_axis(n, x, axis, *part)) for part in ((0, -1), (1, FAR))]
