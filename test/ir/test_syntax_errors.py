"""What the parser says of faulty text: the place, what was found and what was expected."""

from contextlib import suppress

import pytest
from nnc.ir.diagnostics import ParseError
from nnc.ir.syntax.parser import parse_attribute, parse_module, parse_type

CASES = [
    # text, line, column, message
    ('"t.a"() : () -> ', 1, 13, "expected '->' and results in function type|expected type"),
    ('"t.a"( : () -> ()', 1, 8, "expected SSA value or '\\)', found ':'"),
    ('"t.a" : () -> ()', 1, 7, "expected '\\(', found ':'"),
    ('"t.a"() ({\n"t.b"() : () -> ()', 1, 10, "unbalanced '{': reached the end of the file"),
    ('"t.a"() {a = 1 : i32', 1, 9, "unbalanced '{'"),
    ('"t.a"() {a = } : () -> ()', 1, 14, "expected attribute, found '}'"),
    ('"t.a"() {a = 1 : } : () -> ()', 1, 18, "expected type, found '}'"),
    ('"t.a"() {a = 1, a = 2} : () -> ()', 1, 17, "duplicate key 'a' in dictionary attribute"),
    ('"t.a"() {1 = 2} : () -> ()', 1, 10, "expected name, string or '}', found '1'"),
    ('"t.a"(%x) : (i32) -> ()', 1, 7, "use of undeclared SSA value name '%x'"),
    ('"t.a"(%x, %y) : (i32) -> ()', 1, 1, "expected 2 operand types but had 1"),
    ('%x = "t.a"() : () -> ()', 1, 1, "cannot name an operation with no results"),
    ('%x:3 = "t.a"() : () -> (i8, i8)', 1, 1, "defines 2 results but was provided 3 to bind"),
    ('%x = "t.a"() : () -> i8\n%x = "t.a"() : () -> i8', 2, 1, "redefinition of SSA value '%x'"),
    (
        '%x = "t.a"() : () -> i32\n"t.b"(%x) : (f32) -> ()',
        2,
        7,
        "use of value '%x' expects different type than prior uses: 'f32' vs 'i32'",
    ),
    (
        '"t.b"(%x) : (f32) -> ()\n%x = "t.a"() : () -> i32',
        1,
        7,
        "use of value '%x' expects different type than prior uses: 'f32' vs 'i32'",
    ),
    ('%x:2 = "t.a"() : () -> (i8, i8)\n"t.b"(%x#2) : (i8) -> ()', 2, 7, "invalid result number"),
    ('"t.r"() ({ "t.j"()[^x] : () -> () }) : () -> ()', 1, 20, "undefined block '\\^x'"),
    (
        '"t.r"() ({\n^x:\n"t.a"() : () -> ()\n^x:\n"t.a"() : () -> ()\n}) : () -> ()',
        4,
        1,
        "redefinition of block '\\^x'",
    ),
    ("foo.bar %x", 1, 1, "unknown operation 'foo.bar': no dialect 'foo' is loaded"),
    ("arith.nothing %x", 1, 1, "unknown operation 'arith.nothing'"),
    ("arith.addI %x, %x : i32", 1, 1, "did you mean 'arith.addi'"),
    ("func.func @f(%a: i32) {\n  arith.addi %a, %a i32\n}", 2, 21, "expected ':' or '{'|':'"),
    (
        "func.func @f(%a: i32) {\n  %0 = arith.addi %a : i32\n}",
        2,
        19,
        "expected 2 operands, found 1",
    ),
    ("func.func @f( {", 1, 15, "found '{'"),
    ("func.func @f(%a: i32) {\n  cf.br ^bb7\n}", 2, 9, "undefined block '\\^bb7'"),
    ("func.func @f(%a: i33a) { return }", 1, 18, "expected type, found 'i33a'"),
    (
        '"arith.nothing"() : () -> ()',
        1,
        1,
        "unregistered operation 'arith.nothing' found in dialect",
    ),
    ('"arith.constant"() <{nope = 1 : i32}> : () -> i32', 1, 1, "has no property 'nope'"),
    ('"t.a"() : () -> () }', 1, 20, "found '}'"),
    ('"t.a() : () -> ()', 1, 1, "expected '\"' in string literal"),
    ('"t.a"() {a = "\\q"} : () -> ()', 1, 14, "unknown escape"),
    ('"t.a"() : () -> () loc("f":1)', 1, 29, "expected ':', found '\\)'"),
    ('"t.a"() : () -> () loc(#nope)', 1, 24, "location alias was never defined: '#nope'"),
    ('"t.a"() {a = #nope} : () -> ()', 1, 14, "undefined symbol alias id 'nope'"),
    ('"t.a"() : () -> !nope', 1, 17, "undefined symbol alias id 'nope'"),
    ("#a = 1 : i8\n#a = 2 : i8", 2, 1, "redefinition of attribute alias id 'a'"),
    ('"t.a"()\x00 : () -> ()', 1, 8, "unexpected character '.x00'"),
    ("\x7fELF\x02\x01\x01", 1, 1, "unexpected character"),
    ("PK\x03\x04", 1, 1, "unknown operation 'PK'"),
    ('"t.a"() : () -> () é', 1, 20, "unexpected character 'é'"),
    (
        '"t.a"() : () -> ()\nvector.contract {iterator_types = ["odd"]} %a, %b, %c : i8, i8 into i8',
        2,
        1,
        "'odd' is not a vector.iterator_type",
    ),
    ("module {", 1, 8, "unbalanced '{'"),
    ("module { func.func @f() {", 1, 25, "unbalanced '{'"),
]


