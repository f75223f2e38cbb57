"""Operators whose import is more than one op, against onnxruntime and NumPy, case by case."""

import nnc
import numpy as np
import onnx.parser
import onnxruntime
import pytest
from nnc.frontends.onnx import import_model
from nnc.ir.diagnostics import NncError
from onnx import TensorProto

from .models import initializer, make_model, node, ops_of, run, value

RANDOM = np.random.default_rng(7)


def random(*shape):
    return RANDOM.standard_normal(shape).astype(np.float32)


def by_onnxruntime(model, *arrays):
    options = onnxruntime.SessionOptions()
    options.intra_op_num_threads = 1
    session = onnxruntime.InferenceSession(model.SerializeToString(), options)
    names = [i.name for i in session.get_inputs()]
    return session.run(None, dict(zip(names, arrays, strict=True)))


def check(model, *arrays, rtol=1e-4, atol=1e-5):
    model.ir_version = 10
    for found, expected in zip(run(model, *arrays), by_onnxruntime(model, *arrays), strict=True):
        assert found.dtype == expected.dtype
        np.testing.assert_allclose(found, expected, rtol=rtol, atol=atol)


def one(
    op_type, arrays, weights=(), outputs=1, opset=21, domain="", results=None, open=False,
    **attributes,
):  # fmt: skip
    """A model of one node; `arrays` are inputs (None for one left out), `weights` constants behind.

    With `open`, extents of the first input but for its channels are known at run time only.
    """
    inputs = [f"x{i}" if a is not None else "" for i, a in enumerate(arrays)]
    shapes = [a.shape if a is not None else () for a in arrays]
    if open:
        shapes[0] = tuple(d if i == 1 else f"d{i}" for i, d in enumerate(shapes[0]))
    names = [f"w{i}" if w is not None else "" for i, w in enumerate(weights)]
    kinds = {"float32": TensorProto.FLOAT, "int64": TensorProto.INT64, "bool": TensorProto.BOOL}
    outs = [f"y{i}" for i in range(outputs)]
    return make_model(
        [node(op_type, inputs + names, outs, "op", domain=domain, **attributes)],
        [
            value(n, shape, kinds[str(a.dtype)])
            for n, shape, a in zip(inputs, shapes, arrays, strict=True)
            if n
        ],
        [
            value(n, None, kind)
            for n, kind in zip(outs, results or [TensorProto.FLOAT] * outputs, strict=True)
        ],
        [initializer(n, w) for n, w in zip(names, weights, strict=True) if n],
        opset=opset,
        domains={"com.microsoft": 1} if domain else {},
    )


# -- einsum ----------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("equation", "shapes"),
    [
        ("ij,jk->ik", [(2, 3), (3, 4)]),
        ("ij,jk", [(2, 3), (3, 4)]),
        ("bij,bjk->bik", [(5, 2, 3), (5, 3, 4)]),
        ("bhqd,bhkd->bhqk", [(2, 3, 4, 5), (2, 3, 6, 5)]),
        ("bqhd,bkhd->bhqk", [(2, 4, 3, 5), (2, 6, 3, 5)]),
        ("...ij,...jk->...ik", [(2, 5, 2, 3), (5, 3, 4)]),
        ("...ij,jk->...ik", [(2, 5, 2, 3), (3, 4)]),
        ("i,j->ij", [(3,), (4,)]),
        ("i,i->", [(3,), (3,)]),
        ("i,i->i", [(3,), (3,)]),
        ("ij->ji", [(3, 4)]),
        ("ij->", [(3, 4)]),
        ("ij->j", [(3, 4)]),
        ("ii->i", [(3, 3)]),
        ("ii->", [(3, 3)]),
        ("iji->j", [(3, 4, 3)]),
        ("ba", [(3, 4)]),
        ("ij,jk,kl->il", [(2, 3), (3, 4), (4, 5)]),
        ("ij,kj,lj->ikl", [(2, 3), (4, 3), (5, 3)]),
        ("ijk,jil->kl", [(2, 3, 4), (3, 2, 5)]),
        ("abc,abd->cd", [(2, 3, 4), (2, 3, 5)]),
        ("ab,cd->acbd", [(2, 3), (4, 5)]),
        ("a,ab,b->", [(2,), (2, 3), (3,)]),
        ("b...,b...->...", [(2, 3, 4), (2, 3, 4)]),
    ],
)
def test_einsum(equation, shapes):
    arrays = [random(*shape) for shape in shapes]
    model = one("Einsum", arrays, equation=equation)
    expected = np.einsum(equation, *arrays)
    np.testing.assert_allclose(run(model, *arrays)[0], expected, rtol=1e-4, atol=1e-5)


