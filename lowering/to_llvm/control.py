"""Lowering of control flow: loops and branches of scf, the graph of cf, calls and returns."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from ...dialects import cf, func, llvm, scf, ub
from ...dialects.llvm.attributes import OVERFLOW_FLAGS
from ...ir.core import Block, Operation, Region, Value
from ...ir.diagnostics import PassError
from ...ir.types import IndexType, Type, i64
from ..outline_parallel import PARALLEL
from .conversion import FunctionLowering, Linear, lowers
from .elementwise import icmp, is_non_negative
from .parallel import lower_parallel_call
from .types import flat_types, function_results

Body = Callable[[Linear, Sequence[Value]], Sequence[Value]]
"""From the induction variable and the carried values to the next carried values."""


# -- loops -------------------------------------------------------------------------------------


def trip_count(lower: Linear, upper: Linear, step: Linear) -> int | None:
    """How often a loop runs, where its bounds and step are constants."""
    if lower.terms or upper.terms or step.terms or step.constant <= 0:
        return None
    return max(0, -(-(upper.constant - lower.constant) // step.constant))


def carrying_loop(
    f: FunctionLowering,
    lower: Linear,
    upper: Linear,
    step: Linear,
    initial: Sequence[Value],
    body: Body,
    unsigned: bool = False,
) -> Sequence[Value]:
    """A loop that carries values; gives the last ones.

    The test is at the end, with one in front where the loop may not run at all: the form that
    LLVM's loop passes want. A loop that runs once is no loop.
    """
    trips = trip_count(lower, upper, step)
    if trips == 0:
        return initial
    if trips == 1:
        return body(lower, initial)
    low, high, stride = f.materialize(lower), f.materialize(upper), f.materialize(step)
    types = [v.type for v in initial]
    start = f.new_block([i64, *types])
    end = Block(types)
    less = "ult" if unsigned else "slt"
    if trips is None:
        f.append(
            llvm.CondBr.of(icmp(f, less, low, high), start, [low, *initial], end, list(initial))
        )
    else:
        f.append(llvm.Br([low, *initial], dest=start))
    f.enter()
    f.block = start
    at = start.args[0]
    f.depths[at] = len(f.scopes) - 1
    if is_non_negative(f, lower):
        f.non_negative.add(at)
    final = list(body(Linear(((at, 1),), 0), start.args[1:]))
    following = f.emit(llvm.Add, [at, stride], i64, {"overflowFlags": _NSW})
    again = icmp(f, less, following, high)
    f.append(llvm.CondBr.of(again, start, [following, *final], end, final))
    f.leave()
    f.func.regions[0].append(end)
    f.block = end
    return end.args


_NSW = OVERFLOW_FLAGS.from_python("nsw")


def counted_loop(
    f: FunctionLowering, lower: Linear, upper: Linear, step: Linear, body: Callable[[Linear], None]
) -> None:
    """A loop that carries nothing."""

    def carrying(index: Linear, carried: Sequence[Value]) -> Sequence[Value]:
        body(index)
        return carried

    carrying_loop(f, lower, upper, step, (), carrying)


def flatten(f: FunctionLowering, values: Sequence[Value]) -> list[Value]:
    """All LLVM values that represent the values."""
    return [v for value in values for v in f.flat(value)]


def bind_all(f: FunctionLowering, values: Sequence[Value], flat: Sequence[Value]) -> None:
    """Bind values to a flat list, each to as many as its type takes."""
    at = 0
    for value in values:
        at += f.bind_flat(value, flat[at:])


def flat_types_of(values: Sequence[Value]) -> list[Type]:
    """The LLVM types of all values that represent the values."""
    return [t for value in values for t in flat_types(value.type)]


@lowers(scf.For)
def _for(f: FunctionLowering, op: scf.For) -> None:
    block = op.body_block
    count = len(op._operands) - 3
    lower, upper, step = op._operands[:3]

    def body(index: Linear, carried: Sequence[Value]) -> Sequence[Value]:
        induction = block.args[0]
        if isinstance(induction.type, IndexType):
            f.values[induction] = index
        else:
            from .elementwise import resize_integer

            f.bind(induction, resize_integer(f, f.materialize(index), induction.type, True))
        bind_all(f, block.args[1:], carried)
        f.lower_block(block)
        return flatten(f, block.last._operands)  # type: ignore[union-attr]

    unsigned = bool(op.attribute("unsignedCmp"))
    first, last, by = (_loop_bound(f, v, unsigned) for v in (lower, upper, step))
    initial = flatten(f, op._operands[3 : 3 + count])
    bind_all(f, op.results, carrying_loop(f, first, last, by, initial, body, unsigned))


def _loop_bound(f: FunctionLowering, value: Value, unsigned: bool) -> Linear:
    """A bound as an index; loops over narrow integers count in 64 bits."""
    if isinstance(value.type, IndexType):
        return f.linear(value)
    known = f.known_integer(value)
    if known is not None:
        return Linear((), known)
    from .elementwise import resize_integer

    return Linear(((resize_integer(f, f.value(value), i64, not unsigned), 1),), 0)


@lowers(scf.Parallel)
def _parallel(f: FunctionLowering, op: scf.Parallel) -> None:
    """Nested loops, one iteration after the other."""
    block = op.body_block
    rank = len(block.args)
    bounds = [f.linear(v) for v in op._operands[: 3 * rank]]
    initial = list(op._operands[3 * rank :])

    def level(i: int, carried: Sequence[Value]) -> Sequence[Value]:
        if i == rank:
            f.lower_block(block)
            return _reduced(f, block.last, carried)

        def body(index: Linear, inner: Sequence[Value]) -> Sequence[Value]:
            f.values[block.args[i]] = index
            return level(i + 1, inner)

        return carrying_loop(f, bounds[i], bounds[rank + i], bounds[2 * rank + i], carried, body)

    bind_all(f, op.results, level(0, flatten(f, initial)))


def _reduced(
    f: FunctionLowering, reduce: Operation | None, carried: Sequence[Value]
) -> Sequence[Value]:
    """The carried values combined with an iteration's, as scf.reduce says."""
    if reduce is None or not reduce.regions:
        return carried
    combined: list[Value] = []
    at = 0
    for value, region in zip(reduce._operands, reduce.regions, strict=True):
        block = region.blocks[0]
        at += f.bind_flat(block.args[0], carried[at:])
        f.bind_flat(block.args[1], f.flat(value))
        f.lower_block(block)
        combined += flatten(f, block.last._operands)  # type: ignore[union-attr]
    return combined


