"""Tensors in other shapes and orders, put together and taken apart."""

from __future__ import annotations

import math
from collections.abc import Sequence

import numpy as np

from ....dialects import nn
from ....ir.core import Value
from ....ir.types import Dim, TensorType, i32, i64, is_told_by_count
from ...common.loops import reversed_along
from ...common.shapes import (
    as_i64,
    merge,
    normalize_axes,
    normalize_axis,
    reshape,
    shape_of,
    shape_text,
)
from ...common.terms import Term, constant
from ..layer import CoreMLLayer
from ..rows import ROWS

FAR = 2**31 - 1


@ROWS("transpose")
def transpose(n: CoreMLLayer, x: Value) -> Value:
    order = normalize_axes(n, n.ints("perm"), x.type.rank)
    if len(order) != x.type.rank:
        raise n.error(f"'perm' is {list(order)} for {shape_text(x)}")
    return n(nn.Transpose(x, permutation=order))


@ROWS("reshape")
def reshape_(n: CoreMLLayer, x: Value, shape: Value) -> Value:
    wanted = n.extents(shape)
    if wanted is None:
        raise n.error("the number of elements of 'shape' must be known")
    extents: list[Dim] = list(wanted)
    for i, extent in enumerate(extents):
        if extent == 0 and i < x.type.rank and x.type.shape[i] != 0:
            extents[i] = x.type.shape[i]
    known = [d for d in extents if d not in (None, -1)]
    if -1 in extents and None not in extents and None not in x.type.shape:
        rest, total = math.prod(known), math.prod(x.type.shape)  # type: ignore[arg-type]
        if not rest or total % rest:
            raise n.error(f"{shape_text(x)} has no shape {list(wanted)}")
        extents[extents.index(-1)] = total // rest
    out = TensorType(tuple(None if d == -1 else d for d in extents), x.type.element_type)
    if is_told_by_count(out.shape):
        return n(nn.Reshape(x, out=out))
    vector = as_i64(n, shape)
    if 0 in wanted and x.type.rank >= len(wanted):
        kept = n(nn.Equal(vector, n.constant(0, i64)))
        lead = n(nn.Slice(shape_of(n, x), starts=(0,), out=TensorType((len(wanted),), i64)))
        vector = n(nn.Where(kept, lead, vector))
    if -1 in wanted:
        total = n(nn.ReduceProd(shape_of(n, x), axes=(0,)))
        rest = n(nn.Neg(n(nn.ReduceProd(vector, axes=(0,)))))
        free = n(nn.Equal(vector, n.constant(-1, i64)))
        vector = n(nn.Where(free, n(nn.Div(total, rest)), vector))
    return n(nn.ReshapeDynamic(x, vector, out=out))


@ROWS("expand_dims")
def expand_dims(n: CoreMLLayer, x: Value) -> Value:
    given = n.ints("axes")
    axes = normalize_axes(n, given, x.type.rank + len(given))
    extents: list = [(x, i) for i in range(x.type.rank)]
    for axis in sorted(axes):
        extents.insert(axis, 1)
    return reshape(n, x, extents)


@ROWS("squeeze")
def squeeze(n: CoreMLLayer, x: Value) -> Value:
    ones = tuple(i for i, d in enumerate(x.type.shape) if d == 1)
    axes = normalize_axes(n, n.ints("axes", ones), x.type.rank)
    return without(n, x, axes)


def without(n: CoreMLLayer, x: Value, axes: Sequence[int]) -> Value:
    """x without dimensions of one element."""
    if any(x.type.shape[axis] not in (1, None) for axis in axes):
        raise n.error(f"axes {list(axes)} of {shape_text(x)} do not all have one element")
    return reshape(n, x, [(x, i) for i in range(x.type.rank) if i not in axes])


@ROWS("flatten2d")
def flatten(n: CoreMLLayer, x: Value) -> Value:
    axis = n.int("axis", 1)
    axis = axis + x.type.rank if axis < 0 else axis
    return merge(n, x, ((0, axis), (axis, x.type.rank)))


