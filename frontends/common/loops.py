"""Loops and branches that depend on values known only at run time: `nn.while` and `nn.if`."""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import dataclass

from ...ir.core import Block, Operation, Region
from ...ir.diagnostics import NncError
from .words import *

MOST_ITERATIONS = 1 << 36
"""The most iterations of a loop without another end: more would take minutes even if empty."""

FLAG, NUMBER = TensorType((), i1), TensorType((), i64)


@dataclass(frozen=True)
class Iteration:
    """The results of an iteration: the next states, rows to be stacked, and whether to go on."""

    states: Sequence[Value]
    rows: Sequence[Value] = ()
    going: Value | None = None
    """Whether the loop goes on; None if only the number of iterations ends it."""


Step = Callable[[Value, Value, list[Value]], Iteration]
"""(number of the iteration, the condition by which the loop goes on, states) -> Iteration."""


def while_loop(
    n: Layer,
    step: Step,
    states: Sequence[Value],
    count: Value | None,
    going: Value | None = None,
    *,
    bounded: bool = False,
) -> tuple[list[Value], list[Value]]:
    """The final states of a loop, and its stacked rows.

    The loop has `count` iterations at most, any number if that is None, and ends when the
    condition, which is `going` before the first one, no longer holds. A state that no iteration
    changes, such as weights that converters carry along, stays outside of the loop. An extent that
    iterations change is `?` in the state's type. Only a state of one element may change its rank.
    If no iteration reads a state, its first value may have another rank or element type; the
    program then fails if there is no iteration. With `bounded`, the program fails if only `count`
    ends the loop and it is more than MOST_ITERATIONS.
    """
    body = _body_of(n, step, states)
    after, made, carried = body.block, body.made, body.carried
    _, flag, *_ = after.args
    first_flag = going if going is not None else n.constant(True, i1)
    states = _first_states(n, body, states)
    types = [body.types[i] for i in carried]
    always = _is_always(n, going) and (made.going is flag or _is_always(n, made.going))
    exact = count if always else None
    if always and count is None:
        raise n.error("nothing ends the loop")
    if bounded and exact is not None and not made.rows:
        count = exact = _bounded(n, exact)
    before = _condition(n, types, count, always)
    with n.builder.inside(after):
        following = n(nn.Add(after.args[0], n.constant(1, i64)))
        again = as_scalar(n, made.going) if made.going is not None else flag
        insert(n, nn.Yield([following, again, *(made.states[i] for i in carried), *made.rows]))
    inits = [n.constant(0, i64), first_flag, *(states[i] for i in carried)]
    known = n.known(exact) if exact is not None else None
    rows = None if known is None else max(int(known), 0)
    if not all(isinstance(v.type, TensorType) for v in made.rows):
        raise n.error("the body must return tensors of known rank for its stacked outputs")
    stacked = [TensorType((rows, *v.type.shape), v.type.element_type) for v in made.rows]
    loop = nn.While(
        inits,
        exact,
        Region([before]),
        Region([after]),
        outs=[NUMBER, FLAG, *types, *stacked],
    )
    number, _, *results = insert(n, loop)
    for i, last in zip(carried, results, strict=False):
        states[i] = last
    for i in body.unread:
        some = n(nn.Greater(number, n.constant(0, i64)))
        text = f"a loop has no iteration, and output {i} another rank or type than was compiled"
        states[i] = n(nn.Assume(states[i], some, text))
    return states, results[len(carried) :]


@dataclass(frozen=True)
class _Body:
    """A loop's body. Its block takes the iteration's number, whether to go on, and some states."""

    block: Block
    made: Iteration
    types: Sequence[Any]
    """The types of all states, the same in each iteration."""
    carried: Sequence[int]
    """The indices of the states that iterations change."""
    unread: Collection[int]
    """The indices of the states whose first value has another type, and that no iteration reads."""


def _condition(n: Layer, types: Sequence[Any], count: Value | None, always: bool) -> Block:
    """The block that decides whether to iterate again; `always` if only `count` ends the loop."""
    block = Block([NUMBER, FLAG, *types])
    number, flag, *_ = block.args
    with n.builder.inside(block):
        limited = None if count is None else n(nn.Less(number, count))
        if limited is None:
            goes = flag
        else:
            goes = limited if always else n(nn.And(limited, flag))
        insert(n, nn.Condition(goes))
    return block


