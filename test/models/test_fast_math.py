"""Without fast math, a model's floating-point operations are done as they stand."""

import nnc
import numpy as np
import onnx
import pytest
from nnc.dialects import nn, vector
from nnc.driver.compile import load_module, run_stages
from nnc.tools.nnc import main
from onnx import TensorProto, helper, numpy_helper
from onnx.reference import ReferenceEvaluator

from .small_models import small_cnn


def convolution() -> onnx.ModelProto:
    """3x3 on 32 channels: with fast math, one for Winograd."""
    random = np.random.default_rng(0)
    weight = random.standard_normal((32, 32, 3, 3)).astype(np.float32)
    graph = helper.make_graph(
        [helper.make_node("Conv", ["x", "w"], ["y"], pads=[1] * 4)],
        "g",
        [helper.make_tensor_value_info("x", TensorProto.FLOAT, [1, 32, 56, 56])],
        [helper.make_tensor_value_info("y", TensorProto.FLOAT, [1, 32, 56, 56])],
        [numpy_helper.from_array(weight, "w")],
    )
    return helper.make_model(graph, opset_imports=[helper.make_opsetid("", 20)])


def winograd_ops(fast_math: bool) -> int:
    module = load_module(convolution(), fast_math=fast_math)
    run_stages(module, last="simplify-graph")
    return sum(isinstance(op, nn.WinogradInput) for op in module.walk())


def test_no_winograd():
    assert winograd_ops(True) == 1
    assert winograd_ops(False) == 0


def test_winograd_of_any_number_of_images():
    model = convolution()
    for value in (*model.graph.input, *model.graph.output):
        value.type.tensor_type.shape.dim[0].dim_param = "N"
    module = load_module(model)
    run_stages(module, last="simplify-graph")
    assert any(isinstance(op, nn.WinogradInput) for op in module.walk())
    compiled, reference = nnc.compile(model), ReferenceEvaluator(model)
    for images in (1, 3, 0):
        x = np.random.default_rng(1).standard_normal((images, 32, 56, 56)).astype(np.float32)
        (expected,) = reference.run(None, {"x": x}) if images else [x]
        np.testing.assert_allclose(compiled(x), expected, rtol=1e-4, atol=1e-3)


def test_batch_norms_stay():
    def multiplied(fast_math: bool) -> int:
        module = load_module(small_cnn(), fast_math=fast_math)
        run_stages(module, last="simplify-graph")
        return sum(isinstance(op, nn.Mul | nn.BatchNorm) for op in module.walk())

    assert multiplied(True) == 0
    assert multiplied(False) > 0


@pytest.mark.parametrize("k", [1, 7, 64, 333])
def test_sums_keep_their_order(k: int):
    """In float32 one after the other, each product rounded with its sum at most once."""
    text = f"""
    func.func @main(%x: tensor<1x{k}xf32>, %w: tensor<{k}x1xf32>) -> tensor<1x1xf32> {{
      %y = nn.matmul %x, %w : (tensor<1x{k}xf32>, tensor<{k}x1xf32>) -> tensor<1x1xf32>
      return %y : tensor<1x1xf32>
    }}
    """
    random = np.random.default_rng(k)
    x = (random.standard_normal((1, k)) * 10.0 ** random.integers(-3, 4, (1, k))).astype("f4")
    w = np.ones((k, 1), np.float32)  # a product by one is exact, fused or not
    total = np.float32(0)
    for value in x[0]:
        total = np.float32(total + value)
    strict = nnc.compile(nnc.parse(text), fast_math=False)
    assert strict(x, w)[0, 0] == total


def divisions(fast_math: bool) -> int:
    """How many are left of one by a constant."""
    text = """
    func.func @main(%x: tensor<5x3xf32>) -> tensor<5x3xf32> attributes {nn.entry} {
      %c = nn.constant dense<[3.0, 1.0e-4, -7.0]> : tensor<3xf32>
      %y = nn.div %x, %c : (tensor<5x3xf32>, tensor<3xf32>) -> tensor<5x3xf32>
      return %y : tensor<5x3xf32>
    }"""
    module = load_module(nnc.parse(text), fast_math=fast_math)
    run_stages(module, last="simplify-graph")
    return sum(isinstance(op, nn.Div) for op in module.walk())


def test_division_by_constants():
    assert divisions(True) == 0
    assert divisions(False) == 1


def test_quotients_that_are_rounded():
    """Their last bit counts: 41 * f32(1 / 41) is below 1, a row's largest number is on a tie."""
    text = """
    func.func @main(%x: tensor<300x41xf32>, %same: tensor<300x41xf32>)
        -> (tensor<300x41xf32>, tensor<300x41xi32>, tensor<300xf32>) attributes {nn.entry} {
      %c = nn.constant dense<41.0> : tensor<f32>
      %d = nn.div %x, %c : (tensor<300x41xf32>, tensor<f32>) -> tensor<300x41xf32>
      %floor = nn.floor %d : (tensor<300x41xf32>) -> tensor<300x41xf32>
      %m = nn.reduce_max %x {axes = array<i64: 1>, keep_dims = true}
        : (tensor<300x41xf32>) -> tensor<300x1xf32>
      %h = nn.constant dense<127.5> : tensor<f32>
      %s = nn.div %m, %h : (tensor<300x1xf32>, tensor<f32>) -> tensor<300x1xf32>
      %i = nn.reciprocal %s : (tensor<300x1xf32>) -> tensor<300x1xf32>
      %q = nn.mul %x, %i : (tensor<300x41xf32>, tensor<300x1xf32>) -> tensor<300x41xf32>
      %r = nn.round %q : (tensor<300x41xf32>) -> tensor<300x41xf32>
      %codes = nn.cast %r : (tensor<300x41xf32>) -> tensor<300x41xi32>
      %mean = nn.reduce_mean %same {axes = array<i64: 1>}
        : (tensor<300x41xf32>) -> tensor<300xf32>
      return %floor, %codes, %mean : tensor<300x41xf32>, tensor<300x41xi32>, tensor<300xf32>
    }"""
    x = np.arange(300 * 41, dtype="f4").reshape(300, 41)
    same = np.repeat(x[:, :1] / 41, 41, axis=1)
    floor, codes, mean = nnc.compile(nnc.parse(text))(x, same)
    np.testing.assert_array_equal(floor, np.floor(x / np.float32(41)))
    rounded = np.round(x * (1 / (x.max(1, keepdims=True) / np.float32(127.5))))
    np.testing.assert_array_equal(codes, rounded.astype("i4"))
    np.testing.assert_array_equal(mean, same[:, 0])


