"""The set of elements that an access touches, as a product of small sets.

As one set, it would have one condition on all variables of the access: ids, counters, lanes.
isl removes them one by one, which takes exponential time in their number. Here, conditions that
have no variable in common make sets of their own, whose product is the same set. The digits of a
thread's id have none in common, see `ids`.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from typing import Any

from .expressions import Form
from .forms import Forms
from .ids import Ids

_VARIABLE = re.compile(r"\b(?:[bxv]\d+|t\d(?:_\d+)?)\b")


def touched(
    isl: Any,
    forms: Forms,
    holds: Form,
    to: Sequence[Form],
    ids: Ids,
    is_plain: bool = False,
) -> Any:
    """The set of values of the forms `to` wherever a form holds.

    With `is_plain`, alternatives of parameters are left out, see `Parameters.of`.
    """
    used = [holds, *to, *forms.grid]
    names = [f"x{i}" for i in range(len(to))]
    equal = [f"{name} = {form.text}" for name, form in zip(names, to, strict=True)]
    conditions = dict.fromkeys([*(c for form in used for c in form.holds), *equal])
    found = isl.Set(f"{{ [{', '.join(names)}] }}")
    _, ranges, texts = ids.digits(conditions)
    for variables, together in _parts([*ids.of_groups, *ranges, *texts]):
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
