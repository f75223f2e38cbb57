"""Gathering, sorting, reductions, and sequences of different lengths."""

from __future__ import annotations

from ...common.formulas import without_nan
from ...common.reductions import variance as spread_of
from ...common.vocabulary import *
from ..layer import MxnetLayer, rows
from .layers import per_row, positions

# -- gathering ---------------------------------------------------------------------------------


def _inside(n: MxnetLayer, index: Value, size: Term) -> Term:
    """Indices clipped to the extent, or wrapped around, as the `mode` says."""
    found = n.term(index).cast(i64)
    if n.attributes.get("mode", "clip") == "wrap":
        return found % size
    return found.max(0).min(size - 1)


@rows("take", "_npi_take")
def take(n: MxnetLayer, x: Value, index: Value) -> Value:
    if n.get("axis", 0) is None:
        x = n.term(x).flat().value
    axis = n.axis("axis", 0, x.type.rank)
    return gathered(n, x, _inside(n, index, extent(n, (x, axis))).value, axis)


@rows("pick", "_npx_pick", "choose_element_0index")
def pick(n: MxnetLayer, x: Value, index: Value) -> Value:
    """The element of each row at its index."""
    axis, rank = n.axis("axis", -1, x.type.rank), x.type.rank
    keeps = index.type.rank == rank
    own = dims(index)
    if not keeps:
        own.insert(axis, 1)
    at = _inside(n, index, extent(n, (x, axis))).reshape(*own)
    found = gathered_elements(n, x, at.value, axis)
    if n.flag("keepdims"):
        return found
    found = reshape(n, found, [(found, i) for i in range(rank) if i != axis])
    return _result(n, found)


@rows("batch_take")
def batch_take(n: MxnetLayer, x: Value, index: Value) -> Value:
    n.check_rank(x, 2)
    at = _inside(n, index, extent(n, (x, 1))).spread(0, 1)
    found = gathered_elements(n, x, at.value, 1)
    return reshape(n, found, [(found, 0)])


@rows("gather_nd", "_npi_gather_nd", "_npx_gather_nd")
def gather_nd(n: MxnetLayer, x: Value, index: Value) -> Value:
    """Elements at index tuples, which lie along the first dimension of `index`."""
    rank = index.type.rank
    at = n.transposed(n.cast(index, i64), *range(1, rank), 0)
    return gathered_nd(n, x, at)


@rows("scatter_nd", "_scatter_set_nd", "_npi_scatter_set_nd")
def scatter_nd(n: MxnetLayer, *inputs: Value) -> Value:
    """Zeros, or a tensor, with updates scattered to index tuples."""
    if n.kind == "scatter_nd":
        (values, index), base = inputs, None
    else:
        base, values, index = inputs
    if base is None:
        base = n.zeros(n.ints("shape"), values.type.element_type)
    at = n.transposed(n.cast(index, i64), *range(1, index.type.rank), 0)
    return n(nn.ScatterNd(base, at, values))


@rows("one_hot", "_npx_one_hot")
def one_hot(n: MxnetLayer, index: Value) -> Value:
    on, off, depth = n.float("on_value", 1.0), n.float("off_value", 0.0), n.size("depth")
    element = n.element("dtype", f32)
    places = n.constant(np.arange(depth, dtype=np.int64))
    chosen = n.term(index).cast(i64).spread(0, 1).equals(n.term(places))
    return chosen.choose(constant(n, on, element), off).value


@rows("_contrib_index_copy")
def index_copy(n: MxnetLayer, x: Value, index: Value, new: Value) -> Value:
    return n(nn.ScatterNd(x, n.term(index).cast(i64).spread(0, 1).value, new))


@rows("_contrib_boolean_mask", "_npi_boolean_mask")
def boolean_mask(n: MxnetLayer, x: Value, mask: Value) -> Value:
    axis = n.axis("axis", 0, x.type.rank)
    places = n(nn.NonZero(n.cast(mask, i1)))
    return gathered(n, x, n(nn.Reshape(places, out=TensorType((None,), i64))), axis)


# -- order -------------------------------------------------------------------------------------


