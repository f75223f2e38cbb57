"""Further operations of `keras.ops`: elements, sorting, statistics, parts and matrices."""

from __future__ import annotations

from ...common import arrays, formulas, special
from ...common.vocabulary import *
from ..layer import KerasLayer, layer
from ..promotion import greatest, result_type, wide_floating
from .functions import add, axes_of, counted, formula, operand, pair, summed, two


def of_two(make: Callable[[Term, Term], Term], real: bool = False) -> Callable[[KerasLayer], Value]:
    """A converter of a formula with two operands, which become floats if `real`."""

    def convert(n: KerasLayer) -> Value:
        return make(*two(n, *((float,) if real else ()))).value

    return convert


def wide(make: Callable[[Term], Term]) -> Callable[[KerasLayer], Value]:
    """A converter of a formula computed in f64."""
    return formula(lambda x: formulas.widened(make, x))


def of_wide(make: Callable[..., Term]) -> Callable[[KerasLayer], Value]:
    """A converter of a formula with one or two operands; 64-bit integers become f64."""

    def convert(n: KerasLayer) -> Value:
        given = (
            two(n)
            if len(n.attributes.args) + len(n.attributes.kwargs) > 1
            else (Term(n, n.tensor()),)
        )
        return make(*(v.cast(wide_floating(v.element)) for v in given)).value

    return convert


def _hypot(a: Term, b: Term) -> Term:
    """sqrt(a^2 + b^2), as Keras computes it: NaN for two infinities."""
    a, b = a.function(nn.Abs), b.function(nn.Abs)
    most, least = a.max(b), a.min(b)
    part = most.equals(0.0).choose(0.0, least / most)
    return most * (part * part + 1.0).function(nn.Sqrt)


def _heaviside(a: Term, b: Term) -> Term:
    """0 below 0, 1 above, b at 0; as in TensorFlow, NaN counts as 0."""
    return formulas.isnan(a).choose(b, formulas.heaviside(a, b, of_nan=0.0))


def _counted(x: Term) -> Term:
    return Term(x.n, counted(x.n, x.value))


def _fmod(a: Term, b: Term) -> Term:
    return a.made(nn.Mod(a.value, b.value, fmod=True))


add({
    "Arctan2": of_two(formulas.atan2, real=True),
    "Hypot": of_wide(_hypot),
    "Logaddexp": of_two(formulas.logaddexp, real=True),
    "Logaddexp2": of_two(lambda a, b: formulas.logaddexp(a, b, math.log(2)), real=True),
    "DivideNoNan": of_two(formulas.divide_no_nan, real=True),
    "Heaviside": of_wide(_heaviside),
    "Fmax": of_two(formulas.fmax),
    "Fmin": of_two(formulas.fmin),
    "Mod": of_two(lambda a, b: _counted(a) % _counted(b)),
    "Fmod": of_two(lambda a, b: _fmod(_counted(a), _counted(b))),
    "BitwiseAnd": of_two(lambda a, b: a & b),
    "BitwiseOr": of_two(lambda a, b: a | b),
    "BitwiseXor": of_two(lambda a, b: a ^ b),
    "BitwiseLeftShift LeftShift": of_two(lambda a, b: a << b),
    "BitwiseRightShift RightShift": of_two(lambda a, b: a >> b),
    "BitwiseNot BitwiseInvert": lambda n: n(nn.Not(n.tensor())),
    "Deg2rad": of_wide(lambda x: x * (math.pi / 180)),
    "Rad2deg": of_wide(lambda x: x * (180 / math.pi)),
    "Exp2": formula(formulas.exp2),
    "Cbrt": of_wide(formulas.cbrt),
    "Trunc": lambda n: formulas.trunc(Term(n, n.tensor())).value,
    "Fabs": formula(lambda x: x.function(nn.Abs)),
    "Signbit": formula(formulas.is_negative),
    "Sinc": formula(formulas.sinc),
    "Isfinite": formula(formulas.isfinite),
    "Isneginf": formula(lambda x: x.equals(-math.inf)),
    "Isposinf": formula(lambda x: x.equals(math.inf)),
    "Isreal": formula(lambda x: x.equals(x) | formulas.isnan(x)),
    "Erfinv": wide(special.erfinv),
    "Ndim": lambda n: n.constant(n.tensor().type.rank, i64),
})  # fmt: skip


