"""arith.constant, and how folded values become constants again."""

from __future__ import annotations

from ...ir.attributes import OpaqueAttr, SparseElements
from ..folding import Number, number_attribute
from ..ub import materialize_constant as materialize_poison
from ..vocabulary import *

# Those of a dialect that is not loaded may be elements, too.
_VALUES = (IntegerAttr, FloatAttr, DenseElements, DenseResource, SparseElements, OpaqueAttr)


class Constant(Op, name="arith.constant", traits=(Pure, ConstantLike)):
    """The value of an attribute: an integer, an index, a float, or a tensor or vector of them.

    Source: upstream arith.constant.
    """

    value = attribute(ANY)
    result: Result = result()

    format = "attr-dict $value"
    example = "%cst = arith.constant dense<[1.000000e+00, -0.000000e+00]> : vector<2xf32>"

    @classmethod
    def of(cls, number: Number, type: Type, loc: Location = UNKNOWN) -> Constant:
        """A number as a constant of a scalar type, or splat over a shaped one."""
        value = number_attribute(number, type)
        if value is None:
            raise TypeError(f"arith.constant: no constant {number} of type {type}")
        return cls(value, loc=loc)

    @classmethod
    def index(cls, number: int, loc: Location = UNKNOWN) -> Constant:
        """An index constant."""
        return cls(IntegerAttr(number, index), loc=loc)

    @classmethod
    def infer_result_types(cls, operand_types, properties, regions=()):
        """The type of the value."""
        value = properties.get("value")
        type = getattr(value, "type", None)
        if value is not None and type is None:
            raise NncError(
                "'arith.constant' op value must be an integer, float, or elements attribute"
            )
        return None if type is None else [type]

    def result_names(self) -> list[str]:
        """`%c4_i32`, `%c4` for an index, `%true`, `%cst`."""
        match self.value:
            case IntegerAttr(value, type):
                if type is i1:
                    return ["true" if value else "false"]
                return [f"c{value}" if type is index else f"c{value}_{type}"]
        return ["cst"]

    def fold(self):
        return [self.value]

    def evaluate(self):
        match self.value:
            case DenseElements() | DenseResource() | SparseElements() as elements:
                return elements.to_numpy()
            case OpaqueAttr(dialect):
                raise NncError(f"the elements of dialect '{dialect}' are not known", self.loc)
            case attribute:
                return type_to_numpy(attribute.type).type(attribute.value)

    def verify_op(self) -> None:
        value, type = self.value, self.result.type
        if not isinstance(value, _VALUES):
            raise self.error("value must be an integer, float, or elements attribute")
        if value.type is not type:
            raise self.error("failed to verify that all of {value, result} have same type")
        if isinstance(type, IntegerType) and not type.is_signless:
            raise self.error("integer return type must be signless")
        if isinstance(type, VectorType) and any(type.scalable) and not _is_splat(value):
            raise self.error(
                "initializing scalable vectors with elements attribute is not supported unless "
                "it's a vector splat"
            )


def _is_splat(value: Attribute) -> bool:
    return isinstance(value, DenseElements) and value.is_splat


def materialize_constant(attribute: Attribute, type: Type, loc: Location) -> Operation | None:
    """`arith.constant` of the attribute if it has that type, `ub.poison` for poison, else None."""
    match attribute:
        case IntegerAttr() | FloatAttr() | DenseElements() | DenseResource():
            if attribute.type is type and not _has_sign(type):
                return Constant.create((), (type,), None, {"value": attribute}, loc=loc)
            return None
    return materialize_poison(attribute, type, loc)


def _has_sign(type: Type) -> bool:
    return isinstance(type, IntegerType) and not type.is_signless


registry.dialect("arith").materialize_constant = materialize_constant
