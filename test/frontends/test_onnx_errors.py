"""What is wrong with a model is said in one error: file, node, found, expected."""

import contextlib
import os
import random
import re

import numpy as np
import onnx
import pytest
from nnc.frontends.onnx import import_model
from nnc.ir.diagnostics import NncError
from onnx import TensorProto, helper

from .models import INT64, initializer, make_model, node, save, value


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


# -- the file --------------------------------------------------------------------------------------


def test_no_such_file(tmp_path):
    expect(tmp_path / "none.onnx", r"none\.onnx: error: cannot read the model: No such file")


def test_a_folder(tmp_path):
    expect(tmp_path, "is a folder, expected a model's file")


def test_an_empty_file(tmp_path):
    path = tmp_path / "m.onnx"
    path.write_bytes(b"")
    expect(path, r"m\.onnx: error: the file is empty, expected a model")


@pytest.mark.parametrize(
    ("data", "what"),
    [
        (b"PK\x03\x04 rest of it", "ZIP archive"),
        (b"<html><body>not found</body></html>", "XML or HTML"),
        (b'{"a": 1}', "JSON"),
        (b"version https://git-lfs.github.com/spec/v1\n", "Git LFS pointer"),
        (b"\x08\x00\x00\x00ORTM\x00\x00", "ONNX Runtime's own format"),
        (b"hello, world\n", "it is text"),
        (b'{"a": ', "it is text"),
        (b"\x93NUMPY\x01\x00", "an array of NumPy"),
        (b"\x1f\x8b\x08\x00" + bytes(20), "compressed by gzip; unpack it first"),
        (b"\x7f\0\0\0\0\0\0\0" + b'{"}', "cannot be decoded"),
        (b"\x02\0\0\0\0\0\0\0" + b'{"a":{}}', "weights of safetensors, without a program"),
        (b"\x00" * 100, "cannot be decoded"),
        (b"\x08\x07", "it has no graph"),
    ],
)
def test_not_a_model(tmp_path, data, what):
    path = tmp_path / "m.onnx"
    path.write_bytes(data)
    expect(path, f"m.onnx: error: not an ONNX model.*{what}")


