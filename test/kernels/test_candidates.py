"""Candidates: what each is expected to take, what is not legal, and that a defect is a defect."""

import pytest
from nnc.dialects import schedule
from nnc.ir.core import Block, Region
from nnc.ir.declare import Op
from nnc.ir.diagnostics import NncError
from nnc.ir.passes import PassContext
from nnc.ir.syntax.parser import parse_module
from nnc.kernels.choose_schedules import ChooseSchedules
from nnc.kernels.model.legality import IllegalScheduleError
from nnc.kernels.model.plan import Plan
from nnc.kernels.model.stages import stages_of
from nnc.kernels.policy.candidates import Candidate, best, candidates
from nnc.kernels.policy.grouping import partition
from nnc.kernels.policy.heuristics import Heuristics
from nnc.kernels.policy.score import prediction, tile_of
from nnc.kernels.policy.writer import ScheduleWriter
from nnc.kernels.primitives.primitive import primitives
from nnc.kernels.primitives.split import split
from nnc.kernels.primitives.unroll import unroll
from nnc.kernels.primitives.vectorize import vectorize
from nnc.targets.base import target

from ..lowering.loop_kernels import KERNELS

AVX512 = target("x86-64-v4").machine


def block_of(name):
    module = parse_module(KERNELS[name]().text)
    block = module.body_block.first.regions[0].blocks[0]
    return module, block


def policies(found):
    return [one.policy for one in found]


def test_every_scheduling_operation_has_its_file():
    declared = [c for c in vars(schedule).values() if isinstance(c, type) and issubclass(c, Op)]
    ops = {c.name for c in declared if "name" in vars(c)}
    assert ops - {"schedule.for"} == set(primitives())


def test_sharing_loops_is_expected_to_be_faster_than_not():
    """Scores follow what is known: rows that stay in cache, results that stay in registers."""
    for name in ("attention", "softmax", "layer_norm", "conv", "matmul"):
        _module, block = block_of(name)
        found = candidates("k", block, AVX512, every=True)
        assert not any(one.fault for one in found)
        cycles = {one.policy: one.cycles for one in found}
        assert cycles["grouped"] < cycles["apart"], name
        assert cycles.get("chained", 0) <= cycles["grouped"], name
    assert policies(candidates("k", block_of("attention")[1], AVX512, every=True)) == [
        "chained", "grouped", "apart",
    ]  # fmt: skip


OPEN_WINDOWS = """
func.func private @k(%x: memref<?x4x?x16xf32>, %w: memref<4x3x16xf32>, %y: memref<?x4x?x16xf32>) attributes {nn.kernel} {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c2 = arith.constant 2 : index
  %zero = arith.constant 0.0 : f32
  %n = memref.dim %x, %c0 : memref<?x4x?x16xf32>
  %p = memref.dim %x, %c2 : memref<?x4x?x16xf32>
  %more = arith.addi %p, %c2 : index
  %padded = memref.alloc(%n, %more) : memref<?x4x?x16xf32>
  %before = memref.subview %padded[0, 0, 0, 0] [%n, 4, 1, 16] [1, 1, 1, 1] : memref<?x4x?x16xf32> to memref<?x4x1x16xf32, strided<[?, ?, 16, 1]>>
  linalg.fill ins(%zero : f32) outs(%before : memref<?x4x1x16xf32, strided<[?, ?, 16, 1]>>)
  %end = arith.addi %p, %c1 : index
  %behind = memref.subview %padded[0, 0, %end, 0] [%n, 4, 1, 16] [1, 1, 1, 1] : memref<?x4x?x16xf32> to memref<?x4x1x16xf32, strided<[?, ?, 16, 1], offset: ?>>
  linalg.fill ins(%zero : f32) outs(%behind : memref<?x4x1x16xf32, strided<[?, ?, 16, 1], offset: ?>>)
  %inside = memref.subview %padded[0, 0, 1, 0] [%n, 4, %p, 16] [1, 1, 1, 1] : memref<?x4x?x16xf32> to memref<?x4x?x16xf32, strided<[?, ?, 16, 1], offset: 16>>
  linalg.copy ins(%x : memref<?x4x?x16xf32>) outs(%inside : memref<?x4x?x16xf32, strided<[?, ?, 16, 1], offset: 16>>)
  linalg.fill ins(%zero : f32) outs(%y : memref<?x4x?x16xf32>)
  linalg.generic {indexing_maps = [affine_map<(n, g, p, c, k) -> (n, g, p + k, c)>, affine_map<(n, g, p, c, k) -> (g, k, c)>, affine_map<(n, g, p, c, k) -> (n, g, p, c)>], iterator_types = ["parallel", "parallel", "parallel", "parallel", "reduction"]} ins(%padded, %w : memref<?x4x?x16xf32>, memref<4x3x16xf32>) outs(%y : memref<?x4x?x16xf32>) {
  ^bb0(%a: f32, %b: f32, %c: f32):
    %0 = arith.mulf %a, %b : f32
    %1 = arith.addf %c, %0 : f32
    linalg.yield %1 : f32
  }
  memref.dealloc %padded : memref<?x4x?x16xf32>
  return
}
"""  # fmt: skip


