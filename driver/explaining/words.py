"""Names of resources for people."""

from __future__ import annotations

WORDS = {
    "arithmetic": "arithmetic",
    "loads": "loads and stores",
    "cache": "the L1 cache",
    "l2": "the L2 cache",
    "l3": "the L3 cache",
    "memory": "memory",
    "latency": "latency",
    "issue": "instructions to start",
    "loops": "loops",
    "registers": "missing registers",
    "code": "much code",
    "parallel": "uneven shares of the parallel region",
    "workgroup": "workgroup memory",
    "groups": "starting groups",
    "barriers": "barriers",
    "launches": "launches",
    "filling": "filling pipelines",
    "copies": "copies between host and device",
}
"""The names of resources for users. `latency` is that of dependent additions; on devices, of
memory."""
