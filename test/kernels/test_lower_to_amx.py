"""Sums of products of bytes in tile registers, against NumPy, by the interpreter."""

import subprocess
import sys
from itertools import product

import numpy as np
import pytest
from nnc.ir.passes import PassContext
from nnc.ir.syntax.parser import parse_module
from nnc.kernels.codegen.matrices.lower_to_amx import LowerToAmx
from nnc.numerics.interpreter import Interpreter

TARGET = (
    """{name = "x86-64-v4", machine = {has_byte_products = true, tiles = {tile_registers = 8}}}"""
)


def kernel(rows, copies, lanes, steps, outer=1, turned=False, scaled=False, prefetched=False):
    """Sums of rows x copies x lanes over outer x steps words, and NumPy's result.

    With `turned`, the memory of the rows has its last two dimensions the other way around. With
    `scaled` the sums are doubled before they are stored.
    """
    left = f"memref<{outer}x{rows}x{steps}xi32>"
    if turned:
        strides = f"strided<[{rows * steps}, 1, {steps}]>"
        left = f"memref<{outer}x{steps}x{rows}xi32, {strides}>"
    right, sums = (
        f"memref<{copies}x{outer}x{steps}x{lanes}xi32>",
        f"vector<{rows}x{copies}x{lanes}xi32>",
    )
    text = f"""
#rows = affine_map<{"(o, k, r)" if turned else "(o, r, k)"} -> (r, 0)>
#vectors = affine_map<(c, o, k, n) -> (c, n)>
#stored = affine_map<(r, c, n) -> (r, c, n)>
module attributes {{nnc.target = {TARGET}}} {{
  func.func @f(%x: {left}, %w: {right}, %y: memref<{rows}x{copies}x{lanes}xi32>) {{
    %c0 = arith.constant 0 : index
    %c1 = arith.constant 1 : index
    %outer = arith.constant {outer} : index
    %steps = arith.constant {steps} : index
    %pad = ub.poison : i32
    %zeros = arith.constant dense<0> : {sums}
    %s = scf.for %o = %c0 to %outer step %c1 iter_args(%a = %zeros) -> ({sums}) {{
      %t = scf.for %k = %c0 to %steps step %c1 iter_args(%acc = %a) -> ({sums}) {{
        %l = vector.transfer_read %x[{"%o, %k, %c0" if turned else "%o, %c0, %k"}], %pad {{in_bounds = [true, true], permutation_map = #rows}} : {left}, vector<{rows}x1xi32>
        %r = vector.transfer_read %w[%c0, %o, %k, %c0], %pad {{in_bounds = [true, true], permutation_map = #vectors}} : {right}, vector<{copies}x{lanes}xi32>
        {"memref.prefetch %w[%c0, %o, %k, %c0], read, locality<2>, data : " + right if prefetched else ""}
        %lc = vector.shape_cast %l : vector<{rows}x1xi32> to vector<{rows}x1x1xi32>
        %lb = vector.broadcast %lc : vector<{rows}x1x1xi32> to {sums}
        %rb = vector.broadcast %r : vector<{copies}x{lanes}xi32> to {sums}
        %d = packed.dot "u8s8" %lb, %rb : {sums}
        %n = arith.addi %acc, %d : {sums}
        scf.yield %n : {sums}
      }}
      scf.yield %t : {sums}
    }}
    {"%s2 = arith.addi %s, %s : " + sums if scaled else ""}
    vector.transfer_write {"%s2" if scaled else "%s"}, %y[%c0, %c0, %c0] {{in_bounds = [true, true, true]}} : {sums}, memref<{rows}x{copies}x{lanes}xi32>
    return
  }}
}}
"""
    random = np.random.default_rng(0)
    x = random.integers(0, 256, (outer, rows, steps, 4), dtype=np.uint8)
    w = random.integers(-128, 128, (copies, outer, steps, lanes, 4), dtype=np.int8)
    wanted = np.einsum("orkb,coknb->rcn", x.astype(np.int64), w.astype(np.int64)).astype(np.int32)
    words = x.view(np.int32)[..., 0], w.view(np.int32)[..., 0]
    if turned:
        words = words[0].swapaxes(1, 2), words[1]
    return text, words, wanted * (2 if scaled else 1)


