"""What of a buffer is not yet written, as marks of its elements or as an integer set."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Protocol

from ...ir.core import Value
from ...ir.lazy import np
from .accesses import Access
from .arrays import NotListedError
from .enumeration import MOST_POINTS, Enumeration, size_of_buffer
from .sets import Sets


class Region(Protocol):
    """Elements of a buffer; at first all of them."""

    def meets(self, of: Any, access: Access) -> bool:
        """Whether an access of a launch touches one of them."""
        ...

    def remove(self, of: Any, writes: Sequence[Access], is_counted: bool) -> bool:
        """Remove what accesses write; whether they write an element twice, if that is counted."""
        ...

    def is_empty(self) -> bool:
        """Whether none is left."""
        ...

    def is_empty_if_equal(self) -> bool:
        """Whether none is left where open extents of other arguments are those of the buffer."""
        ...

    def element(self) -> list[int]:
        """One of them."""
        ...


class Marks:
    """A region of a buffer whose extents are constants. Raises NotListedError otherwise."""

    def __init__(self, buffer: Value) -> None:
        size = size_of_buffer(buffer)
        if size > MOST_POINTS:
            raise NotListedError
        self._shape = buffer.type.shape  # type: ignore[attr-defined]
        self._left = np.ones(size, np.bool_)

    def meets(self, of: Enumeration, access: Access) -> bool:
        """Whether an access of a launch touches one of them."""
        return not self.is_empty() and bool(np.any(self._left[of.elements(access).columns[0]]))

    def remove(self, of: Enumeration, writes: Sequence[Access], is_counted: bool) -> bool:
        """Remove what accesses write; whether they write an element twice."""
        count = 0
        written = np.zeros_like(self._left)
        for access in writes:
            points = of.elements(access)
            written[points.columns[0]] = True
            count += int(points.columns[0].size) * points.times
        self._left &= ~written
        return count > int(np.count_nonzero(written))

    def is_empty(self) -> bool:
        """Whether none is left."""
        return not np.any(self._left)

    def is_empty_if_equal(self) -> bool:
        """Whether none is left where open extents are equal: there are no open ones."""
        return False

    def element(self) -> list[int]:
        """The first of them."""
        return [int(i) for i in np.unravel_index(np.argmax(self._left), self._shape)]


class SetOfElements:
    """A region of any buffer whose launches' views can be compared."""

    def __init__(self, buffer: Value, sets: Sets, left: Any, by_indices: bool) -> None:
        self._buffer, self._sets, self._left = buffer, sets, left
        self._by_indices = by_indices

    @staticmethod
    def whole(buffer: Value, sets: Sets, accesses: Sequence[Access]) -> SetOfElements | None:
        """All of a buffer; None where accesses to it cannot be compared."""
        by_indices = all(a.place.indices is not None for a in accesses)
        if not by_indices and any(a.place.flat is None for a in accesses):
            return None
        left = sets.whole(buffer, by_indices)
        return None if left is None else SetOfElements(buffer, sets, left, by_indices)

    def meets(self, of: Sets, access: Access) -> bool:
        """Whether an access of a launch touches one of them."""
        return not self._left.is_disjoint(of.places(access, self._by_indices))

    def remove(self, of: Sets, writes: Sequence[Access], is_counted: bool) -> bool:
        """Remove what accesses write; whether they write an element twice, if that is counted."""
        for access in writes:
            if access.is_exact:
                self._left = self._left.subtract(of.places(access, self._by_indices)).coalesce()
        return is_counted and not of.write_once(writes, self._by_indices)

    def is_empty(self) -> bool:
        """Whether none is left."""
        return self._left.is_empty()

    def is_empty_if_equal(self) -> bool:
        """Whether none is left where open extents of other arguments are those of the buffer."""
        return self._sets.is_empty_if_equal(self._left, self._buffer)

    def element(self) -> list[int]:
        """One of them."""
        return self._sets.element(self._left)
