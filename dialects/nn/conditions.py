"""Conditions on a few integers, such as the extents of a model's inputs, in one op."""

from __future__ import annotations

import math
import operator

from ..vocabulary import *
from .base import NnOp, tensor
from .traits import Fusion


class Holds(NnOp, name="nn.holds"):
    """Whether a condition on integers is true.

    `code` computes it in steps `a operator b`, separated by `; `. An operand is a number, `n2` (the
    element at 2 of `numbers`) or `v3` (the result of step 3, counted from 0); the last step is the
    result. The operators are `+ - * // % max min`, `== != < <= > >=`, and `and or` of truth values;
    `//` rounds down, and a divisor below 1 counts as 1. Numerics: i64, which wraps.

    With a float as an operand, such as `0.29`, and for `/`, both become f64. There `//` gives the
    quotient rounded down as an integer, and `%` is missing.

    Shapes: numbers [N] -> out [].
    """

    fusion = Fusion.CHECK

    numbers: Operand = operand(AnyRankedTensor)
    code: str = attribute(STRING)
    out: Result = result(AnyRankedTensor)

    example = '%p = nn.holds %n {code = "n0 // 4; v0 == n1"} : (tensor<2xi64>) -> tensor<i1>'

    @classmethod
    def infer(cls, types, attrs):
        (numbers,) = types
        if numbers.rank != 1 or numbers.shape[0] is None or numbers.element_type is not i64:
            raise NncError(f"numbers must be a 1-D tensor of i64, but got '{numbers}'")
        steps_of(attrs.code, numbers.shape[0])
        return [tensor((), i1)]

    def evaluate(self, numbers):
        found: list[Any] = []
        values: dict[str, list[Any]] = {"n": [int(x) for x in numbers], "v": found}
        for a, name, b in steps_of(self.code, len(numbers)):
            x, y = (values[at[0]][at[1]] if isinstance(at, tuple) else at for at in (a, b))
            if name == "/" or isinstance(x, float) or isinstance(y, float):
                found.append(_of_floats(name, float(x), float(y)))
                continue
            step = OPERATORS[name](x, max(y, 1) if name in DIVISIONS else y)
            found.append(_wrapped(step) if name in _COMPUTED else step)
        return np.array(found[-1])


DIVISIONS = ("//", "%")
"""The operators of `nn.holds` that divide."""

_COMPUTED: dict[str, Callable[[Any, Any], Any]] = {
    "+": operator.add,
    "-": operator.sub,
    "*": operator.mul,
    "//": operator.floordiv,
    "%": operator.mod,
    "max": max,
    "min": min,
}
_OF_FLOATS: dict[str, Callable[[Any, Any], Any]] = {"/": operator.truediv}
_COMPARED: dict[str, Callable[[Any, Any], Any]] = {
    "==": operator.eq,
    "!=": operator.ne,
    "<": operator.lt,
    "<=": operator.le,
    ">": operator.gt,
    ">=": operator.ge,
}
_JOINED: dict[str, Callable[[Any, Any], Any]] = {"and": operator.and_, "or": operator.or_}
OPERATORS = {**_COMPUTED, **_OF_FLOATS, **_COMPARED, **_JOINED}
"""What the operators of `nn.holds` compute of two Python numbers or truth values."""

Place = int | float | tuple[str, int]
"""An operand of a step: a number, or a position in the numbers ("n") or the results ("v")."""


def steps_of(code: str, count: int) -> list[tuple[Place, str, Place]]:
    """The steps of an `nn.holds` of `count` numbers. Raises NncError where one is malformed."""
    found: list[tuple[Place, str, Place]] = []
    kinds: list[type] = []
    """The kind of each step's result."""
    for text in code.split("; "):
        words = text.split(" ")
        if len(words) != 3 or words[1] not in OPERATORS:
            raise NncError(f"'{text}' is not a step of the form 'a operator b'")
        a, name, b = _place(words[0]), words[1], _place(words[2])
        own = [_kind(at, count, kinds) for at in (a, b)]
        wanted = (bool,) if name in _JOINED else (int,) if name == "%" else (int, float)
        if not all(kind in wanted for kind in own):
            raise NncError(f"'{text}' has an operand that is missing or of another kind")
        found.append((a, name, b))
        kinds.append(_kind_of_step(name, own))
    if kinds[-1] is not bool:
        raise NncError(f"the last step '{text}' is not a condition")
    return found


def _kind(at: Place, count: int, kinds: Sequence[type]) -> type | None:
    """The kind of an operand; None if it is missing."""
    if not isinstance(at, tuple):
        return type(at)
    kind, i = at
    held = kinds if kind == "v" else [int] * count
    return held[i] if i < len(held) else None


def _kind_of_step(name: str, operands: Sequence[type | None]) -> type:
    if name in _COMPARED or name in _JOINED:
        return bool
    return float if name == "/" or (float in operands and name != "//") else int


def _of_floats(name: str, x: float, y: float) -> Any:
    """What a step computes of floats; a quotient that is no number becomes the least integer."""
    if name not in ("/", "//"):
        return OPERATORS[name](x, y)
    with np.errstate(all="ignore"):
        quotient = float(np.float64(x) / np.float64(y))
    if name == "/":
        return quotient
    is_small = abs(quotient) < 2.0**63
    return math.floor(quotient) if is_small else -(1 << 63)


def _place(word: str) -> Place:
    if word[:1] in ("n", "v") and word[1:].isascii() and word[1:].isdecimal():
        return word[0], int(word[1:])
    try:
        found = float(word) if "." in word or "e" in word else int(word)
    except ValueError:
        raise NncError(f"'{word}' is not an operand") from None
    if isinstance(found, float) and math.isfinite(found):
        return found
    if isinstance(found, float) or found != _wrapped(found):
        raise NncError(f"'{word[:99]}' does not fit 64 bits")
    return found


def _wrapped(x: int) -> int:
    """An integer in two's complement of 64 bits."""
    return (x + (1 << 63)) % (1 << 64) - (1 << 63)
