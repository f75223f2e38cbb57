"""Axes and sizes that are known only at run time, against onnxruntime and NumPy."""

import numpy as np
import pytest
from onnx import TensorProto

from .models import make_model, node, value
from .onnx_operators import check, one, random

# -- axes and sizes that are known at run time only -------------------------------------------


def ints(*numbers):
    return np.array(numbers, np.int64)


@pytest.mark.parametrize("axes", [(0,), (-1,), (1, 2), (2, 0), (0, 1, 2), ()])
@pytest.mark.parametrize("keep", [0, 1])
def test_reduction_along_runtime_axes(axes, keep):
    check(
        one("ReduceSum", [random(2, 3, 4), ints(*axes)], opset=18, keepdims=keep),
        random(2, 3, 4),
        ints(*axes),
    )


@pytest.mark.parametrize("axes", [(), (1,), (2, -3)])
@pytest.mark.parametrize("noop", [0, 1])
def test_a_number_of_runtime_axes_that_is_open(axes, noop):
    model = make_model(
        [node("ReduceMax", ["x", "a"], ["y"], "op", noop_with_empty_axes=noop)],
        [value("x", (None, 3, None)), value("a", (None,), TensorProto.INT64)],
        [value("y", None)],
        opset=20,
    )
    check(model, random(2, 3, 4), ints(*axes))


@pytest.mark.parametrize("axis", [0, 1, -1])
@pytest.mark.parametrize("flags", [{}, {"exclusive": 1}, {"reverse": 1, "exclusive": 1}])
def test_running_sums_along_a_late_axis(axis, flags):
    x, a = random(2, 3, 4), np.array(axis, np.int64)
    check(one("CumSum", [x, a], opset=14, **flags), x, a)


@pytest.mark.parametrize("sizes", [(2, 4), (0, 6), (6, 0)])
def test_late_parts(sizes):
    x = random(3, 6)
    check(one("Split", [x, ints(*sizes)], outputs=2, opset=18, axis=1), x, ints(*sizes))


@pytest.mark.parametrize("axes", [(0,), (-1,), (1, 3), (4, 0)])
def test_late_new_axes(axes):
    x = random(2, 3, 4)
    check(one("Unsqueeze", [x, ints(*axes)], opset=13), x, ints(*axes))


@pytest.mark.parametrize("axes", [(0,), (-1,), (0, 2), (2, 0)])
def test_late_dropped_axes(axes):
    x = random(1, 3, 1)
    check(one("Squeeze", [x, ints(*axes)], opset=13), x, ints(*axes))


@pytest.mark.parametrize("axes", [(0,), (-1, 0), (1,)])
def test_a_late_slice(axes):
    x, count = random(4, 5), len(axes)
    bounds = [ints(*[1] * count), ints(*[-1] * count), ints(*axes), ints(*[2] * count)]
    check(one("Slice", [x, *bounds], opset=13), x, *bounds)


@pytest.mark.parametrize("repeats", [(1, 2, 3), (2, 1, 1), (0, 1, 2)])
def test_late_repeats(repeats):
    x = random(2, 3, 4)
    check(one("Tile", [x, ints(*repeats)], opset=13), x, ints(*repeats))
