"""Canonicalization keeps what random arithmetic computes, and finds a fixed point."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from nnc.dialects import arith, func
from nnc.dialects.builtin import ModuleOp
from nnc.ir.builder import Builder
from nnc.ir.passes import PassContext
from nnc.ir.types import f32, i1, i8, i16
from nnc.numerics.interpreter import Interpreter
from nnc.passes.canonicalize import Canonicalize

INTEGERS = [
    arith.AddI,
    arith.SubI,
    arith.MulI,
    arith.AndI,
    arith.OrI,
    arith.XOrI,
    arith.MaxSI,
    arith.MaxUI,
    arith.MinSI,
    arith.MinUI,
]
FLOATS = [
    arith.AddF,
    arith.SubF,
    arith.MulF,
    arith.DivF,
    arith.MaximumF,
    arith.MinNumF,
]
NUMBERS = {i8: [-128, -3, -1, 0, 1, 2, 127], i1: [0, 1], f32: [0.0, -0.0, 1.0, 0.5, float("inf")]}


class Program:
    """A function of random operations; `values` are the candidates for operands by type."""

    def __init__(self, draw):
        self.draw = draw
        self.func = func.FuncOp.of("main", [i8, i8, i1, f32, f32], [])
        self.builder = Builder.at_end(self.func.body_block)
        self.values = {i8: [], i1: [], f32: []}
        for arg in self.func.args:
            self.values[arg.type].append(arg)

    def operand(self, type):
        if self.draw(st.booleans()):
            return self.draw(st.sampled_from(self.values[type]))
        number = self.draw(st.sampled_from(NUMBERS[type]))
        return self.builder(arith.Constant.of(number, type)).result

    def add(self):
        pick = self.draw(st.integers(0, 6))
        one, two = lambda: self.operand(i8), lambda: self.operand(f32)
        match pick:
            case 0 | 1:
                op = self.draw(st.sampled_from(INTEGERS))(one(), one())
            case 2:
                op = self.draw(st.sampled_from(FLOATS))(two(), two())
            case 3:
                predicate = self.draw(st.sampled_from(["eq", "slt", "ule", "sgt", "uge", "ne"]))
                op = arith.CmpI(predicate, one(), one())
            case 4:
                op = arith.Select(self.operand(i1), one(), one())
            case 5:
                op = self.draw(st.sampled_from([arith.XOrI, arith.AndI]))(
                    self.operand(i1), self.operand(i1)
                )
            case _:
                wide = self.builder(
                    self.draw(st.sampled_from([arith.ExtSI, arith.ExtUI]))(one(), out=i16)
                )
                op = self.builder(arith.TruncI(wide, out=i8))
        if op.parent is None:
            self.builder(op)
        if self.draw(st.integers(0, 3)) == 0 and op.result.type is f32:
            op = self.builder(arith.NegF(op))
        self.values[op.result.type].append(op.result)

    def finish(self):
        results = [values[-1] for values in self.values.values()]
        self.builder(func.Return(results))
        types = tuple(v.type for v in results)
        self.func.function_type = type(self.func.function_type)(
            self.func.function_type.inputs, types
        )
        return ModuleOp.of([self.func])


@st.composite
def programs(draw):
    program = Program(draw)
    for _ in range(draw(st.integers(1, 12))):
        program.add()
    return program.finish()


def results(module, args):
    return [v.tobytes() if v == v else "nan" for v in Interpreter(module).call("main", args)]


INPUTS = {
    "module": programs(),
    "a": st.integers(-128, 127),
    "b": st.integers(-128, 127),
    "c": st.booleans(),
    "x": st.floats(width=32),
    "y": st.floats(width=32),
}


@settings(max_examples=40)
@given(**INPUTS)
def test_same_results(module, a, b, c, x, y):
    check(module, a, b, c, x, y)


@pytest.mark.thorough
@settings(max_examples=200)
@given(**INPUTS)
def test_same_results_of_many(module, a, b, c, x, y):
    check(module, a, b, c, x, y)


def check(module, a, b, c, x, y):
    module.verify()
    args = [a, b, c, np.float32(x), np.float32(y)]
    before = results(module, args)
    Canonicalize().run(module, PassContext())
    module.verify()
    assert results(module, args) == before
    text = str(module)
    Canonicalize().run(module, PassContext())
    assert str(module) == text
