"""Tensors that lie within others in memory: slices and concatenations that copy nothing.

    %1 = nn.slice %0 {starts = [2, 0]} : (8x4) -> 2x4     %1 is elements 8 to 15 of %0
    %4 = nn.concat %2, %3 {axis = 0}                      %2 and %3 are written into %4

The elements of a part must be contiguous: all dimensions before the one that is cut have extent 1.
That is so for channels in batches of one, and for the steps of a sequence.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from math import prod

from ...dialects import func, nn
from ...dialects.nn.traits import Fusion
from ...ir.builder import Builder
from ...ir.core import Block, Operation, Value
from ...ir.traits import ConstantLike
from ...ir.types import FloatType, IntegerType, TensorType
from .building import has_static_shapes, shape_of


@dataclass
class Parts:
    """The tensors of a block that lie within others in memory, because of slices and
    concatenations.
    """

    inside: dict[Value, tuple[Value, int]] = field(default_factory=dict)
    """For each tensor that lies within another one: that one, and the index of its first element
    there.
    """
    ops: set[Operation] = field(default_factory=set)
    """The slices and concatenations that need no code."""
    wholes: set[Value] = field(default_factory=set)
    """The tensors with others inside that lie within no tensor themselves."""
    returned: set[Value] = field(default_factory=set)
    """The tensors that lie in buffers which the caller provides for the results."""

    def place(self, value: Value) -> tuple[Value, int]:
        """The outermost tensor that a tensor lies within, and the index of its first
        element there.
        """
        first = 0
        while (found := self.inside.get(value)) is not None:
            value, first = found[0], first + found[1]
        return value, first

    # -- finding -----------------------------------------------------------------------------

    def add(self, op: Operation) -> None:
        """Take the next operation of the block into account."""
        match op:
            case nn.Reshape() if has_static_shapes(op):
                self.inside[op.out] = (op.x, 0)
            case nn.Slice() if self._is_view(op):
                self.inside[op.out] = (op.x, _first_element(op))
                self.ops.add(op)
            case nn.Concat() if self._is_join(op):
                at = 0
                for value in op.inputs:
                    self.inside[self.place(value)[0]] = (op.out, at)
                    at += _count(value)
                self.ops.add(op)

    def _is_view(self, op: nn.Slice) -> bool:
        whole = self.place(op.x)[0]
        return (
            is_contiguous(op)
            and op.out not in self.returned
            and not getattr(op.x.defining_op, "has_whole_tiles", False)
            and self._is_made(whole)
        )

    def _is_join(self, op: nn.Concat) -> bool:
        return (
            len(op.inputs) > 1
            and is_joinable(op)
            and op.out not in self.returned
            and all(self.can_join(v, op) for v in op.inputs)
        )

    def can_join(self, value: Value, op: nn.Concat) -> bool:
        """Whether the op that makes a concatenation's operand can write it to its place in the
        result.
        """
        whole, _ = self.place(value)
        again = [v for v in op.inputs if self.place(v)[0] is whole]
        return self._is_made(whole) and _count(whole) == _count(value) and len(again) == 1

    def _is_made(self, value: Value) -> bool:
        """Whether an operation of this block writes the tensor to a buffer of its own."""
        op = value.defining_op
        if op is None or value in self.returned or not has_known_bytes(value):
            return False
        if isinstance(op, nn.NnOp):
            return op.fusion is not Fusion.VIEW and not op.has_trait(ConstantLike)
        return isinstance(op, nn.Kernel | func.Call)


def parts_of(block: Block) -> Parts:
    """The tensors of a block that lie within others."""
    parts = Parts(returned=_returned(block))
    for op in block:
        parts.add(op)
    parts.wholes = {parts.place(v)[0] for op in parts.ops for v in op.results}
    return parts


def prepare(block: Block) -> Parts:
    """Change concatenations so that as many operands as possible are written in place.

    A concatenation starts with the result of an earlier one of the same operands, if there is one.
    An operand that cannot be written in place is copied by an operation of its own.
    """
    parts = Parts(returned=_returned(block))
    earlier: dict[tuple[int, tuple[Value, ...]], Value] = {}
    for op in list(block):
        if isinstance(op, nn.Concat) and is_joinable(op) and op.out not in parts.returned:
            given = tuple(op.inputs)
            op = _with_prefix(op, earlier)
            earlier[op.axis, given] = op.out
            can = [parts.can_join(v, op) for v in op.inputs]
            if any(can) and len(can) > 1:
                _copy_others(op, can, parts)
        parts.add(op)
    return parts


def is_joinable(op: nn.Concat) -> bool:
    """Whether each operand of a concatenation is contiguous in the result."""
    shape = shape_of(op.out)
    return has_static_shapes(op) and prod(shape[: op.axis]) == 1 and has_known_bytes(op.out)


def is_contiguous(op: nn.Slice) -> bool:
    """Whether the elements of a slice are contiguous."""
    if not has_static_shapes(op) or set(op.steps or ()) - {1}:
        return False
    whole, part = shape_of(op.x), shape_of(op.out)
    cut = [d for d in range(len(whole)) if whole[d] != part[d]]
    return prod(part) > 0 and (not cut or prod(part[: cut[-1]]) == 1)


def has_known_bytes(value: Value) -> bool:
    """Whether a tensor has a known number of elements, each of whole bytes."""
    type = value.type
    if not isinstance(type, TensorType) or not type.has_static_shape or not _count(value):
        return False
    element = type.element_type
    return isinstance(element, FloatType | IntegerType) and element.width % 8 == 0


def _first_element(op: nn.Slice) -> int:
    at = 0
    for extent, start in zip(shape_of(op.x), op.starts, strict=True):
        at = at * extent + start
    return at


def _count(value: Value) -> int:
    return prod(shape_of(value))


def _returned(block: Block) -> set[Value]:
    """The operands of the block's terminator, and the tensors that they are views of."""
    found: set[Value] = set()
    for value in block.last.operands if block.last is not None else ():
        while value not in found:
            found.add(value)
            if (view := value.defined_by(nn.Reshape)) is not None:
                value = view.x
    return found


# -- rewriting -------------------------------------------------------------------------------------


def _with_prefix(op: nn.Concat, earlier: dict[tuple[int, tuple[Value, ...]], Value]) -> nn.Concat:
    """concat(a, b, c) -> concat(concat(a, b), c) where concat(a, b) is there already"""
    values = tuple(op.inputs)
    for count in range(len(values) - 1, 1, -1):
        found = earlier.get((op.axis, values[:count]))
        if found is not None:
            return _replaced(Builder.before_op(op), op, [found, *values[count:]])
    return op


def _replaced(b: Builder, op: nn.Concat, values: list[Value]) -> nn.Concat:
    made = b.insert(nn.Concat(values, op.axis, loc=op.loc))
    op.replace_with(made.out)
    return made


def _copy_others(op: nn.Concat, can: list[bool], parts: Parts) -> None:
    """Copy each operand that cannot be written in place by an operation of its own."""
    b = Builder.before_op(op)
    for i, (value, joins) in enumerate(zip(list(op.inputs), can, strict=True)):
        if not joins:
            copy = b.insert(nn.Concat([value], op.axis, loc=op.loc))
            op.set_operand(i, copy.out)
