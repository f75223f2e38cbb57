"""Activation functions that have parameters."""

from __future__ import annotations

from ...common.vocabulary import *
from ..layer import AtenLayer
from ..rows import ROWS


@ROWS("aten.log_sigmoid_forward")
def log_sigmoid_forward(n: AtenLayer, self: Value) -> list:
    return [(-(-Term(n, self)).function(nn.Softplus)).value, None]


@ROWS("aten.gelu", batched="elements")
def gelu(n: AtenLayer, self: Value, approximate: str = "none") -> Value:
    return n(nn.Gelu(self, approximate=approximate))


def leaky(n: AtenLayer, x: Value, slope: float) -> Value:
    """x where it is positive, else slope * x; f64 takes several ops, as nn's slope is f32."""
    if x.type.element_type is f64:
        return (Term(n, x) > 0.0).choose(Term(n, x), Term(n, x) * slope).value
    return n(nn.LeakyRelu(x, alpha=slope))


@ROWS("aten.selu", batched="elements")
def selu(n: AtenLayer, self: Value) -> Value:
    return elu(n, self, 1.6732632423543772, 1.0507009873554805)


@ROWS("aten.hardsigmoid", batched="elements")
def hardsigmoid(n: AtenLayer, self: Value) -> Value:
    if self.type.element_type is f64:
        return ((Term(n, self) + 3.0).max(0.0).min(6.0) / 6.0).value
    return n(nn.HardSigmoid(self, alpha=1 / 6, beta=0.5))


@ROWS("aten.leaky_relu", batched="elements")
def leaky_relu(n: AtenLayer, self: Value, negative_slope: float = 0.01) -> Value:
    return leaky(n, self, negative_slope)


@ROWS("aten.rrelu")
def rrelu(n: AtenLayer, self: Value, lower=1 / 8, upper=1 / 3, training: bool = False) -> Value:
    if training:
        raise n.error("training is not supported: call model.eval() first")
    return leaky(n, self, (lower + upper) / 2)


@ROWS("aten.rrelu_with_noise_functional")
def rrelu_with_noise(
    n: AtenLayer, self: Value, noise: Value, lower=1 / 8, upper=1 / 3, training: bool = False
) -> list[Value]:
    """The result and the noise, which only training writes."""
    return [rrelu(n, self, lower, upper, training), noise]


@ROWS("aten.elu", batched="elements")
def elu(n: AtenLayer, self: Value, alpha=1.0, scale=1.0, input_scale=1.0) -> Value:
    def formula(x: Term) -> Term:
        negative = (x * input_scale).function(nn.Expm1) * (alpha * scale)
        return (x > 0.0).choose(x * scale, negative)

    return rounded_once(formula, Term(n, self)).value


@ROWS("aten.celu", batched="elements")
def celu(n: AtenLayer, self: Value, alpha: float = 1.0) -> Value:
    return elu(n, self, alpha, input_scale=1 / alpha)


@ROWS("aten.prelu", "aten._prelu_kernel")
def prelu(n: AtenLayer, self: Value, weight: Value) -> Value:
    slope = Term(n, weight)
    if slope.rank == 1 and self.type.rank > 1:
        slope = slope.spread(0, self.type.rank - 2)
    known = n.array(weight)
    if known is not None and np.isfinite(known).all():
        return n(nn.Prelu(self, slope.value))
    x = Term(n, self)
    return (x > 0.0).choose(x, slope * x).value  # NaN where a zero has an infinite slope


@ROWS("aten.relu6", batched="elements")
def relu6(n: AtenLayer, self: Value) -> Value:
    return Term(n, self).max(0).min(6).value


@ROWS("aten.hardtanh", batched="elements")
def hardtanh(n: AtenLayer, self: Value, min_val=-1.0, max_val=1.0) -> Value:
    return clipped(n, self, min_val, max_val)


@ROWS("aten.softplus", batched="elements")
def softplus(n: AtenLayer, self: Value, beta=1, threshold=20) -> Value:
    if beta == 1 and threshold >= 20 and self.type.element_type is not f64:
        return n(nn.Softplus(self))  # beyond 20 it is x to the last bit

    def formula(x: Term) -> Term:
        scaled = x * float(beta)
        return (scaled > float(threshold)).choose(x, scaled.function(nn.Softplus) / beta)

    return rounded_once(formula, Term(n, self)).value


@ROWS("aten.softshrink", batched="elements")
def softshrink(n: AtenLayer, self: Value, lambd=0.5) -> Value:
    return rounded_once(lambda x: x - x.max(-lambd).min(lambd), Term(n, self)).value


@ROWS("aten.hardshrink", batched="elements")
def hardshrink(n: AtenLayer, self: Value, lambd=0.5) -> Value:
    x = Term(n, self)
    return (x.function(nn.Abs) <= lambd).choose(0.0, x).value


@ROWS("aten.threshold", batched="elements")
def threshold_(n: AtenLayer, self: Value, threshold: Any, value: Any) -> Value:
    return rounded_once(lambda x: (x <= threshold).choose(value, x), Term(n, self)).value


@ROWS("aten.glu", batched="along")
def glu(n: AtenLayer, self: Value, dim: int = -1) -> Value:
    axis, x = n.axis(dim, self.type.rank), Term(n, self)
    width = x.shape[axis]
    if width is None:
        raise n.error("the number of channels must be known")
    first, second = (x.part(axis, i * (width // 2), (i + 1) * (width // 2)) for i in range(2))
    return (first * second.function(nn.Sigmoid)).value
