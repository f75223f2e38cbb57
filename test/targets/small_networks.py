"""Well-known networks, narrow and on small images, for emulators that are a hundred times slower."""

from collections.abc import Callable

import numpy as np
import onnx

from ..models.small_models import GraphMaker, small_transformer


def convolution(g: GraphMaker, x: str, cin: int, cout: int, kernel: int = 1, **attributes) -> str:
    """A convolution with bias that keeps the image's size, but for strides."""
    group = attributes.get("group", 1)
    weight = g.weight(cout, cin // group, kernel, kernel)
    bias = g.weight(cout, scale=0.1)
    return g.op("Conv", x, weight, bias, pads=[kernel // 2] * 4, **attributes)


def classified(g: GraphMaker, x: str, channels: int, image: tuple[int, ...]) -> onnx.ModelProto:
    """Average pooling, a dense layer and softmax behind a network on images."""
    x = g.op("Flatten", g.op("GlobalAveragePool", x))
    x = g.op("Gemm", x, g.weight(10, channels), g.weight(10, scale=0.1), transB=1)
    return g.model({"x": image}, g.op("Softmax", x, axis=-1))


def squeezenet() -> onnx.ModelProto:
    """Fire modules: a squeezing convolution, then two side by side, concatenated."""
    g = GraphMaker(4)
    x = g.op("Relu", convolution(g, "x", 3, 16, 3, strides=[2, 2]))
    x = g.op("MaxPool", x, kernel_shape=[3, 3], strides=[2, 2])
    channels = 16
    for squeeze, expand in ((8, 16), (8, 24), (12, 24)):
        x = g.op("Relu", convolution(g, x, channels, squeeze))
        parts = [g.op("Relu", convolution(g, x, squeeze, expand, k)) for k in (1, 3)]
        x, channels = g.op("Concat", *parts, axis=1), 2 * expand
    return classified(g, x, channels, (1, 3, 51, 51))


def mobilenet_v2() -> onnx.ModelProto:
    """Inverted residuals: widen, depthwise, narrow; clipped at 6."""
    g = GraphMaker(5)

    def clipped(x: str) -> str:
        return g.op("Clip", x, g.constant(np.float32(0)), g.constant(np.float32(6)))

    x, channels = clipped(convolution(g, "x", 3, 8, 3, strides=[2, 2])), 8
    for cout, stride in ((8, 1), (12, 2), (12, 1), (20, 2), (20, 1)):
        wide = 6 * channels
        y = clipped(convolution(g, x, channels, wide))
        y = clipped(convolution(g, y, wide, wide, 3, group=wide, strides=[stride] * 2))
        y = convolution(g, y, wide, cout)
        x = g.op("Add", x, y) if (stride, cout) == (1, channels) else y
        channels = cout
    return classified(g, x, channels, (1, 3, 37, 41))


def resnet18() -> onnx.ModelProto:
    """Eight blocks of two convolutions around a shortcut."""
    g = GraphMaker(6)
    x = g.op("Relu", convolution(g, "x", 3, 8, 7, strides=[2, 2]))
    x, channels = g.op("MaxPool", x, kernel_shape=[3, 3], strides=[2, 2], pads=[1] * 4), 8
    for cout, stride in ((8, 1), (8, 1), (16, 2), (16, 1), (32, 2), (32, 1), (64, 2), (64, 1)):
        y = g.op("Relu", convolution(g, x, channels, cout, 3, strides=[stride] * 2))
        y = convolution(g, y, cout, cout, 3)
        if stride == 2:
            x = convolution(g, x, channels, cout, strides=[2, 2])
        x, channels = g.op("Relu", g.op("Add", x, y)), cout
    return classified(g, x, channels, (1, 3, 64, 64))


def lstm(length: int = 9, width: int = 10, hidden: int = 14) -> onnx.ModelProto:
    """Two layers, the first in both directions, and a dense layer."""
    g = GraphMaker(7)
    x = "x"
    for directions, name in ((2, "bidirectional"), (1, "forward")):
        weights = [g.weight(directions, 4 * hidden, n, scale=n**-0.5) for n in (width, hidden)] + [
            g.weight(directions, 8 * hidden, scale=0.1)
        ]
        x = g.op("LSTM", x, *weights, hidden_size=hidden, direction=name)
        x = g.op("Transpose", x, perm=[0, 2, 1, 3])
        shape = g.constant(np.array([length, 2, directions * hidden], np.int64))
        x, width = g.op("Reshape", x, shape), directions * hidden
    x = g.op("MatMul", x, g.weight(width, 5))
    return g.model({"x": (length, 2, 10)}, x)


NETWORKS: dict[str, Callable[[], onnx.ModelProto]] = {
    "squeezenet": squeezenet,
    "mobilenet_v2": mobilenet_v2,
    "resnet18": resnet18,
    "bert": lambda: small_transformer(length=13, blocks=2, causal=False),
    "gpt2": lambda: small_transformer(length=10, blocks=2),
    "lstm": lstm,
}
