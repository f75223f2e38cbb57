"""Times that experiments would have on a machine of known numbers."""

from __future__ import annotations

from dataclasses import replace

from nnc.driver.calibrating.fitting import fit
from nnc.driver.calibrating.functions import FUNCTIONS, OTHERS
from nnc.driver.calibrating.memories import AHEAD, ASKED, STREAMS, levels, sizes
from nnc.driver.calibrating.processors import widths
from nnc.driver.calibrating.sampling import Round
from nnc.driver.calibrating.tiles import MORE
from nnc.targets.base import target
from nnc.targets.calibration import Number
from nnc.targets.costs import Costs, LoopCosts, OperationCosts, ThreadCosts, TileCosts
from nnc.targets.processor import Processor

WAKING = 3.0
STORES = 1.0


AVX2 = target("x86-64-v3").machine
REAL = replace(
    AVX2,
    gigahertz=2.9,
    full_width_units=1,
    unit_bits=128,
    fma_latency=5,
    loads_per_cycle=3,
    load_bytes_per_cycle=64,
    line_crossing=0.5,
    issue_width=8,
    l2_bandwidth=24.0,
    l3_bandwidth=8.5,
    memory_bandwidth=3.25,
    fresh_bandwidth=0.5,
    costs=Costs(
        operations=OperationCosts(
            absf=1, divf=9, sqrt=11, rsqrt=14, exp=25, log=30, tanh=28, erf=44, sin=31, cos=32,
            powf=350, other_math=33,
        ),
        tiles=TileCosts(
            gather_cycles=1.25, scattered_store_cycles=1.5, spill_cycles=3.5, combine_cycles=5.25,
            transpose_cycles=1.75,
        ),
        loops=LoopCosts(prefetch_bytes=2048, stream_blocks=2, asked_streams=4),
        threads=ThreadCosts(least_microseconds=5 * WAKING),
    ),
)  # fmt: skip
"""A machine that differs from what is described in each number that is measured."""


def times_of(real: Processor, described: Processor) -> Round:
    """What each experiment takes on a machine, for one that is described in this way."""
    cycle = 1e-9 / real.gigahertz
    full = described.lanes(4)
    costs = real.costs
    cycles: dict[str, float] = {"call": 30_000.0, "clock": 1.0}
    for lanes in widths(described):
        cycles[f"multiply-add {lanes}"] = real.fma_cycles(4 * lanes)
    for lanes in widths(described)[:2]:
        cycles[f"latency {lanes}"] = float(real.fma_latency)
    for lanes in widths(described)[:2]:
        once = max(1 / real.loads_per_cycle, 4 * lanes / real.load_bytes_per_cycle)
        cycles[f"load {lanes}"] = once
        part = 4 * lanes / real.line_bytes
        cycles[f"load across {lanes}"] = once * (1 + real.line_crossing * part)
    cycles["store"] = 1 / STORES
    cycles["fresh"] = 1 / real.fresh_bandwidth
    cycles["function plain"] = 1.25
    for name in FUNCTIONS:
        weight = getattr(costs.operations, name)
        cycles[f"function {name}"] = 1.25 + weight * real.fma_cycles(4 * full)
    for name in OTHERS:
        cycles[f"function {name}"] = 1.25 + costs.operations.other_math * real.fma_cycles(4 * full)
    sums, tiles = described.vector_registers + MORE, costs.tiles
    cycles["spills"] = sums * real.fma_cycles(4 * full) + (MORE + 1) * tiles.spill_cycles
    cycles["start"] = 1 / real.issue_width
    if full > 1:
        steps = full.bit_length()
        cycles["combine"] = real.fma_latency + steps * tiles.combine_cycles
        cycles["transpose"] = cycles[f"load {full}"] + steps + tiles.transpose_cycles
    cycles["gather"] = costs.tiles.gather_cycles
    cycles["scatter"] = costs.tiles.scattered_store_cycles
    waking = WAKING * 1000 * real.gigahertz
    cycles["region 1"] = 100_000.0
    cycles[f"region {described.cores}"] = 100_000.0 / described.cores + waking
    for size in sizes(described):
        cycles[f"read {size}"] = 1 / bandwidth(real, size)
    cycles["read memory"] = 1 / real.memory_bandwidth
    for ahead in AHEAD:
        better = 0.8 if ahead == costs.loops.prefetch_bytes else 1.0
        cycles[f"ahead {ahead}"] = better / real.memory_bandwidth
    for streams in STREAMS:
        better = 0.7 if streams == costs.loops.stream_blocks else 1.0
        cycles[f"streams {streams}"] = better / real.memory_bandwidth
    gain = 0.8 if costs.loops.asked_streams >= ASKED else 1.2
    cycles[f"streams {ASKED} asked"] = gain * cycles[f"streams {ASKED}"]
    for name in (*levels(described), "memory"):
        cycles[f"all {name}"] = 2 / real.memory_bandwidth
    return {name: each * cycle for name, each in cycles.items()}


def bandwidth(real: Processor, size: int) -> float:
    """Bytes per cycle of a buffer that is read again and again: of the nearest cache that holds it."""
    for cache, rate in (
        (real.l1_bytes, float(real.load_bytes_per_cycle)),
        (real.l2_bytes, real.l2_bandwidth),
        (real.l3_bytes, real.l3_bandwidth),
    ):
        if size <= cache:
            return rate
    return real.memory_bandwidth


def fitted(real: Processor, machine: Processor = AVX2) -> dict[str, Number]:
    return dict(fit([times_of(real, machine)] * 5, machine).numbers)
