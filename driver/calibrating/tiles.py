"""Experiments on the limits of tiles of products: instructions issued together, spilled registers,
combined lanes, transposed blocks.
"""

from __future__ import annotations

from collections.abc import Iterator

from ...targets.processor import Processor
from .loops import CYCLES, Loop, multiply_adds, vector_type
from .measuring import Experiment

MORE = 8
"""How many more sums are carried than there are registers."""


def tile_experiments(machine: Processor) -> Iterator[Experiment]:
    """Experiments for machines of any vector width; those on lanes only if there are vectors."""
    count = machine.vector_registers + MORE
    lanes = machine.lanes(4)
    spilling = multiply_adds(machine, lanes, count, max(1, CYCLES // (2 * count)))
    yield Experiment(name="spills", loop=spilling, units=spilling.steps)
    yield _starting(machine)
    if lanes > 1:
        yield _combining(lanes)
        yield _transposing(lanes)


CHAINS, SUMS, STEPS = 8, 4, 512
"""The mixed instructions: chains of integers, vector sums, iterations of the innermost loop.

A single vector unit takes four cycles for four sums; six instructions at a time, all 30 take five.
"""


def _starting(machine: Processor) -> Experiment:
    """Loads, integer operations and vector additions, balanced so that the issue width is the limit
    before any unit.
    """
    lanes = machine.lanes(4)
    # A load and two operations in each chain, and the loop's own addition and branch.
    micro_ops = CHAINS * 3 + SUMS + 2
    vector, integers = vector_type(lanes, "f32"), range(CHAINS)
    size = max(STEPS + CHAINS, lanes)
    types = ", ".join([*["i32"] * CHAINS, *[vector] * SUMS])
    given = ", ".join(
        [*(f"%b{i} = %seed" for i in integers), *(f"%g{i} = %vector" for i in range(SUMS))]
    )
    body = "\n".join(
        f"""      %k{i} = arith.constant {i} : index
      %j{i} = arith.addi %s, %k{i} : index
      %v{i} = memref.load %x[%j{i}] : memref<{size}xi32>
      %d{i} = arith.xori %b{i}, %v{i} : i32
      %e{i} = arith.addi %d{i}, %v{i} : i32"""
        for i in integers
    )
    sums = "\n".join(f"      %h{i} = arith.addf %g{i}, %vector : {vector}" for i in range(SUMS))
    made = ", ".join([*(f"%e{i}" for i in integers), *(f"%h{i}" for i in range(SUMS))])
    mixed = "\n".join(
        f"    %m{i} = arith.xori {f'%m{i - 1}' if i else '%seed'}, %z#{i} : i32" for i in integers
    )
    added = "\n".join(
        f"    %w{i} = arith.addf {f'%w{i - 1}' if i else '%vector'}, %z#{CHAINS + i} : {vector}"
        for i in range(SUMS)
    )
    bits = f"arith.bitcast %w{SUMS - 1} : {vector} to {vector_type(lanes, 'i32')}"
    first = f"vector.extract %last[0] : i32 from {vector_type(lanes, 'i32')}"
    row = f"""    %z:{CHAINS + SUMS} = scf.for %s = %c0 to %many step %c1
        iter_args({given}) -> ({types}) {{
{body}
{sums}
      scf.yield {made} : {types}
    }}
{mixed}
{added}
    %last = {bits}
    %one = {first if lanes > 1 else "arith.addi %last, %last : i32"}
    %both = arith.xori %m{CHAINS - 1}, %one : i32
    %n0 = arith.addi %a0, %both : i32"""
    before = (
        f"  %many = arith.constant {STEPS} : index\n"
        f"  %seed = memref.load %x[%c1] : memref<{size}xi32>\n"
        f"  %float = arith.bitcast %seed : i32 to f32\n"
        f"  %vector = vector.broadcast %float : f32 to {vector}"
    )
    loop = Loop(
        rows=[row], lanes=0, size=size, end=CYCLES // (8 * STEPS), element="i32", before=before
    )
    return Experiment(name="start", loop=loop, units=loop.steps * STEPS * micro_ops)


def _combining(lanes: int) -> Experiment:
    """Dependent sums of a vector's lanes."""
    vector = vector_type(lanes, "f32")
    row = f"""    %s = vector.reduction <add>, %a0 fastmath<reassoc> : {vector} into f32
    %b = vector.broadcast %s : f32 to {vector}
    %n0 = arith.mulf %b, %init : {vector}"""
    loop = Loop(rows=[row], lanes=lanes, size=lanes, end=CYCLES // 20)
    return Experiment(name="combine", loop=loop, units=loop.steps)


def _transposing(lanes: int) -> Experiment:
    """Square blocks of vectors, read and transposed."""
    blocks = 8
    vector, block = vector_type(lanes, "f32"), f"vector<{lanes}x{lanes}xf32>"
    size = blocks * lanes * lanes
    rows = [
        f"    %k{i} = arith.constant {i * lanes} : index\n"
        f"    %j{i} = arith.addi %i, %k{i} : index\n"
        f"    %v{i} = vector.transfer_read %x[%j{i}], %zero {{in_bounds = [true]}}\n"
        f"        : memref<{size}xf32>, {vector}"
        for i in range(lanes)
    ]
    rows.append(f"    %empty = arith.constant dense<0.0> : {block}")
    for i in range(lanes):
        into = f"%p{i - 1}" if i else "%empty"
        rows.append(f"    %p{i} = vector.insert %v{i}, {into}[{i}] : {vector} into {block}")
    rows.append(f"    %t = vector.transpose %p{lanes - 1}, [1, 0] : {block} to {block}")
    for i in range(lanes):
        rows.append(f"    %q{i} = vector.extract %t[{i}] : {vector} from {block}")
        rows.append(f"    %w{i} = arith.addf {f'%w{i - 1}' if i else '%a0'}, %q{i} : {vector}")
    rows.append(f"    %n0 = arith.addf %w{lanes - 1}, %init : {vector}")
    loop = Loop(
        rows=["\n".join(rows)],
        lanes=lanes,
        size=size,
        end=size,
        step=lanes * lanes,
        passes=max(1, CYCLES // (4 * blocks * lanes)),
    )
    return Experiment(name="transpose", loop=loop, units=loop.steps * lanes)
