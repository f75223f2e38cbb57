"""Which results of a kernel may be written over which of its operands.

    func.func private @add_relu_0(%x: memref<4xf32>, %y: memref<4xf32>,
        %out: memref<4xf32>) attributes {nn.kernel}
    ->
    func.func private @add_relu_0(%x: memref<4xf32> {nn.in_place}, %y: memref<4xf32> {nn.in_place},
        %out: memref<4xf32> {nn.in_place = array<i64: 0, 1>}) attributes {nn.kernel}

`plan-memory` gives both one place where the operand is not needed afterwards.

That is right whatever the schedule does if an element is written only after every stage has read
it. So each stage that reads the operand must read each element at one point of its iteration
space, and the stage that writes the result must need, for each element, what was made of the
operand's element at the same place: directly, or through other stages, some of which may be
reductions. A softmax qualifies, a product does not: other columns of the result need the element
as well.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from ..dialects import func, linalg
from ..dialects.marks import IN_PLACE, KERNEL
from ..dialects.memref import base_buffer
from ..ir.affine import AffineMap, is_tiling
from ..ir.attributes import I64Array, UnitAttr
from ..ir.core import Operation, Value
from ..ir.passes import Pass, PassContext
from ..ir.types import MemRefType
from .model.stages import Access, Stage, stages_of

Labels = tuple[int | None, ...]
"""For each dimension of a stage or a buffer, the operand's dimension that runs along with it."""


@dataclass(frozen=True)
class MarkInPlace(
    Pass,
    name="mark-in-place",
    anchor="builtin.module",
    statistics={"pairs": "Number of operands that a kernel's result may overwrite"},
):
    """Mark the results of kernels that may take the place of an operand.

    The result's argument gets the numbers of such operands as `nn.in_place`, the operands' get
    it as a flag.
    """

    def run(self, op: Operation, context: PassContext) -> None:
        for function in op.regions[0].ops:
            if not isinstance(function, func.FuncOp) or KERNEL not in function.attributes:
                continue
            if len(function.body.blocks) == 1:
                context.statistic("pairs", mark(function))


def mark(function: func.FuncOp) -> int:
    """Mark one kernel's arguments. Returns the number of pairs (operand, result)."""
    stages = stages_of(function.body.block)
    uses = _Uses.of(function, stages)
    count = 0
    for number, out in enumerate(function.args):
        writer, tiles = uses.only_write(out), uses.tiles(out)
        if writer is None and not tiles:
            continue
        over = [
            i
            for i, operand in enumerate(function.args)
            if operand.type == out.type
            and operand is not out
            and (
                uses.are_same_tiles(operand, tiles)
                if writer is None
                else all(_reaches(read, writer, stages) for read in uses.reads(operand))
            )
        ]
        if over:
            function.set_arg_attribute(number, IN_PLACE, I64Array(over))
            count += len(over)
        for i in over:
            function.set_arg_attribute(i, IN_PLACE, UnitAttr())
    return count


