"""Decompositions leave nothing composite and change no result."""

from __future__ import annotations

import ml_dtypes
import numpy as np
import pytest
from nnc.dialects import nn
from nnc.passes.nn.decompose import GRAPH, KERNEL, Decompose

from .graphs import graph, interpret, names, same, t, transform

CASES = {
    "softmax": (lambda x: nn.Softmax(x, axis=1), [(3, 5, 2)]),
    "log_softmax": (lambda x: nn.LogSoftmax(x, axis=2), [(3, 5, 2)]),
    "layer_norm": (lambda *v: nn.LayerNorm(*v, axis=1), [(3, 5, 2), (5, 2), (5, 2)]),
    "layer_norm without bias": (lambda *v: nn.LayerNorm(*v, axis=2), [(3, 5, 2), (2,)]),
    "rms_norm": (lambda *v: nn.RmsNorm(*v, axis=1), [(3, 5), (5,)]),
    "instance_norm": (nn.InstanceNorm, [(2, 3, 4, 5), (3,), (3,)]),
    "group_norm": (lambda *v: nn.GroupNorm(*v, groups=2), [(2, 4, 3, 3), (4,), (4,)]),
    "batch_norm": (nn.BatchNorm, [(2, 3, 4, 5), (3,), (3,), (3,), (3,)]),
    "batch_norm of rank 2": (nn.BatchNorm, [(2, 3), (3,), (3,), (3,), (3,)]),
    "reduce_mean": (lambda x: nn.ReduceMean(x, axes=(0, 2)), [(3, 5, 2)]),
    "reduce_l2": (lambda x: nn.ReduceL2(x, axes=(1,), keep_dims=True), [(3, 5, 2)]),
    "reduce_log_sum": (lambda x: nn.ReduceLogSum(x, axes=(1,)), [(3, 5, 2)]),
    "reduce_log_sum_exp": (lambda x: nn.ReduceLogSumExp(x, axes=(1,)), [(3, 5, 2)]),
    "conv": (
        lambda *v: nn.Conv(*v, pads=(1, 0, 2, 1), strides=(2, 1)),
        [(1, 3, 7, 8), (4, 3, 3, 3), (4,)],
    ),
    "grouped conv": (
        lambda *v: nn.Conv(*v, pads=(1, 1, 1, 1), groups=2),
        [(1, 4, 5, 5), (6, 2, 3, 3)],
    ),
    "max_pool": (
        lambda x: nn.MaxPool(x, kernel=(3, 2), strides=(2, 3), pads=(1, 0, 1, 1), ceil_mode=True),
        [(1, 2, 7, 8)],
    ),
    "avg_pool": (
        lambda x: nn.AvgPool(x, kernel=(3, 2), strides=(2, 3), pads=(1, 0, 1, 1), ceil_mode=True),
        [(1, 2, 7, 8)],
    ),
    "avg_pool with padding counted": (
        lambda x: nn.AvgPool(x, kernel=(3, 2), pads=(1, 0, 1, 1), count_include_pad=True),
        [(1, 2, 7, 8)],
    ),
    "avg_pool larger than the image": (
        lambda x: nn.AvgPool(
            x, kernel=(99, 2), strides=(120, 1), pads=(1, 1, 0, 0), ceil_mode=True
        ),
        [(1, 2, 7, 8)],
    ),
    "max_pool of everything and more": (
        lambda x: nn.MaxPool(x, kernel=(9, 12), strides=(2, 5), pads=(1, 2, 1, 2)),
        [(1, 2, 7, 8)],
    ),
    "max_pool that leaves the last row out": (
        lambda x: nn.MaxPool(x, kernel=(6, 8), strides=(2, 5)),
        [(1, 2, 7, 8)],
    ),
    "avg_pool without padding": (lambda x: nn.AvgPool(x, kernel=(2,)), [(1, 2, 7)]),
    "lp_pool": (lambda x: nn.LpPool(x, kernel=(3, 2), p=3, pads=(1, 0, 0, 1)), [(1, 2, 5, 6)]),
    "lp_pool of 2": (lambda x: nn.LpPool(x, kernel=(3, 2)), [(1, 2, 5, 6)]),
    "lrn": (lambda x: nn.Lrn(x, size=3, alpha=0.5, bias=2.0), [(2, 6, 3, 3)]),
    "depth_to_space": (lambda x: nn.DepthToSpace(x, block=2), [(1, 8, 2, 3)]),
    "depth_to_space CRD": (lambda x: nn.DepthToSpace(x, block=2, mode="CRD"), [(1, 8, 2, 3)]),
    "space_to_depth": (lambda x: nn.SpaceToDepth(x, block=2), [(1, 2, 4, 6)]),
    "tile": (lambda x: nn.Tile(x, repeats=(2, 1, 3)), [(2, 3, 4)]),
    "conv_transpose": (nn.ConvTranspose, [(1, 3, 4, 5), (3, 2, 3, 3)]),
    "conv_transpose of stride 2": (
        lambda *v: nn.ConvTranspose(*v, strides=(2, 3), pads=(1, 0, 1, 1)),
        [(2, 4, 4, 5), (4, 2, 3, 2), (2,)],
    ),
    "dilated, grouped conv_transpose": (
        lambda *v: nn.ConvTranspose(*v, groups=2, dilations=(2, 1), strides=(1, 2)),
        [(1, 4, 4, 4), (4, 3, 3, 3)],
    ),
    "conv_transpose of kernel and stride 2": (
        lambda *v: nn.ConvTranspose(*v, strides=(2, 2), output_padding=(1, 0)),
        [(1, 3, 4, 5), (3, 2, 2, 2)],
    ),
    "conv_transpose of kernel 4 and stride 2": (
        lambda *v: nn.ConvTranspose(*v, strides=(2, 2), pads=(1, 1, 1, 1)),
        [(2, 4, 5, 3), (4, 3, 4, 4), (3,)],
    ),
    "grouped conv_transpose of stride 2": (
        lambda *v: nn.ConvTranspose(
            *v, groups=2, strides=(2, 2), pads=(1, 1, 1, 1), output_padding=(1, 0)
        ),
        [(1, 4, 3, 4), (4, 3, 3, 3)],
    ),
    "conv_transpose cropping more than its border": (
        lambda *v: nn.ConvTranspose(*v, strides=(2, 1), pads=(3, 3, 2, 4)),
        [(1, 2, 7, 8), (2, 3, 3, 3)],
    ),
    "resize nearest": (
        lambda x: nn.Resize(x, scales=(1, 1, 2, 3), out=t(1, 2, 6, 12)),
        [(1, 2, 3, 4)],
    ),
    "resize nearest by a fraction": (
        lambda x: nn.Resize(x, scales=(1, 1, 1.5, 0.5), out=t(1, 2, 4, 2)),
        [(1, 2, 3, 4)],
    ),
    "resize linear": (
        lambda x: nn.Resize(x, mode="linear", scales=(1, 1, 2, 0.5), out=t(1, 2, 6, 2)),
        [(1, 2, 3, 4)],
    ),
    "resize cropping": (
        lambda x: nn.Resize(
            x,
            mode="linear",
            coordinate_transform="tf_crop_and_resize",
            roi=(0, 0, 0.2, 0.5, 1, 1, 0.8, 1.2),
            extrapolation_value=9.0,
            out=t(1, 1, 4, 5),
        ),
        [(1, 1, 6, 6)],
    ),
}
COMPOSITE = {
    root.name
    for p in (*GRAPH, *KERNEL)
    for root in p.roots
    if root not in (nn.Conv, nn.MaxPool, nn.SumPool, nn.Pow)  # taken apart in part or at times
}


