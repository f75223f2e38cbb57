"""Elementwise operators: arithmetic, comparisons, functions, casts."""

from __future__ import annotations

import operator

from ...common import formulas
from ...common.complexes import pair
from ...common.formulas import floor_of_quotient
from ...common.vocabulary import *
from ..arguments import words
from ..layer import AtenLayer, common_element
from ..rows import ROWS, Row, table

# -- functions of one tensor -----------------------------------------------------------------------


def _same(op: Any) -> Row:
    return lambda n, self: n(op(self))


def _floating(op: Any) -> Row:
    return lambda n, self: n(op(n.floating(self)))


def _term(formula: Any) -> Row:
    return lambda n, self: rounded_once(formula, Term(n, n.floating(self))).value


def _whole(op: Any) -> Row:
    """A converter of a rounding op, which leaves integers unchanged."""

    def row(n: AtenLayer, self: Value) -> Value:
        return n(op(self)) if isinstance(self.type.element_type, FloatType) else self

    return row


table(_same, "elements", neg=nn.Neg, negative=nn.Neg, _neg_view=nn.Neg)
table(_same, "elements", abs=nn.Abs, absolute=nn.Abs)
table(_same, "elements", relu=nn.Relu, bitwise_not=nn.Not, hardswish=nn.HardSwish)
table(_same, "elements", silu=lambda x: nn.Swish(x, alpha=1.0))
table(_whole, "elements", ceil=nn.Ceil, floor=nn.Floor)
table(
    _floating,
    "elements",
    exp=nn.Exp,
    log=nn.Log,
    sqrt=nn.Sqrt,
    rsqrt=nn.Rsqrt,
    reciprocal=nn.Reciprocal,
    sin=nn.Sin,
    cos=nn.Cos,
    tan=nn.Tan,
    asin=nn.Asin,
    arcsin=nn.Asin,
    acos=nn.Acos,
    arccos=nn.Acos,
    atan=nn.Atan,
    arctan=nn.Atan,
    sinh=nn.Sinh,
    cosh=nn.Cosh,
    asinh=nn.Asinh,
    arcsinh=nn.Asinh,
    acosh=nn.Acosh,
    arccosh=nn.Acosh,
    atanh=nn.Atanh,
    arctanh=nn.Atanh,
    erf=nn.Erf,
    special_erf=nn.Erf,
    erfc=nn.Erfc,
    special_erfc=nn.Erfc,
    expm1=nn.Expm1,
    special_expm1=nn.Expm1,
    log1p=nn.Log1p,
    special_log1p=nn.Log1p,
    tanh=nn.Tanh,
    sigmoid=nn.Sigmoid,
    special_expit=nn.Sigmoid,
    mish=nn.Mish,
)
table(
    _term,
    "elements",
    log2=formulas.log2,
    log10=formulas.log10,
    exp2=formulas.exp2,
    special_exp2=formulas.exp2,
    frac=lambda x: x - formulas.trunc(x),
    log_sigmoid=lambda x: -((-x).function(nn.Softplus)),
    deg2rad=lambda x: x * (math.pi / 180),
    rad2deg=lambda x: x * (180 / math.pi),
)


@ROWS("aten.logit", "aten.special_logit", batched="elements")
def logit(n: AtenLayer, self: Value, eps: float | None = None) -> Value:
    x = Term(n, n.floating(self))
    if eps is not None:
        x = (x < eps).choose(eps, x.min(1 - eps))
    return (x / (1.0 - x)).function(nn.Log).value


@ROWS("aten.trunc", "aten.fix", batched="elements")
def trunc(n: AtenLayer, self: Value) -> Value:
    return formulas.trunc(Term(n, self)).value


@ROWS("aten.round", "aten.special_round", batched="elements")
def round_(n: AtenLayer, self: Value, decimals: int = 0) -> Value:
    if not isinstance(self.type.element_type, FloatType):
        return self
    if not decimals:
        return n(nn.Round(self))
    return rounded_once(lambda x: formulas.around(x, decimals), Term(n, self)).value


@ROWS("aten.nan_to_num", batched="elements")
def nan_to_num(n: AtenLayer, self: Value, nan=None, posinf=None, neginf=None) -> Value:
    return formulas.nan_to_num(Term(n, self), nan, posinf, neginf).value


# -- arithmetic ------------------------------------------------------------------------------------


def _binary(op: Any) -> Row:
    def combined(x: Term, y: Term, factor: Term) -> Term:
        return x.made(op(x.value, (y * factor).value))

    def row(n: AtenLayer, self: Any, other: Any, alpha: Any = 1) -> Value:
        lhs, rhs = n.promoted(self, other)
        if alpha == 1:
            return n(op(lhs, rhs))
        factor = n.as_value(alpha, rhs.type.element_type)
        return rounded_once(combined, *(Term(n, v) for v in (lhs, rhs, factor))).value

    return row