def _first_states(n: Layer, body: _Body, states: Sequence[Value]) -> list[Value]:
    """The states before the first iteration, with the types that they have in the body."""
    return [
        _placeholder(n, type)
        if i in body.unread
        else n(nn.Reshape(state, out=type))
        if is_unlike(state.type, type)
        else state
        for i, (state, type) in enumerate(zip(states, body.types, strict=True))
    ]


def _body_of(n: Layer, step: Step, states: Sequence[Value]) -> _Body:
    """The loop's body, rebuilt until it yields the types that its states have."""
    types, unread = [v.type for v in states], set[int]()
    carried, kept = list(range(len(states))), set[int]()
    while True:
        block = Block([NUMBER, FLAG, *(types[i] for i in carried)])
        number, flag, *arguments = block.args
        given = list(states)
        for i, argument in zip(carried, arguments, strict=True):
            given[i] = argument
        with n.builder.inside(block):
            made = step(number, flag, list(given))
            changed = [i for i, v in enumerate(made.states) if v is not given[i]]
            kept.update(set(changed).difference(carried))  # known values may change a body's course
            changed = sorted({*changed, *kept})
            unlike = [i for i in changed if is_unlike(given[i].type, made.states[i].type)]
            for i in unlike:
                is_single = _is_single(given[i].type, made.states[i].type)
                if is_single or not given[i].has_uses:
                    types[i] = made.states[i].type
                    unread.update([] if is_single else [i])
            types = [
                merged(n, t, v.type, i)
                for i, (t, v) in enumerate(zip(types, made.states, strict=True))
            ]
        if changed == carried and types == [v.type for v in given]:
            return _Body(block, made, types, carried, unread)
        _forget(block)
        carried = changed


def is_unlike(a: Any, b: Any) -> bool:
    """Whether tensors have another element type or rank."""
    if not (isinstance(a, TensorType) and isinstance(b, TensorType)):
        return False
    return a.element_type is not b.element_type or a.rank != b.rank


def _is_single(*types: Any) -> bool:
    """Whether all types are tensors with one element of the same element type."""
    if not all(isinstance(t, TensorType) and t.shape.count(1) == t.rank for t in types):
        return False
    return len({t.element_type for t in types}) == 1


def _placeholder(n: Layer, type: TensorType) -> Value:
    """A tensor that nothing reads; unknown extents are 0."""
    shape = tuple(d or 0 for d in type.shape)
    return n.cast(n.constant(np.zeros(shape, np.int8)), type.element_type)


def _forget(block: Block) -> None:
    """Drop all operands of the operations of a block that is discarded."""
    for op in block:
        op.drop_all_references()


def _bounded(n: Layer, count: Value) -> Value:
    """`count`, checked at import or run time to be at most MOST_ITERATIONS."""
    text = f"a trip count is more than {MOST_ITERATIONS}, and nothing else ends the loop"
    known = n.known(count)
    if known is None:
        fits = n(nn.LessEqual(count, n.constant(MOST_ITERATIONS, i64)))
        return n(nn.Assume(count, fits, text))
    if known > MOST_ITERATIONS:
        raise n.error(text)
    return count


def _is_always(n: Layer, going: Value | None) -> bool:
    """Whether a condition is known to hold."""
    if going is None:
        return True
    known = n.known(going)
    return known is not None and bool(known.all())


def branch(
    n: Layer,
    condition: Value,
    branches: Sequence[Callable[[], list[Any]]],
    *,
    one_may_fail: Callable[[NncError], bool] | None = None,
) -> list[Any]:
    """The results of the first of two branches where the condition holds, else of the second.

    Exporters write branches of different ranks, to drop a dimension if it is 1. Then only the
    branch of lower rank is compiled, and the program fails where the other would be taken; tensors
    of one element may have either rank. Likewise, if a branch does not fit the shapes and
    `one_may_fail` accepts its error, only the other is compiled.
    """
    blocks, outcomes = [Block(), Block()], []
    for i, (block, make) in enumerate(zip(blocks, branches, strict=True)):
        try:
            with n.builder.inside(block):
                outcomes.append(make())
        except NncError as error:
            if one_may_fail is None or not one_may_fail(error):
                raise
            return _without(n, condition, branches, blocks, i, error)
    leaves = [_leaves(outcome) for outcome in outcomes]
    shapes = [_structure(outcome) for outcome in outcomes]
    if shapes[0] != shapes[1]:
        for i, block in enumerate(blocks):
            with n.builder.inside(block):
                outcomes[i] = [n.builder.as_value(v, n.loc) for v in outcomes[i]]
        leaves = [_leaves(outcome) for outcome in outcomes]
    if not _match_ranks(n, blocks, leaves):
        ranks = [sum(v.type.rank for v in values) for values in leaves]
        for block in blocks:
            _forget(block)
        return _assumed(n, condition, branches, ranks.index(min(ranks)))
    types = [merged(n, a.type, b.type, i) for i, (a, b) in enumerate(zip(*leaves, strict=True))]
    for block, values in zip(blocks, leaves, strict=True):
        with n.builder.inside(block):
            insert(n, nn.Yield(values))
    regions = [Region([block]) for block in blocks]
    condition = as_scalar(n, condition)
    results = insert(n, nn.If(condition, *regions, outs=types))
    return _rebuilt(outcomes[0], iter(results))


