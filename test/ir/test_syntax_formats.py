"""Assembly formats: what may be declared, how text follows from it, and how it is spaced."""

import pytest
from nnc.ir.attributes import EnumAttr, attribute_class
from nnc.ir.constraints import AnyInteger, AnyType, Same
from nnc.ir.declare import (
    ANY,
    BOOL,
    F32,
    I64,
    INT_ARRAY,
    STRING,
    SYMBOL,
    SYMBOL_NAME,
    TYPE,
    UNIT,
    Op,
    attribute,
    instance,
    int_enum,
    operand,
    operands,
    optional_operand,
    region,
    result,
    results,
    successor,
)
from nnc.ir.diagnostics import DeclarationError, ParseError
from nnc.ir.syntax.parser import parse_module, parse_op
from nnc.ir.syntax.printer import print_op
from nnc.ir.traits import Terminator
from nnc.ir.types import Type


@attribute_class
class Color(EnumAttr):
    """`#testfmt.color<red>`"""

    name = "testfmt.color"
    cases = ("red", "green")


@attribute_class
class Pair(Type):
    """`!testfmt.pair<i32, f32>`"""

    name = "testfmt.pair"
    grammar = '"<" TYPE "," TYPE ">"'

    first: Type
    second: Type

    @classmethod
    def from_syntax(cls, child):
        return cls(*child)

    def parameters_text(self):
        return f"<{self.first}, {self.second}>"


@attribute_class
class Handle(Type):
    """`!testfmt.handle`"""

    name = "testfmt.handle"


class Everything(Op, name="testfmt.attributes"):
    """Attributes of all kinds."""

    number = attribute(I64)
    flag = attribute(BOOL)
    real = attribute(F32)
    word = attribute(int_enum("a word", ("first", "second")))
    text = attribute(STRING)
    symbol = attribute(SYMBOL)
    own_name = attribute(SYMBOL_NAME)
    kind = attribute(TYPE)
    sizes = attribute(INT_ARRAY)
    color = attribute(instance(Color))
    whole = attribute(instance(Color))
    any_ = attribute(ANY)

    format = (
        "$own_name $number `,` $flag `,` $real $word $text $symbol `:` $kind `sizes` `=` $sizes "
        "`` $color qualified($whole) `,` $any_ attr-dict"
    )
    example = (
        'testfmt.attributes @me 5, true, 1.500000e+00 second "t" @other : i32 sizes = [1, -2]'
        "<red> #testfmt.color<green>, [1] {extra}"
    )


class Groups(Op, name="testfmt.groups"):
    """Optional groups."""

    first = operand(AnyInteger)
    second = optional_operand(Same("first"))
    rest = operands(AnyType)
    fast = attribute(UNIT, optional=True)
    limit = attribute(I64, default=3)
    out = result(Same("first"))

    format = (
        "$first (`,` $second^)? (`fast` $fast^)? (`limit` `<` $limit^ `>`)? "
        "(`[` $rest^ `:` type($rest) `]`) : (`none`)? attr-dict `:` type($first)"
    )
    example = "%r = testfmt.groups %a none : i32"


class Clauses(Op, name="testfmt.clauses"):
    """Clauses in any order."""

    low = optional_operand(AnyInteger)
    high = optional_operand(AnyInteger)
    nowait = attribute(UNIT, optional=True)

    format = (
        "oilist(`low` `(` $low `:` type($low) `)` | `high` `(` $high `:` type($high) `)` "
        "| `nowait` $nowait) attr-dict"
    )
    example = "testfmt.clauses low(%a : i32) nowait"


class Functional(Op, name="testfmt.functional"):
    """Types of all operands and results at once."""

    inputs = operands(AnyType)
    outs = results(AnyType)
    body = region()

    format = "`(` operands `)` $body attr-dict-with-keyword `:` functional-type(operands, results)"
    example = "%a, %b = testfmt.functional(%x) {\n} : (i32) -> (i8, f32)"


class Jump(Op, name="testfmt.jump", traits=(Terminator,)):
    """Successors."""

    one = successor()
    others = successor(variadic=True)

    format = "$one (`or` $others^)? attr-dict"
    example = "testfmt.jump ^bb1 or ^bb1, ^bb2"


class Pairs(Op, name="testfmt.pairs"):
    """Dialect types."""

    input = operand(AnyType)
    out = result(AnyType)

    format = "$input prop-dict attr-dict `:` type($input) `->` type($out)"
    example = "%r = testfmt.pairs %x : !testfmt.handle -> !testfmt.pair<i32, !testfmt.handle>"


def in_function(line, arguments="%a: i32, %b: i32, %x: f32, %y: i8"):
    module = parse_module(f"func.func @f({arguments}) {{\n  {line}\n  return\n}}")
    return module.body_block.first.body_block.first


def test_attributes_of_all_kinds():
    op = parse_op(Everything.example)
    assert str(op) == Everything.example
    assert (op.number, op.flag, op.real, op.word, op.text) == (5, True, 1.5, "second", "t")
    assert (op.symbol, op.own_name, op.sizes, op.color) == ("other", "me", (1, -2), "red")
    again = parse_op(print_op(op, generic=True))
    assert str(again) == Everything.example


@pytest.mark.parametrize(
    "line",
    [
        "%0 = testfmt.groups %arg0 none : i32",
        "%0 = testfmt.groups %arg0, %arg1 none : i32",
        "%0 = testfmt.groups %arg0 fast limit<5> none : i32",
        "%0 = testfmt.groups %arg0, %arg1 fast [%arg2, %arg0 : f32, i32] {x} : i32",
        "testfmt.clauses",
        "testfmt.clauses low(%arg0 : i32) high(%arg3 : i8) nowait",
        "%0:2 = testfmt.functional(%arg0) {\n  } : (i32) -> (i8, f32)",
        "testfmt.functional() {\n  } attributes {x} : () -> ()",
    ],
)
def test_text_is_written_as_it_was_read(line):
    op = in_function(line, "%arg0: i32, %arg1: i32, %arg2: f32, %arg3: i8")
    assert str(op.parent_op).splitlines()[1:-2] == f"  {line}".splitlines()
    op.parent_op.verify()


