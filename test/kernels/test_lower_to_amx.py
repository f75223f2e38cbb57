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

TARGET = '"sapphirerapids"'
FEW = '{name = "sapphirerapids", machine = {tiles = {tile_registers = 4}}}'


def kernel(
    rows, copies, lanes, steps, outer=1, turned=False, scaled=False, prefetched=False, halves=False
):
    """Sums of rows x copies x lanes over outer x steps words of bytes or halves; NumPy's result.

    With `turned`, the memory of the rows has its last two dimensions the other way around. With
    `scaled` the sums are doubled before they are stored.
    """
    left = f"memref<{outer}x{rows}x{steps}xi32>"
    if turned:
        strides = f"strided<[{rows * steps}, 1, {steps}]>"
        left = f"memref<{outer}x{steps}x{rows}xi32, {strides}>"
    right = f"memref<{copies}x{outer}x{steps}x{lanes}xi32>"
    kind, add, zero = ("f32", "addf", "0.0") if halves else ("i32", "addi", "0")
    shape = f"{rows}x{copies}x{lanes}"
    sums, spread, result = (
        f"vector<{shape}x{kind}>",
        f"vector<{shape}xi32>",
        f"memref<{shape}x{kind}>",
    )
    dot = "packed.dotf" if halves else 'packed.dot "u8s8"'
    text = f"""
#rows = affine_map<{"(o, k, r)" if turned else "(o, r, k)"} -> (r, 0)>
#vectors = affine_map<(c, o, k, n) -> (c, n)>
#stored = affine_map<(r, c, n) -> (r, c, n)>
module attributes {{nnc.target = {TARGET}}} {{
  func.func @f(%x: {left}, %w: {right}, %y: {result}) {{
    %c0 = arith.constant 0 : index
    %c1 = arith.constant 1 : index
    %outer = arith.constant {outer} : index
    %steps = arith.constant {steps} : index
    %pad = ub.poison : i32
    %zeros = arith.constant dense<{zero}> : {sums}
    %s = scf.for %o = %c0 to %outer step %c1 iter_args(%a = %zeros) -> ({sums}) {{
      %t = scf.for %k = %c0 to %steps step %c1 iter_args(%acc = %a) -> ({sums}) {{
        %l = vector.transfer_read %x[{"%o, %k, %c0" if turned else "%o, %c0, %k"}], %pad {{in_bounds = [true, true], permutation_map = #rows}} : {left}, vector<{rows}x1xi32>
        %r = vector.transfer_read %w[%c0, %o, %k, %c0], %pad {{in_bounds = [true, true], permutation_map = #vectors}} : {right}, vector<{copies}x{lanes}xi32>
        {"memref.prefetch %w[%c0, %o, %k, %c0], read, locality<2>, data : " + right if prefetched else ""}
        %lc = vector.shape_cast %l : vector<{rows}x1xi32> to vector<{rows}x1x1xi32>
        %lb = vector.broadcast %lc : vector<{rows}x1x1xi32> to {spread}
        %rb = vector.broadcast %r : vector<{copies}x{lanes}xi32> to {spread}
        %d = {dot} %lb, %rb : {spread}
        %n = arith.{add} %acc, %d : {sums}
        scf.yield %n : {sums}
      }}
      scf.yield %t : {sums}
    }}
    {f"%s2 = arith.{add} %s, %s : {sums}" if scaled else ""}
    vector.transfer_write {"%s2" if scaled else "%s"}, %y[%c0, %c0, %c0] {{in_bounds = [true, true, true]}} : {sums}, {result}
    return
  }}
}}
"""
    shapes = (outer, rows, steps), (copies, outer, steps, lanes)
    packed = halves_of if halves else bytes_of
    x, w, *words = packed(*shapes)
    wanted = np.einsum("orkb,coknb->rcn", x, w).astype(np.float32 if halves else np.int32)
    if turned:
        words[0] = words[0].swapaxes(1, 2)
    return text, words, wanted * (2 if scaled else 1)


def bytes_of(left, right):
    """Bytes of both operands as integers, and in words."""
    random = np.random.default_rng(0)
    x = random.integers(0, 256, (*left, 4), dtype=np.uint8)
    w = random.integers(-128, 128, (*right, 4), dtype=np.int8)
    words = (v.view(np.int32)[..., 0] for v in (x, w))
    return x.astype(np.int64), w.astype(np.int64), *words


def halves_of(left, right):
    """bf16 of both operands as numbers, and in words."""
    random = np.random.default_rng(0)
    bits = [
        random.standard_normal((*shape, 2)).astype(np.float32).view(np.uint32) & 0xFFFF0000
        for shape in (left, right)
    ]
    words = (((v[..., 0] >> 16) | v[..., 1]).view(np.int32) for v in bits)
    return *(v.view(np.float32).astype(np.float64) for v in bits), *words


def run(text, words, shape, dtype=np.int32):
    module = parse_module(text)
    module.verify()
    context = PassContext()
    LowerToAmx().run(module, context)
    module.verify()
    y = np.full(shape, 7, dtype)
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
        (TARGET, FEW),  # too few registers
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


@pytest.mark.parametrize("columns", [(1, 16), (2, 16), (1, 32)])
@pytest.mark.parametrize("rows", [16, 23, 32])
@pytest.mark.parametrize("steps", [8, 40])
@pytest.mark.parametrize("scaled", [False, True])
def test_halves(rows, columns, steps, scaled):
    text, words, wanted = kernel(rows, *columns, steps, scaled=scaled, halves=True)
    found, names = run(text, words, wanted.shape, np.float32)
    assert "amx.tile_mulf" in names and "packed.dotf" not in names
    np.testing.assert_allclose(found, wanted, rtol=1e-5, atol=1e-5)


def test_this_machine_gives_the_same(tmp_path):
    """A process that has the machine as it is, with tile registers or without."""
    code = """
import numpy as np, onnx
from onnx import TensorProto as T, helper as h, numpy_helper
import nnc
from nnc.ir.numpy_types import type_to_numpy
from nnc.ir.types import bf16 as bf16_type
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
    bf16 = np.dtype(type_to_numpy(bf16_type))
    x, w = (random.standard_normal(v.shape).astype(np.float32).astype(bf16) for v in (x, w))
    raw = h.make_tensor("w", T.BFLOAT16, w.shape, w.tobytes(), raw=True)
    node = h.make_node("MatMul", ["x", "w"], ["y"])
    inputs = [h.make_tensor_value_info("x", T.BFLOAT16, x.shape)]
    outputs = [h.make_tensor_value_info("y", T.BFLOAT16, (rows, columns))]
    graph = h.make_graph([node], "g", inputs, outputs, [raw])
    found = nnc.compile(h.make_model(graph, opset_imports=opsets, ir_version=8))(x)
    wanted = x.astype(np.float64) @ w.astype(np.float64)
    np.testing.assert_allclose(found.astype(np.float64), wanted, rtol=2**-7, atol=0.02)
"""
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
