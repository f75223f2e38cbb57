"""Fuses copies that transpose, in squares whose sides are as long as a vector."""

from __future__ import annotations

from collections.abc import Mapping

from ..model.plan import Loop
from ..model.stages import Stage
from ..primitives.collapse import collapse
from ..primitives.fuse import fuse
from ..primitives.split import split
from ..primitives.unroll import unroll
from ..primitives.vectorize import vectorize
from .bodies import widest_element
from .copies import contiguous_dim
from .shaping import Shaping


def copy_by_squares(shaping: Shaping, stage: Stage, to_host: Mapping[int, int], at: Loop) -> bool:
    """Fuse a stage that transposes an input of its host (the stage into which it is fused).

    The copy becomes a transposition of squares of vectors. `at` is the host's loop over blocks.
    Returns False, and does nothing, for a stage that does not read along the dimension of the
    blocks and write along another one.

        for b step 48                        for b step 48
            for i in 0..48           ->          for j step 8
                for j                                for i in 0..48 step 8
                    t[j, b + i] = x[...]                 transpose 8 x 8

    All elements of a line that is read are then used at once. `to_host` has the host's dimension
    for each of the stage's.
    """
    dims, lane = _rows(stage, to_host, at), contiguous_dim(stage)
    lanes = shaping.machine.lanes(widest_element(stage))
    if dims is None or lane is None or lane in dims or at.step % lanes:
        return False
    extent = stage.extents[lane]
    if not isinstance(extent, int) or extent % lanes or not _turns(stage, dims[-1], lane):
        return False
    writer = shaping.writer
    loops = {l.dims[0]: l for l in writer.loops(stage)}
    if not all(l.is_alive and l.dims == (d,) for d, l in loops.items()):
        return False
    rows = [loops.pop(d) for d in dims]
    whole = writer.put(collapse, rows) if len(rows) > 1 else rows[0]
    block, inside = writer.put(split, whole, at.step)
    squares, row = writer.put(split, inside, lanes)
    vectors, vector = shaping.split_lanes(loops.pop(lane), lanes)
    order = writer.plan.order[at.stage]
    shared = {d for loop in order[: order.index(at)] for d in loop.dims}
    around = [l for d, l in loops.items() if to_host.get(d) in shared]
    own = [l for l in loops.values() if l not in around]
    writer.reorder([*around, block, *own, vectors, squares, row, vector])
    writer.put(unroll, row)
    writer.put(vectorize, vector)
    writer.put(fuse, stage, at, rolled=True, ordered=True)
    return True


def _rows(stage: Stage, to_host: Mapping[int, int], at: Loop) -> list[int] | None:
    """The adjacent dimensions of the stage that the host's loop over blocks covers; else None."""
    to_stage = {theirs: ours for ours, theirs in to_host.items()}
    dims = [to_stage[d] for d in at.root.dims if d in to_stage]
    is_block = at.root.parts is not None and at.root.parts[0] is at
    if not is_block or len(dims) < len(at.root.dims) or stage.has_reduction:
        return None
    return dims if dims == list(range(dims[0], dims[0] + len(dims))) else None


def _turns(stage: Stage, row: int, lane: int) -> bool:
    """Whether an operand is contiguous along the rows and not along the lanes."""
    strides = [a.coefficients for a in stage.inputs if not a.is_scalar]
    return any(c is not None and c[row] == 1 and c[lane] not in (0, 1) for c in strides)
