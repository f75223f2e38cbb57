"""Casts to and from floats of 8 and 4 bits and integers of 4 and 2, over all bit patterns.

Three ways have to agree with ml_dtypes: the semantics of nn.cast, the arithmetic on bits that it
is lowered to, as interpreted, and machine code.
"""

from __future__ import annotations

import itertools

import ml_dtypes
import nnc
import numpy as np
import pytest
from nnc.dialects import nn
from nnc.ir.core import Block
from nnc.ir.numpy_types import numpy_to_type, type_to_numpy
from nnc.ir.small_floats import encode
from nnc.ir.syntax.parser import parse_module
from nnc.ir.types import FloatType, TensorType
from nnc.lowering.nn_to_linalg.storage import storage_type
from onnx import numpy_helper

from .running import lowered, run_lowered

FLOATS = {
    "f8E4M3FN": ml_dtypes.float8_e4m3fn,
    "f8E4M3FNUZ": ml_dtypes.float8_e4m3fnuz,
    "f8E5M2": ml_dtypes.float8_e5m2,
    "f8E5M2FNUZ": ml_dtypes.float8_e5m2fnuz,
    "f4E2M1FN": ml_dtypes.float4_e2m1fn,
}
POWERS = ml_dtypes.float8_e8m0fnu
INTEGERS = {
    "i4": ml_dtypes.int4,
    "ui4": ml_dtypes.uint4,
    "i2": ml_dtypes.int2,
    "ui2": ml_dtypes.uint2,
}
BYTES = np.arange(256).astype(np.uint8)
HALVES = np.arange(1 << 16).astype(np.uint16).view(np.float16)


def patterns(kind: str) -> np.ndarray:
    """Every value of a small float, 16 times where there are 16."""
    return (BYTES & 15 if kind == "f4E2M1FN" else BYTES).view({**FLOATS, "f8E8M0FNU": POWERS}[kind])


def rounded(numbers: np.ndarray, kind: str) -> np.ndarray:
    """f32 as a small float by ml_dtypes, of which f4E2M1FN knows no NaN, but zeros of either sign."""
    if kind == "f4E2M1FN":
        numbers = np.where(np.isnan(numbers), np.float32(np.nan), numbers)
    return numbers.astype(FLOATS[kind])


def singles() -> np.ndarray:
    """A fifth of f16 as f32, their neighbours, and random bits."""
    bits = HALVES[::5].astype(np.float32).view(np.uint32)
    random = np.random.default_rng(0).integers(0, 1 << 32, 1 << 14, np.uint32)
    return np.concatenate([bits, bits + 1, bits - 1, random]).view(np.float32)


def text_of(source: np.ndarray, target: str, rules: str) -> str:
    element = numpy_to_type(source.dtype)
    types = f"tensor<{source.size}x{element}>", f"tensor<{source.size}x{target}>"
    return f"""
func.func @main(%x: {types[0]}) -> {types[1]}
    attributes {{nn.entry, nn.input_names = ["x"], nn.output_names = ["y"]}} {{
  %y = nn.cast %x {rules} : ({types[0]}) -> {types[1]}
  return %y : {types[1]}
}}"""


def three_ways(source: np.ndarray, target: str, rules: str = "") -> list[np.ndarray]:
    """nn.cast by its semantics, lowered and interpreted, and compiled."""
    text = text_of(source, target, rules)
    module = parse_module(text)
    (function,) = module.body_block
    cast = next(op for op in function.walk() if isinstance(op, nn.Cast))
    result = cast.out.type
    with np.errstate(all="ignore"):
        semantics = np.asarray(cast.evaluate(source))
        stored = source.view(type_to_numpy(storage_type(cast.x.type.element_type)))
        (interpreted,) = run_lowered(lowered(text), [result], [stored])
    dtype = type_to_numpy(result.element_type)
    return [semantics, interpreted.view(dtype), np.asarray(nnc.compile(module)(source))]


def check(found: np.ndarray, wanted: np.ndarray) -> None:
    """The same bits, also of NaN; of integers below a byte, those that count."""
    assert found.dtype == wanted.dtype
    if "int" in wanted.dtype.name:
        np.testing.assert_array_equal(found.astype(np.int64), wanted.astype(np.int64))
        return
    bits = f"u{wanted.dtype.itemsize}"
    np.testing.assert_array_equal(found.view(bits), wanted.view(bits))


