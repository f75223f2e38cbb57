"""The experiments on a processor's core: clock, arithmetic, loads, stores, functions, threads."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

from ...targets.processor import Processor
from .loops import READERS, Loop, accumulators, multiply_adds, reading, vector_type
from .measuring import EMPTY, Experiment

CYCLES = 1_500_000
"""About how many cycles a run takes: half a millisecond, so that some run of several is
undisturbed, and yet so long that a call is a few percent."""

FUNCTIONS = {
    **dict.fromkeys(
        ("absf", "sqrt", "rsqrt", "exp", "log", "tanh", "erf", "sin", "cos"),
        "math.{name} %v{i}",
    ),
    "powf": "math.powf %v{i}, %v{i}",
    "divf": "arith.divf %init, %v{i}",
}
"""The fields of `OperationCosts` that are measured, and the operation of each."""

REGIONS = 20
"""Parallel regions of one run."""
REGION_PIECES = 64
"""Iterations of each, which are shared in pieces of some."""


def core_experiments(machine: Processor) -> Iterator[Experiment]:
    """All but those of caches and memory."""
    lanes = machine.lanes(4)
    yield Experiment(
        name=EMPTY, loop=multiply_adds(machine, lanes, accumulators(machine), 1), units=1
    )
    yield from _arithmetic(machine)
    yield from _moving(machine)
    yield from _functions(machine)
    yield from _apart(machine)
    yield from _regions(machine)


def widths(machine: Processor) -> list[int]:
    """Lanes of the vectors that arithmetic is measured with: full, half, down to 128 bits."""
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
        end=CYCLES // links,
        element="i64",
        before=before,
    )
    yield Experiment(name="clock", loop=chain, units=chain.steps * links)
    for lanes in widths(machine):
        count = accumulators(machine)
        loop = multiply_adds(machine, lanes, count, CYCLES // count)
        yield Experiment(name=f"multiply-add {lanes}", loop=loop, units=loop.steps * count)
    full = machine.lanes(4)
    yield Experiment(name="latency", loop=_dependent(machine, full, CYCLES // 4), units=CYCLES // 4)


def _dependent(machine: Processor, lanes: int, steps: int) -> Loop:
    """Multiply-adds each of which adds to the sum of the one before."""
    vector = vector_type(lanes, "f32")
    if machine.has_fma:
        row = f"    %n0 = vector.fma %init, %init, %a0 : {vector}"
    else:  # the product does not wait
        row = f"    %n0 = arith.addf %a0, %init : {vector}"
    return Loop(rows=[row], lanes=lanes, size=lanes, end=steps)


def _moving(machine: Processor) -> Iterator[Experiment]:
    """Loads and stores of vectors in the first cache, at lines' starts and across their ends."""
    # A part of the first cache that stays there beside what another thread of the core has in it.
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
    yield Experiment(name="fresh", loop=fresh, units=4 * fresh.outputs, fresh=True)


def _writing(lanes: int, elements: int, passes: int) -> Loop:
    """Stores of one vector to all places of the output."""
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


VECTORS = 4
"""Vectors that a step of a loop with a function takes."""


def _functions(machine: Processor) -> Iterator[Experiment]:
    lanes = machine.lanes(4)
    for name, operation in {"plain": "", **FUNCTIONS}.items():
        rows = []
        for i in range(VECTORS):
            row = _vector(i, lanes, 512 * lanes)
            applied = operation.format(name=name, i=i)
            if applied:
                row += f"\n    %w{i} = {applied} : vector<{lanes}xf32>"
            value = f"%w{i}" if applied else f"%v{i}"
            rows.append(f"{row}\n    %n{i} = arith.addf %a{i}, {value} : vector<{lanes}xf32>")
        loop = _over_vectors(rows, lanes)
        yield Experiment(name=f"function {name}", loop=loop, units=loop.steps * VECTORS)


def _vector(i: int, lanes: int, size: int) -> str:
    """The lines that load vector `%v<i>` of a step."""
    return (
        f"    %k{i} = arith.constant {i * lanes} : index\n"
        f"    %j{i} = arith.addi %i, %k{i} : index\n"
        f"    %v{i} = vector.transfer_read %x[%j{i}], %zero {{in_bounds = [true]}}\n"
        f"        : memref<{size}xf32>, vector<{lanes}xf32>"
    )


