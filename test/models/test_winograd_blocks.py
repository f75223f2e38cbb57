"""Winograd's convolutions of large images: transforms and products over blocks of tile rows."""

import nnc
import numpy as np
import onnx
import pytest
from nnc.dialects import schedule
from nnc.driver.compile import load_module, run_stages
from onnx import TensorProto, helper, numpy_helper


def convolutions(shape: tuple, filters: int, stride: int, residual: bool) -> onnx.ModelProto:
    """Two 3x3 convolutions, the first to as many channels; dimensions may be names."""
    random = np.random.default_rng(0)
    channels = shape[1]
    first = random.standard_normal((channels, channels, 3, 3)).astype(np.float32) / 12
    second = random.standard_normal((filters, channels, 3, 3)).astype(np.float32) / 12
    nodes = [
        helper.make_node("Conv", ["x", "w"], ["a"], pads=[1] * 4),
        helper.make_node("Relu", ["a"], ["b"]),
        helper.make_node("Conv", ["b", "v"], ["c"], pads=[1] * 4, strides=[stride] * 2),
        helper.make_node("Add", ["c", "x"] if residual else ["c", "c"], ["d"]),
        helper.make_node("Relu", ["d"], ["y"]),
    ]
    graph = helper.make_graph(
        nodes,
        "g",
        [helper.make_tensor_value_info("x", TensorProto.FLOAT, shape)],
        [helper.make_tensor_value_info("y", TensorProto.FLOAT, None)],
        [numpy_helper.from_array(first, "w"), numpy_helper.from_array(second, "v")],
    )
    return helper.make_model(graph, opset_imports=[helper.make_opsetid("", 20)])


def conv(x: np.ndarray, w: np.ndarray, stride: int) -> np.ndarray:
    """A padded 3x3 convolution in float64."""
    padded = np.pad(x.astype(np.float64), ((0, 0), (0, 0), (1, 1), (1, 1)))
    rows, columns = ((d - 1) // stride + 1 for d in x.shape[2:])
    total = np.zeros((len(x), len(w), rows, columns))
    for i in range(3):
        for j in range(3):
            part = padded[:, :, i : i + x.shape[2] : stride, j : j + x.shape[3] : stride]
            total += np.einsum("mc,nchw->nmhw", w[:, :, i, j], part, optimize=True)
    return total


def reference(model: onnx.ModelProto, x: np.ndarray) -> np.ndarray:
    first, second = map(numpy_helper.to_array, model.graph.initializer)
    stride = model.graph.node[2].attribute[1].ints[0]
    products = conv(np.maximum(conv(x, first, 1), 0), second, stride)
    return np.maximum(products + (x if "x" in model.graph.node[3].input else products), 0)


def blocked_kernels(model: onnx.ModelProto) -> int:
    """Kernels in which a product shares a loop with a transform."""
    module = load_module(model)
    run_stages(module, last="schedule")
    names = [op.kernel for op in module.walk() if isinstance(op, schedule.For)]
    return sum("winograd_input" in n and "blocked_matmul" in n for n in names)


@pytest.mark.sampled(9)
@pytest.mark.parametrize(
    "shape, filters, stride, residual, blocked",
    [
        ((1, 32, 128, 128), 32, 1, True, 2),
        ((1, 32, 131, 126), 32, 1, True, 2),  # rows and columns that are not tiles
        ((2, 32, 96, 90), 48, 1, False, 2),
        ((1, 128, 110, 98), 128, 2, False, 2),
        ((1, 32, 40, 40), 32, 1, True, 0),  # all of it stays in the caches
    ],
)
@pytest.mark.parametrize("threads", [1, 3])
def test_blocks_of_tile_rows(shape, filters, stride, residual, blocked, threads):
    model = convolutions(shape, filters, stride, residual)
    assert blocked_kernels(model) == blocked
    x = np.random.default_rng(1).standard_normal(shape).astype(np.float32)
    expected = reference(model, x)
    found = nnc.compile(model, threads=threads)(x)
    assert np.abs(found - expected).max() < 1e-5 * np.abs(expected).max()


@pytest.mark.thorough
def test_any_number_of_images():
    model = convolutions(("N", 32, 160, 160), 32, 1, True)
    assert blocked_kernels(model) == 2
    run = nnc.compile(model)
    for images in (1, 3):
        x = np.random.default_rng(2).standard_normal((images, 32, 160, 160)).astype(np.float32)
        expected = reference(model, x)
        assert np.abs(run(x) - expected).max() < 1e-5 * np.abs(expected).max()


@pytest.mark.sampled(9)
@pytest.mark.parametrize(
    "channels, stride, residual", [(24, 1, True), (128, 1, False), (128, 2, False)]
)
@pytest.mark.parametrize("threads", [1, 3])
def test_images_of_unknown_extents(channels, stride, residual, threads):
    """Tiles cover any image; what they are too many is cut off."""
    model = convolutions((1, channels, "height", "width"), channels, stride, residual)
    module = load_module(model)
    run_stages(module, last="simplify-graph")
    assert "nn.winograd_output" in str(module)
    assert blocked_kernels(model) == 2
    run = nnc.compile(model, threads=threads)
    random = np.random.default_rng(1)
    for shape in ((1, 1), (1, 9), (4, 4), (5, 2), (13, 30), (16, 8), (130, 131)):
        x = random.standard_normal((1, channels, *shape)).astype(np.float32)
        expected = reference(model, x)
        assert np.abs(run(x) - expected).max() < 1e-5 * max(1.0, np.abs(expected).max())
