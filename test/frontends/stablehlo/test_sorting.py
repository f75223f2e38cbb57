"""Sorts by any keys of elements, against NumPy."""

import nnc
import numpy as np
import pytest

SORT = """
func.func @main(%x: tensor<3x7xELEMENT>, %y: tensor<3x7xf32>)
    -> (tensor<3x7xELEMENT>, tensor<3x7xf32>) {
  %0:2 = "stablehlo.sort"(%x, %y) ({
  ^bb0(%a: tensor<ELEMENT>, %b: tensor<ELEMENT>, %c: tensor<f32>, %d: tensor<f32>):
    COMPARED
    stablehlo.return %p : tensor<i1>
  }) {dimension = 1 : i64, is_stable = true}
    : (tensor<3x7xELEMENT>, tensor<3x7xf32>) -> (tensor<3x7xELEMENT>, tensor<3x7xf32>)
  return %0#0, %0#1 : tensor<3x7xELEMENT>, tensor<3x7xf32>
}
"""
BY_SIZE = """
    %s = stablehlo.abs %a : tensor<f32>
    %t = stablehlo.abs %b : tensor<f32>
    %p = stablehlo.compare GT, %s, %t : (tensor<f32>, tensor<f32>) -> tensor<i1>
"""
BY_REMAINDER = """
    %two = stablehlo.constant dense<2> : tensor<i32>
    %s = stablehlo.remainder %a, %two : tensor<i32>
    %t = stablehlo.remainder %b, %two : tensor<i32>
    %e = stablehlo.compare EQ, %s, %t : (tensor<i32>, tensor<i32>) -> tensor<i1>
    %f = stablehlo.compare LT, %s, %t : (tensor<i32>, tensor<i32>) -> tensor<i1>
    %g = stablehlo.compare LT, %d, %c : (tensor<f32>, tensor<f32>) -> tensor<i1>
    %p = stablehlo.select %e, %g, %f : tensor<i1>, tensor<i1>
"""
BY_PARTS = """
    %r = stablehlo.real %a : (tensor<complex<f32>>) -> tensor<f32>
    %s = stablehlo.real %b : (tensor<complex<f32>>) -> tensor<f32>
    %i = stablehlo.imag %a : (tensor<complex<f32>>) -> tensor<f32>
    %j = stablehlo.imag %b : (tensor<complex<f32>>) -> tensor<f32>
    %e = stablehlo.compare EQ, %r, %s : (tensor<f32>, tensor<f32>) -> tensor<i1>
    %f = stablehlo.compare LT, %r, %s : (tensor<f32>, tensor<f32>) -> tensor<i1>
    %g = stablehlo.compare LT, %i, %j : (tensor<f32>, tensor<f32>) -> tensor<i1>
    %h = stablehlo.and %e, %g : tensor<i1>
    %p = stablehlo.or %f, %h : tensor<i1>
"""
rng = np.random.default_rng(0)
Y = rng.standard_normal((3, 7)).astype(np.float32)
WHOLE = rng.integers(-4, 5, (2, 3, 7)).astype(np.float32)
CASES = {
    "size": ("f32", BY_SIZE, WHOLE[0], lambda x: np.argsort(-np.abs(x), 1, stable=True)),
    "remainder": ("i32", BY_REMAINDER, WHOLE[1].astype(np.int32),
                  lambda x: np.lexsort((-Y, np.fmod(x, 2)), axis=1)),
    "parts": ("complex<f32>", BY_PARTS, (WHOLE[0] + 1j * WHOLE[1]).astype(np.complex64),
              lambda x: np.argsort(x, 1, stable=True)),
}  # fmt: skip


@pytest.mark.parametrize("case", CASES)
def test_keys(case):
    element, compared, x, order = CASES[case]
    text = SORT.replace("ELEMENT", element).replace("COMPARED", compared)
    found = nnc.compile(text.encode(), cache=False)(x, Y)
    for one, given in zip(found, (x, Y), strict=True):
        np.testing.assert_array_equal(one, np.take_along_axis(given, order(x), 1))


def test_sides_that_are_computed_otherwise():
    compared = BY_SIZE.replace("stablehlo.abs %b", "stablehlo.negate %b")
    text = SORT.replace("ELEMENT", "f32").replace("COMPARED", compared)
    with pytest.raises(nnc.NncError, match="one formula of two elements"):
        nnc.load(text.encode())
