"""Lines of global memory and turns of banks, against counts by hand."""

from __future__ import annotations

import numpy as np
import pytest
from nnc.ir.passes import PassContext
from nnc.ir.syntax.parser import parse_module
from nnc.kernels.codegen.shares.layouts import Along, Layout
from nnc.kernels.codegen.shares.padding import padding_of_rows
from nnc.kernels.proof.prove_kernels import ProveKernels
from nnc.numerics.interpreter import Interpreter
from nnc.targets.transactions import DeviceMemory

from ..numerics.test_launches import SHARED, module_of
from .test_distribute_tiles import distribute

pytest.importorskip("islpy")

COUNTS = ("lines", "lines-needed", "turns", "turns-needed")


def counts_of(module):
    """All four counts, and the remarks."""
    context = PassContext()
    ProveKernels(counts=True).run(module, context)
    found = context.statistics.get("", {})
    return tuple(found.get(name, 0) for name in COUNTS), [d.message for d in context.diagnostics]


def loaded(index, type="memref<4096xf32>", threads=32):
    """Each thread reads the element at an index that is made of its number."""
    body = f"""%t = gpu.thread_id x
    %c0 = arith.constant 0 : index
    {index}
    %x = memref.load %a0[%i] : {type}"""
    return module_of(body, [type], (1, 1, 1), (threads, 1, 1))


def times(number):
    return f"%by = arith.constant {number} : index\n %i = arith.muli %t, %by : index"


@pytest.mark.parametrize(
    ("index", "lines", "least"),
    [
        (times(1), 4, 4),  # 128 bytes.
        (times(2), 8, 4),
        (times(8), 32, 4),  # Each in a line of its own.
        ("%i = arith.addi %t, %c0 : index", 4, 4),
        ("%c5 = arith.constant 5 : index\n %i = arith.addi %t, %c5 : index", 5, 4),  # Not aligned.
        (
            "%c9 = arith.constant 9 : index\n %i = arith.remui %c9, %c9 : index",
            1,
            1,
        ),  # One for all.
    ],
    ids=["beside", "every second", "a line each", "plus nothing", "shifted", "the same"],
)
def test_lines(index, lines, least):
    counts, remarks = counts_of(loaded(index + "\n%never = gpu.thread_id y"))
    assert counts == (lines, least, 0, 0)
    assert len(remarks) == (lines > least)
    if remarks:
        assert f"touches {lines} lines of 32 bytes where {least} suffice" in remarks[0]


def test_a_subgroup_of_all_threads_is_looked_at():
    assert counts_of(loaded(times(1), threads=128))[0] == (4, 4, 0, 0)
    assert counts_of(loaded(times(1), threads=8))[0] == (1, 1, 0, 0)


def test_threads_that_do_not_take_part():
    body = """%t = gpu.thread_id x
    %c0 = arith.constant 0 : index
    %c8 = arith.constant 8 : index
    %i = arith.muli %t, %c8 : index
    %few = arith.cmpi ult, %t, %c8 : index
    scf.if %few {
      %x = memref.load %a0[%i] : memref<4096xf32>
    } else {
      %y = memref.load %a0[%t] : memref<4096xf32>
    }"""
    module = module_of(body, ["memref<4096xf32>"], (1, 1, 1), (32, 1, 1))
    # 8 threads in 8 lines, where one would do; elements 8 to 31 in 3.
    assert counts_of(module)[0] == (11, 4, 0, 0)


@pytest.mark.parametrize(
    ("row", "at", "turns"),
    [
        (32, "%c0, %t", 1),
        (32, "%t, %c0", 32),  # A column: all in one bank.
        (33, "%t, %c0", 1),
        (34, "%t, %c0", 2),
        (36, "%t, %c0", 4),
        (32, "%c0, %c0", 1),  # One word for all.
    ],
)
def test_turns_of_banks(row, at, turns):
    type = f"memref<32x{row}xf32, {SHARED}>"
    body = f"""%t = gpu.thread_id x
    %c0 = arith.constant 0 : index
    %x = memref.load %s[{at}] : {type}"""
    module = module_of(body, ["memref<1xf32>"], (1, 1, 1), (32, 1, 1), f"workgroup(%s : {type})")
    counts, remarks = counts_of(module)
    assert counts == (0, 0, turns, 1)
    assert len(remarks) == (turns > 1)


def test_vectors_are_read_in_what_a_thread_reads_at_once():
    """8 elements of each thread are two reads of 16 bytes, each half of 32 lines; 4 are one of 16."""
    for width, lines in ((8, 64), (4, 16)):
        body = f"""%t = gpu.thread_id x
        %w = arith.constant {width} : index
        %i = arith.muli %t, %w : index
        %p = arith.constant 0.0 : f32
        %x = vector.transfer_read %a0[%i], %p {{in_bounds = [true]}} : memref<4096xf32>, vector<{width}xf32>"""
        module = module_of(body, ["memref<4096xf32>"], (1, 1, 1), (32, 1, 1))
        assert counts_of(module)[0] == (lines, 4 * width, 0, 0)


