"""Operands in workgroup memory: the same results, with 1 to N buffers, and proven."""

from __future__ import annotations

import re

import numpy as np
import pytest
from nnc.dialects import gpu, scf
from nnc.ir.diagnostics import NncError
from nnc.ir.syntax.parser import parse_module
from nnc.kernels.codegen.shares.barriers import place_barriers

from .scheduled_kernels import (
    LAUNCHES,
    SHARES,
    arrays,
    at_level,
    check,
    convolution,
    convolved,
    kernel_arguments,
    product,
    prove_all,
    result,
)

GROUPS = "schedule.bind %mo to groups<y>\n  schedule.bind %no to groups<x>\n  schedule.fuse %fill at %no\n"


def cached(*texts: str) -> str:
    return GROUPS + "\n".join(f"schedule.cache {t}" for t in texts)


IN = "of %mm in workgroup at"
VARIANTS = {
    "one buffer": cached(f"0 {IN} %ko", f"1 {IN} %ko"),
    "two": cached(f"0 {IN} %ko buffers 2", f"1 {IN} %ko buffers 2"),
    "unlike": cached(
        "0 of %mm order [1, 0] in workgroup at %ko buffers 3", f"1 {IN} %ko buffers 2"
    ),
    "many": cached(f"0 {IN} %ko buffers 8", f"1 {IN} %ko"),
    "whole rows": cached(f"0 {IN} %no", f"1 {IN} %ko buffers 2"),
}


@pytest.mark.sampled(7)
@pytest.mark.parametrize("name", VARIANTS)
@pytest.mark.parametrize("extents", [(12, 16, 22), (7, 9, 3), (1, 1, 1), (13, 19, 17)], ids=str)
def test_products(name, extents):
    """Fixed extents: remainders of rows, columns and steps; fewer steps than buffers."""
    m, n, k = extents
    x, w = arrays((m, k), (k, n))
    check(product(m, n, k, VARIANTS[name]), [x, w], x @ w, threads=4)


@pytest.mark.sampled(15)
@pytest.mark.parametrize("name", VARIANTS)
@pytest.mark.parametrize("extents", [(12, 16, 8), (7, 9, 3), (1, 17, 13)], ids=str)
def test_products_of_open_extents(name, extents):
    m, n, k = extents
    x, w = arrays((m, k), (k, n))
    check(product(0, 0, k, VARIANTS[name]), [x, w], x @ w, threads=4, prove=k == 3)


@pytest.mark.sampled(3)
@pytest.mark.parametrize("buffers", [1, 2, 3])
@pytest.mark.parametrize("k", [1, 4, 9, 12])
def test_a_reduction_of_open_length(buffers, k):
    """The number of steps is known only when it runs."""
    schedule = cached(f"0 {IN} %ko buffers {buffers}", f"1 {IN} %ko buffers {buffers}")
    x, w = arrays((6, k), (k, 8))
    check(product(6, 8, 0, schedule), [x, w], x @ w, threads=4, prove=False)


CONVOLUTION = """schedule.reorder %oo, %ho, %io, %ii, %a, %b, %hi, %oi, %w
  schedule.unroll %hi
  schedule.unroll %oi
  schedule.vectorize %w
  schedule.accumulate %io
  schedule.bind %oo to groups<y>
  schedule.bind %ho to groups<x>
  schedule.fuse %fill at %ho
  schedule.cache 0 of %conv in workgroup at %io buffers {0}
  schedule.cache 1 of %conv order [1, 2, 3, 0] in workgroup at %io buffers {0}
"""


@pytest.mark.sampled(4)
@pytest.mark.parametrize(
    ("places", "inputs", "outputs", "stride", "dilation", "buffers"),
    [(6, 4, 8, 1, 1, 1), (5, 3, 7, 2, 1, 2), (4, 5, 4, 1, 2, 3), (5, 2, 5, 3, 2, 1)],
)
def test_convolutions(places, inputs, outputs, stride, dilation, buffers):
    """Windows that slide: the box of all that the windows of a tile cover."""
    text = convolution(places, inputs, outputs, stride, dilation, CONVOLUTION.format(buffers))
    wide = (places - 1) * stride + 2 * dilation + 1
    x, w = arrays((inputs, wide, wide), (outputs, inputs, 3, 3))
    check(text, [x, w], convolved(x, w, stride, dilation), threads=4)


@pytest.mark.sampled(7)
@pytest.mark.parametrize("buffers", [1, 2])
@pytest.mark.parametrize(("inputs", "outputs"), [(4, 8), (3, 7), (5, 5)])
def test_windows_are_rows_of_their_copies(inputs, outputs, buffers):
    """Weights that lie in rows are copied in rows: a dimension for the channels and the window."""
    schedule = CONVOLUTION.format(buffers).replace(" order [1, 2, 3, 0]", "")
    text = convolution(5, inputs, outputs, 1, 1, schedule)
    x, w = arrays((inputs, 7, 7), (outputs, inputs, 3, 3))
    check(text, [x, w], convolved(x, w, 1, 1), threads=4)
    kernels = kernel_arguments(at_level(text, LAUNCHES))
    slots = "2x" if buffers == 2 else ""
    assert f"memref<{slots}4x18xf32, #gpu.address_space<workgroup>>" in kernels[0]


def test_buffers_are_the_groups():
    """After outlining they are attributions of the kernel; the window of a stride of 2 is 7 x 11."""
    text = convolution(5, 4, 8, 2, 1, CONVOLUTION.format(2))
    kernels = kernel_arguments(at_level(text, LAUNCHES))
    assert kernels[0] == (
        "memref<2x2x7x11xf32, #gpu.address_space<workgroup>>, "
        "memref<2x2x3x3x4xf32, #gpu.address_space<workgroup>>"
    )


