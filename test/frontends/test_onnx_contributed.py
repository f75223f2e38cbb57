"""Operators of com.microsoft and ai.onnx.ml against onnxruntime; random numbers by their moments."""

import numpy as np
import pytest
from onnx import TensorProto, helper

from .models import run
from .test_onnx_operators import by_onnxruntime

RANDOM = np.random.default_rng(3)


def model(op_type, arrays, domain, outputs, **attributes):
    """One node; inputs of None are left out, outputs have the types given."""
    names = [f"x{i}" if a is not None else "" for i, a in enumerate(arrays)]
    outs = [f"y{i}" if kind else "" for i, kind in enumerate(outputs)]
    node = helper.make_node(op_type, names, outs, "op", domain=domain, **attributes)
    given = [(n, a) for n, a in zip(names, arrays, strict=True) if n]
    graph = helper.make_graph(
        [node],
        "g",
        [
            helper.make_tensor_value_info(n, helper.np_dtype_to_tensor_dtype(a.dtype), a.shape)
            for n, a in given
        ],
        [
            helper.make_tensor_value_info(n, kind, None)
            for n, kind in zip(outs, outputs, strict=True)
            if n
        ],
    )
    opsets = [helper.make_opsetid("", 19)]
    if domain:
        opsets.append(helper.make_opsetid(domain, 3 if domain == "ai.onnx.ml" else 1))
    return helper.make_model(graph, opset_imports=opsets, ir_version=9), [a for _, a in given]


def check(op_type, *arrays, domain="", outputs=(TensorProto.FLOAT,), rtol=1e-4, atol=1e-5, **more):
    made, given = model(op_type, arrays, domain, outputs, **more)
    for found, expected in zip(run(made, *given), by_onnxruntime(made, *given), strict=True):
        expected = np.asarray(expected)
        assert (found.dtype, found.shape) == (expected.dtype, expected.shape)
        np.testing.assert_allclose(found, expected, rtol=rtol, atol=atol)


def floats(*shape):
    return RANDOM.standard_normal(shape).astype(np.float32)


def whole(low, high, shape, dtype: type = np.int64):
    return RANDOM.integers(low, high, shape).astype(dtype)


# -- detectors -----------------------------------------------------------------------------------


@pytest.mark.parametrize("center", [0, 1])
@pytest.mark.parametrize("threshold", [None, np.float32(0.6)])
def test_non_max_suppression(center, threshold):
    boxes, scores = RANDOM.random((2, 40, 4)), RANDOM.random((2, 3, 40))
    scores[0, 1, ::3] = 0.7  # equal scores
    check(
        "NonMaxSuppression",
        boxes.astype(np.float32),
        scores.astype(np.float32),
        np.array([8]),
        np.array([0.4], np.float32),
        None if threshold is None else threshold.reshape(1),
        outputs=[TensorProto.INT64],
        center_point_box=center,
    )


@pytest.mark.parametrize("ratio", [0, 2])
@pytest.mark.parametrize("mode", ["avg", "max"])
@pytest.mark.parametrize("half", ["half_pixel", "output_half_pixel"])
def test_roi_align(ratio, mode, half):
    corners = RANDOM.uniform(-3, 30, (5, 2, 2))
    corners.sort(axis=1)
    check(
        "RoiAlign",
        floats(2, 3, 14, 11),
        corners.reshape(5, 4).astype(np.float32),
        np.array([0, 1, 1, 0, 1]),
        mode=mode,
        sampling_ratio=ratio,
        output_height=3,
        output_width=4,
        spatial_scale=0.5,
        coordinate_transformation_mode=half,
    )


# -- signals -------------------------------------------------------------------------------------


@pytest.mark.parametrize("size", [30, 47, 96, 128])
@pytest.mark.parametrize("onesided", [0, 1])
def test_dft_of_sizes_with_factors(size, onesided):
    x = floats(2, size, 1)
    made, given = model("DFT", [x], "", [TensorProto.FLOAT], axis=1, onesided=onesided)
    (found,) = run(made, *given)
    expected = (np.fft.rfft if onesided else np.fft.fft)(x[..., 0], axis=1)
    np.testing.assert_allclose(found[..., 0] + 1j * found[..., 1], expected, atol=2e-4)


# -- random numbers --------------------------------------------------------------------------------