def test_a_truncated_file(tmp_path):
    weights = [initializer("w", np.ones((64, 64), np.float32))]
    model = make_model(
        [node("MatMul", ["x", "w"], ["y"])], [value("x", (2, 64))], [value("y", (2, 64))], weights
    )
    data = model.SerializeToString()
    path = tmp_path / "m.onnx"
    for size in (1, 10, 50, len(data) // 2, len(data) - 1):
        path.write_bytes(data[:size])
        expect(path, "not an ONNX model")


@pytest.mark.sampled(10)
@pytest.mark.parametrize("seed", range(30))
def test_damaged_bytes_are_at_worst_an_error(tmp_path, seed):
    weights = [initializer("w", np.ones((3, 3), np.float32)), initializer("s", [1, 6])]
    nodes = [
        node("MatMul", ["x", "w"], ["a"], "product"),
        node("Softmax", ["a"], ["b"], "soft", axis=1),
        node("Reshape", ["b", "s"], ["y"], "shape"),
    ]
    data = make_model(nodes, ["x"], [value("y", (1, 6))], weights).SerializeToString()
    path = tmp_path / "m.onnx"
    pick = random.Random(seed)
    for _ in range(150):
        damaged = bytearray(data)
        for _ in range(pick.randint(1, 3)):
            damaged[pick.randrange(len(damaged))] = pick.randrange(256)
        path.write_bytes(damaged)
        with contextlib.suppress(NncError):
            import_model(path).verify()


def test_a_file_that_may_not_be_read(tmp_path):
    path = save(relu_model(), tmp_path / "m.onnx")
    path.chmod(0)
    if os.access(path, os.R_OK):  # root reads everything
        path.unlink()
        path.symlink_to(path)
    expect(path, "cannot read the model")


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
    expect(model, "shape is given for input 'x', which is no tensor", shapes={"x": (2,)})
    expect(model, "value is given for input 'x', which is no tensor", constants={"x": [1.0]})


def test_a_sequence_for_an_operator_without_declaration():
    sequence = helper.make_tensor_sequence_value_info("x", TensorProto.FLOAT, (2,))
    nodes = [node("Gelu", ["x"], ["y"], "n1", domain="com.microsoft")]
    model = make_model(nodes, [sequence], ["y"], domains={"com.microsoft": 1})
    expect(model, r"node 'n1' \(Gelu\): input 0 is no tensor")


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
    expect(relu_model(), "'z', which is no input; inputs: 'x'", shapes={"z": (1,)})


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


# -- nodes -----------------------------------------------------------------------------------------


def one_node(op_type, inputs, weights=(), shape=(2, 3), opset=21, kind=None, **attributes):
    info = value("x", shape) if kind is None else value("x", shape, kind)
    nodes = [node(op_type, inputs, ["y"], "n1", **attributes)]
    named = [initializer(n, a) for n, a in weights]
    return make_model(nodes, [info], [value("y", None)], named, opset)


CASES = {
    "missing input": (
        one_node("Add", ["x"]),
        r"node 'n1' \(Add\): 1 inputs, expected at least 2",
    ),
    "input left out": (one_node("Add", ["x", ""]), r"\(Add\): input 'B' is missing"),
    "one of many left out": (one_node("Concat", ["x", ""], axis=0), "input 'inputs' is missing"),
    "too many inputs": (one_node("Relu", ["x", "x"]), "2 inputs, expected at most 1"),
    "unknown attribute": (
        one_node("Relu", ["x"], alpha=1.0),
        "unknown attribute 'alpha', expected one of: none",
    ),
    "attribute of wrong type": (
        one_node("Softmax", ["x"], axis=1.0),
        "attribute 'axis' is of type FLOAT, expected INT",
    ),
    "missing attribute": (one_node("Concat", ["x", "x"]), "attribute 'axis' is missing"),
    "word": (
        one_node("Gelu", ["x"], approximate="fast"),
        "attribute 'approximate' is 'fast', expected none or tanh",
    ),
    "element types differ": (
        one_node("Add", ["x", "w"], [("w", np.ones(3, np.int64))]),
        "input 'B' has elements of INT64 but input 'A' of FLOAT, expected the same",
    ),
    "element type": (
        one_node("Not", ["x"]),
        "input 'X' has elements of FLOAT, expected bool",
    ),
    "axis": (
        one_node("Softmax", ["x"], axis=5),
        "axis 5 is out of range for a tensor of rank 2",
    ),
    "broadcast": (
        one_node("Add", ["x", "w"], [("w", np.ones(4, np.float32))]),
        r"\(Add\): .*3.*4",
    ),
    "matmul": (
        one_node("MatMul", ["x", "w"], [("w", np.ones((4, 4), np.float32))]),
        r"\(MatMul\): .*3.*4",
    ),
    "channels": (
        one_node("Conv", ["x", "w"], [("w", np.ones((8, 64, 3, 3), np.float32))], (1, 3, 9, 9)),
        r"node 'n1' \(Conv\): x has 3 channels but weight expects 64",
    ),
    "rank of conv": (
        one_node("Conv", ["x", "w"], [("w", np.ones((8, 3), np.float32))]),
        "input 'X' has rank 2, expected at least 3",
    ),
    "kernel": (
        one_node(
            "Conv",
            ["x", "w"],
            [("w", np.ones((8, 3, 3, 3), np.float32))],
            (1, 3, 9, 9),
            kernel_shape=[5, 5],
        ),
        r"'kernel_shape' is \[5, 5\], but the weight's kernel is \[3, 3\]",
    ),
    "strides": (
        one_node(
            "Conv",
            ["x", "w"],
            [("w", np.ones((8, 3, 3, 3), np.float32))],
            (1, 3, 9, 9),
            strides=[2],
        ),
        "attribute 'strides' has 1 elements, expected 2",
    ),
    "zero strides": (
        one_node("MaxPool", ["x"], (), (1, 3, 9, 9), kernel_shape=[2, 2], strides=[0, 1]),
        r"attribute 'strides' is \[0, 1\], expected no element below 1",
    ),
    "window": (
        one_node("MaxPool", ["x"], (), (1, 3, 2, 2), kernel_shape=[5, 5]),
        "the window does not fit",
    ),
    "reshape": (
        one_node("Reshape", ["x", "s"], [("s", np.array([4, 4]))]),
        r"6 elements do not fit shape \[4, 4\]",
    ),
    "reshape -1": (
        one_node("Reshape", ["x", "s"], [("s", np.array([-1, 4]))]),
        r"6 elements do not divide by 4",
    ),
    "reshape -1 -1": (
        one_node("Reshape", ["x", "s"], [("s", np.array([-1, -1]))]),
        "more than one -1",
    ),
    "reshape 0": (
        one_node("Reshape", ["x", "s"], [("s", np.array([2, 3, 0]))]),
        "dimension 2 of the shape is 0",
    ),
    "squeeze": (
        one_node("Squeeze", ["x", "s"], [("s", np.array([0]))]),
        "axis 0 has 2 elements, expected 1",
    ),
    "perm": (
        one_node("Transpose", ["x"], perm=[0, 0]),
        r"attribute 'perm' is \[0, 0\], expected an order of 2 axes",
    ),
    "split": (
        one_node("Split", ["x", "s"], [("s", np.array([1, 1]))]),
        "do not split into",
    ),
    "step": (
        one_node(
            "Slice",
            ["x", "z", "e", "z", "z"],
            [("z", np.array([0])), ("e", np.array([1]))],
        ),
        r"the steps are \[0\], expected none of 0",
    ),
    "slice": (
        one_node("Slice", ["x", "z", "e"], [("z", np.array([0])), ("e", np.array([1, 1]))]),
        "1 starts, 2 ends",
    ),
    "gather": (
        one_node("Gather", ["x", "i"], [("i", np.array([7]))]),
        "an index is out of range for axis 0 of 2 elements",
    ),
    "expand": (
        one_node("Expand", ["x", "s"], [("s", np.array([2, 4]))]),
        "dimension 1: 3 elements do not broadcast to 4",
    ),
    "top_k": (
        make_model(
            [node("TopK", ["x", "k"], ["y", "i"], "n1")],
            ["x"],
            [value("y", None)],
            [initializer("k", np.array([9]))],
        ),
        "k is 9, but axis 1 has 3 elements",
    ),
    "pads": (
        one_node("Pad", ["x", "p"], [("p", np.array([1]))]),
        "1 pads, expected 4",
    ),
    "einsum": (one_node("Einsum", ["x"], equation="ijk->i"), "'ijk' does not fit shape"),
    "einsum output": (one_node("Einsum", ["x"], equation="ij->k"), "does not follow"),
    "resize": (
        one_node("Resize", ["x", "", "s"], [("s", np.ones(3, np.float32))]),
        "3 scales, expected 2",
    ),
    "cast": (
        one_node("Cast", ["x"], to=int(TensorProto.COMPLEX64)),
        "element type COMPLEX64 is not supported",
    ),
    "gemm": (
        one_node("Gemm", ["x", "w"], [("w", np.ones((3, 3, 3), np.float32))]),
        r"input 'B' has shape \[3, 3, 3\], expected a matrix",
    ),
    "delta": (
        one_node("Range", ["a", "b", "a"], [("a", np.array(0)), ("b", np.array(5))]),
        "delta is 0",
    ),
    "two constants": (
        make_model(
            [node("Constant", [], ["y"], "c", value_int=1, value_float=1.0)],
            [],
            [value("y", (), INT64)],
        ),
        "2 values, expected one of",
    ),
    "categories of strings": (
        make_model(
            [node("OneHotEncoder", ["x"], ["y"], "n1", domain="ai.onnx.ml", cats_strings=["a"])],
            ["x"],
            ["y"],
            domains={"ai.onnx.ml": 3},
        ),
        "no categories of the input's type",
    ),
    "axes": (
        make_model(
            [node("ReduceSum", ["x", "a"], ["y"], "n1", keepdims=0)],
            ["x", value("a", (None,), INT64)],
            [value("y", None)],
        ),
        "the number of axes must be known at import, as it tells the rank",
    ),
}


@pytest.mark.parametrize("name", CASES)
def test_a_node_that_cannot_be(name):
    model, message = CASES[name]
    text = error_of(model)
    assert text.startswith("<model>: error: node"), text
    assert re.search(message, text), text


def test_an_unused_optional_output_is_no_error():
    nodes = [node("BatchNormalization", ["x", *"sbmv"], ["y", "m2", "v2"], "bn")]
    weights = [initializer(n, np.ones(3, np.float32)) for n in "sbmv"]
    import_model(make_model(nodes, ["x"], ["y"], weights, opset=9))
    model = make_model(nodes, ["x"], ["y", "m2"], weights, opset=9)
    expect(model, r"node 'bn' \(BatchNormalization\): output 1 \('m2'\) is not supported")


def test_inputs_of_operators_that_onnx_does_not_declare():
    for inputs, message in (
        ([], "input 'x' is missing"),
        (["x", "x"], "2 inputs, expected at most 1"),
    ):
        nodes = [node("Gelu", inputs, ["y"], "n1", domain="com.microsoft")]
        model = make_model(nodes, ["x"], ["y"], domains={"com.microsoft": 1})
        expect(model, rf"node 'n1' \(Gelu\): {message}")


# -- tensors ---------------------------------------------------------------------------------------


def with_tensor(change):
    tensor = initializer("w", np.ones((2, 3), np.float32))
    change(tensor)
    return make_model([node("Add", ["x", "w"], ["y"], "sum")], ["x"], ["y"], [tensor])


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (
            lambda t: setattr(t, "raw_data", b"123"),
            r"3 bytes of data, but shape \[2, 3\] of FLOAT needs 24",
        ),
        (lambda t: t.dims.append(-1), r"shape \[2, 3, -1\] has a negative extent"),
        (lambda t: t.dims.append(9), r"24 bytes of data, but shape \[2, 3, 9\]"),
        (lambda t: t.ClearField("raw_data"), r"0 elements of data, but shape \[2, 3\] needs 6"),
        (
            lambda t: setattr(t, "data_type", TensorProto.STRING),
            r"0 strings, but shape \[2, 3\] needs 6",
        ),
        (lambda t: setattr(t, "data_type", 0), "element type UNDEFINED is not supported"),
        (lambda t: setattr(t, "data_type", 12345), "element type number 12345 is not supported"),
        (lambda t: t.segment.SetInParent(), "segments are not supported"),
    ],
)
def test_a_broken_tensor(change, message):
    expect(with_tensor(change), r"node 'sum' \(Add\): tensor 'w': .*" + message)


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


