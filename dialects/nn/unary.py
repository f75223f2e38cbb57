"""Elementary functions of one tensor."""

from __future__ import annotations

from ...ir.constraints import AnyRankedTensor
from ...ir.declare import BOOL, Operand, Result, attribute, operand, result
from ...ir.traits import Idempotent, Involution
from ...ir.types import Type, i1
from .elementwise import ElementwiseOp


class UnaryOp(ElementwiseOp):
    """Base: one operand, a result of its type."""

    x: Operand = operand(AnyRankedTensor)
    out: Result = result(AnyRankedTensor)


class Neg(UnaryOp, name="nn.neg", traits=(Involution,)):
    """-x. Source: ONNX Neg-13."""

    body = "out[i..] = neg(x[i..])"
    example = "%y = nn.neg %x : (tensor<4xf32>) -> tensor<4xf32>"


class Abs(UnaryOp, name="nn.abs", traits=(Idempotent,)):
    """The absolute value. Source: ONNX Abs-13."""

    body = "out[i..] = abs(x[i..])"
    example = "%y = nn.abs %x : (tensor<4xf32>) -> tensor<4xf32>"


class Exp(UnaryOp, name="nn.exp"):
    """e**x. Source: ONNX Exp-13."""

    body = "out[i..] = exp(x[i..])"
    example = "%y = nn.exp %x : (tensor<4xf32>) -> tensor<4xf32>"


class Log(UnaryOp, name="nn.log"):
    """The natural logarithm. Source: ONNX Log-13."""

    body = "out[i..] = log(x[i..])"
    example = "%y = nn.log %x : (tensor<4xf32>) -> tensor<4xf32>"


class Sqrt(UnaryOp, name="nn.sqrt"):
    """The square root. Source: ONNX Sqrt-13."""

    body = "out[i..] = sqrt(x[i..])"
    example = "%y = nn.sqrt %x : (tensor<4xf32>) -> tensor<4xf32>"


class Rsqrt(UnaryOp, name="nn.rsqrt"):
    """1 / sqrt(x)."""

    body = "out[i..] = 1 / sqrt(x[i..])"
    example = "%y = nn.rsqrt %x : (tensor<4xf32>) -> tensor<4xf32>"


class Reciprocal(UnaryOp, name="nn.reciprocal"):
    """1 / x. Source: ONNX Reciprocal-13."""

    body = "out[i..] = 1 / x[i..]"
    example = "%y = nn.reciprocal %x : (tensor<4xf32>) -> tensor<4xf32>"


class Ceil(UnaryOp, name="nn.ceil", traits=(Idempotent,)):
    """Rounded up. Source: ONNX Ceil-13."""

    body = "out[i..] = ceil(x[i..])"
    example = "%y = nn.ceil %x : (tensor<4xf32>) -> tensor<4xf32>"


class Floor(UnaryOp, name="nn.floor", traits=(Idempotent,)):
    """Rounded down. Source: ONNX Floor-13."""

    body = "out[i..] = floor(x[i..])"
    example = "%y = nn.floor %x : (tensor<4xf32>) -> tensor<4xf32>"


class Round(UnaryOp, name="nn.round", traits=(Idempotent,)):
    """Rounded to the nearest integer, halves to even. Source: ONNX Round-11."""

    body = "out[i..] = round(x[i..])"
    example = "%y = nn.round %x : (tensor<4xf32>) -> tensor<4xf32>"


class Sign(UnaryOp, name="nn.sign", traits=(Idempotent,)):
    """-1, 0 or 1 (NaN for NaN). Source: ONNX Sign-13."""

    body = "out[i..] = sign(x[i..])"
    example = "%y = nn.sign %x : (tensor<4xf32>) -> tensor<4xf32>"


class Sin(UnaryOp, name="nn.sin"):
    """Sine, in radians. Source: ONNX Sin-7."""

    body = "out[i..] = sin(x[i..])"
    example = "%y = nn.sin %x : (tensor<4xf32>) -> tensor<4xf32>"


class Cos(UnaryOp, name="nn.cos"):
    """Cosine, in radians. Source: ONNX Cos-7."""

    body = "out[i..] = cos(x[i..])"
    example = "%y = nn.cos %x : (tensor<4xf32>) -> tensor<4xf32>"