@ROWS("reshape_like")
def reshape_like(n: CoreMLLayer, x: Value, *ref_tensors: Value) -> Value:
    begins, ends = n.ints("begins"), n.ints("ends")
    masks = n.flags("end_masks", len(ends))
    extents = []
    for like, begin, end, mask in zip(ref_tensors, begins, ends, masks, strict=True):
        extents += [(like, i) for i in range(like.type.rank)[begin : None if mask else end]]
    return reshape(n, x, extents)


@ROWS("concat")
def concat(n: CoreMLLayer, *values: Value) -> Value:
    axis = normalize_axis(n, n.int("axis"), values[0].type.rank)
    if not n.flag("interleave"):
        return values[0] if len(values) == 1 else n(nn.Concat(list(values), axis=axis))
    stacked = _stacked(n, values, axis + 1)
    return merge(n, stacked, _merged_at(stacked.type.rank, axis))


def _merged_at(rank: int, axis: int) -> list[tuple[int, int]]:
    """Every dimension on its own but one, which is joined with the next."""
    single = [(i, i + 1) for i in range(rank)]
    return [*single[:axis], (axis, axis + 2), *single[axis + 2 :]]


@ROWS("stack")
def stack(n: CoreMLLayer, *values: Value) -> Value:
    return _stacked(n, values, normalize_axis(n, n.int("axis"), values[0].type.rank + 1))


def _stacked(n: CoreMLLayer, values: Sequence[Value], axis: int) -> Value:
    parts = []
    for value in values:
        extents: list = [(value, i) for i in range(value.type.rank)]
        extents.insert(axis, 1)
        parts.append(reshape(n, value, extents))
    return parts[0] if len(parts) == 1 else n(nn.Concat(parts, axis=axis))


