"""Files of arrays and names that are made to harm: one message, little memory, no terminal's command."""

import io
import sys
from pathlib import Path
from zipfile import ZIP_DEFLATED, ZipFile

import numpy as np
import onnx
import onnx.parser
import pytest
from nnc.tools.command import Streams
from nnc.tools.nnc import main

ESCAPES = "\x1b]0;owned\x07\x1b[31m\u202e\x9b"


def model(path: Path, name: str = "x", shape: str = "4") -> Path:
    made = onnx.parser.parse_model(
        f"""<ir_version: 8, opset_import: ["" : 17]>
        agraph (float[{shape}] x) => (float[{shape}] y) {{ y = Relu(x) }}"""
    )
    for values in (made.graph.input, made.graph.node[0].input):
        if isinstance(values[0], str):
            values[0] = name
        else:
            values[0].name = name
    made.graph.node[0].name = f"node {name}"
    made.graph.output[0].name = made.graph.node[0].output[0] = name.replace("x", "y")
    onnx.save(made, path)
    return path


def bomb(path: Path, bytes: int) -> Path:
    """An archive with an array of zeros, or its beginning where it is more than 64 MiB."""
    head = io.BytesIO()
    about = {"descr": "<f4", "fortran_order": False, "shape": (bytes // 4,)}
    np.lib.format.write_array_header_1_0(head, about)
    with ZipFile(path, "w", ZIP_DEFLATED) as archive:
        with archive.open("x.npy", "w") as member:
            member.write(head.getvalue())
            for _ in range(min(bytes >> 20, 64)):
                member.write(b"\0" * (1 << 20))
        archive.filelist[0].file_size = len(head.getvalue()) + bytes
    return path


def run(*arguments: object) -> tuple[int, str, str]:
    streams = Streams(io.StringIO(), io.StringIO(), io.StringIO(), Path())
    code = main(list(map(str, arguments)), streams)
    return code, streams.stdout.getvalue(), streams.stderr.getvalue()


@pytest.mark.parametrize("option", ["--input", "--expect"])
def test_an_archive_that_unpacks_to_much_is_not_unpacked(tmp_path: Path, option: str):
    path, given = model(tmp_path / "m.onnx"), bomb(tmp_path / "b.npz", 64 << 20)
    code, _, error = run("run", path, "--random", option, given)
    assert code == 1
    assert "bytes that unpack to 67," in error and "are the most that is expected" in error


def test_nor_where_the_shape_is_open(tmp_path: Path):
    path, given = model(tmp_path / "m.onnx", shape="n"), bomb(tmp_path / "b.npz", 2 << 30)
    code, _, error = run("run", path, "--input", given, "--shape", "x=4")
    assert code == 1 and "unpack to 2,147," in error
    code, _, error = run("run", path, "--input", given)
    assert code == 1 and "unpack to 2,147," in error


def test_zeros_that_a_model_wants_are_taken(tmp_path: Path):
    path = model(tmp_path / "m.onnx", shape="4194304")
    code, said, _ = run("run", path, "--input", bomb(tmp_path / "b.npz", 16 << 20))
    assert code == 0 and "y: float32[4194304]" in said


def test_objects_and_other_members_are_an_error(tmp_path: Path):
    path = model(tmp_path / "m.onnx")
    np.savez(tmp_path / "o.npz", x=np.array([{}, 1], object))
    with ZipFile(tmp_path / "t.npz", "w") as archive:
        archive.writestr("readme.txt", "no array")
    for name, text in (
        ("o", "Object arrays cannot be loaded"),
        ("t", "'readme.txt' is not an array"),
    ):
        code, _, error = run("run", path, "--input", tmp_path / f"{name}.npz")
        assert code == 1 and text in error and "internal error" not in error


@pytest.mark.parametrize("command", ["run", "check", "profile", "compare", "bench", "error"])
def test_names_do_not_command_the_terminal(tmp_path: Path, command: str):
    path = model(tmp_path / "m.onnx", f"x{ESCAPES}y")
    options = [] if command == "check" else ["--random"]
    if command == "error":
        command, options = "run", []
    _, said, error = run(command, path, *options)
    assert not set("\x1b\x07\x9b\u202e") & set(said + error)
    if command in ("run", "compare"):
        assert "\\x1b]0;owned\\x07" in said + error


def test_a_name_beyond_the_encoding_of_the_output(tmp_path: Path, monkeypatch):
    path = model(tmp_path / "m.onnx")
    made = onnx.load(path)
    made.graph.output[0].name = made.graph.node[0].output[0] = "größe 大"
    onnx.save(made, path)
    output = io.BytesIO()
    monkeypatch.setattr(sys, "stdout", io.TextIOWrapper(output, encoding="ascii"))
    assert main(["run", "-q", str(path), "--random"], Streams.standard()) == 0
    sys.stdout.flush()
    assert output.getvalue().startswith(b"gr\\xf6\\xdfe \\u5927: float32[4]")


@pytest.mark.thorough
def test_a_long_line_is_shown_in_part(tmp_path: Path):
    text = "func.func @f() { %0 = " + "arith.constant 1 : i32 " * 100_000
    (tmp_path / "m.mlir").write_text(text)
    code, _, error = run("run", tmp_path / "m.mlir", "--random")
    assert code == 1 and len(error) < 1000
    _, line, caret = error.splitlines()[:3]
    assert len(line) <= 204
    at = int(error.partition(": error")[0].rpartition(":")[2]) - 1
    assert line[caret.index("^") :].rstrip(".") in text[at : at + 200]
    assert line[caret.index("^")] == text[at]
