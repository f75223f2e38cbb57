"""Small ONNX models made with onnx.helper, shaped like the real ones, for quick tests."""

from collections.abc import Callable

import numpy as np
import onnx
from onnx import TensorProto, helper, numpy_helper


class GraphMaker:
    """Nodes and initializers added one by one; names are made up."""

    def __init__(self, seed: int = 0) -> None:
        self.random = np.random.default_rng(seed)
        self.nodes: list[onnx.NodeProto] = []
        self.initializers: list[onnx.TensorProto] = []

    def weight(self, *shape: int, scale: float | None = None) -> str:
        fan_in = int(np.prod(shape[1:])) or 1
        array = self.random.standard_normal(shape) * (scale or fan_in**-0.5)
        return self.constant(array.astype(np.float32))

    def constant(self, array: np.ndarray) -> str:
        name = f"w{len(self.initializers)}"
        self.initializers.append(numpy_helper.from_array(array, name))
        return name

    def op(self, op_type: str, *inputs: str, **attributes: object) -> str:
        name = f"{op_type.lower()}_{len(self.nodes)}"
        self.nodes.append(helper.make_node(op_type, inputs, [name], f"n_{name}", **attributes))
        return name

    def model(
        self, inputs: dict[str, tuple], output: str, input_type: int = TensorProto.FLOAT
    ) -> onnx.ModelProto:
        graph = helper.make_graph(
            self.nodes,
            "small",
            [helper.make_tensor_value_info(n, input_type, s) for n, s in inputs.items()],
            [helper.make_tensor_value_info(output, TensorProto.FLOAT, None)],
            self.initializers,
        )
        return helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)], ir_version=10)


def tiny_cnn() -> onnx.ModelProto:
    """A convolution, pooling and a product: for tests to which it is all the same what they compile."""
    g = GraphMaker()
    x = g.op("Relu", g.op("Conv", "x", g.weight(8, 3, 3, 3), pads=[1] * 4, strides=[2, 2]))
    x = g.op("Flatten", g.op("GlobalAveragePool", x))
    x = g.op("Gemm", x, g.weight(10, 8), g.weight(10, scale=0.1), transB=1)
    return g.model({"x": (1, 3, 35, 37)}, g.op("Softmax", x, axis=-1))


