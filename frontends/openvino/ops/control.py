"""Branches and loops, whose bodies are graphs of their own."""

from __future__ import annotations

from functools import partial

from ...common.loops import Iteration, branch, mirrored, while_loop
from ...common.vocabulary import *
from ..layer import OpenvinoLayer, rows
from ..ports import Port, Ports


@rows("If")
def if_(n: OpenvinoLayer, condition: Value, *given: Value) -> list[Any]:
    """The results of the body that the condition chooses."""
    known, operands = n.known(condition), (condition, *given)
    if known is not None:
        return _branch(n, "then_body" if bool(known.all()) else "else_body", operands)
    bodies = [partial(_branch, n, name, operands) for name in ("then_body", "else_body")]
    found = branch(n, as_scalar(n, condition), bodies)
    return found


def _branch(n: OpenvinoLayer, name: str, operands: Sequence[Value]) -> list[Any]:
    both = {body: n.ports(body) for body in ("then_body", "else_body")}
    ports, body = both[name], n.builder.body(n.node.graphs[name], n)
    inputs = {port.inner: operands[port.outer] for port in ports.inputs}
    made = _call(n, body, inputs)
    found = {port.outer: made[port.inner] for port in ports.outputs}
    return [found[i] for i in sorted(found)]


def _call(n: OpenvinoLayer, body: Any, inputs: Mapping[str, Value]) -> dict[str, Value]:
    """The results of a body by their layers, from the values of its parameters by theirs."""
    names = [name.rpartition(".")[2] for name in body.inputs]
    if lacking := [name for name in names if name not in inputs]:
        raise n.error(f"parameters {lacking} of its body get no value")
    results = [name for name, _ in body.scope.graph.outputs]
    return dict(zip(results, body(*(inputs[name] for name in names)), strict=True))


@rows("TensorIterator", "Loop")
def loop(n: OpenvinoLayer, *operands: Value) -> list[Any]:
    """Iterations over parts of inputs, with states; a `Loop` also has a number and a condition."""
    ports, body = n.ports("body"), n.builder.body(n.node.graphs["body"], n)
    sliced = [port for port in ports.inputs if port.axis is not None]
    changed = [port for port in ports.inputs if port.inner in ports.back]
    kept = {p.inner: operands[p.outer] for p in ports.inputs if p not in (*sliced, *changed)}
    counts = [_parts(n, operands[port.outer], port) for port in sliced]
    limit, going = _end_of(n, operands, ports, counts)
    carried = [port.inner for port in changed]
    lasts = [p.inner for p in ports.outputs if p.axis is None and p.inner not in _sources(ports)]
    stacks = [port for port in ports.outputs if port.axis is not None]

    def iteration(number: Value, flag: Value, states: list[Value]) -> Iteration:
        inputs = dict(kept) | dict(zip(carried, states, strict=False))
        for port, count in zip(sliced, counts, strict=True):
            inputs[port.inner] = _part(n, operands[port.outer], port, number, count)
        if ports.number is not None:
            inputs[ports.number] = _as_parameter(n, body, ports.number, number)
        made = _call(n, body, inputs)
        following = [made[ports.back[name]] for name in carried]
        goes = None if ports.going is None else as_scalar(n, made[ports.going])
        following += [made[name] for name in lasts]
        return Iteration(following, [made[port.inner] for port in stacks], goes)

    firsts = [operands[port.outer] for port in changed]
    firsts += [n.constant(np.zeros((), np.float32))] * len(lasts)
    states, rows_ = while_loop(n, iteration, firsts, limit, going, bounded=True)
    ends = dict(zip((ports.back[name] for name in carried), states, strict=False))
    ends |= dict(zip(lasts, states[len(carried) :], strict=True))
    joined_ = {p.outer: _concatenated(n, v, p) for p, v in zip(stacks, rows_, strict=True)}
    found = joined_ | {p.outer: ends[p.inner] for p in ports.outputs if p.axis is None}
    return [found.get(i) for i in range(len(n.node.outputs))]


def _sources(ports: Ports) -> set[str]:
    return set(ports.back.values())


def _end_of(
    n: OpenvinoLayer, operands: Sequence[Value], ports: Ports, counts: Sequence[Value]
) -> tuple[Value | None, Value | None]:
    """How many iterations there are at most, and whether there is a first one."""
    if n.kind == "TensorIterator":
        if not counts:
            raise n.error("it iterates over no input")
        return counts[0], None
    count = as_scalar(n, as_i64(n, operands[0]))
    known, limit = n.known(count), None
    if known is None:
        without = Term(n, count) < 0
        limit = without.choose(constant(n, (1 << 36) - 1, i64), Term(n, count)).value
    elif known >= 0:
        limit = count
    if limit is None and ports.going is None:
        raise n.error("nothing ends the loop")
    for own in counts:
        text = "a loop has more iterations than its input has parts"
        if limit is None:
            raise n.error("a loop over parts of an input needs a number of iterations")
        limit = n(nn.Assume(limit, n(nn.LessEqual(limit, own)), text))
    return limit, as_scalar(n, operands[1])


def _as_parameter(n: OpenvinoLayer, body: Any, inner: str, number: Value) -> Value:
    """The number of an iteration as the body's parameter has it."""
    for one in body.scope.graph.inputs:
        if one.name.rpartition(".")[2] == inner:
            return reshape(n, n.cast(number, one.type.element_type), [1] * one.type.rank)
    raise n.error(f"its body has no parameter {inner}")


def _parts(n: OpenvinoLayer, x: Value, port: Port) -> Value:
    """The number of parts of an input."""
    if port.part != abs(port.stride) or port.stride == 0:
        raise n.error(f"parts of {port.part} elements at distances of {port.stride}")
    backward = port.stride < 0
    if (port.start, port.end) != ((-1, 0) if backward else (0, -1)):
        raise n.error(f"parts from {port.start} to {port.end} of an axis are not supported")
    assert port.axis is not None
    size = x.type.shape[normalize_axis(n, port.axis, x.type.rank)]
    if size is not None and size % port.part:
        raise n.error(f"{size} elements are not whole parts of {port.part}")
    if size is not None:
        return n.constant(size // port.part, i64)
    whole = extent(n, (x, port.axis))
    count = whole / port.part
    holds = (count * port.part).equals(whole)
    return n(nn.Assume(count.value, holds.value, f"an input is not whole parts of {port.part}"))


def _part(n: OpenvinoLayer, x: Value, port: Port, number: Value, count: Value) -> Value:
    """Part `number` of an input, where a negative stride counts from the last one."""
    assert port.axis is not None
    if port.stride < 0:
        number = mirrored(n, number, count)
    axis = normalize_axis(n, port.axis, x.type.rank)
    if port.part == 1:
        return unsqueezed(n, gathered(n, x, number, axis), axis)
    places = counting(n, constant(n, port.part, i64)) + Term(n, number) * port.part
    return gathered(n, x, places.value, axis)


def _concatenated(n: OpenvinoLayer, rows_: Value, port: Port) -> Value:
    """The parts [N, ..] of all iterations, one after another along an axis."""
    assert port.axis is not None
    if port.stride < 0:
        rows_ = reversed_axes(n, rows_, (0,))
    rank = rows_.type.rank - 1
    axis = normalize_axis(n, port.axis, rank)
    order = [*range(1, axis + 1), 0, *range(axis + 1, rank + 1)]
    groups = [(i, i + 1) for i in range(axis)] + [(axis, axis + 2)]
    groups += [(i, i + 1) for i in range(axis + 2, rank + 1)]
    return merge(n, transposed(n, rows_, order), groups)
