"""Data movements that need no code, because their users read the operand at other indices.

    %1 = nn.transpose %0       reads %0 at (i1, i0, i2)
    %2 = nn.matmul %1, ..      reads %0 in that way itself

This is done only where the last dimension stays last and contiguous, so that users can still read
vectors. For them a slice is a view.
"""

from __future__ import annotations

from collections.abc import Sequence

from ...dialects import nn
from ...dialects.nn.traits import Fusion
from ...ir.affine import AffineDim
from ...ir.comprehension import Comprehension
from ...ir.core import Operation, Value
from ...passes.nn.building import has_static_shapes


def is_read_through(op: Operation) -> bool:
    """Whether an op needs no code, because all its users can read its operand instead."""
    if not isinstance(op, nn.NnOp) or op.fusion is not Fusion.MOVEMENT or op.has_own_lowering:
        return False
    if not _keeps_rows(op):
        return False
    return op.operands[0].defined_by(nn.Constant) is None and _readers_take_maps(op)


def is_viewed(op: nn.Slice) -> bool:
    """Whether a slice need not be copied: all its users can read a strided view."""
    return _keeps_rows(op) and _readers_take_maps(op)


def _readers_take_maps(op: Operation) -> bool:
    return all(
        user.parent is op.parent and (_reads_by_map(user, op) or is_read_through(user))
        for user in op.results[0].users
    )


def _keeps_extents(op: nn.NnOp) -> bool:
    """Whether each unknown extent of a movement's result is one of its operand's extents."""
    form = op.comprehension()
    if form is None or len(form.accesses) != 1 or form.accesses[0].broadcasts:
        return False
    plain = [e.position for e in form.accesses[0].map.results if isinstance(e, AffineDim)]
    return all(plain.count(at) == 1 for at, dim in enumerate(form.dims) if dim.size is None)


def _keeps_rows(op: nn.NnOp) -> bool:
    return bool(op.keeps_rows) and (has_static_shapes(op) or _keeps_extents(op))


def _reads_by_map(op: Operation, moved: Operation) -> bool:
    """Whether `op` is lowered by its comprehension alone, and has a static shape if `moved` has."""
    if not isinstance(op, nn.NnOp) or op.has_own_lowering:
        return False
    return has_static_shapes(op) == has_static_shapes(moved) and op.comprehension() is not None


def through_movements(
    form: Comprehension, operands: Sequence[Value]
) -> tuple[Comprehension, list[Value]]:
    """The comprehension and its operands, changed to read the operands of
    movements without code.
    """
    values = list(operands)
    for i in range(len(values)):
        while (op := values[i].defining_op) is not None and is_read_through(op):
            copy = op.comprehension()  # type: ignore[attr-defined]
            form = form.read_through(i, copy)
            values[i] = op.operands[0]
    return form, values
