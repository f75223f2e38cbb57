"""Scatters, running sums, sorted elements and suppressed boxes: threads side by side, against NumPy."""

from math import prod

import numpy as np
import pytest
from nnc.dialects import gpu
from nnc.ir.rewriting import constant_int

from ..lowering.nn_cases import one_op
from .device_schedules import for_device, results, schedule

RNG = np.random.default_rng(5)


def scattered_elements():
    """Several updates of an element along the axis, in order."""
    data, updates = RNG.standard_normal((2, 5, 8, 3)), RNG.standard_normal((2, 5, 6, 3))
    at = RNG.integers(-8, 8, (2, 5, 6, 3))
    wanted = data.copy()
    for a, b, c, d in np.ndindex(at.shape):
        wanted[a, b, at[a, b, c, d], d] = updates[a, b, c, d]
    text = "nn.scatter_elements %x, %i, %u {axis = 2 : i64} : "
    types = "tensor<2x5x8x3xf32>", "tensor<2x5x6x3xi64>", "tensor<2x5x6x3xf32>"
    return text, "xiu", types, types[:1], [data, at, updates], [wanted], 2 * 5 * 3


def scattered_rows():
    data, updates = RNG.standard_normal((4, 6, 7)), RNG.standard_normal((9, 6, 7))
    at = RNG.integers(-4, 4, (9, 1))
    wanted = data.copy()
    np.add.at(wanted, at[:, 0], updates)
    text = 'nn.scatter_nd %x, %i, %u {reduction = "add"} : '
    types = "tensor<4x6x7xf32>", "tensor<9x1xi64>", "tensor<9x6x7xf32>"
    return text, "xiu", types, types[:1], [data, at, updates], [wanted], 6 * 7


def running_sums():
    x = RNG.standard_normal((3, 4, 5))
    type = ("tensor<3x4x5xf32>",)
    return "nn.cumsum %x {axis = 1 : i64} : ", "x", type, type, [x], [x.cumsum(1)], 3 * 5


def best():
    x = RNG.integers(-9, 9, (3, 8, 4))
    places = np.argsort(-x, axis=1, kind="stable")[:, :3]
    wanted = [np.take_along_axis(x, places, 1), places]
    text = "nn.top_k %x, %k {axis = 1 : i64} : "
    of = "tensor<3x3x4xf32>", "tensor<3x3x4xi64>"
    return text, "xk", ("tensor<3x8x4xf32>", "tensor<1xi64>"), of, [x, [3]], wanted, 3 * 4


def sorted_rows():
    x = RNG.integers(0, 3, (40, 3))
    text, order = "nn.sort_rows %x : ", np.lexsort(x.T[::-1])
    return text, "x", ("tensor<40x3xf32>",), ("tensor<40xi64>",), [x], [order], 40


def suppressed():
    """Boxes in a row, of which each overlaps with the next by a half of it."""
    boxes = np.zeros((2, 3, 8, 4))
    boxes[..., 0] = np.arange(8) * 0.5
    boxes[..., 2], boxes[..., 3] = boxes[..., 0] + 1, 1
    eligible = RNG.integers(0, 4, (2, 3, 8)) > 0
    wanted = np.zeros_like(eligible)
    for a, b, c in np.ndindex(eligible.shape):
        wanted[a, b, c] = eligible[a, b, c] and not (c and wanted[a, b, c - 1])
    types = "tensor<2x3x8x4xf32>", "tensor<2x3x8xi1>", "tensor<i64>", "tensor<f32>"
    given = [boxes, eligible, 100, 0.2]
    return "nn.suppress %a, %b, %c, %d : ", "abcd", types, types[1:2], given, [wanted], 2 * 3


CASES = (scattered_elements, scattered_rows, running_sums, best, sorted_rows, suppressed)


@pytest.mark.sampled(3)
@pytest.mark.parametrize("case", CASES, ids=lambda case: case.__name__)
def test_what_has_no_order_has_threads(case):
    text, names, types, made, given, wanted, threads = case()
    arguments = [f"%{name}: {type}" for name, type in zip(names, types, strict=True)]
    text = one_op(f"{text}({', '.join(types)}) -> ({', '.join(made)})", *arguments)
    module, subject = for_device("cuda-sm80", text)
    dtypes = {"f32": np.float32, "i64": np.int64, "i1": np.bool_}
    inputs = [
        np.asarray(x, dtypes[type[:-1].split("x")[-1].removeprefix("tensor<")])
        for x, type in zip(given, types, strict=True)
    ]
    schedule(module)
    for got, want in zip(results(module, subject, inputs), wanted, strict=True):
        np.testing.assert_allclose(got, want, rtol=1e-5, atol=1e-5)
    launch = [op for op in module.walk() if isinstance(op, gpu.LaunchFunc)][-1]
    assert prod(map(constant_int, (*launch.grid, *launch.block))) >= threads


@pytest.mark.sampled(2)
@pytest.mark.parametrize("extents", ["500x3x7", "?x?x?"])
def test_threads_that_run_in_lockstep_share_a_group(extents):
    """As many groups as a device has cores get several threads each; the last one has some idle."""
    type = f"tensor<{extents}xf32>"
    text = one_op(f"nn.cumprod %x {{axis = 1 : i64}} : ({type}) -> {type}", f"%x: {type}")
    module, subject = for_device("cuda-sm80", text)
    schedule(module)
    (launch,) = [op for op in module.walk() if isinstance(op, gpu.LaunchFunc)]
    assert constant_int(launch.block[0]) == 32
    assert constant_int(launch.grid[0]) == (None if "?" in extents else 110)
    x = RNG.standard_normal((500, 3, 7)).astype(np.float32)
    (got,) = results(module, subject, [x])
    np.testing.assert_allclose(got, x.cumprod(1), rtol=1e-5, atol=1e-5)
