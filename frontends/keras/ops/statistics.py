"""Counts, sets, NaN-aware statistics, ranges and Vandermonde matrices of `keras.ops`."""

from __future__ import annotations

from ...common import arrays, formulas
from ...common.bessel import bessel_i
from ...common.formulas import isnan, without_nan
from ...common.unique import unique_rows
from ...common.vocabulary import *
from ..layer import KerasLayer, element_type, layer
from ..promotion import wide_floating
from .functions import add, axes_of, extreme_place, operand, pair, two
from .numeric import near, of_shares, of_two, of_wide, rows_of


def _next_after(n: KerasLayer) -> Value:
    """The next number of 32 or 64 bits from the first operand towards the second."""
    first, second = two(n, float)
    wide = f64 if first.element is f64 else f32
    found = formulas.nextafter(first.cast(wide), second.cast(wide))
    return found.cast(first.element).value


def _all_close(n: KerasLayer) -> Value:
    limits = float(n.option("rtol", 1e-5)), float(n.option("atol", 1e-8))
    return formulas.all_of(near(*two(n), *limits, bool(n.option("equal_nan", False)))).value


def _is_in(n: KerasLayer) -> Value:
    a, b = two(n)
    found = formulas.isin(a, b)
    return (~found if n.option("invert", False) else found).value


add({
    "ViewAsReal": lambda n: _of_real(Term(n, n.tensor())),
    "EmptyLike": lambda n: Term(n, n.tensor()).zeros().value,
    "I0": of_wide(bessel_i(0, False)),
    "Gcd": of_two(formulas.gcd),
    "Lcm": of_two(formulas.lcm),
    "Ldexp": of_two(formulas.ldexp, real=True),
    "Nextafter": _next_after,
    "AllClose": _all_close,
    "IsIn": _is_in,
})  # fmt: skip


def _of_real(x: Term) -> Value:
    """Real numbers as complex ones with imaginary part 0."""
    return joined([part.spread(0, 1) for part in (x, x.zeros())], x.rank).value


# -- counts and sets -------------------------------------------------------------------------------


@layer("ops.Bincount")
def bincount(n: KerasLayer) -> Value:
    """How often each number occurs along the last axis, or the sums of its weights."""
    numbers, weights = Term(n, n.cast(n.tensor(), i64)), n.argument(1, "weights")
    if n.option("sparse", False):
        raise n.error("a sparse result is not supported")
    if weights is not None:
        weights = operand(
            n, weights, weights.type.element_type if isinstance(weights, Value) else f32
        )
    least = constant(n, int(n.argument(2, "minlength", 0)), i64)
    found = arrays.bincount(numbers, weights, least)
    return (found.cast(i32) if weights is None else found).value


@layer("ops.Histogram")
def histogram(n: KerasLayer) -> list[Value]:
    """The counts of elements in bins of equal width, and the bins' edges."""
    x, bins, limits = Term(n, n.floating(n.tensor())).flat(), n.integer("bins"), n.option("range")
    if limits is None:
        low, high = -((-x).largest(0)), x.largest(0)
    else:
        low, high = (constant(n, float(v), x.element) for v in limits)
    same = low.equals(high)
    low, high = same.choose(low - 0.5, low), same.choose(high + 0.5, high)
    steps = constant(n, np.arange(bins) / bins, x.element)
    edges = joined([low + (high - low) * steps, high.reshape(1)], 0)
    apart, inner = x.spread(0, 1), edges.part(0, 0, bins)
    above = edges.part(0, 1, bins + 1)
    last = constant(n, np.arange(bins) == bins - 1)
    within = (apart >= inner) & ((apart < above) | (last & (apart <= above)))
    return [within.cast(i32).sum(0).value, edges.value]


@layer("ops.Nonzero")
def nonzero(n: KerasLayer) -> list[Value]:
    x = Term(n, n.tensor())
    found = Term(n, n(nn.NonZero(n.cast(x.value, i1))))
    return [found.column(i, 0).cast(i32).value for i in range(x.rank)]