@dataclass(frozen=True)
class _Uses:
    """The accesses of stages to each argument; only those of arguments used in no other way."""

    accesses: dict[Value, list[Access]]

    @staticmethod
    def of(function: func.FuncOp, stages: Sequence[Stage]) -> _Uses:
        found: dict[Value, list[Access]] = {}
        block = function.body.block
        for arg in function.args:
            type = arg.type
            if not isinstance(type, MemRefType) or not type.has_static_shape:
                continue
            strides, offset = type.strides_and_offset() or ((None,), None)
            if None in (*strides, offset):
                continue
            if all(isinstance(u, linalg.StructuredOp) and u.parent is block for u in arg.users):
                found[arg] = []
        for stage in stages:
            for access in stage.accesses:
                base = access.value if access.is_scalar else base_buffer(access.value)
                if base in found:
                    found[base].append(access)
        return _Uses(found)

    def only_write(self, out: Value) -> Access | None:
        """The access that writes every element once, where nothing else touches the buffer."""
        accesses = self.accesses.get(out, ())
        if len(accesses) != 1 or not accesses[0].is_output:
            return None
        (access,) = accesses
        stage = access.stage
        if stage.has_reduction or access.argument.has_uses or not _visits_once(access):
            return None
        return access

    def tiles(self, out: Value) -> list[Access]:
        """The accesses of the one stage that writes every element once, several at each point."""
        accesses = self.accesses.get(out, ())
        stages = {a.stage for a in accesses}
        if len(stages) != 1 or any(not a.is_output or a.argument.has_uses for a in accesses):
            return []
        maps = [AffineMap(a.stage.rank, 0, tuple(a.exprs)) for a in accesses]
        (stage,) = stages
        extents = [e if isinstance(e, int) else None for e in stage.extents]
        is_once = not stage.has_reduction and is_tiling(maps, extents, out.type.shape)  # type: ignore[attr-defined]
        return list(accesses) if is_once else []

    def are_same_tiles(self, operand: Value, tiles: Sequence[Access]) -> bool:
        """Whether only the stage that writes these tiles reads an operand, at the same indices."""
        accesses = self.accesses.get(operand, ())
        return (
            bool(accesses)
            and all(a.stage is tiles[0].stage and not a.is_output for a in accesses)
            and {tuple(a.exprs) for a in accesses} == {tuple(a.exprs) for a in tiles}
        )

    def reads(self, operand: Value) -> list[Access | None]:
        """The accesses to a buffer that is only read; [None] if it is used in another way too."""
        accesses = self.accesses.get(operand, ())
        if not accesses or any(a.is_output for a in accesses):
            return [None]
        return list(accesses)


def _visits_once(access: Access) -> bool:
    """Whether each point of the stage touches an element of its own."""
    dims = access.plain_dims()
    used = [d for d in dims if d is not None]
    if len(used) != len(dims) or len(set(used)) != len(used):
        return False
    return all(d in used for d, n in enumerate(access.stage.extents) if n != 1)


def _reaches(read: Access | None, write: Access, stages: Sequence[Stage]) -> bool:
    """Whether writing an element depends on the operand's element at the same index.

    Follows the values from the reading stage through later stages, with the dimensions that
    correspond.
    """
    if read is None or not _visits_once(read):
        return False
    start = _carried(read, tuple(range(len(read.exprs))), read)
    front = [] if start is None else [(read.stage, start)]
    seen = set(front)
    while front:
        stage, labels = front.pop()
        if stage is write.stage and _is_aligned(write, labels):
            return True
        for made in stage.outputs:
            held = _held(made, labels, stages)
            if held is None:
                continue
            for access in (a for reader in stages[stage.index + 1 :] for a in reader.inputs):
                follows = _carried(access, held, read) if access.value is made.value else None
                if follows is not None and (step := (access.stage, follows)) not in seen:
                    seen.add(step)
                    front.append(step)
    return False


def _held(made: Access, labels: Labels, stages: Sequence[Stage]) -> Labels | None:
    """The labels of a result's dimensions, without those of reduced ones, whose elements all count.

    None if a dimension is lost in another way, or if the result is overwritten later.
    """
    stage, dims = made.stage, made.plain_dims()
    lost = (d for d, label in enumerate(labels) if label is not None and d not in dims)
    if any(stage.kinds[d] != "reduction" for d in lost):
        return None
    later = (out for reader in stages[stage.index + 1 :] for out in reader.outputs)
    if any(base_buffer(out.value) is base_buffer(made.value) for out in later):
        return None
    return tuple(None if d is None else labels[d] for d in dims)


def _carried(access: Access, held: Labels, read: Access) -> Labels | None:
    """The labels of a stage's dimensions from those of a buffer that it reads.

    None if it does not read all elements, each at one point.
    """
    labels: list[int | None] = [None] * access.stage.rank
    shape = read.value.type.shape  # type: ignore[attr-defined]
    for dim, label in zip(access.plain_dims(), held, strict=True):
        if label is None:
            continue
        if dim is None or labels[dim] is not None or access.stage.extents[dim] != shape[label]:
            return None
        labels[dim] = label
    return tuple(labels)


def _is_aligned(write: Access, labels: Labels) -> bool:
    """Whether each corresponding dimension indexes the same dimension of the result."""
    dims = write.plain_dims()
    return all(label is None or dims[label] == d for d, label in enumerate(labels))
