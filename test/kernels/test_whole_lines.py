"""Images whose rows are merged and put apart for the sake of whole lines: results, and proofs."""

from __future__ import annotations

import numpy as np
import pytest
from nnc.dialects.marks import KERNEL
from nnc.ir.passes import PassContext, PassManager
from nnc.ir.syntax.parser import parse_module
from nnc.kernels.proof.prove_kernels import ProveKernels
from nnc.lowering.pipelines import pipeline

from .device_schedules import TO_SCHEDULES, _devices, check, for_device  # noqa: F401
from .test_prove_kernels import prove

pytest.importorskip("islpy")


def tensor(*shape):
    return f"tensor<{'x'.join(map(str, shape))}xf32>"


def weights(name, outs, ins, shape=(1, 1)):
    """A constant of numbers that differ."""
    numbers = np.arange(outs * ins * shape[0] * shape[1]) % 7 / 8 - 0.25
    type = tensor(outs, ins, *shape)
    values = np.array2string(
        numbers.reshape(outs, ins, *shape), separator=", ", threshold=100_000, floatmode="unique"
    )
    return f"{name} = nn.constant dense<{values}> : {type}".replace("\n", "")


def chain(n, c, h, w):
    """Products of pixels, one of which is bounded and added to its own input; both buffers are the
    kernels'.
    """
    x = tensor(n, c, h, w)
    return f"""
      func.func @main(%x: {x}) -> {x} {{
        {weights("%w", c, c)}
        %r = nn.conv %x, %w : ({x}, {tensor(c, c, 1, 1)}) -> {x}
        %a = nn.relu %r : ({x}) -> {x}
        %b = nn.conv %a, %w : ({x}, {tensor(c, c, 1, 1)}) -> {x}
        %p = nn.relu %b : ({x}) -> {x}
        %s = nn.add %a, %p : ({x}, {x}) -> {x}
        %y = nn.conv %s, %w : ({x}, {tensor(c, c, 1, 1)}) -> {x}
        return %y : {x}
      }}"""


def parts(n, c, h, w):
    """Two images that are one behind the other for the kernel that reads both."""
    x, both = tensor(n, c, h, w), tensor(n, 2 * c, h, w)
    return f"""
      func.func @main(%x: {x}) -> {x} {{
        {weights("%w", c, c)}
        {weights("%v", c, 2 * c)}
        %a = nn.conv %x, %w : ({x}, {tensor(c, c, 1, 1)}) -> {x}
        %b = nn.conv %a, %w : ({x}, {tensor(c, c, 1, 1)}) -> {x}
        %c = nn.concat %a, %b {{axis = 1 : i64}} : ({x}, {x}) -> {both}
        %y = nn.conv %c, %v : ({both}, {tensor(c, 2 * c, 1, 1)}) -> {x}
        return %y : {x}
      }}"""


def windows(n, c, h, w):
    """A window of 3 x 3, whose rows and columns stay two, reads what a product of pixels wrote."""
    x = tensor(n, c, h, w)
    return f"""
      func.func @main(%x: {x}) -> {x} {{
        {weights("%w", c, c)}
        {weights("%v", c, 1, (3, 3))}
        %a = nn.conv %x, %w : ({x}, {tensor(c, c, 1, 1)}) -> {x}
        %b = nn.conv %a, %v {{groups = {c} : i64, pads = array<i64: 1, 1, 1, 1>}}
            : ({x}, {tensor(c, 1, 3, 3)}) -> {x}
        %y = nn.conv %b, %w : ({x}, {tensor(c, c, 1, 1)}) -> {x}
        return %y : {x}
      }}"""


