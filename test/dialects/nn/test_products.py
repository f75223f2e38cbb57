"""Matrix products, convolutions and poolings against ONNX's reference and onnxruntime."""

from __future__ import annotations

import ml_dtypes
import numpy as np
import pytest
from nnc.dialects import nn
from nnc.ir.comprehension_numpy import evaluate
from nnc.ir.core import Block
from nnc.ir.diagnostics import VerifyError
from nnc.ir.types import TensorType, f32

from .reference import close, run, runtime


@pytest.mark.parametrize(
    "a,b",
    [
        ((4, 5), (5, 6)),
        ((2, 4, 5), (5, 6)),
        ((2, 1, 4, 5), (3, 5, 6)),
        ((5,), (5, 6)),
        ((4, 5), (5,)),
        ((5,), (5,)),
        ((3, 4, 5), (5,)),
        ((5,), (3, 5, 2)),
        ((0, 5), (5, 3)),
        ((4, 0), (0, 3)),
        ((1, 1), (1, 1)),
    ],
    ids=str,
)
def test_matmul(rng, a, b):
    x, y = rng.standard_normal(a).astype(np.float32), rng.standard_normal(b).astype(np.float32)
    close(run(nn.Matmul, x, y), np.matmul(x, y))


@pytest.mark.parametrize("dtype", [np.int8, np.int32, np.uint8, np.int64])
def test_matmul_integers_wrap(rng, dtype):
    x, y = (rng.integers(0, 100, (6, 6)).astype(dtype) for _ in range(2))
    np.testing.assert_array_equal(run(nn.Matmul, x, y), np.matmul(x, y))


@pytest.mark.parametrize("dtype", [np.float16, ml_dtypes.bfloat16])
def test_matmul_accumulates_in_f32(dtype):
    x, y = np.ones((1, 4096), dtype), np.full((4096, 1), 0.25, dtype)
    assert run(nn.Matmul, x, y).astype(np.float32) == 1024


CONVS = [
    ((1, 3, 7, 8), (4, 3, 3, 3), {}),
    ((2, 3, 7, 8), (4, 3, 3, 2), {"strides": (2, 1), "pads": (1, 0, 2, 1)}),
    ((1, 4, 9, 9), (6, 2, 3, 3), {"groups": 2, "dilations": (2, 2), "pads": (2, 2, 2, 2)}),
    ((1, 4, 6, 6), (4, 1, 3, 3), {"groups": 4, "pads": (1, 1, 1, 1)}),
    ((1, 4, 6, 6), (8, 1, 3, 3), {"groups": 4}),
    ((2, 3, 9), (5, 3, 4), {"strides": (3,)}),
    ((1, 2, 5, 4, 6), (3, 2, 2, 2, 2), {"strides": (1, 2, 1)}),
    ((0, 3, 7, 8), (4, 3, 3, 3), {}),
    ((1, 1, 1, 1), (1, 1, 1, 1), {}),
]


def onnx_names(attributes):
    renamed = {"groups": "group", "kernel": "kernel_shape"}
    return {renamed.get(k, k): v for k, v in attributes.items()}


@pytest.mark.parametrize("bias", [False, True])
@pytest.mark.parametrize("x,w,attributes", CONVS, ids=str)
def test_conv(rng, x, w, attributes, bias):
    arrays = [rng.standard_normal(s).astype(np.float32) for s in (x, w, w[:1])[: 2 + bias]]
    found = run(lambda *v: nn.Conv(*v, **attributes), *arrays)
    if 0 in x:
        assert found.shape == (0, 4, 5, 6)
    else:
        close(found, runtime("Conv", *arrays, **onnx_names(attributes)))


@pytest.mark.parametrize("x,w,attributes", CONVS, ids=str)
def test_conv_comprehension_is_the_conv(rng, x, w, attributes):
    """The comprehension with groups (`//` in an index) agrees with the evaluation by groups."""
    attributes = {k: v for k, v in attributes.items() if k != "pads"}
    arrays = [rng.standard_normal(s).astype(np.float32) for s in (x, w)]
    op = nn.Conv(*Block([TensorType(a.shape, f32) for a in arrays]).args, **attributes)
    close(evaluate(op.comprehension(), arrays, np.dtype("f4")), op.evaluate(*arrays))


