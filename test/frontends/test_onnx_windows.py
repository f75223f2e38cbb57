"""Padding, convolutions and poolings against onnxruntime and NumPy, also with open extents."""

import nnc
import numpy as np
import pytest
from nnc.frontends.onnx import import_model
from nnc.ir.diagnostics import NncError
from onnx import TensorProto

from .models import run
from .onnx_operators import by_onnxruntime, check, one, random

# -- padding and windows ---------------------------------------------------------------------------


@pytest.mark.parametrize("mode", ["constant", "reflect", "edge", "wrap"])
def test_pad_modes(mode):
    x = random(3, 4)
    model = one("Pad", [x], [np.array([1, 2, 0, 1])], mode=mode)
    np.testing.assert_array_equal(run(model, x)[0], np.pad(x, [(1, 0), (2, 1)], mode=mode))


@pytest.mark.parametrize("mode", ["constant", "reflect", "edge", "wrap"])
@pytest.mark.parametrize("open", [False, True])
def test_pads_of_the_run(mode, open):
    x, pads = random(3, 4, 5), np.array([1, 0, 2, 0, 0, 3])
    check(one("Pad", [x, pads], open=open, mode=mode), x, pads)
    axes = np.array([-1, 0])
    model = one("Pad", [x, np.array([2, 0, 1, 1]), None, axes], open=open, mode=mode)
    check(model, x, np.array([2, 0, 1, 1]), axes)


def test_pads_of_the_run_that_crop():
    x, pads = random(3, 4, 5), np.array([1, -2, 0, 0, 1, -3])
    model = one("Pad", [x, pads, np.array([2.5], np.float32)], open=True)
    check(model, x, pads, np.array([2.5], np.float32))
    with pytest.raises(NncError, match="remove more than there is"):
        run(model, x, np.array([0, -5, 0, 0, 3, 0]), np.array([2.5], np.float32))


@pytest.mark.parametrize("wanted", [(3, 9), (6, 2), (4, 5)])
def test_centre_cropped_or_padded_to_extents_of_the_run(wanted):
    x, wanted = random(4, 2, 5), np.array(wanted)
    (found,) = run(one("CenterCropPad", [x, wanted], open=True, axes=[0, 2]), x, wanted)
    (expected,) = run(one("CenterCropPad", [x], [wanted], axes=[0, 2]), x)
    np.testing.assert_array_equal(found, expected)


WINDOWS = {
    "conv": ("Conv", {}),
    "max": ("MaxPool", {"kernel_shape": [3, 2]}),
    "average": ("AveragePool", {"kernel_shape": [3, 2]}),
    "average of all": ("AveragePool", {"kernel_shape": [3, 2], "count_include_pad": 1}),
    "norm": ("LpPool", {"kernel_shape": [3, 2]}),
}

SIDES, STRIDES = ["SAME_UPPER", "SAME_LOWER"], [[3, 2], [1, 2]]

PADDED = [
    (name, side, STRIDES[(i + j) % 2])
    for i, name in enumerate(WINDOWS)
    for j, side in enumerate(SIDES)
]
"""All pairs of a window, a side and strides."""


@pytest.mark.thorough
@pytest.mark.parametrize(("window", "auto_pad", "strides"), PADDED)
def test_automatic_padding_of_open_extents(window, auto_pad, strides):
    op_type, attributes = WINDOWS[window]
    weights = [random(3, 2, 3, 2)] if op_type == "Conv" else []
    form = {"auto_pad": auto_pad, "strides": strides, **attributes}
    model = one(op_type, [random(2, 2, 7, 8)], weights, open=True, **form)
    model.ir_version = 10
    compiled = nnc.compile(model)
    for shape in ((2, 2, 7, 8), (1, 2, 8, 9), (1, 2, 1, 1)):
        x = random(*shape)
        (expected,) = by_onnxruntime(model, x)
        np.testing.assert_allclose(compiled(x), expected, rtol=1e-5, atol=1e-6)
    # Where it is the same at the begin for all extents, nothing is computed in the run.
    is_known = auto_pad == "SAME_UPPER" and strides == [1, 2]
    names = {op.name for op in import_model(model).walk()}
    assert ("nn.pad_dynamic" in names) is not is_known


def test_indices_of_max_pooling_of_open_extents():
    x = random(2, 2, 7, 9)
    more = {"results": [TensorProto.FLOAT, TensorProto.INT64], "open": True}
    model = one(
        "MaxPool", [x], (), 2, kernel_shape=[3, 3], strides=[2, 2], auto_pad="SAME_LOWER", **more
    )
    check(model, x)
    model = one("MaxPool", [x], (), 2, kernel_shape=[2, 3], strides=[2, 2], storage_order=1, **more)
    check(model, x)


