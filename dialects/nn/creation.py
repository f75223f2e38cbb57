"""Tensors that are made of attributes, shapes and scalars only."""

from __future__ import annotations

import math

from ..vocabulary import *
from .base import NnOp, shape_operand_length, tensor

ELEMENTS = AttrKind(
    "elements of a tensor, dense or dense_resource",
    lambda a: isinstance(a, DenseElements | DenseResource) and isinstance(a.type, TensorType),
    lambda a: a,
    lambda a: a,
)


class Constant(NnOp, name="nn.constant", traits=(ConstantLike,)):
    """The tensor that the attribute holds. Source: ONNX Constant-25."""

    value: DenseElements | DenseResource = attribute(ELEMENTS)
    out: Result = result(AnyRankedTensor)

    format = "attr-dict $value"
    example = "%c = nn.constant dense<[1.0, 2.0]> : tensor<2xf32>"

    @classmethod
    def infer(cls, types, attrs):
        return [attrs.value.type]

    def evaluate(self):
        return self.value.to_numpy()


def materialize_constant(value: Attribute, type: Type, loc: Location) -> Constant | None:
    """A constant op for the elements that folding found; None if they are not those of a tensor."""
    if isinstance(value, DenseElements | DenseResource) and isinstance(type, TensorType):
        return Constant(value, loc=loc)
    return None


registry.dialect("nn").materialize_constant = materialize_constant


class ShapeOf(NnOp, name="nn.shape_of"):
    """The extents of the operand as a 1-D tensor. Source: ONNX Shape-25."""

    x: Operand = operand(AnyRankedTensor)
    out: Result = result(AnyRankedTensor)

    example = "%s = nn.shape_of %x : (tensor<?x8xf32>) -> tensor<2xi64>"

    @classmethod
    def infer(cls, types, attrs):
        return [tensor((types[0].rank,), i64)]

    def evaluate(self, x):
        return np.array(x.shape, np.int64)

    def fold(self):
        shape = self.x.type.shape
        if None in shape:
            return None
        return [DenseElements.from_list(shape, self.out.type)]


class Fill(NnOp, name="nn.fill"):
    """A tensor of the result's shape, every element the 0-d operand."""

    value: Operand = operand(AnyRankedTensor)
    out: Result = result(AnyRankedTensor)

    example = "%y = nn.fill %v : (tensor<f32>) -> tensor<4x8xf32>"

    @classmethod
    def infer(cls, types, attrs):
        return None

    @classmethod
    def comprehend(cls, types, attrs, results=()):
        (out,) = results
        return cls.bind("out[i..] = value[]", types, attrs, {"i": out.shape})

    def check(self) -> None:
        value, out = self.value.type, self.out.type
        if value.rank or value.element_type is not out.element_type:
            raise NncError(f"cannot fill '{out}' with '{value}'")
        if not out.has_static_shape:
            raise NncError(f"the shape of '{out}' is not known; use nn.fill_dynamic")


class FillDynamic(NnOp, name="nn.fill_dynamic"):
    """A tensor of the shape given at run time, every element the 0-d operand.

    Source: ONNX ConstantOfShape-25.
    """

    shape: Operand = operand(AnyRankedTensor)
    value: Operand = operand(AnyRankedTensor)
    out: Result = result(AnyRankedTensor)

    example = "%y = nn.fill_dynamic %shape, %v : (tensor<2xi64>, tensor<f32>) -> tensor<?x?xf32>"

    @classmethod
    def infer(cls, types, attrs):
        shape, value = types
        rank = shape_operand_length(shape, "shape")
        if rank is None:
            raise NncError("shape must have a known length")
        if value.rank:
            raise NncError(f"value must have rank 0, but got '{value}'")
        return [tensor([None] * rank, value.element_type)]

    def evaluate(self, shape, value):
        return np.full([int(d) for d in shape], value.reshape(())[()], value.dtype)


class Range(NnOp, name="nn.range"):
    """The 1-D tensor start, start + delta, .., up to but without limit. Source: ONNX Range-11.

    Shapes: start [], limit [], delta [] -> out [?].
    """

    start: Operand = operand(AnyRankedTensor)
    limit: Operand = operand(AnyRankedTensor)
    delta: Operand = operand(AnyRankedTensor)
    out: Result = result(AnyRankedTensor)

    example = "%y = nn.range %a, %b, %c : (tensor<i64>, tensor<i64>, tensor<i64>) -> tensor<?xi64>"

    @classmethod
    def infer(cls, types, attrs):
        for type in types:
            if type.rank or type.element_type is not types[0].element_type:
                raise NncError(f"operands must be 0-d tensors of one type, but got '{type}'")
        return [tensor((None,), types[0].element_type)]

    def evaluate(self, start, limit, delta):

        first, last, step = (a.reshape(())[()].item() for a in (start, limit, delta))
        if step == 0:
            raise self.error("delta must not be 0")
        count = max(math.ceil((last - first) / step), 0)
        return (first + np.arange(count) * step).astype(start.dtype)
