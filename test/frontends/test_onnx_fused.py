"""Fused and quantized operators of com.microsoft against onnxruntime, or NumPy where it has none."""

import numpy as np
import onnx
import pytest
from onnx import TensorProto, helper
from onnx.reference import ReferenceEvaluator

from .models import run
from .onnx_operators import by_onnxruntime
from .test_onnx_contributed import RANDOM, check, floats, model, whole

MS = "com.microsoft"
U8, F = TensorProto.UINT8, TensorProto.FLOAT


def scale(value):
    return np.array(value, np.float32)


def zero(value, dtype=np.uint8):
    return np.array(value, dtype)


def bytes_of(*shape):
    return whole(0, 256, shape, np.uint8)


ACTIVATIONS = [
    ("Relu", []),
    ("Tanh", []),
    ("Sigmoid", []),
    ("LeakyRelu", [0.1]),
    ("Clip", [-0.5, 0.75]),
    ("HardSigmoid", [0.3, 0.4]),
]


@pytest.mark.parametrize(("kind", "numbers"), ACTIVATIONS)
def test_fused_conv(kind, numbers):
    x, w, b, z = floats(1, 4, 6, 5), floats(6, 2, 3, 3), floats(6), floats(1, 6, 6, 5)
    more = {"activation_params": numbers} if numbers else {}
    for inputs in ((x, w, b), (x, w, b, z)):
        check("FusedConv", *inputs, domain=MS, activation=kind, group=2, pads=[1] * 4, **more)


def test_fused_gemm():
    a, b, c = floats(4, 3), floats(5, 4), floats(5)
    attributes = {"transA": 1, "transB": 1, "alpha": 0.5, "beta": 2.0}
    check("FusedGemm", a, b, c, domain=MS, activation="Relu", **attributes)
    check(
        "FusedGemm", a, b, c, domain=MS, activation="LeakyRelu", activation_alpha=0.2, **attributes
    )


def test_nhwc():
    """Those that onnxruntime has for a processor of ours only in other types: as with Conv."""
    x, w, b = floats(2, 6, 5, 4), floats(6, 2, 3, 3), floats(6)
    attributes = {"group": 2, "pads": [1, 0, 1, 2], "strides": [2, 1]}
    made, given = model("NhwcConv", [x, w, b], MS, [F], **attributes)
    plain, same = model("Conv", [x.transpose(0, 3, 1, 2).copy(), w, b], "", [F], **attributes)
    expected = np.asarray(by_onnxruntime(plain, *same)[0]).transpose(0, 2, 3, 1)
    np.testing.assert_allclose(run(made, *given)[0], expected, rtol=1e-4, atol=1e-5)
    pool = {"kernel_shape": [3, 2], "strides": [2, 1], "pads": [1, 0, 0, 1]}
    check("NhwcMaxPool", bytes_of(2, 6, 5, 4), domain=MS, outputs=[U8], **pool)


@pytest.mark.parametrize("silu", [0, 1])
def test_group_norm(silu):
    x, skip, bias = floats(2, 4, 3, 6), floats(2, 6), floats(6)
    gamma, beta = floats(6), floats(6)
    attributes = {"groups": 3, "epsilon": 1e-3, "activation": silu}
    made, given = model("SkipGroupNorm", [x, gamma, beta, skip, bias], MS, [F, F], **attributes)
    found, total = run(made, *given)
    expected = x + skip[:, None, None] + bias
    np.testing.assert_allclose(total, expected, rtol=1e-6)
    groups = expected.reshape(2, 4, 3, 3, 2)
    mean, var = (f(axis=(1, 2, 4), keepdims=True) for f in (groups.mean, groups.var))
    y = ((groups - mean) / np.sqrt(var + 1e-3)).reshape(x.shape) * gamma + beta
    y = y / (1 + np.exp(-y)) if silu else y
    np.testing.assert_allclose(found, y, rtol=1e-4, atol=1e-5)


