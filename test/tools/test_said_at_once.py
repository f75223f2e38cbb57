"""What a command needs and does not have is said before it compiles; what agrees is said too."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import onnx.parser
import pytest
from nnc.driver import compile as driver
from nnc.driver.profiling import collect
from nnc.tools import nnc as nnc_tool

from .test_bad_input import check_error, run

TEXT = """<ir_version: 8, opset_import: ["" : 17]>
g (float[n,3] x) => (float[n,3] y, float[n,3] z) { y = Relu(x) z = Neg(x) }"""


@pytest.fixture
def model(tmp_path: Path) -> Path:
    path = tmp_path / "m.onnx"
    onnx.save(onnx.parser.parse_model(TEXT), path)
    return path


@pytest.fixture
def never_compiled(monkeypatch: pytest.MonkeyPatch) -> None:
    def compiled(*_: object, **__: object) -> None:
        raise AssertionError("something was compiled")

    for module in (driver, collect):
        monkeypatch.setattr(module, "run_stages", compiled)


@pytest.mark.parametrize("command", ["run", "bench", "profile", "compare"])
@pytest.mark.usefixtures("never_compiled")
def test_a_missing_shape(command: str, model: Path, tmp_path: Path) -> None:
    random = ["--random"] if command in ("run", "compare") else []
    code, _, error = run(nnc_tool, [command, model, *random], tmp_path)
    check_error(code, error, "input 'x' is tensor<?x3xf32>: give its shape with --shape x=..")


@pytest.mark.parametrize("command", ["run", "compare"])
@pytest.mark.usefixtures("never_compiled")
def test_a_missing_value(command: str, model: Path, tmp_path: Path) -> None:
    code, _, error = run(nnc_tool, [command, model], tmp_path)
    check_error(code, error, "no value for x: tensor<?x3xf32>; give --input or --random")


@pytest.mark.parametrize(
    "arguments",
    [
        ["import", "-o", "no/m.mlir"],
        ["compile", "-o", "no/m.so"],
        ["compile", "--bindings", "c", "-o", "no/m"],
        ["run", "--random", "--shape", "x=2,3", "--output", "no/y.npz"],
        ["profile", "--shape", "x=2,3", "--html", "no/m.html"],
        ["profile", "--shape", "x=2,3", "--trace", "no/m.json"],
        ["stages", "-o", "no/stages"],
    ],
)
@pytest.mark.usefixtures("never_compiled")
def test_no_folder_for_what_is_written(arguments: list[str], model: Path, tmp_path: Path) -> None:
    code, _, error = run(nnc_tool, [arguments[0], model, *arguments[1:]], tmp_path)
    check_error(code, error, f"there is no folder '{tmp_path / 'no'}'")
    assert list(tmp_path.iterdir()) == [model]


@pytest.mark.parametrize("option", ["--input", "--expect"])
@pytest.mark.parametrize(("file", "reason"), [("no.npy", "No such file"), (".", "Is a directory")])
@pytest.mark.usefixtures("never_compiled")
def test_no_file_for_what_is_read(
    option: str, file: str, reason: str, model: Path, tmp_path: Path
) -> None:
    given = [option, file, "--random", "--shape", "x=2,3"]
    code, _, error = run(nnc_tool, ["run", model, *given], tmp_path)
    check_error(code, error, f"cannot read '{tmp_path / file}': {reason}")


@pytest.mark.parametrize("option", [["profile", "--html"], ["tune", "-o", "t", "--curve"]])
@pytest.mark.usefixtures("never_compiled")
def test_a_folder_for_a_file_that_is_written(
    option: list[str], model: Path, tmp_path: Path
) -> None:
    code, _, error = run(nnc_tool, [option[0], model, *option[1:], "."], tmp_path)
    check_error(code, error, "cannot write '.': it is a folder")
    assert list(tmp_path.iterdir()) == [model]


X = np.array([[1, -2, np.nan], [np.inf, -np.inf, 0]], np.float32)
Y = np.array([[1, 0, np.nan], [np.inf, 0, 0]], np.float32)


@pytest.mark.parametrize(
    ("expected", "code", "said"),
    [
        ({"y": Y, "z": -X}, 0, "agrees with want.npz within 0.001"),
        ({"y": Y}, 0, "1 of 2: agrees with want.npz"),
        ({}, 1, "no output is expected"),
        ({"y": Y, "z": X}, 1, "z: relative error inf"),
        ({"y": np.add(Y, [[0.5, 0, 0], [0, 0, 0]])}, 1, "y: relative error 0.333"),
        ({"y": np.nan_to_num(Y)}, 1, "y: relative error inf"),
        ({"y": Y + np.complex64(1j)}, 1, "y: relative error"),
    ],
)
def test_what_is_expected(expected, code: int, said: str, model: Path, tmp_path: Path) -> None:
    np.save(tmp_path / "x.npy", X)
    np.savez(tmp_path / "want.npz", **expected)
    given = ["--input", "x.npy", "--expect", "want.npz", "--tolerance", "1e-3"]
    found, out, error = run(nnc_tool, ["run", model, *given], tmp_path)
    assert (found, said in out + error) == (code, True), out + error
