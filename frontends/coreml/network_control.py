"""Branches and loops of networks, in which layers overwrite blobs that later layers read."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from ...ir.types import TensorType, f32
from ..common.graph import Graph, Node
from ..common.inputs import Input
from ..wire.protobuf import Record
from .network_reader import Reader

LEAST = np.float32(1e-6)
"""Conditions are true for numbers above this."""
_SKIPPED, _BROKEN = " rest of the iteration is skipped", " loop is left"
"""Blobs added here (no model has such names): whether a `loopContinue`, or a `loopBreak`, was met.
"""
_CHOICE = " choice"
_LEAVES = ("loopBreak", "loopContinue")


def leaves_iteration(layer: Record) -> bool:
    """Whether a layer contains a `loopBreak` or `loopContinue`."""
    if layer.branch is None:
        return any(layer.has(kind) for kind in _LEAVES)
    sides = (layer.branch.part("ifBranch"), layer.branch.part("elseBranch"))
    return any(leaves_iteration(one) for side in sides for one in side.layers)


def leave(r: Reader, p: Record, inputs: Sequence[str], out: str) -> None:
    """Add a `loopContinue` or `loopBreak`: set the flags that skip later layers."""
    for flag in (_SKIPPED, _BROKEN) if r.kind == "loopBreak" else (_SKIPPED,):
        if flag not in r.names:
            raise r.error("there is no loop around it")
        r.add("identity", flag, {"x": np.float32(1)})


def rest_of_iteration(r: Reader, layers: Sequence[Record]) -> None:
    """Add the layers after a `loopBreak` or `loopContinue`, which run only if it was not met."""
    _choose(r, _SKIPPED, (), layers)


def branch(r: Reader, p: Record, inputs: Sequence[str], out: str) -> None:
    """Add a branch with the layers for a true and for a false condition."""
    _choose(r, inputs[0], p.part("ifBranch").layers, p.part("elseBranch").layers)


def _choose(r: Reader, number: str, yes: Sequence[Record], no: Sequence[Record]) -> None:
    """Add a branch on the blob `number`.

    Its results are the blobs that exist after both sides and that a side changes.
    """
    _truth(r, number, _CHOICE)
    made = [r.part(lambda side=side: r.add_layers(side)) for side in (yes, no)]
    common = [blob for blob in made[0][1] if blob in made[1][1]]
    changed = [b for b in common if {names[b] for _, names in made} != {r.names.get(b)}]
    graphs = {
        str(i): Graph([], nodes, [(blob, names[blob]) for blob in changed])
        for i, (nodes, names) in enumerate(made)
    }
    values = [r.unique(blob) for blob in changed]
    r.nodes.append(Node("cond", r.place, [r.names[_CHOICE]], values, {}, graphs))
    r.names |= dict(zip(changed, values, strict=True))


def _truth(r: Reader, number: str, out: str) -> None:
    r.add("cast", f"{out} number", {"x": number}, dtype="fp32")
    r.add("abs", f"{out} size", {"x": f"{out} number"})
    r.add("greater", out, {"x": f"{out} size", "y": LEAST})


def loop(r: Reader, p: Record, inputs: Sequence[str], out: str) -> None:
    """Add a loop: for a number of iterations (fixed or an input), or while the condition blob is
    true.

    Its states are the blobs that exist before it and that its body changes.
    """
    body, condition = p.part("bodyNetwork").layers, p.part("conditionNetwork").layers
    leaves, zero = any(map(leaves_iteration, body)), np.float32(0)
    flags: dict[str, str] = dict.fromkeys((_SKIPPED, _BROKEN), r.operand(zero))
    before = {**r.names, **flags}

    def iterate() -> None:
        if leaves:
            r.add("identity", _SKIPPED, {"x": zero})
        r.add_layers(body)

    def decide() -> None:
        r.add_layers(condition)
        if p.conditionVar:
            _truth(r, p.conditionVar, _CHOICE)
        if leaves:
            r.add("equal", f"{_CHOICE} still", {"x": _BROKEN, "y": zero})
            both = {"x": _CHOICE if p.conditionVar else f"{_CHOICE} still", "y": f"{_CHOICE} still"}
            r.add("logical_and", _CHOICE, both)

    after = r.part(iterate, flags)[1]
    states = [blob for blob in before if blob != _SKIPPED and after[blob] != before[blob]]
    inner = {blob: r.unique(blob) for blob in states}
    given = [Input(name, TensorType((), f32)) for name in inner.values()]
    nodes, names = r.part(iterate, {**flags, **inner})
    graphs = {"1": Graph(given, nodes, [(blob, names[blob]) for blob in states])}
    if p.conditionVar or leaves:
        nodes, names = r.part(decide, {**flags, **inner})
        if any(names[blob] != inner.get(blob, value) for blob, value in before.items()):
            raise r.error("a condition that changes blobs of other layers is not supported")
        graphs["0"] = Graph(given, nodes, [(_CHOICE, names[_CHOICE])])
    count = ""
    if inputs[0]:
        count = r.operand(inputs[0])
    elif p.maxLoopIterations > 0:
        count = r.operand(np.int64(p.maxLoopIterations))
    starts, values = [before[blob] for blob in states], [r.unique(blob) for blob in states]
    r.nodes.append(Node("loop of a network", r.place, [count, *starts], values, {}, graphs))
    r.names |= {b: v for b, v in zip(states, values, strict=True) if b != _BROKEN}
