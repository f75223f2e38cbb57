"""Shapes, parts of tensors, and where elements go."""

from __future__ import annotations

from ...common.arrays import tile
from ...common.blocks import mirrored_pad, mirrored_pad_by, pixel_unshuffle
from ...common.gathering import counts_of_elements, reduced_elements
from ...common.reshaping import zeros_replaced
from ...common.strided_slice import Masks, strided_slice
from ...common.unique import unique_slices
from ...common.vocabulary import *
from ..layer import OpenvinoLayer, rows

rows.formulas(
    {
        "Identity": lambda n, x: x,
        "ShapeOf": lambda n, x: shape_of(n, x),
        "Concat": lambda n, *given: concat(
            n, given, normalize_axis(n, n.int("axis"), given[0].type.rank)
        ),
        "NonZero": lambda n, x: n(nn.NonZero(x)),
        "Tile": lambda n, x, repeats: tile(n, x, as_i64(n, repeats)),
        "Einsum": lambda n, *given: einsum(n, n.attributes["equation"], list(given)),
        "GatherElements": lambda n, x, at: gathered_elements(
            n, x, at, normalize_axis(n, n.int("axis"), x.type.rank)
        ),
        "ReverseSequence": lambda n, x, lengths: reverse_sequence(
            n, x, lengths, n.int("seq_axis", 1), n.int("batch_axis", 0)
        ),
    }
)


@rows("Reshape")
def reshape_(n: OpenvinoLayer, x: Value, shape: Value) -> Value:
    keeps, extents = n.flag("special_zero"), []
    wanted = n.extents(shape)
    if wanted is None:
        raise n.error("the number of dimensions of the result must be known")
    for i, extent in enumerate(wanted):
        if extent == 0 and keeps and i >= x.type.rank:
            raise n.error(f"dimension {i} of the shape is 0, but the input has no such")
        extents.append((x, i) if extent == 0 and keeps else extent)
    if list(wanted).count(-1) > 1:
        raise n.error(f"shape {list(wanted)} has more than one -1")
    if keeps and None in wanted:
        shape = zeros_replaced(n, x, shape, len(wanted))
    return reshape_by(n, x, shape, extents)


@rows("Squeeze")
def squeeze(n: OpenvinoLayer, x: Value, axes: Value | None = None) -> Value:
    """x without axes of extent 1; of the axes that are told, others stay, as OpenVINO has it.

    Whether an axis of unknown extent is to stay if its extent is not 1, `allow_axis_skip` tells.
    """
    may_stay = n.flag("allow_axis_skip")
    if axes is not None and n.array(axes) is not None and len(n.known_ints(axes, "axes")):
        given = [i for i in n.axes(x, axes) if x.type.shape[i] in (1, None)]
        if may_stay and any(x.type.shape[i] is None for i in given):
            raise n.error(f"which axes of '{x.type}' have extent 1 must be known (allow_axis_skip)")
        return squeezed(n, x, *given)
    if (axes is not None and n.known(axes) is None) or None in x.type.shape:
        raise n.error("the axes must be known")
    return squeezed(n, x, *(i for i, d in enumerate(x.type.shape) if d == 1))


@rows("Unsqueeze")
def unsqueeze(n: OpenvinoLayer, x: Value, axes: Value) -> Value:
    given = n.known_ints(axes, "axes")
    return unsqueezed(n, x, *sorted(normalize_axes(n, given, x.type.rank + len(given))))


@rows("Transpose")
def transpose(n: OpenvinoLayer, x: Value, order: Value) -> Value:
    given = n.known_ints(order, "the order")
    return transposed(n, x, given or range(x.type.rank)[::-1])


@rows("Split")
def split(n: OpenvinoLayer, x: Value, axis: Value) -> list[Value]:
    return split_evenly(n, x, n.axis(x, axis), n.int("num_splits"))


@rows("VariadicSplit")
def split_by(n: OpenvinoLayer, x: Value, axis: Value, lengths: Value) -> list[Value]:
    along, sizes = n.axis(x, axis), list(n.known_ints(lengths, "lengths"))
    if -1 in sizes:
        sizes[sizes.index(-1)] = n.extent(x, along) - sum(sizes) - 1
    if min(sizes) < 0 or sum(sizes) != n.extent(x, along):
        raise n.error(f"{n.extent(x, along)} elements do not split into {sizes}")
    return split_into(n, x, along, sizes)


