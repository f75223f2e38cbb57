"""Expressions as sums of terms."""

from __future__ import annotations

import re
from collections.abc import Mapping
from functools import lru_cache

Sum = Mapping[str, int]
"""A sum as {term: factor}; the constant has the term "1"."""

_MULTIPLE = re.compile(r"(-?\d+)\*(\w+|\(.*\)|floor\(.*\))")


def minus(one: Sum, other: Sum) -> Sum:
    """The difference of two sums."""
    terms = dict(one)
    for term, times in other.items():
        terms[term] = terms.get(term, 0) - times
    return {term: times for term, times in terms.items() if times}


@lru_cache(maxsize=1 << 14)
def sum_of_terms(text: str) -> Sum:
    """The terms of an expression. What is no sum, and no multiple of one, is a term."""
    terms: dict[str, int] = {}
    _add(text, 1, terms)
    return {term: times for term, times in terms.items() if times}


def _add(text: str, times: int, terms: dict[str, int]) -> None:
    while text.startswith("(") and text.endswith(")") and is_closed(text[1:-1]):
        text = text[1:-1]
    pieces = _pieces(text)
    if len(pieces) > 1:
        for sign, piece in pieces:
            _add(piece, sign * times, terms)
        return
    if text.lstrip("-").isdigit():
        terms["1"] = terms.get("1", 0) + times * int(text)
        return
    found = _MULTIPLE.fullmatch(text)
    if found is not None and _is_one(found[2]):
        _add(found[2], times * int(found[1]), terms)
        return
    terms[text] = terms.get(text, 0) + times


def _pieces(text: str) -> list[tuple[int, str]]:
    """(1 or -1, term) for the terms of a sum that are not inside of parentheses."""
    found, depth, start, sign = list[tuple[int, str]](), 0, 0, 1
    for i, one in enumerate(text):
        depth += (one == "(") - (one == ")")
        if not depth and text[i : i + 3] in (" + ", " - "):
            found.append((sign, text[start:i]))
            start, sign = i + 3, 1 if text[i + 1] == "+" else -1
    return [*found, (sign, text[start:])]


def _is_one(text: str) -> bool:
    """Whether a text is a name, or one pair of parentheses with a function's name before it."""
    return text.isidentifier() or (text.endswith(")") and is_closed(text[text.index("(") + 1 : -1]))


def is_closed(text: str) -> bool:
    """Whether the parentheses in a text are balanced."""
    depth = 0
    for sign in text:
        depth += (sign == "(") - (sign == ")")
        if depth < 0:
            return False
    return depth == 0