def small_cnn() -> onnx.ModelProto:
    """Convolution, batch norm, residual addition, strided and depthwise layers, pooling, Gemm."""
    g = GraphMaker()

    def conv_bn(x: str, cin: int, cout: int, kernel: int, **attributes: object) -> str:
        group = int(attributes.get("group", 1))
        pad = kernel // 2
        y = g.op(
            "Conv", x, g.weight(cout, cin // group, kernel, kernel), pads=[pad] * 4, **attributes
        )
        stats = [
            g.constant(np.abs(g.random.standard_normal(cout)).astype(np.float32) + 0.5),
            g.weight(cout, scale=0.1),
            g.weight(cout, scale=0.1),
            g.constant(np.abs(g.random.standard_normal(cout)).astype(np.float32) + 0.5),
        ]
        return g.op("BatchNormalization", y, *stats)

    x = g.op("Relu", conv_bn("x", 3, 16, 7, strides=[2, 2]))
    x = g.op("MaxPool", x, kernel_shape=[3, 3], strides=[2, 2], pads=[1, 1, 1, 1])
    y = g.op("Relu", conv_bn(x, 16, 16, 3))
    y = conv_bn(y, 16, 16, 3)
    x = g.op("Relu", g.op("Add", x, y))
    x = g.op(
        "Clip",
        conv_bn(x, 16, 16, 3, group=16),
        g.constant(np.float32(0)),
        g.constant(np.float32(6)),
    )
    x = conv_bn(x, 16, 24, 1)
    x = g.op("Flatten", g.op("GlobalAveragePool", x))
    x = g.op("Gemm", x, g.weight(10, 24), g.weight(10, scale=0.1), transB=1)
    return g.model({"x": (1, 3, 35, 37)}, g.op("Softmax", x, axis=-1))


def small_transformer(
    length: int = 11, width: int = 32, heads: int = 4, blocks: int = 1, causal: bool = True
) -> onnx.ModelProto:
    """Embedding, attention blocks with a mask, layer norms, GELU feed-forward.

    The mask is of what follows, or of the last two tokens.
    """
    g = GraphMaker(1)
    x = g.op("Gather", g.weight(50, width), "ids", axis=0)
    x = g.op("Add", x, g.weight(length, width, scale=0.1))

    def norm(x: str) -> str:
        scale = g.constant(np.ones(width, np.float32))
        return g.op("LayerNormalization", x, scale, g.weight(width, scale=0.1), epsilon=1e-5)

    def project(x: str, cin: int, cout: int) -> str:
        return g.op("Add", g.op("MatMul", x, g.weight(cin, cout)), g.weight(cout, scale=0.1))

    def split(x: str, perm: list[int]) -> str:
        shape = g.constant(np.array([0, 0, heads, width // heads], np.int64))
        return g.op("Transpose", g.op("Reshape", x, shape), perm=perm)

    mask = np.triu(np.full((length, length), -1e9, np.float32), 1)
    if not causal:
        mask = np.where(np.arange(length) < length - 2, 0, -1e9).astype(np.float32)
    for _ in range(blocks):
        y = norm(x)
        q = split(project(y, width, width), [0, 2, 1, 3])
        k = split(project(y, width, width), [0, 2, 3, 1])
        v = split(project(y, width, width), [0, 2, 1, 3])
        scores = g.op("Div", g.op("MatMul", q, k), g.constant(np.float32((width // heads) ** 0.5)))
        weights = g.op("Softmax", g.op("Add", scores, g.constant(mask)), axis=-1)
        y = g.op("Transpose", g.op("MatMul", weights, v), perm=[0, 2, 1, 3])
        y = g.op("Reshape", y, g.constant(np.array([0, 0, width], np.int64)))
        x = g.op("Add", x, project(y, width, width))
        y = project(norm(x), width, 4 * width)
        half = g.constant(np.float32(0.5))
        erf = g.op("Erf", g.op("Div", y, g.constant(np.float32(2**0.5))))
        y = g.op("Mul", g.op("Mul", y, half), g.op("Add", erf, g.constant(np.float32(1))))
        x = g.op("Add", x, project(y, 4 * width, width))
    return g.model({"ids": (1, length)}, norm(x), TensorProto.INT64)


def small_grouped_cnn() -> onnx.ModelProto:
    """Convolutions within groups of 16, 24 and 2 channels, strided and not, between dense ones."""
    g = GraphMaker()
    x, channels = "x", 8
    for wide, groups, stride in ((32, 2, 1), (48, 2, 2), (64, 32, 1), (32, 16, 2)):
        x = g.op("Relu", g.op("Conv", x, g.weight(wide, channels, 1, 1), g.weight(wide)))
        weight = g.weight(wide, wide // groups, 3, 3)
        x = g.op(
            "Conv", x, weight, g.weight(wide), pads=[1] * 4, group=groups, strides=[stride] * 2
        )
        x, channels = g.op("Relu", x), wide
    g.op("Conv", x, g.weight(10, channels, 1, 1))
    return g.model({"x": (1, 8, 14, 14)}, g.nodes[-1].output[0])


def small_dilated_cnn() -> onnx.ModelProto:
    """Convolutions whose dilated windows mostly fall on padding, side by side."""
    g = GraphMaker()
    x = g.op("Relu", g.op("Conv", "x", g.weight(32, 8, 1, 1)))
    parts = []
    for dilation in (6, 12):
        weight, bias = g.weight(16, 32, 3, 3), g.weight(16)
        y = g.op("Conv", x, weight, bias, pads=[dilation] * 4, dilations=[dilation] * 2)
        parts.append(g.op("Relu", y))
    g.op("Conv", g.op("Concat", *parts, axis=1), g.weight(10, 32, 1, 1))
    return g.model({"x": (1, 8, 11, 11)}, g.nodes[-1].output[0])


SMALL_MODELS: dict[str, Callable[[], onnx.ModelProto]] = {
    "cnn": small_cnn,
    "grouped_cnn": small_grouped_cnn,
    "dilated_cnn": small_dilated_cnn,
    "transformer": small_transformer,
}
