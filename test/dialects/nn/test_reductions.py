"""Reductions, scans, normalizations and softmax against the ONNX reference implementation."""

from __future__ import annotations

import ml_dtypes
import numpy as np
import pytest
from nnc.dialects import nn

from .reference import close, reference, run, runtime

REDUCTIONS = {
    "ReduceSum": nn.ReduceSum,
    "ReduceMean": nn.ReduceMean,
    "ReduceMax": nn.ReduceMax,
    "ReduceMin": nn.ReduceMin,
    "ReduceProd": nn.ReduceProd,
    "ReduceL1": nn.ReduceL1,
    "ReduceL2": nn.ReduceL2,
    "ReduceLogSum": nn.ReduceLogSum,
    "ReduceLogSumExp": nn.ReduceLogSumExp,
    "ReduceSumSquare": nn.ReduceSumSquare,
}


@pytest.mark.parametrize("keep", [False, True])
@pytest.mark.parametrize(
    "shape,axes", [((3, 5), (1,)), ((2, 3, 4), (0, 2)), ((2, 3), (0, 1)), ((1, 1), (0,))]
)
@pytest.mark.parametrize("name", REDUCTIONS)
def test_reduce(rng, name, shape, axes, keep):
    x = (rng.random(shape) + 0.5).astype(np.float32)
    found = run(lambda v: REDUCTIONS[name](v, axes=axes, keep_dims=keep), x)
    expected = reference(name, x, np.array(axes, np.int64), keepdims=int(keep))
    close(found, expected)


@pytest.mark.parametrize(
    "name,value",
    [
        ("Sum", 0),
        ("Prod", 1),
        ("Max", -np.inf),
        ("Min", np.inf),
        ("L1", 0),
        ("L2", 0),
        ("SumSquare", 0),
        ("LogSum", -np.inf),
        ("LogSumExp", -np.inf),
    ],
)
def test_reduce_nothing(name, value):
    x = np.zeros((2, 0, 3), np.float32)
    found = run(lambda v: REDUCTIONS[f"Reduce{name}"](v, axes=(1,)), x)
    np.testing.assert_array_equal(found, np.full((2, 3), value, np.float32))


@pytest.mark.parametrize("dtype", [np.int32, np.int64, np.uint8, np.float16, ml_dtypes.bfloat16])
@pytest.mark.parametrize(
    "name", ["ReduceSum", "ReduceMax", "ReduceMin", "ReduceProd", "ReduceMean"]
)
def test_reduce_types(rng, name, dtype):
    x = rng.integers(1, 4, (3, 5)).astype(dtype)
    found = run(lambda v: REDUCTIONS[name](v, axes=(1,)), x)
    function = {"Sum": np.sum, "Max": np.max, "Min": np.min, "Prod": np.prod, "Mean": np.mean}
    close(found, function[name[6:]](x.astype(np.float64), axis=1).astype(dtype))


def test_log_sum_exp_does_not_overflow():
    x = np.array([[1000.0, 1000.0], [-np.inf, -np.inf]], np.float32)
    found = run(lambda v: nn.ReduceLogSumExp(v, axes=(1,)), x)
    np.testing.assert_allclose(found, [1000 + np.log(2), -np.inf], rtol=1e-6)


def test_bf16_sums_in_f32():
    x = np.ones((1, 1024), ml_dtypes.bfloat16)
    assert run(lambda v: nn.ReduceSum(v, axes=(1,)), x).astype(np.float32) == 1024


@pytest.mark.parametrize("last", [False, True])
@pytest.mark.parametrize("keep", [False, True])
@pytest.mark.parametrize("name,op", [("ArgMax", nn.Argmax), ("ArgMin", nn.Argmin)])
def test_arg(rng, name, op, keep, last):
    x = rng.integers(0, 3, (4, 6, 2)).astype(np.float32)
    for axis in range(3):
        found = run(lambda v, a=axis: op(v, axis=a, keep_dims=keep, select_last_index=last), x)
        expected = reference(name, x, axis=axis, keepdims=int(keep), select_last_index=int(last))
        close(found, expected)


