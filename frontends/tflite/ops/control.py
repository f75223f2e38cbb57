"""Branches, loops and calls."""

from __future__ import annotations

from ...common.loops import Iteration, branch, while_loop
from ...common.vocabulary import *
from ..layer import TfliteLayer
from ..rows import ROWS


@ROWS("IF")
def if_(n: TfliteLayer, condition: Value, *inputs: Value) -> list[Any]:
    flag = as_scalar(n, condition)
    sides = [lambda name=name: n.graph(name, *inputs) for name in ("then", "otherwise")]
    known = n.known(flag)
    if known is not None:
        return sides[not known]()
    return branch(n, flag, sides)


@ROWS("WHILE")
def while_(n: TfliteLayer, *inputs: Value) -> list[Value]:
    def goes(values: list[Value]) -> Value:
        return as_scalar(n, n.graph("condition", *values)[0])

    def step(number: Value, flag: Value, states: list[Value]) -> Iteration:
        following = n.graph("body", *states)
        return Iteration(following, (), goes(following))

    return while_loop(n, step, list(inputs), None, goes(list(inputs)))[0]


@ROWS("CALL")
def call(n: TfliteLayer, *inputs: Value) -> list[Any]:
    return n.graph("graph", *inputs)
