"""Folding and evaluating the math dialect, against Python's math module and exact arithmetic."""

import math
from fractions import Fraction

import ml_dtypes
import numpy as np
import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st
from nnc.dialects import arith
from nnc.dialects import math as m
from nnc.ir.attributes import DenseElements, FloatAttr
from nnc.ir.diagnostics import NncError
from nnc.ir.types import IntegerType, VectorType, bf16, f16, f32, f64, i8, i32

DTYPES = {f16: np.float16, bf16: ml_dtypes.bfloat16, f32: np.float32, f64: np.float64}


def c_round(x):
    """Half away from zero, in exact arithmetic."""
    whole = math.floor(abs(Fraction(x)) + Fraction(1, 2))
    return math.copysign(whole, x)


def kept_sign(function):
    return lambda x: math.copysign(function(x), x)


# Each unary operation, what it computes, and where it is defined.
REALS = (-50.0, 50.0)
UNARY = {
    m.AbsF: (abs, REALS),
    m.Ceil: (kept_sign(math.ceil), REALS),
    m.Floor: (kept_sign(math.floor), REALS),
    m.Trunc: (kept_sign(math.trunc), REALS),
    m.Round: (c_round, REALS),
    m.RoundEven: (kept_sign(round), REALS),
    m.Sqrt: (math.sqrt, (0.0, 1e4)),
    m.Rsqrt: (lambda x: 1 / math.sqrt(x), (1e-3, 1e4)),
    m.Cbrt: (math.cbrt, REALS),
    m.Exp: (math.exp, (-10.0, 10.0)),
    m.Exp2: (math.exp2, (-12.0, 12.0)),
    m.ExpM1: (math.expm1, (-10.0, 10.0)),
    m.Log: (math.log, (1e-3, 1e4)),
    m.Log10: (math.log10, (1e-3, 1e4)),
    m.Log1p: (math.log1p, (-0.9, 1e4)),
    m.Log2: (math.log2, (1e-3, 1e4)),
    m.Sin: (math.sin, REALS),
    m.Cos: (math.cos, REALS),
    m.Tan: (math.tan, (-1.5, 1.5)),
    m.Asin: (math.asin, (-1.0, 1.0)),
    m.Acos: (math.acos, (-1.0, 1.0)),
    m.Atan: (math.atan, REALS),
    m.Sinh: (math.sinh, (-10.0, 10.0)),
    m.Cosh: (math.cosh, (-10.0, 10.0)),
    m.Tanh: (math.tanh, REALS),
    m.Asinh: (math.asinh, REALS),
    m.Acosh: (math.acosh, (1.0, 1e4)),
    m.Atanh: (math.atanh, (-0.9375, 0.9375)),
    m.Erf: (math.erf, (-5.0, 5.0)),
    m.Erfc: (math.erfc, (-5.0, 5.0)),
}


def constant(value, type):
    return arith.Constant(FloatAttr(value, type))


def test_every_unary_operation_is_tested():
    from nnc.dialects.arith.base import FloatUnary
    from nnc.ir.dialect import registry

    declared = {c for c in registry.dialect("math").ops.values() if issubclass(c, FloatUnary)}
    assert declared == set(UNARY)


@pytest.mark.sampled(3)
@pytest.mark.parametrize("type", DTYPES, ids=str)
@pytest.mark.parametrize("op_class", UNARY, ids=lambda c: c.name)
@settings(max_examples=20)
@given(data=st.data())
def test_unary(op_class, type, data):
    function, (low, high) = UNARY[op_class]
    raw = data.draw(st.floats(low, high))
    value = FloatAttr(raw, type).value
    assume(low <= value <= high)
    expected = FloatAttr(function(value), type).value
    (folded,) = op_class(constant(value, type)).fold()
    assert folded.value == expected
    x = np.full((2, 2), value, DTYPES[type])
    result = op_class(constant(value, type)).evaluate(x[0, 0])
    assert result.dtype == DTYPES[type]
    # Four units in the last place of the type, or of f64 where NumPy and Python differ.
    unit = {f16: 2.0**-10, bf16: 2.0**-7, f32: 2.0**-23, f64: 2.0**-52}[type]
    assert float(result) == pytest.approx(expected, rel=4 * unit, abs=1e-300 + 1e-7 * unit)
    shaped = VectorType((2, 2), type)
    array = op_class(arith.Constant.of(value, shaped)).evaluate(x)
    assert array.shape == (2, 2) and array.dtype == DTYPES[type]
    assert array.astype(np.float64).tolist() == [[float(result)] * 2] * 2


