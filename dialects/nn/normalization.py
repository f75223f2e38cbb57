"""Normalizations and softmax. The pass `decompose` replaces them by simpler ops.

Numerics: f16 and bf16 are computed in f32 and rounded at the end.
"""

from __future__ import annotations

from ..vocabulary import *
from .base import NnOp, broadcast_shapes, check_axis
from .traits import Fusion


class NormalizationOp(NnOp):
    """Base of the ops whose result has the type of operand x."""

    x: Operand = operand(AnyRankedTensor)

    fusion = Fusion.NORMALIZATION
    prologue = (Fusion.ELEMENTWISE,)
    needs_floats = True

    def operands_by_parts(self):
        return {0} if getattr(self, "axis", 1) != 0 else None

    @classmethod
    def infer(cls, types, attrs):
        return [types[0]]

    def evaluate(self, x, *rest):
        from ...ir.comprehension_numpy import accumulator

        dtype = accumulator(x.dtype)
        with np.errstate(all="ignore"):
            return self.compute(*(a.astype(dtype) for a in (x, *rest))).astype(x.dtype)

    def compute(self, x, *rest):
        """The result for operands of the accumulator's type (f32 for f16), before it is rounded."""
        raise TypeError("a normalization defines what it computes")


class SoftmaxOp(NormalizationOp):
    """Base of softmax and its logarithm, along one axis."""

    axis: int = attribute(I64)
    out: Result = result(AnyRankedTensor)

    @property
    def row_axes(self):
        return (self.axis,)

    @classmethod
    def infer(cls, types, attrs):
        check_axis(attrs.axis, types[0].rank)
        return [types[0]]


def per_channel(parameter, rank: int):
    """A parameter [C] reshaped to [1, C, 1, ..] of the rank, so that it broadcasts to x."""
    return parameter.reshape(1, -1, *[1] * (rank - 2))


def check_channels(types, names) -> None:
    """Raise NncError unless the parameters are 1-D, with an element for each channel of x."""
    x = types[0]
    if x.rank < 2:
        raise NncError(f"x must have at least rank 2, but got '{x}'")
    for type, name in zip(types[1:], names, strict=True):
        if type.rank != 1:
            raise NncError(f"{name} must have rank 1, but got '{type}'")
        if None not in (x.shape[1], type.shape[0]) and x.shape[1] != type.shape[0]:
            raise NncError(f"x has {x.shape[1]} channels but {name} has {type.shape[0]} elements")


class BatchNorm(NormalizationOp, name="nn.batch_norm"):
    """(x - mean) / sqrt(var + epsilon) * scale + bias, with the four parameters given per channel.

    Shapes: x [N, C, D..], scale, bias, mean and var [C] -> out as x.
    Source: ONNX BatchNormalization-15 (inference).
    """

    scale: Operand = operand(AnyRankedTensor)
    bias: Operand = operand(AnyRankedTensor)
    mean: Operand = operand(AnyRankedTensor)
    var: Operand = operand(AnyRankedTensor)
    epsilon: float = attribute(F32, default=1e-5)
    out: Result = result(AnyRankedTensor)

    fusion = Fusion.ELEMENTWISE
    prologue = (Fusion.MOVEMENT, Fusion.ELEMENTWISE)
    keeps_channels = True

    example = (
        "%y = nn.batch_norm %x, %scale, %bias, %mean, %var : (tensor<1x8x4x4xf32>, tensor<8xf32>, "
        "tensor<8xf32>, tensor<8xf32>, tensor<8xf32>) -> tensor<1x8x4x4xf32>"
    )

    @classmethod
    def infer(cls, types, attrs):
        check_channels(types, ("scale", "bias", "mean", "var"))
        return [types[0]]

    def compute(self, x, scale, bias, mean, var):
        scale, bias, mean, var = (per_channel(p, x.ndim) for p in (scale, bias, mean, var))
        return (x - mean) * (scale / np.sqrt(var + self.epsilon)) + bias


class InstanceNorm(NormalizationOp, name="nn.instance_norm"):
    """Each channel of each image brought to mean 0 and variance 1, then times scale plus bias.

    Shapes: x [N, C, D..], scale and bias [C] -> out as x. Source: ONNX InstanceNormalization-22.
    """

    scale: Operand = operand(AnyRankedTensor)
    bias: Operand = operand(AnyRankedTensor)
    epsilon: float = attribute(F32, default=1e-5)
    out: Result = result(AnyRankedTensor)

    example = (
        "%y = nn.instance_norm %x, %scale, %bias : "
        "(tensor<1x8x4x4xf32>, tensor<8xf32>, tensor<8xf32>) -> tensor<1x8x4x4xf32>"
    )

    @classmethod
    def infer(cls, types, attrs):
        check_channels(types, ("scale", "bias"))
        return [types[0]]

    def compute(self, x, scale, bias):
        normal = standardize(x, tuple(range(2, x.ndim)), self.epsilon)
        return normal * per_channel(scale, x.ndim) + per_channel(bias, x.ndim)


