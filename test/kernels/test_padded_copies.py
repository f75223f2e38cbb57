"""Images whose border groups make themselves: right at all levels, proven, and no more than that."""

from __future__ import annotations

import numpy as np
import pytest
from nnc.dialects import gpu, vector
from nnc.driver.compile import load_module, run_stages
from nnc.ir.diagnostics import NncError
from nnc.ir.passes import PassContext
from nnc.ir.rewriting import constant_int
from nnc.ir.syntax.parser import parse_module
from nnc.ir.types import MemRefType
from nnc.kernels.proof.prove_kernels import ProveKernels

from ..lowering.test_nn_to_linalg_cases import CONVOLUTIONS, one_op
from .scheduled_kernels import (
    LAUNCHES,
    SHARES,
    arrays,
    at_level,
    check,
    convolution,
    convolved,
    prove_all,
    result,
)
from .test_cached import CONVOLUTION

pytest.importorskip("islpy")

PADDED = CONVOLUTION.replace("schedule.cache 0", "schedule.cache padded 0")
PARTS = """%wo, %wi = schedule.split %w by 3
  schedule.reorder %oo, %ho, %wo, %io, %ii, %a, %b, %hi, %oi, %wi
  schedule.unroll %hi
  schedule.unroll %oi
  schedule.vectorize %wi
  schedule.accumulate %io
  schedule.bind %oo to groups<z>
  schedule.bind %ho to groups<y>
  schedule.bind %wo to groups<x>
  schedule.fuse %fill at %wo
  schedule.cache padded 0 of %conv in workgroup at %io buffers {0}
  schedule.cache 1 of %conv order [1, 2, 3, 0] in workgroup at %io buffers {0}
"""
"""Parts of three columns, of which the first and the last have a border."""
EVERY = (1, 2, 1, 1)
"""Rows above and below, columns before and behind."""


def padded(places, inputs, outputs, stride, dilation, pads, schedule, number="0.0"):
    """`convolution` of an image in a border of a number; `pads` as those of `EVERY`."""
    top, bottom, left, right = pads
    wide = (places - 1) * stride + 2 * dilation + 1
    rows, columns = wide - top - bottom, wide - left - right
    whole, image = f"memref<{inputs}x{wide}x{wide}xf32>", f"memref<{inputs}x{rows}x{columns}xf32>"
    parts = (
        (0, 0, top, wide),
        (wide - bottom, 0, bottom, wide),
        (top, 0, rows, left),
        (top, wide - right, rows, right),
    )
    lines, stages = [f"%pad = arith.constant {number} : f32", f"%x = memref.alloc() : {whole}"], []
    for i, part in enumerate((*parts, (top, left, rows, columns))):
        y, x, height, width = part
        if not height * width:
            continue
        strided = f"strided<[{wide * wide}, {wide}, 1], offset: {y * wide + x}>"
        if y * wide + x == 0:
            strided = f"strided<[{wide * wide}, {wide}, 1]>"
        view = f"memref<{inputs}x{height}x{width}xf32, {strided}>"
        lines.append(
            f"%v{i} = memref.subview %x[0, {y}, {x}] [{inputs}, {height}, {width}] [1, 1, 1] : "
            f"{whole} to {view}"
        )
        source = f"linalg.copy ins(%image : {image})" if i == 4 else "linalg.fill ins(%pad : f32)"
        lines.append(f"{source} outs(%v{i} : {view})")
        stages.append(f"%s{i}: !schedule.stage")
    text = convolution(places, inputs, outputs, stride, dilation, schedule)
    text = text.replace(f"@main(%x: {whole}", f"@main(%image: {image}")
    text = text.replace("%z = arith", "\n  ".join(lines) + "\n  %z = arith", 1)
    text = text.replace("return %y :", f"memref.dealloc %x : {whole}\n  return %y :")
    return text.replace("^bb0(%fill: !schedule", f"^bb0({', '.join(stages)}, %fill: !schedule")


