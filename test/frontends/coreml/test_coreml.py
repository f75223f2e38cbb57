"""CoreML's models against the nets of PyTorch that they were converted from; see `make.py`."""

from __future__ import annotations

import json
from pathlib import Path

import nnc
import numpy as np
import pytest
from nnc.frontends.coreml.schema import SCHEMA
from nnc.frontends.formats import examine_model, import_model
from nnc.ir.diagnostics import NncError
from nnc.test.frontends.protobuf_writer import written

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
    ],
)
def test_layers_of_older_networks(made, wanted):
    found = nnc.compile(network(made)).run({"x": X})["y"]
    assert found.shape == X.shape
    np.testing.assert_allclose(found, wanted, rtol=1e-5, atol=1e-6)


def test_images_are_scaled():
    image = {"width": 5, "height": 4, "colorSpace": "BGR"}
    about = {"input": [{"name": "x", "type": {"imageType": image}}]}
    scaler = {"channelScale": 0.5, "blueBias": 1.0, "greenBias": 2.0, "redBias": 3.0}
    data = network(layer("copy"), about=about, preprocessing=[{"scaler": scaler}])
    found = nnc.compile(data).run({"x": X[None]})["y"]
    bias = np.array([1, 2, 3], np.float32)[:, None, None]
    np.testing.assert_allclose(found, X * 0.5 + bias, rtol=1e-6)
    assert "BGR" in examine_model(data).notes["x (image)"]


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
        (
            network(layer("scale", shapeScale=[3], scale={"floatValue": [1]})),
            "1 weights, expected 3",
        ),
        (small(mlProgram={"functions": {}}), "the program has no function 'main'"),
        (small(pipeline={"models": []}), "kind pipeline is not supported"),
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
