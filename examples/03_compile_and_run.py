"""Make an ONNX model, compile it, run it, and compare with NumPy."""

import nnc
import numpy as np
from onnx import TensorProto, helper, numpy_helper

random = np.random.default_rng(0)
weight = random.standard_normal((8, 16)).astype(np.float32)
graph = helper.make_graph(
    [
        helper.make_node("MatMul", ["x", "w"], ["product"], "product"),
        helper.make_node("Relu", ["product"], ["y"], "relu"),
    ],
    "example",
    [helper.make_tensor_value_info("x", TensorProto.FLOAT, ("batch", 8))],
    [helper.make_tensor_value_info("y", TensorProto.FLOAT, ("batch", 16))],
    [numpy_helper.from_array(weight, "w")],
)
model = nnc.compile(helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)]))

for batch in (1, 3, 64):  # the compiled model takes any batch size
    x = random.standard_normal((batch, 8)).astype(np.float32)
    np.testing.assert_allclose(model(x), np.maximum(x @ weight, 0), rtol=1e-5, atol=1e-5)
print("nnc and NumPy agree")
