"""Schedules for devices: every op's kernels and open ones, dealt out and proven; what tiles they get."""

from __future__ import annotations

import itertools
import re
from dataclasses import replace

import numpy as np
import pytest
from nnc.dialects import gpu, memref
from nnc.ir.diagnostics import NncError
from nnc.ir.passes import PassContext, PassManager
from nnc.ir.syntax.parser import parse_module
from nnc.kernels.model.stages import stages_of
from nnc.kernels.policy.coalescing import thread_extents
from nnc.kernels.policy.group_tiles import GroupTiles
from nnc.kernels.policy.writer import ScheduleWriter
from nnc.kernels.proof.prove_kernels import ProveKernels
from nnc.lowering.pipelines import pipeline
from nnc.targets import base

from ..lowering.running import inputs_of
from ..lowering.test_nn_to_linalg import OPS, example_of
from ..targets import devices
from .device_schedules import (  # noqa: F401
    TO_SCHEDULES,
    _devices,
    check,
    for_device,
    product,
    results,
    schedule,
    tiles_of,
)
from .test_distribute_tiles import LARGE, kernels_of
from .test_prove_kernels import BY_VALUES, prove


@pytest.mark.sampled(21)
@pytest.mark.parametrize("cls", OPS, ids=lambda cls: cls.name)
def test_example(cls):
    """Every op on one of the devices: results, and the proof of each kernel."""
    text, given, sizes = example_of(cls)
    device = ("t4", "pocl")[OPS.index(cls) % 2]
    module, subject = for_device(device, text)
    inputs = inputs_of(subject.type.inputs, given, sizes, seed=3)
    check(module, subject, inputs, 2 if cls.name in LARGE else None)
    is_clamped = "gather" in cls.name
    is_by_ranks = cls.name in ("nn.sort_rows", "nn.non_zero") and device == "t4"
    assert prove(module) == (is_clamped or is_by_ranks or cls.name not in BY_VALUES)


OPEN = {
    "elementwise": """
      func.func @main(%x: tensor<?x?xf32>) -> tensor<?x?xf32> {
        %y = nn.tanh %x : (tensor<?x?xf32>) -> tensor<?x?xf32>
        return %y : tensor<?x?xf32>
      }""",
    "rows": """
      func.func @main(%x: tensor<?x?xf32>) -> tensor<?x?xf32> {
        %y = nn.softmax %x {axis = 1 : i64} : (tensor<?x?xf32>) -> tensor<?x?xf32>
        return %y : tensor<?x?xf32>
      }""",
    "columns": """
      func.func @main(%x: tensor<?x?xf32>) -> tensor<?xf32> {
        %y = nn.reduce_sum %x {axes = array<i64: 0>} : (tensor<?x?xf32>) -> tensor<?xf32>
        return %y : tensor<?xf32>
      }""",
    "transposed": """
      func.func @main(%x: tensor<?x?xf32>) -> tensor<?x?xf32> {
        %y = nn.transpose %x {permutation = array<i64: 1, 0>} : (tensor<?x?xf32>) -> tensor<?x?xf32>
        return %y : tensor<?x?xf32>
      }""",
    "product": """
      func.func @main(%x: tensor<?x?xf32>) -> tensor<?x?xf32> {
        %t = nn.transpose %x {permutation = array<i64: 1, 0>} : (tensor<?x?xf32>) -> tensor<?x?xf32>
        %y = nn.matmul %x, %t : (tensor<?x?xf32>, tensor<?x?xf32>) -> tensor<?x?xf32>
        return %y : tensor<?x?xf32>
      }""",
}
"""Kernels whose extents only the run tells."""


BY_DEFAULT = {
    ("elementwise", "pocl", (7, 130)),
    ("rows", "pocl", (0, 5)),
    ("rows", "pocl", (3, 33)),
    ("columns", "t4", (3, 33)),
    ("transposed", "t4", (5, 0)),
    ("transposed", "pocl", (70, 9)),
    ("product", "t4", (3, 33)),
    ("product", "pocl", (1, 1)),
}
"""Of each kernel a device and extents that are quick; a group of a T4 takes long to interpret."""


def open_cases():
    shapes = [(1, 1), (0, 5), (5, 0), (3, 33), (7, 130), (70, 9)]
    for name, device, shape in itertools.product(OPEN, ("t4", "pocl"), shapes):
        if name == "rows":  # each row has a group, and all of them do the same
            shape = {(70, 9): (2, 70), (7, 130): (2, 130)}.get(shape, shape)
        thorough = (name, device, shape) not in BY_DEFAULT
        marks = [pytest.mark.thorough] * thorough
        yield pytest.param(name, device, shape, marks=marks, id=f"{name}-{device}-{shape}")