class GroupNorm(NormalizationOp, name="nn.group_norm"):
    """Each group of channels brought to mean 0 and variance 1, then times scale plus bias.

    Shapes: x [N, C, D..], scale and bias [C] -> out as x. Source: ONNX GroupNormalization-21.
    """

    scale: Operand = operand(AnyRankedTensor)
    bias: Operand = operand(AnyRankedTensor)
    groups: int = attribute(I64)
    epsilon: float = attribute(F32, default=1e-5)
    out: Result = result(AnyRankedTensor)

    example = (
        "%y = nn.group_norm %x, %scale, %bias {groups = 2 : i64} : "
        "(tensor<1x8x4x4xf32>, tensor<8xf32>, tensor<8xf32>) -> tensor<1x8x4x4xf32>"
    )

    @classmethod
    def infer(cls, types, attrs):
        check_channels(types, ("scale", "bias"))
        C = types[0].shape[1]
        if attrs.groups < 1 or (C is not None and C % attrs.groups):
            raise NncError(f"{C} channels do not split into {attrs.groups} groups")
        return [types[0]]

    def compute(self, x, scale, bias):
        C = x.shape[1]
        grouped = x.reshape(x.shape[0], self.groups, C // self.groups, *x.shape[2:])
        normal = standardize(grouped, tuple(range(2, grouped.ndim)), self.epsilon)
        return normal.reshape(x.shape) * per_channel(scale, x.ndim) + per_channel(bias, x.ndim)


class _TrailingNormOp(NormalizationOp):
    """Base of the normalizations over the dimensions from `axis` on, with parameters that broadcast
    to x.
    """

    @classmethod
    def infer(cls, types, attrs):
        check_axis(attrs.axis, types[0].rank)
        broadcast_shapes(*(t.shape for t in types))
        return [types[0]]


class LayerNorm(_TrailingNormOp, name="nn.layer_norm"):
    """Mean 0 and variance 1 over the dimensions from `axis` on, then times scale plus bias.

    `scale` and `bias` broadcast to x. Source: ONNX LayerNormalization-17 (first result).
    """

    scale: Operand = operand(AnyRankedTensor)
    bias: OptionalOperand = optional_operand(AnyRankedTensor)
    axis: int = attribute(I64)
    epsilon: float = attribute(F32, default=1e-5)
    out: Result = result(AnyRankedTensor)

    example = (
        "%y = nn.layer_norm %x, %scale, %bias {axis = 1 : i64} : "
        "(tensor<4x8xf32>, tensor<8xf32>, tensor<8xf32>) -> tensor<4x8xf32>"
    )

    def compute(self, x, scale, bias=None):
        out = standardize(x, tuple(range(self.axis, x.ndim)), self.epsilon) * scale
        return out if bias is None else out + bias


class RmsNorm(_TrailingNormOp, name="nn.rms_norm"):
    """x divided by its root mean square over the dimensions from `axis` on, then times scale.

    `scale` broadcasts to x. Source: ONNX RMSNormalization-23.
    """

    scale: Operand = operand(AnyRankedTensor)
    axis: int = attribute(I64)
    epsilon: float = attribute(F32, default=1e-5)
    out: Result = result(AnyRankedTensor)

    example = (
        "%y = nn.rms_norm %x, %scale {axis = 1 : i64} : "
        "(tensor<4x8xf32>, tensor<8xf32>) -> tensor<4x8xf32>"
    )

    def compute(self, x, scale):
        axes = tuple(range(self.axis, x.ndim))
        return x / np.sqrt((x * x).mean(axis=axes, keepdims=True) + self.epsilon) * scale


class Lrn(NormalizationOp, name="nn.lrn"):
    """x / (bias + alpha / size * S)**beta, with S the sum of x**2 over `size` neighbouring
    channels.

    For channel c these are c - (size - 1) / 2 up to c + size / 2, both rounded down, of those there
    are. Shapes: x [N, C, D..] -> out as x. Source: ONNX LRN-13.
    """

    size: int = attribute(I64)
    alpha: float = attribute(F32, default=0.0001)
    beta: float = attribute(F32, default=0.75)
    bias: float = attribute(F32, default=1.0)
    out: Result = result(AnyRankedTensor)

    example = "%y = nn.lrn %x {size = 5 : i64} : (tensor<1x8x4x4xf32>) -> tensor<1x8x4x4xf32>"

    @classmethod
    def infer(cls, types, attrs):
        check_channels(types, ())
        if attrs.size < 1:
            raise NncError("size must be positive")
        return [types[0]]

    def compute(self, x):
        before, after = (self.size - 1) // 2, self.size // 2
        squares = np.zeros_like(x)
        C = x.shape[1]
        for c in range(C):
            near = x[:, max(0, c - before) : min(C, c + after + 1)]
            squares[:, c] = (near * near).sum(axis=1)
        return x / (self.bias + self.alpha / self.size * squares) ** self.beta


class Softmax(SoftmaxOp, name="nn.softmax"):
    """e**x divided by the sum of e**x along the axis. Source: ONNX Softmax-13."""

    example = "%y = nn.softmax %x {axis = 1 : i64} : (tensor<4x8xf32>) -> tensor<4x8xf32>"

    def compute(self, x):
        if not x.size:
            return x
        powers = np.exp(x - x.max(axis=self.axis, keepdims=True))
        return powers / powers.sum(axis=self.axis, keepdims=True)


class LogSoftmax(SoftmaxOp, name="nn.log_softmax"):
    """The logarithm of the softmax. Source: ONNX LogSoftmax-13."""

    example = "%y = nn.log_softmax %x {axis = 1 : i64} : (tensor<4x8xf32>) -> tensor<4x8xf32>"

    def compute(self, x):
        if not x.size:
            return x
        shifted = x - x.max(axis=self.axis, keepdims=True)
        return shifted - np.log(np.exp(shifted).sum(axis=self.axis, keepdims=True))


def standardize(x, axes: tuple[int, ...], epsilon: float):
    """x less its mean over the axes, divided by sqrt(variance + epsilon)."""
    if not x.size:
        return x
    centered = x - x.mean(axis=axes, keepdims=True)
    return centered / np.sqrt((centered * centered).mean(axis=axes, keepdims=True) + epsilon)
