"""Detects this machine's level of x86, and its further features."""

from __future__ import annotations

import platform
from collections.abc import Mapping
from dataclasses import replace

from ..llvm.host import measured, memory_bandwidth
from ..llvm.target import LlvmTarget
from .levels import TARGETS
from .servers import (
    SERVER_BANDWIDTH,
    SERVER_L2_BANDWIDTH,
    SERVER_L3_BANDWIDTH,
    SERVER_OPERATIONS,
    SERVER_TILES,
    SERVERS,
)
from .tiles import may_use_tiles

_NEEDS = {
    5: ("amx-tile", "amx-int8", "amx-bf16", "avx512vnni", "avx512bf16"),
    4: ("avx512f", "avx512vl", "avx512bw", "avx512cd", "avx512dq"),
    3: ("avx2", "fma", "bmi", "bmi2", "f16c", "lzcnt", "movbe"),
    2: ("sse4.2", "ssse3", "popcnt", "cx16", "sahf"),
}
"""The CPU features that each level adds to those below it."""


SPLIT_ATTAINED = 0.9
"""The part of the peak that products reach on Zen 4, which has half the multiply-adds of the other
machines with AVX-512 and as many loads: 100 to 110 of 112 GFLOP/s, `nnc profile` of ResNet-18."""


SPLIT_GIGAHERTZ = 3.8
"""The clock of a Zen 4 server under load: 3.82 to 3.84 by `nnc calibrate` on an EPYC.

Its bandwidths are the levels' own, 12 bytes a cycle from the last cache and 21 GB/s from memory:
one core alone reads 20 and 57, but each of two at once 11 and 26. With the numbers of one core
alone, eight networks took 1.03 of their time on two threads (a Mixer 1.14), and seven others 0.98
on one.
"""


QUIET_BANDWIDTH = 1.7
"""The memory bandwidth of an otherwise idle Zen 5 core, relative to the levels' 21 GB/s: GPT-2's
step, 500 MB of weights in 14 ms. Schedules assume 21 GB/s, as servers are seldom idle."""


def host() -> LlvmTarget | None:
    """This machine as a target; None where it is no 64-bit x86."""
    if platform.machine().lower() not in ("x86_64", "amd64"):
        return None
    import llvmlite.binding as llvm  # type: ignore[import-not-found]

    features, cpu = llvm.get_host_cpu_features(), llvm.get_host_cpu_name()
    level = level_of(features)
    if level > 4 and not may_use_tiles():
        level = 4
    found = measured(TARGETS[level - 1], cpu, features.flatten())
    wide, machine = level >= 4, found.machine
    has_matrices = features.get("amx-tile", False)
    server = cpu in SERVERS or has_matrices
    known = SERVER_BANDWIDTH if server and not has_matrices else None
    # Intel's servers have two full-width units, AMD's Zen 4 splits one vector over two halves.
    split = cpu.startswith("znver") and cpu <= "znver4"
    machine = replace(
        machine,
        full_width_units=1 if split and wide else 2,
        load_bytes_per_cycle=64 if split or not wide else 128,
        unit_bits=256 if split or level == 3 else machine.vector_bits,
        memory_bandwidth=memory_bandwidth(machine, known),
        has_byte_products=bool(features.get("avx512vnni" if wide else "avxvnni")),
        has_half_products=wide and bool(features.get("avx512bf16")),
    )
    if server:
        machine = replace(machine, l3_bandwidth=SERVER_L3_BANDWIDTH / machine.gigahertz)
    if server and wide:
        costs = replace(machine.costs, operations=SERVER_OPERATIONS, tiles=SERVER_TILES)
        machine = replace(machine, l2_bandwidth=SERVER_L2_BANDWIDTH, costs=costs)
    if split and wide:
        bandwidth = machine.memory_bandwidth * machine.gigahertz / SPLIT_GIGAHERTZ
        machine = replace(machine, gigahertz=SPLIT_GIGAHERTZ, memory_bandwidth=bandwidth)
        algorithms = replace(machine.costs.algorithms, attained=SPLIT_ATTAINED)
        machine = replace(machine, costs=replace(machine.costs, algorithms=algorithms))
    if cpu == "znver5":
        runs = replace(machine.costs.runs, memory=QUIET_BANDWIDTH)
        machine = replace(machine, costs=replace(machine.costs, runs=runs))
    return replace(found, machine=machine)


def level_of(features: Mapping[str, bool]) -> int:
    """The highest level such that the processor has its features and those of all lower levels."""
    level = 1
    while level + 1 in _NEEDS and all(features.get(f) for f in _NEEDS[level + 1]):
        level += 1
    return level
