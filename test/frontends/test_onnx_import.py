"""What a model becomes: names, locations, constants, shapes, inlined functions and branches."""

import numpy as np
import onnx
import pytest
from nnc.dialects import nn
from nnc.frontends.onnx import import_model
from nnc.ir.attributes import DenseElements, DenseResource
from nnc.ir.diagnostics import NncError
from nnc.ir.location import CallSiteLoc, FileLineColLoc, NameLoc
from nnc.ir.types import TensorType, f32, i64
from onnx import TensorProto, helper

from .models import INT64, initializer, main_of, make_model, node, ops_of, run, save, value

X = np.arange(6, dtype=np.float32).reshape(2, 3) - 2


def result_types(module):
    return list(main_of(module).function_type.results)


# -- names and places ------------------------------------------------------------------------------


def test_the_function(tmp_path):
    path = save(make_model([node("Relu", ["x"], ["y"], "act")], ["x"], ["y"]), tmp_path / "m.onnx")
    module = import_model(path)
    module.verify()
    main = main_of(module)
    assert main.sym_name == "main"
    assert "nn.entry" in main.attributes
    assert [n.value for n in main.attributes["nn.input_names"]] == ["x"]
    assert [n.value for n in main.attributes["nn.output_names"]] == ["y"]
    (relu,) = [op for op in main.body_block if isinstance(op, nn.Relu)]
    assert relu.loc == NameLoc("act (Relu)", FileLineColLoc(str(path), 0, 0))
    assert relu.out.name_hint == "y"


def test_a_node_without_a_name_is_named_by_its_output():
    module = import_model(make_model([node("Relu", ["x"], ["y"])], ["x"], ["y"]))
    (relu,) = [op for op in main_of(module).body_block if isinstance(op, nn.Relu)]
    assert relu.loc.name == "y (Relu)"


def test_outputs_may_be_inputs_and_repeat():
    model = make_model([node("Relu", ["x"], ["y"])], ["x"], ["x", "y", "y"])
    outputs = run(model, X)
    np.testing.assert_array_equal(outputs[0], X)
    np.testing.assert_array_equal(outputs[1], outputs[2])


def test_names_that_are_no_identifiers():
    model = make_model([node("Relu", ["1:x/ü"], ["%y "])], ["1:x/ü"], ["%y "])
    module = import_model(model)
    assert [n.value for n in main_of(module).attributes["nn.input_names"]] == ["1:x/ü"]
    from nnc.ir.syntax.parser import parse_module

    assert str(parse_module(str(module))) == str(module)


def test_nodes_in_any_order():
    nodes = [node("Relu", ["a"], ["y"]), node("Neg", ["x"], ["a"])]
    np.testing.assert_array_equal(run(make_model(nodes, ["x"], ["y"]), X)[0], np.maximum(-X, 0))


def test_progress_is_told():
    told = []
    import_model(make_model([node("Relu", ["x"], ["y"])], ["x"], ["y"]), progress=told.append)
    assert told == ["import <model>: 1 nodes"]


# -- constants -------------------------------------------------------------------------------------


def constants_of(module):
    return [op.value for op in main_of(module).body_block if isinstance(op, nn.Constant)]


def test_small_constants_are_text_and_large_ones_resources():
    weights = [
        initializer("small", np.arange(3, dtype=np.float32)),
        initializer("large", np.arange(300, dtype=np.float32).reshape(3, 100)),
    ]
    nodes = [node("Add", ["x", "small"], ["a"]), node("MatMul", ["a", "large"], ["y"])]
    small, large = constants_of(import_model(make_model(nodes, ["x"], ["y"], weights)))
    assert isinstance(small, DenseElements)
    assert isinstance(large, DenseResource) and large.key == "large"


def test_initializers_may_be_inputs_too():
    weights = [initializer("w", np.ones(3, np.float32))]
    model = make_model([node("Add", ["x", "w"], ["y"])], ["x", value("w", (3,))], ["y"], weights)
    assert [n.value for n in main_of(import_model(model)).attributes["nn.input_names"]] == ["x"]


