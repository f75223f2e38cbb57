"""Guards: conditions on the extents and numbers of inputs, for which a program was exported."""

from __future__ import annotations

import ast
import math
from dataclasses import dataclass, field
from fractions import Fraction
from functools import partial, reduce
from typing import NamedTuple

from ...common.complexes import Pair
from ...common.movement import as_vector
from ...common.vocabulary import *
from ..guards import normal_form
from ..layer import AtenLayer
from ..rows import ROWS

_LONGEST = 160
"""The longest guard that a message shows whole. Units: characters."""

_OWN = 4
"""The most guards that have a check with a message of their own; others share one, as a program may
have hundreds.
"""

_EXPORTED = "the program was exported for inputs of which "

_OF_MEMORY = (".stride()", ".storage_offset()", ".is_contiguous(", "IsNonOverlappingAndDense")
"""What guards say of how tensors lie in memory; nnc takes contiguous arrays."""

_UNREADABLE = (SyntaxError, LookupError, RecursionError, MemoryError, OverflowError, ValueError)
"""What a guard that is damaged, too deep or of unknown words raises."""


@ROWS("nnc.guarded")
def guarded(n: AtenLayer, self: Value, guards: list[str], sources: dict[str, Value]) -> Value:
    """The value; a run with inputs for which a guard does not hold fails.

    A guard that cannot be read is left out with a warning. Raises NncError for one that does not
    hold for extents known at import.
    """
    conditions, checks = _Conditions(n, sources), list[tuple[Any, str]]()
    for text in guards:
        if any(word in text for word in _OF_MEMORY):
            continue
        try:
            holds = conditions.of(text)
        except _UNREADABLE as error:
            n.warn(f"not checked: {_shown(text)} ({type(error).__name__}: {error})")
            continue
        if holds is False:
            raise n.error(_EXPORTED + _shown(text))
        if holds is not True:
            checks.append((holds, text))
    if not checks:
        return self
    checks.sort(key=lambda check: len(check[1]) > _LONGEST)
    own, others = checks[:_OWN], checks[_OWN:]
    if others:
        texts = " and ".join(_shown(text) for _, text in others[:_OWN])
        rest = f" and {len(others) - _OWN} other guards hold" if len(others) > _OWN else ""
        own.append((conditions.all([holds for holds, _ in others]), texts + rest))
    numbers = conditions.numbers()
    for holds, text in own:
        condition = n(nn.Holds(numbers, code=conditions.code(holds)))
        self = n(nn.Assume(self, condition, _EXPORTED + text))
    return self


@ROWS("complex.guarded")
def guarded_complex(n: AtenLayer, self: Any, guards: list[str], sources: dict[str, Any]) -> Any:
    """`guarded` where some tensors are complex; guards are about extents, which parts share."""
    real = {name: v.real if isinstance(v, Pair) else v for name, v in sources.items()}
    if not isinstance(self, Pair):
        return guarded(n, self, guards, real)
    return Pair(*(guarded(n, part, guards, real) for part in (self.real, self.imag)))


def _shown(text: str) -> str:
    """A guard as messages have it."""
    return text if len(text) <= _LONGEST else f"{text[:_LONGEST]}.."


@dataclass(frozen=True)
class _Open:
    """A number or truth value that is not known here: an input's ("n") or a step's ("v")."""

    kind: str
    at: int
    is_float: bool = field(default=False, compare=False)


