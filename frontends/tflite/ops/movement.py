"""What reshapes, moves, repeats and joins elements."""

from __future__ import annotations

from typing import Any

import numpy as np

from ....dialects import nn
from ....ir.core import Value
from ....ir.types import TensorType, i32, i64
from ...common.blocks import batch_to_space, mirrored_pad, space_to_batch
from ...common.late_axes import parts_of_sizes
from ...common.movement import FAR, concat, padded_by, reversed_axes, split_into, transposed
from ...common.reshaping import expand_by, reshape_by
from ...common.shapes import (
    as_i64,
    as_scalar,
    normalize_axes,
    normalize_axis,
    of_length,
    reshape,
    shape_of,
)
from ...common.strided_slice import Masks, strided_slice
from ...common.windows import pad_by_vector
from ..layer import TfliteLayer, moved
from ..rows import ROWS


def declared_rank(n: TfliteLayer) -> int:
    """The rank of the first output, as the file has it."""
    return len(n.attributes.outputs[0].shape)


@ROWS("RESHAPE")
@moved
def reshape_(n: TfliteLayer, x: Value, shape: Value | None = None) -> Value:
    if shape is None:
        shape = n.constant(np.asarray(n.options.shape, np.int64))
    target = n.extents(of_length(n, shape, declared_rank(n)))
    if target is None:
        raise n.error("the number of dimensions of the result must be known")
    if list(target).count(-1) > 1:
        raise n.error(f"shape {list(target)} has more than one -1")
    return reshape_by(n, x, shape, list(target))


@ROWS("SQUEEZE")
@moved
def squeeze(n: TfliteLayer, x: Value) -> Value:
    given = n.options.axes.tolist()
    if not given:
        given = [i for i, d in enumerate(x.type.shape) if d == 1]
    axes = normalize_axes(n, given, x.type.rank)
    if any(x.type.shape[axis] not in (1, None) for axis in axes):
        raise n.error(f"axes {given} of {list(x.type.shape)} are to be dropped")
    return reshape(n, x, [(x, i) for i in range(x.type.rank) if i not in axes])


@ROWS("EXPAND_DIMS")
@moved
def expand_dims(n: TfliteLayer, x: Value, axis: Value) -> Value:
    place = normalize_axis(n, n.known_int(axis, "axis"), x.type.rank + 1)
    extents: list[Any] = [(x, i) for i in range(x.type.rank)]
    return reshape(n, x, [*extents[:place], 1, *extents[place:]])


@ROWS("TRANSPOSE")
@moved
def transpose(n: TfliteLayer, x: Value, order: Value) -> Value:
    found = normalize_axes(n, n.known_ints(order, "the order of dimensions"), x.type.rank)
    if len(found) != x.type.rank:
        raise n.error(f"an order of {len(found)} dimensions for a tensor of rank {x.type.rank}")
    return transposed(n, x, found)


@ROWS("CONCATENATION")
@moved
def concatenation(n: TfliteLayer, *inputs: Value) -> Value:
    rank = inputs[0].type.rank
    axis = normalize_axis(n, n.options.axis, rank)
    if any(value.type.rank != rank for value in inputs):
        raise n.error(f"inputs of ranks {[v.type.rank for v in inputs]}, expected one rank")
    return n.activated(concat(n, inputs, axis))


@ROWS("PACK")
@moved
def pack(n: TfliteLayer, *inputs: Value) -> Value:
    rank = inputs[0].type.rank
    axis = normalize_axis(n, n.options.axis, rank + 1)
    apart = []
    for x in inputs:
        extents: list[Any] = [(x, i) for i in range(x.type.rank)]
        apart.append(reshape(n, x, [*extents[:axis], 1, *extents[axis:]]))
    return apart[0] if len(apart) == 1 else n(nn.Concat(apart, axis=axis))


@ROWS("UNPACK")
@moved
def unpack(n: TfliteLayer, x: Value) -> list[Value]:
    axis = normalize_axis(n, n.options.axis, x.type.rank)
    parts = split_into(n, x, axis, [1] * n.options.count)
    return [reshape(n, p, [(p, i) for i in range(x.type.rank) if i != axis]) for p in parts]