def test_unused_initializers_are_dropped():
    weights = [initializer("w", np.ones(3, np.float32))]
    assert not constants_of(
        import_model(make_model([node("Relu", ["x"], ["y"])], ["x"], ["y"], weights))
    )


@pytest.mark.parametrize(
    ("attributes", "expected"),
    [
        ({"value": initializer("", np.ones((2, 2), np.int8))}, np.ones((2, 2), np.int8)),
        ({"value_int": 5}, np.array(5)),
        ({"value_ints": [5, 6]}, np.array([5, 6])),
        ({"value_float": 0.5}, np.array(0.5, np.float32)),
        ({"value_floats": [0.5, 1.0]}, np.array([0.5, 1.0], np.float32)),
    ],
)
def test_forms_of_constant(attributes, expected):
    (found,) = run(make_model([node("Constant", [], ["y"], **attributes)], [], [value("y", None)]))
    assert found.dtype == expected.dtype
    np.testing.assert_array_equal(found, expected)


@pytest.mark.parametrize(
    "dtype",
    [
        "float32",
        "float64",
        "float16",
        "bfloat16",
        "bool",
        "int8",
        "int16",
        "int32",
        "int64",
        "uint8",
        "uint16",
        "uint32",
        "uint64",
    ],
)
@pytest.mark.parametrize("raw", [True, False])
def test_element_types_raw_and_typed(dtype, raw):
    import ml_dtypes

    kind = np.dtype(getattr(ml_dtypes, dtype, dtype))
    array = np.array([0, 1, 3, 100], np.float64).astype(kind)
    if kind.kind == "i":
        array[1] = -1
    code = helper.np_dtype_to_tensor_dtype(kind)
    vals = array.tobytes() if raw else array.tolist()
    tensor = helper.make_tensor("w", code, [4], vals, raw=raw)
    (found,) = run(make_model([], [], [value("w", None)], [tensor]))
    assert found.dtype == kind
    np.testing.assert_array_equal(found, array)


# -- shapes ----------------------------------------------------------------------------------------


def test_symbolic_dimensions_stay_unknown_unless_given():
    model = make_model([node("Relu", ["x"], ["y"])], [value("x", ("batch", 3))], ["y"])
    assert result_types(import_model(model)) == [TensorType((None, 3), f32)]
    assert result_types(import_model(model, dims={"batch": 4})) == [TensorType((4, 3), f32)]
    assert result_types(import_model(model, shapes={"x": (5, 3)})) == [TensorType((5, 3), f32)]


def test_a_given_shape_binds_its_symbols_everywhere():
    inputs = [value("x", ("batch", 3)), value("z", ("batch", 1))]
    model = make_model([node("Add", ["x", "z"], ["y"])], inputs, ["y"])
    module = import_model(model, shapes={"x": (4, None)})
    assert [a.type.shape for a in main_of(module).body_block.args] == [(4, 3), (4, 1)]


def test_zero_extents_are_extents():
    model = make_model([node("Relu", ["x"], ["y"])], [value("x", (0, 3))], ["y"])
    assert result_types(import_model(model)) == [TensorType((0, 3), f32)]


def flattened_by_shape_arithmetic():
    """x reshaped to [its first extent, -1], as exporters write it."""
    nodes = [
        node("Shape", ["x"], ["s"]),
        node("Gather", ["s", "zero"], ["batch"], axis=0),
        node("Unsqueeze", ["batch", "axes"], ["b"]),
        node("Concat", ["b", "rest"], ["shape"], axis=0),
        node("Reshape", ["x", "shape"], ["y"]),
    ]
    weights = [
        initializer("zero", np.array(0)),
        initializer("axes", np.array([0])),
        initializer("rest", np.array([-1])),
    ]
    return nodes, weights


def test_shape_arithmetic_is_done_at_import():
    nodes, weights = flattened_by_shape_arithmetic()
    model = make_model(nodes, [value("x", (4, 3, 2))], ["y"], weights)
    module = import_model(model)
    assert ops_of(module) == ["nn.reshape"]
    assert not constants_of(module)
    assert result_types(module) == [TensorType((4, 6), f32)]


