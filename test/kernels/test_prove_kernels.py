"""What is proven of kernels: of every op's, and of hand-written ones.

The oracle is the interpreter, which runs all threads of all groups and finds what goes wrong in
this launch: what is proven must not go wrong in it, and what is said to go wrong must.
"""

from __future__ import annotations

import re

import pytest
from nnc.dialects import cf, gpu
from nnc.ir.diagnostics import NncError
from nnc.ir.passes import PassContext, PassManager
from nnc.ir.syntax.parser import parse_module
from nnc.kernels.proof.prove_kernels import ProveKernels
from nnc.lowering.pipelines import pipeline
from nnc.numerics.checking.running import Runner
from nnc.numerics.checking.subjects import Subject
from nnc.numerics.options import NumericsOptions

from ..lowering.running import inputs_of
from ..lowering.test_nn_to_linalg import OPS, example_of
from ..memory.test_outline_launches import HEAD
from ..numerics.test_launches import STAGED, STAGED_BUFFERS, STAGED_TYPES, module_of

pytest.importorskip("islpy")

BY_VALUES = {
    "nn.gather", "nn.gather_elements", "nn.gather_nd",
    "nn.determinant", "nn.non_zero", "nn.sort_rows", "nn.suppress", "nn.walk_trees", "nn.sum_trees",
}  # fmt: skip
"""Ops whose kernels read or write where a value says, or loop until one says so."""

TO_LAUNCHES = (
    "simplify-graph,make-kernels,bufferize,schedule,apply-schedules,canonicalize,cse,"
    "outline-launches,canonicalize,cse"
)


def prove(module):
    """Whether all launches and results are proven; raises NncError where something is wrong."""
    context = PassContext()
    ProveKernels().run(module, context)
    counts = context.statistics.get("", {})
    assert not counts.get("partial") or context.diagnostics
    assert counts.get("proven", 0) + counts.get("open", 0) == sum(
        isinstance(op, gpu.LaunchFunc) for op in module.walk()
    )
    # Where isl's budget ends, the result is named; nothing else may be.
    named = [one for one in context.diagnostics if "the proof takes too long" not in one.message]
    return not (counts.get("open") or named)


def launched(cls):
    """An op's example as launches of tile programs, and how it is called."""
    text, given, sizes = example_of(cls)
    module = parse_module(HEAD + text + "}")
    subject = Subject("main", module.body_block.first.function_type)
    inputs = inputs_of(subject.type.inputs, given, sizes, seed=3)
    PassManager(pipeline(TO_LAUNCHES)).run(module)
    return module, subject, inputs


def run(module, subject, inputs):
    """What goes wrong when it is run, or None."""
    runner = Runner(module, NumericsOptions(max_steps=10_000_000))
    return runner.interpret(subject, [x.copy() for x in inputs]).error


@pytest.mark.sampled(12)
@pytest.mark.parametrize("cls", OPS, ids=lambda cls: cls.name)
def test_examples_are_proven(cls):
    module, _, _ = launched(cls)
    assert prove(module) == (cls.name not in BY_VALUES)


def test_what_the_host_checks_between_launches():
    """That an open batch is one, or fits the other's, is checked after the transpose."""
    text = """func.func @main(%a: tensor<?x16x8xf32>, %b: tensor<?x?x8xf32>) -> tensor<?x?x16xf32> {
      %0 = nn.transpose %a {permutation = array<i64: 0, 2, 1>} : (tensor<?x16x8xf32>) -> tensor<?x8x16xf32>
      %1 = nn.matmul %b, %0 : (tensor<?x?x8xf32>, tensor<?x8x16xf32>) -> tensor<?x?x16xf32>
      return %1 : tensor<?x?x16xf32>
    }"""
    module = parse_module(HEAD + text + "}")
    PassManager(pipeline(TO_LAUNCHES)).run(module)
    assert prove(module)
    for check in [op for op in module.walk() if isinstance(op, cf.Assert)]:
        check.erase()
    with pytest.raises(NncError, match="outside of its buffer"):
        prove(module)


