"""Integer quotients and remainders that a processor would trap at: none may end the process."""

import nnc
import numpy as np
import pytest
from nnc.ir.syntax.parser import parse_module
from nnc.numerics.interpreter import Interpreter

ELEMENTS = [f"{sign}{bits}" for sign in ("i", "ui") for bits in (8, 16, 32, 64)]
OPS = {
    "quotient": "nn.div %a, %b",
    "remainder": "nn.mod %a, %b",
    "fmod": "nn.mod %a, %b {fmod = true}",
}


def expected(op, a, b):
    """NumPy's results, where 0 stands for a quotient and a remainder by 0."""
    with np.errstate(all="ignore"):
        rest = np.fmod(a, b) if op != "remainder" else np.mod(a, b)
        found = (a - np.fmod(a, b)) // np.where(b == 0, 1, b) if op == "quotient" else rest
        if op == "quotient" and a.dtype.kind == "i":
            found = np.where(b == -1, -a, found)
    return np.where(b == 0, np.zeros_like(a), found).astype(a.dtype)


def numbers(dtype, count):
    """Dividends and divisors with all pairs of the extremes, 0 and -1."""
    info = np.iinfo(dtype)
    signed = [-1, -7] if info.min < 0 else []
    ends = np.array([info.min, info.max, 0, 1, 7, info.max // 2, *signed], dtype)
    a, b = (v.ravel() for v in np.meshgrid(ends, ends))
    return np.resize(a, count), np.resize(b, count)


@pytest.mark.sampled(7)
@pytest.mark.parametrize("op", OPS)
@pytest.mark.parametrize("element", ELEMENTS)
@pytest.mark.parametrize("form", ["known", "open", "scalar", "constant"])
def test_division_never_traps(op, element, form):
    count = 1 if form == "scalar" else 67
    dtype = np.dtype(("uint" if element[0] == "u" else "int") + element.lstrip("ui"))
    a, b = numbers(dtype, 67)
    shape = {"known": "67x", "open": "?x", "scalar": "", "constant": "67x"}[form]
    type = f"tensor<{shape}{element}>"
    divisors = [0] if element[0] == "u" else [0, -1]
    for divisor in divisors if form == "constant" else [None]:
        given = "%a: TYPE" if divisor is not None else "%a: TYPE, %b: TYPE"
        fill = f"%b = nn.constant dense<{divisor}> : TYPE" if divisor is not None else ""
        text = f"""func.func @main({given}) -> TYPE {{
            {fill}
            %y = {OPS[op]} : (TYPE, TYPE) -> TYPE
            return %y : TYPE
        }}""".replace("TYPE", type)
        own = [a, np.full_like(b, divisor) if divisor is not None else b]
        pairs = [own] if count > 1 else [[x[()], y[()]] for x, y in zip(*own, strict=True)][:64:5]
        model = nnc.compile(parse_module(text), cache=False)
        for x, y in pairs:
            inputs = [np.asarray(x)] if divisor is not None else [np.asarray(x), np.asarray(y)]
            wanted = expected(op, np.asarray(x), np.asarray(y))
            np.testing.assert_array_equal(model(*inputs), wanted)
            found = Interpreter(parse_module(text)).call("main", inputs)[0]
            np.testing.assert_array_equal(found, wanted)