def test_clauses_in_another_order():
    op = in_function("testfmt.clauses nowait high(%y : i8) low(%a : i32)")
    assert str(op) == "testfmt.clauses low(%arg0 : i32) high(%arg3 : i8) nowait"
    with pytest.raises(ParseError, match="`nowait` clause can appear at most once"):
        in_function("testfmt.clauses nowait nowait")


def test_successors():
    text = """\
func.func @f() {
  testfmt.jump ^bb1
^bb1:  // 2 preds: ^bb0, ^bb2
  testfmt.jump ^bb2 or ^bb2, ^bb3
^bb2:  // 2 preds: ^bb1, ^bb1
  testfmt.jump ^bb1
^bb3:  // pred: ^bb1
  return
}"""
    assert str(parse_op(text)) == text


def test_dialect_types():
    op = in_function(
        "%r = testfmt.pairs %x : !testfmt.handle -> !testfmt.pair<i32, f32>", "%x: !testfmt.handle"
    )
    assert op.out.type is Pair(op.out.type.first, op.out.type.second)
    assert str(op).endswith(": !testfmt.handle -> !testfmt.pair<i32, f32>")


@pytest.mark.parametrize(
    ("line", "message"),
    [
        ("testfmt.groups %a, %b, %x none : i32", "expected 1 to 2 operands, found 3"),
        ("testfmt.groups %a, %x none : i32", "expects different type .*'i32' vs 'f32'"),
        ("testfmt.groups %a [%x : f32, i8] : i32", "got 1 operands and 2 types"),
        ("%r = testfmt.functional(%a, %b) {} : (i32) -> i8", "2 operands present, but expected 1"),
        ("testfmt.groups %a : i32", "expected .*'none'.*, found ':'"),
        ('testfmt.attributes @me 5, true, 1.0 third "t" @o : i32 sizes = [] <red> unit, 1',
         "expected one of first, second; found 'third'"),
        ('testfmt.attributes @me 5, true, 1.0 first "t" @o : i32 sizes = [] <blue> unit, 1',
         "'blue' is not a testfmt.color"),
        ('testfmt.attributes @me 5.5, true, 1.0 first "t" @o : i32 sizes = [] <red> unit, 1',
         "expected integer elements"),
        ("testfmt.jump ^nowhere", "undefined block"),
    ],
)  # fmt: skip
def test_faulty_text(line, message):
    with pytest.raises(ParseError, match=message):
        in_function(line)


@pytest.mark.parametrize(
    ("format", "message"),
    [
        ("", "operand 'x' is not in the format"),
        ("$x", "attribute 'a' is not in the format, which has no attr-dict"),
        ("$x attr-dict", "the type of operand 'x' is neither given nor inferable"),
        ("$x $nope attr-dict", "'\\$nope' is not a field"),
        ("$x $out attr-dict", "result '\\$out' can only appear in type"),
        ("$x attr-dict `:` type($a)", "type\\(..\\) needs an operand or result"),
        ("$x attr-dict `:` type($x) (`a` $a)?", "needs an anchor"),
        ("$x^ attr-dict `:` type($x)", "anchor stands outside of a group"),
        ("$x attr-dict `:` type($x", "it ends too early|expected '\\)'"),
        ("$x attr-dict `:` what($x)", "unknown directive 'what'"),
        ("$x attr-dict `:` type($x) custom<Nope>($a)", "there is no directive custom<Nope>"),
        ("$x attr-dict `%%` type($x)", "neither a word nor known punctuation"),
        ("$x attr-dict `:` type($x) @", "unexpected character '@'"),
        ("$x attr-dict `:` type($x) )", "unexpected '\\)'"),
        ("$x attr-dict `:` type($x) (`a` $a^ $x^)?", "two anchors"),
        ("$x attr-dict `:` type($x) (`a`^ $a)?", "only a field, its type or a region can be"),
        ("$x attr-dict `:` type($x) custom<", "it ends too early"),
        ("$x attr-dict `:` type($x) custom<Nope>([)", "unexpected character '\\['"),
        ("$x attr-dict `:` type($x) custom<Nope>(<)", "unexpected '<' in custom<Nope>"),
        ("$x attr-dict `:` type($x) oilist($a)", "each oilist clause starts with a literal"),
    ],
)
def test_faulty_formats_are_found_when_the_class_is_made(format, message):
    with pytest.raises(DeclarationError, match=message):
        make(format)


def make(format):
    """An op class with the format; the same name each time, since none is ever registered."""
    namespace = {
        "__doc__": "Never made.",
        "__module__": __name__,
        "x": operand(AnyType),
        "a": attribute(I64, optional=True),
        "out": result(Same("x")),
        "format": format,
        "example": "",
    }
    for name, field in namespace.items():
        if hasattr(field, "__set_name__"):
            field.__set_name__(None, name)
    return type(Op)("Faulty", (Op,), namespace, name="testfmt.faulty")


def test_a_format_without_the_region():
    body = region()
    body.__set_name__(None, "body")
    namespace = {
        "__doc__": "Never made.",
        "__module__": __name__,
        "body": body,
        "format": "attr-dict",
        "example": "",
    }
    with pytest.raises(DeclarationError, match="region 'body' is not in the format"):
        type(Op)("Faulty", (Op,), namespace, name="testfmt.faulty")
