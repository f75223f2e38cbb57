"""Functions of symbolic shapes give what JAX computed, for inputs of several shapes."""

import io
from pathlib import Path

import numpy as np
import pytest
from nnc.driver.compile import compile_model
from nnc.frontends.formats import import_model
from nnc.numerics.interpreter import Interpreter

from .cases import archive

NAMES = sorted(name.removesuffix(".mlir") for name in archive("open") if name.endswith(".mlir"))


@pytest.mark.parametrize("name", NAMES)
def test_they_agree_with_jax(name):
    module = import_model(archive("open")[f"{name}.mlir"])
    module.verify()
    for inputs, wanted in runs(name):
        check(Interpreter(module).call("main", inputs), wanted)


@pytest.mark.parametrize("name", ["cumsum_0", "cummax_1", "along_axis", "rows_added", "diff"])
def test_some_compiled(name):
    model = compile_model(archive("open")[f"{name}.mlir"], cache=False)
    for inputs, wanted in runs(name):
        check([model(*inputs)], wanted)


ONE_AXIS = """module {
  func.func public @main(%x: tensor<?x?x4x2xf32>) -> tensor<?x?x3x2xf32> {
    %zero = stablehlo.constant dense<0.0> : tensor<f32>
    %y = "stablehlo.reduce_window"(%x, %zero) <{window_dimensions = array<i64: 1, 1, 2, 1>}> ({
    ^bb0(%a: tensor<f32>, %b: tensor<f32>):
      %c = stablehlo.add %a, %b : tensor<f32>
      stablehlo.return %c : tensor<f32>
    }) : (tensor<?x?x4x2xf32>, tensor<f32>) -> tensor<?x?x3x2xf32>
    return %y : tensor<?x?x3x2xf32>
  }
}
"""


@pytest.mark.parametrize("lead", [(1, 3), (2, 5)])
def test_windows_of_one_axis(lead):
    x = np.random.default_rng(0).standard_normal((*lead, 4, 2)).astype(np.float32)
    module = import_model(ONE_AXIS.encode())
    module.verify()
    check(Interpreter(module).call("main", [x]), [x[:, :, :-1] + x[:, :, 1:]])


LARGEST_ALONG_ONE_AXIS = """module {
  func.func public @main(%x: tensor<?x6xf32>, %g: tensor<?x3xf32>) -> tensor<?x6xf32> {
    %init = stablehlo.constant dense<0.5> : tensor<f32>
    %y = "stablehlo.select_and_scatter"(%x, %g, %init) <{
      window_dimensions = array<i64: 1, 2>, window_strides = array<i64: 1, 2>
    }> ({
    ^bb0(%a: tensor<f32>, %b: tensor<f32>):
      %c = stablehlo.compare GE, %a, %b : (tensor<f32>, tensor<f32>) -> tensor<i1>
      stablehlo.return %c : tensor<i1>
    }, {
    ^bb0(%a: tensor<f32>, %b: tensor<f32>):
      %c = stablehlo.add %a, %b : tensor<f32>
      stablehlo.return %c : tensor<f32>
    }) : (tensor<?x6xf32>, tensor<?x3xf32>, tensor<f32>) -> tensor<?x6xf32>
    return %y : tensor<?x6xf32>
  }
}
"""


@pytest.mark.parametrize("rows", [1, 4])
def test_gradients_go_to_the_largest_of_each_window(rows):
    rng = np.random.default_rng(0)
    x = rng.integers(0, 3, (rows, 6)).astype(np.float32)
    g = rng.standard_normal((rows, 3)).astype(np.float32)
    wanted = np.full_like(x, 0.5)
    for row in range(rows):
        for window in range(3):
            pair = x[row, 2 * window : 2 * window + 2]
            wanted[row, 2 * window + pair.argmax()] += g[row, window]
    text = LARGEST_ALONG_ONE_AXIS.encode()
    check(Interpreter(import_model(text)).call("main", [x, g]), [wanted])
    check([compile_model(text, cache=False)(x, g)], [wanted])


