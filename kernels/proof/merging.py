"""Merges accesses that differ only in constants: the pieces of a tile, the repeats of a layout.

x[0, t0], x[1, t0], x[2, t0]    ->    x[(0 + 1*v7), t0], where 0 <= v7 < 3
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from functools import lru_cache

from .accesses import Access
from .expressions import Form
from .forms import Forms

Numbers = tuple[int, ...]

_NUMBER = re.compile(r"(?<![\w/])(?<!/ )(?<!mod )\d+(?![\d*])")
"""Matches numbers of an expression that a sum may replace: no factors and no divisors."""
_CHANGING = re.compile(rf"\bv\d+|{_NUMBER.pattern}")
"""Matches these and variables."""


@dataclass(frozen=True)
class Merged:
    """An access that stands for several, its `members`."""

    access: Access
    members: tuple[Access, ...]


def merged(forms: Forms, accesses: Sequence[Access]) -> list[Merged]:
    """The accesses merged into as few as found; each stands for some of them, in order."""
    alike: dict[tuple[object, ...], list[tuple[Numbers, Access]]] = {}
    for access in accesses:
        shape, numbers = _shape(access)
        key = (access.kind, access.place.buffer, access.limits is None, shape)
        alike.setdefault(key, []).append((numbers, access))
    return [one for found in alike.values() for one in _boxes(forms, found)]


def _boxes(forms: Forms, found: Sequence[tuple[Numbers, Access]]) -> Iterator[Merged]:
    """Accesses of one shape, merged into boxes; those with equal constants go to different ones."""
    left = list(found)
    while left:
        distinct: dict[Numbers, Access] = {}
        again = []
        for numbers, access in left:
            if numbers in distinct:
                again.append((numbers, access))
            distinct.setdefault(numbers, access)
        left = again
        rest = sorted(distinct)
        while rest:
            steps, count = _box(rest)
            members = tuple(distinct[numbers] for numbers in rest[:count])
            yield Merged(_for_each(forms, members[0], rest[0], steps), members)
            rest = rest[count:]


def _box(points: Sequence[Numbers]) -> tuple[list[tuple[Numbers, int]], int]:
    """([(step, count)], number of points) of the box at the start of sorted points.

    [0, 1, 2, 16, 17, 18, 90] begins with 3 steps of 1 times 2 steps of 16, which are 6 points.
    """
    steps: list[tuple[Numbers, int]] = []
    size = 1
    while size < len(points):
        step = tuple(b - a for a, b in zip(points[0], points[size], strict=True))
        times = 1
        while points[times * size : (times + 1) * size] == [
            tuple(a + times * s for a, s in zip(point, step, strict=True))
            for point in points[:size]
        ]:
            times += 1
        if times == 1:
            break
        steps.append((step, times))
        size *= times
    return steps, size


def _for_each(
    forms: Forms, first: Access, numbers: Numbers, steps: Sequence[tuple[Numbers, int]]
) -> Access:
    """The first access of a box, with sums in place of the constants that change."""
    if not steps:
        return first
    turns = [forms.counter(str(times)) for _, times in steps]
    texts: list[str | None] = []
    for at, number in enumerate(numbers):
        parts = [
            f"{step[at]}*{turn.text}"
            for (step, _), turn in zip(steps, turns, strict=True)
            if step[at]
        ]
        texts.append(f"({' + '.join([str(number), *parts])})" if parts else None)
    given = iter(texts)

    def filled(form: Form) -> Form:
        text, *conditions = [_filled(text, given) for text in _texts(form)]
        held = tuple(conditions[: len(form.holds)])
        return replace(form, text=text, holds=held, wanted=tuple(conditions[len(form.holds) :]))

    made = _map(first, filled)
    for turn in turns:
        made = replace(made, holds=made.holds + turn)
    return made


def _filled(text: str, given: Iterator[str | None]) -> str:
    """A text with its replaceable numbers replaced in order; None keeps a number."""
    return _NUMBER.sub(lambda found: next(given) or found[0], text)


def _map(access: Access, change: object) -> Access:
    """An access with changed forms, which are visited in the order of `_forms`."""
    made = iter([change(form) for form in _forms(access)])  # type: ignore[operator]
    place = access.place
    at = tuple(next(made) for _ in access.at)
    limits = None if access.limits is None else tuple(next(made) for _ in access.limits)
    indices = None if place.indices is None else tuple(next(made) for _ in place.indices)
    flat = None if place.flat is None else next(made)
    size = None if place.size is None else next(made)
    return replace(
        access,
        at=at,
        limits=limits,
        place=replace(place, indices=indices, flat=flat, size=size, offset=None, strides=()),
        holds=next(made),
        barriers=next(made),
    )


def _forms(access: Access) -> Iterator[Form]:
    place = access.place
    yield from access.at
    yield from access.limits or ()
    yield from place.indices or ()
    yield from (form for form in (place.flat, place.size) if form is not None)
    yield access.holds
    yield access.barriers


def _texts(form: Form) -> Iterable[str]:
    return (form.text, *form.holds, *form.wanted)


def _shape(access: Access) -> tuple[tuple[object, ...], Numbers]:
    """(key that is equal for accesses that differ only in constants, the constants)."""
    names: dict[str, int] = {}
    shape: list[object] = []
    numbers: list[int] = []

    def renamed(name: str) -> int:
        return names.setdefault(name, len(names))

    for form in _forms(access):
        shape += [len(form.holds), len(form.wanted), form.is_exact]
        for text in _texts(form):
            pattern, constants, variables = _pattern(text)
            numbers += constants
            shape.append(pattern)
            shape += [renamed(name) for name in variables]
        shape.append(tuple(renamed(name) for name in form.variables))
    place = access.place
    shape += [place.indices is None, place.flat is None, place.size is None]
    return tuple(shape), tuple(numbers)


@lru_cache(maxsize=1 << 16)
def _pattern(text: str) -> tuple[str, Numbers, tuple[str, ...]]:
    """(text with signs for numbers that may be replaced and for variables, these two in order)."""
    changing = _CHANGING.findall(text)
    numbers = tuple(int(one) for one in changing if one[0] != "v")
    variables = tuple(one for one in changing if one[0] == "v")
    pattern = _CHANGING.sub(lambda found: "@" if found[0][0] == "v" else "#", text)
    return pattern, numbers, variables
