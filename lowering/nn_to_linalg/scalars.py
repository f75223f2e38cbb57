"""Scalar expressions as arith and math operations.

Numerics: floats narrower than f32 are computed in f32. Signless integers are signed; for unsigned
element types the unsigned operations are used. No operation traps: x / 0 is 0, the least number
divided by -1 is itself, and a shift by the width or more does what single shifts would.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

from ...dialects import arith, math, packed
from ...ir.comprehension import Apply, Load, Number, Position, Scalar
from ...ir.conversions import CASTS, PLAIN, Conversion, is_small, is_small_float, is_small_integer
from ...ir.core import Value
from ...ir.diagnostics import PassError
from ...ir.packing import DOTS, HALVES, PARTS
from ...ir.types import ComplexType, FloatType, IntegerType, Type, f32, f64, i1
from .emitter import Emitter
from .float_codes import decode, encode
from .storage import storage_type


def compute_type(type: Type) -> Type:
    """The type in which elements of a type are computed; an integer type keeps its sign."""
    if isinstance(type, FloatType) and type.width < 32:
        return f32
    if is_small_integer(type):
        return IntegerType(8, type.signedness)  # type: ignore[attr-defined]
    return type


def is_unsigned(type: Type) -> bool:
    """Whether an element type is an unsigned integer; booleans count as unsigned."""
    return isinstance(type, IntegerType) and (type.signedness == "u" or type.width == 1)


def is_float(type: Type) -> bool:
    """Whether an element type is a float."""
    return isinstance(type, FloatType)


def widen(e: Emitter, element: Value, type: Type) -> Value:
    """An element of a buffer, converted to the type that it is computed in."""
    return convert(e, element, type, compute_type(type))


def narrow(e: Emitter, value: Value, element: Type) -> Value:
    """A computed value, converted to an element of a buffer."""
    return convert(e, value, value.type, element)


def convert(
    e: Emitter, value: Value, source: Type, target: Type, rules: Conversion = PLAIN
) -> Value:
    """A scalar converted to another element type: floats truncate, integers wrap, != 0 is true.

    Small elements have the form that they have in memory. `rules` are those of small floats.
    """
    if is_small(source):
        value = decode(e, value, source) if is_float(source) else _extended(e, value, source)
        source = compute_type(source)
    if is_small_float(target):
        return encode(e, _as_exact_float(e, value, source), target, rules)
    found = _convert(e, value, source, target)
    return low_bits(e, found, target) if is_small_integer(target) else found


def low_bits(e: Emitter, value: Value, type: Type) -> Value:
    """A byte with the bits above the type's width set to 0."""
    mask = (1 << type.width) - 1  # type: ignore[attr-defined]
    return e.insert(arith.AndI(value, e.constant(mask, value.type))).result


def _extended(e: Emitter, value: Value, type: Type) -> Value:
    """The low bits of a byte, extended with their sign or with zeros."""
    if is_unsigned(type):
        return low_bits(e, value, type)
    spare = e.constant(8 - type.width, value.type)  # type: ignore[attr-defined]
    return e.insert(arith.ShRSI(e.insert(arith.ShLI(value, spare)).result, spare)).result


def _as_exact_float(e: Emitter, value: Value, source: Type) -> Value:
    """A number as f32, or as f64 where f32 might round it."""
    is_wide = isinstance(source, IntegerType) and source.width > 16
    return _convert(e, value, source, f64 if is_wide or value.type is f64 else f32)


def _convert(e: Emitter, value: Value, source: Type, target: Type) -> Value:
    wanted = storage_type(target)
    if value.type is wanted:
        return value
    if wanted is i1:
        return _is_not_zero(e, value)
    match value.type, wanted:
        case FloatType(), FloatType():
            wider = value.type.width < wanted.width
            if not wider and value.type.width == wanted.width:  # f16 and bf16
                value = e.insert(arith.ExtF(value, out=f32)).result
            return e.insert((arith.ExtF if wider else arith.TruncF)(value, out=wanted)).result
        case IntegerType(), FloatType():
            cast = arith.UIToFP if is_unsigned(source) else arith.SIToFP
            return e.insert(cast(value, out=wanted)).result
        case FloatType(), IntegerType():
            return _float_to_integer(e, value, target)
        case IntegerType(), IntegerType():
            if value.type.width > wanted.width:
                return e.insert(arith.TruncI(value, out=wanted)).result
            cast = arith.ExtUI if is_unsigned(source) else arith.ExtSI
            return e.insert(cast(value, out=wanted)).result
    raise PassError(f"there is no conversion from {source} to {target}", e.loc)