def test_windows_of_padding_alone_choose_nothing():
    text = LARGEST_ALONG_ONE_AXIS.replace("?x3", "?x5").replace(
        "window_strides = array<i64: 1, 2>",
        "window_strides = array<i64: 1, 2>, padding = dense<[[0, 0], [2, 2]]> : tensor<2x2xi64>",
    )
    x, g = np.float32([[3, 1, 2, 5, 4, 6]]), np.float32([[9, 1, 2, 3, 7]])
    wanted = np.float32([[1.5, 0.5, 0.5, 2.5, 0.5, 3.5]])
    check([compile_model(text.encode(), cache=False)(x, g)], [wanted])


def test_convolutions():
    files = Path(__file__).parent / "files"
    x, *wanted = np.load(files / "open_convolutions.npz").values()
    model = compile_model(files / "open_convolutions.jax", cache=False)
    check(model(x), wanted)


FACTORS = """module {
  func.func @main(%a: tensor<?x3x3xf32>) -> (tensor<?x3x3xf32>, tensor<?xi32>) {
    %n = stablehlo.get_dimension_size %a, dim = 0 : (tensor<?x3x3xf32>) -> tensor<i32>
    %count = stablehlo.reshape %n : (tensor<i32>) -> tensor<1xi32>
    %size = stablehlo.constant dense<3> : tensor<2xi32>
    %shape = stablehlo.concatenate %count, %size, dim = 0
      : (tensor<1xi32>, tensor<2xi32>) -> tensor<3xi32>
    %r:2 = stablehlo.custom_call @lapack_spotrf_ffi(%a, %shape, %count)
      {indices_of_shape_operands = dense<[1, 2]> : tensor<2xi64>,
       mhlo.backend_config = {uplo = 76 : ui8}}
      : (tensor<?x3x3xf32>, tensor<3xi32>, tensor<1xi32>) -> (tensor<?x3x3xf32>, tensor<?xi32>)
    return %r#0, %r#1 : tensor<?x3x3xf32>, tensor<?xi32>
  }
}
"""


@pytest.mark.parametrize("count", [1, 4])
def test_factors_of_an_open_number_of_matrices(count):
    x = np.random.default_rng(0).standard_normal((count, 3, 3)).astype(np.float32)
    x = x @ x.transpose(0, 2, 1) + np.eye(3, dtype=np.float32)
    found, status = compile_model(FACTORS.encode(), cache=False)(x)
    check([np.tril(found)], [np.linalg.cholesky(x)])
    np.testing.assert_array_equal(status, np.zeros(count, np.int32))


SPECTRA = """module {
  func.func @main(%x: tensor<?x?x6xf32>) -> tensor<?x?x6xf32> {
    %y = stablehlo.fft %x, type = RFFT, length = [6]
      : (tensor<?x?x6xf32>) -> tensor<?x?x4xcomplex<f32>>
    %z = stablehlo.multiply %y, %y : tensor<?x?x4xcomplex<f32>>
    %w = stablehlo.fft %z, type = IRFFT, length = [6]
      : (tensor<?x?x4xcomplex<f32>>) -> tensor<?x?x6xf32>
    return %w : tensor<?x?x6xf32>
  }
}
"""


@pytest.mark.parametrize("lead", [(1, 3), (2, 5)])
def test_transforms_of_an_open_number_of_rows(lead):
    x = np.random.default_rng(0).standard_normal((*lead, 6)).astype(np.float32)
    wanted = np.fft.irfft(np.fft.rfft(x) ** 2, 6).astype(np.float32)
    check([compile_model(SPECTRA.encode(), cache=False)(x)], [wanted])


def runs(name):
    """Inputs and results of each shape."""
    stored = archive("open")
    for key in sorted(key for key in stored if key.startswith(f"{name}-")):
        arrays = np.load(io.BytesIO(stored[key]))
        sides = ([arrays[k] for k in arrays.files if k.startswith(side)] for side in ("in", "out"))
        yield tuple(sides)


def check(found, wanted):
    for got, want in zip(found, wanted, strict=True):
        assert (got.shape, got.dtype) == (want.shape, want.dtype)
        np.testing.assert_allclose(got, want, rtol=1e-5, atol=1e-6)
