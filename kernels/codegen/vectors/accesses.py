"""Accesses to memory and the addresses of their pieces, from the start of the buffer."""

from __future__ import annotations

from collections.abc import Hashable, Sequence
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
    """What varies of the first element's place."""
    base: int
    """Equal for accesses at the same place but for a constant."""
    constant: Size
    """The first element's place, from that of the base."""
    alias: Hashable
    """What the buffer may share memory with has the same."""
    dims: tuple[int | None, ...]
    is_output: bool
    ahead: int = 0
    """How many elements further on to ask for ahead; 0 for nowhere."""
    bounds: list[int | Value | None] | None = None
    """How far elements count in each dimension of the vector, where not all of them do."""
    strides: tuple[Size, ...] = field(init=False)
    """By dimension of the vector."""

    def __post_init__(self) -> None:
        self.strides = tuple(0 if d is None else self.view.strides[d] for d in self.dims)

    @property
    def element_type(self) -> Type:
        return self.memref.type.element_type

    @property
    def lane_stride(self) -> Size:
        return self.strides[-1] if self.strides else 0

    def at(self, copies: tuple[int, ...], part: Part, count: int | Value | None) -> Address:
        """The address of one piece; `count` of its lanes count, all if None."""
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
    """Where a piece lies: `constant` from the access's base; lanes `lane` elements apart.

    `width` is 0 for a single element. Equal keys are equal elements.
    """

    access: Access
    copies: tuple[int, ...]
    offset: int
    constant: Size
    lane: Size
    width: int
    count: int | Value | None
    key: tuple = field(init=False)
    alias: Hashable = field(init=False)

    def __post_init__(self) -> None:
        access = self.access
        self.alias = access.alias
        self.key = (access.base, self.constant, self.lane, self.width, self.count)

    def moved(self, by: Size, copies: tuple[int, ...]) -> Address:
        """A neighbour's address."""
        return Address(
            self.access, copies, self.offset, self.constant + by, self.lane, self.width, self.count
        )

    def disjoint(self, other: Address) -> bool:
        """Whether two addresses of what may share memory certainly share no element."""
        access = self.access
        if access.base != other.access.base or self.key == other.key:
            return False
        if access is other.access and access.is_output:
            return True  # one operation writes no element twice
        distance = other.constant + self.constant * -1
        if not (isinstance(distance, int) and isinstance(self.lane, int)):
            return False
        if not isinstance(other.lane, int):
            return False
        reach, others = self.lane * max(self.width - 1, 0), other.lane * max(other.width - 1, 0)
        if distance > reach or -distance > others:
            return True
        return bool(self.lane and self.lane == other.lane and distance % self.lane)
