"""Arithmetic, comparison and logic, element by element, with NumPy's broadcasting."""

from __future__ import annotations

from ...ir.constraints import AnyRankedTensor
from ...ir.declare import BOOL, Operand, Result, attribute, operand, result
from ...ir.diagnostics import NncError
from ...ir.traits import Commutative, Idempotent
from ...ir.types import Type, i1
from .base import NnOp
from .traits import Broadcasting, Fusion, Total


class ElementwiseOp(NnOp, traits=(Broadcasting,)):
    """Base of the ops whose result at an index needs the operands at that index only."""

    fusion = Fusion.ELEMENTWISE
    prologue = (Fusion.MOVEMENT, Fusion.ELEMENTWISE)
    keeps_channels = True


class BinaryOp(ElementwiseOp):
    """Base: two operands that broadcast against each other."""

    lhs: Operand = operand(AnyRankedTensor)
    rhs: Operand = operand(AnyRankedTensor)
    out: Result = result(AnyRankedTensor)

    same_elements = True

    @classmethod
    def infer(cls, types, attrs):
        lhs, rhs = (t.element_type for t in types)
        if cls.same_elements and lhs is not rhs:
            raise NncError(f"operands have different element types: '{lhs}' and '{rhs}'")
        return super().infer(types, attrs)


class ComparisonOp(BinaryOp):
    """Base: two operands, a tensor of i1."""

    @classmethod
    def result_element(cls, types, attrs) -> Type:
        return i1


class Add(BinaryOp, name="nn.add", traits=(Commutative, Total)):
    """Sum. Integers wrap. Source: ONNX Add-14."""

    body = "out[i..] = lhs[i..] + rhs[i..]"
    example = "%c = nn.add %a, %b : (tensor<4x8xf32>, tensor<8xf32>) -> tensor<4x8xf32>"


class Sub(BinaryOp, name="nn.sub", traits=(Total,)):
    """Difference. Integers wrap. Source: ONNX Sub-14."""

    body = "out[i..] = lhs[i..] - rhs[i..]"
    example = "%c = nn.sub %a, %b : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>"


class Mul(BinaryOp, name="nn.mul", traits=(Commutative, Total)):
    """Product. Integers wrap. Source: ONNX Mul-14."""

    body = "out[i..] = lhs[i..] * rhs[i..]"
    example = "%c = nn.mul %a, %b : (tensor<4xf32>, tensor<f32>) -> tensor<4xf32>"


class Div(BinaryOp, name="nn.div"):
    """Quotient; integers round toward zero (division by 0 gives 0). Source: ONNX Div-14."""

    body = "out[i..] = lhs[i..] / rhs[i..]"
    example = "%c = nn.div %a, %b : (tensor<4xi64>, tensor<4xi64>) -> tensor<4xi64>"


class Pow(BinaryOp, name="nn.pow"):
    """Power; the exponent may have another element type, the result has that of the base.

    Source: ONNX Pow-15.
    """

    same_elements = False
    body = "out[i..] = pow(lhs[i..], rhs[i..])"
    example = "%c = nn.pow %a, %b : (tensor<4xf32>, tensor<f32>) -> tensor<4xf32>"


class Mod(BinaryOp, name="nn.mod"):
    """Remainder: of the divisor's sign, or with `fmod` of the dividend's. Source: ONNX Mod-13."""

    fmod: bool = attribute(BOOL, default=False)

    example = "%c = nn.mod %a, %b {fmod = true} : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>"

    @classmethod
    def comprehend(cls, types, attrs, results=()):
        function = "fmod" if attrs.fmod else "mod"
        return cls.bind(f"out[i..] = {function}(lhs[i..], rhs[i..])", types, attrs)


class Min(BinaryOp, name="nn.min", traits=(Commutative, Idempotent)):
    """The smaller; NaN if one is NaN. Source: ONNX Min-13."""

    body = "out[i..] = min(lhs[i..], rhs[i..])"
    example = "%c = nn.min %a, %b : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>"


class Max(BinaryOp, name="nn.max", traits=(Commutative, Idempotent)):
    """The larger; NaN if one is NaN. Source: ONNX Max-13."""

    body = "out[i..] = max(lhs[i..], rhs[i..])"
    example = "%c = nn.max %a, %b : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>"


class Prelu(ElementwiseOp, name="nn.prelu"):
    """x where it is not negative, else slope * x. Source: ONNX PRelu-16."""

    x: Operand = operand(AnyRankedTensor)
    slope: Operand = operand(AnyRankedTensor)
    out: Result = result(AnyRankedTensor)

    body = "out[i..] = select(x[i..] < 0, slope[i..] * x[i..], x[i..])"
    example = "%y = nn.prelu %x, %s : (tensor<4x8xf32>, tensor<8xf32>) -> tensor<4x8xf32>"


class And(BinaryOp, name="nn.and", traits=(Commutative, Idempotent)):
    """Logical and of i1, bitwise and of other integers. Source: ONNX And-7, BitwiseAnd-18."""

    body = "out[i..] = and(lhs[i..], rhs[i..])"
    example = "%c = nn.and %a, %b : (tensor<4xi1>, tensor<4xi1>) -> tensor<4xi1>"


