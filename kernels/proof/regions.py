"""The part of a buffer not written yet, as marks of its elements or as an integer set."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Protocol

from ...ir.core import Value
from ...ir.lazy import np
from ...ir.types import MemRefType
from .accesses import Access
from .arrays import NotListedError
from .enumeration import MOST_POINTS, Enumeration, size_of_buffer
from .expressions import Form
from .forms import Forms
from .sets import Sets
from .shapes import common, extents_of
from .views import Shape, size_of, strides_of


class Region(Protocol):
    """The elements of a buffer that are not written yet; at first all of them."""

    def meets(self, of: Any, access: Access) -> bool:
        """Whether an access of a launch touches an element of the region."""
        ...

    def remove(self, of: Any, writes: Sequence[Access], is_counted: bool) -> bool:
        """Remove written elements. Returns whether one is written twice (if `is_counted`)."""
        ...

    def is_empty(self) -> bool:
        """Whether no element is left."""
        ...

    def is_certain(self) -> bool:
        """Whether an element is certainly left, and not only possibly."""
        ...

    def is_empty_if_equal(self) -> bool:
        """Whether no element is left if other arguments have the buffer's unknown extents."""
        ...

    def element(self) -> list[int]:
        """The indices of an element that is left."""
        ...


class Marks:
    """A region of a buffer with constant extents, else raises NotListedError."""

    def __init__(self, buffer: Value) -> None:
        size = size_of_buffer(buffer)
        if size > MOST_POINTS:
            raise NotListedError
        self._numbers = _numbers_of(buffer.type)  # type: ignore[arg-type]
        self._left = np.zeros(size, np.bool_)
        self._left[self._numbers] = True

    def meets(self, of: Enumeration, access: Access) -> bool:
        """Whether an access of a launch touches an element of the region."""
        return not self.is_empty() and bool(np.any(self._left[of.elements(access).columns[0]]))

    def remove(self, of: Enumeration, writes: Sequence[Access], is_counted: bool) -> bool:
        """Remove written elements. Returns whether one is written twice."""
        count = 0
        written = np.zeros_like(self._left)
        for access in writes:
            points = of.elements(access)
            written[points.columns[0]] = True
            count += int(points.columns[0].size) * points.times
        self._left &= ~written
        return count > int(np.count_nonzero(written))

    def is_empty(self) -> bool:
        """Whether no element is left."""
        return not np.any(self._left)

    def is_certain(self) -> bool:
        """Whether an element is left; all elements are known, so never only possibly."""
        return not self.is_empty()

    def is_empty_if_equal(self) -> bool:
        """False: there are no unknown extents, so equal ones change nothing."""
        return False

    def element(self) -> list[int]:
        """The indices of the first element that is left."""
        left = self._left[self._numbers]
        return [int(i) for i in np.unravel_index(np.argmax(left), left.shape)]


