"""Operations of `keras.ops` in functional models, and the few of TensorFlow in those of Keras 2."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from ....dialects import nn
from ....ir.core import Value
from ....ir.types import FloatType, Type, f32, i1, i32, i64
from ...common.activations import clipped
from ...common.einsum import einsum
from ...common.reductions import largest, reduced, variance
from ...common.shapes import normalize_axes, normalize_axis
from ...common.terms import Term
from ..functions import FUNCTIONS, gelu, glu, hard_shrink, log_softmax, soft_shrink, softmax
from ..layer import ROWS, KerasLayer, called, element_type, layer

Function = Callable[[KerasLayer], Any]


def add(table: dict[str, Function]) -> None:
    """Register operations."""
    ROWS.add({kind: called(function) for kind, function in table.items()})


# -- elements --------------------------------------------------------------------------------------


def pair(n: KerasLayer, a: Any, b: Any) -> tuple[Term, Term]:
    """Two operands in one element type; numbers and arrays take that of the tensor."""
    elements = [v.type.element_type for v in (a, b) if isinstance(v, Value)]
    if len(elements) == 2:
        floats = [e for e in elements if isinstance(e, FloatType)]
        wide = max(floats or elements, key=lambda e: e.width)
    else:
        (wide,) = elements or [f32]
        given = np.asarray(b if isinstance(a, Value) else a)
        if given.dtype.kind == "f" and not isinstance(wide, FloatType):
            wide = f32
    return operand(n, a, wide), operand(n, b, wide)


def operand(n: KerasLayer, value: Any, element: Type) -> Term:
    """A tensor, number or array in an element type."""
    if isinstance(value, Value):
        return Term(n, n.cast(value, element))
    try:
        return Term(n, n.constant(np.asarray(value), element))
    except (TypeError, ValueError):
        raise n.error(f"an argument is {value!r}, expected a tensor or numbers") from None


def two(n: KerasLayer) -> tuple[Term, Term]:
    """The two operands of a call."""
    names = [name for name in n.attributes.kwargs if name not in ("name", "dtype")]
    given = [*n.args, *(n.keyword(name) for name in names)][:2]
    if len(given) != 2:
        raise n.error("it is called with one operand, expected two")
    return pair(n, *given)


def binary(op: Callable[[Value, Value], Any]) -> Function:
    """An op of two operands."""

    def convert(n: KerasLayer) -> Value:
        a, b = two(n)
        return n(op(a.value, b.value))

    return convert


def unary(op: Callable[[Value], Any]) -> Function:
    """An op of one operand."""
    return lambda n: n(op(floating(n, n.tensor())))


def floating(n: KerasLayer, x: Value) -> Value:
    """x as floats."""
    return x if isinstance(x.type.element_type, FloatType) else n.cast(x, f32)


def formula(function: Callable[[Term], Term]) -> Function:
    """A formula of one operand."""
    return lambda n: function(Term(n, floating(n, n.tensor()))).value


def divided(n: KerasLayer) -> Value:
    """A quotient of floats."""
    a, b = two(n)
    return n(nn.Div(floating(n, a.value), floating(n, b.value)))


def floor_divided(n: KerasLayer) -> Value:
    """A quotient, rounded down."""
    a, b = two(n)
    if isinstance(a.element, FloatType):
        return (a / b).function(nn.Floor).value
    return ((a - a % b) / b).value


def unequal(n: KerasLayer) -> Value:
    """Whether operands differ."""
    a, b = two(n)
    return (~a.equals(b)).value


def logical(op: Callable[[Value, Value], Any]) -> Function:
    """Of truth values."""

    def convert(n: KerasLayer) -> Value:
        a, b = (_truth(n, operand(n, v, _element(v))) for v in n.args[:2])
        return n(op(a.value, b.value))

    return convert


def _element(value: Any) -> Type:
    return value.type.element_type if isinstance(value, Value) else i1


def _truth(n: KerasLayer, x: Term) -> Term:
    return x if x.element is i1 else ~x.equals(0)


_BINARY = {
    "Add": nn.Add, "Subtract": nn.Sub, "Multiply": nn.Mul, "Maximum": nn.Max, "Minimum": nn.Min,
    "Power": nn.Pow, "Mod": nn.Mod, "Equal": nn.Equal, "Greater": nn.Greater,
    "GreaterEqual": nn.GreaterEqual, "Less": nn.Less, "LessEqual": nn.LessEqual,
}  # fmt: skip
_UNARY = {
    "Exp": nn.Exp, "Log": nn.Log, "Sqrt": nn.Sqrt, "Rsqrt": nn.Rsqrt, "Sin": nn.Sin, "Cos": nn.Cos,
    "Tan": nn.Tan, "Sinh": nn.Sinh, "Cosh": nn.Cosh, "Tanh": nn.Tanh, "Arcsin": nn.Asin,
    "Arccos": nn.Acos, "Arctan": nn.Atan, "Arcsinh": nn.Asinh, "Arccosh": nn.Acosh,
    "Arctanh": nn.Atanh, "Erf": nn.Erf, "Floor": nn.Floor, "Ceil": nn.Ceil,
    "Reciprocal": nn.Reciprocal, "Isnan": nn.IsNan, "Isinf": nn.IsInf,
}  # fmt: skip
_KEEPING = {"Absolute": nn.Abs, "Abs": nn.Abs, "Negative": nn.Neg, "Sign": nn.Sign}
_ACTIVATIONS = {
    "Relu": "relu", "Relu6": "relu6", "Sigmoid": "sigmoid", "Softplus": "softplus",
    "Softsign": "softsign", "Silu": "silu", "LogSigmoid": "log_sigmoid", "Selu": "selu",
    "HardSigmoid": "hard_sigmoid", "HardSilu": "hard_silu", "HardTanh": "hard_tanh",
    "TanhShrink": "tanh_shrink", "SparsePlus": "sparse_plus", "SparseSigmoid": "sparse_sigmoid",
    "Squareplus": "squareplus",
}  # fmt: skip

add({f"ops.{kind}": binary(op) for kind, op in _BINARY.items()})
add({f"ops.{kind}": unary(op) for kind, op in _UNARY.items()})
add({f"ops.{kind}": lambda n, op=op: n(op(n.tensor())) for kind, op in _KEEPING.items()})
add(
    {
        f"ops.{kind}": lambda n, name=name: FUNCTIONS[name](n, n.tensor())
        for kind, name in _ACTIVATIONS.items()
    }
)
add(
    {
        "ops.Divide": divided,
        "ops.TrueDivide": divided,
        "ops.FloorDivide": floor_divided,
        "ops.NotEqual": unequal,
        "ops.LogicalAnd": logical(nn.And),
        "ops.LogicalOr": logical(nn.Or),
        "ops.LogicalXor": logical(nn.Xor),
        "ops.LogicalNot": lambda n: (~_truth(n, Term(n, n.tensor()))).value,
        "ops.Square": lambda n: n(nn.Mul(n.tensor(), n.tensor())),
        "ops.Log1p": formula(lambda x: (x + 1.0).function(nn.Log)),
        "ops.Log2": formula(lambda x: x.function(nn.Log) * (1 / np.log(2.0))),
        "ops.Log10": formula(lambda x: x.function(nn.Log) * (1 / np.log(10.0))),
        "ops.Expm1": formula(lambda x: x.function(nn.Exp) - 1.0),
        "ops.Elu": lambda n: n(nn.Elu(n.tensor(), alpha=float(n.argument(1, "alpha", 1.0)))),
        "ops.Celu": lambda n: n(nn.Celu(n.tensor(), alpha=float(n.argument(1, "alpha", 1.0)))),
        "ops.LeakyRelu": lambda n: n(
            nn.LeakyRelu(n.tensor(), alpha=float(n.argument(1, "negative_slope", 0.2)))
        ),
        "ops.Gelu": lambda n: gelu(n, n.tensor(), bool(n.argument(1, "approximate", True))),
        "ops.Glu": lambda n: glu(n, n.tensor(), int(n.argument(1, "axis", -1))),
        "ops.HardShrink": lambda n: hard_shrink(n, n.tensor(), n.number("threshold", 0.5)),
        "ops.SoftShrink": lambda n: soft_shrink(n, n.tensor(), n.number("threshold", 0.5)),
        "ops.LogSoftmax": lambda n: log_softmax(n, n.tensor(), int(n.argument(1, "axis", -1))),
        "ops.Clip": lambda n: clipped(
            n, n.tensor(), n.argument(1, "x_min"), n.argument(2, "x_max")
        ),
        "ops.Erfc": formula(lambda x: 1.0 - x.function(nn.Erf)),
    }
)


@layer("ops.Softmax")
def softmax_operation(n: KerasLayer) -> Value:
    axis = n.argument(1, "axis", -1)
    return softmax(n, n.tensor(), list(axis) if isinstance(axis, list | tuple) else axis, None)


@layer("ops.Round")
def rounded(n: KerasLayer) -> Value:
    x, decimals = n.tensor(), int(n.argument(1, "decimals", 0))
    if not decimals:
        return n(nn.Round(x))
    return ((Term(n, x) * 10.0**decimals).function(nn.Round) / 10.0**decimals).value


@layer("ops.Cast", "ops.SaturateCast", "tf.cast")
def cast(n: KerasLayer) -> Value:
    name = n.argument(1, "dtype")
    element = element_type(name)
    if element is None:
        raise n.error(f"elements of type '{name}' are not supported")
    return n.cast(n.tensor(), element)


@layer("ops.Where", "tf.where")
def where(n: KerasLayer) -> Value:
    condition, yes, no = n.argument(0, "condition"), n.argument(1, "x1"), n.argument(2, "x2")
    if not isinstance(condition, Value):
        raise n.error("it is not called with a condition")
    a, b = pair(n, yes, no)
    return _truth(n, Term(n, condition)).choose(a, b).value


# -- reductions ------------------------------------------------------------------------------------


def axes_of(n: KerasLayer, x: Value, given: Any) -> tuple[int, ...]:
    """The axes of an argument; all where it is None."""
    if given is None:
        return tuple(range(x.type.rank))
    listed = list(given) if isinstance(given, list | tuple) else [given]
    if not all(isinstance(axis, int) for axis in listed):
        raise n.error(f"'axis' is {given!r}, expected integers")
    return tuple(sorted(normalize_axes(n, listed, x.type.rank)))


def reduction(op: Any, floats: bool = False) -> Function:
    """An op that reduces along axes."""

    def convert(n: KerasLayer) -> Value:
        x = n.tensor()
        axes, keep = axes_of(n, x, n.argument(1, "axis")), bool(n.argument(2, "keepdims", False))
        return reduced(n, floating(n, x) if floats else x, op, axes, keep)

    return convert


def spread(root: bool) -> Function:
    """The variance, or its root."""

    def convert(n: KerasLayer) -> Value:
        x = floating(n, n.tensor())
        keep = bool(n.argument(2, "keepdims", False))
        found, _ = variance(n, x, axes_of(n, x, n.argument(1, "axis")), keep)
        return n(nn.Sqrt(found)) if root else found

    return convert


def arg_extreme(op: Any) -> Function:
    """Where the largest or smallest element is."""

    def convert(n: KerasLayer) -> Value:
        x, axis = n.tensor(), n.argument(1, "axis")
        if axis is None:
            x, axis = Term(n, x).flat().value, 0
        keep = bool(n.argument(2, "keepdims", False))
        found = n(op(x, axis=normalize_axis(n, axis, x.type.rank), keep_dims=keep))
        return n.cast(found, i32)

    return convert


def truths(op: Any) -> Function:
    """Whether all or some elements are true."""

    def convert(n: KerasLayer) -> Value:
        x = _truth(n, Term(n, n.tensor())).value
        keep = bool(n.argument(2, "keepdims", False))
        return reduced(n, x, op, axes_of(n, x, n.argument(1, "axis")), keep)

    return convert


def running(op: Any) -> Function:
    """Sums or products of all elements up to each."""

    def convert(n: KerasLayer) -> Value:
        x, axis = n.tensor(), n.argument(1, "axis")
        if axis is None:
            x, axis = Term(n, x).flat().value, 0
        return n(op(x, axis=normalize_axis(n, axis, x.type.rank)))

    return convert


add(
    {
        "ops.Mean": reduction(nn.ReduceMean, floats=True),
        "ops.Sum": reduction(nn.ReduceSum),
        "ops.Prod": reduction(nn.ReduceProd),
        "ops.Max": reduction(nn.ReduceMax),
        "ops.Amax": reduction(nn.ReduceMax),
        "ops.Min": reduction(nn.ReduceMin),
        "ops.Amin": reduction(nn.ReduceMin),
        "ops.Logsumexp": reduction(nn.ReduceLogSumExp, floats=True),
        "ops.Var": spread(root=False),
        "ops.Std": spread(root=True),
        "ops.Argmax": arg_extreme(nn.Argmax),
        "ops.Argmin": arg_extreme(nn.Argmin),
        "ops.All": truths(nn.ReduceMin),
        "ops.Any": truths(nn.ReduceMax),
        "ops.Cumsum": running(nn.Cumsum),
        "ops.Cumprod": running(nn.Cumprod),
    }
)


@layer("ops.Norm")
def norm(n: KerasLayer) -> Value:
    x, order = n.tensor(), n.argument(1, "ord")
    ops = {None: nn.ReduceL2, 2: nn.ReduceL2, 1: nn.ReduceL1}
    if order not in ops:
        raise n.error(f"'ord' is {order!r}, expected 1 or 2")
    axes = axes_of(n, x, n.argument(2, "axis"))
    return reduced(n, x, ops[order], axes, bool(n.argument(3, "keepdims", False)))


@layer("ops.Normalize")
def normalize(n: KerasLayer) -> Value:
    x = Term(n, n.tensor())
    if n.argument(2, "order", 2) != 2:
        raise n.error("'order' is not 2")
    axes, least = axes_of(n, x.value, n.argument(1, "axis", -1)), n.argument(3, "epsilon") or 1e-12
    square = (x * x).sum(*axes, keep=True)
    return (x * square.max(float(least) ** 2).function(nn.Rsqrt)).value


@layer("ops.TopK")
def top_k(n: KerasLayer) -> list[Value]:
    x = n.tensor()
    k = n.constant(int(n.argument(1, "k", 1)), i64)
    values, places = largest(n, x, k, x.type.rank - 1)
    return [values, n.cast(places, i32)]


# -- products --------------------------------------------------------------------------------------


@layer("ops.Einsum")
def einsum_operation(n: KerasLayer) -> Value:
    equation, *given = n.args
    if not isinstance(equation, str):
        equation, given = n.option("subscripts"), n.args
    return einsum(n, equation, [v for v in given if isinstance(v, Value)])


@layer("ops.Tensordot")
def tensordot(n: KerasLayer) -> Value:
    a, b = two(n)
    axes = n.argument(2, "axes", 2)
    if isinstance(axes, int):
        first, second = list(range(a.rank - axes, a.rank)), list(range(axes))
    else:
        first, second = ([x] if isinstance(x, int) else list(x) for x in axes)
    left, right = [chr(97 + i) for i in range(a.rank)], [chr(65 + i) for i in range(b.rank)]
    for i, j in zip(first, second, strict=True):
        right[j] = left[i]
    out = [c for c in left + right if (c in left) != (c in right)]
    equation = f"{''.join(left)},{''.join(right)}->{''.join(out)}"
    return einsum(n, equation, [a.value, b.value])


add({"ops.Matmul": binary(nn.Matmul), "ops.Dot": binary(nn.Matmul)})


# -- TensorFlow's in Keras 2 -----------------------------------------------------------------------


_TF_BINARY = {
    "math.add": nn.Add, "__operators__.add": nn.Add, "math.subtract": nn.Sub,
    "math.multiply": nn.Mul, "math.maximum": nn.Max, "math.minimum": nn.Min, "math.pow": nn.Pow,
    "math.equal": nn.Equal, "math.greater": nn.Greater, "math.less": nn.Less,
    "linalg.matmul": nn.Matmul,
}  # fmt: skip
_TF_UNARY = {
    "math.exp": nn.Exp, "math.log": nn.Log, "math.sqrt": nn.Sqrt, "math.rsqrt": nn.Rsqrt,
    "math.tanh": nn.Tanh, "math.sigmoid": nn.Sigmoid, "nn.sigmoid": nn.Sigmoid, "nn.relu": nn.Relu,
    "nn.tanh": nn.Tanh, "nn.elu": nn.Elu, "nn.selu": nn.Selu, "nn.softplus": nn.Softplus,
    "math.abs": nn.Abs, "math.negative": nn.Neg, "math.erf": nn.Erf, "math.floor": nn.Floor,
}  # fmt: skip
_TF_ACTIVATIONS = {"nn.silu": "silu", "nn.relu6": "relu6", "nn.leaky_relu": "leaky_relu"}


def tf_reduction(op: Any) -> Function:
    """A reduction by TensorFlow's names of arguments."""

    def convert(n: KerasLayer) -> Value:
        x = n.tensor()
        return reduced(n, x, op, axes_of(n, x, n.keyword("axis")), bool(n.keyword("keepdims")))

    return convert


add({f"tf.{kind}": binary(op) for kind, op in _TF_BINARY.items()})
add({f"tf.{kind}": unary(op) for kind, op in _TF_UNARY.items()})
add(
    {
        f"tf.{kind}": lambda n, name=name: FUNCTIONS[name](n, n.tensor())
        for kind, name in _TF_ACTIVATIONS.items()
    }
)
add(
    {
        "tf.math.divide": divided,
        "tf.math.truediv": divided,
        "tf.math.square": lambda n: n(nn.Mul(n.tensor(), n.tensor())),
        "tf.math.reduce_mean": tf_reduction(nn.ReduceMean),
        "tf.math.reduce_sum": tf_reduction(nn.ReduceSum),
        "tf.math.reduce_max": tf_reduction(nn.ReduceMax),
        "tf.math.reduce_min": tf_reduction(nn.ReduceMin),
        "tf.nn.softmax": lambda n: softmax(n, n.tensor(), int(n.keyword("axis") or -1), None),
        "tf.nn.gelu": lambda n: gelu(n, n.tensor(), bool(n.keyword("approximate"))),
        "tf.clip_by_value": lambda n: clipped(
            n, n.tensor(), n.keyword("clip_value_min"), n.keyword("clip_value_max")
        ),
    }
)
