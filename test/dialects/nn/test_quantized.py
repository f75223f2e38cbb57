"""Packed integers and products with them, against sums that NumPy makes of single numbers."""

from __future__ import annotations

import nnc
import numpy as np
import pytest
from nnc.dialects import nn
from nnc.ir.core import Block
from nnc.ir.diagnostics import VerifyError
from nnc.ir.types import IntegerType, TensorType, f32, i32

from .reference import run

BYTE = IntegerType(8, "u")


def groups(rng, bits: int, rows: int, count: int, size: int):
    """Integers [rows, groups, size] as bytes, a scale and an offset for each group."""
    numbers = rng.integers(0, 1 << bits, (rows, count, size), np.uint8)
    apart = numbers.reshape(rows, count, -1, 8 // bits)
    packed = sum(apart[..., i] << (i * bits) for i in range(8 // bits)).astype(np.uint8)
    scale = rng.uniform(0.1, 0.5, (rows, count)).astype(np.float32)
    offset = rng.standard_normal((rows, count)).astype(np.float32)
    return numbers.astype(np.float64), packed, scale, offset


@pytest.mark.parametrize("bits", [2, 4, 8])
@pytest.mark.parametrize("has_offset", [False, True])
def test_dequantize(rng, bits, has_offset):
    numbers, packed, scale, offset = groups(rng, bits, 5, 3, 16)
    if has_offset:
        wanted = numbers * scale[..., None] + offset[..., None]
        got = run(lambda *v: nn.Dequantize(*v, bits=bits), packed, scale, offset)
    else:
        half = scale.astype(np.float16)
        wanted = (numbers - 3) * half.astype(np.float64)[..., None]
        got = run(lambda *v: nn.Dequantize(*v, bits=bits, middle=3), packed, half)
    np.testing.assert_allclose(got.reshape(5, 3, 16), wanted, rtol=1e-5, atol=1e-5)


@pytest.mark.parametrize("bits", [2, 4, 8])
@pytest.mark.parametrize("has_offset", [False, True])
def test_quantized_matmul(rng, bits, has_offset):
    numbers, packed, scale, offset = groups(rng, bits, 32, 3, 16)
    words = packed.view(np.int32).reshape(2, 16, 3, -1).transpose(0, 2, 3, 1).copy()
    x = rng.standard_normal((2, 3, 48)).astype(np.float32)
    lhs = x.reshape(2, 3, 3, -1, 32 // bits)
    scales, offsets = (a.reshape(2, 16, 3).transpose(0, 2, 1).copy() for a in (scale, offset))
    middle = 0 if has_offset else 1 << (bits - 1)
    given = (lhs, words, scales, offsets)[: 3 + has_offset]
    got = run(lambda *v: nn.QuantizedMatmul(*v, bits=bits, middle=middle), *given)
    moved = offset if has_offset else -middle * scale
    matrix = (numbers * scale[..., None] + moved[..., None]).reshape(32, 48)
    wanted = x @ matrix.T
    np.testing.assert_allclose(got.reshape(wanted.shape), wanted, rtol=1e-5, atol=1e-4)
    real = run(lambda *v: nn.DequantizeWords(*v, bits=bits, middle=middle), *given[1:])
    got = run(nn.UnpackedMatmul, lhs, real)
    np.testing.assert_allclose(got.reshape(wanted.shape), wanted, rtol=1e-5, atol=1e-4)


@pytest.mark.parametrize("bits", [2, 4, 8])
@pytest.mark.parametrize("has_offset", [False, True])
def test_quantized_byte_matmul(rng, bits, has_offset):
    numbers, packed, scale, offset = groups(rng, bits, 32, 3, 64)
    each, count = 8 // bits, bits
    steps = 64 // (32 // bits) // count
    words = packed.view(np.int32).reshape(2, 16, 3, steps, count).transpose(0, 2, 3, 4, 1).copy()
    x = rng.integers(-128, 128, (2, 5, 3, steps, count, 4, each)).astype(np.int8)
    lhs = np.ascontiguousarray(x.swapaxes(-1, -2)).view("<i4")[..., 0]
    x = x.reshape(2, 5, 3, steps, -1)
    row_scale = rng.uniform(0.1, 0.5, x.shape[:-1]).astype(np.float32)
    scales, offsets = (a.reshape(2, 16, 3).transpose(0, 2, 1).copy() for a in (scale, offset))
    start = x.sum(-1, dtype=np.int32) * (1 if has_offset else -3)
    given = (lhs, words, start, row_scale, scales, offsets)[: 5 + has_offset]
    got = run(lambda *v: nn.QuantizedByteMatmul(*v, bits=bits), *given)
    moved = offset if has_offset else -3 * scale
    matrix = (numbers * scale[..., None] + moved[..., None]).reshape(32, -1)
    wanted = (x * row_scale[..., None].astype(np.float64)).reshape(2, 5, -1) @ matrix.T
    within = 1e-6 * np.abs(wanted).max()
    np.testing.assert_allclose(got.reshape(wanted.shape), wanted, rtol=0, atol=within)


TEXT = """
func.func @main(%x: tensor<{rows}x64xf32>) -> tensor<{rows}x40xf32> {{
  %bytes = nn.constant dense<{bytes}> : tensor<40x2x{width}xui8>
  %scale = nn.constant dense<{scale}> : tensor<40x2xf32>
  %0 = nn.dequantize %bytes, %scale {{bits = {bits} : i64, middle = {middle} : i64}} : (tensor<40x2x{width}xui8>, tensor<40x2xf32>) -> tensor<40x2x{width}x{each}xf32>
  %1 = nn.reshape %0 : (tensor<40x2x{width}x{each}xf32>) -> tensor<40x64xf32>
  %w = nn.transpose %1 {{permutation = array<i64: 1, 0>}} : (tensor<40x64xf32>) -> tensor<64x40xf32>
  %y = nn.matmul %x, %w : (tensor<{rows}x64xf32>, tensor<64x40xf32>) -> tensor<{rows}x40xf32>
  return %y : tensor<{rows}x40xf32>
}}
"""


@pytest.mark.sampled(3)
@pytest.mark.parametrize("bits", [2, 4, 8])
@pytest.mark.parametrize("rows", ["?", 37])
def test_compiled_for_any_number_of_rows(rng, rows, bits, tmp_path):
    numbers, packed, scale, _ = groups(rng, bits, 40, 2, 32)
    middle = 1 << (bits - 1)
    file = tmp_path / "model.mlir"
    file.write_text(
        TEXT.format(
            bytes=packed.tolist(), scale=scale.tolist(), bits=bits, middle=middle,
            width=packed.shape[2], each=8 // bits, rows=rows,
        )
    )  # fmt: skip
    model = nnc.compile(file)
    matrix = ((numbers - middle) * scale[..., None]).reshape(40, 64)
    for count in (1, 2, 5, 13, 16) if rows == "?" else (rows,):
        x = rng.standard_normal((count, 64)).astype(np.float32)
        np.testing.assert_allclose(model(x), x @ matrix.T, rtol=1e-4, atol=1e-3)


@pytest.mark.parametrize(
    ("x", "scale", "bits", "message"),
    [
        (TensorType((3, 4), i32), TensorType((3,), f32), 4, "expected integers in bytes"),
        (TensorType((3, 4), BYTE), TensorType((3,), f32), 3, "integers of 3 bits are not packed"),
        (TensorType((3, 4), BYTE), TensorType((2,), f32), 4, "scale has 2 but x has 3"),
    ],
)
def test_dequantize_is_verified(x, scale, bits, message):
    with pytest.raises(VerifyError, match=message):
        nn.Dequantize(*Block([x, scale]).args, bits=bits)


@pytest.mark.parametrize(
    ("changed", "message"),
    [
        ({0: TensorType((1, 2, 1, 4, 2), f32)}, "expected integers of i32"),
        ({0: TensorType((1, 2, 1, 4, 4), i32)}, "does not hold the bytes for integers of 4 bits"),
        ({0: TensorType((1, 2, 1, 2, 2), i32)}, "has other words in a step"),
        ({"packing": "none"}, "4 bits as 'none' are not multiplied"),
        ({"bits": 3}, "3 bits as 'u8s8' are not multiplied"),
    ],
)
def test_products_of_bytes_are_verified(changed, message):
    types = [TensorType((1, 2, 1, 4, 2), i32), TensorType((1, 2, 1, 4, 16), i32)]
    types += [TensorType((1, 2, 1), i32), TensorType((1, 2, 1), f32), TensorType((1, 2, 16), f32)]
    operands = Block([changed.pop(i, type) for i, type in enumerate(types)]).args
    with pytest.raises(VerifyError, match=message):
        nn.QuantizedByteMatmul(*operands, **changed)


def test_rows_of_a_word_lie_side_by_side():
    types = [TensorType((1, 2, 4, 4), f32), TensorType((1, 2, 4, 16), i32)]
    block = Block([*types, TensorType((1, 2, 16), f32)])
    with pytest.raises(VerifyError, match="does not hold the rows of a word side by side"):
        nn.QuantizedMatmul(*block.args)
