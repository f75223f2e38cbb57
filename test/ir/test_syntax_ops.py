"""Text of operations: generic form, regions, blocks, names, aliases, locations."""

import pytest
from nnc.ir.core import UnregisteredOp
from nnc.ir.location import UNKNOWN, FileLineColLoc, FusedLoc, NameLoc
from nnc.ir.syntax.parser import parse_module, parse_op
from nnc.ir.syntax.printer import print_op

GENERIC = """\
#map = affine_map<(d0) -> (d0)>
"builtin.module"() ({
  %0:2 = "test.two"() <{key = #map}> : () -> (i32, f32)
  "test.use"(%0#1, %0#0) {text = "a", unit} : (f32, i32) -> ()
  "test.regions"(%0#0) ({
  ^bb0(%arg0: i32, %arg1: index):
    "test.branch"(%arg0)[^bb1, ^bb2] : (i32) -> ()
  ^bb1:  // 2 preds: ^bb0, ^bb2
    "test.end"() : () -> ()
  ^bb2(%1: f32):  // pred: ^bb0
    "test.branch"()[^bb1] : () -> ()
  }, {
  }) : (i32) -> ()
}) : () -> ()"""


def parse(text, **options):
    return parse_module(text, "test.mlir", allow_unregistered=True, **options)


def test_generic_form_round_trip():
    module = parse(GENERIC)
    assert print_op(module, generic=True) == GENERIC


def test_operations_outside_of_a_module_are_put_into_one():
    module = parse('"a.b"() : () -> ()\n"a.c"() : () -> ()')
    assert module.name == "builtin.module"
    assert [op.name for op in module.body_block] == ["a.b", "a.c"]
    assert parse('module @m {\n  "a.b"() : () -> ()\n}').sym_name == "m"
    assert str(parse("")) == "module {\n}"


def test_names_of_values_and_results():
    module = parse(
        """
        %a, %b:2 = "t.three"() : () -> (i32, i32, f32)
        %c.1-x$ = "t.one"(%a, %b#0, %b#1) : (i32, i32, f32) -> i8
        "t.use"(%c.1-x$, %b) : (i8, i32) -> ()
        """
    )
    three, one, use = module.body_block.ops
    assert one.operands == three.results
    assert use.operands == (one.results[0], three.results[1])
    assert [r.name_hint for r in three.results] == ["a", "b", "b"]
    assert "%c.1-x$ = " in print_op(module, names=True)


def test_values_and_blocks_may_be_used_before_their_definition():
    module = parse(
        """
        "t.graph"() ({
          "t.use"(%late) : (i32) -> ()
          "t.inner"() ({
            "t.use"(%late) : (i32) -> ()
          }) : () -> ()
          %late = "t.def"(%late) : (i32) -> i32
          "t.jump"()[^end] : () -> ()
        ^end:
          "t.end"() : () -> ()
        }) : () -> ()
        """
    )
    graph = module.body_block.first
    use, inner, definition, jump = graph.regions[0].blocks[0].ops
    value = definition.results[0]
    assert use.operands == inner.body_block.first.operands == definition.operands == (value,)
    assert jump.successors == [graph.regions[0].blocks[1]]
    assert value.use_count == 3


def test_names_of_a_region_end_with_it():
    module = parse(
        """
        "t.a"() ({ %x = "t.d"() : () -> i32 }) : () -> ()
        "t.a"() ({ %x = "t.d"() : () -> f32 "t.u"(%x) : (f32) -> () }) : () -> ()
        """
    )
    first, second = module.body_block.ops
    assert second.body_block.last.operands == (second.body_block.first.results[0],)
    assert not first.body_block.first.results[0].has_uses


def test_unregistered_operations():
    op = parse_op('"foo.bar"() <{a = 1 : i32}> {b} : () -> ()', allow_unregistered=True)
    assert isinstance(op, UnregisteredOp)
    assert op.name == "foo.bar"
    assert str(op) == '"foo.bar"() <{a = 1 : i32}> {b} : () -> ()'


def test_generic_and_custom_form_of_declared_ops_are_one():
    custom = """\
func.func @f(%arg0: i32, %arg1: memref<4xf32>) -> i32 attributes {test.x} {
  %0 = arith.addi %arg0, %arg0 overflow<nsw> : i32
  %c0 = arith.constant 0 : index
  %1 = memref.load %arg1[%c0] : memref<4xf32>
  cf.br ^bb1(%0 : i32)
^bb1(%2: i32):  // pred: ^bb0
  return %2 : i32
}"""
    op = parse_op(custom)
    assert str(op) == custom
    generic = print_op(op, generic=True)
    assert "<{overflowFlags = #arith.overflow<nsw>}>" in generic
    again = parse_op(generic)
    assert str(again) == custom
    op.verify()