def test_a_function_that_calls_itself():
    loop = function("F", [node("F", ["a"], ["b"], domain="me")])
    model = make_model(
        [node("F", ["x"], ["y"], "call", domain="me")],
        ["x"],
        ["y"],
        functions=[loop],
        domains={"me": 1},
    )
    expect(model, "function 'F' calls itself")


def test_unsupported_in_a_function():
    body = function("F", [node("Undecodable", ["a"], ["b"])])
    model = make_model(
        [node("F", ["x"], ["y"], "call", domain="me")],
        ["x"],
        ["y"],
        functions=[body],
        domains={"me": 1},
    )
    expect(model, r"node 'call' \(F\): F of me, opset 1, whose body needs Undecodable")


def test_an_error_in_a_function_names_the_call():
    body = function("F", [node("Softmax", ["a"], ["b"], "inner", axis=7)])
    model = make_model(
        [node("F", ["x"], ["y"], "call", domain="me")],
        ["x"],
        ["y"],
        functions=[body],
        domains={"me": 1},
    )
    expect(
        model, r"node 'call' \(F\), in its body node 'inner' \(Softmax\): axis 7 is out of range"
    )


def test_a_function_called_with_too_many_inputs():
    body = function("F", [node("Relu", ["a"], ["b"])])
    model = make_model(
        [node("F", ["x", "x"], ["y"], "call", domain="me")],
        ["x"],
        ["y"],
        functions=[body],
        domains={"me": 1},
    )
    expect(model, r"node 'call' \(F\): 2 inputs and 1 outputs, but function 'F' has 1 and 1")


def test_onnx_itself_agrees_that_the_good_ones_are_good():
    onnx.checker.check_model(relu_model())
