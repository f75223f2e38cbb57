"""Large products of halves, compiled: right beside float64, and the same with any number of threads."""

import nnc
import numpy as np
import onnx
import pytest
from nnc.dialects import nn
from nnc.driver.compile import load_module, run_stages
from onnx import TensorProto, helper, numpy_helper


def layer(x_shape: tuple, w_shape: tuple) -> onnx.ModelProto:
    """A product with a constant matrix, a bias and an activation; four extents are an image's."""
    random = np.random.default_rng(0)
    is_image = len(w_shape) == 4
    weight = random.standard_normal(w_shape).astype(np.float32) / 16
    bias = random.standard_normal((len(weight), 1, 1) if is_image else w_shape[-1:])
    graph = helper.make_graph(
        [
            helper.make_node("Conv" if is_image else "MatMul", ["x", "w"], ["a"]),
            helper.make_node("Add", ["a", "b"], ["c"]),
            helper.make_node("Relu", ["c"], ["y"]),
        ],
        "g",
        [helper.make_tensor_value_info("x", TensorProto.FLOAT, x_shape)],
        [helper.make_tensor_value_info("y", TensorProto.FLOAT, None)],
        [numpy_helper.from_array(weight, "w"), numpy_helper.from_array(bias.astype("f4"), "b")],
    )
    return helper.make_model(graph, opset_imports=[helper.make_opsetid("", 20)])


def reference(model: onnx.ModelProto, x: np.ndarray) -> np.ndarray:
    weight, bias = (numpy_helper.to_array(i).astype(np.float64) for i in model.graph.initializer)
    product = (
        np.einsum("nchw,mc->nmhw", x, weight[:, :, 0, 0], optimize=True)
        if x.ndim == 4
        else x.astype(np.float64) @ weight
    )
    return np.maximum(product + bias, 0)


def halved(model: onnx.ModelProto, **options) -> int:
    module = load_module(model, **options)
    run_stages(module, target="x86-64-v4", last="simplify-graph")
    return sum(isinstance(op, nn.StrassenInput) for op in module.walk())


@pytest.mark.sampled(4)
@pytest.mark.parametrize(
    "x_shape, w_shape, is_halved",
    [
        ((1, 250, 512), (512, 512), 1),  # blocks of 25 pairs of rows
        ((2, 106, 768), (768, 512), 1),  # 106 pairs in blocks of 2, sums of 384 numbers
        ((1, 1502, 512), (512, 1024), 1),  # a prime number of pairs: no blocks, in one kernel
        ((1, 1500, 512), (512, 1024), 1),  # transforms and products share loops
        ((1, 512, 28, 28), (512, 512, 1, 1), 1),
        ((2, 512, 13, 14), (256, 512, 1, 1), 1),  # pairs of pixels
        ((1, 512, 56, 56), (512, 512, 1, 1), 1),  # transforms and products share loops
        ((1, 251, 512), (512, 512), 1),  # with a row of zeros
        ((1, 250, 511), (511, 512), 0),
    ],
)
@pytest.mark.parametrize("threads", [1, 3])
def test_layers(x_shape, w_shape, is_halved, threads):
    model = layer(x_shape, w_shape)
    assert halved(model) == is_halved
    x = np.random.default_rng(1).standard_normal(x_shape).astype(np.float32)
    expected = reference(model, x)
    found = nnc.compile(model, threads=threads)(x)
    assert np.abs(found - expected).max() < 5e-6 * np.abs(expected).max()
    if threads > 1:
        assert np.array_equal(found, nnc.compile(model, threads=1)(x))


def test_math_as_written_is_not_halved():
    model = layer((1, 250, 512), (512, 512))
    assert halved(model) == 1
    assert halved(model, fast_math=False) == 0
