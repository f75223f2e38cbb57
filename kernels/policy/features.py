"""The features of a kernel and a schedule, {name: number}, for a model that learns from timings.

All of it is known before anything runs: sizes of the iteration space, what the schedule's loops and
tiles are, and the terms of the analytical model, so that it can learn where that one is wrong.
Sizes are logarithms to the base of 2: what holds for 64 rows nearly holds for 80.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from math import log2, prod

from ...dialects import schedule
from ...ir.core import Block
from ...ir.decisions import Terms
from ...ir.types import FloatType
from ...targets.machine import Machine
from ..model.extents import expected
from ..model.nest import build_nest
from ..model.places import place_nests
from ..model.plan import Loop, Plan, iterations
from ..model.stages import Stage, stages_of
from ..primitives.primitive import carry_out
from .bodies import widest_element, work_per_point
from .candidates import discard_made
from .level_features import level_features, log_ratio
from .register_tile import Tile
from .score import host_of, tile_of
from .work import bytes_moved

Features = Mapping[str, float]

VERSION = 2
"""The version of the features' meaning: measurements of another version are not learned from."""

_MACHINE = (
    "cores",
    "gigahertz",
    "memory_bandwidth",
    "vector_bits",
    "vector_registers",
    "full_width_units",
    "fma_latency",
    "loads_per_cycle",
    "load_bytes_per_cycle",
    "issue_width",
    "l1_bytes",
    "l2_bytes",
    "l3_bytes",
    "l2_bandwidth",
    "l3_bandwidth",
)
"""The fields of a processor, or of a device's `program`, that are features."""

_INNERMOST = 3
"""How many extents become features for each kind of dimension, the innermost first."""


@dataclass(frozen=True)
class Described:
    """A schedule as a learned model sees it: the analytical model's terms and its loop features."""

    terms: Terms
    loops: Features


def describe(
    one: schedule.For, block: Block, machine: Machine, model: Callable[[Plan], Terms]
) -> Described:
    """Describe a schedule of a kernel's body, with the terms that `model` expects of it.

    Raises NncError at the faulty operation if the schedule is illegal.
    """
    plan = carry_out(one, stages_of(block))
    try:
        place_nests(block, build_nest(plan))
        terms = model(plan)
        return Described(terms, _of_loops(one, plan, machine, terms.cycles))
    finally:
        discard_made(plan)


def features(
    told: Mapping[str, int], one: Described, default: Described, kernel: Features
) -> Features:
    """The features of a schedule, compared with the default one; those that are 0 are left out.

    `told` has the decisions that made it, `kernel` the features of the kernel.
    """
    cycles = max(default.terms.cycles, 1.0)
    found = {**kernel, **one.loops}
    if one.terms.cycles:
        found["predicted"] = log_ratio(one.terms.cycles, cycles)
    for name, own in one.terms.by_resource.items():
        found[f"part.{name}"] = own / max(one.terms.cycles, 1.0)
        found[f"change.{name}"] = (own - default.terms.by_resource.get(name, 0.0)) / cycles
    for name, own in one.loops.items():
        if name.startswith(("tile.", "inner.", "level.")):
            found[f"change.{name}"] = own - default.loops.get(name, 0.0)
    for key, number in told.items():
        kind = f"told.{key.split()[0]}"
        found[kind] = max(found.get(kind, 0.0), float(number))
    return {name: round(value, 4) for name, value in found.items() if round(value, 4)}


def kernel_features(block: Block, machine: Machine) -> Features:
    """The features of a kernel's body and of the machine."""
    stages = stages_of(block)
    largest = max(stages, key=lambda stage: prod(map(expected, stage.extents)))
    found = {f"machine.{name}": _log(_number(machine, name)) for name in _MACHINE}
    points = prod(map(expected, largest.extents))
    weight = work_per_point(largest, machine.costs.operations)
    moved = bytes_moved(stages)
    width = widest_element(largest)
    found |= {
        "kernel.stages": float(len(stages)),
        "kernel.rank": float(largest.rank),
        "kernel.points": _log(points),
        "kernel.weight": float(weight),
        "kernel.bytes": _log(moved),
        "kernel.intensity": log_ratio(points * weight, moved),
        "kernel.element": float(width),
        "kernel.float": float(isinstance(largest.outputs[0].element_type, FloatType)),
        "kernel.lanes": _log(machine.lanes(width)),
        "kernel.inputs": float(len(largest.inputs)),
        "kernel.windows": float(
            any(len(i.terms) > 1 for a in largest.inputs for i in a.linear if i)
        ),
    }
    for kind in ("parallel", "reduction"):
        own = [e for e, k in zip(largest.extents, largest.kinds, strict=True) if k == kind]
        found[f"kernel.{kind}"] = _log(prod(map(expected, own)))
        for number, extent in enumerate(reversed(own[-_INNERMOST:])):
            found[f"kernel.{kind}{number}"] = _log(expected(extent))
    return found


