"""nnc compare: a planted bug is found at its node."""

import io
import sys
from pathlib import Path

import numpy as np
import onnx
import pytest
from nnc.dialects import nn
from nnc.frontends.onnx.registry import rows
from nnc.tools.command import Streams
from nnc.tools.nnc import main
from onnx import TensorProto, helper, numpy_helper

from ..processor import runnable
from ..targets.emulated import require_emulator

F = TensorProto.FLOAT


def net() -> onnx.ModelProto:
    """A product, some functions, shape arithmetic of constants and a residual sum."""
    weights = np.random.default_rng(1).standard_normal((4, 4)).astype(np.float32)
    nodes = [
        helper.make_node("MatMul", ["x", "w"], ["p"], name="product"),
        helper.make_node("Shape", ["x"], ["s"], name="shape"),
        helper.make_node("Elu", ["p"], ["e"], alpha=0.5, name="elu"),
        helper.make_node("Reshape", ["e", "s"], ["r"], name="reshape"),
        helper.make_node("Sigmoid", ["r"], ["g"], name="sigmoid"),
        helper.make_node("Add", ["g", "x"], ["a"], name="residual"),
        helper.make_node("Softmax", ["a"], ["y"], name="softmax"),
        helper.make_node("ArgMax", ["a"], ["i"], name="argmax"),
    ]
    graph = helper.make_graph(
        nodes,
        "net",
        [helper.make_tensor_value_info("x", F, ["n", 4])],
        [
            helper.make_tensor_value_info("y", F, ["n", 4]),
            helper.make_tensor_value_info("i", TensorProto.INT64, None),
        ],
        [numpy_helper.from_array(weights, "w")],
    )
    return helper.make_model(graph, opset_imports=[helper.make_opsetid("", 18)])


@pytest.fixture
def model(tmp_path: Path) -> Path:
    path = tmp_path / "net.onnx"
    onnx.save(net(), path)
    return path


def compare(model: Path, *argv: str) -> tuple[int, list[str], str]:
    out, err = io.StringIO(), io.StringIO()
    given = ["compare", model.name, "--random", "--shape", "x=3,4", *argv]
    code = main(given, Streams(io.StringIO(), out, err, model.parent))
    return code, out.getvalue().splitlines(), err.getvalue()


def plant(monkeypatch, op_type: str, wrong) -> None:
    """Another converter for an operator."""
    assert rows.find(op_type)
    versions = [(since, wrong) for since, _ in rows._table["", op_type]]
    monkeypatch.setitem(rows._table, ("", op_type), versions)


def test_it_agrees_with_onnx_runtime(model):
    code, lines, _ = compare(model, "-q")
    assert code == 0
    assert [line.split()[:2] for line in lines] == [["y:", "agrees"], ["i:", "agrees"]]


def test_onnx_runtime_gets_the_value_of_an_input_that_has_one(model):
    proto = net()
    proto.graph.input.append(helper.make_tensor_value_info("w", F, [4, 4]))
    onnx.save(proto, model)
    np.save(model.parent / "w.npy", np.eye(4, dtype=np.float32))
    code, lines, _ = compare(model, "-q", "--constant", f"w={model.parent / 'w.npy'}")
    assert code == 0 and len(lines) == 2


def test_a_planted_bug(model, monkeypatch):
    plant(monkeypatch, "Elu", lambda n, x: n(nn.Elu(x, alpha=n.float("alpha") / 2)))
    code, lines, err = compare(model)
    assert code == 1
    assert lines[0].startswith("y: differs: ") and "ONNX Runtime" in lines[0]
    at = lines.index("first difference, from operands that agree: node 'elu' (Elu)")
    assert lines[at + 1].startswith("  'e' differs: ")
    assert "nodes 1 to" in err


def test_a_planted_bug_of_shapes(model, monkeypatch):
    plant(monkeypatch, "Sigmoid", lambda n, x: n(nn.ReduceMax(x, axes=(0,))))
    code, lines, _ = compare(model, "-q")
    assert code == 1
    assert "first difference, from operands that agree: node 'sigmoid' (Sigmoid)" in lines
    assert lines[-1].startswith("  'g' differs: shape [4], but [3, 4] of ONNX")