def run(text, words, shape):
    module = parse_module(text)
    module.verify()
    context = PassContext()
    LowerToAmx().run(module, context)
    module.verify()
    y = np.full(shape, 7, np.int32)
    Interpreter(module).call("f", [*words, y])
    names = [op.name for op in module.walk()]
    return y, names


CASES = list(
    product(
        (4, 15, 16, 17, 32, 33),  # rows
        ((1, 16), (2, 16), (1, 32), (3, 16), (1, 20), (1, 5)),  # vectors, lanes
        (1, 15, 16, 17, 40),  # steps
        (1, 3),  # outer loops
        (False, True),  # scaled
    )
)


@pytest.mark.sampled(20)
@pytest.mark.parametrize(("rows", "columns", "steps", "outer", "scaled"), CASES)
def test_tiles_give_the_sums(rows, columns, steps, outer, scaled):
    text, words, wanted = kernel(rows, *columns, steps, outer, scaled=scaled)
    found, names = run(text, words, wanted.shape)
    np.testing.assert_array_equal(found, wanted)
    copies, lanes = columns
    across = copies * -(-lanes // 16)
    heights = len({min(16, rows - at) for at in range(0, rows, 16)})
    operands = (across + heights) * (2 if steps == 17 else 1)
    fits = -(-rows // 16) * across + operands <= 8
    assert ("amx.tile_muli" in names) == fits
    assert ("packed.dot" in names) != fits


@pytest.mark.parametrize("steps", [4, 16, 40])
def test_memory_whose_last_dimension_is_not_the_step(steps):
    text, words, wanted = kernel(18, 1, 16, steps, outer=3, turned=True)
    found, names = run(text, words, wanted.shape)
    np.testing.assert_array_equal(found, wanted)
    assert "amx.tile_muli" in names


def test_each_step_prefetches_as_before():
    text, words, wanted = kernel(16, 1, 16, 48, prefetched=True)
    found, names = run(text, words, wanted.shape)
    np.testing.assert_array_equal(found, wanted)
    assert names.count("memref.prefetch") == 16


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ('"u8s8"', '"s8"'),  # other bytes
        ("tile_registers = 8", "tile_registers = 4"),  # too few
        ("dense<0>", "dense<1>"),  # sums that begin elsewhere
        ("%x[%o, %c0, %k]", "%x[%o, %k, %k]"),  # rows that move with the step
        ("[true, true], permutation_map = #rows", "[false, true], permutation_map = #rows"),
        ("%steps step %c1", "%count step %c1"),  # steps that the run counts
    ],
)
def test_what_stays(old, new):
    text, _, _ = kernel(16, 2, 16, 16)
    assert old in text
    module = parse_module(text.replace(old, new).replace("%y: memref", "%count: index, %y: memref"))
    before = str(module)
    LowerToAmx().run(module, PassContext())
    assert str(module) == before


def test_this_machine_gives_the_same(tmp_path):
    """A process that has the machine as it is, with tile registers or without."""
    code = """
import numpy as np, onnx
from onnx import TensorProto as T, helper as h, numpy_helper
import nnc
random = np.random.default_rng(0)
for rows, depth, columns in ((1, 64, 16), (7, 65, 33), (40, 200, 50), (64, 256, 128)):
    x = random.integers(0, 256, (rows, depth), dtype=np.uint8)
    w = random.integers(-128, 128, (depth, columns), dtype=np.int8)
    node = h.make_node("MatMulInteger", ["x", "w"], ["y"])
    inputs = [h.make_tensor_value_info("x", T.UINT8, x.shape)]
    outputs = [h.make_tensor_value_info("y", T.INT32, (rows, columns))]
    graph = h.make_graph([node], "g", inputs, outputs, [numpy_helper.from_array(w, "w")])
    opsets = [h.make_opsetid("", 17)]
    model = nnc.compile(h.make_model(graph, opset_imports=opsets, ir_version=8), threads=1)
    np.testing.assert_array_equal(model(x), x.astype(np.int32) @ w.astype(np.int32))
"""
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
