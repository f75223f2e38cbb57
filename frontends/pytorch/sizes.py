"""Extents as polynomials of symbols, from the two texts of them in a program of torch.export.

Add(Mul(Integer(2), Symbol('s5', positive=True, integer=True)), Integer(1))
2*s5 + 1
"""

from __future__ import annotations

import ast
from collections import Counter
from collections.abc import Sequence
from functools import reduce

Polynomial = frozenset[tuple[tuple[str, ...], int]]
"""The terms: their symbols, sorted, with a factor other than 0."""

_UNREADABLE = (SyntaxError, ValueError, TypeError, LookupError, RecursionError, MemoryError)
"""What a text that is damaged, too deep or of another function raises."""


def polynomial(text: str) -> Polynomial | None:
    """The polynomial that a text is; None if it is none."""
    try:
        return _of(ast.parse(text, mode="eval").body)
    except _UNREADABLE:
        return None


def symbol_of(size: Polynomial) -> str | None:
    """The symbol that an extent is; None for others."""
    found = line_of(size)
    return found[0] if found is not None and found[1:] == (1, 0) else None


def line_of(size: Polynomial) -> tuple[str, int, int] | None:
    """(s, a, b) of an extent a * s + b; None for others."""
    terms = dict(size)
    offset = terms.pop((), 0)
    match list(terms.items()):
        case [((symbol,), factor)]:
            return symbol, factor, offset
    return None


def _of(one: ast.expr) -> Polynomial:
    match one:
        case ast.Constant(value=int(number)):
            return _sum([((), number)])
        case ast.Call(func=ast.Name(id="Integer"), args=[number]):
            return _of(number)
        case ast.UnaryOp(op=ast.USub(), operand=x):
            return _product(_sum([((), -1)]), _of(x))
        case (
            ast.Name(id=symbol)
            | ast.Call(func=ast.Name(id="Symbol"), args=[ast.Constant(value=str(symbol))])
        ):
            return _sum([((symbol,), 1)])
        case ast.Call(func=ast.Name(id="Add"), args=parts):
            return reduce(_added, map(_of, parts))
        case ast.Call(func=ast.Name(id="Mul"), args=parts):
            return reduce(_product, map(_of, parts))
        case ast.BinOp(left=a, op=ast.Add(), right=b):
            return _added(_of(a), _of(b))
        case ast.BinOp(left=a, op=ast.Sub(), right=b):
            return _added(_of(a), _product(_sum([((), -1)]), _of(b)))
        case ast.BinOp(left=a, op=ast.Mult(), right=b):
            return _product(_of(a), _of(b))
    raise LookupError(ast.unparse(one))


def _added(a: Polynomial, b: Polynomial) -> Polynomial:
    return _sum([*a, *b])


def _product(a: Polynomial, b: Polynomial) -> Polynomial:
    return _sum([(tuple(sorted((*s, *t))), x * y) for s, x in a for t, y in b])


def _sum(terms: Sequence[tuple[tuple[str, ...], int]]) -> Polynomial:
    found = Counter[tuple[str, ...]]()
    for symbols, factor in terms:
        found[symbols] += factor
    return frozenset((symbols, factor) for symbols, factor in found.items() if factor)
