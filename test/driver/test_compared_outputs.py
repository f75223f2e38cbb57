"""Whether a candidate's buffers agree with the default's: bounds, types, and what is undefined."""

import ctypes

import ml_dtypes
import numpy as np
import pytest
from nnc.driver.tuning.checking import Bound, Buffer, Comparison, beyond, buffers_of
from nnc.driver.tuning.default import scheduled_kernels

from .test_experiments import bufferized


def compared(default, candidate, buffers, arrays):
    """The fault that is found, and the arrays as they are afterwards."""
    kind = ctypes.CFUNCTYPE(None, *[ctypes.c_void_p] * len(arrays))
    forms = [kind(lambda *given, f=f: f(*map(view, given))) for f in (default, candidate)]
    sizes = {a.ctypes.data: a for a in arrays}

    def view(address):
        return sizes[address]

    first, second = (ctypes.cast(form, ctypes.c_void_p).value or 0 for form in forms)
    one = Comparison(buffers, 0, first, second)
    kind(one.address)(*[a.ctypes.data for a in arrays])
    return one.fault


def buffer(array, bound=None):
    return Buffer(array.shape, array.dtype, bound)


def test_what_the_default_made_stays_and_the_difference_is_told():
    x, y = np.arange(4, dtype=np.int32), np.zeros(4, np.int32)

    def default(x, y):
        y[:] = x + 1

    def candidate(x, y):
        y[:] = x + 1
        y[2] += 1

    fault = compared(default, candidate, [buffer(x), buffer(y, Bound())], [x, y])
    assert fault == "1 of 4 integers differ, by up to 1" and y.tolist() == [1, 2, 3, 4]
    assert compared(default, default, [buffer(x), buffer(y, Bound())], [x, y]) == ""


def test_an_element_that_is_not_written_shows_though_it_was_right_before():
    x, y = np.ones(4, np.float32), np.ones(4, np.float32)

    def default(x, y):
        y[:] = x

    def candidate(x, y):
        y[:3] = x[:3]

    fault = compared(default, candidate, [buffer(x), buffer(y, Bound(absolute=0.1))], [x, y])
    assert fault == "NaN or infinity in other places"


def test_in_place_the_candidate_reads_what_the_default_read():
    y = np.array([1.0, 2.0], np.float32)

    def twice(_, y):
        y *= 2

    whole = buffer(y, Bound(absolute=1e-6))
    assert compared(twice, twice, [buffer(y), whole], [y, y]) == ""
    assert y.tolist() == [2.0, 4.0]


@pytest.mark.parametrize(
    "want, got, bound, agrees",
    [
        ([1, 2], [1, 3], Bound(), False),
        ([1, 2], [1, 3], Bound(steps=1), True),
        ([1, 2], [1, 4], Bound(steps=1), False),
        ([100.0, 1.0], [100.0, 1.05], Bound(absolute=1e-3), True),
        ([100.0, 1.0], [100.0, 1.2], Bound(absolute=1e-3), False),
        ([100.0, 1.0], [101.0, 1.0], Bound(relative=0.02), True),
        ([100.0, 1.0], [101.0, 1.1], Bound(relative=0.02), False),
        ([np.nan, 1.0], [np.nan, 1.0], Bound(), True),
        ([np.inf, 1.0], [-np.inf, 1.0], Bound(absolute=1.0), False),
    ],
)
def test_bounds(want, got, bound, agrees):
    dtype = np.int8 if isinstance(want[0], int) else np.float32
    assert (beyond(np.array(want, dtype), np.array(got, dtype), bound) == "") is agrees


def product(type, result):
    made = f"tensor<4x5x{result}>"
    return f"""
func.func @main(%x: tensor<4x300x{type}>, %w: tensor<300x5x{type}>) -> {made} {{
  %0 = nn.matmul %x, %w : (tensor<4x300x{type}>, tensor<300x5x{type}>) -> {made}
  return %0 : {made}
}}
"""


def bound_of(text):
    """The bound of the result, whose kernel is last: a processor may widen the operands before."""
    *_, kernel = scheduled_kernels(bufferized(text)).values()
    buffers = buffers_of(kernel)
    assert buffers is not None and buffers[-1].bound is not None
    return buffers[-1].bound


def test_the_rounding_of_sums_decides_how_far_results_may_differ():
    """f16 and bf16 add up in f32: two orders of 300 terms differ far less than a last place."""
    single = bound_of(product("f32", "f32"))
    assert single.relative == 0 and single.absolute == pytest.approx(101.3 * 2**-23, rel=1e-2)
    half, brain = bound_of(product("f16", "f16")), bound_of(product("bf16", "bf16"))
    assert half.relative == 2**-9 and brain.relative == 2**-6
    assert half.absolute == brain.absolute < 2e-5
    rng = np.random.default_rng(0)
    for dtype, bound in ((np.float16, half), (ml_dtypes.bfloat16, brain)):
        x, w = (
            rng.standard_normal(s).astype(dtype).astype(np.float32) for s in ((4, 300), (300, 5))
        )
        forward = (x @ w).astype(dtype)
        parts = np.sum([x[:, i::7] @ w[i::7] for i in range(7)], axis=0).astype(dtype)
        assert beyond(forward, parts, bound) == ""
        wrong = (x @ w - x[:, :1] @ w[:1] * 0.05).astype(dtype)  # a twentieth of one of 300 terms
        assert beyond(forward, wrong, bound) != ""
