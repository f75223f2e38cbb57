"""Conversions and orders of floats, with what JAX computes."""

import math

import ml_dtypes
import nnc
import numpy as np
import pytest

ONE_ARGUMENT = """module {{ func.func @main(%x: tensor<{n}x{given}>) -> tensor<{n}x{wanted}> {{
  %y = stablehlo.convert %x : (tensor<{n}x{given}>) -> tensor<{n}x{wanted}>
  return %y : tensor<{n}x{wanted}>
}} }}"""

INF, NAN = np.inf, np.nan


@pytest.mark.parametrize(
    ("given", "kind", "x", "wanted", "numbers"),
    [
        ("f32", np.float32, [3e9, -3e9, INF, -INF, NAN, 255.5, -0.7, 2147483520], "i32",
         [2**31 - 1, -(2**31), 2**31 - 1, -(2**31), 0, 255, 0, 2147483520]),
        ("f32", np.float32, [3e9, -3e9, INF, 5e9], "ui32", [3000000000, 0, 2**32 - 1, 2**32 - 1]),
        ("bf16", ml_dtypes.bfloat16, [65280, 65536, INF, -1], "ui16", [65280, 65535, 65535, 0]),
        ("f16", np.float16, [65504, INF, -INF, NAN], "ui32", [65504, 2**32 - 1, 0, 0]),
        ("f16", np.float16, [65504, INF, -INF], "i32", [65504, 2**31 - 1, -(2**31)]),
        ("bf16", ml_dtypes.bfloat16, [1e30, -1, 2.0**63, 258], "ui64", [2**64 - 1, 0, 2**63, 258]),
        ("f8E3M4", ml_dtypes.float8_e3m4, [15.5, -15.5, INF, -INF], "i16", [15, -15, 32767, -32768]),
    ],
)  # fmt: skip
def test_floats_beyond_the_integers(given, kind, x, wanted, numbers):
    text = ONE_ARGUMENT.format(n=len(x), given=given, wanted=wanted)
    found = nnc.compile(text.encode(), cache=False)(np.array(x, kind))
    assert found.tolist() == numbers


POWERS = [1.5, 1.49, 6, 1, 0, -0.0, -1.5, INF, -INF, NAN, 2.0**-127, 1e-45, 2.5e38, 2.6e38]


@pytest.mark.parametrize(
    ("given", "kind", "x"),
    [
        ("f32", np.float32, POWERS),
        ("f64", np.float64, POWERS),
        ("f16", np.float16, [1.5, -3, 0, INF, 65504, 6e-8]),
        ("bf16", ml_dtypes.bfloat16, POWERS),
        ("i32", np.int32, [0, 3, -3, 2**31 - 1]),
    ],
)
def test_powers_of_two(given, kind, x):
    """Only numbers above 0 have one; it is the nearest, or the least."""
    text = ONE_ARGUMENT.format(n=len(x), given=given, wanted="f8E8M0FNU")
    x = np.array(x, kind)
    found = nnc.compile(text.encode(), cache=False)(x)
    wanted = x.astype(np.float32).astype(ml_dtypes.float8_e8m0fnu)
    np.testing.assert_array_equal(found.astype(np.float32), wanted.astype(np.float32))


TOP = """module { func.func @main(%x: tensor<6xf32>) -> tensor<6xi32> {
  %v, %i = chlo.top_k(%x, k = 6) : tensor<6xf32> -> (tensor<6xf32>, tensor<6xi32>)
  return %i : tensor<6xi32>
} }"""
SORT = """module { func.func @main(%x: tensor<6xf32>) -> tensor<6xi32> {
  %n = stablehlo.iota dim = 0 : tensor<6xi32>
  %y:2 = "stablehlo.sort"(%x, %n) <{dimension = 0 : i64, is_stable = true}> ({
  ^bb0(%a: tensor<f32>, %b: tensor<f32>, %c: tensor<i32>, %d: tensor<i32>):
    %e = stablehlo.compare GT, %a, %b, TOTALORDER : (tensor<f32>, tensor<f32>) -> tensor<i1>
    stablehlo.return %e : tensor<i1>
  }) : (tensor<6xf32>, tensor<6xi32>) -> (tensor<6xf32>, tensor<6xi32>)
  return %y#1 : tensor<6xi32>
} }"""


@pytest.mark.parametrize("text", [TOP, SORT])
def test_total_order(text):
    """0 is more than -0, and NaN are the ends by their signs."""
    x = np.float32([1, NAN, NAN, 2, -0.0, 0.0])
    x[1] = -np.abs(x[1])
    x[2] = np.abs(x[2])
    found = nnc.compile(text.encode(), cache=False)(x)
    assert found.tolist() == [2, 3, 0, 5, 4, 1]


BITS = """module { func.func @main(%x: tensor<2xf64>) -> (tensor<2x64xi1>, tensor<2xf64>) {
  %y = stablehlo.bitcast_convert %x : (tensor<2xf64>) -> tensor<2x64xi1>
  %z = stablehlo.bitcast_convert %y : (tensor<2x64xi1>) -> tensor<2xf64>
  return %y, %z : tensor<2x64xi1>, tensor<2xf64>
} }"""


def test_bits_apart_and_together():
    x = np.array([1.1, -3e-200])
    wanted = np.unpackbits(x.view(np.uint8), bitorder="little").reshape(2, 64)
    bits, whole = nnc.compile(BITS.encode(), cache=False)(x)
    assert np.array_equal(bits, wanted.astype(bool)) and np.array_equal(whole, x)


