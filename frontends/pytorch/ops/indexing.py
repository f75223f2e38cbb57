"""Gathering and scattering, by index tensors and by masks."""

from __future__ import annotations

from ...common import arrays
from ...common.gathering import counts_of_elements, reduced_elements
from ...common.vocabulary import *
from ..layer import AtenLayer
from ..rows import ROWS
from .elementwise import as_bool, floor_divide
from .views import broadcast_tensors, unsqueeze


@ROWS("aten.embedding", batched="last")
def embedding(
    n: AtenLayer, weight: Value, indices: Value, padding_idx: int = -1, **training: Any
) -> Value:
    return gathered(n, weight, as_i64(n, indices), 0)


@ROWS("aten.index_select", batched="along")
def index_select(n: AtenLayer, self: Value, dim: int, index: Value) -> Value:
    if self.type.rank == 0:
        return self
    return gathered(n, self, as_i64(n, index), n.axis(dim, self.type.rank))


@ROWS("aten.take")
def take(n: AtenLayer, self: Value, index: Value) -> Value:
    return gathered(n, Term(n, self).flat().value, as_i64(n, index), 0)


@ROWS("aten.gather", batched="gathered")
def gather(n: AtenLayer, self: Value, dim: int, index: Value, sparse_grad: bool = False) -> Value:
    if 0 in index.type.shape or self.type.rank == 0:
        shape = n.shape(index)
        first = n.as_value(0, self.type.element_type) if 0 in index.type.shape else self
        return n.filled(reshape(n, first, []), shape)
    return gathered_elements(n, self, index, n.axis(dim, self.type.rank))


@ROWS("aten.take_along_dim")
def take_along_dim(n: AtenLayer, self: Value, indices: Value, dim: int | None = None) -> Value:
    """As gather, with operands that broadcast along the other dimensions."""
    if dim is None:
        return take(n, self, Term(n, indices).flat().value)
    axis, shapes = n.axis(dim, self.type.rank), []
    for x, other in ((self, indices), (indices, self)):
        wide = [i != axis and x.type.shape[i] == 1 for i in range(x.type.rank)]
        shapes.append([n.size(other if w else x, i) for i, w in enumerate(wide)])
    self, indices = n.expand(self, shapes[0]), n.expand(indices, shapes[1])
    return gather(n, self, dim, indices)


_REDUCTIONS = {None: "none", "sum": "add", "add": "add", "prod": "mul", "multiply": "mul"}
_REDUCTIONS |= {"amax": "max", "amin": "min", "mean": "add"}


@ROWS("aten.scatter", "aten.scatter_add", "aten.scatter_reduce")
def scatter(
    n: AtenLayer,
    self: Value,
    dim: int,
    index: Value,
    src: Value | None = None,
    value: Any = None,
    reduce: str | None = None,
    include_self: bool = True,
) -> Value:
    if self.type.rank == 0:
        given = {"src": src if src is None else n.reshape(src, [1]), "value": value}
        index = n.reshape(index, [1])
        how = {"reduce": reduce, "include_self": include_self}
        return n.reshape(scatter(n, n.reshape(self, [1]), 0, index, **given, **how), [])
    element = self.type.element_type
    if isinstance(src, Value):
        source = n.cast(src, element)
    else:
        source = n.filled(n.as_value(value, element), n.shape(index))
    index = as_i64(n, index)
    if source.type.shape != index.type.shape and None not in index.type.shape:
        source = portion(n, source, (0,) * index.type.rank, index.type.shape)
    how = "sum" if "scatter_add" in n.kind else reduce
    return _reduced(n, self, n.axis(dim, self.type.rank), index, source, how, include_self)


def _reduced(
    n: AtenLayer, x: Value, axis: int, places: Value, source: Value, how: Any, with_own: bool
) -> Value:
    """x with a source reduced into it along an axis; `with_own` includes x's own elements."""
    if how not in _REDUCTIONS:
        raise n.error(f"reduction '{how}' is not supported")
    found = reduced_elements(n, x, axis, places, source, _REDUCTIONS[how], with_own or how is None)
    if how != "mean":
        return found.value
    count = counts_of_elements(n, x, axis, places, source, with_own)
    if isinstance(found.element, IntegerType):
        return floor_divide(n, found.value, n.cast(count.value, found.element))
    return (found / count.cast(found.element)).value


@ROWS("aten.index_reduce")
def index_reduce(
    n: AtenLayer,
    self: Value,
    dim: int,
    index: Value,
    source: Value,
    reduce: str,
    include_self: bool = True,
) -> Value:
    if self.type.rank == 0:
        one, source = n.reshape(self, [1]), n.reshape(source, [1])
        return n.reshape(index_reduce(n, one, 0, index, source, reduce, include_self), [])
    axis = n.axis(dim, self.type.rank)
    rows = Term(n, as_i64(n, index)).flat().spread(0, self.type.rank - 1 - axis)
    places = n.expand(rows.value, n.shape(source))
    return _reduced(n, self, axis, places, source, reduce, include_self)


