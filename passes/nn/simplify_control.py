"""Branches with a known condition."""

from __future__ import annotations

from ...dialects import nn
from ...ir.rewriting import Rewriter, rewrite
from .constants import constant_array


@rewrite(nn.If)
def take_known_branch(op: nn.If, rewriter: Rewriter) -> None:
    """if true -> the ops of its first region, if false -> those of its second"""
    known = constant_array(op.condition)
    if known is None:
        return
    block = (op.then_region if known else op.else_region).block
    last = block.last
    assert last is not None
    values = list(last.operands)
    # A type that is known better may not suit who uses the result.
    if [v.type for v in values] != op.result_types:
        return
    rewriter.erase(last)
    rewriter.inline_block_before(block, op, [])
    rewriter.replace(op, values)


PATTERNS = (take_known_branch,)
