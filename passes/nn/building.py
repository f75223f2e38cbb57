"""Helpers that build small pieces of nn graphs, for decompositions and simplifications."""

from __future__ import annotations

import math
import re
from collections.abc import Mapping, Sequence
from typing import Any

from ...dialects import nn
from ...dialects.marks import IMPLIED
from ...dialects.nn.traits import Arranging
from ...ir.attributes import DenseElements, UnitAttr
from ...ir.builder import Builder
from ...ir.core import Operation, OpT, Value
from ...ir.declare import ValueLike, as_value
from ...ir.rewriting import Rewriter
from ...ir.types import (
    Dim,
    FloatType,
    TensorType,
    Type,
    bf16,
    f16,
    f32,
    i64,
    is_told_by_count,
)

WIDE_FLOATS = ("f32", "f64")

OVER_NAN = "nn.over_nan"
"""The attribute of a maximum that may pass over NaN, which takes one instruction
instead of three.
"""

FLUSHES = "nn.flushes"
"""The attribute of an exponential that may be 0 where it would be less than 2**-125."""


def shape_of(value: ValueLike) -> tuple[Any, ...]:
    """The shape in the value's type; None for unknown extents."""
    return as_value(value).type.shape


def element_of(value: ValueLike) -> Type:
    """The element type of a tensor."""
    return as_value(value).type.element_type


def is_static(value: Value) -> bool:
    """Whether all extents of a tensor are known."""
    return isinstance(value.type, TensorType) and value.type.has_static_shape


def has_static_shapes(op: Operation) -> bool:
    """Whether all extents of an operation's operands and results are known."""
    return all(map(is_static, (*op.operands, *op.results)))


def on_operands(op: OpT, operands: Sequence[Value], type: Type) -> OpT:
    """A copy of an operation with other operands and one result of this type; it
    is not inserted.
    """
    return op.create(operands, [type], op.attributes, op.properties, loc=op.loc)


def changed(op: OpT, **fields: Any) -> OpT:
    """A copy of an operation in which the operands and attributes of these names are others; it is
    not inserted. None leaves an optional one out, and gives an attribute its default.
    """
    copy = op.create(op.operands, op.result_types, {}, op.properties)
    for name, value in fields.items():
        setattr(copy, name, value)
    return copy


Extent = int | Value
"""An extent: a number, or a tensor of one i64."""


def is_arranged_constant(value: Value) -> bool:
    """Whether a value is a constant, perhaps after reshapes, transposes and padding."""
    while (op := value.defining_op) is not None and op.has_trait(Arranging):
        value = op.operands[0]
    return value.defined_by(nn.Constant) is not None


def scalar(b: Builder, number: float, element: Type) -> Value:
    """A 0-d constant."""
    return b.insert(nn.Constant(DenseElements.splat(number, TensorType((), element)))).result


def integers(b: Builder, numbers: Sequence[int]) -> Value:
    """A 1-D constant of i64."""
    type = TensorType((len(numbers),), i64)
    return b.insert(nn.Constant(DenseElements.from_list(list(numbers), type))).result


def reshape(b: Builder, x: ValueLike, shape: Sequence[Dim]) -> Value:
    """x in this shape; x itself if it has the shape already."""
    x = as_value(x)
    out = TensorType(tuple(shape), element_of(x))
    return x if out is x.type else b.insert(nn.Reshape(x, out=out)).result


def extent(b: Builder, x: ValueLike, axis: int, times: int = 1, over: int = 1) -> Extent:
    """An extent of x, times `times`, divided by `over`."""
    known = shape_of(x)[axis]
    if known is not None:
        return known * times // over
    shape = b.insert(nn.ShapeOf(as_value(x)))
    found = b.insert(nn.Slice(shape, (axis,), out=TensorType((1,), i64))).result
    if times != 1:
        found = b.insert(nn.Mul(found, integers(b, [times]))).result
    return found if over == 1 else b.insert(nn.Div(found, integers(b, [over]))).result


def reshape_to(b: Builder, x: ValueLike, extents: Sequence[Extent]) -> Value:
    """x in a shape of which several extents may be known only at run time."""
    shape = tuple(n if isinstance(n, int) else None for n in extents)
    if is_told_by_count(shape):
        return reshape(b, x, shape)
    parts = [integers(b, [n]) if isinstance(n, int) else n for n in extents]
    out = TensorType(shape, element_of(x))
    return b.insert(nn.ReshapeDynamic(as_value(x), b.insert(nn.Concat(parts, 0)), out=out)).result


