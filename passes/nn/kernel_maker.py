"""Makes kernels from groups of ops."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from ...dialects import nn
from ...dialects.marks import EXPECTED_EXTENTS, INPUT_DIMS
from ...dialects.nn.dimension_names import named
from ...dialects.nn.known_values import is_short
from ...dialects.nn.symbolic_shapes import SymbolicShapes
from ...ir.attributes import ArrayAttr, DenseElements, I64Array
from ...ir.builder import Builder
from ...ir.core import Block, IRMapping, Operation, Region, Value
from ...ir.location import fuse_locations
from ...ir.polynomial import Poly, Size
from ...ir.types import TensorType, i64
from .extent_arithmetic import ExtentArithmetic


class KernelMaker:
    """Makes kernels from ops of one block, in order. `expected` has the likely
    values of extents.
    """

    def __init__(self, block: Block, shapes: SymbolicShapes, expected: Mapping[Size, int]) -> None:
        self.shapes, self.expected = shapes, expected
        self.sources: dict[Any, tuple[Value, int]] = {**shapes.sources(block.args)}
        """For each symbol, a (tensor, axis) before the next kernel with that extent."""
        self.read_before: list[Operation] = []
        """Operations whose integers kernels now compute themselves."""

    def make(self, ops: Sequence[Operation]) -> nn.Kernel:
        """Move ops, given in order, into a kernel at the place of the last one.

        Constants whose elements are all equal are copied into it, and become immediate values.
        Integers that follow from extents are computed in it, so that the results' sizes are known
        before anything has run. The kernel's attributes say which unknown extents of its operands
        are equal, and what they are likely to be.
        """
        members = set(ops)
        outs = [r for op in ops for r in op.results if escapes(r, members)]
        if not outs:
            outs = list(ops[-1].results)
        copied: dict[Value, Operation] = {}
        computed: dict[Value, list[Size]] = {}
        inputs: dict[Value, None] = {}
        is_arithmetic = all(self.sizes(value) is not None for value in outs)
        for value in _operands(ops, members):
            definer = value.defining_op
            if definer is not None and is_scalar(definer):
                copied[value] = definer
            elif not is_arithmetic and (sizes := self.sizes(value)) is not None:
                computed[value] = sizes
            else:
                inputs[value] = None
                self.find_sources(value)
        used = dict.fromkeys(s for sizes in computed.values() for size in sizes for s in _in(size))
        inputs.update(dict.fromkeys(self.sources[symbol][0] for symbol in used))
        body = Block([v.type for v in inputs])
        mapping = IRMapping()
        for value, arg in zip(inputs, body.args, strict=True):
            mapping[value] = arg
            arg.name_hint = value.name_hint
        for definer in copied.values():
            body.append(definer.clone(mapping))
        places = {s: (mapping[self.sources[s][0]], self.sources[s][1]) for s in used}
        inside = ExtentArithmetic(places)
        for value, sizes in computed.items():
            mapping[value] = _made(Builder.at_end(body, ops[-1].loc), inside, sizes, value.type)
            self.read_before.append(value.defining_op)  # type: ignore[arg-type]
        kernel = nn.Kernel(
            list(inputs),
            body=Region([body]),
            outs=[v.type for v in outs],
            loc=fuse_locations([op.loc for op in ops]),
        )
        self.describe(kernel, [*inputs], outs)
        _enclose(ops, kernel, mapping)
        for old, new in zip(outs, kernel.results, strict=True):
            new.name_hint = old.name_hint
            self.shapes.remember(new, self.shapes.of(old), self.shapes.elements(old))
            old.replace_uses_if(new, lambda user: user.parent is not body)
            self.find_sources(new)
        body.append(nn.Yield(outs))
        for definer in copied.values():
            if not definer.results[0].has_uses:
                definer.erase()
        return kernel

    def describe(self, kernel: nn.Kernel, inputs: Sequence[Value], outs: Sequence[Value]) -> None:
        """Note which unknown extents of a kernel's operands are equal, and their
        expected values.
        """
        of, expected = self.shapes.of, self.expected
        if (dims := named([of(value) for value in inputs])) is not None:
            kernel.attributes[INPUT_DIMS] = dims
        hints = [[expected.get(size, 0) for size in of(value)] for value in (*inputs, *outs)]
        if any(map(any, hints)):
            kernel.attributes[EXPECTED_EXTENTS] = ArrayAttr(tuple(map(I64Array, hints)))

    def sizes(self, value: Value) -> list[Size] | None:
        """The elements of a small integer tensor, if they follow from the arguments' extents; else
        None.
        """
        if value.defining_op is None or not is_short(value.type):
            return None
        found = self.shapes.elements(value)
        symbols = [s for size in found or () for s in _in(size)]
        if not found or None in found or not self.sources.keys() >= set(symbols):
            return None
        return found if symbols else None  # type: ignore[return-value]

    def find_sources(self, value: Value) -> None:
        """Note where each symbolic extent of a tensor can be read, unless it is known from an
        earlier one.
        """
        if isinstance(value.type, TensorType):
            for axis, size in enumerate(self.shapes.of(value)):
                if isinstance(size, Poly) and (symbol := size.single) is not None:
                    self.sources.setdefault(symbol, (value, axis))

    def erase_unread(self) -> None:
        """Erase the ops whose integers are now computed inside kernels."""
        waiting = self.read_before
        while waiting:
            op = waiting.pop()
            if op.parent is None or any(result.has_uses for result in op.results):
                continue
            before = [v.defining_op for v in op.operands if is_short(v.type)]
            op.erase()
            waiting += [made for made in before if made is not None]


def _enclose(ops: Sequence[Operation], kernel: nn.Kernel, mapping: IRMapping) -> None:
    """Insert a kernel at the place of the last op, and move the ops into it."""
    block, (body,) = ops[-1].parent, kernel.body.blocks
    assert block is not None
    block.insert_before(kernel, ops[-1])
    for op in ops:
        op.detach()
        body.append(op)
        for i, value in enumerate(op.operands):
            if value in mapping.values:
                op.set_operand(i, mapping[value])


def escapes(value: Value, group: set[Operation]) -> bool:
    """Whether an op outside of the group uses the value."""
    return any(user not in group for user in value.users)


def _operands(ops: Sequence[Operation], members: set[Operation]) -> dict[Value, None]:
    """The values from outside of the group that the ops read, each once."""
    return {v: None for op in ops for v in op.operands if v.defining_op not in members}


def is_scalar(op: Operation) -> bool:
    """Whether an op is a constant of one number or of equal elements."""
    if not isinstance(op, nn.Constant):
        return False
    value = op.value
    return isinstance(value, DenseElements) and value.strings is None and value.is_splat


def _in(size: Size | None) -> tuple[Any, ...]:
    return size.symbols if isinstance(size, Poly) else ()


def _made(b: Builder, arithmetic: ExtentArithmetic, sizes: list[Size], type: Any) -> Value:
    """Sizes as a tensor of a type."""
    made = arithmetic.vector(b, sizes)
    if made.type.shape != type.shape:
        made = b.insert(nn.Reshape(made, out=TensorType(type.shape, i64))).result
    return made if made.type is type else b.insert(nn.Cast(made, out=type)).result