@pytest.mark.parametrize("op_class", [m.Ceil, m.Floor, m.Trunc, m.Round, m.RoundEven])
@pytest.mark.parametrize("value", [0.0, -0.0, 0.5, -0.5, 1.5, 2.5, -2.5, 0.49999997, 8388609.0])
def test_roundings_at_ties_and_zeros(op_class, value):
    value = float(np.float32(value))
    expected = UNARY[op_class][0](value)
    (folded,) = op_class(constant(value, f32)).fold()
    result = op_class(constant(value, f32)).evaluate(np.float32(value))
    for found in (folded.value, float(result)):
        assert found == expected
        assert math.copysign(1, found) == math.copysign(1, expected)


@pytest.mark.parametrize("op_class", [m.Sqrt, m.Log, m.Acos, m.Acosh, m.Atanh, m.Log1p])
def test_outside_of_the_domain(op_class):
    """Folding leaves alone what Python refuses; evaluating gives NaN."""
    op = op_class(constant(-3.0, f32))
    assert op.fold() is None
    assert np.isnan(op.evaluate(np.float32(-3.0)))


def test_overflow_is_left_to_run_time():
    assert m.Exp(constant(1e4, f64)).fold() is None
    assert m.Exp(constant(1e4, f64)).evaluate(np.float64(1e4)) == np.inf
    assert m.Exp(constant(100.0, f32)).fold()[0].value == math.inf


@pytest.mark.parametrize("op_class", [m.AbsF, m.Ceil, m.Floor, m.Trunc, m.Round, m.RoundEven])
def test_idempotent(op_class):
    x = arith.NegF(constant(2.5, f32))
    once = op_class(x)
    assert op_class(once).fold() == [once.result]


# -- several operands ------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("op_class", "function"),
    [(m.Atan2, math.atan2), (m.CopySign, math.copysign), (m.PowF, math.pow)],
)
@given(a=st.floats(0.125, 8.0, width=32), b=st.floats(-4.0, 4.0, width=32))
def test_binary(op_class, function, a, b):
    expected = FloatAttr(function(a, b), f32).value
    op = op_class(constant(a, f32), constant(b, f32))
    (folded,) = op.fold()
    folded = folded.value if isinstance(folded, FloatAttr) else folded.defining_op.value.value
    assert folded == expected
    assert float(op.evaluate(np.float32(a), np.float32(b))) == pytest.approx(expected, rel=1e-6)


@given(x=st.floats(0.5, 2.0, width=32), n=st.integers(-10, 10))
def test_fpowi(x, n):
    op = m.FPowI(constant(x, f32), arith.Constant.of(n, i32))
    if n != 1:
        assert op.fold()[0].value == FloatAttr(x**n, f32).value
    assert op.evaluate(np.float32(x), np.int32(n)) == np.float32(float(x) ** n)


finite = {
    f32: st.floats(-(2.0**50), 2.0**50, width=32),
    f64: st.one_of(st.floats(-1e100, 1e100), st.floats(-1e-150, 1e-150)),
    bf16: st.floats(-(2.0**50), 2.0**50, width=32),
}


@pytest.mark.parametrize("type", finite, ids=str)
@given(data=st.data())
def test_fma_rounds_once(type, data):
    a, b = (FloatAttr(data.draw(finite[type]), type).value for _ in range(2))
    # Cancellation is where rounding the product first shows.
    c = data.draw(st.one_of(finite[type], st.just(-a * b)))
    c = FloatAttr(c, type).value
    exact = Fraction(a) * Fraction(b) + Fraction(c)
    op = m.Fma(*(constant(v, type) for v in (a, b, c)))
    (folded,) = op.fold()
    result = op.evaluate(*(DTYPES[type](v) for v in (a, b, c)))
    assert result.dtype == DTYPES[type]
    assert float(result) == folded.value
    if type is f64 and abs(exact) > 2.0**-1000:
        assert folded.value == float(exact)
    # No neighbour of the result is nearer.
    if type is not bf16 and exact != 0 and math.isfinite(folded.value):
        near = abs(Fraction(folded.value) - exact)
        dtype = DTYPES[type]
        for toward in (-np.inf, np.inf):
            other = float(np.nextafter(dtype(folded.value), dtype(toward)))
            assert not math.isfinite(other) or near <= abs(Fraction(other) - exact)


LARGEST = float(np.finfo(np.float64).max)