def test_einsum_becomes_a_product():
    arrays = [random(2, 3, 4, 5), random(2, 3, 6, 5)]
    model = one("Einsum", arrays, equation="bhqd,bhkd->bhqk")
    assert ops_of(import_model(model)) == ["nn.transpose", "nn.matmul"]


@pytest.mark.sampled(3)
@pytest.mark.parametrize(
    ("equation", "shapes"),
    [
        ("bhwc,hkc->bhwk", [(2, 3, 4, 5), (3, 6, 5)]),
        ("bij,bjk->bik", [(1, 3, 4), (2, 4, 5)]),
        ("abcd,cdef->abef", [(2, 3, 4, 5), (4, 5, 3, 2)]),
        ("abc,cb->a", [(2, 3, 4), (4, 3)]),
    ],
)
def test_einsum_of_open_extents(equation, shapes):
    arrays = [random(*shape) for shape in shapes]
    model = one("Einsum", arrays, equation=equation)
    for i, operand in enumerate(model.graph.input):
        operand.CopyFrom(value(operand.name, [f"d{i}_{k}" for k in range(len(shapes[i]))]))
    assert "nn.matmul" in ops_of(import_model(model))  # and no product of all letters in memory
    expected = np.einsum(equation, *arrays)
    np.testing.assert_allclose(nnc.compile(model)(*arrays), expected, rtol=1e-4, atol=1e-5)


@pytest.mark.parametrize(
    ("equation", "shapes"),
    [
        ("ii->i", [(4, 4)]),
        ("iij->j", [(3, 3, 2)]),
        ("ij,jj->i", [(2, 3), (3, 3)]),
        ("ii", [(5, 5)]),
    ],
)
def test_einsum_of_diagonals_of_open_extents(equation, shapes):
    arrays = [random(*shape) for shape in shapes]
    model = one("Einsum", arrays, equation=equation)
    for i, operand in enumerate(model.graph.input):
        operand.CopyFrom(value(operand.name, [f"d{i}_{k}" for k in range(len(shapes[i]))]))
    expected = np.einsum(equation, *arrays)
    np.testing.assert_allclose(nnc.compile(model)(*arrays), expected, rtol=1e-4, atol=1e-5)


# -- slices ----------------------------------------------------------------------------------------

_BOUNDS = (0, 1, 3, 6, -1, -2, -6, 100, -100)


@pytest.mark.parametrize("seed", range(25))
def test_slices_by_numpys_rules(seed):
    pick = np.random.default_rng(seed)
    x = random(4, 6, 5)
    axes = pick.permutation(3)[: pick.integers(1, 4)]
    starts, ends = (pick.choice(_BOUNDS, axes.size) for _ in range(2))
    steps = pick.choice((1, 2, 3, -1, -2), axes.size)
    where = [slice(None)] * 3
    for axis, start, end, step in zip(axes, starts, ends, steps, strict=True):
        where[axis] = slice(int(start), int(end), int(step))
    signed = np.where(pick.random(axes.size) < 0.5, axes, axes - 3)
    model = one("Slice", [x], [starts, ends, signed, steps])
    np.testing.assert_array_equal(run(model, x)[0], x[tuple(where)])


@pytest.mark.parametrize(("start", "step"), [(0, 4), (2, 4), (3, 7), (25, 4), (19, 2)])
def test_steps_to_an_end_known_at_run_time(start, step):
    x = random(3, 20)
    weights = [np.array([n]) for n in (start, 2**63 - 1, 1, step)]
    model = one("Slice", [x], weights)
    model.graph.input[0].CopyFrom(value("x0", ["a", "b"]))
    np.testing.assert_array_equal(nnc.compile(model)(x), x[:, start::step])


