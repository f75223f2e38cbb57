"""Messages of the parser that no other test provokes: a text, the message, its place."""

import pytest
from nnc.ir.diagnostics import NncError, ParseError
from nnc.ir.syntax.parser import parse_attribute, parse_module, parse_op

TEXTS = [
    ("!t = i8\n!t = i8", "2:1: .*redefinition of type alias id 't'"),
    ('"t.u"() {a = @} : () -> ()', "1:14: .*expected a symbol's name after '@'"),
    ('"t.u"() {a = -0x3F80 : f16} : () -> ()', "leading minus"),
    ('"t.u"() {a = array<i7: 1>} : () -> ()', "must be a multiple of 8"),
    (
        '"t.u"() {a = distinct[0]<1 : i8>, b = distinct[0]<2 : i8>} : () -> ()',
        r"distinct\[0\] was given another attribute before",
    ),
    (
        '#a = 1 : i8\n"t.u"() : () -> () loc(#a)',
        "expected '#a' to be a location, but it is '1 : i8'",
    ),
    ('"t.u"() {a = sparse<0, 1> : i8} : () -> ()', "must be a shaped type"),
    ('"t.u"() {a = sparse<0, 1> : tensor<?xi8>} : () -> ()', "must have static shape"),
    ('"t.u"() {a = sparse<[[9]], 1> : tensor<4xi8>} : () -> ()', "is not contained in"),
    ('"t.u"() {a = dense<"0x010203"> : tensor<4xi1>} : () -> ()', "hex data size is invalid"),
    ("module @a::@b {}", "expected a plain symbol name, found '@a::@b'"),
    ("func.func @f(%a: i) { return }", "expected type, found 'i'"),
    (
        '"t.r"() ({ "t.a"()[^b] : () -> () \n^b: "t.r"() ({ cf.br ^b }) : () -> () }) : () -> ()',
        "undefined block",
    ),
    ('"func.func"() <{function_type = () -> (), sym_name = "f"}> : () -> ()', "requires 1 region"),
    ('"t.r"() ({ "cf.br"() : () -> () }) : () -> ()', "requires 1 successor, found 0"),
    ('"t.u"() {a = dense_resource<x> : i32} : () -> ()', "1:29: .*expected a shaped type, found"),
    ('"t.u"() {a = dense<(1, 2)> : tensor<i32>} : () -> ()', "1:21: .*an element of type i32"),
    ('"t.u"() {a = dense<300> : tensor<1xi8>} : () -> ()', "integer constant out of range"),
    ('"t.u"() {a = sparse<[[0, 1]], [1]> : tensor<4xi8>} : () -> ()', "expected a row of 1 ind"),
    ("llvm.intr.ubsantrap <{failureKind = 1 : i8, odd}>", "has no property 'odd'"),
    ("func.func @f(%a: (i8)) { return }", "expected '->' and results in function type"),
    (
        "#a0 = [1]\n" + "\n".join(f"#a{i + 1} = [#a{i}, #a{i}]" for i in range(30)),
        "23:19: .*aliases of aliases make this attribute too large",
    ),
    (
        '"t.u"() : () -> () loc(' + 'callsite("f" at ' * 3000 + '"f"' + ")" * 3000 + ")",
        "the text is nested too deeply here",
    ),
    (
        "{-# dialect_resources: { builtin: { w: { a: 1 } } } #-}",
        "expected a string with the resource's data",
    ),
]


@pytest.mark.parametrize(("text", "message"), TEXTS, ids=[text[:40] for text, _ in TEXTS])
def test_message(text: str, message: str) -> None:
    with pytest.raises(NncError, match=message) as caught:
        parse_module(text, "f.mlir", allow_unregistered=True).verify()
    assert caught.value.location is not None


def test_one_operation_is_asked_for() -> None:
    with pytest.raises(ParseError, match="expected one operation, found 2"):
        parse_op("module {} module {}")


def test_a_number_of_too_many_bits() -> None:
    with pytest.raises(ParseError, match="integer constant out of range for attribute"):
        parse_attribute("0x" + "F" * 3990 + " : i64")
