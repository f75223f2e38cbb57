"""Elementwise operators, and activations."""

from __future__ import annotations

from collections.abc import Callable
from functools import reduce
from typing import Any

from ....dialects import nn
from ....ir.core import Value
from ....ir.types import ComplexType, IntegerType, f32, i64
from ...common import tensorflow as tf
from ...common.bits import bits_as
from ...common.complexes import Pair
from ...common.formulas import divide_no_nan, isfinite, nextafter, trunc
from ...common.gathering import gathered_elements
from ...common.reductions import reduced
from ...common.shapes import as_i64, reshape
from ...common.terms import Term, extent
from ..complexes import complex_of, or_complex
from ..layer import TfLayer, rows
from ..lists import TensorList


def unary(op: Any) -> Callable[..., Any]:
    """A converter to an op of one operand."""
    return or_complex(lambda n, x: n(op(x)))


def binary(op: Any) -> Callable[..., Any]:
    """A converter to an op of two operands that broadcast."""
    return or_complex(lambda n, x, y: n(op(x, y)))


def formula(make: Callable[..., Term]) -> Callable[..., Any]:
    """A converter to a formula of one or two terms."""
    return or_complex(lambda n, *xs: make(*(Term(n, x) for x in xs)).value)


rows.add({name: unary(getattr(nn, name)) for name in (
    "Abs", "Log", "Rsqrt", "Reciprocal", "Ceil", "Floor", "Sign", "Sin", "Cos",
    "Tan", "Asin", "Acos", "Atan", "Sinh", "Cosh", "Asinh", "Acosh", "Atanh", "Erf", "Erfc", "Tanh",
    "Exp", "Expm1", "Log1p", "Sqrt", "Sigmoid", "Neg", "Relu", "Softplus", "Softsign",
)} | {name: unary(op) for name, op in {
    "Inv": nn.Reciprocal, "Rint": nn.Round, "LogicalNot": nn.Not,
    "Invert": nn.Not, "IsNan": nn.IsNan, "IsInf": nn.IsInf,
}.items()})  # fmt: skip

rows.add({name: binary(op) for name, op in {
    "Add": nn.Add, "AddV2": nn.Add, "Sub": nn.Sub, "Mul": nn.Mul, "RealDiv": nn.Div,
    "Div": nn.Div, "FloorMod": nn.Mod, "Pow": nn.Pow, "Minimum": nn.Min,
    "Maximum": nn.Max, "Equal": nn.Equal, "Less": nn.Less, "LessEqual": nn.LessEqual,
    "Greater": nn.Greater, "GreaterEqual": nn.GreaterEqual, "LogicalAnd": nn.And,
    "LogicalOr": nn.Or, "LogicalXor": nn.Xor, "BitwiseAnd": nn.And, "BitwiseOr": nn.Or,
    "BitwiseXor": nn.Xor,
}.items()})  # fmt: skip

rows.add({
    "Square": formula(lambda x: x * x),
    "SquaredDifference": formula(lambda x, y: (x - y) * (x - y)),
    "NotEqual": formula(lambda x, y: ~x.equals(y)),
    "Relu6": formula(lambda x: x.max(0).min(6)),
    "IsFinite": formula(isfinite),
    "DivNoNan": formula(divide_no_nan),
    "MulNoNan": formula(lambda x, y: y.equals(0).choose(0, x * y)),
    "Xdivy": formula(lambda x, y: x.equals(0).choose(0, x / y)),
    "NextAfter": formula(nextafter),
    "Xlogy": formula(lambda x, y: x.equals(0).choose(0, x * y.function(nn.Log))),
    "Xlog1py": formula(lambda x, y: x.equals(0).choose(0, x * y.function(nn.Log1p))),
})  # fmt: skip

rows.add({
    "FloorDiv": tf.floor_div,
    "Atan2": tf.atan2,
    "LeakyRelu": lambda n, x: n(nn.LeakyRelu(x, alpha=n.float("alpha", 0.2))),
    "Elu": lambda n, x: n(nn.Elu(x, alpha=1.0)),
    "Softmax": lambda n, x: n(nn.Softmax(x, axis=x.type.rank - 1)),
    "LogSoftmax": lambda n, x: n(nn.LogSoftmax(x, axis=x.type.rank - 1)),
    "SelectV2": lambda n, condition, yes, no: n(nn.Where(condition, yes, no)),
    "Select": tf.select_rows,
})  # fmt: skip


@rows("LeftShift", "RightShift")
def shifted(n: TfLayer, x: Value, by: Value) -> Value:
    """x shifted by a number of bits that is limited to the element's width, as in TensorFlow."""
    op = nn.ShiftLeft if n.kind == "LeftShift" else nn.ShiftRight
    steps, element = Term(n, by), x.type.element_type
    assert isinstance(element, IntegerType)
    return n(op(x, steps.max(0).min(element.width - 1).value))