def _is_not_zero(e: Emitter, value: Value) -> Value:
    zero = e.constant(0, value.type)
    if is_float(value.type):
        return e.insert(arith.CmpF("une", value, zero)).result
    return e.insert(arith.CmpI("ne", value, zero)).result


def _float_to_integer(e: Emitter, value: Value, target: Type) -> Value:
    """Truncate a float, by way of f32 if it is narrower; integers of less than 32 bits wrap."""
    assert isinstance(target, IntegerType)
    if value.type.width < 32:
        value = e.insert(arith.ExtF(value, out=f32)).result
    if target.width < 32:
        whole = e.insert(arith.FPToSI(value, out=IntegerType(32))).result
        return e.insert(arith.TruncI(whole, out=storage_type(target))).result
    cast = arith.FPToUI if is_unsigned(target) else arith.FPToSI
    return e.insert(cast(value, out=storage_type(target))).result


# -- functions ---------------------------------------------------------------------------------

_FLOAT_OPS = {
    "add": arith.AddF,
    "sub": arith.SubF,
    "mul": arith.MulF,
    "div": arith.DivF,
    "fmod": arith.RemF,
    "min": arith.MinimumF,
    "max": arith.MaximumF,
    "pow": math.PowF,
    "neg": arith.NegF,
    "abs": math.AbsF,
    "exp": math.Exp,
    "expm1": math.ExpM1,
    "log": math.Log,
    "log1p": math.Log1p,
    "sqrt": math.Sqrt,
    "ceil": math.Ceil,
    "floor": math.Floor,
    "round": math.RoundEven,
    "sin": math.Sin,
    "cos": math.Cos,
    "tan": math.Tan,
    "asin": math.Asin,
    "acos": math.Acos,
    "atan": math.Atan,
    "sinh": math.Sinh,
    "cosh": math.Cosh,
    "tanh": math.Tanh,
    "asinh": math.Asinh,
    "acosh": math.Acosh,
    "atanh": math.Atanh,
    "erf": math.Erf,
    "erfc": math.Erfc,
}
_INTEGER_OPS = {"add": arith.AddI, "sub": arith.SubI, "mul": arith.MulI, "and": arith.AndI,
                "or": arith.OrI, "xor": arith.XOrI}  # fmt: skip
_TRUTH_OPS = {"add": arith.OrI, "mul": arith.AndI, "min": arith.AndI, "max": arith.OrI,
              "and": arith.AndI, "or": arith.OrI, "xor": arith.XOrI, "sub": arith.XOrI}  # fmt: skip
_FLOAT_PREDICATES = {"eq": "oeq", "ne": "une", "lt": "olt", "le": "ole", "gt": "ogt", "ge": "oge"}


