"""Folding and evaluating float arithmetic and casts, against NumPy and exact arithmetic."""

import math
import operator
from fractions import Fraction

import ml_dtypes
import numpy as np
import pytest
from hypothesis import assume, given
from hypothesis import strategies as st
from nnc.dialects import arith
from nnc.dialects import math as mathd
from nnc.ir.attributes import DenseElements, FloatAttr, IntegerAttr
from nnc.ir.types import FloatType, IntegerType, VectorType, bf16, f16, f32, f64, i1, i8, i32, i64

DTYPES = {f16: np.float16, bf16: ml_dtypes.bfloat16, f32: np.float32, f64: np.float64}
SPECIAL = [0.0, -0.0, 1.0, -1.0, math.inf, -math.inf, math.nan, 0.5, 65504.0, 1e-8, 3.4e38, 1e-45]


def numbers(type):
    dtype = DTYPES[type]
    anything = st.one_of(st.sampled_from(SPECIAL), st.floats(width=64), st.floats(-100, 100))
    return anything.map(
        lambda v: (
            float(np.array(v, np.float64).astype(np.float32).astype(dtype))
            if type is not f64
            else v
        )
    )


@pytest.fixture(autouse=True)
def quiet():
    with np.errstate(all="ignore"):
        yield


def equal(a, b):
    """The same number: NaN is NaN, and -0.0 is not 0.0."""
    a, b = float(a), float(b)
    return (math.isnan(a) and math.isnan(b)) or (
        a == b and math.copysign(1, a) == math.copysign(1, b)
    )


def constant(value, type):
    return arith.Constant(FloatAttr(value, type))


def folded(op):
    (found,) = op.fold()
    return (found if isinstance(found, FloatAttr | IntegerAttr) else found.defining_op.value).value


BINARY = {
    arith.AddF: operator.add,
    arith.SubF: operator.sub,
    arith.MulF: operator.mul,
    arith.DivF: operator.truediv,
    arith.RemF: np.fmod,
    mathd.CopySign: np.copysign,
}


@pytest.mark.sampled(3)
@pytest.mark.parametrize("op_class", BINARY, ids=lambda c: c.name)
@pytest.mark.parametrize("type", DTYPES, ids=str)
@given(data=st.data())
def test_binary(op_class, type, data):
    with np.errstate(all="ignore"):
        a, b = data.draw(numbers(type)), data.draw(numbers(type))
        x, y = np.float64(a), np.float64(b)
        if type is not f64 and op_class not in (arith.RemF, mathd.CopySign):
            # f64 holds twice the digits, so rounding its result rounds the exact one.
            expected = np.float64(BINARY[op_class](x, y))
            expected = FloatAttr(float(expected), type).value
        else:
            expected = BINARY[op_class](x, y)
        op = op_class(constant(a, type), constant(b, type))
        assert equal(folded(op), expected)
        value = op.evaluate(DTYPES[type](a), DTYPES[type](b))
        assert value.dtype == DTYPES[type]
        assert equal(value, expected)


def ordered(a, b):
    """min and max by a total order in which -0.0 < 0.0; neither is NaN."""
    return sorted([a, b], key=lambda v: (v, math.copysign(1, v)))


@pytest.mark.parametrize("type", DTYPES, ids=str)
@given(data=st.data())
def test_minima_and_maxima(type, data):
    a, b = data.draw(numbers(type)), data.draw(numbers(type))
    nans = math.isnan(a) + math.isnan(b)
    other = b if math.isnan(a) else a
    low, high = ordered(a, b) if not nans else (math.nan, math.nan)
    for op_class, expected in (
        (arith.MinimumF, low),
        (arith.MaximumF, high),
        (arith.MinNumF, other if nans else low),
        (arith.MaxNumF, other if nans else high),
    ):
        op = op_class(constant(a, type), constant(b, type))
        assert equal(folded(op), expected)
        assert equal(op.evaluate(DTYPES[type](a), DTYPES[type](b)), expected)


