"""The SSA core: use lists, blocks, cloning, dominance, declarations and what they reject."""

import pytest
from nnc.ir.attributes import (
    ArrayAttr,
    Attribute,
    BoolAttr,
    DenseArrayAttr,
    DenseElements,
    DictAttr,
    FloatAttr,
    IntegerAttr,
    StringAttr,
)
from nnc.ir.constraints import AnyType, FloatLike, Same
from nnc.ir.core import Block, IRMapping, Operation, Region, UnregisteredOp
from nnc.ir.declare import (
    INT_ARRAY,
    Attr,
    Op,
    Operand,
    Operands,
    OptionalOperand,
    RegionField,
    Result,
    attribute,
    operand,
    operands,
    optional_operand,
    region,
    result,
)
from nnc.ir.diagnostics import DeclarationError, VerifyError
from nnc.ir.dominance import DominanceInfo
from nnc.ir.syntax.parser import parse_module
from nnc.ir.traits import Pure, Terminator
from nnc.ir.types import TensorType, f32, f64, i1, i8, i32, index


class Add(Op, name="core_test.add", traits=(Pure,)):
    """Sum."""

    lhs: Operand = operand(FloatLike)
    rhs: Operand = operand(Same("lhs"))
    out: Result = result(Same("lhs"))
    format = "$lhs `,` $rhs attr-dict `:` type($out)"
    example = "%c = core_test.add %a, %b : f32"


class Gather(Op, name="core_test.gather", traits=(Pure,)):
    """Several variadic groups."""

    many: Operands = operands(AnyType)
    maybe: OptionalOperand = optional_operand(AnyType)
    last: Operand = operand(AnyType)
    axes: Attr[tuple[int, ...]] = attribute(INT_ARRAY, default=(0,))
    out: Result = result(Same("last"))
    example = '"core_test.gather"'


class Jump(Op, name="core_test.jump", traits=(Terminator,)):
    """Ends a block, goes anywhere."""

    example = '"core_test.jump"'


class Holder(Op, name="core_test.holder"):
    """Holds a region in which values are defined before they are used."""

    body: RegionField = region()
    example = '"core_test.holder"'


def unknown(name: str, *args: object, **kwargs: object) -> Operation:
    return UnregisteredOp.named(name, *args, **kwargs)


def test_uses_are_counted_per_operand() -> None:
    block = Block([f32])
    x = block.args[0]
    a = Add(x, x)
    block.append(a)
    b = Add(a, x)
    block.append(b)
    assert x.uses == [(a, 0), (a, 1), (b, 1)]
    assert x.use_count == 3
    assert a.out.has_one_use
    a.set_operand(0, b.out)
    assert x.uses == [(a, 1), (b, 1)]


def test_replace_all_uses() -> None:
    block = Block([f32, f32])
    x, y = block.args
    a = Add(x, x)
    x.replace_all_uses_with(y)
    assert not x.has_uses
    assert a.operands == (y, y)


def test_replace_with_takes_a_value_for_each_result() -> None:
    block = Block([f32])
    a, b = (block.append(op) or op for op in (Add(*block.args * 2), Add(*block.args * 2)))
    block.append(user := Add(a, a))
    with pytest.raises(ValueError):
        a.replace_with()
    a.replace_with(b.out)
    assert block.ops == [b, user] and user.operands == (b.out, b.out)
    assert block.args[0].uses == [(b, 0), (b, 1)]


def test_erasing_a_used_operation_is_refused() -> None:
    block = Block([f32])
    a, b = Add(block.args[0], block.args[0]), None
    block.append(a)
    b = Add(a, a)
    block.append(b)
    with pytest.raises(ValueError, match="still uses"):
        a.erase()
    b.erase()
    a.erase()
    assert block.ops == []
    assert not block.args[0].has_uses


def test_iteration_survives_erasing_the_current_operation() -> None:
    block = Block([], [unknown(f"t.o{i}") for i in range(5)])
    for op in block:
        if op.name != "t.o3":
            op.erase()
    assert [op.name for op in block] == ["t.o3"]


def test_order_inside_a_block_follows_moves() -> None:
    a, b, c = (unknown(f"t.{n}") for n in "abc")
    block = Block([], [a, b, c])
    assert block.comes_before(a, c)
    c.move_before(a)
    assert block.comes_before(c, a)
    assert [op.name for op in block] == ["t.c", "t.a", "t.b"]
    assert [op.name for op in reversed(block)] == ["t.b", "t.a", "t.c"]


def test_order_inside_a_block_follows_erasing() -> None:
    a, b, c, d = (unknown(f"t.{n}") for n in "abcd")
    block = Block([], [a, b, c])
    assert block.comes_before(a, b)
    b.erase()
    assert block.comes_before(a, c) and not block.comes_before(c, a)
    block.append(d)
    assert block.comes_before(c, d)
    with pytest.raises(KeyError):
        block.comes_before(b, d)


def test_operand_groups() -> None:
    block = Block([f32, f64, i32])
    x, y, z = block.args
    op = Gather([x, y], None, z)
    assert (op.many, op.maybe, op.last) == ((x, y), None, z)
    op.many = [y]
    op.maybe = x
    assert (op.many, op.maybe, op.last) == ((y,), x, z)
    assert op.operands == (y, x, z)
    assert op.axes == (0,)
    assert op.out.type is i32


