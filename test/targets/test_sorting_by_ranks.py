"""Elements sorted by ranks on devices, against NumPy's stable sort."""

import sys

import nnc
import numpy as np
import pytest
from nnc.ir.diagnostics import NncError
from nnc.targets import base

from ..lowering.nn_cases import one_op
from .emulated import require_opencl
from .llvm_devices import emulation
from .test_emulated_operators import together
from .test_webgpu import adapter  # noqa: F401 - a fixture

pytestmark = pytest.mark.emulated

RNG = np.random.default_rng(7)
SHAPES = [((1,), 0), ((70,), 0), ((2, 7), 1), ((3, 5, 4), 1)]
TYPES = {"f32": np.float32, "i64": np.int64, "f16": np.float16, "ui8": np.uint8}


@pytest.fixture
def device(request, monkeypatch):
    """The name of a device that is run here; skips where nothing runs it."""
    if request.param == "opencl":
        require_opencl()
    elif request.param == "webgpu":
        request.getfixturevalue("adapter")
    elif emulation.COMPILER is None:
        pytest.skip("no C compiler")
    monkeypatch.setitem(sys.modules, "nnc.targets.emulated_devices", emulation)
    monkeypatch.setattr(base, "FAMILIES", (*base.FAMILIES, "emulated_devices"))
    return request.param


def best(x, count: int, axis: int, largest: bool):
    """The best elements along an axis and their indices; NaN is the largest number."""
    wide = x.astype(np.float64)
    key = np.nan_to_num(-wide if largest else wide, posinf=1e9, neginf=-1e9, nan=0)
    key = np.where(np.isnan(wide), -1e99 if largest else 1e99, key)
    order = np.argsort(key, axis=axis, kind="stable").take(range(count), axis)
    return np.take_along_axis(x, order, axis), order


def with_equal_ones(shape, type: str):
    """Elements of which many are equal, also NaN and infinities."""
    x = RNG.integers(0, 4, shape).astype(TYPES[type])
    if x.size > 5 and type.startswith("f"):
        x.reshape(-1)[[1, 3, -1, 4]] = np.nan, np.inf, np.nan, -np.inf
    return x


def top_k(shape: tuple, axis: int, count: int, type: str, largest: bool, has_read: bool = False):
    """The text of a function of `shape` extents (None: open); the count may be read from memory."""
    extents = ["?" if n is None else str(n) for n in shape]
    source = f"tensor<{'x'.join(extents)}x{type}>"
    extents[axis] = "?" if has_read else str(count)
    kept = "x".join(extents)
    text = f"nn.top_k %x, %k {{axis = {axis} : i64, largest = {str(largest).lower()}}} : "
    text += f"({source}, tensor<1xi64>) -> (tensor<{kept}x{type}>, tensor<{kept}xi64>)"
    return one_op(text, f"%x: {source}", "%k: tensor<1xi64>")


def check_top_k(type: str, is_open: bool, name: str) -> None:
    """Compare all elements, and the first, of lists of one and more."""
    texts, values, want = [], [], []
    for shape, axis in SHAPES:
        for count, largest in ((shape[axis], False), (min(3, shape[axis]), True)):
            x = with_equal_ones(shape, type)
            known = (None,) * len(shape) if is_open else shape
            texts.append(top_k(known, axis, count, type, largest))
            values += [x, np.array([count])]
            want += best(x, count, axis, largest)
    compiled = nnc.compile(together(texts), target=name, fallback=False)
    for got, expected in zip(compiled(*values), want, strict=True):
        np.testing.assert_array_equal(got, expected)


@pytest.mark.parametrize("device", ["opencl"], indirect=True)
@pytest.mark.parametrize(
    ("type", "is_open"),
    [("f32", False), ("i64", True), ("f16", False), ("ui8", False)],
)
def test_top_k(type, is_open, device):
    check_top_k(type, is_open, device)


@pytest.mark.parametrize("type", ["f32", "f16", "i64"])
@pytest.mark.parametrize("device", ["webgpu", "emulated-cuda-sm80"], indirect=True)
def test_top_k_on_other_devices(type, device):
    """WGSL has no NaN that can be counted on, and no f16: vectors of them are compared as words."""
    check_top_k(type, False, device)


def sort_rows(rows, columns, type: str) -> str:
    """The text of a function that sorts the rows of a matrix."""
    source = f"tensor<{rows}x{columns}x{type}>"
    text = f"nn.sort_rows %x : ({source}) -> tensor<{rows}xi64>"
    return one_op(text, f"%x: {source}")


@pytest.mark.parametrize(
    ("device", "type", "is_open"),
    [
        ("opencl", "f32", False),
        ("opencl", "f32", True),
        ("opencl", "ui8", False),
        ("opencl", "i64", True),
        ("webgpu", "f32", False),
        ("webgpu", "i64", True),
        ("emulated-cuda-sm80", "f32", True),
    ],
    indirect=["device"],
)
def test_sort_rows(device, type, is_open):
    """Rows of one, of few and of no columns, none, and one; many are equal, some have NaN."""
    shapes = [(70, 1), (33, 3), (1, 2), (7, 5)] + [(0, 2), (5, 0)] * is_open
    values = [with_equal_ones(shape, type) for shape in shapes]
    texts = [sort_rows(*(("?", "?") if is_open else shape), type) for shape in shapes]
    compiled = nnc.compile(together(texts), target=device, fallback=False)
    for x, got in zip(values, compiled(*values), strict=True):
        order = np.lexsort(x.T[::-1]) if x.size else np.arange(len(x))
        np.testing.assert_array_equal(got, order)


@pytest.mark.parametrize("device", ["opencl"], indirect=True)
def test_no_elements(device):
    """Lists of none, and none of each list."""
    compiled = nnc.compile(together([top_k((None, None), 1, 0, "f32", True)]), target=device)
    for shape in [(2, 0), (0, 3), (2, 3)]:
        values, places = compiled(np.ones(shape, np.float32), np.array([0]))
        assert values.shape == places.shape == (shape[0], 0)


@pytest.mark.parametrize(
    ("device", "type", "has_read"),
    [("opencl", "f32", True), ("webgpu", "f64", False)],
    indirect=["device"],
)
def test_the_host_sorts_in_heaps(device, type, has_read):
    """By ranks it would take the square of the list's length; here that is some hours."""
    module = together([top_k((1_000_000,), 0, 5, type, True, has_read)])
    x = RNG.standard_normal(1_000_000).astype("f" + str(int(type[1:]) // 8))
    with pytest.raises(NncError, match="steps are not for"):
        nnc.compile(module, target=device, fallback=False)
    compiled = nnc.compile(module, target=device)
    values, places = compiled(x, np.array([5]))
    wanted = np.argsort(-x, kind="stable")[:5]
    np.testing.assert_array_equal(places, wanted)
    np.testing.assert_array_equal(values, x[wanted])
