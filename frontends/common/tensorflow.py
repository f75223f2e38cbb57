"""Operators that TensorFlow and TensorFlow Lite share, with their operands in the same order.

An attribute of TensorFlow, or an option of TensorFlow Lite, is a named parameter.
"""

from __future__ import annotations

import ml_dtypes

from . import formulas, gathering
from .arrays import searchsorted
from .blocks import batch_to_space, mirrored_pad, mirrored_pad_by, space_to_batch
from .convolution import channels_first, channels_last
from .gathering import gathered, true_places
from .movement import (
    FAR,
    Index,
    column,
    padded_by,
    reversed_axes,
    slice_axis,
    split_into,
    stacked,
    transposed,
    unsqueezed,
)
from .reductions import largest, reduced
from .reshaping import expand_by, reshape_by
from .resize import resized
from .runtime_axes import all_where_none, along, axes_mask, given_sizes, parts_of_sizes
from .strided_slice import elements
from .windows import pad_by_vector
from .words import *

# -- shapes ----------------------------------------------------------------------------------------


def wanted(n: Layer, shape: Value, *, rank: int | None = None) -> tuple[Dim, ...]:
    """The extents in a shape vector, None for those known only at run time."""
    found = n.extents(of_length(n, shape, rank)) if shape.type.rank == 1 else None
    if found is None:
        raise n.error("the number of dimensions of the result must be known")
    return tuple(None if d is None else int(d) for d in found)


def reshape_to(n: Layer, x: Value, shape: Value, *, rank: int | None = None) -> Value:
    """x in a shape of which one extent may be -1, for the remaining elements."""
    extents = wanted(n, shape, rank=rank)
    if extents.count(-1) > 1:
        raise n.error(f"shape {list(extents)} has more than one -1")
    return reshape_by(n, x, shape, list(extents))


def broadcast_to(n: Layer, x: Value, shape: Value, *, rank: int | None = None) -> Value:
    """x repeated along dimensions of one element."""
    return expand_by(n, x, as_i64(n, shape), wanted(n, shape, rank=rank))


def broadcast_args(n: Layer, x: Value, y: Value) -> Value:
    """The shape that two shapes broadcast to."""
    counts = x.type.shape[0], y.type.shape[0]
    if None in counts:
        raise n.error("the ranks must be known")
    parts = []
    for v, count in zip((x, y), counts, strict=True):
        lead = constant(n, np.ones(max(counts) - count), v.type.element_type)
        parts.append(joined([lead, Term(n, v)], 0) if lead.shape != (0,) else Term(n, v))
    return parts[0].equals(1).choose(parts[1], parts[0]).value


def expand_dims(n: Layer, x: Value, axis: Value) -> Value:
    """x with a new dimension of extent 1 at an axis that must be known."""
    return unsqueezed(n, x, normalize_axis(n, n.known_int(axis, "axis"), x.type.rank + 1))


def squeeze(n: Layer, x: Value, axes: Sequence[int]) -> Value:
    """x without the dimensions `axes`, or without all of extent 1 if there are none."""
    if not axes and None in x.type.shape:
        raise n.error("the dimensions to drop are not given, and an extent is unknown")
    found = normalize_axes(n, axes, x.type.rank)
    if not axes:
        found = [i for i, d in enumerate(x.type.shape) if d == 1]
    if any(x.type.shape[axis] not in (1, None) for axis in found):
        raise n.error(f"axes {list(axes)} of {shape_text(x)} are to be dropped")
    return reshape(n, x, [(x, i) for i in range(x.type.rank) if i not in found])


def fill(n: Layer, shape: Value, value: Value, *, rank: int | None = None) -> Value:
    """A tensor of a shape whose elements all equal `value`."""
    if not wanted(n, shape, rank=rank):
        return value
    length = of_length(n, as_i64(n, shape), rank)
    return Term(n, as_scalar(n, value)).filled(Term(n, length)).value