@pytest.mark.parametrize(("text", "line", "column", "message"), CASES)
def test_message_and_place(text, line, column, message):
    with pytest.raises(ParseError, match=message) as caught:
        parse_module(text, "f.mlir", allow_unregistered=text.startswith(("%", '"t.', "#")))
    place = caught.value.location
    assert (place.file, place.line, place.column) == ("f.mlir", line, column), str(caught.value)
    assert not any(word in str(caught.value) for word in ("_KW_", "LPAR", "Token", "$END"))


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("256 : i8", "integer constant out of range"),
        ("-1 : ui8", "negative integer literal not valid for unsigned integer type"),
        ("128 : si8", "integer constant out of range"),
        ("1 : f32", "add a trailing dot to make the literal a float"),
        ("1.0 : i32", "floating point value not valid"),
        ("0x1FFFFFFFF : f32", "out of range"),
        ("5 : memref<4xf32>", "integer literal not valid for specified type"),
        ("dense<[1, [2]]> : tensor<2xi8>", "ranks are not consistent between elements"),
        ("dense<[1, 2]> : tensor<3xi8>", "inferred shape of elements literal"),
        ("dense<1> : tensor<?xi8>", "static shape"),
        ("dense<1> : i8", "must be a shaped type"),
        ("dense<1.5> : tensor<2xi8>", "expected integer elements, but parsed floating-point"),
        ('dense<"0x0102"> : tensor<3xi8>', "elements hex data size is invalid"),
        ('dense<"zz"> : tensor<3xi8>', "hex digits starting with `0x`"),
        ("array<index: 1>", "must be integers or floats"),
        ("affine_map<(d0) -> (d1)>", "use of undeclared identifier 'd1'"),
        ("affine_map<(d0, d0) -> (d0)>", "redefinition of identifier 'd0'"),
        ("affine_map<(d0) -> (d0 * d0)>", "non-affine expression"),
        ("affine_map<(d0) -> (d0 mod d0)>", "non-affine expression"),
        ("#arith.fastmath<quick>", "'quick' is not a arith.fastmath; expected one of"),
        ("[1, 2", "unbalanced '\\['"),
        # Whether ':' is named too depends on what may follow an attribute in some op's syntax.
        ("[1 2]", "expected ','(, ':')? or ']', found '2'"),
        ("tensor<4x", "unbalanced '<'"),
        ("tensor<4xf32]", "expected '>', found '\\]'"),
        ("tensor<4xfoo>", "expected type, found 'foo'"),
        ("tensor<4>", "expected"),
        ("vector<?xf32>", "vector types must have positive constant sizes"),
        ("vector<0xf32>", "vector types must have positive constant sizes"),
        ("tensor<[4]xf32>", "belong to vectors only"),
        ("memref<4xf32, strided<[1, 2]>>", "number of strides to match the rank"),
        ("memref<4xf32, affine_map<(d0, d1) -> (d0)>>", "mismatch between rank and affine map"),
        ("memref<4xtuple<>>", "invalid memref element type"),
        ("complex<index>", "invalid element type for complex"),
        ("i16777216", "integer bitwidth is limited"),
        ("(i32, f32)", "expected '->' and results in function type"),
        ("!llvm.array<x f32>", "expected"),
        ("9" * 5000, "the number is too long"),
        (f"tensor<{'9' * 5000}xf32>", "a dimension is limited to 64 bits"),
        ("tensor<9223372036854775808xf32>", "a dimension is limited to 64 bits"),
        ("", "expected attribute"),
    ],
)
def test_types_and_attributes(text, message):
    with pytest.raises(ParseError, match=message):
        parse_attribute(text)


def test_diagnostic_shows_the_line_and_underlines_what_was_found():
    with pytest.raises(ParseError) as caught:
        parse_module('  "t.a"()\t{a = $} : () -> ()', "f.mlir")
    assert str(caught.value).splitlines() == [
        "f.mlir:1:16: error: expected attribute, found '$'",
        '  "t.a"() {a = $} : () -> ()',
        "               ^",
    ]


def test_note_at_the_first_definition():
    text = '%x = "t.a"() : () -> i8\n%y, %x = "t.a"() : () -> (i8, i8)'
    with pytest.raises(ParseError) as caught:
        parse_module(text, "f.mlir", allow_unregistered=True)
    (note,) = caught.value.diagnostic.notes
    assert note.message == "previously defined here"
    assert (note.location.line, note.location.column) == (1, 1)


def test_unknown_dialects_must_be_allowed():
    with pytest.raises(ParseError, match="unregistered dialect 'foo'"):
        parse_module('"foo.bar"() : () -> ()')


@pytest.mark.parametrize(
    "text",
    [
        "[" * 100_000,
        "[" * 1000 + "]" * 1000,
        "tensor<" * 10_000,
        "tuple<" * 1000 + ">" * 1000,
        "{a = " * 5000 + "unit" + "}" * 5000,
        "affine_map<(d0) -> (" + "(" * 5000 + "d0" + ")" * 5000 + ")>",
        "affine_map<(d0) -> (" + "1 - (" * 2000 + "d0" + ")" * 2000 + ")>",
        "!llvm.struct<(" * 1000 + ")>" * 1000,
        "loc(" + '"a"(' * 3000 + "unknown" + ")" * 3000 + ")",
    ],
    ids=lambda text: text[:12],
)
def test_deep_nesting_never_fails_otherwise(text):
    with suppress(ParseError):
        str(parse_attribute(text))


def test_a_type_is_asked_for():
    with pytest.raises(ParseError, match=r"expected type|unexpected"):
        parse_type("5")
