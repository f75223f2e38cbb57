"""A target adapted to this machine: the processor's name and features, its caches and cores."""

from __future__ import annotations

import os
import platform
from dataclasses import replace
from pathlib import Path
from typing import Literal

from ...ir.diagnostics import NncError
from ..processor import Processor
from .target import LlvmTarget

BANDWIDTH = "NNC_MEMORY_BANDWIDTH"

_FORMATS: dict[str, Literal["macho", "coff"]] = {"darwin": "macho", "windows": "coff"}


def measured(row: LlvmTarget, cpu: str, features: str) -> LlvmTarget:
    """The target under this system, with LLVM's name of the processor, its caches and cores."""
    import llvmlite.binding as llvm

    system = platform.system().lower()
    under = (one for one in (row, *row.variants) if isinstance(one, LlvmTarget))
    named = next((one for one in under if one.system == system), row)
    machine = replace(
        named.machine,
        cores=_cores(),
        **{f"l{level}_bytes": size for level, size in _cache_sizes().items()},
    )
    return replace(
        named,
        machine=machine,
        processor=cpu,
        triple=llvm.get_default_triple(),
        cpu=cpu,
        features=features,
        system=system,
        object_format=_FORMATS.get(system, "elf"),
    )


def memory_bandwidth(machine: Processor, known: float | None) -> float:
    """Bytes per cycle of one core, from `known`, in gigabytes per second.

    The environment variable NNC_MEMORY_BANDWIDTH overrides it, in gigabytes per second of one core.
    Raises NncError if that is not a valid number.
    """
    given = os.environ.get(BANDWIDTH, "").strip()
    if given:
        try:
            known = float(given)
        except ValueError:
            known = 0.0
        if not 0 < known < float("inf"):
            raise NncError(f"{BANDWIDTH} is '{given}'; expected gigabytes per second, above 0")
    return machine.memory_bandwidth if known is None else known / machine.gigahertz


def _cores() -> int:
    """The number of cores that this process may use."""
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else 1


def _cache_sizes() -> dict[int, int]:
    """The bytes of the data caches that one core sees, by level, from Linux."""
    sizes: dict[int, int] = {}
    for entry in sorted(Path("/sys/devices/system/cpu/cpu0/cache").glob("index*")):
        try:
            if (entry / "type").read_text().strip() == "Instruction":
                continue
            level = int((entry / "level").read_text())
            text = (entry / "size").read_text().strip()
        except (OSError, ValueError):
            continue
        unit = {"K": 1 << 10, "M": 1 << 20}.get(text[-1:], 1)
        digits = text.rstrip("KMG")
        if digits.isdigit() and level in (1, 2, 3):
            sizes[level] = int(digits) * unit
    return sizes
