"""Elements of views with unknown strides, as indices of the underlying buffer.

In a view of n x 16 x h x w elements as n x 16 x (h*w), element [b, c, i] is b*16*h*w + c*h*w + i
elements from the first. Integer sets cannot express such products of variables. But where b, c and
i are inside of n, 16 and h*w, two elements are the same only if all three indices are equal.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from functools import lru_cache
from itertools import accumulate, combinations

from ...ir.core import Value
from ...ir.types import MemRefType, row_major_strides
from .accesses import Access
from .expressions import Form, added, number, scaled
from .forms import Forms
from .merging import merged
from .parameters import Parameters
from .polynomials import Polynomial
from .sets import Sets
from .views import Place, Shape


def by_indices(forms: Forms, sets: Sets, accesses: Sequence[Access]) -> list[Access]:
    """The accesses of a launch, as indices of their buffers where views with unknown strides allow
    it.

    All accesses to a buffer are given by indices in one shape: the finest one in whose extents
    all of them certainly are.
    """
    groups: dict[Value, list[Access]] = {}
    for access in accesses:
        groups.setdefault(access.place.buffer, []).append(access)
    made: dict[Access, Access] = {}
    for buffer, group in groups.items():
        if _is_open(buffer) and any(access.place.indices is None for access in group):
            found = _of_buffer(forms, sets, buffer, group)
            made.update(zip(group, found, strict=True))
    return [made.get(access, access) for access in accesses]


def extents_of(forms: Forms, buffer: Value, shape: Shape) -> list[Form] | None:
    """The extents of a buffer along each index of a shape."""
    if set(shape) <= {1}:
        return [forms.extent(buffer, d) for d in range(len(shape))]
    extents = _extents(forms, buffer)
    if extents is None:
        return None
    return [forms.parameters.form(extent) for extent in _together(extents, shape)]


def common(one: Shape, other: Shape) -> Shape:
    """The coarsest shape that refines both."""
    cuts = sorted({*accumulate(one), *accumulate(other)})
    return tuple(b - a for a, b in zip((0, *cuts), cuts, strict=False))


def _is_open(buffer: Value) -> bool:
    return isinstance(buffer.type, MemRefType) and None in buffer.type.shape


def _extents(forms: Forms, buffer: Value) -> list[Polynomial] | None:
    rank = buffer.type.rank  # type: ignore[attr-defined]
    found = [forms.polynomial(forms.extent(buffer, d)) for d in range(rank)]
    return None if None in found else found  # type: ignore[return-value]


def _together(extents: Sequence[Polynomial], shape: Shape) -> list[Polynomial]:
    found, left = [], list(extents)
    for count in shape:
        product = Polynomial.number(1)
        for extent in left[:count]:
            product = product * extent
        found.append(product)
        del left[:count]
    return found


def shapes_of(rank: int) -> Iterator[Shape]:
    """All shapes of a buffer of this rank, those with the most indices first."""
    for count in reversed(range(rank)):
        for cuts in combinations(range(1, rank), count):
            ends = (*cuts, rank)
            yield tuple(b - a for a, b in zip((0, *ends), ends, strict=False))


@dataclass(frozen=True)
class _Step:
    """What of a term of a place decides about its shape; the pieces of a tile have the same."""

    distance: Polynomial
    largest: Polynomial | None
    """The term's number, or its limit if it is an index of a view; None if no polynomial."""
    is_index: bool
    is_fixed: bool
    """Whether the number is a polynomial."""


_Steps = tuple[_Step, ...]


def _of_buffer(
    forms: Forms, sets: Sets, buffer: Value, accesses: Sequence[Access]
) -> Sequence[Access]:
    """The accesses to a buffer in the finest shape that they have, or as they are."""
    extents = _extents(forms, buffer) or []
    if not all(extent.terms for extent in extents):
        return accesses
    parameters = forms.parameters
    alike: dict[_Steps, list[Access]] = {}
    for access in accesses:
        alike.setdefault(_steps(parameters, access.place), []).append(access)
    left: list[tuple[list[Polynomial], Shape, set[Access]]] = []
    for shape in shapes_of(len(extents)):
        together = _together(extents, shape)
        strides = _strides(together)
        if not all(_have_shape(steps, of, strides, shape) for steps, of in alike.items()):
            continue
        asked = {
            access
            for steps, of in alike.items()
            if not _are_within(parameters, steps, together, strides)
            for access in of
        }
        if not asked:
            return [_in_shape(parameters, access, together, shape) for access in accesses]
        left.append((together, shape, asked))
    for together, shape, asked in left:
        known = {access: _in_shape(parameters, access, together, shape) for access in accesses}
        limits = [parameters.form(extent) for extent in together]
        of = [known[access] for access in accesses if access in asked]
        if all(sets.is_within(one.access, limits) for one in merged(forms, of)):
            return list(known.values())
    return accesses


