"""Canonicalization of scf: branches with a known condition, loops that run once or never."""

from __future__ import annotations

from ...dialects import arith, scf
from ...dialects.gpu.attributes import MAPPING
from ...dialects.marks import THREADS
from ...ir.attributes import ArrayAttr
from ...ir.core import Block, Operation, Region, Value
from ...ir.rewriting import Rewriter, constant_int, rewrite
from ...ir.traits import is_pure


def _inline(block: Block, op: Operation, args: list[Value], rewriter: Rewriter) -> None:
    """Replace an operation by its region's only block."""
    last = block.last
    assert last is not None
    results = list(last.operands)
    known: dict[Value, Value] = dict(zip(block.args, args, strict=True))
    rewriter.erase(last)
    rewriter.inline_block_before(block, op, args)
    rewriter.replace(op, [known.get(v, v) for v in results])


# -- if ------------------------------------------------------------------------------------------


@rewrite(scf.If)
def known_condition(op: scf.If, rewriter: Rewriter) -> None:
    """if true -> its first region, if false -> its second"""
    known = constant_int(op.condition)
    if known is None:
        return
    block = op.then_block if known else op.else_block
    if block is None:
        rewriter.erase(op)
    else:
        _inline(block, op, [], rewriter)


@rewrite(scf.If)
def drop_empty_if(op: scf.If, rewriter: Rewriter) -> None:
    """an if without results or effects -> nothing"""
    if not op.outs and is_pure(op):
        rewriter.erase(op)


@rewrite(scf.If)
def drop_empty_else(op: scf.If, rewriter: Rewriter) -> None:
    """an else region without operations -> nothing"""
    block = op.else_block
    if not op.outs and block is not None and block.first is block.last:
        assert block.last is not None
        rewriter.erase(block.last)
        block.erase()
        rewriter.modified(op)


@rewrite(scf.If)
def select_for_if(op: scf.If, rewriter: Rewriter) -> None:
    """an if that only chooses between values from outside -> select"""
    yes, no = op.then_block, op.else_block
    if not op.outs or no is None or yes.first is not yes.last or no.first is not no.last:
        return
    assert yes.last is not None and no.last is not None
    pairs = list(zip(yes.last.operands, no.last.operands, strict=True))
    rewriter.replace(
        op,
        [
            a if a is b else rewriter.insert(arith.Select(op.condition, a, b)).result
            for a, b in pairs
        ],
    )


@rewrite(scf.IndexSwitch)
def known_case(op: scf.IndexSwitch, rewriter: Rewriter) -> None:
    """index_switch of a constant -> the region of its case"""
    known = constant_int(op.arg)
    if known is None:
        return
    chosen: Region = op.default_region
    for case, region in zip(op.cases, op.case_regions, strict=True):
        if case == known:
            chosen = region
    _inline(chosen.block, op, [], rewriter)


@rewrite(scf.ExecuteRegion)
def inline_single_block(op: scf.ExecuteRegion, rewriter: Rewriter) -> None:
    """execute_region of one block -> its operations"""
    if len(op.body.blocks) == 1 and not op.no_inline and isinstance(op.body_block.last, scf.Yield):
        _inline(op.body_block, op, [], rewriter)


# -- for -----------------------------------------------------------------------------------------


@rewrite(scf.For)
def empty_range(op: scf.For, rewriter: Rewriter) -> None:
    """a loop that never runs -> its initial values; one that runs once -> its body"""
    trips = op.trip_count()
    if trips == 0:
        rewriter.replace(op, list(op.inits))
    elif trips == 1:
        _inline(op.body_block, op, [op.lower, *op.inits], rewriter)


@rewrite(scf.For)
def drop_empty_loop(op: scf.For, rewriter: Rewriter) -> None:
    """a loop without results or effects -> nothing"""
    if not op.outs and is_pure(op):
        rewriter.erase(op)


@rewrite(scf.For)
def drop_unchanged_values(op: scf.For, rewriter: Rewriter) -> None:
    """a carried value that no iteration changes -> its initial value"""
    unchanged = [
        i
        for i, (arg, out) in enumerate(zip(op.iter_args, op.yielded, strict=True))
        if out is arg or out is op.inits[i]
    ]
    if not unchanged:
        return
    kept = [i for i in range(len(op.inits)) if i not in unchanged]
    inits = op.inits
    loop = scf.For(
        op.lower,
        op.upper,
        op.step,
        [inits[i] for i in kept],
        Region([Block([op.induction_var.type, *(inits[i].type for i in kept)])]),
        op.unsignedCmp,
        attributes=op.attributes,
    )
    yielded = op.yielded
    body = op.body_block
    new_block = loop.body_block
    new_args = iter(new_block.args[1:])
    args = [next(new_args) if i in kept else inits[i] for i in range(len(inits))]
    for old, new in zip(body.args, [new_block.args[0], *args], strict=True):
        new.name_hint = new.name_hint or old.name_hint
    assert body.last is not None
    rewriter.insert(loop)
    known: dict[Value, Value] = dict(zip(body.args, [new_block.args[0], *args], strict=True))
    rewriter.erase(body.last)
    end = scf.Yield([known.get(yielded[i], yielded[i]) for i in kept])
    new_block.append(end)
    rewriter.inline_block_before(body, end, [new_block.args[0], *args])
    results = iter(loop.results)
    rewriter.replace(op, [next(results) if i in kept else inits[i] for i in range(len(inits))])


# -- parallel ------------------------------------------------------------------------------------


@rewrite(scf.Parallel)
def drop_single_dimensions(op: scf.Parallel, rewriter: Rewriter) -> None:
    """a dimension with one index -> that index; one with none -> the initial values"""
    bounds = [
        [constant_int(v) for v in group] for group in zip(op.lower, op.upper, op.step, strict=True)
    ]
    trips = [None if None in b or b[2] <= 0 else max(0, -((b[0] - b[1]) // b[2])) for b in bounds]  # type: ignore[operator]
    if 0 in trips:
        rewriter.replace(op, list(op.inits))
        return
    kept = [i for i, trip in enumerate(trips) if trip != 1]
    if not kept and THREADS in op.attributes:
        kept = [0]  # One group of threads, which the loop says how many there are of.
    if len(kept) == len(trips) or (not kept and op.inits):
        return
    body = op.body_block
    lower = op.lower
    if not kept:
        assert body.last is not None
        rewriter.erase(body.last)
        rewriter.inline_block_before(body, op, list(lower))
        rewriter.erase(op)
        return
    loop = scf.Parallel.of(
        [lower[i] for i in kept],
        [op.upper[i] for i in kept],
        [op.step[i] for i in kept],
        op.inits,
    )
    loop.attributes.update(op.attributes)
    mapping = op.attributes.get(MAPPING)
    if isinstance(mapping, ArrayAttr) and len(mapping.elements) == len(trips):
        loop.attributes[MAPPING] = ArrayAttr(tuple(mapping.elements[i] for i in kept))
    rewriter.insert(loop)
    inner = iter(loop.body_block.args)
    args = [next(inner) if i in kept else lower[i] for i in range(len(trips))]
    for old, new in zip(body.args, args, strict=True):
        old.replace_all_uses_with(new)
    for moved in body:
        moved.detach()
        loop.body_block.append(moved)
        rewriter.modified(moved)
    rewriter.replace(op, list(loop.results))


PATTERNS = [
    known_condition,
    drop_empty_if,
    drop_empty_else,
    select_for_if,
    known_case,
    inline_single_block,
    empty_range,
    drop_empty_loop,
    drop_unchanged_values,
    drop_single_dimensions,
]
