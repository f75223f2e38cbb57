"""What upstream's dialect has and ours has not: kept as it is where that is permitted."""

import pytest
from nnc.ir.diagnostics import ParseError
from nnc.ir.dialect import registry
from nnc.ir.syntax.parser import parse_module
from nnc.ir.syntax.printer import print_op

TEXT = """\
#map = affine_map<(d0) -> (d0)>
"builtin.module"() ({
  "llvm.of_a_later_version"() <{a = #llvm.unheard<#map, "x">, b = 1 : i32}> ({
    "llvm.unreachable"() : () -> ()
  }) {c = !llvm.unheard<1>} : () -> ()
  "llvm.func"() <{CConv = #llvm.cconv<ccc>, function_type = !llvm.func<void ()>, linkage = #llvm.linkage<external>, sym_name = "f", unheard = 5 : i64, unnamed_addr = 0 : i64, visibility_ = 0 : i64}> ({
  }) : () -> ()
}) : () -> ()"""


def test_unknown_parts_of_a_subset_are_kept():
    module = parse_module(TEXT, allow_unregistered=True)
    module.verify()
    assert print_op(module, generic=True) == TEXT


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ('"llvm.nothing"() : () -> ()', "not in the part of dialect 'llvm' that nnc has"),
        ("llvm.nothing %x : i32", "unknown operation 'llvm.nothing': nnc has only part"),
        ('"t.a"() {a = #llvm.nothing} : () -> ()', "attribute 'llvm.nothing' is not in the part"),
        ('"t.a"() {a = !llvm.nothing<1>} : () -> ()', "type 'llvm.nothing<1>' is not in the part"),
        (
            '"llvm.return"() <{nothing}> : () -> ()',
            "property 'nothing' is not among those that nnc has of it",
        ),
    ],
)
def test_without_permission_the_flag_is_named(text, message):
    assert registry.dialects["llvm"].is_subset
    with pytest.raises(ParseError, match=message) as caught:
        parse_module(text)
    assert "--allow-unregistered-dialect" in str(caught.value)


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ('"arith.nothing"() : () -> ()', "unregistered operation 'arith.nothing' found in dialect"),
        ('"linalg.nothing"() : () -> ()', "unregistered operation 'linalg.nothing' found in"),
        ('"func.return"() <{nothing}> : () -> ()', "'func.return' op has no property 'nothing'"),
        ('"t.a"() {a = #arith.nothing} : () -> ()', "unknown attribute 'nothing' in dialect"),
    ],
)
def test_a_whole_dialect_has_nothing_unknown(text, message):
    with pytest.raises(ParseError, match=message):
        parse_module(text, allow_unregistered=True)
