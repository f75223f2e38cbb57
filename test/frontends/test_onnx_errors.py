"""What is wrong with a model is said in one error: file, node, found, expected."""

import re

import numpy as np
import onnx
import pytest
from nnc.frontends.onnx import import_model
from nnc.ir.diagnostics import NncError
from onnx import TensorProto, helper

from .models import initializer, make_model, node, save, value


def relu_model(**options):
    return make_model([node("Relu", ["x"], ["y"], "act")], ["x"], ["y"], **options)


def error_of(source, **options) -> str:
    with pytest.raises(NncError) as caught:
        import_model(source, **options)
    return str(caught.value)


def expect(source, message: str, **options) -> None:
    text = error_of(source, **options)
    assert re.search(message, text), text


def test_functions_that_call_the_next_one_twice():
    """What they stand for doubles with each."""
    opsets = [helper.make_opsetid("own", 1), helper.make_opsetid("", 17)]

    def function(i: int):
        last = [helper.make_node("Neg", ["x"], ["y"])]
        twice = [helper.make_node(f"f{i + 1}", [a], [b], domain="own") for a, b in ("xt", "ty")]
        return helper.make_function("own", f"f{i}", ["x"], ["y"], twice if i < 40 else last, opsets)

    call = helper.make_node("f0", ["x"], ["y"], domain="own")
    model = make_model([call], ["x"], ["y"], functions=[function(i) for i in range(41)])
    model.opset_import.append(opsets[0])
    expect(model, "the calls of its functions stand for more than 200000 nodes")


# -- opsets, types, shapes -------------------------------------------------------------------------


def test_opset_too_old():
    expect(relu_model(opset=0), r"opset 0 is too old, expected \d+ to \d+")


def test_opset_too_new():
    expect(relu_model(opset=999), r"opset 999 is too new, expected \d+ to \d+")


def test_no_opset():
    model = relu_model()
    del model.opset_import[:]
    expect(model, "names no opset")


def test_two_opsets():
    model = relu_model()
    model.opset_import.append(helper.make_opsetid("ai.onnx", 13))
    expect(model, "two versions of opset 'ai.onnx'")


@pytest.mark.parametrize(("kind", "name"), [(TensorProto.COMPLEX64, "COMPLEX64")])
def test_unsupported_element_type(kind, name):
    model = make_model([node("Identity", ["x"], ["y"])], [value("x", (2,), kind)], ["y"])
    expect(model, f"input 'x': element type {name} is not supported; expected one of FLOAT")


def test_a_kind_of_input_that_no_value_has():
    sparse = helper.make_sparse_tensor_value_info("x", TensorProto.FLOAT, (2,))
    expect(make_model([], [sparse], [sparse]), "input 'x' is of kind 'sparse tensor'")


def test_a_shape_or_value_for_a_sequence():
    sequence = helper.make_tensor_sequence_value_info("x", TensorProto.FLOAT, (2,))
    model = make_model([], [sequence], [sequence])
    expect(model, "shape is given for input 'x', which is not a tensor", shapes={"x": (2,)})
    expect(model, "value is given for input 'x', which is not a tensor", constants={"x": [1.0]})


def test_a_sequence_for_an_operator_without_declaration():
    sequence = helper.make_tensor_sequence_value_info("x", TensorProto.FLOAT, (2,))
    nodes = [node("Gelu", ["x"], ["y"], "n1", domain="com.microsoft")]
    model = make_model(nodes, [sequence], ["y"], domains={"com.microsoft": 1})
    expect(model, r"node 'n1' \(Gelu\): input 0 is not a tensor")


def test_weights_that_onnxruntime_arranged_for_one_processor():
    domain = "com.microsoft.nchwc"
    nodes = [node("ReorderInput", ["x"], ["t"], domain=domain), node("Relu", ["t"], ["y"])]
    model = make_model(nodes, ["x"], ["y"], domains={domain: 1})
    expect(model, "saved it for one processor.*save it with .* ORT_ENABLE_EXTENDED")


def test_an_element_of_unknown_rank():
    sequence = helper.make_tensor_sequence_value_info("x", TensorProto.FLOAT, None)
    nodes = [node("SequenceAt", ["x", "i"], ["e"]), node("Relu", ["e"], ["y"], "r")]
    model = make_model(nodes, [sequence], ["y"], [initializer("i", np.array(0))])
    expect(model, r"node 'r' \(Relu\): input 0 is a 'tensor<\*xf32>': its rank must be known")


def test_unknown_rank():
    model = make_model([node("Relu", ["x"], ["y"])], [value("x", None)], ["y"])
    expect(model, "the rank of input 'x' is unknown; give its shape")
    import_model(model, shapes={"x": (2, 3)})


def test_shape_for_no_input():
    expect(relu_model(), "'z', which is not an input; inputs: 'x'", shapes={"z": (1,)})


def test_shape_of_wrong_rank():
    expect(relu_model(), r"'x' has 2 dimensions, but shape \[1\] is given", shapes={"x": (1,)})


def test_negative_extent():
    expect(relu_model(), "has an extent of -1", shapes={"x": (-1, 2)})


def test_unknown_symbol():
    model = make_model([node("Relu", ["x"], ["y"])], [value("x", ("batch", 3))], ["y"])
    expect(model, "no dimension named 'time'; they have: batch", dims={"time": 3})


