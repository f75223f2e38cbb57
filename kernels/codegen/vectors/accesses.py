"""Reads and writes of vectors, and the addresses of their pieces within the buffer."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field

from ....ir.core import Value
from ....ir.polynomial import Size
from ....ir.types import Type
from ..addresses.linear import View
from .lanes import Part


@dataclass(eq=False, slots=True)
class Access:
    """Vectors (or elements) of a memref at subscripts.

    `dims` tells for each dimension of the vector which one of the memref it walks along, None
    where it does not vary.
    """

    memref: Value
    view: View
    indices: Sequence[Value]
    start: Size
    """The linear form of the first element's distance from the buffer's, without its constant."""
    constant: Size
    """The first element's distance from `start`. Units: elements."""
    dims: tuple[int | None, ...]
    ahead: int = 0
    """How many elements further on to prefetch; 0 for no prefetch."""
    bounds: list[int | Value | None] | None = None
    """How many elements of each dimension are accessed (None: all); None if all are."""
    loaded: dict[tuple, Value] = field(default_factory=dict)
    """The pieces that were read, by the keys of their addresses: several may be the same."""
    asked: set[int] = field(default_factory=set)
    """The cache lines that were prefetched, counted from `start`."""
    strides: tuple[Size, ...] = field(init=False)
    """The stride along each dimension of the vector."""

    def __post_init__(self) -> None:
        self.strides = tuple(0 if d is None else self.view.strides[d] for d in self.dims)

    @property
    def element_type(self) -> Type:
        return self.memref.type.element_type

    @property
    def lane_stride(self) -> Size:
        return self.strides[-1] if self.strides else 0

    def is_new_line(self, address: Address, line_bytes: int) -> bool:
        """Whether this is the first piece in its cache line; notes the line."""
        width = getattr(self.element_type, "byte_width", None)
        if not isinstance(address.constant, int) or width is None:
            return True
        line = address.constant * width // line_bytes
        is_new = line not in self.asked
        self.asked.add(line)
        return is_new

    def at(self, copies: tuple[int, ...], part: Part, count: int | Value | None) -> Address:
        """The address of a piece, of which the first `count` lanes are accessed; None means all."""
        constant = self.constant
        for i, stride in zip(copies, self.strides, strict=False):
            if i:
                constant = constant + stride * i
        lane = self.lane_stride
        if part.offset:
            constant = constant + lane * part.offset
        width = part.width
        if width == 1 or lane == 0:
            lane, width = 0, 0
            count = None if count is None or isinstance(count, int) else count
        return Address(self, copies, part.offset, constant, lane, width, count)


@dataclass(eq=False, slots=True)
class Address:
    """The address of a piece: `constant` elements from the access's start, lanes `lane` apart.

    `width` is 0 for a single element.
    """

    access: Access
    copies: tuple[int, ...]
    offset: int
    constant: Size
    lane: Size
    width: int
    count: int | Value | None

    @property
    def key(self) -> tuple:
        """A key that is equal for addresses of the same elements of one access."""
        return self.constant, self.lane, self.width, self.count

    def moved(self, by: Size, copies: tuple[int, ...]) -> Address:
        """The address of the piece with index `copies`, which lies `by` elements further."""
        return Address(
            self.access, copies, self.offset, self.constant + by, self.lane, self.width, self.count
        )
