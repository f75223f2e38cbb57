"""What a graph may look like: defaults of inputs, sparse tensors, against ONNX Runtime."""

import numpy as np
import onnxruntime
import pytest
from nnc.frontends.onnx import import_model
from nnc.ir.diagnostics import NncError
from onnx import TensorProto, helper, parser

from .models import initializer, make_model, node, run, value

X = np.arange(6, dtype=np.float32).reshape(2, 3) - 2
SCALED = """<ir_version: 8, opset_import: ["": 18]>
g (float[2,3] x, float[3] w) => (float[2,3] y) <float[3] w = {1, 2, 3}> { y = Mul(x, w) }"""


def as_onnxruntime(model, **inputs) -> list[np.ndarray]:
    return onnxruntime.InferenceSession(model.SerializeToString()).run(None, inputs)


def sparse(places, values=(5.0, 7.0), shape=(2, 3)):
    places = np.asarray(places, np.int64)
    kept = helper.make_tensor("w", TensorProto.FLOAT, [len(values)], values)
    where = helper.make_tensor("i", TensorProto.INT64, places.shape, places.reshape(-1))
    return helper.make_sparse_tensor(kept, where, list(shape))


# -- inputs that have a value ----------------------------------------------------------------------


def test_the_value_of_an_input_holds_unless_another_is_given():
    model = parser.parse_model(SCALED)
    np.testing.assert_array_equal(run(model, X)[0], as_onnxruntime(model, x=X)[0])
    other = np.array([4, 5, 6], np.float32)
    (wanted,) = as_onnxruntime(model, x=X, w=other)
    np.testing.assert_array_equal(run(model, X, constants={"w": other})[0], wanted)
    np.testing.assert_array_equal(run(model, X, other, shapes={"w": (3,)})[0], wanted)


def test_a_value_of_another_shape_is_given():
    with pytest.raises(NncError, match="'w'"):
        import_model(parser.parse_model(SCALED), constants={"w": np.ones(4, np.float32)})


# -- sparse tensors --------------------------------------------------------------------------------


@pytest.mark.parametrize("places", [[1, 3], [[0, 1], [1, 0]]], ids=["flat", "coordinates"])
@pytest.mark.parametrize("form", ["initializer", "attribute"])
def test_a_sparse_tensor_has_zeros_elsewhere(places, form):
    nodes = [node("Add", ["x", "w"], ["y"])]
    if form == "attribute":
        nodes.insert(0, node("Constant", [], ["w"], sparse_value=sparse(places)))
    model = make_model(nodes, ["x"], ["y"], opset=18, ir_version=8)
    if form == "initializer":
        model.graph.sparse_initializer.append(sparse(places))
    (wanted,) = as_onnxruntime(model, x=X)
    np.testing.assert_array_equal(run(model, X)[0], wanted)


@pytest.mark.parametrize(
    ("tensor", "message"),
    [
        (sparse([1, 6]), r"tensor 'w': a place is outside of shape \[2, 3\]"),
        (sparse([1, -1]), r"a place is outside of shape \[2, 3\]"),
        (sparse([[0, 1], [2, 0]]), r"a place is outside of shape \[2, 3\]"),
        (sparse([[0, 1, 0], [0, 2, 0]]), r"a place is outside of shape \[2, 3\]"),
        (sparse([1, 2, 3]), r"2 values at places of shape \[3\]"),
        (sparse([1, 2], shape=(2, -3)), "negative extent"),
        (sparse([1, 2], shape=(1 << 40, 1 << 40)), "elements|bytes"),
    ],
    ids=lambda one: one if isinstance(one, str) else "",
)
def test_a_sparse_tensor_that_contradicts_itself(tensor, message):
    model = make_model([node("Add", ["x", "w"], ["y"])], ["x"], [value("y", None)])
    model.graph.sparse_initializer.append(tensor)
    with pytest.raises(NncError, match=message):
        import_model(model)


def test_a_sparse_tensor_and_a_dense_one_of_one_name():
    weights = [initializer("w", X)]
    model = make_model([node("Add", ["x", "w"], ["y"])], ["x"], ["y"], weights)
    model.graph.sparse_initializer.append(sparse([1, 2]))
    with pytest.raises(NncError, match="initializer 'w' is defined twice"):
        import_model(model)
