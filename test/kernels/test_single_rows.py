"""Models whose rows are counted at run time: each number of rows, with code for one row apart."""

import nnc
import numpy as np
import pytest
from nnc.dialects import func
from nnc.driver.compile import mark_entry, run_stages

MODULE = """
module attributes {{nnc.target = {{name = "{target}", machine = {{l1_bytes = 256 : i64,
    l2_bytes = 1024 : i64}}}}}} {{
func.func @main(%x: tensor<{rows}x24xf32>) -> tensor<{rows}x40xf32> {{
  %w = nn.constant dense<{w}> : tensor<24x40xf32>
  %b = nn.constant dense<{b}> : tensor<40xf32>
  %0 = nn.matmul %x, %w : (tensor<{rows}x24xf32>, tensor<24x40xf32>) -> tensor<{rows}x40xf32>
  %1 = nn.add %0, %b : (tensor<{rows}x40xf32>, tensor<40xf32>) -> tensor<{rows}x40xf32>
  %2 = nn.relu %1 : (tensor<{rows}x40xf32>) -> tensor<{rows}x40xf32>
  return %2 : tensor<{rows}x40xf32>
}}
}}
"""


def model(rows: str, w: np.ndarray, b: np.ndarray, target: str):
    text = MODULE.format(rows=rows, w=w.tolist(), b=b.tolist(), target=target)
    return nnc.parse(text)


@pytest.mark.parametrize("rows", ["?", "?x?", "3x?", "1x?", "?x1"])
def test_any_number_of_rows(rows):
    draw = np.random.default_rng(5)
    w, b = draw.standard_normal((24, 40), np.float32), draw.standard_normal(40, np.float32)
    run = nnc.compile(model(rows, w, b, "host"), cache=False)
    known = [1 if part == "?" else int(part) for part in rows.split("x")]
    for count in (1, 0, 2, 7, 1, 13):
        shape = [
            count if part == "?" else k for part, k in zip(rows.split("x"), known, strict=True)
        ]
        x = draw.standard_normal((*shape, 24), np.float32)
        expected = np.maximum(x.astype(np.float64) @ w + b, 0)
        np.testing.assert_allclose(run(x), expected, rtol=1e-5, atol=1e-5)


@pytest.mark.parametrize(
    ("rows", "are_two"), [("?", True), ("?x?", True), ("3x?", False), ("4", False)]
)
def test_code_for_one_row_is_where_it_may_be_one(rows, are_two):
    draw = np.random.default_rng(5)
    w, b = draw.standard_normal((24, 40), np.float32), draw.standard_normal(40, np.float32)
    module = model(rows, w, b, "x86-64-v3")
    mark_entry(module)
    run_stages(module, last="schedule")
    names = {op.sym_name for op in module.walk() if isinstance(op, func.FuncOp)}
    assert any(name.endswith("_row") for name in names) == are_two


def test_what_was_written_between_stages_goes_on_as_it_was():
    """A file of the stage that makes code for one row gets no more of it when it is read again."""
    draw = np.random.default_rng(5)
    w, b = draw.standard_normal((24, 40), np.float32), draw.standard_normal(40, np.float32)
    module = model("?", w, b, "x86-64-v3")
    mark_entry(module)
    run_stages(module, last="bufferize")
    again = nnc.parse(str(module))
    run_stages(again, last="bufferize")
    before, after = (
        [op.sym_name for op in one.walk() if isinstance(op, func.FuncOp)] for one in (module, again)
    )
    assert after == before
    assert any(name.endswith("_row") for name in before)