def test_no_axes_are_not_all_axes():
    x, none = random(4, 6), np.zeros(0, np.int64)
    np.testing.assert_array_equal(run(one("Slice", [x], [none, none, none, none]), x)[0], x)
    model = one("CenterCropPad", [x], [none], axes=[0])
    del model.graph.node[0].attribute[0].ints[:]
    np.testing.assert_array_equal(run(model, x)[0], x)


@pytest.mark.parametrize("opset", [11, 13])
def test_uneven_splits_need_sizes(opset):
    x = random(2, 5)
    model = one(
        "Split",
        [x],
        [np.array([1, 0, 4])] if opset == 13 else [],
        3,
        opset,
        axis=1,
        **({} if opset == 13 else {"split": [1, 0, 4]}),
    )
    found = run(model, x)
    assert [f.shape for f in found] == [(2, 1), (2, 0), (2, 4)]
    np.testing.assert_array_equal(np.concatenate(found, 1), x)


@pytest.mark.parametrize("shape", [("n", 1, "m"), ("n", "m", "k")])
def test_squeeze_of_what_the_run_knows(shape):
    """The declared rank tells how many dimensions go; which ones, the types or the run."""
    x = random(3, 1, 4)
    inputs = [value("x", shape, TensorProto.FLOAT)]
    outputs = [value("y", ("a", "b"), TensorProto.FLOAT)]
    check(make_model([node("Squeeze", ["x"], ["y"], "op")], inputs, outputs), x)


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


# -- normalization ---------------------------------------------------------------------------------


def test_layer_normalization_with_all_outputs():
    x = random(2, 3, 4)
    check(one("LayerNormalization", [x], [random(3, 4), random(3, 4)], 3, axis=1), x)


def test_group_normalization_per_group():
    x = random(2, 6, 5)
    model = one("GroupNormalization", [x], [random(3), random(3)], opset=18, num_groups=3)
    check(model, x)


# -- sampling --------------------------------------------------------------------------------------


@pytest.mark.parametrize("mode", ["nearest", "linear", "cubic"])
@pytest.mark.parametrize(
    "transform", ["half_pixel", "asymmetric", "align_corners", "pytorch_half_pixel"]
)
@pytest.mark.parametrize("sizes", [(1, 2, 7, 9), (1, 2, 3, 3)])
def test_resize_to_sizes(mode, transform, sizes):
    x = random(1, 2, 4, 6)
    more = {"nearest_mode": "floor"} if mode == "nearest" else {}
    model = one(
        "Resize",
        [x],
        [None, None, np.array(sizes)],
        mode=mode,
        coordinate_transformation_mode=transform,
        **more,
    )
    check(model, x)


@pytest.mark.parametrize("scale", [0.4, 1.6, 2.0, 3.0])
def test_resize_as_tensorflow_did(scale):
    x = random(1, 1, 5, 7)
    model = one(
        "Resize",
        [x],
        [np.zeros(0, np.float32), np.array([1, 1, scale, scale], np.float32)],
        opset=11,
        mode="nearest",
        coordinate_transformation_mode="tf_half_pixel_for_nn",
        nearest_mode="floor",
    )
    check(model, x)


TO_SIZES = {
    "nearest": {"mode": "nearest", "nearest_mode": "round_prefer_floor"},
    "prefer_ceil": {"mode": "nearest", "nearest_mode": "round_prefer_ceil"},
    "floor": {"mode": "nearest", "nearest_mode": "floor"},
    "ceil": {"mode": "nearest", "nearest_mode": "ceil"},
    "linear": {"mode": "linear"},
    "cubic": {"mode": "cubic"},
    "outside": {"mode": "cubic", "exclude_outside": 1, "cubic_coeff_a": -0.5},
    "antialias": {"mode": "linear", "antialias": 1},
    "antialias_cubic": {"mode": "cubic", "antialias": 1},
}


