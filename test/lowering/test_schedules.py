"""Schedules, chosen and made at random, against NumPy through the interpreter."""

import random
from dataclasses import replace
from math import prod

import numpy as np
import pytest
from nnc.dialects import linalg, memref, schedule
from nnc.ir.diagnostics import NncError
from nnc.ir.passes import PassContext, PassManager
from nnc.ir.syntax.parser import parse_module
from nnc.kernels.apply_schedules import ApplySchedules
from nnc.kernels.choose_schedules import ChooseSchedules
from nnc.kernels.model.legality import IllegalScheduleError
from nnc.kernels.model.nest import build_nest
from nnc.kernels.model.plan import Loop
from nnc.kernels.model.stages import stages_of
from nnc.kernels.policy.candidates import best, candidates
from nnc.kernels.policy.work import even_share
from nnc.kernels.policy.writer import ScheduleWriter
from nnc.kernels.primitives.accumulate import accumulate
from nnc.kernels.primitives.fuse import fuse
from nnc.kernels.primitives.parallel import parallel
from nnc.kernels.primitives.primitive import carry_out
from nnc.kernels.primitives.split import split
from nnc.kernels.primitives.unroll import unroll
from nnc.kernels.primitives.vectorize import vectorize
from nnc.lowering.pipelines import pipeline
from nnc.numerics.interpreter import Interpreter
from nnc.targets.attribute import attach
from nnc.targets.base import target

from .loop_kernels import KERNELS
from .to_llvm.native import call_native

MACHINES = ("avx512", "avx2", "sse", "cortex-a76")

LARGE = ("matmul_colliding", "matvec_streamed", "attention_blocks")
"""Too large for the interpreter without vectors."""


def run(module, kernel, seed=0):
    """The written arguments after a run."""
    arguments = kernel.arguments(seed)
    expected = kernel.expected(*[a.copy() for a in arguments])
    for out in arguments[len(arguments) - kernel.outputs :]:
        out.fill(7)
    Interpreter(module).call("k", arguments)
    return arguments[len(arguments) - kernel.outputs :], expected


def check(module, kernel):
    for found, expected in zip(*run(module, kernel), strict=True):
        np.testing.assert_allclose(found, expected, rtol=1e-4, atol=1e-4)


def leftovers(module):
    return [
        op.name
        for op in module.walk()
        if isinstance(op, linalg.StructuredOp) or op.name.startswith("schedule.")
    ]


@pytest.mark.sampled(27)
@pytest.mark.parametrize("name", [name for name in KERNELS if name not in LARGE])
def test_plain_loops(name):
    kernel = KERNELS[name]()
    module = parse_module(kernel.text)
    module.verify()
    ApplySchedules("avx512").run(module, PassContext())
    module.verify()
    assert not leftovers(module)
    check(module, kernel)


CHOSEN = [(n, m) for n in KERNELS for m in MACHINES if n not in LARGE or m == "avx512"]


@pytest.mark.sampled(11)
@pytest.mark.parametrize(("name", "machine"), CHOSEN)
def test_chosen_schedule(name, machine):
    kernel = KERNELS[name]()
    module = parse_module(kernel.text)
    ChooseSchedules(machine).run(module, PassContext())
    module.verify()
    again = parse_module(str(module))
    assert str(again) == str(module)
    ApplySchedules(machine).run(again, PassContext())
    again.verify()
    assert not leftovers(again)
    check(again, kernel)


@pytest.mark.sampled(7)
@pytest.mark.parametrize("name", KERNELS)
def test_chosen_schedule_as_machine_code(name):
    """The machine code of this processor, with all that LLVM makes of masks and gathers."""
    kernel = KERNELS[name]()
    module = parse_module(kernel.text)
    for step in (
        "choose-schedules", "apply-schedules", "lower-tiles", "forward-stores",
        "flatten-addresses", "canonicalize", "cse", "expand-math",
    ):  # fmt: skip
        PassManager(pipeline(step)).run(module)
    function = next(op for op in module.body_block if op.name == "func.func")
    del function.properties["sym_visibility"]
    arguments = kernel.arguments()
    expected = kernel.expected(*[a.copy() for a in arguments])
    call_native(str(module), arguments, "k")
    outputs = arguments[len(arguments) - kernel.outputs :]
    for found, wanted in zip(outputs, expected, strict=True):
        np.testing.assert_allclose(found, wanted, rtol=1e-4, atol=1e-4)


def on_one_core(name, machine):
    """A kernel, for one core of a machine."""
    module = parse_module(KERNELS[name]().text)
    one = target(machine)
    attach(module, replace(one, machine=replace(one.machine, cores=1)))
    return module


