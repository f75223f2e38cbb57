"""Kernels with schedules for a device, run as loops, as launches and thread by thread."""

from __future__ import annotations

import re

import numpy as np
from nnc.ir.attributes import StringAttr
from nnc.ir.passes import PassContext, PassManager
from nnc.ir.syntax.parser import parse_module
from nnc.kernels.proof.prove_kernels import ProveKernels
from nnc.lowering.pipelines import pipeline
from nnc.numerics.interpreter import Interpreter
from nnc.targets.attribute import TARGET

LOOPS = "apply-schedules,canonicalize,cse"
LAUNCHES = LOOPS + ",outline-launches,canonicalize,cse"
SHARES = LAUNCHES + ",assign-layouts{threads=%d},distribute-tiles,canonicalize,cse"


def shape(*extents: int) -> str:
    """The text of a shape; 0 is an extent that is open."""
    return "x".join(str(extent) if extent else "?" for extent in extents)


def product(m: int, n: int, k: int, schedule: str, tile=(6, 8, 4)) -> str:
    """x @ w in tiles of groups; extents that are 0 are open. `schedule` goes on from there."""
    tile_m, tile_n, tile_k = tile
    x, w, y = (
        f"memref<{shape(m, k)}xf32>",
        f"memref<{shape(k, n)}xf32>",
        f"memref<{shape(m, n)}xf32>",
    )
    sizes = ", ".join(size for size, extent in (("%dm", m), ("%dn", n)) if not extent)
    return f"""
#mk = affine_map<(m, n, k) -> (m, k)>
#kn = affine_map<(m, n, k) -> (k, n)>
#mn = affine_map<(m, n, k) -> (m, n)>
func.func @main(%x: {x}, %w: {w}) -> {y} attributes {{nn.kernel}} {{
  %z = arith.constant 0.0 : f32
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %dm = memref.dim %x, %c0 : {x}
  %dn = memref.dim %w, %c1 : {w}
  %y = memref.alloc({sizes}) : {y}
  linalg.fill ins(%z : f32) outs(%y : {y})
  linalg.generic {{indexing_maps = [#mk, #kn, #mn],
      iterator_types = ["parallel", "parallel", "reduction"]}}
      ins(%x, %w : {x}, {w}) outs(%y : {y}) {{
  ^bb0(%a: f32, %b: f32, %old: f32):
    %p = arith.mulf %a, %b : f32
    %s = arith.addf %old, %p : f32
    linalg.yield %s : f32
  }}
  return %y : {y}
}}
schedule.for @main {{
^bb0(%fill: !schedule.stage, %mm: !schedule.stage):
  %m, %n, %k = schedule.loops 3 of %mm
  %mo, %mi = schedule.split %m by {tile_m}
  %no, %ni = schedule.split %n by {tile_n}
  %ko, %ki = schedule.split %k by {tile_k}
  schedule.reorder %mo, %no, %ko, %mi, %ki, %ni
  schedule.unroll %mi
  schedule.unroll %ki
  schedule.vectorize %ni
  schedule.accumulate %ko
  {schedule}
}}
"""


def convolution(
    places: int, inputs: int, outputs: int, stride: int, dilation: int, schedule: str
) -> str:
    """y[o, h, w] of a 3 x 3 convolution of square images, and its loops; see `convolved`."""
    wide = (places - 1) * stride + 2 * dilation + 1
    x, w = f"memref<{inputs}x{wide}x{wide}xf32>", f"memref<{outputs}x{inputs}x3x3xf32>"
    y = f"memref<{outputs}x{places}x{places}xf32>"
    return f"""
#x = affine_map<(o, h, w, i, a, b) ->
    (i, h * {stride} + a * {dilation}, w * {stride} + b * {dilation})>
#w = affine_map<(o, h, w, i, a, b) -> (o, i, a, b)>
#y = affine_map<(o, h, w, i, a, b) -> (o, h, w)>
func.func @main(%x: {x}, %w: {w}) -> {y} attributes {{nn.kernel}} {{
  %z = arith.constant 0.0 : f32
  %y = memref.alloc() : {y}
  linalg.fill ins(%z : f32) outs(%y : {y})
  linalg.generic {{indexing_maps = [#x, #w, #y], iterator_types =
      ["parallel", "parallel", "parallel", "reduction", "reduction", "reduction"]}}
      ins(%x, %w : {x}, {w}) outs(%y : {y}) {{
  ^bb0(%p: f32, %q: f32, %old: f32):
    %r = arith.mulf %p, %q : f32
    %s = arith.addf %old, %r : f32
    linalg.yield %s : f32
  }}
  return %y : {y}
}}
schedule.for @main {{
^bb0(%fill: !schedule.stage, %conv: !schedule.stage):
  %o, %h, %w, %i, %a, %b = schedule.loops 6 of %conv
  %oo, %oi = schedule.split %o by 4
  %ho, %hi = schedule.split %h by 3
  %io, %ii = schedule.split %i by 2
  {schedule}
}}
"""


def convolved(x: np.ndarray, w: np.ndarray, stride: int, dilation: int) -> np.ndarray:
    """What `convolution` computes."""
    places = (x.shape[1] - 2 * dilation - 1) // stride + 1
    y = np.zeros((w.shape[0], places, places), np.float32)
    for a in range(3):
        for b in range(3):
            rows = slice(a * dilation, a * dilation + (places - 1) * stride + 1, stride)
            columns = slice(b * dilation, b * dilation + (places - 1) * stride + 1, stride)
            y += np.einsum("ihw,oi->ohw", x[:, rows, columns], w[:, :, a, b])
    return y


def at_level(text: str, level: str, threads: int = 16):
    """The module after the passes of a level: LOOPS, LAUNCHES or SHARES."""
    module = parse_module(text)
    module.attributes[TARGET] = StringAttr("x86-64-v3")  # Tiles follow from the machine.
    PassManager(pipeline(level % threads if "%d" in level else level)).run(module)
    module.verify()
    return module


def result(module, *arguments: np.ndarray) -> np.ndarray:
    """What @main returns; raises NncError for races and accesses outside."""
    (found,) = Interpreter(module).call("main", [a.copy() for a in arguments])
    return found


def check(text: str, arguments, expected: np.ndarray, threads: int = 16, prove: bool = True):
    """The result at all levels, and the proof of the last."""
    for level in (LOOPS, LAUNCHES, SHARES):
        module = at_level(text, level, threads)
        found = result(module, *arguments)
        np.testing.assert_allclose(found, expected, rtol=2e-5, atol=1e-4)
    if prove:
        prove_all(module)
    return module


def prove_all(module) -> None:
    """Raises where a launch is not proven."""
    ProveKernels(require=True).run(module, PassContext())


def kernel_arguments(module) -> list[str]:
    """The workgroup buffers of each kernel, as text."""
    return [", ".join(re.findall(r"(memref<\S+, #gpu.address_space<workgroup>>)", line))
            for line in str(module).splitlines() if "gpu.func" in line]  # fmt: skip


def arrays(*shapes: tuple[int, ...], seed: int = 0) -> list[np.ndarray]:
    """Random numbers in these shapes."""
    rng = np.random.default_rng(seed)
    return [rng.standard_normal(s).astype(np.float32) for s in shapes]
