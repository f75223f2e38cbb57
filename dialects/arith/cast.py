"""Casts between widths and kinds of numbers."""

from __future__ import annotations

import math
from fractions import Fraction
from typing import ClassVar

from ...ir.constraints import FloatLike, SignlessFixedWidthIntegerLike, SignlessIntegerOrIndex
from ...ir.rewriting import constant_value
from ...ir.traits import Elementwise
from ...ir.undefined import note_where
from ..folding import fold_elementwise, round_exactly, signed, unsigned, width_of
from ..vocabulary import *
from .attributes import FASTMATH, OVERFLOW, ROUNDING_MODE, FastMathAttr
from .base import as_signed, as_type, as_unsigned, round_to


def verify_same_shape(op: Op) -> None:
    """The operand and the result are of one shape; elementwise ops are shaped together."""
    source, target = op.operand_types[0], op.result_types[0]
    if not (isinstance(source, ShapedType) and isinstance(target, ShapedType)):
        return
    if source.rank != target.rank or not _compatible(source.shape, target.shape):
        raise op.error("requires the same shape for all operands and results")
    tensors = [type.shape if isinstance(type, TensorType) else () for type in (source, target)]
    if tensors[0] != tensors[1]:
        raise op.error("failed to verify that input and output have the same tensor dimensions")


def _compatible(a: tuple[int | None, ...], b: tuple[int | None, ...]) -> bool:
    return all(x is None or y is None or x == y for x, y in zip(a, b, strict=True))


class Cast(Op, traits=(Pure, Elementwise)):
    """Base of the casts, which give the nearest value of another type."""

    format = "$input attr-dict `:` type($input) `to` type($out)"

    source_unsigned: ClassVar[bool] = False

    def fold(self):
        if (known := self.simplify()) is not None:
            return [known]
        constant = constant_value(self.operands[0])
        folded = fold_elementwise(self._compute, [constant], self.result_types[0])
        return None if folded is None else [folded]

    def simplify(self) -> Any:
        """The value or attribute to which an identity of the op folds it; None if none applies."""
        return None

    def _compute(self, value: Any) -> Any:
        """The number in the new type, as a Python number; wrapped and rounded by the caller."""
        raise NotImplementedError

    def types_fit(self, source: Any, target: Any) -> bool:
        """Whether the cast is allowed between these element types."""
        return True

    def verify_op(self) -> None:
        verify_same_shape(self)
        source, target = self.operand_types[0], self.result_types[0]
        if not self.types_fit(element_type(source), element_type(target)):
            raise self.error(
                f"operand type '{source}' and result type '{target}' are cast incompatible"
            )


def _read(op: Any, x):
    """NumPy integers read as signed or unsigned, as the op does."""
    return as_unsigned(x, op.input.type) if op.source_unsigned else as_signed(x)


class _IntToInt(Cast):
    """Base of casts from one width of integers to another."""

    input: Operand = operand(SignlessFixedWidthIntegerLike)
    out: Result = result(SignlessFixedWidthIntegerLike)

    def _compute(self, value):
        return (unsigned if self.source_unsigned else signed)(value, width_of(self.input.type))

    def evaluate(self, x):
        return as_type(_read(self, x), self.out.type)


class _Extend(_IntToInt):
    """Base of the casts to integers of more bits."""

    def types_fit(self, source, target):
        return source.width < target.width


class ExtUI(_Extend, name="arith.extui"):
    """An integer extended to more bits with zeros.

    Source: upstream arith.extui.
    """

    source_unsigned = True
    example = "%0 = arith.extui %a : i8 to i32"


class ExtSI(_Extend, name="arith.extsi"):
    """An integer extended to more bits with its sign.

    Source: upstream arith.extsi.
    """

    example = "%0 = arith.extsi %a : vector<4xi8> to vector<4xi32>"


class TruncI(_IntToInt, name="arith.trunci"):
    """The low bits of an integer.

    Source: upstream arith.trunci.
    """

    overflowFlags = attribute(OVERFLOW, default="none")  # noqa: N815

    format = "$input (`overflow` `` $overflowFlags^)? attr-dict `:` type($input) `to` type($out)"
    example = "%0 = arith.trunci %a overflow<nsw> : i32 to i8"

    def types_fit(self, source, target):
        return source.width > target.width

    def simplify(self):
        """trunc(ext(x)) -> x, if it has the type of x."""
        for extension in (ExtSI, ExtUI):
            if inner := self.input.defined_by(extension):
                return inner.input if inner.input.type is self.out.type else None
        return None


