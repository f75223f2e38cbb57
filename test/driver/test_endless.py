"""Functions that call themselves: an error where nothing ends it."""

import nnc
import numpy as np
import pytest
from nnc.driver.compile import run_stages

TWO = """
func.func @main(%x: tensor<2xf32>) -> tensor<2xf32> {
  %0 = func.call @f(%x) : (tensor<2xf32>) -> tensor<2xf32>
  return %0 : tensor<2xf32>
}
func.func private @f(%x: tensor<2xf32>) -> tensor<2xf32> {
  %0 = func.call @CALLEE(%x) : (tensor<2xf32>) -> tensor<2xf32>
  return %0 : tensor<2xf32>
}
func.func private @g(%x: tensor<2xf32>) -> tensor<2xf32> {
  %0 = nn.relu %x : (tensor<2xf32>) -> tensor<2xf32>
  return %0 : tensor<2xf32>
}
"""

DOWN = """
func.func @main(%n: i64) -> i64 {
  %zero = arith.constant 0 : i64
  %one = arith.constant 1 : i64
  %ends = arith.cmpi eq, %n, %zero : i64
  %found = scf.if %ends -> (i64) {
    scf.yield %one : i64
  } else {
    %less = arith.subi %n, %one : i64
    %below = func.call @main(%less) : (i64) -> i64
    %product = arith.muli %below, %n : i64
    scf.yield %product : i64
  }
  return %found : i64
}
"""


@pytest.mark.parametrize("callee", ["f", "main"])
def test_without_end(callee):
    with pytest.raises(nnc.NncError, match=f"'{callee}' calls itself without end"):
        nnc.compile(nnc.parse(TWO.replace("CALLEE", callee)), cache=False)


def test_calls_that_end_are_compiled():
    x = np.float32([-1, 2])
    model = nnc.compile(nnc.parse(TWO.replace("CALLEE", "g")), cache=False)
    np.testing.assert_array_equal(model(x), np.maximum(x, 0))
    run_stages(nnc.parse(DOWN), last="vectors")
