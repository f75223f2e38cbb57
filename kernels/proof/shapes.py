"""Places in views of open strides, as indices of the buffer that they are views of.

Of a view of n x 16 x h x w elements as n x 16 x (h*w), [b, c, i] is b*16*h*w + c*h*w + i elements
from the first. Where b, c and i are inside of n, 16 and h*w, two such elements are one only if all
three are equal. That integer sets can tell, which know nothing of products of two variables.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace
from itertools import accumulate, combinations

from ...ir.core import Value
from ...ir.types import MemRefType
from .accesses import Access
from .expressions import Form, added, number, scaled
from .forms import Forms
from .merging import merged
from .parameters import Parameters
from .polynomials import Polynomial
from .sets import Sets
from .views import Place, Shape


def by_indices(forms: Forms, sets: Sets, accesses: Sequence[Access]) -> list[Access]:
    """The accesses of a launch, as indices of their buffers where views of open strides are known.

    Those of a buffer have one shape: the finest of which all are certain to be inside.
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
    """How long a buffer of a shape is along each index."""
    if set(shape) <= {1}:
        return [forms.extent(buffer, d) for d in range(len(shape))]
    extents = _extents(forms, buffer)
    if extents is None:
        return None
    return [forms.parameters.form(extent) for extent in _together(extents, shape)]


def common(one: Shape, other: Shape) -> Shape:
    """The coarsest shape in which the indices of both are told apart."""
    cuts = sorted({*accumulate(one), *accumulate(other)})
    return tuple(b - a for a, b in zip((0, *cuts), cuts, strict=False))


def _is_open(buffer: Value) -> bool:
    return isinstance(buffer.type, MemRefType) and None in buffer.type.shape


def _extents(forms: Forms, buffer: Value) -> list[Polynomial] | None:
    rank = buffer.type.rank  # type: ignore[attr-defined]
    found = [forms.parameters.polynomial(forms.extent(buffer, d)) for d in range(rank)]
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
    """All shapes of so many dimensions, those of the most indices first."""
    for count in reversed(range(rank)):
        for cuts in combinations(range(1, rank), count):
            ends = (*cuts, rank)
            yield tuple(b - a for a, b in zip((0, *ends), ends, strict=False))


def _of_buffer(
    forms: Forms, sets: Sets, buffer: Value, accesses: Sequence[Access]
) -> Sequence[Access]:
    """The accesses to a buffer in the finest shape that they have, or as they are."""
    extents = _extents(forms, buffer)
    for shape in shapes_of(len(extents or ())):
        assert extents is not None
        found = [_in_shape(forms.parameters, a, _together(extents, shape), shape) for a in accesses]
        known = [access for access in found if access is not None]
        limits = [forms.parameters.form(extent) for extent in _together(extents, shape)]
        if len(known) == len(found) and all(
            sets.is_within(one.access, limits) for one in merged(forms, known)
        ):
            return known
    return accesses


def _in_shape(
    parameters: Parameters, access: Access, extents: Sequence[Polynomial], shape: Shape
) -> Access | None:
    """An access by indices in a shape of its buffer; None where these are no sums."""
    place = access.place
    indices = place.indices if set(shape) == {1} else None
    if indices is None:
        strides = [Polynomial.number(1)]
        for extent in reversed(extents[1:]):
            strides.insert(0, strides[0] * extent)
        indices = _indices(parameters, place, strides)
    if indices is None:
        return None
    return replace(access, place=Place(place.buffer, indices, None, shape=shape))


def _indices(
    parameters: Parameters, place: Place, strides: Sequence[Polynomial]
) -> tuple[Form, ...] | None:
    """Numbers that, times the strides, sum up to how many elements lie before a place."""
    if not place.terms or not all(stride.terms for stride in strides):
        return None
    indices = [number(0)] * len(strides)
    for form, distance in place.terms:
        fixed = parameters.polynomial(form)
        if fixed is not None and distance.constant is not None:
            form, fixed, distance = form.saying("1"), Polynomial.number(1), fixed * distance
        for i, times in enumerate(_parts(distance, strides)):
            if fixed is not None:
                more = form.saying(parameters.form(times * fixed).text)
            elif times.constant is not None:
                more = scaled(form, times.constant)
            else:
                return None
            indices[i] = added(indices[i], more)
    return tuple(indices)


def _parts(distance: Polynomial, strides: Sequence[Polynomial]) -> Iterator[Polynomial]:
    """How often each stride is in a distance."""
    for stride in strides:
        times, distance = distance.divided(stride)
        yield times
    assert not distance.terms
