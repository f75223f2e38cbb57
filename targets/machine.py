"""Descriptions of machines: what any of them has, and what layouts and algorithms depend on.

A `Machine` is data. Each target has one: of a processor, a `Processor`.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from dataclasses import dataclass, field

from .costs import Costs


@dataclass(frozen=True)
class Memory:
    """A cache, or memory that a program fills by itself.

    Units: bytes; bytes per cycle that one core reads from it.
    """

    bytes: int
    bandwidth: float


@dataclass(frozen=True, kw_only=True)
class Machine(ABC):
    """What every machine has: cores, or groups of units that work alike, and memory.

    Units: bytes, operations per cycle, cycles; bandwidths in bytes per cycle of one core.
    """

    cores: int
    gigahertz: float
    line_bytes: int
    """What one access to memory moves at least."""
    memory_bandwidth: float
    has_fma: bool
    """A multiply-add is one instruction, and rounds once."""
    has_f64: bool = True
    """There is arithmetic on f64."""
    has_byte_products: bool = False
    """An instruction adds the products of four unsigned and four signed bytes to each lane of 32
    bits, as fast as a multiply-add of floats."""
    has_signed_byte_products: bool = False
    """The same of signed bytes on both sides."""
    has_pair_products: bool = False
    """An instruction multiplies two vectors of 16-bit integers and adds up each two neighbours."""
    has_arena: bool = True
    """Whether buffers may be parts of one that a kernel sees at several places; else each is
    alone."""
    most_buffers: int = 0
    """Buffers that a kernel of several operations may take; 0 for any number."""
    fresh_bandwidth: float = 0.8
    """Of the first writes to memory that the system has just given: it clears the pages first.
    Measured: 2.8 GB/s in large pages, Linux 6.18 on an AVX-512 server."""
    costs: Costs = field(default_factory=Costs)
    """The numbers of cost models, layouts and thresholds that do not follow from the others."""

    @property
    def program(self) -> Machine | None:
        """What runs one program of it, with vectors and registers: a processor itself, or a thread
        of a device; None where it has no such thing.
        """
        return None

    @abstractmethod
    def lanes(self, element_bytes: int) -> int:
        """Elements of one vector of a core, or 1 where no layout has to gather them."""

    @property
    @abstractmethod
    def multiply_adds(self) -> float:
        """Multiplications in f32, each with an addition, that a core starts in a cycle at most."""

    @property
    @abstractmethod
    def nearest_memory(self) -> Memory:
        """What a core reads from without waiting."""

    @property
    @abstractmethod
    def private_memory(self) -> Memory:
        """The largest memory that a core has for itself."""

    @property
    @abstractmethod
    def shared_memory(self) -> Memory:
        """What lies between that and main memory."""

    @property
    def makes_borders(self) -> bool:
        """Whether kernels make the borders of padded images as they read them, into memory that is
        near: nobody has to write these images.
        """
        return False

    @property
    def least_cores(self) -> int:
        """Cores that work on a kernel, however few threads the caller has."""
        return 1

    @property
    def launch_cycles(self) -> float:
        """Cycles from one kernel to the next that waits for it, besides what these take."""
        return 0.0

    @property
    def cycles_per_microsecond(self) -> float:
        return 1000 * self.gigahertz