def buffers(name, machine="avx512"):
    """The types of the buffers that a chosen schedule leaves, and the number of operations."""
    module = on_one_core(name, machine)
    ChooseSchedules().run(module, PassContext())
    ApplySchedules().run(module, PassContext())
    ops = list(module.walk())
    allocations = [op for op in ops if isinstance(op, memref.Alloc | memref.Alloca)]
    return [str(op.results[0].type) for op in allocations], len(ops)


@pytest.mark.parametrize(
    "name", ["matmul", "matmul_transposed", "conv", "conv_pointwise", "scale_add", "matmul_dynamic"]
)
def test_intermediates_stay_in_registers(name):
    assert buffers(name)[0] == []


def test_operands_are_copied_for_many_readers():
    """In panels of the tile's width, over the whole reduction, transposed where needed."""
    assert buffers("matmul_transposed_tall")[0] == ["memref<20x35xf32>"]
    assert buffers("matmul_transposed_wide")[0] == ["memref<32x96xf32>"]
    (copy,) = buffers("matmul_colliding")[0]
    assert int(copy[len("memref<") :].split("x")[0]) % 3 == 0


def test_copies_of_operands_are_inlined():
    assert buffers("matmul_of_transpose")[0] == []
    assert buffers("matmul_of_transpose_tall")[0] == ["memref<20x33xf32>"]


def test_a_large_matrix_is_read_along_its_rows():
    """The loop over rows stands outside that over columns, in chunks that share results."""
    module = on_one_core("matvec_streamed", "avx512")
    ChooseSchedules().run(module, PassContext())
    text = str(module)
    assert "schedule.reorder %no, %ko, %nit, %ki, %m, %niiu, %niiv" in text
    assert "schedule.fuse %fill at %no" in text
    assert buffers("matvec_streamed")[0] == ["memref<2x544xf32>"]


def test_intermediates_of_rows_shrink_to_a_row():
    assert buffers("softmax_3d")[0] == ["memref<1x1x100xf32>"]
    assert buffers("layer_norm")[0] == ["memref<1x70xf32>"]
    assert buffers("softmax_channels")[0] == ["memref<1x4x3x13xf32>"]
    assert buffers("softmax_kept")[0] == ["memref<1x1x70xf32>"]
    assert buffers("softmax_kept_one_row")[0] == ["memref<1x1x50xf32>"]


def test_scores_are_there_for_a_block_of_queries():
    """Rows of 1027 keys, an odd number of cache lines apart; of some heads, all their queries."""
    scores, powers, shares, keys = buffers("attention_blocks")[0]
    assert scores == shares == "memref<1x36x1040xf32>"
    assert powers == "memref<1x1x1027xf32>"
    assert keys == "memref<1x16x1040xf32>"
    assert buffers("attention")[0] == [
        "memref<1x5x21xf32>",
        "memref<1x1x21xf32>",
        "memref<1x5x21xf32>",
    ]


@pytest.mark.parametrize("name", KERNELS)
def test_code_is_bounded(name):
    assert buffers(name)[1] < 1500


# -- parallel loops ----------------------------------------------------------------------------------


