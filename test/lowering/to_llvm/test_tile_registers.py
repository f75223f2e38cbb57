"""Which register each tile of amx has: all shapes that are there at once, and what is refused."""

import pytest
from nnc.dialects import amx, func
from nnc.ir.diagnostics import NncError, PassError
from nnc.ir.passes import PassContext
from nnc.ir.syntax.parser import parse_module
from nnc.lowering.to_llvm import LowerToLlvm
from nnc.lowering.to_llvm.tile_registers import TileAllocation
from nnc.targets.attribute import target_of
from nnc.targets.llvm.target import LlvmTarget

BYTES, SUMS = "!amx.tile<16x64xi8>", "!amx.tile<16x16xi32>"


def registers(body):
    """The registers of a function with memory %m of bytes and %y of sums."""
    text = f"""func.func @f(%m: memref<64x64xi8>, %y: memref<64x64xi32>, %i: index, %n: index) {{
{body}
  return
}}"""
    module = parse_module(text)
    module.verify()
    (function,) = (op for op in module.body_block if isinstance(op, func.FuncOp))
    return TileAllocation(function), function


def loads(*names, type=BYTES):
    return "\n".join(
        f"%{n} = amx.tile_load %m[%i, %i] : memref<64x64xi8> into {type}" for n in names
    )


def stores(*names, type=SUMS):
    return "\n".join(f"amx.tile_store %y[%i, %i], %{n} : memref<64x64xi32>, {type}" for n in names)


def product(res, lhs, rhs, acc):
    return f"%{res} = amx.tile_muli %{lhs}, %{rhs}, %{acc} : {BYTES}, {BYTES}, {SUMS}"


def zeros(*names, type=SUMS):
    return "\n".join(f"%{n} = amx.tile_zero : {type}" for n in names)


LOOP = f"""
{zeros("z0", "z1")}
%s:2 = scf.for %k = %i to %n step %n iter_args(%p = %z0, %q = %z1) -> ({SUMS}, {SUMS}) {{
{loads("a", "b")}
{product("p1", "a", "b", "p")}
{product("q1", "b", "a", "q")}
  scf.yield %p1, %q1 : {SUMS}, {SUMS}
}}
amx.tile_store %y[%i, %i], %s#0 : memref<64x64xi32>, {SUMS}
amx.tile_store %y[%i, %i], %s#1 : memref<64x64xi32>, {SUMS}
"""

NINE = [f"t{n}" for n in range(9)]


def test_a_loop_carries_its_tiles_in_registers_of_their_own():
    found, function = registers(LOOP)
    for op in function.walk():
        if isinstance(op, amx.TileMulI):
            numbers = [found.register[v] for v in (op.lhs, op.rhs, op.res)]
            assert len(set(numbers)) == 3
            assert found.register[op.acc] == found.register[op.res]
    (stretch,) = found.stretches
    assert isinstance(stretch.first, amx.TileZero)
    assert isinstance(stretch.last, amx.TileStore)
    assert {type.size for type in stretch.shapes.values()} == {(16, 64)}


def test_registers_are_free_between_stretches():
    small = "!amx.tile<4x64xi8>"
    parts = [loads("a", "b", "c", "d", "e", "f", "g", "h"), stores(*"abcdefgh", type=BYTES)]
    parts += [loads("k", type=small), stores("k", type=small)]
    found, _ = registers("\n".join(parts))
    assert [len(stretch.shapes) for stretch in found.stretches] == [8, 1]


def test_tiles_that_do_not_meet_share_a_register_of_one_shape():
    body = "\n".join(part for n in NINE for part in (loads(n), stores(n, type=BYTES)))
    found, _ = registers(f"{loads('w')}\n{body}\n{stores('w', type=BYTES)}")
    (stretch,) = found.stretches
    assert len(stretch.shapes) == 8  # the one that was read the longest ago is next


def test_equal_zeros_become_one_for_each_sum():
    found, function = registers(
        f"{zeros('z')}\n{loads('a')}\n{product('p', 'a', 'a', 'z')}\n{product('q', 'a', 'a', 'z')}\n"
        f"{stores('p', 'q')}"
    )
    first, second = (op for op in function.walk() if isinstance(op, amx.TileMulI))
    assert found.register[first.res] != found.register[second.res]


@pytest.mark.parametrize(
    ("body", "message"),
    [
        (loads(*NINE) + "\n" + stores(*NINE, type=BYTES), "more than 8 tile registers"),
        (
            f"{loads('a')}\n{zeros('z')}\n{product('p', 'a', 'a', 'z')}\n"
            f"{product('q', 'a', 'a', 'p')}\n{stores('p', 'q')}",
            "has another use",
        ),
        (
            LOOP.replace("scf.yield %p1, %q1", "scf.yield %q1, %p1"),
            "change places",
        ),
        (
            f"{zeros('z')}\n%s = scf.while (%w = %z) : ({SUMS}) -> {SUMS} {{\n"
            "%t = arith.cmpi slt, %i, %n : index\nscf.condition(%t) %w : " + SUMS + "\n} do {\n"
            f"^bb0(%w: {SUMS}):\nscf.yield %w : {SUMS}\n}}\n{stores('s')}",
            "has no lowering for tiles",
        ),
    ],
    ids=("too many", "used twice", "swapped", "while"),
)  # fmt: skip
def test_what_is_refused(body, message):
    with pytest.raises(PassError, match=message):
        registers(body)


@pytest.mark.parametrize(
    ("target", "message"),
    [("aarch64", "'aarch64' has no tile registers"), ("x86-64-v3", r"for it \(amx-tile\)")],
)
def test_targets_without_tile_registers(target, message):
    text = f"""module attributes {{nnc.target = "{target}"}} {{
  func.func @f(%y: memref<16x16xi32>, %i: index) {{
    %t = amx.tile_zero : {SUMS}
    amx.tile_store %y[%i, %i], %t : memref<16x16xi32>, {SUMS}
    return
  }}
}}"""
    module = parse_module(text)
    with pytest.raises(PassError, match=message):
        LowerToLlvm().run(module, PassContext())


def test_functions_take_no_tiles():
    module = parse_module(f"func.func @f(%t: {SUMS}) {{ return }}")
    with pytest.raises(PassError, match="a function that takes tiles has no lowering"):
        LowerToLlvm().run(module, PassContext())


def test_the_name_of_a_target_decides_on_tile_registers():
    """IR for a processor that is not this one resumes as code for the target that it names."""
    text = """module attributes {nnc.target = {name = "NAME", processor = "another",
      machine = {cores = 3}}} {}"""
    for name, registers in (("sapphirerapids", 8), ("x86-64-v4", 0)):
        found = target_of(parse_module(text.replace("NAME", name)))
        assert isinstance(found, LlvmTarget)
        assert found.machine.cores == 3
        assert found.machine.tiles.tile_registers == registers
        assert ("amx-int8" in found.all_features) == (registers > 0)


@pytest.mark.parametrize("numbers", ["row_bytes = 2", "row_bytes = 66"])
def test_rows_that_are_no_words(numbers):
    text = f"""module attributes {{nnc.target = {{name = "x86-64-v4",
      machine = {{tiles = {{tile_registers = 8, {numbers}}}}}}}}} {{}}"""
    with pytest.raises(NncError, match="rows of whole words of 32 bits"):
        target_of(parse_module(text))