@rows("topk", "_npx_topk")
def topk(n: MxnetLayer, x: Value) -> list[Value] | Value:
    kind = n.text("ret_typ", "indices", "indices", "value", "both", "mask")
    x, axis, whole = _along_axis(n, x)
    count = n.int("k", 1)
    values, places = _ordered(n, x, axis, count if count > 0 else None, n.flag("is_ascend"))
    if kind == "mask":
        zeros = n.zeros(tuple(n.extent(x, i) for i in range(x.type.rank)), x.type.element_type)
        ones = n(nn.Fill(n.scalar(1, x), out=values.type))
        found = n(nn.ScatterElements(zeros, places, ones, axis=axis))
        return found if whole is None else reshape(n, found, whole)
    places = n.cast(places, n.element("dtype", f32))
    return {"indices": places, "value": values, "both": [values, places]}[kind]


@rows("sort", "_npi_sort")
def sort(n: MxnetLayer, x: Value) -> Value:
    x, axis, _ = _along_axis(n, x)
    return _ordered(n, x, axis, None, n.flag("is_ascend", True))[0]


@rows("argsort", "_npi_argsort")
def argsort(n: MxnetLayer, x: Value) -> Value:
    x, axis, _ = _along_axis(n, x)
    places = _ordered(n, x, axis, None, n.flag("is_ascend", True))[1]
    return n.cast(places, n.element("dtype", f32))


def _along_axis(n: MxnetLayer, x: Value) -> tuple[Value, int, list | None]:
    """(x, axis, None), or without an axis (x flattened, 0, its former shape)."""
    if n.attributes.get("axis") == "None":
        return n.term(x).flat().value, 0, dims(x)
    return x, n.axis("axis", -1, x.type.rank), None


def _ordered(
    n: MxnetLayer, x: Value, axis: int, count: int | None, rising: bool
) -> tuple[Value, Value]:
    if count is None:
        return ordered(n, x, axis, descending=not rising)
    return largest(n, x, n.constant(count, i64), axis, greatest=not rising)


# -- sequences ---------------------------------------------------------------------------------


@rows("SequenceMask", "_npx_sequence_mask")
def sequence_mask(n: MxnetLayer, x: Value, lengths: Value | None = None) -> Value:
    if lengths is None or not n.flag("use_sequence_length"):
        return x
    axis = n.axis("axis", 0, x.type.rank)
    inside = positions(n, x, axis) < per_row(n, lengths, axis, x.type.rank)
    return inside.choose(n.term(x), n.float("value", 0.0)).value


@rows("SequenceLast")
def sequence_last(n: MxnetLayer, x: Value, lengths: Value | None = None) -> Value:
    axis = n.axis("axis", 0, x.type.rank)
    n.check_rank(x, 2)
    if lengths is None or not n.flag("use_sequence_length"):
        return n.term(x).gather(extent(n, (x, axis)) - 1, axis).value
    at = n.term(lengths).cast(i64) - 1
    by_batch = n.transposed(x, 1, 0, *range(2, x.type.rank)) if axis == 0 else x
    return gathered_nd(n, by_batch, at.spread(0, 1).value, 1)


@rows("SequenceReverse")
def sequence_reverse(n: MxnetLayer, x: Value, lengths: Value | None = None) -> Value:
    n.check_rank(x, 2)
    count = extent(n, (x, 0))
    steps = counting(n, count)
    if lengths is None or not n.flag("use_sequence_length"):
        return n.term(x).gather(count - 1 - steps).value
    size = n.term(lengths).cast(i64).spread(0, 1)
    row = steps.spread(1, 0)
    at = (row < size).choose(size - 1 - row, row).spread(0, 1)
    order = (1, 0, *range(2, x.type.rank))
    return n.transposed(gathered_nd(n, n.transposed(x, *order), at.value, 1), *order)


# -- reductions --------------------------------------------------------------------------------


def _axes(n: MxnetLayer, x: Value) -> tuple[tuple[int, ...], bool]:
    """The axes to reduce, and whether that is all axes because none is named."""
    rank = x.type.rank
    axes = tuple(sorted(axis % rank for axis in n.ints("axis")))
    if n.flag("exclude"):
        return tuple(i for i in range(rank) if i not in axes), False
    return axes or tuple(range(rank)), not axes


