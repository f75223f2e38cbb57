"""Detects this machine's level of x86, and its further features."""

from __future__ import annotations

import platform
from collections.abc import Mapping
from dataclasses import replace

from ..costs import OperationCosts
from ..llvm.host import measured, memory_bandwidth
from ..llvm.target import LlvmTarget
from ..processor import TileRegisters
from .levels import TARGETS
from .tiles import may_use_tiles

_NEEDS = {
    4: ("avx512f", "avx512vl", "avx512bw", "avx512cd", "avx512dq"),
    3: ("avx2", "fma", "bmi", "bmi2", "f16c", "lzcnt", "movbe"),
    2: ("sse4.2", "ssse3", "popcnt", "cx16", "sahf"),
}
"""The CPU features that each level adds to those below it."""


SERVERS = (
    "skylake-avx512", "cascadelake", "cooperlake", "icelake-server", "sapphirerapids",
    "emeraldrapids", "graniterapids", "graniterapids-d", "sierraforest", "clearwaterforest",
)  # fmt: skip
"""Intel's processors for servers, by LLVM's names. A hypervisor may hide the model; from Sapphire
Rapids on, matrix units tell.
"""

SERVER_BANDWIDTH = 11.0
"""The memory bandwidth of one core of the processors in `SERVERS`. Units: GB/s.

It is limited by the lines in flight over a latency of some 100 ns, not by the memory's channels.
Desktops have a shorter latency, and AMD's cores more lines in flight: the levels of `levels.py`
assume 21 GB/s. Source: measured on a virtual machine of two such cores; for the reason and other
processors, J. McCalpin, "The evolution of single-core bandwidth in multicore processors", 2023.

It is not used for processors with matrix units: two cores of such a server (15 GB/s from memory)
run ResNet-18 and VGG-16 7 to 17 % faster by the schedules that 21 GB/s lead to, as their last
caches hold the weights of most models.
"""

SERVER_L3_BANDWIDTH = 30.0
"""What one core of the processors in `SERVERS` reads from the last cache. Units: GB/s.

That cache lies behind a mesh, and a core keeps as few lines in flight there as to memory. Source:
measured on a virtual machine of two Sapphire Rapids cores, 29 to 32 GB/s from 8 to 64 MB.
"""


SERVER_L2_BANDWIDTH = 50.0
"""What one core of the processors in `SERVERS` reads from its second cache. Units: bytes per cycle.

Source: `nnc calibrate` on an Emerald Rapids, 49.4 to 50.1.
"""

SERVER_OPERATIONS = OperationCosts(
    sqrt=21,
    rsqrt=42,
    exp=19,
    log=31,
    tanh=30,
    erf=38,
    sin=26,
    cos=26,
    powf=129,
    other_math=27,
    divf=18,
)
"""The costs of functions on processors in `SERVERS` that have AVX-512. Units: additions.

Two of their units add vectors of full width, of which Zen 4, whose numbers are the levels' own, has
one: a function takes the time of more additions here. Source: `nnc calibrate` on an Emerald Rapids,
within 2 % in its runs.
"""


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
    found = measured(TARGETS[level_of(features) - 1], cpu, features.flatten())
    wide, machine = found.level == 4, found.machine
    has_matrices = features.get("amx-tile", False)
    server = cpu in SERVERS or has_matrices
    known = SERVER_BANDWIDTH if server and not has_matrices else None
    # Intel's servers have two full-width units, AMD's Zen 4 splits one vector over two halves.
    split = cpu.startswith("znver") and cpu <= "znver4"
    has_tiles = has_matrices and features.get("amx-int8", False) and may_use_tiles()
    machine = replace(
        machine,
        tiles=TileRegisters(8 if has_tiles else 0, has_tiles and features.get("amx-bf16", False)),
        full_width_units=1 if split and wide else 2,
        load_bytes_per_cycle=64 if split or not wide else 128,
        unit_bits=256 if split or found.level == 3 else machine.vector_bits,
        memory_bandwidth=memory_bandwidth(machine, known),
        has_byte_products=bool(features.get("avx512vnni" if wide else "avxvnni")),
    )
    if server:
        machine = replace(machine, l3_bandwidth=SERVER_L3_BANDWIDTH / machine.gigahertz)
    if server and wide:
        costs = replace(machine.costs, operations=SERVER_OPERATIONS)
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