def test_padding_at_an_open_end_stays_outside():
    """It has to come after one part of the padding and before another: none of them is moved."""
    module = parse_module(OPEN_WINDOWS)
    block = module.body_block.first.regions[0].blocks[0]
    for one in candidates("k", block, AVX512, every=True):
        assert not one.fault, one
    partition_of = {s.index: g for g in partition(stages_of(block)) for s in (*g.maps, *g.feeders)}
    windows = partition_of[4]
    assert windows.kind == "tile" and not windows.feeders
    assert [partition_of[i] is windows for i in range(5)] == [False, False, False, True, True]


def test_loops_that_do_not_fit_the_machine_are_expected_to_be_slower():
    """The plain loops of a product take more than its chosen tile, on every machine."""
    for name in ("x86-64", "x86-64-v3", "x86-64-v4"):
        machine = target(name).machine
        _module, block = block_of("matmul")
        chosen = best(candidates("k", block, machine), machine)
        plain = prediction(Plan(stages_of(block)), machine).terms.cycles
        assert chosen.cycles < plain / 2


def test_the_tile_of_a_plan_is_the_one_that_was_written():
    _module, block = block_of("matmul")
    writer = ScheduleWriter("k", stages_of(block))
    product = next(s for s in writer.plan.stages if s.has_reduction)
    rows, columns, depth = writer.loops(product)
    ro, ri = writer.put(split, rows, 3)
    co, ci = writer.put(split, columns, 32)
    cu, cv = writer.put(split, ci, 16)
    writer.reorder([ro, co, depth, ri, cu, cv])
    writer.put(unroll, ri)
    writer.put(unroll, cu)
    writer.put(vectorize, cv)
    tile = tile_of(writer.plan, product)
    assert (tile.lane_dim, tile.lanes, tile.size(0), tile.size(1)) == (1, 16, 3, 32)


def test_an_illegal_candidate_says_why_and_another_is_taken(monkeypatch):
    def refuse(self, group):
        raise IllegalScheduleError("schedule: a circle")

    monkeypatch.setattr(Heuristics, "group", refuse)
    _module, block = block_of("matmul")
    found = candidates("k", block, AVX512)
    assert policies(found) == ["grouped", "apart", "plain"]
    assert str(found[0]) == "grouped: schedule: a circle"
    assert best(found, AVX512) is found[2]


def test_what_candidates_made_leaves_nothing_behind():
    """Copies of operands are operations, which use the kernel's arguments while they are there."""
    _module, block = block_of("matmul_transposed_tall")
    before = [len(list(arg.uses)) for arg in block.args]
    found = candidates("k", block, AVX512, every=True)
    assert "schedule.cache" in str(found[0].schedule)
    assert [len(list(arg.uses)) for arg in block.args] == before


@pytest.mark.parametrize("error", [NncError("not about legality"), KeyError("a bug")])
def test_a_defect_of_a_policy_is_not_taken_for_a_slow_schedule(monkeypatch, error):
    def fail(self, group):
        raise error

    monkeypatch.setattr(Heuristics, "group", fail)
    module = parse_module(KERNELS["matmul"]().text)
    with pytest.raises(type(error)):
        ChooseSchedules("avx512").run(module, PassContext())


def test_a_later_candidate_is_taken_where_it_is_clearly_better():
    one = schedule.For("k", Region([Block()]))
    first = Candidate("grouped", one, 100.0)
    assert best([first, Candidate("apart", one, 95.0)], AVX512) is first
    assert best([first, better := Candidate("apart", one, 50.0)], AVX512) is better
    assert best([Candidate("chained", one, fault="no"), first], AVX512) is first
