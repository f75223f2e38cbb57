"""If, Loop and Scan around small graphs."""

from __future__ import annotations

from typing import Any

import numpy as np
from onnx import helper

from .graphs import Graph, RejectedNodeError, Value

UNARY = ("Relu", "Neg", "Abs", "Sigmoid", "Tanh", "Identity")


def _info(name: str, array: np.ndarray, shape: Any = ()) -> Any:
    code = helper.np_dtype_to_tensor_dtype(array.dtype)
    return helper.make_tensor_value_info(name, code, array.shape if shape == () else shape)


def _chain(g: Graph, source: str, count: int) -> tuple[list[Any], str]:
    """A few nodes one after another, and the last one's result."""
    nodes = []
    for _ in range(count):
        made = g.name()
        nodes.append(helper.make_node(g.choice.choice(UNARY), [source], [made], g.name("n")))
        source = made
    return nodes, source


def branch(g: Graph) -> None:
    """An If that chooses one of two graphs by an outer value or a constant condition."""
    x = g.pick(("float32", "float64"))
    condition = g.enter(np.array(g.choice.random() < 0.5))
    graphs = []
    for side in ("then", "else"):
        nodes, result = _chain(g, x.name, g.choice.randint(1, 3))
        if g.choice.random() < 0.3:  # an outer value twice
            made = g.name()
            nodes.append(helper.make_node("Add", [result, x.name], [made], g.name("n")))
            result = made
        graphs.append(helper.make_graph(nodes, side, [], [_info(result, x.array)]))
    then, other = graphs
    g.put(
        helper.make_node(
            "If", [condition.name], [g.name()], g.name("if"), then_branch=then, else_branch=other
        )
    )


def loop(g: Graph) -> None:
    """A loop with a state, a stacked output, and perhaps a computed condition."""
    x = g.pick(("float32",), fits=lambda v: v.array.size < 200)
    trips = g.ints(g.choice.choice((0, 1, 2, 3, 5)), g.choice.random() < 0.4)
    going = g.enter(np.array(True), g.choice.random() < 0.5)
    step, before, state = (g.name("b") for _ in range(3))
    nodes, result = _chain(g, state, g.choice.randint(1, 2))
    total, after = g.name("b"), g.name("b")
    nodes.append(helper.make_node("Add", [result, x.name], [total], g.name("n")))
    if g.choice.random() < 0.3:
        limit = g.ints(g.choice.choice((1, 2, 9)), True)
        nodes.append(helper.make_node("Less", [step, limit.name], [after], g.name("n")))
    else:
        nodes.append(helper.make_node("Identity", [before], [after], g.name("n")))
    stacked = g.name("b")
    nodes.append(helper.make_node("Neg", [total], [stacked], g.name("n")))
    flag = np.array(True)
    body = helper.make_graph(
        nodes,
        "body",
        [_info(step, np.array(0)), _info(before, flag), _info(state, x.array)],
        [_info(after, flag), _info(total, x.array), _info(stacked, x.array)],
    )
    inputs = [trips.name, going.name, x.name]
    g.put(helper.make_node("Loop", inputs, [g.name(), g.name()], g.name("loop"), body=body))


def scan(g: Graph) -> None:
    """A sum along the first axis, with its value after each step."""
    x: Value = g.pick(("float32",), least=1, fits=lambda v: v.array.size < 200)
    if not x.array.shape[0]:
        raise RejectedNodeError
    row = x.array[0]
    start = g.enter(np.zeros_like(row))
    state, one, total, each = (g.name("b") for _ in range(4))
    nodes = [
        helper.make_node("Add", [state, one], [total], g.name("n")),
        helper.make_node(g.choice.choice(UNARY), [total], [each], g.name("n")),
    ]
    body = helper.make_graph(
        nodes,
        "body",
        [_info(state, row), _info(one, row)],
        [_info(total, row), _info(each, row)],
    )
    outputs = [g.name(), g.name()]
    inputs = [start.name, x.name]
    g.put(helper.make_node("Scan", inputs, outputs, g.name("scan"), body=body, num_scan_inputs=1))


CONTROL = (branch, loop, scan)
