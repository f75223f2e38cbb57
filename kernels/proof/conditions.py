"""Conditions of integer sets as text: those that concern another, and whether all can hold."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from functools import lru_cache
from itertools import accumulate
from typing import Any

from ...ir.types import row_major_strides
from .expressions import Form, is_number
from .views import Shape

_VARIABLE = re.compile(r"\b(?:[bv]\d+|t\d)\b")
_NAME = re.compile(r"\b[bptv]\d+\b")


def concerning(condition: str, others: Iterable[str]) -> list[str]:
    """A condition with those of others that share a variable with it, or with one of these."""
    left = {other: frozenset(_VARIABLE.findall(other)) for other in others}
    names, found = set(_VARIABLE.findall(condition)), [condition]
    while more := [one for one, its in left.items() if not names.isdisjoint(its)]:
        found += more
        names |= {name for one in more for name in left.pop(one)}
    return found


def in_order(conditions: Sequence[str]) -> str:
    """The conjunction of conditions, whose variables and parameters are named by their order."""
    names: dict[str, str] = {}

    def renamed(found: re.Match[str]) -> str:
        return names.setdefault(found[0], f"{found[0][0]}{len(names)}")

    return _NAME.sub(renamed, " and ".join(conditions))


@lru_cache(maxsize=1 << 14)
def is_empty(isl: Any, conditions: str) -> bool:
    """Whether conditions cannot hold together."""
    names = dict.fromkeys(_NAME.findall(conditions))
    parameters = ", ".join(name for name in names if name[0] == "p")
    variables = ", ".join(name for name in names if name[0] != "p")
    body = f"exists ({variables} : {conditions})" if variables else conditions
    return isl.Set(f"[{parameters}] -> {{ [] : {body} }}").is_empty()


def parts_of(coarse: Shape, fine: Shape, extents: Sequence[Form]) -> Iterator[str | None]:
    """For each index x of a shape: the condition on the indices y that it consists of.

    None is where unknown extents would have to be multiplied by them.
    """
    begin, ends = 0, list(accumulate(fine))
    for j, end in enumerate(accumulate(coarse), 1):
        own = [i for i, cut in enumerate(ends) if begin < cut <= end]
        begin, inner = end, [extents[i] for i in own[1:]]
        if all(map(is_number, inner)):
            distances = row_major_strides([1, *(int(extent.text) for extent in inner)])
            terms = zip(distances, own, strict=True)
            yield f"x{j} = {' + '.join(f'{distance}*y{i + 1}' for distance, i in terms)}"
        else:
            yield None


def ranges_of(names: Sequence[str], extents: Sequence[Form]) -> list[str]:
    """The conditions that indices are inside of extents."""
    return [f"0 <= {n} < {e.text}" for n, e in zip(names, extents, strict=True)]
