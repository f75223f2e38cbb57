"""--convert-scf-to-cf: loops and branches of scf as blocks with branches of cf."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from ..dialects import arith, cf, func, scf
from ..ir.core import Block, Operation, Region
from ..ir.diagnostics import PassError
from ..ir.passes import Pass, PassContext


@dataclass(frozen=True)
class ConvertScfToCf(
    Pass, name="convert-scf-to-cf", anchor="func.func", title="SCFToControlFlowPass"
):
    """Replace loops and branches by blocks.

        scf.for %i = %a to %b step %c {           cf.br ^head(%a : index)
          "body"(%i) : (index) -> ()            ^head(%i: index):
        }                                         %more = arith.cmpi slt, %i, %b : index
        "rest"() : () -> ()                ->     cf.cond_br %more, ^body, ^rest
                                                ^body:
                                                  "body"(%i) : (index) -> ()
                                                  %next = arith.addi %i, %c : index
                                                  cf.br ^head(%next : index)
                                                ^rest:
                                                  "rest"() : () -> ()

    As upstream's pass of this name, for `scf.for`, `scf.if` and `scf.while`; others are an error.
    """

    def run(self, op: Operation, context: PassContext) -> None:
        assert isinstance(op, func.FuncOp)
        for inner in op.walk():
            if inner.name.startswith("scf.") and not isinstance(inner, (*_LOWERED, *_ENDS)):
                raise PassError(f"'{inner.name}' has no blocks of cf here", inner.loc)
        work = list(op.body.blocks)
        while work:
            block = work.pop()
            found = next((one for one in block if type(one) in _LOWERED), None)
            if found is not None:
                work += _LOWERED[type(found)](found, op.body)


def _split(op: Operation, region: Region) -> tuple[Block, Block]:
    """(the block up to an operation, a new block of what follows it)."""
    block, rest = op.parent, Block()
    assert block is not None
    for following in list(block)[list(block).index(op) + 1 :]:
        following.detach()
        rest.append(following)
    region.insert(rest, region.blocks.index(block) + 1)
    return block, rest


def _moved(source: Region, region: Region, before: Block) -> Block:
    """The only block of an operation's region, put before another block."""
    (block,) = source.blocks
    source.blocks.remove(block)
    block.parent = None
    return region.insert(block, region.blocks.index(before))


def _end(block: Block, terminator: Operation) -> None:
    """Replace the end of a block."""
    if block.last is not None and isinstance(block.last, _ENDS):
        terminator.loc = block.last.loc
        block.last.erase()
    block.append(terminator)


def _for(op: scf.For, region: Region) -> list[Block]:
    """Header with the induction variable and the carried values, body, and what follows."""
    lower, upper, step, inits = op.lower, op.upper, op.step, list(op.inits)
    block, rest = _split(op, region)
    head = region.insert(Block([v.type for v in (lower, *inits)]), region.blocks.index(rest))
    body = _moved(op.body, region, rest)
    for old, new in zip(body.args, head.args, strict=True):
        new.name_hint = old.name_hint
        old.replace_all_uses_with(new)
    yielded = list(body.last.operands) if body.last is not None else []
    body.args.clear()
    for old, new in zip(op.outs, head.args[1:], strict=True):
        old.replace_all_uses_with(new)
    following = arith.AddI(head.args[0], step)
    _end(body, cf.Br(head, [following.result, *yielded]))
    body.insert_before(following, body.last)  # type: ignore[arg-type]
    more = arith.CmpI("ult" if op.unsignedCmp else "slt", head.args[0], upper)
    head.append(more)
    head.append(cf.CondBr(more.result, body, [], rest, []))
    op.erase()
    block.append(cf.Br(head, [lower, *inits]))
    for one in (following, more, head.last, block.last):
        one.loc = op.loc  # type: ignore[union-attr]
    return [body, rest]


def _if(op: scf.If, region: Region) -> list[Block]:
    """One or two branches, and what follows both."""
    block, rest = _split(op, region)
    end = rest
    if op.results:
        # As upstream: the results have a block of their own.
        end = region.insert(Block(), region.blocks.index(rest))
        for result in op.results:
            result.replace_all_uses_with(end.add_arg(result.type, op.loc))
        end.append(cf.Br(rest, [], loc=op.loc))
    branches = []
    for source in op.regions:
        if source.blocks:
            one = _moved(source, region, end)
            _end(one, cf.Br(end, list(one.last.operands) if one.last else []))
            branches.append(one)
    condition, loc = op.operands[0], op.loc
    op.erase()
    then, otherwise = branches if len(branches) == 2 else (branches[0], end)
    block.append(cf.CondBr(condition, then, [], otherwise, [], loc=loc))
    return [*branches, rest]


def _while(op: scf.While, region: Region) -> list[Block]:
    """The condition's block with the carried values, the body, and what follows."""
    inits, loc = list(op.inits), op.loc
    block, rest = _split(op, region)
    before, after = (_moved(source, region, rest) for source in (op.before, op.after))
    assert before.last is not None and after.last is not None
    condition, *passed = before.last.operands
    for result, value in zip(op.outs, passed, strict=True):
        result.replace_all_uses_with(value)
    _end(before, cf.CondBr(condition, after, passed, rest, []))
    _end(after, cf.Br(before, list(after.last.operands)))
    op.erase()
    block.append(cf.Br(before, inits, loc=loc))
    return [before, after, rest]


_LOWERED: dict[type[Operation], Callable[[Any, Region], list[Block]]] = {
    scf.For: _for,
    scf.If: _if,
    scf.While: _while,
}
_ENDS = (scf.Yield, scf.Condition)