def test_results_are_right():
    x = np.random.default_rng(1).standard_normal((1, 3, 35, 37)).astype(np.float32)
    fast, strict = (nnc.compile(small_cnn(), fast_math=f)(x) for f in (True, False))
    np.testing.assert_allclose(fast, strict, rtol=1e-4, atol=1e-6)


def test_command(tmp_path, capsys):
    file = tmp_path / "m.onnx"
    onnx.save(convolution(), file)
    for value, count in (("on", 1), ("off", 0)):
        folder = tmp_path / value
        assert main(["stages", str(file), "--fast-math", value, "-o", str(folder), "-q"]) == 0
        text = (folder / "1-simplify-graph.mlir").read_text()
        assert text.count("nn.winograd_input") == count
        assert ("nn.strict_math" in text) == (value == "off")


def one_op(op_type: str, shape: list[int], **attributes) -> onnx.ModelProto:
    graph = helper.make_graph(
        [helper.make_node(op_type, ["x"], ["y"], **attributes)],
        "g",
        [helper.make_tensor_value_info("x", TensorProto.FLOAT, shape)],
        [helper.make_tensor_value_info("y", TensorProto.FLOAT, None)],
    )
    return helper.make_model(graph, opset_imports=[helper.make_opsetid("", 20)])


@pytest.mark.parametrize("fast_math", [True, False])
def test_softmax_of_special_numbers(fast_math: bool):
    """A NaN makes its row NaN, wherever it is; what is small is 0 or nearly so."""
    x = np.random.default_rng(0).standard_normal((40, 37)).astype("f4") * 60
    rows = np.arange(37)
    x[rows, rows] = np.nan
    x[38] = -np.inf
    x[39, 5] = -np.inf
    y = nnc.compile(one_op("Softmax", [40, 37], axis=-1), fast_math=fast_math)(x)
    wide = x.astype("f8")
    with np.errstate(invalid="ignore"):
        powers = np.exp(wide - wide.max(axis=1, keepdims=True))
        expected = powers / powers.sum(axis=1, keepdims=True)
    assert np.isnan(y[:37]).all()
    np.testing.assert_allclose(y, expected, rtol=3e-6, atol=1e-37)


@pytest.mark.parametrize("fast_math", [True, False])
def test_max_pool_passes_over_nan(fast_math: bool):
    x = np.random.default_rng(1).standard_normal((1, 3, 9, 11)).astype("f4")
    x[0, 1, 4, 5] = np.nan
    x[0, 2, 6:] = np.nan
    model = one_op("MaxPool", [1, 3, 9, 11], kernel_shape=[3, 3])
    y = nnc.compile(model, fast_math=fast_math)(x)
    windows = np.lib.stride_tricks.sliding_window_view(x, (3, 3), axis=(2, 3))
    np.testing.assert_array_equal(y, np.fmax.reduce(windows, (4, 5), initial=-np.inf))


def test_lanes_of_a_maximum_that_passes_over_nan():
    """What its lanes hold are numbers: a processor combines them in pairs only where it knows."""
    module = load_module(one_op("Softmax", [40, 37], axis=-1))
    run_stages(module, last="vectors", target="x86-64-v4")
    (maximum,) = (
        op for op in module.walk() if isinstance(op, vector.Reduction) and op.kind == "maxnumf"
    )
    assert "nnan" in str(maximum.properties["fastmath"])


@pytest.mark.parametrize("fast_math", [True, False])
def test_swish_spelled_out(fast_math: bool):
    """x * sigmoid(x) is one quotient with fast math; special numbers are as the operators say."""
    graph = helper.make_graph(
        [helper.make_node("Sigmoid", ["x"], ["s"]), helper.make_node("Mul", ["x", "s"], ["y"])],
        "g",
        [helper.make_tensor_value_info("x", TensorProto.FLOAT, [7, 600])],
        [helper.make_tensor_value_info("y", TensorProto.FLOAT, [7, 600])],
    )
    model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", 20)])
    module = load_module(model, fast_math=fast_math)
    run_stages(module, last="simplify-graph")
    assert any(isinstance(op, nn.Swish) for op in module.walk()) == fast_math
    x = np.linspace(-110, 110, 4200, dtype="f4").reshape(7, 600)
    x[3, :4] = np.nan, np.inf, -np.inf, -0.0
    with np.errstate(invalid="ignore"):
        expected = x.astype("f8") / (1 + np.exp(-x.astype("f8")))
    y = nnc.compile(model, fast_math=fast_math)(x)
    np.testing.assert_allclose(y, expected, rtol=3e-7, atol=1e-36)
    assert np.signbit(y[3, 3])
