"""A model whose interface has everything that bindings have to deal with, and its results."""

import ml_dtypes
import numpy as np
import onnx
from onnx import TensorProto, helper

ODD_NAME = 'q "7" */ \\u0041 %d {x}\nâ'
"""What ends comments and literals, or begins something, in one of the languages."""

WEIGHTS = np.linspace(-1, 1, 128, dtype=np.float32).reshape(8, 16)

_ROWS = [
    # input, type, shape, output: named by a number, after keywords, alike but for their spelling.
    ("input.1", TensorProto.FLOAT, ["batch", 8], "495"),
    ("tokens", TensorProto.INT32, ["batch", "length"], "type"),
    ("class", TensorProto.INT64, [4], "ids"),
    ("fn", TensorProto.BOOL, [3], "not"),
    ("half", TensorProto.FLOAT16, [2, 2], "Half"),
    ("brain", TensorProto.BFLOAT16, [5], "new"),
    (ODD_NAME, TensorProto.DOUBLE, [6], "hash"),
    ("x y", TensorProto.INT8, [7], "a.b"),
    ("x_y", TensorProto.UINT8, [], "a-b"),
    ("x.y", TensorProto.INT16, [1, 3], "a_b"),
    ("u16", TensorProto.UINT16, [2], "self"),
    ("u32", TensorProto.UINT32, [2], "count"),
    ("u64", TensorProto.UINT64, [2], "値"),
]


def every_type() -> onnx.ModelProto:
    """One output for each input: a product, not, or twice the input."""
    nodes, inputs, outputs = [], [], []
    for name, type, shape, output in _ROWS:
        inputs.append(helper.make_tensor_value_info(name, type, shape))
        made = ["batch", 16] if name == "input.1" else shape
        outputs.append(helper.make_tensor_value_info(output, type, made))
        kind = {"input.1": "MatMul", "fn": "Not"}.get(name, "Add")
        operands = {"MatMul": [name, "weights"], "Not": [name], "Add": [name, name]}[kind]
        nodes.append(helper.make_node(kind, operands, [output]))
    weights = onnx.numpy_helper.from_array(WEIGHTS, "weights")
    graph = helper.make_graph(nodes, "every_type", inputs, outputs, [weights])
    opset = helper.make_opsetid("", 17)
    return helper.make_model(graph, opset_imports=[opset], ir_version=9)


def product() -> onnx.ModelProto:
    """One input, one output, of fixed shapes: what is timed, and what is wrong in one place."""
    value = helper.make_tensor_value_info
    graph = helper.make_graph(
        [helper.make_node("MatMul", ["x", "weights"], ["y"])],
        "product",
        [value("x", TensorProto.FLOAT, [4, 8])],
        [value("y", TensorProto.FLOAT, [4, 16])],
        [onnx.numpy_helper.from_array(WEIGHTS, "weights")],
    )
    opset = helper.make_opsetid("", 17)
    return helper.make_model(graph, opset_imports=[opset], ir_version=9)


def made_up(type: int, shape: list[int]) -> np.ndarray:
    """What the examples fill an input with."""
    i = np.arange(int(np.prod(shape))).reshape(shape)
    dtype = helper.tensor_dtype_to_np_dtype(type)
    if dtype in (np.float32, np.float64):
        return (i % 10 / 10).astype(dtype)
    if dtype in (np.bool_, np.float16, ml_dtypes.bfloat16):
        return (i % 2).astype(dtype)
    return (i % 10).astype(dtype)


def expected(model: onnx.ModelProto) -> dict[str, np.ndarray]:
    """The outputs by name for the examples' inputs, unknown extents being 2, by NumPy."""
    found = {}
    for node, value in zip(model.graph.node, model.graph.input, strict=True):
        tensor = value.type.tensor_type
        x = made_up(tensor.elem_type, [d.dim_value or 2 for d in tensor.shape.dim])
        found[node.output[0]] = {
            "MatMul": lambda x: x.astype(np.float64) @ WEIGHTS,
            "Not": np.logical_not,
            "Add": lambda x: x + x,
        }[node.op_type](x)
    return found


def two_inputs() -> onnx.ModelProto:
    """One input of fixed shape, and one of two free extents: what bad inputs are tried on."""
    model = every_type()
    for field in (model.graph.node, model.graph.input, model.graph.output):
        del field[2:]
    for value in (model.graph.input[0], model.graph.output[0]):
        value.type.tensor_type.shape.dim[0].dim_value = 4
    return model
