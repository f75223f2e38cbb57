"""Models of ncnn against ncnn's own results, which `make.py` has stored."""

from pathlib import Path

import nnc
import numpy as np
import pytest

FILES = Path(__file__).parent / "files"
GROUPS = sorted(path.stem for path in FILES.glob("*.param"))


@pytest.mark.parametrize("name", GROUPS)
def test_layers(name):
    """Each layer of a group gives what ncnn gives."""
    model = nnc.compile(FILES / f"{name}.param")
    stored = np.load(FILES / f"{name}.npz")
    found = model.run({key: stored[key] for key in stored if key.startswith("in")})
    faults = []
    for key, value in found.items():
        wanted, value = stored[key], np.asarray(value)
        if wanted.shape != value.shape:
            faults.append(f"{key}: shape {value.shape}, expected {wanted.shape}")
        elif not np.abs(value - wanted).max() <= 1e-4 * np.abs(wanted).max():
            faults.append(f"{key}: {np.abs(value - wanted).max()} of {np.abs(wanted).max()}")
    assert not faults
    assert len(found) == sum(key.startswith("out") for key in stored)
