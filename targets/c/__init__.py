"""C for any chip with a C compiler: `c` for this machine, `c-NAME` with the numbers of another one.

`c-scalar` uses no vectors, and so needs no extension of C99. Numbers of the Cortex-M are those of
Arm's Technical Reference Manuals; the tightly coupled memory counts as the L2 cache, the flash
as main memory.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

from ..base import FAMILIES, module_of
from ..costs import AlgorithmCosts, Costs, LoopCosts
from ..processor import SCALAR, Processor
from .target import HERE, CTarget


def host() -> None:
    """None: this machine counts as its processor, never as C."""


_CORE = replace(
    SCALAR,
    issue_width=2,
    line_bytes=32,
    l1_bytes=16 << 10,
    l2_bytes=256 << 10,
    l3_bytes=256 << 10,
    memory_bandwidth=1.0,
    costs=Costs(algorithms=AlgorithmCosts(epilogue=8.0), loops=LoopCosts(prefetch_passes=0)),
)
"""A small core with one floating-point unit. Winograd's algorithm is off: its weights would take
four times the flash."""

_CORTEX_M7 = replace(
    _CORE,
    vector_registers=32,
    integer_registers=12,
    has_fma=True,
    fma_latency=5,
    has_signed_byte_products=True,  # SXTB16 and SMLAD
    gigahertz=0.4,
)
_CORTEX_M4 = replace(_CORTEX_M7, issue_width=1, fma_latency=3, l1_bytes=4 << 10, gigahertz=0.17)


def _own(name: str, summary: str, machine: Processor, bits: int) -> CTarget:
    return CTarget(name=name, summary=summary, family="c", machine=machine, pointer_bits=bits)


def _targets() -> Iterator[CTarget]:
    all_rows = (row for family in FAMILIES if family != "c" for row in module_of(family).TARGETS)
    others = tuple(
        _own(
            f"c-{row.name}",
            f"C99 for {row.summary}",
            row.machine.without_tiles,
            row.pointer_bits,
        )
        for row in all_rows
        if isinstance(row.machine, Processor)
    )
    plain = replace(_CORE, cores=4, costs=Costs(loops=LoopCosts(prefetch_passes=0)))
    this = _own(HERE, "C99 for this machine; c-NAME for another", plain, 64)
    yield replace(this, variants=others)
    yield _own("c-scalar", "C99 without vectors, for any machine", plain, 64)
    yield _own("c-cortex-m7", "C99 for the Cortex-M7: STM32F7 and H7, i.MX RT", _CORTEX_M7, 32)
    yield _own("c-cortex-m4", "C99 for the Cortex-M4 with floats", _CORTEX_M4, 32)


TARGETS = tuple(_targets())
