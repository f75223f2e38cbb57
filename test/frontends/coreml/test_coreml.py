"""CoreML's models against the nets of PyTorch that they were converted from; see `make.py`."""

from __future__ import annotations

from pathlib import Path

import nnc
import numpy as np
import pytest

FILES = Path(__file__).parent / "files"
MODELS = sorted(path.stem for path in FILES.glob("*.ml*"))
LIMITS = {"half": 4e-3, "caches": 2e-3}
"""Of what is computed in half precision."""


def expected(name: str) -> tuple[dict, dict]:
    with np.load(FILES / f"{name}.npz") as arrays:
        sides = [
            {key.partition(":")[2]: arrays[key] for key in arrays if key.startswith(side)}
            for side in ("in:", "out:")
        ]
    return sides[0], sides[1]


@pytest.mark.parametrize("name", MODELS)
def test_pytorch_agrees(name):
    inputs, outputs = expected(name)
    (path,) = FILES.glob(f"{name}.ml*")
    model = nnc.compile(path)
    if name == "caches":
        inputs["cache"] = np.zeros((2, 6), np.float16)
    found = model.run(inputs)
    for key, wanted in outputs.items():
        value = found[key]
        assert value.shape == wanted.shape
        assert np.ptp(wanted) > 0
        wanted = wanted.astype(np.float64)
        limit = LIMITS.get(name, 1e-4) * np.abs(wanted).max()
        assert np.abs(value.astype(np.float64) - wanted).max() <= limit, key
