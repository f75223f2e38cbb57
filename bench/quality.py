"""Counts how well a device's kernels use its memory, in their text: no device is needed.

    python -m bench.quality MODEL.onnx|FILE.mlir.. [--target opencl] [--kernels]

For each model, and with `--kernels` for each launch: the bytes that come from memory, the same
relative to the least, and those that threads ask the caches for relative to it; the part of these
that threads use; and the cycles of memory banks relative to those without conflicts. For kernels
with products also the part of the cores that have groups, and for models the number of launches of
products that leave more than a fifth of the cores idle, and for how many of them there is another
schedule that does not, and is expected to take no longer (`alike`).

The least is every operand and result of the model's kernels once, before schedules divide them;
launches move their buffers once, and what does not fit the second cache again for each set of
groups that run at the same time (`sharing.py`). Accesses are counted for the first threads that run
in lockstep, in the first iteration of each loop, and multiplied by the iterations of the first
group.
"""

from __future__ import annotations

import argparse
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field, fields
from math import inf, prod
from pathlib import Path

import numpy as np
from nnc.dialects import arith, func, gpu, math, vector
from nnc.driver.compile import load_module, run_stages
from nnc.ir.core import Operation
from nnc.ir.rewriting import constant_int
from nnc.ir.traits import ReadsMemory
from nnc.ir.types import MemRefType
from nnc.ir.values import Value
from nnc.kernels.choose_schedules import choose
from nnc.kernels.kernel_costs import buffer_bytes, kernel_cost
from nnc.kernels.model.extents import UNKNOWN_EXTENT
from nnc.kernels.model.stages import has_reuse, stages_of
from nnc.kernels.model.trips import trips
from nnc.kernels.policy.tile_batches import GroupTile
from nnc.kernels.proof.counting import Counting
from nnc.kernels.proof.numbers import NotKnownError, Numbers
from nnc.targets.attribute import target_of
from nnc.targets.groups import GroupMachine

from .sharing import Sharing

MOST_IDLE = 0.2
"""The part of a device's cores that a product may leave without a group."""


@dataclass
class Counts:
    """The memory accesses of launches. Units: bytes, cache lines, cycles of banks (`turns`)."""

    bytes: int = 0
    """Those that come from memory."""
    asked: int = 0
    """Those that threads ask the caches for, in whole lines."""
    lines: int = 0
    lines_needed: int = 0
    turns: int = 0
    turns_needed: int = 0
    launches: int = 0
    groups: int = 0
    """The number of groups of launches of products whose grid is known."""
    places: int = 0
    """The number of groups that the cores would run in the same number of turns."""
    idle: int = 0
    """The number of launches of products that leave more than a fifth of the cores idle."""
    avoidable: int = 0
    """Those among them for which another schedule is as good and keeps the cores busy."""
    unknown: int = 0
    """The number of accesses with unknown addresses, which are not counted."""

    def add(self, other: Counts) -> None:
        """Add other counts to these."""
        for name in (one.name for one in fields(self)):
            setattr(self, name, getattr(self, name) + getattr(other, name))

    def row(self, name: str, least: int | None) -> str:
        """A row of the table."""
        over = f"{self.bytes / least:.2f}" if least else ""
        asked = f"{self.asked / least:.2f}" if least else ""
        coalesced = f"{self.lines_needed / self.lines:.0%}" if self.lines else ""
        banks = f"{self.turns / self.turns_needed:.2f}" if self.turns_needed else ""
        if least is None:
            busy = f"{self.groups / self.places:.0%}" if self.places else ""
        else:
            busy = f"{self.idle} idle, {self.avoidable} avoidable"
        cells = (
            name,
            str(self.launches),
            f"{self.bytes:,}",
            over,
            asked,
            coalesced,
            banks,
            busy,
            str(self.unknown),
        )
        return f"| {' | '.join(cells)} |"


@dataclass
class Quality:
    """The counts of a model's launches by kernel, and the least bytes that its kernels move."""

    launches: dict[str, Counts] = field(default_factory=dict)
    least: int = 0
    products: set[str] = field(default_factory=set)
    """The names of the kernels that have products."""


