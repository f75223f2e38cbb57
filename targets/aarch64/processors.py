"""Processors of 64-bit Arm, with NEON's vectors of 128 bits or SVE's of a known length.

Units, latencies and widths are those of Arm's Software Optimization Guides (Cortex-A72, Cortex-A76,
Neoverse N1, V1 and V2), of Fujitsu's A64FX Microarchitecture Manual, and of LLVM's scheduling
models, where loads of the N1 take an integer pipe too; caches and clocks are those of common
machines. Bandwidths are estimates. No source says that software prefetches pay: each takes the slot
of a micro-operation.
"""

from __future__ import annotations

from dataclasses import replace

from ...runtime.systems import MACOS, WINDOWS
from ..costs import Costs, LoopCosts
from ..emulator import Emulator
from ..llvm.dots import Dot
from ..llvm.target import LlvmTarget
from ..processor import Processor
from .names import AARCH64_NAMES

_DOTS = (
    Dot(
        "s8", 4, "llvm.aarch64.neon.sdot.v4i32.v16i8", frozenset(("dotprod",)),
        accumulates=True, takes_bytes=True,
    ),
)  # fmt: skip

_A72 = Processor(
    vector_bits=128,
    vector_registers=32,
    full_width_units=1,
    unit_bits=64,
    fma_latency=7,
    loads_per_cycle=1,
    load_bytes_per_cycle=16,
    has_fma=True,
    has_masks=False,
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
"""Cortex-A72, as in the Raspberry Pi 4. The last-level cache is its second one."""

_A76 = replace(
    _A72,
    full_width_units=2,
    has_signed_byte_products=True,
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
"""Cortex-A76, as in the Raspberry Pi 5."""

_N1 = replace(
    _A76,
    l2_bytes=1 << 20,
    l3_bytes=32 << 20,
    l3_bandwidth=12.0,
    memory_bandwidth=6.0,
    cores=16,
    gigahertz=2.5,
)
"""Neoverse N1, as in AWS Graviton 2 and Ampere Altra, with the cores of a medium virtual machine.
"""

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
"""Neoverse V2, as in AWS Graviton 4 and NVIDIA Grace."""

_V1 = replace(
    _V2,
    vector_bits=256,
    full_width_units=2,
    unit_bits=256,
    loads_per_cycle=2,
    load_bytes_per_cycle=64,
    has_lane_operands=False,
    has_signed_byte_products=False,
    issue_width=8,
    l2_bytes=1 << 20,
    gigahertz=2.6,
)
"""Neoverse V1, as in AWS Graviton 3. SVE's indexed multiply-adds take their lane from the same
segment of 128 bits only, so an element that all lanes need is repeated by a load.
"""

_A64FX = replace(
    _V1,
    vector_bits=512,
    unit_bits=512,
    fma_latency=9,
    load_bytes_per_cycle=128,
    issue_width=4,
    line_bytes=256,
    l2_bytes=8 << 20,
    l3_bytes=8 << 20,
    l2_bandwidth=64.0,
    l3_bandwidth=64.0,
    memory_bandwidth=16.0,
    cores=12,
    gigahertz=2.0,
)
"""One core memory group of an A64FX: 12 cores share 256 GB/s and the L2 cache, which is the
last."""

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
"""The performance cores of Apple's M1."""

_V8_2 = frozenset(("crc", "lse", "rdm", "fullfp16", "rcpc", "dotprod"))


def _processor(
    name: str, summary: str, machine: Processor, needs: frozenset[str], cpu: str, emulated: str
) -> LlvmTarget:
    return LlvmTarget(
        name=name,
        summary=summary,
        family="aarch64",
        machine=machine,
        triple="aarch64-unknown-linux-gnu",
        cpu=cpu,
        pause=("llvm.aarch64.isb", 15),
        names=AARCH64_NAMES,
        dots=_DOTS,
        needs=needs,
        emulator=Emulator("qemu-aarch64", emulated, "aarch64-linux-gnu", "arm64"),
    )


_ANY = _processor(
    "aarch64",
    "any 64-bit Arm",
    replace(_A76, has_signed_byte_products=False),
    frozenset(),
    "generic",
    "cortex-a53",
)
_APPLE = _processor(
    "apple-m1", "Apple M1 and later", _M1, _V8_2 | {"fp16fml", "sha3"}, "apple-m1", "max"
)

TARGETS = (
    replace(_ANY, variants=(_ANY.under(WINDOWS), _ANY.under(MACOS))),
    _processor(
        "cortex-a72", "Raspberry Pi 4", _A72, frozenset(("crc",)), "cortex-a72", "cortex-a72"
    ),
    _processor("cortex-a76", "Raspberry Pi 5", _A76, _V8_2, "cortex-a76", "cortex-a76"),
    _processor(
        "neoverse-n1", "AWS Graviton 2, Ampere Altra", _N1, _V8_2, "neoverse-n1", "neoverse-n1"
    ),
    replace(
        _processor(
            "neoverse-v1", "AWS Graviton 3: SVE of 256 bits",
            _V1, _V8_2 | {"bf16", "i8mm", "sve"}, "neoverse-v1", "max,sve-max-vq=2",
        ),
        scalable=2,
        features="-no-sve-fp-ld1r",
    ),
    replace(
        _processor(
            "a64fx", "Fujitsu A64FX: SVE of 512 bits",
            _A64FX, frozenset(("crc", "lse", "rdm", "fullfp16", "complxnum", "sve")), "a64fx",
            "a64fx",
        ),
        scalable=4,
    ),
    _processor(
        "neoverse-v2", "AWS Graviton 4, NVIDIA Grace",
        _V2, _V8_2 | {"bf16", "i8mm", "sve", "sve2"}, "neoverse-v2", "max",
    ),
    replace(
        _APPLE.under(MACOS),
        name="apple-m1",
        variants=(
            replace(_APPLE, name="apple-m1-linux", summary=f"{_APPLE.summary}, under Linux"),
        ),
    ),
)  # fmt: skip
