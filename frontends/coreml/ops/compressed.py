"""Compressed weights: quantized, palettized or sparse. They are unpacked at import."""

from __future__ import annotations

from functools import wraps
from inspect import signature

from ...common.vocabulary import *
from ..layer import CoreMLLayer, rows
from ..types import unpacked

Array = np.ndarray


def _unpacks(kind: str) -> Callable[[Callable[..., Any]], Callable[..., Any]]:
    """Register a function from arrays to one array or a list of them."""

    def register(function: Callable[..., Any]) -> Callable[..., Any]:
        names = list(signature(function).parameters)[1:]

        @rows(kind)
        @wraps(function)
        def convert(n: CoreMLLayer, *values: Value | None) -> list[Value]:
            arrays = [n.array(value) for value in values]
            for name, value, array in zip(names, values, arrays, strict=False):
                if value is not None and array is None:
                    raise n.error(f"'{name}' must be a constant")
            with np.errstate(all="ignore"):
                made = function(n, *arrays)
            several = map(np.ascontiguousarray, made if isinstance(made, list) else [made])
            return [n.builder.constant(one, n.loc, key=n.node.name) for one in several]

        return function

    return register


@_unpacks("constexpr_cast")
def cast(n: CoreMLLayer, source_val: Array) -> Array:
    return source_val.astype(type_to_numpy(n.element("output_dtype")))


@_unpacks("constexpr_affine_dequantize")
def affine(n: CoreMLLayer, quantized_data: Array, zero_point: Array, scale: Array) -> Array:
    axis = n.int("axis", 0) % max(quantized_data.ndim, 1)
    column = [-1 if i == axis else 1 for i in range(quantized_data.ndim)]
    zero, by = (v.reshape(column) if v.ndim else v for v in (zero_point, scale))
    return ((quantized_data.astype(np.float32) - zero) * by).astype(by.dtype)


@_unpacks("constexpr_blockwise_shift_scale")
def blockwise(n: CoreMLLayer, data: Array, scale: Array, offset: Array | None = None) -> Array:
    return _by_blocks(n, data, scale, offset)


def _by_blocks(n: CoreMLLayer, values: Array, scale: Array, offset: Array | None) -> Array:
    """(values - offset) * scale, with one scale and offset for each block of values."""
    if values.ndim != scale.ndim or any(
        not s or v % s for v, s in zip(values.shape, scale.shape, strict=True)
    ):
        raise n.error(f"scales {list(scale.shape)} do not divide {list(values.shape)}")

    def spread(array: Array) -> Array:
        for axis, extent in enumerate(values.shape):
            array = np.repeat(array, extent // array.shape[axis], axis)
        return array

    wide = values.astype(np.float32)
    if offset is not None:
        wide = wide - spread(offset.astype(np.float32))
    return (wide * spread(scale.astype(np.float32))).astype(scale.dtype)


@_unpacks("constexpr_lut_to_dense")
def table(n: CoreMLLayer, indices: Array, lut: Array) -> Array:
    if not n.has("shape"):
        return _looked_up(n, indices, lut)
    shape, bits = n.ints("shape"), max(int(lut.size).bit_length() - 1, 1)
    if indices.size * 8 < math.prod(shape) * bits:
        raise n.error(
            f"{indices.size} bytes of indices, expected {-(-math.prod(shape) * bits // 8)}: "
            f"{bits} bits for each element of shape {list(shape)}"
        )
    places = unpacked(indices.reshape(-1), bits, math.prod(shape), False).reshape(shape)
    return lut.reshape(-1)[places]


def _looked_up(n: CoreMLLayer, places: Array, entries: Array) -> Array:
    """Entries of lookup tables, one table for each block: indices [D..], tables [B.., count,
    vector].
    """
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


@_unpacks("constexpr_sparse_to_dense")
def sparse(n: CoreMLLayer, nonzero_data: Array, mask: Array) -> Array:
    if n.has("shape"):
        shape = n.ints("shape")
        if mask.size * 8 < math.prod(shape):
            raise n.error(f"{mask.size} bytes of a mask for a constant of shape {list(shape)}")
        mask = unpacked(mask.reshape(-1), 1, math.prod(shape), False).reshape(shape)
    return _dense(n, nonzero_data, mask)


def _dense(n: CoreMLLayer, values: Array, mask: Array) -> Array:
    there = mask.astype(bool)
    if int(there.sum()) != values.size:
        raise n.error(f"{values.size} elements for a mask of {int(there.sum())}")
    dense = np.zeros(there.shape, values.dtype)
    dense[there] = values.reshape(-1)
    return dense


@_unpacks("constexpr_lut_to_sparse")
def sparse_table(
    n: CoreMLLayer, indices_mask: Array, indices_nonzero_data: Array, lut: Array
) -> list[Array]:
    found = _looked_up(n, _dense(n, indices_nonzero_data, indices_mask), lut)
    return [indices_mask, found[indices_mask.astype(bool)]]


@_unpacks("constexpr_sparse_blockwise_shift_scale")
def sparse_blockwise(
    n: CoreMLLayer, data_mask: Array, nonzero_data: Array, scale: Array, offset: Array | None = None
) -> list[Array]:
    found = _by_blocks(n, _dense(n, nonzero_data, data_mask), scale, offset)
    return [data_mask, found[data_mask.astype(bool)]]
