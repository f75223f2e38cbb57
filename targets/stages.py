"""The stages after the schedule that all targets with one program per core share."""

from __future__ import annotations

from ..ir.stages import stage

LOOPS = stage(
    "loops",
    "loops over tiles: scf, memref, n-dimensional vectors and arith, all buffers planned",
    "apply-schedules",
    ("plan-memory", "after schedules, which remove temporaries"),
    "canonicalize",
    "cse",
)
VECTORS = stage(
    "vectors",
    "the same with vectors of register size, flat addresses, and elementary functions expanded",
    ("lower-to-amx", "before lower-tiles, which cuts sums in vectors"),
    ("lower-tiles", "after plan-memory: temporaries are parts of the arena now"),
    ("forward-stores", "before flatten-addresses: subscripts distinguish rows"),
    ("flatten-addresses", "after lower-tiles, which finds neighbours by their subscripts"),
    ("expand-math", "on the vectors of the machine, whose instructions it counts on"),
)
