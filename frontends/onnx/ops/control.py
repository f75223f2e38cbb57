"""Conditions and loops, as far as they are known at import: branches chosen, loops unrolled."""

from __future__ import annotations

from typing import Any

from ....dialects import nn
from ....ir.core import Value
from ....ir.types import TensorType, i1, i64
from ..importer import Body
from ..node import A, Node
from ..registry import converter
from ..shapes import as_scalar, normalize_axis, reshape

MOST_NODES = 100_000
"""Nodes that unrolling a loop may import."""


@converter("If")
def if_(n: Node, condition: Value) -> list[Any]:
    """The branch taken; if that is not known, both, and a choice between their results."""
    known = n.known(condition)
    if known is not None:
        name = "then_branch" if bool(known.reshape(-1)[0]) else "else_branch"
        return body(n, name)()
    branches = [body(n, name)() for name in ("then_branch", "else_branch")]
    condition = as_scalar(n, condition)
    results = []
    for i, (then, other) in enumerate(zip(*branches, strict=True)):
        types = [getattr(v, "type", "a sequence") for v in (then, other)]
        if types[0] is not types[1] or not isinstance(then, Value) or None in then.type.shape:
            raise n.error(
                f"output {i} is '{types[0]}' or '{types[1]}' by a condition that is known at "
                "run time only, expected one static type"
            )
        results.append(n(nn.Where(condition, then, other)))
    return results


def body(n: Node, attribute: str) -> Body:
    """The graph in an attribute."""
    return n.importer.import_body(n.attribute(attribute, A.GRAPH), n.scope)


@converter("Loop")
def loop(n: Node, count: Value | None, condition: Value | None, *state: Any) -> list[Any]:
    """As many copies of the body as there are iterations, which must be known."""
    step, carried = body(n, "body"), list(state)
    if len(step.inputs) != len(carried) + 2 or len(step.outputs) <= len(carried):
        raise n.error(
            f"the body has {len(step.inputs)} inputs and {len(step.outputs)} outputs, expected "
            f"{len(carried) + 2} and at least {len(carried) + 1}"
        )
    limit = None if count is None else n.known_ints(count, "the trip count")[0]
    going = n.constant(True, i1) if condition is None else condition
    collected: list[list[Value]] = [[] for _ in step.outputs[len(carried) + 1 :]]
    i = 0
    while limit is None or i < limit:
        known = n.known(going)
        if known is None:
            raise n.error("whether the loop goes on must be known at import")
        if not known.all():
            break
        check_size(n, step, i)
        going, *outputs = step(n.constant(i, i64), going, *carried)
        carried, scans = outputs[: len(carried)], outputs[len(carried) :]
        for rows, row in zip(collected, scans, strict=True):
            rows.append(row)
        i += 1
    if i == 0 and collected:
        raise n.error("a loop without iterations cannot tell the shapes of its outputs")
    return [*carried, *(stacked(n, rows, 0) for rows in collected)]


@converter("Scan", since=9)
def scan(n: Node, *inputs: Value) -> list[Any]:
    """A copy of the body for each slice of the scanned inputs."""
    step, scanned = body(n, "body"), n.int("num_scan_inputs")
    if not 1 <= scanned <= len(inputs) or len(step.inputs) != len(inputs):
        raise n.error(f"{scanned} scan inputs of {len(inputs)}, body with {len(step.inputs)}")
    carried, sources = list(inputs[:-scanned]), inputs[-scanned:]
    results = len(step.outputs) - len(carried)
    axes = [
        normalize_axis(n, axis, source.type.rank, "scan_input_axes: axis")
        for axis, source in zip(per_item(n, "scan_input_axes", scanned), sources, strict=True)
    ]
    lengths = {s.type.shape[axis] for s, axis in zip(sources, axes, strict=True)}
    if len(lengths) != 1 or None in lengths:
        raise n.error(f"the scanned inputs have {lengths} elements, expected one known number")
    (length,) = lengths
    backward = per_item(n, "scan_input_directions", scanned)
    prepend = per_item(n, "scan_output_directions", results)
    collected: list[list[Value]] = [[] for _ in range(results)]
    for i in range(length):
        check_size(n, step, i)
        slices = [
            slice_at(n, source, axis, length - 1 - i if reverse else i)
            for source, axis, reverse in zip(sources, axes, backward, strict=True)
        ]
        outputs = step(*carried, *slices)
        carried, scans = outputs[: len(carried)], outputs[len(carried) :]
        for rows, row in zip(collected, scans, strict=True):
            rows.append(row)
    if length == 0 and collected:
        raise n.error("a scan of no elements cannot tell the shapes of its outputs")
    outs = []
    for rows, axis, reverse in zip(
        collected, per_item(n, "scan_output_axes", results), prepend, strict=True
    ):
        axis = normalize_axis(n, axis, rows[0].type.rank + 1, "scan_output_axes: axis")
        outs.append(stacked(n, rows[::-1] if reverse else rows, axis))
    return [*carried, *outs]


