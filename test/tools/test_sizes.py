"""Sizes that an index of 64 bits cannot count: one error, with the place where they come to be."""

from pathlib import Path

import numpy as np
import onnx
import pytest
from nnc.ir.diagnostics import NncError
from nnc.ir.passes import PassContext
from nnc.ir.syntax.parser import parse_module
from nnc.ir.types import MemRefType, TensorType, f32, f64, i8, size_fault
from nnc.memory.plan_memory import PlanMemory
from nnc.tools.inputs import random_array
from nnc.tools.nn_opt import main as nn_opt
from nnc.tools.nnc import main
from onnx import TensorProto, helper, numpy_helper

HUGE = 2**40
Constants = dict[str, np.ndarray]


@pytest.mark.parametrize(
    ("shape", "element", "fits"),
    [
        ((2**61 - 16,), f32, True),
        ((2**61,), f32, False),
        ((2**60 - 8,), f64, True),
        ((2**60,), f64, False),
        ((2**31, 2**31), i8, True),
        ((2**31, 2**31, 4), i8, False),
        ((HUGE, HUGE), f32, False),
        ((None, HUGE, HUGE), f32, False),
        ((None, None, HUGE), f32, True),
        ((0, HUGE, HUGE), f32, False),  # the first stride is 2**80
        ((), f64, True),
    ],
)
def test_what_fits(shape, element, fits):
    assert (size_fault(TensorType(shape, element)) is None) == fits
    assert (size_fault(MemRefType(shape, element)) is None) == fits


def model(
    tmp_path: Path, op: str, inputs: dict[str, tuple], constants: Constants, **attributes
) -> str:
    """The file of a model of one node called 'culprit', and a small result made from its output."""
    names = [*inputs, *constants]
    node = helper.make_node(op, names, ["big"], name="culprit", **attributes)
    sum_up = helper.make_node("ReduceSum", ["big"], ["y"], name="innocent")
    graph = helper.make_graph(
        [node, sum_up],
        "g",
        [
            helper.make_tensor_value_info(name, kind, shape)
            for name, (kind, shape) in inputs.items()
        ],
        [helper.make_tensor_value_info("y", 0, None)],
        [numpy_helper.from_array(array, name) for name, array in constants.items()],
    )
    graph.output[0].ClearField("type")
    made = helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)], ir_version=8)
    onnx.save(made, tmp_path / "model.onnx")
    return str(tmp_path / "model.onnx")


def ints(*values: int) -> np.ndarray:
    return np.array(values, np.int64)


F32, F64, I64, I8 = (
    TensorProto.FLOAT,
    TensorProto.DOUBLE,
    TensorProto.INT64,
    TensorProto.INT8,
)
SMALL = {"x": (F32, [4, 4])}
IMAGE = {"x": (F32, [1, 1, 4, 4])}
NODES: dict[str, tuple[str, dict, Constants, dict]] = {
    "Expand": ("Expand", {"x": (F32, [1, 1])}, {"s": ints(HUGE, HUGE)}, {}),
    "Expand, f64": ("Expand", {"x": (F64, [1])}, {"s": ints(2**60)}, {}),
    "ConstantOfShape": ("ConstantOfShape", {}, {"s": ints(2**31, 2**31, 4)}, {}),
    "Tile": ("Tile", SMALL, {"s": ints(HUGE, HUGE)}, {}),
    "Pad": ("Pad", SMALL, {"p": ints(HUGE, HUGE, HUGE, HUGE)}, {}),
    "Resize": (
        "Resize",
        IMAGE,
        {"roi": np.zeros(0, np.float32), "scales": np.array([1, 1, 1e9, 1e9], np.float32)},
        {},
    ),
    "MatMul": ("MatMul", {"a": (F32, [HUGE, 1]), "b": (F32, [1, HUGE])}, {}, {}),
    "Gemm": ("Gemm", {"a": (F64, [2**31, 1]), "b": (F64, [1, 2**30])}, {}, {}),
    "Concat": ("Concat", {"a": (F32, [2**60]), "b": (F32, [2**60])}, {}, {"axis": 0}),
    "OneHot": (
        "OneHot",
        {"x": (I64, [HUGE])},
        {"d": np.array(HUGE), "v": np.array([0, 1], np.float32)},
        {},
    ),
    "ConvTranspose": (
        "ConvTranspose",
        {"x": (F32, [1, 1, 2**20, 2**20])},
        {"w": np.ones((1, 1, 2, 2), np.float32)},
        {"strides": [2**20, 2**20]},
    ),
    "EyeLike": ("EyeLike", {"x": (I8, [2**31, 2**31])}, {}, {"dtype": F64}),
    "Range": ("Range", {}, {"a": np.array(0), "b": np.array(2**61), "c": np.array(1)}, {}),
    "Hardmax": ("Hardmax", {"x": (TensorProto.FLOAT16, [2**61])}, {}, {"axis": 0}),
}


@pytest.mark.parametrize("name", NODES)
def test_a_node_whose_result_is_too_large(name, tmp_path, capsys):
    op, inputs, constants, attributes = NODES[name]
    file = model(tmp_path, op, inputs, constants, **attributes)
    library = tmp_path / "model.so"
    assert main(["compile", file, "-q", "-o", str(library)]) == 1
    (line,) = capsys.readouterr().err.splitlines()
    assert line.startswith(f"{file}: ") and "culprit" in line and "is too large" in line
    assert not library.exists()


