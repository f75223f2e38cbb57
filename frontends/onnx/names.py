"""Names in a model must be text: protobuf gives bytes where a string is not UTF-8."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

_FIELDS = {
    "ModelProto": "opset_import graph functions",
    "OperatorSetIdProto": "domain",
    "FunctionProto": "name domain overload input output attribute attribute_proto "
    "opset_import node",
    "GraphProto": "input output initializer sparse_initializer node",
    "ValueInfoProto": "name type",
    "TypeProto": "tensor_type",
    "Tensor": "shape",
    "TensorShapeProto": "dim",
    "Dimension": "dim_param",
    "SparseTensorProto": "values",
    "NodeProto": "name op_type domain overload input output attribute",
    "AttributeProto": "name ref_attr_name g t",
    "TensorProto": "name external_data",
    "StringStringEntryProto": "key value",
}
"""The fields of each message that are names, or have some in them."""
_NAMES = {message: fields.split() for message, fields in _FIELDS.items()}


def undecodable_name(model: Any) -> bytes | None:
    """A name in the model that is not UTF-8 text, or None."""
    return next((name for name in _names(model) if isinstance(name, bytes)), None)


def _names(value: Any) -> Iterator[str | bytes]:
    if isinstance(value, str | bytes):
        yield value
    elif hasattr(value, "DESCRIPTOR"):
        for field in _NAMES[value.DESCRIPTOR.name]:
            yield from _names(getattr(value, field))
    else:
        for one in value:
            yield from _names(one)
