"""packed.dotf as machine code and interpreted, against NumPy."""

import numpy as np
from nnc.ir.syntax.parser import parse_module
from nnc.numerics.interpreter import Interpreter

from .native import call_native


def test_dot_products_in_machine_code():
    """Two bf16 in a word, also without an instruction for them."""
    rng = np.random.default_rng(0)
    bits = rng.standard_normal((2, 16, 2)).astype(np.float32).view(np.uint32) & 0xFFFF0000
    numbers = bits.view(np.float32).astype(np.float64)
    words = ((bits[..., 0] >> 16) | bits[..., 1]).view(np.int32)
    out = np.zeros(16, np.float32)
    text = """func.func @f(%w: memref<2x16xi32>, %y: memref<16xf32>) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %a = vector.load %w[%c0, %c0] : memref<2x16xi32>, vector<16xi32>
  %b = vector.load %w[%c1, %c0] : memref<2x16xi32>, vector<16xi32>
  %d = packed.dotf %a, %b : vector<16xi32>
  vector.store %d, %y[%c0] : memref<16xf32>, vector<16xf32>
  return
}"""
    wanted = (numbers[0] * numbers[1]).sum(axis=1)
    call_native(text, [words, out])
    np.testing.assert_allclose(out, wanted, rtol=1e-6, atol=1e-6)
    interpreted = np.zeros(16, np.float32)
    Interpreter(parse_module(text)).call("f", [words, interpreted])
    np.testing.assert_allclose(interpreted, wanted, rtol=1e-6, atol=1e-6)
