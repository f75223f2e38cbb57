"""Conditions on a few integers, such as the extents of a model's inputs, in one op."""

from __future__ import annotations

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
            x, y = (at if isinstance(at, int) else values[at[0]][at[1]] for at in (a, b))
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
_COMPARED: dict[str, Callable[[Any, Any], Any]] = {
    "==": operator.eq,
    "!=": operator.ne,
    "<": operator.lt,
    "<=": operator.le,
    ">": operator.gt,
    ">=": operator.ge,
}
_JOINED: dict[str, Callable[[Any, Any], Any]] = {"and": operator.and_, "or": operator.or_}
OPERATORS = {**_COMPUTED, **_COMPARED, **_JOINED}
"""What the operators of `nn.holds` compute of two Python integers or truth values."""

Place = int | tuple[str, int]
"""An operand of a step: a number, or a position in the numbers ("n") or the results ("v")."""


def steps_of(code: str, count: int) -> list[tuple[Place, str, Place]]:
    """The steps of an `nn.holds` of `count` numbers. Raises NncError where one is malformed."""
    found: list[tuple[Place, str, Place]] = []
    truths: list[bool] = []
    """Whether each step has a truth value."""
    for text in code.split("; "):
        words = text.split(" ")
        if len(words) != 3 or words[1] not in OPERATORS:
            raise NncError(f"'{text}' is not a step of the form 'a operator b'")
        a, name, b = _place(words[0]), words[1], _place(words[2])
        for at in (a, b):
            kind, i = at if isinstance(at, tuple) else ("", 0)
            held = truths if kind == "v" else [False] * (count if kind else 1)
            if i >= len(held) or held[i] != (name in _JOINED):
                raise NncError(f"'{text}' has an operand that is missing or of another kind")
        found.append((a, name, b))
        truths.append(name not in _COMPUTED)
    if not truths[-1]:
        raise NncError(f"the last step '{text}' is not a condition")
    return found


def _place(word: str) -> Place:
    if word[:1] in ("n", "v") and word[1:].isascii() and word[1:].isdecimal():
        return word[0], int(word[1:])
    try:
        found = int(word)
    except ValueError:
        raise NncError(f"'{word}' is not an operand") from None
    if found != _wrapped(found):
        raise NncError(f"'{word[:99]}' does not fit 64 bits")
    return found


def _wrapped(x: int) -> int:
    """An integer in two's complement of 64 bits."""
    return (x + (1 << 63)) % (1 << 64) - (1 << 63)