def pooled(n, c, h, w):
    """Windows of one element, which tell rows from columns by nothing but their steps."""
    x, y = tensor(n, c, h, w), tensor(n, c, h, -(-w // 2))
    return f"""
      func.func @main(%x: {x}) -> {y} {{
        %a = nn.relu %x : ({x}) -> {x}
        %b = nn.max_pool %a {{kernel = array<i64: 1, 1>}} : ({x}) -> {x}
        %y = nn.max_pool %b {{kernel = array<i64: 1, 1>, strides = array<i64: 1, 2>}} : ({x}) -> {y}
        return %y : {y}
      }}"""


SHAPES = [(1, 3, 7, 7), (2, 2, 5, 9), (1, 2, 1, 31), (1, 2, 31, 1), (1, 1, 7, 7), (3, 2, 1, 1)]
"""Rows that are put apart, of images side by side too; one row, one column, one pixel."""


CASES = [
    *((chain, shape) for shape in SHAPES),
    (parts, (1, 2, 7, 7)), (parts, (2, 1, 5, 6)), (windows, (1, 3, 7, 7)),
    (windows, (1, 2, 1, 31)), (pooled, (1, 4, 7, 7)), (pooled, (1, 5, 31, 1)),
]  # fmt: skip


@pytest.mark.sampled(3)
@pytest.mark.parametrize(("model", "shape"), CASES, ids=lambda m: getattr(m, "__name__", str(m)))
def test_results_and_proofs(model, shape):
    module, subject = for_device("cuda", model(*shape))
    x = np.random.default_rng(1).standard_normal(shape).astype(np.float32)
    check(module, subject, [x], threads=4)
    assert prove(module)


def arguments_of_kernels(device, text):
    """The types of what kernels are given."""
    module, _ = for_device(device, text)
    PassManager(pipeline(TO_SCHEDULES.removesuffix(",choose-schedules"))).run(module)
    return [str(op.function_type) for op in module.body_block if KERNEL in op.attributes]


@pytest.mark.parametrize("shape", SHAPES, ids=str)
def test_images_begin_with_what_memory_moves(shape):
    """Where an image is no multiple of 32 bytes, and longer ones are not much longer."""
    image = shape[2] * shape[3]
    apart = any("strided" in text for text in arguments_of_kernels("cuda", chain(*shape)))
    assert apart == (image % 8 != 0 and -image % 8 <= image / 5)
    assert not any("strided" in text for text in arguments_of_kernels("pocl", chain(*shape)))


# -- proofs of kernels whose rows are apart --------------------------------------------------------

ROWS = """
module attributes {gpu.container_module} {
  gpu.module @kernels {
    gpu.func @fill(%a: memref<4x7x7xf32, strided<[56, 7, 1]>>) kernel {
      %c49 = arith.constant 49 : index
      %zero = arith.constant 0.0 : f32
      %flat = memref.collapse_shape %a [[0], [1, 2]] : memref<4x7x7xf32, strided<[56, 7, 1]>> into memref<4x49xf32, strided<[56, 1]>>
      %x = gpu.block_id x
      %t = gpu.thread_id x
      %in = arith.cmpi slt, %t, %c49 : index
      scf.if %in {
        memref.store %zero, %flat[%x, %t] : memref<4x49xf32, strided<[56, 1]>>
      }
      gpu.return
    }
  }
  func.func @main(%a: memref<4x7x7xf32, strided<[56, 7, 1]>>) {
    %c1 = arith.constant 1 : index
    %c4 = arith.constant 4 : index
    %c64 = arith.constant 64 : index
    gpu.launch_func @kernels::@fill blocks in (%c4, %c1, %c1) threads in (%c64, %c1, %c1) args(%a : memref<4x7x7xf32, strided<[56, 7, 1]>>)
    return
  }
}"""


def proven(text):
    context = PassContext()
    ProveKernels().run(parse_module(text), context)
    assert not context.diagnostics
    counts = context.statistics[""]
    return counts["proven"], counts["whole"]


def test_what_lies_between_rows_need_not_be_written():
    assert proven(ROWS) == (1, 1)


FAULTS = {
    "a row less": ("%c4 = arith.constant 4", "%c4 = arith.constant 3", "written by no launch"),
    "an element less": ("%c49 = arith.constant 49", "%c49 = arith.constant 48", "by no launch"),
    "a row more": ("%c4 = arith.constant 4", "%c4 = arith.constant 5", "outside of its buffer"),
    "an element more": ("%c49 = arith.constant 49", "%c49 = arith.constant 50", "outside"),
    "one row for all": ("%flat[%x, %t]", "%flat[%c0, %t]", "which thread"),
}


@pytest.mark.parametrize("fault", FAULTS)
def test_faults_are_found(fault):
    old, new, said = FAULTS[fault]
    text = ROWS.replace(old, new).replace("%x = gpu", "%c0 = arith.constant 0 : index\n%x = gpu")
    assert text.count(new) == 1
    with pytest.raises(Exception, match=said):
        proven(text)
