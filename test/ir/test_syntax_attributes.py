"""Text of types and attributes: what is read is written back as upstream writes it."""

import math

import numpy as np
import pytest
from nnc.ir import attributes as a
from nnc.ir import types as t
from nnc.ir.diagnostics import ParseError
from nnc.ir.syntax.parser import parse_attribute, parse_type

TYPES = [
    "i1", "i32", "si8", "ui16", "i128", "index", "none",
    "f16", "bf16", "tf32", "f32", "f64", "f80", "f128",
    "f8E5M2", "f8E4M3", "f8E3M4", "f8E4M3FN", "f8E5M2FNUZ", "f8E4M3FNUZ", "f8E4M3B11FNUZ",
    "f8E8M0FNU", "f6E3M2FN", "f6E2M3FN", "f4E2M1FN",
    "complex<f32>", "complex<i8>", "tuple<>", "tuple<i32, tuple<f32>>",
    "() -> ()", "(i32) -> f32", "(i32, f32) -> (i8, index)", "(i32) -> ((i32) -> i32)",
    "() -> (() -> ())", "((i32) -> i32) -> i32",
    "vector<4xf32>", "vector<f32>", "vector<4x[8]x2xi1>", "vector<[4]xindex>",
    "tensor<f32>", "tensor<4x?x8xf32>", "tensor<*xf32>", "tensor<0x1xi32>",
    "tensor<4xcomplex<f64>>", "tensor<2xvector<4xf32>>", "tensor<4xf32, {a = 1 : i32}>",
    'tensor<4xf32, "x">', "tensor<?x?xf32, affine_map<(d0, d1) -> (d1, d0)>>",
    "memref<f32>", "memref<4x?xf32>", "memref<*xf32>", "memref<*xf32, 1>",
    "memref<4xf32, strided<[?], offset: ?>>", "memref<4x8xf32, strided<[16, 1], offset: 4>, 2>",
    "memref<4x8xf32, affine_map<(d0, d1)[s0] -> (d1 + s0, d0)>>", "memref<4xf32, 1 : i32>",
    'memref<4xf32, "shared">', "memref<4xmemref<2xi8>>",
    "!llvm.ptr", "!llvm.ptr<1>", "!llvm.void", "!llvm.array<4 x f32>",
    "!llvm.array<2 x array<3 x ptr>>", "!llvm.struct<()>", "!llvm.struct<(i32, ptr, array<2 x i8>)>",
    "!llvm.struct<packed (i8, i32)>", "!llvm.func<void ()>", "!llvm.func<i32 (ptr, ...)>",
    "!llvm.func<ptr (struct<(i32, f32)>, vector<4xf32>)>", "tensor<2x!llvm.ptr>",
]  # fmt: skip

ATTRIBUTES = [
    "unit", "true", "false", "5 : i64", "-5 : i32", "0 : index", "200 : ui8", "-128 : si8",
    "1.000000e+00 : f32", "-0.000000e+00 : f64", "1.500000e+00 : bf16", "0x7FC00000 : f32",
    "0x7F800000 : f32", "0xFFF0000000000000 : f64", "3.140630e+00 : f16", "3.14159274 : f32",
    '"text"', '""', '"a\\22b\\\\c\\0A\\09"', '"\\C3\\A9"', '"\\FF"', '"x" : i32',
    "[]", "[1, 2 : i32, 1.000000e+00, 2.000000e+00 : f32, []]", "{}", "{a, b = 1 : i32}",
    '{"a b" = unit, c.d = [@f]}'.replace(" = unit", ""),
    "@f", '@"a b"', "@a::@b::@c", '@a::@"b c"', "i32", "(i32) -> i32", "tensor<4xf32>",
    "array<i64>", "array<i64: 1, -2>", "array<i1: true, false>", "array<i8: 0, 127>",
    "array<f32: 1.000000e+00, -2.500000e+00>", "array<f64: 1.000000e+10>",
    "dense<1> : tensor<4xi32>", "dense<[1, 2]> : tensor<2xi64>", "dense<true> : tensor<i1>",
    "dense<[true, false]> : vector<2xi1>", "dense<[[1, 2], [3, 4]]> : tensor<2x2xi8>",
    "dense<> : tensor<0xf32>", "dense<1.000000e+00> : tensor<2x3xf32>",
    "dense<[1.000000e+00, 0x7F800000]> : tensor<2xf32>", "dense<-1> : tensor<2xindex>",
    "dense<(1.000000e+00,2.000000e+00)> : tensor<complex<f32>>",
    "dense<[(1,2), (3,4)]> : tensor<2xcomplex<i8>>", "dense<[255, 0]> : tensor<2xui8>",
    "dense_resource<weight> : tensor<2xf32>", 'dense_resource<"a/b c"> : tensor<2x2xi8>',
    "affine_map<() -> ()>", "affine_map<(d0, d1)[s0] -> (d0 + s0, d1 * 2 - 1)>",
    "affine_map<(d0) -> (d0 floordiv 2, d0 ceildiv 4, d0 mod 8)>",
    "affine_map<(d0, d1) -> (-d0 + d1, (d0 + d1) * 3)>", "affine_map<(d0) -> (d0 - 7)>",
    "affine_set<(d0)[s0] : (d0 - s0 >= 0, -d0 + 4 == 0)>", "affine_set<() : (0 == 0)>",
    "strided<[]>", "strided<[4, 1]>", "strided<[?, 1], offset: ?>", "strided<[1], offset: -3>",
    "distinct[0]<5 : i32>", "distinct[0]<>",
    'loc("a.py":1:2)', "loc(unknown)", 'loc("name")', 'loc("name"("f":3:4))',
    'loc(callsite("f" at "g":1:2))', 'loc(fused["a", "b"])', 'loc(fused<"why">["a"])',
    'loc("f":1:2 to 3:4)', 'loc("f":1:2 to :4)',
    "#arith.fastmath<fast>", "#arith.fastmath<nnan,ninf>", "#arith.overflow<nsw>",
    "#linalg.iterator_type<parallel>", "#vector.kind<add>", "#llvm.linkage<internal>",
]  # fmt: skip


