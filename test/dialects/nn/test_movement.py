"""What moves, gathers and creates elements, against the ONNX reference implementation."""

from __future__ import annotations

import numpy as np
import pytest
from nnc.dialects import nn
from nnc.ir.attributes import DenseElements
from nnc.ir.core import Block
from nnc.ir.diagnostics import VerifyError
from nnc.ir.types import TensorType, f32, i64

from .reference import close, reference, run, runtime


def t(*shape, element=f32):
    return TensorType(shape, element)


def ints(*values):
    return np.array(values, np.int64)


@pytest.mark.parametrize(
    "shape,order", [((3, 4), (1, 0)), ((2, 3, 4), (2, 0, 1)), ((), ()), ((0, 2), (1, 0))]
)
def test_transpose(rng, shape, order):
    x = rng.standard_normal(shape).astype(np.float32)
    close(run(lambda v: nn.Transpose(v, order), x), np.transpose(x, order))


def test_no_axes(rng):
    """Operands known at run time only give tensors of rank 0, not vectors of one element."""
    x, none = np.asarray(rng.standard_normal(()), np.float32), np.zeros(0, np.int64)
    close(run(lambda v, order: nn.TransposeDynamic(v, order), x, none), x)
    close(run(lambda v, shape: nn.BroadcastDynamic(v, shape), x, none), x)
    row = np.float32([2, 3, 5])
    close(run(lambda v, place: nn.GatherNd(v, place), row, ints(1)), row[1])


def test_reshape(rng):
    x = rng.standard_normal((2, 6)).astype(np.float32)
    close(run(lambda v: nn.Reshape(v, out=t(3, 4)), x), x.reshape(3, 4))
    close(run(lambda v: nn.Reshape(v, out=t(None, 4)), x), x.reshape(3, 4))
    close(run(lambda v, s: nn.ReshapeDynamic(v, s), x, ints(4, -1)), x.reshape(4, 3))
    (v,) = Block([t(2, 6)]).args
    with pytest.raises(VerifyError, match="12 elements do not fit 'tensor<5xf32>'"):
        nn.Reshape(v, out=t(5)).verify()


@pytest.mark.parametrize("x,out", [((3, 1), (2, 3, 4)), ((), (2,)), ((1,), (0,)), ((3,), (3,))])
def test_broadcast(rng, x, out):
    x = np.asarray(rng.standard_normal(x), np.float32)
    expected = reference("Expand", x, ints(*out))
    close(run(lambda v: nn.BroadcastTo(v, out=t(*out)), x), expected)
    close(run(nn.BroadcastDynamic, x, ints(*out)), expected)


def test_concat_and_split(rng):
    a, b, c = (rng.standard_normal((2, n, 3)).astype(np.float32) for n in (4, 0, 1))
    joined = run(lambda *v: nn.Concat(v, axis=1), a, b, c)
    close(joined, np.concatenate([a, b, c], 1))
    parts = run(lambda v: nn.Split(v, axis=1, outs=[t(2, n, 3) for n in (4, 0, 1)]), joined)
    for found, expected in zip(parts, (a, b, c), strict=True):
        close(found, expected)


@pytest.mark.parametrize(
    "starts,ends,axes,steps",
    [
        ((1,), (5,), (1,), (1,)),
        ((0, 6), (3, 0), (0, 1), (2, -2)),
        ((-2,), (1000,), (0,), (1,)),
        ((-1,), (-1000,), (1,), (-1,)),
        ((5,), (2,), (1,), (1,)),
        ((-100,), (2,), (0,), (1,)),
    ],
    ids=str,
)
def test_slice_dynamic(rng, starts, ends, axes, steps):
    x = rng.standard_normal((4, 7)).astype(np.float32)
    operands = [ints(*v) for v in (starts, ends, axes, steps)]
    close(run(nn.SliceDynamic, x, *operands), reference("Slice", x, *operands))


def test_slice(rng):
    x = rng.standard_normal((4, 7)).astype(np.float32)
    found = run(lambda v: nn.Slice(v, starts=(1, 6), steps=(1, -2), out=t(2, 4)), x)
    close(found, x[1:3, 6::-2])
    found = run(lambda v: nn.Slice(v, starts=(1, 0), out=t(0, 7)), x)
    assert found.shape == (0, 7)
    (v,) = Block([t(4, 7)]).args
    with pytest.raises(VerifyError, match="are not all in dimension 1"):
        nn.Slice(v, starts=(0, 5), out=t(4, 3)).verify()


