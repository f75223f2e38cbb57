"""Conditions and loops. Known conditions are evaluated, and short known loops unrolled."""

from __future__ import annotations

from dataclasses import replace

from ...common.importer import Body
from ...common.loops import Iteration, branch, mirrored, while_loop
from ...common.vocabulary import *
from ..graph import graph_of
from ..node import A, Node
from ..registry import converter
from .sequences import as_value

MOST_UNROLLED = 1_000
"""The most nodes that unrolling a loop may make; a longer one stays a loop."""
MOST_NODES = 100_000
"""The same limit for a loop that must be unrolled."""


@converter("If", any_rank=True)
def if_(n: Node, condition: Value) -> list[Any]:
    """The results of the taken branch; if it is unknown, those of an `nn.if` of both."""
    known = n.known(condition)
    if known is not None:
        name = "then_branch" if bool(known.reshape(-1)[0]) else "else_branch"
        return body(n, name)()
    branches = [body(n, name, may_fail=True) for name in ("then_branch", "else_branch")]
    return branch(n, condition, branches, one_may_fail=n.builder.may_leave_out)


def body(n: Node, attribute: str, *, may_fail: bool = False) -> Body:
    """The graph in an attribute; with `may_fail`, it is a branch whose import may fail."""
    graph = graph_of(n.builder.model, n.attribute(attribute, A.GRAPH))
    context = replace(n.context, may_fail=n.context.may_fail or may_fail)
    return n.builder.body(graph, n, context)


@converter("Loop", any_rank=True)
def loop(n: Node, count: Value | None, condition: Value | None, *state: Any) -> list[Any]:
    """A loop; it is unrolled if it is known to have few iterations."""
    step, carried = body(n, "body"), list(state)
    if len(step.inputs) != len(carried) + 2 or len(step.outputs) <= len(carried):
        raise n.error(
            f"the body has {len(step.inputs)} inputs and {len(step.outputs)} outputs, expected "
            f"{len(carried) + 2} and at least {len(carried) + 1}"
        )
    are_tensors = all(isinstance(v, Value) for v in carried)
    most = MOST_UNROLLED if are_tensors else MOST_NODES
    results = unrolled_loop(n, step, count, condition, carried, most)
    if results is not None:
        return results
    carried = [as_value(n, v) for v in carried]

    def iteration(number: Value, flag: Value, states: list[Value]) -> Iteration:
        going, *outputs = (as_value(n, v) for v in step(number, flag, *states))
        return Iteration(outputs[: len(states)], outputs[len(states) :], going)

    limit = None if count is None else as_scalar(n, n.cast(count, i64))
    going = None if condition is None else as_scalar(n, condition)
    states, stacks = while_loop(n, iteration, carried, limit, going, bounded=True)
    return [*states, *stacks]


def unrolled_loop(
    n: Node, step: Body, count: Value | None, condition: Value | None, state: list[Any], most: int
) -> list[Any] | None:
    """The results of a loop unrolled to at most `most` nodes.

    None if it is longer, or its end is not known.
    """
    known = None if count is None else n.known(count)
    if count is not None and known is None:
        return None
    limit = None if known is None else int(known.reshape(-1)[0])
    nodes, carried = max(len(step.nodes), 1), state
    if limit is not None and limit * nodes > most:
        return None
    going = n.constant(True, i1) if condition is None else condition
    collected: list[list[Any]] = [[] for _ in step.outputs[len(carried) + 1 :]]
    i = 0
    while limit is None or i < limit:
        known = n.known(going)
        if known is None or i * nodes > most:
            return None
        if not known.all():
            break
        going, *outputs = step(n.constant(i, i64), going, *carried)
        carried, scans = outputs[: len(carried)], outputs[len(carried) :]
        for rows, row in zip(collected, scans, strict=True):
            rows.append(row)
        i += 1
    if i == 0 and collected:
        return None  # without an iteration, the shapes of the stacks are unknown
    return [*carried, *(stacked(n, tensors(n, rows), 0) for rows in collected)]


def tensors(n: Node, values: Sequence[Any]) -> list[Value]:
    """The values. Raises NncError if one is a sequence."""
    if not all(isinstance(v, Value) for v in values):
        raise n.error("the body gives a sequence, expected a tensor")
    return list(values)


