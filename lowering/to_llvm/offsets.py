"""Addresses in inner loops, where loads and stores add an unsigned constant to them.

    p = base + 4 * k                        p = base + 4 * k
    x = load p                      ->      q = launder p
    y = load (p + 3072)                     x = load q
                                            y = load (q + 3072)

WebAssembly's loads take `p + 3072` as one operand where the sum is known not to wrap. LLVM's loop
strength reduction writes the sums anew and no longer knows: each offset is an addition of its own
then, in each step of the loop. Behind `launder.invariant.group`, which is no instruction, it sees
that p advances and not what is made of it. BERT's products, as V8 compiles them, take 26
instructions for 8 multiply-adds then, 31 before.
"""

from __future__ import annotations

from ...dialects import llvm
from ...ir.core import Block, Value
from ...ir.types import VectorType


def keep_offsets(function: llvm.Func) -> None:
    """Hide the bases of constant offsets in each loop of one block that computes with vectors."""
    for block in function.regions[0].blocks:
        last = block.last
        if last is None or block not in last.successors:
            continue
        if any(isinstance(r.type, VectorType) for op in block for r in op.results):
            for base, made in _bases(block).items():
                hidden = llvm.IntrLaunderInvariantGroup.create([base], [base.type])
                base.replace_all_uses_with(hidden.res)
                hidden.set_operand(0, base)
                block.insert_after(hidden, made)


def _bases(block: Block) -> dict[Value, llvm.GetElementPtr]:
    """What constant offsets are added to, and what makes it there."""
    found: dict[Value, llvm.GetElementPtr] = {}
    for op in block:
        if isinstance(op, llvm.GetElementPtr) and not op.dynamicIndices:
            made = op.base.defined_by(llvm.GetElementPtr)
            if made is not None and made.parent is block and made.dynamicIndices:
                found[op.base] = made
    return found