@layer("ops.Isclose")
def is_close(n: KerasLayer) -> Value:
    a, b = two(n)
    relative, absolute = float(n.argument(2, "rtol", 1e-5)), float(n.argument(3, "atol", 1e-8))
    return near(a, b, relative, absolute).value


def near(a: Term, b: Term, relative: float, absolute: float, equal_nan: bool = False) -> Term:
    """Whether floats are close, and integers equal, as Keras truncates their tolerance to 0."""
    if not isinstance(a.element, FloatType):
        return a.equals(b)
    return formulas.isclose(a, b, relative, absolute, equal_nan)


@layer("ops.NanToNum")
def nan_to_num(n: KerasLayer) -> Value:
    given = [n.argument(i, name) for i, name in ((1, "nan"), (2, "posinf"), (3, "neginf"))]
    numbers = (None if v is None else float(v) for v in given)
    return formulas.nan_to_num(Term(n, n.tensor()), *numbers).value


@layer("ops.Threshold")
def threshold(n: KerasLayer) -> Value:
    x, limit = Term(n, n.tensor()), float(n.argument(1, "threshold"))
    return (x > limit).choose(x, float(n.argument(2, "default_value"))).value


# -- orders and statistics -------------------------------------------------------------------------


def _one_axis(n: KerasLayer, place: int) -> tuple[Value, int]:
    """The operand and one of its axes; for None, the flattened operand."""
    x, axis = n.tensor(), n.argument(place, "axis", -1)
    if axis is None:
        return Term(n, x).flat().value, 0
    return x, normalize_axis(n, axis, x.type.rank)


@layer("ops.Sort", "ops.Argsort")
def sort(n: KerasLayer) -> Value:
    x, axis = _one_axis(n, 1)
    values, places = ordered(n, x, axis)
    return values if n.kind == "ops.Sort" else n.cast(places, i32)


@layer("ops.Median", "ops.Quantile", "ops.Percentile")
def quantile(n: KerasLayer) -> Value:
    """Quantiles, interpolated between sorted elements along axes."""
    x, given = n.floating(n.tensor()), n.kind == "ops.Median"
    share = np.float32(0.5 if given else n.argument(1, "q"))  # as Keras rounds it
    shares = np.asarray(share / np.float32(100 if n.kind == "ops.Percentile" else 1), np.float64)
    axes = axes_of(n, x, n.argument(1 if given else 2, "axis"))
    keep = bool(n.argument(2 if given else 4, "keepdims", False))
    method = str(n.argument(3, "method", "linear"))
    if n.kind != "ops.Percentile":
        method = "linear"  # that of a quantile gets lost in a model of Keras 3
    rows = Term(n, rows_of(n, x, axes))
    in_order = Term(n, ordered(n, rows.value, rows.rank - 1)[0])
    missing = formulas.isnan(rows).cast(i32).largest(rows.rank - 1) > 0
    parts = [_between(in_order, q, method) for q in shares.reshape(-1).tolist()]
    return of_shares([missing.choose(math.nan, part) for part in parts], shares, x, axes, keep)


def of_shares(
    parts: Sequence[Term], shares: np.ndarray, x: Value, axes: Sequence[int], keep: bool
) -> Value:
    """The results `parts` for each share q, stacked along a new first axis unless q is a scalar."""
    if keep:
        rest = iter((x, i) for i in range(x.type.rank) if i not in axes)
        extents = [1 if i in axes else next(rest) for i in range(x.type.rank)]
        parts = [part.reshape(*extents) for part in parts]
    return joined([p.spread(1, 0) for p in parts], 0).value if shares.ndim else parts[0].value


def rows_of(n: KerasLayer, x: Value, axes: Sequence[int]) -> Value:
    """x with the given axes merged into the last dimension."""
    rest = [i for i in range(x.type.rank) if i not in axes]
    moved, count = n(nn.Transpose(x, permutation=(*rest, *axes))), len(rest)
    return merge(n, moved, [*((i, i + 1) for i in range(count)), (count, x.type.rank)])


