"""The storage of arrays in an FPGA's memory: the width of elements, and the partition of arrays."""

from __future__ import annotations

from dataclasses import dataclass
from math import ceil

from ...ir.types import FloatType, IntegerType
from .ranges import Class, bits_of

_REGISTERS = 64
"""The most elements of an array that becomes registers, if replicated hardware accesses it."""
_BANKS = 256
"""The most banks of an array."""
_SMALL = 1024
"""The most bits of a bank that is stored in lookup tables."""
BLOCK = 18 << 10
"""The bits of half a block of memory, the least that an array takes."""


@dataclass(frozen=True)
class Parts:
    """An array's partition: `cyclic` or `block` into `count` parts, `complete` into elements."""

    kind: str
    count: int | None


def parts_of(found: Class, size: int) -> Parts | None:
    """The partition of an array by its parallel accesses; None for a single part."""
    if not found.strides:
        return None
    if size <= _REGISTERS:
        return Parts("complete", None)
    stride, count = max(found.strides.items(), key=lambda one: one[1])
    if stride == 1:
        return Parts("cyclic", count)
    rows = size // stride
    return Parts("block", rows) if 1 < rows <= _BANKS else None


def width_of(found: Class) -> tuple[int, bool]:
    """The width of an element in bits, and whether it is signed."""
    element = found.type.element_type
    if found.format is not None:
        return found.format.bits, True
    if isinstance(element, FloatType):
        return 8 * element.byte_width, True
    own = element.width if isinstance(element, IntegerType) else 32
    if found.is_given or own == 1 or not isinstance(element, IntegerType):
        return own, True
    low, high = found.interval.span
    bits, signed = bits_of(low, high)
    return min(bits, own), signed


def kind_of(found: Class, declared: str, exact: bool = False) -> str:
    """The element type: the smallest standard integer type that fits, or `declared` if none is
    smaller; with `exact`, one of exactly the bits needed.
    """
    element = found.type.element_type
    if found.kind:
        return found.kind
    if found.format is not None:
        return found.format.text
    if not isinstance(element, IntegerType) or element.width == 1 or found.is_given:
        return declared
    bits, signed = width_of(found)
    if exact and bits < element.width:
        return f"ap_{'' if signed else 'u'}int<{bits}>"
    width = next(n for n in (8, 16, 32, 64) if n >= bits)
    if width >= max(8, element.width):
        return declared
    return f"{'' if signed else 'u'}int{width}_t"


def block_bits(found: Class, size: int) -> int:
    """The bits of block memory that an array of `size` elements takes, 0 if it needs none.

    Each of the parts into which the array is divided takes a whole number of units of `BLOCK` bits.
    """
    bits, _ = width_of(found)
    parts = parts_of(found, size)
    if parts is not None and parts.count is None:
        return 0
    count = 1 if parts is None or parts.count is None else parts.count
    own = ceil(size / count) * bits
    return 0 if own <= _SMALL else count * ceil(own / BLOCK) * BLOCK
