"""Tile programs dealt out over threads: the same results, proven, and faults in them are found."""

from __future__ import annotations

import random
import re
from itertools import product

import numpy as np
import pytest
from nnc.dialects import gpu
from nnc.ir.diagnostics import NncError
from nnc.ir.passes import PassContext, PassManager
from nnc.ir.syntax.parser import parse_module
from nnc.kernels.codegen.shares.assign_layouts import AssignLayouts
from nnc.kernels.codegen.shares.distribute_tiles import DistributeTiles
from nnc.kernels.codegen.shares.layouts import Along, Layout, balanced, in_rows, is_layout_of
from nnc.kernels.proof.prove_kernels import ProveKernels
from nnc.lowering.pipelines import pipeline
from nnc.numerics.checking.running import Runner
from nnc.numerics.checking.subjects import Subject
from nnc.numerics.interpreter import Interpreter
from nnc.numerics.options import NumericsOptions

from ..lowering.running import inputs_of
from ..lowering.test_nn_to_linalg import OPS
from ..memory.test_outline_launches import HEAD
from ..numerics.test_launches import module_of
from .test_prove_kernels import BY_VALUES, TO_LAUNCHES, launched, prove
from .test_prove_planted_faults import judge, planted

LARGE = {cls.name for cls in OPS if re.match(r"nn\.(blocked_|winograd_)", cls.name)}
"""Ops whose examples have so many operations that two threads are enough for the interpreter."""


def results(module, subject, inputs):
    runner = Runner(module, NumericsOptions(max_steps=50_000_000))
    outcome = runner.interpret(subject, [x.copy() for x in inputs])
    assert outcome.error is None, outcome.error
    return outcome.values


def distribute(module, threads=128):
    """Deal the kernels of a module out; how many were."""
    context = PassContext()
    AssignLayouts(threads=threads).run(module, context)
    module.verify()
    DistributeTiles().run(module, context)
    module.verify()
    counts = context.statistics.get("", {})
    return counts.get("kernels", 0) // 2, counts.get("whole", 0)


def assert_alike(new, old, rtol, atol):
    """Integers are equal, and floats as near as said; `atol` is relative to the largest."""
    if old.dtype.kind == "f":
        largest = np.max(np.abs(old[np.isfinite(old)]), initial=1)
        np.testing.assert_allclose(new, old, rtol=rtol, atol=atol * largest)
    else:
        np.testing.assert_array_equal(new, old)


def kernels_of(module):
    return [op for op in module.walk() if isinstance(op, gpu.GPUFuncOp)]


@pytest.mark.sampled(14)
@pytest.mark.parametrize("cls", OPS, ids=lambda cls: cls.name)
def test_example(cls):
    """Results of every op, from a few threads and from many, and the proof of each kernel."""
    threads = 2 if cls.name in LARGE else (1, 8, 64, 256)[OPS.index(cls) % 4]
    module, subject, inputs = launched(cls)
    before = results(module, subject, inputs)
    dealt, whole = distribute(module, threads)
    assert dealt + whole == len(kernels_of(module))
    assert not whole
    for old, new in zip(before, results(module, subject, inputs), strict=True):
        assert_alike(new, old, rtol=2e-5, atol=1e-6)
    assert prove(module) == (cls.name not in BY_VALUES)


# -- layouts ---------------------------------------------------------------------------------------


def owners(layout, shape, threads):
    """For each element, the threads that have it, by looking at all of them."""
    found = {}
    for t in range(threads):
        along = [
            [
                r * a.threads * a.run + t // a.stride % a.threads * a.run + i
                for r in range(a.repeats)
                for i in range(a.run)
            ]
            for a in layout.dims
        ]
        for at in product(*along):
            if all(i < n for i, n in zip(at, shape, strict=True)):
                found.setdefault(at, []).append(t)
    return found


SHAPES = [(1,), (5,), (16,), (97,), (1, 1), (3, 40), (64, 96), (7, 9), (2, 3, 4), (1, 33, 5)]


