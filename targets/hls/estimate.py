"""The expected result of synthesis of a module: cycles, DSP slices and memory, by kernel.

Nothing here is measured. As AMD's UG1399 describes, a pipelined loop takes the cycles of its first
iteration, and its interval for each further one; other loops take two cycles for each iteration
besides the body's. Latencies and DSP slices of operations are those that Vitis chooses by default
at 200 to 300 MHz on UltraScale+.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from typing import Any

from ...dialects import arith, func, memref, scf
from ...dialects.marks import ENTRY, PIPELINE, REPLICATE
from ...ir.attributes import IntegerAttr
from ...ir.core import Block, Operation, Value
from ...ir.location import node_of
from ...ir.types import FloatType, IndexType, IntegerType, MemRefType
from ..fpga import FpgaMachine
from .ranges import Ranges
from .storage import block_bits, width_of

_LATENCIES = {
    "memref.load": 2, "memref.store": 1, "arith.muli": 3, "arith.mulf": 4, "arith.addf": 7,
    "arith.subf": 7, "arith.divf": 12, "arith.sitofp": 5, "arith.uitofp": 5, "arith.fptosi": 4,
    "arith.fptoui": 4, "math.sqrt": 12, "math.roundeven": 3, "arith.divsi": 34, "arith.divui": 34,
    "arith.addi": 1, "arith.cmpf": 2, "arith.maximumf": 2, "arith.minimumf": 2,
}  # fmt: skip
"""The latencies of operations in cycles; others fit into the same cycle."""
_FLOAT_DSPS = {"arith.mulf": 3, "arith.addf": 2, "arith.subf": 2}
_FACTORS = (27, 18)
"""The widths in bits of the two factors of one DSP slice."""


@dataclass
class Sum:
    """An accumulator: its bits, and the bounds of its values for all inputs."""

    bits: int
    low: float
    high: float
    terms: int
    proven: bool


@dataclass
class Kernel:
    """The estimate for one function; its cycles include those of the functions that it calls."""

    name: str
    node: str
    cycles: int = 0
    dsps: int = 0
    memory_bits: int = 0
    sums: list[Sum] = field(default_factory=list)


@dataclass
class Report:
    """The resources of a part that a model uses."""

    machine: FpgaMachine
    kernels: list[Kernel]
    cycles: int
    memory_bits: int

    @property
    def dsps(self) -> int:
        return sum(one.dsps for one in self.kernels)

    @property
    def sums(self) -> list[Sum]:
        return [one for kernel in self.kernels for one in kernel.sums]

    def as_json(self) -> dict[str, Any]:
        """The numbers for the JSON file beside the text."""
        return {
            "clock_mhz": 1000 * self.machine.gigahertz,
            "cycles": self.cycles,
            "microseconds": self.cycles / self.machine.cycles_per_microsecond,
            "dsps": self.dsps,
            "memory_bits": self.memory_bits,
            "kernels": [{**vars(k), "sums": [vars(s) for s in k.sums]} for k in self.kernels],
        }

    def lines(self) -> Iterator[str]:
        """A summary in a few lines, for the user."""
        machine = self.machine
        time = self.cycles / machine.cycles_per_microsecond
        yield (
            f"estimated: {self.cycles:,} cycles ({time:,.1f} us at "
            f"{1000 * machine.gigahertz:.0f} MHz), {self.dsps:,} of {machine.dsps:,} DSPs, "
            f"{self.memory_bits >> 10:,} of {machine.memory_bits >> 10:,} kbit of memory"
        )
        for one in sorted(self.kernels, key=lambda one: -one.cycles)[:3]:
            first = one.node.partition(" + ")[0]
            place = f" ({first})" if first else ""
            yield f"  {one.name}{place}: {one.cycles:,} cycles, {one.dsps} DSPs"
        if self.sums:
            widest = max(self.sums, key=lambda one: one.bits)
            known = all(one.proven for one in self.sums)
            yield (
                f"sums of at most {widest.bits} bits, proven for all inputs"
                if known
                else "sums that may be more than their types hold: they wrap, as on processors"
            )


def estimated(module: Operation, ranges: Ranges, machine: FpgaMachine) -> Report:
    """The estimate for a module after the last stage."""
    by_name = func.functions_by_name(module)
    entry = next(f for f in by_name.values() if ENTRY in f.attributes)
    kernels: dict[str, Kernel] = {}

    def cycles_of(name: str) -> int:
        """The cycles of a function, with those of what it calls."""
        if name not in kernels:
            function = by_name[name]
            one = kernels[name] = Kernel(name, node_of(function.loc) or "")
            walk = _Estimate(ranges, one, cycles_of)
            one.cycles = walk.block(function.body.blocks[0], 1)
            for buffer in walk.arrays(function):
                one.memory_bits += block_bits(ranges.of(buffer), buffer.type.num_elements)
        return kernels[name].cycles

    for name in by_name:
        cycles_of(name)
    cycles = kernels[entry.sym_name].cycles
    constants = [g for g in module.body_block if isinstance(g, memref.Global)]
    bits = sum(one.memory_bits for one in kernels.values())
    for one in constants:
        found = ranges.constant(one.sym_name)
        bits += block_bits(found, one.type.num_elements) if found is not None else 0
    own = [
        kernels[name]
        for name, function in by_name.items()
        if function is not entry or any(isinstance(op, scf.For) for op in function.walk())
    ]
    return Report(machine, own, cycles, bits)


class _Estimate:
    """Estimates the cycles and the hardware of one function."""

    def __init__(self, ranges: Ranges, kernel: Kernel, cycles_of: Callable[[str], int]) -> None:
        self.ranges, self.kernel, self.cycles_of = ranges, kernel, cycles_of

    def arrays(self, function: func.FuncOp) -> Iterator[Value]:
        """A function's local arrays; records those that hold sums."""
        for op in function.walk():
            if not isinstance(op, memref.Alloca):
                continue
            buffer = op.results[0]
            found = self.ranges.of(buffer)
            is_exact = isinstance(found.type.element_type, IntegerType) or found.format
            if found.terms > 1 and is_exact:
                bits, _ = width_of(found)
                sum = Sum(bits, found.low, found.high, found.terms, not found.wraps)
                self.kernel.sums.append(sum)
            yield buffer

    def block(self, block: Block, copies: int) -> int:
        """The cycles of a block, whose hardware exists `copies` times."""
        cycles, depth, ready = 0, 0, dict[Value, int]()
        for op in block:
            match op:
                case scf.For():
                    cycles += self.loop(op, copies)
                case scf.If():
                    parts = [self.block(r.blocks[0], copies) for r in op.regions if r.blocks]
                    cycles += max(parts, default=0) + 1
                case memref.Copy():
                    cycles += op.source.type.num_elements + 2
                case func.Call():
                    cycles += self.cycles_of(op.callee) + 1
                case _:
                    self.kernel.dsps += copies * self.dsps(op)
                    end = max((ready.get(v, 0) for v in op.operands), default=0) + _latency(op)
                    ready.update(dict.fromkeys(op.results, end))
                    depth = max(depth, end)
        return cycles + depth

    def loop(self, op: scf.For, copies: int) -> int:
        """The cycles of a loop."""
        turns = _turns(op)
        if REPLICATE in op.attributes:
            return self.block(op.body_block, copies * turns)
        interval = op.attributes.get(PIPELINE)
        depth = self.block(op.body_block, copies)
        if isinstance(interval, IntegerAttr):
            return depth + (turns - 1) * interval.value + 2
        return turns * (depth + 2)

    def dsps(self, op: Operation) -> int:
        """The DSP slices of one operation."""
        is_fixed = bool(op.results) and op.results[0] in self.ranges.formats
        if op.name in _FLOAT_DSPS and not is_fixed:
            return _FLOAT_DSPS[op.name] if isinstance(op.results[0].type, FloatType) else 0
        if not isinstance(op, arith.MulI | arith.MulF) or isinstance(op.results[0].type, IndexType):
            return 0
        bits = sorted(map(self.bits, op.operands))
        return -(-bits[1] // _FACTORS[0]) * -(-bits[0] // _FACTORS[1])

    def bits(self, value: Value) -> int:
        """The width in bits of an operand of a product."""
        if value in self.ranges.formats:
            return self.ranges.formats[value].bits
        op = value.defining_op
        while isinstance(op, arith.ExtSI | arith.ExtUI):
            value, op = op.operands[0], op.operands[0].defining_op
        if isinstance(op, memref.Load):
            return width_of(self.ranges.of(op.memref))[0]
        return getattr(value.type, "width", 32)


def _latency(op: Operation) -> int:
    if op.results and isinstance(op.results[0].type, IndexType | MemRefType):
        return 0
    return _LATENCIES.get(op.name, 0)


def _turns(op: scf.For) -> int:
    """The number of iterations of a loop; 1 if it is not known."""
    numbers = [v.defined_by(arith.Constant) for v in op.operands[:3]]
    if any(one is None for one in numbers):
        return 1
    low, high, step = (one.properties["value"].value for one in numbers)  # type: ignore[union-attr]
    return max(0, -(-(high - low) // step))