def test_calls_of_declarations_have_nothing_to_prove():
    text = """module {
      func.func private @declared(memref<?xf32>)
      func.func @main(%a: memref<?xf32>) {
        func.call @declared(%a) : (memref<?xf32>) -> ()
        return
      }
    }"""
    assert prove(parse_module(text))


# -- a product in workgroup memory, thread by thread -----------------------------------------------


def staged(text, groups=(2, 2, 1)):
    module = module_of(text, STAGED_TYPES, groups, (4, 4, 1), STAGED_BUFFERS)
    module.verify()
    return module


def test_a_staged_product_is_proven():
    assert prove(staged(STAGED))


@pytest.mark.parametrize(
    ("fault", "said"),
    [
        (lambda t: t.replace("gpu.barrier", "", 1), "reads element .*writes between the same"),
        (lambda t: without_last(t, "gpu.barrier"), "reads element .*writes between the same"),
        (lambda t: t.replace("%s[%ty, %tx]", "%s[%c0, %tx]"), "writes between the same barriers"),
        (lambda t: t.replace("%a2[%m, %n]", "%a2[%ty, %tx]"), "writes in one launch"),
        (lambda t: t.replace("%a2[%m, %n]", "%a2[%m, %n0]"), "writes between the same barriers"),
        (lambda t: t.replace("%a1[%ky, %n]", "%a1[%n, %ky]"), "outside of its buffer"),
    ],
    ids=["first barrier", "second barrier", "a shared place", "groups", "threads", "outside"],
)
def test_what_is_wrong_with_it(fault, said):
    with pytest.raises(NncError, match=said):
        prove(staged(fault(STAGED)))


def without_last(text, word):
    head, _, tail = text.rpartition(word)
    return head + tail


def test_a_pair_that_clashes_is_named():
    """Thread (x, y) reads row y of the first buffer, which the threads of that row wrote."""
    with pytest.raises(NncError) as caught:
        prove(staged(without_last(STAGED, "gpu.barrier")))
    found = re.search(
        r"element \[(\d), (\d)\] in thread \((\d), (\d), 0\) of group (\(.*?\)), "
        r"which thread \((\d), (\d), 0\) of group (\(.*?\))",
        caught.value.message,
    )
    row, column, x, y, group, other_x, other_y, other_group = found.groups()
    assert (row, column) == (other_y, other_x) and y == row and group == other_group
    assert (x, y) != (other_x, other_y)
    assert any("other access" in note.message for note in caught.value.diagnostic.notes)


@pytest.mark.parametrize("groups", [(2, 2, 1), (1, 1, 1), (1, 2, 1), (3, 2, 1), (2, 3, 1)])
def test_as_many_groups_as_there_are_results(groups):
    """2 x 2 groups write all of it; more reach out, and fewer leave a part."""
    if groups == (2, 2, 1):
        assert prove(staged(STAGED, groups))
        return
    fault = "outside of its buffer" if max(groups) > 2 else "written by no launch"
    with pytest.raises(NncError, match=fault):
        prove(staged(STAGED, groups))


PARTING = """%i = gpu.thread_id x
%seven = arith.constant 7 : index
%first = arith.cmpi ult, %i, %seven : index
"""


@pytest.mark.parametrize(
    "body",
    [
        PARTING + "scf.if %first {\n gpu.barrier\n}",
        "%i = gpu.thread_id x\n %c0 = arith.constant 0 : index\n %c1 = arith.constant 1 : index\n"
        "scf.for %k = %c0 to %i step %c1 {\n gpu.barrier\n}",
    ],
    ids=["branch", "loop"],
)
def test_a_barrier_where_threads_part(body):
    module = module_of(body, ["memref<1xf32>"], (1, 1, 1), (16, 1, 1))
    with pytest.raises(NncError, match="stands where threads of a group may diverge"):
        prove(module)


