"""Gathers and scatters of any form, and slices at starts that are computed."""

from __future__ import annotations

from ...common.complexes import Pair, as_complex, as_real, by_parts, is_complex
from ...common.loops import Iteration, while_loop
from ...common.runtime_axes import source_of
from ...common.terms import extent as extent_of
from ...common.vocabulary import *
from ..layer import HloLayer, rows
from ..places import (
    Places,
    Size,
    as_places,
    from_places,
    is_whole,
    size_of,
    taken,
    windows_of,
)


@rows("stablehlo.gather")
@by_parts
def gather(n: HloLayer, x: Value, indices: Value) -> Value:
    dims = n.op.dimension_numbers
    return _gathered(n, x, indices, dims, n.op.slice_sizes)


@rows("stablehlo.dynamic_gather")
@by_parts
def dynamic_gather(n: HloLayer, x: Value, indices: Value, sizes: Value) -> Value:
    dims, vector = n.op.dimension_numbers, as_i64(n, sizes)
    found: list[Size] = []
    for i, size in enumerate(n.extents(vector) or (None,) * x.type.rank):
        if size is None and source_of(vector, i) == (x, i):
            found.append(size_of(n, x, i))
        else:
            found.append(Term(n, vector).column(i) if size is None else size)
    gone = dims.value("collapsed_slice_dims")
    return _gathered(n, x, indices, dims, [1 if i in gone else s for i, s in enumerate(found)])


def _gathered(n: HloLayer, x: Value, indices: Value, dims: Any, sizes: Sequence[Size]) -> Value:
    out = TensorType(n.out().shape, x.type.element_type)
    batching = dims.value("operand_batching_dims")
    if 0 in out.shape and None not in out.shape:
        return n(nn.Fill(n.scalar(0, x), out=out))
    whole = windows_of(
        n, x, indices, dims.value("index_vector_dim"), dims.value("start_index_map"),
        batching, dims.value("start_indices_batching_dims"), sizes,
    ).clamped()  # fmt: skip
    # Dimensions that are taken whole but in part only are windows at 0.
    found = taken(n, _cut(n, x, whole, sizes), whole)
    gone = {*dims.value("collapsed_slice_dims"), *batching}
    kept = [*whole.dims, *whole.rest]
    lead = len(whole.batch)
    order = [lead + kept.index(i) for i in range(x.type.rank) if i not in gone]
    dropped = [lead + k for k, i in enumerate(kept) if i in gone]
    found = Term(n, squeezed(n, found.value, *dropped))
    order = [i - sum(d < i for d in dropped) for i in order]
    offsets = dims.value("offset_dims")
    rest, own = iter(range(lead)), iter(order)
    turned = [next(own) if i in offsets else next(rest) for i in range(out.rank)]
    return found.transpose(*turned).value


def _cut(n: HloLayer, x: Value, windows: Places, sizes: Sequence[Size]) -> Value:
    """x cropped to the windows' extents in the dimensions that no index addresses."""
    for i in windows.rest:
        size = sizes[i]
        if is_whole(x, i, size) or _is_extent_of(size, x, i):
            continue
        x = slice_axis(n, x, i, 0, size if isinstance(size, int) else size.value)
    return x


def _is_extent_of(size: Size, x: Value, axis: int) -> bool:
    """Whether a computed size is an extent of x."""
    return isinstance(size, Term) and source_of(size.value, 0) == (x, axis)


# -- slices at starts that are computed ------------------------------------------------------------


def _at_starts(n: HloLayer, x: Value, starts: Sequence[Value], sizes: Sequence[Size]) -> Places:
    dims = [i for i, size in enumerate(sizes) if not is_whole(x, i, size)]
    terms = [Term(n, as_i64(n, starts[i])) for i in dims]
    return Places(n, x, dims, terms, [sizes[i] for i in dims], ()).clamped()


@rows("stablehlo.dynamic_slice")
@by_parts
def dynamic_slice(n: HloLayer, x: Value, *starts: Value) -> Value:
    sizes = n.op.slice_sizes
    windows = _at_starts(n, x, starts, sizes)
    if not windows.dims:
        return x
    known = [n.known(start.value) for start in windows.starts]
    if all(value is not None for value in known):
        begins: dict[int, Any] = dict(zip(windows.dims, known, strict=True))
        return portion(n, x, [int(begins.get(i, 0)) for i in range(len(sizes))], sizes)
    found = taken(n, x, windows)
    order = [*windows.dims, *windows.rest]
    return found.transpose(*(order.index(i) for i in range(len(order)))).value


@rows("stablehlo.dynamic_update_slice")
@by_parts
def dynamic_update_slice(n: HloLayer, x: Value, update: Value, *starts: Value) -> Value:
    sizes = [size_of(n, update, i) for i in range(update.type.rank)]
    windows = _at_starts(n, x, starts, sizes)
    if not windows.dims:
        return update
    if None in x.type.shape or None in update.type.shape:
        return _updated(n, x, update, windows)
    order = [*windows.dims, *windows.rest]
    return _put(n, x, Term(n, update).transpose(*order), windows, windows.places(), "none")


