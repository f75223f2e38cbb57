"""Converts literals in text to the values of attributes."""

from __future__ import annotations

from typing import Any

from ..attributes import DenseElements, FloatAttr, IntegerAttr, SparseElements
from ..types import (
    ComplexType,
    FloatType,
    IndexType,
    IntegerType,
    ShapedType,
    TensorType,
    i1,
    i64,
)

Number = tuple[str, int]
"""(text of a literal, its offset)."""


def integer_attribute(session: Any, token: Number, type: Any) -> Any:
    """`5 : i32`, or for a float type its bits, `0x7FC00000 : f32`."""
    if isinstance(type, FloatType):
        return FloatAttr(number_of(session, token, type), type)
    if not isinstance(type, (IntegerType, IndexType)):
        raise session.error(f"integer literal not valid for specified type '{type}'", token[1])
    return IntegerAttr(number_of(session, token, type), type)


def float_attribute(session: Any, token: Number, type: Any) -> Any:
    """`1.0 : f32`"""
    if not isinstance(type, FloatType):
        raise session.error(f"floating point value not valid for specified type '{type}'", token[1])
    return FloatAttr(float(token[0]), type)


def number_of(session: Any, token: Number, type: Any) -> Any:
    """The value of a literal as an element of the type."""
    text, pos = token
    if isinstance(type, FloatType):
        return _float(session, text, pos, type)
    if text in ("true", "false"):
        if not (isinstance(type, IntegerType) and type.width == 1):
            raise session.error(f"expected an integer of type {type}, found '{text}'", pos)
        return int(text == "true")
    if "." in text:
        raise session.error(f"expected integer elements, but parsed floating-point '{text}'", pos)
    if not isinstance(type, (IntegerType, IndexType)):
        raise session.error(f"expected an element of type {type}, found '{text}'", pos)
    return _integer(session, text, pos, type)


def _integer(session: Any, text: str, pos: int, type: Any) -> int:
    value = int(text, 16) if "x" in text else int(text)
    width = type.width if isinstance(type, IntegerType) else 64
    signedness = type.signedness if isinstance(type, IntegerType) else ""
    if signedness == "u" and value < 0:
        raise session.error("negative integer literal not valid for unsigned integer type", pos)
    low = -(1 << (width - 1)) if width else 0
    high = 1 << (width - 1 if signedness == "s" and width else width)
    if not low <= value < high:
        raise session.error("integer constant out of range for attribute", pos)
    return value


def _float(session: Any, text: str, pos: int, type: FloatType) -> float:
    if text in ("true", "false"):
        raise session.error(f"expected a number of type {type}, found '{text}'", pos)
    if "x" in text:
        bits = int(text, 16)
        if text.startswith("-"):
            raise session.error("hexadecimal float literal should not have a leading minus", pos)
        if bits.bit_length() > type.width:
            raise session.error(f"hexadecimal float constant out of range for type {type}", pos)
        return type.from_bytes(bits.to_bytes(type.byte_width, "little"))
    if "." not in text:
        raise session.error(
            f"unexpected decimal integer literal for a floating point attribute; "
            f"add a trailing dot to make the literal a float: '{text}.'",
            pos,
        )
    return float(text)


# -- dense elements -----------------------------------------------------------------------------


def dense_elements(session: Any, root: Any, type: Any) -> DenseElements:
    """`dense<root> : type`, where `root` is None, an element or nested lists of elements.

    An element is a tuple that ends in its offset in the text.
    """
    pos = _offset(root, session.at)
    if not isinstance(type, ShapedType):
        raise session.error(f"elements literal must be a shaped type, found '{type}'", pos)
    if not type.has_static_shape:
        raise session.error("elements literal type must have static shape", pos)
    number_types = (IntegerType, IndexType, FloatType, ComplexType)
    is_number = isinstance(type.element_type, number_types)
    if root is None:
        if type.num_elements:
            raise session.error(f"expected elements, since '{type}' is not empty", pos)
        return DenseElements(type, b"", None if is_number else ())
    if is_number and not isinstance(root, list) and root[0] == "string":
        return _from_hex(session, root, type)
    leaves = [root] if not isinstance(root, list) else _leaves(session, root, type, pos)
    if not is_number:
        return _strings(session, leaves, type)
    element = type.element_type
    values = [_element(session, leaf, element) for leaf in leaves]
    return DenseElements.from_list(values, type)