@ROWS("aten.put")
def put(n: AtenLayer, self: Value, index: Value, source: Value, accumulate: bool = False) -> Value:
    """x with elements written at flat indices."""
    flat, places, rows = (Term(n, v).flat() for v in (self, as_i64(n, index), source))
    how = "add" if accumulate else "none"
    made = nn.ScatterElements(flat.value, places.value, rows.value, axis=0, reduction=how)
    return n.reshape(n(made), n.shape(self))


@ROWS("aten._unsafe_masked_index")
def masked_index(n: AtenLayer, self: Value, mask: Value, indices: list[Any], fill: Any) -> Value:
    """The elements at indices where a mask holds; else `fill`."""
    found = index(n, self, _inside(n, self, indices))
    return n(nn.Where(mask, found, n.as_value(fill, self.type.element_type)))


@ROWS("aten._unsafe_masked_index_put_accumulate")
def masked_index_put(
    n: AtenLayer, self: Value, mask: Value, indices: list[Any], values: Value
) -> Value:
    """x with values added at indices where a mask holds."""
    kept = n(nn.Where(mask, values, n.scalar(0, values)))
    return index_put(n, self, _inside(n, self, indices), kept, accumulate=True)


def _inside(n: AtenLayer, x: Value, indices: list[Any]) -> list[Any]:
    """Indices clamped to the tensor, as a mask hides what they read."""
    return [
        None if i is None else Term(n, as_i64(n, i)).max(0).min(extent(n, (x, d)) - 1).value
        for d, i in enumerate(indices)
    ]


@ROWS("aten.index_add", "aten.index_copy", "aten.index_fill")
def index_add(
    n: AtenLayer,
    self: Value,
    dim: int,
    index: Value,
    source: Value | None = None,
    value: Any = None,
    alpha: Any = 1,
) -> Value:
    if self.type.rank == 0:
        found = index_add(n, n.reshape(self, [1]), 0, index, source, value, alpha)
        return n.reshape(found, [])
    axis, shape = n.axis(dim, self.type.rank), n.shape(self)
    shape[axis] = n.size(index, 0) if index.type.rank else 1
    rows = Term(n, as_i64(n, index)).flat().spread(0, self.type.rank - 1 - axis)
    places = n.expand(rows.value, shape)
    if source is None:
        source = n.filled(n.as_value(value, self.type.element_type), shape)
    else:
        source = n.reshape(n.cast(source, self.type.element_type), shape)
    how = "add" if "index_add" in n.kind else "none"

    def scattered(x: Term, parts: Term) -> Term:
        return x.made(nn.ScatterElements(x.value, places, parts.value, axis=axis, reduction=how))

    terms = Term(n, self), Term(n, source)
    if alpha == 1:
        return scattered(*terms).value
    factor = Term(n, n.as_value(alpha, self.type.element_type))
    return rounded_once(lambda x, y, f: scattered(x, y * f), *terms, factor).value


# -- positions of several dimensions ---------------------------------------------------------------


def _positions(n: AtenLayer, x: Value, indices: Sequence[Value | None]) -> list[Value | None]:
    """Indices for each dimension; a mask becomes the indices where it holds."""
    found: list[Value | None] = []
    for index in indices:
        if index is None:
            found.append(None)
        elif index.type.element_type is i1 or index.type.element_type is IntegerType(8, "u"):
            places = Term(n, n(nn.NonZero(as_bool(n, index))))
            found += [places.column(i, 0).value for i in range(index.type.rank)]
        else:
            found.append(as_i64(n, index))
    return [*found, *[None] * (x.type.rank - len(found))]


def _indexed(n: AtenLayer, x: Value, indices: Any) -> tuple[list[int], Value, int]:
    """The indexed dimensions, their indices as rows, and where the result's dimensions go."""
    found = _positions(n, x, indices)
    axes = [i for i, index in enumerate(found) if index is not None]
    given = broadcast_tensors(n, [index for index in found if index is not None])
    rank = given[0].type.rank
    rows = concat(n, [unsqueeze(n, index, rank) for index in given], rank)
    together = axes == list(range(axes[0], axes[-1] + 1))
    return axes, rows, axes[0] if together else 0


@ROWS("aten.index", "aten._unsafe_index", batched="index")
def index(n: AtenLayer, self: Value, indices: list[Value | None]) -> Value:
    found = _positions(n, self, indices)
    axes = [i for i, one in enumerate(found) if one is not None]
    if len(axes) == 1:
        return gathered(n, self, found[axes[0]], axes[0])  # type: ignore[arg-type]
    axes, rows, at = _indexed(n, self, found)
    rest = [i for i in range(self.type.rank) if i not in axes]
    taken = gathered_nd(n, transposed(n, self, [*axes, *rest]), rows)
    count = rows.type.rank - 1
    order = list(range(count, count + at))
    return transposed(n, taken, [*order, *range(count), *range(count + at, taken.type.rank)])


