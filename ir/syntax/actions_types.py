"""Parser actions for types."""

from __future__ import annotations

from typing import Any

from .. import attributes as a
from .. import types as t
from ..diagnostics import NncError
from .reductions import action, actions, dialect_text, nested


@action
def _named_type(s, c):
    name, pos = c[0]
    if name not in s.type_aliases:
        raise s.error(f"undefined symbol alias id '{name}'", pos)
    return s.type_aliases[name]


@action
def _complex(s, c):
    if not isinstance(c[0], (t.IntegerType, t.FloatType)):
        raise NncError("invalid element type for complex")
    return t.ComplexType(c[0])


def _dims(s: Any, token: tuple[str, int] | None) -> tuple[list[int | None] | None, list[bool]]:
    """The sizes, None for `*`, and for each size whether it is scalable, `[n]`."""
    if token is None:
        return [], []
    text = token[0].replace(" ", "")
    if text.startswith("*"):
        return None, []
    parts = "".join(text.split()).rstrip("x").split("x")
    if any(len(part) > 20 for part in parts):
        raise s.error("a dimension is limited to 64 bits", token[1])
    sizes = [None if part == "?" else int(part.strip("[]")) for part in parts]
    if any(size is not None and size >= 1 << 63 for size in sizes):
        raise s.error("a dimension is limited to 64 bits", token[1])
    return sizes, [part.startswith("[") for part in parts]


def _plain_dims(s: Any, token: tuple[str, int] | None) -> list[int | None] | None:
    sizes, scalable = _dims(s, token)
    if any(scalable):
        raise s.error("scalable dimensions '[n]' belong to vectors only", token[1])  # type: ignore[index]
    return sizes


@action
def _vector(s, c):
    sizes, scalable = _dims(s, c[0])
    if sizes is None or any(size is None or size <= 0 for size in sizes):
        raise NncError("vector types must have positive constant sizes")
    if not isinstance(c[1], (t.IntegerType, t.IndexType, t.FloatType)):
        known = getattr(c[1], "is_vector_element", False)
        if not known and not isinstance(c[1], t.OpaqueType) and not c[1].name:
            raise NncError(f"vector elements must be int/index/float type but got '{c[1]}'")
    return t.VectorType(tuple(sizes), c[1], tuple(scalable))


@action
def _tensor(s, c):
    sizes = _plain_dims(s, c[0])
    if isinstance(c[1], (t.FunctionType, t.TupleType, t.NoneType, t.TensorType, t.MemRefType)):
        raise NncError(f"invalid tensor element type: '{c[1]}'")
    if sizes is None:
        if len(c) > 2:
            raise NncError("cannot apply encoding to unranked tensor")
        return t.UnrankedTensorType(c[1])
    return t.TensorType(tuple(sizes), c[1], c[2] if len(c) > 2 else None)


@action
def _memref(s, c):
    sizes = _plain_dims(s, c[0])
    element = c[1]
    if isinstance(element, (t.FunctionType, t.TupleType, t.NoneType, t.TensorType)):
        raise NncError(f"invalid memref element type: '{element}'")
    rest = list(c[2]) if len(c) > 2 else []
    layout = None
    if rest and isinstance(rest[0], (a.AffineMapAttr, a.StridedLayoutAttr)):
        layout = rest.pop(0)
        if sizes is None:
            raise NncError("an unranked memref has no layout")
        _check_layout(layout, len(sizes))
    if len(rest) > 1:
        raise NncError("multiple memory spaces specified in memref type")
    space = rest[0] if rest else None
    if sizes is None:
        return t.UnrankedMemRefType(element, space)
    return t.MemRefType(tuple(sizes), element, layout, space)


def _check_layout(layout: Any, rank: int) -> None:
    if isinstance(layout, a.AffineMapAttr):
        dims = layout.map.dim_count
        if dims != rank:
            raise NncError(f"memref layout mismatch between rank and affine map: {rank} != {dims}")
    elif len(layout.strides) != rank:
        raise NncError("expected the number of strides to match the rank")


def _with_parameters(s, c):
    """A dialect's type or attribute, from its class and the parsed text in angle brackets."""
    (cls, pos), child = c
    try:
        return cls.from_syntax(child)
    except NncError as fault:
        raise s.error(fault.message, pos) from None


@action
def _opaque_type(s, c):
    dialect, text, parts = dialect_text(s, *c[0], what="type")
    return t.OpaqueType(dialect, text, parts)


actions(
    function_to_one=lambda s, c: nested(s, t.FunctionType(tuple(c[0]), (c[1],)), (*c[0], c[1])),
    function_to_many=lambda s, c: nested(
        s, t.FunctionType(tuple(c[0]), tuple(c[1])), (*c[0], *c[1])
    ),
    tuple=lambda s, c: nested(s, t.TupleType(tuple(c[0])), c[0]),
    plain_type=lambda s, c: c[0][0](),
    plain_attribute=lambda s, c: c[0][0](),
    dialect_type=_with_parameters,
    dialect_attribute=_with_parameters,
)
