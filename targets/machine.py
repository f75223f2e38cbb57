"""Descriptions of processors: what an analytical model of a loop nest needs to know.

A `Machine` is data: vector width, registers, throughput, caches. `machine("avx512")` gives
one of the named levels, `machine("host")` the level of this processor with its own caches.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import cache

from ..ir.diagnostics import NncError


@dataclass(frozen=True)
class Machine:
    """One core of a processor, and how many of them there are.

    Units: bits, bytes, operations per cycle, cycles; bandwidths in bytes per cycle.
    """

    name: str
    triple: str
    cpu: str
    features: str
    """LLVM's feature string, empty where `cpu` says it all."""
    vector_bits: int
    vector_registers: int
    full_width_units: int
    """Multiply-adds of the full vector width that start in one cycle."""
    unit_bits: int
    """The width of one multiply-add unit: narrower vectors run at one per unit and cycle."""
    fma_latency: int
    loads_per_cycle: int
    load_bytes_per_cycle: int
    has_fma: bool
    has_masks: bool
    """Masked loads and stores that cost no more than plain ones."""
    has_broadcast_operands: bool
    """An arithmetic instruction may read one scalar from memory for all lanes."""
    line_bytes: int
    l1_bytes: int
    l1_way_bytes: int
    """Lines that lie a multiple of this apart share a set; a page, as the index is virtual."""
    l2_bytes: int
    l3_bytes: int
    l2_bandwidth: float
    l3_bandwidth: float
    memory_bandwidth: float
    fresh_bandwidth: float
    """Of the first writes to memory that the system has just given, page by page."""
    cores: int
    gigahertz: float

    def lanes(self, element_bytes: int) -> int:
        """Elements in a full vector."""
        return max(1, self.vector_bits // (8 * element_bytes))

    def load_cycles(self, vector_bytes: int, aligned: bool = True) -> float:
        """Cycles that one load takes from the throughput; unaligned ones may cross lines."""
        cycles = max(1 / self.loads_per_cycle, vector_bytes / self.load_bytes_per_cycle)
        crossing = 0.0 if aligned else min(1.0, vector_bytes / self.line_bytes)
        return cycles * (1 + crossing)

    def fma_cycles(self, vector_bytes: int) -> float:
        """Cycles that one multiply-add on a vector of this size takes from the throughput."""
        full = self.vector_bits // 8
        if vector_bytes > full:
            return -(-vector_bytes // full) / self.full_width_units
        per_cycle = self.full_width_units * max(1, self.vector_bits // self.unit_bits)
        narrow = vector_bytes * 8 <= self.unit_bits
        return 1 / per_cycle if narrow else 1 / self.full_width_units

    @property
    def l1_ways(self) -> int:
        """Lines of one set of the first-level cache."""
        return self.l1_bytes // self.l1_way_bytes

    @property
    def cycles_per_microsecond(self) -> float:
        return 1000 * self.gigahertz


_AVX512 = Machine(
    name="avx512",
    triple="x86_64-unknown-linux-gnu",
    cpu="x86-64-v4",
    features="",
    vector_bits=512,
    vector_registers=32,
    full_width_units=1,
    unit_bits=256,
    fma_latency=4,
    loads_per_cycle=2,
    load_bytes_per_cycle=64,
    has_fma=True,
    has_masks=True,
    has_broadcast_operands=True,
    line_bytes=64,
    l1_bytes=32 << 10,
    l1_way_bytes=4 << 10,
    l2_bytes=1 << 20,
    l3_bytes=16 << 20,
    l2_bandwidth=32.0,
    l3_bandwidth=12.0,
    memory_bandwidth=6.0,
    fresh_bandwidth=0.8,
    cores=1,
    gigahertz=3.5,
)

MACHINES: dict[str, Machine] = {
    "avx512": _AVX512,
    "avx2": replace(
        _AVX512,
        name="avx2",
        cpu="x86-64-v3",
        vector_bits=256,
        vector_registers=16,
        full_width_units=2,
        has_masks=False,
        has_broadcast_operands=False,
        l2_bytes=512 << 10,
    ),
    "sse": replace(
        _AVX512,
        name="sse",
        cpu="x86-64",
        vector_bits=128,
        vector_registers=16,
        full_width_units=2,
        unit_bits=128,
        has_fma=False,
        has_masks=False,
        has_broadcast_operands=False,
        l2_bytes=256 << 10,
    ),
}
"""The named levels, for code that is to run on any processor of the kind."""

MACHINE_NAMES = ("host", *MACHINES)


def machine(name: str) -> Machine:
    """The machine of this name. Raises NncError for an unknown one."""
    if name == "host":
        return host()
    if name not in MACHINES:
        raise NncError(f"no machine is named '{name}'; known: {', '.join(MACHINE_NAMES)}")
    return MACHINES[name]


@cache
def host() -> Machine:
    """This processor: the best level it supports, with its caches and cores where known."""
    import os

    import llvmlite.binding as llvm  # type: ignore[import-not-found]

    features = llvm.get_host_cpu_features()
    wide = all(features.get(f) for f in ("avx512f", "avx512vl", "avx512bw", "avx512dq"))
    level = "avx512" if wide else "avx2" if features.get("avx2") and features.get("fma") else "sse"
    caches = {f"l{k}_bytes": size for k, size in _cache_sizes().items()}
    cpu = llvm.get_host_cpu_name()
    # Intel's servers have two full-width units, AMD's Zen 4 splits one vector over two halves.
    split = cpu.startswith("znver") and cpu <= "znver4"
    return replace(
        MACHINES[level],
        name="host",
        triple=llvm.get_default_triple(),
        cpu=cpu,
        features=features.flatten(),
        full_width_units=1 if split and wide else 2,
        load_bytes_per_cycle=64 if split or not wide else 128,
        unit_bits=256 if split or level == "avx2" else MACHINES[level].vector_bits,
        cores=len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else 1,
        **caches,
    )


def _cache_sizes() -> dict[int, int]:
    """Level -> bytes of the data caches that one core sees, as Linux tells it."""
    from pathlib import Path

    sizes: dict[int, int] = {}
    for entry in sorted(Path("/sys/devices/system/cpu/cpu0/cache").glob("index*")):
        try:
            if (entry / "type").read_text().strip() == "Instruction":
                continue
            level = int((entry / "level").read_text())
            text = (entry / "size").read_text().strip()
        except (OSError, ValueError):
            continue
        unit = {"K": 1 << 10, "M": 1 << 20}.get(text[-1:], 1)
        digits = text.rstrip("KMG")
        if digits.isdigit() and level in (1, 2, 3):
            sizes[level] = int(digits) * unit
    return sizes
