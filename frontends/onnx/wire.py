"""A model file parsed without its weights, which stay in the file and are mapped.

Parsing a large model as a whole copies its weights twice. Instead, the bytes are scanned at
the level of protobuf's wire format, and the data of each large initializer is replaced
by a reference to its place, in the form of external data.

Source: https://protobuf.dev/programming-guides/encoding, and the field numbers of onnx.proto.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from onnx import StringStringEntryProto, TensorProto

from ..wire.protobuf import places, varint_bytes

OWN_FILE = "\n"
"""The location of data in the model's own file; no path of a user's model is a newline."""

_SMALLEST = 4096
"""Raw data below this many bytes is left where it is."""

_MODEL_GRAPH = 7
_GRAPH_INITIALIZER = 5
_TENSOR_DATA = (4, 9, 10)
"""Fields that hold a tensor's bytes: `float_data` and `double_data`, packed, are as `raw_data`."""
_TENSOR_LOCATION = 14
"""The field of the location of a tensor's data, which ONNX Runtime's quantizer sets even if the
data is in the file."""
_LENGTH_DELIMITED = 2


def without_weights(data: np.ndarray) -> bytes:
    """The model's bytes with references in place of large raw data. Raises WireError."""
    return _rewritten(data, 0, data.size, [_MODEL_GRAPH, _GRAPH_INITIALIZER])


def _rewritten(data: np.ndarray, begin: int, end: int, path: list[int]) -> bytes:
    """A message, with tensors at the end of the field `path` rewritten."""
    parts: list[bytes] = []
    # Packed numbers may come in several parts, which protobuf joins.
    whole = not path and sum(one.number in _TENSOR_DATA for one in places(data, begin, end)) == 1
    for number, kind, start, at, stop in places(data, begin, end):
        if whole and number in _TENSOR_DATA and stop - at >= _SMALLEST:
            parts.append(_reference(at, stop - at))
        elif whole and number == _TENSOR_LOCATION:
            continue
        elif path and number == path[0] and kind == _LENGTH_DELIMITED:
            inner = _rewritten(data, at, stop, path[1:])
            parts.append(varint_bytes(number << 3 | kind) + varint_bytes(len(inner)) + inner)
        else:
            parts.append(data[start:stop].tobytes())
    return b"".join(parts)


def _reference(offset: int, length: int) -> bytes:
    """The fields of a TensorProto that refer to its data."""
    tensor: Any = TensorProto()
    tensor.data_location = TensorProto.EXTERNAL
    for key, value in (("location", OWN_FILE), ("offset", offset), ("length", length)):
        tensor.external_data.append(StringStringEntryProto(key=key, value=str(value)))
    return tensor.SerializeToString()
