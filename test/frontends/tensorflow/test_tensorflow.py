"""TensorFlow's models give what TensorFlow gives; `make.py` wrote them."""

from pathlib import Path

import numpy as np
import pytest
from nnc import compile

FILES = Path(__file__).parent / "files"
NAMES = sorted(path.stem for path in FILES.glob("*.npz"))
assert NAMES, "make.py writes them"


def model_path(name: str) -> Path:
    folder = FILES / name
    return folder if folder.is_dir() else FILES / f"{name}.pb"


def arrays(stored, prefix: str) -> list[np.ndarray]:
    return [stored[f"{prefix}{i}"] for i in range(sum(k.startswith(prefix) for k in stored))]


@pytest.mark.parametrize("name", NAMES)
def test_model(name):
    with np.load(FILES / f"{name}.npz") as stored:
        inputs, outputs = arrays(stored, "in"), arrays(stored, "out")
    model = compile(model_path(name))
    names = sorted(model.input_names)
    found = model.run(dict(zip(names, inputs, strict=True)))
    assert len(found) == len(outputs)
    # TensorFlow names them Identity, Identity_1, ..
    order = sorted(found, key=lambda key: (len(key), key))
    for key, wanted in zip(order, outputs, strict=True):
        value = found[key]
        assert value.dtype == wanted.dtype, key
        assert value.shape == wanted.shape, key
        # Bicubic interpolation takes its weights from a table of 1024 places.
        most = (1e-3 if name == "bicubic" else 1e-4) * np.abs(wanted).max(initial=0)
        assert np.abs(value.astype(float) - wanted.astype(float)).max(initial=0) <= most, key
