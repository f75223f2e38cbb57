"""What proofs suppose of open extents: nothing but what the host says, and no fault without them."""

from __future__ import annotations

import pytest
from nnc.dialects import func, gpu
from nnc.driver.compile import run_stages
from nnc.ir.diagnostics import NncError
from nnc.ir.passes import PassContext, PassManager
from nnc.ir.syntax.parser import parse_module
from nnc.kernels.proof.cases import cases
from nnc.kernels.proof.prove_kernels import ProveKernels
from nnc.lowering.pipelines import GRAPH_STAGES, pipeline

pytest.importorskip("islpy")

COPY = """
module attributes {{gpu.container_module}} {{
  gpu.module @kernels {{
    gpu.func @copy(%a: memref<?x4xf32>, %b: memref<?x?xf32>) kernel {{
      %r = gpu.block_id x
      %c = gpu.block_id y
      %x = memref.load %b[{at}] : memref<?x?xf32>
      memref.store %x, %a[%r, %c] : memref<?x4xf32>
      gpu.return
    }}
  }}
  func.func @main(%a: memref<?x4xf32>, %b: memref<?x?xf32>) {{
    %c0 = arith.constant 0 : index
    %c1 = arith.constant 1 : index
    %c4 = arith.constant 4 : index
    %rows = memref.dim %a, %c0 : memref<?x4xf32>
    %m = memref.dim %b, %c0 : memref<?x?xf32>
    %n = memref.dim %b, %c1 : memref<?x?xf32>
    {checks}
    gpu.launch_func @kernels::@copy blocks in ({blocks}, %c4, %c1) threads in (%c1, %c1, %c1)
        args(%a : memref<?x4xf32>, %b : memref<?x?xf32>)
    {after}
    return
  }}
}}"""
COLUMNS = '%wide = arith.cmpi eq, %n, %c4 : index\ncf.assert %wide, "four columns"\n'
ROWS = '%long = arith.cmpi {}, %m, %rows : index\ncf.assert %long, "as many rows"\n'


def prove(checks="", blocks="%rows", at="%r, %c", after=""):
    """Which launches are proven, and what is said of those that are not."""
    context = PassContext()
    text = COPY.format(checks=checks, blocks=blocks, at=at, after=after)
    ProveKernels().run(parse_module(text), context)
    return context.statistics[""].get("proven", 0), [d.message for d in context.diagnostics]


@pytest.mark.parametrize("relation", ["eq", "sge"])
def test_what_the_host_checks_is_known(relation):
    assert prove(COLUMNS + ROWS.format(relation)) == (1, [])


def test_extents_that_may_be_equal_are_no_fault():
    for checks, after in ((COLUMNS, ""), (COLUMNS, ROWS.format("eq"))):
        proven, (said,) = prove(checks, after=after)
        assert not proven
        assert "only if unknown extents of two arguments are equal" in said


@pytest.mark.parametrize(
    ("word", "proven"),
    [
        ("arith.cmpi eq, %long, %always", 1),
        ("arith.cmpi ne, %long, %never", 1),
        ("arith.select %long, %always, %never", 1),
        ("arith.cmpi ne, %long, %always", 0),
        ("arith.select %long, %never, %always", 0),
        ("arith.cmpi eq, %long, %other", 0),
    ],
)
def test_conditions_of_truth_values(word, proven):
    """What the host checks may compare and choose among truth values."""
    checks = (
        ROWS.format("eq").partition("cf.assert")[0]
        + f"""
    %other = arith.cmpi sgt, %m, %c4 : index
    %always = arith.cmpi eq, %c4, %c4 : index
    %never = arith.cmpi eq, %c0, %c1 : index
    %holds = {word} : i1
    cf.assert %holds, "as many rows"
    """
    )
    assert prove(COLUMNS + checks)[0] == proven


def test_all_of_a_result_is_written_if_extents_are_equal():
    """As many groups as the operand has rows: the store may be outside, and rows be left."""
    proven, said = prove(COLUMNS, blocks="%m")
    assert not proven and len(said) == 2
    assert all("unknown extents of two arguments are equal" in message for message in said)
    assert prove(COLUMNS + ROWS.format("eq"), blocks="%m") == (1, [])


