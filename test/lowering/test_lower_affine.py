"""The affine dialect lowered: against Python's numbers, and against its interpretation."""

from itertools import product
from pathlib import Path

import numpy as np
import pytest
from nnc.ir.passes import PassContext
from nnc.ir.syntax.parser import parse_module
from nnc.lowering.lower_affine import LowerAffine
from nnc.numerics.interpreter import Interpreter
from nnc.tools import nn_run

NUMBERS = (-9, -4, -1, 0, 1, 2, 7)

EXPRESSIONS = {
    "d0 + d1 * 3 - 5": lambda x, y: x + 3 * y - 5,
    "d0 floordiv 4": lambda x, y: x // 4,
    "d0 ceildiv 4 - d1": lambda x, y: -(-x // 4) - y,
    "(d0 + d1) mod 3": lambda x, y: (x + y) % 3,
    "-d0 floordiv 2 + (d1 mod 5) * 2": lambda x, y: -x // 2 + y % 5 * 2,
    "(d0 * 7 + d1) floordiv 3 mod 4": lambda x, y: (7 * x + y) // 3 % 4,
    "11": lambda x, y: 11,
}


def lowered(text: str):
    module = parse_module(text)
    module.verify()
    LowerAffine().run(module, PassContext())
    module.verify()
    assert not any(op.name.startswith("affine.") for op in module.walk())
    return module


@pytest.mark.parametrize("text", EXPRESSIONS)
def test_expressions(text):
    module = lowered(f"""
        func.func @main(%x: index, %y: index) -> index {{
          %0 = affine.apply affine_map<(d0, d1) -> ({text})>(%x, %y)
          return %0 : index
        }}""")
    for x, y in product(NUMBERS, repeat=2):
        (found,) = Interpreter(module).call("main", [np.int64(x), np.int64(y)])
        assert found == EXPRESSIONS[text](x, y), (x, y)


@pytest.mark.parametrize("by", [-3, -1, 1, 4])
def test_divisors_that_are_symbols(by):
    module = lowered("""
        func.func @main(%x: index, %n: index) -> (index, index, index, index) {
          %0 = affine.apply affine_map<(d0)[s0] -> (d0 floordiv s0)>(%x)[%n]
          %1 = affine.apply affine_map<(d0)[s0] -> (d0 mod s0)>(%x)[%n]
          %2 = affine.min affine_map<(d0)[s0] -> (d0, s0, 3)>(%x)[%n]
          %3 = affine.max affine_map<(d0)[s0] -> (d0, s0, 3)>(%x)[%n]
          return %0, %1, %2, %3 : index, index, index, index
        }""")
    for x in NUMBERS:
        found = Interpreter(module).call("main", [np.int64(x), np.int64(by)])
        assert list(found) == [x // by, x % by, min(x, by, 3), max(x, by, 3)]


def test_digits():
    module = lowered("""
        func.func @main(%x: index, %n: index) -> (index, index, index, index, index) {
          %a:3 = affine.delinearize_index %x into (4, %n) : index, index, index
          %b = affine.linearize_index [%a#0, %a#1, %a#2] by (4, %n) : index
          %c = affine.linearize_index disjoint [%a#2, %a#1] by (%n, 4) : index
          return %a#0, %a#1, %a#2, %b, %c : index, index, index, index, index
        }""")
    for x, n in product((0, 5, 59, 60, 121), (1, 3, 5)):
        found = Interpreter(module).call("main", [np.int64(x), np.int64(n)])
        rest = x // n
        assert list(found) == [rest // 4, rest % 4, x % n, x, x % n * 4 + rest % 4]


PROGRAMS = {
    "loops": """
      %c = arith.constant 1.5 : f32
      affine.for %i = 0 to min affine_map<()[s0] -> (s0 + 3, 8)>()[%n] step 2 {
        affine.for %j = max affine_map<(d0) -> (d0 floordiv 3, 1)>(%i) to 5 {
          %x = affine.load %m[%i + 1, (%j * 2) mod 3] : memref<9x?xf32>
          %y = arith.addf %x, %c : f32
          affine.store %y, %m[%i, %j ceildiv 2] : memref<9x?xf32>
        }
      }
      affine.for %i = 5 to 3 {
        affine.store %c, %m[%i, 0] : memref<9x?xf32>
      }""",
    "carried values": """
      %c = arith.constant 1.5 : f32
      %s, %t = affine.for %i = 0 to 9 iter_args(%a = %c, %b = %c) -> (f32, f32) {
        %x = affine.load %m[%i, 2] : memref<9x?xf32>
        %y = arith.addf %a, %x : f32
        affine.yield %b, %y : f32, f32
      }
      affine.store %s, %m[0, 0] : memref<9x?xf32>
      affine.store %t, %m[0, symbol(%n)] : memref<9x?xf32>""",
    "conditions": """
      %c = arith.constant 1.5 : f32
      affine.for %i = 0 to 9 {
        %v = affine.if affine_set<(d0)[s0] : (d0 - s0 >= 0, d0 mod 2 == 0)>(%i)[%n] -> f32 {
          affine.yield %c : f32
        } else {
          %x = affine.load %m[%i, 1] : memref<9x?xf32>
          affine.yield %x : f32
        }
        affine.if affine_set<() : (1 == 0)>() {
          affine.store %c, %m[%i, 1] : memref<9x?xf32>
        }
        affine.store %v, %m[%i, 0] : memref<9x?xf32>
      }""",
    "parallel": """
      affine.parallel (%i, %j) = (0, max(1, symbol(%n) - 4)) to (9, min(symbol(%n), 4)) step (2, 1) {
        %x = affine.load %m[%i, %j - 1] : memref<9x?xf32>
        affine.store %x, %m[%i, 5] : memref<9x?xf32>
      }
      %p, %q = affine.parallel (%i, %j) = (0, 0) to (9, 5) reduce ("addf", "minimumf") -> (f32, f32) {
        %x = affine.load %m[%i, %j] : memref<9x?xf32>
        %y = arith.negf %x : f32
        affine.yield %x, %y : f32, f32
      }
      %e = affine.parallel (%i) = (4) to (symbol(%n)) reduce ("mulf") -> (f32) {
        affine.yield %p : f32
      }
      affine.store %p, %m[1, 6] : memref<9x?xf32>
      affine.store %q, %m[2, 6] : memref<9x?xf32>
      affine.store %e, %m[3, 6] : memref<9x?xf32>""",
    "vectors": """
      affine.for %i = 0 to 8 {
        affine.prefetch %m[%i + 1, 0], read, locality<3>, data : memref<9x?xf32>
        %v = affine.vector_load %m[%i + 1, symbol(%n) - 2] : memref<9x?xf32>, vector<4xf32>
        affine.vector_store %v, %m[%i, 2] : memref<9x?xf32>, vector<4xf32>
      }""",
}


@pytest.mark.parametrize("name", PROGRAMS)
@pytest.mark.parametrize("n", [3, 4])
def test_programs(name: str, n: int, tmp_path: Path):
    """As interpreted before, after, and compiled."""
    text = f"func.func @main(%m: memref<9x?xf32>, %n: index) {{ {PROGRAMS[name]}\n return }}"
    given = np.random.default_rng(0).standard_normal((9, 7)).astype(np.float32)
    before, after = given.copy(), given.copy()
    Interpreter(parse_module(text)).call("main", [before, np.int64(n)])
    assert not np.array_equal(before, given, equal_nan=True)
    Interpreter(lowered(text)).call("main", [after, np.int64(n)])
    np.testing.assert_array_equal(after, before)
    np.save(tmp_path / "given.npy", given)
    (tmp_path / "f.mlir").write_text(text)
    arguments = f"{tmp_path / 'given.npy'},i64:{n}"
    command = [str(tmp_path / "f.mlir"), "--args", arguments, "--compile", "--print", "none"]
    assert nn_run.main([*command, "--output", str(tmp_path / "found.npz")]) == 0
    with np.load(tmp_path / "found.npz") as found:
        (compiled,) = found.values()
    np.testing.assert_allclose(compiled, before, rtol=1e-5, atol=1e-6)


def test_transfers_become_those_of_memref():
    module = lowered("""
        func.func @main(%a: memref<40xf32>, %b: memref<8xf32, 1>, %t: memref<1xi32>, %i: index) {
          %n = arith.constant 4 : index
          %z = arith.constant 0 : index
          affine.dma_start %a[%i + 3], %b[%i], %t[%z], %n : memref<40xf32>, memref<8xf32, 1>, memref<1xi32>
          affine.dma_wait %t[%z], %n : memref<1xi32>
          return
        }""")
    a, b = np.arange(40, dtype=np.float32), np.zeros(8, np.float32)
    Interpreter(module).call("main", [a, b, np.zeros(1, np.int32), np.int64(2)])
    np.testing.assert_array_equal(b, [0, 0, 5, 6, 7, 8, 0, 0])


def test_a_function_without_a_body_stays():
    module = lowered("func.func private @main(memref<9xf32>)")
    assert "func.func private @main" in str(module)
