"""Nesting, lengths and counts far beyond what anybody writes: they work, or are an error."""

import io
import time
from pathlib import Path

import pytest
from nnc.ir.diagnostics import NncError, ParseError
from nnc.ir.passes import PassManager
from nnc.ir.syntax.parser import parse_attribute, parse_module
from nnc.ir.syntax.printer import print_op
from nnc.lowering.pipelines import pipeline
from nnc.tools import nn_opt
from nnc.tools.command import Streams

DEEP = 10_000
SECONDS = 10
"""Of processor time: what takes longer counts as a hang."""

REGIONS = {
    "unknown operations": ('"t.r"() ({\n' * DEEP, "}) : () -> ()\n" * DEEP),
    "modules": ("module {\n" * DEEP, "}\n" * DEEP),
    "branches": (
        "func.func @f(%c: i1) {\n" + "scf.if %c {\n" * DEEP,
        '"t.u"() : () -> ()\n' + "}\n" * DEEP + "return\n}",
    ),
}
PASSES = ("canonicalize", "cse", "remove-dead-values", "symbol-dce", "lower-to-llvm")


@pytest.mark.thorough
@pytest.mark.parametrize("kind", REGIONS)
def test_nested_regions(kind: str) -> None:
    opening, closing = REGIONS[kind]
    start = time.process_time()
    module = parse_module(opening + closing, "deep.mlir", allow_unregistered=True)
    module.verify()
    for name in PASSES:
        try:
            PassManager(pipeline(f"builtin.module({name})")).run(module)
        except NncError as error:
            assert "nested too deeply" in error.message or "no lowering" in error.message
            assert error.location is not None
    assert time.process_time() - start < SECONDS


@pytest.mark.thorough
def test_nested_regions_are_printed_and_read_again() -> None:
    text = '"t.r"() ({\n' * 1000 + '"t.u"() : () -> ()\n' + "}) : () -> ()\n" * 1000
    printed = print_op(parse_module(text, allow_unregistered=True))
    assert print_op(parse_module(printed, allow_unregistered=True)) == printed


def test_regions_that_never_end() -> None:
    with pytest.raises(ParseError, match=r"unbalanced '{': reached the end of the file"):
        parse_module('"t.r"() ({\n' * DEEP, allow_unregistered=True)


def _wrapped(before: str, inner: str, after: str) -> str:
    return before * DEEP + inner + after * DEEP


ATTRIBUTES = {
    "arrays": _wrapped("[", "", "]"),
    "dictionaries": _wrapped("{a = ", "unit", "}"),
    "tuples": _wrapped("tuple<", "", ">"),
    "results of functions": _wrapped("() -> (", "", ")"),
    "operands of functions": _wrapped("(", "i8", ") -> ()"),
    "memrefs of memrefs": _wrapped("memref<2x", "f32", ">"),
    "structs": "!llvm." + _wrapped("struct<(", "i8", ")>"),
    "arrays of arrays": "!llvm." + _wrapped("array<1 x ", "i8", ">"),
    "parentheses": f"affine_map<(d0) -> ({_wrapped('(', 'd0', ')')})>",
    "signs": f"affine_map<(d0) -> ({_wrapped('-', 'd0', '')})>",
    "differences": f"affine_map<(d0) -> ({_wrapped('1 - (', 'd0', ')')})>",
    "sums": f"affine_map<(d0) -> (d0{' + d0 * 3' * DEEP})>",
    "divisions": f"affine_map<(d0) -> (d0{' floordiv 3' * DEEP})>",
    "calls": f"loc({_wrapped('callsite(', 'unknown', ' at unknown)')})",
    "names": "loc(" + _wrapped('"a"(', "unknown", ")") + ")",
    "fused": f"loc({_wrapped('fused[', 'unknown', ']')})",
    "symbols": "@a" + "::@b" * DEEP,
    "dense": f"dense<{_wrapped('[', '1', ']')}> : tensor<1xi8>",
    "opaque": f"#foo.bar<{_wrapped('[', '', ']')}>",
    "dimensions": f"tensor<{'1x' * DEEP}f32>",
}