@pytest.mark.sampled(4)
@pytest.mark.parametrize("how", TO_SIZES.values(), ids=TO_SIZES)
@pytest.mark.parametrize(
    "transform",
    ["half_pixel", "asymmetric", "align_corners", "pytorch_half_pixel", "half_pixel_symmetric"],
)
@pytest.mark.parametrize("sizes", [(2, 3, 7, 9), (2, 3, 3, 1)])
def test_resize_to_sizes_of_the_run(how, transform, sizes):
    """Of extents that only the run knows, by sizes and by scales that it computes."""
    x = random(2, 3, 4, 6)
    how = {**how, "coordinate_transformation_mode": transform}
    fixed = one("Resize", [x], [None, None, np.array(sizes)], **how)
    (expected,) = run(fixed, x)
    sizes = np.array(sizes)
    (found,) = run(one("Resize", [x, None, None, sizes], open=True, **how), x, sizes)
    np.testing.assert_allclose(found, expected, rtol=1e-6, atol=1e-6)
    scales = np.array(sizes / x.shape, np.float32)
    scaled = one("Resize", [x, None, scales], open=True, **how)
    (expected,) = run(one("Resize", [x], [None, scales], **how), x)
    (found,) = run(scaled, x, scales)
    np.testing.assert_allclose(found, expected, rtol=1e-6, atol=1e-6)


@pytest.mark.parametrize("mode", ["nearest", "linear", "cubic"])
@pytest.mark.parametrize("transform", ["half_pixel", "asymmetric", "align_corners"])
@pytest.mark.parametrize("scale", [0.5, 1.5, 2.0])
def test_resize_of_open_extents_by_known_scales(mode, transform, scale):
    x = random(1, 2, 5, 7)
    more = {"nearest_mode": "floor"} if mode == "nearest" else {}
    scales = np.array([1, 1, scale, scale], np.float32)
    model = one(
        "Resize", [x], [None, scales], open=True, mode=mode,
        coordinate_transformation_mode=transform, **more,
    )  # fmt: skip
    check(model, x)


@pytest.mark.parametrize("mode", ["nearest", "linear", "cubic"])
@pytest.mark.parametrize("sizes", [(1, 2, 7, 9), (1, 2, 3, 3)])
def test_resize_to_sizes_of_the_run_as_onnxruntime(mode, sizes):
    x, sizes = random(1, 2, 4, 6), np.array(sizes)
    check(one("Resize", [x, None, None, sizes], open=True, mode=mode), x, sizes)


@pytest.mark.parametrize("policy", ["not_larger", "not_smaller"])
def test_resize_keeping_the_aspect_of_the_run(policy):
    x, sizes = random(1, 2, 4, 6), np.array([7, 8])
    model = one(
        "Resize", [x, None, None, sizes], open=True, mode="linear", axes=[2, 3],
        keep_aspect_ratio_policy=policy,
    )  # fmt: skip
    check(model, x, sizes)


def test_resize_of_a_region_of_the_run():
    x, sizes = random(1, 1, 6, 6), np.array([1, 1, 4, 5])
    roi = np.array([0, 0, 0.2, 0.5, 1, 1, 0.8, 1.2], np.float32)
    model = one(
        "Resize", [x, roi, None, sizes], open=True, mode="linear", extrapolation_value=9.0,
        coordinate_transformation_mode="tf_crop_and_resize",
    )  # fmt: skip
    check(model, x, roi, sizes)


def test_resize_to_nothing_and_by_nothing():
    x = random(1, 1, 4, 4)
    model = one("Resize", [x, None, np.ones(4, np.float32)], open=True, mode="linear")
    assert run(model, x, np.array([1, 1, 0.2, 1], np.float32))[0].shape == (1, 1, 0, 4)
    sized = one("Resize", [x, None, None, np.ones(4, np.int64)], open=True, mode="linear")
    with pytest.raises(NncError, match="there is no element to sample"):
        run(sized, x[:, :, :0], np.array([1, 1, 2, 4]))
    with pytest.raises(NncError, match="is negative"):
        run(sized, x, np.array([1, 1, -2, 4]))