def _between(row: Term, share: float, method: str) -> Term:
    """The element at a share of each sorted row."""
    last = extent(row.n, (row.value, row.rank - 1)) - 1
    place = last.cast(f64) * share
    below, above = place.function(nn.Floor), place.function(nn.Ceil)

    def at(place: Term) -> Term:
        return row.gather(place.cast(i64), row.rank - 1)

    match method:
        case "lower":
            return at(below)
        case "higher":
            return at(above)
        case "nearest":
            return at(place.function(nn.Round))
        case "midpoint":
            return (at(below) + at(above)) * 0.5
        case "linear":
            upper = above.max(last.min(1).cast(f64))
            part = (upper - place).cast(row.element)
            return at(upper) * (1.0 - part) + at((upper - 1.0).max(0.0)) * part
    raise row.n.error(f"'method' is '{method}'")


@layer("ops.CountNonzero")
def count_nonzero(n: KerasLayer) -> Value:
    x = Term(n, n.tensor())
    axes = axes_of(n, x.value, n.argument(1, "axis"))
    return x.cast(i1).cast(i32).sum(*axes).value


@layer("ops.Ptp")
def span(n: KerasLayer) -> Value:
    x = Term(n, n.tensor())
    axes, keep = axes_of(n, x.value, n.argument(1, "axis")), bool(n.argument(2, "keepdims", False))
    least = reduced(n, x.value, nn.ReduceMin, axes, keep=keep)
    return (x.largest(*axes, keep=keep) - Term(n, least)).value


@layer("ops.Average")
def average(n: KerasLayer) -> Value:
    x, weights = Term(n, n.floating(n.tensor())), n.argument(2, "weights")
    axes = axes_of(n, x.value, n.argument(1, "axis"))
    if weights is None:
        return reduced(n, x.value, nn.ReduceMean, axes)
    w = operand(n, weights, x.element)
    if w.rank < x.rank:
        w = w.reshape(*((w.value, 0) if i == axes[0] else 1 for i in range(x.rank)))
    whole = x * 0.0 + w
    return ((x * w).sum(*axes) / whole.sum(*axes)).value


@layer("ops.Moments")
def moments(n: KerasLayer) -> list[Value]:
    """Mean and variance; f16 is computed in f32, and clipped to the range of f16."""
    kept = n.tensor().type.element_type
    if not isinstance(kept, FloatType):
        raise n.error("moments of integers are not supported")
    x = Term(n, n.cast(n.tensor(), result_type(kept, f32)))
    axes, keep = axes_of(n, x.value, n.argument(1, "axes")), bool(n.argument(2, "keepdims", False))
    mean = x.mean(*axes, keep=True)
    apart = x - mean
    found = [reduced(n, v.value, nn.ReduceMean, axes, keep=keep) for v in (x, apart * apart)]
    if kept is x.element:
        return found
    most = greatest(f16)
    return [n.cast(clipped(n, v, -most, most), kept) for v in found]


@layer("ops.Nansum", "ops.Nanmax", "ops.Nanmin", "ops.Nanmean", "ops.Nanprod")
def without_nans(n: KerasLayer) -> Value:
    """The reduction of the elements that are not NaN; sums and products have 32 bits or more."""
    kind = n.kind.removeprefix("ops.Nan")
    given = summed(n, n.tensor()) if kind in ("sum", "prod") else n.tensor()
    x = Term(n, n.floating(given) if kind == "mean" else given)
    axes, keep = axes_of(n, x.value, n.argument(1, "axis")), bool(n.argument(2, "keepdims", False))
    ops = {"max": nn.ReduceMax, "min": nn.ReduceMin, "prod": nn.ReduceProd}
    op = ops.get(kind, nn.ReduceSum)
    if not isinstance(x.element, FloatType):
        return reduced(n, x.value, op, axes, keep=keep)
    missing = formulas.isnan(x)
    filled = missing.choose({"max": -math.inf, "min": math.inf, "prod": 1.0}.get(kind, 0.0), x)
    found = Term(n, reduced(n, filled.value, op, axes, keep=keep))
    if kind in ("sum", "prod"):
        return found.value
    count = (~missing).cast(x.element).sum(*axes, keep=keep)
    return (found / count if kind == "mean" else count.equals(0.0).choose(math.nan, found)).value


