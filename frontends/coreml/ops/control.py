"""Branches and loops."""

from __future__ import annotations

from ...common.loops import Iteration, branch, while_loop
from ...common.vocabulary import *
from ..layer import CoreMLLayer, rows


@rows("cond")
def cond(n: CoreMLLayer, pred: Value) -> list:
    known = n.known(pred)
    if known is not None:
        return n.graph("0" if known.all() else "1")
    return branch(n, pred, [lambda: n.graph("0"), lambda: n.graph("1")])


@rows("while_loop")
def loop(n: CoreMLLayer, *loop_vars: Value) -> list:
    def goes_on(states: list[Value]) -> Value:
        (found,) = n.graph("0", *states)
        return as_scalar(n, found)

    def step(number: Value, flag: Value, states: list[Value]) -> Iteration:
        after = n.graph("1", *states)
        return Iteration(after, going=goes_on(after))

    states, _ = while_loop(n, step, loop_vars, None, goes_on(list(loop_vars)))
    return states


@rows("loop of a network")
def network_loop(n: CoreMLLayer, count: Value | None = None, *states: Value) -> list:
    """A loop of `count` iterations, or while the condition holds."""

    def goes_on(states: list[Value]) -> Value | None:
        if "0" not in n.node.graphs:
            return None
        return as_scalar(n, n.graph("0", *states)[0])

    def step(number: Value, flag: Value, states: list[Value]) -> Iteration:
        after = n.graph("1", *states)
        return Iteration(after, going=goes_on(after))

    limit = None if count is None else as_scalar(n, as_i64(n, count))
    found, _ = while_loop(n, step, states, limit, goes_on(list(states)))
    return found