class TestIdentities:
    x = arith.NegF(arith.Constant.of(2.0, f32))

    @pytest.mark.parametrize(
        ("op_class", "number"),
        [
            (arith.AddF, -0.0),
            (arith.SubF, 0.0),
            (arith.MulF, 1.0),
            (arith.DivF, 1.0),
            (arith.MaximumF, -math.inf),
            (arith.MinimumF, math.inf),
            (arith.MaxNumF, math.nan),
            (arith.MinNumF, math.nan),
            (mathd.PowF, 1.0),
        ],
    )
    def test_right(self, op_class, number):
        assert op_class(self.x, constant(number, f32)).fold() == [self.x.result]

    @pytest.mark.parametrize(
        ("op_class", "number"),
        [
            (arith.AddF, 0.0),
            (arith.SubF, -0.0),
            (arith.MulF, 0.0),
            (arith.MaxNumF, -math.inf),
            (arith.MinNumF, math.inf),
        ],
    )
    def test_wrong_for_some_float(self, op_class, number):
        assert op_class(self.x, constant(number, f32)).fold() is None

    def test_zero_times_with_fast_math(self):
        zero = constant(0.0, f32)
        assert arith.MulF(self.x, zero, "nnan,nsz").fold() == [zero.value]
        assert arith.MulF(self.x, zero, "fast").fold() == [zero.value]
        assert arith.MulF(self.x, zero, "nnan").fold() is None

    def test_double_negation(self):
        assert arith.NegF(self.x).fold() == [self.x.operand]

    def test_equal_operands(self):
        assert arith.MaximumF(self.x, self.x).fold() == [self.x.result]
        assert arith.SubF(self.x, self.x).fold() is None
        assert arith.DivF(self.x, self.x).fold() is None

    def test_extended_floats_are_left_alone(self):
        f80 = FloatType("f80")
        assert arith.AddF(constant(1.0, f80), constant(2.0, f80)).fold() is None


def test_fast_math_flags_are_canonical():
    flags = arith.FastMathAttr
    assert flags("contract,nnan").value == "nnan,contract"
    assert flags("reassoc,nnan,ninf,nsz,arcp,contract,afn") is flags("fast")
    assert flags("none,nnan").value == "nnan"
    assert flags("fast").allows("ninf") and not flags("nnan").allows("ninf")


FLOAT_PREDICATES = {
    "eq": operator.eq,
    "ne": operator.ne,
    "gt": operator.gt,
    "ge": operator.ge,
    "lt": operator.lt,
    "le": operator.le,
}


@given(a=numbers(f32), b=numbers(f32))
def test_comparisons(a, b):
    unordered = math.isnan(a) or math.isnan(b)
    expected = {"true": True, "false": False, "ord": not unordered, "uno": unordered}
    for word, relation in FLOAT_PREDICATES.items():
        expected[f"o{word}"] = not unordered and relation(a, b)
        expected[f"u{word}"] = unordered or relation(a, b)
    assert len(expected) == 16
    for predicate, holds in expected.items():
        op = arith.CmpF(predicate, constant(a, f32), constant(b, f32))
        assert bool(folded(op)) == holds, predicate
        value = op.evaluate(np.float32(a), np.float32(b))
        assert value.dtype == np.bool_ and bool(value) == holds, predicate
        array = op.evaluate(np.full(3, a, np.float32), np.full(3, b, np.float32))
        assert array.dtype == np.bool_ and array.tolist() == [holds] * 3


# -- casts ---------------------------------------------------------------------------------------


def nearest(value: Fraction, type: FloatType) -> float:
    """The nearest float of a type, ties to even, found among the candidates' exact values."""
    dtype = DTYPES[type]
    guess = dtype(float(value))
    around = [guess]
    for toward in (-np.inf, np.inf):
        around.append(np.nextafter(guess, dtype(toward)))
    finite = [g for g in around if math.isfinite(float(g))]
    bits = {2: np.uint16, 4: np.uint32, 8: np.uint64}[np.dtype(dtype).itemsize]
    return float(
        min(
            finite, key=lambda g: (abs(Fraction(float(g)) - value), int(np.array(g).view(bits)) & 1)
        )
    )


@pytest.mark.parametrize("type", [bf16, f32, f64], ids=str)
@given(value=st.integers(-(2**63), 2**63 - 1))
def test_integers_to_floats_round_once(type, value):
    assert folded(arith.SIToFP(arith.Constant.of(value, i64), out=type)) == nearest(
        Fraction(value), type
    )
    unsigned = value % 2**64
    assert folded(arith.UIToFP(arith.Constant.of(value, i64), out=type)) == nearest(
        Fraction(unsigned), type
    )


@pytest.mark.parametrize("type", [f16, bf16, f32, f64], ids=str)
@given(value=st.integers(-(2**15), 2**15 - 1))
def test_evaluated_integers_to_floats(type, value):
    assume(type is not f16 or abs(value) < 65504)
    op = arith.SIToFP(arith.Constant.of(value, i32), out=type)
    assert op.evaluate(np.int32(value)) == nearest(Fraction(value), type)
    assert op.evaluate(np.int32(value)).dtype == DTYPES[type]


@given(value=st.integers(0, 2**32 - 1))
def test_evaluated_unsigned_to_bfloat(value):
    op = arith.UIToFP(arith.Constant.of(value, i32), out=bf16)
    assert float(op.evaluate(np.uint32(value).view(np.int32))) == nearest(Fraction(value), bf16)


@pytest.mark.parametrize("type", [f16, bf16, f32], ids=str)
@given(value=st.floats(-60000, 60000, allow_nan=False))
def test_truncf_rounds_once(type, value):
    op = arith.TruncF(constant(value, f64), out=type)
    expected = nearest(Fraction(value), type)
    assert folded(op) == expected
    assert float(op.evaluate(np.float64(value))) == expected


