"""Simplification of ops whose shapes are equal whatever the unknown extents are."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from math import prod
from typing import Any

from ...dialects import nn
from ...dialects.func import FuncOp, Return
from ...dialects.marks import INPUT_DIMS
from ...dialects.nn.dimension_names import names_of
from ...dialects.nn.known_values import is_short
from ...dialects.nn.symbolic_results import reshaped
from ...dialects.nn.symbolic_shapes import Shape, SymbolicShapes
from ...dialects.nn.traits import Broadcasting
from ...dialects.nn.views import is_reshape
from ...ir.builder import Builder
from ...ir.core import Block, BlockArgument, Operation, Value
from ...ir.passes import Pass, PassContext
from ...ir.polynomial import Size
from ...ir.types import TensorType, i64
from .building import element_of, on_operands, shape_of
from .extent_arithmetic import ExtentArithmetic
from .infer_shapes import update_signature


@dataclass(frozen=True)
class SimplifyShapes(
    Pass,
    name="simplify-shapes",
    anchor="func.func",
    statistics={"ops-simplified": "Number of ops removed, or given smaller operands"},
):
    """Use the knowledge that unknown extents are equal: `nn.input_dims` names those of the
    arguments.

    A reshape or broadcast to the shape that its operand already has is removed. A reshape to a
    computed shape becomes one to a type with `?`, if that means the same. Extents of intermediate
    results are computed from those of the arguments.
    """

    def run(self, op: Operation, context: PassContext) -> None:
        """Simplify the ops with unknown extents, in one walk in order."""
        if not isinstance(op, FuncOp) or op.is_declaration or len(op.body.blocks) != 1:
            return
        block = op.body.block
        if not any(_is_unknown(v) for inner in block for v in inner.results):
            return
        shapes = SymbolicShapes(block, names_of(op.attributes.get(INPUT_DIMS)))
        simplifier = _Simplifier(block, shapes)
        for inner in list(block):
            context.statistic("ops-simplified", simplifier.simplify(inner))
        update_signature(op)


def _is_unknown(value: Value) -> bool:
    return isinstance(value.type, TensorType) and not value.type.has_static_shape


class _Simplifier:
    """Rewrites the ops of one block, whose symbolic shapes are known."""

    def __init__(self, block: Block, shapes: SymbolicShapes) -> None:
        self.shapes = shapes
        self.arithmetic = ExtentArithmetic(shapes.sources(block.args))

    def simplify(self, op: Operation) -> int:
        """Simplify an op. Returns 1 if it was erased or reads less, else 0."""
        for result in op.results:
            self.refine(result)
        match op:
            case nn.ShapeOf() if not isinstance(op.x, BlockArgument):
                return self.from_arguments(op.out)
            case nn.Where() if is_short(op.out.type):
                return self.from_arguments(op.out)
            case nn.ReshapeDynamic() | nn.Reshape():
                return self.reshape(op)
            case nn.BroadcastDynamic():
                return self.replace(op, op.x) if self.same(op.x, op.out) else 0
            case nn.Matmul():
                return self.product_before_flattening(op)
        return self.elementwise(op) if op.has_trait(Broadcasting) else 0

    def refine(self, result: Value) -> None:
        """Write extents that are known numbers into a result's type."""
        if _is_unknown(result) and all(isinstance(u, nn.NnOp | Return) for u in result.users):
            result.type = TensorType(_dims(self.shapes.of(result)), element_of(result))

    def same(self, a: Value, b: Value) -> bool:
        return self.shapes.of(a) == self.shapes.of(b)

    def replace(self, op: Operation, value: Value) -> int:
        """Replace an op's result by a value of the same extents. Returns 1."""
        op.replace_with(value)
        return 1

    def insert(self, before: Operation, made: Any, shape: Shape) -> Value:
        """Insert an op whose result has these extents."""
        result = Builder.before_op(before).insert(made).results[0]
        self.shapes.remember(result, shape)
        return result

    # -- reshapes ------------------------------------------------------------------------------

    def reshape(self, op: Any) -> int:
        """Replace a reshape by an earlier value of its shape, or make it read an earlier one."""
        wanted = self.shapes.of(op.out)
        found: Value | None = None
        type = TensorType(_dims(wanted), element_of(op.out))
        for source in _sources(op):
            if self.shapes.of(source) == wanted and _dims(wanted) == shape_of(source):
                return self.replace(op, source)
            if self.says(source, type, wanted):
                found = source
        if found is None or (isinstance(op, nn.Reshape) and found is op.x):
            return 0
        made = self.insert(op, nn.Reshape(found, out=type, loc=op.loc), wanted)
        made.name_hint = op.out.name_hint
        return self.replace(op, made)

    def says(self, source: Value, type: TensorType, wanted: Shape) -> bool:
        """Whether a reshape of `source` to `type` gives the wanted extents in place of its `?`."""
        if not is_reshape(shape_of(source), type.shape):
            return False
        return reshaped(self.shapes, source, type.shape) == wanted

    def product_before_flattening(self, op: nn.Matmul) -> int:
        """matmul(flatten(x), w) -> flatten(matmul(x, w)), so that rows keep their extents"""
        x = self.flattened(op.lhs)
        if x is None or len(shape_of(op.rhs)) != 2:
            return 0
        rows = self.shapes.of(x)[:-1]
        return self.flatten_after(op, [x, op.rhs], (*rows, *self.shapes.of(op.rhs)[1:]))

    def elementwise(self, op: Any) -> int:
        """Remove broadcasts of an elementwise op's operands, or move reshapes behind it."""
        return self.not_repeated(op) or self.before_flattening(op)

    def not_repeated(self, op: Operation) -> int:
        """add(broadcast(x, shape), y) -> add(x, y) where y has the shape of the result"""
        count = 0
        for i, value in enumerate(op.operands):
            wide = value.defining_op
            match wide:
                case nn.BroadcastDynamic() | nn.BroadcastTo():
                    narrow = wide.x
                case nn.FillDynamic():
                    narrow = wide.value
                case _:
                    continue
            if not _is_unknown(value):
                continue
            operands = [narrow if j == i else v for j, v in enumerate(op.operands)]
            if self.broadcast(operands) == self.shapes.of(op.results[0]):
                op.set_operand(i, narrow)
                count = 1
        return count

    def broadcast(self, values: Sequence[Value]) -> tuple[Size | None, ...]:
        """The shape to which the values broadcast; None for extents that are not known."""
        shapes = [self.shapes.of(v) for v in values]
        rank = max(map(len, shapes))
        padded = [(1,) * (rank - len(shape)) + shape for shape in shapes]
        return tuple(self.shapes.joined(sizes) for sizes in zip(*padded, strict=True))

    def before_flattening(self, op: Operation) -> int:
        """add(flatten(x), c) -> flatten(add(x, c)), where c is a row or a number"""
        found = [self.flattened(v) for v in op.operands]
        rows = [x for x in found if x is not None]
        if not rows or any(not self.same(x, rows[0]) for x in rows):
            return 0
        operands = []
        for value, x in zip(op.operands, found, strict=True):
            if x is None and len(shape_of(value)) > 1:
                return 0
            operands.append(value if x is None else x)
        shape = self.shapes.of(rows[0])
        return self.flatten_after(op, operands, shape) if self.broadcast(operands) == shape else 0

    def flattened(self, value: Value) -> Value | None:
        """The tensor of which a matrix is the flattened form, if several leading extents are
        unknown.
        """
        view = value.defined_by(nn.Reshape)
        if view is None or len(shape_of(value)) != 2 or shape_of(value)[0] is not None:
            return None
        columns, own = shape_of(value)[1], shape_of(view.x)
        rank = max((axis for axis, d in enumerate(own) if d is None), default=0) + 1
        if own[:rank].count(None) < 2 or None in (columns, *own[rank:]):
            return None
        if prod(own[rank:]) != columns:
            return None
        if own[rank:] == (columns,):
            return view.x
        shape = (*self.shapes.of(view.x)[:rank], columns)
        type = TensorType(_dims(shape), element_of(value))
        return self.insert(view, nn.Reshape(view.x, out=type, loc=view.loc), shape)

    def flatten_after(self, op: Operation, operands: list[Value], shape: Shape) -> int:
        result = op.results[0]
        type = TensorType(_dims(shape), element_of(result))
        inner = on_operands(op, operands, type)
        made = self.insert(op, inner, shape)
        made.name_hint = result.name_hint
        view = nn.Reshape(made, out=result.type, loc=op.loc)
        return self.replace(op, self.insert(op, view, self.shapes.of(result)))

    # -- extents -------------------------------------------------------------------------------

    def from_arguments(self, value: Value) -> int:
        """Compute extents of an intermediate result from those of the arguments.
        Returns 1 if done.
        """
        sizes, op = self.shapes.elements(value), value.defining_op
        if not sizes or op is None or element_of(value) is not i64 or len(shape_of(value)) != 1:
            return 0
        if not all(map(self.arithmetic.is_computable, sizes)):
            return 0
        return self.replace(op, self.arithmetic.vector(Builder.before_op(op), sizes))  # type: ignore[arg-type]


def _dims(shape: Shape) -> tuple[int | None, ...]:
    return tuple(d if isinstance(d, int) else None for d in shape)


def _sources(op: Any) -> list[Value]:
    """The values with the same elements as a reshape: its operand, the operand of
    that, and so on.
    """
    found = [op.x]
    while isinstance(view := found[-1].defining_op, nn.Reshape | nn.ReshapeDynamic):
        found.append(view.x)
    return found