@pytest.mark.sampled(3)
@pytest.mark.parametrize("saturate", [True, False])
@pytest.mark.parametrize("kind", FLOATS)
def test_floats_become_small_ones(kind, saturate):
    info = ml_dtypes.finfo(FLOATS[kind])
    rules = "" if saturate else "{saturate = false}"
    for source in (HALVES, singles(), HALVES[::7].astype(np.float64)):
        with np.errstate(all="ignore"):
            real = source.astype(np.float32)
            limited = np.clip(real, np.float32(info.min), np.float32(info.max))
            real = limited if saturate else real
            wanted = rounded(real, kind)
        for found in three_ways(source, kind, rules):
            check(found, wanted)


@pytest.mark.parametrize("kind", FLOATS)
def test_doubles_are_rounded_once(kind):
    """A number just above the middle of two is nearer to the upper; in f32 it would be the middle."""
    codes = BYTES[: 0x70 if kind != "f4E2M1FN" else 7]
    numbers = codes.view(FLOATS[kind]).astype(np.float64)
    middles = (numbers[1:] + numbers[:-1]) / 2
    source = np.concatenate([middles, middles * (1 + 2**-40), middles * (1 - 2**-40)])
    wanted = [encode(float(v), FloatType(kind)) for v in source]
    for found in three_ways(source, kind):
        np.testing.assert_array_equal(found.view(np.uint8), wanted)


@pytest.mark.sampled(5)
@pytest.mark.parametrize("target", ["f16", "f32", "f64", "bf16"])
@pytest.mark.parametrize("kind", [*FLOATS, "f8E8M0FNU"])
def test_small_floats_become_floats(kind, target):
    source = patterns(kind)
    dtype = ml_dtypes.bfloat16 if target == "bf16" else np.dtype(f"float{target[1:]}")
    with np.errstate(all="ignore"):
        wanted = source.astype(np.float32).astype(dtype)
    for found in three_ways(source, target):
        check(found, wanted)


@pytest.mark.parametrize("mode", ["up", "down", "nearest"])
def test_floats_become_powers_of_two(mode):
    rng = np.random.default_rng(0)
    # From 2**-126 on, where ONNX's own conversion takes no subnormal for 2**-127.
    bits = rng.integers(1 << 23, 0x7F000001, 1 << 14, np.uint32)
    edges = (np.arange(1, 254, dtype=np.uint32) << 23)[:, None]
    edges = edges + np.array([0, 1, 0x3FFFFF, 0x400000, 0x400001, 0x7FFFFF], np.uint32)
    source = np.concatenate([bits, edges.reshape(-1)]).view(np.float32)
    wanted = numpy_helper.to_float8e8m0(source, True, mode)
    for values in (source, source.astype(np.float64)):
        for found in three_ways(values, "f8E8M0FNU", f'{{round_mode = "{mode}"}}'):
            np.testing.assert_array_equal(found.view(np.uint8), wanted.view(np.uint8))


EDGES = np.array(
    [0.0, 2.0**-149, 2.0**-128, 0.7 * 2.0**-127, 0.8 * 2.0**-127, 2.0**-127, 1.1 * 2.0**-127,
     1.6 * 2.0**-127, 2.0**-126, 2.0**127, 1.2 * 2.0**127, 1.6 * 2.0**127, np.inf, np.nan],
    np.float32,
)  # fmt: skip


@pytest.mark.parametrize(
    ("rules", "wanted"),
    [
        ('"up", saturate = true', [0, 0, 0, 0, 0, 0, 1, 1, 1, 254, 254, 254, 254, 255]),
        ('"up", saturate = false', [255, 0, 0, 0, 0, 0, 1, 1, 1, 254, 255, 255, 255, 255]),
        ('"down", saturate = true', [0, 0, 0, 0, 0, 0, 0, 0, 1, 254, 254, 254, 254, 255]),
        (
            '"down", saturate = false',
            [255, 255, 255, 255, 255, 0, 0, 0, 1, 254, 254, 254, 255, 255],
        ),
        ('"nearest", saturate = true', [0, 0, 0, 0, 0, 0, 0, 1, 1, 254, 254, 254, 254, 255]),
        (
            '"nearest", saturate = false',
            [255, 255, 255, 255, 0, 0, 0, 1, 1, 254, 254, 255, 255, 255],
        ),
    ],
)
def test_what_no_power_of_two_is_near(rules, wanted):
    """ONNX's table for Cast-24: zero and infinity are the least and largest, or NaN."""
    for source in (EDGES, EDGES.astype(np.float64)):
        for found in three_ways(source, "f8E8M0FNU", f"{{round_mode = {rules}}}"):
            np.testing.assert_array_equal(found.view(np.uint8), wanted)


