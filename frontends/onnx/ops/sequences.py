"""Sequences of tensors, as far as the import can follow them: they are Python lists here."""

from __future__ import annotations

from typing import Any

from ....dialects import nn
from ....ir.core import Value
from ....ir.types import i64
from ..node import Node
from ..registry import converter
from ..shapes import normalize_axis, reshape
from .movement import split_into


@converter("SequenceConstruct")
def construct(n: Node, *inputs: Value) -> list[Any]:
    return [Sequence(inputs)]


@converter("SequenceEmpty")
def empty(n: Node) -> list[Any]:
    return [Sequence()]


class Sequence(tuple):
    """A sequence of values."""


@converter("SplitToSequence")
def split_to_sequence(n: Node, x: Value, sizes_operand: Value | None = None) -> list[Any]:
    axis = normalize_axis(n, n.int("axis"), x.type.rank)
    extent = x.type.shape[axis]
    if sizes_operand is None:
        size, keep = 1, bool(n.int("keepdims", 1))
    else:
        known, keep = n.known_ints(sizes_operand, "split"), True
        if sizes_operand.type.rank == 1:
            return [Sequence(split_into(n, x, axis, known))]
        size = known[0]
    if extent is None or size < 1:
        raise n.error(f"the extent of axis {axis} must be known, and the size positive")
    sizes = [min(size, extent - i) for i in range(0, extent, size)]
    parts = split_into(n, x, axis, sizes)
    if not keep:
        rest = [i for i in range(x.type.rank) if i != axis]
        parts = [reshape(n, p, [(p, i) for i in rest]) for p in parts]
    return [Sequence(parts)]


def _position(n: Node, position: Value | None, count: int, end: int) -> int:
    """An index into a sequence; `end` where it is left out."""
    if position is None:
        return end
    at = n.known_int(position, "position")
    if not -count <= at <= max(end, count - 1):
        raise n.error(f"position {at} is out of range for a sequence of {count}")
    return at + count if at < 0 else at


@converter("SequenceAt")
def at(n: Node, sequence: Any, position: Value) -> Value:
    return sequence[_position(n, position, len(sequence), len(sequence) - 1)]


@converter("SequenceInsert")
def insert(n: Node, sequence: Any, value: Value, position: Value | None = None) -> list[Any]:
    index = _position(n, position, len(sequence), len(sequence))
    return [Sequence((*sequence[:index], value, *sequence[index:]))]


@converter("SequenceErase")
def erase(n: Node, sequence: Any, position: Value | None = None) -> list[Any]:
    index = _position(n, position, len(sequence), len(sequence) - 1)
    return [Sequence((*sequence[:index], *sequence[index + 1 :]))]


@converter("SequenceLength")
def length(n: Node, sequence: Any) -> Value:
    return n.constant(len(sequence), i64)


@converter("ConcatFromSequence")
def concat(n: Node, sequence: Any) -> Value:
    if not sequence:
        raise n.error("the sequence is empty")
    parts, rank = list(sequence), sequence[0].type.rank
    if n.int("new_axis"):
        axis = normalize_axis(n, n.int("axis"), rank + 1)
        parts = [
            reshape(n, p, [*((p, i) for i in range(axis)), 1, *((p, i) for i in range(axis, rank))])
            for p in parts
        ]
    else:
        axis = normalize_axis(n, n.int("axis"), rank)
    return n(nn.Concat(parts, axis=axis)) if len(parts) > 1 else parts[0]
