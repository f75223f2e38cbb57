"""Arithmetic, comparison and logic, element by element, with NumPy's broadcasting."""

from __future__ import annotations

from ...ir.conversions import ROUND_MODES, Conversion, cast_name
from ..vocabulary import *
from .base import NnOp, one_of
from .traits import Broadcasting, Fusion, Total


class ElementwiseOp(NnOp, traits=(Broadcasting,)):
    """Base of the ops whose result at an index needs the operands at that index only."""

    fusion = Fusion.ELEMENTWISE
    prologue = (Fusion.MOVEMENT, Fusion.ELEMENTWISE)
    keeps_channels = True


class BinaryOp(ElementwiseOp):
    """Base of the elementwise ops of two operands, which broadcast."""

    lhs: Operand = operand(AnyRankedTensor)
    rhs: Operand = operand(AnyRankedTensor)
    out: Result = result(AnyRankedTensor)

    same_elements = True
    example = "%c = {name} %a, %b : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>"

    @classmethod
    def infer(cls, types, attrs):
        lhs, rhs = (t.element_type for t in types)
        if cls.same_elements and lhs is not rhs:
            raise NncError(f"operands have different element types: '{lhs}' and '{rhs}'")
        return super().infer(types, attrs)


class BinaryFunction(BinaryOp):
    """Base of the ops that apply the scalar function of their own name: `max` for `nn.max`."""

    body = "out[i..] = {word}(lhs[i..], rhs[i..])"


class ComparisonOp(BinaryOp):
    """Base of the comparisons of two operands; the result has elements of i1."""

    example = "%c = {name} %a, %b : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xi1>"

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


class Mul(BinaryOp, name="nn.mul", traits=(Commutative, Total)):
    """Product. Integers wrap. Source: ONNX Mul-14."""

    body = "out[i..] = lhs[i..] * rhs[i..]"
    example = "%c = nn.mul %a, %b : (tensor<4xf32>, tensor<f32>) -> tensor<4xf32>"


class Div(BinaryOp, name="nn.div"):
    """Quotient; integers round toward zero (division by 0 gives 0). Source: ONNX Div-14."""

    body = "out[i..] = lhs[i..] / rhs[i..]"
    example = "%c = nn.div %a, %b : (tensor<4xi64>, tensor<4xi64>) -> tensor<4xi64>"


class Pow(BinaryFunction, name="nn.pow"):
    """lhs ** rhs; the result has the element type of lhs, rhs may have another one.

    Source: ONNX Pow-15.
    """

    same_elements = False
    example = "%c = nn.pow %a, %b : (tensor<4xf32>, tensor<f32>) -> tensor<4xf32>"


class Mod(BinaryOp, name="nn.mod"):
    """Remainder with the sign of rhs, or with `fmod` that of lhs. Source: ONNX Mod-13."""

    fmod: bool = attribute(BOOL, default=False)

    example = "%c = nn.mod %a, %b {fmod = true} : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>"

    @classmethod
    def comprehend(cls, types, attrs, results=()):
        function = "fmod" if attrs.fmod else "mod"
        return cls.bind(f"out[i..] = {function}(lhs[i..], rhs[i..])", types, attrs)


class Min(BinaryFunction, name="nn.min", traits=(Commutative, Idempotent)):
    """The smaller; NaN if one is NaN. Source: ONNX Min-13."""


class Max(BinaryFunction, name="nn.max", traits=(Commutative, Idempotent)):
    """The larger; NaN if one is NaN. Source: ONNX Max-13."""


class Prelu(ElementwiseOp, name="nn.prelu"):
    """x where it is not negative, else slope * x. Source: ONNX PRelu-16."""

    x: Operand = operand(AnyRankedTensor)
    slope: Operand = operand(AnyRankedTensor)
    out: Result = result(AnyRankedTensor)

    body = "out[i..] = select(x[i..] < 0, slope[i..] * x[i..], x[i..])"
    example = "%y = nn.prelu %x, %s : (tensor<4x8xf32>, tensor<8xf32>) -> tensor<4x8xf32>"


class And(BinaryFunction, name="nn.and", traits=(Commutative, Idempotent)):
    """Logical and of i1, bitwise and of other integers. Source: ONNX And-7, BitwiseAnd-18."""

    example = "%c = nn.and %a, %b : (tensor<4xi1>, tensor<4xi1>) -> tensor<4xi1>"


class Or(BinaryFunction, name="nn.or", traits=(Commutative, Idempotent)):
    """Logical or of i1, bitwise or of other integers. Source: ONNX Or-7, BitwiseOr-18."""

    example = "%c = nn.or %a, %b : (tensor<4xi1>, tensor<4xi1>) -> tensor<4xi1>"


class Xor(BinaryFunction, name="nn.xor", traits=(Commutative,)):
    """Exclusive or, logical or bitwise. Source: ONNX Xor-7, BitwiseXor-18."""

    example = "%c = nn.xor %a, %b : (tensor<4xi1>, tensor<4xi1>) -> tensor<4xi1>"


