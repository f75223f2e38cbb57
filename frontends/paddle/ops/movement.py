"""Operators that move, create, search and count elements."""

from __future__ import annotations

from ...common import arrays
from ...common import movement as family
from ...common.vocabulary import *
from ..layer import PaddleLayer, rows

rows.formulas(
    {
        "builtin.combine": lambda n, *values: [list(values)],
        "builtin.split": lambda n, values: list(values),
        "builtin.slice": lambda n, values: [values[n.int("index")]],
        "gather_nd": lambda n, x, index: gathered_nd(n, x, index),
        "index_sample": lambda n, x, index: gathered_elements(n, x, index, 1),
        "nonzero where_index": lambda n, x: true_places(n, x),
        "flatten2": lambda n, x: flatten(n, x, n.int("axis", 1)),
    }
)


# -- shapes ----------------------------------------------------------------------------------------


@rows("reshape", "reshape_")
def reshaped(n: PaddleLayer, x: Value, shape: Any) -> Value:
    vector, known = n.wanted(shape)
    extents: list[Any] = list(known)
    for i, extent in enumerate(known):
        if extent == 0:
            extents[i] = (x, i)
    return reshape_by(n, x, vector, extents)


@rows("flatten", "flatten_")
def flattened(n: PaddleLayer, x: Value) -> Value:
    if x.type.rank == 0:
        return reshape(n, x, [1])
    first, last = (n.axis(x, n.int(name, d)) for name, d in (("start_axis", 1), ("stop_axis", -1)))
    groups = [(i, i + 1) for i in range(first)]
    groups += [(first, last + 1), *((i, i + 1) for i in range(last + 1, x.type.rank))]
    return merge(n, x, groups)


@rows("squeeze", "squeeze_")
def squeezed(n: PaddleLayer, x: Value, axes: Any = None) -> Value:
    chosen = n.numbers(axes, "axes") if axes is not None else ()
    where = {n.axis(x, a) for a in chosen} or set(range(x.type.rank))
    return family.squeezed(n, x, *(a for a in where if x.type.shape[a] == 1))


@rows("unsqueeze", "unsqueeze_")
def unsqueezed(n: PaddleLayer, x: Value, axes: Any) -> Value:
    return family.unsqueezed(n, x, *n.numbers(axes, "axes"))


@rows("transpose", "transpose_")
def transpose(n: PaddleLayer, x: Value) -> Value:
    order = n.ints("perm", n.ints("axis"))
    return transposed(n, x, [n.axis(x, a) for a in order])


@rows("expand", "expand_v2")
def expand(n: PaddleLayer, x: Value, shape: Any) -> Value:
    vector, known = n.wanted(shape)
    ones = [1 if e == -1 else e for e in known]
    if -1 in known:
        vector = n(nn.Where(n(nn.Less(vector, n.constant(0, i64))), n.constant(1, i64), vector))
    return expand_by(n, x, vector, tuple(ones))


@rows("expand_as")
def expand_as(n: PaddleLayer, x: Value, like: Value | None = None) -> Value:
    if like is None:
        shape = n.constant(np.array(n.ints("target_shape"), np.int64))
    else:
        shape = shape_of(n, like)
    return expand_by(n, x, shape, tuple(n.extents(shape) or ()))


@rows("tile")
def tile(n: PaddleLayer, x: Value, repeats: Any) -> Value:
    counts = np.array(n.numbers(repeats, "repeats"), np.int64)
    return arrays.tile(n, x, n.constant(counts))


@rows("shape", "shape64")
def shape(n: PaddleLayer, x: Value) -> Value:
    return n.cast(shape_of(n, x), i64 if n.kind == "shape64" else i32)


@rows("numel", "size")
def count(n: PaddleLayer, x: Value) -> Value:
    return reduced(n, shape_of(n, x), nn.ReduceProd, (0,))


# -- parts -----------------------------------------------------------------------------------------


@rows("concat")
def joined(n: PaddleLayer, values: list, axis: Value | None = None) -> Value:
    where = n.int("axis") if axis is None else n.known_int(axis, "axis")
    return concat(n, values, n.axis(values[0], where))


