"""The best elements of lists, found by ranks on a device (PoCL), against NumPy's stable sort."""

import nnc
import numpy as np
import pytest

from ..lowering.test_nn_to_linalg_cases import one_op
from .emulated import require_opencl
from .test_emulated_operators import together

pytestmark = pytest.mark.emulated

RNG = np.random.default_rng(7)
SHAPES = [((1,), 0), ((300,), 0), ((2, 7), 1), ((7, 2), 0), ((3, 5, 4), 1), ((2, 1, 3), 1)]
TYPES = {"f32": np.float32, "i64": np.int64, "f16": np.float16, "ui8": np.uint8}


def best(x, count: int, axis: int, largest: bool):
    """The best elements along an axis and their indices; NaN is the largest number."""
    wide = x.astype(np.float64)
    key = np.nan_to_num(-wide if largest else wide, posinf=1e9, neginf=-1e9, nan=0)
    key = np.where(np.isnan(wide), -1e99 if largest else 1e99, key)
    order = np.argsort(key, axis=axis, kind="stable").take(range(count), axis)
    return np.take_along_axis(x, order, axis), order


def cases(type: str, is_open: bool, largest: bool):
    """Texts of functions, elements of which many are equal, and how many are wanted of each."""
    for shape, axis in SHAPES:
        for count in sorted({1, min(3, shape[axis]), shape[axis]}):
            extents = ["?"] * len(shape) if is_open else [str(n) for n in shape]
            source = f"tensor<{'x'.join(extents)}x{type}>"
            extents[axis] = "?" if is_open else str(count)
            kept = "x".join(extents)
            text = f"nn.top_k %x, %k {{axis = {axis} : i64, largest = {str(largest).lower()}}} : "
            text += f"({source}, tensor<1xi64>) -> (tensor<{kept}x{type}>, tensor<{kept}xi64>)"
            x = RNG.integers(0, 4, shape).astype(TYPES[type])
            if x.size > 5 and type.startswith("f"):
                x.reshape(-1)[[1, 3, -1, 4]] = np.nan, np.inf, np.nan, -np.inf
            yield one_op(text, f"%x: {source}", "%k: tensor<1xi64>"), x, count, axis


@pytest.mark.parametrize("largest", [True, False])
@pytest.mark.parametrize("is_open", [False, True])
@pytest.mark.parametrize("type", TYPES)
def test_top_k(type, is_open, largest):
    """In lists of one element and more, all of them or the first, with many equal ones and NaN."""
    require_opencl()
    made = list(cases(type, is_open, largest))
    values = [v for _, x, count, _ in made for v in (x, np.array([count]))]
    found = nnc.compile(together([text for text, *_ in made]), target="opencl")(*values)
    want = [part for _, x, *how in made for part in best(x, *how, largest)]
    for got, expected in zip(found, want, strict=True):
        np.testing.assert_array_equal(got, expected)


def test_no_elements():
    """Lists of none, and none of each list."""
    require_opencl()
    source, kept = "tensor<?x?xf32>", "tensor<?x?xf32>, tensor<?x?xi64>"
    text = f"nn.top_k %x, %k {{axis = 1 : i64}} : ({source}, tensor<1xi64>) -> ({kept})"
    compiled = nnc.compile(
        together([one_op(text, f"%x: {source}", "%k: tensor<1xi64>")]), target="opencl"
    )
    for shape in [(2, 0), (0, 3), (2, 3)]:
        values, places = compiled(np.ones(shape, np.float32), np.array([0]))
        assert values.shape == places.shape == (shape[0], 0)
