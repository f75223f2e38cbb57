"""The stages of devices after the schedule, up to the IR that kernels are printed from."""

from __future__ import annotations

from ...ir.stages import stage

LAUNCHES = stage(
    "launches",
    "the host's program of launches and copies; kernels as tile programs, which a group runs whole",
    "apply-schedules",
    ("canonicalize", "sizes that are known become part of kernels"),
    "outline-launches",
    ("place-buffers", "before plan-memory, which has an arena for each memory"),
    "plan-memory",
    "canonicalize",
    "cse",
)
SHARES = stage(
    "shares",
    "each thread's share of the kernels' vectors, barriers where they are needed",
    "assign-layouts",
    "distribute-tiles",
    "canonicalize",
    "cse",
)
THREADS = stage(
    "threads",
    "the same with vectors of register size, flat addresses, and elementary functions expanded",
    "lower-tiles",
    ("forward-stores", "before flatten-addresses: subscripts distinguish rows"),
    ("flatten-addresses", "after lower-tiles, which finds neighbours by their subscripts"),
    "expand-math",
    "canonicalize",
    "cse",
)
HOST = stage(
    "host",
    "the llvm dialect around the kernels",
    "outline-parallel",
    ("align-arguments", "after plan-memory, while launches still have the kernels' operands"),
    ("call-device", "after all passes that analyse buffers"),
    "canonicalize",
    "cse",
    "lower-to-llvm",
)
PROOF = stage(
    "proof",
    "kernels as each thread runs them, with buffers of their own, proven",
    "apply-schedules",
    "canonicalize",
    "outline-launches",
    ("prove-kernels", "tile programs: what groups do to one another"),
    "assign-layouts",
    "distribute-tiles",
    ("prove-kernels", "what threads do to one another"),
)
STAGES = (LAUNCHES, SHARES, THREADS, HOST)