def test_tolerances(model, monkeypatch):
    plant(monkeypatch, "Elu", lambda n, x: n(nn.Elu(x, alpha=n.float("alpha") - 1e-4)))
    assert compare(model, "-q", "--rtol", "0", "--atol", "1e-3")[0] == 0
    code, lines, _ = compare(model, "-q", "--rtol", "0", "--atol", "1e-6", "--outputs-only")
    assert code == 1 and len(lines) == 2


@pytest.mark.parametrize(
    "options",
    [
        ["--against-fast-math", "off"],
        *(["--against-target", name] for name in runnable("x86-64")),
        [
            "--against-pass-pipeline",
            "builtin.module(canonicalize,fold-constants,infer-shapes,canonicalize,make-kernels,"
            "bufferize,schedule,loops,vectors,llvm)",
        ],
    ],
)
def test_two_compilations(model, monkeypatch, options):
    monkeypatch.setitem(sys.modules, "onnxruntime", None)  # it is not needed
    code, lines, err = compare(model, "-q", *options)
    assert code == 0, (lines, err)


@pytest.mark.emulated
def test_another_processor(model):
    require_emulator("cortex-a76")
    code, lines, err = compare(model, "-q", "--against-target", "cortex-a76")
    assert code == 0, (lines, err)


def test_low_precision(model, tmp_path):
    """Another model whose values have the same names, here with rounded weights."""
    other = net()
    (w,) = other.graph.initializer
    rounded = numpy_helper.to_array(w).astype(np.float16).astype(np.float32)
    w.CopyFrom(numpy_helper.from_array(rounded, "w"))
    onnx.save(other, tmp_path / "low.onnx")
    assert compare(model, "-q", "--against", "low.onnx", "--rtol", "1e-2")[0] == 0
    code, lines, _ = compare(model, "-q", "--against", "low.onnx", "--rtol", "1e-6", "--atol", "0")
    assert code == 1
    assert "first difference, from operands that agree: node 'product' (MatMul)" in lines


@pytest.mark.parametrize(
    "options,message",
    [
        (["--rtol", "-1"], "--rtol and --atol are at least 0"),
        (["--against-target", "z80"], "z80"),
        (["--against", "nothing.onnx"], "nothing.onnx"),
        (
            ["--pass-pipeline", "builtin.module(canonicalize)"],
            "not lowered to the last stage of its target",
        ),
        (["--pass-pipeline", "builtin.module(nonsense)"], "nonsense"),
    ],
)
def test_errors(model, options, message):
    code, lines, err = compare(model, "-q", *options)
    assert code == 1 and message in err and "Traceback" not in err
    assert not any("difference" in line for line in lines)


def test_without_onnx_runtime(model, monkeypatch):
    monkeypatch.setitem(sys.modules, "onnxruntime", None)
    code, _, err = compare(model, "-q")
    assert code == 1
    assert err.startswith("error: ONNX Runtime is not installed: pip install onnxruntime, or")


def test_a_sequence(model, monkeypatch):
    """Its tensors are compared, and the graph is cut beside it."""
    proto = net()
    del proto.graph.output[:]
    proto.graph.node.append(
        helper.make_node("SplitToSequence", ["y"], ["seq"], axis=1, name="split")
    )
    element = helper.make_tensor_type_proto(F, [None, 1])
    value = helper.make_value_info("seq", helper.make_sequence_type_proto(element))
    proto.graph.output.append(value)
    onnx.save(proto, model)
    code, lines, err = compare(model, "-q")
    assert code == 0 and [line.split(":")[0] for line in lines] == [f"seq.{i}" for i in range(4)], (
        err
    )
    plant(monkeypatch, "Elu", lambda n, x: n(nn.Elu(x, alpha=n.float("alpha") / 2)))
    code, lines, _ = compare(model, "-q")
    assert code == 1
    assert "first difference, from operands that agree: node 'elu' (Elu)" in lines
