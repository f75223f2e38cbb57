"""Operators of com.microsoft on tokens, text and images, and those that ONNX has taken back,
against ONNX Runtime."""

import numpy as np
import pytest
from onnx import TensorProto

from .models import run
from .onnx_operators import by_onnxruntime
from .test_onnx_contributed import floats, model, whole
from .test_onnx_decoders import compare

F, I32, I64, TEXT = (
    TensorProto.FLOAT,
    TensorProto.INT32,
    TensorProto.INT64,
    TensorProto.STRING,
)


def test_windows_of_a_dimension():
    compare("UnfoldTensor", floats(2, 7, 3), dim=1, size=3, step=2)
    compare("UnfoldTensor", floats(2, 7), size=3)


def test_unique_elements_as_they_come():
    compare("Unique", whole(0, 5, 20, np.float32), outputs=(F, I64, I64))


@pytest.mark.parametrize("given", [{}, {"past"}, {"offsets", "end"}, {"segments"}])
@pytest.mark.parametrize("resets", [0, 1])
def test_hashes_of_ngrams(given, resets):
    """With ends among the tokens, of which those before are forgotten."""
    past, segments = whole(0, 9, (2, 3)), np.sort(whole(0, 3, (2, 8), np.int32), axis=1)
    ends = np.array(4) if "end" in given or resets else None
    compare(
        "NGramHashMapping",
        whole(0, 9, (2, 8)),
        whole(1, 1 << 60, 4) | 1,
        np.array([11, 13, 17, 19, 23, 29]),
        past if "past" in given else None,
        np.arange(6) * 30 if "offsets" in given else None,
        ends,
        segments if "segments" in given else None,
        outputs=(I64, I64),
        max_ngram_size=4,
        n_head_per_ngram=2,
        pad_id=5,
        reset_on_eos=resets,
    )


@pytest.mark.parametrize("size", [1, 2, 3, 20])
def test_repeated_ngrams(size):
    compare("NGramRepeatBlock", whole(0, 4, (3, 12)), floats(3, 6), ngram_size=size)


@pytest.mark.parametrize("predicts", [False, True])
@pytest.mark.parametrize("shape", [(), (1,)])
def test_bifurcation_detector(predicts, shape):
    for length in range(1, 10):
        start = length // 3
        compare(
            "BifurcationDetector",
            whole(0, 3, length),
            whole(0, 3, 3),
            np.full(shape, start),
            whole(0, 3, length + 1 - start) if predicts else None,
            outputs=(I64, I64),
        )


@pytest.mark.parametrize("dtype", ["int32", "uint32", "int64", "uint64", "float32", "float64"])
def test_hash_of_numbers(dtype):
    x = whole(0, 1 << 30, (3, 4)) * (1 if dtype.endswith("32") else 12345)
    compare("MurmurHash3", x.astype(dtype), seed=7, outputs=(TensorProto.UINT32,))
    compare("MurmurHash3", x.astype(dtype), positive=0, outputs=(I32,))


def test_hash_of_text():
    x = np.array(["a", "", "hello", "helloworld!!", "äö", "日本語x"], object)
    made, given = model("MurmurHash3", [x], "com.microsoft", (TensorProto.UINT32,), seed=3)
    np.testing.assert_array_equal(run(made, *given)[0], by_onnxruntime(made, *given)[0])


@pytest.mark.parametrize(
    ("texts", "given"),
    [
        (["Hello World", "I love computer science !"], {"separators": [" "]}),
        ([["Hello World", "I love it"]], {"separators": [" "], "mincharnum": 2, "mark": 1}),
        (["Hello", "aäb"], {"separators": [""]}),
        (["a\nb", "c"], {"tokenexp": ".", "mark": 1}),
        (["a1b22", "c333d"], {"tokenexp": "[a-z]|[a-z][0-9]+"}),
        (["a;b,c;;d"], {"separators": [";", ","]}),
        (["foo--bar-baz"], {"separators": ["--", "-"]}),
        (["  ", ""], {"separators": [" "], "mark": 1}),
    ],
)
def test_tokenizer(texts, given):
    given = {"mincharnum": 1, "mark": 0, "pad_value": "#"} | given
    made, arrays = model("Tokenizer", [np.array(texts, object)], "com.microsoft", (TEXT,), **given)
    (found,), (expected,) = run(made, *arrays), by_onnxruntime(made, *arrays)
    assert found.tolist() == np.asarray(expected).tolist()


def test_word_embedding():
    words = whole(1, 20, (5, 9), np.int32)
    words[np.arange(9) >= np.array([[1], [3], [9], [2], [6]])] = 0
    compare("WordConvEmbedding", words, floats(6, 1, 3, 4), floats(6), floats(20, 4))


@pytest.mark.parametrize("shape", [(5, 7), (1, 6, 3), (1, 1), (1, 5), (6, 1)])
def test_dynamic_time_warping(shape):
    for costs in (floats(*shape), whole(0, 3, shape, np.float32)):
        compare("DynamicTimeWarping", costs, outputs=(I32,))


def test_products_of_16_bits():
    a, b = whole(-300, 300, (2, 3, 4), np.int16), whole(-300, 300, (2, 4, 5), np.int16)
    compare("MatMulInteger16", a, b, outputs=(I32,))


@pytest.mark.parametrize("mode", ["bilinear", "nearest"])
@pytest.mark.parametrize("size", [(4, 5), (1, 1), (1, 3)])
def test_crop_and_resize(mode, size):
    boxes = [[0, 0, 1, 1], [0.1, 0.2, 0.7, 0.9], [-0.2, 0.3, 1.3, 0.8], [0.8, 0.9, 0.1, 0.2]]
    compare(
        "CropAndResize",
        floats(2, 3, 7, 6),
        np.array(boxes, np.float32),
        np.array([0, 1, 1, 0], np.int32),
        np.array(size, np.int32),
        mode=mode,
        extrapolation_value=0.5,
    )


def test_transposed_convolution_with_pads():
    weight, pads, bias = floats(4, 3, 3, 3), np.array([1, 1, 0, 1]), floats(3)
    compare(
        "ConvTransposeWithDynamicPads", floats(2, 4, 5, 6), weight, pads, bias,
        strides=[2, 2], output_padding=[1, 0],
    )  # fmt: skip


@pytest.mark.parametrize(
    ("name", "given"),
    [
        ("Affine", {"alpha": 2.0, "beta": 0.5}),
        ("Scale", {"scale": 3.0}),
        ("ScaledTanh", {"alpha": 1.5, "beta": 0.3}),
        ("ParametricSoftplus", {"alpha": 1.5, "beta": 0.3}),
        ("ImageScaler", {"scale": 2.0, "bias": [0.1, 0.2, 0.3]}),
        ("Crop", {"border": [1, 2, 0, 1]}),
        ("Crop", {"border": [1, 2, 0, 0], "scale": [3, 2]}),
        ("DynamicSlice", {}),
    ],
)
def test_operators_taken_back(name, given):
    bounds = [np.array([1, 0]), np.array([9, -1]), np.array([2, 1])]
    arrays = [floats(2, 3, 6, 5), *(bounds if name == "DynamicSlice" else [])]
    made, arrays = model(name, arrays, "", (F,), **given)
    made.opset_import[0].version = 9
    (found,), (expected,) = run(made, *arrays), by_onnxruntime(made, *arrays)
    np.testing.assert_allclose(found, expected, rtol=1e-5, atol=1e-6)
