"""64-bit Power, little-endian, since POWER8: VSX, vectors of 128 bits.

Source: IBM, POWER8 and POWER9 Processor User's Manuals; bandwidths are estimates.
"""

from __future__ import annotations

import platform

from .emulator import Emulator
from .llvm.host import measured
from .llvm.processor import ProcessorNames
from .llvm.target import LlvmTarget
from .processor import Processor

_POWER8 = Processor(
    vector_bits=128,
    vector_registers=64,
    full_width_units=2,
    unit_bits=128,
    fma_latency=6,
    loads_per_cycle=2,
    load_bytes_per_cycle=32,
    has_fma=True,
    has_masks=False,
    line_bytes=128,
    l1_bytes=64 << 10,
    l1_way_bytes=8 << 10,
    l2_bytes=512 << 10,
    l3_bytes=8 << 20,
    l2_bandwidth=32.0,
    l3_bandwidth=16.0,
    memory_bandwidth=8.0,
    cores=8,
    gigahertz=3.5,
)

_FEATURES = """
    altivec crypto direct-move fpcvt fprnd htm isa-v207-instructions isa-v30-instructions
    isa-v31-instructions mma paired-vector-memops power8-vector power9-vector power10-vector vsx
"""

TARGETS = (
    LlvmTarget(
        name="power8",
        summary="64-bit Power since POWER8, little-endian: VSX",
        family="power",
        machine=_POWER8,
        aliases=("ppc64le",),
        triple="powerpc64le-unknown-linux-gnu",
        cpu="pwr8",
        has_half=False,
        names=ProcessorNames(
            frozenset(("ppc64le", "pwr8", "pwr9", "pwr10", "pwr11")),
            frozenset(_FEATURES.split()),
            "ppc",
        ),
        emulator=Emulator("qemu-ppc64le", "power9", "powerpc64le-linux-gnu", "ppc64el"),
    ),
)


def host() -> LlvmTarget | None:
    """This machine as a target; None where it is no little-endian Power."""
    if platform.machine() != "ppc64le":
        return None
    import llvmlite.binding as llvm  # type: ignore[import-not-found]

    return measured(TARGETS[0], llvm.get_host_cpu_name(), llvm.get_host_cpu_features().flatten())