def parallel_trips(name, cores):
    """Iterations of each parallel loop that is chosen for so many cores."""
    module = parse_module(KERNELS[name]().text)
    function = module.body_block.first
    machine = replace(target("x86-64-v4").machine, cores=cores, gigahertz=0.001)
    block = function.body.block
    plan = carry_out(best(candidates("k", block, machine), machine).schedule, stages_of(block))
    loops = [l for stage in plan.stages for l in plan.order[stage] if l.at_once]
    return [-(-l.extent // l.step) for l in loops]


def test_one_core_has_no_parallel_loops():
    assert parallel_trips("softmax_kept", 1) == []


@pytest.mark.parametrize("cores", [2, 3, 4])
def test_work_is_shared_evenly(cores):
    for name in ("softmax_kept", "matmul_colliding", "matvec_streamed"):
        assert prod(parallel_trips(name, cores)) >= cores, name


@pytest.mark.parametrize(
    ("extents", "cores", "share"),
    [
        ([(16, 1)], 2, 1.0),
        ([(7, 1)], 2, 7 / 8),
        ([(7, 1), (7, 1)], 2, 49 / 50),
        ([(20, 16)], 2, 20 / 32),
        ([(3, 1)], 4, 3 / 4),
        ([(5, 1)], 3, 5 / 6),
    ],
)
def test_even_share(extents, cores, share):
    loops = [Loop(None, (0,), extent, step=step) for extent, step in extents]
    assert even_share(loops, replace(target("x86-64-v4").machine, cores=cores)) == pytest.approx(
        share
    )


# -- schedules made at random ------------------------------------------------------------------------


def random_order(rng: random.Random, writer: ScheduleWriter, host) -> list[Loop]:
    """Split the host's loops at random; returns the loops in a random order."""
    leaves = []
    for loop in writer.loops(host):
        parts = [loop]
        for _ in range(rng.choice([0, 0, 1, 2])):
            outer, inner = writer.put(split, parts[-1], rng.choice([1, 2, 3, 4, 8, 16]))
            parts[-1:] = [outer, inner]
        leaves.append(parts)
    order = []
    pending = [list(p) for p in leaves]
    while any(pending):
        parts = rng.choice([p for p in pending if p])
        order.append(parts.pop(0))
    return order


def random_schedule(rng: random.Random, stages) -> ScheduleWriter | None:
    """Random splits, orders and kinds on one stage, others fused; None if it is not legal."""
    writer = ScheduleWriter("k", stages)
    host = rng.choice([s for s in stages if s.rank])
    order = random_order(rng, writer, host)
    writer.reorder(order)
    tail = rng.randint(0, min(3, len(order)))
    inner = order[len(order) - tail :]
    for loop in inner[:-1]:
        if isinstance(loop.extent, int) and loop.extent <= 16:
            partial = loop.is_reduction and host.is_reassociable and rng.random() < 0.5
            writer.put(unroll, loop, partial=partial)
    last = inner[-1] if inner else None
    if last is not None and isinstance(last.extent, int) and last.step == 1 and last.extent <= 16:
        writer.put(vectorize, last)
    outer = [l for l in order if l.is_serial]
    if host.has_reduction:
        reductions = [l for l in order if l.is_reduction]
        if rng.random() < 0.8:
            writer.put(accumulate, reductions[0])
    if outer and not outer[0].is_reduction and order[0] is outer[0] and rng.random() < 0.3:
        writer.put(parallel, outer[0])
    for stage in stages:
        if stage is not host and order and rng.random() < 1.5 / len(stages):
            try:
                writer.put(fuse, stage, rng.choice(order[: max(1, len(order) - tail)]))
            except IllegalScheduleError:
                return None
    try:
        build_nest(writer.plan)
    except IllegalScheduleError:
        return None
    return writer


RANDOM = [
    "matmul", "matmul_transposed", "matmul_dynamic", "conv", "conv_stride", "conv_padded",
    "depthwise", "softmax", "softmax_channels", "layer_norm", "scale_add", "reduce_rows",
    "transpose_channels", "argmax_columns", "compare_and_select", "gather_rows", "upsample",
]  # fmt: skip


@pytest.mark.sampled(9)
@pytest.mark.parametrize("name", RANDOM)
def test_random_legal_schedules_keep_the_meaning(name):
    rng = random.Random(name)
    kernel = KERNELS[name]()
    tried = done = 0
    while done < 4 and tried < 100:
        tried += 1
        module = parse_module(kernel.text)
        function = module.body_block.first
        writer = random_schedule(rng, stages_of(function.regions[0].blocks[0]))
        if writer is None:
            continue
        module.body_block.append(writer.op)
        text = str(module)
        again = parse_module(text)
        try:
            ApplySchedules("avx512").run(again, PassContext())
            again.verify()
            check(again, kernel)
        except (AssertionError, NncError) as error:
            raise AssertionError(f"{error}\n{text}") from error
        done += 1
    assert done, f"no legal schedule in {tried}"


def test_every_stage_needs_its_argument():
    kernel = KERNELS["matmul"]()
    module = parse_module(kernel.text + "\nschedule.for @k {\n^bb0(%a: !schedule.stage):\n}")
    with pytest.raises(NncError, match="has 1 stages, but @k has 3 linalg operations"):
        ApplySchedules("avx512").run(module, PassContext())


def test_a_schedule_of_no_function():
    module = parse_module("schedule.for @k {\n^bb0(%a: !schedule.stage):\n}")
    with pytest.raises(NncError, match="there is no function @k"):
        ApplySchedules("avx512").run(module, PassContext())


def test_two_schedules_of_one_function():
    kernel = KERNELS["reduce_rows"]()
    one = "\nschedule.for @k {\n^bb0(%a: !schedule.stage, %b: !schedule.stage):\n}"
    module = parse_module(kernel.text + one + one)
    with pytest.raises(NncError, match="second schedule of @k"):
        schedule.schedules(module)
