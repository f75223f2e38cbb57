"""`nn.holds`: steps on integers of 64 bits, interpreted and compiled, against NumPy; its checks."""

from itertools import product

import nnc
import numpy as np
import pytest
from nnc.dialects import cf, gpu
from nnc.driver.compile import load_module, run_stages
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


@pytest.mark.parametrize(
    "code", ["n0 * 0.29; v0 // 1; v1 == n1", "n0 / 7; v0 - 0.1; v1 * 3; v2 <= n1"]
)
def test_floats_are_rounded_as_python_does(code):
    module = holding(code)
    interpreter, model = Interpreter(module), nnc.compile(holding(code), cache=False)
    for n in (*range(-3, 3), 28, 57, 58, 99, 100, 101, 200, 12345678901):
        for m in {int(np.floor(n * 0.29)), round(n * 0.29), int((n / 7 - 0.1) * 3) + n % 2}:
            wide = (n / 7 - 0.1) * 3 <= m if "/ 7" in code else int(np.floor(n * 0.29)) == m
            given = np.array([n, m, 0])
            (interpreted,) = interpreter.call("main", [given])
            assert interpreted == model(given) == wide, (n, m)


def test_a_number_of_more_than_64_bits():
    with pytest.raises(NncError, match=f"'{LARGEST + 1}' does not fit 64 bits"):
        holding(f"n0 < {LARGEST + 1}")
    holding(f"n0 < {LARGEST}; n0 > {LEAST}; v0 and v1")


CHECKED = """
    func.func @main(%x: tensor<?x8xf32>, %w: tensor<8x2xf32>) -> tensor<?x2xf32> {
      %n = nn.shape_of %x : (tensor<?x8xf32>) -> tensor<2xi64>
      %y = nn.matmul %x, %w : (tensor<?x8xf32>, tensor<8x2xf32>) -> tensor<?x2xf32>
      %p = nn.holds %n {code = "n0 != 1"} : (tensor<2xi64>) -> tensor<i1>
      %1 = nn.assume %y, %p {message = "one row"} : (tensor<?x2xf32>, tensor<i1>) -> tensor<?x2xf32>
      %q = nn.holds %n {code = "n0 * n0; v0 < 81"} : (tensor<2xi64>) -> tensor<i1>
      %2 = nn.assume %1, %q {message = "9 rows"} : (tensor<?x2xf32>, tensor<i1>) -> tensor<?x2xf32>
      return %2 : tensor<?x2xf32>
    }"""


def test_checks_of_a_product():
    """They cost no kernel, and each has its message."""
    model = nnc.compile(parse_module(CHECKED))
    w = np.arange(16, dtype=np.float32).reshape(8, 2)
    for rows in (2, 8):
        x = np.arange(8 * rows, dtype=np.float32).reshape(rows, 8)
        np.testing.assert_array_equal(model(x, w), x @ w)
    for rows, message in ((1, "one row"), (9, "9 rows")):
        with pytest.raises(NncError, match=message):
            model(np.ones((rows, 8), np.float32), w)


@pytest.mark.parametrize("extents", ["?x8", "4x8"])
def test_checks_are_no_launches(extents):
    """The host of a device compares extents by itself, and nothing is copied."""
    text = CHECKED.replace("?x8", extents).replace("?x2", extents.replace("x8", "x2"))
    module = run_stages(load_module(parse_module(text)), target="cuda", last="shares")
    launches = [op for op in module.walk() if isinstance(op, gpu.LaunchFunc)]
    asserts = [op for op in module.walk() if isinstance(op, cf.Assert)]
    assert len(launches) == 1
    assert len(asserts) == (2 if extents == "?x8" else 0)
    for op in asserts:
        assert op.parent_of(gpu.GPUFuncOp) is None