@pytest.mark.thorough
@pytest.mark.parametrize("pads", [[0, 0, 0, 0], [1, 0, 1, 1]])
@pytest.mark.parametrize(
    ("op_type", "attributes"),
    [("MaxPool", {}), ("AveragePool", {}), ("AveragePool", {"count_include_pad": 1})],
)
def test_pooling_of_open_extents_rounded_up(op_type, attributes, pads):
    window = {"kernel_shape": [3, 4], "strides": [2, 3], "pads": pads, "ceil_mode": 1}
    model = one(op_type, [random(2, 3, 7, 9)], open=True, **window, **attributes)
    model.ir_version = 10
    compiled = nnc.compile(model)
    for shape in ((2, 3, 7, 9), (1, 3, 8, 11), (2, 3, 9, 10), (1, 3, 12, 5)):
        x = random(*shape)
        (expected,) = by_onnxruntime(model, x)
        np.testing.assert_allclose(compiled(x), expected, rtol=1e-5, atol=1e-6)


@pytest.mark.parametrize("shape", [[13, 18], [14, 19], [15, 16]])
@pytest.mark.parametrize("auto_pad", ["NOTSET", "SAME_UPPER"])
def test_transposed_convolution_of_open_extents_to_a_shape(shape, auto_pad):
    x = random(1, 3, 7, 9)
    weights = [random(3, 2, 3, 2), random(2)]
    model = one(
        "ConvTranspose", [x], weights, open=True, strides=[2, 2], output_shape=shape,
        auto_pad=auto_pad,
    )  # fmt: skip
    check(model, x)


def test_max_unpooling_of_open_extents():
    x, indices = random(1, 1, 2, 2), np.array([5, 7, 13, 15]).reshape(1, 1, 2, 2)
    check(
        one("MaxUnpool", [x, indices], open=True, kernel_shape=[2, 2], strides=[2, 2]), x, indices
    )


@pytest.mark.parametrize("auto_pad", ["NOTSET", "VALID", "SAME_UPPER", "SAME_LOWER"])
@pytest.mark.parametrize("stride", [1, 2, 3])
@pytest.mark.parametrize("kernel", [2, 3])
@pytest.mark.parametrize("op_type", ["Conv", "MaxPool", "AveragePool"])
def test_automatic_padding(op_type, kernel, stride, auto_pad):
    x = random(1, 2, 7, 8)
    weights = [random(3, 2, kernel, kernel)] if op_type == "Conv" else []
    model = one(
        op_type, [x], weights, auto_pad=auto_pad, strides=[stride] * 2, kernel_shape=[kernel] * 2
    )
    check(model, x)


@pytest.mark.parametrize("group", [1, 2, 4])
def test_convolution_groups_dilations_and_uneven_pads(group):
    x, w = random(2, 4, 9, 8), random(8, 4 // group, 3, 2)
    model = one(
        "Conv",
        [x],
        [w, random(8)],
        group=group,
        dilations=[2, 1],
        pads=[1, 0, 2, 3],
        strides=[1, 2],
    )
    check(model, x)


@pytest.mark.parametrize("rank", [1, 3])
def test_convolutions_of_other_ranks(rank):
    x, w = random(1, 2, *[6] * rank), random(3, 2, *[3] * rank)
    check(one("Conv", [x], [w]), x)


@pytest.mark.parametrize(
    "attributes",
    [
        {},
        {"strides": [2, 3]},
        {"strides": [2, 2], "pads": [1, 0, 1, 2], "output_padding": [1, 1]},
        {"strides": [2, 2], "auto_pad": "SAME_UPPER"},
        {"strides": [3, 2], "auto_pad": "SAME_LOWER"},
        {"strides": [2, 2], "output_shape": [9, 10]},
        {"strides": [2, 2], "dilations": [2, 1]},
    ],
    ids=str,
)
@pytest.mark.parametrize("group", [1, 2])
def test_transposed_convolutions(attributes, group):
    x, w = random(1, 4, 4, 5), random(4, 3, 3, 3)
    check(one("ConvTranspose", [x], [w, random(3 * group)], group=group, **attributes), x)


@pytest.mark.parametrize("count_include_pad", [0, 1])
@pytest.mark.parametrize("ceil_mode", [0, 1])
def test_average_pooling_at_the_border(ceil_mode, count_include_pad):
    x = random(1, 2, 7, 8)
    model = one(
        "AveragePool",
        [x],
        kernel_shape=[3, 3],
        strides=[2, 2],
        pads=[1, 1, 1, 1],
        ceil_mode=ceil_mode,
        count_include_pad=count_include_pad,
    )
    check(model, x)


@pytest.mark.parametrize("storage_order", [0, 1])
def test_indices_of_max_pooling(storage_order):
    x = random(2, 2, 6, 8)
    check(
        one(
            "MaxPool",
            [x],
            (),
            2,
            kernel_shape=[2, 3],
            strides=[2, 2],
            storage_order=storage_order,
            results=[TensorProto.FLOAT, TensorProto.INT64],
        ),
        x,
    )
