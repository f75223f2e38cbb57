"""Where in a buffer an element of a view lies."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from math import prod

from ...dialects import memref
from ...dialects.index_lists import mix
from ...ir.core import Value
from ...ir.traits import AllocatesMemory
from ...ir.types import MemRefType
from .forms import Form, Forms, added, number, scaled


@dataclass(frozen=True)
class Place:
    """An element of a buffer: by its indices, by how many elements lie before it, or by both.

    `size` is how many elements the buffer has, where views might reach out of it; there the view
    begins at `offset` and its elements are `strides` apart.
    """

    buffer: Value
    indices: tuple[Form, ...] | None
    flat: Form | None
    size: Form | None = None
    offset: Form | None = None
    strides: tuple[int, ...] = ()


@dataclass(frozen=True)
class _Window:
    """A view by the distances of its elements, in elements from the buffer's first."""

    buffer: Value
    offset: Form
    strides: tuple[int, ...]
    is_cast: bool = False


def place_of(forms: Forms, view: Value, at: Sequence[Form]) -> Place | None:
    """Where an element of a memref lies; None where its view is not understood."""
    found = _by_indices(forms, view, tuple(at))
    window = _window(forms, view)
    flat = None
    if window is not None:
        flat = window.offset
        for index, stride in zip(at, window.strides, strict=True):
            flat = added(flat, scaled(index, stride))
    if found is None and (window is None or flat is None):
        return None
    buffer = found[0] if found is not None else window.buffer  # type: ignore[union-attr]
    indices = found[1] if found is not None else None
    if window is None or not window.is_cast:
        return Place(buffer, indices, flat)
    return Place(buffer, indices, flat, size_of(forms, buffer), window.offset, window.strides)


def _outer(forms: Forms, buffer: Value) -> Value:
    while buffer in forms.arguments:
        buffer = forms.arguments[buffer]
    return buffer


def _is_whole(buffer: Value) -> bool:
    """Whether it is no view of another."""
    op = buffer.defining_op
    return op is None or op.has_trait(AllocatesMemory) or isinstance(op, memref.GetGlobal)


def _by_indices(
    forms: Forms, view: Value, at: tuple[Form, ...]
) -> tuple[Value, tuple[Form, ...]] | None:
    """The buffer, and the indices in it, through parts of it that keep its dimensions."""
    while not _is_whole(view := _outer(forms, view)):
        match view.defining_op:
            case memref.SubView() as op:
                kept = op.kept
                steps = mix(op.static_strides, op.strides)
                if kept is None or not all(isinstance(step, int) for step in steps):
                    return None
                place = dict(zip(kept, at, strict=True))
                found = []
                for d, (offset, step) in enumerate(zip(_offsets(forms, op), steps, strict=True)):
                    inner = place.get(d, number(0))
                    found.append(added(offset, scaled(inner, step)))  # type: ignore[arg-type]
                view, at = op.source, tuple(found)
            case memref.Cast() | memref.MemorySpaceCast() as op:
                view = op.operands[0]
            case _:
                return None
    return view, at


def _offsets(forms: Forms, op: memref.SubView | memref.ReinterpretCast) -> list[Form]:
    mixed = mix(op.static_offsets, op.offsets)
    return [number(o) if isinstance(o, int) else forms.of(o) for o in mixed]


def _window(forms: Forms, view: Value) -> _Window | None:
    """A view as distances, which have to be constants."""
    view = _outer(forms, view)
    if _is_whole(view):
        strides = _contiguous(view.type)
        return None if strides is None else _Window(view, number(0), strides)
    op = view.defining_op
    assert op is not None
    source = _window(forms, op.operands[0]) if op.operands else None
    match op:
        case memref.ReinterpretCast():
            steps = mix(op.static_strides, op.strides)
            buffer = _outer(forms, memref.base_buffer(op.source))
            buffer = _outer(forms, memref.base_buffer(buffer))
            if not all(isinstance(step, int) for step in steps):
                return None
            return _Window(buffer, _offsets(forms, op)[0], tuple(steps), is_cast=True)  # type: ignore[arg-type]
        case memref.SubView() if source is not None:
            kept, steps = op.kept, mix(op.static_strides, op.strides)
            if kept is None or not all(isinstance(step, int) for step in steps):
                return None
            start = source.offset
            for offset, stride in zip(_offsets(forms, op), source.strides, strict=True):
                start = added(start, scaled(offset, stride))
            strides = tuple(source.strides[d] * steps[d] for d in kept)  # type: ignore[operator]
            return _Window(source.buffer, start, strides, source.is_cast)
        case memref.Cast() | memref.MemorySpaceCast():
            return source
        case memref.ExpandShape() | memref.CollapseShape() if source is not None:
            strides = _contiguous(view.type)
            if strides is None or source.strides != _contiguous(op.operands[0].type):
                return None
            return _Window(source.buffer, source.offset, strides, source.is_cast)
    return None


def _contiguous(type: MemRefType) -> tuple[int, ...] | None:  # type: ignore[type-arg]
    """The distances of a memref whose elements follow one another, where they are constants."""
    if not isinstance(type, MemRefType) or not type.is_row_major or None in type.shape[1:]:
        return None
    return tuple(prod(type.shape[d + 1 :]) for d in range(type.rank))


def size_of(forms: Forms, buffer: Value) -> Form | None:
    """How many elements a buffer has, where at most its first extent is open."""
    type = buffer.type
    assert isinstance(type, MemRefType)
    if not type.rank:
        return number(1)
    if None in type.shape[1:]:
        return None
    first = forms.extent(buffer, 0)
    return first.saying(f"{prod(type.shape[1:])}*({first.text})")