def _steps(parameters: Parameters, place: Place) -> _Steps:
    """What of a place's terms decides about its shape."""
    found = []
    for form, limit, distance in _terms(parameters, place):
        fixed = parameters.polynomial(form)
        largest = fixed if limit is None else parameters.polynomial(limit)
        found.append(_Step(distance, largest, limit is not None, fixed is not None))
    return tuple(found)


def _have_shape(
    steps: _Steps, accesses: Sequence[Access], strides: tuple[Polynomial, ...], shape: Shape
) -> bool:
    """Whether the indices of accesses in a shape can be found."""
    if set(shape) == {1} and all(access.place.indices is not None for access in accesses):
        return True
    if not steps or not all(stride.terms for stride in strides):
        return False
    return all(
        step.is_fixed or all(one.constant is not None for one in _parts(step.distance, strides))
        for step in steps
    )


def _are_within(
    parameters: Parameters,
    steps: _Steps,
    extents: Sequence[Polynomial],
    strides: tuple[Polynomial, ...],
) -> bool:
    """Whether elements inside a view are inside of `extents`, by the signs of polynomials.

    That the access is inside the view is checked separately.
    """
    most = [extent - 1 for extent in extents]
    for step in steps:
        times, largest = _parts(step.distance, strides), step.largest
        if largest is None or not all(map(parameters.is_natural, (*times, largest))):
            return False
        if not step.is_fixed and any(one.constant is None for one in times):
            return False
        largest = largest - 1 if step.is_index else largest
        most = [a - largest * b for a, b in zip(most, times, strict=True)]
    return bool(steps) and all(map(parameters.is_natural, most))


def _strides(extents: Sequence[Polynomial]) -> tuple[Polynomial, ...]:
    return tuple(Polynomial.number(1) * stride for stride in row_major_strides(extents))


def _in_shape(
    parameters: Parameters, access: Access, extents: Sequence[Polynomial], shape: Shape
) -> Access:
    """An access by indices in a shape of its buffer, which can be found."""
    place = access.place
    indices = _indices(parameters, place, _strides(extents))
    if indices is None and set(shape) == {1}:
        indices = place.indices
    assert indices is not None
    found = replace(access, place=Place(place.buffer, indices, None, shape=shape))
    if not place.is_row:
        return found
    # What is inside of the buffer is inside of its row, and the other way round.
    return replace(found, at=indices, limits=tuple(map(parameters.form, extents)))


def _indices(
    parameters: Parameters, place: Place, strides: tuple[Polynomial, ...]
) -> tuple[Form, ...] | None:
    """The indices of a place: times the strides, they sum up to its linear index."""
    if not place.terms or not all(stride.terms for stride in strides):
        return None
    indices = [number(0)] * len(strides)
    for form, _, distance in _terms(parameters, place):
        fixed = parameters.polynomial(form)
        for i, one in enumerate(_parts(distance, strides)):
            if fixed is not None:
                more = form.saying(parameters.form(one * fixed).text)
            elif one.constant is not None:
                more = scaled(form, one.constant)
            else:
                return None
            indices[i] = added(indices[i], more)
    return tuple(indices)


def _terms(parameters: Parameters, place: Place) -> Iterator[tuple[Form, Form | None, Polynomial]]:
    """(number, its limit or None, distance) for each term of a place.

    The view's offset has no limit; a constant offset is divided into strides.
    """
    start = len(place.terms) - len(place.limits)
    for i, (form, distance) in enumerate(place.terms):
        limit = place.limits[i - start] if i >= start else None
        fixed = parameters.polynomial(form)
        if limit is None and fixed is not None and distance.constant is not None:
            form, distance = form.saying("1"), fixed * distance
        yield form, limit, distance


@lru_cache(maxsize=1 << 14)
def _parts(distance: Polynomial, strides: tuple[Polynomial, ...]) -> tuple[Polynomial, ...]:
    """How many times each stride is contained in a distance."""
    found = []
    for stride in strides:
        times, distance = distance.divided(stride)
        found.append(times)
    assert not distance.terms
    return tuple(found)
