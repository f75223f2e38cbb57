"""CoreML's element types and tensor types, and constants as arrays."""

from __future__ import annotations

from typing import Any

import numpy as np

from ...ir.numpy_types import numpy_to_type
from ...ir.types import Dim, TensorType, Type, i1
from ..common.inputs import Place
from ..common.shapes import product
from ..wire.protobuf import Record

DTYPES = {
    "BOOL": "?",
    "FLOAT16": "<f2",
    "FLOAT32": "<f4",
    "FLOAT64": "<f8",
    "INT8": "i1",
    "INT16": "<i2",
    "INT32": "<i4",
    "INT64": "<i8",
    "UINT8": "u1",
    "UINT16": "<u2",
    "UINT32": "<u4",
    "UINT64": "<u8",
}
_BITS = {"INT4": 4, "UINT4": 4, "UINT6": 6, "UINT3": 3, "UINT2": 2, "UINT1": 1}
"""The width of element types that are packed in bytes; they are read as bytes."""

_NAMES = {"fp16": "FLOAT16", "fp32": "FLOAT32", "fp64": "FLOAT64"}


def element_type(place: Place, name: str) -> Type:
    """The element type with this name, in MIL's or the messages' spelling. Raises NncError."""
    kind = _NAMES.get(name, name.upper())
    if kind == "BOOL":
        return i1
    if kind not in DTYPES:
        raise place.error(f"element type '{name}' is not supported")
    return numpy_to_type(np.dtype(DTYPES[kind]))


def tensor_type(place: Place, type: Record) -> TensorType:
    """The type of a value. Raises NncError if it is no tensor."""
    if type.stateType is not None:
        return tensor_type(place, type.stateType.part("wrappedType"))
    tensor = type.tensorType
    if tensor is None:
        raise place.error("a value is not a tensor")
    return TensorType(shape_of(tensor), element_type(place, tensor.dataType))


def array_type(array: Record) -> TensorType:
    """The type of a multidimensional array among a model's inputs."""
    shape: tuple[Dim, ...] = tuple(d if d > 0 else None for d in array.shape)
    ranges = array.part("shapeRange").sizeRanges
    if len(ranges) == len(shape):
        shape = tuple(r.lowerBound if r.lowerBound == r.upperBound else None for r in ranges)
    if (several := array.enumeratedShapes) is not None:
        cases = [shape, *(tuple(one.shape) for one in several.shapes)]
        ranks = {len(one) for one in cases}
        alike = zip(*cases, strict=True) if len(ranks) == 1 else [(None,)] * len(shape)
        shape = tuple(one[0] if len(set(one)) == 1 else None for one in alike)
    kind = "FLOAT64" if array.dataType == "DOUBLE" else str(array.dataType)
    return TensorType(shape, numpy_to_type(np.dtype(DTYPES.get(kind, "<f4"))))


def shape_of(tensor: Record) -> tuple[Dim, ...]:
    """The extents; None for unknown ones."""
    return tuple(
        None if dim.constant is None else max(dim.constant.size, 0) for dim in tensor.dimensions
    )


def immediate(place: Place, value: Record) -> Any:
    """A constant stored in the program: an array, text, or a list of constants."""
    content = value.immediateValue
    if several := content.list or content.tuple:
        return [immediate(place, one) for one in several.values]
    type, tensor = value.part("type").part("tensorType"), content.part("tensor")
    kind, shape = type.dataType, shape_of(type)
    which = tensor.which("floats", "ints", "bools", "strings", "longInts", "doubles", "bytes")
    found: Any = getattr(tensor, which).values if which else []
    if kind == "STRING":
        if not shape:
            return found[0] if len(found) else ""
        return list(found)
    if which == "bytes":
        return elements(place, found, kind, shape)
    if kind not in DTYPES:
        raise place.error(f"a constant is of the element type {kind}, which is not supported")
    try:
        array = np.asarray(found, DTYPES[kind])
    except (OverflowError, ValueError):
        raise place.error(f"a constant of {kind} has elements of another type") from None
    if None in shape or array.size != product(shape):
        raise place.error(f"a constant of shape {list(shape)} has {array.size} elements")
    return array.reshape([d or 0 for d in shape])


def elements(place: Place, data: np.ndarray, kind: str, shape: tuple[Dim, ...]) -> np.ndarray:
    """An array from bytes; a view of them if elements are stored as they are."""
    if None in shape:
        raise place.error(f"a constant has the shape {list(shape)}")
    count, known = product(shape) or 0, [d or 0 for d in shape]
    if bits := _BITS.get(kind):
        if data.size < -(-count * bits // 8):
            raise place.error(f"a constant of shape {list(shape)} has {data.size} bytes")
        return unpacked(data, bits, count, kind[0] == "I").reshape(known)
    if kind not in DTYPES:
        raise place.error(f"a constant is of the element type {kind}, which is not supported")
    dtype = np.dtype(DTYPES[kind])
    if data.size != count * dtype.itemsize:
        raise place.error(f"a constant of shape {list(shape)} of {kind} has {data.size} bytes")
    return data.view(dtype).reshape(known)


def bytes_of(kind: str, count: int) -> int:
    """The number of bytes of `count` elements."""
    bits = _BITS.get(kind) or np.dtype(DTYPES.get(kind, "u1")).itemsize * 8
    return -(-count * bits // 8)


def unpacked(data: np.ndarray, bits: int, count: int, signed: bool) -> np.ndarray:
    """Integers of `bits` bits, packed from the lowest bit on, as one byte each."""
    rows = np.unpackbits(data[: -(-count * bits // 8)], bitorder="little", count=count * bits)
    weights = (1 << np.arange(bits)).astype(np.uint8)
    found = (rows.reshape(count, bits) * weights).sum(axis=1, dtype=np.uint8)
    if not signed:
        return found
    return np.where(found >= 1 << (bits - 1), found.astype(np.int16) - (1 << bits), found).astype(
        np.int8
    )