@pytest.mark.parametrize("exclusive", [False, True])
@pytest.mark.parametrize("reverse", [False, True])
@pytest.mark.parametrize("axis", [0, 1])
def test_cumsum(rng, axis, reverse, exclusive):
    x = rng.integers(-9, 9, (4, 5)).astype(np.float32)
    found = run(lambda v: nn.Cumsum(v, axis=axis, exclusive=exclusive, reverse=reverse), x)
    expected = reference(
        "CumSum", x, np.array(axis), exclusive=int(exclusive), reverse=int(reverse)
    )
    close(found, expected)


@pytest.mark.parametrize("largest", [False, True])
@pytest.mark.parametrize("axis", [0, 1])
@pytest.mark.parametrize("k", [0, 1, 3])
def test_top_k(rng, k, axis, largest):
    x = rng.integers(0, 4, (5, 4)).astype(np.float32)
    values, indices = run(
        lambda v, n: nn.TopK(v, n, axis=axis, largest=largest), x, np.array([k], np.int64)
    )
    expected = reference("TopK", x, np.array([k]), axis=axis, largest=int(largest), outputs=2)
    close(values, expected[0])
    np.testing.assert_array_equal(np.take_along_axis(x, indices, axis), values)
    if k:
        # Ties in the order of positions.
        order = np.argsort(-x if largest else x, axis=axis, kind="stable")
        np.testing.assert_array_equal(indices, np.take(order, range(k), axis=axis))


@pytest.mark.parametrize("name,op", [("Softmax", nn.Softmax), ("LogSoftmax", nn.LogSoftmax)])
@pytest.mark.parametrize(
    "shape,axis", [((3, 5), 1), ((3, 5), 0), ((2, 3, 4), 1), ((1, 1), 1), ((0, 3), 1)]
)
def test_softmax(rng, name, op, shape, axis):
    x = (rng.standard_normal(shape) * 30).astype(np.float32)
    close(run(lambda v: op(v, axis=axis), x), reference(name, x, axis=axis))


def test_batch_norm(rng):
    x = rng.standard_normal((2, 3, 4, 5)).astype(np.float32)
    scale, bias, mean, var = (rng.random(3).astype(np.float32) + 0.5 for _ in range(4))
    found = run(lambda *v: nn.BatchNorm(*v, epsilon=1e-3), x, scale, bias, mean, var)
    close(found, reference("BatchNormalization", x, scale, bias, mean, var, epsilon=1e-3))


def test_instance_and_group_norm(rng):
    x = rng.standard_normal((2, 6, 4, 5)).astype(np.float32)
    scale, bias = (
        rng.standard_normal(6).astype(np.float32),
        rng.standard_normal(6).astype(np.float32),
    )
    close(run(nn.InstanceNorm, x, scale, bias), reference("InstanceNormalization", x, scale, bias))
    found = run(lambda *v: nn.GroupNorm(*v, groups=3), x, scale, bias)
    close(found, reference("GroupNormalization", x, scale, bias, num_groups=3, opset=21))


@pytest.mark.parametrize("axis", [1, 2])
def test_layer_and_rms_norm(rng, axis):
    x = rng.standard_normal((2, 3, 5)).astype(np.float32)
    scale, bias = (rng.standard_normal(x.shape[axis:]).astype(np.float32) for _ in range(2))
    found = run(lambda *v: nn.LayerNorm(*v, axis=axis), x, scale, bias)
    close(found, reference("LayerNormalization", x, scale, bias, axis=axis))
    close(
        run(lambda *v: nn.LayerNorm(*v, axis=axis), x, scale),
        reference("LayerNormalization", x, scale, axis=axis),
    )
    found = run(lambda *v: nn.RmsNorm(*v, axis=axis), x, scale)
    close(found, reference("RMSNormalization", x, scale, axis=axis))


@pytest.mark.parametrize("size", [1, 3, 5])
def test_lrn(rng, size):
    x = rng.standard_normal((2, 6, 3, 3)).astype(np.float32)
    found = run(lambda v: nn.Lrn(v, size=size, alpha=0.1, bias=2.0), x)
    close(found, runtime("LRN", x, size=size, alpha=0.1, bias=2.0))
