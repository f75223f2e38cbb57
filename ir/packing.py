"""Small integers and halves packed into words of 32 bits, the first in the lowest bits."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import ClassVar

from .lazy import np
from .types import IntegerType, Type, f32, i32


@dataclass(frozen=True)
class Packing:
    """The integer types packed into the words of a product's two operands."""

    lhs: IntegerType
    rhs: IntegerType
    sums: ClassVar[Type] = i32
    """The type of the sums of products, which wrap."""

    @property
    def count(self) -> int:
        """The number of integers in a word."""
        return 32 // self.lhs.width

    def dot(self, a: np.ndarray, b: np.ndarray) -> np.ndarray:
        """For each pair of words the dot product of their integers, as i32 with wraparound."""
        with np.errstate(over="ignore"):
            return sum(x * y for x, y in self.parts(a, b)).astype(np.int32)  # type: ignore[union-attr]

    def parts(self, a: np.ndarray, b: np.ndarray) -> Iterator[tuple[np.ndarray, np.ndarray]]:
        """Yield the first integers of all words of a and b as i32, then the second ones, .."""
        for number in range(self.count):
            yield part(a, number, self.lhs), part(b, number, self.rhs)


@dataclass(frozen=True)
class HalfPacking:
    """Two bf16 packed into each word of a product's operands."""

    sums: ClassVar[Type] = f32
    count: ClassVar[int] = 2

    def dot(self, a: np.ndarray, b: np.ndarray) -> np.ndarray:
        """For each pair of words the dot product of their bf16, in f32."""
        (a0, b0), (a1, b1) = self.parts(a, b)
        return a0 * b0 + a1 * b1

    def parts(self, a: np.ndarray, b: np.ndarray) -> Iterator[tuple[np.ndarray, np.ndarray]]:
        """Yield the first bf16 of all words of a and b as f32, then the second ones."""
        for up in (16, 0):  # A bf16 is the upper half of an f32.
            yield _upper_half(a, up), _upper_half(b, up)


def _upper_half(words: np.ndarray, up: int) -> np.ndarray:
    return ((words.view(np.uint32) << up) & np.uint32(0xFFFF0000)).view(np.float32)


def part(words: np.ndarray, number: int, type: IntegerType) -> np.ndarray:
    """Integer `number` of each word, as i32."""
    up = 32 - type.width * (number + 1)
    bits = words.view(np.uint32 if type.signedness == "u" else np.int32)
    return ((bits << up) >> (32 - type.width)).view(np.int32)


INTEGERS = {
    "u8s8": Packing(IntegerType(8, "u"), IntegerType(8)),
    "s8": Packing(IntegerType(8), IntegerType(8)),
    "s16": Packing(IntegerType(16), IntegerType(16)),
}
"""The packings of integers by name."""

HALVES = "bf16"
PACKINGS: dict[str, Packing | HalfPacking] = {**INTEGERS, HALVES: HalfPacking()}
"""All packings by name."""

PARTS = {f"part_u{bits}": bits for bits in (2, 4, 8)}
"""The functions of comprehensions that extract one unsigned integer of a word, and its bits. They
take the word and the integer's index, counted from the lowest bits."""


def unsigned_part(bits: int) -> Callable[[np.ndarray, np.ndarray], np.ndarray]:
    """A function (words, number) that extracts unsigned integer `number` of `bits` bits."""

    def part(words: np.ndarray, number: np.ndarray) -> np.ndarray:
        return (words >> (number * bits).astype(words.dtype)) & words.dtype.type((1 << bits) - 1)

    return part


DOTS = {f"dot_{name}": name for name in PACKINGS}
"""The functions of comprehensions for dot products of words, and the packing of each."""
