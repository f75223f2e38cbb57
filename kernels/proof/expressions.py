"""Expressions of integer sets, with their variables and the conditions on these."""

from __future__ import annotations

import re
from collections.abc import Container, Iterator
from dataclasses import dataclass
from functools import lru_cache

_VARIABLE = re.compile(r"\bv\d+\b")


@dataclass(frozen=True)
class Form:
    """An expression, its variables, the conditions that hold for them, and required ones.

    `wanted` are conditions that must be proven for the expression to describe the operations.
    """

    text: str
    variables: tuple[str, ...] = ()
    holds: tuple[str, ...] = ()
    wanted: tuple[str, ...] = ()
    is_exact: bool = True

    def __add__(self, other: Form) -> Form:
        """The expression of the first, with the conditions of both."""
        return Form(
            self.text,
            _union(self.variables, other.variables),
            _union(self.holds, other.holds),
            _union(self.wanted, other.wanted),
            self.is_exact and other.is_exact,
        )

    def saying(self, text: str) -> Form:
        """Another expression with the same conditions."""
        return Form(text, self.variables, self.holds, self.wanted, self.is_exact)

    def about(self, text: str) -> Form:
        """Another expression of some of the variables, with the conditions that concern it."""
        names = set(_VARIABLE.findall(text))
        while (
            more := {
                name
                for one in self.holds
                if not names.isdisjoint(found := _VARIABLE.findall(one))
                for name in found
            }
            - names
        ):
            names |= more
        kept = lambda conditions: tuple(  # noqa: E731
            one for one in conditions if names.issuperset(_VARIABLE.findall(one))
        )
        variables = tuple(name for name in self.variables if name in names)
        return Form(text, variables, kept(self.holds), kept(self.wanted), self.is_exact)

    def wanting(self, *conditions: str) -> Form:
        """A copy with further required conditions."""
        wanted = _union(self.wanted, conditions)
        return Form(self.text, self.variables, self.holds, wanted, self.is_exact)

    def given(self, *conditions: str) -> Form:
        """A copy with further conditions that hold."""
        holds = _union(self.holds, conditions)
        return Form(self.text, self.variables, holds, self.wanted, self.is_exact)


@dataclass(frozen=True)
class Meaning:
    """The definition of a variable: as an expression of arrays, and as a condition."""

    value: str
    condition: str


def _union(a: tuple[str, ...], b: tuple[str, ...]) -> tuple[str, ...]:
    if not a or not b or a == b:
        return a or b
    return tuple(dict.fromkeys((*a, *b)))


def is_condition(form: Form) -> bool:
    """Whether a form is a known condition, and not an unknown one."""
    return any(sign in form.text for sign in "<>=")


def is_fixed(form: Form) -> bool:
    """Whether a form stays the same during a launch."""
    return not form.variables and not _names_id(form.text)


@lru_cache(maxsize=1 << 16)
def _names_id(text: str) -> bool:
    """Whether an expression names a group's or a thread's id."""
    return re.search(r"[bt]\d", text) is not None


def is_number(form: Form) -> bool:
    """Whether a form is a constant."""
    return form.text.lstrip("-").isdigit()


ALWAYS, NEVER = Form("(0 = 0)"), Form("(0 = 1)")
"""The conditions true and false."""


def number(value: int) -> Form:
    """The form of a constant."""
    return Form(str(value))


def extreme_of(relation: str, a: Form, b: Form) -> tuple[str, str]:
    """(value, condition) that define a minimum or maximum."""
    one = f"({a.text}) {relation} ({b.text}) and @ = {a.text}"
    other = f"({b.text}) {relation} ({a.text}) and @ = {b.text}"
    value = f"{'least' if relation == '<=' else 'most'}({a.text}, {b.text})"
    return value, f"(({one}) or ({other}))"


def choice_of(where: Form, a: Form, b: Form) -> tuple[str, str]:
    """(value, condition) that define a number that is `a` or `b`."""
    taken = f"({where.text}) and @ = {a.text}"
    other = f"not ({where.text}) and @ = {b.text}"
    return f"choice({where.text}, {a.text}, {b.text})", f"(({taken}) or ({other}))"


def either(condition: str, then: str, otherwise: str) -> str:
    """The condition `then` where `condition` holds, else the condition `otherwise`."""
    return f"(({condition}) and ({then}) or not ({condition}) and ({otherwise}))"


def added(a: Form, b: Form) -> Form:
    """A sum. Its constant comes last, even 0, so that the pieces of a tile have equal texts."""
    (rest, constant), (other, more) = _parts(a.text), _parts(b.text)
    rests = " + ".join(text for text in (rest, other) if text)
    return (a + b).saying(sum_of(rests, constant + more))


def scaled(a: Form, by: int) -> Form:
    """A form times a constant."""
    if not by:
        return a.saying("0")
    rest, constant = _parts(a.text)
    return a.saying(sum_of(f"{by}*({rest})" if rest else "", by * constant))


def sum_of(rests: str, constant: int) -> str:
    """The text of `rests` plus a constant; "" stands for an empty sum."""
    if not rests:
        return str(constant)
    return f"({rests} {'-' if constant < 0 else '+'} {abs(constant)})"


def without(text: str, names: Container[str]) -> tuple[str, str] | None:
    """(term, the others negated) of a sum with a term among `names`; None if it has none."""
    rest, constant = _parts(text)
    terms = _terms(rest)
    found = next((i for i, term in enumerate(terms) if term in names), None)
    if found is None:
        return None
    others = [_negated(term) for i, term in enumerate(terms) if i != found]
    return terms[found], sum_of(" + ".join(others), -constant)


def parts_of(text: str, times: int = 1) -> Iterator[tuple[int, str]]:
    """(factor, term) for each term of a sum, and of the sums in it: 4*(v1 + 2) is 4*v1 and 8*1."""
    rest, constant = _parts(text)
    if constant:
        yield times * constant, "1"
    for term in _terms(rest) if rest else ():
        product = _PRODUCT.fullmatch(term)
        if product is not None and is_closed(product[2]):
            yield from parts_of(product[2], times * int(product[1]))
        elif term != text and _parts(term) != (term, 0):
            yield from parts_of(term, times)
        else:
            yield times, term


def _terms(text: str) -> list[str]:
    """The terms of a sum without its parentheses."""
    terms: list[str] = []
    for piece in text.split(" + "):
        if terms and not is_closed(terms[-1]):
            terms[-1] += f" + {piece}"
        else:
            terms.append(piece)
    return terms


def _negated(term: str) -> str:
    inner = re.fullmatch(r"-1\*\((.*)\)", term)
    return inner[1] if inner is not None and is_closed(inner[1]) else f"-1*({term})"


_PRODUCT = re.compile(r"(-?\d+)\*\((.*)\)")
_SUM = re.compile(r"\((.*) ([+-]) (\d+)\)")


@lru_cache(maxsize=1 << 16)
def _parts(text: str) -> tuple[str, int]:
    """(the other terms, the constant) of a sum."""
    if text.lstrip("-").isdigit():
        return "", int(text)
    found = _SUM.fullmatch(text)
    if found is None or not is_closed(found[1]):
        return text, 0
    return found[1], int(found[2] + found[3])


def is_closed(text: str) -> bool:
    """Whether the parentheses in a text are balanced."""
    depth = 0
    for sign in text:
        depth += (sign == "(") - (sign == ")")
        if depth < 0:
            return False
    return depth == 0
