"""What is proven by bounds: of quotients, remainders, tables of constants and checked values.

The oracle is the interpreter, which runs the launch for several extents: what is proven must not go
wrong for any of them, and each planted fault goes wrong for one.
"""

import numpy as np
import pytest
from nnc.ir.diagnostics import NncError
from nnc.ir.passes import PassContext
from nnc.ir.syntax.parser import parse_module
from nnc.kernels.proof.prove_kernels import ProveKernels
from nnc.numerics.interpreter import Interpreter

from .test_proven_extents import outlined

pytest.importorskip("islpy")

MODULE = """
module attributes {{gpu.container_module}} {{
  {table}
  gpu.module @kernels {{
    gpu.func @f(%a: memref<?xf32>, %o: memref<?x{columns}xf32>, %t: memref<4xi32>, %n: index) kernel {{
      %c0 = arith.constant 0 : index
      %c1 = arith.constant 1 : index
      %c2 = arith.constant 2 : index
      %c3 = arith.constant 3 : index
      %c8 = arith.constant 8 : index
      %b = gpu.block_id x
      {body}
      gpu.return
    }}
  }}
  func.func @main(%a: memref<?xf32>, %o: memref<?x{columns}xf32>, %given: memref<4xi32>) {{
    %c0 = arith.constant 0 : index
    %c1 = arith.constant 1 : index
    %c2 = arith.constant 2 : index
    %c4 = arith.constant 4 : index
    %n = memref.dim %a, %c0 : memref<?xf32>
    %rows = memref.dim %o, %c0 : memref<?x{columns}xf32>
    %columns = memref.dim %o, %c1 : memref<?x{columns}xf32>
    {host}
    gpu.launch_func @kernels::@f blocks in (%blocks, %c1, %c1) threads in (%c1, %c1, %c1)
        args(%a : memref<?xf32>, %o : memref<?x{columns}xf32>, %t : memref<4xi32>, %n : index)
    return
  }}
}}"""
GIVEN = "%t = memref.cast %given : memref<4xi32> to memref<4xi32>\n"
EACH_ROW = "%blocks = arith.muli %rows, %c1 : index\n"
SOME = """%some = arith.cmpi sgt, %n, %c0 : index
%none = arith.cmpi eq, %rows, %c0 : index
%ok = arith.ori %some, %none : i1
cf.assert %ok, "there is no element to repeat"
"""
STORE = """%x = memref.load %a[%at] : memref<?xf32>
memref.store %x, %o[%b, %c0] : memref<?x{columns}xf32>"""


def outcome(body, host, shapes, table="", indices=(0, 0, 0, 0), columns="1"):
    """(whether no run fails, what the proof says: True, False if not proven, or "fault")."""
    text = MODULE.format(body=body, host=host, table=table, columns="{columns}")
    text = text.replace("{columns}", columns)
    module = parse_module(text)
    module.verify()
    runs = True
    for n, rows, columns in shapes:
        arrays = np.zeros(n, np.float32), np.full((rows, columns), -1, np.float32)
        try:
            Interpreter(parse_module(text)).call("main", [*arrays, np.array(indices, np.int32)])
        except NncError as error:
            runs &= "there is no element" in str(error) or "out of range" in str(error)
    context = PassContext()
    try:
        ProveKernels().run(module, context)
    except NncError:
        return runs, "fault"
    return runs, not context.statistics[""].get("open")


SHAPES = [(n, rows, 1) for n in (0, 1, 2, 5, 8) for rows in (0, 1, 7, 20)]
WRAPPED = """%less = arith.subi %b, %c3 : index
%r = arith.{0} %less, %n : index
%below = arith.cmpi slt, %r, %c0 : index
%more = arith.addi %r, {1} : index
%at = arith.select %below, %more, %r : index
"""


@pytest.mark.parametrize(
    ("body", "checks", "is_safe"),
    [
        (WRAPPED.format("remsi", "%n"), SOME, True),
        (WRAPPED.format("remsi", "%n"), "", False),
        (WRAPPED.format("remsi", "%c0"), SOME, False),
        (WRAPPED.format("remsi", "%c3"), SOME, False),
    ],
    ids=["right", "of nothing", "negative", "outside"],
)
def test_remainders_by_an_unknown_extent(body, checks, is_safe):
    found = outcome(body + STORE, EACH_ROW + checks + GIVEN, SHAPES)
    assert found == ((True, True) if is_safe else (False, False))


