"""Elementwise ops against the ONNX reference implementation and NumPy."""

from __future__ import annotations

import math

import ml_dtypes
import nnc
import numpy as np
import pytest
from nnc.dialects import nn
from nnc.ir.diagnostics import VerifyError
from nnc.ir.syntax.parser import parse_module
from nnc.ir.types import TensorType, bf16, f32, i1, i8, i32, i64

from .reference import close, reference, run

SHAPES = [
    ((3, 5), (3, 5)),
    ((3, 5), (5,)),
    ((3, 1), (1, 5)),
    ((), (3, 5)),
    ((), ()),
    ((0, 5), (1, 5)),
    ((1, 7, 1), (3, 1, 2)),
    ((0,), ()),
]

BINARY = {
    "Add": nn.Add,
    "Sub": nn.Sub,
    "Mul": nn.Mul,
    "Div": nn.Div,
    "Equal": nn.Equal,
    "Less": nn.Less,
    "LessOrEqual": nn.LessEqual,
    "Greater": nn.Greater,
    "GreaterOrEqual": nn.GreaterEqual,
    "Min": nn.Min,
    "Max": nn.Max,
}


@pytest.mark.parametrize("shapes", SHAPES, ids=str)
@pytest.mark.parametrize("name", BINARY)
def test_binary(rng, name, shapes):
    a, b = (rng.standard_normal(s).astype(np.float32) for s in shapes)
    close(run(BINARY[name], a, b), reference(name, a, b))


@pytest.mark.parametrize("dtype", [np.float16, np.float64, np.int8, np.int32, np.int64, np.uint8])
@pytest.mark.parametrize("name", ["Add", "Sub", "Mul", "Less", "Equal", "Max", "Min"])
def test_binary_types(rng, name, dtype):
    a, b = (rng.integers(0, 100, (4, 3)).astype(dtype) for _ in range(2))
    close(run(BINARY[name], a, b), reference(name, a, b))


@pytest.mark.parametrize("name", ["Add", "Sub", "Mul", "Div", "Max"])
def test_bf16_rounds_once(rng, name):
    a, b = (rng.standard_normal((4, 3)).astype(ml_dtypes.bfloat16) for _ in range(2))
    function = {"Add": np.add, "Sub": np.subtract, "Mul": np.multiply, "Div": np.divide}
    wide = function.get(name, np.maximum)(a.astype(np.float32), b.astype(np.float32))
    found = run(BINARY[name], a, b)
    assert found.dtype == ml_dtypes.bfloat16
    np.testing.assert_array_equal(found, wide.astype(ml_dtypes.bfloat16))


@pytest.mark.parametrize("dtype", [np.int8, np.int32, np.int64, np.uint8])
def test_integer_division_truncates(rng, dtype):
    low = 0 if dtype == np.uint8 else -100
    a, b = (rng.integers(low, 100, 200).astype(dtype) for _ in range(2))
    expected = [math.trunc(x / y) if y else 0 for x, y in zip(a.tolist(), b.tolist(), strict=True)]
    np.testing.assert_array_equal(run(nn.Div, a, b), expected)