class ShiftLeft(BinaryFunction, name="nn.shift_left"):
    """lhs shifted left by rhs bits; 0 if rhs is the width or more. Source: ONNX BitShift-11."""

    example = "%c = nn.shift_left %a, %b : (tensor<4xui8>, tensor<4xui8>) -> tensor<4xui8>"


class ShiftRight(BinaryFunction, name="nn.shift_right"):
    """lhs shifted right by rhs bits, the sign kept; 0 or -1 if rhs is the width or more.

    Source: ONNX BitShift-11.
    """

    example = "%c = nn.shift_right %a, %b : (tensor<4xui8>, tensor<4xui8>) -> tensor<4xui8>"


class Equal(ComparisonOp, name="nn.equal", traits=(Commutative,)):
    """Whether equal; never for NaN. Source: ONNX Equal-13."""

    body = "out[i..] = lhs[i..] == rhs[i..]"


class Less(ComparisonOp, name="nn.less"):
    """Whether lhs < rhs. Source: ONNX Less-13."""

    body = "out[i..] = lhs[i..] < rhs[i..]"


class LessEqual(ComparisonOp, name="nn.less_equal"):
    """Whether lhs <= rhs. Source: ONNX LessOrEqual-16."""

    body = "out[i..] = lhs[i..] <= rhs[i..]"


class Greater(ComparisonOp, name="nn.greater"):
    """Whether lhs > rhs. Source: ONNX Greater-13."""

    body = "out[i..] = lhs[i..] > rhs[i..]"


class GreaterEqual(ComparisonOp, name="nn.greater_equal"):
    """Whether lhs >= rhs. Source: ONNX GreaterOrEqual-16."""

    body = "out[i..] = lhs[i..] >= rhs[i..]"


class Clip(ElementwiseOp, name="nn.clip"):
    """x limited to [low, high], two 0-d tensors; `high` where low > high. Source: ONNX Clip-13."""

    x: Operand = operand(AnyRankedTensor)
    low: Operand = operand(AnyRankedTensor)
    high: Operand = operand(AnyRankedTensor)
    out: Result = result(AnyRankedTensor)

    body = "out[i..] = min(max(x[i..], low[]), high[])"
    example = (
        "%y = nn.clip %x, %low, %high : (tensor<4xf32>, tensor<f32>, tensor<f32>) -> tensor<4xf32>"
    )


class Where(ElementwiseOp, name="nn.where"):
    """lhs where the condition is true, else rhs; all three broadcast. Source: ONNX Where-16."""

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

    Numerics: floats become integers by truncation (undefined if out of range); integers wrap; a
    number becomes true unless it is 0. In a conversion to floats of 8 bits or less, too large a
    number becomes the largest one, or without `saturate` infinity or NaN. Floats round to nearest
    even; only for f8E8M0FNU does `round_mode` choose. Source: ONNX Cast-25.
    """

    x: Operand = operand(AnyRankedTensor)
    out: Result = result(AnyRankedTensor)
    saturate: bool = attribute(BOOL, default=True)
    round_mode: str = attribute(one_of(*ROUND_MODES), default="up")

    example = "%y = nn.cast %x : (tensor<4xf32>) -> tensor<4xi64>"

    @classmethod
    def comprehend(cls, types, attrs, results=()):
        if not results:
            return None
        function = cast_name(Conversion(attrs.saturate, attrs.round_mode))
        text = f"out[i..] = {function}(x[i..])"
        return cls.bind(text, types, {}, None, results[0].element_type)

    @classmethod
    def infer(cls, types, attrs):
        return None

    def check(self) -> None:
        if self.out.type.shape != self.x.type.shape:
            raise NncError(f"cannot change the shape: '{self.x.type}' to '{self.out.type}'")


class Bitcast(ElementwiseOp, name="nn.bitcast", traits=(Total,)):
    """The bits of every element read as another element type of the same width.

    Source: ONNX BitCast-26.
    """

    x: Operand = operand(AnyRankedTensor)
    out: Result = result(AnyRankedTensor)

    has_own_lowering = True  # what is computed with is not the bits in memory
    example = "%y = nn.bitcast %x : (tensor<4xf32>) -> tensor<4xi32>"

    def evaluate(self, x):
        wanted = type_to_numpy(self.out.type.element_type)
        bits = np.ascontiguousarray(x).view(f"u{x.itemsize}").reshape(x.shape)
        width = bit_width(self.out.type.element_type)
        if width < 8:
            bits = bits & ((1 << width) - 1)
        return bits != 0 if wanted == np.bool_ else bits.view(wanted)

    @classmethod
    def infer(cls, types, attrs):
        return None

    def check(self) -> None:
        source, target = self.x.type, self.out.type
        if target.shape != source.shape:
            raise NncError(f"cannot change the shape: '{source}' to '{target}'")
        if bit_width(source.element_type) != bit_width(target.element_type):
            found = f"'{source.element_type}' and '{target.element_type}'"
            raise NncError(f"{found} differ in size")


def bit_width(type: Type) -> int:
    """An element's width in bits, for `nn.bitcast`; an i1 counts as a byte."""
    return 8 if type is i1 else type.width  # type: ignore[attr-defined]
