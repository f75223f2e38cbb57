"""Scattering, masking, repeating and counting of elements; diagonals."""

from __future__ import annotations

from ...common import arrays
from ...common.blocks import pixel_unshuffle
from ...common.formulas import all_of, heaviside, isfinite, trunc
from ...common.pooling import unpooled_in_planes
from ...common.vocabulary import *
from ..layer import PaddleLayer, rows
from .elementwise import aligned
from .losses import of_terms

# -- positions -------------------------------------------------------------------------------------

_REDUCTIONS = {"assign": "none", "add": "add", "mul": "mul", "multiply": "mul", "amax": "max",
               "amin": "min"}  # fmt: skip


@rows("put_along_axis", "put_along_axis_")
def put_along(n: PaddleLayer, x: Value, index: Value, values: Value) -> Value:
    how = _REDUCTIONS.get(n.text("reduce", "assign"))
    if how is None or not n.flag("include_self", True):
        raise n.error(f"values that are combined by '{n.text('reduce')}' are not supported")
    wide = Term(n, values) + (Term(n, index) * 0).cast(values.type.element_type)
    axis = n.axis(x, n.int("axis"))
    return n(nn.ScatterElements(x, n.cast(index, i64), wide.value, axis=axis, reduction=how))


@rows("scatter", "scatter_")
def scatter(n: PaddleLayer, x: Value, index: Value, updates: Value) -> Value:
    """x with rows replaced by updates; without `overwrite`, each by the sum of its updates."""
    places = Term(n, index).cast(i64).flat().spread(0, 1).value
    if n.flag("overwrite", True):
        return n(nn.ScatterNd(x, places, updates))
    zeros = n(nn.ScatterNd(x, places, (Term(n, updates) * 0).value))
    return n(nn.ScatterNd(zeros, places, updates, reduction="add"))


@rows("index_put", "index_put_")
def index_put(n: PaddleLayer, x: Value, indices: list, values: Value) -> Value:
    if any(v.type.element_type is i1 for v in indices):
        raise n.error("masks among the positions are not supported")
    terms = [Term(n, v).cast(i64) for v in indices]
    rank = max(t.rank for t in terms)
    together = sum((t * 0 for t in terms[1:]), terms[0] * 0)
    columns = [(t + together).spread(0, 1) for t in terms]
    index = joined(columns, rank)
    last = [(x, i) for i in range(len(indices), x.type.rank)]
    like = together.cast(x.type.element_type).spread(0, len(last))
    wide = Term(n, values) + like
    if last:
        zeros = constant(n, 0, x.type.element_type)
        wide = wide + zeros.filled(Term(n, n.vector([extent(n, e).value for e in last])))
    how = "add" if n.flag("accumulate") else "none"
    return n(nn.ScatterNd(x, index.value, wide.value, reduction=how))


@rows("index_add", "index_add_")
def index_add(n: PaddleLayer, x: Value, index: Value, added: Value) -> Value:
    axis = n.axis(x, n.int("axis"))
    order = (axis, *(i for i in range(x.type.rank) if i != axis))
    moved = [transposed(n, v, order) for v in (x, added)]
    places = Term(n, index).cast(i64).spread(0, 1).value
    found = n(nn.ScatterNd(moved[0], places, moved[1], reduction="add"))
    return transposed(n, found, tuple(np.argsort(order).tolist()))


@rows("set_value_", "set_value", "set_value_with_tensor_", "set_value_with_tensor")
def set_value(n: PaddleLayer, x: Value, *operands: Any) -> Value:
    """x with a slice set to numbers or to a tensor."""
    given = operands[0] if len(operands) == 4 else None
    starts, ends, steps = (n.numbers(v, "positions") for v in operands[-3:])
    axes = [n.axis(x, a) for a in n.ints("axes")]
    if None in x.type.shape or n.ints("none_axes"):
        raise n.error(f"a slice of '{x.type}', expected known extents")
    where = [slice(None)] * x.type.rank
    for axis, *bounds in zip(axes, starts, ends, steps, strict=True):
        where[axis] = slice(*(None if b < -(x.type.shape[axis] or 0) else b for b in bounds))
    places = np.arange(np.prod(x.type.shape)).reshape(x.type.shape)[tuple(where)]
    if given is None:
        element = x.type.element_type
        values = constant(n, np.reshape(n.get("values"), n.ints("shape")), element)
    else:
        values = Term(n, n.cast(given, x.type.element_type))
        dropped = [n.axis(x, a) for a in n.ints("decrease_axes")]
        own = iter((given, i) for i in range(given.type.rank))
        if dropped and given.type.rank == x.type.rank - len(dropped):
            wide = [1 if i in dropped else next(own) for i in range(x.type.rank)]
            values = values.reshape(*wide)
    out = TensorType(places.shape, x.type.element_type)
    values = values.made(nn.BroadcastTo(values.value, out=out)).flat()
    flat = Term(n, x).flat()
    at = n.constant(places.reshape(-1).astype(np.int64))
    found = n(nn.ScatterElements(flat.value, at, values.value, axis=0))
    return reshape(n, found, x.type.shape)


