"""Operators that move, repeat and drop elements, by attributes and shapes."""

from __future__ import annotations

from ...common.movement import bounds
from ...common.runtime_axes import given_sizes, parts_of_sizes, spread_over
from ...common.terms import Term
from ...common.terms import extent as extent_of
from ...common.vocabulary import *
from ..calls import expand_call
from ..node import Node
from ..registry import converter


@converter("Transpose")
def transpose(n: Node, x: Value) -> Value:
    order = n.ints("perm")
    if order is None:
        order = tuple(reversed(range(x.type.rank)))
    if sorted(order) != list(range(x.type.rank)):
        raise n.error(f"attribute 'perm' is {list(order)}, expected an order of {x.type.rank} axes")
    return x if order == tuple(range(len(order))) else n(nn.Transpose(x, permutation=order))


@converter("Concat")
def concat_(n: Node, *inputs: Value) -> Value:
    rank = inputs[0].type.rank
    axis = normalize_axis(n, n.int("axis", 1), rank)
    if any(value.type.rank != rank for value in inputs):
        raise n.error(f"inputs of ranks {[v.type.rank for v in inputs]}, expected one rank")
    return concat(n, inputs, axis)


# -- slices ------------------------------------------------------------------------------------


@converter("Slice")
def slice_by_attributes(n: Node, x: Value) -> Value:
    starts, ends, axes = n.ints("starts"), n.ints("ends"), n.ints("axes")
    assert starts is not None and ends is not None
    vectors = [n.constant(np.array(v, np.int64)) for v in (starts, ends)]
    axes_value = None if axes is None else n.constant(np.array(axes, np.int64))
    return slice_(n, x, *vectors, axes_value)


@converter("Slice", since=10)
def slice_(
    n: Node,
    x: Value,
    starts: Value,
    ends: Value,
    axes_operand: Value | None = None,
    steps_operand: Value | None = None,
) -> Value:
    begin, end = n.extents(starts), n.extents(ends)
    if begin is None or end is None:
        if axes_operand is None:
            return _slice_leading(n, x, as_i64(n, starts), as_i64(n, ends), steps_operand)
        return _slice_along(n, x, (starts, ends, axes_operand), steps_operand)
    count = len(begin)
    axes: Sequence[int] = range(count)
    if axes_operand is not None and n.known(axes_operand) is None:
        return _slice_along(n, x, (starts, ends, axes_operand), steps_operand)
    if axes_operand is not None:
        axes = normalize_axes(n, n.known_ints(axes_operand, "axes"), x.type.rank)
    steps: Sequence[Dim] = (1,) * count
    if steps_operand is not None:
        known = n.extents(steps_operand)
        steps = (None,) * count if known is None else known
    if not len(begin) == len(end) == len(axes) == len(steps) or count > x.type.rank:
        raise n.error(
            f"{len(begin)} starts, {len(end)} ends, {len(axes)} axes and {len(steps)} steps, "
            "expected as many of each"
        )
    if 0 in steps:
        raise n.error(f"the steps are {list(steps)}, expected none of 0")
    shape, first, stride = list(x.type.shape), [0] * x.type.rank, [1] * x.type.rank
    late = False
    for axis, b, e, s in zip(axes, begin, end, steps, strict=True):
        found = bounds(_at_least_first(b, x.type.shape[axis]), e, s, x.type.shape[axis])
        if found is None:
            late, shape[axis] = True, None
        else:
            shape[axis], first[axis], stride[axis] = found
    if not late:
        return portion(n, x, first, shape, stride)
    axes_value = n.constant(np.array(axes, np.int64))
    by = n.constant(np.ones(count, np.int64)) if steps_operand is None else steps_operand
    return _sliced_by(n, x, starts, ends, axes_value, by, shape)


def _at_least_first(start: Dim, extent: Dim) -> Dim:
    """A start before the first element is the first one.

    So ONNX says; NumPy's slice backward from there is empty.
    """
    return start if start is None or extent is None else max(start, -extent)


def _sliced_by(n: Node, x: Value, starts: Value, *rest: Any) -> Value:
    """`sliced_by` with the starts of slices backward as `_at_least_first` has them."""
    axes, steps = rest[1:3]
    known = n.known(steps)
    if known is not None and (known > 0).all():
        return sliced_by(n, x, starts, *rest)
    rank = x.type.rank
    within = Term(n, axes).min(rank - 1).max(-rank)  # an axis outside is the slice's error
    first = -Term(n, shape_of(n, x)).gather(within)
    return sliced_by(n, x, Term(n, as_i64(n, starts)).max(first).value, *rest)


