"""Descriptions of processors: the properties of a core that a cost model of loop nests needs."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from math import inf
from typing import ClassVar

from ..ir.core import Operation
from ..ir.diagnostics import NncError
from ..ir.location import Location
from .attribute import target_of
from .base import Target
from .machine import Cache, Machine, Memory


@dataclass(frozen=True)
class TileRegisters:
    """Registers that hold small matrices of bytes, and an instruction that multiplies them.

    A product takes a tile of `rows` rows, another one of as many rows as there are words of 32 bits
    in `row_bytes`, and adds to a tile of 32-bit sums. Units: bytes, cycles.
    """

    tile_registers: int = 0
    """How many registers there are; 0 on processors without."""
    multiplies_halves: bool = False
    """Whether there is a product of bf16, with sums in f32."""
    rows: int = 16
    row_bytes: int = 64
    product_cycles: float = 16.0
    """The throughput cost of a product of whole tiles."""
    load_cycles: float = 60.0
    """The cost of loading a whole tile where products wait for it. Measured: 300 cycles for four
    loads and four products on an Emerald Rapids whose other hyperthread is busy, 64 where it is
    idle, as Intel's manual has it (8 for a load). Square tiles, which load the least, are as good
    as others on an idle one."""
    product_latency: float = 52.0
    """The cycles until another product can add to a product's sums."""
    least_rows: int = 4
    """The fewest rows for which a product is faster than one of vectors."""

    def __post_init__(self) -> None:
        if self.rows < 1 or self.row_bytes < 4 or self.row_bytes % 4:
            raise NncError("tile registers have rows of whole words of 32 bits")

    @property
    def words(self) -> int:
        """The words of 32 bits in a row, and the sums."""
        return self.row_bytes // 4

    @property
    def multiply_adds(self) -> float:
        """The products of words, each added to a sum, of one cycle of whole tiles."""
        return self.rows * self.words**2 / self.product_cycles

    def steps(self, extent: int) -> tuple[int, int]:
        """(the steps of a sum of `extent` words that one product takes, the steps that are left).

        Fewer than a row has are better than some that are left, whose tiles have other shapes.
        """
        if extent <= self.words:
            return extent, 0
        even = (n for n in range(self.words, self.words // 2 - 1, -1) if extent % n == 0)
        steps = next(even, self.words)
        return steps, extent % steps

    def needed(self, rows: int, vectors: int, extent: int) -> int:
        """The registers for rows of several vectors of sums of `extent` words, and for the operands
        of a product: the vectors, and a tile of each height that rows have.
        """
        _, rest = self.steps(extent)
        sums = -(-rows // self.rows) * vectors
        heights = (rows >= self.rows) + (rows % self.rows > 0)
        return sums + (vectors + heights) * (2 if rest else 1)


@dataclass(frozen=True, kw_only=True)
class Processor(Machine):
    """One core of a processor: its vectors, registers, units and caches.

    Units: bits, bytes, operations per cycle, cycles; bandwidths in bytes per cycle.
    """

    vector_bits: int
    vector_registers: int
    full_width_units: float
    """The full-width multiply-adds that start in one cycle; 0.25 for vectors processed in quarters.
    """
    unit_bits: int
    """The width of one multiply-add unit, which takes one narrower vector a cycle."""
    fma_latency: int
    loads_per_cycle: int
    load_bytes_per_cycle: int
    has_masks: bool
    """Whether masked loads and stores cost no more than plain ones."""
    l1_bytes: int
    l1_way_bytes: int
    """The bytes of one way of the L1 cache: lines a multiple of this apart share a set. On x86 a
    page, as virtual addresses index the cache."""
    l2_bytes: int
    l3_bytes: int
    l2_bandwidth: float
    l3_bandwidth: float
    masked_bytes: tuple[int, ...] = ()
    """Without `has_masks`: the sizes of elements whose masked loads and stores are instructions."""
    has_lane_operands: bool = False
    """A multiply-add may take one lane of a vector for all lanes."""
    divides_lanes: bool = False
    """Whether integers are divided on vectors as fast as one by one."""
    has_heap: bool = True
    """A loop's iteration can allocate; if not, buffers that fit no stack stay outside of loops."""
    loads_early: bool = False
    """Whether compilers move all loads of a loop's body before its arithmetic, so that all loaded
    values are in registers at once."""
    widest_lane: int = 8
    """The size of the largest elements with vector arithmetic."""
    most_lanes: int = 0
    """The most elements of a vector; 0 for as many as fit."""
    integer_registers: int = 0
    """The registers for vectors of integers, if floats have others; 0 if they share them."""
    issue_width: int = 6
    """Micro-operations that start in one cycle."""
    load_micro_ops: int = 1
    """The micro-operations of one vector load."""
    line_crossing: float = 1.0
    """The extra cost of a load that crosses the end of a cache line. Units: loads."""
    tiles: TileRegisters = field(default_factory=TileRegisters)
    WHAT_IF: ClassVar[Mapping[str, str]] = {
        "memory_bandwidth": "memory bandwidth",
        "l3_bandwidth": "bandwidth of the L3 cache",
        "l2_bandwidth": "bandwidth of the L2 cache",
        "l3_bytes": "L3 cache",
        "l2_bytes": "L2 cache",
        "l1_bytes": "L1 cache",
        "full_width_units": "arithmetic units",
        "fma_latency": "latency of an addition",
        "load_bytes_per_cycle": "bytes loaded in a cycle",
        "issue_width": "instructions started in a cycle",
        "cores": "cores",
    }

    @property
    def program(self) -> Processor:
        return self

    @property
    def calls_kernels(self) -> bool:
        return True

    @property
    def caches(self) -> tuple[Cache, ...]:
        return (
            Cache("l1", self.l1_bytes, self.l2_bandwidth),
            Cache("l2", self.l2_bytes, self.l3_bandwidth),
            Cache("l3", self.l3_bytes, self.memory_bandwidth),
        )

    def lanes(self, element_bytes: int) -> int:
        """The elements of a full vector; 1 if there is no vector arithmetic on such elements."""
        if element_bytes > self.widest_lane:
            return 1
        fitting = max(1, self.vector_bits // (8 * element_bytes))
        return min(fitting, self.most_lanes or fitting)

    def registers(self, of_integers: bool) -> int:
        """How many registers hold vectors of integers, or else of floats."""
        return (of_integers and self.integer_registers) or self.vector_registers

    def can_mask(self, element_bytes: int) -> bool:
        """Whether one instruction loads or stores only some lanes of a vector."""
        return self.has_masks or element_bytes in self.masked_bytes

    def load_cycles(self, vector_bytes: int, aligned: bool = True) -> float:
        """The throughput cost of one load, in cycles; unaligned loads may cross cache lines."""
        cycles = max(1 / self.loads_per_cycle, vector_bytes / self.load_bytes_per_cycle)
        crossing = 0.0 if aligned else min(1.0, vector_bytes / self.line_bytes)
        return cycles * (1 + self.line_crossing * crossing)

    def fma_cycles(self, vector_bytes: int) -> float:
        """The throughput cost of one multiply-add on vectors of this size, in cycles."""
        full = self.vector_bits // 8
        if vector_bytes > full:
            return -(-vector_bytes // full) / self.full_width_units
        per_cycle = self.full_width_units * max(1, self.vector_bits // self.unit_bits)
        narrow = vector_bytes * 8 <= self.unit_bits
        return 1 / per_cycle if narrow else 1 / self.full_width_units

    def bandwidth_of(self, bytes: float, lately: bool = True) -> float:
        """Bytes per cycle when reading `bytes` bytes from the smallest cache (L2 at best) that
        holds them; from memory if they were not touched `lately`.
        """
        return self.home_of(bytes if lately else inf)[1]

    def home_of(self, bytes: float) -> tuple[str, float]:
        """The memory that limits reading data if `bytes` bytes were touched since its last use, and
        its bytes per cycle: the smallest cache (L2 at best) that still holds the data, or main
        memory; but L2, through which all data comes, if that is slower.
        """
        filled, near = self.costs.loops.cache_filled, ("l2", self.l2_bandwidth)
        if bytes <= filled * self.l2_bytes:
            return near
        is_held = bytes <= filled * self.l3_bytes
        far = ("l3", self.l3_bandwidth) if is_held else ("memory", self.memory_bandwidth)
        return min(far, near, key=lambda one: one[1])

    @property
    def without_tiles(self) -> Processor:
        """This processor, for code that has no words for tile registers and products of bf16."""
        return replace(self, tiles=TileRegisters(), has_half_products=False)

    @property
    def multiplies_halves(self) -> bool:
        return self.has_half_products or self.tiles.multiplies_halves

    @property
    def bytes_in_row(self) -> int:
        return self.tiles.row_bytes if self.tiles.tile_registers else 0

    @property
    def has_tall_tiles(self) -> bool:
        enough = self.vector_registers >= self.costs.algorithms.halved_registers
        return enough and self.lanes(4) > 1

    @property
    def l1_ways(self) -> int:
        """The associativity of the first-level cache."""
        return self.l1_bytes // self.l1_way_bytes

    @property
    def multiply_adds(self) -> float:
        return self.lanes(4) / self.fma_cycles(self.vector_bits // 8)

    @property
    def word_multiply_adds(self) -> float:
        in_tiles = self.tiles.multiply_adds if self.tiles.tile_registers else 0.0
        return max(self.multiply_adds, in_tiles)

    @property
    def nearest_memory(self) -> Memory:
        return Memory(self.l1_bytes, self.load_bytes_per_cycle)

    @property
    def private_memory(self) -> Memory:
        return Memory(self.l2_bytes, self.l2_bandwidth)

    @property
    def shared_memory(self) -> Memory:
        return Memory(self.l3_bytes, self.l3_bandwidth)


SCALAR = Processor(
    vector_bits=32,
    vector_registers=16,
    full_width_units=1,
    unit_bits=32,
    fma_latency=4,
    loads_per_cycle=1,
    load_bytes_per_cycle=4,
    has_fma=False,
    has_masks=False,
    widest_lane=4,
    line_bytes=4,
    l1_bytes=4 << 10,
    l1_way_bytes=4 << 10,
    l2_bytes=4 << 10,
    l3_bytes=4 << 10,
    l2_bandwidth=4.0,
    l3_bandwidth=4.0,
    memory_bandwidth=4.0,
    cores=1,
    gigahertz=0.2,
)
"""The least that can run kernels: one float at a time, and 4 KiB that are near."""


def processor_of(op: Operation, name: str | None = None) -> Processor:
    """The processor that an operation's module is compiled for, found as by `target_of`.

    For a device it describes one of its threads. Raises NncError if the module is for another kind
    of machine.
    """
    return core_of(target_of(op, name), op.loc)


def core_of(target: Target, loc: Location | None = None) -> Processor:
    """The processor that a target is, or that describes a thread of it. Raises NncError, at `loc`,
    if it is another kind of machine.
    """
    core = target.machine.program
    if not isinstance(core, Processor):
        raise NncError(f"the module is for '{target.name}', which is not a processor", loc)
    return core
