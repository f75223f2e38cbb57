"""Operators of com.microsoft that ONNX Runtime has for CUDA only, against NumPy: on batches without
padding, on positions, and on complex numbers."""

from itertools import pairwise

import numpy as np
import pytest
from onnx import TensorProto

from .models import run
from .test_onnx_contributed import floats, model

F, I = TensorProto.FLOAT, TensorProto.INT32
LENGTHS = np.array([1, 4, 0, 3], np.int32)
ENDS = np.array([0, 1, 5, 5, 8], np.int32)
OFFSETS = np.array([0, 4, 5, 6, 7, 12, 13, 14, 1, 2, 3, 8, 9, 10, 11, 15], np.int32).reshape(4, 4)


def found(op_type, *arrays, outputs=(F,), **attributes):
    made, given = model(op_type, arrays, "com.microsoft", outputs, **attributes)
    return run(made, *given)


def softmax(x):
    e = np.exp(x - x.max(-1, keepdims=True))
    return e / e.sum(-1, keepdims=True)


def sigmoid(x):
    return 1 / (1 + np.exp(-x))


def test_padding_is_removed_and_restored():
    x = floats(4, 4, 5)
    tokens, offsets, ends, most = found("RemovePadding", x, LENGTHS, outputs=(F, I, I, I))
    np.testing.assert_array_equal(tokens, x.reshape(16, 5)[OFFSETS.flat[:8]])
    np.testing.assert_array_equal(offsets, OFFSETS)
    np.testing.assert_array_equal(ends, ENDS)
    np.testing.assert_array_equal(most, [4])
    (restored,) = found("RestorePadding", tokens, offsets)
    inside = np.arange(4) < LENGTHS[:, None]
    np.testing.assert_array_equal(restored, np.where(inside[..., None], x, 0))


def test_padding_of_nothing():
    lengths = np.zeros(2, np.int32)
    tokens, offsets, *_ = found("RemovePadding", floats(2, 3, 5), lengths, outputs=(F, I, I, I))
    assert tokens.shape == (0, 5)
    np.testing.assert_array_equal(offsets, np.arange(6).reshape(2, 3))


def attention(q, k, v, heads, scale, bias):
    """Of each sequence by itself, [N, H * D]."""
    out = np.empty_like(v)
    for i, (begin, end) in enumerate(pairwise(ENDS)):
        steps = end - begin
        if not steps:
            continue
        qs, ks, vs = (x[begin:end].reshape(steps, heads, -1).swapaxes(0, 1) for x in (q, k, v))
        scores = qs @ ks.swapaxes(1, 2) * scale
        if bias is not None:
            scores = scores + bias[i % len(bias), :, :steps, :steps]
        out[begin:end] = (softmax(scores) @ vs).swapaxes(0, 1).reshape(steps, -1)
    return out


@pytest.mark.parametrize("bias", [None, (1, 2, 4, 4), (4, 1, 4, 4)])
def test_packed_attention(bias):
    x, w, b = floats(8, 6), floats(6, 8 + 8 + 12), floats(28)
    added = None if bias is None else floats(*bias)
    given = {"num_heads": 2, "qkv_hidden_sizes": [8, 8, 12]}
    (y,) = found("PackedAttention", x, w, b, OFFSETS, ENDS, added, **given)
    q, k, v = np.split(x @ w + b, [8, 16], axis=1)
    np.testing.assert_allclose(y, attention(q, k, v, 2, 0.5, added), rtol=1e-4, atol=1e-5)


@pytest.mark.parametrize("packed", [False, True])
@pytest.mark.parametrize("biased", [False, True])
def test_packed_multi_head_attention(packed, biased):
    q, k, v = floats(8, 8), floats(8, 8), floats(8, 8)
    bias = floats(24) if biased else None
    parts = [np.stack([x.reshape(8, 2, 4) for x in (q, k, v)], 2), None, None]
    if not packed:
        parts = [q, k, v]
    (y,) = found("PackedMultiHeadAttention", *parts, bias, OFFSETS, ENDS, num_heads=2, scale=0.3)
    if bias is not None:
        q, k, v = (x + b for x, b in zip((q, k, v), np.split(bias, 3), strict=True))
    np.testing.assert_allclose(y, attention(q, k, v, 2, 0.3, None), rtol=1e-4, atol=1e-5)


