"""Gathers and scatters of any form, by one index into the dimensions that are indexed.

The dimensions of the operand that an index or a batch addresses become one, `place`; a window in
them is so many places beside each other. `nn.gather` and `nn.scatter_nd` do the rest.
"""

from __future__ import annotations

from dataclasses import dataclass

from ...common.complexes import Pair, by_parts
from ...common.loops import Iteration, while_loop
from ...common.terms import extent as extent_of
from ...common.vocabulary import *
from ..layer import HloLayer, rows


@dataclass(frozen=True)
class Places:
    """Windows in an operand: which dimensions are indexed, by what, and their extents.

    `starts` has a term for each of `dims`, of one shape, that of the batch; `sizes` are the extents
    of the windows in these dimensions.
    """

    n: HloLayer
    shape: Sequence[int]
    dims: Sequence[int]
    starts: Sequence[Term]
    sizes: Sequence[int]
    batch: Sequence[int]

    @property
    def rest(self) -> list[int]:
        """The dimensions that are taken whole."""
        return [i for i in range(len(self.shape)) if i not in self.dims]

    @property
    def extents(self) -> list[int]:
        return [self.shape[i] for i in self.dims]

    def clamped(self) -> Places:
        """Starts such that windows lie in the operand."""
        starts = [
            start.max(0).min(extent - size)
            for start, extent, size in zip(self.starts, self.extents, self.sizes, strict=True)
        ]
        return Places(self.n, self.shape, self.dims, starts, self.sizes, self.batch)

    def inside(self) -> Term | None:
        """Which windows lie in the operand; None where all do."""
        found: Term | None = None
        for start, extent, size in zip(self.starts, self.extents, self.sizes, strict=True):
            known = self.n.known(start.value)
            last = extent - size
            if known is not None and known.size and known.min() >= 0 and known.max() <= last:
                continue
            fits = (start >= 0) & (start <= extent - size)
            found = fits if found is None else found & fits
        return found

    def places(self) -> Term:
        """The places of all elements of the windows: [batch.., sizes..]."""
        n, total = self.n, None
        count = len(self.sizes)
        for k, (start, size) in enumerate(zip(self.starts, self.sizes, strict=True)):
            stride = math.prod(self.extents[k + 1 :])
            at = start * stride if stride != 1 else start
            at = at.spread(0, count) if count else at
            if size != 1:
                shape = [1] * count
                shape[k] = size
                at = at + constant(n, (np.arange(size) * stride).reshape(shape))
            total = at if total is None else total + at
        if total is None:
            return constant(n, np.zeros((*self.batch, *self.sizes), np.int64))
        wanted = (*self.batch, *self.sizes)
        if total.shape != wanted:
            total = total.made(nn.BroadcastTo(total.value, out=TensorType(wanted, i64)))
        return total


def known_shape(n: HloLayer, x: Value) -> tuple[int, ...]:
    """A shape that must be known."""
    if None in x.type.shape:
        raise n.error(f"'{x.type}': indexed tensors need a known shape")
    return x.type.shape


def windows_of(
    n: HloLayer,
    shape: Sequence[int],
    indices: Value,
    vector: int,
    index_map: Sequence[int],
    batching: Sequence[int],
    index_batching: Sequence[int],
    sizes: Sequence[int],
) -> Places:
    """The windows that an index tensor addresses; `sizes` for all dimensions of the operand."""
    whole = Term(n, as_i64(n, indices))
    known = known_shape(n, whole.value)
    if vector == whole.rank:
        whole = whole.spread(0, 1)
        known = (*known, 1)
    elif vector != whole.rank - 1:
        order = [*(i for i in range(whole.rank) if i != vector), vector]
        whole, known = whole.transpose(*order), tuple(known[i] for i in order)
    batch = known[:-1]
    starts = {dim: whole.column(k) for k, dim in enumerate(index_map)}
    for dim, at in zip(batching, index_batching, strict=True):
        at -= at > vector
        shape_ = [1] * len(batch)
        shape_[at] = batch[at]
        starts[dim] = constant(n, np.arange(batch[at]).reshape(shape_))
    dims = sorted(starts)
    return Places(n, shape, dims, [starts[d] for d in dims], [sizes[d] for d in dims], batch)


