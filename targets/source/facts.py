"""Facts about a module before it is printed: names, possible failures, read-only buffers.

`describe-entry` has written into the module what can fail: a function that can fail returns a
status, 0 or the number of its failed check; a call adds its offset to its callee's status.
"""

from __future__ import annotations

from ...dialects import func, memref, vector
from ...dialects.marks import CHECKS
from ...ir.core import Operation, Value
from ...ir.symbols import symbol_name
from .language import Language


class Reads:
    """Finds the buffers that a module only reads, so that their elements may be constant."""

    _READING = (
        memref.Load,
        vector.Load,
        vector.MaskedLoad,
        vector.Gather,
        memref.Prefetch,
        memref.Dim,
    )

    def __init__(self, module: Operation) -> None:
        self._functions = func.functions_by_name(module)
        self._known: dict[Value, bool] = {}

    def only(self, value: Value) -> bool:
        """Whether a buffer is never written, through any view or call."""
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
    """A module's functions and constants by name, and facts about them."""

    def __init__(self, module: Operation, language: Language) -> None:
        self.reads = Reads(module)
        functions = [op for op in module.body_block if isinstance(op, func.FuncOp)]
        self.failing = {op.sym_name for op in functions if CHECKS in op.attributes}
        self.heap = _on_heap(functions) if "heap" in language.templates else set[str]()
        """The functions that allocate or free buffers of unknown size, and their callers; empty in
        a language without allocation, whose buffers are arrays."""
        self.names: dict[str, str] = {}
        """The names of functions and constants in the text."""
        self.called: dict[str, str] = {}
        """The text to call functions that are called through a table."""
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
    called = {
        f.sym_name: {c.callee for c in f.walk() if isinstance(c, func.Call)} for f in functions
    }
    while more := {name for name, callees in called.items() if callees & found} - found:
        found |= more
    return found
