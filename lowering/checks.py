"""The operations that can fail at run time, and the number by which each is reported.

A `cf.assert` fails if its condition is false, an allocation if there is no memory. A function that
the entry calls returns, before its results, an i32: 0, or the number of the check that failed. The
checks of a function are numbered from 1 in the order of the text; a call has numbers for all
checks of the called function.

    @main    call @f     1, 2      @f    cf.assert     1
             call @g     3               memref.alloc  2
             call @f     4, 5      @g    cf.assert     1

So a number tells the calls that led to the check too, and with them the node of the model, even
where several nodes share a function.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace

from ..dialects import cf, func, memref
from ..dialects.marks import ENTRY, USED_WEIGHTS
from ..ir.core import Operation
from ..ir.location import CallSiteLoc, FusedLoc, Location, NameLoc, node_of

MOST = 1 << 20
"""The most checks that a function may have, those of called functions included. In one with more, a
check that fails ends the process.
"""


@dataclass(frozen=True)
class Check:
    """What is said when a check fails: the message, and the location in the model."""

    text: str
    loc: Location

    @property
    def message(self) -> str:
        place = node_of(self.loc)
        return f"{place}: {self.text}" if place else self.text


class Checks:
    """The checks of all functions that an entry calls, directly or not."""

    def __init__(self, module: Operation) -> None:
        self._functions = functions = {
            op.sym_name: op
            for op in module.body_block
            if isinstance(op, func.FuncOp) and not op.is_declaration
        }
        self._checks: dict[str, tuple[Check, ...]] = {}
        self._before: dict[Operation, int] = {}
        fixed = {op.value for op in module.walk() if isinstance(op, func.Constant)}
        fixed |= {name for name, op in functions.items() if USED_WEIGHTS in op.attributes}
        entries = [name for name, op in functions.items() if ENTRY in op.attributes]
        for function in _callees_first(functions, entries):
            if function.sym_name not in fixed and _is_internal(function):
                self._count(function)

    def _count(self, function: func.FuncOp) -> None:
        found: list[Check] = []
        before: dict[Operation, int] = {}
        for op in function.walk():
            own = self._of(op)
            if own:
                before[op] = len(found)
                found += own
        if found and len(found) <= MOST:
            self._before |= before
            self._checks[function.sym_name] = tuple(found)

    def _of(self, op: Operation) -> tuple[Check, ...]:
        match op:
            case cf.Assert():
                return (Check(op.msg, op.loc),)
            case memref.Alloc() | memref.Realloc():
                return (Check(memref.shortage(op.results[0].type), op.loc),)
            case func.Call():
                checks = self.of(op.callee)
                callee = self._functions[op.callee].loc if checks else op.loc
                return tuple(replace(c, loc=_seen_from(op.loc, callee, c.loc)) for c in checks)
        return ()

    def of(self, function: str) -> tuple[Check, ...]:
        """The checks that a function reports, those of called functions included, in order."""
        return self._checks.get(function, ())

    def before(self, op: Operation) -> int | None:
        """How many checks of its function come before an operation; None if its failure isn't
        reported.
        """
        return self._before.get(op)


def _is_internal(function: func.FuncOp) -> bool:
    return ENTRY in function.attributes or function.sym_visibility in ("private", "nested")


def _callees_first(functions: dict[str, func.FuncOp], roots: list[str]) -> Iterator[func.FuncOp]:
    """The functions that `roots` call, directly or not, each after those that it calls.

    Recursive functions and their callers are left out, since their checks cannot be numbered.
    """
    done: dict[str, bool] = {}
    stack = [(name, False) for name in roots]
    while stack:
        name, leaving = stack.pop()
        if name not in functions or (not leaving and name in done):
            continue
        callees = {op.callee for op in functions[name].walk() if isinstance(op, func.Call)}
        callees &= functions.keys()
        if leaving:
            # A callee that is not done yet is one that led here.
            done[name] = all(done.get(callee, False) for callee in callees)
            if done[name]:
                yield functions[name]
            continue
        done[name] = False
        stack.append((name, True))
        stack += [(callee, False) for callee in callees if callee not in done]


def _seen_from(call: Location, callee: Location, loc: Location) -> Location:
    """The location of a check in a called function, changed to that of the node that calls it.

    Equal kernels share the function of the first one, whose locations name the first kernel's
    nodes. The call has nodes of the same kinds in the same order, which are put in their place.
    """
    own, known = _parts(call), _parts(callee)
    if not own or len(own) != len(known):
        return loc
    return own[known.index(loc)] if loc in known else loc


def _parts(loc: Location) -> tuple[Location, ...]:
    if isinstance(loc, FusedLoc):
        return loc.locations
    return (loc,) if isinstance(loc, (NameLoc, CallSiteLoc)) else ()