class Tan(UnaryOp, name="nn.tan"):
    """Tangent, in radians. Source: ONNX Tan-7."""

    body = "out[i..] = tan(x[i..])"
    example = "%y = nn.tan %x : (tensor<4xf32>) -> tensor<4xf32>"


class Asin(UnaryOp, name="nn.asin"):
    """Arcsine. Source: ONNX Asin-7."""

    body = "out[i..] = asin(x[i..])"
    example = "%y = nn.asin %x : (tensor<4xf32>) -> tensor<4xf32>"


class Acos(UnaryOp, name="nn.acos"):
    """Arccosine. Source: ONNX Acos-7."""

    body = "out[i..] = acos(x[i..])"
    example = "%y = nn.acos %x : (tensor<4xf32>) -> tensor<4xf32>"


class Atan(UnaryOp, name="nn.atan"):
    """Arctangent. Source: ONNX Atan-7."""

    body = "out[i..] = atan(x[i..])"
    example = "%y = nn.atan %x : (tensor<4xf32>) -> tensor<4xf32>"


class Sinh(UnaryOp, name="nn.sinh"):
    """Hyperbolic sine. Source: ONNX Sinh-9."""

    body = "out[i..] = sinh(x[i..])"
    example = "%y = nn.sinh %x : (tensor<4xf32>) -> tensor<4xf32>"


class Cosh(UnaryOp, name="nn.cosh"):
    """Hyperbolic cosine. Source: ONNX Cosh-9."""

    body = "out[i..] = cosh(x[i..])"
    example = "%y = nn.cosh %x : (tensor<4xf32>) -> tensor<4xf32>"


class Asinh(UnaryOp, name="nn.asinh"):
    """Inverse hyperbolic sine. Source: ONNX Asinh-9."""

    body = "out[i..] = asinh(x[i..])"
    example = "%y = nn.asinh %x : (tensor<4xf32>) -> tensor<4xf32>"


class Acosh(UnaryOp, name="nn.acosh"):
    """Inverse hyperbolic cosine. Source: ONNX Acosh-9."""

    body = "out[i..] = acosh(x[i..])"
    example = "%y = nn.acosh %x : (tensor<4xf32>) -> tensor<4xf32>"


class Atanh(UnaryOp, name="nn.atanh"):
    """Inverse hyperbolic tangent. Source: ONNX Atanh-9."""

    body = "out[i..] = atanh(x[i..])"
    example = "%y = nn.atanh %x : (tensor<4xf32>) -> tensor<4xf32>"


class Erf(UnaryOp, name="nn.erf"):
    """The error function. Source: ONNX Erf-13."""

    body = "out[i..] = erf(x[i..])"
    example = "%y = nn.erf %x : (tensor<4xf32>) -> tensor<4xf32>"


class Tanh(UnaryOp, name="nn.tanh"):
    """Hyperbolic tangent. Source: ONNX Tanh-13."""

    body = "out[i..] = tanh(x[i..])"
    example = "%y = nn.tanh %x : (tensor<4xf32>) -> tensor<4xf32>"


class Sigmoid(UnaryOp, name="nn.sigmoid"):
    """1 / (1 + e**-x). Source: ONNX Sigmoid-13."""

    body = "out[i..] = 1 / (1 + exp(-x[i..]))"
    example = "%y = nn.sigmoid %x : (tensor<4xf32>) -> tensor<4xf32>"


class Not(UnaryOp, name="nn.not", traits=(Involution,)):
    """Logical not of i1, bitwise not of other integers. Source: ONNX Not-1, BitwiseNot-18."""

    body = "out[i..] = not(x[i..])"
    example = "%y = nn.not %x : (tensor<4xi1>) -> tensor<4xi1>"


class IsNan(UnaryOp, name="nn.is_nan"):
    """Whether NaN. Source: ONNX IsNaN-20."""

    body = "out[i..] = is_nan(x[i..])"
    example = "%y = nn.is_nan %x : (tensor<4xf32>) -> tensor<4xi1>"

    @classmethod
    def result_element(cls, types, attrs) -> Type:
        return i1


class IsInf(UnaryOp, name="nn.is_inf"):
    """Whether infinite, of a sign that counts. Source: ONNX IsInf-20."""

    detect_negative: bool = attribute(BOOL, default=True)
    detect_positive: bool = attribute(BOOL, default=True)

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