def _updated(n: HloLayer, x: Value, update: Value, windows: Places) -> Value:
    """x, of unknown shape, with an update, padded to the shape of x, written in one window."""
    rank = x.type.rank
    low, high = ([constant(n, np.zeros(1, np.int64))] * rank for _ in range(2))
    inside: Term | None = None
    rows_ = zip(windows.dims, windows.starts, windows.sizes, windows.extents, strict=True)
    for i, start, size, extent in rows_:
        low[i] = start.spread(0, 1)
        high[i] = (-start + (extent - size)).spread(0, 1)
        place = counting(n, extent_of(n, (x, i))).spread(0, rank - 1 - i)
        fits = (place >= start) & (place < start + size)
        inside = fits if inside is None else inside & fits
    assert inside is not None
    padded = pad_by_vector(n, update, joined([*low, *high], 0).value, n.scalar(0, x))
    return inside.choose(Term(n, padded), Term(n, x)).value


def _put(
    n: HloLayer, x: Value, updates: Term, windows: Places, places: Term, reduction: str
) -> Value:
    """x with updates, [batch.., sizes.., rest..], scattered to its places."""
    table = as_places(n, x, windows)
    index = places.spread(0, 1).value
    found = n(nn.ScatterNd(table, index, updates.value, reduction=reduction))
    return from_places(n, found, windows)


# -- scatters --------------------------------------------------------------------------------------

REDUCTIONS = {
    "stablehlo.add": "add",
    "stablehlo.multiply": "mul",
    "stablehlo.maximum": "max",
    "stablehlo.minimum": "min",
}
OF_TRUTH = {**REDUCTIONS, "stablehlo.or": "add", "stablehlo.and": "mul"}


@rows("stablehlo.scatter")
def scatter(n: HloLayer, *inputs: Any) -> list[Any]:
    count = len(inputs) // 2
    indices, updates = inputs[count], inputs[count + 1 :]
    reductions = [_reduction(n, i, count) for i in range(count)]
    found = []
    for source, update, reduction in zip(inputs[:count], updates, reductions, strict=True):
        if isinstance(source, Pair):
            if reduction not in ("none", "add"):
                if count > 1:
                    raise n.error("several complex tensors can be set or added only")
                how = "body" if n.op.unique_indices else "each"
                whole = as_real(n, source), indices, as_real(n, update)
                found.append(as_complex(n, _scattered(n, *whole, how)))
                continue
            parts = (getattr(source, p) for p in ("real", "imag")), (update.real, update.imag)
            found.append(
                Pair(
                    *(_scattered(n, x, indices, u, reduction) for x, u in zip(*parts, strict=True))
                )
            )
        else:
            found.append(_scattered(n, source, indices, update, reduction))
    return found


def _reduction(n: HloLayer, i: int, count: int) -> str:
    """The scatter reduction that the region computes of an element and its update."""
    block, returned = n.op.regions[0].blocks[0], n.last(0).operands[i]
    if returned is block.args[count + i]:
        return "none"
    op: Any = getattr(returned, "owner", None)
    name = getattr(op, "name", "")
    truth = getattr(returned.type, "element_type", None) is i1
    known = (OF_TRUTH if truth else REDUCTIONS).get(name)
    operands = {block.args[i], block.args[count + i]}
    if known is not None and set(op.operands) == operands:
        return known
    if n.op.unique_indices and count == 1:
        return "body"
    if name == "stablehlo.subtract" and list(op.operands) == [block.args[i], block.args[count + i]]:
        return "subtract"
    if count == 1:
        return "each"
    raise n.error("the region combines elements otherwise than by adding, multiplying, min or max")


