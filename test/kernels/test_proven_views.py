"""What is proven of views whose strides are products of open extents, and of groups numbered by them.

The oracle is the interpreter: with a fault in a kernel, it goes wrong for the extents it is run with.
"""

from __future__ import annotations

import re

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from nnc.dialects import gpu
from nnc.driver.compile import load_module, run_stages
from nnc.ir.diagnostics import NncError
from nnc.ir.passes import PassContext, PassManager
from nnc.ir.syntax.parser import parse_module
from nnc.kernels.proof.polynomials import Polynomial
from nnc.kernels.proof.prove_kernels import ProveKernels
from nnc.lowering.pipelines import GRAPH_STAGES, pipeline
from nnc.numerics.checking.running import Runner
from nnc.numerics.checking.subjects import Subject
from nnc.numerics.options import NumericsOptions

from ..targets.small_networks import squeezenet
from .test_prove_planted_faults import are_unset

pytest.importorskip("islpy")

SHAPES = [(2, 3, 5, 13), (1, 3, 1, 1), (3, 3, 8, 8)]


def proven(text):
    """The number of launches and of whole buffers that are proven, and what is said of others."""
    context = PassContext()
    ProveKernels().run(parse_module(text), context)
    counts = context.statistics[""]
    said = [one.message for one in context.diagnostics]
    return counts.get("proven", 0), counts.get("whole", 0), said


def goes_wrong(text, shape):
    """Whether a run says so, or leaves a part of the result."""
    module = parse_module(text)
    subject = Subject("main", module.body_block.last.function_type)
    outcome = Runner(module, NumericsOptions()).interpret(subject, [np.ones(shape, np.float32)])
    return outcome.error is not None or are_unset(outcome.values)


def check_fault(text):
    """It is said that something is wrong, or not proven; and something is wrong."""
    assert any(goes_wrong(text, shape) for shape in SHAPES)
    try:
        launches, whole, said = proven(text)
    except NncError as error:
        return error.message
    assert said and (launches, whole) != (1, 1)
    return said[0]


# -- rows of images as one dimension ---------------------------------------------------------------

MERGED = """
module attributes {gpu.container_module} {
  gpu.module @kernels {
    gpu.func @copy(%a: memref<?x3x?x?xf32>, %b: memref<?x3x?x?xf32>, %n: index, %h: index, %w: index) kernel {
      %c0 = arith.constant 0 : index
      %c3 = arith.constant 3 : index
      %c32 = arith.constant 32 : index
      %wide = arith.muli %w, %h : index
      %image = arith.muli %wide, %c3 : index
      %from = memref.reinterpret_cast %a to offset: [0], sizes: [%n, 3, %wide], strides: [%image, %wide, 1] : memref<?x3x?x?xf32> to memref<?x3x?xf32, strided<[?, ?, 1]>>
      %to = memref.reinterpret_cast %b to offset: [0], sizes: [%n, 3, %wide], strides: [%image, %wide, 1] : memref<?x3x?x?xf32> to memref<?x3x?xf32, strided<[?, ?, 1]>>
      %x = gpu.block_id x
      %y = gpu.block_id y
      %z = gpu.block_id z
      %t = gpu.thread_id x
      %first = arith.muli %x, %c32 : index
      %p = arith.addi %first, %t : index
      %inside = arith.cmpi ult, %p, %wide : index
      scf.if %inside {
        %v = memref.load %from[%z, %y, %p] : memref<?x3x?xf32, strided<[?, ?, 1]>>
        memref.store %v, %to[%z, %y, %p] : memref<?x3x?xf32, strided<[?, ?, 1]>>
      }
      gpu.return
    }
  }
  func.func @main(%a: memref<?x3x?x?xf32>) -> memref<?x3x?x?xf32> {
    %c0 = arith.constant 0 : index
    %c1 = arith.constant 1 : index
    %c2 = arith.constant 2 : index
    %c3 = arith.constant 3 : index
    %c32 = arith.constant 32 : index
    %n = memref.dim %a, %c0 : memref<?x3x?x?xf32>
    %h = memref.dim %a, %c2 : memref<?x3x?x?xf32>
    %w = memref.dim %a, %c3 : memref<?x3x?x?xf32>
    %b = memref.alloc(%n, %h, %w) : memref<?x3x?x?xf32>
    %all = arith.muli %h, %w : index
    %groups = arith.ceildivui %all, %c32 : index
    gpu.launch_func @kernels::@copy blocks in (%groups, %c3, %n) threads in (%c32, %c1, %c1)
        args(%a : memref<?x3x?x?xf32>, %b : memref<?x3x?x?xf32>, %n : index, %h : index, %w : index)
    return %b : memref<?x3x?x?xf32>
  }
}"""


