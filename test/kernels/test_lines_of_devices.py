"""How much of the lines that threads of a device ask for together they need."""

from __future__ import annotations

import numpy as np
import pytest
from nnc.ir.syntax.parser import parse_module
from nnc.kernels.codegen.shares.alignment import aligned_width, divisor
from nnc.kernels.codegen.shares.layouts import Layout, balanced, in_rows
from nnc.kernels.policy.coalescing import waste

from bench.quality import Counts, quality_of

LINE = 8
"""Elements that memory moves at once."""


def lines(layout: Layout, shape: tuple[int, ...], threads: int) -> tuple[int, int]:
    """(lines that all accesses touch, lines that their elements fill) of a vector as a whole buffer.

    Each thread's runs along the last dimension are one access.
    """
    taken = needed = 0
    for piece in layout.pieces():
        found: list[list[int]] = []
        for t in range(threads):
            at = [
                t // a.stride % a.threads * a.run + a.place(i)
                for a, i in zip(layout.dims, piece, strict=True)
            ]
            run = layout.runs[-1]
            if all(i < n for i, n in zip(at, shape, strict=True)):
                first = int(np.ravel_multi_index(at, shape))
                found.append(list(range(first, first + run)))
        elements = {e for one in found for e in one}
        taken += len({e // LINE for e in elements})
        needed += -(-len(elements) // LINE)
    return taken, needed


@pytest.mark.parametrize("shape", [(32, 7), (16, 3, 3), (64, 14), (8, 4, 5)], ids=str)
def test_short_rows_go_on_with_the_next_threads(shape):
    """At most one line more for each access, by counting."""
    layout = in_rows(shape, 32, list(reversed(range(len(shape)))), 1, LINE)
    taken, needed = lines(layout, shape, 32)
    assert needed <= taken <= needed + len(list(layout.pieces()))


@pytest.mark.parametrize("columns", [28, 48, 64, 56])
def test_products_fill_lines(columns):
    layout = balanced((32, columns), 128, 4, LINE)
    last = layout.dims[-1]
    assert last.threads * last.run >= LINE


ALIGNED = """
func.func @f(%a: memref<8x64xf32>, %b: memref<8x58xf32>, %c: memref<?x?xf32>, %i: index) {{
  %c0 = arith.constant 0 : index
  %c6 = arith.constant 6 : index
  %c4 = arith.constant 4 : index
  %c64 = arith.constant 64 : index
  %p = arith.constant 0.0 : f32
  %t = arith.muli %i, %c4 : index
  scf.for %k = %c0 to %c64 step %c6 {{
    %v = vector.transfer_read {} : memref<{}xf32>, vector<{}xf32>
  }}
  return
}}"""


@pytest.mark.parametrize(
    ("read", "memref", "vector", "width"),
    [
        ("%a[%i, %t], %p", "8x64", "4", 4),
        ("%a[%i, %k], %p", "8x64", "4", 2),
        ("%a[%i, %i], %p", "8x64", "4", 1),
        ("%b[%c0, %t], %p", "8x58", "4", 4),
        ("%b[%i, %t], %p", "8x58", "4", 2),
        ("%b[%c0, %t], %p", "8x58", "2x4", 2),
        ("%c[%c0, %t], %p", "?x?", "4", 1),
    ],
)
def test_runs_are_aligned(read, memref, vector, width):
    """By hand: 4 elements where rows of 64 begin; of rows of 58, each begins at an even number."""
    module = parse_module(ALIGNED.format(read, memref, vector))
    (op,) = (op for op in module.walk() if op.name == "vector.transfer_read")
    assert aligned_width(op, 4, len(vector.split("x")) - 1) == width  # type: ignore[arg-type]
    for index in op.operands[1:3]:
        assert divisor(index) >= 0


@pytest.mark.parametrize("bytes", [16, 28, 32, 100])
@pytest.mark.parametrize("aligned", [4, 16, 32])
def test_waste_is_the_mean_over_where_rows_begin(bytes, aligned):
    starts = range(0, 32, aligned)
    touched = [(at + bytes - 1) // 32 + 1 for at in starts]
    if bytes % aligned == 0:
        expected = max(1.0, sum(touched) / len(touched) / -(-bytes // 32))
        assert waste(bytes, 1, aligned, 32) == pytest.approx(expected)


CONVOLUTION = """
func.func @main(%x: tensor<1x32x14x14xf32>, %w: tensor<32x32x3x3xf32>) -> tensor<1x32x14x14xf32> {
  %y = nn.conv %x, %w {pads = array<i64: 1, 1, 1, 1>}
      : (tensor<1x32x14x14xf32>, tensor<32x32x3x3xf32>) -> tensor<1x32x14x14xf32>
  func.return %y : tensor<1x32x14x14xf32>
}"""
SOFTMAX = """
func.func @main(%x: tensor<12x128x128xf32>) -> tensor<12x128x128xf32> {
  %y = nn.softmax %x {axis = 2 : i64} : (tensor<12x128x128xf32>) -> tensor<12x128x128xf32>
  func.return %y : tensor<12x128x128xf32>
}"""

POOL = """
func.func @main(%x: tensor<1x32x113x113xf32>) -> tensor<1x32x56x56xf32> {
  %y = nn.max_pool %x {kernel = array<i64: 3, 3>, strides = array<i64: 2, 2>}
      : (tensor<1x32x113x113xf32>) -> tensor<1x32x56x56xf32>
  func.return %y : tensor<1x32x56x56xf32>
}"""

PLANES = """
func.func @main(%x: tensor<1x240x28x28xf32>, %s: tensor<1x240x1x1xf32>) -> tensor<1x240x28x28xf32> {
  %y = nn.mul %x, %s : (tensor<1x240x28x28xf32>, tensor<1x240x1x1xf32>) -> tensor<1x240x28x28xf32>
  func.return %y : tensor<1x240x28x28xf32>
}"""

PIXELS = """
func.func @main(%x: tensor<1x320x9x9xf32>, %w: tensor<320x320x1x1xf32>, %v: tensor<160x320x1x1xf32>)
    -> tensor<1x160x9x9xf32> {
  %a = nn.conv %x, %w : (tensor<1x320x9x9xf32>, tensor<320x320x1x1xf32>) -> tensor<1x320x9x9xf32>
  %r = nn.relu %a : (tensor<1x320x9x9xf32>) -> tensor<1x320x9x9xf32>
  %b = nn.conv %r, %w : (tensor<1x320x9x9xf32>, tensor<320x320x1x1xf32>) -> tensor<1x320x9x9xf32>
  %c = nn.conv %b, %v : (tensor<1x320x9x9xf32>, tensor<160x320x1x1xf32>) -> tensor<1x160x9x9xf32>
  func.return %c : tensor<1x160x9x9xf32>
}"""

DEPTHWISE = """
func.func @main(%x: tensor<1x96xIMAGExf32>, %w: tensor<96x1x3x3xf32>) -> tensor<1x96xIMAGExf32> {
  %y = nn.conv %x, %w {groups = 96 : i64, pads = array<i64: 1, 1, 1, 1>}
      : (tensor<1x96xIMAGExf32>, tensor<96x1x3x3xf32>) -> tensor<1x96xIMAGExf32>
  func.return %y : tensor<1x96xIMAGExf32>
}"""

MEAN = """
func.func @main(%x: tensor<1x2048x8x8xf32>) -> tensor<1x2048xf32> {
  %y = nn.reduce_mean %x {axes = array<i64: 2, 3>, keepdims = false}
      : (tensor<1x2048x8x8xf32>) -> tensor<1x2048xf32>
  func.return %y : tensor<1x2048xf32>
}"""

TRANSPOSED = """
func.func @main(%x: tensor<1x196x160xf32>) -> tensor<1x160x196xf32> {
  %y = nn.transpose %x {permutation = array<i64: 0, 2, 1>}
      : (tensor<1x196x160xf32>) -> tensor<1x160x196xf32>
  func.return %y : tensor<1x160x196xf32>
}"""

SHORT_ROWS = """
func.func @main(%x: tensor<1x3136x32xf32>, %a: tensor<32xf32>) -> tensor<1x3136x32xf32> {
  %y = nn.layer_norm %x, %a, %a {axis = 2 : i64}
      : (tensor<1x3136x32xf32>, tensor<32xf32>, tensor<32xf32>) -> tensor<1x3136x32xf32>
  func.return %y : tensor<1x3136x32xf32>
}"""

WINDOWS = """
func.func @main(%x: tensor<1x48x35x35xf32>, %w: tensor<64x48x5x5xf32>) -> tensor<1x64x31x31xf32> {
  %y = nn.conv %x, %w
      : (tensor<1x48x35x35xf32>, tensor<64x48x5x5xf32>) -> tensor<1x64x31x31xf32>
  func.return %y : tensor<1x64x31x31xf32>
}"""


def counts_of(text, folder):
    path, total = folder / "model.mlir", Counts()
    path.write_text(text)
    for counts in quality_of(path, "cuda").launches.values():
        total.add(counts)
    assert not total.unknown
    return total


@pytest.mark.parametrize(
    ("text", "least"),
    [
        *((CONVOLUTION, 0.8), (SOFTMAX, 0.95), (POOL, 0.8), (PLANES, 0.95), (MEAN, 0.95)),
        *((TRANSPOSED, 0.9), (SHORT_ROWS, 0.95), (WINDOWS, 0.85)),
    ],
    ids=[
        *("convolution", "softmax", "pool", "planes", "mean"),
        *("transposed", "short-rows", "windows"),
    ],
)
def test_lines_are_needed(text, least, tmp_path):
    """Where only bytes count: a quarter of a convolution's lines, a sixteenth of a softmax's, less
    than half of a pool's; of planes that are scaled 40 % where threads take the channels first; an
    eighth of short rows that are summed or normalized, where each thread has a row; half of what is
    transposed without a buffer, and of a window's weights where each of its rows is one of a copy.
    """
    total = counts_of(text, tmp_path)
    assert total.lines_needed / total.lines >= least


def test_images_between_kernels_begin_with_a_line(tmp_path):
    """Products of 9 x 9 pixels: the first reads images of the caller, which begin anywhere."""
    path = tmp_path / "model.mlir"
    path.write_text(PIXELS)
    found = {name.rpartition("@")[2]: c for name, c in quality_of(path, "cuda").launches.items()}
    caller, between = found["conv_relu_0_0"], found["conv_0_0"]
    assert caller.lines_needed == between.lines_needed < 0.9 * caller.lines
    assert between.lines_needed / between.lines >= 0.99


@pytest.mark.parametrize("image", ["30x30", "62x62"])
def test_rows_under_views_are_in_other_banks(image, tmp_path):
    """Rows of 32 and 64 elements, which share their banks, are longer though windows are views."""
    total = counts_of(DEPTHWISE.replace("IMAGE", image), tmp_path)
    assert total.turns / total.turns_needed < 1.1


def test_products_that_leave_cores_idle_are_counted(tmp_path):
    """A product of two rows and few columns has groups for some cores, a large one for all."""
    few = counts_of(_PRODUCT.format(m=2, k=16, n=16), tmp_path)
    assert 0 < few.groups < few.places == 68 and few.idle == 1
    many = counts_of(_PRODUCT.format(m=1024, k=256, n=1024), tmp_path)
    assert many.groups > 0.8 * many.places and not many.idle


_PRODUCT = """
func.func @main(%x: tensor<{m}x{k}xf32>, %w: tensor<{k}x{n}xf32>) -> tensor<{m}x{n}xf32> {{
  %y = nn.matmul %x, %w : (tensor<{m}x{k}xf32>, tensor<{k}x{n}xf32>) -> tensor<{m}x{n}xf32>
  func.return %y : tensor<{m}x{n}xf32>
}}"""
