"""`vector.mask` replaced by ordinary operations."""

from __future__ import annotations

from ....dialects import arith, vector
from ....ir.attributes import DenseElements
from ....ir.core import Operation, Value
from ..combining import identity


def take_off_masks(function: Operation) -> None:
    """Replace every operation under a mask by ordinary ones that do the same.

    vector.mask %m { vector.reduction <add>, %v }    %w = arith.select %m, %v, %zeros
                                                  -> vector.reduction <add>, %w
    vector.mask %m, %e { arith.divf %a, %b }         %d = arith.divf %a, %b
                                                  -> arith.select %m, %d, %e
    """
    for op in [op for op in function.walk() if isinstance(op, vector.Mask)]:
        masked, last = op.masked, op.maskRegion.block.last
        assert last is not None and op.parent is not None
        if masked is not None:
            masked.detach()
            _let_count(masked, op)
            op.parent.insert_before(masked, op)
        for result, value in zip(op.outputs, last._operands, strict=True):
            if masked is not None and op.passthru is not None:
                value = _before(op, arith.Select(op.mask, value, op.passthru))
            result.replace_all_uses_with(value)
        op.erase()


def _let_count(masked: Operation, op: vector.Mask) -> None:
    """Apply the mask within the operation, so that only active elements count.

    A transfer takes the mask as its own; a reduction gets the identity in inactive elements.
    """
    match masked:
        case vector.TransferRead() | vector.TransferWrite():
            masked.mask = op.mask
        case vector.Reduction() | vector.MultiReduction():
            source = masked._operands[0]
            nothing = identity(masked.kind, source.type.element_type)
            blank = _before(op, arith.Constant(DenseElements.splat(nothing, source.type)))
            masked.set_operand(0, _before(op, arith.Select(op.mask, source, blank)))


def _before(op: Operation, made: Operation) -> Value:
    assert op.parent is not None
    made.loc = op.loc
    op.parent.insert_before(made, op)
    return made.results[0]
