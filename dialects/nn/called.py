"""Which functions of a module run once, and which again and again."""

from __future__ import annotations

from ...ir.core import Operation
from ..func import Call, functions_by_name
from .control import CallIf


def called_outside_loops(module: Operation) -> set[str]:
    """The functions of a module that are public, or called from such ones outside of every loop.

    The others run only in loops (`nn.call_while`), or never.
    """
    functions = functions_by_name(module)
    waiting = [name for name, f in functions.items() if f.sym_visibility != "private"]
    found: set[str] = set()
    while waiting:
        name = waiting.pop()
        if name in functions and name not in found:
            found.add(name)
            for op in functions[name].walk():
                match op:
                    case Call():
                        waiting.append(op.callee)
                    case CallIf():
                        waiting += [op.then, op.otherwise]
    return found