@ROWS("SPLIT")
def split(n: TfliteLayer, axis: Value, x: Value) -> list[Value]:
    place = normalize_axis(n, n.known_int(axis, "axis"), x.type.rank)
    count, extent = len(n.attributes.outputs), x.type.shape[place]
    if not count or extent is None or extent % count:
        raise n.error(f"{extent} elements do not split into {count} equal parts")
    return split_into(n, x, place, [extent // count] * count)


@ROWS("SPLIT_V")
def split_v(n: TfliteLayer, x: Value, sizes: Value, axis: Value) -> list[Value]:
    place = normalize_axis(n, n.known_int(axis, "axis"), x.type.rank)
    count, extent = len(n.attributes.outputs), x.type.shape[place]
    if n.known(sizes) is None:
        return list(parts_of_sizes(n, x, place, sizes, count))
    found = list(n.known_ints(sizes, "sizes"))
    if extent is not None and found.count(-1) == 1:
        found[found.index(-1)] = extent - sum(found) - 1
    if len(found) != count or min(found) < 0 or (extent is not None and sum(found) != extent):
        raise n.error(f"{extent} elements do not split into {found}")
    return split_into(n, x, place, found)


@ROWS("SLICE")
@moved
def slice_(n: TfliteLayer, x: Value, begin: Value, size: Value) -> Value:
    """Of a size of -1 all that follow."""
    rank = x.type.rank
    known = n.known(size)
    ones = n.constant(np.ones(rank, np.int64))
    begin, size = as_i64(n, begin), as_i64(n, size)
    end = n(nn.Add(begin, size))
    ends = (
        Masks(end=sum(1 << i for i, s in enumerate(known.tolist()) if s == -1))
        if (known is not None)
        else Masks()
    )
    if known is None:
        open_ = n(nn.Equal(size, n.constant(-1, i64)))
        end = n(nn.Where(open_, n.constant(FAR, i64), end))
    return strided_slice(n, x, begin, end, ones, ends)


@ROWS("STRIDED_SLICE")
@moved
def strided_slice_(n: TfliteLayer, x: Value, begin: Value, end: Value, strides: Value) -> Value:
    o = n.options
    if o.offset:
        end = n(nn.Add(begin, end))
    bits = o.begin_mask, o.end_mask, o.ellipsis_mask, o.new_axis_mask, o.shrink_axis_mask
    return strided_slice(n, x, begin, end, strides, Masks(*bits))


@ROWS("PAD")
@moved
def pad(n: TfliteLayer, x: Value, pads: Value) -> Value:
    zero = n.zero_point(0) if n.is_quantized(0) and not _is_float(x) else 0
    return _padded(n, x, pads, n.scalar(zero, x))


def _is_float(x: Value) -> bool:
    return str(x.type.element_type) in ("f16", "bf16", "f32", "f64")


@ROWS("PADV2")
@moved
def pad_v2(n: TfliteLayer, x: Value, pads: Value, value: Value) -> Value:
    return _padded(n, x, pads, as_scalar(n, value))


def _padded(n: TfliteLayer, x: Value, pads: Value, value: Value) -> Value:
    """Pads are pairs of numbers, a row for each dimension."""
    if pads.type.shape not in ((x.type.rank, 2), (None, 2)):
        raise n.error(f"pads are '{pads.type}', expected pairs for {x.type.rank} dimensions")
    if n.known(pads) is None:
        columns = n(nn.Transpose(as_i64(n, pads), permutation=(1, 0)))
        flat = n(nn.Reshape(columns, out=TensorType((2 * x.type.rank,), i64)))
        return pad_by_vector(n, x, flat, value)
    given = n.known_ints(pads, "pads")
    return padded_by(n, x, given[::2] + given[1::2], value)


@ROWS("MIRROR_PAD")
@moved
def mirror_pad(n: TfliteLayer, x: Value, pads: Value) -> Value:
    given = n.known_ints(pads, "pads")
    if len(given) != 2 * x.type.rank:
        raise n.error(f"{len(given)} pads for {x.type.rank} dimensions")
    if n.options.mode == 0:
        return padded_by(n, x, given[::2] + given[1::2], None, "reflect")
    return mirrored_pad(n, x, list(zip(given[::2], given[1::2], strict=True)))


@ROWS("TILE")
@moved
def tile(n: TfliteLayer, x: Value, repeats: Value) -> Value:
    counts = n.known_ints(repeats, "repeats")
    if len(counts) != x.type.rank or min(counts, default=0) < 0:
        raise n.error(f"repeats are {list(counts)}, expected {x.type.rank} numbers from 0 on")
    return n(nn.Tile(x, repeats=counts)) if set(counts) - {1} else x


@ROWS("REVERSE_V2")
@moved
def reverse(n: TfliteLayer, x: Value, axes: Value) -> Value:
    found = normalize_axes(n, n.known_ints(axes, "axes"), x.type.rank)
    if any(x.type.shape[axis] is None for axis in found):
        raise n.error("the extents that are reversed must be known")
    return reversed_axes(n, x, found)


@ROWS("SPACE_TO_BATCH_ND")
@moved
def space_to_batch_(n: TfliteLayer, x: Value, block: Value, pads: Value) -> Value:
    zero = n.zero_point(0) if n.is_quantized(0) and not _is_float(x) else 0
    sizes = n.known_ints(block, "the block")
    return space_to_batch(n, x, sizes, _pairs(n, pads, len(sizes)), n.scalar(zero, x))


@ROWS("BATCH_TO_SPACE_ND")
@moved
def batch_to_space_(n: TfliteLayer, x: Value, block: Value, crops: Value) -> Value:
    sizes = n.known_ints(block, "the block")
    return batch_to_space(n, x, sizes, _pairs(n, crops, len(sizes)))


def _pairs(n: TfliteLayer, value: Value, count: int) -> list[tuple[int, int]]:
    found = n.known_ints(value, "paddings and crops")
    if len(found) != 2 * count:
        raise n.error(f"{len(found)} paddings for {count} dimensions")
    return list(zip(found[::2], found[1::2], strict=True))


# -- shapes ----------------------------------------------------------------------------------------


@ROWS("SHAPE")
def shape(n: TfliteLayer, x: Value) -> Value:
    return n.cast(shape_of(n, x), n.output_type())


@ROWS("RANK")
def rank(n: TfliteLayer, x: Value) -> Value:
    return n.constant(x.type.rank, i32)


@ROWS("FILL")
def fill(n: TfliteLayer, dims: Value, value: Value) -> Value:
    extents = n.extents(of_length(n, dims, declared_rank(n)))
    if extents is None:
        raise n.error("the number of dimensions of the result must be known")
    out = TensorType(tuple(extents), value.type.element_type)
    if None not in extents:
        return n(nn.Fill(as_scalar(n, value), out=out))
    return n(nn.FillDynamic(as_i64(n, dims), as_scalar(n, value), out=out))


@ROWS("BROADCAST_TO")
@moved
def broadcast_to(n: TfliteLayer, x: Value, shape: Value) -> Value:
    wanted = n.extents(of_length(n, shape, declared_rank(n)))
    if wanted is None:
        raise n.error("the number of dimensions of the result must be known")
    return expand_by(n, x, as_i64(n, shape), tuple(wanted))


@ROWS("BROADCAST_ARGS")
def broadcast_args(n: TfliteLayer, lhs: Value, rhs: Value) -> Value:
    """The shape to which tensors of two shapes broadcast."""
    counts = lhs.type.shape[0], rhs.type.shape[0]
    if None in counts:
        raise n.error("the ranks must be known")
    rank = max(int(c or 0) for c in counts)
    sides = []
    for x, count in zip((lhs, rhs), counts, strict=True):
        ones = n.constant(np.ones(rank - int(count or 0), np.int64))
        sides.append(concat(n, [ones, as_i64(n, x)], 0))
    is_one = n(nn.Equal(sides[0], n.constant(1, i64)))
    return n.cast(n(nn.Where(is_one, sides[1], sides[0])), lhs.type.element_type)


@ROWS("RANGE")
def range_(n: TfliteLayer, start: Value, limit: Value, delta: Value) -> Value:
    bounds = [as_scalar(n, v) for v in (start, limit, delta)]
    known = [n.known(v) for v in bounds]
    length = None
    if all(v is not None for v in known):
        first, last, step = (float(v) for v in known if v is not None)
        if not step:
            raise n.error("delta is 0")
        length = max(0, int(np.ceil((last - first) / step)))
    return n(nn.Range(*bounds, out=TensorType((length,), start.type.element_type)))