@converter("Scan")
def scan_batch(n: Node, lengths: Value | None, *inputs: Value) -> list[Any]:
    """The scan before opset 9: one for each element of a batch, with its sequence's length.

    Rows after the end of a sequence are 0.
    """
    step, scanned = body(n, "body"), n.int("num_scan_inputs")
    if not 1 <= scanned <= len(inputs) or len(step.inputs) != len(inputs):
        raise n.error(f"{scanned} scan inputs of {len(inputs)}, body with {len(step.inputs)}")
    sources = inputs[-scanned:]
    backward = per_item(n, "directions", scanned)
    batch, steps = (extent(n, (sources[0], axis)).value for axis in range(2))

    def example(number: Value, flag: Value, _: list[Value]) -> Iteration:
        own = [gathered(n, v, number) for v in inputs]
        count = steps if lengths is None else n.cast(gathered(n, lengths, number), i64)

        def iteration(t: Value, flag: Value, states: list[Value]) -> Iteration:
            inside = n(nn.Less(t, count))
            last = n(nn.Sub(count, n.constant(1, i64)))
            back = n(nn.Max(n(nn.Sub(last, t)), n.constant(0, i64)))
            places = [back if reverse else t for reverse in backward]
            rows = [gathered(n, v, at) for v, at in zip(own[-scanned:], places, strict=True)]
            outputs = tensors(n, step(*states, *rows))
            if lengths is not None:
                before = [*states, *(n.scalar(0, v) for v in outputs[len(states) :])]
                pairs = zip(outputs, before, strict=True)
                outputs = [n(nn.Where(inside, new, old)) for new, old in pairs]
            return Iteration(outputs[: len(states)], outputs[len(states) :])

        states, stacks = while_loop(n, iteration, own[:-scanned], steps)
        return Iteration([], [*states, *stacks])

    _, results = while_loop(n, example, [], batch)
    return results


@converter("Scan", since=9)
def scan(n: Node, *inputs: Value) -> list[Any]:
    """A scan: the body applied to each slice of the scanned inputs; unrolled if it is short."""
    step, scanned = body(n, "body"), n.int("num_scan_inputs")
    if not 1 <= scanned <= len(inputs) or len(step.inputs) != len(inputs):
        raise n.error(f"{scanned} scan inputs of {len(inputs)}, body with {len(step.inputs)}")
    carried, sources = list(inputs[:-scanned]), inputs[-scanned:]
    results = len(step.outputs) - len(carried)
    axes = [
        normalize_axis(n, axis, source.type.rank, "scan_input_axes: axis")
        for axis, source in zip(per_item(n, "scan_input_axes", scanned), sources, strict=True)
    ]
    extents = [s.type.shape[axis] for s, axis in zip(sources, axes, strict=True)]
    lengths = set(extents) - {None}
    if len(lengths) > 1:
        raise n.error(f"the scanned inputs have {lengths} elements, expected one number")
    length = min(lengths, default=None)
    backward = per_item(n, "scan_input_directions", scanned)
    prepend = per_item(n, "scan_output_directions", results)
    places = per_item(n, "scan_output_axes", results)
    nodes = max(len(step.nodes), 1)
    if None in extents or not length or length * nodes > MOST_UNROLLED:
        return scan_loop(n, step, carried, sources, axes, backward, prepend, places)
    collected: list[list[Value]] = [[] for _ in range(results)]
    for i in range(length):
        slices = [
            column(n, source, axis, length - 1 - i if reverse else i)
            for source, axis, reverse in zip(sources, axes, backward, strict=True)
        ]
        outputs = step(*carried, *slices)
        carried, scans = outputs[: len(carried)], outputs[len(carried) :]
        for rows, row in zip(collected, scans, strict=True):
            rows.append(row)
    outs = []
    for rows, axis, reverse in zip(collected, places, prepend, strict=True):
        axis = normalize_axis(n, axis, rows[0].type.rank + 1, "scan_output_axes: axis")
        outs.append(stacked(n, tensors(n, rows[::-1] if reverse else rows), axis))
    return [*carried, *outs]


def per_item(n: Node, name: str, count: int) -> tuple[int, ...]:
    """An attribute with a number for each of `count` inputs or outputs; by default zeros."""
    values = n.ints(name) or (0,) * count
    if len(values) != count:
        raise n.error(f"attribute '{name}' has {len(values)} elements, expected {count}")
    return values


def scan_loop(
    n: Node,
    step: Body,
    carried: list[Value],
    sources: Sequence[Value],
    axes: Sequence[int],
    backward: Sequence[int],
    prepend: Sequence[int],
    places: Sequence[int],
) -> list[Value]:
    """A scan as a loop over the elements of its first input."""
    count = extent(n, (sources[0], axes[0])).value

    def iteration(number: Value, flag: Value, states: list[Value]) -> Iteration:
        back = mirrored(n, number, count) if any(backward) else number
        rows = [
            gathered(n, source, back if reverse else number, axis)
            for source, axis, reverse in zip(sources, axes, backward, strict=True)
        ]
        outputs = tensors(n, step(*states, *rows))
        return Iteration(outputs[: len(states)], outputs[len(states) :])

    states, stacks = while_loop(n, iteration, carried, count)
    outs = []
    for stack, axis, reverse in zip(stacks, places, prepend, strict=True):
        axis = normalize_axis(n, axis, stack.type.rank, "scan_output_axes: axis")
        stack = reversed_axes(n, stack, [0]) if reverse else stack
        order = [*range(1, axis + 1), 0, *range(axis + 1, stack.type.rank)]
        outs.append(stack if axis == 0 else n(nn.Transpose(stack, permutation=order)))
    return [*states, *outs]
