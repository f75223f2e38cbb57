"""Operands that it pays to copy, and copies in the kernel that it pays to inline."""

from __future__ import annotations

from collections.abc import Sequence
from math import gcd, prod

from ...ir.affine import AffineDim
from ...targets.processor import Processor
from ..model.extents import expected
from ..model.stages import Access, Stage, has_reuse
from ..primitives.inline import readers_of_copy


def worthwhile(stage: Stage, access: Access, machine: Processor) -> list[int] | None:
    """The order of dimensions in which a copy of an operand pays, or None if none does.

    A copy pays for a matrix operand that is read again for many rows of results, if it is
    contiguous along the reduction and not along the lanes of vectors, or if its rows are so far
    apart that a tile of it maps to few sets of the caches.
    """
    order = order_of_copy(stage, access, machine)
    lane = contiguous_dim(stage)
    if order is None or lane is None or access.coefficients is None:
        return None
    costs, used = machine.costs.copies, access.used
    sizes = [expected(e) for e in stage.extents]
    reductions = [d for d in used if stage.kinds[d] == "reduction" and sizes[d] > 1]
    readers = prod(e for d, e in enumerate(sizes) if d not in used and stage.kinds[d] == "parallel")
    if readers < costs.readers:
        return None
    width = access.element_bytes
    panel = prod(sizes[d] for d in reductions) * costs.panel_columns * width
    if panel > machine.l2_bytes:
        return None
    if access.coefficients[lane] == 1:
        row, apart = min(sizes[lane], costs.panel_columns) * width, list[tuple[int, int]]()
        strides = [
            (c * width, d) for d in reductions if isinstance(c := access.coefficients[d], int)
        ]
        for stride, d in sorted(strides):
            if stride == row:  # blocks of a weight that lie one after the other
                row *= sizes[d]
            else:
                apart.append((stride, sizes[d]))
        rows = prod(size for _, size in apart)
        collides = any(
            stride % machine.l1_way_bytes == 0 or _crowds(rows, row, stride, machine)
            for stride, _ in apart
        )
        if not collides or readers < costs.readers_of_rows:
            return None
    return order


def order_of_copy(stage: Stage, access: Access, machine: Processor) -> list[int] | None:
    """The order of dimensions that a copy of an operand would have, or None if none is possible.

    The lanes come last.
    """
    if access.is_scalar or access.coefficients is None or None in access.plain_dims():
        return None
    used = access.used
    lane = contiguous_dim(stage)
    if lane is None or lane not in used or len(used) != len(access.exprs):
        return None
    reductions = [d for d in used if stage.kinds[d] == "reduction"]
    if any(not isinstance(stage.extents[d], int) for d in reductions):
        return None
    if all(expected(stage.extents[d]) <= 1 for d in reductions):
        return None
    if expected(stage.extents[lane]) < machine.lanes(4):
        return None
    if access.coefficients[lane] == 1 and not all(isinstance(e, int) for e in stage.extents):
        return None
    order = [i for i, d in enumerate(access.plain_dims()) if d != lane]
    return [*order, access.plain_dims().index(lane)]


def _crowds(rows: int, row: int, stride: int, machine: Processor) -> bool:
    """Whether rows at this stride map to few sets of the L2 cache and fill much of those.

    `row` (the length of a row) and `stride` are in bytes.
    """
    costs = machine.costs.copies
    places = costs.l2_way_bytes // gcd(stride, costs.l2_way_bytes)
    share = places * row / costs.l2_way_bytes
    return share < 1 and rows * row > share * machine.l2_bytes / costs.crowded_part


def contiguous_dim(stage: Stage) -> int | None:
    """The parallel dimension along which all results are contiguous."""
    found = {
        d
        for out in stage.outputs
        for d, kind in enumerate(stage.kinds)
        if kind == "parallel" and out.coefficients is not None and out.coefficients[d] == 1
        and stage.extents[d] != 1
    }  # fmt: skip
    return found.pop() if len(found) == 1 else None


def worth_inlining(stage: Stage, stages: Sequence[Stage]) -> bool:
    """Whether all readers of a copy are products, whose own schedule may copy better."""
    readers = readers_of_copy(stage, stages)
    return (
        not isinstance(readers, str)
        and bool(readers)
        and all(
            has_reuse(a.stage) and len(a.stage.inputs) > 1 and _stays_simple(stage, a)
            for a in readers
        )
    )


def _stays_simple(stage: Stage, access: Access) -> bool:
    """Whether the reader, with the copy inlined, is still indexed by single dimensions.

    False for a reader with a window, even of 1 x 1: a convolution reads channel blocks in place.
    """
    source = next(a for a in stage.inputs if not a.is_scalar)
    window = any(not isinstance(e, AffineDim) for e in access.stage.op.maps[access.number].results)
    return None not in source.plain_dims() and None not in access.plain_dims() and not window
