"""Operators of com.microsoft, regions and old operators against onnxruntime or NumPy."""

import numpy as np
import pytest
from nnc.ir.diagnostics import NncError
from onnx import TensorProto, helper

from .models import run
from .onnx_operators import by_onnxruntime

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


@pytest.mark.parametrize("queries", [1, 2, 5])
@pytest.mark.parametrize("keys", [1, 3, 5])
@pytest.mark.parametrize("past", [None, 2])
@pytest.mark.parametrize("dynamic", [False, True])
def test_causal_attention_between_other_lengths(queries, keys, past, dynamic):
    """A query sees the past and as many keys as queries up to itself, the last one all keys."""
    arrays = floats(1, queries, 8), floats(1, keys, 8), floats(1, keys, 8), None, None, None
    befores = () if past is None else (floats(1, 2, past, 4), floats(1, 2, past, 4))
    outputs = [TensorProto.FLOAT] * (1 if past is None else 3)
    made, given = model(
        "MultiHeadAttention", (*arrays, *befores), MS, outputs, num_heads=2, unidirectional=1
    )
    if dynamic:
        for i in range(3):
            made.graph.input[i].type.tensor_type.shape.dim[1].dim_param = "qkk"[i]
    for found, expected in zip(run(made, *given), by_onnxruntime(made, *given), strict=True):
        np.testing.assert_allclose(found, expected, rtol=1e-4, atol=1e-5)


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


@pytest.mark.parametrize("batch", [1, 2])
def test_keys_that_count_end_and_begin(batch):
    ends, begins = np.array([[5, 3], [2, 0]], np.int32)[:, :batch]
    x, weights = (floats(batch, 5, 8), floats(8, 24)), floats(24)
    mask = np.concatenate([ends, begins])
    check("Attention", *x, weights, mask, domain=MS, num_heads=2, mask_filter_value=-1000.0)


def test_a_filler_of_no_mask():
    x = floats(1, 5, 8), floats(8, 24), floats(24)
    check("Attention", *x, domain=MS, num_heads=2, mask_filter_value=-1000.0)


@pytest.mark.parametrize("batch", [1, 2])
def test_bounds_of_an_open_mask_are_counted(batch):
    """So many as sequences are ends, twice as many are ends and begins, others are an error."""
    arrays = floats(batch, 5, 8), floats(8, 24), floats(24)
    for bounds in ((5, 4)[:batch], (5, 4)[:batch] + (2, 0)[:batch], (5, 4, 2)):
        mask = np.array(bounds, np.int32)
        made, given = model("Attention", (*arrays, mask), MS, [TensorProto.FLOAT], num_heads=2)
        made.graph.input[3].type.tensor_type.shape.dim[0].dim_param = "m"
        made.graph.input[0].type.tensor_type.shape.dim[0].dim_param = "batch"
        if len(bounds) == 3:
            with pytest.raises(
                NncError, match="the mask has not one end, or one end and one begin"
            ):
                run(made, *given)
        else:
            expected = by_onnxruntime(made, *given)[0]
            np.testing.assert_allclose(run(made, *given)[0], expected, rtol=1e-4, atol=1e-5)


def test_heads_of_open_width_are_refused():
    arrays = floats(1, 5, 8), floats(1, 5, 8), floats(1, 5, 8), floats(24)
    made, given = model("MultiHeadAttention", arrays, MS, [TensorProto.FLOAT], num_heads=2)
    made.graph.input[0].type.tensor_type.shape.dim[2].dim_param = "h"
    with pytest.raises(NncError, match="the last extents of queries, keys and values must be"):
        run(made, *given)


def test_heads_that_only_a_bias_leaves_open():
    arrays = [floats(1, 2, 4, 8) for _ in range(2)]
    arrays = floats(1, 5, 16), *arrays, None, None, floats(1, 2, 5, 4)
    made, given = model("MultiHeadAttention", arrays, MS, [TensorProto.FLOAT], num_heads=2)
    made.graph.input[3].type.tensor_type.shape.dim[1].dim_param = "heads"
    expected = by_onnxruntime(made, *given)[0]
    np.testing.assert_allclose(run(made, *given)[0], expected, rtol=1e-4, atol=1e-5)


@pytest.mark.parametrize("interleaved", [0, 1])
def test_rotary_embedding(interleaved):
    angles = floats(16, 4)
    caches = np.cos(angles), np.sin(angles)
    for x, places in (
        (floats(2, 5, 24), whole(0, 16, (2, 5))),
        (floats(2, 3, 5, 8), whole(0, 9, 1)),
    ):
        check("RotaryEmbedding", x, places, *caches, domain=MS, interleaved=interleaved)
        more = {"num_heads": 3, "rotary_embedding_dim": 8}
        check("RotaryEmbedding", x, places, *caches, domain=MS, interleaved=interleaved, **more)


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
        **({"qk_output": 0, "k_quant_type": "NONE"} if rotary else {}),
    )


