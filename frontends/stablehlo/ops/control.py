"""Calls, loops and branches."""

from __future__ import annotations

from ...common.complexes import flat_parts, paired_like
from ...common.loops import Iteration, branch, while_loop
from ...common.vocabulary import *
from ..layer import HloLayer, rows

rows.formulas(
    {
        "func.call stablehlo.composite": lambda n, *inputs: n.graph("body", *inputs),
        "stablehlo.tuple": lambda n, *inputs: [list(inputs)],
        "stablehlo.get_tuple_element": lambda n, value: [value[n.op.index]],
        "stablehlo.if": lambda n, pred: _branch(n, pred, 0, 1),
    }
)


@rows("stablehlo.case")
def case(n: HloLayer, index: Value) -> list[Any]:
    last = len(n.op.regions) - 1
    known = n.known(index)
    if known is not None:
        at = int(known)
        return n.region(at if 0 <= at < last else last)

    def chosen(at: int) -> list[Any]:
        """The results of the region of an index, for regions from `at` on."""
        if at == last:
            return n.region(at)
        is_it = n(nn.Equal(index, n.scalar(at, index)))
        return _choice(n, is_it, lambda: n.region(at), lambda: chosen(at + 1))

    return chosen(0)


def _branch(n: HloLayer, pred: Value, yes: int, no: int) -> list[Any]:
    known = n.known(pred)
    if known is not None:
        return n.region(yes if bool(known) else no)
    return _choice(n, pred, lambda: n.region(yes), lambda: n.region(no))


def _choice(n: HloLayer, pred: Value, yes: Any, no: Any) -> list[Any]:
    """The results of one of two branches; complex numbers leave them as two tensors."""
    pattern: list[Any] = []

    def flattened(make: Any) -> Any:
        def made() -> list[Value]:
            pattern[:] = make()
            return flat_parts(pattern)

        return made

    found = branch(n, as_scalar(n, pred), [flattened(yes), flattened(no)])
    return paired_like(found, pattern)


@rows("stablehlo.while")
def while_(n: HloLayer, *inits: Any) -> list[Any]:
    pattern = list(inits)
    count = _trip_count(n, inits)

    def going(states: list[Any]) -> Value:
        return n.region(0, *states)[0]

    def step(number: Value, flag: Value, given: list[Value]) -> Iteration:
        after = n.region(1, *paired_like(given, pattern))
        return Iteration(flat_parts(after), (), going(after) if count is None else None)

    if count is None:
        results, _ = while_loop(n, step, flat_parts(inits), None, going(pattern))
    else:
        results, _ = while_loop(n, step, flat_parts(inits), n.constant(count, i64))
    return paired_like(results, pattern)


def _trip_count(n: HloLayer, inits: Any) -> int | None:
    """The number of iterations of a loop with a counter between known numbers; None if unknown."""
    cond, body = (region.blocks[0] for region in n.op.regions)
    first = n.last(1)
    last: Any = getattr(n.last(0).operands[0], "owner", None)
    if getattr(last, "name", "") != "stablehlo.compare" or last.comparison_direction != "LT":
        return None
    counter, limit = last.operands
    if counter not in cond.args:
        return None
    at = cond.args.index(counter)
    end = _known_number(n, limit, cond, inits)
    start = None if end is None else n.known(inits[at])
    if start is None or (
        limit in cond.args and not _unchanged(body, first, cond.args.index(limit))
    ):
        return None
    following: Any = getattr(first.operands[at], "owner", None)
    if getattr(following, "name", "") != "stablehlo.add":
        return None
    operands = list(following.operands)
    if body.args[at] not in operands:
        return None
    operands.remove(body.args[at])
    if _number_of(n, operands[0]) != 1:
        return None
    return max(0, int(end) - int(start))  # type: ignore[arg-type]


def _unchanged(body: Any, last: Any, at: int) -> bool:
    return last.operands[at] is body.args[at]


def _known_number(n: HloLayer, value: Any, block: Any, inits: Any) -> int | None:
    """A limit: a constant, or a state that starts as one."""
    if value in block.args:
        known = n.known(inits[block.args.index(value)])
        return None if known is None else int(known)
    return _number_of(n, value)


def _number_of(n: HloLayer, value: Any) -> int | None:
    """A constant of the text, in the loop or around it."""
    owner: Any = getattr(value, "owner", None)
    if getattr(owner, "name", "") == "stablehlo.constant":
        array = np.asarray(owner.value.to_numpy())
        return int(array) if array.size == 1 else None
    return None