class _FloatToFloat(Cast):
    """Base of casts from one float format to another."""

    input: Operand = operand(FloatLike)
    out: Result = result(FloatLike)

    def _compute(self, value):
        return value

    def evaluate(self, x):
        return round_to(x, self.out.type)

    def contracts(self) -> bool:
        """Whether the cast may be left out together with its inverse."""
        flags = self.properties.get("fastmath")
        return isinstance(flags, FastMathAttr) and flags.allows("contract")


class ExtF(_FloatToFloat, name="arith.extf"):
    """A float converted to a wider type, which keeps its value.

    Numerics: extf(truncf(x)) is folded to x if both have the flag `contract`, and so has every
    other extf of the rounded value. Otherwise some users would see the rounded value and others x.
    Source: upstream arith.extf.
    """

    fastmath = attribute(FASTMATH, optional=True)

    format = "$input (`fastmath` `` $fastmath^)? attr-dict `:` type($input) `to` type($out)"
    example = "%0 = arith.extf %a : f16 to f32"

    def types_fit(self, source, target):
        return source.width < target.width

    def simplify(self):
        rounded = self.input.defined_by(TruncF)
        if rounded is None or rounded.input.type is not self.out.type:
            return None
        casts = (rounded, *(user for user in self.input.users if isinstance(user, ExtF)))
        return rounded.input if all(cast.contracts() for cast in casts) else None


class TruncF(_FloatToFloat, name="arith.truncf"):
    """A float rounded to a narrower type.

    Numerics: rounds to nearest even unless a rounding mode is given. The interpreter and folding
    know only that mode.
    Source: upstream arith.truncf.
    """

    roundingmode = attribute(ROUNDING_MODE, optional=True)
    fastmath = attribute(FASTMATH, optional=True)

    format = (
        "$input ($roundingmode^)? (`fastmath` `` $fastmath^)? attr-dict "
        "`:` type($input) `to` type($out)"
    )
    example = "%0 = arith.truncf %a to_nearest_even : f32 to f16"

    def types_fit(self, source, target):
        return source.width > target.width

    def fold(self):
        """Rounds to nearest even; another mode is left to run time."""
        if self.roundingmode not in (None, "to_nearest_even"):
            return None
        return super().fold()


# -- between integers and floats -----------------------------------------------------------------


class _IntToFloat(Cast):
    """An integer as the nearest float."""

    input: Operand = operand(SignlessFixedWidthIntegerLike)
    out: Result = result(FloatLike)

    def _compute(self, value):
        read = unsigned if self.source_unsigned else signed
        exact = Fraction(read(value, width_of(self.input.type)))
        return round_exactly(exact, element_type(self.out.type))  # type: ignore[arg-type]

    def evaluate(self, x):
        number = _read(self, x)
        # Narrow integers are exact in f64; rounding a wide one twice is what hardware without
        # a direct conversion does too.
        exact = number.astype(np.float64) if number.dtype.itemsize < 8 else number
        return round_to(exact, self.out.type)


class UIToFP(_IntToFloat, name="arith.uitofp"):
    """The float nearest to an unsigned integer.

    Source: upstream arith.uitofp.
    """

    source_unsigned = True
    example = "%0 = arith.uitofp %a : i32 to f64"


class SIToFP(_IntToFloat, name="arith.sitofp"):
    """The float nearest to a signed integer.

    Source: upstream arith.sitofp.
    """

    example = "%0 = arith.sitofp %a : vector<4xi32> to vector<4xf32>"


