"""No command writes over what it reads, and none over a checkpoint that lies beside."""

import io
from pathlib import Path

import numpy as np
import onnx
import pytest
from nnc.tools.command import Streams
from nnc.tools.nnc import main
from onnx import TensorProto, helper, numpy_helper
from safetensors.numpy import save_file


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """A model, also under the name of a header, and an array for its input."""
    value = [helper.make_tensor_value_info(name, TensorProto.FLOAT, [8, 9]) for name in "xy"]
    weights = numpy_helper.from_array(np.ones((8, 9), np.float32), "w")
    node = helper.make_node("Add", ["x", "w"], ["y"], name="add")
    graph = helper.make_graph([node], "net", value[:1], value[1:], [weights])
    model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", 18)], ir_version=9)
    onnx.save(model, tmp_path / "net.onnx")
    onnx.save(model, tmp_path / "net.h")
    np.save(tmp_path / "x.npy", np.zeros((8, 9), np.float32))
    return tmp_path


def run(folder: Path, *argv: str) -> tuple[int, str]:
    """The exit code and what is said of the error."""
    err = io.StringIO()
    code = main([*argv, "--quiet"], Streams(io.StringIO(), io.StringIO(), err, folder))
    return code, err.getvalue()


def contents(folder: Path) -> dict[str, bytes]:
    return {path.name: path.read_bytes() for path in folder.rglob("*") if path.is_file()}


@pytest.mark.parametrize(
    "argv",
    [
        "import net.onnx -o net.onnx",
        "import net.onnx -o ../{}/net.onnx",
        "compile net.h --target c-scalar -o net.c",  # the header of which is net.h
        "run net.onnx --input x.npy --output x.npy",
        "run net.onnx --input x=x.npy --output x.npy",
        "run net.onnx --input x.npy --expect x.npy --output x.npy",
        "profile net.onnx --html net.onnx",
        "explore net.onnx -o net.onnx",
    ],
)
def test_an_input_is_kept(folder: Path, argv: str) -> None:
    before = contents(folder)
    code, said = run(folder, *argv.format(folder.name).split())
    assert (code, said.count("\n")) == (1, 1), said
    assert "it is an input of this command" in said
    assert contents(folder) == before


def test_stages_are_not_written_over_the_one_that_is_read(folder: Path) -> None:
    assert run(folder, "stages", "net.onnx", "--target", "c-scalar", "-o", "stages") == (0, "")
    before = contents(folder)
    code, said = run(folder, "stages", "stages/2-make-kernels.mlir", "-o", "stages")
    assert code == 1 and "2-make-kernels.mlir': it is an input of this command" in said
    assert contents(folder) == before


def test_a_checkpoint_is_kept(folder: Path) -> None:
    """As it lies beside models on hubs: `model.safetensors` and `model.onnx`."""
    save_file({"kernel": np.ones(3)}, folder / "net.safetensors")
    before = contents(folder)
    code, said = run(folder, "import", "net.onnx", "-o", "net.mlir")
    assert code == 1 and "nnc has not written this safetensors file" in said
    assert contents(folder) == before
    (folder / "net.safetensors").unlink()
    for _ in range(2):  # one of nnc's own is replaced
        assert run(folder, "import", "net.onnx", "-o", "net.mlir") == (0, "")


@pytest.mark.parametrize(
    "argv", ["import net.onnx -o", "stages net.onnx -o", "run net.onnx --output"]
)
def test_an_empty_name_is_no_output(folder: Path, argv: str) -> None:
    """As of a shell's variable that is not set."""
    before = contents(folder)
    code, said = run(folder, *argv.split(), "")
    assert code == 1 and "is empty" in said
    assert contents(folder) == before


@pytest.mark.parametrize(
    ("argv", "wanted"),
    [
        ("run net.onnx --random --seed -1", "a whole number from 0 on"),
        ("run net.onnx --input y=x.npy", "no input is called 'y'; there are: 'x'"),
        ("run net.onnx --random --shape x=2,,3", "--shape takes NAME=1,3,224,224"),
    ],
)
def test_what_is_said_of_options(folder: Path, argv: str, wanted: str) -> None:
    code, said = run(folder, *argv.split())
    assert code == 1 and wanted in said


def test_a_name_with_a_newline(folder: Path) -> None:
    (folder / "net.onnx").rename(folder / "net\nü.onnx")
    assert run(folder, "import", "net\nü.onnx", "-o", "m.mlir") == (0, "")
