"""Scalar operations in bodies of structured ops: casts, and functions by upstream's names.

For each name and element type the same operations are made as upstream makes, so that bodies are
the same in both.
"""

from __future__ import annotations

from ...ir.builder import Builder
from .. import arith, math
from ..vocabulary import *
from .attributes import BinaryFn, UnaryFn

TERNARY = ("select",)
KINDS = (*UnaryFn.cases, *BinaryFn.cases, *TERNARY)
"""The names of all functions, in upstream's order."""


def arity(kind: str) -> int:
    """The number of values that the function takes."""
    return 1 if kind in UnaryFn.cases else 3 if kind in TERNARY else 2


def cast_scalar(builder: Builder, value: Value, type: Type, unsigned: bool = False) -> Value:
    """Insert a cast of the value to another scalar type; the value itself if there
    is no such cast.
    """
    source = value.type
    if source is type:
        return value
    cast: Any
    match source, type:
        case FloatType(), FloatType() if source.width != type.width:
            cast = arith.ExtF if source.width < type.width else arith.TruncF
        case IntegerType(), IntegerType() if source.width < type.width:
            cast = arith.ExtUI if unsigned else arith.ExtSI
        case IntegerType(), IntegerType() if source.width > type.width:
            cast = arith.TruncI
        case IntegerType(), FloatType():
            cast = arith.UIToFP if unsigned else arith.SIToFP
        case FloatType(), IntegerType():
            cast = arith.FPToUI if unsigned else arith.FPToSI
        case (IndexType(), IntegerType()) | (IntegerType(), IndexType()):
            cast = arith.IndexCast
        case _:
            return value
    return builder.insert(cast(value, out=type)).result


_FLOAT_UNARY = {
    "exp": math.Exp,
    "log": math.Log,
    "abs": math.AbsF,
    "ceil": math.Ceil,
    "floor": math.Floor,
    "negf": arith.NegF,
    "round": math.Round,
    "sqrt": math.Sqrt,
    "rsqrt": math.Rsqrt,
    "tanh": math.Tanh,
    "erf": math.Erf,
}

# The op on floats, on integers, and on truth values where it is another one.
_BINARY: dict[str, tuple[Any, Any, Any]] = {
    "add": (arith.AddF, arith.AddI, arith.OrI),
    "sub": (arith.SubF, arith.SubI, None),
    "mul": (arith.MulF, arith.MulI, arith.AndI),
    "div": (arith.DivF, arith.DivSI, None),
    "div_unsigned": (None, arith.DivUI, None),
    "max_signed": (arith.MaximumF, arith.MaxSI, arith.MaxSI),
    "min_signed": (arith.MinimumF, arith.MinSI, arith.MinSI),
    "max_unsigned": (None, arith.MaxUI, None),
    "min_unsigned": (None, arith.MinUI, None),
    "powf": (math.PowF, None, None),
}


def apply(builder: Builder, kind: str, *values: Value) -> Value:
    """Insert the function `kind` of the values, and return its result.

    Raises NncError where it is not defined for their type.
    """
    if kind in UnaryFn.cases:
        return _unary(builder, kind, values[0])
    if kind in TERNARY:
        return builder.insert(arith.Select(*values)).result
    lhs, rhs = (v.type for v in values)
    if type(lhs) is not type(rhs) or isinstance(lhs, IndexType):
        raise NncError(
            "Cannot build binary Linalg operation: expects allComplex, allFloatingPoint, or "
            f"allInteger, got '{lhs}' and '{rhs}'"
        )
    if isinstance(lhs, ComplexType) and kind in ("add", "sub", "mul", "div"):
        none = arith.FastMathAttr("none")
        made = UnregisteredOp.named(f"complex.{kind}", values, [lhs], None, {"fastmath": none})
        return builder.insert(made).results[0]
    return builder.insert(_binary(kind, lhs)(*values)).result


def _binary(kind: str, type: Type) -> Any:
    """The op class of a binary function on scalars of this type."""
    match type:
        case FloatType():
            cls = _BINARY[kind][0]
        case IntegerType(width=1):
            cls = _BINARY[kind][2]
        case IntegerType():
            cls = _BINARY[kind][1]
        case _:
            cls = None
    if cls is not None:
        return cls
    if kind.endswith("_unsigned"):
        function = kind.removesuffix("_unsigned")
        raise NncError(f"unsupported operation: unsigned {function} not on uint")
    if type is IntegerType(1):
        raise NncError(f"unsupported operation: {kind} with bools")
    raise NncError("unsupported non numeric type")


def _unary(builder: Builder, kind: str, value: Value) -> Value:
    type = value.type
    if not isinstance(type, FloatType):
        raise NncError("unsupported non numeric type")
    if kind == "square":
        return builder.insert(arith.MulF(value, value)).result
    if kind == "reciprocal":
        one = builder.insert(arith.Constant(FloatAttr(1.0, type)))
        return builder.insert(arith.DivF(one.result, value)).result
    return builder.insert(_FLOAT_UNARY[kind](value)).result
