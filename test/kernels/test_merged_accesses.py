"""Accesses that differ by constants only: proven as one, and each fault in one of them is found."""

from __future__ import annotations

import random

import pytest
from nnc.ir.diagnostics import NncError
from nnc.ir.passes import PassContext
from nnc.kernels.proof.merging import _box
from nnc.kernels.proof.prove_kernels import ProveKernels

from ..numerics.test_launches import module_of

pytest.importorskip("islpy")


@pytest.mark.parametrize(
    ("at", "said"),
    [
        ([0, 8, 16, 24, 40, 48, 56, 64], None),  # Twice four.
        ([64, 0, 48, 8, 56, 16, 24, 40], None),
        ([0, 8, 16, 23, 40, 48, 56, 64], r"writes element \[23\]"),
        ([0, 8, 16, 24, 40, 48, 56, 65], r"writes element \[72\] .*outside of its buffer"),
        ([0, 8, 16, 24, 40, 48, 64], r"element \[5[6-9]|6[0-3]\] .*written by no launch"),
        ([0, 8, 16, 24, 40, 48, 56, 64, 8], None),  # By the same thread.
    ],
)
def test_pieces_of_a_row(at, said):
    """8 threads write an element each of pieces, and others write what is between them."""
    stores = "\n".join(
        f"""%c{n} = arith.constant {place} : index
        %i{n} = arith.addi %i, %c{n} : index
        memref.store %x, %a0[%i{n}] : memref<72xf32>"""
        for n, place in enumerate([*at, 32])
    )
    body = f"%i = gpu.thread_id x\n%x = arith.constant 1.0 : f32\n{stores}"
    module = module_of(body, ["memref<72xf32>"], (1, 1, 1), (8, 1, 1))
    context = PassContext()
    if said is not None:
        with pytest.raises(NncError, match=said):
            ProveKernels().run(module, context)
        return
    ProveKernels().run(module, context)
    counts = context.statistics[""]
    assert counts["whole"] == 1 and counts["rewritten"] == (len(at) > 8)


@pytest.mark.parametrize("seed", range(20))
def test_boxes_have_just_their_points(seed):
    """Steps of a box lead to each of its points once, and to no other."""
    rng = random.Random(seed)
    points = sorted({(rng.randrange(4), rng.randrange(3) * 8) for _ in range(9)})
    while points:
        steps, count = _box(points)
        reached = [points[0]]
        for step, times in steps:
            reached = [(a + n * step[0], b + n * step[1]) for n in range(times) for a, b in reached]
        assert reached == points[:count]
        points = points[count:]