class Scalars:
    """Emits scalar expressions of a comprehension whose loads have been made."""

    def __init__(self, e: Emitter, loads: Sequence[Value]) -> None:
        self.e = e
        self.loads = loads
        self._written: dict[Scalar, Value] = {}

    def write(self, value: Scalar) -> Value:
        """The value of an expression, in its computing type."""
        if value not in self._written:
            self._written[value] = self._write(value)
        return self._written[value]

    def _write(self, value: Scalar) -> Value:
        match value:
            case Load(access, type):
                return widen(self.e, self.loads[access], type)
            case Number(number, type):
                return self.e.constant(number, storage_type(compute_type(type)))
            case Position(dim, type):
                wanted = storage_type(compute_type(type))
                return self.e.insert(arith.IndexCast(self.e.position(dim), out=wanted)).result
            case Apply(function, (inner,), type) if function in CASTS:
                kept = self._cast(inner, type, CASTS[function])
                return widen(self.e, kept, type) if is_small(type) else kept
            case Apply("select", (condition, yes, no), _):
                parts = [self.write(v) for v in (condition, yes, no)]
                return self.e.insert(arith.Select(*parts)).result
            case Apply("pow", (base, exponent), _):
                return self._pow(base, exponent)
            case Apply(function, args, _):
                return apply(self.e, function, args[0].type, [self.write(a) for a in args])
        raise TypeError(value)

    def element(self, value: Scalar, type: Type) -> Value:
        """The value of an expression, as an element to store."""
        match value:
            case Apply(function, (inner,), _) if is_small(type) and function in CASTS:
                return self._cast(inner, type, CASTS[function])
        return narrow(self.e, self.write(value), type)

    def _cast(self, inner: Scalar, type: Type, rules: Conversion) -> Value:
        """A converted value: in the type's computing type, or for small types as
        it is in memory.
        """
        wanted = type if is_small(type) else compute_type(type)
        return convert(self.e, self.write(inner), compute_type(inner.type), wanted, rules)

    def _pow(self, base: Scalar, exponent: Scalar) -> Value:
        """A power of the base's type; for an integer base and a float exponent it is computed in
        f64.
        """
        e, lhs, rhs = self.e, self.write(base), self.write(exponent)
        if is_float(base.type):
            rhs = convert(e, rhs, compute_type(exponent.type), compute_type(base.type))
            return e.insert(math.PowF(lhs, rhs)).result
        if is_float(exponent.type):
            wide = convert(e, lhs, base.type, f64)
            power = convert(e, rhs, compute_type(exponent.type), f64)
            return convert(e, e.insert(math.PowF(wide, power)).result, f64, base.type)
        rhs = convert(e, rhs, exponent.type, base.type)
        if not is_unsigned(base.type) or not is_unsigned(exponent.type):
            return e.insert(math.IPowI(lhs, rhs)).result
        # The exponent's highest bit is no sign: by it alone, even numbers give 0, odd ones 1.
        highest = 1 << (base.type.width - 1)  # type: ignore[attr-defined]
        rest = e.insert(arith.AndI(rhs, e.constant(highest - 1, rhs.type))).result
        power = e.insert(math.IPowI(lhs, rest)).result
        zero = e.constant(0, rhs.type)
        even = e.insert(arith.AndI(lhs, e.constant(1, rhs.type))).result
        even = e.insert(arith.CmpI("eq", even, zero)).result
        large = e.insert(arith.CmpI("slt", rhs, zero)).result
        vanishes = e.insert(arith.AndI(even, large)).result
        return e.insert(arith.Select(vanishes, zero, power)).result


def _dot(packing: str, args: Sequence[Value]) -> packed.Dot | packed.DotF:
    if packing == HALVES:
        return packed.DotF(*args)
    return packed.Dot(*args, packing=packing)


def apply(e: Emitter, function: str, type: Type, args: Sequence[Value]) -> Value:
    """Emit a comprehension's function of values that are in the computing type of `type`.

    Raises PassError for complex numbers, which a model holds as two reals.
    """
    if isinstance(type, ComplexType):
        raise PassError(f"'{function}' of {type} has no lowering", e.loc)
    if function == "is_nan":
        return e.insert(arith.CmpF("uno", args[0], args[0])).result
    if function in _FLOAT_PREDICATES:
        return _compare(e, function, type, *args)
    if is_float(type):
        return _on_floats(e, function, args)
    if type is i1 and function in _TRUTH_OPS:
        return e.insert(_TRUTH_OPS[function](*args)).result
    if function in _INTEGER_OPS:
        return e.insert(_INTEGER_OPS[function](*args)).result
    if function in DOTS:
        return e.insert(_dot(DOTS[function], args)).result
    if function in PARTS:
        return _part(e, PARTS[function], *args)
    special = _INTEGER_FUNCTIONS.get(function)
    if special is None:
        raise PassError(f"'{function}' is not defined for {type}", e.loc)
    return special(e, is_unsigned(type), *args)


