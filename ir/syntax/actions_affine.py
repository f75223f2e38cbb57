"""Parser actions for affine maps and integer sets."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from .. import affine
from .. import attributes as a
from ..diagnostics import NncError
from .reductions import MAX_DEPTH, action, actions


def _declare(s: Any, names: list[tuple[str, int]], make: Callable[[int], Any]) -> int:
    for i, (name, pos) in enumerate(names):
        if name in s.affine_env:
            raise s.error(f"redefinition of identifier '{name}'", pos)
        s.affine_env[name] = make(i)
    return len(names)


@action
def _affine_no_dims(s, c):
    s.affine_env = {}
    return 0


@action
def _affine_dims(s, c):
    s.affine_env = {}
    return _declare(s, c[0], affine.AffineDim)


@action
def _affine_set(s, c):
    # As upstream, a set without constraints gets one that always holds: 0 == 0.
    given = c[2] or [(affine.AffineConstant(0), True)]
    constraints = tuple((_shallow(e), equal) for e, equal in given)
    return a.IntegerSetAttr(affine.IntegerSet(c[0], c[1], constraints))


def _shallow(expr: Any) -> Any:
    """The expression itself. Raises NncError if it nests deeper than MAX_DEPTH."""
    level, depth = [expr], 0
    while level:
        depth += 1
        if depth > MAX_DEPTH:
            raise NncError("affine expressions are nested too deeply")
        level = [
            part for e in level if isinstance(e, affine.AffineBinary) for part in (e.lhs, e.rhs)
        ]
    return expr


@action
def _affine_name(s, c):
    name, pos = c[0]
    if name not in s.affine_env:
        raise s.error(f"use of undeclared identifier '{name}' in affine expression", pos)
    return s.affine_env[name]


@action
def _affine_multiply(s, c):
    if not (c[0].is_symbolic_or_constant() or c[1].is_symbolic_or_constant()):
        raise NncError(
            "non-affine expression: at least one of the multiply operands has to be either a "
            "constant or symbolic"
        )
    return c[0] * c[1]


def _divide(c: list[Any], word: str, make: Callable[[Any, Any], Any]) -> Any:
    if not c[1].is_symbolic_or_constant():
        raise NncError(
            f"non-affine expression: right operand of {word} has to be either a constant or "
            "symbolic"
        )
    return make(c[0], c[1])


actions(
    affine_no_symbols=lambda s, c: 0,
    affine_symbols=lambda s, c: _declare(s, c[0], affine.AffineSymbol),
    affine_map=lambda s, c: a.AffineMapAttr(
        affine.AffineMap(c[0], c[1], tuple(_shallow(e) for e in c[2]))
    ),
    affine_constant=lambda s, c: affine.AffineConstant(int(c[0][0], 0)),
    affine_negate=lambda s, c: -c[0],
    affine_add=lambda s, c: c[0] + c[1],
    affine_subtract=lambda s, c: c[0] - c[1],
    affine_floordiv=lambda s, c: _divide(c, "floordiv", lambda x, y: x // y),
    affine_ceildiv=lambda s, c: _divide(c, "ceildiv", lambda x, y: x.ceildiv(y)),
    affine_mod=lambda s, c: _divide(c, "mod", lambda x, y: x % y),
    affine_at_least=lambda s, c: (c[0] - c[1], False),
    affine_at_most=lambda s, c: (c[1] - c[0], False),
    affine_equal=lambda s, c: (c[0] - c[1], True),
)
