"""Sequences and optionals.

A sequence that the import can follow is a tuple of values here: its length is known, and so are the
positions at which it is changed. Any other is a value of the program that a host handles.
"""

from __future__ import annotations

from onnx import TypeProto

from ...common.vocabulary import *
from ..inputs import value_type
from ..node import A, Node
from ..registry import converter


class KnownSequence(tuple):
    """A sequence of known values."""


def as_value(n: Node, value: Any) -> Value:
    """The value; a tuple of known values becomes a sequence of the program."""
    return n.builder.as_value(value, n.loc)


@converter("SequenceConstruct", any_rank=True)
def construct(n: Node, *inputs: Value) -> list[Any]:
    return [KnownSequence(inputs)]


@converter("SequenceEmpty")
def empty(n: Node) -> list[Any]:
    return [KnownSequence()]


@converter("SplitToSequence")
def split_to_sequence(n: Node, x: Value, sizes_operand: Value | None = None) -> list[Any]:
    axis = normalize_axis(n, n.int("axis"), x.type.rank)
    extent, keep = x.type.shape[axis], True
    known = None if sizes_operand is None else n.known(sizes_operand)
    if sizes_operand is None:
        size, keep = 1, bool(n.int("keepdims", 1))
    elif known is None and _are_ones(n, sizes_operand):
        count = Term(n, shape_of(n, sizes_operand)).sum(0)
        return [n(nn.SequenceSplit(_of_extent(n, x, axis, count), axis=axis))]
    elif known is None:
        return [n(nn.SequenceSplit(x, sizes_operand, axis=axis))]
    elif sizes_operand.type.rank == 1:
        sizes = [int(size) for size in known]
        if min(sizes, default=0) < 0 or extent not in (None, sum(sizes)):
            raise n.error(f"{extent} elements do not split into parts of {sizes}")
        if extent is None:
            x = _of_extent(n, x, axis, constant(n, sum(sizes), i64))
        return [KnownSequence(split_into(n, x, axis, sizes))]
    else:
        size = int(known)
    if size < 1:
        raise n.error(f"parts of length {size} are asked for")
    if extent is None:
        return [n(nn.SequenceSplit(x, sizes_operand, axis=axis, keep_dims=keep))]
    sizes = [min(size, extent - i) for i in range(0, extent, size)]
    parts = split_into(n, x, axis, sizes)
    if not keep:
        parts = [squeezed(n, part, axis) for part in parts]
    return [KnownSequence(parts)]


def _of_extent(n: Node, x: Value, axis: int, count: Term) -> Value:
    """x; the program fails unless it has `count` elements along the axis."""
    fits = Term(n, shape_of(n, x)).column(axis).equals(count)
    return n(nn.Assume(x, fits.value, "the lengths of parts do not add up to the extent"))


def _are_ones(n: Node, sizes: Value) -> bool:
    """Whether a vector of unknown length is made of ones, so that the parts' length is known."""
    made = sizes.defined_by(nn.FillDynamic)
    known = None if made is None or sizes.type.rank != 1 else n.known(made.value)
    return known is not None and int(known) == 1


def _followed(n: Node, sequence: Any, position: Value | None = None) -> bool:
    """Whether both the sequence and the position in it are known."""
    return isinstance(sequence, tuple) and (position is None or n.known(position) is not None)


def _position(n: Node, position: Value | None, count: int, end: int) -> int:
    """An index into a sequence of `count` elements; `end` if `position` is None."""
    if position is None:
        return end
    at = n.known_int(position, "position")
    if not -count <= at <= max(end, count - 1):
        raise n.error(f"position {at} is out of range for a sequence of {count}")
    return at + count if at < 0 else at


@converter("SequenceAt")
def at(n: Node, sequence: Any, position: Value) -> Any:
    if not _followed(n, sequence, position):
        types = {v.type for v in sequence} if isinstance(sequence, tuple) else set()
        if len(types) == 1 and not any(map(nn.is_host_type, types)):
            return gathered(n, stacked(n, sequence, 0), as_scalar(n, position), 0)
        return n(nn.SequenceAt(as_value(n, sequence), position))
    count = len(sequence)
    found = sequence[_position(n, position, count, count - 1)] if count else None
    if found is None:
        raise n.error("the sequence is empty")
    return [found]


@converter("SequenceInsert", any_rank=True)
def insert(n: Node, sequence: Any, value: Any, position: Value | None = None) -> list[Any]:
    if not _followed(n, sequence, position):
        return [n(nn.SequenceInsert(as_value(n, sequence), as_value(n, value), position))]
    index = _position(n, position, len(sequence), len(sequence))
    return [KnownSequence((*sequence[:index], value, *sequence[index:]))]


@converter("SequenceErase")
def erase(n: Node, sequence: Any, position: Value | None = None) -> list[Any]:
    if not _followed(n, sequence, position):
        return [n(nn.SequenceErase(as_value(n, sequence), position))]
    if not sequence:
        raise n.error("the sequence is empty")
    index = _position(n, position, len(sequence), len(sequence) - 1)
    return [KnownSequence((*sequence[:index], *sequence[index + 1 :]))]


@converter("SequenceLength")
def length(n: Node, sequence: Any) -> Value:
    if isinstance(sequence, Value):
        return n(nn.SequenceLength(sequence))
    return n.constant(len(sequence), i64)


@converter("ConcatFromSequence")
def concat(n: Node, sequence: Any) -> Value:
    new_axis = bool(n.int("new_axis"))
    if isinstance(sequence, Value):
        axis, element = n.int("axis"), sequence.type.element
        if (rank := getattr(element, "rank", None)) is not None:
            axis = normalize_axis(n, axis, rank + new_axis)
        return n(nn.SequenceConcat(sequence, axis=axis, new_axis=new_axis))
    if not sequence:
        raise n.error("the sequence is empty")
    parts, rank = list(sequence), sequence[0].type.rank
    axis = normalize_axis(n, n.int("axis"), rank + new_axis)
    if new_axis:
        return stacked(n, parts, axis)
    return n(nn.Concat(parts, axis=axis)) if len(parts) > 1 else parts[0]


# -- optionals -------------------------------------------------------------------------------------


@converter("Optional", any_rank=True)
def optional(n: Node, value: Any = None) -> Value:
    if value is not None:
        return n(nn.OptionalConstruct(as_value(n, value)))
    proto = n.attribute("type", A.TYPE_PROTO) or TypeProto()
    return n(nn.OptionalConstruct(type_of_none=value_type(proto, {})))


@converter("OptionalHasElement", any_rank=True)
def has_element(n: Node, value: Any = None) -> Value:
    if isinstance(value, Value) and isinstance(value.type, nn.OptionalType):
        made = value.defined_by(nn.OptionalConstruct)
        if made is None:
            return n(nn.OptionalHasElement(value))
        value = made.value
    return n.constant(value is not None, i1)


@converter("OptionalGetElement", any_rank=True)
def get_element(n: Node, value: Any) -> list[Any]:
    if not isinstance(value, Value) or not isinstance(value.type, nn.OptionalType):
        return [value]
    made = value.defined_by(nn.OptionalConstruct)
    if made is not None and made.value is not None:
        return [made.value]
    return [n(nn.OptionalGetElement(value))]