def _by_scalar(n: AtenLayer, formula: Any, x: Any, scalar: Any) -> Value | None:
    """A product or quotient of 16-bit floats with a number that they lack, or a 0-d tensor.

    PyTorch computes it in f32; in sums and comparisons, it rounds the number to 16 bits before.
    """
    element = common_element((x, scalar))
    if isinstance(scalar, Value):
        finer = not scalar.type.rank and scalar.type.element_type is not element
    else:
        finer = is_finer(scalar, element)
    if not finer or element not in (f16, bf16):
        return None
    wide = n.compute_as(n.as_value(x, element), f32), n.as_value(scalar, f32)
    return formula(*(Term(n, v) for v in wide)).computed(element).value


def _comparison(op: Any) -> Row:
    def row(n: AtenLayer, self: Any, other: Any) -> Value:
        lhs, rhs = n.promoted(self, other)
        if op is nn.Equal or lhs.type.element_type is not i1:
            return n(op(lhs, rhs))
        return n(op(n.cast(lhs, i64), n.cast(rhs, i64)))

    return row


def _logical(op: Any) -> Row:
    def row(n: AtenLayer, self: Any, other: Any) -> Value:
        return n(op(*(as_bool(n, v) for v in n.promoted(self, other))))

    return row


def as_bool(n: AtenLayer, x: Any) -> Value:
    """Whether elements are not zero."""
    return n.cast(n.as_value(x), i1)


table(_binary, "elements", add=nn.Add, sub=nn.Sub, subtract=nn.Sub, maximum=nn.Max, minimum=nn.Min)
table(
    _binary, "elements", multiply=nn.Mul, bitwise_and=nn.And, bitwise_or=nn.Or, bitwise_xor=nn.Xor
)
table(
    _binary,
    "elements",
    __and__=nn.And,
    __or__=nn.Or,
    __xor__=nn.Xor,
    bitwise_left_shift=nn.ShiftLeft,
    __lshift__=nn.ShiftLeft,
)
table(_binary, "elements", bitwise_right_shift=nn.ShiftRight, __rshift__=nn.ShiftRight)
table(
    _comparison,
    "elements",
    eq=nn.Equal,
    lt=nn.Less,
    less=nn.Less,
    le=nn.LessEqual,
    less_equal=nn.LessEqual,
    gt=nn.Greater,
    greater=nn.Greater,
    ge=nn.GreaterEqual,
    greater_equal=nn.GreaterEqual,
)
table(_logical, "elements", logical_and=nn.And, logical_or=nn.Or, logical_xor=nn.Xor)


@ROWS("aten.mul", batched="elements")
def mul(n: AtenLayer, self: Any, other: Any) -> Value:
    if (found := _by_scalar(n, operator.mul, self, other)) is not None:
        return found
    lhs, rhs = n.promoted(self, other)
    return n((nn.And if lhs.type.element_type is i1 else nn.Mul)(lhs, rhs))


@ROWS("aten.fmax", "aten.fmin", batched="elements")
def fmax(n: AtenLayer, self: Value, other: Value) -> Value:
    a, b = (Term(n, v) for v in n.promoted(self, other))
    return (formulas.fmax if "fmax" in n.kind else formulas.fmin)(a, b).value


@ROWS("aten.rsub", batched="elements")
def rsub(n: AtenLayer, self: Any, other: Any, alpha: Any = 1) -> Value:
    return _binary(nn.Sub)(n, other, self, alpha)


@ROWS("aten.ne", "aten.not_equal", batched="elements")
def ne(n: AtenLayer, self: Any, other: Any) -> Value:
    lhs, rhs = n.promoted(self, other)
    return n(nn.Not(n(nn.Equal(lhs, rhs))))


@ROWS("aten.square", batched="elements")
def square(n: AtenLayer, self: Value) -> Value:
    x = Term(n, n.cast(self, i64) if self.type.element_type is i1 else self)
    return (x * x).value


@ROWS("aten.logical_not", batched="elements")
def logical_not(n: AtenLayer, self: Value) -> Value:
    return n(nn.Not(as_bool(n, self)))


@ROWS("aten.div", "aten.divide", "aten.true_divide", batched="elements")
def div(n: AtenLayer, self: Any, other: Any, rounding_mode: str | None = None) -> Value:
    if rounding_mode == "floor":
        return floor_divide(n, self, other)
    if rounding_mode is None:
        found = _by_scalar(n, operator.truediv, self, other)
        return n(nn.Div(*n.promoted_floating(self, other))) if found is None else found
    return _whole_quotient(n, lambda a, b: formulas.trunc(a / divisor(b)), self, other)


