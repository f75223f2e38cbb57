"""`nn.holds`: steps on integers of 64 bits, interpreted and compiled, against NumPy."""

from itertools import product

import nnc
import numpy as np
import pytest
from nnc.ir.diagnostics import NncError
from nnc.ir.syntax.parser import parse_module
from nnc.numerics.interpreter import Interpreter

EXACT = {
    "+": np.add,
    "-": np.subtract,
    "*": np.multiply,
    "//": np.floor_divide,
    "%": np.mod,
    "max": np.maximum,
    "min": np.minimum,
}
LEAST, LARGEST = -(1 << 63), (1 << 63) - 1
PAIRS = [*product([LEAST, -7, 0, 5, LARGEST], repeat=2)]


def holding(code):
    text = f"""
    func.func @main(%n: tensor<3xi64>) -> tensor<i1> {{
      %p = nn.holds %n {{code = "{code}"}} : (tensor<3xi64>) -> tensor<i1>
      return %p : tensor<i1>
    }}"""
    found = parse_module(text, "holds.mlir")
    found.verify()
    return found


@pytest.mark.parametrize("name", EXACT)
def test_numbers_wrap_and_divisors_are_above_0(name):
    module = holding(f"n0 {name} n1; v0 == n2")
    interpreter, model = Interpreter(module), nnc.compile(holding(f"n0 {name} n1; v0 == n2"))
    for a, b in PAIRS:
        by = max(b, 1) if name in ("//", "%") else b
        with np.errstate(over="ignore"):
            exact = EXACT[name](np.int64(a), np.int64(by))
        for number in (exact, exact ^ 1):
            given = np.array([a, b, number])
            (interpreted,) = interpreter.call("main", [given])
            assert interpreted == model(given) == (number == exact), (a, b)


def test_a_number_of_more_than_64_bits():
    with pytest.raises(NncError, match=f"'{LARGEST + 1}' does not fit 64 bits"):
        holding(f"n0 < {LARGEST + 1}")
    holding(f"n0 < {LARGEST}; n0 > {LEAST}; v0 and v1")
