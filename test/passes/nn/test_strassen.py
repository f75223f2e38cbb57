"""Which products become Strassen's, and that they are what they were."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from nnc.dialects import nn
from nnc.ir.attributes import DenseElements
from nnc.ir.location import UNKNOWN
from nnc.passes.nn.choose_algorithms import ChooseAlgorithms, halving
from nnc.passes.nn.choose_layouts import ChooseLayouts
from nnc.passes.nn.fold_constants import FoldConstants
from nnc.passes.nn.work import ProductSizes
from nnc.targets.base import target

from .graphs import graph, interpret, transform


def check(
    rng, x_shape, w_shape, taken=True, machine="x86-64-v4", dynamic=(), dtype: type = np.float32
):
    """The passes' result is the plain product's; one of halves, where `taken`."""
    x = rng.standard_normal(x_shape).astype(dtype)
    w = rng.standard_normal(w_shape).astype(dtype)
    kind = nn.Conv if len(w_shape) == 4 else nn.Matmul

    def build(b, x):
        return b(kind(x, b(nn.Constant(DenseElements.from_numpy(w))).result)).result

    module = graph(build, x, dynamic=dynamic)
    (expected,) = interpret(module, x)
    transform(module, ChooseLayouts(), ChooseAlgorithms(target=machine), FoldConstants())
    module.verify()
    assert any(isinstance(op, nn.StrassenInput) for op in module.walk()) == taken
    (found,) = interpret(module, x)
    np.testing.assert_allclose(found, expected, rtol=1e-3, atol=1e-5 * np.abs(expected).max())


@pytest.mark.parametrize("machine", ["x86-64-v4", "cortex-a76"])
@pytest.mark.parametrize("rows", [110, 111])
def test_products(rng, rows, machine):
    check(rng, (3, rows, 1024), (1024, 768), machine=machine)


@pytest.mark.parametrize("size", [(14, 14), (13, 16)])
def test_images(rng, size):
    check(rng, (2, 768, *size), (768, 768, 1, 1))


def test_odd_extents_stay(rng):
    check(rng, (1, 128, 767), (767, 768), False)
    check(rng, (1, 128, 768), (768, 752), False)  # 47 blocks of 16
    check(rng, (1, 768, 15, 15), (768, 768, 1, 1), False)


@pytest.mark.parametrize("columns", [768, 3072])
def test_odd_rows_within_the_caches(rng, columns):
    check(rng, (1, 197, 768), (768, columns))


def test_many_odd_rows_that_leave_the_caches_stay(rng):
    """They are one block, so that sums of few steps would pass through memory."""
    check(rng, (1, 578, 384), (384, 1536))
    check(rng, (1, 577, 384), (384, 1536), False)


def test_samples_share_no_sums(rng):
    """Rows of the first dimension may be a batch's, and so may those of single ones."""
    check(rng, (512, 768), (768, 768), False)
    check(rng, (512, 1, 768), (768, 768), False)


def test_small_products_stay(rng):
    check(rng, (1, 512, 64), (64, 64), False)
    check(rng, (1, 8, 768), (768, 768), False)
    check(rng, (1, 256, 0), (0, 768), False)


def test_unknown_rows_and_halves_of_floats_stay(rng):
    check(rng, (1, 256, 768), (768, 768), False, dynamic=(1,))
    check(rng, (1, 256, 768), (768, 768), False, dtype=np.float16)


@pytest.mark.parametrize("machine", ["c-cortex-m7", "x86-64-v3", "opencl-cpu"])
def test_cores_without_vectors_or_with_few_registers_keep_their_products(rng, machine):
    check(rng, (1, 256, 768), (768, 768), False, machine=machine)


def test_slow_caches_and_slow_memory_keep_the_plain_product():
    """Sums pass through the caches, and weights are 7 numbers for 4."""
    machine = target("x86-64-v4").machine
    few, many = ProductSizes(128, 1024, 1024, 512), ProductSizes(4096, 1024, 1024, 512)
    first = halving(machine, many, UNKNOWN, "MatMul 'm'")
    assert first.taken == "strassen" and first.again is not None
    assert first.again(machine).operation == "MatMul 'm'"
    slow = ((many, "l3_bandwidth", "l3"), (few, "memory_bandwidth", "memory"))
    for sizes, number, resource in slow:
        found = halving(replace(machine, **{number: 0.1}), sizes, UNKNOWN)
        assert found.taken == "direct"
        terms = found.alternatives[1].terms
        assert terms is not None and terms.bound == resource


def test_blocks_of_rows_read_the_weights_again():
    """From a slow cache that takes longer than what the algorithm saves; a blocked image has few
    blocks.
    """
    machine = replace(target("x86-64-v4").machine, l3_bandwidth=4.0)
    rows = ProductSizes(1500, 768, 1536, 384, in_rows=True)
    assert halving(machine, rows, UNKNOWN).taken == "direct"
    assert halving(machine, replace(rows, in_rows=False), UNKNOWN).taken == "strassen"