# -- masks and numbers of times --------------------------------------------------------------------


@rows("masked_select")
def masked_select(n: PaddleLayer, x: Value, mask: Value) -> Value:
    flags = n(nn.And(mask, n(nn.Equal(x, x)))) if mask.type.rank != x.type.rank else mask
    places = true_places(n, flags)
    return gathered_nd(n, x, places)


@rows("repeat_interleave", "repeat_interleave_with_tensor_index")
def repeated(n: PaddleLayer, x: Value, repeats: Value | None = None) -> Value:
    """Each element along an axis repeated, a fixed number of times or by `repeats`."""
    axis = n.axis(x, n.int("axis"))
    if repeats is None:
        return arrays.repeat(n, x, n.int("repeats"), axis)
    return arrays.repeat_each(n, x, repeats, axis)


@rows("sequence_mask")
def sequence_mask(n: PaddleLayer, lengths: Value, longest: Value | None = None) -> Value:
    given = n.int("maxlen", -1)
    if longest is None and given < 0:
        axes = tuple(range(lengths.type.rank))
        count = Term(n, n.cast(lengths, i64)).largest(*axes)
    else:
        count = constant(n, given, i64) if longest is None else Term(n, n.cast(longest, i64))
        count = Term(n, as_scalar(n, count.value))
    inside = counting(n, count) < Term(n, lengths).cast(i64).spread(0, 1)
    return inside.cast(n.element("out_dtype", i64)).value


@rows("searchsorted")
def searchsorted(n: PaddleLayer, line: Value, x: Value) -> Value:
    """The number of elements of each line that are smaller than x or, with `right`, not larger.

    For an x that is not finite, it is the length of the line.
    """
    value = Term(n, x)
    number = arrays.searchsorted(Term(n, line), value, n.flag("right"))
    if isinstance(value.element, FloatType):
        number = isfinite(value).choose(number, extent(n, (line, line.type.rank - 1)))
    return n.cast(number.value, i32 if n.flag("out_int32") else i64)


# -- diagonals -------------------------------------------------------------------------------------


@rows("diagonal", "trace")
def diagonals(n: PaddleLayer, x: Value) -> Value:
    first, second = n.axis(x, n.int("axis1", 0)), n.axis(x, n.int("axis2", 1))
    found = diagonal(n, x, n.int("offset"), first, second)
    return Term(n, found).sum(found.type.rank - 1).value if n.kind == "trace" else found


@rows("diag", "diag_embed")
def matrices(n: PaddleLayer, x: Value) -> Value:
    """Vectors as diagonals of matrices; `diag` of a matrix is its diagonal."""
    if n.kind == "diag" and x.type.rank == 2:
        return diagonals(n, x)
    axes = n.int("dim1", -2), n.int("dim2", -1)
    return on_diagonal(n, x, n.int("offset"), *axes, n.float("padding_value"))


# -- numbers ---------------------------------------------------------------------------------------


@rows("linspace", "logspace")
def spaced(
    n: PaddleLayer, begin: Value, end: Value, count: Value, base: Value | None = None
) -> Value:
    """Evenly spaced numbers, or the powers of a base with such exponents.

    Both ends are cast to the result's type first, and each half is counted from its end.
    """
    element = n.element("dtype", f32)
    low, high = (Term(n, as_scalar(n, v)).cast(element).cast(f64) for v in (begin, end))
    number = Term(n, as_scalar(n, n.cast(count, i64)))
    place, last = counting(n, number), number - 1
    step = (high - low) / last.max(1).cast(f64)
    rising, falling = low + place.cast(f64) * step, high - (last - place).cast(f64) * step
    found = ((place * 2 < last) | place.equals(0)).choose(rising, falling)
    if base is not None:
        found = Term(n, as_scalar(n, base)).cast(element).cast(f64) ** found
    return found.cast(element).value


@rows("eye")
def eye(n: PaddleLayer, height: Value, width: Value) -> Value:
    shape = [n.known_int(v, "a matrix's extent") for v in (height, width)]
    shape[1] = shape[0] if shape[1] < 0 else shape[1]
    return n.constant(np.eye(shape[0], shape[1]), n.element("dtype", f32))


@rows("tril_indices", "triu_indices")
def triangle_indices(n: PaddleLayer) -> Value:
    make = np.tril_indices if n.kind == "tril_indices" else np.triu_indices
    size = n.int("rows", n.int("row")), n.int("offset"), n.int("cols", n.int("col"))
    return n.constant(np.stack(make(*size)), n.element("dtype", i64))


