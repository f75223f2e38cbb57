"""MXNet's operators: their results are those that MXNet gave, see make.py."""

import json
from pathlib import Path

import numpy as np
import pytest
from nnc.frontends.formats import import_model
from nnc.numerics.interpreter import Interpreter

from ..models import main_of

FILES = Path(__file__).parent / "files"
PARTS = ("operators", "recurrence", "control", "detectors", "integers", "numpy")
SYMBOLS = {}
ARRAYS = {}
for part in PARTS:
    SYMBOLS |= json.loads((FILES / f"{part}.json").read_text())
    ARRAYS |= np.load(FILES / f"{part}.npz")


def arrays_of(case: str, kind: str) -> dict[str, np.ndarray]:
    lead = f"{case}/{kind}/"
    return {k.removeprefix(lead): v for k, v in ARRAYS.items() if k.startswith(lead)}


@pytest.mark.parametrize("case", sorted(SYMBOLS))
def test_operators(case):
    inputs, expected = arrays_of(case, "in"), arrays_of(case, "out")
    symbol = SYMBOLS[case]
    for node in symbol["nodes"]:
        if node["name"] in inputs:
            types = {"float32": "0", "int32": "4"}
            node["attrs"] = {"__dtype__": types[str(inputs[node["name"]].dtype)]}
    module = import_model(
        json.dumps(symbol).encode(), shapes={k: v.shape for k, v in inputs.items()}
    )
    module.verify()
    names = [name.value for name in main_of(module).attributes["nn.input_names"]]
    got = Interpreter(module).call("main", [inputs[name] for name in names])
    assert len(got) == len(expected)
    for i, y in enumerate(got):
        wanted = expected[str(i)]
        assert y.shape == wanted.shape, f"output {i}: {y.shape}, expected {wanted.shape}"
        size = np.abs(wanted.astype("f8")).max(initial=1e-6)
        np.testing.assert_allclose(y, wanted, rtol=1e-5, atol=1e-5 * size, err_msg=f"output {i}")


def test_places_of_what_is_not_zero():
    """Their number is known at run time only, which MXNet's symbols cannot tell."""
    nodes = [
        {"op": "null", "name": "x", "inputs": []},
        {"op": "_npx_nonzero", "name": "y", "inputs": [[0, 0, 0]]},
    ]
    text = json.dumps({"nodes": nodes, "arg_nodes": [0], "heads": [[1, 0, 0]]})
    x = np.array([[0, 2, 0], [1, 0, 3]], "f")
    (found,) = Interpreter(import_model(text.encode(), shapes={"x": x.shape})).call("main", [x])
    np.testing.assert_array_equal(found, np.argwhere(x))
