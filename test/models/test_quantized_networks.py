"""Quantized layers: what NumPy computes from the definitions of ONNX and ONNX Runtime."""

from __future__ import annotations

import nnc
import numpy as np
import pytest
from onnx import TensorProto, helper, numpy_helper
from onnx.reference import ReferenceEvaluator


def model_of(nodes, constants, shape):
    graph = helper.make_graph(
        nodes,
        "quantized",
        [helper.make_tensor_value_info("x", TensorProto.FLOAT, shape)],
        [helper.make_tensor_value_info("y", TensorProto.FLOAT, None)],
        [numpy_helper.from_array(array, name) for name, array in constants.items()],
    )
    domains = [helper.make_opsetid("", 19), helper.make_opsetid("com.microsoft", 1)]
    return helper.make_model(graph, opset_imports=domains, ir_version=9)


def constants_of(rng, product, weight, per_channel):
    channels = weight[product.op_type == "ConvTranspose"]
    count = channels if per_channel else 1
    scale = rng.uniform(0.005, 0.02, count).astype(np.float32)
    return {
        "xs": np.float32(0.03),
        "xz": np.uint8(120),
        "w": rng.integers(-127, 128, weight).astype(np.int8),
        "ws": scale if per_channel else scale[0],
        "wz": np.zeros(count, np.int8) if per_channel else np.int8(0),
        "b": rng.standard_normal(channels).astype(np.float32),
        "ys": np.float32(0.25),
        "yz": np.uint8(130),
    }


def between(product):
    """Nodes of a product between dequantized operands, whose result is quantized."""
    node = helper.make_node
    return [
        node("QuantizeLinear", ["x", "xs", "xz"], ["xq"]),
        node("DequantizeLinear", ["xq", "xs", "xz"], ["xd"]),
        node(
            "DequantizeLinear",
            ["w", "ws", "wz"],
            ["wd"],
            axis=int(product.op_type == "ConvTranspose"),
        ),
        product,
        node("Relu", ["p"], ["r"]),
        node("QuantizeLinear", ["r", "ys", "yz"], ["yq"]),
        node("DequantizeLinear", ["yq", "ys", "yz"], ["y"]),
    ]


PRODUCTS = [
    (helper.make_node("Conv", ["xd", "wd", "b"], ["p"], pads=[1] * 4), (16, 8, 3, 3), (2, 8, 7, 7)),
    (helper.make_node("Conv", ["xd", "wd"], ["p"], group=4), (16, 4, 3, 3), (1, 16, 7, 7)),
    (helper.make_node("Conv", ["xd", "wd", "b"], ["p"], group=8), (8, 1, 3, 3), (1, 8, 9, 7)),
    (helper.make_node("Gemm", ["xd", "wd", "b"], ["p"], transB=1), (20, 12), (3, 12)),
    (
        helper.make_node("ConvTranspose", ["xd", "wd", "b"], ["p"], strides=[2, 2]),
        (32, 16, 2, 2),
        (1, 32, 5, 6),
    ),
    (
        helper.make_node("ConvTranspose", ["xd", "wd", "b"], ["p"], strides=[2, 2], pads=[1] * 4),
        (8, 16, 3, 3),
        (2, 8, 5, 6),
    ),
]


@pytest.mark.sampled(3)
@pytest.mark.parametrize("per_channel", [True, False])
@pytest.mark.parametrize("product, weight, shape", PRODUCTS)
def test_dequantized_operands(product, weight, shape, per_channel):
    """At most one step of the result apart, and hardly ever."""
    rng = np.random.default_rng(3)
    constants = constants_of(rng, product, weight, per_channel)
    x = rng.standard_normal(shape).astype(np.float32)
    model = model_of(between(product), constants, shape)
    wanted = ReferenceEvaluator(model).run(None, {"x": x})[0]
    steps = np.abs(nnc.compile(model, cache=False)(x) - wanted) / constants["ys"]
    assert steps.max() < 1.01
    assert (steps > 0.01).mean() < 0.01


def quantizing(x: str, y: str, scale: str):
    """Nodes that quantize x and dequantize it to y."""
    node = helper.make_node
    return [
        node("QuantizeLinear", [x, scale, "zero"], [f"{y}_q"]),
        node("DequantizeLinear", [f"{y}_q", scale, "zero"], [y]),
    ]


