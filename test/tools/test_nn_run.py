"""nn-run: files of arrays, comparing, weights, pipes, and functions at every stage."""

import io
from pathlib import Path

import numpy as np
import pytest
from nnc.lowering.pipelines import DEFAULT, stages_of
from nnc.targets.base import target
from nnc.tools import nn_opt, nn_run
from nnc.tools.command import Streams
from nnc.tools.run_arguments import split_arguments
from nnc.tools.run_printing import full_text, summary_text

STAGE_NAMES = [stage.name for stage in stages_of(target(DEFAULT))]

MODEL = """
func.func @main(%x: tensor<3x4xf32>, %i: tensor<2xi64>) -> (tensor<2x4xf32>, tensor<i64>) attributes {nn.entry} {
  %w = nn.constant dense<[[0.5, 1.0, -1.0, 2.0]]> : tensor<1x4xf32>
  %m = nn.mul %x, %w : (tensor<3x4xf32>, tensor<1x4xf32>) -> tensor<3x4xf32>
  %t = nn.tanh %m : (tensor<3x4xf32>) -> tensor<3x4xf32>
  %g = nn.gather %t, %i {axis = 0 : i64} : (tensor<3x4xf32>, tensor<2xi64>) -> tensor<2x4xf32>
  %n = nn.constant dense<7> : tensor<i64>
  return %g, %n : tensor<2x4xf32>, tensor<i64>
}"""


def run(arguments: list[str], folder: Path, stdin: str = "", tool=nn_run) -> tuple[int, str, str]:
    streams = Streams(io.StringIO(stdin), io.StringIO(), io.StringIO(), folder)
    code = tool.main(arguments, streams)
    return code, streams.stdout.getvalue(), streams.stderr.getvalue()


@pytest.fixture
def files(tmp_path: Path) -> Path:
    generator = np.random.default_rng(0)
    x = generator.standard_normal((3, 4)).astype(np.float32)
    np.save(tmp_path / "x.npy", x)
    np.savez(tmp_path / "both.npz", x=x, i=np.array([2, 0]))
    expected = np.tanh(x * np.array([0.5, 1, -1, 2], np.float32))[[2, 0]]
    np.savez(tmp_path / "expected.npz", result0=expected, result1=np.int64(7))
    (tmp_path / "m.mlir").write_text(MODEL)
    return tmp_path


@pytest.mark.parametrize("how", ["--interpret", "--compile"])
def test_files_of_arrays(files: Path, how: str) -> None:
    arguments = ["m.mlir", "--args", "x.npy,both.npz:i", "--compare", "expected.npz", how]
    code, out, said = run([*arguments, "--rtol=1e-6"], files)
    assert (code, said) == (0, "")
    assert out.startswith("result #0: f32[2x4]\n[[") and out.endswith("result #1: i64\n7\n")
    code, _, said = run(["m.mlir", "--args", "x.npy,both.npz", how], files)
    assert code == 1 and "has several arrays; name one of x, i" in said
    code, _, said = run(["m.mlir", "--args", "x.npy,[2,1]", "--compare", "expected.npz"], files)
    assert code == 1 and "nn-run: result #0: 4 of 8 elements differ; first at [1, 0]" in said


@pytest.mark.sampled(5)
@pytest.mark.parametrize("how", ["--interpret", "--compile"])
@pytest.mark.parametrize("stage", STAGE_NAMES[:-1])
def test_every_stage(files: Path, stage: str, how: str) -> None:
    """Lowered by nn-opt to the end of a stage, and run from there with outputs as arguments."""
    names = STAGE_NAMES
    flags = [f"--{name}" for name in names[: names.index(stage) + 1]]
    code, text, said = run([*flags, "m.mlir"], files, tool=nn_opt)
    assert (code, said) == (0, "")
    on_tensors = names.index(stage) < names.index("bufferize")
    given = "x.npy,both.npz:i" + ("" if on_tensors else ",f32[2x4]:zeros,i64[]:0")
    out = files / "out.npz"
    code, _, said = run(["--args", given, "-o", "out.npz", "--print=none", how], files, text)
    assert (code, said) == (0, "")
    found, expected = np.load(out), np.load(files / "expected.npz")
    keys = ("result0", "result1") if on_tensors else ("argument2", "argument3")
    np.testing.assert_allclose(found[keys[0]], expected["result0"], rtol=1e-5)
    assert found[keys[1]] == 7


def test_the_last_stage_has_pointers(files: Path) -> None:
    text = MODEL.replace(" attributes {nn.entry}", "")
    code, text, _ = run(["--lower-all"], files, text, tool=nn_opt)
    assert code == 0
    given = "x.npy,both.npz:i,f32[2x4]:zeros,i64[1]:0"
    code, _, said = run(["--args", given, "-o", "out.npz", "--print=none"], files, text)
    assert (code, said) == (0, "")
    found = np.load(files / "out.npz")
    expected = np.load(files / "expected.npz")["result0"]
    np.testing.assert_allclose(found["argument2"], expected, rtol=1e-5)
    assert found["argument3"].tolist() == [7]


def test_an_output_is_whole_or_missing(files: Path) -> None:
    code, _, said = run(["m.mlir", "--args", "x.npy,[0,1]", "-o", "no/out.npz"], files)
    assert code == 1 and "cannot write" in said
    code, _, said = run(["m.mlir", "--args", "x.npy,[0,1]", "-o", "out.npy"], files)
    assert code == 1 and "2 outputs" in said and not (files / "out.npy").exists()


def test_splitting() -> None:
    assert split_arguments("a.npy,f32[2]:[1,2],i64:3") == ["a.npy", "f32[2]:[1,2]", "i64:3"]
    assert split_arguments("") == []


def test_text_of_values() -> None:
    import ml_dtypes

    array = np.array([[1, -0.0, np.nan], [np.inf, 0.1, 1e-20]], np.float32)
    assert full_text(array) == "[[1.0, -0.0, nan],\n [inf, 0.1, 1e-20]]"
    assert full_text(np.array([], np.int32)) == "[]"
    assert full_text(np.array([True, False])) == "[true, false]"
    assert full_text(np.array([1.5], ml_dtypes.bfloat16)) == "[1.5]"
    assert full_text(np.complex64(1 - 2j)) == "(1.0, -2.0)"
    summary = summary_text(array)
    assert summary.startswith("min -0 max 1 mean 0.275 nan 1 inf 1: 1.0, -0.0")


def test_help_and_version(tmp_path: Path) -> None:
    assert run(["--help"], tmp_path)[0] == 0
    assert run(["--version"], tmp_path)[1].startswith("nn-run ")
    code, _, said = run(["--frobnicate"], tmp_path)
    assert code == 1 and "unrecognized arguments: --frobnicate" in said
