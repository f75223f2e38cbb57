"""Weights that are stored smaller: with scales, by a table, or without their zeros.

They are unpacked when the model is read.
"""

from __future__ import annotations

import math

import numpy as np

from ....ir.core import Value
from ....ir.numpy_types import type_to_numpy
from ..layer import CoreMLLayer
from ..rows import ROWS
from ..types import unpacked


def _array(n: CoreMLLayer, value: Value | None, name: str) -> np.ndarray:
    found = n.array(value)
    if found is None:
        raise n.error(f"'{name}' must be a constant")
    return found


def _constant(n: CoreMLLayer, array: np.ndarray) -> Value:
    return n.builder.constant(np.ascontiguousarray(array), n.loc, key=n.node.name)


@ROWS("constexpr_cast")
def cast(n: CoreMLLayer, source_val: Value) -> Value:
    dtype = type_to_numpy(n.element("output_dtype"))
    return _constant(n, _array(n, source_val, "source_val").astype(dtype))


@ROWS("constexpr_affine_dequantize")
def affine(n: CoreMLLayer, quantized_data: Value, zero_point: Value, scale: Value) -> Value:
    data = _array(n, quantized_data, "quantized_data")
    zero, by = _array(n, zero_point, "zero_point"), _array(n, scale, "scale")
    axis = n.int("axis", 0) % max(data.ndim, 1)
    column = [-1 if i == axis else 1 for i in range(data.ndim)]
    zero, by = (v.reshape(column) if v.ndim else v for v in (zero, by))
    with np.errstate(all="ignore"):
        return _constant(n, ((data.astype(np.float32) - zero) * by).astype(by.dtype))


@ROWS("constexpr_blockwise_shift_scale")
def blockwise(n: CoreMLLayer, data: Value, scale: Value, offset: Value | None = None) -> Value:
    values, by = _array(n, data, "data"), _array(n, scale, "scale")
    shift = None if offset is None else _array(n, offset, "offset")
    return _constant(n, _by_blocks(n, values, by, shift))


def _by_blocks(
    n: CoreMLLayer, values: np.ndarray, scale: np.ndarray, offset: np.ndarray | None
) -> np.ndarray:
    """(values - offset) * scale, each number of these for a block of values."""
    if values.ndim != scale.ndim or any(
        not s or v % s for v, s in zip(values.shape, scale.shape, strict=True)
    ):
        raise n.error(f"scales {list(scale.shape)} do not divide {list(values.shape)}")

    def spread(array: np.ndarray) -> np.ndarray:
        for axis, extent in enumerate(values.shape):
            array = np.repeat(array, extent // array.shape[axis], axis)
        return array

    wide = values.astype(np.float32)
    if offset is not None:
        wide = wide - spread(offset.astype(np.float32))
    with np.errstate(all="ignore"):
        return (wide * spread(scale.astype(np.float32))).astype(scale.dtype)


@ROWS("constexpr_lut_to_dense")
def table(n: CoreMLLayer, indices: Value, lut: Value) -> Value:
    places, entries = _array(n, indices, "indices"), _array(n, lut, "lut")
    if n.has("shape"):
        shape = n.ints("shape")
        bits = max(int(entries.size).bit_length() - 1, 1)
        if places.size * 8 < math.prod(shape) * bits:
            raise n.error(f"{places.size} bytes of indices for a constant of shape {list(shape)}")
        places = unpacked(places.reshape(-1), bits, math.prod(shape), False).reshape(shape)
        return _constant(n, entries.reshape(-1)[places])
    return _constant(n, _looked_up(n, places, entries))


def _looked_up(n: CoreMLLayer, places: np.ndarray, entries: np.ndarray) -> np.ndarray:
    """Entries of tables, each for a block: indices [D..], tables [B.., count, vector]."""
    *blocks, count, vector = (0, 0, *entries.shape)[-max(entries.ndim, 2) :]
    if len(blocks) != places.ndim or any(
        not b or d % b for d, b in zip(places.shape, blocks, strict=True)
    ):
        raise n.error(f"tables {list(entries.shape)} do not divide {list(places.shape)}")
    if places.size and int(places.max()) >= count:
        raise n.error("an index lies outside of its table")
    own = np.zeros(places.shape, np.int64)
    for axis, number in enumerate(blocks):
        at = np.arange(places.shape[axis]) // (places.shape[axis] // number)
        own = own * number + at.reshape([-1 if i == axis else 1 for i in range(places.ndim)])
    found = entries.reshape(-1, count, vector)[own, places]
    if vector == 1:
        return found[..., 0]
    axis = n.int("vector_axis", 0) % places.ndim
    moved = np.moveaxis(found, -1, axis + 1)
    shape = [d * vector if i == axis else d for i, d in enumerate(places.shape)]
    return moved.reshape(shape)


@ROWS("constexpr_sparse_to_dense")
def sparse(n: CoreMLLayer, nonzero_data: Value, mask: Value) -> Value:
    values, there = _array(n, nonzero_data, "nonzero_data"), _array(n, mask, "mask")
    if n.has("shape"):
        shape = n.ints("shape")
        if there.size * 8 < math.prod(shape):
            raise n.error(f"{there.size} bytes of a mask for a constant of shape {list(shape)}")
        there = unpacked(there.reshape(-1), 1, math.prod(shape), False).reshape(shape)
    return _constant(n, _dense(n, values, there))


def _dense(n: CoreMLLayer, values: np.ndarray, mask: np.ndarray) -> np.ndarray:
    there = mask.astype(bool)
    if int(there.sum()) != values.size:
        raise n.error(f"{values.size} elements for a mask of {int(there.sum())}")
    dense = np.zeros(there.shape, values.dtype)
    dense[there] = values.reshape(-1)
    return dense


@ROWS("constexpr_lut_to_sparse")
def sparse_table(
    n: CoreMLLayer, indices_mask: Value, indices_nonzero_data: Value, lut: Value
) -> list[Value]:
    mask = _array(n, indices_mask, "indices_mask")
    places = _dense(n, _array(n, indices_nonzero_data, "indices_nonzero_data"), mask)
    found = _looked_up(n, places, _array(n, lut, "lut"))
    return [_constant(n, mask), _constant(n, found[mask.astype(bool)])]


@ROWS("constexpr_sparse_blockwise_shift_scale")
def sparse_blockwise(
    n: CoreMLLayer,
    data_mask: Value,
    nonzero_data: Value,
    scale: Value,
    offset: Value | None = None,
) -> list[Value]:
    mask = _array(n, data_mask, "data_mask")
    dense = _dense(n, _array(n, nonzero_data, "nonzero_data"), mask)
    shift = None if offset is None else _array(n, offset, "offset")
    found = _by_blocks(n, dense, _array(n, scale, "scale"), shift)
    return [_constant(n, mask), _constant(n, found[mask.astype(bool)])]