@pytest.mark.parametrize("both", [0, 1])
def test_relative_position_bias(both):
    """As Transformers' T5 computes buckets."""
    table, rows, columns = floats(16, 3), 40, 50
    given = {"max_distance": 20, "is_bidirectional": both}
    stored = np.ascontiguousarray(table.T).reshape(16, 3)
    (y,) = found("RelativePositionBias", stored, np.array([rows]), np.array([columns]), **given)
    bias = np.empty((1, 3, rows, columns), np.float32)
    for i in range(rows):
        for j in range(columns):
            away, first, count = j - i, 0, 16
            if both:
                count, first, away = 8, 8 if away > 0 else 0, abs(away)
            else:
                away = max(-away, 0)
            exact = count // 2
            if away >= exact:
                ratio = np.log(np.float32(away / exact)) / np.float32(np.log(20 / exact))
                away = min(exact + int(ratio * (count - exact)), count - 1)
            bias[0, :, i, j] = table[first + away]
    np.testing.assert_array_equal(y, bias)


@pytest.mark.parametrize("packed", [False, True])
def test_gated_relative_position_bias(packed):
    query, own, near = floats(4, 4, 8), floats(8), floats(1, 2, 4, 4)
    weight, bias, factor = floats(4, 6), floats(6), floats(1, 2, 1, 1)
    given = query.reshape(16, 8)[OFFSETS.flat[:8]] if packed else query
    places = OFFSETS if packed else None
    arrays = (given, own, near, weight, bias, factor, places)
    (y,) = found("GatedRelativePositionBias", *arrays, num_heads=2)
    heads = (query + own).reshape(4, 4, 2, 4).transpose(0, 2, 1, 3)
    gates = sigmoid((heads @ weight + bias).reshape(4, 2, 4, 2, 3).sum(-1))
    update, reset = gates[..., :1], gates[..., 1:]
    expected = (update * (reset * factor - 1) + 2) * near
    for i, length in enumerate(LENGTHS if packed else [4] * 4):
        np.testing.assert_allclose(y[i, :, :length], expected[i, :, :length], rtol=1e-4, atol=1e-5)


def test_gemma_rotary_embedding():
    angles = floats(2, 3, 4)
    states = [floats(2, heads, 3, 4).astype(np.float16) for heads in (4, 4, 1, 1)]
    kinds = (TensorProto.FLOAT16,) * 2
    ys = found("GemmaRotaryEmbedding", angles, *states, outputs=kinds)
    cosine, sine = (f(angles[:, None]).astype(np.float16) for f in (np.cos, np.sin))
    for y, (x, turned) in zip(ys, (states[:2], states[2:]), strict=True):
        np.testing.assert_allclose(y, x * cosine + turned * sine, rtol=2e-3, atol=2e-3)


@pytest.mark.parametrize("size", [8, 30])
def test_spectra_of_rows(size):
    x, kinds = floats(2, 3, size), {"signal_ndim": 1, "onesided": 1, "normalized": 0}
    (y,) = found("Rfft", x, **kinds)
    expected = np.fft.rfft(x)
    np.testing.assert_allclose(y[..., 0] + 1j * y[..., 1], expected, rtol=1e-4, atol=1e-4)
    np.testing.assert_allclose(found("Irfft", y, **kinds)[0], x, rtol=1e-4, atol=1e-5)


def test_complex_products():
    a, b = floats(2, 3, 2), floats(3, 2)
    x, y = (v[..., 0] + 1j * v[..., 1] for v in (a, b))
    for name, expected in (("ComplexMul", x * y), ("ComplexMulConj", x * y.conj())):
        (z,) = found(name, a, b)
        np.testing.assert_allclose(z[..., 0] + 1j * z[..., 1], expected, rtol=1e-4, atol=1e-5)