def _match_ranks(n: Layer, blocks: Sequence[Block], leaves: Sequence[list[Any]]) -> bool:
    """Make tensors of one element scalars where the branches' ranks differ.

    Returns whether all results then have the same rank in both.
    """
    for i, (one, other) in enumerate(zip(*leaves, strict=True)):
        if not (isinstance(one.type, TensorType) and isinstance(other.type, TensorType)):
            continue
        if one.type.rank == other.type.rank:
            continue
        if any(v.type.shape.count(1) != v.type.rank for v in (one, other)):
            return False
        for block, values in zip(blocks, leaves, strict=True):
            with n.builder.inside(block):
                values[i] = as_scalar(n, values[i])
    return True


def _without(
    n: Layer,
    condition: Value,
    branches: Sequence[Callable[[], list[Any]]],
    blocks: Sequence[Block],
    failed: int,
    error: NncError,
) -> list[Any]:
    """The results of the other branch, where one cannot be built. Raises `error` if neither can.

    The blocks that were begun are dropped.
    """
    for block in blocks:
        _forget(block)
    text = f"the branch to be taken does not fit these shapes: {error.message}"
    try:
        return _assumed(n, condition, branches, 1 - failed, text)
    except NncError:
        raise error from None


_OTHER_RANK = "the branch to be taken gives a result of another rank than was compiled"


def _assumed(
    n: Layer,
    condition: Value,
    branches: Sequence[Callable[[], list[Any]]],
    taken: int,
    text: str = _OTHER_RANK,
) -> list[Any]:
    """The results of one of two branches; the program fails where the other should be taken."""
    holds = as_scalar(n, condition)
    if taken == 1:
        holds = n(nn.Not(holds))
    outcome = branches[taken]()
    checked = (n(nn.Assume(v, holds, text)) for v in _leaves(outcome))
    return _rebuilt(outcome, checked)


def _leaves(outcome: Any) -> list[Value]:
    if isinstance(outcome, Value):
        return [outcome]
    return (
        [v for item in outcome for v in _leaves(item)] if isinstance(outcome, list | tuple) else []
    )


def _structure(outcome: Any) -> Any:
    if isinstance(outcome, list | tuple):
        return tuple(_structure(item) for item in outcome)
    return isinstance(outcome, Value)


def _rebuilt(outcome: Any, values: Any) -> Any:
    if isinstance(outcome, Value):
        return next(values)
    if isinstance(outcome, list | tuple):
        return type(outcome)(_rebuilt(item, values) for item in outcome)
    return outcome


def merged(n: Layer, a: Any, b: Any, i: int) -> Any:
    """The type that covers types `a` and `b` of output `i`: extents that differ become unknown."""
    if any(not isinstance(t, TensorType) for t in (a, b)):
        try:
            return nn.join(a, b)
        except NncError as error:
            raise n.error(f"output {i} {error.message}") from None
    if is_unlike(a, b):
        raise n.error(
            f"output {i} is '{a}' or '{b}' by what is known at run time only, expected one "
            "element type and rank"
        )
    shape = tuple(x if x == y else None for x, y in zip(a.shape, b.shape, strict=True))
    return TensorType(shape, a.element_type)


def insert(n: Layer, op: Operation) -> list[Value]:
    """Insert an op as it is, even where its results are known."""
    op.loc = n.loc
    n.builder.block.append(op)
    return list(op.results)


# -- rows ------------------------------------------------------------------------------------------


def mirrored(n: Layer, number: Value, count: Value) -> Value:
    """count - 1 - number"""
    return n(nn.Sub(n(nn.Sub(count, n.constant(1, i64))), number))
