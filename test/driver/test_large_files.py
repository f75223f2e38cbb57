"""Models whose weights are most of their bytes: what is in memory while they are compiled."""

import subprocess
import sys
from pathlib import Path

import nnc
import numpy as np
import onnx
import pytest
from nnc.tools import nnc as nnc_tool
from onnx import TensorProto, helper

MAX_OVERHEAD = 300
"""MB beyond the weights."""

MEASURE = """
import resource, sys
from nnc.driver.compile import compile_model
from nnc.tools import nnc
how, model, output = sys.argv[1:]
if how == "library":
    assert nnc.main(["compile", "-q", model, "-o", output]) == 0
elif how == "import":
    assert nnc.main(["import", "-q", model, "-o", output]) == 0
else:
    compile_model(model, cache=how == "cached")
print(resource.getrusage(resource.RUSAGE_SELF).ru_maxrss >> 10)
"""


def stored(name: str, shape: tuple[int, ...], offset: int, location: str) -> TensorProto:
    tensor = TensorProto(name=name, data_type=TensorProto.FLOAT, dims=shape)
    tensor.data_location = TensorProto.EXTERNAL
    size = 4 * int(np.prod(shape))
    for key, value in (("location", location), ("offset", offset), ("length", size)):
        tensor.external_data.add(key=key, value=str(value))
    return tensor


def model_of(nodes, inputs, outputs, weights) -> onnx.ModelProto:
    infos = [
        [helper.make_tensor_value_info(name, kind, shape) for name, kind, shape in values]
        for values in (inputs, outputs)
    ]
    graph = helper.make_graph(nodes, "g", *infos, weights)
    return helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)], ir_version=8)


def large_model(folder: Path) -> tuple[Path, int]:
    """A table, products with matrices and with one that has to be transposed; the bytes."""
    shapes = {"table": (40000, 1024), "up": (1024, 4096), "down": (4096, 1024)}
    shapes["head"] = (40000, 1024)
    rng, offset, weights = np.random.default_rng(0), 0, []
    with (folder / "m.data").open("wb") as file:
        for name, shape in shapes.items():
            weights.append(stored(name, shape, offset, "m.data"))
            for _ in range(0, shape[0], 512):
                rows = rng.standard_normal((512, shape[1]), dtype=np.float32)
                file.write(rows.tobytes())
            offset += 4 * int(np.prod(shape))
            file.seek(offset)
            file.truncate()
    nodes = [
        helper.make_node("Gather", ["table", "ids"], ["a"]),
        helper.make_node("MatMul", ["a", "up"], ["b"]),
        helper.make_node("MatMul", ["b", "down"], ["c"]),
        helper.make_node("Gemm", ["c", "head"], ["y"], transB=1),
    ]
    inputs, outputs = [("ids", TensorProto.INT64, [4])], [("y", TensorProto.FLOAT, [4, 40000])]
    path = folder / "m.onnx"
    onnx.save(model_of(nodes, inputs, outputs, weights), path)
    return path, offset


@pytest.mark.slow
@pytest.mark.parametrize("how", ["library", "import", "memory", "cached"])
def test_peak_memory_is_that_of_the_weights(how: str, tmp_path: Path, monkeypatch):
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    path, size = large_model(tmp_path)
    output = tmp_path / ("m.mlir" if how == "import" else "m.so")
    script = [sys.executable, "-c", MEASURE, how, str(path), str(output)]
    done = subprocess.run(script, capture_output=True, text=True, check=True)
    assert int(done.stdout) < size / 1e6 + MAX_OVERHEAD


def test_weights_behind_four_gigabytes(tmp_path: Path):
    """Of a file that is mostly a hole."""
    weight = np.arange(12, dtype=np.float32).reshape(3, 4)
    offset = (1 << 32) + 4096
    with (tmp_path / "m.data").open("wb") as file:
        file.seek(offset)
        file.write(weight.tobytes())
    model = model_of(
        [helper.make_node("MatMul", ["x", "w"], ["y"])],
        [("x", TensorProto.FLOAT, [2, 3])],
        [("y", TensorProto.FLOAT, [2, 4])],
        [stored("w", (3, 4), offset, "m.data")],
    )
    onnx.save(model, tmp_path / "m.onnx")
    x = np.ones((2, 3), np.float32)
    np.testing.assert_array_equal(nnc.compile(tmp_path / "m.onnx", cache=False)(x), x @ weight)


def test_more_weights_than_the_target_can_address(tmp_path: Path, capsys):
    """Said before any of them is read: the file is a hole."""
    rows = 300_000
    with (tmp_path / "m.data").open("wb") as file:
        file.truncate(2 * rows * 4096)
    weights = [
        stored(name, (rows, 1024), i * rows * 4096, "m.data") for i, name in enumerate(("a", "b"))
    ]
    nodes = [
        helper.make_node("Gather", ["a", "i"], ["p"]),
        helper.make_node("Gather", ["b", "i"], ["q"]),
        helper.make_node("Add", ["p", "q"], ["y"]),
    ]
    inputs, outputs = [("i", TensorProto.INT64, [4])], [("y", TensorProto.FLOAT, [4, 1024])]
    onnx.save(model_of(nodes, inputs, outputs, weights), tmp_path / "m.onnx")
    arguments = ["compile", "-q", str(tmp_path / "m.onnx"), "--target", "wasm32"]
    assert nnc_tool.main([*arguments, "-o", str(tmp_path / "m.wasm")]) == 1
    said = capsys.readouterr().err
    assert "the weights that the function needs, 2457600000 bytes, are 2147483648 or more" in said
    assert sorted(path.name for path in tmp_path.iterdir()) == ["m.data", "m.onnx"]
