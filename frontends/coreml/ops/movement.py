"""Reshapes, permutations, concatenations, splits and other operations that move elements."""

from __future__ import annotations

from ...common import movement
from ...common.blocks import batch_to_space, pixel_unshuffle, space_to_batch
from ...common.strided_slice import Masks, strided_slice
from ...common.terms import extent as extent_of
from ...common.vocabulary import *
from ..layer import CoreMLLayer, of_one_type, rows


@rows("transpose")
def transpose(n: CoreMLLayer, x: Value) -> Value:
    order = normalize_axes(n, n.ints("perm"), x.type.rank)
    if len(order) != x.type.rank:
        raise n.error(f"'perm' is {list(order)} for {shape_text(x)}")
    return transposed(n, x, order)


@rows("reshape")
def reshape_(n: CoreMLLayer, x: Value, shape: Value) -> Value:
    wanted = n.extents(shape)
    if wanted is None:
        raise n.error("the number of elements of 'shape' must be known")
    own = x.type.shape
    kept = [d == 0 and i < len(own) and own[i] != 0 for i, d in enumerate(wanted)]
    return reshape_by(n, x, shape, [(x, i) if k else wanted[i] for i, k in enumerate(kept)])


@rows("expand_dims")
def expand_dims(n: CoreMLLayer, x: Value) -> Value:
    given = n.ints("axes")
    return unsqueezed(n, x, *sorted(normalize_axes(n, given, x.type.rank + len(given))))


@rows("squeeze")
def squeeze(n: CoreMLLayer, x: Value) -> Value:
    ones = tuple(i for i, d in enumerate(x.type.shape) if d == 1)
    axes = normalize_axes(n, n.ints("axes", ones), x.type.rank)
    if any(x.type.shape[axis] not in (1, None) for axis in axes):
        raise n.error(f"axes {list(axes)} of {shape_text(x)} do not all have one element")
    return movement.squeezed(n, x, *axes)


@rows("flatten2d")
def flatten2d(n: CoreMLLayer, x: Value) -> Value:
    axis = n.int("axis", 1)
    return flatten(n, x, axis + x.type.rank if axis < 0 else axis)


@rows("reshape_like")
def reshape_like(n: CoreMLLayer, x: Value, *ref_tensors: Value) -> Value:
    begins, ends = n.ints("begins"), n.ints("ends")
    masks = n.flags("end_masks", len(ends))
    extents: list[Extent] = []
    for like, begin, end, mask in zip(ref_tensors, begins, ends, masks, strict=True):
        extents += dims(like)[begin : None if mask else end]
    return reshape(n, x, extents)


@rows("concat")
def concat(n: CoreMLLayer, *values: Value) -> Value:
    parts = [v if v.type.rank else reshape(n, v, [1]) for v in of_one_type(n, *values)]
    rank = parts[0].type.rank
    axis = normalize_axis(n, n.int("axis"), rank)
    if not n.flag("interleave"):
        return concatenated(n, parts, axis)
    single = [(i, i + 1) for i in range(rank + 1)]
    joined = [*single[:axis], (axis, axis + 2), *single[axis + 2 :]]
    return merge(n, stacked(n, parts, axis + 1), joined)


@rows("stack")
def stack(n: CoreMLLayer, *values: Value) -> Value:
    axis = normalize_axis(n, n.int("axis"), values[0].type.rank + 1)
    return stacked(n, of_one_type(n, *values), axis)


@rows("split")
def split(n: CoreMLLayer, x: Value) -> list[Value]:
    axis = normalize_axis(n, n.int("axis"), x.type.rank)
    if n.has("split_sizes"):
        return split_into(n, x, axis, n.ints("split_sizes"))
    return split_evenly(n, x, axis, n.int("num_splits"))


@rows("tile")
def tile(n: CoreMLLayer, x: Value, reps: Value) -> Value:
    return tiled(n, x, as_i64(n, reps))


@rows("reverse")
def reverse(n: CoreMLLayer, x: Value) -> Value:
    axes = normalize_axes(n, n.ints("axes", range(x.type.rank)), x.type.rank)
    return reversed_axes(n, x, axes)


