"""The cases of a host function's selections; each case is proven by itself.

A dimension that may be broadcast has stride 0 if its extent is 1, else another stride. This choice
is no polynomial in the function's parameters, but in each of the two cases the stride is one.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

from ...dialects import arith, func, gpu
from ...ir.core import Operation, Value
from ...ir.types import IndexType
from .expressions import is_condition, is_number
from .forms import Forms
from .parameters import Parameters
from .results import Written

_MOST = 16
"""The most cases of a function; further selections stay undecided in each of them."""

_MOST_OF_LAUNCH = 256
"""The same of a launch: only few selections are about one, and few launches need all of theirs."""

Extents = Mapping[tuple[Value, int], tuple[tuple[Value, int], int]]
"""Maps an argument's (buffer, dimension) to (an earlier one, how much larger it is)."""


def cases(
    function: func.FuncOp, calls: Mapping[Value, Value], related: Extents
) -> Sequence[Parameters]:
    """The parameters of a function in each case: one for each outcome of all of its choices."""
    found = [Parameters(related=dict(related))]
    for alike in _conditions(function, _forms(calls, found[0].copy())):
        # Outcomes chosen before may simplify this condition.
        split = [one for before in found for one in _outcomes(before, alike, calls)]
        if len(split) > _MOST:
            break
        found = split
    return found


def cases_of(
    launch: gpu.LaunchFunc, calls: Mapping[Value, Value], related: Extents
) -> Sequence[Parameters]:
    """The parameters in each case of all choices that a launch's operands come from; empty if
    there are too many.
    """
    function = launch.parent_of(func.FuncOp)
    assert function is not None
    found = [Parameters(related=dict(related))]
    before = _before(launch)
    for alike in _conditions(function, _forms(calls, found[0].copy())):
        if before.isdisjoint(alike):
            continue
        found = [one for each in found for one in _outcomes(each, alike, calls)]
        if len(found) > _MOST_OF_LAUNCH:
            return []
    return found


def _before(op: Operation) -> set[Operation]:
    """The operations that an operation's operands are computed by."""
    found, left = set[Operation](), [op]
    while left:
        makers = {v.defining_op for v in left.pop().operands if v.defining_op is not None} - found
        found |= makers
        left += makers
    return found


def _outcomes(
    before: Parameters, alike: Sequence[arith.CmpI], calls: Mapping[Value, Value]
) -> Iterator[Parameters]:
    """The parameters with each outcome of equal comparisons that is possible."""
    for outcome in (True, False):
        found = before.copy()
        if _suppose(_forms(calls, found), alike[0], outcome):
            found.chosen.update((op.result, outcome) for op in alike)
            yield found


def in_all(found: Sequence[Sequence[Written]]) -> Iterator[Written]:
    """The findings on each buffer in all cases together, from those in each case."""
    first, *others = ({one.buffer: one for one in case} for case in found)
    for buffer, one in first.items():
        alike = [one, *(case[buffer] for case in others if buffer in case)]
        yield Written(
            buffer,
            all(each.is_whole for each in alike),
            any(each.is_rewritten for each in alike),
            next((each.open for each in alike if each.open is not None), None),
        )


def _forms(calls: Mapping[Value, Value], parameters: Parameters) -> Forms:
    return Forms({}, (1, 1, 1), 1, calls=calls, parameters=parameters)


def _conditions(function: func.FuncOp, forms: Forms) -> list[list[arith.CmpI]]:
    """The comparisons of parameters that choose numbers, those with equal operands together."""
    found: dict[str, list[arith.CmpI]] = {}
    for op in function.walk():
        if isinstance(op, arith.Select) and isinstance(op.results[0].type, IndexType):
            condition = op.condition.defining_op
            if isinstance(condition, arith.CmpI) and condition.predicate in ("eq", "ne"):
                form = forms.fixed(forms.of(condition.result))
                if form is not None and is_condition(form) and not form.wanted:
                    found.setdefault(form.text, []).append(condition)
    return list(found.values())


def _suppose(forms: Forms, condition: arith.CmpI, outcome: bool) -> bool:
    """Suppose the outcome of a comparison; returns False if earlier outcomes rule it out.

    If a parameter is then equal to a constant, the constant replaces it.
    """
    parameters = forms.parameters
    operands = condition.result, condition.lhs, condition.rhs
    found, one, other = (forms.fixed(forms.of(value)) for value in operands)
    assert found is not None and one is not None and other is not None
    if is_number(one) and is_number(other):
        return outcome == ((one.text == other.text) == (condition.predicate == "eq"))
    either = f"({found.text})", f"not ({found.text})"
    if either[outcome] in parameters.known:
        return False
    parameters.suppose(either[not outcome])
    is_equal = outcome and condition.predicate == "eq"
    if is_equal and is_number(other) and one.text in parameters.names.values():
        parameters.values[one.text] = int(other.text)
    return True