def _whole_quotient(n: AtenLayer, formula: Any, self: Any, other: Any) -> Value:
    """A quotient that is rounded to an integer, and only then to 16 bits."""
    found = _by_scalar(n, formula, self, other)
    if found is not None:
        return found
    return rounded_once(formula, *(Term(n, v) for v in n.promoted(self, other))).value


@ROWS("aten.remainder", "aten.fmod", batched="elements")
def remainder(n: AtenLayer, self: Any, other: Any) -> Value:
    lhs, rhs = n.promoted(self, other)
    return n(nn.Mod(lhs, divisor(Term(n, rhs)).value, fmod="fmod" in n.kind))


@ROWS("aten.floor_divide", batched="elements")
def floor_divide(n: AtenLayer, self: Any, other: Any) -> Value:
    if isinstance(common_element((self, other)), FloatType):
        return _whole_quotient(n, floor_of_quotient, self, other)
    lhs, rhs = n.promoted(self, other)
    return floor_div(Term(n, lhs), Term(n, rhs)).value


@ROWS("aten.pow", batched="elements")
def pow_(n: AtenLayer, self: Any, exponent: Any) -> Value:
    if isinstance(exponent, int | float):
        base = n.as_value(self)
        if isinstance(exponent, float) and not isinstance(base.type.element_type, FloatType):
            base = n.cast(base, f32)
        elif base.type.element_type is i1 and not isinstance(exponent, bool):
            base = n.cast(base, i64)
        x = Term(n, base)
        match exponent:
            case 2:
                return (x * x).value
            case 3:
                return (x * x * x).value
            case 0.5:
                return x.function(nn.Sqrt).value
            case -0.5:
                return x.function(nn.Rsqrt).value
            case -1 if isinstance(base.type.element_type, FloatType):
                return x.function(nn.Reciprocal).value
        return (x ** Term(n, n.as_value(exponent, x.element))).value  # rounded, as PyTorch does
    lhs, rhs = n.promoted(self, exponent)
    return n(nn.Pow(lhs, rhs))


@ROWS("aten.float_power")
def float_power(n: AtenLayer, self: Any, exponent: Any) -> Value:
    return n(nn.Pow(n.as_value(self, f64), n.as_value(exponent, f64)))


@ROWS("aten.atan2", "aten.arctan2", batched="elements")
def atan2(n: AtenLayer, self: Value, other: Value) -> Value:
    terms = (Term(n, v) for v in n.promoted_floating(self, other))
    return rounded_once(formulas.atan2, *terms).value


@ROWS("aten.lerp", batched="elements")
def lerp(n: AtenLayer, self: Value, end: Value, weight: Any) -> Value:
    terms = [Term(n, v) for v in n.promoted(self, end)]
    if isinstance(weight, Value):
        return rounded_once(interpolated, *terms, Term(n, n.cast(weight, terms[0].element))).value

    def by_number(a: Term, b: Term) -> Term:
        return interpolated(a, b, constant(n, weight, a.element))

    return rounded_once(by_number, *terms).value


def interpolated(a: Term, b: Term, weight: Term) -> Term:
    """The linear interpolation of two numbers, computed from the nearer end.

    With a weight below 0 or above 2 the product may be too large where the sum is not: all is
    halved until the end. PyTorch's product and sum are one instruction.
    """
    apart = b - a
    near = weight.function(nn.Abs) < 0.5
    half = ((weight < 0.0) | (weight > 2.0)).choose(constant(a.n, 0.5, a.element), 1.0)
    far = (b * half - apart * half * (1.0 - weight)) / half
    return near.choose(a + weight * apart, far)


@ROWS("aten.addcmul", "aten.addcdiv", batched="elements")
def addcmul(n: AtenLayer, self: Value, tensor1: Value, tensor2: Value, value: Any = 1) -> Value:
    def formula(x: Term, a: Term, b: Term) -> Term:
        return x + (a * value * b if "addcmul" in n.kind else a * value / b)

    return rounded_once(formula, *(Term(n, v) for v in n.promoted(self, tensor1, tensor2))).value


@ROWS("aten.where", batched="elements")
def where(n: AtenLayer, condition: Value, self: Any, other: Any) -> Value:
    lhs, rhs = n.promoted(self, other)
    return n(nn.Where(as_bool(n, condition), lhs, rhs))


@ROWS("aten.masked_fill", batched="elements")
def masked_fill(n: AtenLayer, self: Value, mask: Value, value: Any) -> Value:
    return n(nn.Where(as_bool(n, mask), n.as_value(value, self.type.element_type), self))