def taken(n: HloLayer, x: Value, windows: Places) -> Term:
    """The elements of windows: [batch.., sizes.., rest..]."""
    places = windows.places()
    if len(windows.dims) == 1:
        axis = windows.dims[0]
        found = Term(n, x).gather(places, axis)
        lead = list(range(axis))
        inner = list(range(axis, axis + places.rank))
        return found.transpose(*inner, *lead, *range(axis + places.rank, found.rank))
    return Term(n, as_places(n, x, windows)).gather(places, 0)


def as_places(n: HloLayer, x: Value, windows: Places) -> Value:
    """x as [places, rest..]."""
    ordered = Term(n, x).transpose(*windows.dims, *windows.rest)
    rest = [windows.shape[i] for i in windows.rest]
    return ordered.reshape(math.prod(windows.extents), *rest).value


def from_places(n: HloLayer, x: Value, windows: Places) -> Value:
    """The opposite of `as_places`."""
    order = [*windows.dims, *windows.rest]
    apart = Term(n, x).reshape(*(windows.shape[i] for i in order))
    return apart.transpose(*(order.index(i) for i in range(len(order)))).value


@rows("stablehlo.gather")
@by_parts
def gather(n: HloLayer, x: Value, indices: Value) -> Value:
    dims = n.op.dimension_numbers
    return _gathered(n, x, indices, dims, n.op.slice_sizes)


@rows("stablehlo.dynamic_gather")
@by_parts
def dynamic_gather(n: HloLayer, x: Value, indices: Value, sizes: Value) -> Value:
    dims = n.op.dimension_numbers
    found = n.extents(sizes) or (None,) * x.type.rank
    # What is not known is a whole dimension: JAX slices parts by numbers only.
    whole = [d if s is None else s for s, d in zip(found, x.type.shape, strict=True)]
    gone = dims.value("collapsed_slice_dims")
    return _gathered(n, x, indices, dims, [1 if i in gone else s for i, s in enumerate(whole)])


def _gathered(n: HloLayer, x: Value, indices: Value, dims: Any, sizes: Any) -> Value:
    out = TensorType(n.out().shape, x.type.element_type)
    shape = x.type.shape
    batching = dims.value("operand_batching_dims")
    index_map = dims.value("start_index_map")
    if 0 in out.shape:
        return n(nn.Fill(n.scalar(0, x), out=out))
    if None in shape or None in indices.type.shape:
        return _open_gather(n, x, indices, dims, sizes)
    whole = windows_of(
        n, shape, indices, dims.value("index_vector_dim"), index_map,
        batching, dims.value("start_indices_batching_dims"), sizes,
    ).clamped()  # fmt: skip
    # Dimensions that are taken whole but in part only are windows at 0.
    found = taken(n, _cut(n, x, whole, sizes), whole)
    gone = {*dims.value("collapsed_slice_dims"), *batching}
    kept = [*whole.dims, *whole.rest]
    lead = len(whole.batch)
    order = [lead + kept.index(i) for i in range(len(shape)) if i not in gone]
    dropped = [lead + k for k, i in enumerate(kept) if i in gone]
    found = Term(n, squeezed(n, found.value, *dropped))
    order = [i - sum(d < i for d in dropped) for i in order]
    offsets = dims.value("offset_dims")
    rest, own = iter(range(lead)), iter(order)
    turned = [next(own) if i in offsets else next(rest) for i in range(out.rank)]
    return found.transpose(*turned).value


