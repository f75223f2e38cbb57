"""The set of elements that an access touches, as a product of small sets.

As one set, it would have one condition on all variables of the access: ids, counters, lanes.
isl removes them one by one, which takes exponential time in their number. Here, conditions that
have no variable in common make sets of their own, whose product is the same set; and quotients and
remainders of a thread's id are variables of their own, which are independent:

    x1 = 9*b0 + floor(t0/128), x2 = t0 mod 128   ->   x1 = 9*b0 + t0_128, x2 = t0_1
Here t0_128 and t0_1 are the digits of t0 that count 128s and ones.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from itertools import pairwise
from typing import Any

from .expressions import Form
from .forms import Forms

_VARIABLE = re.compile(r"\b(?:[bxv]\d+|t\d(?:_\d+)?)\b")
_THREAD = re.compile(
    r"\(\(floor\((?P<a>t\d)/(?P<low>\d+)\)\) mod (?P<times>\d+)\)"
    r"|floor\(\(floor\((?P<b>t\d)/(?P<by>\d+)\) \+ 0\)/(?P<more>\d+)\)"
    r"|floor\((?P<c>t\d)/(?P<over>\d+)\)|\(\(?(?P<d>t\d)\)? mod (?P<below>\d+)\)|\b(?P<e>t\d)\b"
)
"""Matches quotients, remainders and both of a thread's id, and the id itself."""


def touched(
    isl: Any,
    forms: Forms,
    holds: Form,
    to: Sequence[Form],
    ids: Sequence[str],
    is_plain: bool = False,
) -> Any:
    """The set of values of the forms `to` wherever a form holds; `ids` are the ranges of ids.

    With `is_plain`, alternatives of parameters are left out, see `Parameters.of`.
    """
    used = [holds, *to, *forms.grid]
    names = [f"x{i}" for i in range(len(to))]
    equal = [f"{name} = {form.text}" for name, form in zip(names, to, strict=True)]
    conditions = dict.fromkeys([*(c for form in used for c in form.holds), *equal])
    found = isl.Set(f"{{ [{', '.join(names)}] }}")
    for variables, together in _parts([*ids, *_by_digits(forms, conditions)]):
        inner = [v for v in variables if v not in names]
        parameters, known = forms.parameters.of(together, is_plain)
        body = " and ".join([*known, *together])
        body = f"exists ({', '.join(inner)} : {body})" if inner else body
        part = isl.Set(f"[{', '.join(parameters)}] -> {{ [{', '.join(names)}] : {body} }}")
        found = found.intersect(part.coalesce())
    return found


def _parts(conditions: Iterable[str]) -> list[tuple[list[str], list[str]]]:
    """(variables, conditions) of each group of conditions; no two groups share a variable."""
    groups: list[tuple[list[str], list[str]]] = []
    for condition in conditions:
        names, together = _VARIABLE.findall(condition), [condition]
        for group in [one for one in groups if not set(names).isdisjoint(one[0])]:
            groups.remove(group)
            names, together = group[0] + names, group[1] + together
        groups.append((list(dict.fromkeys(names)), together))
    return groups


def _by_digits(forms: Forms, conditions: Iterable[str]) -> list[str]:
    """The ranges of digits of threads' ids, and the conditions with digits in place of ids."""
    texts = [re.sub(r"\((t\d) \+ 0\)", r"\1", condition) for condition in conditions]
    extents = {f"t{axis}": extent for axis, extent in enumerate(forms.threads)}
    cuts = {name: {1, extent} for name, extent in extents.items()}
    for text in texts:
        for one in _THREAD.finditer(text):
            name, *ends = _range(one, extents)
            cuts[name].update(ends)
    digits = {name: list(pairwise(sorted(ends))) for name, ends in cuts.items()}
    digits = {
        name: of if all(high % low == 0 for low, high in of) else [(1, extents[name])]
        for name, of in digits.items()
    }

    def as_digits(one: re.Match[str]) -> str:
        name, low, high = _range(one, extents)
        if low == high:
            return "0"
        inner = [d for d in digits[name] if low <= d[0] and d[1] <= high]
        if not inner or (inner[0][0], inner[-1][1]) != (low, high):
            return one[0].replace(name, f"{name}_1")
        return f"({' + '.join(f'{a // low}*{name}_{a}' for a, _ in inner)})"

    ranges = [f"0 <= {name}_{a} < {b // a}" for name, of in digits.items() for a, b in of]
    return [*ranges, *(_THREAD.sub(as_digits, text) for text in texts)]


def _range(found: re.Match[str], extents: dict[str, int]) -> tuple[str, int, int]:
    """(id, low, high) of an expression that is floor(id / low) mod (high / low)."""
    of = found.groupdict()
    name = next(of[key] for key in "abcde" if of[key] is not None)
    extent = extents[name]
    low, high = 1, extent
    if of["a"]:
        low = int(of["low"])
        high = low * int(of["times"])
    elif of["b"]:
        low = int(of["by"]) * int(of["more"])
    elif of["c"]:
        low = int(of["over"])
    elif of["d"]:
        high = int(of["below"])
    return name, min(low, extent), min(high, extent)
