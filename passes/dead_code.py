"""Removal of dead code: operations without users, private symbols without references."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from ..ir.attributes import ArrayAttr, Attribute, DictAttr, StringAttr, SymbolRefAttr
from ..ir.core import Operation
from ..ir.passes import Pass, PassContext
from ..ir.rewriting import erase_dead_code


@dataclass(frozen=True)
class DeadCode(
    Pass,
    name="remove-dead-values",
    title="RemoveDeadValues",
):
    """Erase operations without effects whose results nobody uses."""

    def run(self, op: Operation, context: PassContext) -> None:
        """Erase unused operations until there are none."""
        erase_dead_code(op, context.trace)


@dataclass(frozen=True)
class SymbolDce(
    Pass,
    name="symbol-dce",
    anchor="builtin.module",
    title="SymbolDCE",
    statistics={"num-dce'd": "Number of symbols DCE'd"},
):
    """Erase private symbols that no reachable operation refers to."""

    def run(self, op: Operation, context: PassContext) -> None:
        """Mark the symbols that public ones reach, and erase the others."""
        symbols = {}
        for inner in op.body_block:
            name = inner.properties.get("sym_name")
            if isinstance(name, StringAttr):
                symbols[name.value] = inner
        work = [inner for inner in op.body_block if not _is_private(inner)]
        reached = set(work)
        while work:
            for name in symbol_references(work.pop()):
                target = symbols.get(name)
                if target is not None and target not in reached:
                    reached.add(target)
                    work.append(target)
        for inner in op.body_block:
            if inner not in reached:
                inner.erase()
                context.statistic("num-dce'd")


def _is_private(op: Operation) -> bool:
    visibility = op.properties.get("sym_visibility")
    named = "sym_name" in op.properties
    return named and isinstance(visibility, StringAttr) and visibility.value == "private"


def symbol_references(op: Operation) -> Iterator[str]:
    """The root names of all symbols that `op` and its nested operations mention."""
    for inner in op.walk():
        for attribute in (*inner.properties.values(), *inner.attributes.values()):
            yield from _references(attribute)


def _references(attribute: Attribute) -> Iterator[str]:
    match attribute:
        case SymbolRefAttr(root):
            yield root
        case ArrayAttr(elements):
            for element in elements:
                yield from _references(element)
        case DictAttr(entries):
            for _, value in entries:
                yield from _references(value)
