"""Keys and values that com.microsoft's attention caches as integers of 8 or 4 bits.

Source: onnxruntime's ContribOperators.md, GroupQueryAttention.
"""

from __future__ import annotations

from dataclasses import dataclass

from ...common.quantization import quantized
from ...common.vocabulary import *
from ..node import Node


@dataclass(frozen=True)
class Stored:
    """How keys or values [B, G, T, D] are cached.

    Integers are number / scale, rounded half to even. Those of 4 bits lie in bytes by pairs, the
    first in the lower bits, counted from -8.
    """

    scale: Term | None = None
    """The scale of all numbers [1], or of each head's channels [1, G, 1, D]; None: no integers."""
    bits: int = 8

    @staticmethod
    def of(n: Node, letter: str, past: Value | None, scale: Value | None) -> Stored:
        """How the attributes of a node say; `letter` is k or v. Raises NncError."""
        kind = n.string(
            f"{letter}_quant_type", "NONE", choices=("NONE", "PER_TENSOR", "PER_CHANNEL")
        )
        if kind == "NONE":
            if scale is not None:
                raise n.error(f"'{letter}_scale' is given, but '{letter}_quant_type' is NONE")
            return NUMBERS
        bits = n.int("kv_cache_bit_width")
        if bits not in (4, 8):
            raise n.error(f"attribute 'kv_cache_bit_width' is {bits}, expected 4 or 8")
        element = IntegerType(8, "u") if bits == 4 else IntegerType(8)
        if scale is None or past is None:
            raise n.error(f"'{letter}_scale' and the cache are needed for integers of {bits} bits")
        if past.type.element_type != element:
            raise n.error(f"the cache is '{past.type}', expected elements of '{element}'")
        return Stored(Term(n, scale).cast(f32), bits)

    @property
    def nothing(self) -> int:
        """What lies behind the end of a shorter sequence: bytes of zeros, as in ONNX Runtime."""
        return -8 if self.scale is not None and self.bits == 4 else 0

    def from_cache(self, cache: Value, n: Node) -> Term:
        """The integers of a cache, one an element; or the cache, if it has real numbers."""
        given = Term(n, cache)
        if self.scale is None or self.bits == 8:
            return given
        shifts = constant(n, np.array([0, 4], np.uint8))
        halves = (given.spread(0, 1) >> shifts) & 15
        own = [(cache, i) for i in range(3)]
        return halves.cast(IntegerType(8)).reshape(*own, 2 * n.extent(cache, 3)) - 8

    def to_cache(self, found: Term) -> Value:
        """The cache of integers, packed; or the numbers as they are."""
        if self.scale is None or self.bits == 8:
            return found.value
        own = [(found.value, i) for i in range(3)]
        half = found.n.extent(found.value, 3) // 2
        pairs = (found + 8).cast(IntegerType(8, "u")).reshape(*own, half, 2)
        return (pairs.column(0) | (pairs.column(1) << 4)).value

    def rounded(self, x: Term) -> Term:
        """Real numbers as the integers that are cached."""
        if self.scale is None:
            return x
        element = IntegerType(self.bits)
        found = Term(x.n, quantized(x.n, x.value, self.scale.value, None, element))
        return found.cast(IntegerType(8))

    def real(self, found: Term, element: Type) -> Term:
        """What the attention sees of cached numbers."""
        return found if self.scale is None else (found.cast(f32) * self.scale).cast(element)


NUMBERS = Stored()
"""Caches of real numbers."""