def test_properties_may_stand_among_the_attributes():
    op = parse_op('%0 = "arith.constant"() {value = 5 : i32, other} : () -> i32')
    assert set(op.properties) == {"value"}
    assert set(op.attributes) == {"other"}


def test_attribute_and_type_aliases():
    module = parse(
        """
        !t = tensor<4xf32>
        !u = tuple<!t, i32>
        #a = [1 : i32, !t]
        #b = {x = #a}
        %0 = "t.op"() {b = #b, t = !u} : () -> !t
        """
    )
    op = module.body_block.first
    assert str(op.results[0].type) == "tensor<4xf32>"
    assert str(op.attributes["b"]) == "{x = [1 : i32, tensor<4xf32>]}"
    assert str(op.attributes["t"]) == "tuple<tensor<4xf32>, i32>"


def test_aliases_of_one_text_mean_nothing_in_another():
    first = parse('!t = i32\n#a = 1 : i8\n%0 = "t.op"() {a = #a} : () -> !t').body_block.first
    second = parse('!t = f32\n#a = 2 : i8\n%0 = "t.op"() {a = #a} : () -> !t').body_block.first
    assert [str(op.results[0].type) for op in (first, second)] == ["i32", "f32"]
    assert [op.attributes["a"].value for op in (first, second)] == [1, 2]


def test_locations():
    module = parse(
        """
        #file = loc("x.py":3:4)
        "t.a"() : () -> ()
        "t.b"() : () -> () loc(#file)
        "t.c"() : () -> () loc(fused["n"(#later), #file, unknown])
          %r = "t.d"() ({
          ^bb0(%a: i32 loc("arg"), %b: i32):
          }) : () -> i32 loc(unknown)
        #later = loc("end")
        """
    )
    a, b, c, d = module.body_block.ops
    assert a.loc == FileLineColLoc("test.mlir", 3, 9)
    file = FileLineColLoc("x.py", 3, 4)
    assert b.loc == file
    assert c.loc == FusedLoc((NameLoc("n", NameLoc("end")), file))
    assert d.loc is UNKNOWN
    assert [arg.loc for arg in d.body_block.args] == [
        NameLoc("arg"),
        FileLineColLoc("test.mlir", 7, 36),
    ]


def test_locations_round_trip():
    text = print_op(parse(GENERIC), generic=True, debuginfo=True)
    assert print_op(parse(text), generic=True, debuginfo=True) == text


def test_comments_and_spacing():
    module = parse('// head\n"t.a" // name\n( ) // operands\n: ( ) -> ( ) // end\n//')
    assert module.body_block.first.name == "t.a"
    values = '%0 = "t.d"() : () -> i32 "t.u"(%0, // first\n %0) : (i32, i32) -> ()'
    assert len(parse(values).body_block.last.operands) == 2
    attributes = parse('"t.a"() <{a = "}>", b = [1, // one\n 2]}> {c = {}} : () -> ()')
    assert set(attributes.body_block.first.properties) == {"a", "b"}


def test_windows_line_ends_and_tabs():
    module = parse('"t.a"() : () -> ()\r\n\t"t.b"() : () -> ()\r\n')
    assert module.body_block.last.loc == FileLineColLoc("test.mlir", 2, 2)


def test_implied_terminators():
    text = """\
func.func @f(%arg0: index, %arg1: i1) {
  scf.for %arg2 = %arg0 to %arg0 step %arg0 {
  }
  scf.if %arg1 {
  } else {
  }
  return
}"""
    op = parse_op(text)
    assert str(op) == text
    loop = op.body_block.first
    assert loop.body_block.last.name == "scf.yield"
    op.verify()


def test_results_need_no_names():
    op = parse_op('"t.d"() : () -> i32', allow_unregistered=True)
    assert str(op) == '%0 = "t.d"() : () -> i32'


def test_an_operation_in_a_function_prints_with_the_functions_names():
    op = parse_op("func.func @f(%a: i32) {\n  %b = arith.addi %a, %a : i32\n  return\n}")
    assert str(op.body_block.first) == "%0 = arith.addi %arg0, %arg0 : i32"


def test_deep_nesting_is_no_limit():
    def nested(depth):
        text = '"t.r"() ({\n' * depth + '"t.x"() : () -> ()\n' + "}) : () -> ()\n" * depth
        return parse_op(text, allow_unregistered=True)

    assert sum(1 for _ in nested(10_000).walk()) == 10_001
    assert print_op(nested(1500)).count("t.r") == 1500


@pytest.mark.parametrize("form", ["generic", "custom"])
def test_printing_what_was_printed_changes_nothing(form):
    module = parse(GENERIC)
    text = print_op(module, generic=form == "generic")
    assert print_op(parse(text), generic=form == "generic") == text
