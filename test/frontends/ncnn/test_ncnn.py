"""Models of ncnn against ncnn's own results, which `make.py` has stored."""

from pathlib import Path

import nnc
import numpy as np
import pytest

from ..interpreted import interpreted

FILES = Path(__file__).parent / "files"
GROUPS = sorted(path.stem for path in FILES.glob("*.param"))


@pytest.mark.parametrize("name", GROUPS)
def test_layers(name):
    """Each layer of a group gives what ncnn gives."""
    check_layers(name, interpreted(FILES / f"{name}.param"))


@pytest.mark.sampled(3)
@pytest.mark.parametrize("name", GROUPS)
def test_layers_in_machine_code(name):
    check_layers(name, nnc.compile(FILES / f"{name}.param"))


def check_layers(name, model):
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


def written(folder: Path, *lines: str, weights: bytes = b"") -> Path:
    """A network of these layers behind an input."""
    head = ["7767517", f"{len(lines) + 1} {len(lines) + 1}", "Input in0 0 1 in0"]
    path = folder / "net.param"
    path.write_text("\n".join([*head, *lines]) + "\n")
    path.with_suffix(".bin").write_bytes(weights)
    return path


def test_the_last_row(tmp_path):
    """Ends that are not above 0 count from behind: the last row is from -1 up to 0."""
    net = written(tmp_path, "Crop last 1 1 in0 out0 -23309=1,-1 -23310=1,0 -23311=1,0")
    rows = np.arange(12, dtype=np.float32).reshape(4, 3)
    (found,) = nnc.compile(net, shapes={"in0": (4, 3)}).run({"in0": rows}).values()
    np.testing.assert_array_equal(found, rows[-1:])


def test_convolution_of_one_group(tmp_path):
    """A field that says so changes nothing."""
    net = written(
        tmp_path,
        "Convolution conv 1 1 in0 out0 0=1 1=1 6=2 7=1",
        weights=bytes(4) + np.array([2, 3], np.float32).tobytes(),
    )
    x = np.arange(8, dtype=np.float32).reshape(2, 2, 2)
    (found,) = nnc.compile(net, shapes={"in0": (2, 2, 2)}).run({"in0": x}).values()
    np.testing.assert_allclose(found, 2 * x[:1] + 3 * x[1:], rtol=1e-6)


@pytest.mark.parametrize(
    ("layer", "wanted"),
    [
        ("Pooling l 1 1 in0 out0 0=1 1=0 2=1 3=0 4=1", lambda x: x.mean((1, 2))),
        ("Pooling l 1 1 in0 out0 0=0 1=0 2=1 3=0 5=0 7=1 8=2 18=1", lambda x: x.max(1)[:, None]),
        ('Reshape l 1 1 in0 out0 12=0 13=0 6="6,//(2,0n),0n"', lambda x: x.reshape(2, 6)),
        ('Interp l 1 1 in0 out0 0=1 9="floor(*(10,1.299999952e+00)),0h"',
         lambda x: x[..., np.arange(13) * 2 // 13]),
        ("ExpandDims l 1 1 in0 out0 0=0 1=0 2=0 -23303=1,0", lambda x: x[None]),
        ("Crop l 1 1 in0 out0 0=0 1=0 2=0 3=0 4=0 5=0 -23309=1,1 -23310=1,2 -23311=1,0",
         lambda x: x[1:]),
    ],
)  # fmt: skip
def test_parameters_that_others_make_meaningless(tmp_path, layer, wanted):
    """Converters write them too: SqueezeNet's last pooling tells a window of 0."""
    x = np.arange(12, dtype=np.float32).reshape(2, 3, 2)
    net = written(tmp_path, layer)
    (found,) = nnc.compile(net, shapes={"in0": (2, 3, 2)}).run({"in0": x}).values()
    np.testing.assert_allclose(found, wanted(x), rtol=1e-6)
