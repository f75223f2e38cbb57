"""Structured ops on whole arrays give what going point by point gives, and what NumPy says."""

import numpy as np
import pytest
from nnc.dialects import linalg
from nnc.dialects.linalg import interpretation
from nnc.ir.diagnostics import NncError
from nnc.ir.syntax.parser import parse_module
from nnc.numerics.interpreter import Frame, Interpreter

RNG = np.random.default_rng(5)


def run(body: str, args: str, *arrays):
    """Run a function of memrefs; the arrays it was given, changed."""
    module = parse_module(f"func.func @f({args}) {{\n{body}\nreturn\n}}")
    module.verify()
    arrays = [np.array(a) for a in arrays]
    Interpreter(module).call("f", arrays)
    return arrays


def f32(*shape):
    return RNG.standard_normal(shape).astype(np.float32)


GENERICS = {
    "row sums": (
        ["(d0, d1) -> (d0, d1)", "(d0, d1) -> (d0)"],
        ["parallel", "reduction"],
        "%s = arith.addf %a, %o : f32 linalg.yield %s : f32",
        [(4, 6), (4,)],
    ),
    "a sum in another order": (
        ["(d0, d1) -> (d1, d0)", "(d0, d1) -> (d1)"],
        ["reduction", "parallel"],
        "%s = arith.addf %o, %a : f32 linalg.yield %s : f32",
        [(4, 6), (4,)],
    ),
    "a reduction that is not a fold": (
        ["(d0, d1) -> (d0, d1)", "(d0, d1) -> (d0)"],
        ["parallel", "reduction"],
        "%s = arith.mulf %o, %a : f32 %t = arith.addf %s, %o : f32 linalg.yield %t : f32",
        [(4, 6), (4,)],
    ),
    "maximum of products": (
        ["(d0, d1) -> (d1)", "(d0, d1) -> (d0)"],
        ["parallel", "reduction"],
        "%p = arith.mulf %a, %a : f32 %s = arith.maximumf %o, %p : f32 linalg.yield %s : f32",
        [(6,), (4,)],
    ),
    "a window": (
        ["(d0, d1) -> (d0 * 2 + d1)", "(d0, d1) -> (d0)"],
        ["parallel", "reduction"],
        "%s = arith.addf %o, %a : f32 linalg.yield %s : f32",
        [(9,), (4,)],
    ),
    "backwards": (
        ["(d0, d1) -> (-d0 + 3, d1)", "(d0, d1) -> (d0, d1)"],
        ["parallel", "parallel"],
        "linalg.yield %a : f32",
        [(4, 6), (4, 6)],
    ),
    "division of an index": (
        ["(d0, d1) -> (d0 floordiv 2, d1 mod 3)", "(d0, d1) -> (d0, d1)"],
        ["parallel", "parallel"],
        "linalg.yield %a : f32",
        [(2, 3), (4, 6)],
    ),
    "positions": (
        ["(d0, d1) -> (d0, d1)", "(d0, d1) -> (d1, d0)"],
        ["parallel", "parallel"],
        "%i = linalg.index 1 : index %j = arith.index_cast %i : index to i32 "
        "%x = arith.sitofp %j : i32 to f32 %y = arith.addf %a, %x : f32 linalg.yield %y : f32",
        [(4, 6), (6, 4)],
    ),
}


@pytest.mark.parametrize("name", GENERICS)
def test_generic_against_points(name):
    maps, iterators, body, shapes = GENERICS[name]
    kernel = "memref<3xi8>" if "window" in name else None
    types = ["memref<" + "x".join(map(str, s)) + "xf32>" for s in shapes]
    maps = [f"affine_map<{m}>" for m in maps]
    ins, elements = f"%a0 : {types[0]}", "%a: f32, %o: f32"
    if kernel:
        maps.insert(1, "affine_map<(d0, d1) -> (d1)>")
        ins, elements = f"%a0, %k : {types[0]}, {kernel}", "%a: f32, %w: i8, %o: f32"
    quoted = ", ".join(f'"{i}"' for i in iterators)
    text = f"""
        func.func @f(%a0: {types[0]}, %o0: {types[1]}, %k: memref<3xi8>) {{
          linalg.generic {{indexing_maps = [{", ".join(maps)}], iterator_types = [{quoted}]}}
              ins({ins}) outs(%o0 : {types[1]}) {{
          ^bb0({elements}):
            {body}
          }}
          return
        }}
    """
    module = parse_module(text)
    module.verify()
    arrays = [*(f32(*s) for s in shapes), np.zeros(3, np.int8)]
    whole = [a.copy() for a in arrays]
    Interpreter(module).call("f", whole)
    (op,) = (o for o in module.walk() if isinstance(o, linalg.Generic))
    points = [a.copy() for a in arrays]
    operands = [points[0], *([points[2]] if kernel else []), points[1]]
    sizes = interpretation._sizes(op, operands)
    interpretation._point_by_point(op, operands, sizes, Frame(Interpreter(module)))
    np.testing.assert_allclose(whole[1], points[1], rtol=1e-5)


