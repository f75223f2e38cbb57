"""Boxes that overlap, suppressed by all threads of a device, against a loop in Python."""

from fractions import Fraction

import nnc
import numpy as np
import pytest

from ..lowering.test_nn_to_linalg_cases import one_op
from .test_emulated_operators import together
from .test_sorting_by_ranks import device  # noqa: F401 - a fixture
from .test_webgpu import adapter  # noqa: F401 - a fixture

pytestmark = pytest.mark.emulated

RNG = np.random.default_rng(5)
SHAPES = [(1,), (32,), (150,), (2, 33), (2, 3, 40)]
"""Extents of the lists, then the number of boxes."""


def boxes(shape):
    """Boxes whose corners are small integers, some without an area; some are not eligible."""
    low = RNG.integers(0, 12, (*shape, 2))
    corners = np.concatenate([low, low + RNG.integers(0, 7, (*shape, 2))], -1)
    return corners, RNG.random(shape) < 0.8


def suppressed(corners, eligible, limit: int, threshold: Fraction):
    """Which boxes of a list are kept."""
    kept: list = []
    for i in np.flatnonzero(eligible):
        if len(kept) < limit and all(
            overlap(corners[i].tolist(), corners[k].tolist()) <= threshold for k in kept
        ):
            kept.append(i)
    return np.isin(np.arange(len(corners)), kept)


def overlap(a, b) -> Fraction:
    """The exact intersection of two boxes divided by their union; 0 where one has no area."""
    sides = [max(min(a[d + 2], b[d + 2]) - max(a[d], b[d]), 0) for d in range(2)]
    areas = [(x[2] - x[0]) * (x[3] - x[1]) for x in (a, b)]
    common = sides[0] * sides[1]
    return Fraction(common, sum(areas) - common) if common and all(areas) else Fraction(0)


def suppress(shape, type: str) -> str:
    """The text of a function that suppresses boxes of lists of these extents."""
    lists = "x".join(map(str, shape))
    types = f"tensor<{lists}x4x{type}>", f"tensor<{lists}xi1>", "tensor<i64>", f"tensor<{type}>"
    text = f"nn.suppress %b, %e, %n, %t : ({', '.join(types)}) -> {types[1]}"
    return one_op(text, *(f"%{name}: {one}" for name, one in zip("bent", types, strict=True)))


@pytest.mark.parametrize(
    ("device", "type", "is_open"),
    [
        ("opencl", "f32", False),
        ("opencl", "f32", True),
        ("opencl", "f16", False),
        ("webgpu", "f32", True),
        ("webgpu", "f32", False),
        ("emulated-cuda-sm80", "f32", True),
    ],
    indirect=["device"],
)
def test_suppressed_boxes(device, type, is_open):  # noqa: F811 - the fixture
    """With room for all boxes, for some, and for none; also of no boxes."""
    shapes = [*SHAPES, *([(0,), (2, 0), (0, 5)] if is_open else [])]
    texts = [suppress(["?"] * len(shape) if is_open else shape, type) for shape in shapes]
    compiled = nnc.compile(together(texts), target=device, fallback=False)
    number = {"f32": np.float32, "f16": np.float16}[type]
    for limit, threshold in ((1000, Fraction(1, 2)), (4, Fraction(1, 4)), (0, Fraction(1, 2))):
        values, wanted = [], []
        for shape in shapes:
            corners, eligible = boxes(shape)
            values += [corners.astype(number), eligible, np.int64(limit), number(threshold)]
            want = np.zeros(shape, bool)
            for at in np.ndindex(shape[:-1]):
                want[at] = suppressed(corners[at], eligible[at], limit, threshold)
            wanted.append(want)
        for shape, got, want in zip(shapes, compiled(*values), wanted, strict=True):
            np.testing.assert_array_equal(got, want, err_msg=f"{shape}, {limit}")
