"""The messages of TensorFlow's files, and the tensors in them.

Source: https://github.com/tensorflow/tensorflow, tensorflow/core/framework and core/protobuf.
"""

from __future__ import annotations

import math
import re
from collections.abc import Iterable
from typing import Any

import ml_dtypes
import numpy as np

from ...dialects.nn.strings import BYTES
from ...ir.numpy_types import numpy_to_type
from ...ir.types import TensorType, Type, UnrankedTensorType, f32, size_fault
from ..wire.protobuf import Record, Schema, WireError
from ..wire.protobuf_text import read_text

TABLE = """
SavedModel
  1 version int
  2 meta_graphs MetaGraph*
MetaGraph
  1 info MetaInfo
  2 graph GraphDef
  3 saver Saver
  5 signatures map string Signature
  6 assets Asset*
  7 objects bytes
Asset
  1 info TensorInfo
  2 filename string
MetaInfo
  4 tags string*
  5 tensorflow_version string
Saver
  3 restore string
Objects
  1 node Object*
  2 functions map string Bound
Object
  1 children Child*
Child
  1 node int
  2 name string
Bound
  2 inputs int*
Stored
  1 node StoredObject*
StoredObject
  1 children Child*
  2 tensors StoredTensor*
StoredTensor
  1 name string
  3 key string
Signature
  1 inputs map string TensorInfo
  2 outputs map string TensorInfo
  3 method string
TensorInfo
  1 name string
  2 dtype int
  3 shape Shape
GraphDef
  1 node Node*
  2 library Library
Library
  1 function bytes*
FunctionName
  1 signature OpName
OpName
  1 name string
Function
  1 signature OpDef
  3 node_def Node*
  4 ret map string string
OpDef
  1 name string
  2 input_arg Arg*
  3 output_arg Arg*
Arg
  1 name string
  3 type int
Node
  1 name string
  2 op string
  3 input string*
  5 attr map string Attr
Attr
  1 list List
  2 s bytes
  3 i int
  4 f float
  5 b bool
  6 type int
  7 shape Shape
  8 tensor Tensor
  9 placeholder string
  10 func NamedFunction
NamedFunction
  1 name string
List
  2 s bytes*
  3 i int*
  4 f float*
  5 b bool*
  6 type int*
  7 shape Shape*
  9 func NamedFunction*
Shape
  2 dim Dim*
  3 unknown_rank bool
Dim
  1 size int
Tensor
  1 dtype int
  2 tensor_shape Shape
  4 tensor_content bytes
  5 float_val float*
  6 double_val double*
  7 int_val int*
  8 string_val bytes*
  9 scomplex_val float*
  10 int64_val int*
  11 bool_val bool*
  12 dcomplex_val double*
  13 half_val int*
  16 uint32_val int*
  17 uint64_val int*
"""

SCHEMA = Schema(TABLE)
TEXT = Schema(TABLE.replace("1 function bytes*", "1 function Function*"))
"""The schema for the text format, where functions are parsed immediately."""

MOST_REPEATED = 1 << 32
"""The most bytes of a constant that is stored as a few numbers, the last of which repeats."""

UNKNOWN = UnrankedTensorType(f32)
"""The type of values without any information."""

_DTYPES: dict[int, tuple[Any, str]] = {
    1: (np.float32, "float_val"),
    2: (np.float64, "double_val"),
    3: (np.int32, "int_val"),
    4: (np.uint8, "int_val"),
    5: (np.int16, "int_val"),
    6: (np.int8, "int_val"),
    7: (object, "string_val"),
    8: (np.complex64, "scomplex_val"),
    9: (np.int64, "int64_val"),
    10: (np.bool_, "bool_val"),
    11: (np.int8, "int_val"),
    12: (np.uint8, "int_val"),
    13: (np.int32, "int_val"),
    14: (ml_dtypes.bfloat16, "half_val"),
    15: (np.int16, "int_val"),
    16: (np.uint16, "int_val"),
    17: (np.uint16, "int_val"),
    18: (np.complex128, "dcomplex_val"),
    19: (np.float16, "half_val"),
    22: (np.uint32, "uint32_val"),
    23: (np.uint64, "uint64_val"),
    24: (ml_dtypes.float8_e5m2, "float8_val"),
    25: (ml_dtypes.float8_e4m3fn, "float8_val"),
}
"""For each DataType: NumPy's type, and the field with the numbers. Types of references are 100
more."""


