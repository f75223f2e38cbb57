"""Distributes parallel loops of scalar code over the threads of groups, not only over groups."""

from __future__ import annotations

from math import prod

from ..dialects import arith, cf, gpu, memref, scf
from ..dialects.gpu.attributes import MAPPING, BlockMapping
from ..dialects.marks import THREADS
from ..ir.attributes import ArrayAttr, I64Attr, IntegerAttr
from ..ir.builder import Builder
from ..ir.core import IRMapping, Operation, Value
from ..ir.rewriting import constant_int
from ..ir.types import VectorType
from ..targets.machine import Machine
from .parallel_nest import ParallelNest, move_body, unflattened


def put_side_by_side(loop: scf.Parallel, machine: Machine) -> None:
    """Give each iteration of a loop whose groups have one thread a thread of a wider group.

        scf.parallel (%i) = (%c0) to (%n) step (%c1) { body(%i) } {nn.threads = 1}
            ->
        scf.parallel (%g) = (%c0) to (%n ceildiv 32) step (%c1) {
          %t = gpu.thread_id x
          %i = 32 * %g + %t
          scf.if %i < %n { body(%i) }
        } {nn.threads = 32}

    With one thread in a group, the other threads that run in lockstep with it would idle. Several
    dimensions of known extents are merged into one; otherwise the last one is divided. Loops whose
    bodies have vectors, checks or buffers of their own are not changed, as these belong to a group.
    """
    threads = _threads(loop, machine)
    if threads == 1:
        return
    nest = ParallelNest(loop)
    before = Builder.before_op(loop)
    lengths = nest.lengths(before, IRMapping())
    known = [constant_int(n) for n in lengths]
    first = nest.rank - 1 if None in known else 0
    counted = lengths[first:]
    total = counted[0]
    for n in counted[1:]:
        total = before.insert(arith.MulI(total, n)).result
    zero, one, wide = (before.insert(arith.Constant.index(n)).result for n in (0, 1, threads))
    uppers = [*lengths[:first], before.insert(arith.CeilDivUI(total, wide)).result]
    rank = len(uppers)
    made = before.insert(scf.Parallel.of([zero] * rank, uppers, [one] * rank, loc=loop.loc))
    made.attributes[THREADS] = I64Attr(threads)
    made.attributes[MAPPING] = ArrayAttr((BlockMapping("x"),) * rank)
    inside = Builder.at_end(made.body_block, loop.loc)
    *outer, group = made.body_block.args
    thread = inside.insert(gpu.ThreadId("x")).result
    at = inside.insert(arith.AddI(inside.insert(arith.MulI(group, wide)).result, thread)).result
    is_there = inside.insert(arith.CmpI("ult", at, total)).result
    branch = inside.insert(scf.If.of(is_there, loc=loop.loc))
    inside.insert(scf.Reduce([], []))
    body = Builder.at_end(branch.then_block, loop.loc)
    numbers = [*outer, *unflattened(body, at, counted[1:])]
    mapping = IRMapping()
    places = nest.counters(body, numbers, mapping)
    move_body(loop.body_block, branch.then_block, places, mapping)
    Builder.at_end(branch.then_block, loop.loc).insert(scf.Yield([]))
    loop.erase()


def _threads(loop: scf.Parallel, machine: Machine) -> int:
    """How many iterations a group should have: as many as run in lockstep, if no core is idle."""
    said = loop.attributes.get(THREADS)
    if not isinstance(said, IntegerAttr) or said.value != 1 or loop.results:
        return 1
    if any(_is_of_group(op) for op in loop.walk() if op is not loop):
        return 1
    numbers = [constant_int(v) for v in (*loop.lower, *loop.upper, *loop.step)]
    threads = machine.together
    if None not in numbers:
        trips = zip(loop.lower, loop.upper, loop.step, strict=True)
        total = prod(len(range(*map(_number, one))) for one in trips)
        while threads > 1 and total < threads * machine.cores:
            threads //= 2
    return threads


def _number(value: Value) -> int:
    number = constant_int(value)
    assert number is not None
    return number


def _is_of_group(op: Operation) -> bool:
    """Whether an operation needs a whole group, or threads that go the same way."""
    if isinstance(op, memref.Alloca | cf.Assert | scf.Parallel) or op.name.startswith("gpu."):
        return True
    return any(isinstance(v.type, VectorType) for v in (*op.operands, *op.results))