def test_random_numbers():
    """Moments within five standard errors; the same in each run, others for another seed."""
    shape = [400, 250]
    made, _ = model("RandomUniform", [], "", [TensorProto.FLOAT], shape=shape, seed=1.0, low=-1.0)
    (x,), (again,) = run(made), run(made)
    np.testing.assert_array_equal(x, again)
    assert abs(x.mean()) < 5 / np.sqrt(3 * x.size) and x.min() >= -1 and x.max() < 1
    assert abs((x * x).mean() - 1 / 3) < 5 * 0.3 / np.sqrt(x.size)
    rows = x - x.mean()
    assert abs((rows[:, 1:] * rows[:, :-1]).mean()) < 5 / 3 / np.sqrt(x.size)
    made, _ = model("RandomNormal", [], "", [TensorProto.DOUBLE], shape=shape, dtype=11, seed=2.0)
    (y,) = run(made)
    assert y.dtype == np.float64 and abs(y.mean()) < 5 / np.sqrt(y.size)
    assert abs((y * y).mean() - 1) < 5 * np.sqrt(2 / y.size)
    assert abs(np.corrcoef(x.ravel(), y.ravel())[0, 1]) < 5 / np.sqrt(x.size)


def test_multinomial_bernoulli_and_dropout():
    chances = np.array([[0.1, 0.2, 0.7], [0.5, 0.5, 0.0]])
    logits = np.log(chances + 1e-30).astype(np.float32)
    made, given = model("Multinomial", [logits], "", [TensorProto.INT32], sample_size=20000)
    (found,) = run(made, *given)
    for row, expected in zip(found, chances, strict=True):
        counts = np.bincount(row, minlength=3) / row.size
        np.testing.assert_allclose(counts, expected, atol=5 * 0.5 / np.sqrt(row.size))
    x = np.full((100, 200), 0.3, np.float32)
    made, given = model("Bernoulli", [x], "", [TensorProto.FLOAT])
    (found,) = run(made, *given)
    assert set(np.unique(found)) == {0, 1} and abs(found.mean() - 0.3) < 5 * 0.46 / np.sqrt(x.size)
    inputs = [x, np.array(0.25, np.float32), np.array(True)]
    made, given = model("Dropout", inputs, "", [TensorProto.FLOAT, TensorProto.BOOL])
    y, mask = run(made, *given)
    np.testing.assert_allclose(y, np.where(mask, x / 0.75, 0), rtol=1e-6)
    assert abs(mask.mean() - 0.75) < 5 * 0.43 / np.sqrt(x.size)


# -- old opsets ------------------------------------------------------------------------------------


def test_opset_before_6():
    """Reshape had its shape in an attribute, and Relu one that told what it overwrote."""
    nodes = [
        helper.make_node("Reshape", ["x"], ["r"], shape=[2, 3, 4]),
        helper.make_node("Relu", ["r"], ["y"], consumed_inputs=[0]),
    ]
    made = helper.make_model(
        helper.make_graph(
            nodes,
            "g",
            [helper.make_tensor_value_info("x", TensorProto.FLOAT, (6, 4))],
            [helper.make_tensor_value_info("y", TensorProto.FLOAT, (2, 3, 4))],
        ),
        opset_imports=[helper.make_opsetid("", 4)],
        ir_version=3,
    )
    x = floats(6, 4)
    (found,) = run(made, x)
    np.testing.assert_array_equal(found, np.maximum(x, 0).reshape(2, 3, 4))


# -- com.microsoft ---------------------------------------------------------------------------------

MS = "com.microsoft"


@pytest.mark.parametrize("mask", [None, (2,), (2, 7)])
@pytest.mark.parametrize("causal", [0, 1])
def test_multi_head_attention(mask, causal):
    given = None if mask is None else whole(1, 7, mask, np.int32) if len(mask) == 1 else None
    if mask == (2, 7):
        given = np.array([[1, 1, 1, 1, 1, 0, 0], [1] * 7], np.int32)
    check(
        "MultiHeadAttention",
        floats(2, 4 if not causal else 7, 8),
        floats(2, 7, 8),
        floats(2, 7, 8),
        floats(24),
        given,
        domain=MS,
        num_heads=2,
        unidirectional=causal,
    )


@pytest.mark.parametrize("causal", [0, 1])
def test_attention(causal):
    check(
        "Attention",
        floats(2, 5, 8),
        floats(8, 24),
        floats(24),
        np.array([5, 3], np.int32) if not causal else None,
        domain=MS,
        num_heads=2,
        unidirectional=causal,
    )


