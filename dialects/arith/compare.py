"""Comparisons, and the choice that they decide."""

from __future__ import annotations

import operator

from ...ir.constraints import BoolLike, FloatLike
from ...ir.rewriting import constant_value
from ...ir.traits import Elementwise
from ..folding import (
    fold_elementwise,
    is_constant_number,
    number_attribute,
    signed,
    unsigned,
    width_of,
)
from ..ub import PoisonAttr
from ..vocabulary import *
from .attributes import FASTMATH, FLOAT_PREDICATE, INTEGER_PREDICATE
from .base import as_signed, as_unsigned


def bool_like(type: Type) -> Type:
    """i1 in the shape of a type."""
    return with_shape_of(type, i1)


class TruthOp(Op, traits=(Pure, Elementwise)):
    """An operation whose only result is i1 in the shape of its first operand."""

    @classmethod
    def infer_result_types(cls, operand_types, properties, regions=()):
        """i1 in the shape of the operands."""
        return [bool_like(operand_types[0])]

    def verify_op(self) -> None:
        if self.result_types[0] is not bool_like(self.operand_types[0]):
            raise self.error(
                "failed to verify that result type has i1 element type and same shape as operands"
            )


_RELATIONS: dict[str, Callable[[Any, Any], Any]] = {
    "eq": operator.eq,
    "ne": operator.ne,
    "lt": operator.lt,
    "le": operator.le,
    "gt": operator.gt,
    "ge": operator.ge,
}


class CmpI(TruthOp, name="arith.cmpi"):
    """Whether a relation holds between two integers.

    The predicate's s or u says how the bits are read, as signed or unsigned.
    Source: upstream arith.cmpi.
    """

    predicate = attribute(INTEGER_PREDICATE)
    lhs: Operand = operand(SignlessIntegerLike)
    rhs: Operand = operand(Same("lhs"))
    result: Result = result(BoolLike)

    format = "$predicate `,` $lhs `,` $rhs attr-dict `:` type($lhs)"
    example = "%0 = arith.cmpi slt, %a, %b : i32"

    @property
    def is_unsigned(self) -> bool:
        """Whether the operands' bits are read as unsigned numbers."""
        return self.predicate[0] == "u"

    @property
    def _relation(self) -> Callable[[Any, Any], Any]:
        return _RELATIONS[self.predicate[-2:]]

    def fold(self):
        """Fold a comparison of a value with itself, or of constants."""
        if self.lhs is self.rhs:
            known = number_attribute(int(self._relation(0, 0)), self.result.type)
            return None if known is None else [known]
        read, width = (unsigned if self.is_unsigned else signed), width_of(self.lhs.type)
        relation = self._relation
        folded = fold_elementwise(
            lambda a, b: int(relation(read(a, width), read(b, width))),
            [constant_value(self.lhs), constant_value(self.rhs)],
            self.result.type,
        )
        return None if folded is None else [folded]

    def evaluate(self, lhs, rhs):
        if self.is_unsigned:
            type = self.lhs.type
            return self._relation(as_unsigned(lhs, type), as_unsigned(rhs, type))
        return self._relation(as_signed(lhs), as_signed(rhs))


class CmpF(TruthOp, name="arith.cmpf"):
    """Whether a relation holds between two floats.

    An ordered predicate (o..) is false where one is NaN, an unordered one (u..) is true.
    Source: upstream arith.cmpf.
    """

    predicate = attribute(FLOAT_PREDICATE)
    lhs: Operand = operand(FloatLike)
    rhs: Operand = operand(Same("lhs"))
    fastmath = attribute(FASTMATH, default="none")
    result: Result = result(BoolLike)

    format = "$predicate `,` $lhs `,` $rhs (`fastmath` `` $fastmath^)? attr-dict `:` type($lhs)"
    example = "%0 = arith.cmpf oeq, %a, %b : vector<4xf32>"

    def _holds(self, a: Any, b: Any) -> Any:
        """The relation on Python floats or NumPy values."""
        unordered = (a != a) | (b != b)
        match self.predicate:
            case "false":
                return unordered & False
            case "true":
                return unordered | True
            case "ord":
                return unordered ^ True
            case "uno":
                return unordered
            case "one":
                return (a != b) & (unordered ^ True)
            case predicate:
                holds = _RELATIONS[predicate[1:]](a, b)
                return holds | unordered if predicate[0] == "u" else holds & (unordered ^ True)

    def fold(self):
        if self.predicate in ("false", "true"):
            known = number_attribute(int(self.predicate == "true"), self.result.type)
            return None if known is None else [known]
        folded = fold_elementwise(
            lambda a, b: int(self._holds(a, b)),
            [constant_value(self.lhs), constant_value(self.rhs)],
            self.result.type,
        )
        return None if folded is None else [folded]

    def evaluate(self, lhs, rhs):
        with np.errstate(invalid="ignore"):
            return self._holds(lhs, rhs)


class Select(Op, name="arith.select", traits=(Pure, Elementwise)):
    """The first value where the condition is true, else the second.

    Shapes: a condition of i1 chooses whole values of any type; one of shape S chooses element
    by element among values of shape S.
    Source: upstream arith.select.
    """

    condition: Operand = operand(BoolLike)
    true_value: Operand = operand(AnyType)
    false_value: Operand = operand(Same("true_value"))
    result: Result = result(Same("true_value"))

    format = (
        "$condition `,` $true_value `,` $false_value attr-dict `:` "
        "custom<SelectType>(type($condition), type($result))"
    )
    example = "%0 = arith.select %c, %a, %b : vector<4xi1>, vector<4xf32>"

    def fold(self):
        if self.true_value is self.false_value:
            return [self.true_value]
        condition = constant_value(self.condition)
        if is_constant_number(condition, lambda v: v == 1):
            return [self.true_value]
        if is_constant_number(condition, lambda v: v == 0):
            return [self.false_value]
        yes, no = constant_value(self.true_value), constant_value(self.false_value)
        if isinstance(yes, PoisonAttr):
            return [self.false_value]
        if isinstance(no, PoisonAttr):
            return [self.true_value]
        if self.condition.type is self.result.type and yes is BoolAttr(True):
            return [self.condition] if no is BoolAttr(False) else None
        if condition is None or isinstance(condition, PoisonAttr):
            return None
        folded = fold_elementwise(
            lambda c, a, b: a if c else b, (condition, yes, no), self.result.type
        )
        return None if folded is None else [folded]

    def evaluate(self, condition, yes, no):
        if condition.ndim == 0:
            return yes if condition else no
        return np.where(condition, yes, no).astype(yes.dtype)

    def verify_op(self) -> None:
        condition, type = self.condition.type, self.result.type
        if condition is i1:
            return
        shaped = isinstance(type, ShapedType | UnrankedTensorType)
        if not shaped or bool_like(type) is not condition:
            raise self.error("failed to verify that condition is signless i1 or has matching shape")