def test_rows_as_one_dimension():
    assert not any(goes_wrong(MERGED, shape) for shape in SHAPES)
    assert proven(MERGED) == (1, 1, [])


@pytest.mark.parametrize(
    ("right", "wrong", "said"),
    [
        ("ult, %p, %wide", "uge, %p, %c0", "outside of its buffer"),
        ("arith.ceildivui", "arith.divui", "written by no launch"),
        ("%to[%z, %y, %p]", "%to[%z, %y, %first]", "between the same barriers"),
        ("%to[%z, %y, %p]", "%to[%z, %c0, %p]", "in one launch"),
        ("%to[%z, %y, %p]", "%to[%y, %z, %p]", "outside of its buffer"),
        ("%b to offset: [0]", "%b to offset: [1]", ""),
        ("[%image, %wide, 1] : memref<?x3x?x?xf32> to", "[%image, %h, 1] : memref<?x3x?x?xf32> to", ""),
        ("blocks in (%groups, %c3", "blocks in (%groups, %c2", "written by no launch"),
    ],
)  # fmt: skip
def test_what_is_wrong_with_it(right, wrong, said):
    head, _, tail = MERGED.rpartition(right)
    assert said in check_fault(head + wrong + tail)


# -- parts of a buffer in different shapes ---------------------------------------------------------

PIECES = """
module attributes {{gpu.container_module}} {{
  gpu.module @kernels {{
    gpu.func @edge(%b: memref<?x3x?x?xf32>, %n: index, %h: index, %w: index) kernel {{
      %c0 = arith.constant 0 : index
      %c3 = arith.constant 3 : index
      %v = arith.constant 1.0 : f32
      %images = arith.muli %n, %c3 : index
      %rows = arith.muli %images, %h : index
      %to = memref.reinterpret_cast %b to offset: [0], sizes: [%rows, 1], strides: [%w, 1] : memref<?x3x?x?xf32> to memref<?x1xf32, strided<[?, 1]>>
      %x = gpu.block_id x
      memref.store %v, %to[%x, %c0] : memref<?x1xf32, strided<[?, 1]>>
      gpu.return
    }}
    gpu.func @rest(%b: memref<?x3x?x?xf32>, %n: index, %h: index, %w: index, %less: index) kernel {{
      %c3 = arith.constant 3 : index
      %v = arith.constant 2.0 : f32
      %images = arith.muli %n, %c3 : index
      %wide = arith.muli %h, %w : index
      %to = memref.reinterpret_cast %b to offset: [1], sizes: [%less, %h, %images], strides: [1, %w, %wide] : memref<?x3x?x?xf32> to memref<?x?x?xf32, strided<[1, ?, ?], offset: 1>>
      %x = gpu.block_id x
      %y = gpu.block_id y
      %z = gpu.block_id z
      memref.store %v, %to[%x, %y, %z] : memref<?x?x?xf32, strided<[1, ?, ?], offset: 1>>
      gpu.return
    }}
  }}
  func.func @main(%a: memref<?x3x?x?xf32>) -> memref<?x3x?x?xf32> {{
    %c0 = arith.constant 0 : index
    %c1 = arith.constant 1 : index
    %c2 = arith.constant 2 : index
    %c3 = arith.constant 3 : index
    %n = memref.dim %a, %c0 : memref<?x3x?x?xf32>
    %h = memref.dim %a, %c2 : memref<?x3x?x?xf32>
    %less = memref.dim %a, %c3 : memref<?x3x?x?xf32>
    %w = arith.addi %less, %c1 : index
    %b = memref.alloc(%n, %h, %w) : memref<?x3x?x?xf32>
    %images = arith.muli %n, %c3 : index
    %rows = arith.muli %images, %h : index
    gpu.launch_func @kernels::@edge blocks in ({rows}, %c1, %c1) threads in (%c1, %c1, %c1)
        args(%b : memref<?x3x?x?xf32>, %n : index, %h : index, %w : index)
    gpu.launch_func @kernels::@rest blocks in (%less, {height}, %images) threads in (%c1, %c1, %c1)
        args(%b : memref<?x3x?x?xf32>, %n : index, %h : index, %w : index, %less : index)
    return %b : memref<?x3x?x?xf32>
  }}
}}"""