@layer("ops.SearchSorted", "ops.Digitize")
def search_sorted(n: KerasLayer) -> Value:
    """How many sorted values are below each element (or not above it, if right); 0 for NaN."""
    row, x = (n.argument(i, name) for i, name in ((0, "sorted_sequence"), (1, "values")))
    right = n.argument(2, "side", "left") == "right"
    if n.kind == "ops.Digitize":
        x, row, right = n.argument(0, "x"), n.argument(1, "bins"), True
    table, value = pair(n, row, x)
    found = arrays.searchsorted(table, value, right).cast(i32)
    if right or not isinstance(value.element, FloatType):
        return found.value
    return formulas.isnan(value).choose(0, found).value


# -- parts and joins -------------------------------------------------------------------------------


@layer("ops.Append")
def append(n: KerasLayer) -> Value:
    a, b = two(n)
    axis = n.argument(2, "axis")
    parts = [a.flat(), b.flat()] if axis is None else [a, b]
    return joined(parts, 0 if axis is None else axis).value


@layer("ops.Diff")
def diff(n: KerasLayer) -> Value:
    x = n.tensor()
    axis = normalize_axis(n, n.argument(2, "axis", -1), x.type.rank)
    return arrays.diff(n, x, axis, int(n.argument(1, "n", 1)))


@layer("ops.Rot90")
def rotate(n: KerasLayer) -> Value:
    x, turns = n.tensor(), int(n.argument(1, "k", 1))
    return arrays.rot90(
        n, x, turns, *normalize_axes(n, n.argument(2, "axes") or (0, 1), x.type.rank)
    )


@layer("ops.Diagonal", "ops.Trace")
def diagonals(n: KerasLayer) -> Value:
    x, offset = n.tensor(), int(n.argument(1, "offset", 0))
    axes = [normalize_axis(n, n.argument(i, f"axis{i - 1}", i - 2), x.type.rank) for i in (2, 3)]
    found = diagonal(n, x, offset, *axes)
    if n.kind == "ops.Diagonal":
        return found
    return Term(n, summed(n, found)).sum(found.type.rank - 1).value


@layer("ops.Meshgrid")
def mesh(n: KerasLayer) -> list[Value]:
    return arrays.meshgrid(n, n.tensors(), n.option("indexing", "xy"))


@layer("ops.Slice")
def slice_operation(n: KerasLayer) -> Value:
    x, starts, shape = n.tensor(), n.argument(1, "start_indices"), n.argument(2, "shape")
    for axis, (begin, count) in enumerate(zip(starts, shape, strict=True)):
        if isinstance(begin, Value):
            raise n.error("a start that is computed is not supported")
        x = slice_axis(n, x, axis, int(begin), int(begin) + int(count))
    return x


@layer("ops.ScatterUpdate", "ops.Scatter")
def scatter(n: KerasLayer) -> Value:
    names = (
        ("inputs", "indices", "updates") if "Update" in n.kind else ("indices", "values", "shape")
    )
    first, second, third = (n.argument(i, name) for i, name in enumerate(names))
    if n.kind == "ops.Scatter":
        updates, indices, how = second, first, "add"
        zeros = np.zeros([int(d) for d in third])
        element = updates.type.element_type if isinstance(updates, Value) else f32
        whole = n.constant(zeros, element)
    else:
        whole, indices, updates, how = first, second, third, "none"
    places = n.cast(indices, i64) if isinstance(indices, Value) else n.constant(indices, i64)
    added = operand(n, updates, whole.type.element_type)
    return n(nn.ScatterNd(whole, places, added.value, reduction=how))


@layer("ops.Hsplit", "ops.Vsplit", "ops.Dsplit", "ops.ArraySplit")
def split_up(n: KerasLayer) -> list[Value]:
    x, given = n.tensor(), n.argument(1, "indices_or_sections")
    axis = {"ops.Hsplit": min(1, x.type.rank - 1), "ops.Vsplit": 0, "ops.Dsplit": 2}.get(
        n.kind, n.argument(2, "axis", 0)
    )
    axis = normalize_axis(n, int(axis or 0), x.type.rank)
    count = x.type.shape[axis]
    if count is None:
        raise n.error("the extent of the axis must be known")
    cuts = given if isinstance(given, int) else [int(c) for c in given]
    return split_into(n, x, axis, arrays.array_split(count, cuts))