@ROWS("aten.index_put", "aten._unsafe_index_put", "aten._index_put_impl")
def index_put(
    n: AtenLayer, self: Value, indices: list[Any], values: Value, accumulate=False, unsafe=False
) -> Value:
    values = n.cast(values, self.type.element_type)
    (mask,) = indices if len(indices) == 1 else (None,)
    if mask is not None and mask.type.element_type is i1 and _is_one(values) and not accumulate:
        wide = Term(n, mask).spread(0, self.type.rank - mask.type.rank).value
        return n(nn.Where(wide, reshape(n, values, []), self))
    axes, rows, at = _indexed(n, self, indices)
    rest = [i for i in range(self.type.rank) if i not in axes]
    order = [*axes, *rest]
    data = transposed(n, self, order)
    count = rows.type.rank - 1
    shape = [n.size(rows, i) for i in range(count)]
    others = [n.size(self, i) for i in rest]
    # In the values, the dimensions of the indices are where `index` would put them.
    wide = n.expand(values, [*others[:at], *shape, *others[at:]])
    moved = [*range(at, at + count), *range(at), *range(at + count, wide.type.rank)]
    how = "add" if accumulate else "none"
    written = n(nn.ScatterNd(data, rows, transposed(n, wide, moved), reduction=how))
    return transposed(n, written, [order.index(i) for i in range(self.type.rank)])


def _is_one(x: Value) -> bool:
    return all(d == 1 for d in x.type.shape)


@ROWS("aten.masked_select")
def masked_select(n: AtenLayer, self: Value, mask: Value) -> Value:
    given, chosen = broadcast_tensors(n, [self, mask])
    return index(n, Term(n, given).flat().value, [Term(n, chosen).flat().value])


@ROWS("aten.masked_scatter")
def masked_scatter(n: AtenLayer, self: Value, mask: Value, source: Value) -> Value:
    """x with the elements where a mask holds replaced by the source's elements in order."""
    self, mask = broadcast_tensors(n, [self, mask])
    flat = Term(n, as_bool(n, mask)).flat()
    place = n(nn.Cumsum(flat.cast(i64).value, axis=0))
    taken = (Term(n, place) - 1).max(0)
    found = Term(n, source).flat().gather(taken, 0)
    chosen = flat.choose(found, Term(n, self).flat())
    return n.reshape(chosen.value, n.shape(self))


@ROWS("aten.nonzero", "aten.argwhere")
def nonzero(n: AtenLayer, self: Value) -> Value:
    return true_places(n, self)


@ROWS("aten.nonzero_static")
def nonzero_static(n: AtenLayer, self: Value, size: Any, fill_value: int = -1) -> Value:
    """The indices of the first nonzero elements, then the fill."""
    found, rank = Term(n, nonzero(n, self)), self.type.rank
    fill = n.filled(n.as_value(fill_value, i64), [n.number(size), rank])
    count = n.int(size)
    whole = joined([found, Term(n, fill)], 0)
    return portion(n, whole.value, (0, 0), (count, rank))


@ROWS("aten.nonzero_numpy", "aten.where.default")
def nonzero_numpy(
    n: AtenLayer, self: Value | None = None, condition: Value | None = None
) -> list[Value]:
    x = condition if self is None else self
    assert x is not None
    if not x.type.rank:
        x = n.reshape(x, [1])
    places = Term(n, n(nn.NonZero(x)))
    return [places.column(i, 0).value for i in range(x.type.rank)]


@ROWS("aten.one_hot", batched="last")
def one_hot(n: AtenLayer, self: Value, num_classes: int = -1) -> Value:
    count = n.int(num_classes)
    if count < 0:
        raise n.error("the number of classes must be known at import")
    rows = Term(n, as_i64(n, self)).spread(0, 1)
    return rows.equals(Term(n, n.vector(range(count)))).cast(i64).value


@ROWS("aten.bucketize", "aten.searchsorted")
def bucketize(
    n: AtenLayer,
    self: Any,
    boundaries: Value | None = None,
    sorted_sequence: Value | None = None,
    right: bool = False,
    out_int32: bool = False,
    side: str | None = None,
    sorter: Value | None = None,
) -> Value:
    """How many of the sorted boundaries are below each element (or not above it, if `right`)."""
    ends = boundaries if boundaries is not None else sorted_sequence
    lhs, rhs = n.promoted(ends, self)
    if sorter is not None:
        lhs = gather(n, lhs, -1, sorter)
    found = arrays.searchsorted(Term(n, lhs), Term(n, rhs), right or side == "right")
    return found.cast(IntegerType(32) if out_int32 else i64).value


@ROWS(
    "aten.slice_scatter", "aten.select_scatter", "aten.diagonal_scatter", "aten.as_strided_scatter"
)
def scatter_view(n: AtenLayer, self: Value, src: Value, **arguments: Any) -> Value:
    from .writes import write

    return write(n, self, src, n.kind.replace("_scatter", ""), 0, arguments)