def test_parts_in_different_shapes_are_a_whole():
    """The first column of all images' rows as one, and the others of each image."""
    text = PIECES.format(rows="%rows", height="%h")
    assert not any(goes_wrong(text, shape) for shape in SHAPES)
    assert proven(text) == (2, 1, [])


@pytest.mark.parametrize(("rows", "height"), [("%images", "%h"), ("%rows", "%c1")])
def test_parts_in_different_shapes_that_leave_some(rows, height):
    check_fault(PIECES.format(rows=rows, height=height))


# -- groups that are numbered by an open extent ----------------------------------------------------

NUMBERED = """
module attributes {gpu.container_module} {
  gpu.module @kernels {
    gpu.func @copy(%a: memref<?x3x?x?xf32>, %b: memref<?x?xf32>, %h: index, %w: index) kernel {
      %c0 = arith.constant 0 : index
      %c4 = arith.constant 4 : index
      %tiles = arith.ceildivui %w, %c4 : index
      %x = gpu.block_id x
      %t = gpu.thread_id x
      %tile = arith.remui %x, %tiles : index
      %row = arith.divui %x, %tiles : index
      %first = arith.muli %tile, %c4 : index
      %p = arith.addi %first, %t : index
      %inside = arith.cmpi ult, %p, %w : index
      scf.if %inside {
        %v = memref.load %a[%c0, %c0, %row, %p] : memref<?x3x?x?xf32>
        memref.store %v, %b[%row, %p] : memref<?x?xf32>
      }
      gpu.return
    }
  }
  func.func @main(%a: memref<?x3x?x?xf32>) -> memref<?x?xf32> {
    %c0 = arith.constant 0 : index
    %c1 = arith.constant 1 : index
    %c2 = arith.constant 2 : index
    %c3 = arith.constant 3 : index
    %c4 = arith.constant 4 : index
    %n = memref.dim %a, %c0 : memref<?x3x?x?xf32>
    %some = arith.cmpi sge, %n, %c1 : index
    cf.assert %some, "an image"
    %h = memref.dim %a, %c2 : memref<?x3x?x?xf32>
    %w = memref.dim %a, %c3 : memref<?x3x?x?xf32>
    %b = memref.alloc(%h, %w) : memref<?x?xf32>
    %tiles = arith.ceildivui %w, %c4 : index
    %groups = arith.muli %tiles, %h : index
    gpu.launch_func @kernels::@copy blocks in (%groups, %c1, %c1) threads in (%c4, %c1, %c1)
        args(%a : memref<?x3x?x?xf32>, %b : memref<?x?xf32>, %h : index, %w : index)
    return %b : memref<?x?xf32>
  }
}"""


def test_groups_numbered_by_an_open_extent():
    assert not any(goes_wrong(NUMBERED, shape) for shape in SHAPES)
    assert proven(NUMBERED) == (1, 1, [])


@pytest.mark.parametrize(
    ("right", "wrong", "said"),
    [
        ("%b[%row, %p]", "%b[%c0, %p]", r"in thread \(\d, 0, 0\) of group \(\d+, 0, 0\), which thread"),
        ("ult, %p, %w", "uge, %p, %c0", "outside of its buffer"),
        ("arith.remui %x, %tiles", "arith.remui %x, %w", ""),
        ("%first, %t", "%x, %t", ""),  # The number itself.
        ("arith.muli %tiles, %h", "arith.muli %w, %h", ""),
    ],
)  # fmt: skip
def test_what_is_wrong_with_numbered_groups(right, wrong, said):
    message = check_fault(NUMBERED.replace(right, wrong))
    assert re.search(said, message), message


