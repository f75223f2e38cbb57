"""`--constant` and `constants=`: inputs whose values are known ahead."""

import io
import json
from pathlib import Path

import nnc
import numpy as np
import onnx
import pytest
from nnc import NncError
from nnc.tools.command import Streams
from nnc.tools.nnc import main
from onnx import TensorProto, helper


def scaled_sum(scale: int = TensorProto.FLOAT) -> onnx.ModelProto:
    """Sums of x along axes, by a scale; the axes are an input, as exporters write it."""
    nodes = [
        helper.make_node("ReduceSum", ["x", "axes"], ["s"], keepdims=0),
        helper.make_node("Cast", ["scale"], ["c"], to=TensorProto.FLOAT),
        helper.make_node("Mul", ["s", "c"], ["y"]),
    ]
    inputs = [
        helper.make_tensor_value_info("x", TensorProto.FLOAT, [2, 3, 4]),
        helper.make_tensor_value_info("axes", TensorProto.INT64, ["n"]),
        helper.make_tensor_value_info("scale", scale, []),
    ]
    outputs = [helper.make_tensor_value_info("y", TensorProto.FLOAT, None)]
    graph = helper.make_graph(nodes, "scaled_sum", inputs, outputs)
    return helper.make_model(graph, opset_imports=[helper.make_opsetid("", 18)])


X = np.arange(24, dtype=np.float32).reshape(2, 3, 4)


@pytest.fixture
def model(tmp_path: Path) -> Path:
    path = tmp_path / "scaled_sum.onnx"
    onnx.save(scaled_sum(), path)
    np.save(tmp_path / "x.npy", X)
    return path


def run(folder: Path, *argv: str) -> tuple[int, str, str]:
    out, err = io.StringIO(), io.StringIO()
    code = main(argv, Streams(io.StringIO(), out, err, folder))
    return code, out.getvalue(), err.getvalue()


@pytest.mark.parametrize(
    "axes,scale",
    [([0, 2], 0.5), (np.array([0, 2]), np.float32(0.5)), ((0, 2), 2)],
    ids=["lists", "arrays", "integers"],
)
def test_values_for_good(axes, scale):
    compiled = nnc.compile(scaled_sum(), constants={"axes": axes, "scale": scale})
    assert compiled.input_names == ["x"]
    np.testing.assert_allclose(compiled(X), X.sum((0, 2)) * np.float32(scale))


@pytest.mark.parametrize(
    "constants,message",
    [
        ({"scale": "loud"}, "input 'scale' ('loud') has shape [] of <U4, expected 'tensor<f32>'"),
        ({"scale": True}, "input 'scale' (True) has shape [] of bool, expected 'tensor<f32>'"),
        ({"scale": np.float64(1)}, "has shape [] of float64, expected 'tensor<f32>'"),
        ({"scale": [1.0]}, "has shape [1] of float64, expected 'tensor<f32>'"),
        ({"axes": [[0], [1, 2]]}, "input 'axes' is not an array: [[0], [1, 2]]"),
        ({"axes": [0.5]}, "has shape [1] of float64, expected 'tensor<?xi64>'"),
        ({"axis": [0]}, "'axis', which is not an input; inputs: 'x', 'axes', 'scale'"),
    ],
)
def test_wrong_values(constants, message):
    with pytest.raises(NncError) as caught:
        nnc.load(scaled_sum(), constants=constants)
    assert message in str(caught.value)


@pytest.mark.parametrize("value,fits", [(255, True), (-1, False), (256, False)])
def test_integers_that_the_type_holds(value, fits):
    proto = scaled_sum(TensorProto.UINT8)
    if fits:
        nnc.load(proto, constants={"scale": value, "axes": [0]})
        return
    with pytest.raises(NncError, match=rf"'scale' \({value}\) .* expected 'tensor<ui8>'"):
        nnc.load(proto, constants={"scale": value})


def test_only_of_models():
    with pytest.raises(
        NncError, match="constants can be given for models of other formats than IR only"
    ):
        nnc.load(nnc.parse("func.func @f() { return }"), constants={"x": 1})


def test_every_tool_takes_them(model, tmp_path):
    np.save(tmp_path / "axes.npy", np.array([0, 2]))
    given = ["--constant", "axes=axes.npy", "--constant", "scale=0.5", "-q"]
    name = model.name
    np.save(tmp_path / "y.npy", X.sum((0, 2)) * np.float32(0.5))
    code, _, err = run(tmp_path, "run", name, *given, "--input", "x.npy", "--expect", "y.npy")
    assert code == 0, err
    assert run(tmp_path, "import", name, *given, "-o", "m.mlir")[0] == 0
    assert '"axes"' not in (tmp_path / "m.mlir").read_text()
    assert run(tmp_path, "stages", name, *given, "-o", "stages")[0] == 0
    assert run(tmp_path, "compile", name, *given, "-o", "m.o")[0] == 0
    described = json.loads((tmp_path / "m.json").read_text())
    assert [one["name"] for one in described["inputs"]] == ["x"]
    code, out, err = run(tmp_path, "bench", name, *given, "--runs", "1")
    assert code == 0 and "onnxruntime" in out, err


def test_the_cache_tells_values_apart(model, tmp_path, monkeypatch):
    monkeypatch.setenv("NNC_CACHE_LIMIT", "100M")
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    for axes, scale in [([0], 1.0), ([0], 2.0), (np.array([1]), 2.0), (np.array([2]), 2.0)]:
        compiled = nnc.compile(model, constants={"axes": axes, "scale": scale})
        np.testing.assert_allclose(compiled(X), X.sum(int(axes[0])) * scale)


@pytest.mark.parametrize("text", ["scale", "scale=", "=1", "scale=loud", "scale={}", "scale=[1"])
def test_wrong_options(model, tmp_path, text):
    code, _, err = run(tmp_path, "run", model.name, "-q", "--random", "--constant", text)
    assert code == 1
    assert "--constant takes" in err and f"not '{text}'" in err and err.count("\n") == 1


def test_an_option_twice(model, tmp_path):
    given = ["--constant", "scale=1", "--constant", "scale=2"]
    code, _, err = run(tmp_path, "run", model.name, "-q", *given)
    assert code == 1 and "--constant gives 'scale' twice" in err
