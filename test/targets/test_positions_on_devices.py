"""Positions of elements that are not 0, found by all threads of a device, against NumPy."""

import nnc
import numpy as np
import pytest

from ..lowering.nn_cases import one_op
from .test_emulated_operators import together
from .test_sorting_by_ranks import device, with_equal_ones  # noqa: F401 - a fixture
from .test_webgpu import adapter  # noqa: F401 - a fixture

pytestmark = pytest.mark.emulated

SHAPES = [(), (1,), (600,), (256,), (70, 33), (3, 5, 40)]


def non_zero(shape, type: str) -> str:
    """The text of a function that finds the positions in a tensor of these extents."""
    source = f"tensor<{'x'.join([*map(str, shape), type])}>"
    text = f"nn.non_zero %x : ({source}) -> tensor<{len(shape)}x?xi64>"
    return one_op(text, f"%x: {source}")


@pytest.mark.parametrize(
    ("device", "type", "is_open"),
    [
        ("opencl", "f32", False),
        ("opencl", "i64", True),
        ("opencl", "f16", False),
        ("opencl", "ui8", True),
        ("webgpu", "f32", False),
        ("webgpu", "i64", True),
        ("emulated-cuda-sm80", "f32", True),
    ],
    indirect=["device"],
)
def test_non_zero(device, type, is_open):  # noqa: F811 - the fixture
    """Of all elements, of some, of NaN, and of none; also of no elements."""
    shapes = [*SHAPES, *([(0, 3), (4, 0)] if is_open else [])]
    texts = [non_zero(["?"] * len(shape) if is_open else shape, type) for shape in shapes]
    compiled = nnc.compile(together(texts), target=device, fallback=False)
    for kind in ("all", "some", "none"):
        values = [with_equal_ones(shape, type) for shape in shapes]
        if kind != "some":
            values = [np.full_like(x, kind == "all") for x in values]
        for x, got in zip(values, compiled(*values), strict=True):
            places = np.array(np.nonzero(x)) if x.ndim else np.zeros((0, int(bool(x))), np.int64)
            np.testing.assert_array_equal(got, places)


@pytest.mark.parametrize("device", ["opencl"], indirect=True)
def test_what_follows_has_as_many_elements(device):  # noqa: F811 - the fixture
    """The number that the device has found is that of the gather behind it."""
    text = """func.func @main(%x: tensor<?xf32>) -> (tensor<1x?xf32>) {
  %i = nn.non_zero %x : (tensor<?xf32>) -> tensor<1x?xi64>
  %y = nn.gather %x, %i {axis = 0 : i64} : (tensor<?xf32>, tensor<1x?xi64>) -> tensor<1x?xf32>
  func.return %y : tensor<1x?xf32>
}"""
    compiled = nnc.compile(together([text]), target=device, fallback=False)
    for count in (0, 1, 300, 257):
        x = with_equal_ones((count,), "f32")
        np.testing.assert_array_equal(compiled(x), x[None, x != 0])
