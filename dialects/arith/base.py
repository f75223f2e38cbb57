"""Base classes of arith operations: forms, folding, and evaluation on NumPy values.

An operation says what it computes twice: `compute` on Python numbers, for folding, exact at
any width; and `ufunc` (or `apply`) on NumPy values, for the interpreter. The tests hold one
against the other.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import cache, lru_cache
from typing import Any, ClassVar

from ...ir.attributes import Attribute, IntegerAttr
from ...ir.constraints import FloatLike, Same, SignlessIntegerLike
from ...ir.conversions import narrowed
from ...ir.core import Value
from ...ir.declare import Op, Operand, Result, attribute, operand, result
from ...ir.lazy import np
from ...ir.numpy_types import type_to_numpy
from ...ir.rewriting import constant_value
from ...ir.traits import Commutative, Elementwise, Idempotent, Involution, Pure
from ...ir.types import Type, element_type
from ...ir.undefined import note_where
from ..folding import (
    fold_elementwise,
    is_constant_number,
    number_attribute,
    same_number,
    signed,
    unsigned,
    width_of,
)
from .attributes import FASTMATH, OVERFLOW, FastMathAttr


def as_signed(x: Any) -> Any:
    """NumPy integers as signed ones of at least 8 bits.

    True becomes -1, and small integers of ml_dtypes become i8.
    """
    if x.dtype == np.bool_:
        return -x.astype(np.int8)
    return x.astype(np.int8) if x.dtype.kind == "V" else x  # those of ml_dtypes


def as_unsigned(x: Any, type: Type | None = None) -> Any:
    """NumPy integers read as unsigned; `type` gives the width if it is not that of the dtype."""
    if x.dtype == np.bool_:
        return x.astype(np.uint8)
    bits = x.view(f"u{x.dtype.itemsize}")
    width = 64 if type is None else width_of(type)
    return bits & ((1 << width) - 1) if width < 8 * x.dtype.itemsize else bits


def as_type(x: Any, type: Type) -> Any:
    """NumPy integers wrapped to the width of an integer type, in the dtype that holds it."""
    dtype, spare = _held(type)
    if dtype == np.bool_:
        return (np.asarray(x) & 1).astype(np.bool_)[()]
    if not spare and x.__class__ is dtype.type:  # a scalar that has wrapped
        return x
    wrapped = np.asarray(x).astype(dtype)
    if spare:
        # The sign fills the bits that the type does not have.
        wrapped = np.right_shift(np.left_shift(wrapped, spare), spare)
    return wrapped[()]


@cache
def _held(type: Type) -> tuple[Any, int]:
    """The dtype that holds a type's elements, and how many bits of it are unused."""
    dtype = type_to_numpy(element_type(type))
    if dtype.kind in "bV":  # those of ml_dtypes wrap
        return dtype, 0
    return dtype, 8 * dtype.itemsize - width_of(type)


def round_to(x: Any, type: Type) -> Any:
    """NumPy numbers rounded once to a float type, to nearest even."""
    dtype = type_to_numpy(element_type(type))
    with np.errstate(all="ignore"):
        return x.astype(dtype) if dtype.char in "efd" else narrowed(x, dtype)[()]


@lru_cache(1024)
def _limit(which: int | str, width: int) -> int:
    match which:
        case "signed_min":
            return 1 << (width - 1)
        case "signed_max":
            return (1 << (width - 1)) - 1
        case "ones":
            return (1 << width) - 1
    return unsigned(int(which), width)


