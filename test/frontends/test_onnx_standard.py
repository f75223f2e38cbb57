"""Where ONNX's text decides: numbers as it has them, what it does not allow, and known differences."""

import nnc
import numpy as np
import pytest
from nnc.driver.checking.check import check
from nnc.frontends.onnx import import_model
from nnc.frontends.onnx.examine import examine_model
from onnx import TensorProto, helper

from .models import make_model, node, run, save, value

X = np.arange(1, 9, dtype=np.float32).reshape(1, 1, 2, 4)


def model_of(op_type, *arrays, opset=21, open=False, domains=None, **attributes):
    """A model of one node, and its inputs."""
    names = [f"x{i}" for i in range(len(arrays))]
    kinds = [helper.np_dtype_to_tensor_dtype(a.dtype) for a in arrays]
    shapes = [
        [f"{n}_{d}" if open else e for d, e in enumerate(a.shape)]
        for n, a in zip(names, arrays, strict=True)
    ]
    made = node(op_type, names, ["y"], domain=attributes.pop("domain", ""), **attributes)
    inputs = [value(*each) for each in zip(names, shapes, kinds, strict=True)]
    result = value("y", None, attributes_type(op_type, attributes, kinds))
    return make_model([made], inputs, [result], opset=opset, domains=domains or {})


def attributes_type(op_type, attributes, kinds):
    """The element type of the result."""
    return attributes.get("output_datatype", kinds[0])


@pytest.mark.parametrize(
    "scales, expected",
    [
        ([1, 1, 0.6, 0.6], [[1, 3]]),  # ONNX's own case of the time
        ([1, 1, 0.6, 2], [[1, 1, 2, 2, 3, 3, 4, 4]]),
        ([1, 1, 0.5, 0.75], [[1, 3, 4]]),
        ([1, 1, 3, 0.3], [[1], [1], [1], [5], [5], [5]]),
    ],
)
def test_the_nearest_element_before_opset_11(scales, expected):
    scales = np.float32(scales)
    model = model_of("Resize", X, scales, opset=10)
    (found,) = run(model, X, constants={"x1": scales})
    np.testing.assert_array_equal(found, np.float32(expected)[None, None])
    if scales.min() >= 1:
        np.testing.assert_array_equal(run(model, X, scales)[0], found)
    else:
        with pytest.raises(nnc.NncError, match="scales below 1 that are known only at run time"):
            run(model, X, scales)


@pytest.mark.parametrize("equation", ["ii->i", "ii", "ij,jj->i", "...ii->...i"])
def test_repeated_letters_of_open_extents(equation):
    arrays = [np.arange(9, dtype=np.float32).reshape(3, 3)] * (1 + equation.count(","))
    (found,) = run(model_of("Einsum", *arrays, open=True, equation=equation), *arrays)
    np.testing.assert_array_equal(found, np.einsum(equation, *arrays))


def test_repeated_letters_of_two_extents_are_an_error():
    x = np.ones((2, 3), np.float32)
    with pytest.raises(nnc.NncError, match="two different extents"):
        run(model_of("Einsum", x, open=True, equation="ii->i"), x)


def test_factors_of_integers_are_no_integers():
    a, c = np.arange(6, dtype=np.int32).reshape(2, 3), np.int32([5, 6])
    (found,) = run(model_of("Gemm", a, a.T, c, alpha=0.25, beta=0.5), a, a.T, c)
    np.testing.assert_array_equal(found, np.trunc(a @ a.T * 0.25 + c * 0.5))
    v = np.int32([-4, -1, 0, 2, 5])
    (found,) = run(model_of("Shrink", v, bias=1.5, lambd=1.5), v)
    np.testing.assert_array_equal(found, [-2, 0, 0, 0, 3])


def test_windows_of_integers_have_their_top():
    size = np.int32(10)
    model = model_of("BlackmanWindow", size, output_datatype=TensorProto.INT32)
    (found,) = run(model, size)
    np.testing.assert_array_equal(found, [0, 0, 0, 0, 0, 1, 0, 0, 0, 0])


ROIS, BATCH = np.ones((2, 5), np.float32), np.zeros(2, np.int64)
AUTO = {"auto_pad": "SAME_UPPER", "pads": [1, 1, 1, 1]}


@pytest.mark.parametrize(
    "message, op_type, arrays, attributes",
    [
        ("'keepdims' is 2, expected 0 or 1", "ReduceMax", [X], {"keepdims": 2, "opset": 13}),
        ("'fmod' is -1, expected 0 or 1", "Mod", [X, X], {"fmod": -1}),
        ("unknown attribute 'kep'", "ReduceMax", [X], {"kep": 1}),
        ("of padding alone", "MaxPool", [X], {"kernel_shape": [1, 1], "pads": [1, 0, 0, 0]}),
        ("rows of 4 numbers", "RoiAlign", [X, ROIS, BATCH], {}),
        ("'sampling_ratio' is -1", "RoiAlign", [X, ROIS[:, :4], BATCH], {"sampling_ratio": -1}),
        ("'pads' is .* not supported", "ConvTranspose", [X, X[:, :, :, :2]], AUTO),
    ],
)
def test_what_the_text_does_not_allow_is_refused(message, op_type, arrays, attributes):
    with pytest.raises(nnc.NncError, match=message):
        import_model(model_of(op_type, *arrays, **attributes))