@pytest.mark.parametrize("interleaved", [0, 1])
def test_rotary_embedding(interleaved):
    angles = floats(16, 4)
    caches = np.cos(angles), np.sin(angles)
    for x, places in (
        (floats(2, 5, 24), whole(0, 16, (2, 5))),
        (floats(2, 3, 5, 8), whole(0, 9, 1)),
    ):
        check("RotaryEmbedding", x, places, *caches, domain=MS, interleaved=interleaved)


@pytest.mark.parametrize("rotary", [0, 1])
@pytest.mark.parametrize("window", [-1, 3])
@pytest.mark.parametrize("steps", [1, 6])
def test_group_query_attention(rotary, window, steps):
    """A prompt, or one more token behind caches that are filled differently."""
    angles = floats(16, 8)
    held = steps == 1
    past = [floats(2, 2, 9, 16) if held else floats(2, 2, 0, 16) for _ in range(2)]
    check(
        "GroupQueryAttention",
        floats(2, steps, 64),
        floats(2, steps, 32),
        floats(2, steps, 32),
        *past,
        np.array([8, 8] if held else [5, 5], np.int32),
        np.array(9 if held else 6, np.int32),
        *((np.cos(angles), np.sin(angles)) if rotary else ()),
        domain=MS,
        outputs=[TensorProto.FLOAT] * 3,
        num_heads=4,
        kv_num_heads=2,
        do_rotary=rotary,
        local_window_size=window,
    )


def test_embed_layer_normalization():
    check(
        "EmbedLayerNormalization",
        whole(0, 9, (2, 5), np.int32),
        whole(0, 2, (2, 5), np.int32),
        floats(9, 8),
        floats(6, 8),
        floats(2, 8),
        floats(8),
        floats(8),
        np.array([[1, 1, 1, 0, 0], [1] * 5], np.int32),
        domain=MS,
        outputs=[TensorProto.FLOAT, TensorProto.INT32],
    )


def test_fused_matmul_with_the_batch_behind():
    check("FusedMatMul", floats(4, 3, 5), floats(3, 5, 2), domain=MS, transBatchA=1, alpha=0.5)


@pytest.mark.parametrize("op", ["QLinearAdd", "QLinearMul"])
def test_quantized_arithmetic(op):
    scales = [np.array(s, np.float32) for s in (0.1, 0.05, 0.3)]
    zeros = [np.array(z, np.uint8) for z in (120, 90, 100)]
    a, b = (whole(0, 256, (6, 7), np.uint8) for _ in range(2))
    made = [a, scales[0], zeros[0], b, scales[1], zeros[1], scales[2], zeros[2]]
    check(op, *made, domain=MS, outputs=[TensorProto.UINT8], atol=1)


