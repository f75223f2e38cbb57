"""Buffers in source text: a typed pointer to the first element, with sizes and strides beside it.

An address is that pointer and an offset in elements, a sum of text. A view of bytes becomes a
pointer of the elements' type, so that no text looks at one element through two types.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

from ...dialects import memref
from ...dialects.index_lists import mix
from ...dialects.memref.layouts import collapse, expand, open_parts
from ...ir.diagnostics import NncError
from ...ir.types import IntegerType, MemRefType, Type, row_major_strides

Size = int | str
"""A number, or an expression as text."""


@dataclass(frozen=True)
class Buffer:
    """A memref: the text of its first element's address; sizes and strides in elements."""

    pointer: str
    sizes: tuple[Size, ...]
    strides: tuple[Size, ...]


def grouped(text: Size) -> str:
    """Text in parentheses, unless it can be an operand as it is."""
    text = str(text)
    return text if re.fullmatch(r"\w[\w.]*(\([^()]*\))?", text) else f"({text})"


def times(a: Size, b: Size) -> Size:
    """The product of sizes."""
    if isinstance(a, int) and isinstance(b, int):
        return a * b
    if 0 in (a, b):
        return 0
    if 1 in (a, b):
        return b if a == 1 else a
    return f"{grouped(a)} * {grouped(b)}"


def plus(a: Size, b: Size) -> Size:
    """The sum of sizes."""
    if isinstance(a, int) and isinstance(b, int):
        return a + b
    if 0 in (a, b):
        return b if a == 0 else a
    if isinstance(b, int) and b < 0:
        return f"{summand(a)} - {-b}"
    return f"{summand(a)} + {summand(b)}"


def summand(text: Size) -> str:
    """Text as an operand of a sum, in parentheses if its operator binds less tightly."""
    bare = text = str(text)
    while (inner := re.sub(r"\([^()]*\)", "", bare)) != bare:
        bare = inner
    return f"({text})" if re.search(r"[&|^?<>=]", bare) else text


def row_major(sizes: Sequence[Size]) -> tuple[Size, ...]:
    """The strides of densely packed elements in row-major order."""
    return tuple(row_major_strides(sizes, times))


def layout(type: MemRefType) -> tuple[tuple[int | None, ...], int | None]:
    """Strides and offset, None where unknown. Raises NncError for a layout without strides."""
    found = type.strides_and_offset()
    if found is None:
        raise NncError(f"layout of {type} is not strided")
    return found


def from_parts(type: MemRefType, pointer: str, parts: Sequence[Size]) -> Buffer:
    """The buffer of a type, from its pointer and the sizes and strides passed with it."""
    given = dict(zip(open_parts(type), parts, strict=True))
    sizes = tuple(given[("size", i)] if n is None else n for i, n in enumerate(type.shape))
    strides = row_major(sizes)
    if type.layout is not None:
        known = enumerate(layout(type)[0])
        strides = tuple(given[("stride", i)] if n is None else n for i, n in known)
    return Buffer(pointer, sizes, strides)


def parts_of(type: MemRefType, buffer: Buffer) -> list[Size]:
    """The sizes and strides that are passed with the pointer of a buffer: those its type lacks."""
    return [(buffer.sizes if what == "size" else buffer.strides)[i] for what, i in open_parts(type)]


def offset(buffer: Buffer, indices: Sequence[Size]) -> Size:
    """The distance of an element from the first one, in elements."""
    total: Size = 0
    for index, stride in zip(indices, buffer.strides, strict=True):
        total = plus(total, times(index, stride))
    return total


def moved(pointer: str, distance: Size) -> str:
    """A pointer advanced by `distance` elements."""
    return pointer if distance == 0 else str(plus(pointer, distance))


