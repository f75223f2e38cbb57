"""Branches and loops of CoreML's networks, against the same in Python."""

from __future__ import annotations

import nnc
import numpy as np
import pytest
from nnc.ir.diagnostics import NncError
from nnc.test.frontends.coreml.programs import operation, program
from nnc.test.frontends.coreml.test_coreml import feature, layer, network


def run(layers: list[dict], **inputs: float) -> float:
    """The number `y` that layers make of numbers."""
    about = {"input": [feature(name, 1) for name in inputs], "output": [feature("y", 1)]}
    data = network(*layers, about=about, arrayInputShapeMapping="EXACT")
    given = {name: np.array([value], np.float32) for name, value in inputs.items()}
    return nnc.compile(data).run(given)["y"].item()


def plus(x: str, number: float, out: str) -> dict:
    return layer("add", x, out, alpha=number)


def chosen(x: str, yes: list[dict], no: list[dict] | None = None) -> dict:
    sides = {"ifBranch": {"layers": yes}}
    return layer("branch", x, "", **sides, **({"elseBranch": {"layers": no}} if no else {}))


def less(x: str, number: float, out: str) -> dict:
    return layer("lessThan", x, out, alpha=number)


def looped(body: list[dict], x: str = "", **p) -> dict:
    return layer("loop", x, "", bodyNetwork={"layers": body}, **p)


@pytest.mark.parametrize("x", [-3.0, 0.0, 5.0])
def test_branches(x):
    both = [chosen("x", [plus("x", 10, "y")], [plus("x", -1, "z"), layer("copy", "z", "y")])]
    assert run(both, x=x) == (x + 10 if x else -1)
    one = [layer("copy", "x", "y"), less("x", 2, "c"), chosen("c", [plus("y", 1, "y")])]
    assert run(one, x=x) == x + (x < 2)


def test_a_number_of_iterations():
    body = [layer("multiply", "y x", "y")]
    assert run([layer("copy", "x", "y"), looped(body, maxLoopIterations=3)], x=2.0) == 16
    assert run([layer("copy", "x", "y"), looped(body, "n")], x=2.0, n=4.0) == 32


def test_a_condition():
    condition = {"layers": [less("y", 100, "c")]}
    loop = looped([layer("multiply", "y x", "y")], conditionNetwork=condition, conditionVar="c")
    assert run([layer("copy", "x", "y"), loop], x=3.0) == 243
    assert run([layer("copy", "x", "y"), loop], x=200.0) == 200


@pytest.mark.parametrize("nested", [False, True])
def test_iterations_are_left(nested):
    """Numbers up to the limit are counted, but for those at 3, and the loop ends behind 6."""
    leave = {"name": "b", "loopBreak": {}}
    skip = {"name": "c", "loopContinue": {}}
    body = [
        plus("i", 1, "i"),
        layer("equal", "i", "three", alpha=3.0),
        chosen("three", [skip]),
        layer("greaterThan", "i", "far", alpha=6.0),
        chosen("far", [chosen("far", [leave, plus("y", 1000, "y")])] if nested else [leave]),
        layer("add", "y i", "y"),
    ]
    start = [layer("multiply", "x", "i", alpha=0.0), layer("copy", "x", "y")]
    limit = [looped(body, "n")]

    def wanted(x: float, n: int) -> float:
        for i in range(1, n + 1):
            if i == 3:
                continue
            if i > 6:
                break
            x += i
        return x

    for n in (2, 5, 20):
        assert run(start + limit, x=0.5, n=float(n)) == wanted(0.5, n)
    assert run([*start, looped(body)], x=0.5) == wanted(0.5, 99)


@pytest.mark.parametrize(
    ("layers", "message"),
    [
        ([looped([plus("x", 1, "y")])], "nothing ends the loop"),
        ([{"name": "b", "loopBreak": {}}, layer("copy", "x", "y")], "there is no loop around it"),
        ([looped([plus("q", 1, "y")], maxLoopIterations=2)], "'q', which nothing makes"),
    ],
)
def test_errors(layers, message):
    with pytest.raises(NncError, match=message):
        run([layer("copy", "x", "y"), *layers], x=1.0)


def test_a_branch_that_writes_a_state_is_an_error():
    """Its write happened always: no trace of the branch was left."""
    copy = operation("identity", ["z"], {"x": "x"})
    write = operation("write_state", [], {"input": "s", "data": "x"})
    blocks = [{"outputs": ["z"], "operations": [write, copy]}]
    blocks += [{"outputs": ["z"], "operations": [copy]}]
    choice = operation("cond", ["y"], {"pred": "p"}, blocks)
    one = np.zeros(3, np.float32)
    given = program({"x": one, "p": np.array(True)}, ["y"], choice, states={"s": one})
    with pytest.raises(NncError, match=r"'y' \(cond\) writes state 's' inside"):
        nnc.load(given)
