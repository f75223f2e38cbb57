"""The report of a package, as JSON: measurements, the machine, and the recommendation."""

from __future__ import annotations

import math
import os
import platform
import sys
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from ..ir.version import VERSION
from ..targets.base import Target, processor_name
from .measuring import Reference, Row
from .recommending import Recommendation
from .request import Request

SCHEMA = 1
"""The version of the report's format, see docs/package.md."""


@dataclass(frozen=True)
class Findings:
    """The contents of a report. `model` and `library` are JSON data; `unmeasured` says why there
    are no measurements, if there are none.
    """

    request: Request
    target: Target
    model: Mapping[str, Any]
    library: Mapping[str, Any]
    inputs: Sequence[Mapping[str, Any]]
    outputs: Sequence[Mapping[str, Any]]
    reference: Reference | None
    rows: Sequence[Row]
    recommendation: Recommendation
    why: Sequence[str]
    notes: Sequence[str]
    made: str
    unmeasured: str = ""


def report(found: Findings) -> dict[str, Any]:
    """The report. Units: milliseconds, bytes, joules; null means unknown."""
    request = found.request
    return {
        "schema": SCHEMA,
        "made": found.made,
        "model": dict(found.model),
        "machine": machine(),
        "target": {"name": found.target.name, "about": found.target.summary},
        "precision": request.precision,
        "threads": list(request.threads),
        "seed": request.seed,
        "inputs": {"random": not request.has_inputs, "arrays": list(found.inputs)},
        "outputs": list(found.outputs),
        "tolerance": request.allowed,
        "measured": not found.unmeasured,
        "not_measured_because": found.unmeasured or None,
        "reference": _reference(found.reference),
        "engines": [_row(request, row) for row in found.rows],
        "recommendation": _recommendation(request, found.recommendation),
        "library": dict(found.library),
        "why": list(found.why),
        "notes": list(found.notes),
    }


def machine() -> dict[str, Any]:
    """The machine that figures were measured on."""
    return {
        "processor": processor_name(),
        "cores": os.cpu_count(),
        "usable_cores": len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else None,
        "memory_bytes": _memory(),
        "system": f"{platform.system()} {platform.release()} {platform.machine()}",
        "python": platform.python_version(),
        "nnc": VERSION,
    }


def _memory() -> int | None:
    if sys.platform != "linux":
        return None
    return os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES")


def _reference(found: Reference | None) -> dict[str, Any] | None:
    if found is None:
        return None
    names = {"engine": found.engine, "title": found.title, "version": found.version}
    return {**names, "failed": found.failure or None}


def _row(request: Request, row: Row) -> dict[str, Any]:
    result, near = row.result, row.result.accuracy
    return {
        "name": row.engine.name,
        "title": row.engine.title,
        "version": result.version or row.engine.version or None,
        "threads": result.threads,
        "tuned": row.tuned,
        "runs": result.runs,
        "median_ms": _number(result.median),
        "spread_ms": _number(result.spread),
        "throughput_per_s": _number(result.throughput),
        "load_ms": _number(result.load_ms),
        "compile_ms": _number(result.compile_ms),
        "peak_bytes": result.peak_bytes,
        "size_bytes": result.size_bytes or None,
        "energy_j": _number(result.energy),
        "error_max_abs": _number(near and near.max_abs),
        "error_max_rel": _number(near and near.max_rel),
        "cosine": _number(near and near.cosine),
        "equal": _number(near and near.equal),
        "accuracy_fault": (near.fault or None) if near else None,
        "within_tolerance": row.within,
        "failed": result.failure or None,
        "command": request.command(row.engine.name, result.threads, row.tuned),
    }


def _number(value: float | None) -> float | None:
    """The number, or None for NaN and infinities, which JSON lacks."""
    return None if value is None or not math.isfinite(value) else value


def _recommendation(request: Request, found: Recommendation) -> dict[str, Any]:
    row = found.row
    options = None
    if row is not None:
        options = {
            "threads": row.result.threads,
            "tuned": row.tuned,
            "precision": request.precision,
        }
    return {
        "engine": row.engine.name if row else None,
        "title": row.engine.title if row else None,
        "options": options,
        "reason": found.reason,
        "text": found.text,
    }
