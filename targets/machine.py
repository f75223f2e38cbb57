"""Descriptions of machines: the properties that all have, and that layouts and algorithms use.

A `Machine` is data. Each target has one: that of a processor is a `Processor`.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import ClassVar, NamedTuple

from .costs import Costs
from .transactions import DeviceMemory


@dataclass(frozen=True)
class Memory:
    """A cache, or memory that programs fill themselves.

    Units: bytes; bytes per cycle that one core reads from it.
    """

    bytes: int
    bandwidth: float


class Cache(NamedTuple):
    """A cache, and what it is filled from at `bandwidth` bytes per cycle of one core."""

    name: str
    bytes: int
    bandwidth: float


@dataclass(frozen=True, kw_only=True)
class Machine(ABC):
    """The properties of every machine: cores, or groups of units that work alike, and memory.

    Units: bytes, operations per cycle, cycles; bandwidths in bytes per cycle of one core.
    """

    cores: int
    gigahertz: float
    line_bytes: int
    """The least bytes that an access to memory moves."""
    memory_bandwidth: float
    has_fma: bool
    """Whether a multiply-add is one instruction that rounds once."""
    has_f64: bool = True
    """Whether there is f64 arithmetic."""
    has_byte_products: bool = False
    """Whether an instruction adds the products of four unsigned and four signed bytes to each
    32-bit lane, as fast as a float multiply-add."""
    has_signed_byte_products: bool = False
    """The same for signed bytes on both sides."""
    has_half_products: bool = False
    """Whether an instruction adds the products of two pairs of bf16 to each f32 lane, as fast as a
    float multiply-add."""
    has_pair_products: bool = False
    """Whether an instruction multiplies two vectors of 16-bit integers and adds neighbouring
    products."""
    has_arena: bool = True
    """Whether buffers may be parts of one that a kernel sees several times; else each is separate.
    """
    most_buffers: int = 0
    """The most buffers that a kernel of several operations may take; 0 for no limit."""
    fresh_bandwidth: float = 0.8
    """The bandwidth of first writes to fresh memory, which the system clears first. Measured: 2.8
    GB/s in large pages, Linux 6.18 on an AVX-512 server."""
    subgroup: int = 1
    """The number of threads that exchange values (warp, wavefront); 1 if none can."""
    costs: Costs = field(default_factory=Costs)
    """The numbers of cost models, layouts and thresholds that do not follow from the fields above.
    """
    WHAT_IF: ClassVar[Mapping[str, str]] = {}
    """The numbers that an explanation of a decision varies, with their names for users."""

    @property
    def program(self) -> Machine | None:
        """The machine of a single program, with vectors and registers: a processor itself, or a
        thread of a device; None if there is none.
        """
        return None

    @property
    def calls_kernels(self) -> bool:
        """Whether the code between kernels runs on the same cores, so that a condition or a loop
        around a call costs only itself.
        """
        return False

    @property
    def has_groups(self) -> bool:
        """Whether groups of threads run kernels, which are launched one after the other."""
        return False

    @property
    def caches(self) -> tuple[Cache, ...]:
        """The caches that a core reads through, the nearest first; none where kernels copy."""
        return ()

    @property
    def moved_bytes(self) -> int:
        """The least number of bytes that a memory access moves."""
        return self.line_bytes

    @property
    def together(self) -> int:
        """How many threads execute in lockstep."""
        return 1

    @property
    def work_while_waiting(self) -> float:
        """The operations of all threads while one of them waits for an element from memory; 0
        where one thread alone is as fast as any other.
        """
        return 0.0

    @property
    def device_memory(self) -> DeviceMemory:
        """What matters when threads access memory together; the most common values if unknown."""
        return DeviceMemory()

    @property
    def multiplies_halves(self) -> bool:
        """Whether products of bf16 are faster than those of f32."""
        return self.has_half_products

    @property
    def bytes_in_row(self) -> int:
        """How many bytes of neighbouring channels products of bytes take at once, beyond a vector's
        words; 0 if they take no more.
        """
        return 0

    @property
    def has_tall_tiles(self) -> bool:
        """Whether a core has registers enough that products of halves fill its tiles as well as
        whole ones.
        """
        return False

    @abstractmethod
    def lanes(self, element_bytes: int) -> int:
        """The elements of a core's vector; 1 if layouts need not group elements for vectors."""

    @property
    @abstractmethod
    def multiply_adds(self) -> float:
        """The most f32 multiply-adds that a core starts in a cycle."""

    @property
    def word_multiply_adds(self) -> float:
        """The most products of words, each added to a sum, that a core starts in a cycle."""
        return self.multiply_adds

    def fma_cycles(self, vector_bytes: int) -> float:
        """The throughput cost of one multiply-add on vectors of this size, in cycles."""
        return vector_bytes / (4 * self.multiply_adds)

    @property
    @abstractmethod
    def nearest_memory(self) -> Memory:
        """The memory that a core reads without waiting."""

    @property
    @abstractmethod
    def private_memory(self) -> Memory:
        """The largest memory that is private to a core."""

    @property
    @abstractmethod
    def shared_memory(self) -> Memory:
        """The memory between a core's private memory and main memory."""

    @property
    def makes_borders(self) -> bool:
        """Whether kernels create the borders of padded images while reading them, in nearby memory,
        so that padded images need not be written.
        """
        return False

    @property
    def least_cores(self) -> int:
        """The least number of cores that work on a kernel, however few threads the caller has."""
        return 1

    @property
    def launch_cycles(self) -> float:
        """Cycles between one kernel and the next that depends on it, beyond the kernels' own."""
        return 0.0

    @property
    def cycles_per_microsecond(self) -> float:
        return 1000 * self.gigahertz