@pytest.mark.parametrize("given", [0, 1, 2])
@pytest.mark.parametrize(
    "more", [{}, {"local_window_size": 2, "smooth_softmax": 1}, {"causal": 0, "softcap": 1.5}]
)
def test_rows_behind_a_shorter_prompt_and_scores(given, more):
    """Steps behind the end of a sequence see no key behind it; scores are given as they are."""
    past = [floats(2, 1, 5, 16) for _ in range(2)]
    lengths, total = np.array([2, 1], np.int32), np.array(3, np.int32)
    prompt = floats(2, 3, 32), floats(2, 3, 16), floats(2, 3, 16), None, None, lengths, total
    step = floats(2, 1, 32), floats(2, 1, 16), floats(2, 1, 16), *past, lengths, total
    outputs = [TensorProto.FLOAT] * (4 if given else 3)
    more = more | {"num_heads": 2, "kv_num_heads": 1, "qk_output": given}
    for arrays in (prompt, step):
        check("GroupQueryAttention", *arrays, domain=MS, outputs=outputs, **more)


@pytest.mark.parametrize("steps", [1, 3])
def test_given_positions(steps):
    """Of a prompt the first position alone is read; the others follow it, in each sequence."""
    angles, held = floats(16, 8), steps == 1
    check(
        "GroupQueryAttention",
        *(floats(2, steps, 64 + 2 * 32), None, None),
        *((floats(2, 2, 6, 16), floats(2, 2, 6, 16)) if held else (None, None)),
        np.array([6, 3] if held else [2, 2], np.int32),
        np.array(7 if held else 3, np.int32),
        *(np.cos(angles), np.sin(angles), whole(1, 12, (2, steps), np.int64)),
        domain=MS,
        outputs=[TensorProto.FLOAT] * 3,
        num_heads=4,
        kv_num_heads=2,
        do_rotary=1,
    )


@pytest.mark.parametrize("smooth", [0, 1])
@pytest.mark.parametrize("heads", [None, 1, 4])
def test_scores_of_no_key(smooth, heads):
    """They are a sink's, or zeros; and those of keys have biases of all heads or of each."""
    check(
        "GroupQueryAttention",
        *(floats(2, 3, 64), floats(2, 3, 32), floats(2, 3, 32), None, None),
        np.array([2, 2], np.int32),
        np.array(3, np.int32),
        *(None, None, None, None if heads is None else floats(1, heads, 3, 3)),
        *(() if smooth else (floats(4),)),
        domain=MS,
        outputs=[TensorProto.FLOAT] * 3,
        num_heads=4,
        kv_num_heads=2,
        smooth_softmax=smooth,
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
    check("FusedMatMul", floats(3, 5), floats(5, 2), domain=MS, transBatchA=0, transBatchB=0)


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


# -- regions, grids and old loops ----------------------------------------------------------------


@pytest.mark.parametrize("scale", [1.0, 0.5])
def test_max_roi_pool(scale):
    corners = RANDOM.uniform(0, 20, (5, 2, 2))
    corners.sort(axis=1)
    regions = np.concatenate([np.array([[0], [1], [1], [0], [1]]), corners.reshape(5, 4)], axis=1)
    check(
        "MaxRoiPool",
        floats(2, 3, 14, 11),
        regions.astype(np.float32),
        pooled_shape=[3, 4],
        spatial_scale=scale,
    )


@pytest.mark.parametrize("size", [[1, 2, 3, 4], [3, 1, 2, 5], [1, 2, 2, 3, 4]], ids=str)
@pytest.mark.parametrize("aligned", [0, 1])
def test_affine_grid(size, aligned):
    """Also of one image, for which ONNX's own definition drops a dimension too many."""
    rank = len(size) - 2
    theta, lines = floats(size[0], rank, rank + 1), []
    for count in size[2:]:
        ends = 1 if aligned else 1 - 1 / count
        lines.append(np.linspace(-ends, ends, count))
    places = np.stack([*np.meshgrid(*lines, indexing="ij")[::-1], np.ones(size[2:])], -1)
    expected = np.einsum("nij,...j->n...i", theta, places)
    inputs = [theta, np.array(size)]
    made, given = model("AffineGrid", inputs, "", [TensorProto.FLOAT], align_corners=aligned)
    made.opset_import[0].version = 20
    (found,) = run(made, *given)
    np.testing.assert_allclose(found, expected, rtol=1e-5, atol=1e-5)


@pytest.mark.parametrize("directions", [[0], [1]])
def test_scan_of_a_batch(directions):
    """Opset 8: sequences of different lengths; behind their ends only the states count."""
    body = helper.make_graph(
        [helper.make_node("Add", ["s", "x"], ["t"]), helper.make_node("Mul", ["t", "x"], ["r"])],
        "body",
        [helper.make_tensor_value_info(n, TensorProto.FLOAT, [2]) for n in "sx"],
        [helper.make_tensor_value_info(n, TensorProto.FLOAT, [2]) for n in "tr"],
    )
    arrays = [np.array([4, 2, 3]), floats(3, 2), floats(3, 4, 2)]
    made, given = model(
        "Scan",
        arrays,
        "",
        [TensorProto.FLOAT] * 2,
        num_scan_inputs=1,
        body=body,
        directions=directions,
    )
    made.opset_import[0].version = 8
    last, rows = run(made, *given)
    for b, count in enumerate(arrays[0]):
        state, steps = arrays[1][b], arrays[2][b, :count]
        for t, x in enumerate(steps[::-1] if directions[0] else steps):
            state = state + x
            np.testing.assert_allclose(rows[b, t], state * x, rtol=1e-5, atol=1e-6)
        np.testing.assert_allclose(last[b], state, rtol=1e-5, atol=1e-6)