def sparse_elements(session: Any, indices: Any, values: Any, type: Any) -> SparseElements:
    """`sparse<indices, values> : type`; a single number as index holds for every dimension."""
    pos = _offset(indices, session.at)
    if not isinstance(type, ShapedType):
        raise session.error(f"elements literal must be a shaped type, found '{type}'", pos)
    if not type.has_static_shape:
        raise session.error("elements literal type must have static shape", pos)
    if isinstance(indices, list):
        shape = _shape_of(indices)
    else:
        shape = (0 if indices is None else 1, type.rank)
    if shape[1:] != (type.rank,) and not (len(shape) == type.rank == 1):
        raise session.error(
            f"expected a row of {type.rank} indices for each value of '{type}', "
            f"found indices of shape {list(shape)}",
            pos,
        )
    where = dense_elements(session, indices, TensorType(shape, i64))
    for i, index in enumerate(_all_elements(where)):
        if not 0 <= index < type.shape[i % type.rank]:
            raise session.error(f"sparse index #{i // type.rank} is not contained in {type}", pos)
    what = dense_elements(session, values, TensorType(shape[:1], type.element_type))
    return SparseElements(type, where, what)


def _shape_of(root: Any) -> tuple[int, ...]:
    shape = []
    while isinstance(root, list):
        shape.append(len(root))
        root = root[0] if root else None
    return tuple(shape)


def _all_elements(elements: DenseElements) -> list[Any]:
    values = elements.values()
    return values * elements.type.num_elements if elements.is_splat else values


def _offset(root: Any, otherwise: int) -> int:
    while isinstance(root, list) and root:
        root = root[0]
    return otherwise if root is None or isinstance(root, list) else root[-1]


def _leaves(session: Any, root: list[Any], type: Any, pos: int) -> list[Any]:
    """The elements of nested lists, which must have the type's shape."""
    shape: list[int] = []
    level: list[Any] = [root]
    while level and isinstance(level[0], list):
        size = len(level[0])
        if any(not isinstance(part, list) or len(part) != size for part in level):
            raise session.error(
                "tensor literal is invalid; ranks are not consistent between elements", pos
            )
        shape.append(size)
        level = [element for part in level for element in part]
    if any(isinstance(element, list) for element in level):
        raise session.error(
            "tensor literal is invalid; ranks are not consistent between elements", pos
        )
    if tuple(shape) != type.shape:
        raise session.error(
            f"inferred shape of elements literal ({shape}) does not match type "
            f"({list(type.shape)})",
            pos,
        )
    return level


def _element(session: Any, leaf: Any, type: Any) -> Any:
    if isinstance(type, ComplexType):
        if leaf[0] == "complex":
            inner = type.element_type
            return number_of(session, leaf[1], inner), number_of(session, leaf[2], inner)
        raise session.error(f"expected element type to be complex, found '{leaf[0]}'", leaf[-1])
    if len(leaf) != 2:
        raise session.error(f"expected an element of type {type}", leaf[-1])
    return number_of(session, leaf, type)


def _strings(session: Any, leaves: list[Any], type: Any) -> DenseElements:
    for leaf in leaves:
        if leaf[0] != "string" or len(leaf) != 3:
            raise session.error(
                f"expected a string as element of type {type.element_type}", leaf[-1]
            )
    strings = tuple(leaf[1] for leaf in leaves)
    return DenseElements(type, b"", strings[:1] if len(set(strings)) == 1 else strings)


def _from_hex(session: Any, root: Any, type: Any) -> DenseElements:
    _, text, pos = root
    try:
        if not text.startswith("0x"):
            raise ValueError
        data = bytes.fromhex(text[2:])
    except ValueError:
        raise session.error(
            "expected string containing hex digits starting with `0x`", pos
        ) from None
    count, element = type.num_elements, type.element_type
    if element is i1:
        return _bits(session, data, type, pos)
    if len(data) not in (element.byte_width, element.byte_width * count) or (not count and data):
        raise session.error(f"elements hex data size is invalid for provided type: {type}", pos)
    if len(data) != element.byte_width:
        width = element.byte_width
        if data == data[:width] * count:
            data = data[:width]
    return DenseElements(type, data)


def _bits(session: Any, data: bytes, type: Any, pos: int) -> DenseElements:
    """i1 elements from bytes, for a splat from one byte.

    Up to LLVM 22 eight elements are in a byte, the first in its lowest bit; later each has a byte,
    0 or 1, as in the text that JAX 0.10 writes.
    """
    count = type.num_elements
    if len(data) == 1 and (data[0] in (0, 0xFF) or (data[0] == 1 and count > 8)):
        return DenseElements(type, bytes([data[0] & 1]))
    if len(data) == count and max(data, default=0) <= 1:
        return DenseElements.from_list(list(data), type)
    if len(data) != (count + 7) // 8:
        raise session.error(f"elements hex data size is invalid for provided type: {type}", pos)
    return DenseElements.from_list([data[i // 8] >> (i % 8) & 1 for i in range(count)], type)
