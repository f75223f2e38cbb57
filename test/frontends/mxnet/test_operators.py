"""MXNet's operators: their results are those that MXNet gave, see make.py."""

import json
from pathlib import Path

import numpy as np
import pytest
from nnc.frontends.formats import import_model
from nnc.numerics.interpreter import Interpreter

from ..models import main_of

FILES = Path(__file__).parent / "files"
PARTS = ("operators", "recurrence", "control", "detectors", "integers", "numpy", "corners")
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
    check(case, SYMBOLS[case])


AS_GLUON_WRITES = {
    "RNN": {
        "lstm_state_clip_max": "None",
        "lstm_state_clip_min": "None",
        "lstm_state_clip_nan": "False",
        "p": "0.3",
        "projection_size": "None",
        "use_sequence_length": "False",
    },
    "Dropout": {"axes": "()", "cudnn_off": "False", "p": "0.5"},
}
"""Attributes of default values, which Gluon's layers write too."""


def test_attributes_of_gluon():
    found = set()
    for case, symbol in SYMBOLS.items():
        kinds = {node["op"] for node in symbol["nodes"]} & AS_GLUON_WRITES.keys()
        if kinds:
            nodes = [
                node | {"attrs": AS_GLUON_WRITES.get(node["op"], {}) | node.get("attrs", {})}
                for node in symbol["nodes"]
            ]
            check(case, symbol | {"nodes": nodes})
        found |= kinds
    assert found == AS_GLUON_WRITES.keys()


def check(case, symbol):
    """Import the symbol with a case's inputs; its results must be those stored for the case."""
    inputs, expected = arrays_of(case, "in"), arrays_of(case, "out")
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


def result(kind, attributes, *inputs, opened=False):
    """What an operator gives of inputs, whose extents may be open at import."""
    types = {"float32": "0", "float64": "1", "float16": "2", "int32": "4", "int64": "6"}
    nodes = [
        {"op": "null", "name": f"x{i}", "inputs": [], "attrs": {"__dtype__": types[str(x.dtype)]}}
        for i, x in enumerate(inputs)
    ]
    count = len(nodes)
    own = {key: str(value) for key, value in attributes.items()}
    places = [[i, 0, 0] for i in range(count)]
    nodes.append({"op": kind, "name": "y", "inputs": places, "attrs": own})
    text = json.dumps({"nodes": nodes, "arg_nodes": [*range(count)], "heads": [[count, 0, 0]]})
    shapes = {f"x{i}": (None,) * x.ndim if opened else x.shape for i, x in enumerate(inputs)}
    module = import_model(text.encode(), shapes=shapes)
    return Interpreter(module).call("main", list(inputs))[0]


WHOLE = np.array([[3, 0, -2, 7], [1, 5, 4, 9], [2, 8, 6, -1]], np.int32)
ODD = np.array([np.nan, np.inf, -np.inf, -0.0, 3e4, 0.1], np.float32)
AS_NUMPY = {
    "isnan": ("_npi_isnan", {}, np.isnan, [WHOLE]),
    "isinf": ("_npi_isinf", {}, np.isinf, [WHOLE]),
    "isposinf": ("_npi_isposinf", {}, np.isposinf, [WHOLE]),
    "nan_to_num of integers": ("_npi_nan_to_num", {}, np.nan_to_num, [WHOLE]),
    "nan_to_num of halves": ("_npi_nan_to_num", {}, np.nan_to_num, [ODD.astype("f2")]),
    "diag": ("_np_diag", {"k": 1}, lambda x: np.diag(x, 1), [WHOLE]),
    "diag of a vector": ("diag", {"k": -2}, lambda x: np.diag(x, -2), [WHOLE[0]]),
    "diagonals": (
        "diag",
        {"k": 1, "axis1": 2, "axis2": 0},
        lambda x: np.diagonal(x, 1, 2, 0),
        [np.arange(24, dtype="f").reshape(3, 2, 4)],
    ),
    "split": (
        "_npi_split",
        {"indices": (1, -1), "axis": 1, "sections": 0},
        lambda x: np.split(x, [1, -1], 1)[0],
        [WHOLE],
    ),
    "mod": (
        "_npi_mod",
        {},
        np.mod,
        [np.array([1e7, -1e7, 5.5], "f"), np.array([0.3, 0.7, -2], "f")],
    ),
    "ldexp": ("_npi_ldexp", {}, np.ldexp, [np.array([1.1, 3], "f"), np.array([9, -5], "i4")]),
    "cbrt": ("_npi_cbrt", {}, np.cbrt, [np.array([27, -64, 1e-30, -0.0], "f")]),
    "around": ("_npi_around", {}, np.around, [np.array([0.49999997, -0.49999997, 1.7], "f")]),
}


@pytest.mark.parametrize("case", AS_NUMPY)
def test_deep_numpy_is_as_numpy(case):
    kind, attributes, wanted, inputs = AS_NUMPY[case]
    found, expected = result(kind, attributes, *inputs), wanted(*inputs)
    assert found.shape == expected.shape
    np.testing.assert_allclose(found, expected, rtol=2e-7, atol=0)


OPEN = {
    "rot90": ("_npi_rot90", {"k": 3}, lambda x: np.rot90(x, 3)),
    "tril": ("_npi_tril", {"k": 1}, lambda x: np.tril(x, 1)),
    "diff": ("_npi_diff", {"n": 2, "axis": 1}, lambda x: np.diff(x, 2, 1)),
    "sort": ("_npi_sort", {"axis": 0}, lambda x: np.sort(x, 0)),
    "flip": ("_npi_flip", {"axis": (0, 1)}, lambda x: np.flip(x, (0, 1))),
    "hstack": ("_npi_hstack", {}, lambda x: x),
}


@pytest.mark.parametrize("case", OPEN)
def test_open_extents(case):
    kind, attributes, wanted = OPEN[case]
    np.testing.assert_array_equal(result(kind, attributes, WHOLE, opened=True), wanted(WHOLE))
