"""Which values an affine op may use as dimensions, and which as symbols.

A symbol does not change within the affine scope around the op, which is usually a function. A
dimension may also be the induction variable of an affine loop, or computed from such. Results of
operations that are not known are accepted.
"""

from __future__ import annotations

from ..vocabulary import *

_SCOPES = ("func.func", "builtin.module")
_LOOPS = ("affine.for", "affine.parallel")
_DIMS = ("memref.dim", "tensor.dim")
_INDICES = ("affine.apply", "affine.delinearize_index", "affine.linearize_index")
_EFFECT_FREE = (Pure, NoMemoryEffect, RecursiveEffects)


def affine_scope(op: Operation) -> Region | None:
    """The region in which the op's symbols must not change; None if that is not known."""
    inner: Operation | None = op
    while inner is not None:
        region = inner.parent.parent if inner.parent is not None else None
        owner = region.parent if region is not None else None
        if owner is None or isinstance(owner, UnregisteredOp):
            return None
        if owner.name in _SCOPES:
            return region
        inner = owner
    return None


def region_of(value: Value) -> Region | None:
    """The region in which the value is defined."""
    op = value.defining_op
    block: Any = op.parent if op is not None else value.owner  # type: ignore[attr-defined]
    return block.parent if block is not None else None


def is_symbol(value: Value, scope: Region) -> bool:
    """Whether the value may be a symbol in the scope."""
    if not isinstance(value.type, IndexType):
        return False
    if region_of(value) is scope:
        return True
    op = value.defining_op
    if op is None:
        return False
    if isinstance(op, UnregisteredOp) or op.has_trait(ConstantLike) or op.name in _DIMS:
        return True
    if any(op.has_trait(trait) for trait in _EFFECT_FREE):
        return all(is_symbol(v, scope) for v in op.operands)
    return False


def is_dimension(value: Value, scope: Region) -> bool:
    """Whether the value may be a dimension in the scope."""
    if is_symbol(value, scope):
        return True
    op = value.defining_op
    if op is not None:
        return op.name in _INDICES and all(is_dimension(v, scope) for v in op.operands)
    region = region_of(value)
    owner = region.parent if region is not None else None
    return isinstance(owner, UnregisteredOp) or (owner is not None and owner.name in _LOOPS)


def check_inputs(op: Operation, operands: Sequence[Value], dim_count: int) -> None:
    """Raise unless the first operands may be dimensions, and the others symbols."""
    scope = affine_scope(op)
    if scope is None:
        return
    for i, value in enumerate(operands):
        if i < dim_count and not is_dimension(value, scope):
            raise op.error("operand cannot be used as a dimension id")
        if i >= dim_count and not is_symbol(value, scope):
            raise op.error("operand cannot be used as a symbol")
