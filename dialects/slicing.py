"""The base of memref and tensor ops on rectangular, possibly strided parts."""

from __future__ import annotations

from ..ir.types import Dim
from .index_lists import Mixed, by_field, check_list, mix, plain_error, to_dims
from .vocabulary import *

LISTS = (
    "custom<DynamicIndexList>($offsets, $static_offsets) "
    "custom<DynamicIndexList>($sizes, $static_sizes) "
    "custom<DynamicIndexList>($strides, $static_strides)"
)
"""The format of the lists of offsets, sizes and strides in most of these ops."""


class Slicing(Op):
    """Base of the ops with offsets, sizes and strides, which follow the fields of their other
    bases.
    """

    offsets: Operands = operands(Index)
    sizes: Operands = operands(Index)
    strides: Operands = operands(Index)
    static_offsets = attribute(INT_ARRAY)
    static_sizes = attribute(INT_ARRAY)
    static_strides = attribute(INT_ARRAY)

    @property
    def mixed_offsets(self) -> list[Mixed]:
        return mix(self.static_offsets, self.offsets)

    @property
    def mixed_sizes(self) -> list[Mixed]:
        return mix(self.static_sizes, self.sizes)

    @property
    def mixed_strides(self) -> list[Mixed]:
        return mix(self.static_strides, self.strides)

    def verify_lists(self, rank: int, *words: str) -> None:
        """Check that each list has an entry for each dimension, and an operand for each marker."""
        for what in words or ("offset", "size", "stride"):
            static = getattr(self, f"static_{what}s")
            if len(static) != rank:
                raise plain_error(self, f"expected {rank} {what} values, got {len(static)}")
            check_list(self, static, getattr(self, f"{what}s"), what)

    def verify_bounds(self, shape: Sequence[Dim]) -> None:
        """Check that the part lies within the shape, as far as both are known."""
        lists = (self.static_offsets, self.static_sizes, self.static_strides)
        if fault := bounds_fault(shape, *map(to_dims, lists)):
            raise plain_error(self, fault)

    def numbers_of(self, *values: Any) -> list[list[int]]:
        """Offsets, sizes and strides from the values of all operands."""
        given = by_field(self, values)
        words = ("offsets", "sizes", "strides")
        return [[int(v) for v in mix(getattr(self, f"static_{w}"), given[w])] for w in words]

    def window(self, shape: Sequence[Dim], *values: Any) -> tuple[tuple[slice, ...], list[int]]:
        """The slices that select the part in an array, and its sizes. Raises NncError if it does
        not fit.
        """
        starts, sizes, steps = self.numbers_of(*values)
        window = []
        for i, (start, size, step) in enumerate(zip(starts, sizes, steps, strict=True)):
            last, extent = start + (size - 1) * step, shape[i]
            if size < 0 or (size and not (0 <= start < extent and 0 <= last < extent)):  # type: ignore[operator]
                raise NncError(
                    f"'{self.name}': offset {start}, size {size}, stride {step} do not fit "
                    f"dimension {i} of size {extent}",
                    self.loc,
                )
            end = last + (1 if step >= 0 else -1)
            window.append(slice(start, end if end >= 0 else None, step or 1) if size else slice(0))
        return tuple(window), sizes


def bounds_fault(
    shape: Sequence[Dim], offsets: Sequence[Dim], sizes: Sequence[Dim], strides: Sequence[Dim]
) -> str | None:
    """A message in upstream's words if a part certainly exceeds the shape; else None."""
    for i, (offset, size, step) in enumerate(zip(offsets, sizes, strides, strict=True)):
        extent = shape[i]
        if offset is None or extent is None:
            continue
        if not 0 <= offset <= extent or (offset == extent and size not in (0, None)):
            return f"offset {i} is out-of-bounds: {offset} >= {extent}"
        if size is not None and step is not None and size > 0:
            last = offset + (size - 1) * step
            if not 0 <= last < extent:
                return f"slice along dimension {i} runs out-of-bounds: {last} >= {extent}"
    return None
