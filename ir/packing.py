"""Small integers and halves packed into words of 32 bits, the first in the lowest bits."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass

from .lazy import np
from .types import FloatType, IntegerType, Type, bf16, f32, i32


@dataclass(frozen=True)
class Packing:
    """The types of the numbers packed into the words of a product's two operands."""

    lhs: IntegerType | FloatType
    rhs: IntegerType | FloatType

    @property
    def count(self) -> int:
        """The number of numbers in a word."""
        return 32 // self.lhs.width

    @property
    def sums(self) -> Type:
        """The type of the sum of the products of two words' numbers: i32, which wraps, or f32."""
        return f32 if isinstance(self.lhs, FloatType) else i32

    def dot(self, a: np.ndarray, b: np.ndarray) -> np.ndarray:
        """For each pair of words the dot product of their numbers, in the type of sums."""
        with np.errstate(over="ignore"):
            found = sum(x * y for x, y in self.parts(a, b))
        return found.astype(np.float32 if self.sums is f32 else np.int32)  # type: ignore[union-attr]

    def parts(self, a: np.ndarray, b: np.ndarray) -> Iterator[tuple[np.ndarray, np.ndarray]]:
        """Yield the first numbers of all words of a and b in the type of sums, then the second
        ones, ..
        """
        for number in range(self.count):
            yield part(a, number, self.lhs), part(b, number, self.rhs)


def part(words: np.ndarray, number: int, type: IntegerType | FloatType) -> np.ndarray:
    """Number `number` of each word, as i32, or as f32 where words hold bf16."""
    up = 32 - type.width * (number + 1)
    if isinstance(type, FloatType):
        high = np.uint32(0xFFFF0000)
        return ((words.view(np.uint32) << up) & high).view(np.float32)
    bits = words.view(np.uint32 if type.signedness == "u" else np.int32)
    return ((bits << up) >> (32 - type.width)).view(np.int32)


PACKINGS = {
    "u8s8": Packing(IntegerType(8, "u"), IntegerType(8)),
    "s8": Packing(IntegerType(8), IntegerType(8)),
    "s16": Packing(IntegerType(16), IntegerType(16)),
    "bf16": Packing(bf16, bf16),
}
"""The packings by name."""

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
