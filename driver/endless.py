"""Detects unconditional recursion, which would overflow the stack."""

from __future__ import annotations

from collections.abc import Mapping

from ..dialects import func
from ..ir.core import Operation
from ..ir.diagnostics import NncError


def check_ends(module: Operation) -> None:
    """Raise NncError at a call that unconditionally leads back to its own function.

    Calls inside of branches and loops, and after a branch, may not be reached.
    """
    calls: dict[str, list[func.Call]] = {
        op.sym_name: [inner for inner in op.body.blocks[0] if isinstance(inner, func.Call)]
        for op in module.body_block
        if isinstance(op, func.FuncOp) and not op.is_declaration
    }
    done: set[str] = set()
    for name in calls:
        if (call := _endless(name, calls, done)) is not None:
            raise NncError(f"'{call.callee}' calls itself without end", call.loc)


def _endless(root: str, calls: Mapping[str, list[func.Call]], done: set[str]) -> func.Call | None:
    """A call, reached from `root`, to a function on the path to it; None if there is none."""
    path = {root: iter(calls[root])}
    while path:
        name = next(reversed(path))
        call = next(path[name], None)
        if call is None:
            del path[name]
            done.add(name)
        elif call.callee in path:
            return call
        elif call.callee in calls and call.callee not in done:
            path[call.callee] = iter(calls[call.callee])
    return None