def test_shapes_of_which_a_part_is_known():
    """[?, 3, 2] to [?, -1]: at most one extent is unknown, which a static reshape can tell."""
    nodes, weights = flattened_by_shape_arithmetic()
    nodes[3] = node("Concat", ["b", "rest"], ["shape"], axis=0)
    weights[2] = initializer("rest", np.array([6]))
    module = import_model(make_model(nodes, [value("x", ("n", 3, 2))], ["y"], weights))
    assert ops_of(module) == ["nn.reshape"]
    assert result_types(module) == [TensorType((None, 6), f32)]


@pytest.mark.parametrize("batch", [1, 5])
def test_two_unknown_extents_are_computed_at_run_time(batch):
    nodes, weights = flattened_by_shape_arithmetic()
    weights[2] = initializer("rest", np.array([2, -1]))
    model = make_model(nodes, [value("x", ("n", 2, "m"))], ["y"], weights)
    x = np.random.default_rng(0).standard_normal((batch, 2, 3)).astype(np.float32)
    np.testing.assert_array_equal(run(model, x)[0], x.reshape(batch, 2, 3))


def test_copied_extents_cancel():
    """[?, 4, 8] to [0, -1, 16] is [?, 2, 16]."""
    weights = [initializer("s", np.array([0, -1, 16]))]
    model = make_model(
        [node("Reshape", ["x", "s"], ["y"])], [value("x", ("n", 4, 8))], ["y"], weights
    )
    assert result_types(import_model(model)) == [TensorType((None, 2, 16), f32)]


@pytest.mark.parametrize("shape", [[3, 0], [0, -1], [-1, 1], [3, 2]])
def test_a_shape_that_is_an_input(shape):
    inputs = ["x", value("s", (2,), INT64)]
    model = make_model([node("Reshape", ["x", "s"], ["y"])], inputs, ["y"])
    expected = [X.shape[i] if d == 0 else d for i, d in enumerate(shape)]
    if 0 in shape and shape[0] == 3:
        model = make_model(
            [node("Reshape", ["x", "s"], ["y"])], [value("x", (3, 2)), inputs[1]], ["y"]
        )
        x = X.reshape(3, 2)
        expected = [3, 2]
    else:
        x = X
    np.testing.assert_array_equal(run(model, x, np.array(shape))[0], x.reshape(expected))


def test_expand_by_an_input():
    inputs = [value("x", (1, 3)), value("s", (3,), INT64)]
    model = make_model([node("Expand", ["x", "s"], ["y"])], inputs, ["y"])
    x = X[:1]
    np.testing.assert_array_equal(
        run(model, x, np.array([2, 4, 1]))[0], np.broadcast_to(x, (2, 4, 3))
    )


@pytest.mark.parametrize(
    ("starts", "ends", "steps"),
    [([1], [2**31 - 1], [1]), ([0], [-1], [1]), ([-2], [2**63 - 1], [1]), ([-1], [-9], [-1])],
)
def test_slices_of_unknown_extents(starts, ends, steps):
    weights = [
        initializer(n, np.array(v))
        for n, v in {"b": starts, "e": ends, "a": [0], "t": steps}.items()
    ]
    model = make_model(
        [node("Slice", ["x", "b", "e", "a", "t"], ["y"])], [value("x", ("n", 3))], ["y"], weights
    )
    for n in (1, 2, 5):
        x = np.arange(3 * n, dtype=np.float32).reshape(n, 3)
        expected = x[starts[0] : ends[0] if ends[0] > -9 else None : steps[0]]
        np.testing.assert_array_equal(run(model, x)[0], expected)


def test_constants_for_inputs():
    model = make_model(
        [node("ReduceSum", ["x", "axes"], ["y"])], ["x", value("axes", (1,), INT64)], ["y"]
    )
    (found,) = run(model, X, constants={"axes": np.array([1])})
    np.testing.assert_array_equal(found, X.sum(1, keepdims=True))