# -- parts and orders ------------------------------------------------------------------------------


def slice_(n: Layer, x: Value, begin: Value, sizes: Value) -> Value:
    """`sizes` elements from `begin` on along each axis; a size of -1 means all that follow."""
    pairs = zip(elements(n, begin, x.type.rank), elements(n, sizes, x.type.rank), strict=True)
    for axis, (first, count) in enumerate(pairs):
        if isinstance(first, int) and isinstance(count, int):
            x = slice_axis(n, x, axis, first, FAR if count == -1 else first + count)
            continue
        start, length = (
            constant(n, v) if isinstance(v, int) else Term(n, v) for v in (first, count)
        )
        x = slice_axis(n, x, axis, first, (length < 0).choose(FAR, start + length).value)
        if isinstance(count, int) and count >= 0 and x.type.shape[axis] is None:
            x = reshape(n, x, [count if i == axis else (x, i) for i in range(x.type.rank)])
    return x


def pack(n: Layer, parts: Sequence[Value], axis: int) -> Value:
    """Tensors of one shape stacked along a new axis."""
    return stacked(n, parts, normalize_axis(n, axis, parts[0].type.rank + 1))


def unpack(n: Layer, x: Value, axis: int, count: int) -> list[Value]:
    """The slices along an axis, without it."""
    axis = normalize_axis(n, axis, x.type.rank)
    return [column(n, x, axis, i) for i in range(count)]


