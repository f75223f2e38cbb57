"""Experiments on parallel regions."""

from __future__ import annotations

from collections.abc import Iterator

from ...targets.processor import Processor
from .loops import Loop
from .measuring import Experiment

REGIONS = 8
"""The parallel regions of one run."""
REGION_PIECES = 64
"""The iterations of each region."""

SHARED = 0.8
"""A region that takes less than this part of one thread's time ran on another core, too."""


def region_experiments(machine: Processor) -> Iterator[Experiment]:
    """Parallel regions run by one thread and by all: their loss is the cost of waking threads."""
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
        yield Experiment(
            name=f"region {threads}",
            loop=loop,
            units=REGIONS,
            threads=threads,
            in_cycles=False,
            below=("region 1", SHARED) if threads > 1 else None,
        )