@pytest.mark.parametrize(
    "dtype,fmod",
    [(d, f) for d in (np.int8, np.int32, np.uint8) for f in (False, True)] + [(np.float32, True)],
)
def test_mod(rng, dtype, fmod):
    low = 0 if dtype == np.uint8 else -50
    a = rng.integers(low, 50, 100).astype(dtype)
    b = rng.integers(low // 5, 9, 100).astype(dtype)
    b[b == 0] = 3
    close(run(lambda x, y: nn.Mod(x, y, fmod=fmod), a, b), reference("Mod", a, b, fmod=int(fmod)))


def test_pow_types(rng):
    base = rng.random((3, 4)).astype(np.float32)
    for exponent in (np.float32(2.5), np.int64(3), np.float32(-1)):
        exponent = np.asarray(exponent)
        close(run(nn.Pow, base, exponent), reference("Pow", base, exponent))
    integers = rng.integers(1, 5, (3, 4)).astype(np.int32)
    close(run(nn.Pow, integers, np.asarray(np.int64(3))), integers**3)
    close(run(nn.Pow, integers, np.asarray(np.float32(0.5))), np.trunc(integers**0.5))


def test_powers_of_a_half_are_no_square_roots():
    base = np.array([-np.inf, -0.0, np.inf, 4, -4], np.float32)
    wanted = np.array([math.pow(x, 0.5) for x in base[:4]] + [np.nan], np.float32)
    for exponent in (np.float32(0.5), np.full(5, 0.5, np.float32)):
        found = run(nn.Pow, base, np.asarray(exponent))
        np.testing.assert_array_equal(found, wanted)
        assert not np.signbit(found[1])


@pytest.mark.parametrize("name,op", [("And", nn.And), ("Or", nn.Or), ("Xor", nn.Xor)])
def test_logic(rng, name, op):
    a, b = (rng.random((3, 4)) < 0.5 for _ in range(2))
    close(run(op, a, b), reference(name, a, b))
    x, y = (rng.integers(0, 255, (3, 4)).astype(np.uint8) for _ in range(2))
    close(run(op, x, y), reference(f"Bitwise{name}", x, y))


@pytest.mark.parametrize("direction,op", [("LEFT", nn.ShiftLeft), ("RIGHT", nn.ShiftRight)])
@pytest.mark.parametrize("dtype", [np.uint8, np.uint32, np.uint64])
def test_shift(rng, dtype, direction, op):
    a = rng.integers(0, 200, 50).astype(dtype)
    b = rng.integers(0, 8, 50).astype(dtype)
    close(run(op, a, b), reference("BitShift", a, b, direction=direction))


def test_shift_past_the_width():
    a, b = np.array([-8, 8], np.int32), np.array([40, 40], np.int32)
    np.testing.assert_array_equal(run(nn.ShiftRight, a, b), [-1, 0])
    np.testing.assert_array_equal(run(nn.ShiftLeft, a, b), [0, 0])


UNARY = {
    "Neg": nn.Neg,
    "Abs": nn.Abs,
    "Exp": nn.Exp,
    "Ceil": nn.Ceil,
    "Floor": nn.Floor,
    "Round": nn.Round,
    "Sign": nn.Sign,
    "Sin": nn.Sin,
    "Cos": nn.Cos,
    "Tan": nn.Tan,
    "Asin": nn.Asin,
    "Acos": nn.Acos,
    "Atan": nn.Atan,
    "Sinh": nn.Sinh,
    "Cosh": nn.Cosh,
    "Asinh": nn.Asinh,
    "Atanh": nn.Atanh,
    "Erf": nn.Erf,
    "Tanh": nn.Tanh,
    "Sigmoid": nn.Sigmoid,
    "Relu": nn.Relu,
    "Softplus": nn.Softplus,
    "Softsign": nn.Softsign,
    "Mish": nn.Mish,
    "HardSwish": nn.HardSwish,
    "Elu": nn.Elu,
    "Selu": nn.Selu,
    "Celu": nn.Celu,
    "LeakyRelu": nn.LeakyRelu,
    "ThresholdedRelu": nn.ThresholdedRelu,
    "HardSigmoid": nn.HardSigmoid,
    "Gelu": nn.Gelu,
}
POSITIVE = {"Log": nn.Log, "Sqrt": nn.Sqrt, "Reciprocal": nn.Reciprocal, "Acosh": nn.Acosh}


@pytest.mark.parametrize("shape", [(), (0,), (1,), (3, 7)], ids=str)
@pytest.mark.parametrize("name", [*UNARY, *POSITIVE])
def test_unary(rng, name, shape):
    x = np.asarray(rng.uniform(-0.95, 0.95, shape), np.float32)
    if name in POSITIVE:
        x = x + np.float32(2)
    elif not name.startswith(("A", "Abs")):
        x = x * np.float32(3)
    if name == "Softsign":  # the reference fails on 0-d operands
        close(run(nn.Softsign, x), x / (1 + np.abs(x)))
    else:
        close(run((UNARY | POSITIVE)[name], x), reference(name, x))


@pytest.mark.parametrize(
    "name,factory,attributes",
    [
        ("Elu", nn.Elu, {"alpha": 0.5}),
        ("Selu", nn.Selu, {"alpha": 0.5, "gamma": 2.0}),
        ("Celu", nn.Celu, {"alpha": 2.0}),
        ("LeakyRelu", nn.LeakyRelu, {"alpha": 0.25}),
        ("ThresholdedRelu", nn.ThresholdedRelu, {"alpha": 0.5}),
        ("HardSigmoid", nn.HardSigmoid, {"alpha": 0.5, "beta": 0.25}),
        ("Gelu", nn.Gelu, {"approximate": "tanh"}),
        ("Swish", nn.Swish, {"alpha": 1.5}),
    ],
)
def test_activation_attributes(rng, name, factory, attributes):
    x = (rng.standard_normal((5, 7)) * 3).astype(np.float32)
    found = run(lambda v: factory(v, **attributes), x)
    if name == "Swish":
        close(found, x / (1 + np.exp(-1.5 * x)))
    else:
        close(found, reference(name, x, **attributes))


@pytest.mark.parametrize("op", [*UNARY.values(), *POSITIVE.values(), nn.Rsqrt, nn.Swish])
def test_small_floats_keep_their_type(rng, op):
    for dtype in (np.float16, ml_dtypes.bfloat16, np.float64):
        x = rng.uniform(0.1, 0.9, (3, 4))
        wide, narrow = run(op, x), run(op, x.astype(dtype))
        if op not in (nn.Round, nn.Ceil, nn.Floor):
            close(narrow, wide)


def test_extremes_do_not_overflow():
    x = np.array([-200.0, 0.0, 200.0, np.inf, -np.inf, np.nan], np.float32)
    np.testing.assert_array_equal(run(nn.Sigmoid, x), np.array([0, 0.5, 1, 1, 0, np.nan], "f4"))
    np.testing.assert_allclose(run(nn.Softplus, x)[:3], [0, math.log(2), 200], rtol=1e-6)
    np.testing.assert_array_equal(run(nn.Relu, x), np.array([0, 0, 200, np.inf, 0, np.nan], "f4"))


def test_erf_is_as_precise_as_libm(rng):
    x = np.concatenate([rng.uniform(-7, 7, 2000), [0.46875, 4.0, -4.0, np.inf, -np.inf, np.nan, 0]])
    expected = [math.erf(v) for v in x]
    np.testing.assert_allclose(run(nn.Erf, x), expected, rtol=1e-14, atol=0)


@pytest.mark.parametrize(
    "op, function", [(nn.Erfc, math.erfc), (nn.Expm1, math.expm1), (nn.Log1p, math.log1p)]
)
def test_digits_are_kept_in_f32(op, function):
    """Compiled: where 1 is next to a small number."""
    x = np.concatenate([np.geomspace(1e-8, 8, 60), -np.geomspace(1e-8, 0.9, 60)]).astype("f4")
    text = f"""func.func @main(%x: tensor<120xf32>) -> tensor<120xf32> attributes {{nn.entry}} {{
      %y = {op.name} %x : (tensor<120xf32>) -> tensor<120xf32>
      return %y : tensor<120xf32>
    }}"""
    found = nnc.compile(parse_module(text), cache=False)(x)
    np.testing.assert_allclose(found, [function(v) for v in x.astype("f8")], rtol=1e-6, atol=0)


def test_erfc_keeps_its_digits(rng):
    x = np.concatenate(
        [rng.uniform(-7, 26, 2000), [0.46875, 4.0, -4.0, np.inf, -np.inf, np.nan, 0]]
    )
    expected = [math.erfc(v) for v in x]
    np.testing.assert_allclose(run(nn.Erfc, x), expected, rtol=2e-13, atol=0)


def test_nan_wins_in_max_and_min():
    a, b = np.array([np.nan, 1.0], np.float32), np.array([1.0, np.nan], np.float32)
    assert np.isnan(run(nn.Max, a, b)).all() and np.isnan(run(nn.Min, a, b)).all()


def test_is_nan_is_inf():
    x = np.array([1.0, np.inf, -np.inf, np.nan], np.float32)
    close(run(nn.IsNan, x), reference("IsNaN", x))
    for negative in (False, True):
        for positive in (False, True):
            found = run(
                lambda v, n=negative, p=positive: nn.IsInf(v, detect_negative=n, detect_positive=p),
                x,
            )
            expected = reference(
                "IsInf", x, detect_negative=int(negative), detect_positive=int(positive)
            )
            np.testing.assert_array_equal(found, np.asarray(expected, np.bool_))


def test_not(rng):
    close(run(nn.Not, np.array([True, False])), np.array([False, True]))
    x = rng.integers(0, 255, 9).astype(np.uint8)
    close(run(nn.Not, x), ~x)


def test_where_clip_prelu(rng):
    p, a = rng.random((3, 1)) < 0.5, rng.standard_normal((3, 4)).astype(np.float32)
    b = rng.standard_normal((4,)).astype(np.float32)
    close(run(nn.Where, p, a, b), reference("Where", p, a, b))
    low, high = np.float32(-0.5), np.float32(0.5)
    close(run(nn.Clip, a, np.asarray(low), np.asarray(high)), np.clip(a, low, high))
    slope = rng.random((4,)).astype(np.float32)
    close(run(nn.Prelu, a, slope), reference("PRelu", a, slope))


CASTS = [
    np.float16,
    np.float32,
    np.float64,
    np.int8,
    np.int32,
    np.int64,
    np.uint8,
    np.uint64,
    np.bool_,
]


@pytest.mark.parametrize("target", CASTS, ids=lambda d: np.dtype(d).name)
@pytest.mark.parametrize("source", [np.float32, np.int32, np.bool_, np.float16])
def test_cast(rng, source, target):
    from nnc.ir.numpy_types import numpy_to_type

    x = rng.uniform(0, 100, (3, 4)).astype(source)
    out = TensorType((3, 4), numpy_to_type(np.dtype(target)))
    np.testing.assert_array_equal(run(lambda v: nn.Cast(v, out=out), x), x.astype(target))


def test_cast_rounds_and_truncates():
    x = np.array([-1.7, 1.7, 0.4, -0.4, 1.001], np.float32)

    def cast(to):
        return run(lambda v: nn.Cast(v, out=TensorType((5,), to)), x)

    np.testing.assert_array_equal(cast(i32), [-1, 1, 0, 0, 1])
    np.testing.assert_array_equal(cast(i8), [-1, 1, 0, 0, 1])
    np.testing.assert_array_equal(cast(i64), [-1, 1, 0, 0, 1])
    np.testing.assert_array_equal(cast(i1), [True] * 5)
    np.testing.assert_array_equal(cast(bf16), x.astype(ml_dtypes.bfloat16))


def test_faults_name_the_op_and_the_dimension():
    from nnc.ir.core import Block

    a, b, c = Block([TensorType((3, 4), f32), TensorType((3, 5), f32), TensorType((4,), i64)]).args
    with pytest.raises(VerifyError, match=r"'nn.add' op dimension 'i1': lhs has 4 but rhs has 5"):
        nn.Add(a, b)
    with pytest.raises(VerifyError, match="different element types: 'f32' and 'i64'"):
        nn.Add(a, c)
    op = nn.Add(a, a, out=TensorType((3, 5), f32))
    with pytest.raises(VerifyError, match="infers result type 'tensor<3x4xf32>'"):
        op.verify()