def typed(buffer: Buffer, type: MemRefType) -> Buffer:
    """The buffer with the sizes and strides that the type knows, instead of text."""
    strides, _ = layout(type)
    pairs = ((type.shape, buffer.sizes), (strides, buffer.strides))
    sizes, steps = (
        tuple(own if known is None else known for known, own in zip(one, other, strict=True))
        for one, other in pairs
    )
    return Buffer(buffer.pointer, sizes, steps)


def bytes_of(type: Type) -> int:
    """The bytes of an element in memory."""
    return MemRefType((1,), type).num_bytes


def view(op: Any, source: Buffer, mixed: Any, cast: Any) -> Buffer | None:
    """The buffer that a view operation makes; None for other operations.

    `mixed` gives the text of mixed lists, `cast` a pointer to elements of a buffer's type.
    """
    type = op.results[0].type
    match op:
        case memref.View():
            return _view_of_bytes(op, source, mixed, cast)
        case memref.SubView():
            return typed(_subview(op, source, mixed), type)
        case memref.ReinterpretCast():
            return typed(_reinterpreted(op, source, mixed), type)
        case memref.ExpandShape():
            sizes = mixed(mix(op.static_output_shape, op.output_shape))
            strides = expand(op.groups, sizes, source.strides, times)
            return typed(Buffer(source.pointer, tuple(sizes), tuple(strides)), type)
        case memref.CollapseShape():
            sizes, strides = collapse(op.groups, source.sizes, source.strides, times)
            return typed(Buffer(source.pointer, tuple(sizes), tuple(strides)), type)
        case memref.Transpose():
            sizes, strides = (
                tuple(part[i] for i in op.order) for part in (source.sizes, source.strides)
            )
            return typed(Buffer(source.pointer, sizes, strides), type)
        case memref.Cast():
            return typed(source, type)
        case memref.MemorySpaceCast() | memref.AssumeAlignment():
            return source
        case memref.ExtractStridedMetadata():
            _, start = layout(op.source.type)
            return replace(
                source, pointer=moved(source.pointer, -(start or 0)), sizes=(), strides=()
            )
    return None


def _view_of_bytes(op: memref.View, source: Buffer, mixed: Any, cast: Any) -> Buffer:
    type = op.result.type
    (shift,), width = mixed([op.byte_shift]), bytes_of(type.element_type)
    sizes = mixed(_sizes(type, op.sizes))
    whole = isinstance(shift, int) and shift % width == 0
    at = source.pointer if whole else moved(source.pointer, shift)
    pointer = at if type.element_type is IntegerType(8) else cast(at, type)
    pointer = moved(pointer, shift // width) if whole else pointer
    return Buffer(pointer, tuple(sizes), row_major(sizes))


def _subview(op: memref.SubView, source: Buffer, mixed: Any) -> Buffer:
    steps = mixed(op.mixed_strides)
    pointer = moved(source.pointer, offset(source, mixed(op.mixed_offsets)))
    strides = [times(a, b) for a, b in zip(source.strides, steps, strict=True)]
    sizes, kept = mixed(op.mixed_sizes), op.kept
    if kept is None:
        raise NncError(f"cannot tell which dimensions {op.result.type} drops")
    return Buffer(pointer, tuple(sizes[i] for i in kept), tuple(strides[i] for i in kept))


def _reinterpreted(op: memref.ReinterpretCast, source: Buffer, mixed: Any) -> Buffer:
    pointer = source.pointer
    if not memref.begins_alike(op):
        _, start = layout(op.source.type)
        if start is None:
            raise NncError("needs the start of a buffer, whose offset is not known")
        pointer = moved(moved(pointer, -start), mixed(op.mixed_offsets)[0])
    sizes, strides = (tuple(mixed(v)) for v in (op.mixed_sizes, op.mixed_strides))
    return Buffer(pointer, sizes, strides)


def _sizes(type: MemRefType, given: Sequence[Any]) -> list[Any]:
    """The sizes of a type, with the given values for its unknown ones."""
    rest = iter(given)
    return [next(rest) if n is None else n for n in type.shape]
