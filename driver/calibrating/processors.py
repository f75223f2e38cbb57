"""Experiments on a core: clock, arithmetic, loads, stores, and those of the other files."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

from ...targets.processor import Processor
from .functions import function_experiments
from .lanes import lane_experiments
from .loops import CYCLES, READERS, Loop, accumulators, multiply_adds, reading, vector_type
from .measuring import CLOCK, EMPTY, Experiment
from .memories import memory_experiments
from .threads import region_experiments
from .tiles import tile_experiments

CALLED = 0.1
"""The relative difference up to which calls agree."""
FRESH = 0.15
"""The same for runs in which the system clears pages."""


def processor_experiments(machine: Processor) -> Iterator[Experiment]:
    """All experiments on a core, and on the caches and memory that it reads through."""
    lanes = machine.lanes(4)
    yield Experiment(
        name=EMPTY,
        loop=multiply_adds(machine, lanes, accumulators(machine), 1),
        units=1,
        in_cycles=False,
        agree=CALLED,
    )
    yield from _arithmetic(machine)
    yield from _moving(machine)
    yield from function_experiments(machine)
    yield from lane_experiments(machine)
    yield from tile_experiments(machine)
    yield from region_experiments(machine)
    yield from memory_experiments(machine)


def widths(machine: Processor) -> list[int]:
    """Vector widths in lanes to measure arithmetic with: full, half, down to 128 bits."""
    found = [machine.lanes(4)]
    while found[-1] > 4:
        found.append(found[-1] // 2)
    return found


def _arithmetic(machine: Processor) -> Iterator[Experiment]:
    links = 64
    rows = ["    %x0 = arith.addi %a0, %k : i64"]
    for i in range(1, links):
        operation = "arith.addi %x{}, %k" if i % 2 == 0 else "arith.xori %x{}, %m"
        name = f"%x{i}" if i + 1 < links else "%n0"
        rows.append(f"    {name} = {operation.format(i - 1)} : i64")
    before = "\n".join(
        f"  %{name} = memref.load %x[%c{at}] : memref<8xi64>" for name, at in (("k", 0), ("m", 1))
    )
    chain = Loop(
        rows=["\n".join(rows)],
        lanes=0,
        size=8,
        end=CYCLES // 4 // links,
        element="i64",
        before=before,
    )
    yield Experiment(name=CLOCK, loop=chain, units=chain.steps * links)
    for lanes in widths(machine):
        count = accumulators(machine)
        loop = multiply_adds(machine, lanes, count, CYCLES // count)
        yield Experiment(name=f"multiply-add {lanes}", loop=loop, units=loop.steps * count)
    for lanes in widths(machine)[:2]:
        loop = _dependent(machine, lanes, CYCLES // 4)
        yield Experiment(name=f"latency {lanes}", loop=loop, units=loop.steps)


def _dependent(machine: Processor, lanes: int, steps: int) -> Loop:
    """Multiply-adds of which each needs the previous one's sum."""
    vector = vector_type(lanes, "f32")
    if machine.has_fma:
        row = f"    %n0 = vector.fma %init, %init, %a0 : {vector}"
    else:  # the product does not wait
        row = f"    %n0 = arith.addf %a0, %init : {vector}"
    return Loop(rows=[row], lanes=lanes, size=lanes, end=steps)


def _moving(machine: Processor) -> Iterator[Experiment]:
    """Loads and stores in the L1 cache, aligned to lines and across their ends."""
    # A part of the L1 cache that stays there beside what another thread of the core has in it.
    part = machine.l1_bytes // 8 // 4
    for lanes in widths(machine)[:2]:
        elements = part // (READERS * lanes) * READERS * lanes
        for shift, name in ((0, "load"), (1, "load across")):
            loop = reading(lanes, elements, 1, element="i32", shift=shift)
            loop = replace(loop, passes=max(1, CYCLES // (loop.steps * READERS)))
            units = loop.steps * READERS
            yield Experiment(name=f"{name} {lanes}", loop=loop, units=units)
    lanes = machine.lanes(4)
    elements = part // (READERS * lanes) * READERS * lanes
    loop = _writing(lanes, elements, max(1, CYCLES // (elements // lanes)))
    yield Experiment(name="store", loop=loop, units=loop.steps * READERS)
    fresh = _writing(lanes, (8 << 20) // (4 * READERS * lanes) * READERS * lanes, 1)
    yield Experiment(
        name="fresh",
        loop=fresh,
        units=4 * fresh.outputs,
        fresh=True,
        in_cycles=False,
        agree=FRESH,
    )


def _writing(lanes: int, elements: int, passes: int) -> Loop:
    """Stores of one vector to all positions of the output."""
    rows = [
        f"    %k{i} = arith.constant {i * lanes} : index\n"
        f"    %j{i} = arith.addi %i, %k{i} : index\n"
        f"    vector.transfer_write %a0, %y[%j{i}] {{in_bounds = [true]}}\n"
        f"        : vector<{lanes}xi32>, memref<{elements}xi32>"
        for i in range(READERS)
    ]
    # What is stored differs from pass to pass, else one pass would do.
    rows.append(f"    %n0 = arith.addi %a0, %init : vector<{lanes}xi32>")
    return Loop(
        rows=["\n".join(rows)],
        lanes=lanes,
        size=lanes,
        end=elements,
        step=READERS * lanes,
        passes=passes,
        element="i32",
        results=elements,
    )
