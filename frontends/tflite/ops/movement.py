"""Operators that reshape, move, repeat and join elements."""

from __future__ import annotations

from ...common import tensorflow as tf
from ...common.strided_slice import Masks, strided_slice
from ...common.vocabulary import *
from ..layer import TfliteLayer, moved
from ..rows import ROWS


def declared_rank(n: TfliteLayer) -> int:
    """The rank of the first output, as the file has it."""
    return len(n.attributes.outputs[0].shape)


def _nothing(n: TfliteLayer, x: Value) -> Value:
    """0 as an element of x: a float, or the zero point of quantized integers."""
    return n.scalar(0 if isinstance(x.type.element_type, FloatType) else n.zero_point(0), x)


_MOVES = {
    "SQUEEZE": lambda n, x: tf.squeeze(n, x, n.options.axes.tolist()),
    "EXPAND_DIMS": tf.expand_dims,
    "TRANSPOSE": tf.transpose,
    "PACK": lambda n, *parts: tf.pack(n, parts, n.options.axis),
    "UNPACK": lambda n, x: tf.unpack(n, x, n.options.axis, n.options.count),
    "SPLIT": lambda n, axis, x: tf.split(n, axis, x, len(n.attributes.outputs)),
    "SPLIT_V": lambda n, x, sizes, axis: tf.split_v(n, x, sizes, axis, len(n.attributes.outputs)),
    "SLICE": tf.slice_,
    "PAD": lambda n, x, pads: tf.pad(n, x, pads, _nothing(n, x)),
    "PADV2": tf.pad,
    "MIRROR_PAD": lambda n, x, pads: tf.pad(
        n, x, pads, None, mode="symmetric" if n.options.mode else "reflect"
    ),
    "TILE": lambda n, x, repeats: tiled(n, x, as_i64(n, repeats)),
    "REVERSE_V2": tf.reverse,
    "REVERSE_SEQUENCE": lambda n, x, lengths: reverse_sequence(
        n, x, lengths, n.options.time, n.options.batch
    ),
    "SPACE_TO_BATCH_ND": lambda n, x, block, pads: tf.space_to_batch_nd(
        n, x, block, pads, filler=_nothing(n, x)
    ),
    "BATCH_TO_SPACE_ND": tf.batch_to_space_nd,
    "BROADCAST_TO": lambda n, x, shape: tf.broadcast_to(n, x, shape, rank=declared_rank(n)),
    "GATHER": lambda n, x, indices: tf.gather(n, x, indices, n.options.axis, n.options.batch_dims),
    "GATHER_ND": lambda n, x, indices: gathered_nd(n, x, indices),
    "SELECT": tf.select_rows,
    "SELECT_V2": lambda n, condition, yes, no: n(nn.Where(condition, yes, no)),
}

ROWS.add({kind: moved(function) for kind, function in _MOVES.items()})
ROWS.add(
    {
        "SHAPE": lambda n, x: n.cast(shape_of(n, x), n.output_type()),
        "RANK": lambda n, x: n.constant(x.type.rank, i32),
        "FILL": lambda n, shape, value: tf.fill(n, shape, value, rank=declared_rank(n)),
        "BROADCAST_ARGS": tf.broadcast_args,
        "RANGE": ranged,
    }
)


@ROWS("RESHAPE")
@moved
def reshape_(n: TfliteLayer, x: Value, shape: Value | None = None) -> Value:
    if shape is None:
        shape = n.constant(np.asarray(n.options.shape, np.int64))
    return tf.reshape_to(n, x, shape, rank=declared_rank(n))


def joined_inputs(n: TfliteLayer, *inputs: Value) -> Value:
    """The inputs one after the other along the axis of the options."""
    rank = inputs[0].type.rank
    axis = normalize_axis(n, n.options.axis, rank)
    if any(value.type.rank != rank for value in inputs):
        raise n.error(f"inputs of ranks {[v.type.rank for v in inputs]}, expected one rank")
    return n.activated(concat(n, inputs, axis))


ROWS.add({"CONCATENATION": moved(joined_inputs)})


@ROWS("STRIDED_SLICE")
@moved
def strided_slice_(n: TfliteLayer, x: Value, begin: Value, end: Value, strides: Value) -> Value:
    o = n.options
    if o.offset:
        end = n(nn.Add(begin, end))
    bits = o.begin_mask, o.end_mask, o.ellipsis_mask, o.new_axis_mask, o.shrink_axis_mask
    masks = Masks(*bits, drops_at_begin=True)
    return strided_slice(n, x, begin, end, strides, masks)