def test_sums():
    x, bias, skip = floats(2, 3, 8), floats(8), floats(2, 3, 8)
    made, given = model("BiasAdd", [x, bias, skip], MS, [F])
    np.testing.assert_allclose(run(made, *given)[0], x + bias + skip, rtol=1e-5)
    made, given = model("BiasSplitGelu", [x, bias], MS, [F])
    nodes = [helper.make_node("Gelu", ["x"], ["y"])]
    values = [helper.make_tensor_value_info(n, F, (2, 3, 4)) for n in "xy"]
    gelu = helper.make_model(
        helper.make_graph(nodes, "g", values[:1], values[1:]),
        opset_imports=[helper.make_opsetid("", 20)],
    )
    first, second = np.split(x + bias, 2, axis=-1)
    (gate,) = ReferenceEvaluator(gelu).run(None, {"x": second})
    np.testing.assert_allclose(run(made, *given)[0], first * gate, rtol=1e-4, atol=1e-5)
    made, given = model("BiasSoftmax", [x, skip[:, :1]], MS, [F], axis=2, is_inner_broadcast=0)
    powers = np.exp(x + skip[:, :1])
    np.testing.assert_allclose(
        run(made, *given)[0], powers / powers.sum(-1, keepdims=True), rtol=1e-4
    )


@pytest.mark.parametrize("metric", ["sqeuclidean", "euclidean"])
def test_distances(metric):
    check("CDist", floats(5, 3), floats(4, 3), domain=MS, metric=metric, rtol=1e-3)


def test_simplified_layer_normalization():
    norm = {"axis": -1, "epsilon": 1e-4, "stash_type": 1}
    check("SimplifiedLayerNormalization", floats(2, 3, 8), floats(8), outputs=[F, F], **norm)


def test_same_as_of_onnx():
    check("ExpandDims", floats(2, 3), np.array(1, np.int32), domain=MS)
    check("Trilu", floats(4, 5), np.array(1), domain=MS, upper=0)
    check("GatherND", floats(3, 2), whole(0, 2, (4, 2)), domain=MS)
    check("TransposeMatMul", floats(4, 3), floats(5, 4), domain=MS, transA=1, transB=1, alpha=0.5)


# -- quantized -----------------------------------------------------------------------------------


def near(op_type, *arrays, **more):
    """As onnxruntime up to one step, in which a rounding may differ."""
    check(op_type, *arrays, domain=MS, outputs=[U8], rtol=0, atol=1, **more)


@pytest.mark.parametrize("op", ["QLinearLeakyRelu", "QLinearSigmoid"])
def test_quantized_activations(op):
    more = {"alpha": 0.2} if op == "QLinearLeakyRelu" else {}
    near(op, bytes_of(3, 70), scale(0.05), zero(120), scale(0.02), zero(3), **more)


@pytest.mark.parametrize("opset", [11, 13])
def test_quantized_softmax(opset):
    sides = scale(0.05), zero(120), scale(1 / 256), zero(0)
    near("QLinearSoftmax", bytes_of(2, 3, 5), *sides, axis=1, opset=opset)


@pytest.mark.parametrize("last", [0, 1])
def test_quantized_pooling(last):
    sides = scale(0.05), zero(120), scale(0.04), zero(100)
    near("QLinearGlobalAveragePool", bytes_of(2, 5, 6, 4), *sides, channels_last=last)
    pool = {"kernel_shape": [3, 2], "strides": [2, 1], "pads": [1, 0, 0, 1]}
    near("QLinearAveragePool", bytes_of(2, 5, 6, 4), *sides, channels_last=last, **pool)


def test_quantized_movement():
    parts = [(bytes_of(2, n), scale(0.02 * n), zero(n * 20)) for n in (3, 5)]
    near("QLinearConcat", scale(0.06), zero(90), *parts[0], *parts[1], axis=1)
    sides = [(bytes_of(2, 3), scale(0.02 * n), zero(n * 20)) for n in (3, 5)]
    condition = RANDOM.random((2, 3)) < 0.5
    near("QLinearWhere", condition, *sides[0], *sides[1], scale(0.06), zero(90))


