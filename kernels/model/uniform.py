"""Values that are the same in all threads of a group."""

from __future__ import annotations

from ...dialects import gpu, scf
from ...ir.core import Value
from ...ir.traits import WritesMemory


def is_uniform(value: Value) -> bool:
    """Whether all threads of a group certainly have the same value.

    Loads at a uniform index count as uniform; races with writes are checked elsewhere.
    """
    seen: set[Value] = set()
    waiting = [value]
    while waiting:
        one = waiting.pop()
        if one in seen:
            continue
        seen.add(one)
        op = one.defining_op
        if op is None:
            owner = one.owner.parent_op  # type: ignore[attr-defined]
            if isinstance(owner, gpu.GPUFuncOp):
                continue
            if isinstance(owner, scf.For) and one is owner.induction_var:
                waiting += [owner.lower, owner.upper, owner.step]
                continue
            op = owner
        if op is None or isinstance(op, gpu.OF_THREADS) or op.has_trait(WritesMemory):
            return False
        if op.regions and not isinstance(op, scf.For | scf.If | scf.While):
            return False
        waiting += op.operands
        for region in op.regions:
            for block in region.blocks:
                waiting += block.last.operands if block.last is not None else ()
    return True
