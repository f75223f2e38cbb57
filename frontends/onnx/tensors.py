"""Tensors of a model as NumPy arrays; data in files beside the model is mapped, not read."""

from __future__ import annotations

import math
import os
from pathlib import Path
from typing import Any

import ml_dtypes
import numpy as np
from onnx import SparseTensorProto, TensorProto

from ...dialects.nn.host_types import string
from ...ir.diagnostics import NncError
from ...ir.types import (
    FloatType,
    IntegerType,
    TensorType,
    Type,
    bf16,
    f16,
    f32,
    f64,
    i1,
    i8,
    i16,
    i32,
    i64,
    size_fault,
)
from ..wire.numerals import whole_number
from .wire import OWN_FILE

P: Any = TensorProto

# ONNX's element type: nnc's, NumPy's, and the protobuf field that holds it when not raw.
_KINDS: dict[int, tuple[Type, Any, str]] = {
    P.FLOAT: (f32, np.float32, "float_data"),
    P.DOUBLE: (f64, np.float64, "double_data"),
    P.FLOAT16: (f16, np.float16, "int32_data"),
    P.BFLOAT16: (bf16, ml_dtypes.bfloat16, "int32_data"),
    P.BOOL: (i1, np.bool_, "int32_data"),
    P.INT8: (i8, np.int8, "int32_data"),
    P.INT16: (i16, np.int16, "int32_data"),
    P.INT32: (i32, np.int32, "int32_data"),
    P.INT64: (i64, np.int64, "int64_data"),
    P.UINT8: (IntegerType(8, "u"), np.uint8, "int32_data"),
    P.UINT16: (IntegerType(16, "u"), np.uint16, "int32_data"),
    P.UINT32: (IntegerType(32, "u"), np.uint32, "uint64_data"),
    P.UINT64: (IntegerType(64, "u"), np.uint64, "uint64_data"),
    P.FLOAT8E4M3FN: (FloatType("f8E4M3FN"), ml_dtypes.float8_e4m3fn, "int32_data"),
    P.FLOAT8E4M3FNUZ: (FloatType("f8E4M3FNUZ"), ml_dtypes.float8_e4m3fnuz, "int32_data"),
    P.FLOAT8E5M2: (FloatType("f8E5M2"), ml_dtypes.float8_e5m2, "int32_data"),
    P.FLOAT8E5M2FNUZ: (FloatType("f8E5M2FNUZ"), ml_dtypes.float8_e5m2fnuz, "int32_data"),
    P.FLOAT8E8M0: (FloatType("f8E8M0FNU"), ml_dtypes.float8_e8m0fnu, "int32_data"),
    P.FLOAT4E2M1: (FloatType("f4E2M1FN"), ml_dtypes.float4_e2m1fn, "int32_data"),
    P.INT4: (IntegerType(4), ml_dtypes.int4, "int32_data"),
    P.UINT4: (IntegerType(4, "u"), ml_dtypes.uint4, "int32_data"),
    P.INT2: (IntegerType(2), ml_dtypes.int2, "int32_data"),
    P.UINT2: (IntegerType(2, "u"), ml_dtypes.uint2, "int32_data"),
    P.STRING: (string, object, "string_data"),
}
_CODES = {kind[0]: code for code, kind in _KINDS.items()}


def _shape(proto: Any, element: Type) -> tuple[int, ...]:
    """The declared extents of a tensor. Raises NncError if they are invalid."""
    shape = tuple(proto.dims)
    if any(extent < 0 for extent in shape):
        raise NncError(f"shape {list(shape)} has a negative extent")
    if fault := size_fault(TensorType(shape, element)):
        raise NncError(fault)
    return shape


def element_type_name(code: int) -> str:
    """ONNX's name of an element type, such as `FLOAT`; the code itself if it has none."""
    try:
        return TensorProto.DataType.Name(code)
    except ValueError:
        return f"number {code}"