def _scattered(n: HloLayer, x: Value, indices: Value, update: Value, reduction: str) -> Value:
    dims, rank = n.op.scatter_dimension_numbers, x.type.rank
    if 0 in update.type.shape:
        return x
    update_dims = list(dims.value("update_window_dims"))
    if reduction in ("body", "each") and _has_parts(n):
        update_dims.append(update.type.rank - 1)
    gone = {*dims.value("inserted_window_dims"), *dims.value("input_batching_dims")}
    window_dims = update_dims
    kept = iter(window_dims)
    at = {i: next(kept) for i in range(rank) if i not in gone}
    sizes = [size_of(n, update, at[i]) if i in at else 1 for i in range(rank)]
    windows = windows_of(
        n, x, indices, dims.value("index_vector_dim"),
        dims.value("scatter_dims_to_operand_dims"), dims.value("input_batching_dims"),
        dims.value("scatter_indices_batching_dims"), sizes,
    )  # fmt: skip
    update = _of_open_extents(n, x, update, {i: at[i] for i in windows.rest if i in at})
    shape = x.type.shape
    partly = [i for i in windows.rest if sizes[i] != shape[i] and isinstance(sizes[i], int)]
    if partly:  # windows at 0 in dimensions that no index moves them in
        zeros = constant(n, 0, i64)
        if windows.batch:
            zeros = Term(n, broadcast_by(n, zeros.value, shape_vector(n, windows.batch)))
        starts = dict(zip(windows.dims, windows.starts, strict=True))
        starts |= dict.fromkeys(partly, zeros)
        dims_ = sorted(starts)
        ordered = [starts[d] for d in dims_]
        windows = Places(n, x, dims_, ordered, [sizes[d] for d in dims_], windows.batch)
    lead = [i for i in range(update.type.rank) if i not in window_dims]
    order = [*lead, *(at[i] for i in (*windows.dims, *windows.rest) if i in at)]
    moved = Term(n, update).transpose(*order)
    own = [(update, at[i]) if i in at else 1 for i in (*windows.dims, *windows.rest)]
    moved = moved.reshape(*((update, i) for i in lead), *own)
    return _placed(n, x, moved, windows, reduction)


def _has_parts(n: HloLayer) -> bool:
    """Whether what is scattered are complex numbers, as reals with a last dimension of two."""
    (argument, *_) = n.op.regions[0].blocks[0].args
    return is_complex(argument.type)


def _combined(n: HloLayer, before: Value, update: Value) -> Value:
    """What the region makes of elements and their updates."""
    if not _has_parts(n):
        return n.region(0, before, update)[0]
    (found,) = n.region(0, as_complex(n, before), as_complex(n, update))
    return as_real(n, found)


def _of_open_extents(n: HloLayer, x: Value, update: Value, axes: Mapping[int, int]) -> Value:
    """The update, checked at run time to have x's extents in dimensions where both are unknown."""
    for axis, at in axes.items():
        if (x.type.shape[axis], update.type.shape[at]) == (None, None):
            fits = extent_of(n, (update, at)).equals(extent_of(n, (x, axis)))
            text = "an update of a part of a dimension of open extent is not supported"
            update = n(nn.Assume(update, fits.value, text))
    return update


def _placed(n: HloLayer, x: Value, updates: Term, windows: Places, reduction: str) -> Value:
    """Updates scattered; those of windows not wholly inside of x go to a row after the end."""
    inside = windows.inside()
    places = windows.places()
    if reduction == "subtract":
        updates, reduction = -updates, "add"
    if reduction == "body":
        before = taken(n, x, windows.clamped())
        updates, reduction = Term(n, _combined(n, before.value, updates.value)), "none"
    if inside is None and reduction != "each":
        return _put(n, x, updates, windows, places, reduction)
    if inside is not None:
        spread = inside.spread(0, len(windows.sizes))
        places = spread.choose(places, math.prod(windows.extents))
    table = Term(n, as_places(n, x, windows))
    pads = [0] * (2 * table.rank)
    pads[table.rank] = 1
    longer = padded_by(n, table.value, pads)
    if reduction == "each":
        found = _one_by_one(n, longer, updates, places, windows.batch)
    else:
        index = places.spread(0, 1).value
        found = n(nn.ScatterNd(longer, index, updates.value, reduction=reduction))
    cut = [-p for p in pads]
    return from_places(n, padded_by(n, found, cut), windows)


@rows("stablehlo.torch_index_select")
def torch_index_select(n: HloLayer, x: Value, index: Value) -> Value:
    if n.op.batch_dims:
        raise n.error("batch_dims is not supported")
    return gathered(n, x, as_i64(n, index), n.op.dim)


def _one_by_one(
    n: HloLayer, table: Value, updates: Term, places: Term, batch: Sequence[Extent]
) -> Value:
    """The table with each update, one after the other, combined with its window by the region."""
    rank = len(batch)
    total = math.prod(_known(n, e) for e in batch)
    rows = places.reshape(total, *((places.value, i) for i in range(rank, places.rank)))
    given = updates.reshape(total, *((updates.value, i) for i in range(rank, updates.rank)))

    def step(number: Value, flag: Value, states: list[Value]) -> Iteration:
        at = Term(n, number)
        here = rows.gather(at)
        before = Term(n, states[0]).gather(here)
        after = _combined(n, before.value, given.gather(at).value)
        index = here.spread(0, 1).value
        return Iteration([n(nn.ScatterNd(states[0], index, after, reduction="none"))])

    (found,), _ = while_loop(n, step, [table], n.constant(total, i64))
    return found


def _known(n: HloLayer, extent: Extent) -> int:
    """The extent of a batch. Raises NncError if it is unknown."""
    return extent if isinstance(extent, int) else n.extent(*extent)
