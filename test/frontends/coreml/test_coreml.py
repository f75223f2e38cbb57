"""CoreML's models against the nets of PyTorch that they were converted from; see `make.py`."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import nnc
import numpy as np
import pytest
from nnc.frontends.coreml.schema import SCHEMA
from nnc.frontends.formats import examine_model, import_model
from nnc.ir.diagnostics import NncError
from nnc.test.frontends.protobuf_writer import written

FILES = Path(__file__).parent / "files"
MODELS = sorted(path.stem for path in FILES.glob("*.ml*"))
LIMITS = {"half": 4e-3, "caches": 2e-3, "decoder": 2e-3}
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


def small(**model) -> bytes:
    return written(SCHEMA, "Model", {"specificationVersion": 8, **model})


def feature(name: str, *shape: int) -> dict:
    kind = {"shape": list(shape), "dataType": "FLOAT32"}
    return {"name": name, "type": {"multiArrayType": kind}}


def network(*layers: dict, **more) -> bytes:
    about = {"input": [feature("x", 3, 4, 5)], "output": [feature("y", 3, 4, 5)]}
    return small(
        description={**about, **more.pop("about", {})}, neuralNetwork={"layers": layers, **more}
    )


def layer(kind: str, inputs: str = "x", outputs: str = "y", **p) -> dict:
    return {"name": "l", "input": inputs.split(), "output": outputs.split(), kind: p}


X = np.random.default_rng(2).standard_normal((3, 4, 5)).astype(np.float32)


@pytest.mark.parametrize(
    ("made", "wanted"),
    [
        (layer("activation", leakyReLU={"alpha": 0.3}), np.where(X > 0, X, X * np.float32(0.3))),
        (layer("unary", type="POWER", alpha=2, scale=0.5, shift=1), (X * 0.5 + 1) ** 2),
        (layer("add", alpha=1.5), X + 1.5),
        (layer("softmax"), np.exp(X) / np.exp(X).sum(0)),
        (
            layer("scale", shapeScale=[3, 1, 1], scale={"floatValue": [1, 2, 3]}),
            X * np.array([1, 2, 3], np.float32)[:, None, None],
        ),
        (layer("average", "x x"), X),
        (
            layer("mvn", normalizeVariance=True),
            (X - X.mean((1, 2), keepdims=True)) / X.std((1, 2), keepdims=True),
        ),
    ],
)
def test_layers_of_older_networks(made, wanted):
    found = nnc.compile(network(made)).run({"x": X})["y"]
    assert found.shape == X.shape
    np.testing.assert_allclose(found, wanted, rtol=1e-5, atol=1e-6)


@pytest.mark.parametrize(
    ("made", "wanted"),
    [
        (layer("reduce", mode="LOGSUM", axis="C"), lambda x: np.log(x + 1e-6).sum(0)),
        (layer("reduce", mode="LOGSUM", axis="HW", epsilon=2), lambda x: np.log(x + 2).sum((1, 2))),
        (layer("reduce", mode="ARGMAX", axis="C"), lambda x: x.argmax(0)),
    ],
)
def test_reductions_of_older_networks(made, wanted):
    """LOGSUM is a sum of logarithms, unlike the newer layer of this name."""
    x = np.abs(X)
    found = nnc.compile(network(made, about={"output": [feature("y")]})).run({"x": x})["y"]
    np.testing.assert_allclose(found.ravel(), wanted(x).ravel(), rtol=1e-4, atol=1e-4)


@pytest.mark.parametrize(
    ("made", "wanted"),
    [
        (layer("l2normalize"), 0),
        (layer("unary", type="INVERSE"), 1e6),
        (layer("unary", type="RSQRT"), 1e3),
        (layer("lrn", localSize=3, alpha=1, beta=1), 0),
        (layer("mvn", normalizeVariance=True), 0),
    ],
)
def test_constants_of_zero_are_their_defaults(made, wanted):
    """So nothing is divided by zero."""
    found = nnc.compile(network(made)).run({"x": np.zeros_like(X)})["y"]
    np.testing.assert_allclose(found, np.full_like(X, wanted), rtol=1e-4, atol=1e-6)


def test_images_are_scaled():
    image = {"width": 5, "height": 4, "colorSpace": "BGR"}
    about = {"input": [{"name": "x", "type": {"imageType": image}}]}
    scaler = {"channelScale": 0.5, "blueBias": 1.0, "greenBias": 2.0, "redBias": 3.0}
    data = network(layer("copy"), about=about, preprocessing=[{"scaler": scaler}])
    found = nnc.compile(data).run({"x": X[None]})["y"]
    bias = np.array([1, 2, 3], np.float32)[:, None, None]
    np.testing.assert_allclose(found, X * 0.5 + bias, rtol=1e-6)
    assert "BGR" in examine_model(data).notes["x (image)"]


def test_a_mean_image_is_taken_away():
    image = {"width": 5, "height": 4, "colorSpace": "RGB"}
    about = {"input": [{"name": "x", "type": {"imageType": image}}]}
    mean = {"meanImage": {"meanImage": (X * 2).ravel()}}
    data = network(layer("copy"), about=about, preprocessing=[mean])
    found = nnc.compile(data).run({"x": X[None]})["y"]
    np.testing.assert_allclose(found, -X, rtol=1e-6)


def test_weights_of_few_bits():
    steps = np.arange(6, dtype=np.uint8)
    packed = np.packbits(((steps[:, None] >> np.arange(3, -1, -1)) & 1).reshape(-1)).tobytes()
    weights = {
        "rawValue": packed,
        "quantization": {
            "numberOfBits": 4,
            "linearQuantization": {"scale": [0.5, 2], "bias": [1, -1]},
        },
    }
    p = {"inputChannels": 3, "outputChannels": 2, "weights": weights}
    about = {"input": [feature("x", 3)], "output": [feature("y", 2)]}
    data = network(layer("innerProduct", **p), about=about)
    rows = steps.reshape(2, 3) * np.array([[0.5], [2]]) + np.array([[1], [-1]])
    found = nnc.compile(data).run({"x": X[:, 0, 0]})["y"]
    np.testing.assert_allclose(found, rows @ X[:, 0, 0], rtol=1e-5)


@pytest.mark.parametrize(
    ("data", "message"),
    [
        (network({"name": "l", "input": ["x"], "output": ["y"]}), "unknown layer"),
        (network(layer("add", "q")), "layer 'l' uses 'q', which nothing makes"),
        (network(layer("add", outputs="z")), "computes none of the model's outputs"),
        (network(layer("addBroadcastable")), "layer 'l': its inputs or parameters do not fit"),
        (network(layer("reshapeLike")), "layer 'l': its inputs or parameters do not fit"),
        (
            network(layer("scale", shapeScale=[3], scale={"floatValue": [1]})),
            "1 weights, expected 3",
        ),
        (small(mlProgram={"functions": {}}), "the program has no function 'main'"),
        (small(glmRegressor={}), "lacks inputs or outputs"),
        (small(pipeline={"models": []}), "computes none of the model's outputs"),
    ],
)
def test_errors(data, message):
    with pytest.raises(NncError, match=message):
        import_model(data)


def test_packages_stay_in_their_folder(tmp_path):
    entry = {"itemInfoEntries": {"a": {"path": "../../x"}}, "rootModelIdentifier": "a"}
    package = tmp_path / "m.mlpackage"
    (package / "Data").mkdir(parents=True)
    (package / "Manifest.json").write_text(json.dumps(entry))
    (tmp_path / "x").write_bytes(network(layer("copy")))
    with pytest.raises(NncError, match="lies outside the model's folder"):
        import_model(package)
    (package / "Manifest.json").write_text("[" * 9999)
    with pytest.raises(NncError, match="names no model"):
        import_model(package)


CLASSICAL = sorted(path.stem for path in (FILES / "classical").glob("*.npz"))


@pytest.mark.parametrize("name", CLASSICAL)
def test_scikit_learn_agrees(name):
    model = nnc.compile(FILES / "classical" / f"{name}.mlmodel")
    with np.load(FILES / "classical" / f"{name}.npz", allow_pickle=False) as arrays:
        for i, row in enumerate(arrays["in:x"]):
            label, *chances = model.run({"x": row}).values()
            wanted = arrays["out:label"][i]
            if np.issubdtype(wanted.dtype, np.floating):
                np.testing.assert_allclose(label, wanted, rtol=1e-6, atol=1e-9)
            else:
                assert label == wanted
            if "out:chances" in arrays:
                np.testing.assert_allclose(chances[0], arrays["out:chances"][i], atol=2e-3)


def sigmoid(x: np.ndarray) -> np.ndarray:
    return 1 / (1 + np.exp(-x))


PLAIN = ({"sigmoid": {}}, sigmoid), ({"tanh": {}}, np.tanh)
WITH_NUMBERS = (
    ({"sigmoidHard": {"alpha": 0.3, "beta": 0.4}}, lambda x: np.clip(0.3 * x + 0.4, 0, 1)),
    ({"scaledTanh": {"alpha": 1.5, "beta": 0.7}}, lambda x: 1.5 * np.tanh(0.7 * x)),
)


def steps_of(
    kind: str, random: np.random.Generator, backward: bool, functions: Any
) -> tuple[dict, Any]:
    """A recurrent layer of 3 inputs and 2 states, and a step of it with NumPy.

    `functions` are the activations of the gates and of the states, in CoreML and in NumPy.
    """
    (gate_activation, of_gate), (activation, of_state) = functions
    gates = {
        "gru": ["updateGate", "resetGate", "outputGate"],
        "uniDirectionalLSTM": ["inputGate", "forgetGate", "blockInput", "outputGate"],
        "simpleRecurrent": [""],
    }[kind]
    w = {gate: random.standard_normal((2, 3)).astype(np.float32) for gate in gates}
    u = {gate: random.standard_normal((2, 2)).astype(np.float32) for gate in gates}
    weights = {
        f"{gate}{name}" if gate else name[0].lower() + name[1:]: {"floatValue": m[gate].ravel()}
        for name, m in (("WeightMatrix", w), ("RecursionMatrix", u))
        for gate in gates
    }
    both: list[dict] = [gate_activation, activation, activation]
    p: dict = {"inputVectorSize": 3, "outputVectorSize": 2, "reverseInput": backward}
    if kind == "uniDirectionalLSTM":
        p |= {"weightParams": weights, "params": {"sequenceOutput": True}, "activations": both}
    elif kind == "gru":
        p |= {**weights, "sequenceOutput": True, "activations": both[:2]}
    else:
        p |= {**weights, "sequenceOutput": True, "activation": both[1]}

    def step(x: np.ndarray, h: np.ndarray, c: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        def at(gate: str, state: np.ndarray = h) -> np.ndarray:
            return x @ w[gate].T + state @ u[gate].T

        if kind == "simpleRecurrent":
            return of_state(at("")), c
        if kind == "gru":
            z, r = of_gate(at("updateGate")), of_gate(at("resetGate"))
            return (1 - z) * of_state(at("outputGate", h * r)) + z * h, c
        i, f, o = (of_gate(at(f"{gate}Gate")) for gate in ("input", "forget", "output"))
        c = f * c + i * of_state(at("blockInput"))
        return o * of_state(c), c

    return p, step


@pytest.mark.parametrize(
    ("backward", "functions"), [(False, PLAIN), (True, PLAIN), (False, WITH_NUMBERS)]
)
@pytest.mark.parametrize("kind", ["simpleRecurrent", "gru", "uniDirectionalLSTM"])
def test_recurrent_layers_of_older_networks(kind, backward, functions):
    random = np.random.default_rng(3)
    p, step = steps_of(kind, random, backward, functions)
    about = {"input": [feature("x", 5, 1, 3, 1, 1)], "output": [feature("y", 5, 1, 2, 1, 1)]}
    data = network(layer(kind, **p), about=about, arrayInputShapeMapping="EXACT")
    x = random.standard_normal((5, 1, 3, 1, 1)).astype(np.float32)
    h = c = np.zeros((1, 2))
    wanted = np.zeros((5, 1, 2, 1, 1))
    for t in reversed(range(5)) if backward else range(5):
        h, c = step(x[t, :, :, 0, 0], h, c)
        wanted[t, :, :, 0, 0] = h
    found = nnc.compile(data).run({"x": x})["y"]
    np.testing.assert_allclose(found, wanted, rtol=1e-5, atol=1e-6)


def test_pipelines_suppress_boxes():
    """A network whose outputs go through a suppression, as detectors are exported."""
    boxes = [
        [0.3, 0.3, 0.2, 0.2],
        [0.31, 0.3, 0.2, 0.2],
        [0.7, 0.7, 0.1, 0.1],
        [0.1, 0.9, 0.1, 0.1],
    ]
    about = {
        "input": [feature("x", 4, 2), feature("b", 4, 4)],
        "output": [feature("scores", 4, 2), feature("places", 4, 4)],
    }
    scale = layer("multiply", "x", "scores", alpha=0.5)
    copy = layer("copy", "b", "places")
    net = {"layers": [scale, copy], "arrayInputShapeMapping": "EXACT"}
    names = {
        f"{kind}{side}FeatureName": f"{name}{end}"
        for kind, name in (("confidence", "scores"), ("coordinates", "places"))
        for side, end in (("Input", ""), ("Output", " kept"))
    }
    suppression = {"iouThreshold": 0.5, "confidenceThreshold": 0.2, **names}
    outputs = [feature("scores kept", 4, 2), feature("places kept", 4, 4)]
    models = [
        {"description": about, "neuralNetwork": net},
        {
            "description": {"input": about["output"], "output": outputs},
            "nonMaximumSuppression": suppression,
        },
    ]
    whole = {"input": about["input"], "output": outputs}
    data = small(description=whole, pipeline={"models": models})
    x = np.array([[0.6, 0.1], [0.2, 0.8], [0.9, 0.3], [0.3, 0.2]], np.float32)
    found = nnc.compile(data).run({"x": x, "b": np.array(boxes, np.float32)})
    np.testing.assert_allclose(found["scores kept"], x[[2, 1]] / 2)
    np.testing.assert_allclose(found["places kept"], np.array(boxes, np.float32)[[2, 1]])
