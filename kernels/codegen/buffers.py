"""Temporary buffers of a kernel: shrunk if one iteration fills and reads them, erased if dead."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import takewhile
from math import prod

from ...dialects import memref, vector
from ...ir.core import Block, Operation, Value
from ...ir.polynomial import Size
from ...ir.types import Type, row_major_strides
from ...targets.processor import Processor
from ..model.nest import Node, is_tile
from ..model.plan import Loop, Plan
from ..model.stages import Access, Stage


@dataclass
class Shrunk:
    """A buffer of which each iteration of the shared loops needs only a part.

    `dropped` holds, for each access, the loops that its address no longer depends on; `inside` is
    the innermost parallel loop around all uses, each iteration of which needs a buffer of its own.
    """

    buffer: Value
    extents: list[Size]
    """The extents of the smaller buffer, with the padding of rows. Units: elements."""
    dropped: dict[Access, frozenset[Loop]]
    inside: Node | None
    on_stack: bool = False

    @property
    def element_type(self) -> Type:
        return self.buffer.type.element_type  # type: ignore[attr-defined]

    @property
    def elements(self) -> Size:
        total: Size = 1
        for extent in self.extents:
            total = total * extent
        return total

    @property
    def num_bytes(self) -> int | None:
        """The buffer's size in bytes; None where it is known only at run time."""
        count = self.elements
        width = getattr(self.element_type, "byte_width", 8)
        return count * width if isinstance(count, int) else None

    def stays_whole(self, plan: Plan, machine: Processor) -> bool:
        """Whether the buffer cannot shrink: there is no heap for each parallel iteration's part,
        which fits neither on the stack nor in registers.
        """
        if machine.has_heap or self.inside is None or self.on_stack:
            return False
        return not self.fits_registers(plan)

    def fits_registers(self, plan: Plan) -> bool:
        """Whether each use of the buffer touches all of the part that an iteration needs at once,
        so that values are handed on without memory.
        """
        if not isinstance(self.elements, int):
            return False
        own = [(a, l) for a in self.dropped for l in plan.order[a.stage] if not l.is_shared]
        return all(l.at_once or l.in_tile or not a.depends_on(l.dims) for a, l in own)

    def apply(self) -> None:
        """Give the accesses the strides of the smaller buffer."""
        strides = row_major_strides(self.extents)
        for access in self.dropped:
            access.restride(strides)


def shrink_buffers(
    block: Block, plan: Plan, roots: Sequence[Node | Stage], machine: Processor
) -> list[Shrunk]:
    """The buffers made in the block that become smaller, not yet applied."""
    paths: dict[Stage, list[Node]] = {}
    for root in roots:
        _collect_paths(root, [], paths)
    users: dict[Value, list[Access]] = {}
    for stage in plan.stages:
        for access in stage.accesses:
            users.setdefault(access.value, []).append(access)
    found = []
    for op in block:
        if isinstance(op, memref.Alloc) and (accesses := users.get(op.results[0])):
            stage_ops = {a.stage.op for a in accesses}
            windows, others = _users_of(op.results[0])
            rest = [u for u in others if u not in stage_ops]
            fits = all(isinstance(u, memref.Dealloc) for u in rest)
            # Stages see through most windows; then they have no accesses of their own.
            fits = fits and not any(w in users for w in windows)
            if fits and op.memref.type.layout is None:
                shrunk = _shrink(op.results[0], accesses, plan, paths, machine)
                if shrunk is not None:
                    found.append(shrunk)
    _choose_stack(sorted(found, key=lambda b: b.fits_registers(plan)), machine.costs.buffers.stack)
    return found


def _choose_stack(buffers: Sequence[Shrunk], most: int) -> None:
    """Put the first buffers of an iteration on the stack, up to `most` bytes in all."""
    left: dict[Node, int] = {}
    for one in buffers:
        size = one.num_bytes
        if (
            one.inside is not None
            and size is not None
            and size <= left.setdefault(one.inside, most)
        ):
            left[one.inside] -= size
            one.on_stack = True


def _users_of(buffer: Value) -> tuple[list[Value], list[Operation]]:
    """(the views of a buffer, all other operations that use it or them)."""
    windows: list[Value] = []
    others: list[Operation] = []
    for user in buffer.users:
        if isinstance(user, memref.SubView):
            inner = _users_of(user.results[0])
            windows += [user.results[0], *inner[0]]
            others += inner[1]
        else:
            others.append(user)
    return windows, others


def _collect_paths(at: Node | Stage, path: list[Node], paths: dict[Stage, list[Node]]) -> None:
    if isinstance(at, Stage):
        paths[at] = path
        return
    for child in at.children:
        _collect_paths(child, [*path, at], paths)


