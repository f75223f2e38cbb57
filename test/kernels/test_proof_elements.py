"""The elements that an access touches, as sets by parts, against a list of all points."""

from __future__ import annotations

from itertools import product
from math import floor

import pytest
from nnc.kernels.proof.elements import touched
from nnc.kernels.proof.expressions import Form, number
from nnc.kernels.proof.forms import Forms
from nnc.kernels.proof.ids import Ids

isl = pytest.importorskip("islpy")

CASES = {
    "rows of five and four, in quads": (
        256,
        {"v1": 5, "v2": 4},
        ["(v1 + 5*(floor((t0 + 0)/128)) + 0) < 9", "v2 < (-1*(4*(((t0) mod 128))) + 448)"],
        ["(9*(b0) + 5*(floor((t0 + 0)/128)) + v1 + 0)", "(4*(((t0) mod 128)) + v2 + 0)"],
    ),
    "digits of digits": (
        64,
        {},
        ["floor((floor((t0 + 0)/4) + 0)/4) < 3"],
        ["((floor((t0 + 0)/4)) mod 4)", "(4*(floor((t0 + 0)/16)) + ((t0) mod 4) + 16*(b0))"],
    ),
    "more than there are threads": (
        8, {}, ["t0 < 7"], ["(((t0) mod 16) + floor((t0 + 0)/32))", "((t0) mod 1)"],
    ),
    "parts that do not divide each other": (
        12, {"v1": 2}, [], ["(floor((t0 + 0)/4) + v1)", "((t0) mod 6)"],
    ),
    "one variable in two indices": (16, {"v1": 3}, [], ["(v1 + ((t0) mod 4))", "(v1 + 4*(b0))"]),
    "nowhere": (4, {"v1": 3}, ["v1 >= 3"], ["t0", "b0"]),
}  # fmt: skip


@pytest.mark.parametrize("name", CASES)
def test_by_parts_as_by_points(name):
    threads, counters, conditions, to = CASES[name]
    ranges = [f"0 <= {v} < {n}" for v, n in counters.items()]
    holds = Form("0", tuple(counters), (*ranges, *conditions))
    forms = Forms({}, (threads, 1, 1), 32, grid=(number(2), number(1), number(1), number(1)))
    found = touched(isl, forms, holds, [Form(text) for text in to], Ids(forms))
    points = set()
    found.foreach_point(lambda at: points.add(tuple(_coordinates(at))))
    assert points == set(_listed(threads, counters, conditions, to))


def _coordinates(point):
    for i in range(2):
        yield point.get_coordinate_val(isl.dim_type.set, i).to_python()


def _listed(threads, counters, conditions, to):
    read = lambda text: text.replace("mod", "%")  # noqa: E731
    for b0, t0, *values in product(range(2), range(threads), *map(range, counters.values())):
        names = {"b0": b0, "t0": t0, "floor": floor, **dict(zip(counters, values, strict=True))}
        if all(eval(read(text), names) for text in conditions):
            yield tuple(eval(read(text), names) for text in to)