@pytest.mark.parametrize(
    ("kind", "shape"),
    [(F32, [HUGE, HUGE]), (F32, [2**62]), (F32, [2**31, 2**31, 4]), (F64, [2**60])],
)
@pytest.mark.parametrize("command", ["compile", "run", "bench", "profile", "stages"])
def test_an_input_that_is_too_large(command, kind, shape, tmp_path, capsys):
    file = model(tmp_path, "Neg", {"x": (kind, shape)}, {})
    where = {"compile": "model.so", "stages": "stages"}.get(command)
    output = ["-o", str(tmp_path / where)] if where else []
    assert main([command, file, "-q", *output]) == 1
    (line,) = capsys.readouterr().err.splitlines()
    assert line.startswith(f"{file}: error: input 'x': 'tensor<") and "is too large" in line


def test_a_shape_that_is_given(tmp_path, capsys):
    file = model(tmp_path, "Neg", {"x": (F32, ["n", 3])}, {})
    arguments = [file, "-q", "-o", str(tmp_path / "model.so")]
    assert main(["compile", *arguments, "--shape", f"x={2**62},3"]) == 1
    assert "input 'x': 'tensor<4611686018427387904x3xf32>' is too large" in capsys.readouterr().err


def test_constants_that_do_not_fit_into_memory(tmp_path, capsys, monkeypatch):
    """800 GB of positions: such a machine may exist, so NumPy is asked."""

    def arange(*args, **kwargs):
        raise MemoryError

    bounds = {"start": np.array(0), "limit": np.array(99999999999), "delta": np.array(1)}
    file = model(tmp_path, "Range", {}, bounds)
    monkeypatch.setattr(np, "arange", arange)
    assert main(["compile", file, "-q", "-o", str(tmp_path / "model.so")]) == 1
    (line,) = capsys.readouterr().err.splitlines()
    assert "'culprit' (Range): a constant needs more memory than there is" in line


def test_inputs_that_do_not_fit_into_memory():
    class Poor:
        def standard_normal(self, *args, **kwargs):
            raise MemoryError

    expected = r"input 'x' \(tensor<99999999999x3xf32>\) takes 1,200 GB, more than there is"
    with pytest.raises(NncError, match=expected):
        random_array(TensorType((99999999999, 3), f32), Poor(), "x")  # type: ignore[arg-type]


# The flag, the text, and the line that is to blame.
TEXTS = {
    "an nn op": (
        "--lower-to-loops",
        """
func.func @main(%x: tensor<1099511627776x1xf32>, %y: tensor<1x1099511627776xf32>) {
  %0 = nn.matmul %x, %y : (tensor<1099511627776x1xf32>, tensor<1x1099511627776xf32>) -> tensor<1099511627776x1099511627776xf32>
  return
}""",
        3,
    ),
    "a shape that a pass finds": (
        "--lower-to-loops",
        """
func.func @main(%x: tensor<1xf32>) -> tensor<?x?xf32> {
  %s = nn.constant dense<1099511627776> : tensor<2xi64>
  %0 = nn.broadcast_dynamic %x, %s : (tensor<1xf32>, tensor<2xi64>) -> tensor<?x?xf32>
  return %0 : tensor<?x?xf32>
}""",
        4,
    ),
    "an argument alone": (
        "--lower-to-loops",
        """
func.func @main(%x: tensor<1099511627776x1099511627776xf32>) -> tensor<1099511627776x1099511627776xf32> {
  return %x : tensor<1099511627776x1099511627776xf32>
}""",
        2,
    ),
    "a buffer": (
        "--lower-to-llvm",
        """
func.func @main() {
  %0 = memref.alloc() : memref<1099511627776x1099511627776xf32>
  return
}""",
        3,
    ),
    "a global": (
        "--lower-to-llvm",
        """
memref.global "private" @g : memref<1099511627776x1099511627776xf32>
func.func @main() {
  return
}""",
        2,
    ),
}


@pytest.mark.parametrize("name", TEXTS)
def test_text_of_every_level(name, tmp_path, capsys):
    flag, text, line = TEXTS[name]
    file = tmp_path / "in.mlir"
    file.write_text(text)
    assert nn_opt([flag, str(file)]) == 1
    found = capsys.readouterr().err
    assert found.startswith(f"{file}:{line}:") and "is too large" in found
    assert "defect" not in found


def test_an_arena_of_buffers_that_each_fit():
    """Two buffers of 2**62 bytes at one time."""
    module = parse_module("""
func.func @main() attributes {nn.entry} {
  %a = memref.alloc() : memref<4611686018427387904xi8>
  %b = memref.alloc() : memref<4611686018427387904xi8>
  %c0 = arith.constant 0 : index
  %v = memref.load %a[%c0] : memref<4611686018427387904xi8>
  memref.store %v, %b[%c0] : memref<4611686018427387904xi8>
  %w = memref.load %a[%c0] : memref<4611686018427387904xi8>
  return
}""")
    with pytest.raises(
        NncError, match="the arena that the function needs, 'memref<9223372036854775808xi8>'"
    ):
        PlanMemory().run(module, PassContext())