def quality_of(model: Path, target: str) -> Quality:
    """Compile a model down to kernels of threads, and count."""
    module, found = load_module(model), Quality()

    scheduled: list[Operation] = []

    def after(stage: str, module: Operation) -> None:
        if stage == "bufferize":
            found.least = least_bytes(module)
            found.products = products_of(module)
        elif stage == "schedule":
            scheduled.append(module.clone())

    run_stages(module, target=target, last="shares", after_stage=after)
    machine = target_of(module).machine
    if not isinstance(machine, GroupMachine):
        raise SystemExit(f"'{target}' is no device")
    calls = calls_of(module)
    for launch in [op for op in module.walk() if isinstance(op, gpu.LaunchFunc)]:
        function = launch.parent_of(func.FuncOp)
        assert function is not None
        times = trips(launch, function) * calls[function.sym_name]
        counts = counted(launch, module, machine, times)
        if function.sym_name in found.products and multiplies(launch, module):
            count_waves(launch, machine, counts)
            if counts.idle and avoids_idle(function.sym_name, scheduled[0], machine):
                counts.avoidable = counts.idle
        found.launches.setdefault(str(launch.kernel), Counts()).add(counts)
    return found


def products_of(module: Operation) -> set[str]:
    """The names of the kernels whose sums read elements more than once."""
    return {
        name
        for name, function in func.functions_by_name(module).items()
        if "nn.kernel" in function.attributes
        and any(has_reuse(stage) for stage in stages_of(function.body.blocks[0]))
    }


def multiplies(launch: gpu.LaunchFunc, module: Operation) -> bool:
    """Whether a launch computes products, rather than only adding up what others have computed."""
    kernel = gpu.find_kernel(module, launch.kernel)
    assert kernel is not None
    kinds = vector.Contract | vector.Fma | math.Fma
    return any(
        isinstance(op, kinds) or (isinstance(op, arith.MulF) and all(map(_is_read, op.operands)))
        for op in kernel.walk()
    )


def _is_read(value: Value) -> bool:
    """Whether a number is from memory, maybe changed by functions, and no constant and no sum."""
    op = value.defining_op
    if op is None or op.has_trait(ReadsMemory):
        return True
    if isinstance(op, arith.Constant | arith.AddF | arith.SubF):
        return False
    return all(_is_read(operand) for operand in op.operands)


def count_waves(launch: gpu.LaunchFunc, machine: GroupMachine, counts: Counts) -> None:
    """Add a launch's groups, and the groups that the cores have room for in as many turns."""
    sizes = [constant_int(size) for size in launch.grid]
    if not all(sizes):
        return
    groups = prod(size or 1 for size in sizes)
    counts.groups += groups * counts.launches
    counts.places += places_for(groups, machine) * counts.launches
    counts.idle += counts.launches * is_idle(groups, machine)


def avoids_idle(kernel: str, scheduled: Operation, machine: GroupMachine) -> bool:
    """Whether a kernel has a schedule whose longest launch keeps the cores busy, and that is as
    good by the model as the one that is chosen.
    """
    function = func.functions_by_name(scheduled)[kernel]
    found, chosen = choose(function, target_of(function).policy, machine, every=True)
    able = [one for one in found if not one.fault and not leaves_idle(one.tiles, machine)]
    least = min((one.cycles for one in able), default=inf)
    return least <= machine.costs.groups.alike * chosen.cycles


def leaves_idle(tiles: Sequence[object], machine: GroupMachine) -> bool:
    """Whether the longest of launches leaves more than a fifth of the cores without a group."""
    own = [tile for tile in tiles if isinstance(tile, GroupTile)]
    longest = max(own, key=lambda tile: tile.cycles, default=GroupTile(None))
    return is_idle(longest.groups, machine)


def is_idle(groups: int, machine: GroupMachine) -> bool:
    """Whether so many groups leave more than a fifth of the cores without one."""
    return groups < (1 - MOST_IDLE) * places_for(groups, machine)


