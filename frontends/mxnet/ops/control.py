"""Loops and branches, whose nested graphs are attributes of the node.

Further attributes map the inputs of these graphs to inputs of the node, or the other way round.
"""

from __future__ import annotations

from ...common.loops import Iteration, branch, while_loop
from ...common.vocabulary import *
from ..layer import MxnetLayer, rows


@rows("_foreach")
def foreach(n: MxnetLayer, *inputs: Value) -> list[Value]:
    """A loop over slices of the first inputs: results are stacked, states are carried."""
    places = [n.ints(name) for name in ("in_data_locs", "in_state_locs", "remain_locs")]
    order = [place for part in places for place in part]
    first, second = len(places[0]), len(places[0]) + len(places[1])
    if not first or sorted(order) != list(range(len(inputs))):
        raise n.error(
            f"{len(inputs)} inputs, but attributes 'in_data_locs', 'in_state_locs' and "
            f"'remain_locs' number {places}"
        )
    data, states, rest = inputs[:first], inputs[first:second], inputs[second:]
    outs = n.int("num_out_data")

    def step(number: Value, flag: Value, given: list[Value]) -> Iteration:
        slices = [gathered(n, x, number, 0) for x in data]
        values = dict(zip(order, [*slices, *given, *rest], strict=True))
        found = n.graph("0", *(values[i] for i in range(len(order))))
        return Iteration(found[outs:], found[:outs])

    last, stacks = while_loop(n, step, states, extent(n, (data[0], 0)).value)
    return [*stacks, *last]


@rows("_while_loop")
def while_(n: MxnetLayer, *inputs: Value) -> list[Value]:
    """A loop: the first graph is the condition, the second gives a row of results and the next
    states.

    There are as many rows as `max_iterations`; rows not computed are zeros.
    """
    outs, most = n.int("num_out_data"), n.size("max_iterations")
    of_body = n.ints("func_input_locs")
    variables = [of_body[at] for at in n.ints("func_var_locs")]

    def run(graph: str, name: str, states: Sequence[Value]) -> list[Value]:
        values = dict(enumerate(inputs)) | dict(zip(variables, states, strict=True))
        return n.graph(graph, *(values[i] for i in n.ints(name)))

    def goes(states: Sequence[Value]) -> Value:
        return _is_true(n, run("0", "cond_input_locs", states)[0])

    def step(number: Value, flag: Value, given: list[Value]) -> Iteration:
        found = run("1", "func_input_locs", given)
        return Iteration(found[outs:], found[:outs], goes(found[outs:]))

    states = [inputs[i] for i in variables]
    last, stacks = while_loop(n, step, states, n.constant(most, i64), goes(states))
    return [*(_padded_rows(n, rows_, most) for rows_ in stacks), *last]


def _padded_rows(n: MxnetLayer, x: Value, count: int) -> Value:
    """x padded with zero rows to `count` rows."""
    lead = tuple(d if d is not None else n.extent(x, i + 1) for i, d in enumerate(x.type.shape[1:]))
    zeros = n.zeros((count, *lead), x.type.element_type)
    whole = slice_axis(n, concat(n, [x, zeros], 0), 0, 0, count)
    return n(nn.Reshape(whole, out=TensorType((count, *lead), x.type.element_type)))


def _is_true(n: MxnetLayer, flag: Value) -> Value:
    """The condition that a number is not 0."""
    one = as_scalar(n, flag)
    return n.cast(one, i1)


@rows("_cond")
def cond(n: MxnetLayer, *inputs: Value) -> list[Value]:
    """The second graph's results if the first one's is true, else the third's."""

    def run(graph: str, name: str) -> list[Value]:
        return n.graph(graph, *(inputs[i] for i in n.ints(name)))

    condition = _is_true(n, run("0", "cond_input_locs")[0])
    known = n.known(condition)
    branches = [lambda: run("1", "then_input_locs"), lambda: run("2", "else_input_locs")]
    if known is not None:
        return branches[0 if known else 1]()
    return branch(n, condition, branches)