@pytest.mark.parametrize("opset", [7, 9])
def test_upsample(opset):
    x = random(1, 2, 3, 4)
    scales = np.array([1, 1, 2, 3], np.float32)
    if opset == 7:
        model = one("Upsample", [x], opset=7, scales=scales.tolist(), mode="nearest")
    else:
        model = one("Upsample", [x], [scales], opset=9, mode="linear")
    check(model, x)


# -- the rest --------------------------------------------------------------------------------------


@pytest.mark.parametrize("options", [{}, {"transA": 1}, {"transB": 1, "alpha": 0.5, "beta": 2.0}])
@pytest.mark.parametrize("bias", [(4,), (2, 4), (2, 1), ()])
def test_gemm(options, bias):
    a = random(3, 2) if options.get("transA") else random(2, 3)
    b = random(4, 3) if options.get("transB") else random(3, 4)
    check(one("Gemm", [a], [b, random(*bias)], **options), a)


@pytest.mark.parametrize(
    "shapes", [((3,), (3,)), ((3,), (2, 3, 4)), ((2, 4, 3), (3,)), ((2, 3), (3, 4))]
)
def test_matmul_of_vectors(shapes):
    a, b = (random(*s) for s in shapes)
    check(one("MatMul", [a, b]), a, b)


@pytest.mark.parametrize("order", [("time", 0, 1), ("batch", 1, 0)])
@pytest.mark.parametrize("shape", [(4, 4), (4, 4, 2, 3)])
def test_reverse_sequence(order, shape):
    x = random(*shape)
    model = one(
        "ReverseSequence", [x], [np.array([4, 2, 1, 3])], time_axis=order[1], batch_axis=order[2]
    )
    check(model, x)


@pytest.mark.parametrize("axis", [None, 0, 1])
def test_compress(axis):
    x = random(3, 4)
    more = {} if axis is None else {"axis": axis}
    check(one("Compress", [x], [np.array([True, False, True])], **more), x)


def test_max_unpool_into_a_given_shape():
    x = np.arange(4, dtype=np.float32).reshape(1, 1, 2, 2)
    indices = np.array([5, 7, 13, 15]).reshape(1, 1, 2, 2)
    model = one("MaxUnpool", [x], [indices], kernel_shape=[2, 2], strides=[2, 2])
    check(model, x)


@pytest.mark.parametrize("to", ["int8", "uint8", "int32", "bool", "float16", "float64"])
def test_cast(to):
    from onnx.helper import np_dtype_to_tensor_dtype

    x = np.array([-3.7, -0.2, 0.0, 1.5, 100.0], np.float32)
    if to == "uint8":
        x = np.abs(x)
    kind = int(np_dtype_to_tensor_dtype(np.dtype(to)))
    check(one("Cast", [x], to=kind, results=[kind]), x)


def test_quantized_products():
    a, b = RANDOM.integers(0, 255, (2, 3, 4)).astype(np.uint8), RANDOM.integers(-128, 127, (4, 5))
    nodes = [
        node("Cast", ["x"], ["a"], to=int(TensorProto.UINT8)),
        node("MatMulInteger", ["a", "b", "za", "zb"], ["y"]),
    ]
    weights = [
        initializer("b", b.astype(np.int8)),
        initializer("za", np.array(3, np.uint8)),
        initializer("zb", np.array(-2, np.int8)),
    ]
    x = a.astype(np.float32)
    model = make_model(nodes, [value("x", x.shape)], [value("y", None)], weights)
    expected = (a.astype(np.int32) - 3) @ (b.astype(np.int32) + 2)
    np.testing.assert_array_equal(run(model, x)[0], expected)


