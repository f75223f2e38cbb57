"""What is proven of addresses in vectors that a kernel multiplies by open extents.

The oracle is the interpreter: with a fault in a kernel, it goes wrong for the extents it is run with.
"""

import pytest
from nnc.kernels.proof.expressions import parts_of

from .test_proven_views import goes_wrong, proven

pytest.importorskip("islpy")

SHAPES = [(1, 1), (1, 4), (3, 5), (2, 13), (9, 2)]

ROWS = """
module attributes {gpu.container_module} {
  gpu.module @kernels {
    gpu.func @rows(%a: memref<?x?xf32>, %b: memref<?x?xf32>, %n: index, %w: index) kernel {
      %c0 = arith.constant 0 : index
      %c1 = arith.constant 1 : index
      %c8 = arith.constant 8 : index
      %none = arith.constant dense<0.0> : vector<8xf32>
      %size = arith.muli %w, %n : index
      %row = memref.reinterpret_cast %a to offset: [0], sizes: [%size], strides: [1] : memref<?x?xf32> to memref<?xf32>
      %x = gpu.block_id x
      %y = gpu.block_id y
      %first = arith.muli %x, %c8 : index
      %left = arith.subi %w, %first : index
      %start = arith.muli %y, %w : index
      %starts = vector.broadcast %start : index to vector<8xindex>
      %firsts = vector.broadcast %first : index to vector<8xindex>
      %lanes = vector.step : vector<8xindex>
      %columns = arith.addi %firsts, %lanes : vector<8xindex>
      %at = arith.addi %starts, %columns : vector<8xindex>
      %mask = vector.create_mask %left : vector<8xi1>
      %v = vector.gather %row[%c0] [%at], %mask, %none : memref<?xf32>, vector<8xindex>, vector<8xi1>, vector<8xf32> into vector<8xf32>
      vector.transfer_write %v, %b[%y, %first] : vector<8xf32>, memref<?x?xf32>
      gpu.return
    }
  }
  func.func @main(%a: memref<?x?xf32>) -> memref<?x?xf32> {
    %c0 = arith.constant 0 : index
    %c1 = arith.constant 1 : index
    %c8 = arith.constant 8 : index
    %n = memref.dim %a, %c0 : memref<?x?xf32>
    %w = memref.dim %a, %c1 : memref<?x?xf32>
    %b = memref.alloc(%n, %w) : memref<?x?xf32>
    %groups = arith.ceildivui %w, %c8 : index
    gpu.launch_func @kernels::@rows blocks in (%groups, %n, %c1) threads in (%c1, %c1, %c1)
        args(%a : memref<?x?xf32>, %b : memref<?x?xf32>, %n : index, %w : index)
    return %b : memref<?x?xf32>
  }
}"""

CHOSEN = """%first = arith.muli %x, %c8 : index
      %value = vector.load %a[%c0, %c0] : memref<?x?xf32>, vector<1xf32>
      %one = arith.fptosi %value : vector<1xf32> to vector<1xi64>
      %which = arith.index_cast %one : vector<1xi64> to vector<1xindex>
      %zeros = arith.constant dense<0> : vector<1xindex>
      %end = vector.broadcast %n : index to vector<1xindex>
      %is = arith.cmpi ult, %which, %end : vector<1xindex>
      %chosen = arith.select %is, %which, %zeros : vector<1xi1>, vector<1xindex>
      %wide = vector.broadcast %w : index to vector<1xindex>
      %begin = arith.muli %chosen, %wide : vector<1xindex>"""
VALUES = ROWS.replace("%first = arith.muli %x, %c8 : index", CHOSEN).replace(
    "broadcast %start : index", "broadcast %begin : vector<1xindex>"
)
"""The row is that of a value from memory, or row 0 where there is no such row."""


@pytest.mark.parametrize("text", [ROWS, VALUES], ids=["of groups", "of values"])
def test_rows_of_unknown_length(text):
    assert not any(goes_wrong(text, shape) for shape in SHAPES)
    assert proven(text) == (1, 1, [])


FAULTS = {
    "the distance of columns": (ROWS, "muli %y, %w", "muli %y, %n"),
    "a row too far": (ROWS, "%start = arith.muli %y, %w", "%z = arith.addi %y, %c1 : index\n%start = arith.muli %z, %w"),
    "an element too far": (ROWS, "addi %starts, %columns", "addi %starts, %later"),
    "lanes beyond the row": (ROWS, "%left = arith.subi %w, %first", "%left = arith.addi %w, %first"),
    "a shorter view": (ROWS, "%size = arith.muli %w, %n", "%size = arith.addi %w, %n"),
    "a view that starts later": (ROWS, "offset: [0]", "offset: [1]"),
    "a value that is not checked": (VALUES, "select %is, %which, %zeros", "select %is, %which, %which"),
    "a value below the columns": (VALUES, "%end = vector.broadcast %n", "%end = vector.broadcast %w"),
    "the last row but one": (VALUES, "cmpi ult", "cmpi ule"),
    "negative values": (VALUES, "cmpi ult", "cmpi slt"),
}  # fmt: skip
LATER = """%ones = arith.constant dense<1> : vector<8xindex>
      %later = arith.addi %columns, %ones : vector<8xindex>
      %mask ="""


@pytest.mark.parametrize("name", FAULTS)
def test_a_fault_is_never_proven(name):
    text, right, wrong = FAULTS[name]
    assert right in text
    text = text.replace(right, wrong).replace("%mask =", LATER)
    if name != "negative values":  # Those that the interpreter is run with are ones.
        assert any(goes_wrong(text, shape) for shape in SHAPES)
    launches, _, said = proven(text)
    assert launches == 0
    assert said


def test_terms_of_sums():
    assert list(parts_of("(4*((v1 + 2*(b0) - 3)) + v2 + 5)")) == [
        *((5, "1"), (-12, "1"), (4, "v1"), (8, "b0"), (1, "v2")),
    ]
    assert list(parts_of("0")) == []
    assert list(parts_of("floor((v1 + 3)/4)")) == [(1, "floor((v1 + 3)/4)")]
    assert list(parts_of("((v1 + 2) mod 8)")) == [(1, "((v1 + 2) mod 8)")]