def test_truncf_ties_that_double_rounding_breaks():
    """Just above a tie of bf16, by less than f32 can see."""
    value = 1 + 2.0**-8 + 2.0**-40
    op = arith.TruncF(constant(value, f64), out=bf16)
    assert folded(op) == float(op.evaluate(np.float64(value))) == 1 + 2.0**-7
    exact_tie = arith.TruncF(constant(1 + 2.0**-8, f64), out=bf16)
    assert folded(exact_tie) == float(exact_tie.evaluate(np.float64(1 + 2.0**-8))) == 1.0


def test_truncf_with_another_rounding_mode_is_left_alone():
    assert arith.TruncF(constant(1.1, f64), "upward", out=f32).fold() is None


@given(value=st.floats(width=16))
def test_extf(value):
    op = arith.ExtF(constant(value, f16), out=f64)
    assert equal(folded(op), value)
    assert equal(op.evaluate(np.float16(value)), value)


@given(value=numbers(f32))
def test_floats_to_integers(value):
    for op_class, low, high in ((arith.FPToSI, -(2**31), 2**31 - 1), (arith.FPToUI, 0, 2**32 - 1)):
        op = op_class(constant(value, f32), out=i32)
        if math.isnan(value) or math.isinf(value) or not low <= math.trunc(value) <= high:
            assert op.fold() is None
            continue
        assert folded(op) % 2**32 == math.trunc(value) % 2**32
        assert int(op.evaluate(np.float32(value))) == folded(op)


@given(value=st.integers(-(2**31), 2**31 - 1))
def test_bitcasts(value):
    bits = np.int32(value)
    op = arith.Bitcast(arith.Constant.of(value, i32), out=f32)
    assert np.asarray(op.evaluate(bits)).view(np.int32) == bits
    found = op.fold()
    if found is not None:
        assert int.from_bytes(f32.to_bytes(found[0].value), "little", signed=True) == value
        back = arith.Bitcast(arith.Constant(found[0]), out=i32)
        assert folded(back) == value
    assert arith.Bitcast(op, out=i32).fold() == [op.input]


def test_bitcast_of_a_vector():
    op = arith.Bitcast(arith.Constant.of(1.0, VectorType((4,), f32)), out=VectorType((4,), i32))
    assert op.fold() == [DenseElements.splat(0x3F800000, VectorType((4,), i32))]


def test_scaled_floats():
    scale = FloatType("f8E8M0FNU")
    narrow = FloatType("f8E5M2")
    ext = arith.ScalingExtF(constant(1.5, narrow), constant(8.0, scale), out=f32)
    assert ext.evaluate(ml_dtypes.float8_e5m2(1.5), ml_dtypes.float8_e8m0fnu(8.0)) == np.float32(
        12.0
    )
    trunc = arith.ScalingTruncF(constant(12.0, f32), constant(8.0, scale), out=narrow)
    assert float(trunc.evaluate(np.float32(12.0), ml_dtypes.float8_e8m0fnu(8.0))) == 1.5
    # Of a scale that is no power of two only the exponent counts.
    loose = arith.ScalingExtF(constant(1.5, f16), constant(9.5, f16), out=f32)
    assert loose.evaluate(np.float16(1.5), np.float16(9.5)) == np.float32(12.0)


# -- select ----------------------------------------------------------------------------------------


def test_select():
    x, y = arith.NegF(arith.Constant.of(1.0, f32)), arith.NegF(arith.Constant.of(2.0, f32))
    true, false = arith.Constant.of(1, i1), arith.Constant.of(0, i1)
    unknown = arith.CmpF("olt", x, y)
    assert arith.Select(true, x, y).fold() == [x.result]
    assert arith.Select(false, x, y).fold() == [y.result]
    assert arith.Select(unknown, x, x).fold() == [x.result]
    assert arith.Select(unknown, true, false).fold() == [unknown.result]
    assert arith.Select(unknown, x, y).fold() is None
    mask = arith.Constant(DenseElements.from_list([1, 0, 1], VectorType((3,), i1)))
    three = VectorType((3,), i8)
    a = arith.Constant(DenseElements.from_list([1, 2, 3], three))
    b = arith.Constant(DenseElements.from_list([4, 5, 6], three))
    assert arith.Select(mask, a, b).fold()[0].values() == [1, 5, 3]
    assert arith.Select(mask, a, b).evaluate(
        np.array([True, False, True]), np.array([1, 2, 3], np.int8), np.array([4, 5, 6], np.int8)
    ).tolist() == [1, 5, 3]


def test_large_constants_are_not_folded():
    type = VectorType((4096,), IntegerType(8))
    big = arith.Constant(DenseElements.from_list([i % 7 for i in range(4096)], type))
    assert arith.AddI(big, big).fold() is None
    splat = arith.Constant.of(3, type)
    assert arith.AddI(splat, splat).fold()[0].values() == [6]
