"""Elementary functions of one tensor."""

from __future__ import annotations

from ..vocabulary import *
from .elementwise import ElementwiseOp


class UnaryOp(ElementwiseOp):
    """Base of the elementwise ops of one operand, whose result has its type."""

    x: Operand = operand(AnyRankedTensor)
    out: Result = result(AnyRankedTensor)

    example = "%y = {name} %x : (tensor<4xf32>) -> tensor<4xf32>"


class UnaryFunction(UnaryOp):
    """Base of the ops that apply the scalar function of their own name: `exp` for `nn.exp`."""

    body = "out[i..] = {word}(x[i..])"


class Neg(UnaryFunction, name="nn.neg", traits=(Involution,)):
    """-x. Source: ONNX Neg-13."""


class Abs(UnaryFunction, name="nn.abs", traits=(Idempotent,)):
    """The absolute value. Source: ONNX Abs-13."""


class Exp(UnaryFunction, name="nn.exp"):
    """e**x. Source: ONNX Exp-13."""


class Log(UnaryFunction, name="nn.log"):
    """The natural logarithm. Source: ONNX Log-13."""


class Sqrt(UnaryFunction, name="nn.sqrt"):
    """The square root. Source: ONNX Sqrt-13."""


class Rsqrt(UnaryOp, name="nn.rsqrt"):
    """1 / sqrt(x)."""

    body = "out[i..] = 1 / sqrt(x[i..])"


class Reciprocal(UnaryOp, name="nn.reciprocal"):
    """1 / x. Source: ONNX Reciprocal-13."""

    body = "out[i..] = 1 / x[i..]"


class Ceil(UnaryFunction, name="nn.ceil", traits=(Idempotent,)):
    """Rounded up. Source: ONNX Ceil-13."""


class Floor(UnaryFunction, name="nn.floor", traits=(Idempotent,)):
    """Rounded down. Source: ONNX Floor-13."""


class Round(UnaryFunction, name="nn.round", traits=(Idempotent,)):
    """Rounded to the nearest integer, halves to even. Source: ONNX Round-11."""


class Sign(UnaryFunction, name="nn.sign", traits=(Idempotent,)):
    """-1, 0 or 1 as x is negative, zero or positive; NaN for NaN. Source: ONNX Sign-13."""


class Sin(UnaryFunction, name="nn.sin"):
    """Sine, in radians. Source: ONNX Sin-7."""


class Cos(UnaryFunction, name="nn.cos"):
    """Cosine, in radians. Source: ONNX Cos-7."""


class Tan(UnaryFunction, name="nn.tan"):
    """Tangent, in radians. Source: ONNX Tan-7."""


class Asin(UnaryFunction, name="nn.asin"):
    """Arcsine. Source: ONNX Asin-7."""


class Acos(UnaryFunction, name="nn.acos"):
    """Arccosine. Source: ONNX Acos-7."""


class Atan(UnaryFunction, name="nn.atan"):
    """Arctangent. Source: ONNX Atan-7."""


class Sinh(UnaryFunction, name="nn.sinh"):
    """Hyperbolic sine. Source: ONNX Sinh-9."""


class Cosh(UnaryFunction, name="nn.cosh"):
    """Hyperbolic cosine. Source: ONNX Cosh-9."""


class Asinh(UnaryFunction, name="nn.asinh"):
    """Inverse hyperbolic sine. Source: ONNX Asinh-9."""


class Acosh(UnaryFunction, name="nn.acosh"):
    """Inverse hyperbolic cosine. Source: ONNX Acosh-9."""


class Atanh(UnaryFunction, name="nn.atanh"):
    """Inverse hyperbolic tangent. Source: ONNX Atanh-9."""


class Erf(UnaryFunction, name="nn.erf"):
    """The error function. Source: ONNX Erf-13."""


class Erfc(UnaryFunction, name="nn.erfc"):
    """1 - erf(x), precise also where erf(x) is close to 1. Source: CHLO's erfc."""


class Expm1(UnaryFunction, name="nn.expm1"):
    """e**x - 1, precise also near 0. Source: StableHLO's exponential_minus_one."""


class Log1p(UnaryFunction, name="nn.log1p"):
    """log(1 + x), precise also near 0. Source: StableHLO's log_plus_one."""


class Tanh(UnaryFunction, name="nn.tanh"):
    """Hyperbolic tangent. Source: ONNX Tanh-13."""


class Sigmoid(UnaryOp, name="nn.sigmoid"):
    """1 / (1 + e**-x). Source: ONNX Sigmoid-13."""

    body = "out[i..] = 1 / (1 + exp(-x[i..]))"


class Not(UnaryFunction, name="nn.not", traits=(Involution,)):
    """Logical not of i1, bitwise not of other integers. Source: ONNX Not-1, BitwiseNot-18."""

    example = "%y = nn.not %x : (tensor<4xi1>) -> tensor<4xi1>"


class IsNan(UnaryFunction, name="nn.is_nan"):
    """Whether x is NaN. Source: ONNX IsNaN-20."""

    needs_floats = True
    example = "%y = nn.is_nan %x : (tensor<4xf32>) -> tensor<4xi1>"

    @classmethod
    def result_element(cls, types, attrs) -> Type:
        return i1


class IsInf(UnaryOp, name="nn.is_inf"):
    """Whether x is infinite.

    -inf counts if `detect_negative`, +inf if `detect_positive`. Source: ONNX IsInf-20.
    """

    detect_negative: bool = attribute(BOOL, default=True)
    detect_positive: bool = attribute(BOOL, default=True)

    needs_floats = True
    example = "%y = nn.is_inf %x {detect_negative = false} : (tensor<4xf32>) -> tensor<4xi1>"

    @classmethod
    def result_element(cls, types, attrs) -> Type:
        return i1

    @classmethod
    def comprehend(cls, types, attrs, results=()):
        match attrs.detect_negative, attrs.detect_positive:
            case True, True:
                value = "abs(x[i..]) == inf"
            case True, False:
                value = "x[i..] == -inf"
            case False, True:
                value = "x[i..] == inf"
            case _:
                value = "x[i..] < x[i..]"
        return cls.bind(f"out[i..] = {value}", types, attrs)
