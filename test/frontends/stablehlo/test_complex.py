"""Complex results of a model are complex arrays, however it is run."""

import io
import json
from pathlib import Path

import nnc
import numpy as np
import pytest
from nnc.tools import nnc as nnc_tool
from nnc.tools.command import Streams

MODEL = """module @jit_f {
  func.func public @main(%x: tensor<?xcomplex<f32>>) -> (tensor<?xcomplex<f32>>, tensor<?xf32>) {
    %y = stablehlo.add %x, %x : tensor<?xcomplex<f32>>
    %z = stablehlo.imag %x : (tensor<?xcomplex<f32>>) -> tensor<?xf32>
    return %y, %z : tensor<?xcomplex<f32>>, tensor<?xf32>
  }
}
"""
X = np.array([1 - 2j, 0, 3j], np.complex64)


@pytest.fixture(scope="module")
def path(tmp_path_factory):
    path = tmp_path_factory.mktemp("complex") / "model.mlir"
    path.write_text(MODEL)
    return path


def test_in_python(path: Path) -> None:
    """Compiled, and read from the cache."""
    for _ in range(2):
        model = nnc.compile(path)
        y, z = model(X)
        assert (y.dtype, z.dtype) == (np.complex64, np.float32)
        np.testing.assert_array_equal(y, 2 * X)
        np.testing.assert_array_equal(z, X.imag)
        found = model.run({model.input_names[0]: X[:0]})
        assert [a.shape for a in found.values()] == [(0,), (0,)]


def test_at_the_command_line(path: Path) -> None:
    """`--expect` takes complex arrays, and pairs of reals, which .json has in their place."""
    folder = path.parent
    np.save(folder / "x.npy", X)
    pairs = np.stack([X.real, X.imag], -1)
    np.savez(folder / "whole.npz", result0=2 * X, result1=X.imag)
    np.savez(folder / "pairs.npz", result0=2 * pairs, result1=X.imag)
    np.savez(folder / "other.npz", result0=np.conj(2 * X), result1=X.imag)
    command = ("run", "model.mlir", "-q", "--input", "x.npy")
    for wanted, code in (("whole", 0), ("pairs", 0), ("other", 1)):
        assert run(folder, *command, "--expect", f"{wanted}.npz")[0] == code
    code, said = run(folder, *command, "--output", "y.json")
    assert code == 0
    assert "complex64[3] magnitude min 0 max 6: 2-4j" in said
    assert json.loads((folder / "y.json").read_text())["result0"] == (2 * pairs).tolist()
    assert run(folder, *command, "--expect", "y.json")[0] == 0


def test_in_c(path: Path) -> None:
    """A header says which outputs have both parts of complex numbers."""
    assert run(path.parent, "compile", "model.mlir", "-o", "model.so")[0] == 0
    assert "both parts as their last dimension: result0" in (path.parent / "model.h").read_text()


def run(folder: Path, *arguments: str) -> tuple[int, str]:
    streams = Streams(io.StringIO(), io.StringIO(), io.StringIO(), folder)
    return nnc_tool.main(arguments, streams), streams.stdout.getvalue()


def test_infinities_become_complex_numbers_without_an_imaginary_part(tmp_path):
    text = """
        func.func public @main(%x: tensor<4xf32>) -> tensor<4xcomplex<f32>> {
          %y = stablehlo.convert %x : (tensor<4xf32>) -> tensor<4xcomplex<f32>>
          return %y : tensor<4xcomplex<f32>>
        }
    """
    path = tmp_path / "model.mlir"
    path.write_text(text)
    x = np.array([np.inf, -np.inf, np.nan, 2], np.float32)
    found = nnc.compile(path)(x)
    np.testing.assert_array_equal(found.real, x)
    np.testing.assert_array_equal(found.imag, np.zeros(4))
