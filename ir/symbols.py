"""Finding what a symbol reference means."""

from __future__ import annotations

from .attributes import StringAttr
from .core import Operation, UnregisteredOp
from .traits import SymbolTable


def symbol_name(op: Operation) -> str | None:
    """The name of the symbol that an operation defines, if it defines one."""
    name = op.attribute("sym_name")
    return name.value if isinstance(name, StringAttr) else None


def new_name(stem: str, taken: set[str]) -> str:
    """The first of `stem_0`, `stem_1`, .. that is not in `taken`, to which it is added."""
    number = 0
    while f"{stem}_{number}" in taken:
        number += 1
    taken.add(f"{stem}_{number}")
    return f"{stem}_{number}"


def lookup_symbol(op: Operation, name: str) -> Operation | None:
    """The operation that `@name` refers to at `op`: a symbol of the nearest enclosing symbol table.

    An unregistered operation with one region may be a table or not, so the search goes on
    outside it.
    """
    at = op.parent_op
    while at is not None:
        unknown = isinstance(at, UnregisteredOp) and len(at.regions) == 1
        if unknown or at.has_trait(SymbolTable):
            for inner in at.regions[0].ops:
                if symbol_name(inner) == name:
                    return inner
            if not unknown:
                return None
        at = at.parent_op
    return None
