"""Well-known networks, narrow and on small images, for emulators that are a hundred times slower."""

from collections.abc import Callable

import numpy as np
import onnx
import pytest

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
    """Blocks of two convolutions around a shortcut: one of each kind of its eight."""
    g = GraphMaker(6)
    x = g.op("Relu", convolution(g, "x", 3, 8, 7, strides=[2, 2]))
    x, channels = g.op("MaxPool", x, kernel_shape=[3, 3], strides=[2, 2], pads=[1] * 4), 8
    for cout, stride in ((8, 1), (16, 2), (16, 1), (32, 2), (64, 2)):
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


def detector() -> onnx.ModelProto:
    """Boxes and scores as YOLO has them: two scales, pooled and upsampled, boxes from distances."""
    g = GraphMaker(8)

    def swish(x: str, cin: int, cout: int, kernel: int = 1, **attributes) -> str:
        x = convolution(g, x, cin, cout, kernel, **attributes)
        return g.op("Mul", x, g.op("Sigmoid", x))

    def ints(*values: int) -> str:
        return g.constant(np.array(values, np.int64))

    def pieces(x: str, count: int, axis: int, each: int) -> list[str]:
        """Parts of `each`, one behind the other."""
        return [
            g.op("Slice", x, ints(i * each), ints((i + 1) * each), ints(axis)) for i in range(count)
        ]

    fine = swish(swish("x", 3, 8, 3, strides=[2, 2]), 8, 16, 3, strides=[2, 2])
    parts = pieces(fine, 2, 1, 8)
    parts.append(g.op("Add", parts[1], swish(swish(parts[1], 8, 8, 3), 8, 8, 3)))
    fine = swish(g.op("Concat", *parts, axis=1), 24, 16)
    coarse = swish(fine, 16, 16, 3, strides=[2, 2])
    pooled = [coarse]
    for _ in range(3):
        pooled.append(g.op("MaxPool", pooled[-1], kernel_shape=[5, 5], pads=[2] * 4))
    coarse = swish(g.op("Concat", *pooled, axis=1), 64, 16)
    wider = g.op("Resize", coarse, "", g.constant(np.array([1, 1, 2, 2], np.float32)))
    fine = swish(g.op("Concat", wider, fine, axis=1), 32, 16, 3)
    found = []
    for x in (fine, coarse):
        head = convolution(g, swish(x, 16, 16, 3), 16, 9)
        found.append(g.op("Reshape", head, ints(1, 9, -1)))
    head = g.op("Concat", *found, axis=2)
    distances = g.op("Exp", g.op("Slice", head, ints(0), ints(4), ints(1)))
    scores = g.op("Sigmoid", g.op("Slice", head, ints(4), ints(9), ints(1)))
    grid = [np.stack(np.meshgrid(np.arange(n), np.arange(n))) + 0.5 for n in (12, 6)]
    centres = np.concatenate([one.reshape(1, 2, -1) for one in grid], axis=2)
    centre = g.constant(centres.astype(np.float32))
    near, far = pieces(distances, 2, 1, 2)
    boxes = g.op("Concat", g.op("Sub", centre, near), g.op("Add", centre, far), axis=1)
    y = g.op("Transpose", g.op("Concat", boxes, scores, axis=1), perm=[0, 2, 1])
    return g.model({"x": (1, 3, 48, 48)}, y)


NETWORKS: dict[str, Callable[[], onnx.ModelProto]] = {
    "squeezenet": squeezenet,
    "mobilenet_v2": mobilenet_v2,
    "resnet18": resnet18,
    "bert": lambda: small_transformer(length=13, blocks=2, causal=False),
    "gpt2": lambda: small_transformer(length=10, blocks=2),
    "lstm": lstm,
    "detector": detector,
}


def by_default(*names: str) -> list:
    """All networks as parameters of a test, of which the others are thorough."""
    rare = {name: [pytest.mark.thorough] * (name not in names) for name in NETWORKS}
    return [pytest.param(name, marks=marks) for name, marks in rare.items()]
