"""Extents as polynomials of symbols, from the two texts of them in a program of torch.export.

Add(Mul(Integer(2), Symbol('s5', positive=True, integer=True)), Integer(1))
2*s5 + 1
"""

from __future__ import annotations

import ast
from dataclasses import dataclass
from functools import cache, reduce

from ...ir.polynomial import Poly, Size, Symbol

_UNREADABLE = (SyntaxError, ValueError, TypeError, LookupError, RecursionError, MemoryError)
"""What a text that is damaged, too deep or of another function raises."""


@dataclass(frozen=True, eq=False)
class Named(Symbol):
    """A symbol of a program; there is one for each name."""

    name: str


@cache
def _named(name: str) -> Poly:
    return Poly.symbol(Named(name))


def polynomial(text: str) -> Size | None:
    """The polynomial that a text is; None if it is none."""
    try:
        return _of(ast.parse(text, mode="eval").body)
    except _UNREADABLE:
        return None


def symbol_of(size: Size) -> str | None:
    """The name of the symbol that an extent is; None for others."""
    found = line_of(size)
    return found[0] if found is not None and found[1:] == (1, 0) else None


def line_of(size: Size) -> tuple[str, int, int] | None:
    """(s, a, b) of an extent a * s + b; None for others."""
    terms = {} if isinstance(size, int) else dict(size.terms)
    offset = terms.pop((), 0)
    match list(terms.items()):
        case [((Named(name=name),), factor)]:
            return name, factor, offset
    return None


def _of(one: ast.expr) -> Size:
    match one:
        case ast.Constant(value=int(number)):
            return number
        case ast.Call(func=ast.Name(id="Integer"), args=[number]):
            return _of(number)
        case ast.UnaryOp(op=ast.USub(), operand=x):
            return -_of(x)
        case (
            ast.Name(id=symbol)
            | ast.Call(func=ast.Name(id="Symbol"), args=[ast.Constant(value=str(symbol))])
        ):
            return _named(symbol)
        case ast.Call(func=ast.Name(id="Add"), args=parts):
            return reduce(lambda a, b: a + b, map(_of, parts))
        case ast.Call(func=ast.Name(id="Mul"), args=parts):
            return reduce(lambda a, b: a * b, map(_of, parts))
        case ast.BinOp(left=a, op=ast.Add(), right=b):
            return _of(a) + _of(b)
        case ast.BinOp(left=a, op=ast.Sub(), right=b):
            return _of(a) - _of(b)
        case ast.BinOp(left=a, op=ast.Mult(), right=b):
            return _of(a) * _of(b)
    raise LookupError(ast.unparse(one))