def test_attributes_that_no_converter_reads_are_refused():
    x = np.ones((2, 3), np.float32)
    model = model_of("QuickGelu", x, domain="com.microsoft", domains={"com.microsoft": 1}, beta=2.0)
    with pytest.raises(
        nnc.NncError, match=r"\(QuickGelu\): attribute 'beta' is 2.0, .*not supported"
    ):
        import_model(model)


def test_what_a_function_does_not_have_is_refused():
    body = helper.make_function(
        "own",
        "Twice",
        ["a"],
        ["b"],
        [node("Add", ["a", "a"], ["b"])],
        [helper.make_opsetid("", 21)],
    )
    call = node("Twice", ["x"], ["y"], domain="own", factor=3)
    model = make_model([call], ["x"], ["y"], functions=[body], domains={"own": 1})
    with pytest.raises(nnc.NncError, match="function 'Twice' has no attribute 'factor'"):
        import_model(model)


def test_windows_larger_than_their_input_are_known_to_differ(tmp_path):
    x = X[:, :, :, :2]
    model = model_of("MaxPool", x, kernel_shape=[1, 3], strides=[1, 2])
    assert run(model, x)[0].shape == (1, 1, 2, 0)
    (warning,) = examine_model(model).warnings
    assert "a window of 3 is larger than the 2 elements of dimension 3" in warning
    found = check(str(save(model, tmp_path / "m.onnx")), [])
    assert found.as_json()["warnings"] == [warning]


def test_reflection_beyond_the_elements_is_reflected_again():
    x, pads = np.float32([1, 2, 3]), np.int64([5, 4])
    model = model_of("Pad", x, pads, mode="reflect", opset=19)
    np.testing.assert_array_equal(run(model, x, pads)[0], np.pad(x, pads, "reflect"))
    (warning,) = examine_model(model, constants={"x1": pads}).warnings
    assert "5 elements of padding reflect the 3 of dimension 0 several times" in warning


def test_a_lone_element_of_aligned_corners_is_known_to_differ():
    theta, size = np.float32([[[1, 0, 2], [0, 1, 3]]]), np.int64([1, 1, 1, 2])
    model = model_of("AffineGrid", theta, size, align_corners=1, opset=20)
    np.testing.assert_array_equal(run(model, theta, size)[0], [[[[1, 2], [3, 2]]]])
    (warning,) = examine_model(model, constants={"x1": size}).warnings
    assert "in ONNX Runtime at 1" in warning


def test_indices_of_another_shape_are_known_to_differ():
    x, places, shape = np.float32([[[5, 6]]]), np.int64([[[1, 2]]]), np.int64([1, 1, 6])
    model = model_of("MaxUnpool", x, places, shape, kernel_shape=[2], strides=[2], opset=11)
    np.testing.assert_array_equal(run(model, x, places, shape)[0], [[[0, 5, 6, 0, 0, 0]]])
    (warning,) = examine_model(model, constants={"x2": shape}).warnings
    assert "indices refer to the shape that follows from the windows" in warning


def test_scores_of_a_forest_are_known_to_differ():
    """A single leaf scores the first target alone; base values are added to both."""
    tree = {
        "nodes_treeids": [0], "nodes_nodeids": [0], "nodes_featureids": [0], "nodes_values": [0.0],
        "nodes_modes": ["LEAF"], "nodes_truenodeids": [0], "nodes_falsenodeids": [0],
        "target_treeids": [0], "target_nodeids": [0], "target_ids": [0], "target_weights": [2.0],
    }  # fmt: skip

    def outcome(targets, **more):
        call = node("TreeEnsembleRegressor", ["x"], ["y"], domain="ai.onnx.ml", n_targets=targets,
                    **tree, **more)  # fmt: skip
        shapes = [[1, 1], [1, targets]]
        infos = (helper.make_tensor_value_info(*v) for v in zip("xy", (1, 1), shapes, strict=True))
        made = make_model([call], [next(infos)], list(infos), domains={"ai.onnx.ml": 3})
        (warning,) = examine_model(made).warnings
        return run(made, np.zeros((1, 1), np.float32))[0], warning

    found, warning = outcome(2, base_values=[0.5, 0.25])
    np.testing.assert_array_equal(found, [[2.5, 0.25]])
    assert "has its base value" in warning
    found, warning = outcome(1, post_transform="LOGISTIC")
    np.testing.assert_allclose(found, [[1 / (1 + np.exp(-2))]], rtol=1e-6)
    assert "transformed by LOGISTIC, in ONNX Runtime it is not" in warning


def test_batch_dimensions_are_those_there_are():
    x, indices = np.zeros((2, 2), np.float32), np.zeros((2, 1), np.int64)
    for batch in (-1, 2):
        with pytest.raises(nnc.NncError, match=f"'batch_dims' is {batch}"):
            import_model(model_of("GatherND", x, indices, batch_dims=batch))


def test_places_of_no_dimension_are_the_whole():
    x, indices = np.zeros((0, 0), np.float32), np.zeros((0, 0), np.int64)
    found = nnc.compile(model_of("GatherND", x, indices), cache=False)(x, indices)
    assert found.shape == (0, 0, 0)
