"""Stages bound by reading one large matrix whose elements are each used about once.

The elements may be words that hold several integers: then the body takes one of them at each step
of a reduction that the matrix does not depend on, and other operands say how a row is scaled.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from math import prod

from ...targets.processor import Processor
from ..model.extents import Size
from ..model.stages import Access, Stage
from .bodies import widest_element


@dataclass(frozen=True)
class Stream:
    """A matrix whose rows run along `lane_dim`, one for each step of `row_dim`."""

    lane_dim: int
    row_dim: int
    """The innermost of the dimensions that count rows."""
    outer_row_dims: tuple[int, ...]
    """The other ones, outermost first: those of groups of rows that have a scale in common."""
    step_dims: tuple[int, ...]
    """Reductions that the matrix does not depend on: over the integers of a word."""
    block_dims: tuple[int, ...]
    """Parallel dimensions of more than one step that the matrix depends on besides: its blocks."""
    readers: tuple[int, ...]
    """Parallel dimensions along which the matrix is read again."""
    is_narrow: bool
    """Whether rows are as short as in a packed matrix, whose blocks are contiguous."""
    most_blocks: int
    """How many blocks' results fit in registers, beside other values that vary along a row."""
    size: int
    """Units: bytes."""
    number: int
    """The index of the matrix among the stage's inputs."""

    def cycles(self, machine: Processor) -> float:
        """The cycles of reading the matrix from the cache that holds it between two calls."""
        if self.size <= machine.l2_bytes:
            return self.size / machine.l2_bandwidth
        fits = self.size <= machine.l3_bytes
        return self.size / (machine.l3_bandwidth if fits else machine.memory_bandwidth)


def stream_of(stage: Stage, machine: Processor) -> Stream | None:
    """The matrix that a stage streams through, or None if the stage is not bound by one.

    A register tile would read few columns of many rows, a cache line here and there; memory
    is read well only along whole rows.
    """
    sizes = [e for e in stage.extents if isinstance(e, int)]
    if len(sizes) < stage.rank or not stage.is_reassociable or len(stage.outputs) != 1:
        return None
    if stage.outputs[0].coefficients is None:
        return None
    found = (_stream(stage, access, sizes, machine) for access in stage.inputs)
    return next((one for one in found if one is not None), None)


def _stream(stage: Stage, access: Access, sizes: list[int], machine: Processor) -> Stream | None:
    """The matrix that `access` reads, if the stage is bound by reading it; else None."""
    strides, out = access.coefficients, stage.outputs[0].coefficients
    if access.is_scalar or strides is None or out is None or None in access.plain_dims():
        return None
    used = access.used
    reductions = [d for d, k in enumerate(stage.kinds) if k == "reduction" and sizes[d] > 1]
    rows = [d for d in reversed(access.plain_dims()) if d is not None and d in reductions]
    steps = tuple(d for d in reductions if d not in used)
    lane = next((d for d in used if strides[d] == 1 and out[d] == 1 and sizes[d] > 1), None)
    if lane is None or not rows or not _follow(rows, lane, strides, sizes):
        return None
    parallel = (d for d, kind in enumerate(stage.kinds) if kind == "parallel")
    readers = tuple(d for d in parallel if d not in used)
    size = prod(sizes[d] for d in used) * access.element_bytes
    others = [a for a in stage.inputs if a is not access and not a.is_scalar]
    if any(a.coefficients is None for a in others):
        return None
    scales = [a for a in others if a.coefficients is not None and a.coefficients[lane] != 0]
    costs, lanes = machine.costs.loops, machine.lanes(widest_element(stage))
    narrow = sizes[lane] % lanes == 0 and sizes[lane] <= costs.stream_vectors * lanes
    if not narrow and (steps or scales or len(rows) > 1):
        return None
    if any(2 * prod(sizes[d] for d in a.used) * a.element_bytes > size for a in scales):
        return None
    far = size > (machine.l1_bytes if narrow else machine.l2_bytes)
    few = prod(sizes[d] for d in readers) <= costs.stream_readers
    many = prod(sizes[d] for d in rows) >= 2 * costs.stream_rows
    few_steps = prod(sizes[d] for d in steps) <= costs.stream_rows
    if not (far and few and many and few_steps):
        return None
    registers, vectors = machine.vector_registers, prod(sizes[d] for d in (*readers, lane)) // lanes
    if scales:
        registers -= 2 * machine.costs.tiles.streaming_registers
    most = registers // (max(1, vectors) * (1 + len(scales)))
    if scales and most < 2:
        return None  # An ordinary register tile unpacks integers as fast, in shorter rows.
    blocks = tuple(d for d in sorted(used) if d not in (lane, *rows) and sizes[d] > 1)
    row, *outer = rows
    return Stream(
        lane_dim=lane,
        row_dim=row,
        outer_row_dims=tuple(reversed(outer)),
        step_dims=steps,
        block_dims=blocks,
        readers=readers,
        is_narrow=narrow,
        most_blocks=most,
        size=size,
        number=access.number,
    )


def _follow(rows: list[int], lane: int, strides: Sequence[Size], sizes: list[int]) -> bool:
    """Whether the rows are contiguous in memory; `rows` has their dimensions, innermost first."""
    dense = sizes[lane]
    for d in rows:
        if strides[d] != dense:
            return False
        dense *= sizes[d]
    return True