def test_the_position_mask_of_a_language_model_is_static():
    """Range and comparisons over known extents leave a constant."""
    nodes = [
        node("Shape", ["x"], ["s"]),
        node("Gather", ["s", "one"], ["n"], axis=0),
        node("Range", ["zero", "n", "one"], ["r"]),
        node("Unsqueeze", ["r", "axes"], ["column"]),
        node("LessOrEqual", ["r", "column"], ["mask"]),
        node("Where", ["mask", "x", "low"], ["y"]),
    ]
    weights = [
        initializer("zero", np.array(0)),
        initializer("one", np.array(1)),
        initializer("axes", np.array([1])),
        initializer("low", np.array(-1e9, np.float32)),
    ]
    module = import_model(make_model(nodes, [value("x", (4, 4))], ["y"], weights))
    assert ops_of(module) == ["nn.where"]


# -- functions and branches ------------------------------------------------------------------------


def scaled(name="Scaled"):
    """(a * factor, a), with an attribute that has a default."""
    body = [
        helper.make_node("Constant", [], ["f"]),
        helper.make_node("Mul", ["a", "f"], ["b"], "times"),
        helper.make_node("Identity", ["a"], ["c"]),
    ]
    reference = onnx.AttributeProto(
        name="value_float", ref_attr_name="factor", type=onnx.AttributeProto.FLOAT
    )
    body[0].attribute.append(reference)
    return helper.make_function(
        "me",
        name,
        ["a"],
        ["b", "c"],
        body,
        [helper.make_opsetid("", 18)],
        attribute_protos=[helper.make_attribute("factor", 2.0)],
    )


@pytest.mark.parametrize(("given", "factor"), [({}, 2.0), ({"factor": 3.0}, 3.0)])
def test_functions_of_the_model_are_inlined(given, factor):
    call = node("Scaled", ["x"], ["y"], "call", domain="me", **given)
    model = make_model([call], ["x"], ["y"], functions=[scaled()], domains={"me": 1})
    np.testing.assert_array_equal(run(model, X)[0], X * np.float32(factor))
    (op,) = [op for op in main_of(import_model(model)).body_block if isinstance(op, nn.Mul)]
    assert isinstance(op.loc, CallSiteLoc)
    assert (op.loc.callee.name, op.loc.caller.name) == ("times (Mul)", "call (Scaled)")


def test_a_function_of_the_model_comes_before_the_operator():
    function = scaled("Relu")
    function.domain = ""
    model = make_model([node("Relu", ["x"], ["y"])], ["x"], ["y"], functions=[function])
    np.testing.assert_array_equal(run(model, X)[0], X * 2)


def branch(op_type, name):
    return helper.make_graph([node(op_type, ["x"], [name])], name, [], [value(name, (2, 3))])


def with_if(condition, *, known):
    choose = node(
        "If",
        ["c"],
        ["y"],
        "choice",
        then_branch=branch("Relu", "t"),
        else_branch=branch("Neg", "e"),
    )
    if known:
        return make_model([choose], ["x"], ["y"], [initializer("c", np.array(condition))])
    return make_model([choose], ["x", value("c", (), TensorProto.BOOL)], ["y"])


@pytest.mark.parametrize("condition", [True, False])
def test_branches(condition):
    expected = np.maximum(X, 0) if condition else -X
    model = with_if(condition, known=True)
    assert ops_of(import_model(model)) == ["nn.relu" if condition else "nn.neg"]
    np.testing.assert_array_equal(run(model, X)[0], expected)
    model = with_if(condition, known=False)
    np.testing.assert_array_equal(run(model, X, np.array(condition))[0], expected)


def test_a_branch_that_is_not_taken_may_hold_anything():
    choose = node(
        "If",
        ["c"],
        ["y"],
        then_branch=branch("Relu", "t"),
        else_branch=branch("Undecodable", "e"),
    )
    model = make_model([choose], ["x"], ["y"], [initializer("c", np.array(True))])
    assert ops_of(import_model(model)) == ["nn.relu"]
    choose.attribute[0].g.node[0].op_type = "Undecodable"
    choose.attribute[1].g.node[0].op_type = "Undecodable"
    with pytest.raises(NncError, match=r"Undecodable of ai\.onnx"):
        import_model(make_model([choose], ["x"], ["y"], [initializer("c", np.array(True))]))


