"""Floats that meet weights of 8 bits are rounded as LiteRT does; `make_hybrid.py` wrote the files."""

from pathlib import Path

import nnc
import numpy as np
import pytest
from nnc.ir.numpy_types import type_to_numpy
from nnc.numerics.interpreter import Interpreter

FOLDER = Path(__file__).parent / "files" / "hybrid"
NAMES = sorted(path.stem for path in FOLDER.glob("*.tflite"))
COMPILED = ("conv_rows", "dense_halves_0", "lstm_1")


def interpreted(name):
    """What gives the results of a model for its input and states, which are zeros where missing."""
    module = nnc.load(FOLDER / f"{name}.tflite")
    (main,) = module.body_block
    interpreter = Interpreter(module)

    def run(x, *states):
        types = [value.type for value in main.body_block.args][1 + len(states) :]
        zeros = [np.zeros(t.shape, type_to_numpy(t.element_type)) for t in types]
        return interpreter.call("main", [x, *states, *zeros])

    return run


@pytest.mark.parametrize("name", NAMES)
def test_agrees(name):
    """A step of the rounding is a thousand times as much as what is allowed here."""
    with np.load(FOLDER / f"{name}.npz") as stored:
        x, steps = stored["in0"], stored["out"]
    run, states = interpreted(name), []
    for wanted in steps:
        got, *states = run(x, *states)
        compare(got, wanted)


@pytest.mark.parametrize("name", COMPILED)
def test_agrees_compiled(name):
    with np.load(FOLDER / f"{name}.npz") as stored:
        compare(nnc.compile(FOLDER / f"{name}.tflite")(stored["in0"]), stored["out"][0])


def test_weights_without_a_sign_are_an_error():
    """LiteRT reads their bytes as such with a sign, whatever the file says of their zero point."""
    with pytest.raises(nnc.NncError, match="floats that meet weights of uint8"):
        nnc.load(FOLDER.parent / "refused" / "uint8_weights.tflite")


def compare(got, wanted):
    np.testing.assert_allclose(got, wanted, rtol=0, atol=4e-6 * np.abs(wanted, dtype=float).max())
