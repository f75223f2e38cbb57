"""Lowering of branches: those of scf, and those between blocks of cf."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from ...dialects import cf, llvm, scf, ub
from ...ir.core import Block, Operation, Region, Value
from ...ir.diagnostics import PassError
from .conversion import FunctionLowering, lowers
from .failing import owned_results, pointers, require
from .loops import bind_all, flat_types_of, flatten

# -- branches of scf -----------------------------------------------------------------------------


def _inline(f: FunctionLowering, region: Region, results: Sequence[Value]) -> None:
    """Lower a region's only block in place; what it yields represents the results."""
    block = region.blocks[0]
    f.lower_block(block)
    for result, value in zip(results, block.last._operands, strict=True):  # type: ignore[union-attr]
        f.bind_flat(result, f.flat(value))


def _branch_to(f: FunctionLowering, start: Block, region: Region, end: Block) -> list[Value]:
    """Lower a region's only block into `start`; it ends with a branch to `end`, with what it
    yields.

    Returns the buffers that a check which fails after the block would have to free.
    """
    before = list(f.heap)
    f.enter()
    f.func.regions[0].append(start)
    f.block = start
    block = region.blocks[0]
    f.lower_block(block)
    values = flatten(f, block.last._operands) if block.last is not None else []
    f.append(llvm.Br(values, dest=end))
    f.leave()
    left, f.heap = f.heap, before
    return left


@lowers(scf.If)
def _if(f: FunctionLowering, op: scf.If) -> None:
    condition = op._operands[0]
    then, otherwise = op.regions
    known = f.known_integer(condition)
    if known is not None:
        chosen = then if known else otherwise
        if chosen.blocks:
            _inline(f, chosen, op.results)
        return
    yes, end = Block(), Block(flat_types_of(f, op.results))
    no = Block() if otherwise.blocks else end
    leads = f.block
    f.append(llvm.CondBr.of(f.value(condition), yes, [], no, []))
    left = [_branch_to(f, yes, then, end)]
    if no is not end:
        f.block = leads
        left.append(_branch_to(f, no, otherwise, end))
    f.func.regions[0].append(end)
    f.block = end
    bind_all(f, op.results, end.args)
    owned = owned_results(op)
    given = [
        p
        for region in op.regions
        for block in region.blocks
        if op.results and block.last is not None
        for p in pointers(f, block.last._operands, owned)
    ]
    # A buffer that a branch frees is gone, and one that it yields is now a result.
    f.heap = [p for p in f.heap if p not in given and all(p in rest for rest in left)]
    f.heap += pointers(f, op.results, owned)


@lowers(scf.IndexSwitch)
def _index_switch(f: FunctionLowering, op: scf.IndexSwitch) -> None:
    default, *cases = op.regions
    end = Block(flat_types_of(f, op.results))
    first = Block()
    blocks = [Block() for _ in cases]
    targets = [(n, block, ()) for n, block in zip(op.cases, blocks, strict=True)]
    leads = f.block
    f.append(llvm.Switch.of(f.value(op._operands[0]), (first, ()), targets))
    for start, region in zip([first, *blocks], [default, *cases], strict=True):
        f.block = leads
        _branch_to(f, start, region, end)
    f.func.regions[0].append(end)
    f.block = end
    bind_all(f, op.results, end.args)


@lowers(scf.ExecuteRegion)
def _execute_region(f: FunctionLowering, op: scf.ExecuteRegion) -> None:
    region = op.regions[0]
    if len(region.blocks) == 1:
        _inline(f, region, op.results)
        return
    start, end = f.new_block(), Block(flat_types_of(f, op.results))
    f.append(llvm.Br([], dest=start))
    f.enter()
    f.block = start

    def leave(terminator: Operation) -> bool:
        if not isinstance(terminator, scf.Yield):
            return False
        f.append(llvm.Br(flatten(f, terminator._operands), dest=end))
        return True

    lower_graph(f, region, leave)
    f.leave()
    f.func.regions[0].append(end)
    f.block = end
    bind_all(f, op.results, end.args)


# -- the graph of blocks -------------------------------------------------------------------------


def reverse_post_order(region: Region) -> list[Block]:
    """The blocks that the first one leads to, each after those that dominate it."""
    order: list[Block] = []
    seen = {region.blocks[0]}
    stack = [(region.blocks[0], iter(_successors(region.blocks[0])))]
    while stack:
        block, rest = stack[-1]
        following = next((s for s in rest if s not in seen), None)
        if following is None:
            order.append(block)
            stack.pop()
        else:
            seen.add(following)
            stack.append((following, iter(_successors(following))))
    order.reverse()
    return order


def _successors(block: Block) -> list[Block]:
    # The last successor first, so that the order of the text is kept where it can be.
    return list(reversed(block.last.successors)) if block.last is not None else []


def lower_graph(
    f: FunctionLowering, region: Region, leave: Callable[[Operation], bool] | None = None
) -> None:
    """Lower the blocks of a region; the first one is lowered at the insertion point.

    `leave(op)` lowers a terminator that leaves the region and returns True, or else returns False.
    """
    blocks = reverse_post_order(region)
    for block in blocks[1:]:
        f.blocks[block] = f.new_block(flat_types_of(f, block.args))
    leads = f.block
    for i, block in enumerate(blocks):
        if i:
            f.block = leads
            f.enter()
            f.block = f.blocks[block]
            bind_all(f, block.args, f.block.args)
        f.lower_block(block)
        last = block.last
        if last is None:
            raise PassError("a block has no terminator")
        if leave is None or not leave(last):
            f.lower_op(last)
        if i:
            f.leave()
        else:
            leads = f.block


def _target(
    f: FunctionLowering, block: Block, values: Sequence[Value]
) -> tuple[Block, list[Value]]:
    return f.blocks[block], flatten(f, values)


@lowers(cf.Br)
def _br(f: FunctionLowering, op: cf.Br) -> None:
    target, values = _target(f, op.dest, op.args)
    f.append(llvm.Br(values, dest=target))


@lowers(cf.CondBr)
def _cond_br(f: FunctionLowering, op: cf.CondBr) -> None:
    condition = f.value(op.condition)
    yes, yes_values = _target(f, op.true_dest, op.true_args)
    no, no_values = _target(f, op.false_dest, op.false_args)
    if yes is no and yes_values != no_values:
        # One phi cannot tell two edges from one block apart.
        between = f.new_block()
        between.append(llvm.Br(no_values, dest=no))
        no, no_values = between, []
    f.append(llvm.CondBr.of(condition, yes, yes_values, no, no_values))


@lowers(cf.Switch)
def _switch(f: FunctionLowering, op: cf.Switch) -> None:
    def edge(block: Block, values: Sequence[Value]) -> Block:
        """A new block for one edge, which passes the values on."""
        target, flat = _target(f, block, values)
        between = f.new_block()
        between.append(llvm.Br(flat, dest=target))
        return between

    default = edge(op.default_dest, op.default_args)
    cases = [(n, edge(block, values), ()) for n, block, values in op.cases()]
    f.append(llvm.Switch.of(f.value(op.flag), (default, ()), cases))


@lowers(cf.Assert)
def _assert(f: FunctionLowering, op: cf.Assert) -> None:
    """On failure the function returns a status, or the process ends if no caller takes one."""
    require(f, f.value(op.arg), op)


@lowers(ub.Unreachable)
def _unreachable(f: FunctionLowering, op: ub.Unreachable) -> None:
    f.append(llvm.Unreachable())
