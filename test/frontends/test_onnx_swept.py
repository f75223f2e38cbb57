"""What a sweep over ONNX's operators found, against ONNX Runtime and the text of the standard."""

import nnc
import numpy as np
import onnx.parser
import onnxruntime
import pytest
from nnc.frontends.onnx import import_model
from nnc.ir.diagnostics import NncError

from .models import run

MAXPOOL = "<kernel_shape=[2, 2], strides=[2, 2], storage_order=1>"


@pytest.fixture
def rng():
    return np.random.default_rng(11)


def model(text, opset=21):
    return onnx.parser.parse_model(f'<ir_version: 9, opset_import: ["": {opset}]> agraph {text}')


def check(text, *arrays, opset=21, rtol=1e-6):
    """Interpreted and compiled, the model gives what ONNX Runtime gives."""
    made = model(text, opset)
    options = onnxruntime.SessionOptions()
    options.intra_op_num_threads = 1
    session = onnxruntime.InferenceSession(made.SerializeToString(), options)
    names = [i.name for i in session.get_inputs()]
    expected = session.run(None, dict(zip(names, arrays, strict=True)))
    compiled = nnc.compile(made, cache=False)(*arrays)
    compiled = compiled if isinstance(compiled, tuple | list) else [compiled]
    for found in (run(made, *arrays), compiled):
        for one, wanted in zip(found, expected, strict=True):
            assert one.dtype == wanted.dtype
            np.testing.assert_allclose(one, wanted, rtol=rtol)


@pytest.mark.parametrize("op", ["Softplus", "Mish"])
def test_small_exponentials_keep_their_digits(op):
    x = np.linspace(-40, 5, 41).astype(np.float32)
    soft = np.logaddexp(0, x.astype(np.float64))
    wanted = soft if op == "Softplus" else x * np.tanh(soft)
    made = model(f"(float[41] x) => (float[41] y) {{ y = {op}(x) }}")
    for found in (run(made, x)[0], nnc.compile(made, cache=False)(x)):
        np.testing.assert_allclose(found, wanted, rtol=2e-6)


def test_the_deviation_of_equal_numbers_is_that_of_epsilon():
    made = model(
        "(float[3,7] x, float[7] s) => (float[3,7] y, float[3,1] m, float[3,1] d)"
        "{ y, m, d = LayerNormalization(x, s) }"
    )
    x = np.full((3, 7), 1.7, np.float32)
    _, mean, deviation = run(made, x, np.ones(7, np.float32))
    np.testing.assert_allclose(mean, x[:, :1], rtol=1e-6)
    np.testing.assert_allclose(deviation, np.full((3, 1), 1e-5**-0.5), rtol=1e-4)


def test_layer_norm_of_doubles_has_statistics_in_single_precision(rng):
    made = model(
        "(double[3,7] x, double[7] s) => (double[3,7] y, float[3,1] m, float[3,1] d)"
        "{ y, m, d = LayerNormalization(x, s) }"
    )
    x = rng.standard_normal((3, 7))
    y, mean, deviation = run(made, x, np.ones(7))
    assert (y.dtype, mean.dtype, deviation.dtype) == (np.float64, np.float32, np.float32)
    np.testing.assert_allclose(mean, x.mean(1, keepdims=True), atol=1e-6)
    np.testing.assert_allclose(deviation, (x.var(1, keepdims=True) + 1e-5) ** -0.5, rtol=1e-5)


def test_rms_norm_has_the_type_of_its_scale(rng):
    made = model(
        "(float[3,7] x, float16[7] s) => (float16[3,7] y) { y = RMSNormalization(x, s) }", 23
    )
    x, scale = rng.standard_normal((3, 7)).astype(np.float32), np.full(7, 2, np.float16)
    (y,) = run(made, x, scale)
    wanted = x / np.sqrt((x.astype(np.float64) ** 2).mean(1, keepdims=True) + 1e-5) * 2
    assert y.dtype == np.float16
    np.testing.assert_allclose(y, wanted, rtol=2e-3)


@pytest.mark.parametrize("type", ["uint8", "int8", "int32"])
def test_means_of_integers_are_cut(type):
    x = np.array([[[[-7, 4, 90], [5, 6, -110]]]]).astype(type)
    attributes = 'mode="linear", coordinate_transformation_mode="asymmetric"'
    check(
        f"({type}[1,1,2,3] x) => ({type}[1,1,h,w] y) <float[4] s = {{1, 1, 2, 2}}>"
        f"{{ y = Resize<{attributes}>(x, , s) }}",
        x,
    )