def _number(machine: Machine, name: str) -> float:
    """The named field of `machine` or else of `machine.program`; 0 if neither has it."""
    return getattr(machine, name, getattr(machine.program, name, 0))


def _log(number: float) -> float:
    return log2(1 + max(0.0, number))


def _of_loops(one: schedule.For, plan: Plan, machine: Machine, cycles: float) -> dict[str, float]:
    """The features of the largest stage's loop nest, and the counts of primitives by kind."""
    hosts = dict.fromkeys(host_of(plan, stage) for stage in plan.stages)
    host = max(hosts, key=lambda stage: prod(map(expected, stage.extents)))
    tile = tile_of(plan, host)
    outside = [loop for loop in plan.order[host] if not loop.in_tile]
    counts = Counter(op.name.partition(".")[2] for op in one.regions[0].block)
    found = {f"ops.{name}": float(count) for name, count in counts.items()}
    found["nests"] = float(len(hosts))
    found |= _of_tile(tile, host, machine)
    found |= level_features(host, tile, outside, machine, cycles)
    reductions = [i for i, loop in enumerate(outside) if loop.is_reduction]
    found["loops"] = float(len(outside))
    found["loops.at_once"] = _log(prod(iterations(loop) for loop in outside if loop.at_once))
    found["loops.inside_sums"] = float(
        sum(not loop.is_reduction for i in reductions for loop in outside[i:])
    )
    for number, loop in enumerate(reversed(outside[-2:])):
        found |= {f"inner.{name}{number}": value for name, value in _of_loop(loop, host).items()}
    return found


def _of_loop(loop: Loop, stage: Stage) -> dict[str, float]:
    strides = [_stride(a.coefficients, loop.dims[-1]) * a.element_bytes for a in stage.inputs]
    return {
        "trips": _log(iterations(loop)),
        "sum": float(loop.is_reduction),
        "least": _log(min(strides, default=0)),
        "most": _log(max(strides, default=0)),
    }


def _stride(coefficients: Sequence[object] | None, dim: int) -> int:
    found = coefficients[dim] if coefficients is not None else 0
    return abs(found) if isinstance(found, int) else 0


def _of_tile(tile: Tile, stage: Stage, machine: Machine) -> dict[str, float]:
    width = widest_element(stage)
    dims = range(stage.rank)
    vectors = prod(tile.copies.values()) * tile.lanes / max(1, machine.lanes(width))
    loaded = 0.0
    for access in stage.inputs:
        lanes = machine.lanes(width) if tile.lane_dim in access.used else 1
        loaded += prod(tile.size(d) for d in access.used) / lanes
    padded = 1.0
    for d in dims:
        extent, size = expected(stage.extents[d]), max(1, tile.size(d))
        padded *= -(-extent // size) * size / max(1, extent)
    lane = tile.lane_dim
    return {
        "tile.lanes": _log(tile.lanes),
        "tile.along": _log(tile.copies.get(lane, 1) if lane is not None else 0),
        "tile.across": _log(prod(n for d, n in tile.copies.items() if d != lane)),
        "tile.dims": float(len(tile.copies)),
        "tile.vectors": vectors,
        "tile.pressure": vectors / max(1, _number(machine, "vector_registers")),
        "tile.loads": loaded,
        "tile.reuse": log_ratio(vectors, loaded) if loaded else 0.0,
        "tile.padded": padded - 1,
        "tile.filled": (vectors + loaded) / max(1, _number(machine, "vector_registers")),
        "tile.lane_use": tile.lanes / max(1, machine.lanes(width)),
        "tile.contiguous": float(
            lane is not None and sum(_stride(a.coefficients, lane) == 1 for a in stage.inputs)
        ),
    }