@rows("Round")
def rounded(n: TfLayer, x: Value) -> Value:
    if isinstance(x.type.element_type, IntegerType):
        raise n.error("what integers become differs between TensorFlow's versions")
    return n(nn.Round(x))


@rows("TruncateDiv")
def truncated_quotient(n: TfLayer, x: Value, y: Value) -> Value:
    if isinstance(x.type.element_type, IntegerType):
        return n(nn.Div(x, tf.divisor(n, y)))
    return trunc(Term(n, x) / Term(n, y)).value


@rows("Cast")
def cast(n: TfLayer, x: Any) -> Any:
    """A cast; to complex numbers with imaginary part 0, and from them by the real part."""
    element = n.element("DstT")
    if isinstance(element, ComplexType):
        return complex_of(n, x if isinstance(x, Pair) else n.cast(x, element.element_type))
    return n.cast(x.real if isinstance(x, Pair) else x, element)


@rows("Mod", "TruncateMod")
def truncated_mod(n: TfLayer, x: Value, y: Value) -> Value:
    return n(nn.Mod(x, y, fmod=True))


@rows("AddN", "AccumulateNV2")
def add_all(n: TfLayer, *inputs: Any) -> Any:
    if all(isinstance(v, TensorList) for v in inputs):
        return reduce(lambda a, b: a.added(n, b), inputs)
    return reduce(lambda a, b: n(nn.Add(a, b)), inputs)


@rows("BiasAdd", "BiasAddV1")
def bias_add(n: TfLayer, x: Value, bias: Value) -> Value:
    if n.nhwc(x):
        return n(nn.Add(x, bias))
    return n(nn.Add(x, reshape(n, bias, [(bias, 0), *[1] * (x.type.rank - 2)])))


@rows("ClipByValue")
def clip(n: TfLayer, x: Value, low: Value, high: Value) -> Value:
    """x clipped; `low` where it is above `high`; a NaN limit is ignored."""
    limits = n.known(low), n.known(high)
    scalars = low.type.rank == high.type.rank == 0
    if scalars and None not in limits and limits[0] <= limits[1]:  # type: ignore[operator]
        return n(nn.Clip(x, low, high))
    below, above = (Term(n, v) for v in (low, high))
    limited = (Term(n, x) > above).choose(above, Term(n, x))
    return (limited < below).choose(below, limited).value


@rows("Bitcast")
def bitcast(n: TfLayer, x: Value) -> Value:
    return bits_as(n, x, n.element("type"))


@rows("L2Loss")
def l2_loss(n: TfLayer, x: Value) -> Value:
    half = reduced(n, x, nn.ReduceSumSquare, tuple(range(x.type.rank)))
    return n(nn.Mul(half, n.scalar(0.5, half)))


# -- quantization in numbers that stay real --------------------------------------------------------


@rows("FakeQuantWithMinMaxArgs", "FakeQuantWithMinMaxVars", "FakeQuantWithMinMaxVarsPerChannel")
def fake_quant(n: TfLayer, x: Value, low: Value | None = None, high: Value | None = None) -> Value:
    if low is None or high is None:
        low = n.constant(n.float("min", -6.0), f32)
        high = n.constant(n.float("max", 6.0), f32)
    return tf.fake_quant(n, x, low, high, n.int("num_bits", 8), n.flag("narrow_range"))


@rows("Bucketize")
def bucketize(n: TfLayer, x: Value) -> Value:
    found = n.attributes.get("boundaries")
    return tf.bucketize(n, x, found.list.f if found is not None and found.list else ())


@rows("ApproximateEqual")
def nearly_equal(n: TfLayer, x: Value, y: Value) -> Value:
    apart = (Term(n, x) - Term(n, y)).function(nn.Abs)
    return (apart <= n.float("tolerance", 1e-5)).value


@rows("InTopK", "InTopKV2")
def in_top_k(n: TfLayer, scores: Value, targets: Value, k: Value | None = None) -> Value:
    """Whether fewer than k scores of a row exceed the target's, which must be finite."""
    if k is None:
        k = n.constant(n.int("k"), i64)
    target, count = Term(n, as_i64(n, targets)), extent(n, (scores, 1))
    inside = (target >= 0) & (target < count)
    index = inside.choose(target, 0).spread(0, 1)
    own = Term(n, gathered_elements(n, scores, index.value, 1))
    above = (Term(n, scores) > own).cast(k.type.element_type).sum(1)
    is_finite = (own - own).equals(0).column(0)
    return (Term(n, n(nn.Less(above.value, k))) & inside & is_finite).value