def arrays_for(rng, shapes, dtype=np.float32):
    return [(rng.random(s) + 0.25).astype(dtype) for s in shapes]


@pytest.mark.parametrize("case", CASES)
def test_decomposition_computes_the_same(rng, case):
    factory, shapes = CASES[case]
    arrays = arrays_for(rng, shapes)
    module = graph(lambda b, *v: factory(*v), *arrays)
    expected = interpret(module, *arrays)
    transform(module, Decompose())
    left = set(names(module)) & COMPOSITE
    assert not left
    for op in module.walk():
        if isinstance(op, (nn.Conv, nn.pooling.PoolingOp)):
            assert not op.pads and len(op.operands) < 3
    same(interpret(module, *arrays), expected)


DYNAMIC = [
    "softmax",
    "layer_norm",
    "rms_norm",
    "reduce_mean",
    "reduce_l2",
    "reduce_log_sum_exp",
    "conv",
    "instance_norm",
    "batch_norm",
    "avg_pool with padding counted",
]


@pytest.mark.parametrize("case", DYNAMIC)
def test_dynamic_dimensions(rng, case):
    """Dimension 0 and the last are known only at run time."""
    factory, shapes = CASES[case]
    arrays = arrays_for(rng, shapes)
    module = graph(lambda b, *v: factory(*v), arrays[0], *arrays[1:], dynamic=(len(shapes[0]) - 1,))
    expected = interpret(module, *arrays)
    transform(module, Decompose())
    same(interpret(module, *arrays), expected)


@pytest.mark.parametrize("dtype", [np.float16, ml_dtypes.bfloat16, np.float64])
@pytest.mark.parametrize(
    "case", ["softmax", "layer_norm", "reduce_mean", "avg_pool", "lrn", "batch_norm"]
)
def test_other_floats(rng, case, dtype):
    factory, shapes = CASES[case]
    arrays = arrays_for(rng, shapes, dtype)
    module = graph(lambda b, *v: factory(*v), *arrays)
    expected = interpret(module, *arrays)
    transform(module, Decompose())
    same(interpret(module, *arrays), expected, 1e-2 if np.dtype(dtype).itemsize == 2 else 1e-9)


def test_integer_mean_is_divided(rng):
    x = np.array([[1, 2], [-3, -4]], np.int32)
    module = graph(lambda b, v: nn.ReduceMean(v, axes=(1,)), x)
    transform(module, Decompose())
    np.testing.assert_array_equal(interpret(module, x)[0], [1, -3])


def test_graph_level_keeps_what_fuses_whole(rng):
    x = rng.random((1, 8, 4, 4)).astype(np.float32)
    module = graph(lambda b, v: nn.Softmax(b(nn.DepthToSpace(v, block=2)), axis=1), x)
    transform(module, Decompose(level="graph"))
    assert names(module) == ["nn.reshape", "nn.transpose", "nn.reshape", "nn.softmax"]