@pytest.mark.parametrize(("name", "device", "shape"), list(open_cases()))
def test_open_extents(name, device, shape):
    """Groups at the edges mask what is beyond."""
    module, subject = for_device(device, OPEN[name])
    x = np.random.default_rng(0).standard_normal(shape).astype(np.float32)
    check(module, subject, [x], threads=4)
    context = PassContext()
    ProveKernels().run(module, context)
    # Not that all is written: rows seen as one line are a product of extents.
    counts = context.statistics[""]
    assert counts["proven"] and not counts.get("open")


def test_rows_that_are_repeated_if_there_is_one():
    """The strides that the host chooses are proven for each choice, and a wrong choice is found."""
    text = """
      func.func @main(%x: tensor<?x5xf32>, %y: tensor<?x5xf32>) -> tensor<?x5xf32> {
        %z = nn.add %x, %y : (tensor<?x5xf32>, tensor<?x5xf32>) -> tensor<?x5xf32>
        return %z : tensor<?x5xf32>
      }"""
    rng = np.random.default_rng(0)
    for counts in [(1, 3), (3, 1), (2, 2)]:
        module, subject = for_device("pocl", text)
        check(module, subject, [rng.standard_normal((n, 5), np.float32) for n in counts], threads=2)
    context = PassContext()
    ProveKernels().run(module, context)
    assert context.statistics[""]["proven"] and not context.diagnostics
    chosen = re.compile(r"arith.select (%\w+), (%c0\w*), (%\w+) : index")
    wrong, count = chosen.subn(r"arith.select \1, \3, \2 : index", str(module))
    assert count
    with pytest.raises(NncError, match="outside of its buffer"):
        ProveKernels().run(parse_module(wrong), PassContext())


def test_sums_of_nothing():
    """A product whose terms are none is zero."""
    module, subject = for_device("pocl", product(3, 4, 0))
    check(module, subject, [np.ones((3, 0), np.float32), np.ones((0, 4), np.float32)], threads=4)


@pytest.mark.thorough
def test_open_rows_are_not_kept_in_a_group():
    """Exponentials that are computed, and then added up: a group's memory has a known size."""
    text = """
      func.func @main(%x: tensor<?x?xf32>) -> tensor<?xf32> {
        %y = nn.reduce_log_sum_exp %x {axes = array<i64: 1>} : (tensor<?x?xf32>) -> tensor<?xf32>
        return %y : tensor<?xf32>
      }"""
    module, subject = for_device("t4", text)
    x = np.random.default_rng(0).standard_normal((2, 70)).astype(np.float32)
    check(module, subject, [x], threads=32)
    kernels = kernels_of(module)
    made = [op for one in kernels for op in one.walk() if isinstance(op, memref.Alloc)]
    assert kernels and all(op.memref.type.has_static_shape for op in made)


def test_large_products_have_square_shares():
    ((tile,),) = tiles_of("t4", product(1024, 1024, 1024))
    each = thread_extents(tile.sizes, tile.threads)
    assert sorted(each.values()) in ([4, 8], [8, 8])
    assert tile.groups >= devices.T4.cores


def model_of(name, text):
    """The machine, and the tiles that are looked at of the only stage of a text's only kernel."""
    module, _ = for_device(name, text)
    PassManager(pipeline(TO_SCHEDULES.replace(",choose-schedules", ""))).run(module)
    (kernel,) = [op for op in module.body_block if "nn.kernel" in op.attributes]
    writer = ScheduleWriter(kernel.sym_name, stages_of(kernel.body.blocks[0]))
    stage = next(one for one in writer.plan.stages if one.has_reduction)
    machine = base.target(name).machine
    return machine, GroupTiles(stage, machine, writer.loops(stage))


@pytest.mark.parametrize("staged", [False, True])
@pytest.mark.parametrize("name", ["t4", "opencl-cpu"])
def test_tiles_are_estimated_alike_alone_and_among_others(name, staged):
    """Thousands at once: the best and those after it, some of them with edges, take what each of
    them does alone.
    """
    _, model = model_of(name, product(60, 56, 48))
    best = model.best(staged=staged)
    found = [best, *model.others(best, staged=staged)]
    assert len({str(tile) for tile in found}) > 8
    assert [tile.cycles for tile in found] == sorted(tile.cycles for tile in found)
    for tile in found:
        again = model.estimated(tile.lane_dim, tile.sizes, tile.threads, tile.staging)
        assert again == tile


