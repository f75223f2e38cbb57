"""The packed dialect: products of small numbers that are packed in words of 32 bits.

A word has four integers of 8 bits, two of 16 or two bf16, the first in the lowest bits, as in
memory on a little-endian machine. Processors have an instruction that multiplies two vectors of
words and adds the products within each word. See docs/decisions/0024-integer-products.md.
"""

from __future__ import annotations

from ..ir.constraints import Derived
from ..ir.packing import HALVES, INTEGERS, PACKINGS
from ..ir.traits import Elementwise
from ..ir.types import bf16, f32
from .memref.aliasing import ViewLike
from .vocabulary import *

Words = Constraint("32-bit words", lambda t: element_type(t) is i32)

_PACKING = AttrKind[str](
    "string attribute, one of " + ", ".join(f'"{name}"' for name in INTEGERS),
    lambda a: isinstance(a, StringAttr) and a.value in INTEGERS,
    lambda a: a.value,
    StringAttr,
)


class Dot(Op, name="packed.dot", traits=(Pure, Elementwise)):
    """The sum of the products of the integers in two words. It wraps, as sums of i32 do.

    `packing` says what the words hold, see `ir/packing.py`: "u8s8" is four unsigned bytes on the
    left and four signed ones on the right, "s8" four signed bytes on both sides, "s16" two signed
    integers of 16 bits on both.
    """

    lhs: Operand = operand(Words)
    rhs: Operand = operand(Same("lhs"))
    packing: str = attribute(_PACKING)
    out: Result = result(Same("lhs"))

    format = "$packing $lhs `,` $rhs attr-dict `:` type($out)"
    example = '%0 = packed.dot "u8s8" %a, %b : vector<16xi32>'

    def evaluate(self, lhs: Any, rhs: Any) -> Any:
        return INTEGERS[self.packing].dot(np.asarray(lhs), np.asarray(rhs))[()]


def _as_sums(type: Type) -> Type:
    return with_shape_of(type, f32)


class DotF(Op, name="packed.dotf", traits=(Pure, Elementwise)):
    """The sum, in f32, of the products of the two bf16 in two words."""

    lhs: Operand = operand(Words)
    rhs: Operand = operand(Same("lhs"))
    out: Result = result(Derived("lhs", _as_sums, "f32 in the shape of lhs"))

    format = "$lhs `,` $rhs attr-dict `:` type($lhs)"
    example = "%0 = packed.dotf %a, %b : vector<16xi32>"

    def evaluate(self, lhs: Any, rhs: Any) -> Any:
        return PACKINGS[HALVES].dot(np.asarray(lhs), np.asarray(rhs))[()]


def _as_words(type: Type) -> Type:
    assert isinstance(type, MemRefType)
    *outer, inner = type.shape
    return MemRefType((*outer, inner // 2), i32, None, type.memory_space)


RowsOfHalves = Constraint(
    "contiguous memref of rows of an even, known number of bf16",
    lambda t: (
        isinstance(t, MemRefType)
        and t.element_type is bf16
        and t.layout is None
        and t.rank > 0
        and t.shape[-1] is not None
        and t.shape[-1] % 2 == 0
    ),
)


class HalfWords(Op, name="packed.half_words", traits=(Pure, ViewLike)):
    """A view of rows of bf16 as words of 32 bits, each of two neighbouring elements.

    Nothing is copied. Shapes: source [.., N] -> result [.., N / 2].
    """

    source: Operand = operand(RowsOfHalves)
    result: Result = result(Derived("source", _as_words, "words of two neighbours each"))

    format = "$source attr-dict `:` type($source)"
    example = "%w = packed.half_words %x : memref<?x8xbf16>"

    def evaluate(self, source: Any) -> Any:
        return source.view(np.int32)


registry.dialect("packed").doc = __doc__ or ""