def test_quantize_and_dequantize():
    x, scales, zeros = floats(3, 4), np.float32([0.1, 0.2, 0.3, 0.4]), whole(0, 9, 4, np.uint8)
    near("QuantizeLinear", x, scales, zeros, axis=1)
    check("DequantizeLinear", bytes_of(3, 4), scales, zeros, domain=MS, axis=1)


@pytest.mark.parametrize("real", [False, True])
def test_quantized_gemm(real):
    c = whole(-9, 9, 5, np.int32)
    inputs = [bytes_of(4, 3), scale(0.02), zero(9), bytes_of(5, 3), scale(0.05), zero(30), c]
    if real:
        check("QGemm", *inputs, domain=MS, transB=1, alpha=1.0)
    else:
        near("QGemm", *inputs, scale(0.5), zero(100), transB=1, alpha=1.0)


@pytest.mark.parametrize("direction", ["forward", "bidirectional"])
@pytest.mark.parametrize("per_channel", [False, True])
def test_dynamically_quantized_lstm(direction, per_channel):
    """Activations are rounded to 1/255 of their range, at each step."""
    count, hidden, width = 1 + (direction != "forward"), 6, 4
    shape = (count, 4 * hidden) if per_channel else (count,)
    sides = []
    for rows in (width, hidden):
        # Of 7 bits: ONNX Runtime adds pairs of products in 16 bits where there is no VNNI.
        sides.append(whole(-63, 64, (count, rows, 4 * hidden), np.int8))
    scales = [(RANDOM.uniform(0.002, 0.004, shape)).astype(np.float32) for _ in range(2)]
    inputs = [floats(5, 2, width), *sides, floats(count, 8 * hidden), None, None, None, None]
    for one in scales:
        inputs += [one, np.zeros(shape, np.int8)]
    made, given = model(
        "DynamicQuantizeLSTM", inputs, MS, [F] * 3, hidden_size=hidden, direction=direction
    )
    # Its kernel takes weights that are constants.
    names = [value.name for value in made.graph.input]
    fixed = [i for i, name in enumerate(names) if name != "x0"]
    for i in fixed:
        made.graph.initializer.append(onnx.numpy_helper.from_array(given[i], names[i]))
    del made.graph.input[1:]
    for a, b in zip(run(made, given[0]), by_onnxruntime(made, given[0]), strict=True):
        np.testing.assert_allclose(a, b, atol=1e-5)


def test_quantized_attention():
    x, w = bytes_of(2, 5, 8), whole(100, 156, (8, 24), np.uint8)
    inputs = [x, w, floats(24), scale(0.02), scale(0.03), None, zero(128), zero(127)]
    close = {"rtol": 1e-3, "atol": 1e-3}
    check("QAttention", *inputs, domain=MS, num_heads=2, **close)
    check("QAttention", *inputs, domain=MS, num_heads=2, mask_filter_value=-100.0, **close)


def test_inverse():
    check("Inverse", floats(2, 4, 4) + 3 * np.eye(4, dtype=np.float32), domain=MS, atol=1e-5)


def test_quantized_embeddings():
    tables = [bytes_of(9, 8), bytes_of(6, 8), bytes_of(2, 8), bytes_of(8), bytes_of(8)]
    mask = np.array([[1, 1, 1, 0, 0], [1] * 5], np.int32)
    scales = [np.array(s, np.float32) for s in (0.02, 0.03, 0.01, 0.005, 0.004)]
    zeros = [zero(z) for z in (120, 130, 110, 3, 125)]
    ids = [whole(0, 9, (2, 5), np.int32), whole(0, 2, (2, 5), np.int32)]
    check(
        "QEmbedLayerNormalization", *ids, *tables, mask, *scales, *zeros, domain=MS,
        outputs=[F, TensorProto.INT32],
    )  # fmt: skip


@pytest.mark.parametrize("kind", [0, 1], ids=["floats", "quantiles"])
def test_weights_of_bitsandbytes(kind):
    weights, scales = bytes_of(18 * 32 // 2), np.abs(floats(18 * 32 // 16))
    check(
        "MatMulBnb4", floats(3, 32), weights, scales, domain=MS, K=32, N=18, block_size=16,
        quant_type=kind,
    )  # fmt: skip