SAME = """module {{ func.func @main(%x: tensor<{n}x{given}>) -> tensor<{n}x{given}> {{
  %y = stablehlo.{op} %x : tensor<{n}x{given}>
  return %y : tensor<{n}x{given}>
}} }}"""
FINITE = """module {{ func.func @main(%x: tensor<{n}x{given}>) -> tensor<{n}xi1> {{
  %y = stablehlo.is_finite %x : (tensor<{n}x{given}>) -> tensor<{n}xi1>
  return %y : tensor<{n}xi1>
}} }}"""
EIGHT_BITS = [
    ("f8E4M3FN", ml_dtypes.float8_e4m3fn),
    ("f8E4M3B11FNUZ", ml_dtypes.float8_e4m3b11fnuz),
    ("f8E5M2", ml_dtypes.float8_e5m2),
]


@pytest.mark.parametrize(("given", "kind"), EIGHT_BITS)
def test_functions_of_eight_bits(given, kind):
    """They are those of f32, rounded; types without infinity have finite numbers, too."""
    x = np.array([2.5, -2.5, 0, -3, 20, NAN, 0.125, -0.5], kind)
    wide = x.astype(np.float32)
    text = FINITE.format(n=8, given=given)
    assert nnc.compile(text.encode(), cache=False)(x).tolist() == np.isfinite(wide).tolist()
    for op, function in (("cbrt", np.cbrt), ("tanh", np.tanh)):
        found = nnc.compile(SAME.format(n=8, given=given, op=op).encode(), cache=False)(x)
        wanted = function(wide).astype(kind).astype(np.float32)
        np.testing.assert_array_equal(found.astype(np.float32), wanted)


@pytest.mark.parametrize("op", ["sign", "round_nearest_afz"])
def test_zero_keeps_its_sign(op):
    x = np.float32([-0.0, 0.0, -2, 3, NAN, -INF])
    found = nnc.compile(SAME.format(n=6, given="f32", op=op).encode(), cache=False)(x)
    np.testing.assert_array_equal(found, np.sign(x) if op == "sign" else x)
    np.testing.assert_array_equal(np.signbit(found[:2]), [True, False])


POWER = """module { func.func @main(%x: tensor<6xcomplex<f32>>, %y: tensor<6xcomplex<f32>>)
    -> (tensor<6xcomplex<f32>>, tensor<6xcomplex<f32>>) {
  %a = stablehlo.power %x, %y : tensor<6xcomplex<f32>>
  %b = stablehlo.rsqrt %x : tensor<6xcomplex<f32>>
  return %a, %b : tensor<6xcomplex<f32>>, tensor<6xcomplex<f32>>
} }"""


def test_complex_powers():
    """What JAX computes: x**0 is 1 for every x, 0**-1 is NaN, 1 / sqrt of infinite numbers is 0."""
    x = np.array([0, complex(INF, 1), 2j, complex(0, INF), 0, 0], "F")
    y = np.array([0, 0, 2, 1, 3, -1], "F")
    power, inverse = nnc.compile(POWER.encode(), cache=False)(x, y)
    np.testing.assert_allclose(power[:3], [1, 1, -4], rtol=1e-5, atol=1e-5)
    np.testing.assert_array_equal(power[4:], [0, complex(NAN, NAN)])
    np.testing.assert_allclose(inverse[1:4], [0, 0.5 - 0.5j, 0], rtol=1e-5, atol=1e-6)


@pytest.mark.parametrize(
    ("given", "kind", "width"), [("i4", "int4", 4), ("ui4", "uint4", 4), ("ui8", "uint8", 8)]
)
def test_bits_of_narrow_integers(given, kind, width):
    x = np.arange(16).astype(getattr(ml_dtypes, kind, kind))
    bits = [f"{int(v) & (1 << width) - 1:0{width}b}" for v in x]
    wanted = {"popcnt": [b.count("1") for b in bits]}
    wanted["count_leading_zeros"] = [width - len(b.lstrip("0")) for b in bits]
    for op, numbers in wanted.items():
        found = nnc.compile(SAME.format(n=16, given=given, op=op).encode(), cache=False)(x)
        assert found.astype(np.int64).tolist() == numbers


DIGAMMA = {0.5: -1.9635100260214235, 1.0: -0.5772156649015329, 2.0: 0.42278433509846714,
           3.0: 0.9227843350984671, -0.5: 0.03648997397857652}  # fmt: skip
I1E = {1.0: 0.2079104153497085, -1.0: -0.2079104153497085, 0.5: 0.1564208032, 4.0: 0.1787508395}
"""Source: Abramowitz and Stegun, tables 6.1, 9.8 and formula 6.3.4"""


@pytest.mark.parametrize(
    ("name", "numbers"),
    [
        ("lgamma", {x: math.lgamma(x) for x in (0.75, 1.25, 1.5, 1.75, 2.25, 2.5, 5.0, -0.75)}),
        ("digamma", DIGAMMA),
        ("bessel_i1e", I1E),
    ],
)
@pytest.mark.parametrize(
    ("element", "kind", "bits"), [("bf16", ml_dtypes.bfloat16, 8), ("f16", np.float16, 11)]
)
def test_special_functions_of_halves_are_computed_with_more_bits(
    name, numbers, element, kind, bits
):
    """Each result is the function's, rounded once."""
    tensor = f"tensor<{len(numbers)}x{element}>"
    text = f"""module {{ func.func @main(%x: {tensor}) -> {tensor} {{
      %y = chlo.{name} %x : {tensor} -> {tensor}
      return %y : {tensor}
    }} }}"""
    found = nnc.compile(text.encode(), cache=False)(np.array(list(numbers), kind))
    wanted = np.array(list(numbers.values()))
    unit = 2.0 ** (np.floor(np.log2(np.abs(wanted))) + 1 - bits)
    assert (np.abs(found.astype(np.float64) - wanted) <= 0.51 * unit).all()
