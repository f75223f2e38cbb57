"""Processors of 64-bit RISC-V, with multiplication, atomics, floats and compressed instructions.

Vectors are of version 1.0 of the V extension, in pairs of registers (LMUL 2): of the guaranteed 128
bits, or of a processor's own length. An instruction then does twice as much, and in-order cores
have time for the loads and additions beside it. Units, latencies and widths are those of LLVM's
scheduling models (SiFive7 for the U74, SpacemitX60); caches and clocks are those of common
machines. Bandwidths are estimates. No source says that software prefetches pay, and few processors
have them.
"""

from __future__ import annotations

import platform
from dataclasses import replace

from ..costs import Costs, LoopCosts, TileCosts
from ..emulator import Emulator
from ..llvm.host import measured
from ..llvm.target import LlvmTarget
from ..processor import Processor
from .names import RISCV_NAMES

_U74 = Processor(
    vector_bits=32,
    vector_registers=32,
    full_width_units=1,
    unit_bits=32,
    fma_latency=5,
    loads_per_cycle=1,
    load_bytes_per_cycle=8,
    has_fma=True,
    has_masks=False,
    issue_width=2,
    line_bytes=64,
    l1_bytes=32 << 10,
    l1_way_bytes=4 << 10,
    l2_bytes=2 << 20,
    l3_bytes=2 << 20,
    l2_bandwidth=4.0,
    l3_bandwidth=2.0,
    memory_bandwidth=1.0,
    cores=4,
    gigahertz=1.5,
    costs=Costs(loops=LoopCosts(prefetch_passes=0)),
)
"""SiFive U74, as in the VisionFive 2: scalar floats only. The last-level cache is its second one.
"""

_X60 = replace(
    _U74,
    vector_bits=512,
    vector_registers=16,
    full_width_units=0.5,
    unit_bits=256,
    fma_latency=5,
    load_bytes_per_cycle=16,
    l2_bytes=512 << 10,
    l3_bytes=512 << 10,
    l2_bandwidth=8.0,
    memory_bandwidth=2.0,
    cores=8,
    gigahertz=1.6,
    costs=replace(_U74.costs, tiles=TileCosts(sum_bodies=42)),
)
"""SpacemiT X60, as in the Banana Pi F3: the load of a vector takes three cycles, of two registers
four. A user of a loaded value waits for five: with 42 bodies llvm-mca finds 64 to 82 % of the peak
in products (bench/inner_loops.md), with one step's 37 to 69 %; from 48 on addresses are spilled."""

_V = replace(_X60, vector_bits=256, unit_bits=128, load_bytes_per_cycle=16)
"""Like the X60, with the least vectors."""


def _emulator(vlen: int) -> Emulator:
    """QEMU with all extensions, and with vectors of `vlen` bits; without vectors for 0.

    QEMU before 8.2 needs the extensions listed.
    """
    all_there_is = f"v=true,vext_spec=v1.0,vlen={vlen},zba=true,zbb=true,zbs=true,Zfh=true"
    before, newer = (f"rv64,{all_there_is}", f"max,vlen={vlen}") if vlen else ("rv64", "")
    return Emulator("qemu-riscv64", before, "riscv64-linux-gnu", "riscv64", newer)


def _processor(
    name: str, summary: str, machine: Processor, needs: frozenset[str], cpu: str, features: str,
    vlen: int, *aliases: str,
) -> LlvmTarget:  # fmt: skip
    return LlvmTarget(
        name=name,
        summary=summary,
        family="riscv",
        machine=machine,
        aliases=aliases,
        triple="riscv64-unknown-linux-gnu",
        cpu=cpu,
        features=features,
        abi="lp64d",
        needs=needs,
        pause=("llvm.riscv.pause", None),
        has_half="zvfh" in needs,
        names=RISCV_NAMES,
        emulator=_emulator(vlen),
    )


_BASE = "+m,+a,+f,+d,+c,+zihintpause"


TARGETS = (
    _processor(
        "riscv64", "any 64-bit RISC-V that runs Linux", _U74, frozenset(),
        "generic-rv64", _BASE, 0, "rv64gc",
    ),
    _processor(
        "riscv64-v", "64-bit RISC-V with vectors of at least 128 bits",
        _V, frozenset("v"), "generic-rv64", f"{_BASE},+v", 128, "rv64gcv",
    ),
    _processor(
        "spacemit-x60", "Banana Pi F3, Milk-V Jupiter",
        _X60, frozenset(("v", "zba", "zbb", "zbs", "zvl256b", "zvfh")),
        "spacemit-x60", "-zicond", 256,  # QEMU has Zicond since version 8
    ),
)  # fmt: skip


def host() -> LlvmTarget | None:
    """This machine as a target; None where it is no 64-bit RISC-V."""
    if platform.machine() != "riscv64":
        return None
    import llvmlite.binding as llvm  # type: ignore[import-not-found]

    features = llvm.get_host_cpu_features()
    named = TARGETS[1 if features.get("v") else 0]
    return measured(named, llvm.get_host_cpu_name(), features.flatten())
