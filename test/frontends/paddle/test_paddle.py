"""Models of PaddlePaddle against its own results, which `make.py` has stored."""

from pathlib import Path
from zipfile import ZipFile

import nnc
import numpy as np
import pytest
from nnc.frontends.formats import import_model
from nnc.numerics.interpreter import Interpreter

from ..models import main_of

FILES = Path(__file__).parent / "files"
ALL = sorted(path.stem for path in FILES.glob("*.zip"))
INTERPRETED = (
    "detectors",
    "indices",
    "proposals",
    "quantized",
    "proposals_old",
    "indices_old",
    "corners_old",
)  # to compile them takes long
SECOND = ("elementwise", "images_old", "movement", "networks")  # the same operators once more
GROUPS = [pytest.param(n, marks=pytest.mark.slow) if n in SECOND else n for n in ALL]


def unpacked(name, folder):
    """The path of a program, with its parameters and results beside it."""
    with ZipFile(FILES / f"{name}.zip") as archive:
        archive.extractall(folder)
    return folder / (name + (".pdmodel" if name.endswith("_old") else ".json"))


def compiled(path, inputs):
    return list(nnc.compile(path).run(inputs).values())


def largest(array):
    """The magnitude of the largest element that is a number."""
    return np.abs(array[np.isfinite(array)].astype(np.complex128)).max(initial=0)


def interpreted(path, inputs):
    module = import_model(path)
    module.verify()
    names = [name.value for name in main_of(module).attributes["nn.input_names"]]
    return Interpreter(module).call("main", [inputs[name] for name in names])


@pytest.mark.parametrize("name", GROUPS)
def test_programs(name, tmp_path):
    """Each result of a group of operators is what PaddlePaddle gives."""
    path = unpacked(name, tmp_path)
    stored = np.load(path.with_suffix(".npz"))
    inputs = {key: stored[key] for key in stored if not key.startswith("result")}
    found = interpreted(path, inputs) if name in INTERPRETED else compiled(path, inputs)
    faults = []
    for i, value in enumerate(found):
        wanted, value = stored[f"result{i}"], np.asarray(value)
        if wanted.shape != value.shape or wanted.dtype != value.dtype:
            faults.append(
                f"{i}: {value.dtype} {value.shape}, expected {wanted.dtype} {wanted.shape}"
            )
        elif not np.allclose(value, wanted, rtol=0, atol=1e-4 * largest(wanted), equal_nan=True):
            faults.append(f"{i}: {value.ravel()[:9]} for {wanted.ravel()[:9]}")
    assert not faults
    assert len(found) == sum(key.startswith("result") for key in stored)


@pytest.mark.parametrize("name", ["norms", "norms_old", "names"])
def test_inputs_stand_as_they_are_given(name, tmp_path):
    """An old program feeds its last input first, and numbers them."""
    path = unpacked(name, tmp_path)
    given = [key for key in np.load(path.with_suffix(".npz")) if not key.startswith("result")]
    names = main_of(import_model(path)).attributes["nn.input_names"]
    assert [one.value for one in names] == given


@pytest.mark.parametrize("name", ["shapes", "shapes_old"])
def test_numbers_of_32_bits_among_those_of_64(name, tmp_path):
    """PaddlePaddle's attributes have 32 bits, which elements of 64 bits show."""
    path = unpacked(name, tmp_path)
    stored = np.load(path.with_suffix(".npz"))
    found = interpreted(path, {"x": stored["x"], "y": stored["y"]})
    for i in range(3, 6):
        np.testing.assert_allclose(found[i], stored[f"result{i}"], rtol=1e-14, atol=1e-15)