@layer("ops.Unique")
def unique(n: KerasLayer) -> list[Value] | Value:
    """The distinct elements, sorted; first indices, inverse indices, counts."""
    if n.option("axis") is not None:
        raise n.error("rows of an axis are not supported")
    x = Term(n, n.tensor())
    found = unique_rows(n, x.flat().spread(0, 1).value, in_order=True)
    values = x.flat().gather(Term(n, found.first))
    size, fill = n.option("size", None), n.option("fill_value", None)
    results = [values]
    results += [Term(n, found.first).cast(i32)] if n.option("return_index", False) else []
    if size is not None:
        first = values.column(0, 0) if fill is None else operand(n, fill, values.element)
        results = [_of_size(r, int(size), first if i == 0 else None) for i, r in enumerate(results)]
    if n.option("return_inverse", False):
        results.append(Term(n, found.inverse).shaped(Term(n, shape_of(n, x.value))).cast(i32))
    if n.option("return_counts", False):
        counts = Term(n, found.counts).cast(i32)
        results.append(counts if size is None else _of_size(counts, int(size), None))
    return [r.value for r in results] if len(results) > 1 else results[0].value


def _of_size(x: Term, size: int, fill: Term | None) -> Term:
    """The first `size` elements of a vector, padded."""
    fill = constant(x.n, 0, x.element) if fill is None else fill
    rest = fill.filled(constant(x.n, np.array([size])))
    return joined([x, rest], 0).gather(constant(x.n, np.arange(size)))


@layer("ops.Argpartition")
def partitioned(n: KerasLayer) -> Value:
    """Indices of the `kth + 1` smallest elements in ascending order, then of all others."""
    x, kth = n.tensor(), n.integer("kth")
    axis = normalize_axis(n, n.integer("axis", -1), x.type.rank)
    count = n.extent(x, axis)
    kth %= count
    _, places = ordered(n, x, axis)
    _, ranks = ordered(n, places, axis)
    others = (Term(n, ranks) > kth).cast(i32)
    rest = largest(n, others.value, n.constant(count - kth - 1, i64), axis)[1]
    head = Term(n, places).part(axis, 0, kth + 1)
    return joined([head, Term(n, rest)], axis).cast(i32).value


# -- without NaNs ----------------------------------------------------------------------------------


@layer("ops.Nanargmax", "ops.Nanargmin")
def nan_extreme(n: KerasLayer) -> Value:
    x, most = Term(n, n.floating(n.tensor())), n.kind == "ops.Nanargmax"
    filled = without_nan(x, -math.inf if most else math.inf)
    found = Term(n, extreme_place(n, nn.Argmax if most else nn.Argmin, filled.value))
    axes, keep = axes_of(n, x.value, n.argument(1, "axis")), bool(n.argument(2, "keepdims", False))
    some = (~isnan(x)).cast(i32).largest(*axes, keep=keep) > 0
    return some.choose(found, -1).value


@layer("ops.Nancumsum", "ops.Nancumprod")
def nan_running(n: KerasLayer) -> Value:
    x, axis = Term(n, n.floating(n.tensor())), n.option("axis", None)
    if axis is None:
        x, axis = x.flat(), 0
    of_sums = n.kind == "ops.Nancumsum"
    filled = without_nan(x, 0.0 if of_sums else 1.0)
    op = nn.Cumsum if of_sums else nn.Cumprod
    return n(op(filled.value, axis=normalize_axis(n, axis, x.rank)))


@layer("ops.Nanmedian", "ops.Nanquantile", "ops.Nanpercentile")
def nan_quantile(n: KerasLayer) -> Value:
    """Quantiles of the elements that are not NaN, interpolated between sorted ones."""
    x, median = Term(n, n.floating(n.tensor())), n.kind == "ops.Nanmedian"
    given = 0.5 if median else n.argument(1, "q")
    shares = np.asarray(given, np.float64) / (100 if n.kind == "ops.Nanpercentile" else 1)
    axes = axes_of(n, x.value, n.option("axis", None))
    method = "linear" if median else str(n.option("method", "linear"))
    rows = Term(n, rows_of(n, x.value, axes))
    last = rows.rank - 1
    in_order = Term(n, ordered(n, without_nan(rows, math.inf).value, last)[0])
    count = (~isnan(rows)).cast(x.element).sum(last, keep=True)
    parts = [_at_share(in_order, share, count, method) for share in shares.reshape(-1).tolist()]
    return of_shares(parts, shares, x.value, axes, bool(n.option("keepdims", False)))


