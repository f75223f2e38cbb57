"""Schedules where all loads of a loop's body come before its arithmetic, as V8 has them: what a
window of a convolution loads has to fit the registers, or its steps stay a loop."""

from __future__ import annotations

import re

import pytest
from nnc.ir.core import Block
from nnc.kernels.policy.variants import Variant, Variants
from nnc.targets.base import target
from nnc.targets.processor import Processor

from .test_lines_and_runs import LARGEST, PRODUCT, kernel

SPILLED = 1.2
"""How many times as long code takes at least that loads three times as many vectors at once as
there are registers. Measured in Node 20: 1.3 (int8) to 2.3 for windows of 3 x 3."""


def machine(name: str) -> Processor:
    """That of a target for processors."""
    found = target(name).machine
    assert isinstance(found, Processor)
    return found


def convolution(channels: int, size: int = 56) -> Block:
    """A window of 3 x 3 with stride 2 on so many channels, for blocks of 16 results."""
    out = (size - 3) // 2 + 1
    return kernel(
        {
            "x": "d4, d1 * 2 + d5, d2 * 2 + d6, d7",
            "w": "d0, d4, d5, d6, d7, d3",
            "y": "d0, d1, d2, d3",
        },
        "pppprrrr",
        {
            "x": f"1x{size}x{size}x{channels}xf32",
            "w": f"2x1x3x3x{channels}x16xf32",
            "y": f"2x{out}x{out}x16xf32",
        },
        PRODUCT,
    )


def pooling(size: int) -> Block:
    """The largest of each window of 2 x 2 in blocks of 16 channels."""
    return kernel(
        {"x": "d0, d1 * 2 + d4, d2 * 2 + d5, d3", "k": "d4, d5", "y": "d0, d1, d2, d3"},
        "pppprr",
        {"x": f"2x{size}x{size}x16xf32", "k": "2x2xi8", "y": f"2x{size // 2}x{size // 2}x16xf32"},
        LARGEST.replace("%a: f32, ", "%a: f32, %tap: i8, "),
    )


def unrolls_sums(variant: Variant) -> bool:
    """Whether steps of a sum stand one after the other: k, kh, kw and their like are its loops."""
    return re.search(r"unroll %(k|i)", variant.text) is not None


@pytest.mark.parametrize("channels", [1, 3])
@pytest.mark.parametrize("name", ["wasm32", "wasm32-simd", "wasm32-relaxed-simd"])
def test_what_does_not_fit_the_registers_stays_a_loop(name: str, channels: int):
    variants = Variants("kernel", convolution(channels), machine(name))
    assert not unrolls_sums(variants.default), variants.default.text
    told = [variants.variant({key: 1}) for key in variants.default.asked if "window" in key]
    spilled = [one for one in told if one is not None and unrolls_sums(one)]
    assert spilled and all(one.cycles >= SPILLED * variants.default.cycles for one in spilled)


@pytest.mark.parametrize("size", [112, 160])
@pytest.mark.parametrize("name", ["wasm32-simd", "x86-64-v3", "cortex-a76"])
def test_what_fits_stands_one_after_the_other(name: str, size: int):
    assert unrolls_sums(Variants("kernel", pooling(size), machine(name)).default)


@pytest.mark.parametrize("channels", [1, 3])
def test_where_loads_come_late_windows_are_unrolled(channels: int):
    variants = Variants("kernel", convolution(channels), machine("cortex-a76"))
    assert unrolls_sums(variants.default)
