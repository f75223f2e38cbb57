"""Integers of widths that NumPy does not have, and notes of results that are not defined."""

import numpy as np
import pytest
from nnc.ir.syntax.parser import parse_module
from nnc.ir.undefined import watch
from nnc.numerics.interpreter import Interpreter

WIDTHS = [2, 3, 4, 7, 12, 24, 33, 64]


def wrapped(value: int, width: int) -> int:
    value &= (1 << width) - 1
    return value - (1 << width) if value >> (width - 1) else value


def bits(value: int, width: int) -> int:
    return value & ((1 << width) - 1)


OPERATIONS = {
    "addi": lambda a, b, w: a + b,
    "subi": lambda a, b, w: a - b,
    "muli": lambda a, b, w: a * b,
    "divui": lambda a, b, w: bits(a, w) // bits(b, w),
    "remui": lambda a, b, w: bits(a, w) % bits(b, w),
    "maxui": lambda a, b, w: max(bits(a, w), bits(b, w)),
    "minsi": lambda a, b, w: min(a, b),
    "shrui": lambda a, b, w: bits(a, w) >> (bits(b, w) % w),
    "shrsi": lambda a, b, w: a >> (bits(b, w) % w),
    "shli": lambda a, b, w: a << (bits(b, w) % w),
}


@pytest.mark.parametrize("width", WIDTHS)
@pytest.mark.parametrize("name", OPERATIONS)
def test_against_python_integers(name: str, width: int) -> None:
    text = f"""
      func.func @f(%a: i{width}, %b: i{width}) -> i{width} {{
        %r = arith.{name} %a, %b : i{width}
        return %r : i{width}
      }}"""
    interpreter = Interpreter(parse_module(text))
    generator = np.random.default_rng(width)
    half = 1 << (width - 1)
    for _ in range(20):
        a, b = (int(v) for v in generator.integers(-half, half - 1, 2, endpoint=True))
        if b == 0:
            b = 1
        if name.startswith("sh"):
            b = wrapped(bits(b, width) % width, width)
            if bits(b, width) >= width:
                continue
        (found,) = interpreter.call("f", [a, b])
        assert int(found) == wrapped(OPERATIONS[name](a, b, width), width), (a, b)


def test_constants_of_three_bytes() -> None:
    module = parse_module("""
      func.func @f() -> tensor<3xi24> {
        %c = arith.constant dense<[-1, 8388607, -8388608]> : tensor<3xi24>
        return %c : tensor<3xi24>
      }""")
    (found,) = Interpreter(module).call("f")
    assert found.tolist() == [-1, 8388607, -8388608]


UNDEFINED = [
    ("arith.fptosi %x : f32 to i8", np.float32(300), True),
    ("arith.fptosi %x : f32 to i8", np.float32(-128.9), False),
    ("arith.fptosi %x : f32 to i8", np.float32(np.nan), True),
    ("arith.fptoui %x : f32 to i8", np.float32(255.5), False),
    ("arith.shli %x, %x : i8", np.int8(8), True),
    ("arith.shli %x, %x : i8", np.int8(7), False),
    ("arith.shrsi %x, %x exact : i8", np.int8(3), True),
    ("arith.addi %x, %x overflow<nsw> : i8", np.int8(64), True),
    ("arith.addi %x, %x overflow<nuw> : i8", np.int8(64), False),
    ("arith.muli %x, %x overflow<nuw> : i8", np.int8(-1), True),
    ("arith.muli %x, %x : i8", np.int8(-1), False),
    ("arith.divsi %x, %m : i8", np.int8(-128), True),
    ("arith.divsi %x, %m : i8", np.int8(-127), False),
]


@pytest.mark.parametrize("text, value, undefined", UNDEFINED)
def test_notes(text: str, value: np.generic, undefined: bool) -> None:
    source = "f32" if "fpto" in text else "i8"
    module = parse_module(f"""
      func.func @f(%x: {source}) -> i8 {{
        %m = arith.constant -1 : i8
        %r = {text}
        return %r : i8
      }}""")
    with watch() as seen:
        Interpreter(module).call("f", [value])
    assert bool(seen) == undefined
