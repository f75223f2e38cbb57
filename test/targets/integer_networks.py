"""Networks of integers of 8 bits between steps of quantization: digits, keywords, a table's rows;
and two small ones that have no floats at all."""

from __future__ import annotations

import numpy as np
import onnx
from onnx import TensorProto

from ..models.small_models import GraphMaker


class Steps:
    """Layers whose weights and results are on steps of a scale, as quantizers export them."""

    def __init__(self, seed: int) -> None:
        self.g = GraphMaker(seed)
        self.scale = 0.03
        """Of what the last layer gave."""

    def quantized(self, x: str, scale: float) -> str:
        g, self.scale = self.g, scale
        s, z = g.constant(np.float32(scale)), g.constant(np.int8(0))
        return g.op("DequantizeLinear", g.op("QuantizeLinear", x, s, z), s, z)

    def constant(self, shape: tuple[int, ...], most: int, scale: float, kind) -> str:
        g = self.g
        numbers = g.constant(g.random.integers(-most, most + 1, shape).astype(kind))
        return g.op("DequantizeLinear", numbers, g.constant(np.float32(scale)), g.constant(kind(0)))

    def layer(
        self, x: str, op: str, shape: tuple[int, ...], results: int, fan_in: int, **how
    ) -> str:
        """A convolution or dense layer; `relu` says whether negative results become 0."""
        relu, scale = how.pop("relu", True), 2.0 / 127 / np.sqrt(fan_in)
        bias = (results,), 2000, self.scale * scale, np.int32
        y = self.g.op(op, x, self.constant(shape, 127, scale, np.int8), self.constant(*bias), **how)
        return self.quantized(self.g.op("Relu", y) if relu else y, 0.05)

    def convolution(self, x: str, cin: int, cout: int, kernel: int, group: int = 1, **how) -> str:
        shape = (cout, cin // group, kernel, kernel)
        return self.layer(x, "Conv", shape, cout, cin // group * kernel**2, group=group, **how)

    def dense(self, x: str, size: int, results: int, **how) -> str:
        return self.layer(x, "Gemm", (size, results), results, size, **how)

    def pool(self, x: str) -> str:
        return self.quantized(self.g.op("MaxPool", x, kernel_shape=[2, 2], strides=[2, 2]), 0.05)


def lenet() -> onnx.ModelProto:
    """Two convolutions with pooling, three dense layers, on digits of 28 x 28."""
    s = Steps(1)
    x = s.quantized("x", 0.03)
    x = s.pool(s.convolution(x, 1, 6, 5, pads=[2] * 4))
    x = s.g.op("Flatten", s.pool(s.convolution(x, 6, 16, 5)))
    x = s.dense(s.dense(x, 400, 120), 120, 84)
    return s.g.model({"x": (1, 1, 28, 28)}, s.dense(x, 84, 10, relu=False))


def keywords() -> onnx.ModelProto:
    """Depthwise convolutions on 49 steps of 10 coefficients, averaged, for 12 words."""
    s = Steps(2)
    x = s.convolution(s.quantized("x", 0.03), 1, 16, 3, pads=[1] * 4, strides=[2, 2])
    for _ in range(2):
        x = s.convolution(x, 16, 16, 3, group=16, pads=[1] * 4)
        x = s.convolution(x, 16, 16, 1)
    x = s.g.op("Flatten", s.quantized(s.g.op("GlobalAveragePool", x), 0.05))
    return s.g.model({"x": (1, 1, 49, 10)}, s.dense(x, 16, 12, relu=False))


def table() -> onnx.ModelProto:
    """Three dense layers on a row of 16 numbers."""
    s = Steps(3)
    x = s.dense(s.quantized("x", 0.03), 16, 64)
    return s.g.model({"x": (1, 16)}, s.dense(s.dense(x, 64, 32), 32, 5, relu=False))


NETWORKS = {"lenet": lenet, "keywords": keywords, "table": table}


class Whole:
    """Layers of integers of 8 bits whose sums are shifted to 8 bits again, without floats."""

    def __init__(self, seed: int) -> None:
        self.g = GraphMaker(seed)

    def layer(self, op: str, x: str, shape: tuple[int, ...], bias: tuple[int, ...], **how) -> str:
        """The sums of `MatMulInteger` or `ConvInteger`, and a bias."""
        g = self.g
        weights = g.constant(g.random.integers(-127, 128, shape).astype(np.int8))
        y = g.op(op, x, weights, **how)
        return g.op("Add", y, g.constant(g.random.integers(-2000, 2001, bias).astype(np.int32)))

    def narrowed(self, x: str, shift: int) -> str:
        """Sums divided by a power of two, between 0 and 127."""
        g = self.g
        x = g.op("Cast", g.op("Max", x, g.constant(np.int32(0))), to=TensorProto.UINT32)
        x = g.op("BitShift", x, g.constant(np.uint32(shift)), direction="RIGHT")
        return g.op("Cast", g.op("Min", x, g.constant(np.uint32(127))), to=TensorProto.INT8)

    def model(self, shape: tuple[int, ...], output: str) -> onnx.ModelProto:
        made = self.g.model({"x": shape}, output, TensorProto.INT8)
        made.graph.output[0].type.tensor_type.elem_type = TensorProto.INT32
        return made


def whole_row() -> onnx.ModelProto:
    """Two dense layers."""
    w = Whole(4)
    x = w.narrowed(w.layer("MatMulInteger", "x", (8, 6), (6,)), 8)
    return w.model((1, 8), w.layer("MatMulInteger", x, (6, 4), (4,)))


def whole_image() -> onnx.ModelProto:
    """A convolution with padding, pooling and a dense layer."""
    w = Whole(5)
    x = w.layer("ConvInteger", "x", (3, 1, 3, 3), (3, 1, 1), pads=[1] * 4)
    x = w.g.op("MaxPool", w.narrowed(x, 9), kernel_shape=[2, 2], strides=[2, 2])
    x = w.g.op("Flatten", x)
    return w.model((1, 1, 6, 6), w.layer("MatMulInteger", x, (27, 4), (4,)))


WHOLE = {"row": whole_row, "image": whole_image}
