"""Elements of assembly formats that contain other elements, and reading of elements in sequence."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from .directive import Element, Grammar
from .elements import AttributeElement, Literal, OperandElement, OperandRun


class Group(Element):
    """`(a $b^ c)?`, or `(a $b^ c) : (d)?` with elements for when the anchor `$b` is absent."""

    def __init__(self, then: list[Element], otherwise: list[Element], anchor: Any) -> None:
        self.then = then
        self.otherwise = otherwise
        self.anchor = anchor

    def grammar(self, grammar: Grammar) -> str:
        then = sequence(self.then, grammar)
        if not self.otherwise:
            return grammar.rule("group", f"| {then} -> then")
        return grammar.rule(
            "group", f"{then} -> then | {sequence(self.otherwise, grammar)} -> otherwise"
        )

    def read(self, child: Any, state: Any) -> None:
        if not child:
            return
        elements = self.then if child[0] == "then" else self.otherwise
        if elements is self.then and isinstance(self.anchor, AttributeElement) and self.anchor.unit:
            self.anchor.mark_present(state)
        read_all(reading(elements), child[1:], state)

    def write(self, op: Any, printer: Any) -> None:
        for element in self.then if self.anchor.present(op) else self.otherwise:
            element.write(op, printer)

    def fields(self) -> Iterator[tuple[str, str]]:
        for element in (*self.then, *self.otherwise):
            yield from element.fields()


class OIList(Element):
    """`oilist( `a` $x | `b` $y )`: each clause at most once, in any order."""

    def __init__(self, clauses: list[list[Element]]) -> None:
        self.clauses = clauses

    def grammar(self, grammar: Grammar) -> str:
        parts = [f"{sequence(clause, grammar)} -> c{i}" for i, clause in enumerate(self.clauses)]
        clause = grammar.rule("clause", " | ".join(parts))
        return grammar.rule("clauses", f"| #SELF {clause}")

    def read(self, child: Any, state: Any) -> None:
        seen = set()
        while child:
            child, (name, *children) = child
            clause = self.clauses[int(name[1:])]
            if name in seen:
                state.fail(f"`{clause[0].text}` clause can appear at most once")  # type: ignore[attr-defined]
            seen.add(name)
            for element in clause:
                if isinstance(element, AttributeElement) and element.unit:
                    element.mark_present(state)
            read_all(reading(clause), children, state)

    def write(self, op: Any, printer: Any) -> None:
        for clause in self.clauses:
            if any(getattr(e, "present", _never)(op) for e in clause):
                for element in clause:
                    element.write(op, printer)

    def fields(self) -> Iterator[tuple[str, str]]:
        for clause in self.clauses:
            for element in clause:
                yield from element.fields()


def _never(op: Any) -> bool:
    return False


def reading(elements: list[Element]) -> list[Element]:
    """The elements as the grammar reads them: each run of operands joined to one element."""
    joined: list[Element] = []
    i = 0
    while i < len(elements):
        run = _run_at(elements, i)
        if run is not None:
            operands, i = run
            joined.append(OperandRun(operands))
        else:
            joined.append(elements[i])
            i += 1
    return joined


def _run_at(elements: list[Element], i: int) -> tuple[list[OperandElement], int] | None:
    """The run `$a , $b ..` that starts at i, and its end; None if it has fewer than two."""
    first = elements[i]
    if not isinstance(first, OperandElement) or not first.field.is_single:
        return None
    run = [first]
    i += 1
    while i < len(elements):
        match elements[i : i + 2]:
            case [Literal(text=","), OperandElement() as more] if not more.field.optional:
                run.append(more)
                i += 2
                if more.field.variadic:
                    break
            case [Group(then=[Literal(text=","), OperandElement() as more], otherwise=[]), *_]:
                run.append(more)
                i += 1
                if more.field.variadic:
                    break
            case _:
                break
    return (run, i) if len(run) > 1 else None


def sequence(elements: list[Element], grammar: Grammar) -> str:
    """The grammar of elements in a row."""
    parts = [element.grammar(grammar) for element in reading(elements)]
    return " ".join(part for part in parts if part)


def read_all(elements: list[Element], children: Any, state: Any) -> None:
    """Hand each child to the element that it belongs to."""
    at = 0
    for element in elements:
        if element.reads:
            element.read(children[at], state)
            at += 1
