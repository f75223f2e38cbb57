"""Quantized operators where a result is half way between two integers, against exact numbers and
ONNX Runtime.
"""

import nnc
import numpy as np
import pytest
from numpy.lib.stride_tricks import sliding_window_view
from onnx import TensorProto, helper

from .models import initializer, run
from .onnx_operators import by_onnxruntime
from .test_onnx_contributed import MS, check

BYTES = {np.uint8: TensorProto.UINT8, np.int8: TensorProto.INT8}


def averaged(op, shape, kind, scale, zero, **attributes):
    """A model: integers as numbers, their averages, and these as integers by the same scale."""
    weights = [initializer("s", np.float32(scale)), initializer("z", np.array(zero, kind))]
    nodes = [
        helper.make_node("DequantizeLinear", ["q", "s", "z"], ["a"]),
        helper.make_node(op, ["a"], ["p"], **attributes),
        helper.make_node("QuantizeLinear", ["p", "s", "z"], ["y"]),
    ]
    ends = [("q", shape), ("y", None)]
    infos = [helper.make_tensor_value_info(name, BYTES[kind], shape) for name, shape in ends]
    graph = helper.make_graph(nodes, "g", infos[:1], infos[1:], weights)
    return helper.make_model(graph, opset_imports=[helper.make_opsetid("", 19)], ir_version=9)


@pytest.mark.sampled(3)
@pytest.mark.parametrize("kind", BYTES)
@pytest.mark.parametrize("batch", [2, "n"])
@pytest.mark.parametrize("kernel", [2, 6])
def test_averages_by_the_same_scale_are_exact(kind, batch, kernel):
    """Of 1, 2, 2 and 1 steps of 0.1 each the mean is 1.5 steps, which is rounded to 2; as floats
    of 32 bits it is 1.4999999.
    """
    limits = np.iinfo(kind)
    q = np.random.default_rng(0).integers(limits.min, limits.max + 1, (2, 40, 6, 6), kind)
    for scale in (0.1, 0.0117, 6 / 255):
        made = averaged(
            "AveragePool", (batch, 40, 6, 6), kind, scale, 3, kernel_shape=[kernel, kernel]
        )
        windows = sliding_window_view(q.astype(float) - 3, (kernel, kernel), (2, 3))
        wanted = np.clip(np.rint(windows.mean((-1, -2))) + 3, limits.min, limits.max)
        np.testing.assert_array_equal(nnc.compile(made, cache=False)(q), wanted)


def test_windows_with_padding_and_whole_images_are_exact():
    q = np.random.default_rng(1).integers(0, 256, (1, 200, 4, 3), np.uint8)
    steps = q.astype(float) - 8
    made = averaged(
        "AveragePool", q.shape, np.uint8, 0.1, 8, kernel_shape=[2, 2], pads=[0, 1, 0, 1]
    )
    gone = np.pad(steps, ((0, 0), (0, 0), (0, 0), (1, 1)), constant_values=np.nan)
    wanted = np.nanmean(sliding_window_view(gone, (2, 2), (2, 3)), axis=(-1, -2))
    found = nnc.compile(made, cache=False)(q)
    np.testing.assert_array_equal(found, np.clip(np.rint(wanted) + 8, 0, 255))
    whole = averaged("GlobalAveragePool", q.shape, np.uint8, 0.1, 8)
    wanted = np.rint(steps.mean((2, 3), keepdims=True)) + 8
    np.testing.assert_array_equal(nnc.compile(whole, cache=False)(q), wanted)


@pytest.mark.parametrize("kind", BYTES)
@pytest.mark.parametrize("op", ["QLinearAdd", "QLinearMul"])
@pytest.mark.parametrize("zero", [0, 7])
def test_halves_are_rounded_with_the_zero_point(kind, op, zero):
    """All pairs of bytes, by scales for which half of the results are half way."""
    limits = np.iinfo(kind)
    every = np.arange(limits.min, limits.max + 1).astype(kind)
    a, b = np.meshgrid(every, every)
    for scales in ((0.1, 0.1, 0.2), (0.03, 0.06, 0.06), (0.013, 0.027, 0.041)):
        p, q, y = (np.array(scale, np.float32) for scale in scales)
        y = np.array(y * p * 40, np.float32) if op == "QLinearMul" else y
        zeros = [np.array(z, kind) for z in (zero, zero - 4 if zero else 0, zero)]
        given = (a, p, zeros[0], b, q, zeros[1], y, zeros[2])
        check(op, *given, domain=MS, outputs=[BYTES[kind]], rtol=0, atol=0)


def test_pools_of_halves_are_rounded_with_the_zero_point():
    x = np.random.default_rng(2).integers(0, 256, (1, 8, 16, 16), np.uint8)
    scale, zero = np.array(0.5, np.float32), np.array(3, np.uint8)
    check(
        "QLinearAveragePool",
        *(x, scale, zero, scale, zero),
        domain=MS,
        outputs=[TensorProto.UINT8],
        rtol=0,
        atol=0,
        kernel_shape=[2, 2],
    )


@pytest.mark.parametrize("direction", ["forward", "bidirectional"])
def test_steps_behind_all_sequences_have_no_part_in_their_range(direction):
    """Inputs a hundred times as large behind the ends would leave no bits for those before."""
    rng = np.random.default_rng(3)
    D, batch, steps, size, hidden = 1 + (direction != "forward"), 3, 7, 5, 6
    x = rng.standard_normal((steps, batch, size)).astype(np.float32)
    x[4:] *= 100
    names = ("W", "R", "L", "Ws", "Wz", "Rs", "Rz")
    zero = np.zeros(D, np.int8)
    weights = [
        rng.integers(-128, 128, (D, size, 4 * hidden), np.int8),
        rng.integers(-128, 128, (D, hidden, 4 * hidden), np.int8),
        *(np.full(batch, 4, np.int32), np.full(D, 0.004, np.float32), zero),
        *(np.full(D, 0.006, np.float32), zero),
    ]
    made = helper.make_node(
        "DynamicQuantizeLSTM",
        ["x", "W", "R", "", "L", "", "", "", *names[3:]],
        ["y", "h", "c"],
        domain=MS,
        hidden_size=hidden,
        direction=direction,
    )
    ends = [("x", x.shape), *((name, None) for name in "yhc")]
    infos = [helper.make_tensor_value_info(name, TensorProto.FLOAT, shape) for name, shape in ends]
    held = [initializer(*pair) for pair in zip(names, weights, strict=True)]
    model = helper.make_model(
        helper.make_graph([made], "g", infos[:1], infos[1:], held),
        opset_imports=[helper.make_opsetid("", 17), helper.make_opsetid(MS, 1)],
        ir_version=9,
    )
    for found, wanted in zip(run(model, x), by_onnxruntime(model, x), strict=True):
        np.testing.assert_allclose(found, wanted, atol=1e-6)
