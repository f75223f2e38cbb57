"""`nnc` on models with values that only a host handles: files of inputs and outputs, and refusals."""

import io
import json
from pathlib import Path

import numpy as np
import pytest
from nnc.tools import nnc as nnc_tool
from nnc.tools.command import Streams

TEXT = """
!rows = !nn.sequence<tensor<?x2xf32>>
!maps = !nn.sequence<!nn.map<!nn.string, f32>>
func.func @main(%s: tensor<2x!nn.string>, %q: !rows, %o: !nn.optional<tensor<i64>>)
    -> (tensor<2x!nn.string>, !rows, !maps, tensor<i1>) {
  %t = nn.string_concat %s, %s :
      (tensor<2x!nn.string>, tensor<2x!nn.string>) -> tensor<2x!nn.string>
  %i = nn.constant dense<0> : tensor<i64>
  %x = nn.sequence_at %q, %i : (!rows, tensor<i64>) -> tensor<?x2xf32>
  %r = nn.relu %x : (tensor<?x2xf32>) -> tensor<?x2xf32>
  %p = nn.sequence_insert %q, %r : (!rows, tensor<?x2xf32>) -> !rows
  %m = nn.zip_map %r {keys = dense<["a", "b"]> : tensor<2x!nn.string>} : (tensor<?x2xf32>) -> !maps
  %h = nn.optional_has_element %o : (!nn.optional<tensor<i64>>) -> tensor<i1>
  return %t, %p, %m, %h : tensor<2x!nn.string>, !rows, !maps, tensor<i1>
}
"""

WANT = {
    "output0": ["é é ", "bb"],
    "output1": [[[-1.0, 2.0]], [[3.0, -4.0], [5.0, 6.0]], [[0.0, 2.0]]],
    "output2": [{"a": 0.0, "b": 2.0}],
    "output3": False,
}


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    (tmp_path / "m.mlir").write_text(TEXT)
    np.save(tmp_path / "s.npy", np.array(["é ", "b"]))
    np.savez(tmp_path / "q.npz", *(np.array(one, np.float32) for one in WANT["output1"][:2]))
    (tmp_path / "q.json").write_text(json.dumps(WANT["output1"][:2]))
    (tmp_path / "s.json").write_text(json.dumps(["é ", "b"]))
    (tmp_path / "o.json").write_text("null")
    (tmp_path / "want.json").write_text(json.dumps(WANT))
    return tmp_path


def run_nnc(folder: Path, *arguments: str) -> tuple[int, str, str]:
    streams = Streams(io.StringIO(), io.StringIO(), io.StringIO(), folder)
    code = nnc_tool.main(arguments, streams)
    return code, streams.stdout.getvalue(), streams.stderr.getvalue()


@pytest.mark.parametrize(("s", "q"), [("s.npy", "q.npz"), ("s.json", "q.json")])
def test_inputs_and_outputs_in_files(folder: Path, s: str, q: str) -> None:
    given = ("--input", s, "--input", q, "--input", "o.json")
    command = ("run", "m.mlir", "--no-cache", "-q", *given)
    code, said, error = run_nnc(folder, *command, "--output", "y.json", "--expect", "want.json")
    assert (code, error) == (0, "")
    assert "output0: string[2]: 'é é ' 'bb'" in said
    assert "output1: a sequence of 3\noutput1[0]: float32[1x2] min -1" in said
    assert "output2[0]: a map {'a': 0.0, 'b': 2.0}" in said
    assert json.loads((folder / "y.json").read_text()) == WANT
    assert run_nnc(folder, *command, "--output", "y.npz", "--expect", "want.json")[0] == 0
    saved = np.load(folder / "y.npz")
    np.testing.assert_array_equal(saved["output1.2"], WANT["output1"][2])
    np.testing.assert_array_equal(saved["output0"], WANT["output0"])


def test_outputs_that_are_not_the_expected_ones(folder: Path) -> None:
    (folder / "want.json").write_text(json.dumps(WANT | {"output0": ["é", "bb"]}))
    given = ("--input", "s.npy", "--input", "q.npz", "--input", "o.json")
    command = ("run", "m.mlir", "--no-cache", "-q", *given, "--expect", "want.json")
    assert run_nnc(folder, *command)[0::2] == (1, "output0: other text than expected\n")


@pytest.mark.parametrize(
    ("file", "content", "message"),
    [
        ("q.json", "[", "q.json: not JSON"),
        ("q.json", "3", "'q.json': JSON is not a value of type !nn.sequence<tensor<?x2xf32>>"),
        ("q.json", "[[1, 2]]", "input 'input1': expected !nn.sequence<tensor<?x2xf32>>"),
        ("q.json", '[[["a", 2]]]', "could not convert string to float"),
        ("s.json", "null", "input 'input0': expected tensor<2x!nn.string>"),
    ],
)
def test_files_that_hold_something_else(folder: Path, file: str, content: str, message: str):
    (folder / file).write_text(content)
    given = ("--input", "s.json", "--input", "q.json", "--input", "o.json")
    code, _, error = run_nnc(folder, "run", "m.mlir", "--no-cache", "-q", *given)
    assert code == 1 and message in error and error.count("error:") == 1


def test_random_values(folder: Path) -> None:
    text = "func.func @main(%s: tensor<4x!nn.string>, %q: !nn.sequence<tensor<2xf32>>) -> "
    text += "(tensor<4x!nn.string>, !nn.sequence<tensor<2xf32>>) {\n"
    text += "  return %s, %q : tensor<4x!nn.string>, !nn.sequence<tensor<2xf32>>\n}\n"
    (folder / "r.mlir").write_text(text)
    code, said, _ = run_nnc(folder, "run", "r.mlir", "--random", "--no-cache", "-q")
    assert code == 0 and "output0: string[4]" in said and "output1: a sequence of 3" in said


@pytest.mark.parametrize("output", ["m.so", "m.o", "m.ll", "m.s", "out.mlir", "m.wasm"])
def test_code_is_refused(folder: Path, output: str) -> None:
    (folder / output).write_bytes(b"kept")
    target = ("--target", "wasm32") if output == "m.wasm" else ()
    code, _, error = run_nnc(folder, "compile", "m.mlir", "-q", "-o", output, *target)
    assert code == 1
    assert "cannot be a file of code" in error and "nn.zip_map" in error
    assert "input 'input0' is a value that only a host handles: tensor<2x!nn.string>" in error
    assert (folder / output).read_bytes() == b"kept"


@pytest.mark.parametrize("command", [("stages", "-o", "out"), ("profile",)])
def test_other_commands_say_why_they_cannot(folder: Path, command: tuple[str, ...]) -> None:
    name, *rest = command
    given = ("--input", "s.npy", "--input", "q.npz", "--input", "o.json") if not rest else ()
    code, _, error = run_nnc(folder, name, "m.mlir", "-q", *rest, *given)
    assert code == 1 and "only a host in Python can run the model" in error
