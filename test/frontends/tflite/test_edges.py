"""Operators at their edges are bit-equal to LiteRT's kernels; `make_edges.py` wrote the files."""

from pathlib import Path

import numpy as np
import pytest
from nnc import NncError, compile

FOLDER = Path(__file__).parent / "files" / "edges"
NAMES = sorted(path.stem for path in FOLDER.glob("*.tflite"))


def arrays(stored, prefix: str) -> list[np.ndarray]:
    return [stored[f"{prefix}{i}"] for i in range(sum(k.startswith(prefix) for k in stored))]


@pytest.mark.parametrize("name", NAMES)
def test_equal(name):
    with np.load(FOLDER / f"{name}.npz") as stored:
        inputs, outputs = arrays(stored, "in"), arrays(stored, "out")
    model = compile(FOLDER / f"{name}.tflite")
    found = model.run(dict(zip(model.input_names, inputs, strict=True)))
    for value, wanted in zip(found.values(), outputs, strict=True):
        assert value.dtype == wanted.dtype
        np.testing.assert_array_equal(value, wanted)


def test_too_few_elements_for_a_mirrored_border():
    """3 rows are asked for behind 2."""
    model = compile(FOLDER / "mirrored_open.tflite")
    with pytest.raises(NncError, match="less elements than it is padded by"):
        model.run({model.input_names[0]: np.ones((2, 4), np.float32)})


def test_elements_that_do_not_divide_into_blocks():
    """5 and a border of 1 do by 2; 4 do not."""
    model = compile(FOLDER / "blocks_open.tflite")
    with pytest.raises(NncError, match="do not divide into blocks of 2"):
        model.run({model.input_names[0]: np.ones((2, 4, 4, 2), np.float32)})


def test_cells_finer_than_the_kernels_are_computed_in_floats():
    """Within a unit of the LSTM in float64, whose operands are the same integers.

    The cell's scale is 2^-16, of which LiteRT's kernels have no tanh.
    """
    folder = FOLDER.parent / "cells"
    with np.load(folder / "fine_cell.npz") as stored:
        x, wanted = stored["x"], stored["wanted"]
    found = compile(folder / "fine_cell.tflite")(x)
    assert found.dtype == np.int8
    np.testing.assert_allclose(found, wanted, rtol=0, atol=1)
