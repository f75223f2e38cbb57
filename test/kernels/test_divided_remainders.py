"""Integer divisions behind what works on lanes, for extents that no vector divides."""

import numpy as np
import pytest
from nnc.driver.compile import run_stages
from nnc.driver.program import compile_module
from nnc.ir.syntax.parser import parse_module

TEXT = """
func.func @main(%a: tensor<?x1xi64>, %b: tensor<?xi64>, %n: tensor<i64>) -> tensor<?x?xi64>
    attributes {nn.entry, nn.input_names = ["a", "b", "n"], nn.output_names = ["y"]} {
  %0 = nn.mul %a, %b : (tensor<?x1xi64>, tensor<?xi64>) -> tensor<?x?xi64>
  %1 = nn.mod %0, %n : (tensor<?x?xi64>, tensor<i64>) -> tensor<?x?xi64>
  func.return %1 : tensor<?x?xi64>
}
"""


@pytest.mark.sampled(3)
@pytest.mark.parametrize("columns", [1, 9, 61])
def test_remainders_of_unknown_extents(columns: int) -> None:
    rows, row = np.arange(17).reshape(17, 1), np.arange(columns)
    executable = compile_module(run_stages(parse_module(TEXT)))
    (found,) = executable.run({"a": rows, "b": row, "n": np.array(16)}).values()
    np.testing.assert_array_equal(found, rows * row % 16)