@rows("pad")
def pad(n: CoreMLLayer, x: Value) -> Value:
    pairs = n.ints("pad")
    if len(pairs) % 2 or len(pairs) > 2 * x.type.rank:
        raise n.error(f"'pad' has {len(pairs)} numbers for {shape_text(x)}")
    lead = (0,) * (x.type.rank - len(pairs) // 2)
    if n.flag("to_sizes"):  # of older networks: what is not 0 is an extent of the result
        own = x.type.shape[len(lead) :]
        if None in own:
            raise n.error(f"input 'x' is {shape_text(x)}, expected known extents")
        pairs = [max(size - own[i // 2], 0) if size else 0 for i, size in enumerate(pairs)]
    mode = n.text("mode", "constant", "constant", "reflect", "replicate")
    pads, fill = (*lead, *pairs[::2], *lead, *pairs[1::2]), n.float("constant_val", 0)
    mode = "edge" if mode == "replicate" else mode
    return padded_by(n, x, pads, fill, mode)


@rows("depth_to_space", "pixel_shuffle")
def depth_to_space(n: CoreMLLayer, x: Value) -> Value:
    if n.kind == "pixel_shuffle":
        return n(nn.DepthToSpace(x, block=n.int("upscale_factor"), mode="CRD"))
    return n(nn.DepthToSpace(x, block=n.int("block_size")))


@rows("space_to_depth")
def space_to_depth(n: CoreMLLayer, x: Value) -> Value:
    return n(nn.SpaceToDepth(x, block=n.int("block_size")))


@rows("pixel_unshuffle")
def squares(n: CoreMLLayer, x: Value) -> Value:
    return pixel_unshuffle(n, x, n.int("downscale_factor"))


@rows("band_part")
def band_part(n: CoreMLLayer, x: Value) -> Value:
    """The band around the diagonal; a negative bound means no limit."""
    lower, upper = n.int("lower", -1), n.int("upper", -1)
    if lower >= 0:
        x = n(nn.Trilu(x, n.constant(-lower, i64), upper=True))
    return n(nn.Trilu(x, n.constant(upper, i64), upper=False)) if upper >= 0 else x


@rows("lower_triangular", "upper_triangular")
def triangular(n: CoreMLLayer, x: Value) -> Value:
    return n(nn.Trilu(x, n.constant(n.int("k", 0), i64), upper=n.kind == "upper_triangular"))


@rows("reverse_sequence")
def reverse_sequence_(n: CoreMLLayer, x: Value, lengths: Value) -> Value:
    return reverse_sequence(n, x, lengths, n.int("seq_axis", 0), n.int("batch_axis", 0))


@rows("sliding_windows")
def sliding_windows(n: CoreMLLayer, x: Value) -> Value:
    """[.., D, ..] -> [.., windows, size, ..]"""
    axis, size = normalize_axis(n, n.int("axis"), x.type.rank), n.int("size")
    step, whole = n.int("stride", 1), x.type.shape[axis]
    if size < 1 or step < 1 or (whole is not None and whole < size):
        raise n.error(f"windows of {size} elements, {step} apart, in {whole}")
    first = counting(n, (extent_of(n, (x, axis)) - size) / step + 1) * step
    return Term(n, x).gather(first.spread(0, 1) + constant(n, arange(size)), axis).value


@rows("space_to_batch", "batch_to_space")
def space_and_batch(n: CoreMLLayer, x: Value) -> Value:
    """Space to batch or back: every n-th position of images [N, C, H, W] as an image of its own."""
    to_batch = n.kind == "space_to_batch"
    block, given = n.ints("block_shape"), n.ints("paddings" if to_batch else "crops")
    pairs = list(zip(given[::2], given[1::2], strict=True))
    work = space_to_batch if to_batch else batch_to_space
    return channels_first(n, work(n, channels_last(n, x), block, pairs))


@rows("broadcast_to")
def broadcast_to(n: CoreMLLayer, x: Value, shape: Value) -> Value:
    """x broadcast to a shape. In networks only."""
    wanted = n.extents(shape)
    if wanted is None:
        raise n.error("the number of elements of 'shape' must be known")
    return expand_by(n, x, as_i64(n, shape), wanted)


@rows("shape")
def shape(n: CoreMLLayer, x: Value) -> Value:
    return n.cast(shape_of(n, x), i32)


# -- slices ----------------------------------------------------------------------------------------


def _mask(n: CoreMLLayer, name: str, rank: int) -> int:
    """Flags as the bits of an integer."""
    return sum(flag << i for i, flag in enumerate(n.flags(name, rank)))


@rows("slice_by_index")
def slice_by_index(
    n: CoreMLLayer, x: Value, begin: Value, end: Value | None = None, stride: Value | None = None
) -> Value:
    rank = x.type.rank
    ones = n.constant(np.ones(rank, np.int64))
    masks = Masks(*(_mask(n, f"{name}_mask", rank) for name in ("begin", "end")))
    if end is None:
        end, masks = ones, Masks(masks.begin, ~0)
    masks = Masks(masks.begin, masks.end, shrink=_mask(n, "squeeze_mask", rank))
    return strided_slice(n, x, begin, end, ones if stride is None else stride, masks)


@rows("slice of a network")
def slice_of_network(n: CoreMLLayer, x: Value) -> Value:
    """A slice of one axis, which is counted from the last one."""
    end = n.int("end") or FAR
    return slice_axis(n, x, x.type.rank + n.int("axis"), n.int("begin"), end, n.int("stride"))


@rows("images of a network")
def images_of_network(n: CoreMLLayer, x: Value) -> Value:
    """A blob as [N, C, H, W]; leading dimensions, of any number, become one."""
    last = x.type.rank - 3
    if last < 0:
        raise n.error(f"the input is {shape_text(x)}, expected at least three dimensions")
    if last == 0:
        return unsqueezed(n, x, 0)
    return merge(n, x, ((0, last), *((i, i + 1) for i in range(last, last + 3))))


@rows("blob of a network")
def blob_of_network(n: CoreMLLayer, x: Value, ref_tensor: Value) -> Value:
    """[N, C, H, W] with the leading dimensions of another blob in place of N."""
    lead = [(ref_tensor, i) for i in range(ref_tensor.type.rank - 3)]
    return reshape(n, x, [*lead, *((x, i) for i in range(1, 4))])


@rows("slice_by_size")
def slice_by_size(n: CoreMLLayer, x: Value, begin: Value, size: Value) -> Value:
    first, count = Term(n, as_i64(n, begin)), Term(n, as_i64(n, size))
    if first.shape != (x.type.rank,) or count.shape != first.shape:
        raise n.error(f"'begin' and 'size' must have a number for each axis of {shape_text(x)}")
    end = (first + count).value
    to_end = count.equals(-1).choose(constant(n, FAR, i64), Term(n, end)).value
    return strided_slice(n, x, begin, to_end, n.constant(np.ones(x.type.rank, np.int64)), Masks())


@rows("slice_update")
def slice_update(
    n: CoreMLLayer,
    x: Value,
    update: Value,
    begin: Value,
    end: Value | None = None,
    stride: Value | None = None,
) -> Value:
    """x with a slice replaced: the update is scattered into the flattened tensor."""
    rank = x.type.rank
    masks, squeezed = n.flags("begin_mask", rank), n.flags("squeeze_mask", rank)
    steps = (1,) * rank if stride is None else n.known_ints(stride, "'stride'")
    one, inner = constant(n, 1, i64), iter(range(update.type.rank))
    counts = [one if gone else extent(n, (update, next(inner))) for gone in squeezed]
    extents = [extent(n, (x, axis)) for axis in range(rank)]
    place = constant(n, np.zeros((1,) * rank, np.int64))
    for axis, (whole, count) in enumerate(zip(extents, counts, strict=True)):
        if masks[axis]:
            first = whole - 1 if steps[axis] < 0 else constant(n, 0, i64)
        else:
            first = Term(n, as_i64(n, begin)).column(axis)
            first = (first < 0).choose(first + whole, first)
        own = counting(n, count) * steps[axis] + first
        own = own * math.prod(extents[axis + 1 :], start=one)
        place = place + own.spread(axis, rank - 1 - axis)
    flat, elements = Term(n, x).flat(), Term(n, update).flat()
    made = nn.ScatterElements(flat.value, place.flat().value, elements.value, axis=0)
    return flat.made(made).reshape(*((x, axis) for axis in range(rank))).value