def _cut(n: HloLayer, x: Value, windows: Places, sizes: Sequence[int]) -> Value:
    """x with what lies beyond the windows in dimensions that no index moves them in cut off."""
    shape = [sizes[i] if i in windows.rest else d for i, d in enumerate(windows.shape)]
    if tuple(shape) == tuple(x.type.shape):
        return x
    out = TensorType(tuple(shape), x.type.element_type)
    return n(nn.Slice(x, starts=(0,) * len(shape), out=out))


def _open_gather(n: HloLayer, x: Value, indices: Value, dims: Any, sizes: Any) -> Value:
    """Rows of one dimension, of open shapes: as a table of embeddings is read."""
    index_map, rank = dims.value("start_index_map"), x.type.rank
    vector = dims.value("index_vector_dim")
    whole = Term(n, as_i64(n, indices))
    one = len(index_map) == 1 and tuple(dims.value("collapsed_slice_dims")) == tuple(index_map)
    if not one or dims.value("operand_batching_dims"):
        raise n.error(f"'{x.type}': this gather needs known shapes")
    axis = index_map[0]
    if any(s != d for i, (s, d) in enumerate(zip(sizes, x.type.shape, strict=True)) if i != axis):
        raise n.error(f"'{x.type}': this gather needs known shapes")
    if vector < whole.rank:
        whole = Term(n, squeezed(n, whole.value, vector))
    places = whole.max(0).min(extent_of(n, (x, axis)) - 1)
    found = Term(n, x).gather(places, axis)
    offsets = dims.value("offset_dims")
    own = iter(i for i in range(found.rank) if not axis <= i < axis + places.rank)
    rest = iter(range(axis, axis + places.rank))
    turned = [next(own) if i in offsets else next(rest) for i in range(rank - 1 + places.rank)]
    return found.transpose(*turned).value


# -- slices at starts that are computed ------------------------------------------------------------


def _at_starts(n: HloLayer, x: Value, starts: Sequence[Value], sizes: Sequence[int]) -> Places:
    shape = known_shape(n, x)
    dims = [i for i, (size, extent) in enumerate(zip(sizes, shape, strict=True)) if size < extent]
    terms = [Term(n, as_i64(n, starts[i])) for i in dims]
    return Places(n, shape, dims, terms, [sizes[i] for i in dims], ()).clamped()


@rows("stablehlo.dynamic_slice")
@by_parts
def dynamic_slice(n: HloLayer, x: Value, *starts: Value) -> Value:
    sizes = n.op.slice_sizes
    windows = _at_starts(n, x, starts, sizes)
    out = TensorType(tuple(sizes), x.type.element_type)
    if not windows.dims:
        return x
    known = [n.known(start.value) for start in windows.starts]
    if all(value is not None for value in known):
        begins: dict[int, Any] = dict(zip(windows.dims, known, strict=True))
        return n(nn.Slice(x, starts=[int(begins.get(i, 0)) for i in range(len(sizes))], out=out))
    found = taken(n, x, windows)
    order = [*windows.dims, *windows.rest]
    return found.transpose(*(order.index(i) for i in range(len(order)))).value


@rows("stablehlo.dynamic_update_slice")
@by_parts
def dynamic_update_slice(n: HloLayer, x: Value, update: Value, *starts: Value) -> Value:
    windows = _at_starts(n, x, starts, known_shape(n, update))
    if not windows.dims:
        return update
    order = [*windows.dims, *windows.rest]
    return _put(n, x, Term(n, update).transpose(*order), windows, windows.places(), "none")