def per_item(n: Node, name: str, count: int) -> tuple[int, ...]:
    """An attribute with a number for each of some inputs or outputs, zeros if left out."""
    values = n.ints(name) or (0,) * count
    if len(values) != count:
        raise n.error(f"attribute '{name}' has {len(values)} elements, expected {count}")
    return values


def check_size(n: Node, step: Body, iteration: int) -> None:
    """Raises NncError where unrolling becomes unreasonable."""
    if iteration * max(len(step.nodes), 1) >= MOST_NODES:
        raise n.error(f"more than {iteration} iterations of {len(step.nodes)} nodes to unroll")


def slice_at(n: Node, x: Value, axis: int, at: int) -> Value:
    """x[.., at, ..] without the axis."""
    shape = [1 if i == axis else d for i, d in enumerate(x.type.shape)]
    starts = tuple(at if i == axis else 0 for i in range(x.type.rank))
    part = n(nn.Slice(x, starts=starts, out=TensorType(tuple(shape), x.type.element_type)))
    return reshape(n, part, [(part, i) for i in range(x.type.rank) if i != axis])


def stacked(n: Node, rows: list[Value], axis: int) -> Value:
    """The values along a new axis."""
    if not isinstance(rows[0], Value):
        raise n.error("the body gives a sequence, expected a tensor")
    wide = []
    for row in rows:
        rank = row.type.rank
        before, after = [(row, i) for i in range(axis)], [(row, i) for i in range(axis, rank)]
        wide.append(reshape(n, row, [*before, 1, *after]))
    return wide[0] if len(wide) == 1 else n(nn.Concat(wide, axis=axis))


def repeated(n: Node, x: Value, axis: int, combine: Any) -> list[Value]:
    """Running combinations of the slices along an axis of known extent: x0, x0∘x1, .."""
    running: list[Value] = []
    for i in range(x.type.shape[axis]):
        shape = [1 if d == axis else e for d, e in enumerate(x.type.shape)]
        starts = tuple(i if d == axis else 0 for d in range(x.type.rank))
        part = n(nn.Slice(x, starts=starts, out=TensorType(tuple(shape), x.type.element_type)))
        running.append(part if not running else n(combine(running[-1], part)))
    return running


@converter("CumProd")
def cumprod(n: Node, x: Value, axis_operand: Value) -> Value:
    """Running products along the axis, without the element itself if exclusive."""
    axis = normalize_axis(n, n.known_ints(axis_operand, "axis")[0], x.type.rank)
    reverse = bool(n.int("reverse"))
    if x.type.shape[axis] is None:
        raise n.error(f"the extent of axis {axis} must be known")
    if x.type.shape[axis] == 0:
        return x
    source = flipped(n, x, axis) if reverse else x
    running = repeated(n, source, axis, nn.Mul)
    if n.int("exclusive"):
        one = running[0].type
        ones = n(nn.BroadcastTo(n.scalar(1, x), out=one))
        running = [ones, *running[:-1]]
    out = running[0] if len(running) == 1 else n(nn.Concat(running, axis=axis))
    return flipped(n, out, axis) if reverse else out


def flipped(n: Node, x: Value, axis: int) -> Value:
    """x with the axis from its end to its beginning."""
    extent = x.type.shape[axis]
    starts = tuple(extent - 1 if i == axis else 0 for i in range(x.type.rank))
    steps = tuple(-1 if i == axis else 1 for i in range(x.type.rank))
    return n(nn.Slice(x, starts=starts, steps=steps, out=x.type))