class IntBinary(Op, traits=(Elementwise,)):
    """Base of the ops of two integers whose result has their type."""

    lhs: Operand = operand(SignlessIntegerLike)
    rhs: Operand = operand(Same("lhs"))
    result: Result = result(Same("lhs"))

    format = "$lhs `,` $rhs attr-dict `:` type($result)"

    is_unsigned: ClassVar[bool] = False
    """Whether the operation reads its operands' bits as unsigned."""
    compute: ClassVar[Callable[..., int | None]]
    """The result for Python integers; None if undefined. The width is a third argument if
    `needs_width`."""
    needs_width: ClassVar[bool] = False
    ufunc: ClassVar[str] = ""
    identity: ClassVar[int | str | None] = None
    """The neutral element e, with x op e = x: a number, or the name of a limit, see `limit`."""
    absorbing: ClassVar[int | str | None] = None
    """The absorbing element z, with x op z = z."""
    of_equals: ClassVar[int | None] = None
    """The value of x op x, if that is the same for every x."""

    example = "%0 = {name} %a, %b : i32"

    def limit(self, which: int | str) -> int:
        """A number, or the limit `signed_min`, `signed_max` or `ones`, as bits of
        the type's width.
        """
        return _limit(which, width_of(self.lhs.type))

    def _is(self, constant: Attribute | None, which: int | str | None) -> bool:
        if which is None or constant is None:
            return False
        width = width_of(self.lhs.type)
        bits = _limit(which, width)
        if constant.__class__ is IntegerAttr:
            return constant.value & ((1 << width) - 1) == bits  # type: ignore[attr-defined]
        return is_constant_number(constant, lambda v: unsigned(v, width) == bits)

    def fold(self):
        left, right = constant_value(self.lhs), constant_value(self.rhs)
        if (known := self._simplify(left, right)) is not None:
            return [known]
        if left is None or right is None:
            return None
        folded = fold_elementwise(self._on_attribute_values, (left, right), self.result.type)
        return None if folded is None else [folded]

    def _simplify(
        self, left: Attribute | None, right: Attribute | None
    ) -> Value | Attribute | None:
        if self._is(right, self.identity):
            return self.lhs
        if self._is(right, self.absorbing):
            return right
        if self.has_trait(Commutative):
            if self._is(left, self.identity):
                return self.rhs
            if self._is(left, self.absorbing):
                return left
        if self.lhs is self.rhs:
            if self.has_trait(Idempotent):
                return self.lhs
            if self.of_equals is not None:
                return number_attribute(self.of_equals, self.result.type)
        return self.simplify(left, right)

    def simplify(self, left: Attribute | None, right: Attribute | None) -> Value | Attribute | None:
        """The value or attribute to which a further identity of the op folds it, or None."""
        return None

    def _on_attribute_values(self, a: int, b: int) -> int | None:
        width = width_of(self.lhs.type)
        read = unsigned if self.is_unsigned else signed
        a, b = read(a, width), read(b, width)
        return self.compute(a, b, width) if self.needs_width else self.compute(a, b)

    def evaluate(self, lhs, rhs):
        a, b = self._read(lhs), self._read(rhs)
        with np.errstate(all="ignore"):
            result = as_type(self.apply(a, b), self.result.type)
        note_where(lambda: self.is_undefined(a, b), f"'{self.name}' op: {self.undefined}")
        return result

    def _read(self, x):
        return as_unsigned(x, self.lhs.type) if self.is_unsigned else as_signed(x)

    undefined: ClassVar[str] = "no result is defined"
    """The message if `is_undefined`."""

    def is_undefined(self, a, b):
        """For each element, whether the result is undefined for these NumPy integers."""
        return False

    def apply(self, a, b):
        """The result for NumPy integers, read as signed or unsigned; the caller wraps it."""
        return getattr(np, self.ufunc)(a, b)


class IntBinaryWithOverflow(IntBinary, traits=(Pure,)):
    """Base of the integer ops that have flags by which the result is promised not to wrap."""

    overflowFlags = attribute(OVERFLOW, default="none")  # noqa: N815

    format = "$lhs `,` $rhs (`overflow` `` $overflowFlags^)? attr-dict `:` type($result)"
    undefined = "the result wraps, against its overflow flags"

    def is_undefined(self, a, b):
        """For each element, whether the result wraps though the flags promise that it does not."""
        kinds = _promises(self.properties.get("overflowFlags"))
        return any(_wraps(self, a, b, signed=kind == "nsw") for kind in kinds)


@cache
def _promises(flags: Attribute | None) -> tuple[str, ...]:
    """The overflow flags, of `nsw` and `nuw`, that are set."""
    text = str(flags)
    return tuple(kind for kind in ("nsw", "nuw") if kind in text)