def test_a_loop_of_unknown_length_with_barriers():
    """Rows in turn through one workgroup buffer, however many rows there are."""
    body = """
    %i = gpu.thread_id x
    %c0 = arith.constant 0 : index
    %c1 = arith.constant 1 : index
    %c7 = arith.constant 7 : index
    %j = arith.subi %c7, %i : index
    %n = memref.dim %a0, %c0 : memref<?x8xf32>
    scf.for %k = %c0 to %n step %c1 {
      %x = memref.load %a0[%k, %i] : memref<?x8xf32>
      memref.store %x, %s[%i] : memref<8xf32, #gpu.address_space<workgroup>>
      gpu.barrier
      %y = memref.load %s[%j] : memref<8xf32, #gpu.address_space<workgroup>>
      gpu.barrier
      memref.store %y, %a0[%k, %i] : memref<?x8xf32>
    }"""
    buffers = "workgroup(%s : memref<8xf32, #gpu.address_space<workgroup>>)"
    module = module_of(body, ["memref<?x8xf32>"], (1, 1, 1), (8, 1, 1), buffers)
    assert prove(module)
    once = module_of(
        without_last(body, "gpu.barrier"), ["memref<?x8xf32>"], (1, 1, 1), (8, 1, 1), buffers
    )
    with pytest.raises(NncError, match="between the same barriers"):
        prove(once)


def test_as_many_barriers_as_half_of_the_smaller_number():
    """What a number of barriers asks for speaks of the variables that the number has."""
    body = """
    %i = gpu.thread_id x
    %c0 = arith.constant 0 : index
    %c1 = arith.constant 1 : index
    %c2 = arith.constant 2 : index
    %c7 = arith.constant 7 : index
    %n = memref.dim %a0, %c0 : memref<?xf32>
    %m = arith.minsi %n, %c7 : index
    %half = arith.divui %m, %c2 : index
    scf.for %k = %c0 to %half step %c1 {
      gpu.barrier
    }
    %x = memref.load %s[%i] : memref<8xf32, #gpu.address_space<workgroup>>
    memref.store %x, %s[%i] : memref<8xf32, #gpu.address_space<workgroup>>"""
    buffers = "workgroup(%s : memref<8xf32, #gpu.address_space<workgroup>>)"
    assert prove(module_of(body, ["memref<?xf32>"], (1, 1, 1), (8, 1, 1), buffers))


def test_open_extents_and_the_grid_that_follows_from_them():
    text = """
    module attributes {{gpu.container_module}} {{
      gpu.module @kernels {{
        gpu.func @f(%a: memref<?xf32>, %n: index) kernel {{
          %c64 = arith.constant 64 : index
          %b = gpu.block_id x
          %t = gpu.thread_id x
          %0 = arith.muli %b, %c64 : index
          %i = arith.addi %0, %t : index
          %inside = arith.cmpi ult, %i, {limit} : index
          scf.if %inside {{
            %x = memref.load %a[%i] : memref<?xf32>
            %y = arith.addf %x, %x : f32
            memref.store %y, %a[%i] : memref<?xf32>
          }}
          gpu.return
        }}
      }}
      func.func @main(%a: memref<?xf32>) {{
        %c0 = arith.constant 0 : index
        %c1 = arith.constant 1 : index
        %c2 = arith.constant 2 : index
        %c64 = arith.constant 64 : index
        %n = memref.dim %a, %c0 : memref<?xf32>
        %more = arith.addi %n, %c1 : index
        %groups = arith.ceildivui %n, %c64 : index
        gpu.launch_func @kernels::@f blocks in (%groups, %c1, %c1)
            threads in ({threads}, %c1, %c1) args(%a : memref<?xf32>, {given} : index)
        return
      }}
    }}"""
    assert prove(parse_module(text.format(limit="%n", given="%n", threads="%c64")))
    with pytest.raises(NncError, match="outside of its buffer"):
        prove(parse_module(text.format(limit="%n", given="%more", threads="%c64")))
    doubled = text.format(limit="%n", given="%n", threads="%c64").replace("%0, %t", "%b, %t")
    with pytest.raises(NncError, match="in one launch"):
        prove(parse_module(doubled))