def split(n: Layer, axis: Value, x: Value, count: int) -> list[Value]:
    """`count` equal parts along an axis."""
    place = normalize_axis(n, n.known_int(axis, "axis"), x.type.rank)
    whole = x.type.shape[place]
    if count < 1 or (whole is not None and whole % count):
        raise n.error(f"{whole} elements do not make {count} equal parts")
    if whole is not None:
        return split_into(n, x, place, [whole // count] * count)
    own = extent(n, (x, place))
    fault = f"the elements along axis {place} do not make {count} equal parts"
    each = formulas.assured(own / count, (own % count).equals(0), fault)
    sizes = constant(n, np.ones(count, np.int64)) * each
    return list(parts_of_sizes(n, x, place, sizes.value, count))


def split_v(n: Layer, x: Value, sizes: Value, axis: Value, count: int) -> list[Value]:
    """Parts of these sizes along an axis; if sizes are known, one may be -1 for the rest."""
    place = normalize_axis(n, n.known_int(axis, "axis"), x.type.rank)
    if n.known(sizes) is None:
        return list(parts_of_sizes(n, x, place, given_sizes(n, x, place, sizes), count))
    parts, whole = list(n.known_ints(sizes, "sizes")), x.type.shape[place]
    if whole is not None and parts.count(-1) == 1:
        parts[parts.index(-1)] = whole - sum(parts) - 1
    if len(parts) != count or min(parts) < 0 or (whole is not None and sum(parts) != whole):
        raise n.error(f"{whole} elements do not make parts of {parts}")
    return split_into(n, x, place, parts)


def transpose(n: Layer, x: Value, order: Value) -> Value:
    """x with its dimensions permuted to `order`, which must be known."""
    found = normalize_axes(n, n.known_ints(order, "the order of dimensions"), x.type.rank)
    if len(found) != x.type.rank:
        raise n.error(f"an order of {len(found)} dimensions for a tensor of rank {x.type.rank}")
    return transposed(n, x, found)


def reverse(n: Layer, x: Value, axes: Value) -> Value:
    """x with the elements of some axes in reverse order."""
    return reversed_axes(n, x, normalize_axes(n, n.known_ints(axes, "axes"), x.type.rank))


def pad(n: Layer, x: Value, pads: Value, value: Value | None, *, mode: str = "constant") -> Value:
    """x padded by pairs, one row per dimension; mode symmetric repeats the border elements."""
    if pads.type.shape not in ((x.type.rank, 2), (None, 2), (None, None)):
        raise n.error(f"pads are '{pads.type}', expected pairs for {x.type.rank} dimensions")
    pairs = reshape(n, as_i64(n, pads), [x.type.rank, 2])
    by = reshape(n, n(nn.Transpose(pairs, permutation=(1, 0))), [2 * x.type.rank])
    value = n.scalar(0, x) if value is None else as_scalar(n, value)
    if n.known(by) is None:
        if mode == "symmetric":
            return mirrored_pad_by(n, x, by)
        return pad_by_vector(n, x, by, value if mode == "constant" else None, mode)
    numbers = n.known_ints(by, "pads")
    if mode == "symmetric":
        count = x.type.rank
        return mirrored_pad(n, x, list(zip(numbers[:count], numbers[count:], strict=True)))
    return padded_by(n, x, numbers, value, mode)


def space_to_batch_nd(
    n: Layer, x: Value, block: Value, pads: Value, *, filler: Value | None = None
) -> Value:
    """Blocks of spatial positions moved into the batch; see `space_to_batch`."""
    sizes = n.known_ints(block, "the block")
    return space_to_batch(n, x, sizes, _pairs(n, pads, len(sizes)), filler)


def batch_to_space_nd(n: Layer, x: Value, block: Value, crops: Value) -> Value:
    """The inverse of `space_to_batch_nd`, with borders cut; see `batch_to_space`."""
    sizes = n.known_ints(block, "the block")
    return batch_to_space(n, x, sizes, _pairs(n, crops, len(sizes)))


def _pairs(n: Layer, value: Value, count: int) -> list[tuple[Index, Index]]:
    """The pairs of a tensor [count, 2], whose numbers may be known at run time only."""
    if value.type.shape not in ((count, 2), (None, 2), (None, None)):
        raise n.error(f"paddings or crops are '{value.type}', expected {count} pairs")
    found = elements(n, reshape(n, value, [2 * count]), 2 * count)
    return list(zip(found[::2], found[1::2], strict=True))


# -- positions -------------------------------------------------------------------------------------


def from_begin(n: Layer, indices: Value) -> Value:
    """Indices whose negative values are out of range, instead of counting from the end."""
    if indices.type.element_type not in (i32, i64):
        indices = as_i64(n, indices)
    known = n.known(indices)
    if known is None:
        most = (1 << 31) - 1
        return (Term(n, indices) < 0).choose(most, Term(n, indices)).value
    if known.min(initial=0) < 0:
        raise n.error(f"an index is {known.min()}, which is out of range")
    return indices


def gather(n: Layer, x: Value, indices: Value, axis: int = 0, batch_dims: int = 0) -> Value:
    """The slices of x at these indices along an axis."""
    indices = from_begin(n, indices)
    axis = normalize_axis(n, axis, x.type.rank)
    return gathered(n, x, indices, axis, normalize_axis(n, batch_dims, indices.type.rank + 1))


def scatter_nd(n: Layer, indices: Value, updates: Value, shape: Value) -> Value:
    """A tensor of zeros, to which updates are added at these indices."""
    if (depth := indices.type.shape[-1]) is not None:
        shape = reshape(n, shape, [updates.type.rank - (indices.type.rank - 1) + depth])
    zeros = Term(n, n.scalar(0, updates)).filled(Term(n, as_i64(n, shape))).value
    places = places_of(n, indices, zeros.type.rank, updates)
    return n(nn.ScatterNd(zeros, as_i64(n, places), updates, reduction="add"))


def dynamic_update_slice(n: Layer, x: Value, update: Value, start: Value) -> Value:
    """x with `update` written from the index `start` [rank of x], which is moved so that the update
    lies inside of x.
    """
    rank = x.type.rank
    if rank == 0:
        return update
    room = Term(n, shape_of(n, x)) - Term(n, shape_of(n, update))
    first = Term(n, as_i64(n, start)).max(0).min(room)
    places = []
    for i in range(rank):
        own = counting(n, extent(n, (update, i))) + first.column(i)
        whole = broadcast(n, own.spread(i, rank - 1 - i).value, [(update, k) for k in range(rank)])
        places.append(Term(n, whole).spread(0, 1))
    return n(nn.ScatterNd(x, joined(places, rank).value, update))


def places_of(n: Layer, indices: Value, rank: int, updates: Value) -> Value:
    """Indices of updates into a tensor of a rank, which fixes how many numbers an index has."""
    depth = rank - updates.type.rank + indices.type.rank - 1
    if indices.type.shape[-1] is None and depth >= 0:
        lead = [(indices, i) for i in range(indices.type.rank - 1)]
        indices = reshape(n, indices, [*lead, depth])
    return from_begin(n, indices)


def one_hot(n: Layer, indices: Value, depth: Value, on: Value, off: Value, axis: int) -> Value:
    """A new axis that is `on` at the index and `off` elsewhere."""
    number, index = Term(n, as_scalar(n, as_i64(n, depth))), Term(n, as_i64(n, indices))
    values = n(nn.Concat([reshape(n, as_scalar(n, v), [1]) for v in (off, on)], axis=0))
    index = (index < 0).choose(number, index)  # a negative one names nothing
    return gathering.one_hot(n, index.value, number.value, values, axis)


def where(n: Layer, condition: Value) -> Value:
    """The indices of the true elements: [count, rank]."""
    return true_places(n, condition)


def on_main_diagonal(n: Layer, rows: Extent, columns: Extent) -> Term:
    """The mask of the main diagonal of a matrix of these extents."""
    row, column = (counting(n, extent(n, one)) for one in (rows, columns))
    return row.spread(0, 1).equals(column)


def with_diagonal(n: Layer, x: Value, diagonal: Value) -> Value:
    """Matrices x [.., M, N] with their diagonals replaced by [.., min(M, N)]."""
    t, rank = Term(n, diagonal), x.type.rank
    last = extent(n, (diagonal, t.rank - 1)) - 1
    row = counting(n, extent(n, (x, rank - 2))).min(last.max(0))
    tall = t.gather(row, t.rank - 1).spread(0, 1)
    here = on_main_diagonal(n, (x, rank - 2), (x, rank - 1))
    return here.choose(tall, Term(n, x)).value


_EMPTY = {"add": lambda least, most: 0, "mul": lambda least, most: 1,
          "max": lambda least, most: least, "min": lambda least, most: most}  # fmt: skip
"""The value of an empty segment, by reduction, from the least and the largest number of the type.
"""


def segments(
    n: Layer, x: Value, ids: Value, count: Value | None, reduction: str, infinite: bool = False
) -> Value:
    """The rows of x combined by their segment numbers `ids`; rows with a negative one are dropped.

    The extreme of an empty segment of floats is a finite limit, or infinity if `infinite`.
    """
    if count is None:
        last = n.known(ids)
        if last is None:
            raise n.error("the segments must be known")
        count = n.constant(int(last.max(initial=-1)) + 1, i64)
    wanted, index = Term(n, as_scalar(n, as_i64(n, count))), Term(n, as_i64(n, ids))
    known = n.known(ids)
    drops = known is None or known.min(initial=0) < 0
    if drops:  # into one segment more, which is left out
        index = (index < 0).choose(wanted, index)
    rows = [(wanted + int(drops)).reshape(1)]
    if x.type.rank > ids.type.rank:
        rows.append(Term(n, shape_of(n, x)).part(0, ids.type.rank, x.type.rank))
    ends = limits_of(x.type.element_type) if infinite else finite_limits(x.type.element_type)
    start = n.scalar(_EMPTY[reduction](*ends), x)
    filled = Term(n, start).filled(joined(rows, 0)).value
    found = n(nn.ScatterNd(filled, index.spread(0, 1).value, x, reduction=reduction))
    if not drops:
        return found
    return slice_axis(n, found, 0, 0, wanted.value)


# -- reductions ------------------------------------------------------------------------------------


def finite_limits(element: Type) -> tuple[float, float]:
    """The smallest and the largest finite number of an element type."""
    if not isinstance(element, FloatType):
        return limits_of(element)
    info = ml_dtypes.finfo(type_to_numpy(element))
    return float(info.min), float(info.max)


def reduction(n: Layer, x: Value, axes: Value, op: Any, keep: bool) -> Value:
    """A reduction along axes; only if `keep` may these be known at run time only."""
    if n.known(axes) is None:
        if not keep:
            raise n.error("axes must be known at import, as they tell the result's shape")
        mask = all_where_none(n, axes, axes_mask(n, axes, x.type.rank))
        return along(n, x, mask, lambda matrix: reduced(n, matrix, op, (1,)))
    found = normalize_axes(n, n.known_ints(axes, "axes"), x.type.rank)
    if not found:  # each element alone
        return n(nn.Abs(x)) if op is nn.ReduceL2 else x
    return reduced(n, x, op, tuple(sorted(found)), keep)


def mean(n: Layer, x: Value, axes: Value, keep: bool) -> Value:
    """The mean along axes; the mean of no integers is 0."""
    if not isinstance(x.type.element_type, IntegerType) or n.known(axes) is None:
        return reduction(n, x, axes, nn.ReduceMean, keep)
    count = constant(n, 1, i64)
    for axis in normalize_axes(n, n.known_ints(axes, "axes"), x.type.rank):
        count = count * extent(n, (x, axis))
    total = Term(n, reduction(n, as_i64(n, x), axes, nn.ReduceSum, keep))
    return (total / count.max(1)).cast(x.type.element_type).value


def arg_extreme(
    n: Layer, x: Value, axis: Value, op: Any, element: Type, nan_is_first: bool = False
) -> Value:
    """The index of the first largest or smallest element along an axis.

    NaN is ignored; but if `nan_is_first`, NaN as the first element is the extreme.
    """
    place, given = normalize_axis(n, n.known_int(axis, "axis"), x.type.rank), Term(n, x)
    if not isinstance(given.element, FloatType):
        return n.cast(n(op(x, axis=place, keep_dims=False)), element)
    least, most = finite_limits(given.element)
    is_nan = given.function(nn.IsNan)
    kept = given.max(least) if op is nn.Argmax else given.min(most)
    kept = is_nan.choose(least if op is nn.Argmax else most, kept)
    found = Term(n, n(op(kept.value, axis=place, keep_dims=False)))
    if nan_is_first and x.type.shape[place] != 0:
        found = is_nan.column(0, place).choose(0, found)
    return found.cast(element).value


def running(n: Layer, x: Value, axis: Value, op: Any, exclusive: bool, backward: bool) -> Value:
    """Running sums or products along an axis."""
    place = normalize_axis(n, n.known_int(axis, "axis"), x.type.rank)
    return n(op(x, axis=place, exclusive=exclusive, reverse=backward))


def top_k(n: Layer, x: Value, k: Value, element: Type = i32) -> list[Value]:
    """The k largest elements of each row, and their indices."""
    values, places = largest(n, x, k, x.type.rank - 1)
    return [values, n.cast(places, element)]


# -- elements --------------------------------------------------------------------------------------


def floor_div(n: Layer, x: Value, y: Value) -> Value:
    """x / y, rounded down."""
    return formulas.floor_div(Term(n, x), Term(n, y)).value


def divisor(n: Layer, x: Value) -> Value:
    """x as a divisor: if it has integers, the program fails where one of them is 0."""
    return formulas.divisor(Term(n, x)).value


def atan2(n: Layer, y: Value, x: Value) -> Value:
    """The angle of the point (x, y)."""
    return formulas.atan2(Term(n, y), Term(n, x)).value


def select_rows(n: Layer, condition: Value, yes: Value, no: Value) -> Value:
    """`yes` where the condition holds, else `no`; a vector of conditions chooses rows."""
    chosen = Term(n, condition)
    if chosen.rank == 1 and yes.type.rank > 1:
        chosen = chosen.spread(0, yes.type.rank - 1)
    return n(nn.Where(chosen.value, yes, no))


def bucketize(n: Layer, x: Value, boundaries: Any) -> Value:
    """For each element, how many boundaries are <= it; all of them for NaN."""
    bounds = constant(n, np.asarray(boundaries, np.float32))
    return searchsorted(bounds, Term(n, x).cast(f32), right=True).cast(i32).value


def fake_quant(n: Layer, x: Value, low: Value, high: Value, bits: int, narrow: bool) -> Value:
    """x rounded to 2 ** bits levels between two bounds, which are moved so that 0 is a level."""
    least, most = int(narrow), 2**bits - 1
    a, b = Term(n, low), Term(n, high)
    scale = (b - a) / (most - least)
    zero = ((least - a / scale).max(least).min(most) + 0.5).function(nn.Floor)
    bottom, top = (least - zero) * scale, (most - zero) * scale
    steps = ((Term(n, x).max(bottom).min(top) - bottom) / scale + 0.5).function(nn.Floor)
    return (steps * scale + bottom).value


# -- images ----------------------------------------------------------------------------------------


CUBIC_STEPS = 1024
"""The number of positions between two pixels for which TensorFlow tabulates the cubic kernel."""


def resize_image(n: Layer, x: Value, size: Value, mode: str, corners: bool, half: bool) -> Value:
    """x [N, H, W, C] resized to `size`; `mode` is linear, nearest or cubic."""
    if x.type.rank != 4:
        raise n.error(f"the input has shape {shape_text(x)}, expected rank 4")
    sizes = n.extents(size) or (None, None)
    # With both corners and halves, places are i + 0.5 between corners: no coordinates of nn.resize.
    if mode == "nearest" and ((corners and half) or not _is_even(x.type.shape[1:3], sizes)):
        wide = as_i64(n, size)
        for axis in (1, 2):
            count = Term(n, part_of_vector(n, wide, axis - 1, axis)).reshape()
            places = _nearest(extent(n, (x, axis)), count, corners, half)
            x = n(nn.Gather(x, places.value, axis=axis))
        return x
    how: dict[str, Any] = {
        "mode": mode,
        "coordinate_transform": "align_corners"
        if corners
        else "half_pixel"
        if half
        else "asymmetric",
        # floor((i + 0.5) * scale) is half_pixel's position plus a half, rounded down.
        "nearest_mode": "round_prefer_ceil" if corners or half else "floor",
        "cubic_coeff_a": -0.5 if half else -0.75,
        "exclude_outside": mode == "cubic" and half,
        "cubic_steps": CUBIC_STEPS if mode == "cubic" else 0,
    }
    return channels_last(n, resized(n, channels_first(n, x), as_i64(n, size), (2, 3), how))


def _is_even(own: Sequence[Dim], sizes: Sequence[Dim]) -> bool:
    """Whether extents are known and each divides its size, so that rounding decides nothing."""
    pairs = list(zip(own, sizes, strict=True))
    return all(d and w for d, w in pairs) and not any(w % d for d, w in pairs)  # type: ignore[operator]


def _nearest(own: Term, count: Term, corners: bool, half: bool) -> Term:
    """The index of the input element for each output element, in f32 as TensorFlow computes it."""
    n, offset = own.n, 0.5 if half else 0.0
    scale = own.cast(f32) / count.cast(f32)
    if corners:
        apart = (own - 1).cast(f32) / (count - 1).max(1).cast(f32)
        scale = (count > 1).choose(apart, scale)
    at = (counting(n, count).cast(f32) + offset) * scale
    whole = (at + 0.5 if corners else at).function(nn.Floor).cast(i64)
    return whole.max(0).min(own - 1)
