"""Functions that call others several times."""

import nnc
import numpy as np
import pytest
from nnc.ir.diagnostics import NncError

HEAD = "func.func {kind} @{name}(%x: tensor<4xf32>) -> tensor<4xf32> {{\n"
TWICE = """  %0 = call @{next}(%x) : (tensor<4xf32>) -> tensor<4xf32>
  %1 = call @{next}(%0) : (tensor<4xf32>) -> tensor<4xf32>
  return %1 : tensor<4xf32>
}}
"""
NEGATIVE = """  %1 = nn.neg %x : (tensor<4xf32>) -> tensor<4xf32>
  return %1 : tensor<4xf32>
}}
"""


def model(path, depth):
    """A file of 2**depth negations, by functions each of which calls the next one twice."""
    text = [(HEAD + TWICE).format(kind="", name="main", next="f1")]
    text += [
        (HEAD + TWICE).format(kind="private", name=f"f{i}", next=f"f{i + 1}")
        for i in range(1, depth)
    ]
    text.append((HEAD + NEGATIVE).format(kind="private", name=f"f{depth}"))
    path.write_text("".join(text))
    return path


def test_calls_of_calls(tmp_path):
    x = np.arange(4, dtype=np.float32)
    np.testing.assert_array_equal(nnc.compile(model(tmp_path / "m.mlir", 4), cache=False)(x), x)


def test_calls_that_would_fill_memory(tmp_path):
    with pytest.raises(NncError, match="more than 1,000,000 operations"):
        nnc.compile(model(tmp_path / "m.mlir", 60), cache=False)