MIRRORED = """%less = arith.subi %b, %c2 : index
%r = arith.remsi %less, %c8 : index
%below = arith.cmpi slt, %r, %c0 : index
%more = arith.addi %r, %c8 : index
%up = arith.select %below, {0} : index
%down = arith.subi %c8, %up : index
%at = arith.minsi %up, %down : index
"""


@pytest.mark.parametrize(
    ("chosen", "least", "is_safe"),
    [("%more, %r", 5, True), ("%more, %r", 4, False), ("%r, %r", 5, False)],
)
def test_remainders_of_negative_numbers(chosen, least, is_safe):
    """Rows beyond the first of 5 are mirrored; a row is outside of fewer."""
    host = f"""{EACH_ROW}%least = arith.constant {least} : index
    %enough = arith.cmpi sge, %n, %least : index
    cf.assert %enough, "there is no element to repeat"
    """
    runs, proof = outcome(MIRRORED.format(chosen) + STORE, host + GIVEN, [*SHAPES, (4, 9, 1)])
    assert (runs, proof is True) == (is_safe, is_safe)


TABLE = 'memref.global "private" {} @rows : memref<4xi32> = dense<{}>'
LOOKED_UP = """%which = arith.remui %b, %c3 : index
%loaded = memref.load %t[%which] : memref<4xi32>
%at = arith.index_cast %loaded : i32 to index
"""


@pytest.mark.parametrize(
    ("table", "is_safe"),
    [
        (TABLE.format("constant", [0, 4, 2, 1]), True),
        (TABLE.format("constant", [0, 5, 2, 1]), False),
        (TABLE.format("constant", [0, -1, 2, 1]), False),
    ],
)
def test_indices_in_a_constant_of_the_module(table, is_safe):
    host = f"""{EACH_ROW}%t = memref.get_global @rows : memref<4xi32>
    %five = arith.constant 5 : index
    %enough = arith.cmpi sge, %n, %five : index
    cf.assert %enough, "there is no element"
    """
    assert outcome(LOOKED_UP + STORE, host, SHAPES, table) == (is_safe, is_safe)


def test_indices_in_a_buffer_that_may_be_written():
    """Its first elements are inside, but another function of the module may write others."""
    host = f"{EACH_ROW}%t = memref.get_global @rows : memref<4xi32>\n{SOME}"
    found = outcome(LOOKED_UP + STORE, host, SHAPES, TABLE.format("", [0, 0, 0, 0]))
    assert found == (True, False)


CHECKED = """%which = arith.remui %b, %c3 : index
%loaded = memref.load %t[%which] : memref<4xi32>
%at = arith.index_cast %loaded : i32 to index
%inside = arith.cmpi {0}, %at, %n : index
{1}
"""
ASSERT = 'cf.assert %inside, "an index is out of range"\n'


@pytest.mark.parametrize(
    ("relation", "check", "is_safe"),
    [("ult", ASSERT, True), ("ule", ASSERT, False), ("slt", ASSERT, False), ("ult", "", False)],
)
def test_indices_that_the_kernel_checks(relation, check, is_safe):
    body = CHECKED.format(relation, check) + STORE
    found = outcome(body, EACH_ROW + GIVEN, SHAPES, indices=(0, 5, -1, 0))
    assert found == (is_safe, is_safe)


def test_what_is_read_before_the_check_is_not_checked():
    body = CHECKED.format("ult", STORE + "\n" + ASSERT)
    assert outcome(body, EACH_ROW + GIVEN, SHAPES, indices=(0, 5, 0, 0)) == (False, False)