@pytest.mark.parametrize(
    ("checks", "changed", "fault"),
    [
        ("", {}, "outside of its buffer"),  # Fewer than four columns.
        (COLUMNS + ROWS.format("sle"), {"blocks": "%more"}, "outside of its buffer"),
        (COLUMNS + ROWS.format("eq"), {"blocks": "%less"}, "written by no launch"),
        (COLUMNS + ROWS.format("eq"), {"at": "%c, %r"}, "outside of its buffer"),
        (COLUMNS, {"blocks": "%less"}, "written by no launch"),
    ],
)
def test_what_no_equal_extents_would_mend(checks, changed, fault):
    checks += "%more = arith.addi %rows, %c1 : index\n%less = arith.subi %rows, %c1 : index\n"
    with pytest.raises(NncError, match=fault):
        prove(checks, **changed)


CHOSEN = """
module attributes {{gpu.container_module}} {{
  gpu.module @kernels {{
    gpu.func @fill(%r: index, %w: index, %b: memref<?x?xf32>, %x: f32) kernel {{
      %all = arith.muli %r, %w : index
      %flat = memref.reinterpret_cast %b to offset: [0], sizes: [%all], strides: [1]
          : memref<?x?xf32> to memref<?xf32>
      %at = gpu.block_id x
      memref.store %x, %flat[%at] : memref<?xf32>
      gpu.return
    }}
  }}
  func.func @main(%a: memref<?x?xf32>, %x: f32) {{
    %c0 = arith.constant 0 : index
    %c1 = arith.constant 1 : index
    %c4 = arith.constant 4 : index
    %rows = memref.dim %a, %c0 : memref<?x?xf32>
    %m = memref.dim %a, %c1 : memref<?x?xf32>
    %one = arith.cmpi eq, %m, %c1 : index
    %wide = arith.select %one, %c4, %m : index
    %b = memref.alloc(%rows, %wide) : memref<?x?xf32>
    %groups = arith.muli %rows, %wide : index
    gpu.launch_func @kernels::@fill blocks in ({blocks}, %c1, %c1) threads in (%c1, %c1, %c1)
        args(%rows : index, %wide : index, %b : memref<?x?xf32>, %x : f32)
    return
  }}
}}"""


@pytest.mark.parametrize(("blocks", "proven"), [("%groups", 1), ("%rows", 0)])
def test_products_of_what_the_host_chooses(blocks, proven):
    """As rows that are one or as many: neither a fault that is none, nor a proof too much."""
    context = PassContext()
    ProveKernels().run(parse_module(CHOSEN.format(blocks=blocks)), context)
    assert context.statistics[""].get("proven", 0) == proven
    assert any("memref.store" in d.message for d in context.diagnostics) != proven


# -- what the host computes ------------------------------------------------------------------------

LAST = """
module attributes {{gpu.container_module}} {{
  gpu.module @kernels {{
    gpu.func @copy(%a: memref<4x1x2048xf32>, %from: index, %n: index, %b: memref<4x1x?xf32>) kernel {{
      %view = memref.subview %a[0, 0, %from] [4, 1, %n] [1, 1, 1]
          : memref<4x1x2048xf32> to memref<4x1x?xf32, strided<[2048, 2048, 1], offset: ?>>
      %base, %offset, %sizes:3, %strides:3 = memref.extract_strided_metadata %view
          : memref<4x1x?xf32, strided<[2048, 2048, 1], offset: ?>>
          -> memref<f32>, index, index, index, index, index, index, index
      %in = memref.reinterpret_cast %view to offset: [%offset], sizes: [%n, 4], strides: [1, %strides#0]
          : memref<4x1x?xf32, strided<[2048, 2048, 1], offset: ?>> to memref<?x4xf32, strided<[1, ?], offset: ?>>
      %out = memref.reinterpret_cast %b to offset: [0], sizes: [%n, 4], strides: [1, %n]
          : memref<4x1x?xf32> to memref<?x4xf32, strided<[1, ?]>>
      %x = gpu.block_id x
      %y = gpu.block_id y
      %v = memref.load %in[%x, %y] : memref<?x4xf32, strided<[1, ?], offset: ?>>
      memref.store %v, %out[%x, %y] : memref<?x4xf32, strided<[1, ?]>>
      gpu.return
    }}
  }}
  func.func @main(%a: memref<4x1x2048xf32>, %i: memref<?xi64>) -> memref<4x1x?xf32> {{
    %c0 = arith.constant 0 : index
    %c1 = arith.constant 1 : index
    %c4 = arith.constant 4 : index
    %all = arith.constant 2048 : index
    %k = memref.dim %i, %c0 : memref<?xi64>
    %left = arith.subi %all, %k : index
    %some = arith.maxsi %left, {least} : index
    %from = arith.minsi %some, %all : index
    %rest = arith.subi {all}, %from : index
    %n = arith.maxsi %rest, %c0 : index
    %b = memref.alloc(%n) : memref<4x1x?xf32>
    gpu.launch_func @kernels::@copy blocks in ({blocks}, %c4, %c1) threads in (%c1, %c1, %c1)
        args(%a : memref<4x1x2048xf32>, %from : index, %n : index, %b : memref<4x1x?xf32>)
    return %b : memref<4x1x?xf32>
  }}
}}"""


