"""The quant dialect: types of integers that stand for real numbers."""

from __future__ import annotations

from typing import ClassVar

from ..ir.syntax.number_text import float_text
from ..ir.types import ScalarType, f64
from .vocabulary import *

WIDEST = 32
"""The most bits of a stored integer, as upstream has it."""


@attribute_class
class UniformType(ScalarType):
    """`!quant.uniform<i8:f32, 0.5:-128>`: an i8 q that stands for the f32 (q + 128) * 0.5.

    `!quant.uniform<i8:f32:1, {0.5, 0.25:3}>` has a scale and a zero point for each index of
    dimension 1, its `axis`. `u8` stores unsigned integers; `i8<-127:127>` only those `limits`.

    Source: upstream's UniformQuantizedType and UniformQuantizedPerAxisType.
    """

    storage: IntegerType
    expressed: FloatType
    scales: tuple[float, ...]
    zero_points: tuple[int, ...]
    limits: tuple[int, int]
    axis: int | None = None
    name: ClassVar[str] = "quant.uniform"
    grammar: ClassVar[str] = (
        '"<" ranged_word ":" TYPE "," scale ">" -> whole '
        '| "<" ranged_word ":" TYPE ":" INTEGER "," "{" scales "}" ">" -> along_axis'
    )

    @classmethod
    def from_syntax(cls, child: Sequence[Any]) -> UniformType:
        """The instance for what the grammar made of the text in brackets."""
        kind, storage, expressed, *rest = child
        integer, limits = _storage(storage)
        if not isinstance(expressed, FloatType):
            raise NncError(f"the expressed type must be a float, but got '{expressed}'")
        pairs = rest[-1] if kind == "along_axis" else rest
        axis = int(rest[0][0], 0) if kind == "along_axis" else None
        numbers = [(float(scale[0]), int(zero[0][0], 0) if zero else 0) for scale, *zero in pairs]
        if any(not 0 < scale < float("inf") for scale, _ in numbers):
            raise NncError("scales must be positive and finite")
        scales, zeros = zip(*numbers, strict=True)
        return cls(integer, expressed, scales, zeros, limits, axis)

    @property
    def byte_width(self) -> int:  # type: ignore[override]
        return self.storage.byte_width

    def to_bytes(self, value: Any) -> bytes:
        return self.storage.to_bytes(value)

    def from_bytes(self, data: bytes) -> Any:
        return self.storage.from_bytes(data)

    def parameters_text(self) -> str:
        """The text behind the type's name."""
        unsigned, width = self.storage.signedness == "u", self.storage.width
        storage = f"{'u' if unsigned else 'i'}{width}"
        if self.limits != _range_of(self.storage):
            storage += f"<{self.limits[0]}:{self.limits[1]}>"
        pairs = [
            float_text(scale, f64) + (f":{zero}" if zero else "")
            for scale, zero in zip(self.scales, self.zero_points, strict=True)
        ]
        if self.axis is None:
            return f"<{storage}:{self.expressed}, {pairs[0]}>"
        return f"<{storage}:{self.expressed}:{self.axis}, {{{','.join(pairs)}}}>"


def _range_of(type: IntegerType) -> tuple[int, int]:
    """The least and the greatest integer of a type."""
    if type.signedness == "u":
        return 0, (1 << type.width) - 1
    return -(1 << type.width - 1), (1 << type.width - 1) - 1


def _storage(child: Any) -> tuple[IntegerType, tuple[int, int]]:
    """The type of the stored integers and their limits, from `i8`, `u8` or `i8<-127:127>`."""
    (word, *_), *ends = child
    signedness = "u" if word.startswith("u") else ""
    digits = word.lstrip("usi")
    if word not in (f"{p}{digits}" for p in ("i", "si", "u", "ui")) or not digits.isdigit():
        raise NncError(f"expected the type of stored integers, as i8 or u8, but got '{word}'")
    if not 0 < int(digits) <= WIDEST:
        raise NncError(f"stored integers have 1 to {WIDEST} bits, but got {digits}")
    type = IntegerType(int(digits), signedness)
    whole = _range_of(type)
    low, high = (int(end[0], 0) for end in ends) if ends else whole
    if not whole[0] <= low < high <= whole[1]:
        raise NncError(f"'{low}:{high}' is not a range of stored integers of type '{word}'")
    return type, (low, high)


registry.dialect("quant").doc = __doc__ or ""
registry.dialect("quant").is_subset = True  # scales by blocks, and the ops, are not here