def arranged(b: Builder, x: Value, text: str, sizes: Mapping[str, int]) -> Value:
    """x with dimensions split and reordered as the text says, such as "(a b) c.. -> b c.. a".

    The names in parentheses split one dimension; `sizes` has the sizes of all of them but at most
    one. `c..` stands for all remaining dimensions, and a dimension 1 is dropped.
    """
    left, _, right = text.partition(" -> ")
    groups = re.findall(r"\(.*?\)|\S+", left)
    shape: list[int] = []
    places: dict[str, list[int]] = {}
    extents = list(shape_of(x))
    several = len(extents) - len(groups) + 1
    for group in groups:
        count = several if group.endswith("..") else 1
        own, extents = extents[:count], extents[count:]
        names = group.strip("()").split()
        if len(names) > 1:
            known = math.prod(sizes.get(name, 1) for name in names)
            own = [sizes.get(name, own[0] // known) for name in names]
        if group == "1":
            continue
        for i, name in enumerate(names):
            mine = own if len(names) == 1 else own[i : i + 1]
            places[name] = list(range(len(shape), len(shape) + len(mine)))
            shape += mine
    order = [place for name in right.split() for place in places[name]]
    return b.insert(nn.Transpose(reshape(b, x, shape), order)).result


def cast(b: Builder, x: ValueLike, element: Type) -> Value:
    """x converted to an element type; x itself if it has the type already.

    It must not be used for a cast that the model has: this one rounds to 16 bits only if the result
    is stored.
    """
    x = as_value(x)
    if element_of(x) is element:
        return x
    made = b.insert(nn.Cast(x, out=TensorType(shape_of(x), element)))
    types = (element, element_of(x))
    if (f16 in types or bf16 in types) and all(isinstance(type, FloatType) for type in types):
        made.attributes[IMPLIED] = UnitAttr()
    return made.result


def widen(b: Builder, x: ValueLike) -> Value:
    """x as f32 if its element type is a smaller float, so that sums stay precise."""
    element = element_of(x)
    small = isinstance(element, FloatType) and element.kind not in WIDE_FLOATS
    return cast(b, x, f32) if small else as_value(x)


def per_channel(b: Builder, parameter: ValueLike, rank: int) -> Value:
    """A parameter [C] as [C, 1..], which broadcasts to a tensor [N, C, D..] of this rank."""
    return reshape(b, parameter, (*shape_of(parameter), *(1,) * (rank - 2)))


def inverse_count(b: Builder, x: ValueLike, axes: Sequence[int]) -> Value:
    """1 / the number of elements along the axes: 0-d, of x's element type, a float."""
    extents = [shape_of(x)[axis] for axis in axes]
    element = element_of(x)
    if None not in extents:
        total = math.prod(extents)
        return scalar(b, 1 / total if total else math.nan, element)
    return b.insert(nn.Reciprocal(count(b, x, axes))).result


def count(b: Builder, x: ValueLike, axes: Sequence[int]) -> Value:
    """The number of elements along the axes: 0-d, of x's element type."""
    extents, element = [shape_of(x)[axis] for axis in axes], element_of(x)
    if None not in extents:
        known = element if isinstance(element, FloatType) else i64  # which no count exceeds
        return cast(b, scalar(b, math.prod(extents), known), element)
    shape = b.insert(nn.ShapeOf(as_value(x)))
    chosen = b.insert(nn.Gather(shape, integers(b, axes), axis=0))
    return cast(b, b.insert(nn.ReduceProd(chosen, (0,))).result, element)


def total(b: Builder, x: ValueLike, axes: Sequence[int]) -> Value:
    """The sum along the axes, which keep extent 1."""
    return b.insert(nn.ReduceSum(as_value(x), tuple(axes), True)).result


def largest(b: Builder, x: ValueLike, axes: Sequence[int]) -> Value:
    """The maximum along the axes, which keep extent 1; it may pass over NaN."""
    op = nn.ReduceMax(as_value(x), tuple(axes), True)
    op.attributes[OVER_NAN] = UnitAttr()
    return b.insert(op).result


def standardize(b: Builder, x: ValueLike, axes: Sequence[int], epsilon: float) -> Value:
    """x with mean 0 and variance 1 along the axes: (x - mean) / sqrt(mean((x -
    mean)²) + epsilon).
    """
    share = inverse_count(b, x, axes)
    mean = b(nn.Mul(total(b, x, axes), share))
    centered = b(nn.Sub(as_value(x), mean))
    squares = b(nn.ReduceSumSquare(centered, tuple(axes), True))
    variance = b(nn.Mul(squares, share))
    shifted = b(nn.Add(variance, scalar(b, epsilon, element_of(x))))
    return b(nn.Mul(centered, b(nn.Rsqrt(shifted)))).result


def axes_from(x: ValueLike, axis: int) -> tuple[int, ...]:
    """The axes from `axis` to the last."""
    return tuple(range(axis, len(shape_of(x))))


def finish(b: Rewriter, op: Operation, value: ValueLike) -> None:
    """Replace the op by a value, cast back to the result's element type if it was widened.

    The value gets the result's type, which users rely on; `infer-shapes` makes it more precise.
    """
    wanted = op.results[0].type
    out = cast(b, value, wanted.element_type)
    out.type = wanted
    b.replace(op, out)