def test_a_product_on_a_device_by_hand():
    """On a T4, 64 groups of 256 threads, each with 4 x 4 of 64 x 64 results: all at home on 40
    cores at once, two groups on some of them.
    """
    machine, model = model_of("t4", product(512, 512, 256))
    tile = model.estimated(1, {1: 64, 0: 64}, 256)
    points = 64 * 64 * 256
    read = 2 * 64 * 256 * 4 + 64 * 64 * 4
    memory = 3 * 512 * 512 * 4 - 2 * 512 * 256 * 4
    assert (tile.groups, machine.cores) == (64, 40)
    hidden = machine.costs.algorithms.hidden
    assert tile.terms.by_resource["arithmetic"] in (
        pytest.approx(2 * points / machine.units * part) for part in (1, hidden)
    )
    assert tile.terms.by_resource["l2"] == pytest.approx(hidden * 2 * read / machine.l2_bandwidth)
    assert tile.terms.by_resource["memory"] == pytest.approx(
        hidden * memory / (40 * machine.memory_bandwidth)
    )


def test_threads_share_the_sum_of_a_thin_product():
    """One row: 1000 columns are few threads for a device of 40960, so the sum is shared."""
    ((tile, *_),) = tiles_of("t4", product(1, 1000, 1280))
    assert tile.size(2) > 1 or tile.parts > 1
    assert tile.groups * tile.threads >= devices.T4.cores * devices.T4.subgroup * 4


@pytest.mark.parametrize(
    ("whole", "parts", "steps"),
    [
        (320, 4, 80),  # By lines of 32 three groups had 96, and one 32.
        (1024, 8, 128),
        (1000, 4, 256),  # 250 are no whole sectors: the last group has 232.
        (197, 2, 128),
    ],
)
def test_groups_have_equal_parts_of_a_sum_if_they_can(whole, parts, steps):
    _, model = model_of("t4", product(64, 64, 320))
    model.machine = replace(model.machine, line_bytes=128, sector_bytes=32)
    assert model.part_steps(whole, parts) == steps


