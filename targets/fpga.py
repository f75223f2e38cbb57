"""Descriptions of FPGAs: the properties of parts that a compiler needs."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import ClassVar

from .costs import AlgorithmCosts, Costs, LayoutCosts, LoopCosts
from .machine import Machine, Memory
from .processor import SCALAR, Processor

_COSTS = Costs(
    layouts=LayoutCosts(block=1),
    algorithms=AlgorithmCosts(epilogue=8.0),
    loops=LoopCosts(prefetch_passes=0),
)
"""Plain layouts, and no Winograd: its transforms would need hardware of their own."""

ELEMENT = replace(SCALAR, costs=_COSTS)
"""How passes that make loops see an FPGA: a scalar processor without fused multiply-adds."""


@dataclass(frozen=True, kw_only=True)
class FpgaMachine(Machine):
    """An FPGA part, by its maker's data.

    Units: DSP slices, blocks of 36 kbit and of 288 kbit of memory.
    """

    dsps: int
    bram_blocks: int
    uram_blocks: int
    cores: int = 1
    line_bytes: int = 4
    memory_bandwidth: float = 4.0
    has_fma: bool = False
    has_f64: bool = False
    pipeline_cycles: int = 12
    """The cycles of one iteration of a pipeline, with its start and end. Chosen: a read, a product,
    a sum and a write of integers take 6 at 300 MHz, a product in f32 4 more."""
    float_dsps: int = 5
    """The DSP slices of an f32 multiply-add: 3 for the product, 2 for the sum. Source: AMD's PG060,
    full usage."""
    sum_cycles: int = 7
    """The latency of an f32 addition, for which the next addition waits. Units: cycles. Source:
    PG060."""
    most_copies: int = 64
    """The most copies of a body. Chosen: synthesis takes hours for more."""
    window: int = 16
    """The most terms of a reduction that are computed at once, one result each cycle."""
    costs: Costs = field(default_factory=lambda: _COSTS)
    WHAT_IF: ClassVar[Mapping[str, str]] = {
        "dsps": "multipliers",
        "pipeline_cycles": "time to fill a pipeline",
    }

    @property
    def program(self) -> Processor:
        return ELEMENT

    def lanes(self, element_bytes: int) -> int:
        """1, as there are no vectors."""
        return 1

    @property
    def multiply_adds(self) -> float:
        return self.dsps / self.float_dsps

    @property
    def memory_bits(self) -> int:
        """Bits that all memory blocks of the chip hold together."""
        return (self.bram_blocks * 36 + self.uram_blocks * 288) << 10

    @property
    def nearest_memory(self) -> Memory:
        return Memory(self.memory_bits // 8, 4.0 * self.bram_blocks)

    @property
    def private_memory(self) -> Memory:
        return self.nearest_memory

    @property
    def shared_memory(self) -> Memory:
        return self.nearest_memory
