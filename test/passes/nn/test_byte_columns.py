"""Few rows times constant matrices of 8-bit integers, with any zero points and scales."""

import nnc
import numpy as np
import onnx
import pytest
from nnc.dialects import nn
from nnc.driver.compile import load_module, run_stages
from nnc.numerics.interpreter import Interpreter
from onnx import TensorProto, helper, numpy_helper

SMALL_CACHE = """
module attributes {nnc.target = {name = "x86-64-v3", machine = {l2_bytes = 64 : i64}}} {
}
"""


def model(q: np.ndarray, scale: np.ndarray, zero: np.ndarray | None, readers: int, turned: bool):
    """x @ dequantize(q), of which the file holds the transpose where it is `turned`."""
    stored = {"q": q.T if turned else q, "s": scale}
    if zero is not None:
        stored["z"] = zero
    axis = 0 if turned else 1
    nodes = [helper.make_node("DequantizeLinear", list(stored), ["w"], axis=axis)]
    nodes += [helper.make_node("Transpose", ["w"], ["t"], perm=[1, 0])] if turned else []
    nodes += [helper.make_node("MatMul", ["x", "t" if turned else "w"], ["y"])]
    x = helper.make_tensor_value_info("x", TensorProto.FLOAT, [readers, len(q)])
    y = helper.make_tensor_value_info("y", TensorProto.FLOAT, None)
    constants = [numpy_helper.from_array(np.ascontiguousarray(v), k) for k, v in stored.items()]
    graph = helper.make_graph(nodes, "g", [x], [y], constants)
    return helper.make_model(graph, opset_imports=[helper.make_opsetid("", 21)], ir_version=10)


@pytest.mark.parametrize("turned", [False, True])
@pytest.mark.parametrize("has_zero", [False, True])
@pytest.mark.parametrize("per_column", [False, True])
@pytest.mark.parametrize("element", [np.int8, np.uint8])
@pytest.mark.parametrize(("readers", "rows", "columns"), [(1, 64, 48), (3, 35, 21), (1, 6, 257)])
def test_products(tmp_path, readers, rows, columns, element, per_column, has_zero, turned):
    draw, info = np.random.default_rng(rows), np.iinfo(element)
    q = draw.integers(info.min, info.max + 1, (rows, columns)).astype(element)
    count = (columns,) if per_column else ()
    scale = draw.random(count, np.float32) + np.float32(0.5)
    zero = draw.integers(info.min, info.max + 1, count).astype(element) if has_zero else None
    onnx.save(model(q, np.asarray(scale), zero, readers, turned), tmp_path / "m.onnx")
    module = load_module(str(tmp_path / "m.onnx"))
    module.attributes["nnc.target"] = nnc.parse(SMALL_CACHE).attributes["nnc.target"]
    run_stages(module, last="simplify-graph")
    assert any(isinstance(op, nn.QuantizedMatmul) for op in module.walk())
    x = draw.standard_normal((readers, rows), np.float32)
    (found,) = Interpreter(module).call("main", [x])
    exact = (q.astype(np.float64) - (0 if zero is None else zero)) * scale
    expected = x.astype(np.float64) @ exact
    np.testing.assert_allclose(found, expected, rtol=1e-4, atol=1e-4 * abs(expected).max())