_NAMES = """FLOAT DOUBLE INT32 UINT8 INT16 INT8 STRING COMPLEX64 INT64 BOOL QINT8 QUINT8 QINT32
BFLOAT16 QINT16 QUINT16 UINT16 COMPLEX128 HALF RESOURCE VARIANT UINT32 UINT64"""
_NUMBERS = {f"DT_{name}": str(i) for i, name in enumerate(_NAMES.split(), 1)}


def read_graph(text: str) -> Record:
    """A GraphDef in its text form. Raises TextError."""
    numbered = re.sub(r":\s*(DT_\w+)", lambda m: f": {_NUMBERS.get(m[1], '0')}", text)
    return read_text(TEXT, "GraphDef", numbered)


def dtype_of(number: int) -> np.dtype:
    """NumPy's type of a DataType. Raises WireError for an unsupported one."""
    if number % 100 not in _DTYPES:
        raise WireError(f"data type {number} is not supported")
    return np.dtype(_DTYPES[number % 100][0])


def element_of(number: int) -> Type:
    """The element type of a DataType. Raises WireError for an unsupported one."""
    return numpy_to_type(dtype_of(number))


def shape_of(shape: Record | None) -> tuple[int | None, ...] | None:
    """The extents, with None for an open one; None for a shape of unknown rank."""
    if shape is None or shape.unknown_rank:
        return None
    return tuple(None if dim.size < 0 else dim.size for dim in shape.dim)


def type_of(dtype: int, shape: Record | None) -> Type:
    """The type of a value. Raises WireError."""
    extents = shape_of(shape)
    if dtype % 100 not in _DTYPES:
        return UNKNOWN
    if extents is None:
        return UnrankedTensorType(element_of(dtype))
    return TensorType(extents, element_of(dtype))


def array_of(tensor: Record) -> np.ndarray:
    """The elements of a constant, as a view of raw bytes if possible. Raises WireError."""
    dtype = dtype_of(tensor.dtype)
    shape = shape_of(tensor.tensor_shape) if tensor.tensor_shape else ()
    if shape is None or None in shape:
        raise WireError("a constant has no shape")
    if fault := size_fault(TensorType(shape, numpy_to_type(dtype))):
        raise WireError(fault)
    count = math.prod(shape)  # type: ignore[arg-type]
    content = tensor.tensor_content
    if content.size:
        if content.size != count * dtype.itemsize:
            raise WireError(f"a constant of shape {list(shape)} has {content.size} bytes")
        return content.view(dtype).reshape(shape)  # type: ignore[arg-type]
    if count * dtype.itemsize > MOST_REPEATED:
        raise WireError(f"a constant of shape {list(shape)} repeats one number")
    field = _DTYPES[tensor.dtype % 100][1]
    values = _values(tensor, field, dtype)
    if len(values) > count:
        raise WireError(f"a constant of shape {list(shape)} has {len(values)} elements")
    if len(values) == count:
        return values.reshape(shape)  # type: ignore[arg-type]
    # The last element stands for all that follow it.
    last = values[-1] if len(values) else ("" if dtype.kind == "O" else dtype.type(0))
    if len(values) <= 1:
        return np.broadcast_to(np.array(last, dtype), shape)  # type: ignore[arg-type]
    found = np.full(count, last, dtype)
    found[: len(values)] = values
    return found.reshape(shape)  # type: ignore[arg-type]


def texts_of(values: Iterable[str | bytes]) -> np.ndarray:
    """Text as an array of objects; bytes that are not text stay bytes."""
    texts = [v.decode(*BYTES) if isinstance(v, bytes) else v for v in values]
    found = np.empty(len(texts), object)
    found[:] = texts
    return found


def _values(tensor: Record, field: str, dtype: np.dtype) -> np.ndarray:
    if field == "float8_val":
        raise WireError("a constant of eight-bit floats has no bytes")
    values = getattr(tensor, field)
    if field == "string_val":
        return texts_of(v.tobytes() for v in values)
    if field == "half_val":
        return np.array(values, np.int64).astype(np.uint16).view(dtype)
    if field in ("scomplex_val", "dcomplex_val"):
        if len(values) % 2:
            raise WireError("a complex constant has an odd number of parts")
        return np.asarray(values).view(dtype)
    if isinstance(values, list):
        return np.array(values, np.int64).astype(dtype)
    return values