def _slice_along(n: Node, x: Value, bounds: Sequence[Value], steps: Value | None) -> Value:
    """The slice along axes, given after starts and ends, that are known only at run time."""
    starts, ends, axes = (as_i64(n, v) for v in bounds)
    one = n.constant(np.array([1], np.int64))
    by = steps or n(nn.BroadcastDynamic(one, shape_of(n, starts), out=starts.type))
    return _sliced_by(n, x, starts, ends, axes, by)


def _slice_leading(n: Node, x: Value, starts: Value, ends: Value, steps: Value | None) -> Value:
    """The slice of the first dimensions, whose number is known only at run time."""
    axes = n.constant(np.arange(x.type.rank))
    vectors = []
    for given, rest in ((starts, 0), (ends, FAR), (steps, 1)):
        filler = n.constant(np.full(x.type.rank, rest))
        own = filler if given is None else n(nn.Concat([as_i64(n, given), filler], axis=0))
        vectors.append(gathered(n, own, axes))
    begins, ends, by = vectors
    return _sliced_by(n, x, begins, ends, axes, by)


@converter("Split")
def split(n: Node, x: Value, sizes_operand: Value | None = None) -> list:
    axis = normalize_axis(n, n.int("axis"), x.type.rank)
    extent, count = x.type.shape[axis], len(n.outputs)
    sizes = n.ints("split") if "split" in n.schema.attributes else None
    if sizes_operand is not None:
        if n.known(sizes_operand) is None:
            sizes = given_sizes(n, x, axis, sizes_operand)
            return list(parts_of_sizes(n, x, axis, sizes, count))
        sizes = n.known_ints(sizes_operand, "split")
    if sizes is None:
        declared = n.int("num_outputs", count)
        if declared != count:
            raise n.error(f"{count} outputs, but attribute 'num_outputs' is {declared}")
        if extent is None:
            return list(parts_of_sizes(n, x, axis, _even_sizes(n, x, axis, count), count))
        size = -(-extent // count)
        sizes = tuple(max(0, min(size, extent - i * size)) for i in range(count))
        if n.opset < 18 and extent % count:
            raise n.error(f"{extent} elements do not split into {count} equal parts")
    if len(sizes) != count or (extent is not None and sum(sizes) != extent) or min(sizes) < 0:
        raise n.error(f"{extent} elements do not split into {list(sizes)} for {count} outputs")
    return split_into(n, x, axis, sizes)


def _even_sizes(n: Node, x: Value, axis: int, count: int) -> Value:
    """The sizes of equal parts, computed; from opset 18 on, the last part may be smaller."""
    whole = extent_of(n, (x, axis))
    if n.opset < 18:
        fits = (whole % count).equals(0)
        text = f"the elements do not split into {count} equal parts"
        whole = whole.made(nn.Assume(whole.value, fits.value, text))
    size = (whole + (count - 1)) / count
    before = constant(n, np.arange(count)) * size
    return (whole - before).max(0).min(size).value


# -- padding and tiling ------------------------------------------------------------------------


@converter("Pad")
def pad_by_attributes(n: Node, x: Value) -> Value:
    pads = n.constant(np.array(n.ints("pads") or n.ints("paddings") or (), np.int64))
    return pad(n, x, pads, n.scalar(n.float("value"), x))


@converter("Pad", since=11)
def pad(
    n: Node, x: Value, pads: Value, value: Value | None = None, axes: Value | None = None
) -> Value:
    """x padded by numbers, along axes, that may be known only at run time."""
    rank, given = x.type.rank, pads.type.shape[0]
    mode = n.string("mode", "constant", ("constant", "reflect", "edge", "wrap"))
    if axes is not None:
        count = 1 if axes.type.rank == 0 else axes.type.shape[0]
        if count is not None and given not in (2 * count, None):
            raise n.error(f"{given} pads for {count} axes, expected {2 * count}")
        if n.known(axes) is not None:
            normalize_axes(n, n.known_ints(axes, "axes"), rank)
        rows = n(nn.Reshape(as_i64(n, pads), out=TensorType((2, count), i64)))
        sides = n(nn.Split(rows, axis=0, outs=[TensorType((1, count), i64)] * 2))
        flat = [n(nn.Reshape(side, out=TensorType((count,), i64))) for side in sides]
        pads = n(nn.Concat([spread_over(n, side, axes, rank) for side in flat], axis=0))
    elif given not in (2 * rank, None):
        raise n.error(f"{given} pads, expected {2 * rank}")
    fill = None
    if mode == "constant":
        zero = "" if x.type.element_type is nn.string else 0
        fill = n.scalar(zero, x) if value is None else as_scalar(n, value)
    pads = as_i64(n, pads)
    if mode == "reflect":
        _warn_of_far_reflection(n, x, pads)
    return pad_by_vector(n, x, pads, fill, mode)


def _warn_of_far_reflection(n: Node, x: Value, pads: Value) -> None:
    rank, known = x.type.rank, n.extents(pads) or (None,) * 2 * x.type.rank
    for i, extent in enumerate(x.type.shape):
        far = max(known[i] or 0, known[rank + i] or 0)
        if extent is not None and far >= max(extent, 1):
            n.warn(
                f"{far} elements of padding reflect the {extent} of dimension {i} several times, "
                "which ONNX Runtime refuses"
            )


@converter("Tile")
def tile_axis(n: Node, x: Value, tiles: Value, axis: Value) -> Value:
    """x repeated `tiles` times along one axis."""
    place = normalize_axis(n, n.known_int(axis, "the axis"), x.type.rank)
    count, ones = Term(n, as_scalar(n, tiles)).cast(i64), np.ones(x.type.rank, np.int64)
    is_it = constant(n, np.arange(x.type.rank) == place)
    return tiled(n, x, is_it.choose(count, constant(n, ones)).value)


@converter("Tile", since=6)
def tile(n: Node, x: Value, repeats: Value) -> Value:
    return tiled(n, x, as_i64(n, repeats))


@converter("Trilu")
def trilu(n: Node, x: Value, k: Value | None = None) -> Value:
    k = n.constant(0, i64) if k is None else as_scalar(n, as_i64(n, k))
    return n(nn.Trilu(x, k, upper=bool(n.int("upper", 1))))


@converter("DepthToSpace")
def depth_to_space(n: Node, x: Value) -> Value:
    mode = n.string("mode", "DCR", ("DCR", "CRD"))
    return n(nn.DepthToSpace(x, block=n.int("blocksize"), mode=mode))


@converter("SpaceToDepth")
def space_to_depth(n: Node, x: Value) -> Value:
    if n.string("mode", "DCR", ("DCR", "CRD")) == "DCR":
        return n(nn.SpaceToDepth(x, block=n.int("blocksize")))

    return expand_call(n, x)[0]


@converter("ReverseSequence")
def reverse_sequence_(n: Node, x: Value, lengths: Value) -> Value:
    time, batch = n.int("time_axis", 0), n.int("batch_axis", 1)
    if sorted((time, batch)) != [0, 1]:
        raise n.error(f"time_axis and batch_axis are {time} and {batch}, expected 0 and 1")
    if x.type.rank < 2 or lengths.type.rank != 1:
        raise n.error(f"ranks {x.type.rank} and {lengths.type.rank}, expected at least 2, and 1")
    return reverse_sequence(n, x, lengths, time, batch)


@converter("CenterCropPad")
def center_crop_pad(n: Node, x: Value, shape: Value) -> Value:
    rank = x.type.rank
    axes = n.ints("axes")
    axes = normalize_axes(n, range(rank) if axes is None else axes, rank)
    if shape.type.shape[0] not in (len(axes), None):
        raise n.error(f"{shape.type.shape[0]} extents for {len(axes)} axes")
    along = n.constant(np.array(axes, np.int64))
    more = n(nn.Sub(as_i64(n, shape), gathered(n, shape_of(n, x), along)))
    # The odd element is cut, or added, at the end.
    begin = n(nn.Div(more, n.constant(2, i64)))
    sides = [spread_over(n, v, along, rank) for v in (begin, n(nn.Sub(more, begin)))]
    return pad_by_vector(n, x, n(nn.Concat(sides, axis=0)), n.scalar(0, x))