@pytest.mark.sampled(2)
@pytest.mark.parametrize("kind", INTEGERS)
def test_integers_lose_their_high_bits(kind):
    sources = [BYTES, BYTES.view(np.int8), np.arange(-40000, 40000, 7, dtype=np.int32)]
    sources += [np.arange(-40, 40, dtype=np.float32) / 2, np.array([True, False])]
    for source in sources:
        wanted = np.trunc(source).astype(np.int32).astype(INTEGERS[kind])
        for found in three_ways(source, kind):
            check(found, wanted)


@pytest.mark.sampled(3)
@pytest.mark.parametrize("target", ["i8", "ui8", "i64", "f16", "f32", "i1", "f8E4M3FN", "ui2"])
@pytest.mark.parametrize("kind", INTEGERS)
def test_small_integers_become_others(kind, target):
    source = BYTES.view(INTEGERS[kind])
    dtype = type_to_numpy(parse_module(f"func.func private @f(tensor<1x{target}>)")
                          .body_block.first.function_type.inputs[0].element_type)  # fmt: skip
    numbers = source.astype(np.int64)
    wanted = numbers != 0 if target == "i1" else numbers.astype(np.float32).astype(dtype)
    if target == "ui8":
        wanted = numbers.astype(np.uint8)
    if target == "ui2":
        wanted = numbers.astype(np.int32).astype(dtype)
    for found in three_ways(source, target):
        check(found, wanted)


@pytest.mark.sampled(3)
@pytest.mark.parametrize(("kind", "target"), itertools.pairwise([*FLOATS, *FLOATS]))
def test_small_floats_become_each_other(kind, target):
    source = patterns(kind)
    with np.errstate(all="ignore"):
        wanted = rounded(source.astype(np.float32), target)
    for found in three_ways(source, target, "{saturate = false}"):
        check(found, wanted)


PAIRS = [
    ("f32", "i32"), ("i32", "f32"), ("f64", "i64"), ("ui64", "f64"), ("f16", "i16"),
    ("bf16", "ui16"), ("i16", "bf16"), ("f16", "bf16"), ("ui32", "i32"), ("i8", "ui8"),
    ("f8E5M2", "i8"), ("ui8", "f8E4M3FN"), ("f8E8M0FNU", "f8E4M3FNUZ"), ("i1", "ui8"),
    ("i4", "ui4"), ("ui4", "f4E2M1FN"), ("f4E2M1FN", "i4"), ("i2", "ui2"), ("ui2", "i2"),
]  # fmt: skip


@pytest.mark.parametrize(("source", "target"), PAIRS)
def test_bits_stay(source, target):
    module = parse_module(f"func.func private @f(tensor<9x{source}>, tensor<9x{target}>)")
    types = module.body_block.first.function_type.inputs
    given = type_to_numpy(types[0].element_type)
    width = getattr(types[0].element_type, "width", 8)
    most = 2 if source == "i1" else 1 << min(width, 63)
    bits = np.random.default_rng(1).integers(0, most, 9, np.uint64)
    bits[:3] = [0, most - 1, most // 2]
    x = bits.astype(f"u{given.itemsize}").view(given)
    text = text_of(x, target, "").replace("nn.cast", "nn.bitcast")
    text = text.replace(str(numpy_to_type(x.dtype)), source)
    (interpreted,) = run_lowered(
        lowered(text), [types[1]], [x.view(type_to_numpy(storage_type(types[0].element_type)))]
    )
    value = Block([types[0]]).args[0]
    semantics = nn.Bitcast(value, out=TensorType((9,), types[1].element_type)).evaluate(x)
    for found in (semantics, interpreted, nnc.compile(parse_module(text))(x)):
        stored = np.asarray(found).view(f"u{given.itemsize}")
        np.testing.assert_array_equal(stored.astype(np.uint64), bits)
