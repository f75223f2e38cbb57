"""Keep constant offsets of addresses in inner loops as operands of loads and stores.

    p = base + 4 * k                        p = base + 4 * k
    x = load p                      ->      q = launder p
    y = load (p + 3072)                     x = load q
                                            y = load (q + 3072)

WebAssembly's loads take `p + 3072` as one operand if the sum is known not to wrap. LLVM's loop
strength reduction rewrites the sums and loses this, so that each offset becomes an addition in
every iteration. `launder.invariant.group`, which becomes no instruction, hides the sums from it: it
only sees that p advances. The matrix products of BERT, as V8 compiles them, then take 26
instructions instead of 31 for 8 multiply-adds.
"""

from __future__ import annotations

from ...dialects import llvm
from ...ir.core import Block, Value
from ...ir.types import VectorType


def keep_offsets(function: llvm.Func) -> None:
    """Launder the addresses to which a loop adds constant offsets, as the module's text shows.

    Only loops of one block that compute with vectors are changed.
    """
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
    """{address: op that makes it} of the addresses to which the block adds constant offsets."""
    found: dict[Value, llvm.GetElementPtr] = {}
    for op in block:
        if isinstance(op, llvm.GetElementPtr) and not op.dynamicIndices:
            made = op.base.defined_by(llvm.GetElementPtr)
            if made is not None and made.parent is block and made.dynamicIndices:
                found[op.base] = made
    return found