@rows("stack")
def stacked(n: PaddleLayer, values: list) -> Value:
    return family.stacked(n, values, n.int("axis") % (values[0].type.rank + 1))


@rows("unstack", "unbind")
def unstacked(n: PaddleLayer, x: Value) -> list:
    axis = n.axis(x, n.int("axis"))
    return [[Term(n, x).column(i, axis).value for i in range(n.extent(x, axis))]]


@rows("split", "split_with_num")
def split(n: PaddleLayer, x: Value, *rest: Any) -> list:
    axis = n.axis(x, n.known_int(rest[-1], "axis") if rest else n.int("axis"))
    extent = x.type.shape[axis]
    sizes = n.numbers(rest[0], "sections") if n.kind == "split" and rest[0] is not None else ()
    if not sizes:
        return [split_evenly(n, x, axis, n.int("num", 1))]
    if -1 in sizes and extent is not None:
        left = extent - sum(s for s in sizes if s != -1)
        sizes = tuple(left if s == -1 else s for s in sizes)
    if sizes.count(-1) > 1:
        raise n.error(f"sections {list(sizes)}, of which only one may be -1")
    parts, at = [], 0
    for i, size in enumerate(sizes):
        if size == -1:  # of an unknown extent: the rest is counted from its end
            behind = -sum(sizes[i + 1 :])
            parts.append(slice_axis(n, x, axis, at, behind or FAR))
            at = behind
        else:
            parts.append(slice_axis(n, x, axis, at, at + size if at >= 0 else at + size or FAR))
            at += size
    return [parts]


@rows("slice")
def sliced(n: PaddleLayer, x: Value, starts: Any, ends: Any) -> Value:
    found = x
    axes = n.ints("axes")
    for axis, begin, end in zip(axes, _each(n, starts), _each(n, ends), strict=True):
        found = slice_axis(n, found, n.axis(x, axis), begin, _end(end))
    dropped = {n.axis(x, a) for a in n.ints("decrease_axis")}
    return family.squeezed(n, found, *dropped) if dropped else found


def _end(end: Any) -> Any:
    return FAR if isinstance(end, int) and end >= FAR else end


def _each(n: PaddleLayer, vector: Any) -> list:
    """The numbers of a vector; 0-d values for those unknown at import."""
    whole = n.vector(vector)
    known = n.extents(whole)
    if known is None:
        raise n.error("the number of positions must be known at import")
    return [
        Term(n, whole).column(i, 0).value if number is None else number
        for i, number in enumerate(known)
    ]


@rows("strided_slice")
def strided(n: PaddleLayer, x: Value, starts: Any, ends: Any, strides: Any) -> Value:
    found = x
    steps = n.numbers(strides, "strides")
    bounds = zip(n.ints("axes"), _each(n, starts), _each(n, ends), steps, strict=True)
    for axis, begin, end, step in bounds:
        found = slice_axis(n, found, n.axis(x, axis), begin, _end(end), step)
    dropped = {n.axis(x, a) for a in n.ints("decrease_axis")}
    return family.squeezed(n, found, *dropped)


@rows("flip")
def flip(n: PaddleLayer, x: Value) -> Value:
    return reversed_axes(n, x, [n.axis(x, a) for a in n.ints("axis")])


@rows("roll")
def roll(n: PaddleLayer, x: Value, shifts: Any) -> Value:
    amounts, axes = n.numbers(shifts, "shifts"), n.ints("axis")
    if not axes:
        flat = Term(n, x).flat().value
        return reshape(n, rolled(n, flat, 0, amounts[0]), dims(x))
    for axis, amount in zip(axes, amounts, strict=True):
        x = rolled(n, x, n.axis(x, axis), amount)
    return x


@rows("tril", "triu")
def triangle(n: PaddleLayer, x: Value) -> Value:
    k = n.constant(n.int("diagonal"), i64)
    return n(nn.Trilu(x, k, upper=n.kind == "triu"))


# -- indices ---------------------------------------------------------------------------------------


@rows("gather")
def gather(n: PaddleLayer, x: Value, index: Value, axis: Value | None = None) -> Value:
    where = n.axis(x, 0 if axis is None else n.known_int(axis, "axis"))
    places = Term(n, index).flat() if index.type.rank == 2 else Term(n, index)  # [count, 1]
    return gathered(n, x, places.cast(i64).value, where)


