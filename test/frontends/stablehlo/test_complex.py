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


def test_functions_of_large_and_small_numbers():
    """Against NumPy's in twice as many digits; where a square of a part overflows, or vanishes."""
    parts = np.array([3e38, -1e30, 2.5, -1e-30, 0], np.float64)
    z = (parts[:, None] + 1j * parts)[:4].ravel()
    w = z[::-1].copy()
    names = ["sqrt", "log", "tanh"]
    lines = [f"  %{name} = stablehlo.{name} %z : tensor<20xcomplex<f32>>" for name in names]
    types = ["tensor<20xcomplex<f32>>"] * 4 + ["tensor<20xf32>"]
    text = f"""module {{ func.func public @main(%z: {types[0]}, %w: {types[0]}) -> ({", ".join(types)}) {{
  %div = stablehlo.divide %z, %w : {types[0]}
  %abs = stablehlo.abs %z : ({types[0]}) -> {types[4]}
{chr(10).join(lines)}
  return %div, %sqrt, %log, %tanh, %abs : {", ".join(types)}
}} }}"""
    found = nnc.compile(text.encode(), cache=False)(z.astype(np.complex64), w.astype(np.complex64))
    z, w = (v.astype(np.complex64).astype(complex) for v in (z, w))
    tanh = np.where(
        abs(z.real) < 100, np.tanh(np.clip(z.real, -100, 100) + 1j * z.imag), np.sign(z.real)
    )
    for one, wanted in zip(found, (z / w, np.sqrt(z), np.log(z), tanh, abs(z)), strict=True):
        fits = np.maximum(abs(wanted.real), abs(wanted.imag)) < 3.4e38
        assert fits.sum() > 14
        np.testing.assert_allclose(one[fits], wanted[fits], rtol=1e-5, atol=1e-38)


def test_quotients_of_infinite_numbers():
    """As Annex G of C has them, and XLA."""
    text = b"""module { func.func @main(%z: tensor<5xcomplex<f32>>, %w: tensor<5xcomplex<f32>>)
      -> tensor<5xcomplex<f32>> {
  %y = stablehlo.divide %z, %w : tensor<5xcomplex<f32>>
  return %y : tensor<5xcomplex<f32>>
} }"""
    inf = np.inf
    z = np.array([1, complex(inf, 1), complex(1, 2), complex(inf, inf), 0], np.complex64)
    w = np.array([0, complex(1, 1), complex(inf, -inf), 2, complex(0, inf)], np.complex64)
    y = nnc.compile(text, cache=False)(z, w)
    np.testing.assert_array_equal(y.real, [inf, inf, 0, inf, 0])
    np.testing.assert_array_equal(y.imag[1:], [-inf, 0, inf, 0])


FUNCTIONS = {
    "stablehlo.log_plus_one": np.log1p,
    "chlo.acos": np.arccos,
    "chlo.acosh": np.arccosh,
    "chlo.asin": np.arcsin,
    "chlo.asinh": np.arcsinh,
    "chlo.atan": np.arctan,
    "chlo.atanh": np.arctanh,
    "chlo.cosh": np.cosh,
    "chlo.sinh": np.sinh,
    "chlo.tan": np.tan,
}


def test_functions(tmp_path):
    """In all quadrants, near 0, near 1 and on both sides of the cuts."""
    parts = np.array([-30.0, -1.25, -1.0, -0.5, -1e-4, 0.0, 1e-4, 0.5, 1.0, 1.25, 30.0])
    z = (parts[:, None] + 1j * parts).ravel().astype(np.complex128)
    z = z[np.abs(np.abs(z) - 1) > 1e-3]  # poles
    lines = [
        f"%r{i} = {name} %x : tensor<{z.size}xcomplex<f64>>"
        if name.startswith("stablehlo")
        else f"%r{i} = {name} %x : tensor<{z.size}xcomplex<f64>> -> tensor<{z.size}xcomplex<f64>>"
        for i, name in enumerate(FUNCTIONS)
    ]
    type = f"tensor<{z.size}xcomplex<f64>>"
    types = ", ".join([type] * len(lines))
    names = ", ".join(f"%r{i}" for i in range(len(lines)))
    text = f"func.func @main(%x: {type}) -> ({types}) {{\n" + "\n".join(lines)
    text += f"\nreturn {names} : {types}\n}}"
    found = nnc.compile(text.encode(), cache=False)(z)
    for (name, function), one in zip(FUNCTIONS.items(), found, strict=True):
        with np.errstate(all="ignore"):
            wanted = function(z)
        assert np.isfinite(wanted).all(), name
        np.testing.assert_allclose(one, wanted, rtol=1e-9, atol=1e-13, err_msg=name)


def test_where_there_are_none():
    text = """func.func @main(%a: tensor<2x2xcomplex<f32>>) -> tensor<2x2xcomplex<f32>> {
      %r = stablehlo.atan2 %a, %a : tensor<2x2xcomplex<f32>>
      return %r : tensor<2x2xcomplex<f32>>
    }"""
    with pytest.raises(nnc.NncError, match="complex numbers are not supported here"):
        nnc.load(text.encode())


SCATTER = """func.func @main(%x: tensor<4x2xcomplex<f32>>, %i: tensor<3x1xi32>,
    %u: tensor<3x2xcomplex<f32>>) -> tensor<4x2xcomplex<f32>> {{
  %r = "stablehlo.scatter"(%x, %i, %u) <{{scatter_dimension_numbers =
    #stablehlo.scatter<update_window_dims = [1], inserted_window_dims = [0],
    scatter_dims_to_operand_dims = [0], index_vector_dim = 1>, unique_indices = {}}}> ({{
    ^bb0(%a: tensor<complex<f32>>, %b: tensor<complex<f32>>):
      %c = stablehlo.multiply %a, %b : tensor<complex<f32>>
      stablehlo.return %c : tensor<complex<f32>>
    }}) : (tensor<4x2xcomplex<f32>>, tensor<3x1xi32>, tensor<3x2xcomplex<f32>>)
      -> tensor<4x2xcomplex<f32>>
  return %r : tensor<4x2xcomplex<f32>>
}}"""


@pytest.mark.parametrize("places", [[2, 0, 9], [1, 3, 1]])
def test_a_multiplying_scatter(places):
    """Also several times to one place; what is out of range is left out."""
    rng = np.random.default_rng(0)
    x, u = ((rng.normal(size=(k, 2, 2)) @ [1, 1j]).astype(np.complex64) for k in (4, 3))
    text = SCATTER.format("true" if len(set(places)) == 3 else "false")
    found = nnc.compile(text.encode(), cache=False)(x, np.array(places, np.int32)[:, None], u)
    wanted = x.copy()
    for at, by in zip(places, u, strict=True):
        if at < 4:
            wanted[at] *= by
    np.testing.assert_allclose(found, wanted, rtol=1e-5, atol=1e-6)
