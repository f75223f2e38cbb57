"""Running sums and products of few lists, computed by all threads of a device, against NumPy."""

from itertools import cycle

import nnc
import numpy as np
import pytest

from ..lowering.test_nn_to_linalg_cases import one_op
from .test_emulated_operators import together
from .test_sorting_by_ranks import device, with_equal_ones  # noqa: F401 - a fixture
from .test_webgpu import adapter  # noqa: F401 - a fixture

pytestmark = pytest.mark.emulated

SHAPES = [((1,), 0), ((600,), 0), ((3, 40, 2), 1), ((2, 1300), 1), ((1280, 3), 0), ((2, 256), 1)]
"""Extents, and the axis: of one element, and of one and of several blocks."""
MODES = [(False, False), (True, False), (False, True), (True, True)]
"""Whether a result is without its own element, and whether lists are scanned from the end."""


def running(shape, axis: int, type: str, op: str, mode, is_open: bool):
    """The text of a running sum or product, its operand, and what comes out."""
    exclusive, reverse = mode
    x = with_equal_ones(shape, type)
    x = np.flip(x, axis) if reverse else x
    whole = (np.cumsum if op == "cumsum" else np.cumprod)(x.astype(wide_of(x)), axis)
    if exclusive:
        first = np.full_like(whole.take([0], axis), op == "cumprod") if x.size else whole
        whole = np.concatenate([first, whole], axis).take(range(x.shape[axis]), axis)
    if reverse:
        x, whole = np.flip(x, axis), np.flip(whole, axis)
    named = "x".join([*("?" if is_open else str(n) for n in shape), type])
    said = ", ".join(["exclusive = true"] * exclusive + ["reverse = true"] * reverse)
    attributes = f"axis = {axis} : i64{', ' * bool(said)}{said}"
    text = f"nn.{op} %x {{{attributes}}} : (tensor<{named}>) -> tensor<{named}>"
    return one_op(text, f"%x: tensor<{named}>"), np.ascontiguousarray(x), whole.astype(x.dtype)


def wide_of(x):
    return np.float64 if x.dtype.kind == "f" else x.dtype


@pytest.mark.parametrize(
    ("device", "type", "is_open"),
    [
        ("opencl", "f32", False),
        ("opencl", "f32", True),
        ("opencl", "i64", True),
        ("opencl", "f16", False),
        ("webgpu", "f32", True),
        ("webgpu", "i64", False),
        ("emulated-cuda-sm80", "f32", True),
    ],
    indirect=["device"],
)
def test_running(device, type, is_open):  # noqa: F811 - the fixture
    """Of small numbers, whose sums are exact, NaN and infinities."""
    shapes = [*SHAPES, *([((0,), 0), ((3, 0), 1), ((0, 5), 1)] if is_open else [])]
    ops = ["cumsum", "cumprod"] if type.startswith("i") else ["cumsum"]
    with np.errstate(all="ignore"):
        made = [
            running(shape, axis, type, op, mode, is_open)
            for op in ops
            for (shape, axis), mode in zip(shapes, cycle(MODES), strict=False)
        ]
    texts, values, wanted = zip(*made, strict=True)
    compiled = nnc.compile(together(list(texts)), target=device, fallback=False)
    for text, got, want in zip(texts, compiled(*values), wanted, strict=True):
        np.testing.assert_array_equal(got, want, err_msg=text)


@pytest.mark.parametrize("device", ["opencl"], indirect=True)
def test_products_after_a_zero(device):  # noqa: F811 - the fixture
    """The product of the elements behind a zero alone would overflow."""
    x = np.full((2, 2000), 5, np.float32)
    x[:, 3] = 0
    text = one_op(
        "nn.cumprod %x {axis = 1 : i64} : (tensor<2x2000xf32>) -> tensor<2x2000xf32>",
        "%x: tensor<2x2000xf32>",
    )
    got = nnc.compile(together([text]), target=device, fallback=False)(x)
    np.testing.assert_array_equal(got, np.cumprod(x, 1))