@rows("index_select")
def index_select(n: PaddleLayer, x: Value, index: Value) -> Value:
    return gathered(n, x, n.cast(index, i64), n.axis(x, n.int("axis")))


@rows("take_along_axis")
def take_along(n: PaddleLayer, x: Value, index: Value) -> Value:
    return gathered_elements(n, x, index, n.axis(x, n.int("axis")))


@rows("embedding", "lookup_table_v2")
def embedding(n: PaddleLayer, index: Value, table: Value) -> Value:
    index = n.cast(index, i64)
    found = gathered(n, table, index)
    padding = n.int("padding_idx", -1)
    if padding < 0:
        return found
    is_padding = n(nn.Equal(index, n.constant(padding, i64)))
    mask = reshape(n, is_padding, [*((is_padding, i) for i in range(index.type.rank)), 1])
    return n(nn.Where(mask, n.scalar(0, found), found))


@rows("one_hot", "one_hot_v2")
def one_hot_(n: PaddleLayer, index: Value, depth: Value) -> Value:
    return one_hot(n, index, depth, n.constant(np.array([0, 1], np.float32)), -1)


@rows("scatter_nd_add")
def scatter_nd_add(n: PaddleLayer, x: Value, index: Value, updates: Value) -> Value:
    return n(nn.ScatterNd(x, n.cast(index, i64), updates, reduction="add"))


@rows("argmax", "argmin")
def arg(n: PaddleLayer, x: Value, axis: Value | None = None) -> Value:
    op = nn.Argmax if n.kind == "argmax" else nn.Argmin
    if isinstance(x.type.element_type, FloatType):  # NaN is no extreme
        least = -math.inf if n.kind == "argmax" else math.inf
        x = Term(n, n(nn.IsNan(x))).choose(least, Term(n, x)).value
    keep = n.flag("keepdims")
    where = n.int("axis", -1) if axis is None else n.known_int(axis, "axis")
    found = extreme_at(n, x, op, None if n.flag("flatten") else n.axis(x, where), keep)
    return n.cast(found, n.element("dtype", i64))


@rows("topk", "top_k_v2")
def topk(n: PaddleLayer, x: Value, k: Value) -> tuple[Value, Value]:
    axis = n.axis(x, n.int("axis", -1))
    return largest(n, x, k, axis, n.flag("largest", True), n.flag("sorted", True))


@rows("argsort")
def argsort(n: PaddleLayer, x: Value) -> tuple[Value, Value]:
    axis = n.axis(x, n.int("axis", -1))
    return ordered(n, x, axis, n.flag("descending"))


# -- reductions ------------------------------------------------------------------------------------

_REDUCE = named("""
    sum=ReduceSum mean=ReduceMean max=ReduceMax min=ReduceMin prod=ReduceProd amax=ReduceMax
    amin=ReduceMin all=ReduceMin any=ReduceMax
    squared_l2_norm=ReduceSumSquare
""")


def _log_sum_exp(n: PaddleLayer, x: Value, axes: tuple[int, ...], keep: bool) -> Value:
    """The logarithm of the sum of exp(x); NaN if the largest element is infinite."""
    t = Term(n, x)
    top = t.largest(*axes, keep=True)
    total = (t - top).function(nn.Exp).sum(*axes, keep=True).function(nn.Log) + top
    return total.value if keep else family.squeezed(n, total.value, *axes)


@rows(*_REDUCE, "logsumexp")
def reduce(n: PaddleLayer, x: Value, axes: Any = None) -> Value:
    if axes is not None:
        along = n.known_axes(axes, x)
    else:
        given = n.ints("axis", n.ints("dim"))
        along = normalize_axes(n, given, x.type.rank) if x.type.rank else ()
        along = along or tuple(range(x.type.rank))
    if n.flag("reduce_all"):
        along = tuple(range(x.type.rank))
    keep = n.flag("keepdim", n.flag("keep_dim"))
    if n.kind == "logsumexp":
        return _log_sum_exp(n, x, along, keep)
    op, element = _REDUCE[n.kind], x.type.element_type
    if n.kind in ("all", "any"):
        x = n.cast(x, i1)
    elif n.kind == "mean" and element is i1:  # whether any is true
        op = nn.ReduceMax
    elif n.kind in ("sum", "prod"):
        own = i64 if element is i1 or (element is i32 and n.kind == "sum") else element
        x = n.cast(x, n.element("dtype", own))
    return reduced(n, x, op, along, keep)


