"""What JAX leaves to LAPACK, and scatters by any function, against NumPy."""

import nnc
import numpy as np
import pytest

QR = """
module {
  func.func public @main(%a: tensor<SHAPExf32>) -> (tensor<SHAPExf32>, tensor<SHAPExf32>) {
    %r, %t = stablehlo.custom_call @lapack_sgeqrf_ffi(%a) : (tensor<SHAPExf32>)
      -> (tensor<SHAPExf32>, tensor<2xKxf32>)
    %q = stablehlo.custom_call @lapack_sorgqr_ffi(%r, %t) : (tensor<SHAPExf32>, tensor<2xKxf32>)
      -> tensor<SHAPExf32>
    return %q, %r : tensor<SHAPExf32>, tensor<SHAPExf32>
  }
}
"""

SCATTER = """
module {
  func.func public @main(%x: tensor<5x3xf32>, %i: tensor<4x1xi32>, %u: tensor<4x3xf32>)
      -> tensor<5x3xf32> {
    %r = "stablehlo.scatter"(%x, %i, %u) <{scatter_dimension_numbers = #stablehlo.scatter<
        update_window_dims = [1], inserted_window_dims = [0], scatter_dims_to_operand_dims = [0],
        index_vector_dim = 1>}> ({
    ^bb0(%a: tensor<f32>, %b: tensor<f32>):
      %s = stablehlo.sine %a : tensor<f32>
      %m = stablehlo.multiply %s, %b : tensor<f32>
      %t = stablehlo.subtract %m, %b : tensor<f32>
      stablehlo.return %t : tensor<f32>
    }) : (tensor<5x3xf32>, tensor<4x1xi32>, tensor<4x3xf32>) -> tensor<5x3xf32>
    return %r : tensor<5x3xf32>
  }
}
"""

rng = np.random.default_rng(0)


@pytest.mark.parametrize("height, width", [(6, 4), (4, 4)])
def test_matrices_are_the_product_of_q_and_r(height, width):
    a = rng.standard_normal((2, height, width)).astype(np.float32)
    a[1, :, 1] = np.eye(height)[0] * 3  # a column with nothing to reflect, where it is the first
    a[1] = a[1][:, [1, 0, *range(2, width)]]
    text = QR.replace("SHAPE", f"2x{height}x{width}").replace("K", str(min(height, width)))
    q, packed = nnc.compile(text.encode(), cache=False)(a)
    r = np.triu(packed[:, :width])
    np.testing.assert_allclose(q @ r, a, atol=1e-5)
    np.testing.assert_allclose(q.swapaxes(1, 2) @ q, np.stack([np.eye(width)] * 2), atol=1e-5)


def test_windows_are_combined_one_after_the_other():
    x, u = (rng.standard_normal(s).astype(np.float32) for s in ((5, 3), (4, 3)))
    places = np.array([[1], [3], [1], [9]], np.int32)  # one twice, one outside
    want = x.copy()
    for (place,), row in zip(places[:3], u[:3], strict=True):
        want[place] = np.sin(want[place]) * row - row
    found = nnc.compile(SCATTER.encode(), cache=False)(x, places, u)
    np.testing.assert_allclose(found, want, atol=1e-6)


EIGH = """
module {
  func.func public @main(%a: tensor<NxNxf32>) -> (tensor<NxNxf32>, tensor<Nxf32>, tensor<i32>) {
    %v, %w, %i = stablehlo.custom_call @lapack_ssyevd_ffi(%a)
      {mhlo.backend_config = {mode = 86 : ui8, uplo = 76 : ui8}}
      : (tensor<NxNxf32>) -> (tensor<NxNxf32>, tensor<Nxf32>, tensor<i32>)
    return %v, %w, %i : tensor<NxNxf32>, tensor<Nxf32>, tensor<i32>
  }
}
"""

SVD = """
module {
  func.func public @main(%a: tensor<MxNxf32>) -> (tensor<MxKxf32>, tensor<Kxf32>, tensor<KxNxf32>) {
    %x, %s, %u, %v, %i = stablehlo.custom_call @lapack_sgesdd_ffi(%a)
      {mhlo.backend_config = {mode = 83 : ui8}} : (tensor<MxNxf32>)
      -> (tensor<MxNxf32>, tensor<Kxf32>, tensor<MxKxf32>, tensor<KxNxf32>, tensor<i32>)
    return %u, %s, %v : tensor<MxKxf32>, tensor<Kxf32>, tensor<KxNxf32>
  }
}
"""


@pytest.mark.parametrize("count", [1, 2, 5, 8, 24])
def test_eigenvalues_and_their_vectors(count):
    a = rng.standard_normal((count, count)).astype(np.float32)
    text = EIGH.replace("N", str(count))
    vectors, values, info = nnc.compile(text.encode(), cache=False)(a)
    a = np.tril(a) + np.tril(a, -1).T  # only this triangle is read
    want = np.linalg.eigvalsh(a)
    close = 1e-5 * np.abs(want).max()
    np.testing.assert_allclose(values, want, atol=close)
    np.testing.assert_allclose(a @ vectors, vectors * values, atol=close)
    np.testing.assert_allclose(vectors.T @ vectors, np.eye(count), atol=1e-5)
    assert info == 0


