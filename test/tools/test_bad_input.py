"""Bad input: one clear error with its place, exit code 1, nothing written or overwritten."""

import io
import os
import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path

import nnc
import numpy as np
import onnx
import pytest
from nnc.tools import nn_opt, nn_run
from nnc.tools import nnc as nnc_tool
from nnc.tools.command import Streams
from onnx import TensorProto, helper


def run(tool, arguments: Sequence[object], folder: Path, stdin: str = "") -> tuple[int, str, str]:
    streams = Streams(io.StringIO(stdin), io.StringIO(), io.StringIO(), folder)
    code = tool.main([str(a) for a in arguments], streams)
    return code, streams.stdout.getvalue(), streams.stderr.getvalue()


def check_error(code: int, message: str, *parts: str) -> None:
    assert code == 1, message
    assert "Traceback" not in message
    assert "internal error" not in message
    for part in parts:
        assert part in message, message


def model(*nodes: onnx.NodeProto, initializers: Sequence[onnx.TensorProto] = ()) -> onnx.ModelProto:
    graph = helper.make_graph(
        nodes,
        "g",
        [helper.make_tensor_value_info("x", TensorProto.FLOAT, (2, 3))],
        [helper.make_tensor_value_info("y", TensorProto.FLOAT, None)],
        initializers,
    )
    return helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)])


@pytest.fixture
def relu(tmp_path: Path) -> Path:
    path = tmp_path / "relu.onnx"
    onnx.save(model(helper.make_node("Relu", ["x"], ["y"], "relu_1")), path)
    return path


# -- model files ---------------------------------------------------------------------------------


@pytest.mark.parametrize("length", [0, 1, 10, -5])
def test_truncated_model(relu: Path, tmp_path: Path, length: int) -> None:
    broken = tmp_path / "broken.onnx"
    broken.write_bytes(relu.read_bytes()[:length])
    code, _, message = run(nnc_tool, ["import", broken, "-o", tmp_path / "m.mlir"], tmp_path)
    check_error(code, message, "broken.onnx")
    assert not (tmp_path / "m.mlir").exists()


@pytest.mark.parametrize("command", [["check"], ["explore", "-o", "m.html"], ["stages", "-o", "s"]])
def test_empty_ir(command: list[str], tmp_path: Path) -> None:
    (tmp_path / "m.mlir").write_text("\n")
    code, _, message = run(nnc_tool, [command[0], "m.mlir", *command[1:]], tmp_path)
    check_error(code, message, "m.mlir: the file is empty, expected a model")
    assert os.listdir(tmp_path) == ["m.mlir"]


def test_a_module_of_nothing_is_explored(tmp_path: Path) -> None:
    (tmp_path / "m.mlir").write_text("module {}\n")
    code, _, message = run(nnc_tool, ["explore", "m.mlir", "-o", "m.html", "-q"], tmp_path)
    assert (code, message) == (0, "")


@pytest.mark.skipif(os.name != "posix", reason="POSIX names")
def test_a_name_that_is_not_utf_8(tmp_path: Path, relu: Path) -> None:
    """Python writes its bytes as characters that have no encoding; pages show escapes."""
    name = os.fsdecode(b"re\xfflu.onnx")
    relu.rename(tmp_path / name)
    given = ["--html", os.fsdecode(b"\xff.html"), "--trace", "trace.json", "--runs", "1", "-q"]
    code, _, message = run(nnc_tool, ["profile", name, *given], tmp_path)
    assert code == 0, message
    assert "re\\udcfflu.onnx" in (tmp_path / os.fsdecode(b"\xff.html")).read_text("utf-8")


def test_binary_rubbish_as_a_model(tmp_path: Path) -> None:
    broken = tmp_path / "rubbish.onnx"
    broken.write_bytes(np.random.default_rng(0).bytes(4096))
    check_error(*run(nnc_tool, ["run", broken, "--random"], tmp_path)[::2], "rubbish.onnx")


def test_missing_model(tmp_path: Path) -> None:
    check_error(*run(nnc_tool, ["run", "no.onnx", "--random"], tmp_path)[::2], "no.onnx")


@pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="POSIX")
@pytest.mark.parametrize("command", [["run", "--random"], ["check"]])
def test_a_pipe_in_place_of_a_model(tmp_path: Path, command: list[str]) -> None:
    os.mkfifo(tmp_path / "pipe")
    code, _, message = run(nnc_tool, [*command, "pipe"], tmp_path)
    check_error(code, message, "pipe' is a pipe or a device, expected a model's file or folder")


