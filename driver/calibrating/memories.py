"""Experiments on caches and memory: buffers of growing size, read repeatedly."""

from __future__ import annotations

from collections.abc import Iterator

from ...targets.processor import Processor
from .loops import READERS, reading_by_all, reading_open, reading_streams
from .measuring import EMPTY_OPEN, Experiment

READ = 8 << 20
"""The least bytes that a run reads: few enough for some runs to end before others have a turn."""
COLD_PART = 4 << 20
"""The same for reads from memory."""
STEADY, SHARED = 0.03, 0.08
"""The relative difference up to which runs agree: within a core's own caches, and in shared ones.
"""
LEAST, MOST = 128 << 20, 1 << 30
"""The bounds of the memory of which each run reads another part, which is four times the last
cache."""
AHEAD = (1024, 2048, 4096, 8192)
"""The prefetch distances that are tried. Units: bytes."""

STREAMS = (1, 2, 4, 8)
"""The numbers of streams in which memory is read."""
ASKED = 4
"""The most streams that are prefetched as well."""


def sizes(machine: Processor) -> list[int]:
    """Buffer sizes in bytes, from half the L1 cache to twice the last, two per doubling."""
    found, size = [], machine.l1_bytes // 2
    while size < min(2 * machine.l3_bytes, MOST // 4):
        found += [size, size * 3 // 2]
        size *= 2
    return [*found, size]


def memory_experiments(machine: Processor) -> Iterator[Experiment]:
    """Loops that read data of each size, and main memory, on one core; then the same on all."""
    least = READERS * machine.lanes(4)
    empty = reading_open(machine.lanes(4), least, 1)
    yield Experiment(name=EMPTY_OPEN, loop=empty, units=1, in_cycles=False, agree=SHARED)
    for size in sizes(machine):
        yield _read(machine, size, f"read {size}")
    cold = min(max(4 * machine.l3_bytes, LEAST), MOST) // COLD_PART * COLD_PART
    yield _read(machine, COLD_PART, "read memory", cold=cold)
    for bytes in AHEAD if machine.costs.loops.prefetch_passes else ():
        yield _read(machine, COLD_PART, f"ahead {bytes}", ahead=bytes // 4, cold=cold)
    for streams in STREAMS:
        yield _read_streams(machine, streams, f"streams {streams}", cold)
    if machine.costs.loops.prefetch_passes:
        ahead = machine.costs.loops.prefetch_bytes // 4
        yield _read_streams(machine, ASKED, f"streams {ASKED} asked", cold, ahead)
    if machine.cores > 1:
        for name, size in levels(machine).items():
            own = size // machine.cores if name == "L3" else size
            yield _by_all(machine, own, f"all {name}")
        yield _by_all(machine, COLD_PART // machine.cores, "all memory", cold=cold)


def levels(machine: Processor) -> dict[str, int]:
    """Buffer sizes in bytes, by cache, that stay in that cache and in no nearer one."""
    return {
        "L2": _between(machine.l1_bytes, machine.l2_bytes),
        "L3": _between(machine.l2_bytes, machine.l3_bytes),
    }


def _between(near: int, far: int) -> int:
    """The geometric mean."""
    return int((near * far) ** 0.5)


def _read(machine: Processor, size: int, name: str, *, ahead: int = 0, cold: int = 0) -> Experiment:
    lanes = machine.lanes(4)
    step = READERS * lanes
    elements = max(size // 4 // step, 1) * step
    loop = reading_open(lanes, elements, READ // 4 if not cold else 1, ahead)
    return Experiment(
        name=name,
        loop=loop,
        units=4 * step * loop.steps,
        cold=cold,
        in_cycles=size <= machine.l2_bytes,
        agree=STEADY if size <= machine.l2_bytes else SHARED,
    )


def _read_streams(
    machine: Processor, streams: int, name: str, cold: int, ahead: int = 0
) -> Experiment:
    lanes = machine.lanes(4)
    step = READERS * lanes
    elements = max(COLD_PART // 4 // step, 1) * step
    loop = reading_streams(lanes, elements, streams, ahead)
    return Experiment(
        name=name, loop=loop, units=4 * elements, cold=cold, in_cycles=False, agree=SHARED
    )


def _by_all(machine: Processor, size: int, name: str, cold: int = 0) -> Experiment:
    """One parallel region in which each core reads a part of `size` bytes."""
    lanes, cores = machine.lanes(4), machine.cores
    step = READERS * lanes
    share = max(size // 4 // step, 1) * step
    passes = 1 if cold else max(1, READ // 4 // share)
    return Experiment(
        name=name,
        loop=reading_by_all(lanes, share, passes, cores),
        units=4 * share * passes * cores,
        threads=cores,
        cold=cold,
        in_cycles=False,
        agree=SHARED,
    )