@pytest.mark.parametrize("threads", [1, 2, 32, 128])
@pytest.mark.parametrize("shape", SHAPES, ids=str)
@pytest.mark.parametrize("kind", ["balanced", "rows", "columns"])
def test_every_element_has_owners(kind, shape, threads):
    """Each element is somebody's, and equally many threads'."""
    if kind == "balanced":
        layout = balanced(shape, threads, 4)
    else:
        order = range(len(shape))
        layout = in_rows(shape, threads, list(reversed(order) if kind == "rows" else order), 4, 8)
    found = owners(layout, shape, threads)
    assert set(found) == set(np.ndindex(*shape))
    assert is_layout_of(layout.attribute(), shape, threads)
    counts = {len(who) for who in found.values()}
    assert counts == {threads // (1 << layout.bits.bit_count())}


def test_rows_are_read_by_neighbours():
    """128 threads of 4 elements along a row of 512; of 256, every second row."""
    rows = Along(4, 2, 64), Along(4, 64, 1)
    assert in_rows((4, 512), 128, [1, 0], 4, 8).dims == (Along(4), Along(4, 128, 1))
    assert in_rows((8, 256), 128, [1, 0], 4, 8).dims == rows
    assert in_rows((4, 2048), 128, [1, 0], 4, 8).dims == (Along(4), Along(4, 128, 1, 4))
    assert in_rows((256, 4), 128, [0, 1], 4, 8).dims == (Along(4, 64, 1), Along(2, 2, 64))


def test_lengths_that_are_no_power_of_two():
    """A row of 96 is 3 tiles of 8 threads; one of 97 has no runs; of one row of 96 alone, each of 128 threads has an element at most."""
    assert in_rows((64, 96), 128, [1, 0], 4, 8).dims == (Along(4, 16, 8), Along(4, 8, 1, 3))
    assert in_rows((1, 97), 32, [1, 0], 4, 8).dims == (Along(1), Along(1, 32, 1, 4))
    assert in_rows((1, 96), 128, [1, 0], 4, 8).dims == (Along(1), Along(1, 128, 1))


def test_rows_shorter_than_a_line_follow_one_another():
    """Of rows of 2 elements, neighbours have neighbouring ones, again and again."""
    assert in_rows((64, 2), 16, [1, 0], 4, 8).dims == (Along(1, 16, 1, 4), Along(2))


def test_products_are_as_long_as_wide():
    assert balanced((64, 96), 128, 4).dims == (Along(1, 8, 16, 8), Along(2, 16, 1, 3))
    assert balanced((128, 128), 256, 4).dims == (Along(1, 16, 16, 8), Along(4, 16, 1, 2))
    assert balanced((64, 64), 256, 4).share == (4, 4)
    assert balanced((1, 96), 128, 4).share == (1, 1)


def test_attributes_say_all():
    layout = Layout((Along(3, 4, 8), Along(5, 8, 1, 2)))
    assert Layout.of(layout.attribute()) == layout


@pytest.mark.parametrize(
    "wrong", ["8, 0, 1, 1", "8, 3, 1, 1", "8, 1, 1", "2, 2, 1, 1", "8, 1, 64, 1", "8, 1, 1, 0"]
)
def test_a_layout_that_no_threads_can_have(wrong):
    module = product_of(8, 8, 8, 8, 8, 8)
    AssignLayouts(threads=4).run(module, PassContext())
    text = re.sub(r"array<i64: \d+, \d+, \d+, \d+>", f"array<i64: {wrong}>", str(module), count=1)
    with pytest.raises(NncError, match=r"has a .nn\.layout. that does not fit its results"):
        DistributeTiles().run(parse_module(text), PassContext())


def test_dimensions_that_share_bits():
    """Two dimensions cannot both be dealt out by one bit of the thread's number."""
    layout = Layout((Along(4, 2, 1), Along(4, 2, 1)))
    assert not is_layout_of(layout.attribute(), (8, 8), 4)
    assert is_layout_of(layout.along([0]).attribute(), (8,), 4)


def test_layouts_that_do_not_follow_from_each_other():
    """The product's left operand has rows of other threads than its result."""
    module = product_of(8, 8, 8, 8, 8, 8)
    AssignLayouts(threads=4).run(module, PassContext())
    swapped = {"4, 2, 2, 1": "4, 2, 1, 1", "4, 2, 1, 1": "4, 2, 2, 1"}
    head, mark, tail = str(module).rpartition("vector.transfer_read")
    tail = re.sub("|".join(swapped), lambda m: swapped[m[0]], tail, count=1)
    with pytest.raises(NncError, match="do not follow from each other"):
        DistributeTiles().run(parse_module(head + mark + tail), PassContext())


@pytest.mark.parametrize("size", ["3, 1, 1", "4, 2, 1"])
def test_groups_that_are_not_dealt_to(size):
    """Other numbers of threads than a power of two along x leave the kernel as it is."""
    text = str(product_of(8, 8, 8, 8, 8, 8)).replace(
        "kernel {", f"kernel attributes {{known_block_size = array<i32: {size}>}} {{"
    )
    module = parse_module(text)
    before = str(kernels_of(module)[0])
    distribute(module)
    assert str(kernels_of(module)[0]) == before


# -- a product of tiles in workgroup memory ----------------------------------------------------------

PRODUCT = """
module attributes {{gpu.container_module}} {{
  gpu.module @kernels {{
    gpu.func @f(%a: memref<{m}x{k}xf32>, %b: memref<{k}x{n}xf32>, %c: memref<{m}x{n}xf32>)
        workgroup(%s : memref<{tm}x{tk}xf32, #gpu.address_space<workgroup>>,
                  %r : memref<{tk}x{tn}xf32, #gpu.address_space<workgroup>>) kernel {{
      %c0 = arith.constant 0 : index
      %tk = arith.constant {tk} : index
      %tm = arith.constant {tm} : index
      %tn = arith.constant {tn} : index
      %k = arith.constant {k} : index
      %p = arith.constant 0.0 : f32
      %zero = arith.constant dense<0.0> : vector<{tm}x{tn}xf32>
      %y = gpu.block_id y
      %x = gpu.block_id x
      %i = arith.muli %y, %tm : index
      %j = arith.muli %x, %tn : index
      %sum = scf.for %l = %c0 to %k step %tk iter_args(%old = %zero) -> (vector<{tm}x{tn}xf32>) {{
        %u = vector.transfer_read %a[%i, %l], %p : memref<{m}x{k}xf32>, vector<{tm}x{tk}xf32>
        %v = vector.transfer_read %b[%l, %j], %p : memref<{k}x{n}xf32>, vector<{tk}x{tn}xf32>
        vector.transfer_write %u, %s[%c0, %c0] {{in_bounds = [true, true]}} : vector<{tm}x{tk}xf32>, memref<{tm}x{tk}xf32, #gpu.address_space<workgroup>>
        vector.transfer_write %v, %r[%c0, %c0] {{in_bounds = [true, true]}} : vector<{tk}x{tn}xf32>, memref<{tk}x{tn}xf32, #gpu.address_space<workgroup>>
        %g = vector.transfer_read %s[%c0, %c0], %p {{in_bounds = [true, true]}} : memref<{tm}x{tk}xf32, #gpu.address_space<workgroup>>, vector<{tm}x{tk}xf32>
        %h = vector.transfer_read %r[%c0, %c0], %p {{in_bounds = [true, true]}} : memref<{tk}x{tn}xf32, #gpu.address_space<workgroup>>, vector<{tk}x{tn}xf32>
        %new = vector.contract {{indexing_maps = [affine_map<(m, n, k) -> (m, k)>, affine_map<(m, n, k) -> (k, n)>, affine_map<(m, n, k) -> (m, n)>], iterator_types = ["parallel", "parallel", "reduction"], kind = #vector.kind<add>}} %g, %h, %old : vector<{tm}x{tk}xf32>, vector<{tk}x{tn}xf32> into vector<{tm}x{tn}xf32>
        scf.yield %new : vector<{tm}x{tn}xf32>
      }}
      vector.transfer_write %sum, %c[%i, %j] : vector<{tm}x{tn}xf32>, memref<{m}x{n}xf32>
      gpu.return
    }}
  }}
  func.func @main(%a: memref<{m}x{k}xf32>, %b: memref<{k}x{n}xf32>, %c: memref<{m}x{n}xf32>) {{
    %c1 = arith.constant 1 : index
    %gx = arith.constant {gx} : index
    %gy = arith.constant {gy} : index
    gpu.launch_func @kernels::@f blocks in (%gx, %gy, %c1) threads in (%c1, %c1, %c1) args(%a : memref<{m}x{k}xf32>, %b : memref<{k}x{n}xf32>, %c : memref<{m}x{n}xf32>)
    return
  }}
}}"""


def product_of(m, n, k, tm, tn, tk):
    return parse_module(
        PRODUCT.format(m=m, n=n, k=k, tm=tm, tn=tn, tk=tk, gx=-(-n // tn), gy=-(-m // tm))
    )


@pytest.mark.sampled(3)
@pytest.mark.parametrize("threads", [1, 16, 64])
@pytest.mark.parametrize(
    "sizes",
    [(16, 24, 8, 8, 12, 4), (7, 5, 3, 8, 8, 4), (9, 20, 6, 4, 16, 2), (8, 8, 8, 3, 5, 8)],
    ids=str,
)
def test_product(sizes, threads):
    m, n, k, *_ = sizes
    module = product_of(*sizes)
    distribute(module, threads)
    rng = np.random.default_rng(1)
    a = rng.integers(-5, 6, (m, k)).astype(np.float32)
    b = rng.integers(-5, 6, (k, n)).astype(np.float32)
    c = np.full((m, n), np.nan, np.float32)
    Interpreter(module).call("main", [a, b, c])
    np.testing.assert_array_equal(c, a @ b)
    assert prove(module)
    barriers = sum(isinstance(op, gpu.Barrier) for op in module.walk())
    # Before the tiles are overwritten, and before they are read; one thread waits for nobody.
    assert barriers == (2 if threads > 1 else 0)


def test_parallel_loops_in_one_another():
    """A group runs both, one iteration after the other."""
    body = """%c0 = arith.constant 0 : index
    %c1 = arith.constant 1 : index
    %c3 = arith.constant 3 : index
    %c4 = arith.constant 4 : index
    %p = arith.constant 0.0 : f32
    scf.parallel (%i) = (%c0) to (%c3) step (%c1) {
      scf.parallel (%j) = (%c0) to (%c4) step (%c1) {
        %x = vector.transfer_read %a0[%i, %j, %c0], %p {in_bounds = [true]} : memref<3x4x8xf32>, vector<8xf32>
        %y = arith.addf %x, %x : vector<8xf32>
        vector.transfer_write %y, %a0[%i, %j, %c0] {in_bounds = [true]} : vector<8xf32>, memref<3x4x8xf32>
        scf.reduce
      }
      scf.reduce
    }"""
    module = module_of(body, ["memref<3x4x8xf32>"], (1, 1, 1), (1, 1, 1))
    assert distribute(module, 4) == (1, 0)
    a = np.arange(96, dtype=np.float32).reshape(3, 4, 8)
    expected = 2 * a
    Interpreter(module).call("main", [a])
    np.testing.assert_array_equal(a, expected)
    assert prove(module)


# -- several ops -------------------------------------------------------------------------------------

NETS = {
    "open": """
    func.func @main(%x: tensor<?x8xf32>, %w: tensor<8x12xf32>, %b: tensor<12xf32>)
        -> tensor<?x20xf32> {
      %0 = nn.matmul %x, %w : (tensor<?x8xf32>, tensor<8x12xf32>) -> tensor<?x12xf32>
      %1 = nn.add %0, %b : (tensor<?x12xf32>, tensor<12xf32>) -> tensor<?x12xf32>
      %2 = nn.softmax %1 {axis = 1} : (tensor<?x12xf32>) -> tensor<?x12xf32>
      %3 = nn.concat %2, %x {axis = 1} : (tensor<?x12xf32>, tensor<?x8xf32>) -> tensor<?x20xf32>
      return %3 : tensor<?x20xf32>
    }""",
    "image": """
    func.func @main(%x: tensor<1x4x8x8xf32>, %w: tensor<8x4x3x3xf32>, %b: tensor<8xf32>)
        -> tensor<1x8x4x4xf32> {
      %0 = nn.conv %x, %w, %b {pads = array<i64: 1, 1, 1, 1>}
          : (tensor<1x4x8x8xf32>, tensor<8x4x3x3xf32>, tensor<8xf32>) -> tensor<1x8x8x8xf32>
      %1 = nn.relu %0 : (tensor<1x8x8x8xf32>) -> tensor<1x8x8x8xf32>
      %2 = nn.max_pool %1 {kernel = array<i64: 2, 2>, strides = array<i64: 2, 2>}
          : (tensor<1x8x8x8xf32>) -> tensor<1x8x4x4xf32>
      return %2 : tensor<1x8x4x4xf32>
    }""",
}


@pytest.mark.parametrize("name", NETS)
def test_nets(name):
    """Kernels with loops in one another, extents that one call gives, and buffers between them."""
    module = parse_module(HEAD + NETS[name] + "}")
    subject = Subject("main", module.body_block.first.function_type)
    inputs = inputs_of(subject.type.inputs, None, [5], seed=3)
    PassManager(pipeline(TO_LAUNCHES)).run(module)
    before = results(module, subject, inputs)
    assert prove(module)
    assert distribute(module, 32)[1] == 0
    for old, new in zip(before, results(module, subject, inputs), strict=True):
        np.testing.assert_allclose(new, old, rtol=2e-5, atol=1e-6)
    context = PassContext()
    ProveKernels(require=True).run(module, context)
    counts = context.statistics[""]
    assert (counts.get("partial", 0), counts["rewritten"]) == (0, 0)


# -- planted faults --------------------------------------------------------------------------------


@pytest.mark.sampled(30)
@pytest.mark.parametrize(
    "cls", [c for c in OPS if c.name not in BY_VALUES | LARGE], ids=lambda c: c.name
)
def test_planted_faults(cls):
    """With a barrier, a number or an operand changed: what is proven runs well, and the reverse."""
    module, subject, inputs = launched(cls)
    distribute(module, 16)
    PassManager(pipeline("canonicalize,cse")).run(module)
    text = str(module)
    rng = random.Random(cls.name)
    barriers = [m.span() for m in re.finditer("gpu.barrier", text)]
    for start, end in barriers[:4]:
        judge(text[:start] + text[end:], subject, inputs)
    for _ in range(3 if "gpu.module" in text else 0):
        faulty = planted(text, rng)
        if faulty is not None:
            judge(faulty, subject, inputs)