class _Conditions:
    """Computes guards: what is known here, as Python does, and the rest in steps of `nn.holds`."""

    def __init__(self, n: AtenLayer, sources: dict[str, Value]) -> None:
        self.n = n
        self.sources = sources
        self._offsets: dict[Value, int] = {}
        """Where the extents of each input, or its number, are in `numbers`."""
        self._steps: dict[tuple[Any, str, Any], _Open] = {}
        self._divisors: list[_Open] = []
        """The divisors of the comparison that is being computed."""

    def of(self, text: str) -> Any:
        """Whether a guard holds. Raises one of `_UNREADABLE`."""
        return self._condition(ast.parse(text, mode="eval").body)

    def numbers(self) -> Value:
        """The extents of the inputs that the conditions use, and their numbers, as a 1-D i64."""
        n, used = self.n, self._offsets
        parts = [n(nn.ShapeOf(x)) if x.type.rank else as_vector(n, x) for x in used]
        return concatenated(n, parts)

    def code(self, condition: _Open) -> str:
        """The code of `nn.holds` for a condition: the steps that it needs."""
        steps, needed = list(self._steps), {condition}
        for i in range(condition.at, -1, -1):
            if _Open("v", i) in needed:
                needed |= {x for x in steps[i] if isinstance(x, _Open)}
        own = sorted(x.at for x in needed if x.kind == "v")
        words = {_Open("v", at): f"v{i}" for i, at in enumerate(own)}
        words |= {x: f"n{x.at}" for x in needed if x.kind == "n"}

        def word(x: Any) -> str:
            return words[x] if isinstance(x, _Open) else str(x)

        return "; ".join(" ".join(map(word, steps[at])) for at in own)

    def all(self, parts: Sequence[Any]) -> Any:
        """Whether all conditions hold."""
        return reduce(self._and, parts, True)

    def _and(self, a: Any, b: Any) -> Any:
        if isinstance(a, bool) or isinstance(b, bool):
            return False if a is False or b is False else b if a is True else a
        return self._step(a, "and", b)

    def _or(self, a: Any, b: Any) -> Any:
        if isinstance(a, bool) or isinstance(b, bool):
            return True if a is True or b is True else b if a is False else a
        return self._step(a, "or", b)

    def _condition(self, one: ast.expr) -> Any:
        match one:
            case ast.BoolOp(op=kind, values=parts):
                joined = self._and if isinstance(kind, ast.And) else self._or
                return reduce(joined, map(self._condition, parts))
            case ast.Compare():
                return self._comparison(one)
            case ast.Constant(value=bool(known)):
                return known
        raise LookupError(f"no condition: {_shown(ast.unparse(one))}")

    def _comparison(self, one: ast.Compare) -> Any:
        """Whether numbers compare so, and none of their divisors is 0."""
        self._divisors = []
        try:
            numbers = [self._number(x) for x in (one.left, *one.comparators)]
            pairs = zip(one.ops, numbers, numbers[1:], strict=False)
            found = [self._made(type(op), a, b) for op, a, b in pairs]
        except ZeroDivisionError:
            return False
        return self.all([self._step(x, ">", 0) for x in dict.fromkeys(self._divisors)] + found)

    def _number(self, one: ast.expr) -> Any:
        match one:
            case ast.Constant(value=int(known)):
                return known
            case ast.Constant(value=float(known)):
                found = Fraction(known)
                is_short = found.denominator <= _LARGEST_DIVISOR
                return _Ratio(found.numerator, found.denominator) if is_short else known
            case ast.UnaryOp(op=ast.USub(), operand=operand):
                return self._made(ast.Sub, 0, self._number(operand))
            case ast.BinOp(left=left, op=op, right=right):
                return self._made(type(op), self._number(left), self._number(right))
            case ast.Call(func=function, args=[x]):
                return self._function(normal_form(function), self._number(x))
            case ast.Call(func=function, args=[_, *_] as arguments):
                name = normal_form(function)
                return reduce(lambda a, b: self._made(name, a, b), map(self._number, arguments))
            case ast.Subscript(
                value=ast.Call(func=ast.Attribute(value=place, attr="size"), args=[]),
                slice=ast.Constant(value=int(axis)),
            ):
                return self._input(self.sources[normal_form(place)], axis)
        return self._input(self.sources[normal_form(one)], None)

    def _input(self, x: Value, axis: int | None) -> Any:
        """An extent of an input, or the number that it is."""
        if axis is None and (x.type.rank or x.type.element_type is not i64):
            raise LookupError("an input is not an integer")
        known = self.n.number(x) if axis is None else x.type.shape[axis]
        if known is not None and not isinstance(known, Value):
            return known
        if x not in self._offsets:
            self._offsets[x] = sum(y.type.rank or 1 for y in self._offsets)
        return _Open("n", self._offsets[x] + (axis or 0))

    def _made(self, kind: Any, a: Any, b: Any) -> Any:
        """An operation on two numbers, by the class of its operator or the name of a function."""
        if _is_float(a) or _is_float(b):
            return self._made_of_floats(kind, self._float(a), self._float(b))
        if kind is ast.Div or isinstance(a, _Ratio) or isinstance(b, _Ratio):
            return self._made_of_ratios(kind, _ratio(a), _ratio(b))
        name = _OPERATIONS[kind]
        if not isinstance(a, _Open) and not isinstance(b, _Open):
            return nn.OPERATORS[name](a, b)
        if name in nn.DIVISIONS:
            self._note_divisor(b)
        return self._step(a, name, b)

    def _made_of_ratios(self, kind: Any, a: _Ratio, b: _Ratio) -> Any:
        times = partial(self._made, ast.Mult)
        if kind is ast.Mult:
            return _Ratio(times(a.top, b.top), times(a.bottom, b.bottom))
        if kind is ast.Div:
            self._note_divisor(b.top)
            return _Ratio(times(a.top, b.bottom), times(a.bottom, b.top))
        found = self._made(kind, times(a.top, b.bottom), times(b.top, a.bottom))
        if kind in (ast.Add, ast.Sub):
            return _Ratio(found, times(a.bottom, b.bottom))
        if kind in (ast.FloorDiv, ast.Mod):
            raise LookupError("a division of fractions")
        return found if kind in _COMPARISONS else _Ratio(found, times(a.bottom, b.bottom))

    def _made_of_floats(self, kind: Any, a: Any, b: Any) -> Any:
        """An operation of which PyTorch rounds the result to f64."""
        if kind in (ast.FloorDiv, ast.Mod):
            raise LookupError("a division of fractions")
        name = "/" if kind is ast.Div else _OPERATIONS[kind]
        if kind is ast.Div:
            self._note_divisor(b)
        if not isinstance(a, _Open) and not isinstance(b, _Open):
            return nn.OPERATORS[name](float(a), float(b))
        return self._step(a, name, b, is_float=kind not in _COMPARISONS)

    def _float(self, x: Any) -> Any:
        """A fraction as one number."""
        if not isinstance(x, _Ratio):
            return x
        return x.top if x.bottom == 1 else self._made_of_floats(ast.Div, x.top, x.bottom)

    def _below(self, x: Any) -> Any:
        """A number rounded down to an integer."""
        if _is_float(x):
            return math.floor(x) if isinstance(x, float) else self._step(x, "//", 1)
        return self._made(ast.FloorDiv, *_ratio(x))

    def _function(self, name: str, x: Any) -> Any:
        """A number as a float, or rounded to an integer."""
        made = self._made
        if name == "torch.sym_float":
            return x
        below = self._below(x)
        above = made(ast.Sub, 0, self._below(made(ast.Sub, 0, x)))
        if name == "math.trunc":
            down = made("torch.sym_max", below, 0)
            return made(ast.Add, down, made("torch.sym_min", above, 0))
        return {"math.floor": below, "math.ceil": above}[name]

    def _note_divisor(self, x: Any) -> None:
        """Require that a divisor is above 0. Raises LookupError if it is below."""
        if isinstance(x, _Open):
            self._divisors.append(x)
        elif x == 0:
            raise ZeroDivisionError
        elif x < 0:
            raise LookupError(f"a divisor is {x}")

    def _step(self, a: Any, name: str, b: Any, is_float: bool = False) -> _Open:
        return self._steps.setdefault((a, name, b), _Open("v", len(self._steps), is_float))


class _Ratio(NamedTuple):
    """An exact fraction of integers: a quotient, or a float that is one with a small divisor."""

    top: Any
    bottom: Any


def _ratio(x: Any) -> _Ratio:
    return x if isinstance(x, _Ratio) else _Ratio(x, 1)


def _is_float(x: Any) -> bool:
    return isinstance(x, float) or (isinstance(x, _Open) and x.is_float)


_LARGEST_DIVISOR = 1 << 20
"""The largest divisor of a fraction that stands for a float, with no rounding in PyTorch either."""

_COMPARISONS = (ast.Eq, ast.NotEq, ast.Lt, ast.LtE, ast.Gt, ast.GtE)

_OPERATIONS: dict[Any, str] = {
    ast.Add: "+",
    ast.Sub: "-",
    ast.Mult: "*",
    ast.FloorDiv: "//",
    ast.Mod: "%",
    ast.Eq: "==",
    ast.NotEq: "!=",
    ast.Lt: "<",
    ast.LtE: "<=",
    ast.Gt: ">",
    ast.GtE: ">=",
    "torch.sym_max": "max",
    "torch.sym_min": "min",
}
"""The operators of `nn.holds`. A quotient (`ast.Div`) is a fraction."""