FILL = """
module attributes {{gpu.container_module}} {{
  gpu.module @kernels {{
    gpu.func @fill(%a: memref<?x4xf32>, %rows: index, %first: index) kernel {{
      %c0 = arith.constant 0 : index
      %c8 = arith.constant 8 : index
      %x = arith.constant 1.0 : f32
      %b = gpu.block_id x
      %t = gpu.thread_id x
      %y = gpu.thread_id y
      %0 = arith.muli %b, %c8 : index
      %1 = arith.addi %0, %t : index
      %i = arith.addi %1, %first : index
      %inside = arith.cmpi slt, %i, %rows : index
      scf.if %inside {{
        memref.store %x, %a[%i, %y] : memref<?x4xf32>
      }}
      gpu.return
    }}
  }}
  func.func @main(%a: memref<?x4xf32>, %one: memref<1xf32>) {{
    %c0 = arith.constant 0 : index
    %c1 = arith.constant 1 : index
    %c3 = arith.constant 3 : index
    %c4 = arith.constant 4 : index
    %c8 = arith.constant 8 : index
    %n = memref.dim %a, %c0 : memref<?x4xf32>
    %full = arith.divui %n, %c8 : index
    %groups = arith.ceildivui %n, %c8 : index
    %rest = arith.muli %full, %c8 : index
    {body}
    return
  }}
}}"""
LAUNCH = (
    "gpu.launch_func @kernels::@fill blocks in ({groups}, %c1, %c1) threads in (%c8, {y}, %c1)"
    " args(%a : memref<?x4xf32>, %n : index, {first} : index)\n"
)


@pytest.mark.parametrize(
    ("launches", "missing"),
    [
        ([("%groups", "%c4", "%c0")], False),
        ([("%full", "%c4", "%c0"), ("%c1", "%c4", "%rest")], False),  # A remainder by itself.
        ([("%c1", "%c4", "%rest"), ("%full", "%c4", "%c0")], False),
        ([("%full", "%c4", "%c0")], True),
        ([("%groups", "%c3", "%c0")], True),  # The last column.
        ([("%groups", "%c4", "%c1")], True),  # The first row.
    ],
)
def test_all_of_a_result_is_written(launches, missing):
    """By one launch or several, for all numbers of rows; else an element is named."""
    body = "".join(LAUNCH.format(groups=g, y=y, first=first) for g, y, first in launches)
    module = parse_module(FILL.format(body=body))
    context = PassContext()
    if missing:
        with pytest.raises(NncError, match=r"element \[\d+, \d\] .*is written by no launch"):
            ProveKernels().run(module, context)
    else:
        ProveKernels().run(module, context)
        counts = context.statistics[""]
        assert (counts["whole"], counts["rewritten"]) == (1, 0)


def test_what_is_in_the_way_of_knowing_what_is_written():
    """A launch in a loop of the host; one that writes a thing twice is counted."""
    launch = LAUNCH.format(groups="%full", y="%c4", first="%c0")
    looped = f"scf.for %k = %c0 to %c4 step %c1 {{\n{launch}}}"
    context = PassContext()
    ProveKernels().run(parse_module(FILL.format(body=looped)), context)
    assert context.statistics[""]["partial"] == 1
    assert "runs in a loop or branch of the host" in context.diagnostics[-1].message
    text = FILL.format(body=LAUNCH.format(groups="%groups", y="%c4", first="%c0"))
    store = "memref.store %x, %a[%i, %y] : memref<?x4xf32>"
    again = f"scf.for %k = %c0 to %c8 step %c1 {{\n{store}\n}}"
    again = text.replace(store, again.replace("%c8 step %c1", "%c8 step %c8"))
    twice = again.replace("step %c8", "step %two").replace(
        "%x = arith", "%two = arith.constant 2 : index\n %x = arith"
    )
    for changed, rewritten in ((again, 0), (twice, 1)):
        context = PassContext()
        ProveKernels().run(parse_module(changed), context)
        counts = context.statistics[""]
        assert (counts["whole"], counts["rewritten"]) == (1, rewritten)