@pytest.mark.parametrize(
    ("op_type", "weights", "attributes", "outputs"),
    [
        ("Gelu", [], {}, 1),
        ("FastGelu", [(4,)], {}, 1),
        ("FastGelu", [], {}, 1),
        ("BiasGelu", [(4,)], {}, 1),
        ("QuickGelu", [], {"alpha": 1.5}, 1),
        ("FusedMatMul", [(2, 5, 4)], {"transB": 1, "alpha": 0.5}, 1),
        ("FusedMatMul", [(2, 3, 5)], {"transA": 1}, 1),
        ("SkipLayerNormalization", [(2, 3, 4), (4,), (4,), (4,)], {"epsilon": 1e-5}, 1),
        ("SkipLayerNormalization", [(2, 3, 4), (4,), (4,), (4,)], {"epsilon": 1e-5}, 4),
        ("SkipSimplifiedLayerNormalization", [(2, 3, 4), (4,)], {"epsilon": 1e-5}, 4),
    ],
)
def test_operators_of_onnxruntime(op_type, weights, attributes, outputs):
    x = random(2, 3, 4)
    model = one(
        op_type, [x], [random(*s) for s in weights], outputs, domain="com.microsoft", **attributes
    )
    check(model, x, rtol=1e-3, atol=1e-4)


def test_a_map_over_a_sequence():
    text = (
        '<ir_version: 10, opset_import: ["" : 21]> g (float[2,3] x, float[2,3] z) => (float[4,3] y) '
        "{ s = SequenceConstruct(x, z) "
        "r = SequenceMap<body = b (float[2,3] a) => (float[2,3] q) { q = Neg(a) }>(s) "
        "y = ConcatFromSequence<axis = 0>(r) }"
    )
    check(onnx.parser.parse_model(text), random(2, 3), random(2, 3))


# -- axes and sizes that are known at run time only -------------------------------------------


def ints(*numbers):
    return np.array(numbers, np.int64)


@pytest.mark.parametrize("axes", [(0,), (-1,), (1, 2), (2, 0), (0, 1, 2), ()])
@pytest.mark.parametrize("keep", [0, 1])
def test_reduction_along_runtime_axes(axes, keep):
    check(
        one("ReduceSum", [random(2, 3, 4), ints(*axes)], opset=18, keepdims=keep),
        random(2, 3, 4),
        ints(*axes),
    )


@pytest.mark.parametrize("axes", [(), (1,), (2, -3)])
@pytest.mark.parametrize("noop", [0, 1])
def test_a_number_of_runtime_axes_that_is_open(axes, noop):
    model = make_model(
        [node("ReduceMax", ["x", "a"], ["y"], "op", noop_with_empty_axes=noop)],
        [value("x", (None, 3, None)), value("a", (None,), TensorProto.INT64)],
        [value("y", None)],
        opset=20,
    )
    check(model, random(2, 3, 4), ints(*axes))


@pytest.mark.parametrize("axis", [0, 1, -1])
@pytest.mark.parametrize("flags", [{}, {"exclusive": 1}, {"reverse": 1, "exclusive": 1}])
def test_running_sums_along_a_late_axis(axis, flags):
    x, a = random(2, 3, 4), np.array(axis, np.int64)
    check(one("CumSum", [x, a], opset=14, **flags), x, a)


@pytest.mark.parametrize("sizes", [(2, 4), (0, 6), (6, 0)])
def test_late_parts(sizes):
    x = random(3, 6)
    check(one("Split", [x, ints(*sizes)], outputs=2, opset=18, axis=1), x, ints(*sizes))


@pytest.mark.parametrize("axes", [(0,), (-1,), (1, 3), (4, 0)])
def test_late_new_axes(axes):
    x = random(2, 3, 4)
    check(one("Unsqueeze", [x, ints(*axes)], opset=13), x, ints(*axes))


@pytest.mark.parametrize("axes", [(0,), (-1,), (0, 2), (2, 0)])
def test_late_dropped_axes(axes):
    x = random(1, 3, 1)
    check(one("Squeeze", [x, ints(*axes)], opset=13), x, ints(*axes))


@pytest.mark.parametrize("axes", [(0,), (-1, 0), (1,)])
def test_a_late_slice(axes):
    x, count = random(4, 5), len(axes)
    bounds = [ints(*[1] * count), ints(*[-1] * count), ints(*axes), ints(*[2] * count)]
    check(one("Slice", [x, *bounds], opset=13), x, *bounds)


@pytest.mark.parametrize("repeats", [(1, 2, 3), (2, 1, 1), (0, 1, 2)])
def test_late_repeats(repeats):
    x = random(2, 3, 4)
    check(one("Tile", [x, ints(*repeats)], opset=13), x, ints(*repeats))