def places_for(groups: int, machine: GroupMachine) -> int:
    """The number of groups that the cores would run in the same number of turns."""
    return -(-groups // machine.cores) * machine.cores


def calls_of(module: Operation) -> Counter[str]:
    """The number of calls of each function in a run."""
    functions = [op for op in module.body_block if isinstance(op, func.FuncOp)]
    found = Counter({f.sym_name: 1 for f in functions if f.sym_visibility != "private"})
    for function in functions:
        for call in function.walk():
            if isinstance(call, func.Call):
                found[call.callee] += trips(call, function) * max(1, found[function.sym_name])
    return found


def least_bytes(module: Operation) -> int:
    """The bytes of all operands and results of all calls of kernels, each counted once."""
    functions = func.functions_by_name(module)
    calls, total = calls_of(module), 0
    for name, function in functions.items():
        if "nn.kernel" in function.attributes:
            total += calls[name] * (kernel_cost(function, UNKNOWN_EXTENT).bytes or 0)
    return total


def counted(launch: gpu.LaunchFunc, module: Operation, machine: GroupMachine, times: int) -> Counts:
    """The counts of a launch that runs `times` times."""
    kernel = gpu.find_kernel(module, launch.kernel)
    assert kernel is not None
    threads = [constant_int(size) or 1 for size in launch.block]
    sides = [constant_int(size) or UNKNOWN_EXTENT for size in launch.grid]
    grid = prod(sides)
    arguments: dict[Value, Value] = dict(zip(kernel.args, launch.kernelOperands, strict=True))
    memory = target_of(kernel).machine.device_memory
    numbers = Numbers(arguments, threads, gpu.subgroup_size(kernel), memory.together)
    steps = grid * -(-prod(threads) // numbers.thread.size) * times
    found = Counts(launches=times)
    asked: Counter[Value] = Counter()
    apart: Counter[Value] = Counter()
    counting = Counting(numbers, memory)
    sharing = Sharing(kernel, arguments, threads, sides, machine)

    def bound(value: Value) -> int | None:
        try:
            return int(np.max(numbers.of(value)))
        except NotKnownError:
            return None

    for count in counting.block(kernel.body.blocks[0]):
        often = steps * trips(count.op, kernel, bound)
        if not count.is_global:
            found.turns += often * count.taken
            found.turns_needed += often * count.least
            continue
        found.lines += often * count.taken
        found.lines_needed += often * count.least
        for value in count.op.operands:
            if isinstance(value.type, MemRefType):
                bytes = often * count.taken * memory.line_bytes
                asked[numbers.whole(value)] += bytes
                apart[numbers.whole(value)] += round(bytes * sharing.part(count.op))
    found.unknown = len(counting.unknown)
    found.asked = sum(asked.values())
    found.bytes = sum(_moved(buffer, bytes, machine, times) for buffer, bytes in apart.items())
    return found


def _moved(buffer: Value, asked: int, machine: GroupMachine, times: int) -> int:
    """The bytes of a buffer that come from memory if threads that run at the same time request
    `asked` bytes of it, each of them once.
    """
    assert isinstance(buffer.type, MemRefType)
    once = times * (buffer_bytes(buffer.type, UNKNOWN_EXTENT) or 0)
    return min(asked, once) if once <= times * machine.l2_bytes else asked


def rows(path: Path, target: str, kernels: bool) -> Iterator[str]:
    """The rows of a model's table."""
    found, total = quality_of(path, target), Counts()
    for name, counts in found.launches.items():
        total.add(counts)
        if kernels:
            yield counts.row(f"`{name}`", None)
    yield total.row(path.stem, found.least)


def main() -> None:
    """Print the table as Markdown."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("models", nargs="+", type=Path)
    parser.add_argument("--target", default="opencl")
    parser.add_argument("--kernels", action="store_true", help="a row for each kernel as well")
    args = parser.parse_args()
    columns = (
        *("launches", "bytes", "over the least", "asked", "coalesced", "turns of banks"),
        *("busy cores", "not counted"),
    )
    print(f"| {args.target} | {' | '.join(columns)} |")
    print("|---" * (1 + len(columns)) + "|")
    for path in args.models:
        for row in rows(path, args.target, args.kernels):
            print(row, flush=True)


if __name__ == "__main__":
    main()