@lowers(scf.While)
def _while(f: FunctionLowering, op: scf.While) -> None:
    before, after = (region.blocks[0] for region in op.regions)
    head = f.new_block(flat_types_of(before.args))
    body, end = Block(flat_types_of(after.args)), Block(flat_types_of(op.results))
    f.append(llvm.Br(flatten(f, op._operands), dest=head))
    f.enter()
    f.block = head
    bind_all(f, before.args, head.args)
    f.lower_block(before)
    condition = before.last
    assert condition is not None
    passed = flatten(f, condition._operands[1:])
    f.append(llvm.CondBr.of(f.value(condition._operands[0]), body, passed, end, passed))
    # What the condition computed is known in the body too, but not on other ways into it.
    f.enter()
    f.func.regions[0].append(body)
    f.block = body
    bind_all(f, after.args, body.args)
    f.lower_block(after)
    f.append(llvm.Br(flatten(f, after.last._operands), dest=head))  # type: ignore[union-attr]
    f.leave()
    f.leave()
    f.func.regions[0].append(end)
    f.block = end
    bind_all(f, op.results, end.args)


# -- branches of scf -----------------------------------------------------------------------------


def _inline(f: FunctionLowering, region: Region, results: Sequence[Value]) -> None:
    """Lower a region's only block in place and bind the results to what it yields."""
    block = region.blocks[0]
    f.lower_block(block)
    for result, value in zip(results, block.last._operands, strict=True):  # type: ignore[union-attr]
        f.bind_flat(result, f.flat(value))