def _put(
    n: HloLayer, x: Value, updates: Term, windows: Places, places: Term, reduction: str
) -> Value:
    """x with updates, [batch.., sizes.., rest..], at places of it."""
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
                raise n.error("complex numbers can be set or added only")
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
    """What the region does with an element and its update."""
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
    dims = n.op.scatter_dimension_numbers
    shape, known_shape_ = known_shape(n, x), known_shape(n, update)
    if 0 in known_shape_:
        return x
    gone = {*dims.value("inserted_window_dims"), *dims.value("input_batching_dims")}
    window_dims = list(dims.value("update_window_dims"))
    kept = iter(window_dims)
    at = {i: next(kept) for i in range(len(shape)) if i not in gone}
    sizes = [known_shape_[at[i]] if i in at else 1 for i in range(len(shape))]
    windows = windows_of(
        n, shape, indices, dims.value("index_vector_dim"),
        dims.value("scatter_dims_to_operand_dims"), dims.value("input_batching_dims"),
        dims.value("scatter_indices_batching_dims"), sizes,
    )  # fmt: skip
    partly = [i for i in windows.rest if sizes[i] != shape[i]]
    if partly:  # windows at 0 in dimensions that no index moves them in
        zeros = constant(n, np.zeros(windows.batch, np.int64))
        starts = dict(zip(windows.dims, windows.starts, strict=True))
        starts |= dict.fromkeys(partly, zeros)
        dims_ = sorted(starts)
        ordered = [starts[d] for d in dims_]
        windows = Places(n, shape, dims_, ordered, [sizes[d] for d in dims_], windows.batch)
    lead = [i for i in range(len(known_shape_)) if i not in window_dims]
    order = [*lead, *(at[i] for i in (*windows.dims, *windows.rest) if i in at)]
    moved = Term(n, update).transpose(*order)
    rest = [shape[i] for i in windows.rest]
    moved = moved.reshape(*windows.batch, *windows.sizes, *rest)
    return _placed(n, x, moved, windows, reduction)


def _placed(n: HloLayer, x: Value, updates: Term, windows: Places, reduction: str) -> Value:
    """Updates written; those of windows that do not lie in x whole go to a row behind it."""
    inside = windows.inside()
    places = windows.places()
    if reduction == "subtract":
        updates, reduction = -updates, "add"
    if reduction == "body":
        before = taken(n, x, windows.clamped())
        updates, reduction = Term(n, n.region(0, before.value, updates.value)[0]), "none"
    if inside is None and reduction != "each":
        return _put(n, x, updates, windows, places, reduction)
    if inside is not None:
        spread = inside.spread(0, len(windows.sizes))
        places = spread.choose(places, math.prod(windows.extents))
    table = Term(n, as_places(n, x, windows))
    pads = [0] * (2 * table.rank)
    pads[table.rank] = 1
    longer = n(nn.Pad(table.value, None, pads=pads))
    if reduction == "each":
        found = _one_by_one(n, longer, updates, places, windows.batch)
    else:
        index = places.spread(0, 1).value
        found = n(nn.ScatterNd(longer, index, updates.value, reduction=reduction))
    cut = [-p for p in pads]
    return from_places(n, n(nn.Pad(found, None, pads=cut)), windows)


@rows("stablehlo.torch_index_select")
def torch_index_select(n: HloLayer, x: Value, index: Value) -> Value:
    if n.op.batch_dims:
        raise n.error("batch_dims is not supported")
    return n(nn.Gather(x, as_i64(n, index), axis=n.op.dim))


def _one_by_one(
    n: HloLayer, table: Value, updates: Term, places: Term, batch: Sequence[int]
) -> Value:
    """The table after window by window has been combined with it by the region, in order."""
    total, rank = math.prod(batch), len(batch)
    rows = places.reshape(total, *known_shape(n, places.value)[rank:])
    given = updates.reshape(total, *known_shape(n, updates.value)[rank:])

    def step(number: Value, flag: Value, states: list[Value]) -> Iteration:
        at = Term(n, number)
        here = rows.gather(at)
        before = Term(n, states[0]).gather(here)
        (after,) = n.region(0, before.value, given.gather(at).value)
        index = here.spread(0, 1).value
        return Iteration([n(nn.ScatterNd(states[0], index, after, reduction="none"))])

    (found,), _ = while_loop(n, step, [table], n.constant(total, i64))
    return found
