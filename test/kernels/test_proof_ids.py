"""Ids of groups and threads in integer sets, and numbers of expressions, against what they stand for."""

from __future__ import annotations

from itertools import pairwise
from math import floor

import pytest
from nnc.kernels.proof.expressions import number
from nnc.kernels.proof.forms import Forms
from nnc.kernels.proof.ids import Ids
from nnc.kernels.proof.merging import _pattern
from nnc.kernels.proof.parameters import Parameters
from nnc.kernels.proof.polynomials import Polynomial

isl = pytest.importorskip("islpy")


def _forms(*threads):
    grid = (number(2), number(1), number(3), number(1))
    return Forms({}, threads, 32, grid=grid, parameters=Parameters())


@pytest.mark.parametrize("within", [False, True])
def test_pairs_that_are_apart(within):
    """Two groups, or two threads of one: all ids are counted, but those that are always 0."""
    ids = Ids(_forms(4, 1, 2))
    assert ids.names == ("b0", "b2", "t0", "t2")
    both = ids.apart(isl, within)
    inside = isl.Set(f"{{ [{', '.join(ids.names)}] : {' and '.join(ids.ranges)} }}")
    pairs = both.intersect_domain(inside).intersect_range(inside)
    groups, threads = 6, 8
    count = groups * threads * (threads - 1) if within else groups * (groups - 1) * threads**2
    assert pairs.wrap().count_val().to_python() == count


def test_numbers_of_a_point():
    assert Ids(_forms(4, 1, 2)).numbered([1, 2, 3, 1]) == ([1, 0, 2, 0], (3, 0, 1))


@pytest.mark.parametrize(
    "text", ["floor((t0 + 0)/16) + (t0 mod 4)", "((floor(t0/4)) mod 4) + b1", "t0 + 3*(t2)"]
)
def test_digits_add_up_to_the_id(text):
    ids = Ids(_forms(64, 1, 2))
    sums, ranges, (found,) = ids.digits([text])
    cuts = [1, 64]
    if sums:  # Cut at all numbers that the text divides by.
        cuts = [*(int(one.split("*")[0]) for one in sums["t0"].split(" + ")), 64]
    for t0 in range(64):
        names = {"b1": 0, "t0": t0, "t2": 1, "floor": floor}
        digits = {f"t0_{low}": t0 // low % (high // low) for low, high in pairwise(cuts)}
        assert eval(sums.get("t0", "t0"), {"t0": t0, **digits}) == t0
        assert eval(found, {**names, **digits}) == eval(text.replace("mod", "%"), names)
    assert all("0 <= " in one for one in ranges)


def test_numbers_that_a_sum_may_replace():
    """No factors, and no divisors."""
    assert _pattern("(16*(v7) + 3 + floor((t0 + 5)/16) + (v2 mod 4) + -12)") == (
        "(16*(@) + # + floor((t0 + #)/16) + (@ mod 4) + -#)",
        (3, 5, 12),
        ("v7", "v2"),
    )


def test_what_becomes_known_later():
    """A polynomial that was not known to be natural is asked again when more is known."""
    parameters = Parameters()
    more = Polynomial({("p0",): 1})
    assert not parameters.is_natural(more)
    parameters.count(parameters.named("an extent"))
    assert parameters.is_natural(more) and not parameters.is_natural(more - 1)
    parameters.suppose_natural(more - 1)
    assert parameters.is_natural(more - 1) and not parameters.is_natural(more - 2)


def test_quotients_that_a_question_does_not_name():
    """They are left out of a plain question, and are in one that needs all that is known."""
    parameters = Parameters()
    parameters.count(parameters.named("an extent"))
    parameters.floor(Polynomial({("p0",): 1}), 4)
    assert parameters.of(["p0 < 3"], is_plain=True) == (["p0"], ["p0 >= 0"])
    for given in ({"is_plain": True, "with_quotients": True}, {}):
        names, known = parameters.of(["p0 < 3"], **given)
        assert names == ["p0", "p1"] and "4*p1 <= (1*p0 + 0)" in known
    assert parameters.of(["p1 < 3"], is_plain=True)[0] == ["p0", "p1"]