def _branch_to(f: FunctionLowering, start: Block, region: Region, end: Block) -> None:
    """Lower a region's only block from `start` on, going on to `end` with what it yields."""
    f.enter()
    f.func.regions[0].append(start)
    f.block = start
    block = region.blocks[0]
    f.lower_block(block)
    values = flatten(f, block.last._operands) if block.last is not None else []
    f.append(llvm.Br(values, dest=end))
    f.leave()


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
    yes, end = Block(), Block(flat_types_of(op.results))
    no = Block() if otherwise.blocks else end
    leads = f.block
    f.append(llvm.CondBr.of(f.value(condition), yes, [], no, []))
    _branch_to(f, yes, then, end)
    if no is not end:
        f.block = leads
        _branch_to(f, no, otherwise, end)
    f.func.regions[0].append(end)
    f.block = end
    bind_all(f, op.results, end.args)


@lowers(scf.IndexSwitch)
def _index_switch(f: FunctionLowering, op: scf.IndexSwitch) -> None:
    default, *cases = op.regions
    end = Block(flat_types_of(op.results))
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
    start, end = f.new_block(), Block(flat_types_of(op.results))
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
    """The blocks that are reached from the first, each after those that dominate it."""
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
    """Lower the blocks of a region, the first at the insertion point.

    `leave` lowers a terminator that leaves the region, and says whether it was one.
    """
    blocks = reverse_post_order(region)
    for block in blocks[1:]:
        f.blocks[block] = f.new_block(flat_types_of(block.args))
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
        """A block of its own for each edge, which passes the values on."""
        target, flat = _target(f, block, values)
        between = f.new_block()
        between.append(llvm.Br(flat, dest=target))
        return between

    default = edge(op.default_dest, op.default_args)
    cases = [(n, edge(block, values), ()) for n, block, values in op.cases()]
    f.append(llvm.Switch.of(f.value(op.flag), (default, ()), cases))


@lowers(cf.Assert)
def _assert(f: FunctionLowering, op: cf.Assert) -> None:
    """Stops the process, as upstream's lowering does."""
    ok, failed = Block(), Block()
    f.append(llvm.CondBr.of(f.value(op.arg), ok, [], failed, []))
    f.func.regions[0].append(failed)
    f.module.need_function("abort", [])
    failed.append(llvm.Call.of("abort", []))
    failed.append(llvm.Unreachable())
    f.func.regions[0].append(ok)
    f.block = ok


@lowers(ub.Unreachable)
def _unreachable(f: FunctionLowering, op: ub.Unreachable) -> None:
    f.append(llvm.Unreachable())


# -- functions -----------------------------------------------------------------------------------


@lowers(func.Return)
def _return(f: FunctionLowering, op: func.Return) -> None:
    values = flatten(f, op._operands)
    if len(values) < 2:
        f.append(llvm.Return(values[0] if values else None))
        return
    type = llvm.StructType(tuple(v.type for v in values))
    struct = f.poison(type)
    for i, value in enumerate(values):
        struct = f.append(llvm.InsertValue(struct, value, (i,))).results[0]
    f.append(llvm.Return(struct))


@lowers(func.Call)
def _call(f: FunctionLowering, op: func.Call) -> None:
    if PARALLEL in op.attributes:
        lower_parallel_call(f, op)
        return
    result = function_results(op.result_types)
    call = f.append(llvm.Call.of(op.callee, flatten(f, op._operands), result))
    bind_call_results(f, op.results, call)


def bind_call_results(f: FunctionLowering, results: Sequence[Value], call: Operation) -> None:
    """Bind the results of a call, taken apart where there are several."""
    if not call.results:
        return
    value = call.results[0]
    if not isinstance(value.type, llvm.StructType):
        bind_all(f, results, [value])
        return
    parts = [
        f.append(llvm.ExtractValue(value, (i,))).results[0] for i in range(len(value.type.elements))
    ]
    bind_all(f, results, parts)
