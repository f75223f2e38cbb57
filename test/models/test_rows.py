"""Products of few rows, and rows in an order that data gives, against NumPy."""

import nnc
import numpy as np
import onnx
import pytest
from onnx import TensorProto, helper, numpy_helper

from ..processor import runnable


def model(nodes, inputs, weights) -> onnx.ModelProto:
    graph = helper.make_graph(
        nodes,
        "g",
        inputs,
        [helper.make_tensor_value_info("y", TensorProto.FLOAT, None)],
        [numpy_helper.from_array(array, name) for name, array in weights.items()],
    )
    return helper.make_model(graph, opset_imports=[helper.make_opsetid("", 20)], ir_version=9)


@pytest.mark.sampled(5)
@pytest.mark.parametrize("machine", runnable("host", "avx2", "sse"))
@pytest.mark.parametrize(
    "shape",
    [(1, 1024, 32), (3, 1024, 32), (4, 512, 64), (2, 300, 96), (1, 257, 640), (4, 1030, 48)],
)
def test_products_of_few_rows(shape: tuple[int, int, int], machine: str):
    """Blocks of a packed matrix one after the other, or a single one, with rows left over."""
    M, K, N = shape
    random = np.random.default_rng(K)
    weight = random.standard_normal((K, N)).astype("f4") / np.float32(K**0.5)
    x = random.standard_normal((M, K)).astype("f4")
    nodes = [helper.make_node("MatMul", ["x", "w"], ["t"]), helper.make_node("Tanh", ["t"], ["y"])]
    made = model(
        nodes, [helper.make_tensor_value_info("x", TensorProto.FLOAT, [M, K])], {"w": weight}
    )
    expected = np.tanh(x.astype("f8") @ weight.astype("f8"))
    np.testing.assert_allclose(nnc.compile(made, target=machine)(x), expected, atol=2e-6)


@pytest.mark.parametrize("machine", runnable("host", "avx2", "sse"))
@pytest.mark.parametrize("threads", [1, 2])
def test_products_of_an_unknown_number_of_rows(threads: int, machine: str):
    """What is left of whole tiles goes in halves, quarters and so on of a tile."""
    random = np.random.default_rng(0)
    weight = random.standard_normal((64, 96)).astype("f4") / np.float32(8)
    nodes = [helper.make_node("MatMul", ["x", "w"], ["t"]), helper.make_node("Relu", ["t"], ["y"])]
    x = helper.make_tensor_value_info("x", TensorProto.FLOAT, ["rows", 64])
    compiled = nnc.compile(model(nodes, [x], {"w": weight}), target=machine, threads=threads)
    for rows in range(34):
        x = random.standard_normal((rows, 64)).astype("f4")
        expected = np.maximum(x.astype("f8") @ weight.astype("f8"), 0)
        np.testing.assert_allclose(compiled(x), expected, atol=2e-6)


@pytest.mark.sampled(4)
@pytest.mark.parametrize("machine", runnable("host", "avx2", "sse"))
@pytest.mark.parametrize("width", [1, 5, 16, 37, 64])
def test_gathered_rows(width: int, machine: str):
    """Rows are read as vectors up to the last element of the table and not beyond."""
    table = np.random.default_rng(width).standard_normal((9, width)).astype("f4")
    nodes = [helper.make_node("Gather", ["w", "i"], ["y"], axis=0)]
    made = model(
        nodes, [helper.make_tensor_value_info("i", TensorProto.INT64, [2, 3])], {"w": table}
    )
    places = np.array([[8, 0, -1], [3, 8, -9]])
    np.testing.assert_array_equal(nnc.compile(made, target=machine)(places), table[places])


@pytest.mark.parametrize("step", [1, -1])
def test_unrolled_recurrence(step: int):
    """Each step's input by the same weights, forwards and from the last step on."""
    random = np.random.default_rng(3)
    steps, inputs, units = 5, 40, 24
    w = random.standard_normal((inputs, units)).astype("f4") / np.float32(inputs**0.5)
    u = random.standard_normal((units, units)).astype("f4") / np.float32(units**0.5)
    order = np.arange(steps)[::step]
    weights = {"w": w, "u": u, "h": np.zeros((1, units), "f4"), "order": order}
    nodes, state = [helper.make_node("Gather", ["x", "order"], ["xs"], axis=1)], "h"
    for t in range(steps):
        weights[f"t{t}"] = np.array(t)
        nodes += [
            helper.make_node("Gather", ["xs", f"t{t}"], [f"x{t}"], axis=1),
            helper.make_node("MatMul", [f"x{t}", "w"], [f"p{t}"]),
            helper.make_node("MatMul", [state, "u"], [f"q{t}"]),
            helper.make_node("Add", [f"p{t}", f"q{t}"], [f"s{t}"]),
            helper.make_node("Tanh", [f"s{t}"], ["y" if t == steps - 1 else f"h{t}"]),
        ]
        state = f"h{t}"
    x = helper.make_tensor_value_info("x", TensorProto.FLOAT, ["batch", steps, inputs])
    compiled = nnc.compile(model(nodes, [x], weights))
    for batch in (1, 3):
        given = random.standard_normal((batch, steps, inputs)).astype("f4")
        expected = np.zeros((batch, units))
        for t in order:
            expected = np.tanh(given[:, t].astype("f8") @ w + expected @ u)
        np.testing.assert_allclose(compiled(given), expected, atol=2e-6)
