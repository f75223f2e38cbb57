"""The experiments on caches and memory: buffers of growing size, read again and again."""

from __future__ import annotations

from collections.abc import Iterator

from ...targets.processor import Processor
from .loops import READERS, reading_open
from .measuring import Experiment

READ = 16 << 20
"""Bytes that a run reads at least."""
COLD_PART = 16 << 20
"""Bytes that a run reads of memory: few enough that it is over before others have their turn."""
LEAST, MOST = 128 << 20, 1 << 30
"""Bytes of the memory of which each run reads another part: four times the last cache, but no less
and no more than these."""
AHEAD = (1024, 2048, 4096, 8192)
"""How many bytes ahead of reading lines are asked for."""


def sizes(machine: Processor) -> list[int]:
    """Bytes of the buffers: from half the first cache to twice the last, two to each doubling."""
    found, size = [], machine.l1_bytes // 2
    while size < min(2 * machine.l3_bytes, MOST // 4):
        found += [size, size * 3 // 2]
        size *= 2
    return [*found, size]


def memory_experiments(machine: Processor) -> Iterator[Experiment]:
    """Reading each size by one core, and memory; then of each level, by all of them at once."""
    for size in sizes(machine):
        yield _read(machine, size, f"read {size}")
    cold = min(max(4 * machine.l3_bytes, LEAST), MOST) // COLD_PART * COLD_PART
    yield _read(machine, COLD_PART, "read memory", cold=cold)
    for bytes in AHEAD:
        yield _read(machine, COLD_PART, f"ahead {bytes}", ahead=bytes // 4, cold=cold)
    if machine.cores > 1:
        for name, size in levels(machine).items():
            own = size // machine.cores if name == "L3" else size
            yield _read(machine, own, f"all {name}", callers=machine.cores)
        share = max(cold // machine.cores, 2 * COLD_PART) // COLD_PART * COLD_PART
        yield _read(machine, COLD_PART, "all memory", callers=machine.cores, cold=share)


def levels(machine: Processor) -> dict[str, int]:
    """Of each cache behind the first the bytes of a buffer that stays there, and in no nearer
    one.
    """
    return {
        "L2": _between(machine.l1_bytes, machine.l2_bytes),
        "L3": _between(machine.l2_bytes, machine.l3_bytes),
    }


def _between(near: int, far: int) -> int:
    """The geometric mean."""
    return int((near * far) ** 0.5)


def _read(
    machine: Processor, size: int, name: str, *, callers: int = 1, ahead: int = 0, cold: int = 0
) -> Experiment:
    lanes = machine.lanes(4)
    step = READERS * lanes
    elements = max(size // 4 // step, 1) * step
    loop = reading_open(lanes, elements, READ // 4 if not cold else 1, ahead)
    units = 4 * step * loop.steps * callers
    return Experiment(name=name, loop=loop, units=units, callers=callers, cold=cold)
