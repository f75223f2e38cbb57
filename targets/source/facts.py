"""What is known of a module before it is printed: names, what can fail, what is only read.

A function that can fail gives a status: 0, or the number of what failed, counted from 1 in the
order of the text; a call has the numbers of its callee, counted on from what stands before it. So
the status of the entry names the calls too: of functions that nodes share, the node.
"""

from __future__ import annotations

from ...dialects import cf, func, memref, vector
from ...ir.core import Operation, Value
from ...ir.location import FusedLoc, Location, node_of
from ...ir.symbols import symbol_name
from .language import Language


class Checks:
    """The checks of a module's functions, each with its callees' behind its own."""

    def __init__(self, module: Operation) -> None:
        self._functions = {
            op.sym_name: op for op in module.body_block if isinstance(op, func.FuncOp)
        }
        self._found: dict[str, list[tuple[str, Location]]] = {}
        self.before: dict[Operation, int] = {}
        """How many checks stand before an operation in its function."""

    def of(self, name: str) -> list[tuple[str, Location]]:
        """What a function checks, and where in the model that is."""
        if name not in self._found:
            found = self._found[name] = []
            for op in self._functions[name].walk():
                self.before[op] = len(found)
                match op:
                    case cf.Assert():
                        found.append((op.msg, op.loc))
                    case memref.Alloc() | memref.Realloc():
                        found.append((memref.shortage(op.results[0].type), op.loc))
                    case func.Call() if op.callee in self._functions:
                        callee = self._functions[op.callee].loc
                        found += [(text, _seen(op.loc, callee, at)) for text, at in self.of(op.callee)]
        return self._found[name]

    def messages(self, name: str) -> list[str]:
        """What the statuses of a function mean, from 1 on."""
        places = ((text, node_of(loc)) for text, loc in self.of(name))
        return [f"{place}: {text}" if place else text for text, place in places]


def _seen(call: Location, callee: Location, loc: Location) -> Location:
    """The place of a callee's operation for one call of it: kernels that are alike share one."""
    own, known = (one.locations if isinstance(one, FusedLoc) else (one,) for one in (call, callee))
    return own[known.index(loc)] if len(own) == len(known) and loc in known else loc


class Reads:
    """Which buffers a module only reads, so that their elements may be constants."""

    _READING = (memref.Load, vector.Load, vector.MaskedLoad, vector.Gather, memref.Prefetch, memref.Dim)

    def __init__(self, module: Operation) -> None:
        self._functions = {
            op.sym_name: op for op in module.body_block if isinstance(op, func.FuncOp)
        }
        self._known: dict[Value, bool] = {}

    def only(self, value: Value) -> bool:
        """Whether nothing writes to a buffer, through whatever view or call."""
        if value not in self._known:
            self._known[value] = True
            self._known[value] = all(self._reads(op, i) for op, i in value.uses)
        return self._known[value]

    def _reads(self, op: Operation, i: int) -> bool:
        match op:
            case func.Call() if op.callee in self._functions:
                return self.only(self._functions[op.callee].args[i])
            case memref.Copy():
                return i == 0
            case _ if op.has_trait(memref.ViewLike):
                return self.only(op.results[0])
        return isinstance(op, self._READING)


class Facts:
    """The functions and constants of a module by name, and what is known of them."""

    def __init__(self, module: Operation, language: Language) -> None:
        self.checks, self.reads = Checks(module), Reads(module)
        functions = [op for op in module.body_block if isinstance(op, func.FuncOp)]
        self.heap = _on_heap(functions)
        """The functions that make or free buffers of unknown size, and those that call such."""
        self.names: dict[str, str] = {}
        """What functions and constants are called in the text."""
        taken: set[str] = set()
        for op in module.body_block:
            base = name = language.identifier(symbol := symbol_name(op) or "")
            number = 0
            while name in taken:
                name, number = f"{base}_{number}", number + 1
            taken.add(name)
            self.names[symbol] = name


_ON_HEAP = (memref.Alloc, memref.Realloc, memref.Dealloc)


def _on_heap(functions: list[func.FuncOp]) -> set[str]:
    found = {f.sym_name for f in functions if any(isinstance(op, _ON_HEAP) for op in f.walk())}
    called = {f.sym_name: {c.callee for c in f.walk() if isinstance(c, func.Call)} for f in functions}
    while more := {name for name, callees in called.items() if callees & found} - found:
        found |= more
    return found
