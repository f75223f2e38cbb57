"""Processors of 64-bit Arm, with NEON's vectors of 128 bits.

Units, latencies and widths are those of Arm's Software Optimization Guides (Cortex-A72,
Cortex-A76, Neoverse N1, Neoverse V2) and of LLVM's scheduling models, where loads of the
N1 take an integer pipe besides; caches and clocks those of common machines. Bandwidths are
estimates. Nothing says that software prefetches pay: each takes the place of a micro-operation.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

from ..base import find_host
from ..costs import Costs, LoopCosts
from ..emulator import Emulator
from ..llvm.target import LlvmTarget
from ..machine import Machine
from .names import AARCH64_NAMES


@dataclass(frozen=True, kw_only=True)
class Aarch64(LlvmTarget):
    """A processor of 64-bit Arm. The named ones do not form a line: each says what it needs."""

    needs: frozenset[str] = frozenset()
    """The features beyond the architecture's first version that its code may use."""

    def obstacle(self) -> str | None:
        here = find_host()
        if not self.is_native or not isinstance(here, LlvmTarget):
            return super().obstacle()
        missing = sorted(self.needs.difference(have(here.features)))
        return f"this machine has no {', '.join(missing)}" if missing else None


def have(features: str) -> set[str]:
    """The names behind the plus signs of `+neon,-sve`."""
    return {one[1:] for one in features.split(",") if one.startswith("+")}


_A72 = Machine(
    vector_bits=128,
    vector_registers=32,
    full_width_units=1,
    unit_bits=64,
    fma_latency=7,
    loads_per_cycle=1,
    load_bytes_per_cycle=16,
    has_fma=True,
    has_masks=False,
    has_broadcast_operands=False,
    has_lane_operands=True,
    issue_width=3,
    line_bytes=64,
    l1_bytes=32 << 10,
    l1_way_bytes=16 << 10,
    l2_bytes=1 << 20,
    l3_bytes=1 << 20,
    l2_bandwidth=8.0,
    l3_bandwidth=3.0,
    memory_bandwidth=2.0,
    cores=4,
    gigahertz=1.5,
    costs=Costs(loops=LoopCosts(prefetch_passes=0)),
)
"""Of the Raspberry Pi 4. The second cache is the last one."""

_A76 = replace(
    _A72,
    full_width_units=2,
    unit_bits=128,
    fma_latency=4,
    loads_per_cycle=2,
    load_bytes_per_cycle=32,
    load_micro_ops=2,
    l1_bytes=64 << 10,
    l2_bytes=512 << 10,
    l3_bytes=2 << 20,
    l2_bandwidth=24.0,
    l3_bandwidth=8.0,
    memory_bandwidth=4.0,
    gigahertz=2.4,
)
"""Of the Raspberry Pi 5."""

_N1 = replace(
    _A76,
    l2_bytes=1 << 20,
    l3_bytes=32 << 20,
    l3_bandwidth=12.0,
    memory_bandwidth=6.0,
    cores=16,
    gigahertz=2.5,
)
"""Of AWS Graviton 2 and Ampere Altra; cores of a medium virtual machine."""

_V2 = replace(
    _N1,
    full_width_units=4,
    loads_per_cycle=3,
    load_bytes_per_cycle=48,
    issue_width=6,
    load_micro_ops=1,
    l2_bytes=2 << 20,
    l2_bandwidth=48.0,
    memory_bandwidth=8.0,
    gigahertz=2.8,
)
"""Of AWS Graviton 4 and NVIDIA Grace."""

_M1 = replace(
    _V2,
    l1_bytes=128 << 10,
    l2_bytes=12 << 20,
    l3_bytes=12 << 20,
    l2_bandwidth=32.0,
    l3_bandwidth=16.0,
    memory_bandwidth=16.0,
    cores=4,
    gigahertz=3.2,
)
"""The fast cores."""

_V8_2 = frozenset(("crc", "lse", "rdm", "fullfp16", "rcpc", "dotprod"))


def _processor(
    name: str, summary: str, machine: Machine, needs: frozenset[str], cpu: str, emulated: str
) -> Aarch64:
    return Aarch64(
        name=name,
        summary=summary,
        family="aarch64",
        machine=machine,
        triple="aarch64-unknown-linux-gnu",
        cpu=cpu,
        pause=("llvm.aarch64.isb", 15),
        names=AARCH64_NAMES,
        needs=needs,
        emulator=Emulator("qemu-aarch64", emulated, "aarch64-linux-gnu", "arm64"),
    )


TARGETS = (
    _processor("aarch64", "any 64-bit Arm", _A76, frozenset(), "generic", "cortex-a53"),
    _processor(
        "cortex-a72", "Raspberry Pi 4", _A72, frozenset(("crc",)), "cortex-a72", "cortex-a72"
    ),
    _processor("cortex-a76", "Raspberry Pi 5", _A76, _V8_2, "cortex-a76", "cortex-a76"),
    _processor(
        "neoverse-n1", "AWS Graviton 2, Ampere Altra", _N1, _V8_2, "neoverse-n1", "neoverse-n1"
    ),
    _processor(
        "neoverse-v2", "AWS Graviton 4, NVIDIA Grace",
        _V2, _V8_2 | {"bf16", "i8mm", "sve", "sve2"}, "neoverse-v2", "max",
    ),
    _processor(
        "apple-m1", "Apple M1 and later, under Linux",
        _M1, _V8_2 | {"fp16fml", "sha3"}, "apple-m1", "max",
    ),
)  # fmt: skip
