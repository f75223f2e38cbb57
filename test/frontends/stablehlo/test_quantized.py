"""Quantized tensors give what the specification's formulas give, computed here by NumPy."""

import nnc
import numpy as np
import pytest
from nnc.numerics.interpreter import Interpreter

A, B = "!quant.uniform<i8:f32, 5.000000e-02:-3>", "!quant.uniform<i8:f32, 2.000000e-02:7>"
COLUMNS = "!quant.uniform<i8<-127:127>:f32:1, {1.000000e-02,3.000000e-02,2.000000e-02}>"
RNG = np.random.default_rng(0)


def integers(x, scale, zero, low=-128, high=127):
    whole = np.round((x / np.float32(scale)).astype(np.float32)) + np.float32(zero)
    return np.clip(whole, low, high).astype(np.int8)


def numbers(q, scale, zero):
    return (q.astype(np.float32) - np.float32(zero)) * np.float32(scale)


def run(text, *inputs):
    """Compiled and interpreted."""
    module = nnc.load(text.encode())
    module.verify()
    found = nnc.compile(text.encode(), cache=False)(*inputs)
    found = list(found) if isinstance(found, tuple) else [found]
    for a, b in zip(found, Interpreter(module).call("main", list(inputs)), strict=True):
        assert a.dtype == b.dtype
        np.testing.assert_allclose(a, b, rtol=1e-6, atol=1e-6)
    return found


POINTWISE = {
    "add": np.add,
    "multiply": np.multiply,
    "maximum": np.maximum,
    "subtract": np.subtract,
}


@pytest.mark.parametrize("name", POINTWISE)
@pytest.mark.parametrize("second", [A, B])
def test_operands_of_other_scales(name, second):
    text = f"""func.func @main(%x: tensor<4x5xf32>, %y: tensor<4x5x{second}>) -> tensor<4x5x{A}> {{
      %q = stablehlo.uniform_quantize %x : (tensor<4x5xf32>) -> tensor<4x5x{B}>
      %z = stablehlo.{name} %q, %y : (tensor<4x5x{B}>, tensor<4x5x{second}>) -> tensor<4x5x{A}>
      return %z : tensor<4x5x{A}>
    }}"""
    x = RNG.standard_normal((4, 5)).astype(np.float32)
    y = RNG.integers(-128, 128, (4, 5)).astype(np.int8)
    of = {A: (0.05, -3), B: (0.02, 7)}
    wanted = POINTWISE[name](numbers(integers(x, 0.02, 7), 0.02, 7), numbers(y, *of[second]))
    (found,) = run(text, x, y)
    assert found.dtype == np.int8
    assert np.abs(found.astype(int) - integers(wanted, 0.05, -3)).max() <= 1  # ties
    assert np.mean(found != integers(wanted, 0.05, -3)) < 0.1


def test_a_layer_with_a_scale_for_each_column():
    """Weights are a constant; the sum is moved, shifted to other scales and back to numbers."""
    weight = RNG.integers(-127, 128, (6, 3)).astype(np.int8)
    wide, moved = "!quant.uniform<i32:f32, 5.000000e-04>", f"tensor<3x4x{A}>"
    text = f"""func.func @main(%x: tensor<4x6xf32>) -> (tensor<3x4xf32>, {moved}) {{
      %w = "stablehlo.constant"() <{{value = dense<{weight.tolist()}> : tensor<6x3xi8>}}> \
: () -> tensor<6x3x{COLUMNS}>
      %q = stablehlo.uniform_quantize %x : (tensor<4x6xf32>) -> tensor<4x6x{B}>
      %s = stablehlo.dot_general %q, %w, contracting_dims = [1] x [0] : \
(tensor<4x6x{B}>, tensor<6x3x{COLUMNS}>) -> tensor<4x3x{wide}>
      %r = stablehlo.uniform_quantize %s : (tensor<4x3x{wide}>) -> tensor<4x3x{A}>
      %t = stablehlo.transpose %r, dims = [1, 0] : (tensor<4x3x{A}>) -> {moved}
      %y = stablehlo.uniform_dequantize %t : ({moved}) -> tensor<3x4xf32>
      return %y, %t : tensor<3x4xf32>, {moved}
    }}"""
    x = RNG.standard_normal((4, 6)).astype(np.float32)
    scales = np.float32([0.01, 0.03, 0.02])
    product = numbers(integers(x, 0.02, 7), 0.02, 7) @ (weight * scales)
    y, t = run(text, x)
    assert np.abs(t.astype(int) - integers(product.T, 0.05, -3)).max() <= 1
    np.testing.assert_allclose(y, numbers(t, 0.05, -3), rtol=1e-6)


