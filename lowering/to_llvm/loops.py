"""Lowering of the loops of scf."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from ...dialects import llvm, scf
from ...dialects.llvm.attributes import OVERFLOW_FLAGS
from ...ir.core import Block, Operation, Value
from ...ir.types import IndexType, IntegerType, Type
from .casts import resize_integer
from .conversion import FunctionLowering, lowers
from .emitter import Linear
from .failing import owned_by, pointers
from .integers import is_non_negative

Body = Callable[[Linear, Sequence[Value]], Sequence[Value]]
"""A function of the induction variable and the carried values, which gives the next
carried values.
"""


# -- loops -------------------------------------------------------------------------------------


def trip_count(lower: Linear, upper: Linear, step: Linear) -> int | None:
    """The number of iterations, if bounds and step are constants; else None."""
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
    counter: Type | None = None,
) -> Sequence[Value]:
    """Emit a loop with carried values, and return the last ones.

    The loop counts in `counter`, or in indices. Its test is at the end, and there is one before the
    loop if it may not run at all: the form in which LLVM's loop passes want it. A loop that is
    known to run once becomes its body.
    """
    trips = trip_count(lower, upper, step)
    if trips == 0:
        return initial
    if trips == 1:
        return body(lower, initial)
    counter = counter or f.types.index
    low, high, stride = (_counted(f, bound, counter) for bound in (lower, upper, step))
    types = [v.type for v in initial]
    start = f.new_block([counter, *types])
    end = Block(types)
    less = "ult" if unsigned else "slt"
    if trips is None:
        f.append(
            llvm.CondBr.of(f.icmp(less, low, high), start, [low, *initial], end, list(initial))
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
    following = f.emit(llvm.Add, [at, stride], counter, {"overflowFlags": _NSW})
    again = f.icmp(less, following, high)
    f.append(llvm.CondBr.of(again, start, [following, *final], end, final))
    f.leave()
    f.func.regions[0].append(end)
    f.block = end
    return end.args


def _counted(f: FunctionLowering, bound: Linear, counter: Type) -> Value:
    return f.materialize(bound) if bound.terms else f.integer(bound.constant, counter)


_NSW = OVERFLOW_FLAGS.from_python("nsw")


def counted_loop(
    f: FunctionLowering, lower: Linear, upper: Linear, step: Linear, body: Callable[[Linear], None]
) -> None:
    """Emit a loop without carried values."""

    def carrying(index: Linear, carried: Sequence[Value]) -> Sequence[Value]:
        body(index)
        return carried

    carrying_loop(f, lower, upper, step, (), carrying)


def flatten(f: FunctionLowering, values: Sequence[Value]) -> list[Value]:
    """All LLVM values that represent the values."""
    return [v for value in values for v in f.flat(value)]


def bind_all(f: FunctionLowering, values: Sequence[Value], flat: Sequence[Value]) -> None:
    """Let the LLVM values in `flat` represent the values, each as many as its type needs."""
    at = 0
    for value in values:
        at += f.bind_flat(value, flat[at:])


def flat_types_of(f: FunctionLowering, values: Sequence[Value]) -> list[Type]:
    """The types of all LLVM values that represent the values."""
    return [t for value in values for t in f.types.flat(value.type)]


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
            at = _counted(f, index, counter)
            f.bind(induction, resize_integer(f, at, induction.type, True))
        bind_all(f, block.args[1:], carried)
        f.lower_block(block)
        return flatten(f, block.last._operands)  # type: ignore[union-attr]

    unsigned = op.attribute("unsignedCmp") is not None
    counter = _counter(f, lower.type)
    first, last, by = (_loop_bound(f, v, counter, unsigned) for v in (lower, upper, step))
    initial = flatten(f, op._operands[3 : 3 + count])
    bind_all(f, op.results, carrying_loop(f, first, last, by, initial, body, unsigned, counter))


def _counter(f: FunctionLowering, type: Type) -> Type:
    """The type in which a loop counts: an index, or the type of the bounds if it is wider."""
    wide = isinstance(type, IntegerType) and type.width > f.types.index.width
    return type if wide else f.types.index


def _loop_bound(f: FunctionLowering, value: Value, counter: Type, unsigned: bool) -> Linear:
    """A bound as a sum, in the type in which the loop counts."""
    if isinstance(value.type, IndexType):
        return f.linear(value)
    known = f.known_integer(value)
    if known is not None:
        return Linear((), known)
    return Linear(((resize_integer(f, f.value(value), counter, not unsigned), 1),), 0)


@lowers(scf.Parallel)
def _parallel(f: FunctionLowering, op: scf.Parallel) -> None:
    """Emit nested loops, which run one iteration after the other."""
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


@lowers(scf.Forall)
def _forall(f: FunctionLowering, op: scf.Forall) -> None:
    """Emit nested loops, which run one iteration after the other; on buffers only."""
    block = op.body_block
    bounds = [
        [Linear((), v) if isinstance(v, int) else f.linear(v) for v in part]
        for part in (op.lower, op.upper, op.step)
    ]

    def level(i: int) -> None:
        if i == len(bounds[0]):
            f.lower_block(block)
            return

        def body(index: Linear) -> None:
            f.values[block.args[i]] = index
            level(i + 1)

        counted_loop(f, bounds[0][i], bounds[1][i], bounds[2][i], body)

    level(0)


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
    carried, given = owned_by(op)
    moved = pointers(f, op._operands, carried)
    kept = f.heap = [p for p in f.heap if p not in moved]
    head = f.new_block(flat_types_of(f, before.args))
    body, end = Block(flat_types_of(f, after.args)), Block(flat_types_of(f, op.results))
    f.append(llvm.Br(flatten(f, op._operands), dest=head))
    f.enter()
    f.block = head
    bind_all(f, before.args, head.args)
    f.heap = [*kept, *pointers(f, before.args, carried)]
    f.lower_block(before)
    condition = before.last
    assert condition is not None
    passed = flatten(f, condition._operands[1:])
    f.append(llvm.CondBr.of(f.value(condition._operands[0]), body, passed, end, passed))
    # The body's scope lies inside the condition's, since it may use what the condition computed.
    f.enter()
    f.func.regions[0].append(body)
    f.block = body
    bind_all(f, after.args, body.args)
    f.heap = [*kept, *pointers(f, after.args, given)]
    f.lower_block(after)
    f.append(llvm.Br(flatten(f, after.last._operands), dest=head))  # type: ignore[union-attr]
    f.leave()
    f.leave()
    f.func.regions[0].append(end)
    f.block = end
    bind_all(f, op.results, end.args)
    f.heap = [*kept, *pointers(f, op.results, given)]