@pytest.mark.parametrize("mode", ["constant", "reflect", "edge", "wrap"])
@pytest.mark.parametrize("pads", [(1, 2, 0, 1), (0, 0, 0, 0), (-1, 0, 1, -2)])
def test_pad(rng, mode, pads):
    x, value = rng.standard_normal((4, 5)).astype(np.float32), np.float32(1.5)
    found = run(lambda v, p: nn.Pad(v, p, pads=pads, mode=mode), x, np.asarray(value))
    grow = [(max(0, pads[i]), max(0, pads[i + 2])) for i in range(2)]
    crop = x[tuple(slice(max(0, -pads[i]), 4 + i - max(0, -pads[i + 2])) for i in range(2))]
    expected = (
        np.pad(crop, grow, constant_values=1.5) if mode == "constant" else np.pad(crop, grow, mode)
    )
    close(found, expected)


def test_tile_trilu_space(rng):
    x = rng.standard_normal((2, 3)).astype(np.float32)
    close(run(lambda v: nn.Tile(v, (2, 3)), x), np.tile(x, (2, 3)))
    close(run(lambda v: nn.Tile(v, (0, 1)), x), np.tile(x, (0, 1)))
    square = rng.standard_normal((2, 4, 5)).astype(np.float32)
    for k in (-1, 0, 2):
        for upper in (False, True):
            found = run(lambda v, d, u=upper: nn.Trilu(v, d, upper=u), square, np.array(k))
            close(found, reference("Trilu", square, np.array(k), upper=int(upper)))
    image = rng.standard_normal((1, 8, 4, 6)).astype(np.float32)
    for mode in ("DCR", "CRD"):
        found = run(lambda v, m=mode: nn.DepthToSpace(v, block=2, mode=m), image)
        close(found, reference("DepthToSpace", image, blocksize=2, mode=mode))
    close(
        run(lambda v: nn.SpaceToDepth(v, block=2), image),
        reference("SpaceToDepth", image, blocksize=2),
    )


def test_gathers(rng):
    x = rng.standard_normal((4, 5, 3)).astype(np.float32)
    for axis in range(3):
        i = rng.integers(-3, 3, (2, 2))
        close(
            run(lambda v, n, a=axis: nn.Gather(v, n, axis=a), x, i),
            reference("Gather", x, i, axis=axis),
        )
    close(run(nn.Gather, x, np.array(2)), x[2])
    i = rng.integers(-5, 5, (4, 2, 3))
    close(
        run(lambda v, n: nn.GatherElements(v, n, axis=1), x, i),
        reference("GatherElements", x, i, axis=1),
    )
    i = rng.integers(0, 3, (6, 2))
    close(run(nn.GatherNd, x, i), reference("GatherND", x, i))
    i = rng.integers(0, 3, (4, 2, 1))
    close(
        run(lambda v, n: nn.GatherNd(v, n, batch_dims=1), x, i),
        reference("GatherND", x, i, batch_dims=1),
    )


@pytest.mark.parametrize("reduction", ["none", "add", "mul", "max", "min"])
def test_scatters(rng, reduction):
    x = rng.standard_normal((4, 5)).astype(np.float32)
    i = np.array([[0, 1], [2, 0], [-1, 3]])
    updates = rng.standard_normal((3, 2)).astype(np.float32)
    found = run(lambda *v: nn.ScatterElements(*v, axis=1, reduction=reduction), x, i, updates)
    close(found, reference("ScatterElements", x, i, updates, axis=1, reduction=reduction))
    i = np.array([[0], [2], [0]]) if reduction != "none" else np.array([[0], [2], [1]])
    updates = rng.standard_normal((3, 5)).astype(np.float32)
    found = run(lambda *v: nn.ScatterNd(*v, reduction=reduction), x, i, updates)
    close(found, reference("ScatterND", x, i, updates, reduction=reduction))