def element_type(code: int) -> Type:
    """The element type of an ONNX code. Raises NncError for an unsupported one."""
    if code not in _KINDS:
        known = ", ".join(element_type_name(c) for c in _KINDS)
        raise NncError(
            f"element type {element_type_name(code)} is not supported; expected one of {known}"
        )
    return _KINDS[code][0]


def element_type_code(type: Type) -> int:
    """The ONNX code of an element type."""
    return _CODES[type]


class TensorReader:
    """Reads the tensors of one model.

    `folder` is the folder of external data, `own` are the bytes of the model's file.
    """

    def __init__(self, folder: Path | None, own: np.ndarray | None = None) -> None:
        self.folder = folder
        self.own = own
        self._maps: dict[str, np.ndarray] = {}

    def array(self, proto: Any) -> np.ndarray:
        """The elements of a tensor, dense or sparse.

        Raises NncError if the data is missing or does not fit.
        """
        is_sparse = isinstance(proto, SparseTensorProto)
        try:
            return self._dense(proto) if is_sparse else self._array(proto)
        except NncError as error:
            own = proto.values.name if is_sparse else proto.name
            name = f"tensor '{own}'" if own else "tensor"
            raise NncError(f"{name}: {error.message}") from None

    def with_data(self, proto: Any) -> Any:
        """The tensor with its data inside, instead of a reference to a file."""
        if proto.data_location != TensorProto.EXTERNAL:
            return proto
        size = (math.prod(proto.dims) * _stored_bits(element_type(proto.data_type)) + 7) // 8
        raw = self._external(proto, size)
        return TensorProto(
            name=proto.name, data_type=proto.data_type, dims=proto.dims, raw_data=raw.tobytes()
        )

    def _dense(self, proto: Any) -> np.ndarray:
        """A dense array from values [count] at indices [count] (row-major) or [count, rank]."""
        element = element_type(proto.values.data_type)
        if element is string:
            raise NncError("a sparse tensor of text is not supported")
        shape = _shape(proto, element)
        values, places = self._array(proto.values), self._array(proto.indices)
        if places.ndim not in (1, 2) or values.shape != places.shape[:1]:
            raise NncError(f"{values.size} values at places of shape {list(places.shape)}")
        out = np.zeros(shape, values.dtype)
        try:
            if places.ndim == 2:
                places = np.ravel_multi_index(tuple(places.T), shape)
            np.unravel_index(places, out.size)  # raises ValueError if one is out of range
        except ValueError:
            raise NncError(f"a place is outside of shape {list(shape)}") from None
        out.reshape(-1)[places] = values
        return out

    def _array(self, proto: Any) -> np.ndarray:
        element = element_type(proto.data_type)
        _, kind, field = _KINDS[proto.data_type]
        dtype = np.dtype(kind)
        if proto.HasField("segment"):
            raise NncError("tensors in segments are not supported")
        shape = _shape(proto, element)
        count = math.prod(shape)
        if element is string:
            return _strings(proto, shape, count)
        width = _stored_bits(element)
        size = (count * width + 7) // 8
        if proto.data_location == TensorProto.EXTERNAL:
            raw: Any = self._external(proto, size)
        elif proto.HasField("raw_data"):
            raw = proto.raw_data
        else:
            return self._typed(proto, field, dtype, shape, width)
        if len(raw) != size:
            raise NncError(
                f"{len(raw)} bytes of data, but shape {list(shape)} of "
                f"{element_type_name(proto.data_type)} needs {size}"
            )
        if width < 8:
            raw = _unpacked(np.frombuffer(raw, np.uint8), width, count)
        return _normalized(np.frombuffer(raw, dtype).reshape(shape))

    def _typed(
        self, proto: Any, field: str, dtype: np.dtype, shape: tuple, width: int
    ) -> np.ndarray:
        values, count = getattr(proto, field), math.prod(shape)
        needed = (count * width + 7) // 8 if width < 8 else count
        if len(values) != needed:
            raise NncError(
                f"{len(values)} elements of data, but shape {list(shape)} needs {needed}"
            )
        if dtype == np.float16 or dtype.name in vars(ml_dtypes):
            bits = np.array(values, np.int32).astype(f"u{dtype.itemsize}")
            bits = _unpacked(bits, width, count) if width < 8 else bits
            return bits.view(dtype).reshape(shape)
        if field == "int32_data":
            return np.array(values, np.int32).astype(dtype).reshape(shape)
        return np.array(values, dtype).reshape(shape)

    # -- external data -------------------------------------------------------------------

    def _external(self, proto: Any, needed: int) -> np.ndarray:
        entries = {entry.key: entry.value for entry in proto.external_data}
        location = entries.get("location", "")
        if not location:
            raise NncError("external data without a location")
        offset = _whole_number(entries.get("offset") or "0", "offset")
        length = _whole_number(entries.get("length") or str(needed), "length")
        if length != needed:
            raise NncError(f"external data of {length} bytes, but its shape needs {needed}")
        if needed == 0:
            return np.empty(0, np.uint8)
        data = self._map(location)
        if offset + length > data.size:
            raise NncError(
                f"external data ends at byte {offset + length} of '{location}', "
                f"which has {data.size} (is the file truncated?)"
            )
        return data[offset : offset + length]

    def _map(self, location: str) -> np.ndarray:
        """The bytes of a file beside the model, mapped once."""
        if location == OWN_FILE and self.own is not None:
            return self.own
        if location not in self._maps:
            path = self._inside(location)
            try:
                if os.path.getsize(path) == 0:
                    raise NncError(f"external data file '{location}' is empty")
                self._maps[location] = np.memmap(path, np.uint8, "r").view(np.ndarray)
            except OSError as error:
                reason = error.strerror or error
                raise NncError(f"cannot read external data file '{location}': {reason}") from None
        return self._maps[location]

    def _inside(self, location: str) -> Path:
        """The real path of a file, which must be in the model's folder. Raises NncError."""
        if self.folder is None:
            raise NncError(
                f"external data in '{location}', but the model has no file; give its path"
            )
        if "\0" in location:
            raise NncError("the location of external data has a zero byte")
        if os.path.isabs(location) or "\\" in location:
            raise NncError(f"external data file '{location}' must be a path relative to the model")
        home = self.folder.resolve()
        try:
            path = (home / location).resolve()
            exists, is_file = path.exists(), path.is_file()
        except (OSError, RuntimeError) as error:  # a loop of symbolic links, a name too long
            reason = getattr(error, "strerror", None) or error
            raise NncError(f"cannot read external data file '{location}': {reason}") from None
        if ".." in Path(location).parts or home not in path.parents:
            raise NncError(f"external data file '{location}' lies outside the model's folder")
        if not exists:
            raise NncError(f"external data file '{location}' does not exist in {self.folder}")
        if not is_file:
            raise NncError(f"external data file '{location}' is not a file")
        return path


