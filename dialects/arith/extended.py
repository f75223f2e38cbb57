"""Sums and products of integers that keep what goes beyond the width."""

from __future__ import annotations

from ...ir.constraints import BoolLike
from ...ir.rewriting import constant_value
from ...ir.traits import Elementwise
from ..folding import fold_elementwise, number_attribute, signed, unsigned, width_of
from ..vocabulary import *
from .base import as_type


class _Extended(Op, traits=(Pure, Elementwise, Commutative)):
    """Base of the ops that give an exact result of two integers in two parts, the
    low and the high.
    """

    def result_names(self) -> list[str]:
        """The names of the result fields."""
        return [part.name for part in self.definition.results]

    def fold(self):
        constants = [constant_value(v) for v in self.operands]
        if any(c is None for c in constants):
            return None
        parts = [
            fold_elementwise(lambda *row, n=n: self._exact(*row)[n], constants, result.type)
            for n, result in enumerate(self.results)
        ]
        return None if any(p is None for p in parts) else parts

    def _exact(self, a: int, b: int) -> tuple[int, int]:
        """The low and the high part of the result for two integers, given as
        attributes hold them.
        """
        raise NotImplementedError

    def evaluate(self, lhs, rhs):
        both = np.frompyfunc(lambda a, b: self._exact(int(a), int(b)), 2, 2)
        return tuple(
            as_type(_wrapped(part, result.type), result.type)
            for part, result in zip(both(lhs, rhs), self.results, strict=True)
        )


def _wrapped(values, type):
    """Python ints in the signed range of the type, so that NumPy can hold them."""
    width = width_of(type)
    return np.frompyfunc(lambda v: signed(v, width), 1, 1)(values)


class AddUIExtended(_Extended, name="arith.addui_extended"):
    """The sum of unsigned integers and whether it wrapped.

    Source: upstream arith.addui_extended.
    """

    lhs: Operand = operand(SignlessIntegerLike)
    rhs: Operand = operand(Same("lhs"))
    sum: Result = result(Same("lhs"))
    overflow: Result = result(BoolLike)

    format = "$lhs `,` $rhs attr-dict `:` type($sum) `,` type($overflow)"
    example = "%sum, %overflow = arith.addui_extended %a, %b : i32, i1"

    @classmethod
    def infer_result_types(cls, operand_types, properties, regions=()):
        """The operands' type, and i1 in its shape."""
        return [operand_types[0], with_shape_of(operand_types[0], i1)]

    def fold(self):
        right = constant_value(self.rhs)
        if right is not None and right == number_attribute(0, self.rhs.type):
            false = number_attribute(0, self.overflow.type)
            return None if false is None else [self.lhs, false]
        return super().fold()

    def _exact(self, a: int, b: int) -> tuple[int, int]:
        width = width_of(self.lhs.type)
        total = unsigned(a, width) + unsigned(b, width)
        return total, total >> width


class _MulExtended(_Extended):
    """The exact product of two integers as two of their width."""

    lhs: Operand = operand(SignlessIntegerLike)
    rhs: Operand = operand(Same("lhs"))
    low: Result = result(Same("lhs"))
    high: Result = result(Same("lhs"))

    format = "$lhs `,` $rhs attr-dict `:` type($lhs)"


class MulSIExtended(_MulExtended, name="arith.mulsi_extended"):
    """The product of signed integers: its low half and its high half.

    Source: upstream arith.mulsi_extended.
    """

    example = "%low, %high = arith.mulsi_extended %a, %b : i32"

    def _exact(self, a: int, b: int) -> tuple[int, int]:
        width = width_of(self.lhs.type)
        product = signed(a, width) * signed(b, width)
        return product, product >> width


class MulUIExtended(_MulExtended, name="arith.mului_extended"):
    """The product of unsigned integers: its low half and its high half.

    Source: upstream arith.mului_extended.
    """

    example = "%low, %high = arith.mului_extended %a, %b : vector<4xi32>"

    def _exact(self, a: int, b: int) -> tuple[int, int]:
        width = width_of(self.lhs.type)
        product = unsigned(a, width) * unsigned(b, width)
        return product, product >> width