COPY = """
module attributes {{gpu.container_module}} {{
  gpu.module @kernels {{
    gpu.func @f(%a: memref<{m}x{n}xf32>, %b: memref<{m}x{n}xf32>, %c: memref<{n}x{m}xf32>) kernel {{
      %c0 = arith.constant 0 : index
      %p = arith.constant 0.0 : f32
      %x = vector.transfer_read %a[%c0, %c0], %p {{in_bounds = [true, true]}} : memref<{m}x{n}xf32>, vector<{m}x{n}xf32>
      %y = math.exp %x : vector<{m}x{n}xf32>
      vector.transfer_write %y, %b[%c0, %c0] {{in_bounds = [true, true]}} : vector<{m}x{n}xf32>, memref<{m}x{n}xf32>
      {more}
      gpu.return
    }}
  }}
  func.func @main(%a: memref<{m}x{n}xf32>, %b: memref<{m}x{n}xf32>, %c: memref<{n}x{m}xf32>) {{
    %c1 = arith.constant 1 : index
    gpu.launch_func @kernels::@f blocks in (%c1, %c1, %c1) threads in (%c1, %c1, %c1) args(%a : memref<{m}x{n}xf32>, %b : memref<{m}x{n}xf32>, %c : memref<{n}x{m}xf32>)
    return
  }}
}}"""

TURNED = """%z = vector.transpose %x, [1, 0] : vector<{m}x{n}xf32> to vector<{n}x{m}xf32>
      %e = math.sqrt %z : vector<{n}x{m}xf32>
      vector.transfer_write %e, %c[%c0, %c0] {{in_bounds = [true, true]}} : vector<{n}x{m}xf32>, memref<{n}x{m}xf32>"""


@pytest.mark.parametrize(
    "shape", [(16, 96), (8, 512), (32, 32), (64, 8), (64, 2), (1, 1024)], ids=str
)
@pytest.mark.parametrize("threads", [32, 128])
def test_rows_are_whole_lines(shape, threads):
    """However many elements a thread has, what a subgroup reads and writes at once is whole lines."""
    m, n = shape
    module = parse_module(COPY.format(m=m, n=n, more=""))
    assert distribute(module, threads) == (1, 0)
    (lines, least, _, _), remarks = counts_of(module)
    assert lines == least and not remarks


def test_a_transposition_goes_through_padded_rows():
    """It is read and written in whole lines, and by rows longer by 4 has half the conflicts.

    8 writes take 4 turns each. In each of 8 reads 32 threads want 4 words, of rows 4 apart: without
    the padding all in 8 banks, which makes 16 turns; with it in 16, which makes 8; 4 would be best.
    """
    module = parse_module(COPY.format(m=64, n=64, more=TURNED.format(m=64, n=64)))
    distribute(module, 128)
    (lines, least, turns, least_turns), remarks = counts_of(module)
    assert lines == least
    assert (turns, least_turns) == (8 * 4 + 8 * 8, 8 * 4 + 8 * 4)
    assert [r for r in remarks if "takes 64 bank cycles where 32 suffice" in r] == remarks
    a = np.random.default_rng(1).random((64, 64)).astype(np.float32)
    b, c = np.zeros_like(a), np.zeros_like(a)
    Interpreter(module).call("main", [a, b, c])
    np.testing.assert_array_equal(c, np.sqrt(a.T))


KEPT = """%s = memref.alloca() : memref<{m}x{n}xf32>
      vector.transfer_write %y, %s[%c0, %c0] {{in_bounds = [true, true]}} : vector<{m}x{n}xf32>, memref<{m}x{n}xf32>
      %z = vector.transfer_read %s[%c0, %c0], %p {{in_bounds = {inside}, permutation_map = affine_map<(i, j) -> (j, i)>}} : memref<{m}x{n}xf32>, vector<{read}x{m}xf32>
      vector.transfer_write %z, %c[%c0, %c0] {{in_bounds = [false, true]}} : vector<{read}x{m}xf32>, memref<{n}x{m}xf32>"""


@pytest.mark.parametrize(
    ("shape", "read", "is_padded"),
    [
        ((32, 32), 32, True),
        ((32, 60), 64, False),  # What is read beyond the rows is the padding value.
        ((128, 64), 64, False),  # It is all the memory that a group has.
    ],
)
def test_rows_of_a_kernels_own_buffers_are_padded(shape, read, is_padded):
    """Which are the group's: threads that read a column of theirs want different banks."""
    m, n = shape
    inside = "[true, true]" if read == n else "[false, true]"
    more = KEPT.format(m=m, n=n, read=read, inside=inside)
    module = parse_module(COPY.format(m=m, n=n, more=more))
    distribute(module, 32)
    (kept,) = [b.type.shape for k in module.walk() for b in getattr(k, "workgroup_buffers", ())]
    assert (kept != shape) == is_padded
    if is_padded:
        _, _, turns, least = counts_of(module)[0]
        assert turns <= 2 * least
    a = np.random.default_rng(1).random(shape).astype(np.float32)
    b, c = np.zeros_like(a), np.zeros((n, m), np.float32)
    Interpreter(module).call("main", [a, b, c])
    np.testing.assert_allclose(c, np.exp(a.T), rtol=1e-6, atol=0)


def test_padding_is_none_where_nothing_conflicts():
    rows = Layout((Along(1, 1, 1), Along(4, 32, 1)))
    columns = Layout((Along(1, 32, 1), Along(1)))
    memory = DeviceMemory()
    assert padding_of_rows([rows, rows], (1, 128), 4, 32, memory) == 0
    assert padding_of_rows([columns], (32, 32), 4, 32, memory) == 1