@rows("Gather")
def gather(n: OpenvinoLayer, x: Value, indices: Value, axis: Value) -> Value:
    batch = n.int("batch_dims", 0)
    batch = batch + indices.type.rank if batch < 0 else batch
    return gathered(n, x, as_i64(n, indices), n.axis(x, axis), batch)


@rows("GatherND")
def gather_nd(n: OpenvinoLayer, x: Value, indices: Value) -> Value:
    batch = n.int("batch_dims", 0)
    if batch > 1 and n.opset < 8:
        raise n.error("several dimensions of a batch, which opset 5 joins, are not supported")
    return gathered_nd(n, x, as_i64(n, indices), batch)


@rows("Slice")
def slice_(
    n: OpenvinoLayer, x: Value, start: Value, stop: Value, step: Value, axes: Value | None = None
) -> Value:
    steps = n.known_ints(step, "steps")
    given = range(len(steps)) if axes is None else n.axes(x, axes)
    ranges = {}
    begins, ends = (n.extents(of_length(n, v, len(steps))) for v in (start, stop))
    for i, axis in enumerate(given):
        bounds = []
        for found, vector in ((begins, start), (ends, stop)):
            number = None if found is None else found[i]
            if number is None:
                number = as_scalar(n, part_of_vector(n, as_i64(n, vector), i, i + 1))
            bounds.append(number)
        ranges[axis] = bounds[0], bounds[1], steps[i]
    return sliced(n, x, ranges)


@rows("StridedSlice")
def strided(
    n: OpenvinoLayer, x: Value, begin: Value, end: Value, strides: Value | None = None
) -> Value:
    """x[begin:end:strides, ..]; bits of masks that are 1 say what is special."""
    count = begin.type.shape[0]
    if count is None:
        raise n.error("the number of specifications must be known")
    if strides is None:
        strides = n.constant(np.ones(count, np.int64))
    names = ("begin_mask", "end_mask", "ellipsis_mask", "new_axis_mask", "shrink_axis_mask")
    masks = [sum(1 << i for i, bit in enumerate(n.ints(name)) if bit) for name in names]
    return strided_slice(n, x, begin, end, strides, Masks(*masks, drops_at_begin=True))


@rows("Broadcast")
def broadcast_(n: OpenvinoLayer, x: Value, shape: Value, axes: Value | None = None) -> Value:
    mode, wanted = n.text("mode", "numpy"), n.extents(shape)
    if wanted is None:
        raise n.error("the number of dimensions of the result must be known")
    shape = as_i64(n, shape)
    if mode == "explicit":
        if axes is None:
            raise n.error("explicit broadcasting needs axes")
        places = n.known_ints(axes, "axes")
        if list(places) != sorted(places) or len(places) != x.type.rank:
            raise n.error(f"axes {list(places)} of '{x.type}'")
        own = {axis: (x, i) for i, axis in enumerate(places)}
        x = reshape(n, x, [own.get(i, 1) for i in range(len(wanted))])
    elif mode == "bidirectional":
        return expand_by(n, x, shape, wanted)
    elif mode != "numpy":
        raise n.error(f"broadcasting '{mode}' is not supported")
    return broadcast_by(n, x, shape)


@rows("Pad")
def pad(n: OpenvinoLayer, x: Value, begins: Value, ends: Value, fill: Value | None = None) -> Value:
    mode = n.text("pad_mode", "constant")
    if mode not in ("constant", "edge", "reflect", "symmetric"):
        raise n.error(f"padding '{mode}' is not supported")
    pads = n(nn.Concat([as_i64(n, begins), as_i64(n, ends)], axis=0))
    if mode == "symmetric":
        if n.known(pads) is None:
            return mirrored_pad_by(n, x, pads)
        pairs = zip(n.known_ints(begins, "pads"), n.known_ints(ends, "pads"), strict=True)
        return mirrored_pad(n, x, list(pairs))
    value = as_scalar(n, fill) if fill is not None and mode == "constant" else None
    return pad_by_vector(n, x, pads, value, mode)


@rows("Range")
def range_(n: OpenvinoLayer, start: Value, stop: Value, step: Value) -> Value:
    element = n.element("output_type", start.type.element_type)
    given = (as_scalar(n, n.cast(v, element)) for v in (start, stop, step))
    return ranged(n, *given)


