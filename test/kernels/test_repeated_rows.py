"""Rows of which only the run tells whether one element is repeated: read as vectors, not gathered."""

import numpy as np
import pytest
from nnc.dialects import vector
from nnc.driver.compile import run_stages
from nnc.driver.program import compile_module
from nnc.ir.syntax.parser import parse_module

TEXT = """
func.func @main(%a: tensor<?x?x{type}>, %b: tensor<?x?x{type}>) -> tensor<?x?x{type}>
    attributes {{nn.entry, nn.input_names = ["a", "b"], nn.output_names = ["y"]}} {{
  %0 = nn.sub %a, %b : (tensor<?x?x{type}>, tensor<?x?x{type}>) -> tensor<?x?x{type}>
  func.return %0 : tensor<?x?x{type}>
}}
"""
SHAPES = [
    ((3, 37), (3, 37)),
    ((3, 1), (3, 37)),
    ((3, 37), (3, 1)),
    ((1, 1), (3, 64)),
    ((3, 64), (1, 64)),
    ((3, 1), (1, 5)),
    ((3, 1), (3, 1)),
    ((0, 1), (1, 20)),
    ((2, 0), (2, 1)),
]


DTYPES = {"f32": np.float32, "i8": np.int8, "f64": np.float64}


@pytest.mark.parametrize("type", DTYPES)
def test_results(type: str):
    executable = compile_module(run_stages(parse_module(TEXT.format(type=type))))
    rng = np.random.default_rng(1)
    for shapes in SHAPES:
        a, b = (rng.integers(-9, 9, shape).astype(DTYPES[type]) for shape in shapes)
        (found,) = executable.run({"a": a, "b": b}).values()
        np.testing.assert_array_equal(found, a - b)


def test_nothing_is_gathered_where_lanes_can_be_masked():
    module = run_stages(parse_module(TEXT.format(type="f32")), target="avx512", last="vectors")
    assert not any(isinstance(op, vector.Gather) for op in module.walk())