@pytest.mark.parametrize(
    "a, b, c, expected",
    [
        (LARGEST, -2.0, LARGEST, -LARGEST),  # the product overflows, the sum does not
        (LARGEST, 1.0, -LARGEST, 0.0),
        (2.0**1000, 1.0 + 2.0**-52, -(2.0**1000), 2.0**948),
        (LARGEST, LARGEST, LARGEST, math.inf),
        (-LARGEST, LARGEST, 1.0, -math.inf),
        (math.inf, 0.0, 1.0, math.nan),
        (math.inf, 2.0, LARGEST, math.inf),
    ],
)
def test_fma_at_the_limits_of_f64(a, b, c, expected):
    op = m.Fma(*(constant(v, f64) for v in (a, b, c)))
    (folded,) = op.fold()
    one = op.evaluate(*map(np.float64, (a, b, c)))
    many = op.evaluate(*(np.array([v, 1.0]) for v in (a, b, c)))
    np.testing.assert_array_equal([folded.value, float(one), many[0]], [expected] * 3)
    assert many[1] == 2.0


@given(st.floats(width=32), st.floats(-5, 0, width=32), st.floats(0, 5, width=32))
def test_clampf(value, low, high):
    assume(not math.isnan(value))
    op = m.ClampF(*(constant(v, f32) for v in (value, low, high)))
    result = op.evaluate(np.float32(value), np.float32(low), np.float32(high))
    assert result == sorted([low, value, high])[1]


@given(x=st.floats(-10, 10))
def test_sincos(x):
    op = m.SinCos(constant(x, f64))
    sin, cos = op.fold()
    assert (sin.value, cos.value) == (math.sin(x), math.cos(x))
    results = op.evaluate(np.float64(x))
    assert [float(r) for r in results] == pytest.approx([math.sin(x), math.cos(x)], rel=1e-14)


# -- integers ----------------------------------------------------------------------------------------


@given(data=st.data(), width=st.sampled_from([8, 16, 32, 64]))
def test_bit_counts(data, width):
    value = data.draw(st.integers(-(1 << (width - 1)), (1 << (width - 1)) - 1))
    bits = f"{value % (1 << width):0{width}b}"
    expected = {
        m.CtLz: len(bits) - len(bits.lstrip("0")),
        m.CtTz: len(bits) - len(bits.rstrip("0")),
        m.CtPop: bits.count("1"),
    }
    x = np.array([value], f"int{width}")
    for op_class, count in expected.items():
        op = op_class(arith.Constant.of(value, IntegerType(width)))
        assert op.fold()[0].value == count
        assert op.evaluate(x[0]) == count and op.evaluate(x[0]).dtype == x.dtype
        assert op.evaluate(x).tolist() == [count]


@given(value=st.integers(-128, 127))
def test_absi(value):
    op = m.AbsI(arith.Constant.of(value, i8))
    expected = np.int8(abs(value) if value > -128 else -128)
    assert op.fold()[0].value == op.evaluate(np.int8(value)) == expected


@given(base=st.integers(-128, 127), power=st.integers(-5, 12))
def test_ipowi(base, power):
    op = m.IPowI(arith.Constant.of(base, i8), arith.Constant.of(power, i8))
    arguments = np.int8(base), np.int8(power)
    if power < 0 and base == 0:
        assert op.fold() is None
        with pytest.raises(NncError, match="zero to a negative power"):
            op.evaluate(*arguments)
        return
    exact = base**power if power >= 0 else math.trunc(Fraction(1, base**-power))
    assert op.evaluate(*arguments) == IntegerType(8).wrap(exact)
    (folded,) = op.fold()
    if power != 1:
        assert folded.value == IntegerType(8).wrap(exact)


# -- questions ---------------------------------------------------------------------------------------


@pytest.mark.parametrize("type", [f16, bf16, f32, f64], ids=str)
def test_kinds_of_floats(type):
    smallest = {f16: 2.0**-14, bf16: 2.0**-126, f32: 2.0**-126, f64: 2.0**-1022}[type]
    values = [0.0, -0.0, 1.0, -2.5, smallest, smallest / 2, -smallest / 2]
    values += [math.inf, -math.inf, math.nan]
    expected = {
        m.IsFinite: [math.isfinite(v) for v in values],
        m.IsInf: [math.isinf(v) for v in values],
        m.IsNan: [math.isnan(v) for v in values],
        m.IsNormal: [math.isfinite(v) and abs(v) >= smallest for v in values],
    }
    shape = VectorType((len(values),), type)
    dense = DenseElements.from_list(values, shape)
    for op_class, answers in expected.items():
        op = op_class(arith.Constant(dense))
        assert [bool(v) for v in op.fold()[0].values()] == answers
        result = op.evaluate(np.array(values, DTYPES[type]))
        assert result.dtype == np.bool_ and result.tolist() == answers