def _over_vectors(rows: list[str], lanes: int, before: str = "", results: int = 0) -> Loop:
    """Passes over 512 vectors, four a step."""
    elements = 512 * lanes
    return Loop(
        rows=rows,
        lanes=lanes,
        size=elements,
        end=elements,
        step=VECTORS * lanes,
        passes=CYCLES // 10 // 512,
        before=before,
        results=results,
    )


APART = 9
"""Elements between the lanes that are loaded or stored one by one."""


def _apart(machine: Processor) -> Iterator[Experiment]:
    """Vectors whose lanes lie apart."""
    lanes = machine.lanes(4)
    if lanes == 1:
        return
    size = 512 * lanes
    offsets = ", ".join(str(APART * i) for i in range(lanes))
    before = (
        f"  %lanes = arith.constant dense<[{offsets}]> : vector<{lanes}xindex>\n"
        f"  %mask = arith.constant dense<true> : vector<{lanes}xi1>"
    )
    types = f"vector<{lanes}xindex>, vector<{lanes}xi1>, vector<{lanes}xf32>"
    reach, end = APART * lanes, (size // (2 * APART * lanes)) * lanes
    loads, stores = [], []
    for i in range(VECTORS):
        at = f"    %k{i} = arith.constant {i} : index\n    %j{i} = arith.addi %i, %k{i} : index\n"
        loads.append(
            f"{at}    %v{i} = vector.gather %x[%j{i}] [%lanes], %mask, %init\n"
            f"        : memref<{size}xf32>, {types} into vector<{lanes}xf32>\n"
            f"    %n{i} = arith.addf %a{i}, %v{i} : vector<{lanes}xf32>"
        )
        lines = [at.rstrip()]
        for lane in range(lanes):
            lines += [
                f"    %o{i}_{lane} = arith.constant {APART * lane} : index",
                f"    %p{i}_{lane} = arith.addi %j{i}, %o{i}_{lane} : index",
                f"    %e{i}_{lane} = vector.extract %a{i}[{lane}] : f32 from vector<{lanes}xf32>",
                f"    memref.store %e{i}_{lane}, %y[%p{i}_{lane}] : memref<{size}xf32>",
            ]
        lines.append(f"    %n{i} = arith.addf %a{i}, %init : vector<{lanes}xf32>")
        stores.append("\n".join(lines))
    assert end + VECTORS + reach <= size
    for name, rows, begin in (("gather", loads, before), ("scatter", stores, "")):
        loop = replace(_over_vectors(rows, lanes, begin, size), end=end, step=VECTORS)
        loop = replace(loop, passes=max(1, CYCLES // 10 // (loop.steps // loop.passes * VECTORS)))
        units = loop.steps * VECTORS * lanes
        yield Experiment(name=name, loop=loop, units=units)


def _regions(machine: Processor) -> Iterator[Experiment]:
    """Parallel regions, run by one thread and by all: what is missing to a fair share is waking."""
    lanes = machine.lanes(4)
    if machine.cores == 1:
        return
    vector = f"vector<{lanes}xf32>"
    size = REGION_PIECES * lanes * 2
    # Two pieces for each core, of the size below which loops stay whole.
    pieces = 2 * machine.cores * machine.costs.threads.piece_operations
    steps = 2 * pieces // (2 * REGION_PIECES)
    row = f"""    scf.parallel (%t) = (%c0) to (%pieces) step (%c1) {{
      %place = arith.muli %t, %apart : index
      %start = vector.transfer_read %x[%place], %zero {{in_bounds = [true]}}
          : memref<{size}xf32>, {vector}
      %sum = scf.for %s = %c0 to %many step %c1 iter_args(%u = %start) -> ({vector}) {{
        %h = arith.mulf %u, %init : {vector}
        %g = arith.addf %h, %init : {vector}
        scf.yield %g : {vector}
      }}
      vector.transfer_write %sum, %y[%place] {{in_bounds = [true]}} : {vector}, memref<{size}xf32>
      scf.reduce
    }}
    %n0 = arith.addf %a0, %init : {vector}"""
    before = "\n".join(
        f"  %{name} = arith.constant {value} : index"
        for name, value in (
            ("pieces", REGION_PIECES),
            ("many", steps),
            ("apart", 2 * lanes),
        )
    )
    loop = Loop(rows=[row], lanes=lanes, size=size, end=REGIONS, before=before, results=size)
    for threads in (1, machine.cores):
        yield Experiment(name=f"region {threads}", loop=loop, units=REGIONS, threads=threads)