def test_all_unsupported_nodes_are_listed(tmp_path: Path) -> None:
    nodes = [
        helper.make_node("NoSuchOp", ["x"], ["a"], "first"),
        helper.make_node("Relu", ["a"], ["b"], "between"),
        helper.make_node("OtherOp", ["b"], ["y"], "second", domain="my.domain"),
    ]
    path = tmp_path / "m.onnx"
    onnx.save(model(*nodes), path)
    code, _, message = run(nnc_tool, ["import", path, "-o", "m.mlir"], tmp_path)
    check_error(code, message, "first", "NoSuchOp", "second", "OtherOp", "my.domain")
    assert "between" not in message


@pytest.mark.parametrize("location", ["gone.bin", "../outside.bin", "/etc/hostname"])
def test_external_weights_that_may_not_be_read(tmp_path: Path, location: str) -> None:
    folder = tmp_path / "inner"
    folder.mkdir()
    (tmp_path / "outside.bin").write_bytes(bytes(24))
    weight = TensorProto(name="w", data_type=TensorProto.FLOAT, dims=[2, 3])
    weight.data_location = TensorProto.EXTERNAL
    weight.external_data.add(key="location", value=location)
    path = folder / "m.onnx"
    node = helper.make_node("Add", ["x", "w"], ["y"], "add_1")
    path.write_bytes(model(node, initializers=[weight]).SerializeToString())
    code, _, message = run(nnc_tool, ["run", path, "--random"], tmp_path)
    check_error(code, message, "w", location)


# -- run-time values ---------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "array",
    [
        np.zeros((2, 3), np.float64),
        np.zeros((2, 4), np.float32),
        np.zeros((2, 3, 1), np.float32),
        np.zeros(0, np.float32),
        np.array("text"),
    ],
    ids=["dtype", "shape", "rank", "empty", "text"],
)
def test_wrong_input(relu: Path, array: np.ndarray) -> None:
    executable = nnc.compile(relu)
    with pytest.raises(nnc.NncError, match=r"input 'x'.*tensor<2x3xf32>"):
        executable(array)


def test_wrong_number_of_inputs(relu: Path) -> None:
    executable = nnc.compile(relu)
    good = np.zeros((2, 3), np.float32)
    with pytest.raises(nnc.NncError):
        executable()
    with pytest.raises(nnc.NncError):
        executable(good, good)
    with pytest.raises(nnc.NncError):
        executable(z=good)


def test_unreadable_input_file(relu: Path, tmp_path: Path) -> None:
    (tmp_path / "x.npy").write_bytes(b"rubbish")
    code, _, message = run(nnc_tool, ["run", relu, "--input", "x.npy"], tmp_path)
    check_error(code, message, "x.npy: not a readable array file: expected .npy, .npz or .pb\n")
    check_error(*run(nnc_tool, ["run", relu, "--input", "no.npy"], tmp_path)[::2], "no.npy")
    check_error(*run(nnc_tool, ["run", relu], tmp_path)[::2], "x: tensor<2x3xf32>", "--random")


# -- IR text -------------------------------------------------------------------------------------------

BAD_IR = {
    "undefined value": (
        "func.func @f() -> i32 {\n  return %x : i32\n}\n",
        ":2:10: error",
        "%x",
    ),
    "type clash": (
        "func.func @f(%a: i32) -> f32 {\n  %b = arith.addf %a, %a : f32\n  return %b : f32\n}\n",
        ":2:",
        "'i32'",
    ),
    "unclosed brace": ("func.func @f() {\n  return\n", ":1:", "{"),
    "stray brace": ("func.func @f() {\n  return\n}\n}\n", ":4:1", "}"),
    "unknown op": ("func.func @f() {\n  arith.nope\n  return\n}\n", ":2:3", "arith.nope"),
    "unknown type": ("func.func @f(%a: i32x) {\n  return\n}\n", ":1:", "i32x"),
    "wrong literal": ("func.func @f() {\n  %a = arith.constant 1.5 : i32\n  return\n}\n", ":2:"),
    "missing terminator": ("func.func @f() {\n  %a = arith.constant 1 : i32\n}\n", ":2:"),
    "redefinition": ("func.func @f(%a: i32) {\n  %a = arith.constant 1 : i32\n  return\n}\n", "%a"),
    "unknown block": ("func.func @f() {\n  cf.br ^nowhere\n}\n", ":2:", "nowhere"),
    "rubbish": ("\x00\x01\x02 \x7f}{", ":1:1"),
    "twice the same symbol": (
        "func.func @f() {\n  return\n}\nfunc.func @f() {\n  return\n}\n",
        ":4:",
        "'f'",
    ),
}