def test_sequences_are_followed():
    nodes = [
        node("SplitToSequence", ["x"], ["parts"], axis=1, keepdims=0),
        node("SequenceAt", ["parts", "i"], ["y"]),
    ]
    model = make_model(nodes, ["x"], ["y"], [initializer("i", np.array(-1))])
    np.testing.assert_array_equal(run(model, X)[0], X[:, 2])


# -- operators whose meaning changed ---------------------------------------------------------------


@pytest.mark.parametrize("opset", [7, 11, 13])
@pytest.mark.parametrize("op_type", ["Softmax", "LogSoftmax", "Hardmax"])
def test_softmax_before_13_flattens(opset, op_type):
    import onnxruntime

    x = np.random.default_rng(1).standard_normal((2, 3, 4)).astype(np.float32)
    model = make_model(
        [node(op_type, ["x"], ["y"], axis=1)],
        [value("x", x.shape)],
        [value("y", x.shape)],
        opset=opset,
        ir_version=8,
    )
    session = onnxruntime.InferenceSession(model.SerializeToString())
    np.testing.assert_allclose(
        run(model, x)[0], session.run(None, {"x": x})[0], rtol=1e-5, atol=1e-6
    )


def axes_nodes(opset):
    """Squeeze, Unsqueeze, ReduceSum, Slice, Split, Pad and Clip in the form of an opset."""
    old = opset < 13
    nodes, weights = [], []

    def op(op_type, x, out, since, old_attributes, new_inputs):
        if opset < since:
            nodes.append(node(op_type, [x], out, **old_attributes))
            return
        names = [f"{out[0]}_{i}" for i in range(len(new_inputs))]
        weights.extend(initializer(n, a) for n, a in zip(names, new_inputs, strict=True))
        nodes.append(node(op_type, [x, *names], out))

    op("Unsqueeze", "x", ["a"], 13, {"axes": [0]}, [np.array([0])])
    op("Squeeze", "a", ["b"], 13, {"axes": [0]}, [np.array([0])])
    op("Clip", "b", ["c"], 11, {"min": -1.0, "max": 2.0}, [np.float32(-1), np.float32(2)])
    op("Pad", "c", ["d"], 11, {"pads": [0, 1, 0, 0]}, [np.array([0, 1, 0, 0])])
    op(
        "Slice",
        "d",
        ["e"],
        10,
        {"starts": [0, 1], "ends": [9, 9]},
        [np.array([0, 1]), np.array([9, 9])],
    )
    op("Split", "e", ["f", "g"], 13, {"axis": 0, "split": [1, 1]}, [np.array([1, 1])])
    op("ReduceSum", "f", ["h"], 13, {"axes": [1]}, [np.array([1])])
    op("ReduceMax", "g", ["i"], 18, {"axes": [1]}, [np.array([1])])
    nodes.append(node("Concat", ["h", "i"], ["y"], axis=0))
    del old
    return nodes, weights


@pytest.mark.parametrize("opset", [7, 9, 10, 11, 12, 13, 17, 18, 21])
def test_attributes_that_became_inputs(opset):
    nodes, weights = axes_nodes(opset)
    model = make_model(nodes, ["x"], [value("y", (2, 1))], weights, opset=opset)
    clipped = np.clip(X, -1, 2)
    expected = np.array([[clipped[0].sum()], [clipped[1].max()]])
    np.testing.assert_array_equal(run(model, X)[0], expected)


def test_index_types():
    model = make_model(
        [node("Gather", ["x", "i"], ["y"])],
        ["x"],
        [value("y", None)],
        [initializer("i", np.array([1], np.int32))],
    )
    np.testing.assert_array_equal(run(model, X)[0], X[[1]])
    assert result_types(import_model(make_model([node("Shape", ["x"], ["y"])], ["x"], ["y"]))) == [
        TensorType((2,), i64)
    ]
