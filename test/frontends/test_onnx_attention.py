"""Inputs and attributes of com.microsoft's attention that few files have, and of its neighbours,
against ONNX Runtime."""

import numpy as np
import pytest
from onnx import TensorProto

from .onnx_operators import by_onnxruntime
from .test_onnx_contributed import check, floats, model, run, whole
from .test_onnx_decoders import compare_in_place

F = TensorProto.FLOAT
MS = "com.microsoft"
RANDOM = np.random.default_rng(5)


def test_caches_that_are_longer_than_what_they_hold():
    """The new key and value are stored behind the past ones, in place."""
    compare_in_place(
        "MultiHeadAttention",
        {6: 1, 7: 2},
        *(floats(2, 1, 16) for _ in range(3)),
        floats(48),
        None,
        None,
        *(floats(2, 2, 7, 8) for _ in range(2)),
        np.array([3], np.int32),
        outputs=(F, F, F),
        num_heads=2,
    )


@pytest.mark.parametrize("causal", [0, 1])
def test_scores_of_multi_head_attention(causal):
    """They have masks and biases added; those of keys that are not seen are finite."""
    check(
        "MultiHeadAttention",
        *(floats(2, 3, 16) for _ in range(3)),
        None,
        np.array([[1, 1, 1], [1, 1, 0]], np.int32),
        floats(1, 2, 3, 3),
        domain=MS,
        outputs=(F, F, F, F),
        num_heads=2,
        unidirectional=causal,
    )


@pytest.mark.parametrize("biased", [False, True])
def test_packed_queries_keys_and_values(biased):
    """As those that are separate: ONNX Runtime takes packed ones on devices only."""
    packed, bias = floats(2, 3, 2, 3, 8), floats(48) if biased else None
    made, given = model(
        "MultiHeadAttention", (packed, None, None, bias), MS, (F, F, F), num_heads=2
    )
    separate = [packed[:, :, :, i].reshape(2, 3, 16) for i in range(3)]
    other, parts = model("MultiHeadAttention", (*separate, bias), MS, (F, F, F), num_heads=2)
    for found, expected in zip(run(made, *given), by_onnxruntime(other, *parts), strict=True):
        np.testing.assert_allclose(found, expected, rtol=1e-4, atol=1e-5)


def test_packed_keys_and_values():
    query, packed = floats(2, 3, 16), floats(2, 5, 2, 2, 8)
    made, given = model("MultiHeadAttention", (query, packed), MS, (F,), num_heads=2)
    separate = [packed[:, :, :, i].reshape(2, 5, 16) for i in range(2)]
    other, parts = model("MultiHeadAttention", (query, *separate), MS, (F,), num_heads=2)
    (found,), (expected,) = run(made, *given), by_onnxruntime(other, *parts)
    np.testing.assert_allclose(found, expected, rtol=1e-4, atol=1e-5)


def test_mask_of_lengths_and_places():
    lengths, batch = np.array([2, 4, 1], np.int32), 3
    places = [lengths, np.arange(batch + 1) * 3, np.cumsum([0, *lengths])]
    mask = np.concatenate(places).astype(np.int32)
    x = floats(3, 3, 16), floats(3, 4, 16), floats(3, 4, 16)
    check("MultiHeadAttention", *x, None, mask, domain=MS, num_heads=2)


@pytest.mark.parametrize("of_each", [False, True])
def test_biases_for_a_part_of_a_cache(of_each):
    """A cache of 9 places holds 5 keys, and there are biases for these."""
    check(
        "GroupQueryAttention",
        *(floats(2, 1, 64), floats(2, 1, 32), floats(2, 1, 32)),
        *(floats(2, 2, 9, 16) for _ in range(2)),
        *(np.array([4, 2], np.int32), np.array(5, np.int32), None, None, None),
        floats(2, 4, 1, 5) if of_each else floats(1, 1, 1, 5),
        domain=MS,
        outputs=(F, F, F),
        num_heads=4,
        kv_num_heads=2,
    )


@pytest.mark.parametrize("shape", [(2, 4, 1, 5), (1, 4, 1, 5), (1, 1, 1, 5)])
def test_biases_of_open_extents(shape):
    """Whether they are for each sequence and head is known at run time only."""
    made, given = model(
        "GroupQueryAttention",
        (
            *(floats(2, 1, 64), floats(2, 1, 32), floats(2, 1, 32)),
            *(floats(2, 2, 4, 16) for _ in range(2)),
            *(np.array([4, 2], np.int32), np.array(5, np.int32), None, None, None, floats(*shape)),
        ),
        MS,
        (F, F, F),
        num_heads=4,
        kv_num_heads=2,
    )
    for i, dim in enumerate(made.graph.input[-1].type.tensor_type.shape.dim):
        dim.dim_param = f"b{i}"
    for found, expected in zip(run(made, *given), by_onnxruntime(made, *given), strict=True):
        np.testing.assert_allclose(found, expected, rtol=1e-4, atol=1e-5)


def test_scale_of_rotary_embedding_is_of_angles_that_are_not_given():
    angles = floats(9, 4)
    x = floats(2, 5, 16), whole(0, 9, (2, 5)), np.cos(angles), np.sin(angles)
    check("RotaryEmbedding", *x, domain=MS, num_heads=2, scale=0.5)


def test_vectors_are_not_transposed():
    check("FusedMatMul", floats(3, 2), floats(2), domain=MS, transB=1)
    check("FusedMatMul", floats(2), floats(2, 3), domain=MS, transA=1, alpha=-2.0)


def test_groups_of_the_padding_of_weights():
    """`g_idx` may have an element for each number of the last block, which K ends within."""
    groups = RANDOM.permutation(48) // 16
    made, given = model(
        "MatMulNBits",
        (
            *(floats(2, 40), whole(0, 256, (5, 3, 8), np.uint8), floats(5, 3), None),
            groups.astype(np.int32),
        ),
        MS,
        [F],
        K=40,
        N=5,
        bits=4,
        block_size=16,
    )
    np.testing.assert_allclose(
        run(made, *given)[0], by_onnxruntime(made, *given)[0], rtol=1e-3, atol=1e-4
    )


def test_pads_in_a_row():
    pads = np.array([[1, 0, 2, 1]])
    check("Pad", floats(3, 4), pads, np.array([2.5], np.float32), domain=MS, mode="constant")