def test_clone_maps_operands_regions_and_successors() -> None:
    entry, target = Block([f32]), Block()
    target.append(Jump())
    entry.append(Add(entry.args[0], entry.args[0]))
    entry.append(unknown("t.br", successors=[target]))
    outer = unknown("t.outer", regions=[Region([entry, target])])
    mapping = IRMapping()
    copy = outer.clone(mapping)
    new_entry, new_target = copy.regions[0].blocks
    assert new_entry.last.successors == [new_target]
    add = new_entry.first
    assert add.operands == (new_entry.args[0],) * 2
    assert entry.args[0].users == [entry.first]


def test_deep_nesting_needs_no_stack() -> None:
    op = unknown("t.leaf")
    for _ in range(20_000):
        op = unknown("t.nest", regions=[Region([Block([], [op])])])
    assert sum(1 for _ in op.walk()) == 20_001
    op.verify()


@pytest.mark.parametrize(
    ("a", "b", "dominates"),
    [(0, 3, True), (1, 3, False), (2, 3, False), (3, 1, False), (0, 0, True), (4, 3, False)],
)
def test_dominance_in_a_diamond(a: int, b: int, dominates: bool) -> None:
    blocks = [Block() for _ in range(5)]
    for i, targets in enumerate([(1, 2), (3,), (3,), (), (3,)]):
        blocks[i].append(unknown("t.br", successors=[blocks[t] for t in targets]))
    Region(blocks)
    assert DominanceInfo().block_dominates(blocks[a], blocks[b]) is dominates


def use_before_definition() -> Region:
    block = Block([f32])
    a = Add(block.args[0], block.args[0])
    b = Add(a, a)
    block.append(b)
    block.append(a)
    block.append(Jump())
    return Region([block])


def test_use_before_definition_is_found() -> None:
    with pytest.raises(VerifyError, match=r"operand #0 does not dominate this use"):
        Holder(body=use_before_definition()).verify()


def test_regions_of_unknown_operations_may_be_graphs() -> None:
    unknown("t.outer", regions=[use_before_definition()]).verify()


def test_uses_in_unreachable_blocks_are_not_checked() -> None:
    entry, unreachable = Block(ops=[Jump()]), Block()
    holder = Holder(body=Region([entry, unreachable]))
    a = Add.create([], [f32])
    a.operands = [a.out, a.out]
    unreachable.append(a)
    unreachable.append(Jump())
    holder.verify()


def test_a_value_of_a_sibling_region_is_not_visible() -> None:
    first, second = Block([f32]), Block()
    second.append(Add(first.args[0], first.args[0]))
    outer = unknown("t.outer", regions=[Region([first]), Region([second])])
    with pytest.raises(VerifyError, match="does not dominate"):
        outer.verify()


def test_types_must_agree() -> None:
    block = Block([f32, f64])
    op = Add.create([block.args[0], block.args[1]], [f32])
    with pytest.raises(VerifyError, match="requires the same type for all operands and results"):
        op.verify()
    op = Add.create([block.args[0]], [f32])
    with pytest.raises(VerifyError, match="expected 2 operands, but found 1"):
        op.verify()


def test_attributes_are_interned_with_care() -> None:
    assert IntegerAttr(255, i8) is IntegerAttr(-1, i8)
    assert IntegerAttr(1, i1) is not IntegerAttr(1, index)
    assert FloatAttr(0.0, f32) is not FloatAttr(-0.0, f32)
    assert FloatAttr(0.1, f32).value != 0.1
    assert StringAttr("a") is StringAttr("a")
    t = TensorType((2, 3), f32)
    assert DenseElements.from_list([1.0] * 6, t) == DenseElements.splat(1.0, t)


EMPTY = [
    BoolAttr(False),
    IntegerAttr(0, index),
    ArrayAttr(()),
    DenseArrayAttr(i32, ()),
    StringAttr(""),
    DictAttr(()),
]


@pytest.mark.parametrize("held", EMPTY, ids=str)
def test_an_attribute_is_there_whatever_it_holds(held: Attribute) -> None:
    op = unknown("t.op", attributes={"a": StringAttr("free")}, properties={"a": held})
    assert op.attribute("a") is held
    (read,) = parse_module(str(op), allow_unregistered=True).body_block
    assert read.attribute("a") is held
    assert held


FAULTY = {
    "a docstring is missing": {"example": "x"},
    "an example is missing": {"__doc__": "Doc."},
    "hides a member": {"__doc__": "Doc.", "example": "x", "parent": operand()},
    "refers to field 'nope'": {"__doc__": "Doc.", "example": "x", "x": operand(Same("nope"))},
}


@pytest.mark.parametrize("message", FAULTY)
def test_faulty_declarations_fail_when_the_class_is_made(message: str) -> None:
    with pytest.raises(DeclarationError, match=message):
        type(Op)("Faulty", (Op,), dict(FAULTY[message]), name=f"core_test.f{len(message)}")


def test_declaring_a_name_twice_fails() -> None:
    with pytest.raises(DeclarationError, match="declared twice"):
        type(Op)("Add", (Op,), {"__doc__": "Doc.", "example": "x"}, name="core_test.add")


def test_a_splat_of_no_elements_is_an_empty_array():
    assert DenseElements.splat(1.0, TensorType((0, 4), f32)).to_numpy().shape == (0, 4)
