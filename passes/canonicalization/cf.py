"""Canonicalization of cf: branches with a known target, chains of blocks, unreachable blocks."""

from __future__ import annotations

from collections.abc import Sequence

from ...dialects import arith, cf, func, ub
from ...ir.core import Block, Operation, Region, Value
from ...ir.rewriting import Rewriter, constant_int, rewrite


def remove_unreachable(region: Region, rewriter: Rewriter) -> None:
    """Erase the blocks that no path from the entry reaches."""
    reached = {region.blocks[0]}
    work = [region.blocks[0]]
    while work:
        last = work.pop().last
        for block in last.successors if last is not None else ():
            if block not in reached:
                reached.add(block)
                work.append(block)
    dead = [block for block in region.blocks if block not in reached]
    for block in dead:
        for op in block:
            op.drop_all_references()
    for block in dead:
        for op in reversed(block):
            rewriter.erase(op)
        block.erase()


def _branch_to(op: Operation, dest: Block, args: Sequence[Value], rewriter: Rewriter) -> None:
    """Replace a terminator by a branch, then erase the blocks that are no longer reached."""
    assert op.parent is not None and op.parent.parent is not None
    region = op.parent.parent
    rewriter.replace(op, cf.Br(dest, args))
    remove_unreachable(region, rewriter)


@rewrite(cf.Br, cf.CondBr, cf.Switch, func.Return, ub.Unreachable)
def remove_dead_block(op: Operation, rewriter: Rewriter) -> None:
    """a block that no path from the entry reaches -> nothing"""
    block = op.parent
    assert block is not None and block.parent is not None
    if block.is_entry:
        return
    # Only where all branches come from further down may this be a dead circle.
    before = block.parent.blocks[: block.parent.blocks.index(block)]
    if not any(block in b.last.successors for b in before if b.last is not None):
        remove_unreachable(block.parent, rewriter)


@rewrite(cf.CondBr, cf.Switch)
def known_target(op: cf.CondBr | cf.Switch, rewriter: Rewriter) -> None:
    """cond_br true, ^a, ^b -> br ^a, and likewise for a switch"""
    if (known := cf.taken_successor(op)) is not None:
        _branch_to(op, *known, rewriter)


@rewrite(cf.CondBr)
def same_target(op: cf.CondBr, rewriter: Rewriter) -> None:
    """cond_br c, ^a(x), ^a(y) -> br ^a(select(c, x, y))"""
    if op.true_dest is not op.false_dest:
        return
    args = [
        yes if yes is no else rewriter.insert(arith.Select(op.condition, yes, no)).result
        for yes, no in zip(op.true_args, op.false_args, strict=True)
    ]
    _branch_to(op, op.true_dest, args, rewriter)


def _forwarded(dest: Block, args: Sequence[Value]) -> tuple[Block, list[Value]] | None:
    """The target, and the values passed to it, of a block that only branches on; None for other
    blocks.

    The target must not be such a block itself, since branches may form a cycle.
    """
    jump = dest.first
    if not isinstance(jump, cf.Br) or isinstance(jump.dest.first, cf.Br):
        return None
    if any(user is not jump for arg in dest.args for user in arg.users):
        return None
    known: dict[Value, Value] = dict(zip(dest.args, args, strict=True))
    return jump.dest, [known.get(v, v) for v in jump.args]


@rewrite(cf.Br)
def skip_jump(op: cf.Br, rewriter: Rewriter) -> None:
    """br ^a, where ^a only branches to ^b -> br ^b"""
    if op.dest is not op.parent and (onward := _forwarded(op.dest, op.args)) is not None:
        _branch_to(op, *onward, rewriter)


@rewrite(cf.CondBr)
def skip_jump_of_branch(op: cf.CondBr, rewriter: Rewriter) -> None:
    """cond_br c, ^a, ^b, where ^a only branches to ^d -> cond_br c, ^d, ^b"""
    yes = _forwarded(op.true_dest, op.true_args)
    no = _forwarded(op.false_dest, op.false_args)
    if yes is None and no is None:
        return
    assert op.parent is not None and op.parent.parent is not None
    region = op.parent.parent
    true_dest, true_args = yes or (op.true_dest, op.true_args)
    false_dest, false_args = no or (op.false_dest, op.false_args)
    new = cf.CondBr(op.condition, true_dest, true_args, false_dest, false_args, op.branch_weights)
    rewriter.replace(op, new)
    remove_unreachable(region, rewriter)


@rewrite(cf.Br)
def merge_blocks(op: cf.Br, rewriter: Rewriter) -> None:
    """br ^a, where nothing else branches to ^a -> the operations of ^a"""
    dest = op.dest
    if dest is op.parent or dest.is_entry or dest.predecessors != [op.parent]:
        return
    rewriter.inline_block_before(dest, op, op.args)
    rewriter.erase(op)


@rewrite(cf.Assert)
def drop_true_assertion(op: cf.Assert, rewriter: Rewriter) -> None:
    """assert true -> nothing"""
    if constant_int(op.arg):
        rewriter.erase(op)


PATTERNS = [
    remove_dead_block,
    known_target,
    same_target,
    skip_jump,
    skip_jump_of_branch,
    merge_blocks,
    drop_true_assertion,
]