@pytest.mark.parametrize(
    ("changed", "fault"),
    [
        ({}, None),
        ({"least": "%left"}, "outside of its buffer"),  # From a negative number on.
        ({"all": "%k"}, "outside of its buffer"),
        ({"blocks": "%all"}, "outside of its buffer"),
        ({"blocks": "%rest"}, None),  # Which is not negative.
        ({"blocks": "%c4"}, "outside of its buffer"),
    ],
)
def test_the_last_elements_of_rows(changed, fault):
    """The host computes where a view begins, and how long it is."""
    text = LAST.format(**{"least": "%c0", "all": "%all", "blocks": "%n", **changed})
    context = PassContext()
    if fault is None:
        ProveKernels().run(parse_module(text), context)
        assert context.statistics[""]["proven"] == 1 and not context.diagnostics
    else:
        with pytest.raises(NncError, match=fault):
            ProveKernels().run(parse_module(text), context)


TILES = """
module attributes {{gpu.container_module}} {{
  gpu.module @kernels {{
    gpu.func @fill(%n: index, %a: memref<3x?xf32>) kernel {{
      %c4 = arith.constant 4 : index
      %zero = arith.constant 0.0 : f32
      %z = gpu.block_id x
      %lane = gpu.block_id y
      %tiles = arith.ceildivui %n, %c4 : index
      %tile = arith.remui %z, %tiles : index
      %row = arith.divui %z, %tiles : index
      %first = arith.muli %tile, %c4 : index
      %at = arith.addi %first, %lane : index
      %inside = arith.cmpi slt, %at, %n : index
      scf.if %inside {{
        memref.store %zero, %a[%row, %at] : memref<3x?xf32>
      }}
      gpu.return
    }}
  }}
  func.func @main(%a: memref<3x?xf32>, %m: index) -> index {{
    %c1 = arith.constant 1 : index
    %c3 = arith.constant {rows} : index
    %c4 = arith.constant 4 : index
    %n = memref.dim %a, %c1 : memref<3x?xf32>
    %tiles = arith.ceildivui %n, %c4 : index
    %groups = arith.muli %tiles, %c3 : index
    gpu.launch_func @kernels::@fill blocks in (%groups, %c4, %c1) threads in (%c1, %c1, %c1)
        args(%n : index, %a : memref<3x?xf32>)
    %one = arith.cmpi eq, %n, %c1 : index
    %chosen = arith.select %one, %m, %n : index
    %same = arith.cmpi eq, %chosen, %c1 : index
    %extent = arith.select %same, %n, %chosen : index
    return %extent : index
  }}
}}"""


@pytest.mark.parametrize(
    ("rows", "fault"), [(3, None), (4, "outside"), (2, "written by no launch")]
)
def test_groups_numbered_by_an_extent_that_is_one(rows, fault):
    """Where the host chooses by an extent, this is a number in one case, and so are its tiles."""
    context = PassContext()
    module = parse_module(TILES.format(rows=rows))
    if fault is None:
        ProveKernels().run(module, context)
        assert context.statistics[""]["proven"] == 1 and not context.diagnostics
    else:
        with pytest.raises(NncError, match=fault):
            ProveKernels().run(module, context)