def test_joined_and_quantized():
    """A U-Net's step: what is joined has another scale than its parts."""
    rng = np.random.default_rng(5)
    node = helper.make_node
    kernels = {"v": (32, 16, 3, 3), "u": (32, 16, 2, 2), "o": (16, 48, 1, 1)}
    constants = {n: rng.integers(-127, 128, s).astype(np.int8) for n, s in kernels.items()}
    scales = {"s1": 0.03, "s2": 0.2, "s3": 0.5, "s4": 0.3, "s5": 2.0, "ws": 0.01}
    constants |= {n: np.float32(s) for n, s in scales.items()} | {"zero": np.uint8(120)}
    nodes = [
        *(node("DequantizeLinear", [name, "ws"], [f"{name}_d"]) for name in kernels),
        *quantizing("x", "a", "s1"),
        node("Conv", ["a", "v_d"], ["b"], pads=[1] * 4),
        *quantizing("b", "c", "s2"),
        node("MaxPool", ["c"], ["d"], kernel_shape=[2, 2], strides=[2, 2]),
        node("ConvTranspose", ["d", "u_d"], ["e"], strides=[2, 2]),
        *quantizing("e", "f", "s3"),
        node("Concat", ["c", "f"], ["g"], axis=1),
        *quantizing("g", "h", "s4"),
        node("Conv", ["h", "o_d"], ["i"]),
        *quantizing("i", "y", "s5"),
    ]
    shape = (2, 16, 6, 10)
    x = rng.standard_normal(shape).astype(np.float32)
    model = model_of(nodes, constants, shape)
    wanted = ReferenceEvaluator(model).run(None, {"x": x})[0]
    steps = np.abs(nnc.compile(model, cache=False)(x) - wanted) / constants["s5"]
    assert np.unique(wanted).size > 50
    assert steps.max() < 1.01
    assert (steps > 0.01).mean() < 0.03


def rounded(x):
    """x in 256 steps from its least to its largest element, less the zero point; the scale."""
    low, high = (f(x.min() if f is min else x.max(), 0) for f in (min, max))
    scale = np.float32((high - low) / np.float32(255)) or np.float32(1)
    zero = np.rint(-low / scale)
    return np.clip(np.rint(x / scale) + zero, 0, 255) - zero, float(scale)


def lstm(x, w, r, b, w_scale, r_scale, zero):
    """An LSTM of rounded inputs and states in f64, a direction's outputs [time, batch, hidden]."""
    steps, batch, _ = x.shape
    hidden = r.shape[0]
    w, r = w.astype(np.float64) - zero, r.astype(np.float64) - zero
    exact, scale = rounded(x)
    projected = exact @ w * (scale * float(w_scale))
    h, c, out = np.zeros((batch, hidden), np.float32), np.zeros((batch, hidden)), []
    for t in range(steps):
        exact, scale = rounded(h)
        gates = projected[t] + exact @ r * (scale * float(r_scale)) + b[: 4 * hidden]
        i, o, f = (1 / (1 + np.exp(-g)) for g in np.split(gates + b[4 * hidden :], 4, 1)[:3])
        c = f * c + i * np.tanh(np.split(gates + b[4 * hidden :], 4, 1)[3])
        h = (o * np.tanh(c)).astype(np.float32)
        out.append(h)
    return np.stack(out)


@pytest.mark.sampled(5)
@pytest.mark.parametrize("steps", [4, 40])  # unrolled, and a loop
@pytest.mark.parametrize("kind, zero", [(np.int8, 0), (np.uint8, 128)])
def test_dynamically_quantized_lstms(steps, kind, zero):
    """Integers are multiplied exactly, so that states hardly ever round to other steps."""
    rng = np.random.default_rng(4)
    inputs, hidden, directions = 24, 20, 2
    limits = np.iinfo(kind)

    def weights(rows):
        shape = directions, rows, 4 * hidden
        return rng.integers(limits.min + 1, limits.max, shape).astype(kind)

    constants = {
        "w": weights(inputs),
        "r": weights(hidden),
        "b": rng.standard_normal((directions, 8 * hidden)).astype(np.float32),
        "ws": np.array([0.004, 0.003], np.float32),
        "wz": np.full(directions, zero, kind),
        "rs": np.array([0.002, 0.005], np.float32),
        "rz": np.full(directions, zero, kind),
    }
    given = ["x", "w", "r", "b", "", "", "", "", "ws", "wz", "rs", "rz"]
    node = helper.make_node(
        "DynamicQuantizeLSTM", given, ["y"], domain="com.microsoft", hidden_size=hidden,
        direction="bidirectional",
    )  # fmt: skip
    x = rng.standard_normal((steps, 2, inputs)).astype(np.float32)
    found = nnc.compile(model_of([node], constants, x.shape), cache=False)(x)
    for d in range(directions):
        own = [constants[name][d] for name in ("w", "r", "b", "ws", "rs")]
        wanted = lstm(x[::-1] if d else x, *own, zero)
        np.testing.assert_allclose(found[:, d], wanted[::-1] if d else wanted, atol=2e-6)