def test_regions_work_on_numbers():
    text = f"""func.func @main(%x: tensor<4x5x{A}>) -> tensor<4x{B}> {{
      %0 = "stablehlo.constant"() <{{value = dense<-3> : tensor<i8>}}> : () -> tensor<{A}>
      %y = "stablehlo.reduce"(%x, %0) <{{dimensions = array<i64: 1>}}> ({{
      ^bb0(%a: tensor<{A}>, %b: tensor<{A}>):
        %c = stablehlo.add %a, %b : tensor<{A}>
        stablehlo.return %c : tensor<{A}>
      }}) : (tensor<4x5x{A}>, tensor<{A}>) -> tensor<4x{B}>
      return %y : tensor<4x{B}>
    }}"""
    x = RNG.integers(-20, 20, (4, 5)).astype(np.int8)
    (found,) = run(text, x)
    wanted = integers(numbers(x, 0.05, -3).sum(1), 0.02, 7)
    assert np.abs(found.astype(int) - wanted).max() <= 1


TYPES = [
    "!quant.uniform<i8:f32, 1.000000e-01:-30>",
    "!quant.uniform<u8<1:254>:f32:0, {3.900000e-04,5.000000e-01:20}>",
    "!quant.uniform<i32:f32, 1.537725862903607E-5>",
    "!quant.uniform<i4:f16, 2.500000e-01>",
]


@pytest.mark.parametrize("type", TYPES)
def test_types_are_printed_as_mlir_opt_does(type):
    """As `mlir-opt` 22 prints it."""
    text = f"func.func private @f(tensor<2x{type}>)"
    assert text in str(nnc.parse(text))


@pytest.mark.parametrize(
    ("type", "wanted"),
    [
        ("i8:f32, -1.0", "scales must be positive"),
        ("i8:f32, true", "found 'true'"),
        ("i8:i32, 1.0", "expressed type must be a float"),
        ("f32:f32, 1.0", "type of stored integers"),
        ("i8<5:2>:f32, 1.0", "not a range of stored integers"),
        ("i8<-200:2>:f32, 1.0", "not a range of stored integers"),
        ("i64:f32, 1.0", "1 to 32 bits"),
        ("i8:f32:0, {}", "found '}'"),
        ("i8:f32", "found '>'"),
    ],
)
def test_broken_types(type, wanted):
    with pytest.raises(nnc.NncError, match=wanted):
        nnc.parse(f"func.func private @f(tensor<2x!quant.uniform<{type}>>)")


@pytest.mark.parametrize(
    ("storage", "low", "high"),
    [
        ("i32<-100:100>", -100, 100),
        ("i32", -(2**31), 2**31 - 1),
        ("u8", 0, 255),
        ("i16<-3:9>", -3, 9),
    ],
)
def test_numbers_beyond_the_integers(storage, low, high):
    type = f"tensor<5x!quant.uniform<{storage}:f32, 2.0>>"
    text = f"""func.func @main(%x: tensor<5xf32>) -> {type} {{
      %q = stablehlo.uniform_quantize %x : (tensor<5xf32>) -> {type}
      return %q : {type}
    }}"""
    x = np.float32([1e12, -1e12, 300.8, -7.6, 5.0])
    (found,) = run(text, x)
    steps = [5e11, -5e11, 150, -4, 2]
    assert found.tolist() == [min(max(int(s), low), high) for s in steps]


def test_quantized_constants_in_a_region_of_numbers():
    text = f"""func.func @main(%x: tensor<4x{A}>, %0: tensor<{A}>) -> tensor<{A}> {{
      %y = "stablehlo.reduce"(%x, %0) <{{dimensions = array<i64: 0>}}> ({{
      ^bb0(%a: tensor<{A}>, %b: tensor<{A}>):
        %k = "stablehlo.constant"() <{{value = dense<2> : tensor<i8>}}> : () -> tensor<{A}>
        %c = stablehlo.add %a, %k : tensor<{A}>
        stablehlo.return %c : tensor<{A}>
      }}) : (tensor<4x{A}>, tensor<{A}>) -> tensor<{A}>
      return %y : tensor<{A}>
    }}"""
    with pytest.raises(nnc.NncError, match="in a region of numbers"):
        nnc.load(text.encode())


def test_scales_that_do_not_fit():
    text = f"""func.func @main(%x: tensor<4x5xf32>) -> tensor<4x5x{COLUMNS}> {{
      %q = stablehlo.uniform_quantize %x : (tensor<4x5xf32>) -> tensor<4x5x{COLUMNS}>
      return %q : tensor<4x5x{COLUMNS}>
    }}"""
    with pytest.raises(nnc.NncError, match=r"scales of .* do not fit"):
        nnc.load(text.encode())