@pytest.mark.thorough
@pytest.mark.parametrize("kind", ATTRIBUTES)
def test_nested_attributes(kind: str) -> None:
    start = time.process_time()
    try:
        printed = str(parse_attribute(ATTRIBUTES[kind], allow_unregistered=True))
    except ParseError as error:
        assert any(words in error.message for words in ("too deeply", "inferred shape"))
        assert error.location is not None
    else:
        assert str(parse_attribute(printed, allow_unregistered=True)) == printed
    assert time.process_time() - start < SECONDS


ALIASES = {
    "lists": ("#a0 = [1]", "#a{next} = [#a{last}, #a{last}]", "#a"),
    "tuples": ("!a0 = tuple<i8>", "!a{next} = tuple<!a{last}, !a{last}>", "!a"),
}


@pytest.mark.parametrize("kind", ALIASES)
def test_aliases_that_double(kind: str) -> None:
    """Forty lines that stand for 2**40 elements."""
    first, rule, name = ALIASES[kind]
    lines = [first, *(rule.format(next=i + 1, last=i) for i in range(40))]
    text = "\n".join([*lines, f'"t.u"() {{a = {name}40}} : () -> ()'])
    start = time.process_time()
    with pytest.raises(ParseError, match="aliases of aliases make this attribute too large"):
        parse_module(text, allow_unregistered=True)
    assert time.process_time() - start < SECONDS


@pytest.mark.thorough
@pytest.mark.parametrize(
    "text",
    [
        '"t.u"() {a = "' + "x" * 10_000_000 + '"} : () -> ()',
        "// " + "x" * 10_000_000,
        '"t.u"() : () -> () ' + " " * 10_000_000,
        "x" * 10_000_000,
        '"' + "x" * 10_000_000,
        '"t.u"() {a = dense<"0x' + "00" * 5_000_000 + '"> : tensor<5000000xi8>} : () -> ()',
    ],
    ids=["string", "comment", "spaces", "word", "unfinished string", "hexadecimal digits"],
)
def test_a_line_of_ten_megabytes(text: str, tmp_path: Path) -> None:
    start = time.process_time()
    streams = Streams(io.StringIO(text), io.StringIO(), io.StringIO(), tmp_path)
    code = nn_opt.main(["--allow-unregistered-dialect"], streams)
    said = streams.stderr.getvalue()
    assert code in (0, 1)
    assert "internal error" not in said
    assert time.process_time() - start < SECONDS


@pytest.mark.thorough
def test_many_operands_and_results() -> None:
    count = 100_000
    uses, types = ", ".join(f"%x#{i}" for i in range(count)), ", ".join(["i32"] * count)
    text = f'%x:{count} = "t.s"() : () -> ({types})\n"t.u"({uses}) : ({types}) -> ()'
    start = time.process_time()
    module = parse_module(text, allow_unregistered=True)
    module.verify()
    assert len(print_op(module)) > count
    assert time.process_time() - start < SECONDS


HUGE = {
    # Types of more elements than fit into memory: nothing may be allocated for them.
    "fold": (
        "func.func @f() -> tensor<9999999999xi32> {\n"
        "  %a = arith.constant dense<1> : tensor<9999999999xi32>\n"
        "  %b = arith.addi %a, %a : tensor<9999999999xi32>\n"
        "  return %b : tensor<9999999999xi32>\n}",
        "canonicalize",
    ),
    "fold-constants": (
        "func.func @f() -> tensor<99999x99999xf32> {\n"
        "  %a = nn.constant dense<1.0> : tensor<99999x99999xf32>\n"
        "  %b = nn.exp %a : (tensor<99999x99999xf32>) -> tensor<99999x99999xf32>\n"
        "  return %b : tensor<99999x99999xf32>\n}",
        "fold-constants",
    ),
    "vector": (
        "func.func @f() -> vector<99999999999xf32> {\n"
        "  %a = arith.constant dense<1.0> : vector<99999999999xf32>\n"
        "  %b = arith.negf %a : vector<99999999999xf32>\n"
        "  return %b : vector<99999999999xf32>\n}",
        "canonicalize",
    ),
}


@pytest.mark.parametrize("kind", HUGE)
def test_huge_shapes_are_not_allocated(kind: str) -> None:
    text, name = HUGE[kind]
    module = parse_module(text)
    module.verify()
    start = time.process_time()
    PassManager(pipeline(f"builtin.module({name})")).run(module)
    module.verify()
    assert time.process_time() - start < SECONDS