def _result(n: MxnetLayer, out: Value) -> Value:
    """The result of a full reduction: of rank 1 in legacy MXNet, a scalar in its NumPy-like
    operators.
    """
    if out.type.rank == 0 and not n.kind.startswith("_np"):
        return reshape(n, out, [1])
    return out


def _reduction(op: Callable, prepare: Callable[[Term], Term] = lambda x: x) -> Callable:
    def convert(n: MxnetLayer, x: Value) -> Value:
        axes, _ = _axes(n, x)
        term = n.term(x)
        if term.element is i1:
            term = term.cast(i64)
        if op is nn.ReduceMean and not isinstance(term.element, FloatType):
            term = term.cast(f32)
        term = prepare(term.cast(n.element("dtype", term.element)))
        out = reduced(n, term.value, op, axes, keep=n.flag("keepdims")) if axes else term.value
        if n.get("initial") is not None and op is nn.ReduceSum:
            out = (n.term(out) + n.float("initial")).value
        return _result(n, out)

    return convert


_REDUCTIONS = named("""
    sum=ReduceSum sum_axis=ReduceSum _np_sum=ReduceSum mean=ReduceMean _npi_mean=ReduceMean
    prod=ReduceProd _np_prod=ReduceProd _np_product=ReduceProd max=ReduceMax max_axis=ReduceMax
    _np_max=ReduceMax _np_amax=ReduceMax min=ReduceMin min_axis=ReduceMin _np_min=ReduceMin
    _np_amin=ReduceMin _square_sum=ReduceSumSquare
""")
rows.add({name: _reduction(op) for name, op in _REDUCTIONS.items()})
rows.add(
    {
        "nansum": _reduction(nn.ReduceSum, lambda x: without_nan(x, 0.0)),
        "nanprod": _reduction(nn.ReduceProd, lambda x: without_nan(x, 1.0)),
    }
)


@rows("_npi_var", "_npi_std", "moments")
def variance(n: MxnetLayer, x: Value) -> list[Value] | Value:
    given = n.ints("axes" if n.kind == "moments" else "axis")
    axes = normalize_axes(n, given, x.type.rank) or tuple(range(x.type.rank))
    found, mean = spread_of(n, x, axes, n.flag("keepdims"), n.int("ddof", 0))
    if n.kind == "moments":
        return [_result(n, mean), _result(n, found)]
    return n(nn.Sqrt(found)) if n.kind == "_npi_std" else found


@rows("norm", "_npi_norm", "_sparse_norm")
def norm(n: MxnetLayer, x: Value) -> Value:
    axes, _ = _axes(n, x)
    order = n.int("ord", 2)
    if order not in (1, 2):
        raise n.error(f"attribute 'ord' is {order}, expected 1 or 2")
    op = nn.ReduceL1 if order == 1 else nn.ReduceL2
    return _result(n, reduced(n, x, op, axes, keep=n.flag("keepdims")))


@rows("argmax", "argmin", "_npi_argmax", "_npi_argmin")
def arg_extreme(n: MxnetLayer, x: Value) -> Value:
    whole = n.get("axis") is None
    op = nn.Argmax if "max" in n.kind else nn.Argmin
    axis = None if whole else n.axis("axis", 0, x.type.rank)
    found = extreme_at(n, x, op, axis, n.flag("keepdims") and not whole)
    if whole and n.flag("keepdims"):
        found = reshape(n, found, [1] * x.type.rank)
    return _result(n, found if n.kind.startswith("_np") else n.cast(found, f32))


@rows("argmax_channel")
def argmax_channel(n: MxnetLayer, x: Value) -> Value:
    n.check_rank(x, 2)
    return n.cast(extreme_at(n, x, nn.Argmax, 1), x.type.element_type)


@rows("cumsum", "_np_cumsum")
def cumsum(n: MxnetLayer, x: Value) -> Value:
    if n.get("axis") is None:
        x = n.term(x).flat().value
    x = n.cast(x, n.element("dtype", x.type.element_type))
    return n(nn.Cumsum(x, axis=n.axis("axis", 0, x.type.rank)))
