"""What the host's loops and branches around a launch tell: their counters, and when it happens.

    scf.for %i = %c0 to %n step %c4 {            4*p7, where 4*p7 < p1
      gpu.launch_func @kernels::@f .. args(%i)

A counter is a number that is constant during a launch, so it is a parameter times the step. That it
is below the loop's end is known of this launch only: of others, that there is an iteration is not.
"""

from __future__ import annotations

from ...dialects import func, gpu, scf
from ...ir.core import Operation
from .expressions import Form, added, is_condition, is_number, number, scaled
from .forms import Forms


def around(forms: Forms, launch: gpu.LaunchFunc) -> Form:
    """The conditions under which a launch happens. Sets the forms of the counters around it."""
    inside: list[Operation] = [launch]
    while (outer := inside[-1].parent_op) is not None and not isinstance(outer, func.FuncOp):
        inside.append(outer)
    holds = number(0)
    for inner in reversed(inside):
        match inner.parent_op:
            case scf.For() as loop:
                counter = _counter(forms, loop)
                forms.set(loop.induction_var, counter)
                holds = holds + counter
            case scf.If() as branch:
                holds = holds + _taken(forms, branch, inner)
    return holds


def _counter(forms: Forms, loop: scf.For) -> Form:
    """The counter of a loop of the host, in an iteration."""
    low, high, by = (forms.of(value) for value in (loop.lower, loop.upper, loop.step))
    if not is_number(by) or int(by.text) <= 0:
        return forms.variable(exact=False)
    turn = forms.parameter(f"turn of {id(loop)}")
    forms.parameters.count(turn.text)
    value = added(low, scaled(turn, int(by.text))) + high
    return value.given(f"{value.text} < ({high.text})")


def _taken(forms: Forms, branch: scf.If, inner: Operation) -> Form:
    """The condition under which an operation in a branch of the host runs."""
    condition = forms.of(branch.condition)
    if not is_condition(condition):
        return number(0)
    is_first = inner.parent is branch.regions[0].blocks[0]
    return condition.given(condition.text if is_first else f"not ({condition.text})")
