"""Small ONNX models for the tests of the importer."""

from collections.abc import Sequence
from pathlib import Path

import numpy as np
import onnx
from nnc.frontends.onnx import import_model
from nnc.ir.core import Operation
from nnc.numerics.interpreter import Interpreter
from onnx import TensorProto, helper, numpy_helper

FLOAT = TensorProto.FLOAT
INT64 = TensorProto.INT64


def value(name: str, shape: Sequence | None, kind: int = FLOAT) -> onnx.ValueInfoProto:
    return helper.make_tensor_value_info(name, kind, shape)


def initializer(name: str, array) -> onnx.TensorProto:
    return numpy_helper.from_array(np.asarray(array), name)


def make_model(nodes, inputs, outputs, weights=(), opset=21, functions=(), **options):
    """A model of nodes; inputs and outputs are value infos, or names of f32[2, 3]."""

    def infos(values):
        return [value(v, (2, 3)) if isinstance(v, str) else v for v in values]

    graph = helper.make_graph(list(nodes), "g", infos(inputs), infos(outputs), list(weights))
    opsets = [helper.make_opsetid("", opset)]
    opsets += [helper.make_opsetid(d, v) for d, v in options.pop("domains", {}).items()]
    return helper.make_model(graph, opset_imports=opsets, functions=list(functions), **options)


def node(op_type, inputs, outputs, name="", **attributes):
    return helper.make_node(op_type, list(inputs), list(outputs), name, **attributes)


def save(model: onnx.ModelProto, path: Path) -> Path:
    path.write_bytes(model.SerializeToString())
    return path


def main_of(module: Operation) -> Operation:
    (main,) = module.body_block
    return main


def ops_of(module: Operation) -> list[str]:
    """The names of the ops in @main, constants and the return left out."""
    skipped = ("nn.constant", "func.return")
    return [op.name for op in main_of(module).body_block if op.name not in skipped]


def run(source, *arrays, **options) -> list[np.ndarray]:
    """The outputs of a model, by import and interpretation."""
    module = import_model(source, **options)
    module.verify()
    return Interpreter(module).call("main", list(arrays))