@pytest.mark.parametrize("height, width", [(4, 4), (7, 3), (3, 6), (9, 8)])
def test_singular_values_and_their_vectors(height, width):
    a = rng.standard_normal((height, width)).astype(np.float32)
    least = min(height, width)
    text = SVD.replace("M", str(height)).replace("N", str(width)).replace("K", str(least))
    u, s, v = nnc.compile(text.encode(), cache=False)(a)
    np.testing.assert_allclose(s, np.linalg.svd(a, compute_uv=False), atol=1e-5)
    np.testing.assert_allclose(u * s @ v, a, atol=1e-5)
    np.testing.assert_allclose(u.T @ u, np.eye(least), atol=1e-5)
    np.testing.assert_allclose(v @ v.T, np.eye(least), atol=1e-5)


TRIANGLES = """
func.func @main(%a: tensor<4x4xcomplex<f32>>, %b: tensor<ROWSxcomplex<f32>>)
    -> (tensor<ROWSxcomplex<f32>>, tensor<4x4xcomplex<f32>>) {
  %0 = "stablehlo.triangular_solve"(%a, %b) <{left_side = LEFT, lower = LOWER,
    transpose_a = #stablehlo<transpose TURNED>, unit_diagonal = UNIT}>
    : (tensor<4x4xcomplex<f32>>, tensor<ROWSxcomplex<f32>>) -> tensor<ROWSxcomplex<f32>>
  %1 = stablehlo.cholesky %a, lower = LOWER : tensor<4x4xcomplex<f32>>
  return %0, %1 : tensor<ROWSxcomplex<f32>>, tensor<4x4xcomplex<f32>>
}
"""


@pytest.mark.parametrize("turned", ["NO_TRANSPOSE", "TRANSPOSE", "ADJOINT"])
@pytest.mark.parametrize("left, lower, unit", [(1, 1, 0), (1, 0, 1), (0, 1, 1), (0, 0, 0)])
def test_complex_triangles(turned, left, lower, unit):
    """Of a Hermitian matrix the other triangle is not read."""
    a, b = (rng.standard_normal((2, 4, n)).astype(np.float32) for n in (4, 3))
    a, b = a[0] + 1j * a[1], b[0] + 1j * b[1]
    whole = a @ a.conj().T + 4 * np.eye(4)
    read = (np.tril if lower else np.triu)(whole).astype(np.complex64)
    given = read + 9 * (np.triu if lower else np.tril)(np.ones((4, 4)), 1 if lower else -1)
    text = TRIANGLES.replace("ROWS", "4x3" if left else "3x4").replace("TURNED", turned)
    for word, value in (("LEFT", left), ("LOWER", lower), ("UNIT", unit)):
        text = text.replace(word, str(bool(value)).lower())
    b = (b if left else b.T).astype(np.complex64)
    found, factor = nnc.compile(text.encode(), cache=False)(given.astype(np.complex64), b)
    if unit:
        np.fill_diagonal(read, 1)
    read = {"N": read, "T": read.T, "A": read.conj().T}[turned[0]]
    want = np.linalg.solve(read, b) if left else np.linalg.solve(read.T, b.T).T
    np.testing.assert_allclose(found, want, atol=1e-4 * np.abs(want).max())
    want = np.linalg.cholesky(whole, upper=not lower)
    np.testing.assert_allclose(factor, want, atol=1e-5 * np.abs(want).max())


BESIDE = """
module {
  func.func public @main(%x: tensor<HEIGHTx4xf32>, %i: tensor<3x1xi32>, %u: tensor<3xf32>)
      -> tensor<HEIGHTx4xf32> {
    %r = "stablehlo.scatter"(%x, %i, %u) <{scatter_dimension_numbers = #stablehlo.scatter<
        inserted_window_dims = [0, 1], scatter_dims_to_operand_dims = [1],
        index_vector_dim = 1>}> ({
      ^bb0(%a: tensor<f32>, %b: tensor<f32>):
        %s = stablehlo.add %a, %b : tensor<f32>
        stablehlo.return %s : tensor<f32>
    }) : (tensor<HEIGHTx4xf32>, tensor<3x1xi32>, tensor<3xf32>) -> tensor<HEIGHTx4xf32>
    return %r : tensor<HEIGHTx4xf32>
  }
}
"""


@pytest.mark.parametrize("height", [1, 2])
def test_scatters_to_one_row_that_no_index_tells(height):
    x, updates = np.ones((height, 4), np.float32), np.float32([1, 2, 3])
    places = np.int32([[3], [0], [3]])
    text = BESIDE.replace("HEIGHT", str(height))
    found = nnc.compile(text.encode(), cache=False)(x, places, updates)
    want = x.copy()
    np.add.at(want[0], places[:, 0], updates)
    np.testing.assert_array_equal(found, want)
