"""Models of TensorFlow Lite's converter against its own kernels; `make.py` writes the files."""

from pathlib import Path

import nnc
import numpy as np
import pytest
from nnc.frontends.formats import examine_model

FILES = Path(__file__).parent / "files"
NAMES = sorted(path.stem for path in FILES.glob("*.tflite"))


@pytest.mark.parametrize("name", NAMES)
def test_agrees_with_its_own_kernels(name):
    expected = np.load(FILES / f"{name}.npz")
    model = nnc.compile(FILES / f"{name}.tflite")
    given = [expected[f"in{i}"] for i in range(sum(k.startswith("in") for k in expected))]
    feeds = dict(zip(model.input_names, given, strict=False))
    for step in range(len(expected["out0"])):
        found = model.run(feeds)
        for i, (scale, got) in enumerate(zip(expected["scales"], found.values(), strict=False)):
            check(f"{name} {i}", got, expected[f"out{i}"][step], scale)
        feeds |= {key: found[key] for key in model.input_names[len(given) :]}


def check(what, got, want, scale):
    if want.dtype.kind == "S":
        assert [text.encode() for text in got.flat] == want.flatten().tolist(), what
        return
    assert got.dtype == want.dtype and got.shape == want.shape, what
    apart = np.abs(got.astype(np.float64) - want.astype(np.float64)).max(initial=0)
    if scale:
        assert apart <= 1, f"{what}: {apart} steps"
    elif got.dtype.kind == "f":
        most = np.abs(want).max(initial=0)
        assert apart <= 1e-5 * most, f"{what}: {apart} of {most}"
    else:
        assert apart == 0, f"{what}: {got} is not {want}"


def test_that_no_state_is_kept_is_said():
    """LiteRT's sequences go on from the states with which the run before ended."""
    found = examine_model(FILES / "sequence_lstms.tflite").warnings
    assert found and all("each run starts with states of zeros" in one for one in found)
    assert not examine_model(FILES / "net_f16.tflite").warnings
