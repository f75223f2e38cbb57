"""Forms of a launch with constant extents, as arrays along groups, threads and loop counters."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterable, Sequence
from functools import cache, reduce
from math import prod
from types import CodeType
from typing import Any

from ...ir.lazy import np
from .forms import Forms

_ID = re.compile(r"([bt])(\d)")
_FUNCTIONS = {
    "least": lambda a, b: np.minimum(a, b),
    "most": lambda a, b: np.maximum(a, b),
    "choice": lambda where, a, b: np.where(where, a, b),
    "both": lambda *parts: reduce(np.logical_and, parts),
    "one": lambda *parts: reduce(np.logical_or, parts),
    "no": lambda a: np.logical_not(a),
}


class NotListedError(Exception):
    """A question about data or unknown extents, or about too many points to list."""


class Arrays:
    """The values of a launch's forms for all groups, threads and loop iterations.

    An array has a dimension for each axis of more than one number, in the order of the axes.
    """

    def __init__(self, forms: Forms) -> None:
        self._forms = forms
        self._extents: dict[str, int] = {}
        self._axes: dict[str, frozenset[str]] = {}
        self._always: dict[str, bool] = {}
        self._conditions = {meaning.condition for meaning in forms.meanings.values()}

    def extent(self, axis: str) -> int:
        """The number of values along an axis. Raises NotListedError if it is not constant."""
        if axis not in self._extents:
            self._extents[axis] = self._extent(axis)
        return self._extents[axis]

    def _extent(self, axis: str) -> int:
        found = _ID.fullmatch(axis)
        if found is not None and found[1] == "t":
            return self._forms.threads[int(found[2])]
        if found is not None:
            grid = self._forms.grid[int(found[2])].text
            if not grid.isdigit():
                raise NotListedError
            return int(grid)
        if axis not in self._forms.ends:
            raise NotListedError
        return int(np.max(self.of(self._forms.ends[axis]), initial=0))

    def is_axis(self, name: str) -> bool:
        """Whether a variable runs over a range, instead of being computed from others."""
        return _ID.fullmatch(name) is not None or name in self._forms.ends

    def ordered(self, axes: Iterable[str]) -> tuple[str, ...]:
        """Axes in the order of an array's dimensions."""
        return tuple(sorted(axes))

    def check_room(self, axes: Iterable[str], most: int) -> None:
        """Raise NotListedError where an array along these axes has too many elements."""
        if prod(self.extent(name) for name in axes) > most:
            raise NotListedError

    def axes(self, text: str) -> frozenset[str]:
        """The axes that an expression depends on. Raises NotListedError for values, parameters."""
        if text not in self._axes:
            found = frozenset[str]()
            for name in _code(text).co_names:
                if name in self._forms.meanings:
                    found |= self.axes(self._forms.meanings[name].value)
                elif name not in _FUNCTIONS and self.extent(name) != 1:
                    found |= {name}
            self._axes[text] = found
        return self._axes[text]

    def of(self, text: str, order: Sequence[str] | None = None) -> Any:
        """The values of an expression: an array along the axes of `order`, by default its own."""
        order = self.ordered(self.axes(text)) if order is None else order
        return eval(_code(text), {"__builtins__": {}}, _Names(self, self._forms, order))

    def is_always(self, condition: str) -> bool:
        """Whether a condition holds in all threads and iterations."""
        if condition not in self._always:
            is_meaning = condition in self._conditions
            self._always[condition] = is_meaning or bool(np.all(self.of(condition)))
        return self._always[condition]


class _Names(dict[str, Any]):
    """The variables of an expression: axes as ranges, and those computed from other variables."""

    def __init__(self, arrays: Arrays, forms: Forms, order: Sequence[str]) -> None:
        super().__init__()
        self._arrays, self._forms, self._order = arrays, forms, order

    def __missing__(self, name: str) -> Any:
        if name in _FUNCTIONS:
            return _FUNCTIONS[name]
        if name in self._forms.meanings:
            code = _code(self._forms.meanings[name].value)
            found = self[name] = eval(code, {"__builtins__": {}}, self)
            return found
        extent = self._arrays.extent(name)
        if name not in self._order:
            assert extent == 1
            return np.int64(0)
        shape = [extent if axis == name else 1 for axis in self._order]
        found = self[name] = np.arange(extent).reshape(shape)
        return found


@cache
def _code(text: str) -> CodeType:
    """An expression in the syntax of integer sets, compiled to one on arrays."""
    text = re.sub(r"(?<![<>!=])=", "==", text).replace(" mod ", " % ").replace("/", "//")
    tree = _Changed().visit(ast.parse(text, mode="eval"))
    return compile(ast.fix_missing_locations(tree), text, "eval")


class _Changed(ast.NodeTransformer):
    """Rewrites `and`, `or` and `not` as functions of arrays, and drops `floor` around `//`."""

    def visit_BoolOp(self, node: ast.BoolOp) -> ast.AST:
        """Make `a and b` both(a, b)."""
        name = "both" if isinstance(node.op, ast.And) else "one"
        return _call(name, [self.visit(value) for value in node.values])

    def visit_UnaryOp(self, node: ast.UnaryOp) -> ast.AST:
        """Make `not a` no(a)."""
        operand = self.visit(node.operand)
        if isinstance(node.op, ast.Not):
            return _call("no", [operand])
        return ast.UnaryOp(node.op, operand)

    def visit_Call(self, node: ast.Call) -> ast.AST:
        """Make floor(a) a."""
        arguments = [self.visit(argument) for argument in node.args]
        assert isinstance(node.func, ast.Name)
        return arguments[0] if node.func.id == "floor" else _call(node.func.id, arguments)


def _call(name: str, arguments: list[ast.expr]) -> ast.Call:
    return ast.Call(ast.Name(name, ast.Load()), arguments, [])
