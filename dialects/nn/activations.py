"""Activation functions."""

from __future__ import annotations

from ..vocabulary import *
from .base import one_of
from .unary import UnaryOp


class Relu(UnaryOp, name="nn.relu", traits=(Idempotent,)):
    """x where it is positive, else 0; NaN stays. Source: ONNX Relu-14."""

    body = "out[i..] = max(x[i..], 0)"


class LeakyRelu(UnaryOp, name="nn.leaky_relu"):
    """x where it is not negative, else alpha * x. Source: ONNX LeakyRelu-16."""

    alpha: float = attribute(F32, default=0.01)

    body = "out[i..] = select(x[i..] < 0, alpha * x[i..], x[i..])"
    example = "%y = nn.leaky_relu %x {alpha = 0.25 : f32} : (tensor<4xf32>) -> tensor<4xf32>"


class Elu(UnaryOp, name="nn.elu"):
    """x where it is not negative, else alpha * (e**x - 1). Source: ONNX Elu-6."""

    alpha: float = attribute(F32, default=1.0)

    body = "out[i..] = select(x[i..] < 0, alpha * (exp(x[i..]) - 1), x[i..])"
    example = "%y = nn.elu %x {alpha = 0.5 : f32} : (tensor<4xf32>) -> tensor<4xf32>"


class Selu(UnaryOp, name="nn.selu"):
    """gamma * x where x is positive, else gamma * alpha * (e**x - 1). Source: ONNX Selu-6."""

    alpha: float = attribute(F32, default=1.6732632423543772)
    gamma: float = attribute(F32, default=1.0507009873554805)

    body = "out[i..] = gamma * select(x[i..] > 0, x[i..], alpha * exp(x[i..]) - alpha)"


class Celu(UnaryOp, name="nn.celu"):
    """max(x, 0) + min(alpha * (e**(x / alpha) - 1), 0). Source: ONNX Celu-12."""

    alpha: float = attribute(F32, default=1.0)

    body = "out[i..] = max(x[i..], 0) + min(alpha * (exp(x[i..] / alpha) - 1), 0)"
    example = "%y = nn.celu %x {alpha = 2.0 : f32} : (tensor<4xf32>) -> tensor<4xf32>"


class ThresholdedRelu(UnaryOp, name="nn.thresholded_relu"):
    """x where it exceeds alpha, else 0. Source: ONNX ThresholdedRelu-10."""

    alpha: float = attribute(F32, default=1.0)

    body = "out[i..] = select(x[i..] > alpha, x[i..], 0)"
    example = "%y = nn.thresholded_relu %x {alpha = 2.0 : f32} : (tensor<4xf32>) -> tensor<4xf32>"


class HardSigmoid(UnaryOp, name="nn.hard_sigmoid"):
    """alpha * x + beta limited to [0, 1]. Source: ONNX HardSigmoid-6."""

    alpha: float = attribute(F32, default=0.2)
    beta: float = attribute(F32, default=0.5)

    body = "out[i..] = max(min(alpha * x[i..] + beta, 1), 0)"
    example = "%y = nn.hard_sigmoid %x {alpha = 0.25 : f32} : (tensor<4xf32>) -> tensor<4xf32>"


class HardSwish(UnaryOp, name="nn.hard_swish"):
    """x * max(min(x / 6 + 1/2, 1), 0). Source: ONNX HardSwish-14."""

    body = "out[i..] = x[i..] * max(min(x[i..] * 0.16666666666666666 + 0.5, 1), 0)"


class Softplus(UnaryOp, name="nn.softplus"):
    """log(e**x + 1), without overflow. Source: ONNX Softplus-1."""

    body = "out[i..] = max(x[i..], 0) + log1p(exp(-abs(x[i..])))"


class Softsign(UnaryOp, name="nn.softsign"):
    """x / (1 + |x|). Source: ONNX Softsign-1."""

    body = "out[i..] = x[i..] / (1 + abs(x[i..]))"


class Gelu(UnaryOp, name="nn.gelu"):
    """x * (1 + erf(x / sqrt(2))) / 2: x times the normal distribution's cumulative function.

    With `approximate = "tanh"`, erf is approximated by
    tanh(sqrt(2 / pi) * (x + 0.044715 * x**3)). Source: ONNX Gelu-20.
    """

    approximate: str = attribute(one_of("none", "tanh"), default="none")

    example = '%y = nn.gelu %x {approximate = "tanh"} : (tensor<4xf32>) -> tensor<4xf32>'

    exact = "out[i..] = 0.5 * x[i..] * (1 + erf(x[i..] * 0.7071067811865476))"
    by_tanh = (
        "out[i..] = 0.5 * x[i..] * (1 + tanh(0.7978845608028654"
        " * (x[i..] + 0.044715 * x[i..] * x[i..] * x[i..])))"
    )

    @classmethod
    def comprehend(cls, types, attrs, results=()):
        body = cls.by_tanh if attrs.approximate == "tanh" else cls.exact
        return cls.bind(body, types, attrs)


class Mish(UnaryOp, name="nn.mish"):
    """x * tanh(softplus(x)). Source: ONNX Mish-18."""

    body = "out[i..] = x[i..] * tanh(max(x[i..], 0) + log1p(exp(-abs(x[i..]))))"


class Swish(UnaryOp, name="nn.swish"):
    """x * sigmoid(alpha * x). Source: ONNX Swish-24."""

    alpha: float = attribute(F32, default=1.0)

    body = "out[i..] = x[i..] / (1 + exp(-(alpha * x[i..])))"
