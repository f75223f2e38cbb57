"""The chlo dialect: functions that could be composed of stablehlo's, but that JAX
writes as one op.
"""

from __future__ import annotations

from typing import ClassVar

from .enumerations import EnumerationAttr, enumeration_kind
from .op_table import FUNCTIONAL, OpTable
from .stablehlo.attributes import COMPARISONS, DIRECTIONS
from .stablehlo.checks import check_result
from .stablehlo.pointwise import Pointwise, declare, rows
from .vocabulary import *


@attribute_class
class ChloEnumeration(EnumerationAttr):
    """`#chlo<comparison_direction EQ>`: a case of one of the dialect's enumerations."""

    name: ClassVar[str] = "chlo"


LINES = """
    acos          float               | the angle whose cosine is x
    acosh         float               | the area hyperbolic cosine of x
    asin          float               | the angle whose sine is x
    asinh         float               | the area hyperbolic sine of x
    atan          float               | the angle whose tangent is x
    atanh         float               | the area hyperbolic tangent of x
    bessel_i1e    float               | the modified Bessel function of order 1, times exp(-|x|)
    conj          number              | the complex conjugate of x
    cosh          float               | cosh(x)
    digamma       float               | the derivative of lgamma at x
    erf           float               | the error function of x
    erf_inv       float               | the number whose error function is x
    erfc          float               | 1 - erf(x)
    is_inf        float -> bool       | whether x is infinite
    is_neg_inf    float -> bool       | whether x is -inf
    is_pos_inf    float -> bool       | whether x is inf
    lgamma        float               | the logarithm of |gamma(x)|
    sinh          float               | sinh(x)
    square        number              | x * x
    tan           float               | tan(x)
    next_after    float, float        | the number next to x on the way to y
    polygamma     float, float        | the derivative of order x of digamma, at y
    zeta          float, float        | the Hurwitz zeta function of x and y
"""
"""Name, kinds of the operands' elements, and of the result's where it is another type."""


class ChloPointwise(Pointwise):
    """Base of the ops of the table."""

    format = "operands attr-dict `:` type(operands) `->` type(results)"


class Unary(ChloPointwise):
    """A function of one tensor."""

    input: Operand = operand(AnyTensor)


class Binary(ChloPointwise):
    """A function of two tensors."""

    lhs: Operand = operand(AnyTensor)
    rhs: Operand = operand(AnyTensor)


_ROWS = rows(LINES)


def _declare(full_name: str) -> Any:
    row = _ROWS[full_name.partition(".")[2]]
    return declare(full_name, __name__, row, Unary, Binary, ())


registry.defer_ops([f"chlo.{name}" for name in _ROWS], _declare)


OPS = OpTable(
    "chlo",
    __name__,
    {"tensor": AnyTensor},
    {
        "comparison_direction": enumeration_kind(
            ChloEnumeration, "comparison_direction", *DIRECTIONS
        ),
        "comparison_type": enumeration_kind(ChloEnumeration, "comparison_type", *COMPARISONS),
        "i64": I64,
        "ints": INT_ARRAY,
    },
    """
    broadcast_compare: Whether a relation holds, where operands are repeated to one shape.
      lhs:tensor rhs:tensor !broadcast_dimensions:ints? !comparison_direction:comparison_direction
      !compare_type:comparison_type? -> result:tensor
    = operands FUNCTIONAL
    > %r = chlo.broadcast_compare %x, %y {comparison_direction = #chlo<comparison_direction EQ>} :
      (tensor<4xf32>, tensor<4xf32>) -> tensor<4xi1>

    broadcast_select: `on_true` where the predicate holds, where operands are repeated to one shape.
      pred:tensor on_true:tensor on_false:tensor -> result:tensor
    = operands FUNCTIONAL
    > %r = chlo.broadcast_select %p, %x, %y : (tensor<i1>, tensor<4xf32>, tensor<4xf32>) ->
      tensor<4xf32>

    top_k: The k greatest elements of the last dimension in order, and where they stood.
      input:tensor !k:i64 -> values:tensor indices:tensor
    = `(` $input `,` `k` `=` $k `)` attr-dict `:` type($input) `->` `(` type($values) `,`
      type($indices) `)`
    > %v, %i = chlo.top_k(%x, k = 2) : tensor<4x6xf32> -> (tensor<4x2xf32>, tensor<4x2xi32>)
    """,
    traits=(Pure,),
)


class Broadcasting(Op, traits=(Pure,)):
    """Base of the ops that broadcast their operands."""

    lhs: Operand = operand(AnyTensor)
    rhs: Operand = operand(AnyTensor)
    broadcast_dimensions: Any = attribute(INT_ARRAY, optional=True)
    result: Result = result(AnyTensor)

    format = f"operands {FUNCTIONAL}"
    example = "%r = {name} %x, %y : (tensor<4xf32>, tensor<f32>) -> tensor<4xf32>"


BROADCASTING = (
    *("add", "and", "atan2", "complex", "divide", "maximum", "minimum", "multiply", "next_after"),
    *("or", "polygamma", "power", "remainder", "shift_left", "shift_right_arithmetic"),
    *("shift_right_logical", "subtract", "xor", "zeta"),
)
"""The functions of two tensors that also exist with the prefix `broadcast_`."""


def _declare_broadcasting(full_name: str) -> Any:
    name = full_name.partition("_")[2]
    body = {
        "__module__": __name__,
        "__qualname__": f"Broadcast_{name}",
        "__doc__": f"Element by element, where operands are repeated to one shape: {name}.",
    }
    return OpMeta(f"Broadcast_{name}", (Broadcasting,), body, name=full_name)


registry.defer_ops([f"chlo.broadcast_{name}" for name in BROADCASTING], _declare_broadcasting)


class Constant(Op, name="chlo.constant", traits=(Pure,)):
    """The value of an attribute."""

    value: Any = attribute(ANY)
    output: Result = result(AnyTensor)

    format = "attr-dict $value"
    example = "%c = chlo.constant dense<1> : tensor<2xi32>"

    @classmethod
    def infer_result_types(cls, operand_types, properties, regions=()):
        """The type of the value."""
        type = getattr(properties.get("value"), "type", None)
        return [type] if isinstance(type, TensorType) else None


@OPS.verifies("top_k")
def _check_top_k(op: Any) -> None:
    given = op.input.type
    if isinstance(given, TensorType):
        if not given.rank or op.k < 0:
            raise op.error("operand needs a dimension, and k must not be negative")
        last = given.shape[-1]
        if last is not None and op.k > last:
            raise op.error(f"k = {op.k} is more than the last dimension, {last}")
        shape = (*given.shape[:-1], op.k)
        check_result(op, shape, given.element_type)
        check_result(op, shape, i32, 1)


registry.dialect("chlo").doc = __doc__ or ""
registry.dialect("chlo").is_subset = True
