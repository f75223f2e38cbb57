"""Operators as the first opsets had them, against NumPy, and ONNX Runtime on the newer form."""

import numpy as np
import pytest
from onnx import TensorProto, helper

from .models import run
from .onnx_operators import by_onnxruntime
from .test_onnx_contributed import floats, model

F, I32, I64, TRUTH = TensorProto.FLOAT, TensorProto.INT32, TensorProto.INT64, TensorProto.BOOL
X, IMAGE = floats(2, 3), floats(1, 3, 6, 5)
AXIS = {"broadcast": 1, "axis": 0}


def softmax(x):
    powers = np.exp(x)
    return powers / powers.sum((1, 2), keepdims=True)


def halves(x):
    return x[:, :1], x[:, 1:]


def windows(x):
    return sum(np.abs(x[:, :, i : 5 + i, j : 4 + j]) ** 2 for i in (0, 1) for j in (0, 1)) ** 0.5


CASES = {
    # name: first and last opset, operator, inputs, attributes, what it gives
    "relu": (1, 5, "Relu", [X], {"consumed_inputs": [0]}, lambda x: np.maximum(x, 0)),
    "add": (1, 6, "Add", [X, floats(2)], AXIS, lambda x, b: x + b[:, None]),
    "gemm": (
        1, 6, "Gemm", [X, floats(4, 3), floats(4)], {"broadcast": 1, "transB": 1},
        lambda a, b, c: a @ b.T + c,
    ),
    "concat": (1, 3, "Concat", [X, X], {}, lambda a, b: np.concatenate([a, b], 1)),
    "dropout": (1, 6, "Dropout", [X], {"is_test": 1}, lambda x: x),
    "reshape": (1, 4, "Reshape", [X], {"shape": [3, -1]}, lambda x: x.reshape(3, 2)),
    "paddings": (
        1, 1, "Pad", [X], {"paddings": [1, 0, 0, 2], "value": 1.5},
        lambda x: np.pad(x, ((1, 0), (0, 2)), constant_values=1.5),
    ),
    "clip": (1, 6, "Clip", [X], {"min": -0.5}, lambda x: np.maximum(x, -0.5)),
    "softmax": (1, 6, "Softmax", [floats(2, 3, 4)], {}, softmax),
    "slice": (1, 6, "Slice", [X], {"starts": [0, 1], "ends": [1, 99]}, lambda x: x[:1, 1:]),
    "tile": (
        1, 5, "Tile", [X, np.float32([3]), np.float32([1])], {}, lambda x, *_: np.tile(x, (1, 3)),
    ),
    "cast": (1, 5, "Cast", [X * 5], {"to": "INT32"}, lambda x: x.astype(np.int32)),
    "split": (1, 6, "Split", [X], {"axis": 1, "split": [1, 2]}, halves),
    "split by input": (1, 1, "Split", [X, np.float32([1, 2])], {"axis": 1}, lambda x, _: halves(x)),
    "upsample": (
        1, 6, "Upsample", [IMAGE], {"width_scale": 2.0, "height_scale": 3.0},
        lambda x: x.repeat(3, 2).repeat(2, 3),
    ),
    "power": (1, 1, "LpPool", [IMAGE], {"p": 2.0, "kernel_shape": [2, 2]}, windows),
    "whole power": (
        1, 1, "GlobalLpPool", [IMAGE], {"p": 2.0},
        lambda x: np.sqrt((x**2).sum((2, 3), keepdims=True)),
    ),
    "equal": (
        1, 6, "Equal", [np.array([[1, 2], [3, 4]]), np.array([1, 4])], {"broadcast": 1}, np.equal,
    ),
    "threshold": (1, 9, "ThresholdedRelu", [X], {"alpha": 0.3}, lambda x: np.where(x > 0.3, x, 0)),
    "fill": (
        1, 6, "ConstantFill", [X], {"value": 3.0, "extra_shape": [2]},
        lambda x: np.full((2, 3, 2), 3, np.float32),
    ),
    "normal": (
        1, 8, "MeanVarianceNormalization", [IMAGE], {},
        lambda x: (x - x.mean((2, 3), keepdims=True)) / x.std((2, 3), keepdims=True),
    ),
}  # fmt: skip


def built(opset, op_type, arrays, outputs, **attributes):
    constant = {"Tile": 1, "Split": 1}.get(op_type, len(arrays))
    made, _ = model(op_type, arrays, "", outputs, **attributes)
    for i, array in reversed(list(enumerate(arrays))[constant:]):
        made.graph.initializer.append(helper.make_tensor(f"x{i}", F, array.shape, array))
        del made.graph.input[i]
    made.opset_import[0].version, made.ir_version = opset, 3
    return made, arrays[:constant]


@pytest.mark.parametrize("name", CASES)
def test_old_form(name):
    first, last, op_type, arrays, attributes, formula = CASES[name]
    expected = formula(*arrays)
    expected = expected if isinstance(expected, tuple) else (expected,)
    kinds = [helper.np_dtype_to_tensor_dtype(e.dtype) for e in expected]
    for opset in range(first, last + 1):
        made, given = built(opset, op_type, arrays, kinds, **attributes)
        for one, other in zip(run(made, *given), expected, strict=True):
            np.testing.assert_allclose(one, other, rtol=1e-5, atol=1e-6)


@pytest.mark.parametrize(("op_type", "gates"), [("RNN", 1), ("GRU", 3), ("LSTM", 4)])
def test_old_recurrence(op_type, gates):
    """All of their outputs had to be asked for; the default direction of GRU-1 is misspelt."""
    arrays = [floats(3, 2, 5), floats(1, 4 * gates, 5), floats(1, 4 * gates, 4)]
    made, given = built(1, op_type, arrays, [F, F], hidden_size=4, output_sequence=1)
    new, _ = model(op_type, arrays, "", [F, F], hidden_size=4)
    for one, other in zip(run(made, *given), by_onnxruntime(new, *given), strict=True):
        np.testing.assert_allclose(one, other, rtol=1e-5, atol=1e-6)


@pytest.mark.parametrize(("opset", "kind"), [(7, F), (10, TRUTH), (11, TRUTH)])
def test_mask_of_what_is_not_dropped(opset, kind):
    """The text does not say what it holds; ONNX Runtime has zeros, from opset 12 on ones."""
    made, given = built(opset, "Dropout", [X], [F, kind])
    expected = by_onnxruntime(made, *given)
    assert not expected[1].any()
    for one, other in zip(run(made, *given), expected, strict=True):
        np.testing.assert_array_equal(one, other, strict=True)


def test_model_that_names_no_opset():
    """Before IR version 3 there was only one."""
    made, given = built(1, "Reshape", [X], [F], shape=[6])
    del made.opset_import[:]
    made.ir_version = 2
    np.testing.assert_array_equal(run(made, *given)[0], X.reshape(6))


@pytest.mark.parametrize("biased", [False, True])
def test_layer_normalization_before_opset_17(biased):
    """ONNX Runtime's optimizer writes it into files of any opset."""
    operands = floats(2, 3, 8), *(floats(8) for _ in range(1 + biased))
    made, given = model("LayerNormalization", operands, "", [F, F, F], epsilon=1e-2)
    made.opset_import[0].version = 14
    for found, expected in zip(run(made, *given), by_onnxruntime(made, *given), strict=True):
        np.testing.assert_allclose(found, expected, rtol=1e-4, atol=1e-5)
