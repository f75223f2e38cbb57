"""Vectors in registers, and how they are written: several together where they interleave."""

from __future__ import annotations

from ....ir.core import Value
from ..addresses.walk import Walk
from ..contents import Contents, Entry
from .reads import is_interleaved
from .writes import write, write_interleaved


class VectorContents(Contents):
    """The pieces of vectors that are known, by their addresses."""

    def __init__(self, walk: Walk) -> None:
        super().__init__(walk)
        self.walk = walk

    def write(self, entry: Entry) -> None:
        together = self._interleaved_with(entry)
        if together:
            write_interleaved(self.walk, [e.place for e in together], [e.value for e in together])
        else:
            write(self.walk, entry.place, entry.value)
        for one in together or (entry,):
            one.dirty = False

    def _interleaved_with(self, entry: Entry) -> list[Entry]:
        """Delayed stores that together fill the gaps between each other's lanes, or none."""
        address, stride = entry.place, entry.place.lane
        if not is_interleaved(stride) or isinstance(address.count, Value):
            return []
        assert isinstance(stride, int)
        table = self.table(address.alias)
        base, constant, *rest = address.key
        found = {
            shift: one
            for shift in range(1 - stride, stride)
            if (one := table.get((base, constant + shift, *rest))) is not None and one.dirty
        }
        for first in range(1 - stride, 1):
            if all(first + i in found for i in range(stride)):
                return [found[first + i] for i in range(stride)]
        return []
