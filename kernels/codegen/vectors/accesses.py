"""Accesses to memory and the addresses of their pieces, from the start of the buffer."""

from __future__ import annotations

from collections.abc import Hashable, Sequence
from dataclasses import dataclass, field

from ....ir.core import Value
from ....ir.types import Type
from ...model.polynomial import Size
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

    def __post_init__(self) -> None:
        self.key = (self.access.base, self.constant, self.lane, self.width, self.count)

    def moved(self, by: Size, copies: tuple[int, ...]) -> Address:
        """A neighbour's address."""
        return Address(
            self.access, copies, self.offset, self.constant + by, self.lane, self.width, self.count
        )


def disjoint(a: Address, b: Address) -> bool:
    """Whether two addresses of what may share memory certainly share no element."""
    if a.access.base != b.access.base or a.key == b.key:
        return False
    if a.access is b.access and a.access.is_output:
        return True  # one operation writes no element twice
    distance = b.constant + a.constant * -1
    if not (isinstance(distance, int) and isinstance(a.lane, int) and isinstance(b.lane, int)):
        return False
    reach_a, reach_b = a.lane * max(a.width - 1, 0), b.lane * max(b.width - 1, 0)
    if distance > reach_a or -distance > reach_b:
        return True
    stride = a.lane
    return bool(stride and stride == b.lane and distance % stride)
