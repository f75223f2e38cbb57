"""Stages bound by reading one large matrix whose elements are each used about once."""

from __future__ import annotations

from dataclasses import dataclass
from math import prod

from ...targets.processor import Processor
from ..model.stages import Stage
from .bodies import widest_element


@dataclass(frozen=True)
class Stream:
    """A matrix whose rows run along `lane_dim`, one for each step of `row_dim`."""

    lane_dim: int
    row_dim: int
    readers: tuple[int, ...]
    """Parallel dimensions along which the matrix is read again."""
    is_narrow: bool
    """Whether rows are as short as in a packed matrix, whose blocks are contiguous."""
    size: int
    """Units: bytes."""
    number: int
    """Which of the stage's inputs it is."""

    def cycles(self, machine: Processor) -> float:
        """The cycles of reading the matrix from the cache that holds it between two calls."""
        if self.size <= machine.l2_bytes:
            return self.size / machine.l2_bandwidth
        fits = self.size <= machine.l3_bytes
        return self.size / (machine.l3_bandwidth if fits else machine.memory_bandwidth)


def stream_of(stage: Stage, machine: Processor) -> Stream | None:
    """The matrix that a stage streams through, or None if that is not what it does.

    A register tile would read few columns of many rows, a cache line here and there; memory
    is read well only along whole rows.
    """
    sizes = [e for e in stage.extents if isinstance(e, int)]
    if len(sizes) < stage.rank or not stage.is_reassociable or len(stage.outputs) != 1:
        return None
    reductions = [d for d, k in enumerate(stage.kinds) if k == "reduction" and sizes[d] > 1]
    out = stage.outputs[0].coefficients
    if len(reductions) != 1 or out is None:
        return None
    (row,) = reductions
    costs = machine.costs.loops
    for access in stage.inputs:
        strides = access.coefficients
        if access.is_scalar or strides is None or None in access.plain_dims():
            continue
        used = access.used
        lane = next((d for d in used if strides[d] == 1 and out[d] == 1 and sizes[d] > 1), None)
        if lane is None or row not in used or strides[row] != strides[lane] * sizes[lane]:
            continue
        parallel = (d for d, kind in enumerate(stage.kinds) if kind == "parallel")
        readers = tuple(d for d in parallel if d not in used)
        size = prod(sizes[d] for d in used) * access.element_bytes
        others = [a for a in stage.inputs if a is not access and not a.is_scalar]
        if any(a.coefficients is None or a.coefficients[lane] != 0 for a in others):
            continue
        width = machine.lanes(widest_element(stage))
        narrow = sizes[lane] % width == 0 and sizes[lane] <= costs.stream_vectors * width
        far = size > (machine.l1_bytes if narrow else machine.l2_bytes)
        few = prod(sizes[d] for d in readers) <= costs.stream_readers
        if few and far and sizes[row] >= 2 * costs.stream_rows:
            return Stream(lane, row, readers, narrow, size, access.number)
    return None