def _at_share(row: Term, share: float, count: Term, method: str) -> Term:
    """The element at a share of the first `count` ones in each sorted row."""
    n, axis = row.n, row.rank - 1
    place = (count - 1.0).max(0.0) * share
    above = place.function(nn.Ceil)
    below = (above - 1.0).max(0.0) if method == "linear" else place.function(nn.Floor)
    index = counting(n, extent(n, (row.value, axis))).cast(row.element)
    low, high = (index.equals(at).choose(row, 0.0).sum(axis) for at in (below, above))
    part = (place - below).column(0, axis)
    match method:
        case "linear":  # as Keras sums it, which is NaN beside an infinity
            found = high * part + low * (1.0 - part)
        case "lower":
            found = low
        case "higher":
            found = high
        case "midpoint":
            found = (low + high) * 0.5
        case "nearest":
            found = index.equals(place.function(nn.Round)).choose(row, 0.0).sum(axis)
        case _:
            raise n.error(f"'method' is '{method}'")
    return count.column(0, axis).equals(0.0).choose(math.nan, found)


@layer("ops.Corrcoef")
def correlations(n: KerasLayer) -> Value:
    """The correlation coefficients of a matrix's rows."""
    x = Term(n, n.floating(n.tensor()))
    apart = x - x.mean(1, keep=True)
    products = apart @ apart.transpose(1, 0)
    sizes = (apart * apart).sum(1).function(nn.Sqrt)
    return (products / (sizes.spread(0, 1) * sizes.spread(1, 0))).max(-1.0).min(1.0).value