def inputs_of(places, inputs, outputs, stride, dilation, pads, number=0.0):
    """An image, weights, and what the convolution of the padded image gives."""
    top, bottom, left, right = pads
    wide = (places - 1) * stride + 2 * dilation + 1
    shape = inputs, wide - top - bottom, wide - left - right
    x, w = arrays(shape, (outputs, inputs, 3, 3))
    whole = np.pad(x, ((0, 0), (top, bottom), (left, right)), constant_values=number)
    return [x, w], convolved(whole, w, stride, dilation)


@pytest.mark.sampled(13)
@pytest.mark.parametrize("schedule", [PADDED, PARTS], ids=["rows", "parts"])
@pytest.mark.parametrize("buffers", [1, 2])
@pytest.mark.parametrize("number", ["0.0", "-2.5"])
@pytest.mark.parametrize(
    ("places", "inputs", "outputs", "stride", "dilation", "pads"),
    [
        (6, 4, 8, 1, 1, (1, 1, 1, 1)),
        (5, 3, 7, 2, 1, (1, 2, 3, 0)),
        (4, 5, 4, 1, 2, (0, 0, 2, 1)),
        (4, 2, 5, 1, 1, (3, 0, 0, 0)),  # A tile whose first row is all border.
        (1, 2, 4, 1, 1, (1, 1, 1, 1)),  # An image of one element.
    ],
    ids=str,
)
def test_convolutions(places, inputs, outputs, stride, dilation, pads, number, buffers, schedule):
    sizes = places, inputs, outputs, stride, dilation, pads
    given, expected = inputs_of(*sizes, float(number))
    check(padded(*sizes, schedule.format(buffers), number), given, expected, threads=4)


def test_nothing_else_makes_the_border():
    """One kernel, and no buffer but the image, the weights and the result."""
    text = padded(6, 4, 8, 1, 1, EVERY, PADDED.format(1))
    kernels = [op for op in at_level(text, LAUNCHES).walk() if isinstance(op, gpu.GPUFuncOp)]
    (kernel,) = kernels
    shapes = [tuple(arg.type.shape) for arg in kernel.args if not gpu.is_workgroup(arg.type)]
    assert sorted(shapes) == [(4, 5, 6), (8, 4, 3, 3), (8, 6, 6)]


def test_batches_of_open_size():
    """One launch as well, and no padded image; proven for all batches."""
    text, arguments = CONVOLUTIONS["padded, of an open batch"]
    given = load_module(parse_module(one_op(text, *arguments)))
    module = run_stages(given, target="cuda", last="shares")
    (launch,) = [op for op in module.walk() if isinstance(op, gpu.LaunchFunc)]
    ranks = [v.type.rank for v in launch.kernelOperands if isinstance(v.type, MemRefType)]
    assert ranks == [4, 4, 4]
    prove_all(module)


def test_whole_rows_are_copied_from_their_first_element():
    """The border beside them is written once, before the loop that copies."""
    module = at_level(padded(6, 4, 8, 1, 1, EVERY, PADDED.format(2)), LAUNCHES)
    (kernel,) = [op for op in module.walk() if isinstance(op, gpu.GPUFuncOp)]
    image = next(a for a in kernel.args if a.type.shape == (4, 5, 6))
    reads = [user for user, _ in image.uses]
    assert reads and all(constant_int(read.indices[2]) == 0 for read in reads)
    assert {read.vector_type.shape[2] for read in reads} == {6}
    begins = [
        constant_int(op.indices[-1])
        for op in kernel.body.blocks[0]
        if isinstance(op, vector.TransferWrite) and op.vector_type.shape[-1] == 1
    ]
    assert sorted(begins) == [0, 7]