class SetOfElements:
    """The elements of a buffer that are left, as an integer set, also for unknown extents.

    Elements are named by their indices in a shape, or by their position if `shape` is None. An
    access by a finer shape, with more dimensions, refines the set to that shape. From then on it
    may contain more elements than are really left, unless the extents that become dimensions are
    constants.
    """

    def __init__(self, buffer: Value, sets: Sets, left: Any, forms: Forms, shape: Shape | None):
        self._buffer, self._sets, self._left, self._forms = buffer, sets, left, forms
        self._shape = shape
        self._is_exact = True

    @staticmethod
    def whole(
        buffer: Value, sets: Sets, forms: Forms, accesses: Sequence[Access]
    ) -> SetOfElements | None:
        """The region of a whole buffer; None if accesses to it cannot be compared."""
        if all(a.place.indices is not None for a in accesses):
            shape = _shape_of(accesses[0])
            extents = extents_of(forms, buffer, shape)
        elif all(a.place.flat is not None for a in accesses):
            shape, size = None, size_of(forms, buffer)
            extents = None if size is None else [size]
            if size is not None and not buffer.type.is_row_major:  # type: ignore[attr-defined]
                return SetOfElements(buffer, sets, _rows_of(buffer, sets), forms, shape)
        else:
            return None
        if extents is None:
            return None
        return SetOfElements(buffer, sets, sets.whole(extents), forms, shape)

    def meets(self, of: Sets, access: Access) -> bool:
        """Whether an access of a launch may touch an element of the region."""
        touched = of.places(access, self._shape is not None)
        if self._shape is not None:
            shape = _shape_of(access)
            self._refine(shape)
            touched = self._refined(touched, shape)
        return not self._left.is_disjoint(touched)

    def remove(self, of: Sets, writes: Sequence[Access], is_counted: bool) -> bool:
        """Remove written elements. Returns whether one is written twice (if `is_counted`)."""
        by_indices = self._shape is not None
        for access in writes:
            if access.is_exact:
                self._remove(of.places(access, by_indices), access)
        return is_counted and not of.write_once(writes, by_indices)

    def _remove(self, places: Any, access: Access) -> None:
        if self._shape is not None:
            shape = _shape_of(access)
            self._refine(shape)
            if shape != self._shape:
                kept = self._all(shape).subtract(places)
                places = self._all(self._shape).subtract(self._refined(kept, shape))
                self._is_exact = self._is_exact and self._refines_exactly(shape)
        self._left = self._left.subtract(places).coalesce()

    def _refine(self, shape: Shape) -> None:
        """Refine the region's shape by another one."""
        assert self._shape is not None
        finer = common(self._shape, shape)
        if finer == self._shape:
            return
        is_whole = self._left.is_equal(self._all(self._shape))
        before, self._shape = self._shape, finer
        self._left = self._all(finer) if is_whole else self._refined(self._left, before)
        self._is_exact = self._is_exact and (is_whole or self._refines_exactly(before))

    def _refines_exactly(self, shape: Shape) -> bool:
        """Whether a part given in `shape` is known exactly in the region's shape."""
        assert self._shape is not None
        return self._sets.refines_exactly(shape, self._shape, self._extents(self._shape))

    def _refined(self, part: Any, shape: Shape) -> Any:
        """`part`, given in `shape`, in the region's shape; a superset if that is finer."""
        if shape == self._shape:
            return part
        assert self._shape is not None
        return self._sets.refined(part, shape, self._shape, self._extents(self._shape))

    def _all(self, shape: Shape) -> Any:
        return self._sets.whole(self._extents(shape))

    def _extents(self, shape: Shape) -> list[Form]:
        extents = extents_of(self._forms, self._buffer, shape)
        assert extents is not None
        return extents

    def is_empty(self) -> bool:
        """Whether no element is left."""
        return self._left.is_empty()

    def is_certain(self) -> bool:
        """Whether an element is left for some values of unknown extents."""
        return self._is_exact and self._sets.is_possible(self._left)

    def is_empty_if_equal(self) -> bool:
        """Whether no element is left if other arguments have the buffer's unknown extents."""
        return self._sets.is_empty_if_equal(self._left, self._buffer)

    def element(self) -> list[int]:
        """The indices of an element that is left."""
        return self._sets.element(self._left)


def _numbers_of(type: MemRefType) -> np.ndarray:
    """The linear index of each element of a memref of constant extents, as an array."""
    strides = strides_of(type)
    assert strides is not None
    at = np.indices(type.shape, sparse=True)  # type: ignore[arg-type]
    return sum((i * stride for i, stride in zip(at, strides, strict=True)), np.zeros((), np.int64))


def _rows_of(buffer: Value, sets: Sets) -> Any:
    """The set of all elements of a buffer with gaps between its rows."""
    type = buffer.type
    assert isinstance(type, MemRefType)
    strides = strides_of(type)
    assert strides is not None
    return sets.rows(type.shape, strides)  # type: ignore[arg-type]


def _shape_of(access: Access) -> Shape:
    """The shape of an access by indices."""
    return access.place.shape or (1,) * len(access.place.indices or ())