@pytest.mark.parametrize(
    "x,w,attributes",
    [
        ((1, 3, 4, 5), (3, 2, 3, 3), {}),
        ((2, 4, 4, 5), (4, 2, 3, 2), {"strides": (2, 3), "pads": (1, 0, 1, 1)}),
        ((1, 4, 4, 4), (4, 1, 3, 3), {"groups": 2, "dilations": (2, 1)}),
        ((1, 3, 4, 5), (3, 2, 2, 2), {"strides": (2, 2), "output_padding": (1, 0)}),
        ((1, 3, 5), (3, 2, 4), {"strides": (3,)}),
    ],
    ids=str,
)
def test_conv_transpose(rng, x, w, attributes):
    bias = (w[1] * attributes.get("groups", 1),)
    arrays = [rng.standard_normal(s).astype(np.float32) for s in (x, w, bias)]
    found = run(lambda *v: nn.ConvTranspose(*v, **attributes), *arrays)
    close(found, runtime("ConvTranspose", *arrays, **onnx_names(attributes)))


POOLS = [
    ((1, 2, 6, 6), {"kernel": (2, 2)}),
    ((1, 2, 7, 8), {"kernel": (3, 3), "strides": (2, 2), "pads": (1, 1, 1, 1)}),
    ((1, 2, 7, 8), {"kernel": (3, 2), "strides": (2, 3), "pads": (1, 0, 1, 1), "ceil_mode": True}),
    ((2, 1, 9), {"kernel": (3,), "strides": (2,)}),
    ((1, 1, 5, 4, 6), {"kernel": (2, 2, 2)}),
    ((1, 1, 4, 4), {"kernel": (3, 3), "strides": (2, 2), "ceil_mode": True}),
    ((1, 2, 9, 9), {"kernel": (2, 2), "dilations": (2, 3)}),
]


def pool_names(attributes):
    return {k: int(v) if isinstance(v, bool) else v for k, v in onnx_names(attributes).items()}


@pytest.mark.parametrize("x,attributes", POOLS, ids=str)
def test_max_pool(rng, x, attributes):
    x = rng.standard_normal(x).astype(np.float32)
    expected = runtime("MaxPool", x, outputs=2, **pool_names(attributes))
    close(run(lambda v: nn.MaxPool(v, **attributes), x), expected[0])
    values, indices = run(lambda v: nn.MaxPoolWithIndices(v, **attributes), x)
    close(values, expected[0])
    if "pads" not in attributes or "dilations" not in attributes:
        np.testing.assert_array_equal(indices, expected[1])


def test_padding_never_wins_a_max_pool():
    x = np.full((1, 1, 2, 2), -5, np.int8)
    assert (run(lambda v: nn.MaxPool(v, kernel=(3, 3), pads=(1, 1, 1, 1)), x) == -5).all()


@pytest.mark.parametrize("include", [False, True])
@pytest.mark.parametrize("x,attributes", POOLS[:-1], ids=str)
def test_avg_pool(rng, x, attributes, include):
    x = rng.standard_normal(x).astype(np.float32)
    found = run(lambda v: nn.AvgPool(v, count_include_pad=include, **attributes), x)
    names = pool_names(attributes)
    close(found, runtime("AveragePool", x, count_include_pad=int(include), **names))


@pytest.mark.parametrize("p", [1, 2, 3])
def test_lp_pool(rng, p):
    x = rng.standard_normal((1, 2, 7, 8)).astype(np.float32)
    attributes = {"kernel": (3, 3), "strides": (2, 2), "pads": (1, 1, 1, 1)}
    found = run(lambda v: nn.LpPool(v, p=p, **attributes), x)
    close(found, runtime("LpPool", x, p=p, **pool_names(attributes)))


def test_dynamic_shapes_stay_unknown():
    x, w = Block([TensorType((None, 3, None, 8), f32), TensorType((4, 3, 3, 3), f32)]).args
    op = nn.Conv(x, w, strides=(2, 2), pads=(1, 1, 1, 1))
    assert op.result.type.shape == (None, 4, None, 4)
    height = op.comprehension().dims[2]
    (source,) = height.extent.sources
    assert source == (0, 2) and height.extent.expr.evaluate([9]) == 4  # of the padded operand


def test_misfits_are_named():
    x, w = Block([TensorType((1, 3, 8, 8), f32), TensorType((4, 5, 3, 3), f32)]).args
    with pytest.raises(VerifyError, match=r"'nn.conv' op x has 3 channels but weight expects 5"):
        nn.Conv(x, w)
    with pytest.raises(VerifyError, match="the window does not fit"):
        nn.MaxPool(x, kernel=(10, 10))
    with pytest.raises(VerifyError, match="strides has 1 elements, expected 2"):
        nn.MaxPool(x, kernel=(2, 2), strides=(2,))
