"""Processors of 32-bit Arm, with NEON's vectors of 128 bits, which early ones compute in two
halves.

Code is Thumb-2. Units and latencies of the Cortex-A9 are those of Arm's Cortex-A9 NEON Media
Processing Engine Technical Reference Manual, of the Cortex-A7 those of GCC's description of its
pipeline (config/arm/cortex-a7.md) and of its published peak, one multiply-add of a single float a
cycle. Caches and clocks are those of common machines. Bandwidths are estimates. No source says that
software prefetches pay: each takes the slot of an instruction.

NEON's arithmetic on single floats flushes subnormal numbers (below 1.2e-38) to 0.
"""

from __future__ import annotations

import platform
from dataclasses import replace

from ..costs import Costs, LoopCosts
from ..emulator import Emulator
from ..llvm.host import measured
from ..llvm.target import LlvmTarget, have
from ..processor import Processor
from .names import ARM_NAMES

_A9 = Processor(
    vector_bits=128,
    vector_registers=16,
    full_width_units=0.5,
    unit_bits=64,
    fma_latency=10,
    loads_per_cycle=1,
    load_bytes_per_cycle=8,
    has_fma=False,
    has_masks=False,
    has_lane_operands=True,
    widest_lane=4,
    issue_width=2,
    line_bytes=32,
    l1_bytes=32 << 10,
    l1_way_bytes=8 << 10,
    l2_bytes=512 << 10,
    l3_bytes=512 << 10,
    l2_bandwidth=4.0,
    l3_bandwidth=2.0,
    memory_bandwidth=1.0,
    cores=2,
    gigahertz=1.0,
    costs=Costs(loops=LoopCosts(prefetch_passes=0)),
)
"""Cortex-A9, as in the Zynq-7000. The last-level cache is its second one."""

_A7 = replace(
    _A9,
    full_width_units=0.25,
    unit_bits=32,
    fma_latency=8,
    has_fma=True,
    line_bytes=64,
    memory_bandwidth=2.0,
    cores=4,
    gigahertz=0.9,
)
"""Cortex-A7, as in the Raspberry Pi 2."""


def _processor(
    name: str, summary: str, machine: Processor, needs: str, cpu: str, features: str, emulated: str,
    *aliases: str,
) -> LlvmTarget:  # fmt: skip
    return LlvmTarget(
        name=name,
        summary=summary,
        family="armv7",
        machine=machine,
        aliases=aliases,
        pointer_bits=32,
        triple="arm-unknown-linux-gnueabihf",
        cpu=cpu,
        features=features,
        pause=("llvm.arm.hint", 1),
        has_half=cpu != "generic",
        names=ARM_NAMES,
        needs=frozenset(needs.split()),
        emulator=Emulator("qemu-arm", emulated, "arm-linux-gnueabihf", "armhf"),
    )


TARGETS = (
    _processor(
        "armv7", "any 32-bit Arm with NEON, floats in its registers", _A9, "neon",
        "generic", "+armv7-a,+neon,+thumb-mode", "cortex-a9", "armv7-neon",
    ),
    _processor(
        "cortex-a9", "Zynq-7000, i.MX 6, OMAP 4", _A9, "neon",
        "cortex-a9", "+thumb-mode", "cortex-a9",
    ),
    _processor(
        "cortex-a7", "Raspberry Pi 2, and later ones in 32 bits", _A7, "neon vfp4 hwdiv",
        "cortex-a7", "+thumb-mode", "cortex-a7", "raspberry-pi-2",
    ),
)  # fmt: skip


def host() -> LlvmTarget | None:
    """This machine as a target; None where it is no 32-bit Arm with NEON."""
    if not platform.machine().startswith(("armv7", "armv8l")):
        return None
    import llvmlite.binding as llvm  # type: ignore[import-not-found]

    features = llvm.get_host_cpu_features().flatten()
    fitting = [one for one in TARGETS if one.needs <= have(features)]
    return measured(fitting[-1], llvm.get_host_cpu_name(), features) if fitting else None
