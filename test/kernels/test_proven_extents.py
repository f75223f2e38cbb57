"""What proofs suppose of open extents: nothing but what the host says, and no fault without them."""

from __future__ import annotations

import pytest
from nnc.ir.diagnostics import NncError
from nnc.ir.passes import PassContext
from nnc.ir.syntax.parser import parse_module
from nnc.kernels.proof.prove_kernels import ProveKernels

pytest.importorskip("islpy")

COPY = """
module attributes {{gpu.container_module}} {{
  gpu.module @kernels {{
    gpu.func @copy(%a: memref<?x4xf32>, %b: memref<?x?xf32>) kernel {{
      %r = gpu.block_id x
      %c = gpu.block_id y
      %x = memref.load %b[{at}] : memref<?x?xf32>
      memref.store %x, %a[%r, %c] : memref<?x4xf32>
      gpu.return
    }}
  }}
  func.func @main(%a: memref<?x4xf32>, %b: memref<?x?xf32>) {{
    %c0 = arith.constant 0 : index
    %c1 = arith.constant 1 : index
    %c4 = arith.constant 4 : index
    %rows = memref.dim %a, %c0 : memref<?x4xf32>
    %m = memref.dim %b, %c0 : memref<?x?xf32>
    %n = memref.dim %b, %c1 : memref<?x?xf32>
    {checks}
    gpu.launch_func @kernels::@copy blocks in ({blocks}, %c4, %c1) threads in (%c1, %c1, %c1)
        args(%a : memref<?x4xf32>, %b : memref<?x?xf32>)
    {after}
    return
  }}
}}"""
COLUMNS = '%wide = arith.cmpi eq, %n, %c4 : index\ncf.assert %wide, "four columns"\n'
ROWS = '%long = arith.cmpi {}, %m, %rows : index\ncf.assert %long, "as many rows"\n'


def prove(checks="", blocks="%rows", at="%r, %c", after=""):
    """Which launches are proven, and what is said of those that are not."""
    context = PassContext()
    text = COPY.format(checks=checks, blocks=blocks, at=at, after=after)
    ProveKernels().run(parse_module(text), context)
    return context.statistics[""].get("proven", 0), [d.message for d in context.diagnostics]


@pytest.mark.parametrize("relation", ["eq", "sge"])
def test_what_the_host_checks_is_known(relation):
    assert prove(COLUMNS + ROWS.format(relation)) == (1, [])


def test_extents_that_may_be_equal_are_no_fault():
    for checks, after in ((COLUMNS, ""), (COLUMNS, ROWS.format("eq"))):
        proven, (said,) = prove(checks, after=after)
        assert not proven
        assert "only if open extents of two arguments are equal" in said


@pytest.mark.parametrize(
    ("word", "proven"),
    [
        ("arith.cmpi eq, %long, %always", 1),
        ("arith.cmpi ne, %long, %never", 1),
        ("arith.select %long, %always, %never", 1),
        ("arith.cmpi ne, %long, %always", 0),
        ("arith.select %long, %never, %always", 0),
        ("arith.cmpi eq, %long, %other", 0),
    ],
)
def test_conditions_of_truth_values(word, proven):
    """What the host checks may compare and choose among truth values."""
    checks = (
        ROWS.format("eq").partition("cf.assert")[0]
        + f"""
    %other = arith.cmpi sgt, %m, %c4 : index
    %always = arith.cmpi eq, %c4, %c4 : index
    %never = arith.cmpi eq, %c0, %c1 : index
    %holds = {word} : i1
    cf.assert %holds, "as many rows"
    """
    )
    assert prove(COLUMNS + checks)[0] == proven


def test_all_of_a_result_is_written_if_extents_are_equal():
    """As many groups as the operand has rows: the store may be outside, and rows be left."""
    proven, said = prove(COLUMNS, blocks="%m")
    assert not proven and len(said) == 2
    assert all("open extents of two arguments are equal" in message for message in said)
    assert prove(COLUMNS + ROWS.format("eq"), blocks="%m") == (1, [])


@pytest.mark.parametrize(
    ("checks", "changed", "fault"),
    [
        ("", {}, "outside of its buffer"),  # Fewer than four columns.
        (COLUMNS + ROWS.format("sle"), {"blocks": "%more"}, "outside of its buffer"),
        (COLUMNS + ROWS.format("eq"), {"blocks": "%less"}, "written by no launch"),
        (COLUMNS + ROWS.format("eq"), {"at": "%c, %r"}, "outside of its buffer"),
        (COLUMNS, {"blocks": "%less"}, "written by no launch"),
    ],
)
def test_what_no_equal_extents_would_mend(checks, changed, fault):
    checks += "%more = arith.addi %rows, %c1 : index\n%less = arith.subi %rows, %c1 : index\n"
    with pytest.raises(NncError, match=fault):
        prove(checks, **changed)


CHOSEN = """
module attributes {{gpu.container_module}} {{
  gpu.module @kernels {{
    gpu.func @fill(%r: index, %w: index, %b: memref<?x?xf32>, %x: f32) kernel {{
      %all = arith.muli %r, %w : index
      %flat = memref.reinterpret_cast %b to offset: [0], sizes: [%all], strides: [1]
          : memref<?x?xf32> to memref<?xf32>
      %at = gpu.block_id x
      memref.store %x, %flat[%at] : memref<?xf32>
      gpu.return
    }}
  }}
  func.func @main(%a: memref<?x?xf32>, %x: f32) {{
    %c0 = arith.constant 0 : index
    %c1 = arith.constant 1 : index
    %c4 = arith.constant 4 : index
    %rows = memref.dim %a, %c0 : memref<?x?xf32>
    %m = memref.dim %a, %c1 : memref<?x?xf32>
    %one = arith.cmpi eq, %m, %c1 : index
    %wide = arith.select %one, %c4, %m : index
    %b = memref.alloc(%rows, %wide) : memref<?x?xf32>
    %groups = arith.muli %rows, %wide : index
    gpu.launch_func @kernels::@fill blocks in ({blocks}, %c1, %c1) threads in (%c1, %c1, %c1)
        args(%rows : index, %wide : index, %b : memref<?x?xf32>, %x : f32)
    return
  }}
}}"""


@pytest.mark.parametrize(("blocks", "proven"), [("%groups", 1), ("%rows", 0)])
def test_products_of_what_the_host_chooses(blocks, proven):
    """As rows that are one or as many: neither a fault that is none, nor a proof too much."""
    context = PassContext()
    ProveKernels().run(parse_module(CHOSEN.format(blocks=blocks)), context)
    assert context.statistics[""].get("proven", 0) == proven
    assert any("memref.store" in d.message for d in context.diagnostics) != proven