@pytest.mark.parametrize("fault", ["rows before", "columns before", "all behind"])
def test_without_a_bound_it_is_outside(fault):
    """What lies before and behind the image is left out by masks that the proof needs."""
    text = padded(6, 4, 8, 1, 1, (1, 1, 1, 1), PARTS.format(1))
    module = at_level(text, SHARES, 4)
    given, _ = inputs_of(6, 4, 8, 1, 1, (1, 1, 1, 1))
    reads = [
        op for op in module.walk()
        if isinstance(op, vector.TransferRead)
        and op.mask is not None and op.base.type.shape == (4, 6, 6)
    ]  # fmt: skip
    assert reads
    for read in reads:
        columns = read.mask.defining_op
        while columns.rhs.defining_op.name != "arith.xori":
            columns = columns.lhs.defining_op  # What is beyond a group's vector.
        rows = columns.lhs.defining_op
        kept = {
            "rows before": (rows.lhs, columns.rhs),
            "columns before": (rows.lhs, rows.rhs),
            "all behind": (rows.rhs, columns.rhs),
        }
        columns.set_operand(0, kept[fault][0])
        columns.set_operand(1, kept[fault][1])
    with pytest.raises(NncError, match="outside"):
        prove_all(module)
    with pytest.raises(NncError, match="said to be in bounds is not"):
        result(module, *given)


def test_lines_of_a_masked_read():
    """32 threads of which the first and the last two are left out need four lines of five."""
    text = """
    gpu.module @kernels {
      gpu.func @f(%a: memref<4096xf32>, %b: memref<32xf32>) kernel attributes {known_block_size = array<i32: 32, 1, 1>} {
        %c0 = arith.constant 0 : index
        %c1 = arith.constant 1 : index
        %c30 = arith.constant 30 : index
        %z = arith.constant 0.0 : f32
        %every = arith.constant dense<true> : vector<1xi1>
        %t = gpu.thread_id x
        %i = arith.subi %t, %c1 : index
        %left = arith.subi %c30, %t : index
        %end = vector.create_mask %left : vector<1xi1>
        %before = arith.subi %c1, %t : index
        %outside = vector.create_mask %before : vector<1xi1>
        %behind = arith.xori %outside, %every : vector<1xi1>
        %mask = arith.andi %end, %behind : vector<1xi1>
        %x = vector.transfer_read %a[%i], %z, %mask {in_bounds = [true]} : memref<4096xf32>, vector<1xf32>
        vector.transfer_write %x, %b[%t] {in_bounds = [true]} : vector<1xf32>, memref<32xf32>
        gpu.return
      }
    }
    func.func @main(%a: memref<4096xf32>, %b: memref<32xf32>) {
      %c1 = arith.constant 1 : index
      %c32 = arith.constant 32 : index
      gpu.launch_func @kernels::@f blocks in (%c1, %c1, %c1) threads in (%c32, %c1, %c1) args(%a : memref<4096xf32>, %b : memref<32xf32>)
      return
    }"""
    module, context = parse_module(text), PassContext()
    ProveKernels(counts=True).run(module, context)
    found = context.statistics[""]
    assert (found["lines"], found["lines-needed"]) == (
        4 + 4,
        4 + 4,
    )  # Elements 0 to 28; 32 results.


SECOND = "linalg.fill ins(%pad : f32) outs(%v1"
REFUSED = {
    "it may be used elsewhere": ("schedule.cache 1", "schedule.cache padded 1"),
    "what is around the copy is not one number": (
        SECOND,
        "%o = arith.constant 1.0 : f32\n  " + SECOND.replace("%pad", "%o"),
    ),
    "boxes of known size that are all of it": ("%x[0, 7, 0] [4, 1, 8]", "%x[0, 6, 0] [4, 1, 8]"),
}


@pytest.mark.parametrize("said", REFUSED)
def test_what_is_not_padded_is_an_error(said):
    text = padded(6, 4, 8, 1, 1, (1, 1, 1, 1), PADDED.format(1))
    before, after = REFUSED[said]
    assert before in text
    text = text.replace(before, after)
    with pytest.raises(NncError, match=f"the operand is not padded: .*{said}"):
        at_level(text, LAUNCHES)