@pytest.mark.parametrize("text", TYPES)
def test_type_is_written_as_it_was_read(text):
    type = parse_type(text)
    assert str(type) == text
    assert parse_type(str(type)) is type


@pytest.mark.parametrize("text", ATTRIBUTES)
def test_attribute_is_written_as_it_was_read(text):
    attribute = parse_attribute(text)
    assert str(attribute) == text


@pytest.mark.parametrize(
    ("text", "canonical"),
    [
        ("5", "5 : i64"),
        ("0xFF : i8", "-1 : i8"),
        ("1 : i1", "true"),
        ("1.0", "1.000000e+00 : f64"),
        ("1. : f32", "1.000000e+00 : f32"),
        ("0x3F800000 : f32", "1.000000e+00 : f32"),
        ("1e400 : f64".replace("1e", "1.0e"), "0x7FF0000000000000 : f64"),
        ('"\\n\\t\\"\\\\"', '"\\0A\\09\\22\\\\"'),
        ("dense<[1, 1]> : tensor<2xi32>", "dense<1> : tensor<2xi32>"),
        ('dense<"0x01000000"> : tensor<1xi32>', "dense<1> : tensor<1xi32>"),
        ('dense<"0x0100000002000000"> : tensor<2xi32>', "dense<[1, 2]> : tensor<2xi32>"),
        ('dense<"0x05"> : tensor<3xi1>', "dense<[true, false, true]> : tensor<3xi1>"),
        ("affine_map<(i, j) -> (j, i)>", "affine_map<(d0, d1) -> (d1, d0)>"),
        ("affine_map<(d0) -> (1 + d0 + 2)>", "affine_map<(d0) -> (d0 + 3)>"),
        ("{b = unit, a = unit}", "{a, b}"),
        ("tensor< 4 x 8 x f32 >", "tensor<4x8xf32>"),
        ("memref<4x8xf32, affine_map<(i, j) -> (i, j)>>", "memref<4x8xf32>"),
        ("( i32 )->( f32 )", "(i32) -> f32"),
        ("!llvm.func<void (ptr)> // comment", "!llvm.func<void (ptr)>"),
        ("[ // one\n 1, // two\n 2]", "[1, 2]"),
    ],
)
def test_other_spellings(text, canonical):
    assert str(parse_attribute(text)) == canonical


def test_opaque_attributes_and_types_of_unknown_dialects():
    attribute = parse_attribute('#foo.bar<"x" -> [y, z]>', allow_unregistered=True)
    assert attribute is a.OpaqueAttr("foo", '.bar<"x" -> [y, z]>')
    assert str(attribute) == '#foo.bar<"x" -> [y, z]>'
    assert str(parse_type("!foo<bar>", allow_unregistered=True)) == "!foo.bar"
    with pytest.raises(ParseError, match="unregistered dialect 'foo'"):
        parse_type("!foo.bar")
    with pytest.raises(ParseError, match="unknown type 'nothing' in dialect 'nn'"):
        parse_type("!nn.nothing", allow_unregistered=True)
    with pytest.raises(ParseError, match="--allow-unregistered-dialect permits it"):
        parse_type("!llvm.nothing")
    assert str(parse_type("!llvm.nothing", allow_unregistered=True)) == "!llvm.nothing"


def test_values_are_those_of_the_text():
    assert parse_attribute("-7 : i8").value == -7
    assert parse_attribute("255 : ui8").value == 255
    assert parse_attribute("dense<[[1, 2], [3, 4]]> : tensor<2x2xi16>").to_numpy().tolist() == [
        [1, 2],
        [3, 4],
    ]
    assert math.isnan(parse_attribute("0x7FC00000 : f32").value)
    assert parse_attribute("memref<4xf32, 3>").memory_space is a.I64Attr(3)
    type = parse_type("tensor<2x?xf32>")
    assert type is t.TensorType((2, None), t.f32)


def test_many_elements_are_written_in_hexadecimal():
    array = np.arange(101, dtype=np.float32)
    attribute = a.DenseElements.from_numpy(array)
    text = str(attribute)
    assert text == f'dense<"0x{array.tobytes().hex().upper()}"> : tensor<101xf32>'
    assert parse_attribute(text) == attribute
    bits = a.DenseElements.from_list([i % 3 == 0 for i in range(101)], t.TensorType((101,), t.i1))
    assert parse_attribute(str(bits)) == bits


@pytest.mark.parametrize("kind", ["f16", "bf16", "f32", "f64", "f8E4M3FN", "f8E5M2"])
def test_every_float_reads_back_exactly(kind):
    type = t.FloatType(kind)
    generator = np.random.default_rng(0)
    for _ in range(300):
        bits = generator.integers(0, 256, type.byte_width, dtype=np.uint8).tobytes()
        attribute = a.FloatAttr(type.from_bytes(bits), type)
        if not math.isnan(attribute.value):
            assert parse_attribute(str(attribute)) is attribute