def test_an_operand_keeps_what_is_not_written():
    """A buffer that is read before it is written need not be written as a whole."""
    body = LAUNCH.format(groups="%full", y="%c4", first="%c0")
    text = FILL.format(body=body).replace(
        "scf.if %inside {", "scf.if %inside {\n %old = memref.load %a[%i, %y] : memref<?x4xf32>"
    )
    context = PassContext()
    ProveKernels().run(parse_module(text), context)
    assert not context.statistics[""].get("partial", 0)


@pytest.mark.parametrize(("rows", "missing"), [(16, False), (20, True)])
@pytest.mark.parametrize("is_returned", [False, True])
def test_a_buffer_of_the_function(rows, missing, is_returned):
    """Of one of 20 rows, 16 are written, and so many are read as a second kernel says."""
    text = """
    module attributes {{gpu.container_module}} {{
      gpu.module @kernels {{
        gpu.func @set(%a: memref<20xf32>) kernel {{
          %x = arith.constant 1.0 : f32
          %b = gpu.block_id x
          memref.store %x, %a[%b] : memref<20xf32>
          gpu.return
        }}
        gpu.func @get(%a: memref<20xf32>, %c: memref<{rows}xf32>) kernel {{
          %b = gpu.block_id x
          %x = memref.load %a[%b] : memref<20xf32>
          memref.store %x, %c[%b] : memref<{rows}xf32>
          gpu.return
        }}
      }}
      func.func @main(%c: memref<{rows}xf32>) {type} {{
        %c1 = arith.constant 1 : index
        %c16 = arith.constant 16 : index
        %n = arith.constant {rows} : index
        %a = memref.alloc() : memref<20xf32>
        gpu.launch_func @kernels::@set blocks in (%c16, %c1, %c1) threads in (%c1, %c1, %c1) args(%a : memref<20xf32>)
        gpu.launch_func @kernels::@get blocks in (%n, %c1, %c1) threads in (%c1, %c1, %c1) args(%a : memref<20xf32>, %c : memref<{rows}xf32>)
        return {value}
      }}
    }}"""
    returned = ("-> memref<20xf32>", "%a : memref<20xf32>") if is_returned else ("", "")
    module = parse_module(text.format(rows=rows, type=returned[0], value=returned[1]))
    context = PassContext()
    if is_returned:
        with pytest.raises(NncError, match="is written by no launch"):
            ProveKernels().run(module, context)
        return
    ProveKernels().run(module, context)
    said = [d.message for d in context.diagnostics]
    assert len(said) == missing
    assert all("it may read what no launch has written" in message for message in said)


def test_what_is_not_proven_is_said():
    body = """%i = gpu.thread_id x
    %at = memref.load %a0[%i] : memref<8xi64>
    %k = arith.index_cast %at : i64 to index
    %x = memref.load %a1[%k] : memref<8xf32>"""
    module = module_of(body, ["memref<8xi64>", "memref<8xf32>"], (1, 1, 1), (8, 1, 1))
    context = PassContext()
    ProveKernels().run(module, context)
    (remark,) = context.diagnostics
    assert "'memref.load' op is not proven: where it reads or writes depends" in remark.message
    assert remark.location.line == 8
    with pytest.raises(NncError, match="is not proven"):
        ProveKernels(require=True).run(module, PassContext())