IN_PIECES = """%k = arith.remui %b, {0} : index
%pair = arith.divui %b, {1} : index
%columns = memref.dim %o, %c1 : memref<?x{columns}xf32>
%j = arith.remui %pair, %n : index
%i = arith.divui %pair, %n : index
%twice = arith.muli %j, %c2 : index
%at = arith.addi %twice, %k : index
%x = arith.constant 1.0 : f32
memref.store %x, %o[%i, %at] : memref<?x{columns}xf32>"""
PIECES = """%double = arith.muli %n, %c2 : index
%fits = arith.cmpi eq, %columns, %double : index
cf.assert %fits, "there is no element"
%blocks = arith.muli %rows, %double : index
"""


@pytest.mark.parametrize(
    ("rest", "by", "proof"),
    [("%c2", "%c2", True), ("%c3", "%c2", False), ("%c2", "%c1", False)],
    ids=["right", "outside", "too many rows"],
)
def test_ids_of_groups_divided_by_a_constant_first(rest, by, proof):
    shapes = [(n, rows, 2 * n) for n in (1, 3, 4) for rows in (0, 1, 3)]
    body = IN_PIECES.replace("{0}", rest).replace("{1}", by)
    runs, found = outcome(body, PIECES + GIVEN, shapes, columns="?")
    assert (runs, found is True) == (proof, proof)


PARTS = """%many = arith.constant 1024 : index
%parts = arith.ceildivui %n, %many : index
%part = arith.remui %b, %parts : index
%row = arith.divui %b, %parts : index
%x = arith.constant 1.0 : f32
memref.store %x, %o[%row, %part] : memref<?x{columns}xf32>"""
SHORT = """%most = arith.constant {0} : index
%one_more = arith.addi %n, %c1 : index
%short = arith.minsi %one_more, %most : index
%many = arith.constant 1024 : index
%parts = arith.ceildivui %short, %many : index
%blocks = arith.muli %rows, %parts : index
"""


@pytest.mark.parametrize(
    ("most", "proof"), [(256, True), (1024, True), (1025, False), (2048, False)]
)
def test_quotients_that_have_one_value(most, proof):
    """ceil(min(n + 1, 256) / 1024) is 1: each group has a row, and the first part of it."""
    host = SHORT.format(most) + GIVEN
    text = PARTS.replace("ceildivui %n", "ceildivui %short").replace(
        "%parts =",
        f"%most = arith.constant {most} : index\n%one_more = arith.addi %n, %c1 : index\n"
        "%short = arith.minsi %one_more, %most : index\n%parts =",
    )
    shapes = [(n, rows, 1) for n in (0, 1, 255, 1023, 1024, 3000) for rows in (1, 3)]
    runs, found = outcome(text, host, shapes)
    assert (runs, found is True) == (proof, proof)


def test_extents_that_the_host_computes_from_floats_are_no_fault():
    """That the floor of 2.0 * n / 2.0 is n is not known: no fault, but not proven either."""
    host = f"""{GIVEN}%as_integer = arith.index_cast %n : index to i64
    %as_float = arith.sitofp %as_integer : i64 to f64
    %two = arith.constant 2.0 : f64
    %twice = arith.mulf %as_float, %two : f64
    %half = arith.divf %twice, %two : f64
    %back = arith.fptosi %half : f64 to i64
    %blocks = arith.index_cast %back : i64 to index
    %same = arith.cmpi eq, %rows, %n : index
    cf.assert %same, "there is no element"
    """
    body = "%at = arith.addi %b, %c0 : index\n" + STORE
    assert outcome(body, host, [(n, n, 1) for n in (0, 1, 5)]) == (True, False)


PROGRAMS = {
    "running sums": (
        "%y = nn.cumsum %x {axis = 0 : i64} : (tensor<?x?xf32>) -> tensor<?x?xf32>",
        "tensor<?x?xf32>",
        "tensor<?x?xf32>",
    ),
    **{
        f"{mode} of open extents": (
            f'%y = nn.pad %x {{mode = "{mode}", pads = array<i64: 0, 2, 1, 0, 1, 2>}} : '
            "(tensor<4x?x?xf32>) -> tensor<4x?x?xf32>",
            "tensor<4x?x?xf32>",
            "tensor<4x?x?xf32>",
        )
        for mode in ("reflect", "edge", "wrap")
    },
    **{
        f"{mode} of fixed extents": (
            f'%y = nn.pad %x {{mode = "{mode}", pads = array<i64: 0, 0, 2, 1, 0, 0, 2, 1>}} : '
            "(tensor<9x4x300x6xf32>) -> tensor<9x4x304x8xf32>",
            "tensor<9x4x300x6xf32>",
            "tensor<9x4x304x8xf32>",
        )
        for mode in ("reflect", "edge", "wrap")
    },
}