def larger_number(e: Emitter, x: Value, kept: Value) -> Value:
    """x if it is larger than `kept`, else `kept`, so that NaN is passed over."""
    is_larger = e.insert(arith.CmpF("ogt", x, kept)).result
    return e.insert(arith.Select(is_larger, x, kept)).result


def _compare(e: Emitter, relation: str, type: Type, a: Value, b: Value) -> Value:
    if is_float(type):
        return e.insert(arith.CmpF(_FLOAT_PREDICATES[relation], a, b)).result
    is_equality = relation in ("eq", "ne")
    sign = "" if is_equality else "u" if is_unsigned(type) else "s"
    return e.insert(arith.CmpI(sign + relation, a, b)).result


def _on_floats(e: Emitter, function: str, args: Sequence[Value]) -> Value:
    if function in ("min", "max"):
        # Models do not tell the zeros apart here.
        return e.insert(_FLOAT_OPS[function](*args, fastmath="nsz")).result
    if function in _FLOAT_OPS:
        return e.insert(_FLOAT_OPS[function](*args)).result
    x, zero = args[0], e.constant(0.0, args[0].type)
    if function == "sign":
        # Zeros and NaN stay themselves.
        below = e.insert(arith.CmpF("olt", x, zero)).result
        above = e.insert(arith.CmpF("ogt", x, zero)).result
        negative = e.insert(arith.Select(below, e.constant(-1.0, x.type), x)).result
        return e.insert(arith.Select(above, e.constant(1.0, x.type), negative)).result
    if function == "mod":
        divisor = args[1]
        rest = e.insert(arith.RemF(x, divisor)).result
        shifted = e.insert(arith.AddF(rest, divisor)).result
        is_zero = e.insert(arith.CmpF("oeq", rest, zero)).result
        differ = _differ_in_sign(e, rest, divisor, zero)
        moved = e.insert(arith.Select(differ, shifted, rest)).result
        signed_zero = e.insert(math.CopySign(zero, divisor)).result
        return e.insert(arith.Select(is_zero, signed_zero, moved)).result
    raise PassError(f"'{function}' is not defined for {x.type}", e.loc)


def _differ_in_sign(e: Emitter, a: Value, b: Value, zero: Value) -> Value:
    below = [e.insert(arith.CmpF("olt", v, zero)).result for v in (a, b)]
    return e.insert(arith.XOrI(*below)).result


# -- integers ------------------------------------------------------------------------------------


def _divisor(e: Emitter, unsigned: bool, b: Value) -> tuple[Value, Value, Value | None]:
    """A divisor that cannot trap, whether b is 0, and whether b is -1 (None if unsigned)."""
    one = e.constant(1, b.type)
    is_zero = e.insert(arith.CmpI("eq", b, e.constant(0, b.type))).result
    unsafe, is_minus_one = is_zero, None
    if not unsigned:
        is_minus_one = e.insert(arith.CmpI("eq", b, e.constant(-1, b.type))).result
        unsafe = e.insert(arith.OrI(is_zero, is_minus_one)).result
    return e.insert(arith.Select(unsafe, one, b)).result, is_zero, is_minus_one


def _div(e: Emitter, unsigned: bool, a: Value, b: Value) -> Value:
    safe, is_zero, is_minus_one = _divisor(e, unsigned, b)
    zero = e.constant(0, a.type)
    quotient = e.insert((arith.DivUI if unsigned else arith.DivSI)(a, safe)).result
    if is_minus_one is not None:
        negated = e.insert(arith.SubI(zero, a)).result
        quotient = e.insert(arith.Select(is_minus_one, negated, quotient)).result
    return e.insert(arith.Select(is_zero, zero, quotient)).result


def _fmod(e: Emitter, unsigned: bool, a: Value, b: Value) -> Value:
    safe, _, _ = _divisor(e, unsigned, b)
    return e.insert((arith.RemUI if unsigned else arith.RemSI)(a, safe)).result


