"""Padded operands: a buffer that stages fill with one number around a copy of another buffer."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import combinations
from math import prod

from ...dialects import memref
from ...ir.core import Value
from ...ir.polynomial import Size
from ...ir.rewriting import constant_value
from ..model.plan import Border
from ..model.stages import Access, Stage
from .inline import is_changed

_Box = tuple[tuple[int, ...], tuple[Size, ...]]
"""Where a part of a buffer begins, and its sizes."""


@dataclass(frozen=True)
class Padded:
    """A padded operand: the buffer copied into its middle, the padding, and the stages doing it."""

    source: Value
    border: Border
    makers: tuple[Stage, ...]


def padded(access: Access, stages: Sequence[Stage]) -> Padded | str:
    """The padded operand that an access reads, or why it is not one.

    One stage copies a whole buffer to a box in it, others fill boxes around that with one number;
    nobody but the access reads it.
    """
    makers = [s for s in stages if any(a.value is access.value for a in s.outputs)]
    fault = _misused(access, makers, stages)
    if fault is not None:
        return fault
    given = {stage: _given(stage) for stage in makers}
    copies = [one for one in given.values() if one is not None and not one.is_scalar]
    numbers = [one.value for one in given.values() if one is not None and one.is_scalar]
    if len(copies) != 1 or not numbers or len(copies) + len(numbers) < len(makers):
        return "it is not a copy of another buffer with one number around it"
    if not all(_are_equal(number, numbers[0]) for number in numbers):
        return "what is around the copy is not one number"
    boxes = [box for s in makers if (box := _box(s.outputs[0])) is not None]
    extents = _extents(access)
    if len(boxes) < len(makers) or not _make_up(boxes, extents):
        return "it is not made of boxes of known size that are all of it"
    source = copies[0]
    begin, sizes = boxes[makers.index(source.stage)]
    written = _dims(source.stage.outputs[0])
    moved = any(
        a != b for a, b, n in zip(source.plain_dims(), written, sizes, strict=True) if n != 1
    )
    if _extents(source) != sizes or moved:
        return "the copy in it is not of a whole buffer as it is"
    if is_changed(source.value, source.stage, [access], stages):
        return "what is copied is overwritten or freed before the operand is read"
    end = tuple(
        extent - first - size if isinstance(extent, int) and isinstance(size, int) else 0
        for extent, first, size in zip(extents, begin, sizes, strict=True)
    )
    return Padded(source.value, Border(begin, sizes, end, numbers[0]), tuple(makers))


def _misused(access: Access, makers: Sequence[Stage], stages: Sequence[Stage]) -> str | None:
    """Why the operand's buffer cannot be removed; None if it can."""
    if access.value.defined_by(memref.Alloc) is None:
        return "it may be used elsewhere"
    readers = [a for s in stages for a in s.inputs if a.value is access.value]
    if readers != [access]:
        return "it is read elsewhere"
    own = {access.stage.op, *(s.op for s in makers)}
    for user in access.value.users:
        views = user.results[0].users if isinstance(user, memref.SubView) else [user]
        if any(one not in own and not isinstance(one, memref.Dealloc) for one in views):
            return "it is used by other operations than stages"
    return None


def _given(stage: Stage) -> Access | None:
    """The operand of a stage that only copies it; None for any other stage."""
    last = stage.body.last
    if len(stage.outputs) != 1 or len(stage.inputs) != 1 or stage.has_reduction or last is None:
        return None
    return stage.inputs[0] if last.operands[0] is stage.inputs[0].argument else None


def _are_equal(one: Value, other: Value) -> bool:
    known = constant_value(one)
    return one is other or (known is not None and known == constant_value(other))


def _dims(out: Access) -> list[int | None]:
    """For each dimension of a buffer, the stage's dimension that alone moves along it."""
    return [
        one.terms[0][0] if one is not None and [f for _, f in one.terms] == [1] else None
        for one in out.linear
    ]


def _extents(access: Access) -> tuple[Size, ...]:
    """The extents of a buffer; open ones as symbols."""
    symbols = access.stage.symbols
    return tuple(symbols.of(access.value, d) for d in range(len(access.shape)))


def _box(out: Access) -> _Box | None:
    """The part of a buffer that a stage writes; None where it is no box."""
    dims = _dims(out)
    moving = sorted(d for d, extent in enumerate(out.stage.extents) if extent != 1)
    if sorted(d for d in dims if d in moving) != moving:
        return None
    if any(one is None or len(one.terms) > 1 for one in out.linear):
        return None
    sizes = tuple(1 if d is None else out.stage.extents[d] for d in dims)
    return tuple(one.constant for one in out.linear if one is not None), sizes


def _make_up(boxes: Sequence[_Box], extents: Sequence[Size]) -> bool:
    """Whether boxes cover all elements of a buffer, each once."""
    shape = [extent for extent in extents if isinstance(extent, int)]
    parts = [part for box in boxes if (part := _part(box, extents)) is not None]
    if len(parts) < len(boxes):
        return False
    inside = all(
        first >= 0 and first + size <= extent
        for part in parts
        for (first, size), extent in zip(part, shape, strict=True)
    )
    covered = sum(prod(size for _, size in part) for part in parts)
    apart = not any(_overlap(one, other) for one, other in combinations(parts, 2))
    return inside and apart and covered == prod(shape)


def _part(box: _Box, extents: Sequence[Size]) -> list[tuple[int, int]] | None:
    """(first index, size) of a box along the known extents of its buffer.

    None unless these sizes are known, and the box is as long as the buffer along the others, such
    as a batch of open size.
    """
    found: list[tuple[int, int]] = []
    for first, size, extent in zip(*box, extents, strict=True):
        if isinstance(extent, int) and isinstance(size, int):
            found.append((first, size))
        elif (first, size) != (0, extent):
            return None
    return found


def _overlap(one: Sequence[tuple[int, int]], other: Sequence[tuple[int, int]]) -> bool:
    return all(a < b + n and b < a + m for (a, m), (b, n) in zip(one, other, strict=True))