def test_regions_in_double_are_read_in_double(rng):
    image = rng.standard_normal((1, 2, 9, 9))
    rois = np.array([[0.3, 1.1, 6.7, 7.9], [2.2, 0.4, 3.1, 8.3]])
    check(
        "(double[1,2,9,9] x, double[2,4] r, int64[2] b) => (double[2,2,3,3] y)"
        "{ y = RoiAlign<output_height=3, output_width=3, sampling_ratio=2>(x, r, b) }",
        image,
        rois,
        np.zeros(2, np.int64),
        rtol=1e-12,
    )


@pytest.mark.parametrize("x", [[0, 0, 0], [1, 2, 3], [-4, -2, -1], [-3, 0, 7]])
def test_a_range_without_extent_has_a_scale_of_one(x):
    check(
        "(float[3] x) => (uint8[3] y, float s, uint8 z) { y, s, z = DynamicQuantizeLinear(x) }",
        np.array(x, np.float32),
    )


def test_an_axis_means_nothing_without_broadcasting():
    text = "(float[2,3] x, float[2,3] y) => (float[2,3] z) { z = Mul<axis=1>(x, y) }"
    x = np.arange(6, dtype=np.float32).reshape(2, 3)
    np.testing.assert_array_equal(run(model(text, 6), x, x)[0], x * x)


def test_what_has_no_meaning_is_no_reason_to_refuse():
    x = np.arange(16, dtype=np.float32).reshape(1, 1, 4, 4)
    check(f"(float[1,1,4,4] x) => (float[1,1,2,2] y) {{ y = MaxPool{MAXPOOL}(x) }}", x)
    text = "(float[3] x, float s) => (uint8[3] y) { y = QuantizeLinear<block_size=2>(x, s) }"
    numbers, scale = np.array([1, 2, 3], np.float32), np.array(0.5, np.float32)
    np.testing.assert_array_equal(run(model(text), numbers, scale)[0], [2, 4, 6])


def test_a_precision_that_is_no_float_is_refused_by_name():
    made = model(
        "(float[1,2,3,4] q, float[1,2,3,4] k, float[1,2,3,4] v) => (float[1,2,3,4] y)"
        "{ y = Attention<softmax_precision=2>(q, k, v) }",
        23,
    )
    with pytest.raises(
        NncError, match="attribute 'softmax_precision' is 2, expected the code of a float"
    ):
        import_model(made)


def test_same_padding_counts_dilations(rng):
    """Two elements that are three apart reach over four: one element before, two behind."""
    x = rng.standard_normal((1, 1, 6)).astype(np.float32)
    made = model(
        "(float[1,1,6] x) => (float[1,1,6] y)"
        '{ y = LpPool<auto_pad="SAME_UPPER", kernel_shape=[2], dilations=[3]>(x) }',
        22,
    )
    padded = np.pad(x[0, 0].astype(np.float64), (1, 2))
    np.testing.assert_allclose(run(made, x)[0][0, 0], np.hypot(padded[:6], padded[3:]), rtol=1e-6)


EMPTY = {
    "tuples of no index": (
        "(int32[0,3] x, int64[2,0] i) => (int32[2,0,3] y) { y = GatherND(x, i) }",
        [np.zeros((0, 3), np.int32), np.zeros((2, 0), np.int64)],
        [np.zeros((2, 0, 3), np.int32)],
    ),
    "windows": (
        "(float[1,1,2,2] x) => (float[1,1,0,0] y, int64[1,1,0,0] i)"
        "{ y, i = MaxPool<kernel_shape=[3, 3]>(x) }",
        [np.ones((1, 1, 2, 2), np.float32)],
        [np.zeros((1, 1, 0, 0), np.float32), np.zeros((1, 1, 0, 0), np.int64)],
    ),
    "elements of a maximum": (
        "(float[2,0] x) => (float[2,0] y) { y = Hardmax<axis=0>(x) }",
        [np.zeros((2, 0), np.float32)],
        [np.zeros((2, 0), np.float32)],
    ),
    "places": (
        "(float[0,0] x) => (int64[0] y) { y = ArgMax<axis=0, keepdims=0>(x) }",
        [np.zeros((0, 0), np.float32)],
        [np.zeros(0, np.int64)],
    ),
}


@pytest.mark.parametrize("name", EMPTY)
def test_operators_on_empty_tensors(name):
    text, arrays, wanted = EMPTY[name]
    compiled = nnc.compile(model(text), cache=False)(*arrays)
    compiled = compiled if isinstance(compiled, tuple | list) else [compiled]
    for found in (run(model(text), *arrays), compiled):
        for one, other in zip(found, wanted, strict=True):
            assert (one.dtype, one.shape) == (other.dtype, other.shape)


def test_the_place_of_the_largest_of_nothing_is_refused():
    made = model("(float[0,3] x) => (int64[3] y) { y = ArgMax<axis=0, keepdims=0>(x) }")
    with pytest.raises(NncError, match="axis 0 of 'tensor<0x3xf32>' has no elements"):
        import_model(made)