def test_cases_that_exclude_each_other_are_left_out():
    """If n is not 1, the chosen number is n, and so is not 1 either."""
    module = parse_module(TILES.format(rows=3))
    (main,) = (op for op in module.walk() if isinstance(op, func.FuncOp))
    outcomes = [tuple(one.chosen.values()) for one in cases(main, {}, {})]
    assert outcomes == [(True, True), (True, False), (False, False)]


JOINED = """
func.func @main(%i: tensor<?x?xi64>, %t: tensor<9x8xf32>) -> tensor<?x?x24xf32> {
  %zero = nn.constant dense<0> : tensor<1xi64>
  %one = nn.constant dense<1> : tensor<1xi64>
  %minus = nn.constant dense<-1> : tensor<1xi64>
  %pad = nn.constant dense<0.0> : tensor<f32>
  %x = nn.gather %t, %i : (tensor<9x8xf32>, tensor<?x?xi64>) -> tensor<?x?x8xf32>
  %a = nn.slice %x {starts = array<i64: 0, 1, 0>, steps = array<i64: 1, 1, 1>} : (tensor<?x?x8xf32>) -> tensor<?x?x8xf32>
  %b = nn.pad %a, %pad {pads = array<i64: 0, 0, 0, 0, 1, 0>} : (tensor<?x?x8xf32>, tensor<f32>) -> tensor<?x?x8xf32>
  %c = nn.slice_dynamic %x, %zero, %minus, %one, %one : (tensor<?x?x8xf32>, tensor<1xi64>, tensor<1xi64>, tensor<1xi64>, tensor<1xi64>) -> tensor<?x?x8xf32>
  %d = nn.pad %c, %pad {pads = array<i64: 0, 1, 0, 0, 0, 0>} : (tensor<?x?x8xf32>, tensor<f32>) -> tensor<?x?x8xf32>
  %y = nn.concat %b, %x, %d {axis = 2 : i64} : (tensor<?x?x8xf32>, tensor<?x?x8xf32>, tensor<?x?x8xf32>) -> tensor<?x?x24xf32>
  return %y : tensor<?x?x24xf32>
}"""


def outlined(text):
    """The launches of a program for a device."""
    found = []

    def outline(stage, module):
        if stage == GRAPH_STAGES[-1].name:
            found.append(module.clone())
            PassManager(pipeline("apply-schedules,canonicalize,outline-launches")).run(found[0])

    run_stages(parse_module(text), target="opencl", after_stage=outline)
    return found[0]


def joined_tiles(width):
    """The launches of `JOINED`, of as many numbers a token."""
    return outlined(JOINED.replace("x24x", f"x{3 * width}x").replace("x8x", f"x{width}x"))


@pytest.mark.parametrize("width", [8, 128])
def test_extents_with_one_name_are_equal_in_a_call(width):
    """Each token joined with those before and after it: all have as many rows, as the names say.

    Tokens of 128 numbers are copied as rows of all tokens, next to a column that is filled.
    """
    context = PassContext()
    ProveKernels().run(joined_tiles(width), context)
    assert context.statistics[""].get("open", 0) == 0
    assert context.diagnostics == []


@pytest.mark.parametrize("kernel", ["pad_0_0", "pad_0_1"])
def test_a_part_of_rows_that_is_left_out_is_found(kernel):
    module = joined_tiles(128)
    launches = [op for op in module.walk() if isinstance(op, gpu.LaunchFunc)]
    (left_out,) = (op for op in launches if kernel in str(op.kernel))
    left_out.erase()
    with pytest.raises(NncError, match="written by no launch"):
        ProveKernels().run(module, PassContext())


PADDED_TWICE = """
func.func @main(%a: tensor<?x32x?xf32>, %b: tensor<?x32x?xf32>) -> (tensor<?x32x?xf32>, tensor<?x32x?xf32>) {
  %zero = nn.constant dense<0.0> : tensor<f32>
  %x = nn.pad %a, %zero {pads = array<i64: 0, 0, 4, 0, 0, 4>} : (tensor<?x32x?xf32>, tensor<f32>) -> tensor<?x32x?xf32>
  %y = nn.pad %b, %zero {pads = array<i64: 0, 0, 4, 0, 0, 4>} : (tensor<?x32x?xf32>, tensor<f32>) -> tensor<?x32x?xf32>
  return %x, %y : tensor<?x32x?xf32>, tensor<?x32x?xf32>
}"""