def _shrink(
    buffer: Value,
    accesses: list[Access],
    plan: Plan,
    paths: dict[Stage, list[Node]],
    machine: Processor,
) -> Shrunk | None:
    common = paths[accesses[0].stage]
    for access in accesses[1:]:
        other = paths[access.stage]
        depth = sum(a is b for a, b in zip(common, other, strict=False))
        common = common[:depth]
    common = list(takewhile(lambda node: not is_tile(node), common))
    if not common:
        return None
    extents: list[Size] | None = None
    dropped: dict[Access, frozenset[Loop]] = {}
    for access in accesses:
        part = _part(access, plan.order[access.stage], len(common))
        if part is None or (extents is not None and part[0] != extents):
            return None
        extents, dropped[access] = part
    assert extents is not None
    whole = _extents(accesses[0])
    if not any(len(loop.dims) > 1 for a in accesses for loop in plan.order[a.stage]):
        width = getattr(buffer.type.element_type, "byte_width", 8)  # type: ignore[attr-defined]
        extents = padded(extents, width, machine)
    parallel = [node for node in common if node.at_once]
    if not parallel and extents == whole:
        return None
    return Shrunk(buffer, extents, dropped, parallel[-1] if parallel else None)


def padded(extents: list[Size], width: int, machine: Processor) -> list[Size]:
    """These extents with the last one enlarged to an odd number of cache lines.

    Rows then begin at cache lines, and a tile across rows does not map to few sets of a cache.
    """
    row, line, costs = extents[-1] if extents else 1, machine.line_bytes, machine.costs.buffers
    if not isinstance(row, int) or row * width < costs.padded_row or line % width:
        return extents
    rows = prod(e for e in extents[:-1] if isinstance(e, int))
    if rows < costs.padded_rows:
        return extents
    lines = -(-row * width // line) | 1
    return [*extents[:-1], lines * line // width]


def _extents(access: Access) -> list[Size]:
    """The buffer's extents, as far as its type or the stage's dimensions tell; else -1.

    A stage's dimension is as large as the window that it works on.
    """
    shape = access.value.type.shape  # type: ignore[attr-defined]
    is_whole = access.stage.op.operands[access.number] is access.value
    return [
        extent
        if extent is not None
        else access.stage.extents[dim]
        if dim is not None and is_whole
        else -1
        for extent, dim in zip(shape, access.plain_dims(), strict=True)
    ]


def _part(
    access: Access, order: list[Loop], depth: int
) -> tuple[list[Size], frozenset[Loop]] | None:
    """(extents that one iteration of the shared loops needs, loops that the address then no longer
    depends on); None where that cannot be told.
    """
    shared = order[:depth]
    if access.coefficients is None:
        return None
    extents = _extents(access)
    dropped: set[Loop] = set()
    for i, (expr, dim) in enumerate(zip(access.exprs, access.plain_dims(), strict=True)):
        if extents[i] == -1:
            return None
        if dim is None:
            if any(d in loop.dims for d in expr.dims_used() for loop in shared):
                return None
            continue
        loops = [loop for loop in order if dim in loop.dims]
        mine = [loop for loop in loops if loop in shared]
        if not mine:
            continue
        dropped.update(mine)
        # A part of loops that were collapsed is a row along the last of their dimensions.
        whole = len(mine) == len(loops) or dim != loops[0].dims[-1]
        extents[i] = 1 if whole else min(loop.step for loop in mine)
    return extents, frozenset(dropped)


# -- dead buffers --------------------------------------------------------------------------------

_STORES = {
    memref.Store: 1,
    vector.Store: 1,
    vector.TransferWrite: 1,
    vector.MaskedStore: 0,
    vector.Scatter: 0,
}
"""Operations that only write, and which operand is the buffer."""


def erase_dead_buffers(block: Block) -> None:
    """Erase the buffers made in a block or its loops that are only written, and the writes."""
    allocations = [
        op
        for outer in block.ops
        for op in outer.walk()
        if isinstance(op, memref.Alloc | memref.Alloca)
    ]
    for op in allocations:
        uses = _writes(op.results[0])
        if uses is not None:
            for user in uses:
                user.erase()
            op.erase()


def _writes(buffer: Value) -> list[Operation] | None:
    """All users of a buffer and its views, innermost first; None if any user may read it."""
    found: list[Operation] = []
    for user in buffer.users:
        if user.has_trait(memref.ViewLike):
            inner = _writes(user.results[0])
            numbers = {one for result in user.results[1:] for one in result.users}
            if inner is None or not numbers <= {*found, *inner}:
                return None
            found += inner
            found.append(user)
        elif isinstance(user, memref.Dealloc) or _only_writes(user, buffer):
            found.append(user)
        else:
            return None
    return found


def _only_writes(user: Operation, buffer: Value) -> bool:
    return type(user) in _STORES and user.operands[_STORES[type(user)]] is buffer