def test_one_hot_non_zero_range_fill_shape(rng):
    i, values = np.array([0, 2, -1, 7]), np.array([0.5, 2.0], np.float32)
    for axis in (0, 1):
        found = run(lambda *v, a=axis: nn.OneHot(*v, axis=a), i, np.array(3), values)
        close(found, runtime("OneHot", i, np.array(3), values, axis=axis))
    x = rng.integers(0, 2, (3, 4)).astype(np.float32)
    close(run(nn.NonZero, x), reference("NonZero", x))
    assert run(nn.NonZero, np.zeros((2, 0), np.float32)).shape == (2, 0)
    for a, b, c in ((1, 10, 3), (10, 1, -4), (5, 5, 1), (0.5, 2.0, 0.5)):
        dtype = np.float32 if isinstance(a, float) else np.int64
        operands = [np.array(v, dtype) for v in (a, b, c)]
        close(run(nn.Range, *operands), np.arange(a, b, c, dtype))
    value = np.array(2.5, np.float32)
    close(run(lambda v: nn.Fill(v, out=t(2, 3)), value), np.full((2, 3), 2.5, np.float32))
    close(run(nn.FillDynamic, ints(2, 0), value), np.zeros((2, 0), np.float32))
    close(run(nn.ShapeOf, x), ints(3, 4))


def test_constant():
    op = nn.Constant(DenseElements.from_list([1, 2], t(2, element=i64)))
    op.verify()
    close(op.evaluate(), ints(1, 2))


@pytest.mark.parametrize("mode", ["nearest", "linear", "cubic"])
@pytest.mark.parametrize("scales", [(1, 1, 2, 2), (1, 1, 0.6, 1.7), (1, 1, 1, 3)])
@pytest.mark.parametrize(
    "transform", ["half_pixel", "pytorch_half_pixel", "align_corners", "asymmetric"]
)
def test_resize(rng, transform, scales, mode):
    x = rng.standard_normal((1, 2, 5, 4)).astype(np.float32)
    out = t(*(int(d * s) for d, s in zip(x.shape, scales, strict=True)))
    found = run(
        lambda v: nn.Resize(v, mode=mode, coordinate_transform=transform, scales=scales, out=out), x
    )
    expected = runtime3("Resize", x, scales, mode, transform)
    np.testing.assert_allclose(found, expected, rtol=1e-4, atol=1e-5)


def runtime3(name, x, scales, mode, transform, **more):
    roi, scales = np.zeros(0, np.float32), np.array(scales, np.float32)
    return runtime(
        name,
        x,
        roi,
        scales,
        mode=mode,
        coordinate_transformation_mode=transform,
        opset=19,
        **more,
    )


@pytest.mark.parametrize("nearest", ["round_prefer_floor", "round_prefer_ceil", "floor", "ceil"])
def test_resize_nearest_modes(rng, nearest):
    x = rng.standard_normal((1, 1, 5, 4)).astype(np.float32)
    scales = (1.0, 1.0, 1.5, 2.0)
    found = run(lambda v: nn.Resize(v, nearest_mode=nearest, scales=scales, out=t(1, 1, 7, 8)), x)
    close(found, runtime3("Resize", x, scales, "nearest", "half_pixel", nearest_mode=nearest))


@pytest.mark.parametrize("mode", ["linear", "cubic"])
def test_resize_antialias_and_outside(rng, mode):
    x = rng.standard_normal((1, 1, 8, 8)).astype(np.float32)
    scales = (1.0, 1.0, 0.5, 0.75)
    found = run(
        lambda v: nn.Resize(v, mode=mode, scales=scales, antialias=True, out=t(1, 1, 4, 6)), x
    )
    expected = reference(
        "Resize", x, None, np.array(scales, np.float32), mode=mode, antialias=1, opset=19
    )
    close(found, expected)
    if mode == "cubic":
        found = run(
            lambda v: nn.Resize(
                v, mode=mode, scales=scales, exclude_outside=True, out=t(1, 1, 4, 6)
            ),
            x,
        )
        expected = runtime3("Resize", x, scales, mode, "half_pixel", exclude_outside=1)
        np.testing.assert_allclose(found, expected, rtol=1e-4, atol=1e-5)


def test_resize_crops(rng):
    x = rng.standard_normal((1, 1, 6, 6)).astype(np.float32)
    roi = np.array([0, 0, 0.2, 0.5, 1, 1, 0.8, 1.2], np.float32)
    found = run(
        lambda v: nn.Resize(
            v, mode="linear", coordinate_transform="tf_crop_and_resize", roi=roi.tolist(),
            extrapolation_value=9.0, out=t(1, 1, 4, 5),
        ), x,
    )  # fmt: skip
    expected = reference(
        "Resize", x, roi, None, ints(1, 1, 4, 5), mode="linear", opset=19,
        coordinate_transformation_mode="tf_crop_and_resize", extrapolation_value=9.0,
    )  # fmt: skip
    close(found, expected)