def test_one_barrier_in_each_iteration():
    """With two buffers, what is written is not what is read: one barrier, two with one buffer."""
    for name, barriers in (("one buffer", 2), ("two", 1)):
        text = str(at_level(product(12, 16, 24, VARIANTS[name]), SHARES, 4))
        body = text[
            text.index("scf.for") : text.index("vector.transfer_write", text.index("scf.yield %"))
        ]
        assert body.count("gpu.barrier") == barriers


def test_loops_that_read_wait_once():
    """Steps of a copy in a loop of their own: the barrier stands before it, not in it."""
    inner = "%kio, %kii = schedule.split %ki by 2"
    text = product(12, 16, 24, VARIANTS["two"]).replace(
        "schedule.unroll %ki", "schedule.unroll %kii"
    )
    text = text.replace("%ko, %mi, %ki, %ni", "%ko, %kio, %mi, %kii, %ni")
    text = text.replace("schedule.split %k by 4", f"schedule.split %k by 4\n  {inner}")
    module = at_level(text, SHARES, 4)
    loops = [op for op in module.walk() if isinstance(op, scf.For)]
    barriers = [op.parent_of(scf.For) for op in module.walk() if isinstance(op, gpu.Barrier)]
    assert [sum(one is loop for one in barriers) for loop in loops] == [1, 0]
    x, w = arrays((12, 24), (24, 16))
    check(text, [x, w], x @ w, threads=4)


def test_slots_of_threads_are_not_told_apart():
    """Thread t writes slot t % 2 and reads slot (t + 1) % 2, which another one writes."""
    text = """
    gpu.module @kernels {
      gpu.func @f(%a: memref<4xf32>) workgroup(%s : memref<2xf32, #gpu.address_space<workgroup>>) kernel {
        %c1 = arith.constant 1 : index
        %c2 = arith.constant 2 : index
        %t = gpu.thread_id x
        %next = arith.addi %t, %c1 : index
        %i = arith.remui %t, %c2 : index
        %j = arith.remui %next, %c2 : index
        %x = memref.load %a[%t] : memref<4xf32>
        memref.store %x, %s[%i] : memref<2xf32, #gpu.address_space<workgroup>>
        %y = memref.load %s[%j] : memref<2xf32, #gpu.address_space<workgroup>>
        memref.store %y, %a[%t] : memref<4xf32>
        gpu.return
      }
    }"""
    module = parse_module(text)
    (kernel,) = (op for op in module.walk() if isinstance(op, gpu.GPUFuncOp))
    assert place_barriers(kernel) == 1


@pytest.mark.parametrize("name", ["one buffer", "two", "unlike"])
def test_every_barrier_is_needed(name):
    """Without any one of them the proof names a race, and the interpreter runs into it."""
    x, w = arrays((12, 24), (24, 16))
    text = str(at_level(product(12, 16, 24, VARIANTS[name]), SHARES, 4))
    barriers = [m.span() for m in re.finditer("gpu.barrier", text)]
    assert barriers
    for start, end in barriers:
        module = parse_module(text[:start] + text[end:])
        with pytest.raises(NncError, match="between the same barriers"):
            prove_all(module)
        with pytest.raises(NncError, match="between the same barriers"):
            result(module, x, w)


@pytest.mark.parametrize("buffers", [1, 2])
@pytest.mark.parametrize("rows", [4, 5])
def test_an_operand_that_the_group_has_made(buffers, rows):
    """Rows that a stage in the same loop of groups has computed, copied in steps."""
    x = f"memref<{rows}x21xf32>"
    text = f"""
func.func @main(%x: {x}) -> memref<{rows}xf32> attributes {{nn.kernel}} {{
  %z = arith.constant 0.0 : f32
  %y = memref.alloc() : memref<{rows}xf32>
  %t = memref.alloc() : {x}
  linalg.generic {{indexing_maps = [affine_map<(i, j) -> (i, j)>, affine_map<(i, j) -> (i, j)>],
      iterator_types = ["parallel", "parallel"]}} ins(%x : {x}) outs(%t : {x}) {{
  ^bb0(%a: f32, %old: f32):
    %s = arith.mulf %a, %a : f32
    linalg.yield %s : f32
  }}
  linalg.fill ins(%z : f32) outs(%y : memref<{rows}xf32>)
  linalg.generic {{indexing_maps = [affine_map<(i, j) -> (i, j)>, affine_map<(i, j) -> (i)>],
      iterator_types = ["parallel", "reduction"]}} ins(%t : {x}) outs(%y : memref<{rows}xf32>) {{
  ^bb0(%a: f32, %acc: f32):
    %s = arith.addf %acc, %a : f32
    linalg.yield %s : f32
  }}
  memref.dealloc %t : {x}
  return %y : memref<{rows}xf32>
}}
schedule.for @main {{
^bb0(%square: !schedule.stage, %fill: !schedule.stage, %sum: !schedule.stage):
  %i, %j = schedule.loops 2 of %sum
  %io, %ii = schedule.split %i by 2
  %jo, %jv = schedule.split %j by 4
  schedule.reorder %io, %jo, %ii, %jv
  schedule.unroll %ii
  schedule.vectorize %jv
  schedule.accumulate %jo
  schedule.bind %io to groups<x>
  schedule.fuse %square at %io
  schedule.fuse %fill at %io
  schedule.cache 0 of %sum in workgroup at %jo buffers {buffers}
}}
"""
    (given,) = arrays((rows, 21))
    check(text, [given], np.square(given).sum(axis=1), threads=8)
