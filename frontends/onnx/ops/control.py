"""Conditions: a branch that is known at import is imported alone."""

from __future__ import annotations

from typing import Any

from ....dialects import nn
from ....ir.core import Value
from ..node import A, Node
from ..registry import converter
from ..shapes import as_scalar


@converter("If")
def if_(n: Node, condition: Value) -> list[Any]:
    """The branch taken; if that is not known, both, and a choice between their results."""
    known = n.known(condition)
    if known is not None:
        name = "then_branch" if bool(known.reshape(-1)[0]) else "else_branch"
        return n.importer.import_branch(n.attribute(name, A.GRAPH), n.scope)
    branches = [
        n.importer.import_branch(n.attribute(name, A.GRAPH), n.scope)
        for name in ("then_branch", "else_branch")
    ]
    condition = as_scalar(n, condition)
    results = []
    for i, (then, other) in enumerate(zip(*branches, strict=True)):
        if then.type is not other.type or None in then.type.shape:
            raise n.error(
                f"output {i} is '{then.type}' or '{other.type}' by a condition that is known at "
                "run time only, expected one static type"
            )
        results.append(n(nn.Where(condition, then, other)))
    return results
