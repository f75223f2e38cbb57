"""A node that cannot be is one error, which names it."""

import re

import numpy as np
import pytest
from nnc.frontends.onnx import import_model
from onnx import TensorProto

from .models import INT64, initializer, make_model, node, value
from .test_onnx_errors import error_of, expect

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