@rows("OneHot")
def one_hot_(n: OpenvinoLayer, at: Value, depth: Value, on: Value, off: Value) -> Value:
    """Rows of `off`, with `on` at the indices; others than those of the rows are nowhere."""
    mode = n.text("negative_indices_mode", "ignore_negative")
    if mode not in ("ignore_negative", "normalize"):
        raise n.error(f"negative_indices_mode '{mode}' is not supported")
    index = Term(n, as_i64(n, at))
    count = Term(n, as_scalar(n, as_i64(n, depth)))
    if mode == "normalize":
        index = (index < 0).choose(index + count, index)
    inside = (index < 0).choose(count, index)
    values = n(nn.Concat([reshape(n, v, [1]) for v in (off, on)], axis=0))
    return one_hot(n, inside.value, depth, values, n.int("axis"))


@rows("DepthToSpace")
def depth_to_space(n: OpenvinoLayer, x: Value) -> Value:
    mode = "DCR" if n.text("mode") == "blocks_first" else "CRD"
    return n(nn.DepthToSpace(x, block=n.int("block_size", 1), mode=mode))


@rows("SpaceToDepth")
def space_to_depth(n: OpenvinoLayer, x: Value) -> Value:
    if n.text("mode") == "blocks_first":
        return n(nn.SpaceToDepth(x, block=n.int("block_size", 1)))
    return pixel_unshuffle(n, x, n.int("block_size", 1))


@rows("ShuffleChannels")
def shuffle(n: OpenvinoLayer, x: Value) -> Value:
    axis = normalize_axis(n, n.int("axis", 1), x.type.rank)
    return swapped(n, channels_shuffled(n, swapped(n, x, 1, axis), n.int("group", 1)), 1, axis)


@rows("Roll")
def roll(n: OpenvinoLayer, x: Value, shift: Value, axes: Value) -> Value:
    by, along = n.known_ints(shift, "shifts"), n.axes(x, axes)
    by = by * len(along) if len(by) == 1 else by
    for count, axis in zip(by, along, strict=True):
        x = rolled(n, x, axis, count)
    return x


_REDUCTIONS = {"none": "none", "sum": "add", "prod": "mul", "min": "min", "max": "max"}


@rows("Unique")
def unique(n: OpenvinoLayer, x: Value, axis: Value | None = None) -> list[Value]:
    """Unique slices along an axis, or elements; first indices, the inverse, and counts."""
    at = None if axis is None else n.axis(x, axis)
    values, found = unique_slices(n, x, at, in_order=n.flag("sorted", True))
    return [values, found.first, found.inverse, found.counts]


def _reduction(n: OpenvinoLayer) -> str:
    name = n.text("reduction", "none")
    if name not in _REDUCTIONS:
        raise n.error(f"updates that are combined by '{name}' are not supported")
    return _REDUCTIONS[name]


@rows("ScatterUpdate")
def scatter(n: OpenvinoLayer, x: Value, indices: Value, updates: Value, axis: Value) -> Value:
    """x with whole slices along an axis replaced."""
    along, rank = n.axis(x, axis), indices.type.rank
    order = [along, *(i for i in range(x.type.rank) if i != along)]
    places = Term(n, as_i64(n, indices)).spread(0, 1).value
    ahead = [*range(along, along + rank)]
    moved = [*ahead, *(i for i in range(updates.type.rank) if i not in ahead)]
    found = n(nn.ScatterNd(transposed(n, x, order), places, transposed(n, updates, moved)))
    return transposed(n, found, np.argsort(order).tolist())


@rows("ScatterElementsUpdate")
def scatter_elements(
    n: OpenvinoLayer, x: Value, indices: Value, updates: Value, axis: Value
) -> Value:
    is_mean, keeps = n.text("reduction", "none") == "mean", n.flag("use_init_val", True)
    how = "add" if is_mean else _reduction(n)
    given = x, n.axis(x, axis), as_i64(n, indices), updates
    found = reduced_elements(n, *given, how, keeps)
    if not is_mean:
        return found.value
    return (found / counts_of_elements(n, *given, keeps).cast(found.element)).value


@rows("ScatterNDUpdate")
def scatter_nd(n: OpenvinoLayer, x: Value, indices: Value, updates: Value) -> Value:
    return n(nn.ScatterNd(x, as_i64(n, indices), updates, reduction=_reduction(n)))