@pytest.mark.parametrize("zeros", [False, True])
@pytest.mark.parametrize("bits", [4, 8])
def test_matmul_of_few_bits(zeros, bits):
    count, block = 3, 16
    packed = whole(0, 256, (5, count, block * bits // 8), np.uint8)
    points = whole(0, 256, (5, -(-count * bits // 8)), np.uint8) if zeros else None
    check(
        "MatMulNBits",
        floats(2, 4, 40),
        packed,
        floats(5, count),
        points,
        domain=MS,
        K=40,
        N=5,
        bits=bits,
        block_size=block,
        rtol=1e-3,
        atol=1e-3 if bits == 4 else 2e-2,
    )


def test_dynamically_quantized_matmul():
    weights = whole(0, 256, (6, 5), np.uint8)
    scale, zero = np.array(0.02, np.float32), np.array(110, np.uint8)
    check("DynamicQuantizeMatMul", floats(4, 6), weights, scale, zero, floats(5), domain=MS)


# -- ai.onnx.ml ------------------------------------------------------------------------------------

ML = "ai.onnx.ml"


def forest(kind, targets, positive=False):
    """Attributes of trees of depth 3 that compare 4 features."""
    nodes = [(tree, i) for tree in range(5) for i in range(15)]
    inner = [i < 7 for _, i in nodes]
    weights = RANDOM.uniform(0.05 if positive else -1, 0.2 if positive else 1, 5 * 8)
    leaves = [(t, i) for (t, i), is_inner in zip(nodes, inner, strict=True) if not is_inner]
    return {
        "nodes_treeids": [t for t, _ in nodes],
        "nodes_nodeids": [i for _, i in nodes],
        "nodes_featureids": [int(f) for f in RANDOM.integers(0, 4, len(nodes))],
        "nodes_values": [float(v) for v in floats(len(nodes))],
        "nodes_modes": ["BRANCH_LEQ" if is_inner else "LEAF" for is_inner in inner],
        "nodes_truenodeids": [2 * i + 1 if i < 7 else 0 for _, i in nodes],
        "nodes_falsenodeids": [2 * i + 2 if i < 7 else 0 for _, i in nodes],
        "nodes_missing_value_tracks_true": [i % 2 for _, i in nodes],
        f"{kind}_treeids": [t for t, _ in leaves],
        f"{kind}_nodeids": [i for _, i in leaves],
        f"{kind}_ids": [int(c) for c in RANDOM.integers(0, targets, len(leaves))],
        f"{kind}_weights": [float(w) for w in weights],
    }


@pytest.mark.parametrize("aggregate", ["SUM", "AVERAGE", "MIN", "MAX"])
@pytest.mark.parametrize("targets", [1, 3])
def test_tree_regressor(aggregate, targets):
    x = floats(20, 4)
    x[3, 1] = np.nan
    trees = forest("target", targets)
    check(
        "TreeEnsembleRegressor",
        x,
        domain=ML,
        n_targets=targets,
        aggregate_function=aggregate,
        **trees,
    )


@pytest.mark.parametrize("post", ["NONE", "LOGISTIC", "SOFTMAX", "SOFTMAX_ZERO"])
@pytest.mark.parametrize("classes", [1, 3])
@pytest.mark.parametrize("positive", [False, True])
def test_tree_classifier(post, classes, positive):
    """With one class of leaves, there are two classes."""
    if classes == 1 and post.startswith("SOFTMAX"):
        return
    check(
        "TreeEnsembleClassifier",
        floats(20, 4),
        domain=ML,
        outputs=[TensorProto.INT64, TensorProto.FLOAT],
        classlabels_int64s=[7, 5, 9][: max(classes, 2)],
        post_transform=post,
        **forest("class", classes, positive),
    )


@pytest.mark.parametrize("post", ["NONE", "LOGISTIC", "SOFTMAX"])
@pytest.mark.parametrize("classes", [1, 3])
def test_linear_classifier(post, classes):
    if classes == 1 and post == "SOFTMAX":
        return
    check(
        "LinearClassifier",
        floats(6, 4),
        domain=ML,
        outputs=[TensorProto.INT64, TensorProto.FLOAT],
        classlabels_ints=[7, 5, 9][: max(classes, 2)],
        coefficients=[float(v) for v in floats(classes * 4)],
        intercepts=[float(v) for v in floats(classes)],
        post_transform=post,
    )


@pytest.mark.parametrize("kernel", ["LINEAR", "POLY", "RBF", "SIGMOID"])
def test_svm_regressor(kernel):
    check(
        "SVMRegressor",
        floats(6, 4),
        domain=ML,
        kernel_type=kernel,
        kernel_params=[0.5, 0.25, 3.0],
        n_supports=5,
        support_vectors=[float(v) for v in floats(20)],
        coefficients=[float(v) for v in floats(5)],
        rho=[0.5],
    )


def test_features():
    x = floats(5, 4)
    check("LinearRegressor", x, domain=ML, coefficients=[1.0, 2.0, 3.0, 4.0] * 2, targets=2)
    check("Scaler", x, domain=ML, offset=[0.5, 1.0, 0.0, 2.0], scale=[2.0, 1.0, 3.0, 0.5])
    for norm in ("MAX", "L1", "L2"):
        check("Normalizer", np.abs(x), domain=ML, norm=norm)
    gaps = np.where(x > 0.5, np.nan, x).astype(np.float32)
    values = {"imputed_value_floats": [1.0, 2.0, 3.0, 4.0], "replaced_value_float": float("nan")}
    check("Imputer", gaps, domain=ML, **values)
    check("OneHotEncoder", whole(0, 5, (3, 2)), domain=ML, cats_int64s=[1, 4, 0])
    check("FeatureVectorizer", x, floats(5, 2), domain=ML, inputdimensions=[4, 2])


def test_label_encoder():
    keys, values = [5, 1, 9, 4, 12], [0.5, 1.5, 2.5, 3.5, 4.5]
    more = {"keys_int64s": keys, "values_floats": values, "default_float": -2.0}
    check("LabelEncoder", np.arange(-1, 14), domain=ML, **more)