class Or(BinaryOp, name="nn.or", traits=(Commutative, Idempotent)):
    """Logical or of i1, bitwise or of other integers. Source: ONNX Or-7, BitwiseOr-18."""

    body = "out[i..] = or(lhs[i..], rhs[i..])"
    example = "%c = nn.or %a, %b : (tensor<4xi1>, tensor<4xi1>) -> tensor<4xi1>"


class Xor(BinaryOp, name="nn.xor", traits=(Commutative,)):
    """Exclusive or, logical or bitwise. Source: ONNX Xor-7, BitwiseXor-18."""

    body = "out[i..] = xor(lhs[i..], rhs[i..])"
    example = "%c = nn.xor %a, %b : (tensor<4xi1>, tensor<4xi1>) -> tensor<4xi1>"


class ShiftLeft(BinaryOp, name="nn.shift_left"):
    """lhs * 2**rhs; 0 for shifts by the width or more. Source: ONNX BitShift-11."""

    body = "out[i..] = shift_left(lhs[i..], rhs[i..])"
    example = "%c = nn.shift_left %a, %b : (tensor<4xui8>, tensor<4xui8>) -> tensor<4xui8>"


class ShiftRight(BinaryOp, name="nn.shift_right"):
    """Bits moved down, the sign kept; 0 or -1 for shifts by the width or more.

    Source: ONNX BitShift-11.
    """

    body = "out[i..] = shift_right(lhs[i..], rhs[i..])"
    example = "%c = nn.shift_right %a, %b : (tensor<4xui8>, tensor<4xui8>) -> tensor<4xui8>"


class Equal(ComparisonOp, name="nn.equal", traits=(Commutative,)):
    """Whether equal; never for NaN. Source: ONNX Equal-13."""

    body = "out[i..] = lhs[i..] == rhs[i..]"
    example = "%c = nn.equal %a, %b : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xi1>"


class Less(ComparisonOp, name="nn.less"):
    """Whether lhs < rhs. Source: ONNX Less-13."""

    body = "out[i..] = lhs[i..] < rhs[i..]"
    example = "%c = nn.less %a, %b : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xi1>"


class LessEqual(ComparisonOp, name="nn.less_equal"):
    """Whether lhs <= rhs. Source: ONNX LessOrEqual-16."""

    body = "out[i..] = lhs[i..] <= rhs[i..]"
    example = "%c = nn.less_equal %a, %b : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xi1>"


class Greater(ComparisonOp, name="nn.greater"):
    """Whether lhs > rhs. Source: ONNX Greater-13."""

    body = "out[i..] = lhs[i..] > rhs[i..]"
    example = "%c = nn.greater %a, %b : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xi1>"


class GreaterEqual(ComparisonOp, name="nn.greater_equal"):
    """Whether lhs >= rhs. Source: ONNX GreaterOrEqual-16."""

    body = "out[i..] = lhs[i..] >= rhs[i..]"
    example = "%c = nn.greater_equal %a, %b : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xi1>"


class Clip(ElementwiseOp, name="nn.clip"):
    """x limited to [low, high], both 0-d; high wins where they cross. Source: ONNX Clip-13."""

    x: Operand = operand(AnyRankedTensor)
    low: Operand = operand(AnyRankedTensor)
    high: Operand = operand(AnyRankedTensor)
    out: Result = result(AnyRankedTensor)

    body = "out[i..] = min(max(x[i..], low[]), high[])"
    example = (
        "%y = nn.clip %x, %low, %high : (tensor<4xf32>, tensor<f32>, tensor<f32>) -> tensor<4xf32>"
    )


class Where(ElementwiseOp, name="nn.where"):
    """lhs where the condition holds, else rhs; all three broadcast. Source: ONNX Where-16."""

    condition: Operand = operand(AnyRankedTensor)
    lhs: Operand = operand(AnyRankedTensor)
    rhs: Operand = operand(AnyRankedTensor)
    out: Result = result(AnyRankedTensor)

    body = "out[i..] = select(condition[i..], lhs[i..], rhs[i..])"
    example = (
        "%c = nn.where %p, %a, %b : (tensor<4xi1>, tensor<4xf32>, tensor<f32>) -> tensor<4xf32>"
    )

    @classmethod
    def result_element(cls, types, attrs) -> Type:
        return types[1].element_type

    @classmethod
    def infer(cls, types, attrs):
        condition, lhs, rhs = (t.element_type for t in types)
        if condition is not i1:
            raise NncError(f"condition must be a tensor of i1, but got '{types[0]}'")
        if lhs is not rhs:
            raise NncError(f"operands have different element types: '{lhs}' and '{rhs}'")
        return super().infer(types, attrs)


class Cast(ElementwiseOp, name="nn.cast", traits=(Total,)):
    """Every element converted to the result's element type.

    Numerics: floats to integers truncate (out of range is undefined), integers wrap, a
    number is true if it is not 0. Source: ONNX Cast-19.
    """

    x: Operand = operand(AnyRankedTensor)
    out: Result = result(AnyRankedTensor)

    body = "out[i..] = cast(x[i..])"
    example = "%y = nn.cast %x : (tensor<4xf32>) -> tensor<4xi64>"

    @classmethod
    def comprehend(cls, types, attrs, results=()):
        return cls.bind(cls.body, types, {}, None, results[0].element_type)

    @classmethod
    def infer(cls, types, attrs):
        return None

    def check(self) -> None:
        if self.out.type.shape != self.x.type.shape:
            raise NncError(f"cannot change the shape: '{self.x.type}' to '{self.out.type}'")
