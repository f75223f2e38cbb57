"""Places in memory and bounds of loops as text of C: operators that bind less have parentheses."""

import numpy as np
import pytest
from nnc.driver.compile import compile_model
from nnc.ir.syntax.parser import parse_module
from nnc.targets.source.memory import plus


@pytest.mark.parametrize(
    ("a", "b", "made"),
    [
        ("x", "i & 7", "x + (i & 7)"),
        ("x", "(i + j) & 7", "x + ((i + j) & 7)"),
        ("i << 2", -3, "(i << 2) - 3"),
        ("a * 2", "(i & 7) * 4", "a * 2 + (i & 7) * 4"),
        ("f(i & 7)", "j", "f(i & 7) + j"),
        ("i < 3 ? 1 : 2", "j", "(i < 3 ? 1 : 2) + j"),
    ],
)
def test_sums(a, b, made):
    assert plus(a, b) == made


def test_a_place_that_goes_around_in_a_buffer():
    text = """
func.func @main(%x: memref<16xf32>, %y: memref<16xf32>) attributes {
    nn.entry, nn.input_names = ["x"], nn.output_names = ["y"],
    nn.inputs = [tensor<16xf32>], nn.outputs = [tensor<16xf32>]} {
  %c0 = arith.constant 0 : index
  %c4 = arith.constant 4 : index
  %c16 = arith.constant 16 : index
  %mask = arith.constant 15 : index
  scf.for %i = %c0 to %c16 step %c4 {
    %sum = arith.addi %i, %c4 : index
    %at = arith.andi %sum, %mask : index
    %v = vector.load %x[%at] : memref<16xf32>, vector<4xf32>
    vector.store %v, %y[%i] : memref<16xf32>, vector<4xf32>
  }
  return
}"""
    x = np.arange(16, dtype=np.float32)
    model = compile_model(parse_module(text), target="c-x86-64", cache=False)
    np.testing.assert_array_equal(model(x), np.roll(x, -4))


def test_a_loop_whose_bound_is_a_choice():
    text = """
func.func @main(%x: memref<16xf32>, %y: memref<16xf32>) attributes {
    nn.entry, nn.input_names = ["x"], nn.output_names = ["y"],
    nn.inputs = [tensor<16xf32>], nn.outputs = [tensor<16xf32>]} {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c16 = arith.constant 16 : index
  %zero = arith.constant 0.0 : f32
  scf.for %i = %c0 to %c16 step %c1 {
    %v = memref.load %x[%i] : memref<16xf32>
    %some = arith.cmpf ogt, %v, %zero : f32
    %times = arith.select %some, %i, %c1 : index
    %sum = scf.for %k = %c0 to %times step %c1 iter_args(%sum = %zero) -> (f32) {
      %next = arith.addf %sum, %v : f32
      scf.yield %next : f32
    }
    memref.store %sum, %y[%i] : memref<16xf32>
  }
  return
}"""
    x = np.arange(16, dtype=np.float32) - 8
    model = compile_model(parse_module(text), target="c-x86-64", cache=False)
    np.testing.assert_array_equal(model(x), np.where(x > 0, np.arange(16), 1) * x)