def _wraps(op: IntBinary, a: Any, b: Any, signed: bool) -> Any:
    width = width_of(op.lhs.type)
    low, high = (-(1 << (width - 1)), 1 << (width - 1)) if signed else (0, 1 << width)

    def read(x: int) -> int:
        bits = int(x) & ((1 << width) - 1)
        return bits - (1 << width) if signed and bits >> (width - 1) else bits

    def wraps(x: int, y: int) -> bool:
        operands = (read(x), read(y), width)[: 3 if op.needs_width else 2]
        exact = op.compute(*operands)
        return exact is not None and not low <= exact < high

    return np.any(np.asarray(np.frompyfunc(wraps, 2, 1)(a, b), np.bool_))


class FloatUnary(Op, traits=(Pure, Elementwise)):
    """Base of the ops of one float whose result has its type."""

    operand: Operand = operand(FloatLike)
    fastmath = attribute(FASTMATH, default="none")
    result: Result = result(Same("operand"))

    format = "$operand (`fastmath` `` $fastmath^)? attr-dict `:` type($result)"

    compute: ClassVar[Callable[..., Any]]  # gives a float, or None where it has none
    ufunc: ClassVar[str] = ""

    example = "%0 = {name} %a : f32"

    def fold(self):
        if inner := self.operand.defined_by(type(self)):
            if self.has_trait(Involution):
                return [inner.operand]
            if self.has_trait(Idempotent):
                return [self.operand]
        folded = fold_elementwise(self.compute, [constant_value(self.operand)], self.result.type)
        return None if folded is None else [folded]

    def evaluate(self, x):
        with np.errstate(all="ignore"):
            return self.apply(x)

    def apply(self, x):
        """The result for a NumPy value, computed in f64 and rounded once if its type is narrower.

        NumPy's own functions of narrower types give results that depend on the number of elements.
        """
        function = getattr(np, self.ufunc)
        if x.dtype.itemsize >= 8:
            return function(x)
        return round_to(function(x.astype(np.float64)), self.result.type)


class FloatBinary(Op, traits=(Pure, Elementwise)):
    """Base of the ops of two floats whose result has their type."""

    lhs: Operand = operand(FloatLike)
    rhs: Operand = operand(Same("lhs"))
    fastmath = attribute(FASTMATH, default="none")
    result: Result = result(Same("lhs"))

    format = "$lhs `,` $rhs (`fastmath` `` $fastmath^)? attr-dict `:` type($result)"

    compute: ClassVar[Callable[..., Any]]  # gives a float, or None where it has none
    ufunc: ClassVar[str] = ""
    identity: ClassVar[float | None] = None
    """The neutral element e: x op e = x for every x, NaN and -0.0 included; may itself be NaN."""

    example = "%0 = {name} %a, %b : f32"

    def fold(self):
        left, right = constant_value(self.lhs), constant_value(self.rhs)
        if self._is(right, self.identity):
            return [self.lhs]
        if self.has_trait(Commutative) and self._is(left, self.identity):
            return [self.rhs]
        if self.has_trait(Idempotent) and self.lhs is self.rhs:
            return [self.lhs]
        if left is None or right is None:
            return None
        folded = fold_elementwise(self.compute, (left, right), self.result.type)
        return None if folded is None else [folded]

    def fastmath_allows(self, *flags: str) -> bool:
        """Whether all these fast-math flags are set."""
        attribute = self.properties.get("fastmath")
        return isinstance(attribute, FastMathAttr) and all(map(attribute.allows, flags))

    @staticmethod
    def _is(constant: Attribute | None, wanted: float | None) -> bool:
        if wanted is None or constant is None:
            return False
        return is_constant_number(constant, lambda v: same_number(v, wanted))

    def evaluate(self, lhs, rhs):
        with np.errstate(all="ignore"):
            return self.apply(lhs, rhs)

    def apply(self, a, b):
        """The result on NumPy values."""
        return getattr(np, self.ufunc)(a, b)