@ROWS("aten.clamp", "aten.clip", "aten.clamp_min", "aten.clamp_max", batched="elements")
def clamp(n: AtenLayer, self: Value, min: Any = None, max: Any = None) -> Value:
    bounds = [v for v in (min, max) if v is not None]
    self = n.promoted(self, *bounds)[0]
    x = Term(n, self)
    numbers = not any(isinstance(v, Value) for v in bounds)
    if len(bounds) == 2 and numbers and isinstance(self.type.element_type, FloatType):
        return n(nn.Clip(self, n.scalar(min, self), n.scalar(max, self)))
    if min is not None:
        x = x.max(Term(n, n.as_value(min, x.element)))
    if max is not None:
        x = x.min(Term(n, n.as_value(max, x.element)))
    return x.value


@ROWS("aten.hypot", batched="elements")
def hypot(n: AtenLayer, self: Any, other: Any) -> Value:
    terms = (Term(n, v) for v in n.promoted_floating(self, other))
    return rounded_once(formulas.hypot, *terms).value


@ROWS("aten.logaddexp", "aten.logaddexp2", batched="elements")
def logaddexp(n: AtenLayer, self: Value, other: Value) -> Value:
    unit = math.log(2) if n.kind.split(".")[1].endswith("2") else 1.0
    terms = (Term(n, v) for v in n.promoted(self, other))
    return rounded_once(lambda a, b: formulas.logaddexp(a, b, unit), *terms).value


@ROWS("aten.ldexp", batched="elements")
def ldexp(n: AtenLayer, self: Value, other: Value) -> Value:
    return formulas.ldexp(*(Term(n, v) for v in n.promoted_floating(self, other))).value


@ROWS("aten.frexp")
def frexp(n: AtenLayer, self: Value) -> list:
    """m and e of m * 2**e with abs(m) in [0.5, 1), read from the bits."""
    given = n.floating(self)
    x = Term(n, given if given.type.element_type is f64 else n.cast(given, f32))
    digits, bias = (52, 1022) if x.element is f64 else (23, 126)
    mask = 2 * bias + 3
    size = x.function(nn.Abs)
    small = size < 2.0 ** (1 - bias)
    bits = formulas.bits_of(small.choose(x * 2.0**digits, x))
    exponent = ((bits >> digits) & mask) - bias
    exponent = small.choose(exponent - digits, exponent).cast(i32)
    part = (bits & ~(mask << digits)) | (bias << digits)
    mantissa = part.made(nn.Bitcast(part.value, out=x.value.type))
    whole = x.equals(0.0) | ~(size < math.inf)
    found = whole.choose(x, mantissa).cast(given.type.element_type)
    return [found.value, whole.choose(0, exponent).value]


@ROWS("prims.fma")
def fma(n: AtenLayer, a: Value, b: Value, c: Value) -> Value:
    """a * b + c, which may be rounded twice."""
    x, y, z = (Term(n, v) for v in n.promoted(a, b, c))
    return (x * y + z).value


@ROWS("aten.gcd", "aten.lcm")
def gcd(n: AtenLayer, self: Value, other: Value) -> Value:
    make = formulas.gcd if "gcd" in n.kind else formulas.lcm
    return make(*(Term(n, v) for v in n.promoted(self, other))).value


# -- element types and copies ----------------------------------------------------------------------


@ROWS("prims.convert_element_type")
def convert_element_type(n: AtenLayer, a: Any, dtype: Type) -> Value:
    return n.as_value(a, dtype)


@ROWS("aten.to", "aten._to_copy", batched="elements")
def to(n: AtenLayer, self: Value, dtype: Type | None = None, other: Value | None = None) -> Any:
    if other is not None:
        return n.cast(self, other.type.element_type)
    if isinstance(dtype, ComplexType):
        x = Term(n, n.cast(self, dtype.element_type))
        return pair(x, x.zeros())
    return self if dtype is None else n.cast(self, dtype)


@ROWS("aten.type_as", batched="elements")
def type_as(n: AtenLayer, self: Value, other: Value) -> Value:
    return n.cast(self, other.type.element_type)


def _cast_to(element: Type) -> Row:
    return lambda n, self: n.cast(self, element)


table(_cast_to, float=f32, double=f64, long=i64, bool=i1, int=IntegerType(32))


_SAME = words("alias detach clone contiguous lift lift_fresh positive pin_memory")


@ROWS(*(f"aten.{name}" for name in _SAME), batched="elements")
def same(n: AtenLayer, self: Value) -> list[Value]:
    return [self]


@ROWS(
    *("aten.dropout", "aten.alpha_dropout", "aten.feature_dropout"),
    *("aten.feature_alpha_dropout", "aten.native_dropout"),
    batched="elements",
)
def dropout(
    n: AtenLayer,
    input: Value | None = None,
    p: float = 0.5,
    train: bool | None = False,
    self: Value | None = None,
) -> list:
    if train and p:
        raise n.error("training is not supported: call model.eval() first")
    return [self if input is None else input, None]


@ROWS("aten.copy")
def copy(n: AtenLayer, self: Value, src: Value) -> Value:
    return n.expand(n.cast(src, self.type.element_type), n.shape(self))
