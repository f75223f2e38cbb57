"""Updates of single elements, searched for by all threads of a device, against NumPy."""

from itertools import cycle

import nnc
import numpy as np
import pytest
from nnc.ir.diagnostics import NncError

from ..lowering.test_nn_to_linalg_cases import one_op
from .test_emulated_operators import together
from .test_sorting_by_ranks import device, with_equal_ones  # noqa: F401 - a fixture
from .test_webgpu import adapter  # noqa: F401 - a fixture

pytestmark = pytest.mark.emulated

RNG = np.random.default_rng(11)
REDUCTIONS = {
    "none": None,
    "add": np.add,
    "mul": np.multiply,
    "max": np.maximum,
    "min": np.minimum,
}
ELEMENTS = [((1,), (400,), 0), ((90,), (700,), 0), ((3, 50), (2, 300), 1), ((40, 4), (500, 4), 0)]
"""Extents of the data, extents of the indices, and the axis."""
ROWS = [((70,), (600,), 1), ((5, 6), (300,), 2), ((9, 5, 3), (20, 20), 2), ((30, 7), (500,), 1)]
"""Extents of the data, extents before the last one of the indices, and that one."""


def combined(out, at, update, reduction: str):
    """Set an element or slice of `out`, or combine it with an update."""
    function = REDUCTIONS[reduction]
    out[at] = update if function is None else function(out[at], update)


def spelled(extents, element: str, is_open: bool) -> str:
    """A tensor's type."""
    return f"tensor<{'x'.join([*('?' if is_open else str(n) for n in extents), element])}>"


def elements(case, type: str, reduction: str, is_open: bool, number: str = "i64"):
    """The text of a scatter of elements, its operands, and what comes out."""
    shape, updated, axis = case
    data, updates = with_equal_ones(shape, type), with_equal_ones(updated, type)
    if reduction == "mul":  # Products do not overflow on the way.
        data, updates = np.minimum(data, 1), np.minimum(updates, 1)
    at = RNG.integers(-shape[axis], shape[axis], updated).astype(f"i{int(number[1:]) // 8}")
    wanted = data.copy()
    for place in np.ndindex(at.shape):
        where = (*place[:axis], at[place], *place[axis + 1 :])
        combined(wanted, where, updates[place], reduction)
    types = [spelled(shape, type, is_open), spelled(updated, number, is_open)]
    types.append(spelled(updated, type, is_open))
    text = f'nn.scatter_elements %x, %i, %u {{axis = {axis} : i64, reduction = "{reduction}"}} : '
    arguments = [f"%{name}: {one}" for name, one in zip("xiu", types, strict=True)]
    return (
        one_op(f"{text}({', '.join(types)}) -> {types[0]}", *arguments),
        [data, at, updates],
        wanted,
    )


def rows(case, type: str, reduction: str, is_open: bool, number: str = "i64"):
    """The text of a scatter of elements or slices, its operands, and what comes out."""
    shape, before, length = case
    updated = (*before, *shape[length:])
    data, updates = with_equal_ones(shape, type), with_equal_ones(updated, type)
    if reduction == "mul":  # Products do not overflow on the way.
        data, updates = np.minimum(data, 1), np.minimum(updates, 1)
    at = RNG.integers([-n for n in shape[:length]], shape[:length], (*before, length))
    at = at.astype(f"i{int(number[1:]) // 8}")
    wanted = data.copy()
    for place in np.ndindex(*before):
        combined(wanted, tuple(at[place]), updates[place], reduction)
    indices = spelled(before, f"{length}x{number}", is_open)
    types = [spelled(shape, type, is_open), indices, spelled(updated, type, is_open)]
    text = f'nn.scatter_nd %x, %i, %u {{reduction = "{reduction}"}} : '
    arguments = [f"%{name}: {one}" for name, one in zip("xiu", types, strict=True)]
    return (
        one_op(f"{text}({', '.join(types)}) -> {types[0]}", *arguments),
        [data, at, updates],
        wanted,
    )


EMPTY = [(elements, ((7,), (0,), 0)), (rows, ((7,), (0,), 1)), (elements, ((0,), (0,), 0))]


@pytest.mark.parametrize(
    ("device", "type", "is_open", "first"),
    [
        ("opencl", "f32", False, 0),
        ("opencl", "f32", True, 1),
        ("opencl", "i64", True, 2),
        ("opencl", "f16", False, 3),
        ("opencl", "ui8", False, 4),
        ("webgpu", "f32", True, 0),
        ("webgpu", "i64", False, 1),
        ("emulated-cuda-sm80", "f32", False, 4),
    ],
    indirect=["device"],
)
def test_scatters(device, type, is_open, first):  # noqa: F811 - the fixture
    """Most elements get several updates, the last of which counts; some are NaN or infinite.

    The cases have the reductions in turns, from number `first` on.
    """
    cases = [(elements, case) for case in ELEMENTS] + [(rows, case) for case in ROWS]
    if is_open:
        cases += EMPTY
    made, turns = [], cycle([*REDUCTIONS][first:] + [*REDUCTIONS][:first])
    with np.errstate(all="ignore"):
        for i, ((make, case), reduction) in enumerate(zip(cases, turns, strict=False)):
            made.append(make(case, type, reduction, is_open, "i32" if i % 2 else "i64"))
    texts, values, wanted = zip(*made, strict=True)
    compiled = nnc.compile(together(list(texts)), target=device, fallback=False)
    found = compiled(*[x for given in values for x in given])
    # Sums in another order are rounded otherwise; so are those of f16 that are kept in f32.
    tolerance = {"f32": 1e-5, "f16": 5e-3}.get(type, 0)
    for text, got, want in zip(texts, found, wanted, strict=True):
        np.testing.assert_allclose(got, want, tolerance, tolerance, err_msg=text)


@pytest.mark.parametrize("device", ["opencl"], indirect=True)
@pytest.mark.parametrize("make", [elements, rows], ids=["elements", "rows"])
def test_an_index_out_of_range(device, make):  # noqa: F811 - the fixture
    text, (data, at, updates), _ = make(
        {elements: ELEMENTS, rows: ROWS}[make][1], "f32", "add", False
    )
    compiled = nnc.compile(together([text]), target=device, fallback=False)
    for wrong in (1 << 40, -(1 << 40), 1000):
        at.reshape(-1)[17] = wrong
        with pytest.raises(NncError, match="out of range"):
            compiled(data, at, updates)
