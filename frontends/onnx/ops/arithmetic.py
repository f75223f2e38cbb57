"""Arithmetic, comparison, logic and elementary functions, element by element."""

from __future__ import annotations

from functools import reduce
from operator import add

from onnx import TensorProto

from ....ir.conversions import ROUND_MODES
from ...common.vocabulary import *
from ..node import Node
from ..registry import add_rows, converter
from ..tensors import element_type

_BINARY = named(
    "Add Sub Mul Div Pow And Or Xor BitwiseAnd=And BitwiseOr=Or BitwiseXor=Xor Equal Less "
    "LessOrEqual=LessEqual Greater GreaterOrEqual=GreaterEqual"
)
_VARIADIC = named("Sum=Add Max Min")

add_rows(
    direct(
        "Neg Abs Exp Log Sqrt Reciprocal Ceil Floor Round Sign Sin Cos Tan Asin Acos Atan Sinh "
        "Cosh Asinh Acosh Atanh Erf Not BitwiseNot=Not IsNaN=IsNan IsInf Where"
    )
)


@converter(*_BINARY)
def binary(n: Node, lhs: Value, rhs: Value) -> Value:
    if n.opset < 7 and n.int("broadcast"):
        rhs = aligned_by_axis(n, lhs, rhs, n.int("axis") if n.has("axis") else None)
    if n.op_type == "Div":
        rhs = divisor(Term(n, rhs)).value
    return n(_BINARY[n.op_type](lhs, rhs))


@converter(*_VARIADIC)
def variadic(n: Node, *inputs: Value) -> Value:
    return reduce(lambda total, value: n(_VARIADIC[n.op_type](total, value)), inputs)


@converter("Mean")
def mean(n: Node, *inputs: Value) -> Value:
    total = reduce(add, (Term(n, value) for value in inputs))
    return (total / len(inputs) if len(inputs) > 1 else total).value


@converter("Mod")
def mod(n: Node, lhs: Value, rhs: Value) -> Value:
    return n(nn.Mod(lhs, divisor(Term(n, rhs)).value, fmod=bool(n.int("fmod"))))


@converter("BitShift")
def bit_shift(n: Node, x: Value, amount: Value) -> Value:
    direction = n.string("direction", choices=("LEFT", "RIGHT"))
    return n((nn.ShiftLeft if direction == "LEFT" else nn.ShiftRight)(x, amount))


@converter("Clip")
def clip_by_attributes(n: Node, x: Value) -> Value:
    low, high = n.float("min", -np.inf), n.float("max", np.inf)
    return n(nn.Clip(x, n.scalar(low, x), n.scalar(high, x)))


@converter("Clip", since=11)
def clip(n: Node, x: Value, low: Value | None = None, high: Value | None = None) -> Value:
    if low is None and high is None:
        return x
    least, most = limits_of(x.type.element_type)
    low = n.scalar(least, x) if low is None else as_scalar(n, low)
    high = n.scalar(most, x) if high is None else as_scalar(n, high)
    return n(nn.Clip(x, low, high))


@converter("Cast")
def cast_to_name(n: Node, x: Value) -> Value:
    name = n.string("to").upper()
    if name not in dict(TensorProto.DataType.items()):
        raise n.error(f"attribute 'to' is '{name}', which is not an element type")
    return _cast(n, x, element_type(TensorProto.DataType.Value(name)))


@converter("Cast", since=6)
def cast(n: Node, x: Value) -> Value:
    return _cast(n, x, element_type(n.int("to")))


@converter("CastLike")
def cast_like(n: Node, x: Value, like: Value) -> Value:
    return _cast(n, x, like.type.element_type)


def _cast(n: Node, x: Value, element: Type) -> Value:
    if element is nn.string or x.type.element_type is nn.string:
        return _cast_text(n, x, element)
    mode = n.string("round_mode", "up", choices=ROUND_MODES)
    is_small = isinstance(element, IntegerType) and 1 < element.width < 8
    if is_small and isinstance(x.type.element_type, FloatType):
        n.warn(f"fractions are lost in '{element}', which ONNX Runtime rounds to the nearest")
    return n.cast(x, element, bool(n.int("saturate", 1)), mode)


def _cast_text(n: Node, x: Value, element: Type) -> Value:
    """Numbers cast to text, or text to numbers."""
    if element is x.type.element_type:
        return x
    if element is nn.string:
        return n(nn.ToString(x))
    return n(nn.FromString(x, outs=[TensorType(x.type.shape, element)]))


@converter("BitCast")
def bit_cast(n: Node, x: Value) -> Value:
    element = element_type(n.int("to"))
    if element is x.type.element_type:
        return x
    if nn.bit_width(element) != nn.bit_width(x.type.element_type):
        raise n.error(f"{x.type.element_type} and {element} differ in size")
    return n(nn.Bitcast(x, out=TensorType(x.type.shape, element)))


@converter("Identity", any_rank=True)
def identity(n: Node, x: Value) -> list[Value]:
    return [x]


@converter("Dropout")
def dropout_for_inference(n: Node, x: Value) -> list:
    """x itself: before opset 12, the operator had no training mode."""
    mask = None
    if n.wants(1):
        # Before opset 10, the mask had the type of the data. ONNX Runtime has zeros in it.
        element = i1 if n.opset >= 10 else x.type.element_type
        zero = n.constant(0, element)
        mask = broadcast(n, zero, [(x, i) for i in range(x.type.rank)])
    return [x, mask]