@ROWS("split")
def split(n: CoreMLLayer, x: Value) -> list[Value]:
    axis = normalize_axis(n, n.int("axis"), x.type.rank)
    extent = x.type.shape[axis]
    if n.has("split_sizes"):
        sizes = n.ints("split_sizes")
    else:
        count = n.int("num_splits")
        if extent is None or count < 1 or extent % count:
            raise n.error(f"axis {axis} of {shape_text(x)} does not split into {count} parts")
        sizes = (extent // count,) * count
    outs = [
        TensorType((*x.type.shape[:axis], size, *x.type.shape[axis + 1 :]), x.type.element_type)
        for size in sizes
    ]
    return [x] if len(outs) == 1 else list(n(nn.Split(x, axis=axis, outs=outs)))


@ROWS("tile")
def tile(n: CoreMLLayer, x: Value) -> Value:
    return n(nn.Tile(x, repeats=n.ints("reps")))


@ROWS("reverse")
def reverse(n: CoreMLLayer, x: Value) -> Value:
    for axis in normalize_axes(n, n.ints("axes", range(x.type.rank)), x.type.rank):
        x = reversed_along(n, x, axis)
    return x


@ROWS("pad")
def pad(n: CoreMLLayer, x: Value) -> Value:
    pairs = n.ints("pad")
    if len(pairs) % 2 or len(pairs) > 2 * x.type.rank:
        raise n.error(f"'pad' has {len(pairs)} numbers for {shape_text(x)}")
    lead = (0,) * (x.type.rank - len(pairs) // 2)
    mode = n.text("mode", "constant", "constant", "reflect", "replicate")
    fill = n.scalar(n.float("constant_val", 0), x) if mode == "constant" else None
    pads = (*lead, *pairs[::2], *lead, *pairs[1::2])
    return n(nn.Pad(x, fill, pads=pads, mode="edge" if mode == "replicate" else mode))


@ROWS("depth_to_space", "pixel_shuffle")
def depth_to_space(n: CoreMLLayer, x: Value) -> Value:
    if n.kind == "pixel_shuffle":
        return n(nn.DepthToSpace(x, block=n.int("upscale_factor"), mode="CRD"))
    return n(nn.DepthToSpace(x, block=n.int("block_size")))


@ROWS("space_to_depth")
def space_to_depth(n: CoreMLLayer, x: Value) -> Value:
    return n(nn.SpaceToDepth(x, block=n.int("block_size")))


@ROWS("pixel_unshuffle")
def pixel_unshuffle(n: CoreMLLayer, x: Value) -> Value:
    """[N, C, H, W] -> [N, C, H/s, s, W/s, s] -> [N, C * s * s, H/s, W/s]"""
    s, (_, channels, height, width) = n.int("downscale_factor"), x.type.shape
    if None in (channels, height, width) or s < 1 or height % s or width % s:
        raise n.error(f"{shape_text(x)} does not divide by {s}")
    squares = Term(n, x).reshape((x, 0), channels, height // s, s, width // s, s)
    moved = squares.transpose(0, 1, 3, 5, 2, 4)
    return moved.reshape((x, 0), channels * s * s, height // s, width // s).value


@ROWS("band_part")
def band_part(n: CoreMLLayer, x: Value) -> Value:
    """What is at most so far from the diagonal; below 0 there is no limit."""
    lower, upper = n.int("lower", -1), n.int("upper", -1)
    if lower >= 0:
        x = n(nn.Trilu(x, n.constant(-lower, i64), upper=True))
    return n(nn.Trilu(x, n.constant(upper, i64), upper=False)) if upper >= 0 else x


@ROWS("shape")
def shape(n: CoreMLLayer, x: Value) -> Value:
    return n.cast(shape_of(n, x), i32)


# -- slices ----------------------------------------------------------------------------------------


@ROWS("slice_by_index")
def slice_by_index(
    n: CoreMLLayer, x: Value, begin: Value, end: Value | None = None, stride: Value | None = None
) -> Value:
    rank = x.type.rank
    squeezed = [i for i, mask in enumerate(n.flags("squeeze_mask", rank)) if mask]
    steps = (1,) * rank if stride is None else n.known_ints(stride, "'stride'")
    begins = _bounds(n, begin, n.flags("begin_mask", rank), rank)
    ends = _bounds(n, end, n.flags("end_mask", rank), rank)
    if len(steps) != rank or 0 in steps or len(begins) != rank or len(ends) != rank:
        raise n.error(f"bounds and strides of {shape_text(x)} misfit")
    shape, starts, late = list(x.type.shape), [0] * rank, False
    for axis, extent in enumerate(x.type.shape):
        b, e, s = begins[axis], ends[axis], steps[axis]
        if axis in squeezed:
            e = None if isinstance(b, int) and b == -1 else "next" if b == "late" else (b or 0) + 1
        if (b, e, s) == (None, None, 1):
            continue
        if b == "late" or e == "late" or extent is None:
            late = True
            shape[axis] = 1 if axis in squeezed else None
            continue
        places = range(extent)[slice(b, e, s)]
        starts[axis], shape[axis] = places.start, len(places)
    if late:
        out = _sliced_late(n, x, (begin, end), (begins, ends), steps, squeezed, shape)
    else:
        out = TensorType(tuple(shape), x.type.element_type)
        out = n(nn.Slice(x, starts=tuple(starts), steps=tuple(steps), out=out))
    return without(n, out, squeezed) if squeezed else out


def _bounds(n: CoreMLLayer, given: Value | None, masks: Sequence[bool], rank: int) -> list:
    """For each axis a number, None for all, or "late" where only the run tells it."""
    found = (None,) * rank if given is None else n.extents(given) or ()
    return [
        None if mask or given is None else "late" if bound is None else bound
        for bound, mask in zip(found, masks, strict=False)
    ]


def _sliced_late(n: CoreMLLayer, x: Value, given, bounds, steps, squeezed, shape) -> Value:
    """The slice by bounds of which a part is known at run time only."""
    vectors = []
    for which, (value, known) in enumerate(zip(given, bounds, strict=True)):
        open_ = [(FAR if s > 0 else -FAR) if which else (0 if s > 0 else FAR) for s in steps]
        own = constant(n, np.array(open_, np.int64))
        if value is not None:
            masked = constant(n, np.array([bound is None for bound in known]))
            own = masked.choose(own, Term(n, as_i64(n, value)))
        vectors.append(own)
    starts, ends = vectors
    if squeezed:
        single = constant(n, np.array([i in squeezed for i in range(x.type.rank)]))
        following = starts + 1
        following = following.equals(0).choose(constant(n, FAR, i64), following)
        ends = single.choose(following, ends)
    axes = n.constant(np.arange(x.type.rank))
    out = TensorType(tuple(shape), x.type.element_type)
    strides = n.constant(np.array(steps, np.int64))
    return n(nn.SliceDynamic(x, starts.value, ends.value, axes, strides, out=out))


@ROWS("slice_by_size")
def slice_by_size(n: CoreMLLayer, x: Value, begin: Value, size: Value) -> Value:
    sizes = n.extents(size) or ()
    starts = n.known(begin)
    if len(sizes) != x.type.rank:
        raise n.error(f"'size' has {len(sizes)} elements for {shape_text(x)}")
    shape = []
    for axis, (extent, count) in enumerate(zip(x.type.shape, sizes, strict=True)):
        if count == -1:
            known = starts is not None and extent is not None
            count = extent - int(starts[axis]) if known else None
        shape.append(count)
    out = TensorType(tuple(shape), x.type.element_type)
    if starts is not None and None not in shape:
        return n(nn.Slice(x, starts=tuple(int(v) for v in starts), out=out))
    first, count = Term(n, as_i64(n, begin)), Term(n, as_i64(n, size))
    ends = count.equals(-1).choose(constant(n, FAR, i64), first + count)
    axes = n.constant(np.arange(x.type.rank))
    ones = n.constant(np.ones(x.type.rank, np.int64))
    return n(nn.SliceDynamic(x, first.value, ends.value, axes, ones, out=out))


@ROWS("slice_update")
def slice_update(
    n: CoreMLLayer,
    x: Value,
    update: Value,
    begin: Value,
    end: Value | None = None,
    stride: Value | None = None,
) -> Value:
    """x with a slice replaced: the elements scattered to their places in the flat tensor."""
    rank = x.type.rank
    if None in x.type.shape:
        raise n.error(f"input 'x' is {shape_text(x)}, expected known extents")
    squeezed = n.flags("squeeze_mask", rank)
    masks = n.flags("begin_mask", rank)
    steps = (1,) * rank if stride is None else n.known_ints(stride, "'stride'")
    inner = [(update, i) for i in range(update.type.rank)]
    extents = [1 if squeezed[i] else inner.pop(0) for i in range(rank)]
    whole = Term(n, update).reshape(*extents)
    place: Term | None = None
    for axis, extent in enumerate(x.type.shape):
        first = constant(n, 0, i64)
        if not masks[axis]:
            first = Term(n, as_i64(n, begin)).column(axis)
            first = (first < 0).choose(first + extent, first)
        elif steps[axis] < 0:
            first = constant(n, extent - 1, i64)
        count = whole.shape[axis]
        if count is None:
            raise n.error(f"input 'update' is {shape_text(update)}, expected known extents")
        own = constant(n, np.arange(count, dtype=np.int64) * steps[axis]) + first
        own = own * math.prod(x.type.shape[axis + 1 :])
        own = own.reshape(*(count if i == axis else 1 for i in range(rank)))
        place = own if place is None else place + own
    if place is None:
        return update
    flat = Term(n, x).flat()
    places = Term(n, n(nn.Reshape(place.value, out=TensorType((math.prod(place.shape),), i64))))
    made = n(nn.ScatterElements(flat.value, places.value, whole.flat().value, axis=0))
    return Term(n, made).reshape(*x.type.shape).value