def test_groups_share_the_sum_of_a_product_of_few_results():
    """16 rows: tiles for 32 of 40 cores would read 4096 rows of the weights one after the other."""
    ((tile, combined),) = tiles_of("t4", product(16, 1024, 4096))
    assert tile.parts > 1 and combined.parts == 1
    assert tile.groups >= 0.8 * devices.T4.cores * -(-tile.groups // devices.T4.cores)


@pytest.mark.parametrize("shape", [(56, 56, 64), (28, 168, 256), (112, 24, 32)], ids=str)
def test_a_processor_has_tiles_without_edges(shape):
    """It has no masks here: each lane that may lie beyond an edge would be asked for by itself."""
    ((tile, *_),) = tiles_of("opencl-cpu", product(*shape))
    for dim, size in tile.sizes.items():
        assert shape[dim] % size == 0, tile
    elements = tile.elements // tile.threads
    assert elements * tile.threads == tile.elements and elements % 4 == 0, tile


@pytest.mark.parametrize(
    "shape",
    [
        pytest.param((1024, 1024, 1024), marks=pytest.mark.thorough),  # tiles are those of the next
        (256, 384, 512),
        (512, 77, 200),
    ],
    ids=str,
)
def test_operands_of_products_are_in_the_memory_of_groups(shape):
    """Each access moves whole lines, no banks conflict, and a processor's caches do as well."""
    text = product(*shape)
    ((tile, *_),) = tiles_of("t4", text)
    assert tile.staging is not None and tile.staging.numbers == (0, 1)
    ((tile, *_),) = tiles_of("pocl", text)
    assert tile.staging is None
    module, _ = for_device("t4", text)
    schedule(module)
    context = PassContext()
    ProveKernels(counts=True).run(module, context)
    counts = context.statistics[""]
    assert counts["turns"] == counts["turns-needed"] > 0
    assert counts["lines-needed"] >= 0.95 * counts["lines"] or shape[1] % 4


def test_groups_of_large_products_run_in_blocks():
    """32 MB of weights do not fit the second cache: groups at work share rows and columns of it."""
    ((tile,),) = tiles_of("t4", product(8192, 8192, 1024))
    assert tile.rows > 1


@pytest.mark.parametrize("shape", [(9, 12, 20), (3, 12, 64)], ids=str)
def test_staged_and_split_products(shape):
    """The same results, also at edges and where groups share the sum."""
    m, n, k = shape
    module, subject = for_device("t4", product(m, n, k))
    rng = np.random.default_rng(1)
    inputs = [rng.standard_normal(s).astype(np.float32) for s in ((m, k), (k, n))]
    check(module, subject, inputs, threads=4)
    prove(module)


def test_a_row_belongs_to_a_group():
    ((tile,),) = tiles_of("t4", OPEN["rows"].replace("?x?", "512x768"))
    assert tile.groups * tile.in_turn == 512
    assert 768 % tile.elements == 0 and tile.elements >= 384


def test_groups_compute_short_rows_in_turn():
    """Rows of 32 elements: a group has a subgroup for a row, and several rows one by one."""
    ((tile,),) = tiles_of("cuda", layer_norm("1x3136"))
    assert tile.in_turn > 1 and tile.groups * tile.in_turn == 3136
    ((few,),) = tiles_of("cuda", layer_norm("1x67"))
    assert few.in_turn == 1
    ((several,),) = tiles_of("cuda", layer_norm("3x136"))
    assert several.in_turn > 1


@pytest.mark.thorough
def test_numbers_of_short_rows_in_turn():
    module, subject = for_device("cuda", layer_norm("3x136"))
    rng = np.random.default_rng(1)
    inputs = [rng.standard_normal(s).astype(np.float32) for s in ((3, 136, 32), (32,), (32,))]
    mean, variance = (f(inputs[0], axis=2, keepdims=True) for f in (np.mean, np.var))
    wanted = (inputs[0] - mean) / np.sqrt(variance + 1e-5) * inputs[1] + inputs[2]
    schedule(module)
    (found,) = results(module, subject, inputs)
    np.testing.assert_allclose(found, wanted, rtol=1e-4, atol=1e-5)
    prove(module)


@pytest.mark.sampled(2)
@pytest.mark.parametrize("device", ["opencl-cpu", "cuda"])
def test_transposed_vectors_change_their_layout_in_workgroup_memory(device):
    """Numbers, the proof, and one buffer; none where threads run one after the other."""
    text = """
      func.func @main(%x: tensor<70x41xf32>) -> tensor<41x70xf32> {
        %t = nn.transpose %x {permutation = array<i64: 1, 0>} : (tensor<70x41xf32>) -> tensor<41x70xf32>
        %y = nn.exp %t : (tensor<41x70xf32>) -> tensor<41x70xf32>
        return %y : tensor<41x70xf32>
      }"""
    module, subject = for_device(device, text)
    x = np.random.default_rng(1).standard_normal((70, 41)).astype(np.float32)
    schedule(module)
    (found,) = results(module, subject, [x])
    np.testing.assert_allclose(found, np.exp(x.T), rtol=1e-5, atol=1e-6)
    buffers = [len(kernel.workgroup_buffers) for kernel in kernels_of(module)]
    assert buffers == ([1] if device == "cuda" else [0])
    prove(module)


def layer_norm(shape):
    x, one = f"tensor<{shape}x32xf32>", "tensor<32xf32>"
    return f"""
      func.func @main(%x: {x}, %a: {one}, %b: {one}) -> {x} {{
        %y = nn.layer_norm %x, %a, %b {{axis = 2 : i64}} : ({x}, {one}, {one}) -> {x}
        return %y : {x}
      }}"""


@pytest.mark.parametrize("device", ["t4", "opencl-cpu"])
@pytest.mark.parametrize(
    "text",
    [layer_norm("?x?"), layer_norm("64x1024"), OPEN["rows"], OPEN["rows"].replace("?", "64")],
    ids=["open", "many", "open-softmax", "softmax"],
)
def test_stages_over_rows_are_one_launch(device, text):
    """A group has as many rows as fit its memory; rows of no known length stay in the device's."""
    ((_,),) = tiles_of(device, text)


def attention(heads, queries, keys, width):
    q, k, v, p = (
        f"tensor<1x{heads}x{rows}x{columns}xf32>"
        for rows, columns in ((queries, width), (width, keys), (keys, width), (queries, keys))
    )
    return f"""
      func.func @main(%q: {q}, %k: {k}, %v: {v}) -> {q} {{
        %s = nn.matmul %q, %k : ({q}, {k}) -> {p}
        %p = nn.softmax %s {{axis = 3 : i64}} : ({p}) -> {p}
        %o = nn.matmul %p, %v : ({p}, {v}) -> {q}
        return %o : {q}
      }}"""


@pytest.mark.thorough
def test_attention_is_one_launch():
    """A group has the scores of some queries in its own memory, of as many keys as fit."""
    for device in ("t4", "pocl"):
        ((tile,),) = tiles_of(device, attention(4, 64, 128, 32))
        assert tile.groups >= 4
    ((tile,),) = tiles_of("t4", attention(8, 512, 1 << 12, 32))
    assert tile.groups >= 8


def test_attention():
    """The same results where rows of blocks and keys are left over, and the proof."""
    module, subject = for_device("t4", attention(2, 5, 9, 4))
    rng = np.random.default_rng(3)
    shapes = (1, 2, 5, 4), (1, 2, 4, 9), (1, 2, 9, 4)
    inputs = [rng.standard_normal(shape).astype(np.float32) for shape in shapes]
    check(module, subject, inputs, threads=2)
    assert prove(module)
    assert sum(isinstance(op, gpu.LaunchFunc) for op in module.walk()) == 1