class _FloatToInt(Cast):
    """A float rounded toward zero; poison where that is out of range, or for NaN."""

    input: Operand = operand(FloatLike)
    out: Result = result(SignlessFixedWidthIntegerLike)

    target_unsigned: ClassVar[bool] = False

    def _compute(self, value):
        if not math.isfinite(value):
            return None
        whole, width = math.trunc(value), width_of(self.out.type)
        if self.target_unsigned:
            return whole if 0 <= whole < 1 << width else None
        half = 1 << (width - 1)
        return whole if -half <= whole < half else None

    def evaluate(self, x):
        note_where(
            lambda: self._has_no_integer(x), f"'{self.name}' op: a value has no integer of the type"
        )
        width = 8 * type_to_numpy(element_type(self.out.type)).itemsize
        dtype = np.dtype(f"{'u' if self.target_unsigned else ''}int{width}")
        with np.errstate(invalid="ignore"):
            return as_type(np.trunc(x).astype(dtype), self.out.type)

    def _has_no_integer(self, x):
        width = width_of(self.out.type)
        whole = np.trunc(np.asarray(x).astype(np.float64))
        high = 2.0**width if self.target_unsigned else 2.0 ** (width - 1)
        low = 0.0 if self.target_unsigned else -high
        return ~((whole >= low) & (whole < high))


class FPToUI(_FloatToInt, name="arith.fptoui"):
    """A float rounded toward zero, as an unsigned integer.

    Source: upstream arith.fptoui.
    """

    target_unsigned = True
    example = "%0 = arith.fptoui %a : f32 to i32"


class FPToSI(_FloatToInt, name="arith.fptosi"):
    """A float rounded toward zero, as a signed integer.

    Source: upstream arith.fptosi.
    """

    example = "%0 = arith.fptosi %a : f64 to i64"


# -- index and bits ------------------------------------------------------------------------------


def _memref_of(allows) -> Any:
    return lambda t: isinstance(t, MemRefType) and allows(t.element_type)


IndexCastable = SignlessIntegerLike | Constraint(
    "memref of signless-integer", _memref_of(SignlessIntegerOrIndex.allows)
)
_bits = lambda t: isinstance(t, FloatType) or (isinstance(t, IntegerType) and t.is_signless)  # noqa: E731
Bitcastable = Constraint(
    "signless-integer-or-float-like or memref of signless-integer or float",
    lambda t: _bits(element_type(t)),
)


class _IndexCastBase(Cast):
    """Base of the casts from index to an integer type and back."""

    input: Operand = operand(IndexCastable)
    out: Result = result(IndexCastable)

    def _compute(self, value):
        return (unsigned if self.source_unsigned else signed)(value, width_of(self.input.type))

    def simplify(self):
        """A cast of x to index and back to the type of x is x."""
        inner = self.input.defined_by(type(self))
        if inner is None or inner.input.type is not self.out.type:
            return None
        return inner.input if isinstance(element_type(self.input.type), IndexType) else None

    def evaluate(self, x):
        return as_type(_read(self, x), self.out.type)

    def types_fit(self, source, target):
        return isinstance(source, IndexType) != isinstance(target, IndexType)


class IndexCast(_IndexCastBase, name="arith.index_cast"):
    """An index as a signed integer or back: the sign fills new bits, high bits are dropped.

    Source: upstream arith.index_cast.
    """

    example = "%0 = arith.index_cast %a : index to i32"


class IndexCastUI(_IndexCastBase, name="arith.index_castui"):
    """An index as an unsigned integer or back: zeros fill new bits, high bits are dropped.

    Source: upstream arith.index_castui.
    """

    source_unsigned = True
    example = "%0 = arith.index_castui %a : i32 to index"


class Bitcast(Cast, name="arith.bitcast"):
    """The same bits read as another type of the same width.

    Source: upstream arith.bitcast.
    """

    input: Operand = operand(Bitcastable)
    out: Result = result(Bitcastable)

    example = "%0 = arith.bitcast %a : vector<4xf32> to vector<4xi32>"

    def simplify(self):
        """bitcast(bitcast(x)) back to the type of x is x."""
        if self.input.type is self.out.type:
            return self.input
        inner = self.input.defined_by(Bitcast)
        return inner.input if inner and inner.input.type is self.out.type else None

    def _compute(self, value):
        source, target = element_type(self.input.type), element_type(self.out.type)
        if source.width % 8:  # type: ignore[attr-defined]
            return None
        bits = source.to_bytes(value)  # type: ignore[attr-defined]
        number = target.from_bytes(bits)  # type: ignore[attr-defined]
        # A NaN whose payload our floats cannot keep is left to run time.
        return number if target.to_bytes(number) == bits else None  # type: ignore[attr-defined]

    def evaluate(self, x):
        return x.view(type_to_numpy(element_type(self.out.type)))

    def types_fit(self, source, target):
        return source.width == target.width