def _strings(proto: Any, shape: tuple[int, ...], count: int) -> np.ndarray:
    """The strings of a tensor, which have a field of their own."""
    if len(proto.string_data) != count:
        raise NncError(f"{len(proto.string_data)} strings, but shape {list(shape)} needs {count}")
    found = np.empty(count, object)
    found[:] = [text.decode("utf-8", "surrogateescape") for text in proto.string_data]
    return found.reshape(shape)


def _whole_number(text: str, what: str) -> int:
    number = whole_number(text)
    if number is None:
        raise NncError(f"external data with {what} '{text[:99]}', expected a number of bytes")
    return number


def _stored_bits(type: Any) -> int:
    """The bits of a stored element: truth values are bytes; only small numbers are packed."""
    return 8 if type is i1 else type.width


def _unpacked(raw: np.ndarray, width: int, count: int) -> np.ndarray:
    """The elements packed in bytes, lowest bits first, as one byte each."""
    shifts = np.arange(0, 8, width, dtype=np.uint8)
    return (raw[:, None] >> shifts & ((1 << width) - 1)).reshape(-1)[:count]


def _normalized(array: np.ndarray) -> np.ndarray:
    """Bools normalized to 0 and 1, whatever bytes the file has."""
    if array.dtype == np.bool_:
        return array.view(np.uint8) != 0
    return array