# -- other -----------------------------------------------------------------------------------------


@rows("kthvalue")
def kth(n: PaddleLayer, x: Value) -> list[Value]:
    axis, k = n.axis(x, n.int("axis", -1)), n.int("k", 1)
    values, places = largest(n, x, n.constant(k, i64), axis, False, True)
    found = [Term(n, v).part(axis, k - 1, k) for v in (values, places)]
    if n.flag("keepdim"):
        return [v.value for v in found]
    kept = [i for i in range(x.type.rank) if i != axis]
    return [v.reshape(*((v.value, i) for i in kept)).value for v in found]


@rows("unpool")
def unpool(n: PaddleLayer, x: Value, places: Value, size: Any = None) -> Value:
    """Max unpooling: zeros with x at the positions `places`, which are relative to the channel."""
    known = n.wanted(size)[1] if size is not None else list(n.ints("output_size"))
    shape = [*x.type.shape[:2], *known[-2:]]
    if None in shape:
        raise n.error(f"windows of '{x.type}', expected known extents")
    return unpooled_in_planes(n, x, places, shape)


@rows("crop")
def crop(n: PaddleLayer, x: Value, shape: Any, offsets: Any) -> Value:
    begins, sizes = n.numbers(offsets, "offsets"), n.numbers(shape, "a shape")
    for axis, (begin, size) in enumerate(zip(begins, sizes, strict=True)):
        x = slice_axis(n, x, axis, begin, FAR if size == -1 else begin + size)
    return x


@rows("broadcast_tensors")
def broadcast_all(n: PaddleLayer, values: list) -> list:
    zeros = [Term(n, v) * 0 if v.type.element_type is not i1 else Term(n, v) for v in values]
    total = sum(zeros[1:], zeros[0])
    shape = shape_of(n, total.value)
    extents = n.extents(shape) or total.shape
    out = [TensorType(tuple(extents), v.type.element_type) for v in values]
    return [[n(nn.BroadcastDynamic(v, shape, out=t)) for v, t in zip(values, out, strict=True)]]


@rows("pixel_unshuffle")
def squares(n: PaddleLayer, x: Value) -> Value:
    if n.text("data_format", "NCHW") != "NCHW":
        raise n.error("squares of channels that are last are not supported")
    return pixel_unshuffle(n, x, n.int("downscale_factor", 1))


def _close(n: PaddleLayer, x: Term, y: Term, relative: Term, absolute: Term) -> Term:
    bound = y.function(nn.Abs) * relative.cast(y.element) + absolute.cast(y.element)
    same = ((x - y).function(nn.Abs) <= bound) | x.equals(y)
    both = x.function(nn.IsNan) & y.function(nn.IsNan)
    return same | both if n.flag("equal_nan") else same


def _swiglu(n: PaddleLayer, x: Term, y: Term | None = None) -> Term:
    if y is None:
        half = (x.shape[-1] or 0) // 2
        x, y = x.part(-1, 0, half), x.part(-1, half, 2 * half)
    return x * x.function(nn.Sigmoid) * y


def _heaviside(n: PaddleLayer, x: Term, y: Term) -> Term:
    return heaviside(*(Term(n, v) for v in aligned(n, x.value, y.value)), of_nan=0.0)


def _cross(n: PaddleLayer, x: Term, y: Term) -> Term:
    axis = n.int("axis", 9)
    return arrays.cross(x, y, x.shape.index(3) if axis == 9 else axis % x.rank)


def _logit(n: PaddleLayer, x: Term) -> Term:
    if eps := n.float("eps"):
        x = x.max(eps).min(1 - eps)
    return (x / (1.0 - x)).function(nn.Log)


def _label_smooth(n: PaddleLayer, x: Term, prior: Term | None = None) -> Term:
    epsilon = np.float32(n.float("epsilon"))  # Paddle's has 32 bits
    kept = x * float(np.float32(1) - epsilon)
    if prior is not None:
        return kept + prior * float(epsilon)
    return kept + float(epsilon / np.float32(x.shape[-1] or 1))


rows.add(
    {
        "trunc": of_terms(lambda n, x: trunc(x)),
        "atan2": of_terms(lambda n, y, x: atan2(y, x)),
        "lerp": of_terms(lambda n, x, y, w: x + w * (y - x)),
        "isclose": of_terms(_close),
        "allclose": of_terms(lambda n, *given: all_of(_close(n, *given))),
        "equal_all": of_terms(lambda n, x, y: all_of(x.equals(y))),
        "cross": of_terms(_cross),
        "heaviside": of_terms(_heaviside),
        "label_smooth": of_terms(_label_smooth),
        "logit": of_terms(_logit),
        "swiglu": of_terms(_swiglu),
    }
)