def test_value_of_wrong_type():
    constants = {"x": np.zeros((2, 3), np.int64)}
    expect(
        relu_model(), r"value given for input 'x' has shape \[2, 3\] of int64", constants=constants
    )


# -- the graph -------------------------------------------------------------------------------------


def test_undefined_name():
    model = make_model([node("Add", ["x", "zz"], ["y"], "sum")], ["x"], ["y"])
    expect(model, r"node 'sum' \(Add\): input 'zz' is not defined: no node, input or initializer")


def test_undefined_output():
    expect(make_model([node("Relu", ["x"], ["y"])], ["x"], ["z"]), "output 'z' is not defined")


def test_cycle():
    nodes = [node("Add", ["x", "b"], ["a"], "first"), node("Relu", ["a"], ["b"], "second")]
    expect(
        make_model(nodes, ["x"], ["b"]),
        r"cycle: .*'second' \(Relu\).*'first' \(Add\)|cycle: .*'first' \(Add\).*'second'",
    )


def test_a_node_that_uses_itself():
    expect(
        make_model([node("Relu", ["y"], ["y"], "me")], ["x"], ["y"]), r"cycle: node 'me' \(Relu\)"
    )


def test_name_defined_twice():
    nodes = [node("Relu", ["x"], ["y"], "one"), node("Neg", ["x"], ["y"], "two")]
    expect(
        make_model(nodes, ["x"], ["y"]),
        r"'y' is defined twice: by node 'one' \(Relu\) and by node 'two' \(Neg\)",
    )


def test_node_redefines_an_input():
    model = make_model([node("Relu", ["x"], ["x"], "act")], ["x"], ["x"])
    expect(model, "defines 'x', which is an input or a constant already")


def test_node_redefines_an_initializer():
    nodes = [node("Relu", ["x"], ["w"], "act"), node("Add", ["x", "w"], ["y"])]
    model = make_model(nodes, ["x"], ["y"], [initializer("w", np.ones(3, np.float32))])
    expect(model, "defines 'w', which is an input or a constant already")


def test_two_inputs_of_one_name():
    expect(make_model([node("Relu", ["x"], ["y"])], ["x", "x"], ["y"]), "two inputs are named 'x'")


def test_two_initializers_of_one_name():
    weights = [initializer("w", [1.0]), initializer("w", [2.0])]
    model = make_model([node("Add", ["x", "w"], ["y"])], ["x"], ["y"], weights)
    expect(model, "initializer 'w' is defined twice")


def test_unsupported_nodes_are_listed_at_once(tmp_path):
    nodes = [
        node("Undecodable", ["x"], ["a"], "u"),
        node("Relu", ["a"], ["b"], "fine"),
        node("Custom", ["b"], ["c"], "mine", domain="com.me"),
        node("Stranger", ["c"], ["d"], domain="com.you"),
        node("NoSuchOp", ["d"], ["y"], "n"),
    ]
    path = save(make_model(nodes, ["x"], ["y"], domains={"com.me": 3}), tmp_path / "m.onnx")
    assert error_of(path).splitlines() == [
        f"{path}: error: 4 nodes are not supported:",
        "  node 'u' (Undecodable): Undecodable of ai.onnx, opset 21",
        "  node 'mine' (Custom): Custom of com.me, opset 3",
        "  node of output 'd' (Stranger): Stranger of com.you, a domain that the model does not "
        "import",
        "  node 'n' (NoSuchOp): NoSuchOp of ai.onnx, opset 21",
    ]


def test_unused_nodes_do_not_matter():
    nodes = [node("Relu", ["x"], ["y"]), node("Undecodable", ["x"], ["z"])]
    import_model(make_model(nodes, ["x"], ["y"]))


# -- functions -------------------------------------------------------------------------------------


def function(name, nodes, inputs=("a",), outputs=("b",), domain="me", opset=21):
    return helper.make_function(
        domain,
        name,
        inputs,
        outputs,
        nodes,
        [helper.make_opsetid("", opset), helper.make_opsetid("me", 1)],
    )


def calling(body, inputs=("x",)):
    """A model that calls a function F."""
    call = node("F", list(inputs), ["y"], "call", domain="me")
    return make_model([call], ["x"], ["y"], functions=[body], domains={"me": 1})


def test_a_function_that_calls_itself():
    loop = function("F", [node("F", ["a"], ["b"], domain="me")])
    expect(calling(loop), "function 'F' calls itself")


def test_unsupported_in_a_function():
    body = function("F", [node("Undecodable", ["a"], ["b"])])
    expect(calling(body), r"node 'call' \(F\): F of me, opset 1, whose body needs Undecodable")


def test_an_error_in_a_function_names_the_call():
    body = function("F", [node("Softmax", ["a"], ["b"], "inner", axis=7)])
    expect(
        calling(body),
        r"node 'call' \(F\), in its body node 'inner' \(Softmax\): axis 7 is out of range",
    )


def test_a_function_called_with_too_many_inputs():
    body = function("F", [node("Relu", ["a"], ["b"])])
    expect(
        calling(body, ["x", "x"]),
        r"node 'call' \(F\): 2 inputs and 1 outputs, but function 'F' has 1 and 1",
    )


def test_onnx_itself_agrees_that_the_good_ones_are_good():
    onnx.checker.check_model(relu_model())