def _mod(e: Emitter, unsigned: bool, a: Value, b: Value) -> Value:
    rest = _fmod(e, unsigned, a, b)
    if unsigned:
        return rest
    zero = e.constant(0, a.type)
    nonzero = e.insert(arith.CmpI("ne", rest, zero)).result
    mixed = e.insert(arith.XOrI(rest, b)).result
    differ = e.insert(arith.CmpI("slt", mixed, zero)).result
    moves = e.insert(arith.AndI(nonzero, differ)).result
    shifted = e.insert(arith.AddI(rest, b)).result
    return e.insert(arith.Select(moves, shifted, rest)).result


def _min(e: Emitter, unsigned: bool, a: Value, b: Value) -> Value:
    return e.insert((arith.MinUI if unsigned else arith.MinSI)(a, b)).result


def _max(e: Emitter, unsigned: bool, a: Value, b: Value) -> Value:
    return e.insert((arith.MaxUI if unsigned else arith.MaxSI)(a, b)).result


def _neg(e: Emitter, unsigned: bool, x: Value) -> Value:
    return e.insert(arith.SubI(e.constant(0, x.type), x)).result


def _abs(e: Emitter, unsigned: bool, x: Value) -> Value:
    return x if unsigned else e.insert(math.AbsI(x)).result


def _sign(e: Emitter, unsigned: bool, x: Value) -> Value:
    zero, one = e.constant(0, x.type), e.constant(1, x.type)
    positive = e.insert(arith.CmpI("ne" if unsigned else "sgt", x, zero)).result
    rest = zero
    if not unsigned:
        negative = e.insert(arith.CmpI("slt", x, zero)).result
        rest = e.insert(arith.Select(negative, e.constant(-1, x.type), zero)).result
    return e.insert(arith.Select(positive, one, rest)).result


def _not(e: Emitter, unsigned: bool, x: Value) -> Value:
    ones = 1 if x.type is i1 else -1
    return e.insert(arith.XOrI(x, e.constant(ones, x.type))).result


def _in_width(e: Emitter, b: Value) -> tuple[Value, Value]:
    """Whether a shift is less than the width, and the shift, or 0 if it is not."""
    width = e.constant(b.type.width, b.type)
    inside = e.insert(arith.CmpI("ult", b, width)).result
    return inside, e.insert(arith.Select(inside, b, e.constant(0, b.type))).result


def _shift_left(e: Emitter, unsigned: bool, a: Value, b: Value) -> Value:
    inside, by = _in_width(e, b)
    shifted = e.insert(arith.ShLI(a, by)).result
    return e.insert(arith.Select(inside, shifted, e.constant(0, a.type))).result


def _shift_right(e: Emitter, unsigned: bool, a: Value, b: Value) -> Value:
    inside, by = _in_width(e, b)
    if unsigned:
        shifted, past = e.insert(arith.ShRUI(a, by)).result, e.constant(0, a.type)
    else:
        shifted = e.insert(arith.ShRSI(a, by)).result
        most = e.constant(a.type.width - 1, a.type)
        past = e.insert(arith.ShRSI(a, most)).result
    return e.insert(arith.Select(inside, shifted, past)).result


def _part(e: Emitter, bits: int, words: Value, number: Value) -> Value:
    """Extract the unsigned integer at place `number` of words that hold integers of `bits` bits."""
    by = e.insert(arith.MulI(number, e.constant(bits, number.type))).result
    shifted = e.insert(arith.ShRUI(words, by)).result
    return e.insert(arith.AndI(shifted, e.constant((1 << bits) - 1, words.type))).result


def _itself(e: Emitter, unsigned: bool, x: Value) -> Value:
    return x


_INTEGER_FUNCTIONS: dict[str, Callable[..., Value]] = {
    "div": _div,
    "mod": _mod,
    "fmod": _fmod,
    "min": _min,
    "max": _max,
    "neg": _neg,
    "abs": _abs,
    "sign": _sign,
    "not": _not,
    "shift_left": _shift_left,
    "shift_right": _shift_right,
    "ceil": _itself,
    "floor": _itself,
    "round": _itself,
}