@layer("ops.Correlate")
def correlate(n: KerasLayer) -> Value:
    """The cross-correlation of two vectors, of which the first is not shorter."""
    a, b = (v.cast(wide_floating(v.element)) for v in two(n))
    long, short = n.extent(a.value, 0), n.extent(b.value, 0)
    if short > long:
        raise n.error("a second vector that is longer is not supported")
    mode = n.choice("mode", "valid", "same", "full", default="valid")
    before = {"valid": 0, "same": short // 2, "full": short - 1}[mode]
    after = {"valid": 0, "same": short - 1 - short // 2, "full": short - 1}[mode]
    x, w = a.reshape(1, 1, long), b.reshape(1, 1, short)
    found = convolution(n, x.value, w.value, padding=(before, after))
    return Term(n, found).flat().value


@layer("ops.CDist")
def distances(n: KerasLayer) -> Value:
    """Euclidean distances: [.., M, D], [.., N, D] -> [.., M, N]"""
    a, b = two(n)
    rank = a.rank
    first = a.reshape(*((a.value, i) for i in range(rank - 1)), 1, (a.value, rank - 1))
    second = b.reshape(
        *((b.value, i) for i in range(rank - 2)), 1, (b.value, rank - 2), (b.value, rank - 1)
    )
    apart = first - second
    return (apart * apart).sum(rank).function(nn.Sqrt).value


@layer("ops.Trapezoid")
def trapezoid(n: KerasLayer) -> Value:
    """The integral by the trapezoidal rule."""
    y, at = Term(n, n.floating(n.tensor())), n.argument(1, "x")
    axis = normalize_axis(n, int(n.option("axis", -1)), y.rank)
    count = n.extent(y.value, axis)
    middle = (y.part(axis, 1, count) + y.part(axis, 0, count - 1)) * 0.5
    if at is None:
        return (middle.sum(axis) * float(n.option("dx", 1.0))).value
    x = operand(n, at, y.element)
    width = x.part(-1, 1, count) - x.part(-1, 0, count - 1)
    width = width.spread(0, y.rank - 1 - axis) if x.rank == 1 else width
    return (middle * width).sum(axis).value


# -- ranges and diagonals --------------------------------------------------------------------------


def _range(n: KerasLayer, start: Term, stop: Term) -> Term:
    """`num` evenly spaced numbers from `start` to `stop`, along an axis (keras.ops.linspace)."""
    count, last = n.integer("num", 50), bool(n.option("endpoint", True))
    parts = np.arange(count) / max(count - last, 1)
    apart = (stop - start).spread(1, 0)
    rank = apart.rank - 1
    found = start.spread(1, 0) + apart * constant(n, parts.reshape(-1, *[1] * rank), start.element)
    axis = n.integer("axis", 0) % (rank + 1)
    return found.transpose(*arrays.moveaxis(rank + 1, [0], [axis]))


def _ends(n: KerasLayer) -> tuple[Term, Term]:
    named, ends = n.option("dtype", None), (n.argument(0, "start"), n.argument(1, "stop"))
    a, b = pair(n, *ends, float)
    if named is not None:
        a, b = (v.cast(element_type(named) or f32) for v in (a, b))
    return a + b.zeros(), b + a.zeros()


@layer("ops.Linspace")
def linspace(n: KerasLayer) -> list[Value] | Value:
    start, stop = _ends(n)
    found = _range(n, start, stop).value
    if not n.option("retstep", False):
        return found
    steps = n.integer("num", 50) - bool(n.option("endpoint", True))
    return [found, ((stop - start) / float(steps)).value]


@layer("ops.Logspace")
def logspace(n: KerasLayer) -> Value:
    found = _range(n, *_ends(n))
    return (found * math.log(float(n.option("base", 10)))).function(nn.Exp).value


@layer("ops.Geomspace")
def geomspace(n: KerasLayer) -> Value:
    start, stop = _ends(n)
    sign = (start < 0.0).choose(-1.0, start * 0.0 + 1.0)
    logs = ((v * sign).function(nn.Log) for v in (start, stop))
    axis = n.integer("axis", 0) % (start.rank + 1)
    order = arrays.moveaxis(start.rank + 1, [0], [axis])
    return (_range(n, *logs).function(nn.Exp) * sign.spread(1, 0).transpose(*order)).value


@layer("ops.Full")
def full(n: KerasLayer) -> Value:
    value = n.argument(0, "fill_value")
    element = element_type(n.option("dtype", None)) or f32
    shape = constant(n, np.array(n.option("shape"), np.int64))
    whole = operand(n, value, element)
    if not whole.rank:
        return whole.filled(shape).value
    return (whole + constant(n, np.zeros(n.option("shape")), element)).value


@layer("ops.Diag", "ops.Diagflat")
def diag(n: KerasLayer) -> Value:
    """A vector as a diagonal, or the diagonal of a matrix."""
    x, k = n.tensor(), n.integer("k", 0)
    if n.kind == "ops.Diagflat":
        x = Term(n, x).flat().value
    return arrays.diag(n, x, k)


@layer("ops.Vander")
def vander(n: KerasLayer) -> Value:
    """The powers of each element."""
    x, count = Term(n, n.floating(n.tensor())), n.option("N", None)
    size = n.extent(x.value, -1) if count is None else int(count)
    powers = np.arange(size)
    powers = powers if n.option("increasing", False) else powers[::-1].copy()
    column = x.spread(0, 1)
    parts = [column * 0.0 + 1.0]
    for _ in range(size - 1):
        parts.append(parts[-1] * column)
    return joined([parts[i] for i in powers], x.rank).value


@layer("ops.UnravelIndex")
def unravel(n: KerasLayer) -> list[Value]:
    """The coordinates of flat indices in a shape."""
    at, shape = Term(n, n.tensor()), [int(d) for d in n.option("shape")]
    place = (at < 0).choose(at + math.prod(shape), at)
    return [v.value for v in arrays.unravel_index(place, shape)]


@layer("ops.Select")
def select(n: KerasLayer) -> Value:
    """The choice of the first true condition, else a default."""
    conditions, choices = n.argument(0, "condlist"), n.argument(1, "choicelist")
    like = next(v for v in choices if isinstance(v, Value))
    found = operand(n, n.argument(2, "default", 0), like.type.element_type)
    for condition, choice in reversed(list(zip(conditions, choices, strict=True))):
        chosen = operand(n, choice, like.type.element_type)
        found = Term(n, n.cast(condition, i1)).choose(chosen, found)
    return found.value