def test_control_flow_in_the_body():
    """Such a body runs point by point."""
    body = """
        linalg.generic {indexing_maps = [affine_map<(d0) -> (d0)>, affine_map<(d0) -> (d0)>],
            iterator_types = ["parallel"]} ins(%a : memref<6xf32>) outs(%b : memref<6xf32>) {
        ^bb0(%x: f32, %y: f32):
          %zero = arith.constant 0.0 : f32
          %c = arith.cmpf olt, %x, %zero : f32
          %r = scf.if %c -> (f32) {
            scf.yield %zero : f32
          } else {
            scf.yield %x : f32
          }
          linalg.yield %r : f32
        }
    """
    x = f32(6)
    _, out = run(body, "%a: memref<6xf32>, %b: memref<6xf32>", x, f32(6))
    np.testing.assert_array_equal(out, np.maximum(x, 0))


def test_in_place():
    body = """
        linalg.generic {indexing_maps = [affine_map<(d0) -> (d0)>, affine_map<(d0) -> (d0)>],
            iterator_types = ["parallel"]} ins(%a : memref<6xf32>) outs(%a : memref<6xf32>) {
        ^bb0(%x: f32, %y: f32):
          %r = arith.addf %x, %y : f32
          linalg.yield %r : f32
        }
    """
    x = f32(6)
    (out,) = run(body, "%a: memref<6xf32>", x)
    np.testing.assert_array_equal(out, x + x)


def test_named_ops():
    a, b, c = f32(4, 8), f32(8, 3), f32(4, 3)
    args = "%a: memref<4x8xf32>, %b: memref<8x3xf32>, %c: memref<4x3xf32>"
    matmul = (
        "linalg.matmul ins(%a, %b : memref<4x8xf32>, memref<8x3xf32>) outs(%c : memref<4x3xf32>)"
    )
    np.testing.assert_allclose(run(matmul, args, a, b, c)[2], c + a @ b, rtol=1e-4, atol=1e-5)
    args = "%a: memref<4x8xf32>, %b: memref<8x4xf32>, %r: memref<4xf32>, %x: f32"
    module = parse_module(f"""
        func.func @f({args}) {{
          linalg.transpose ins(%a : memref<4x8xf32>) outs(%b : memref<8x4xf32>) permutation = [1, 0]
          linalg.reduce {{ arith.addf }} ins(%a : memref<4x8xf32>) outs(%r : memref<4xf32>)
              dimensions = [1]
          linalg.broadcast ins(%r : memref<4xf32>) outs(%a : memref<4x8xf32>) dimensions = [1]
          linalg.map {{ math.exp }} ins(%b : memref<8x4xf32>) outs(%b : memref<8x4xf32>)
          linalg.fill ins(%x : f32) outs(%r : memref<4xf32>)
          return
        }}
    """)
    module.verify()
    arrays = [a.copy(), f32(8, 4), np.zeros(4, np.float32)]
    Interpreter(module).call("f", [*arrays, np.float32(2.5)])
    np.testing.assert_allclose(arrays[1], np.exp(a.T), rtol=1e-5)
    sums = np.broadcast_to(a.sum(1)[:, None], (4, 8))
    np.testing.assert_allclose(arrays[0], sums, rtol=1e-4, atol=1e-5)
    assert (arrays[2] == 2.5).all()


def test_on_tensors():
    module = parse_module("""
        func.func @f(%a: tensor<4x8xf32>, %x: f32) -> (tensor<4x8xf32>, tensor<4x8xf32>) {
          %0 = linalg.fill ins(%x : f32) outs(%a : tensor<4x8xf32>) -> tensor<4x8xf32>
          return %0, %a : tensor<4x8xf32>, tensor<4x8xf32>
        }
    """)
    module.verify()
    a = f32(4, 8)
    filled, same = Interpreter(module).call("f", [a, np.float32(1)])
    assert (filled == 1).all()
    np.testing.assert_array_equal(same, a)


def test_extents_that_disagree():
    body = "linalg.copy ins(%a : memref<?xf32>) outs(%b : memref<?xf32>)"
    with pytest.raises(NncError, match="dimension d0 has extents 3 and 4"):
        run(body, "%a: memref<?xf32>, %b: memref<?xf32>", f32(3), f32(4))


def test_affine_indices_in_the_body():
    """Maps of the iteration's indices: the interpreter has all iterations at once."""
    module = parse_module("""
      func.func @f(%m: memref<6xi64>, %o: memref<2x5xi64>) {
        linalg.generic {indexing_maps = [affine_map<(i, j) -> (i + j)>,
            affine_map<(i, j) -> (i, j)>], iterator_types = ["parallel", "parallel"]}
            ins(%m : memref<6xi64>) outs(%o : memref<2x5xi64>) {
        ^bb0(%x: i64, %y: i64):
          %i = linalg.index 0 : index
          %j = linalg.index 1 : index
          %a = affine.apply affine_map<(i, j) -> (i * 3 - j floordiv 2 + (i - j) mod 4)>(%i, %j)
          %b = affine.min affine_map<(i, j) -> (i * 3, j, 2)>(%i, %j)
          %c = affine.max affine_map<(i)[j] -> (i * 3 - j, -1)>(%i)[%j]
          %s = arith.addi %a, %b : index
          %t = arith.muli %s, %c : index
          %q = arith.index_cast %t : index to i64
          %w = arith.muli %x, %q : i64
          linalg.yield %w : i64
        }
        return
      }
    """)
    module.verify()
    x, out = np.arange(6), np.zeros((2, 5), np.int64)
    Interpreter(module).call("f", [x, out])
    i, j = np.indices((2, 5))
    sums = i * 3 - j // 2 + (i - j) % 4 + np.minimum(np.minimum(i * 3, j), 2)
    np.testing.assert_array_equal(out, x[i + j] * sums * np.maximum(i * 3 - j, -1))