@pytest.mark.parametrize("name", PROGRAMS)
def test_programs(name):
    op, given, result = PROGRAMS[name]
    text = f"func.func @main(%x: {given}) -> {result} {{\n{op}\nreturn %y : {result}\n}}"
    context = PassContext()
    ProveKernels().run(outlined(text), context)
    assert not context.statistics[""].get("open")
    assert context.diagnostics == []


LAST_ROWS = """
module attributes {{gpu.container_module}} {{
  gpu.module @kernels {{
    gpu.func @f(%a: memref<4x?x?xf32>, %o: memref<4x?xf32>, %h: index, %w: index) kernel {{
      %c0 = arith.constant 0 : index
      %c1 = arith.constant 1 : index
      %c2 = arith.constant 2 : index
      %c4 = arith.constant 4 : index
      %plane = arith.muli %h, %w : index
      %size = arith.muli %plane, %c4 : index
      %flat = memref.reinterpret_cast %a to offset: [0], sizes: [%size], strides: [1]
        : memref<4x?x?xf32> to memref<?xf32>
      %n = gpu.block_id x
      %column = gpu.block_id y
      %planes = arith.muli %n, %plane : index
      %row = arith.subi %h, {back} : index
      %rows = arith.muli %row, %w : index
      %start = arith.addi %planes, %rows : index
      %at = arith.addi %start, %column : index
      %x = memref.load %flat[%at] : memref<?xf32>
      memref.store %x, %o[%n, %column] : memref<4x?xf32>
      gpu.return
    }}
  }}
  func.func @main(%a: memref<4x?x?xf32>, %o: memref<4x?xf32>) {{
    %c0 = arith.constant 0 : index
    %c1 = arith.constant 1 : index
    %c2 = arith.constant 2 : index
    %c4 = arith.constant 4 : index
    %h = memref.dim %a, %c1 : memref<4x?x?xf32>
    %w = memref.dim %a, %c2 : memref<4x?x?xf32>
    %columns = memref.dim %o, %c1 : memref<4x?xf32>
    %fits = arith.cmpi eq, %columns, %w : index
    cf.assert %fits, "there is no element"
    %some = arith.cmpi sge, %h, {least} : index
    cf.assert %some, "there is no element"
    gpu.launch_func @kernels::@f blocks in (%c4, %w, %c1) threads in (%c1, %c1, %c1)
        args(%a : memref<4x?x?xf32>, %o : memref<4x?xf32>, %h : index, %w : index)
    return
  }}
}}"""


@pytest.mark.parametrize(
    ("back", "least", "is_safe"),
    [("%c1", "%c1", True), ("%c2", "%c2", True), ("%c0", "%c1", False), ("%c2", "%c1", False)],
    ids=["last", "last but one", "behind the last", "of one row"],
)
def test_rows_counted_from_the_end(back, least, is_safe):
    """A row of an open image is (h - 1)*w elements behind its first; the first plane begins at 0."""
    text = LAST_ROWS.format(back=back, least=least)
    for h, w in ((0, 3), (1, 1), (1, 4), (2, 3), (5, 2)):
        image = np.arange(4 * h * w, dtype=np.float32).reshape(4, h, w)
        found = np.full((4, w), -1, np.float32)
        try:
            Interpreter(parse_module(text)).call("main", [image, found])
        except NncError as error:
            assert "there is no element" in str(error) or not is_safe
            continue
        if is_safe:
            np.testing.assert_array_equal(found, image[:, -int(back[2:])])
    context = PassContext()
    try:
        ProveKernels().run(parse_module(text), context)
    except NncError:
        assert not is_safe
        return
    assert (not context.statistics[""].get("open")) == is_safe