@pytest.mark.parametrize("case", BAD_IR)
def test_bad_ir(case: str, tmp_path: Path) -> None:
    text, *parts = BAD_IR[case]
    (tmp_path / "in.mlir").write_text(text)
    (tmp_path / "out.mlir").write_text("precious")
    code, out, message = run(nn_opt, ["in.mlir", "-o", "out.mlir"], tmp_path)
    check_error(code, message, "in.mlir", *parts)
    assert not out
    assert (tmp_path / "out.mlir").read_text() == "precious"
    for name in ("COLON", "LPAR", "RBRACE", "$END", "ANON", "Token("):
        assert name not in message, "a name of the parser's own"


def test_a_caret_points_at_the_fault(tmp_path: Path) -> None:
    text = "func.func @f() -> i32 {\n  return %x : i32\n}\n"
    _, _, message = run(nn_opt, [], tmp_path, stdin=text)
    lines = message.splitlines()
    at = next(i for i, line in enumerate(lines) if "return %x" in line)
    assert lines[at + 1].index("^") == lines[at].index("%x")


def test_not_utf8(tmp_path: Path) -> None:
    (tmp_path / "in.mlir").write_bytes(b"module {\n\xff\xfe\n}")
    check_error(*run(nn_opt, ["in.mlir"], tmp_path)[::2], "in.mlir:2", "UTF-8")


def test_a_model_in_place_of_text(relu: Path) -> None:
    said = "error: 'relu.onnx' is binary, not text: `nnc import` makes IR of a model\n"
    for tool in (nn_opt, nn_run):
        assert run(tool, [relu.name], relu.parent)[::2] == (1, said)
        if os.path.exists("/dev/zero"):  # of which there is no end
            zeros = said.replace(relu.name, "/dev/zero")
            assert run(tool, ["/dev/zero"], relu.parent)[::2] == (1, zeros)


@pytest.mark.parametrize("option", ["--tuned", "--ops", "--expect", "--input"])
def test_empty_names(relu: Path, option: str) -> None:
    code, _, message = run(nnc_tool, ["run", relu, "--random", option, ""], relu.parent)
    check_error(code, message, "the name of a file or folder is empty")


@pytest.mark.parametrize(
    "arguments",
    [
        ["--no-such-pass"],
        ["--pass-pipeline=builtin.module(nope)"],
        ["--pass-pipeline=builtin.module(cse"],
        ["--canonicalize=nope=1"],
        ["no-such-file.mlir"],
        ["--verify-each=perhaps"],
        ["a.mlir", "b.mlir"],
    ],
)
def test_bad_command_lines(arguments: list[str], tmp_path: Path) -> None:
    check_error(*run(nn_opt, arguments, tmp_path, stdin="module {}")[::2])


@pytest.mark.parametrize("words", ["user list", "user remove ann", "token ann"])
def test_questions_to_a_service_begin_none(words: str, tmp_path: Path) -> None:
    code, _, message = run(nnc_tool, ["serve", *words.split(), "gone"], tmp_path)
    check_error(code, message, f"no service was begun in '{tmp_path / 'gone'}'")
    assert not (tmp_path / "gone").exists()


def test_an_empty_name_for_values(tmp_path: Path) -> None:
    text = "func.func @main(%a: i32) -> i32 {\n  return %a : i32\n}\n"
    code, out, message = run(nn_run, ["--args", "i32:7", "-o", ""], tmp_path, stdin=text)
    check_error(code, message, "the name of a file or folder is empty")
    assert out == ""


@pytest.mark.skipif(os.name != "posix", reason="POSIX paths")
def test_unwritable_output(tmp_path: Path, relu: Path) -> None:
    for tool, start in ((nn_opt, ["-"]), (nnc_tool, ["import", relu])):
        arguments = [*start, "-o", "/proc/no/such/out.mlir"]
        check_error(*run(tool, arguments, tmp_path, stdin="module {}")[::2], "/proc/no/such")
    target = tmp_path / "folder.mlir"
    target.mkdir()
    check_error(*run(nn_opt, ["-", "-o", target], tmp_path, stdin="module {}")[::2], "folder.mlir")


def test_a_closed_pipe_is_no_error(tmp_path: Path) -> None:
    (tmp_path / "in.mlir").write_text("".join(f"func.func private @f{i}()\n" for i in range(5000)))
    command = f"{sys.executable} -m nnc.tools.nn_opt in.mlir | head -n 1"
    done = subprocess.run(
        ["bash", "-c", command], cwd=tmp_path, capture_output=True, text=True, check=False
    )
    assert done.stderr == ""
    assert done.stdout.startswith("module")