@rows("cumsum", "cumprod")
def cumulative(n: PaddleLayer, x: Value, axis: Value | None = None) -> Value:
    where = n.known_int(axis, "axis") if axis is not None else n.int("axis", n.int("dim", -1))
    if n.flag("flatten"):
        x, where = Term(n, x).flat().value, 0
    op = nn.Cumsum if n.kind == "cumsum" else nn.Cumprod
    exclusive, reverse = n.flag("exclusive"), n.flag("reverse")
    return n(op(x, axis=n.axis(x, where), exclusive=exclusive, reverse=reverse))


# -- what is made ----------------------------------------------------------------------------------


@rows("full", "full_int_array", "assign_value_", "assign_value")
def made(n: PaddleLayer, old: Value | None = None) -> Value:
    element = n.element("dtype", f32)
    if n.kind == "full_int_array":
        return n.constant(np.array(n.get("value", []), np.int64), element)
    shape = n.ints("shape")
    if n.kind == "full":
        value = n.get("value", 0.0)
        return n.constant(np.full(shape, _number(value)), element)
    names = ("values", "fp32_values", "int64_values", "int32_values", "bool_values", "fp64_values")
    values = next((v for v in map(n.get, names) if v), [])
    return n.constant(np.array([_number(v) for v in values]).reshape(shape), element)


def _number(value: Any) -> float:
    """A number, which may be stored as text or in a dictionary."""
    if isinstance(value, dict):
        value = value.get("D", value.get("value", 0))
    return float(value) if isinstance(value, str) else value


@rows("full_like", "zeros_like", "ones_like")
def full_like(n: PaddleLayer, x: Value, value: Value | None = None) -> Value:
    element = n.element("dtype", x.type.element_type)
    if value is None:
        value = n.constant(n.get("value", 1 if n.kind == "ones_like" else 0), element)
    return _filled(n, n.cast(as_scalar(n, value), element), shape_of(n, x))


@rows("full_with_tensor", "fill_constant")
def full_with(n: PaddleLayer, value: Value, shape: Any) -> Value:
    element = n.element("dtype", value.type.element_type)
    return _filled(n, n.cast(as_scalar(n, value), element), n.vector(shape))


@rows("full_batch_size_like", "fill_constant_batch_size_like")
def full_batch(n: PaddleLayer, like: Value, value: Value | None = None) -> Value:
    element = n.element("dtype", f32)
    if value is None:
        value = n.constant(n.get("value", 0.0), element)
    extents = list(n.ints("shape"))
    source, at = n.int("input_dim_idx"), n.int("output_dim_idx")
    parts = [n.constant(np.array([e], np.int64)) for e in extents]
    parts[at] = n.vector(Term(n, shape_of(n, like)).column(source, 0).value)
    shape = concatenated(n, parts)
    return _filled(n, n.cast(as_scalar(n, value), element), shape)


@rows("empty")
def empty(n: PaddleLayer, shape: Value) -> Value:
    """A tensor that the program has yet to fill: zeros."""
    element = n.element("dtype", f32)
    return _filled(n, n.constant(0, element), n.vector(shape))


def _filled(n: PaddleLayer, value: Value, shape: Value) -> Value:
    return Term(n, value).filled(Term(n, shape)).value


@rows("arange", "range")
def arange(n: PaddleLayer, begin: Value, end: Value, step: Value) -> Value:
    element = n.element("dtype", begin.type.element_type)
    return ranged(n, *(n.cast(as_scalar(n, v), element) for v in (begin, end, step)))


@rows("meshgrid")
def meshgrid(n: PaddleLayer, values: list) -> list:
    return [arrays.meshgrid(n, values, "ij")]


@rows("tril_triu")
def either_triangle(n: PaddleLayer, x: Value) -> Value:
    return n(nn.Trilu(x, n.constant(n.int("diagonal"), i64), upper=not n.flag("lower")))