@pytest.mark.parametrize("shorter", [0, 1, 2])
def test_extents_that_differ_by_one_number_in_all_calls(shorter):
    """Rows of both results are longer by 8; where one's, or both, are shorter, that is no proof."""
    text = str(outlined(PADDED_TWICE))
    start = text.index("func.func @main")
    main = text[start : text.index("func.func private", start)]
    assert main.count("call @pad_0") == main.count("arith.addi") == 2
    fewer = main.replace("arith.addi", "arith.subi", shorter)
    module, context = parse_module(text.replace(main, fewer)), PassContext()
    ProveKernels().run(module, context)
    assert bool(context.diagnostics) == bool(shorter)


def test_channels_in_parts_between_open_extents():
    """A convolution in groups sees n x 64 x w elements as n x 4 x 16 x w."""
    text = """
    func.func @main(%x: tensor<?x64x?xf32>, %w: tensor<64x16x1xf32>) -> tensor<?x64x?xf32> {
      %y = nn.conv %x, %w {groups = 4 : i64} : (tensor<?x64x?xf32>, tensor<64x16x1xf32>) -> tensor<?x64x?xf32>
      return %y : tensor<?x64x?xf32>
    }"""
    module, context = outlined(text), PassContext()
    assert "memref.expand_shape" in str(module)
    ProveKernels().run(module, context)
    assert not context.diagnostics


LOADED = """
module attributes {{gpu.container_module}} {{
  gpu.module @kernels {{
    gpu.func @fill(%a: memref<?xf32>, %x: f32) kernel {{
      %i = gpu.block_id x
      memref.store %x, %a[%i] : memref<?xf32>
      gpu.return
    }}
  }}
  func.func @main(%sizes: memref<2xindex>, %x: f32) -> memref<?xf32> {{
    %c0 = arith.constant 0 : index
    %c1 = arith.constant 1 : index
    %n = memref.load %sizes[%c0] : memref<2xindex>
    %m = memref.load %sizes[%c1] : memref<2xindex>
    %a = memref.alloc(%n) : memref<?xf32>
    %b = memref.alloc(%m) : memref<?xf32>
    %blocks = memref.dim {of}, %c0 : memref<?xf32>
    gpu.launch_func @kernels::@fill blocks in (%blocks, %c1, %c1) threads in (%c1, %c1, %c1)
        args(%a : memref<?xf32>, %x : f32)
    return %a : memref<?xf32>
  }}
}}"""


@pytest.mark.parametrize("of", ["%a", "%b"])
def test_sizes_that_the_host_reads_from_memory(of):
    """Each is one number; that two of them are equal is not known, and no fault is certain."""
    context = PassContext()
    ProveKernels().run(parse_module(LOADED.format(of=of)), context)
    said = " ".join(d.message for d in context.diagnostics)
    assert context.statistics[""].get("proven", 0) == (of == "%a")
    assert ("depends on" in said and "written completely" in said) == (of == "%b")


def test_many_choices_of_few_extents():
    """Each of five choices is between two extents, which are 1 or not: four cases."""
    text = "func.func @main(%a: memref<?x?xf32>) {\n%c0 = arith.constant 0 : index\n"
    text += "%c1 = arith.constant 1 : index\n%n0 = memref.dim %a, %c0 : memref<?x?xf32>\n"
    text += "%n1 = memref.dim %a, %c1 : memref<?x?xf32>\n"
    for i in range(2, 7):
        text += f"%is{i} = arith.cmpi eq, %n{i - 2}, %c1 : index\n"
        text += f"%n{i} = arith.select %is{i}, %n{i - 1}, %n{i - 2} : index\n"
    main = parse_module(text + "return\n}").body_block.first
    assert [tuple(one.chosen.values()) for one in cases(main, {}, {})] == [
        (True, True, True, True, True),
        (True, False, False, False, False),
        (False, True, False, False, False),
        (False, False, False, False, False),
    ]