# -- a network -------------------------------------------------------------------------------------


@pytest.mark.thorough
def test_a_network_of_open_images():
    """All is proven, also where a mean needs the number of its elements."""
    model = squeezenet()
    for extent, name in zip(model.graph.input[0].type.tensor_type.shape.dim, "n_hw", strict=True):
        if name != "_":
            extent.dim_param = name
    found = []

    def deal(stage, module):
        if stage == GRAPH_STAGES[-1].name:
            own = module.clone()
            PassManager(pipeline("apply-schedules,canonicalize,outline-launches")).run(own)
            found.append(str(own))

    run_stages(load_module(model), target="opencl", after_stage=deal)
    launches, _, said = proven(found[0])
    assert launches == found[0].count("gpu.launch_func") > 30
    assert not said


# -- distances -----------------------------------------------------------------------------------


def some_polynomial(rng):
    """Up to four terms of up to three factors."""
    names = st.lists(st.sampled_from("hwn"), max_size=3).map(lambda found: tuple(sorted(found)))
    return Polynomial.of(rng.draw(st.dictionaries(names, st.integers(-9, 9), max_size=4)))


@given(st.data())
def test_quotients_and_remainders(data):
    """A divisor's multiple and what is left are the whole."""
    whole, by = some_polynomial(data), some_polynomial(data)
    if by.terms and by.leading[1] > 0:
        quotient, rest = whole.divided(by)
        assert quotient * by + rest == whole


@pytest.mark.parametrize(
    ("whole", "by", "quotient"),
    [
        ({("h", "w"): 1, ("w",): -1}, {("w",): 1}, {("h",): 1, (): -1}),  # The last row.
        ({("h", "w"): 1, ("w",): -1}, {("h", "w"): 1}, {}),
        ({("w",): 1, (): 1}, {("w",): 1, (): 2}, {}),  # The last column of w + 2.
        ({("h", "w"): 1, ("h",): 2, ("w",): 1, (): 2}, {("w",): 1, (): 2}, {("h",): 1, (): 1}),
        ({(): 340}, {(): 169}, {(): 2}),
    ],
)
def test_how_often_a_distance_is_in_another(whole, by, quotient):
    assert Polynomial.of(whole).divided(Polynomial.of(by))[0] == Polynomial.of(quotient)


# -- where a loop comes from -----------------------------------------------------------------------

SCHEDULED = """
func.func @twice(%x: memref<64x20xf32>, %y: memref<64x20xf32>) attributes {nn.kernel} {
  linalg.generic {indexing_maps = [affine_map<(i, j) -> (i, j)>, affine_map<(i, j) -> (i, j)>], iterator_types = ["parallel", "parallel"]} ins(%x : memref<64x20xf32>) outs(%y : memref<64x20xf32>) {
  ^bb0(%a: f32, %old: f32):
    %s = arith.addf %a, %a : f32
    linalg.yield %s : f32
  }
  return
}
schedule.for @twice {
^bb0(%map: !schedule.stage):
  %i, %j = schedule.loops 2 of %map
  %io, %ii = schedule.split %i by 16
  schedule.reorder %io, %j, %ii
  schedule.bind %io to groups<x>
  schedule.bind %j to groups<z>
  schedule.vectorize %ii
}"""


def test_an_error_names_the_lines_of_the_schedule():
    """All groups along x do what the first one does."""
    module = parse_module(SCHEDULED, "twice.mlir")
    passes = "apply-schedules,canonicalize,outline-launches"
    PassManager(pipeline(passes)).run(module)
    for op in module.walk():
        if isinstance(op, gpu.BlockId) and op.axis == 0:
            (zero,) = parse_module("%0 = arith.constant 0 : index").body_block
            copy = zero.clone()
            op.parent.insert_before(copy, op)
            for user, i in list(op.results[0].uses):
                user.set_operand(i, copy.results[0])
    with pytest.raises(NncError, match="in one launch") as caught:
        ProveKernels().run(module, PassContext())
    notes = {(n.message.split("'")[1], n.location.line) for n in caught.value.diagnostic.notes[1:]}
    assert notes == {("schedule.split", 13), ("schedule.bind", 15), ("schedule.bind", 16)}
