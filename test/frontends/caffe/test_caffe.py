"""Caffe's nets against OpenCV's results, which `make.py` wrote, and against NumPy."""

from __future__ import annotations

import shutil
from pathlib import Path

import nnc
import numpy as np
import pytest
from nnc.frontends.caffe.schema import SCHEMA
from nnc.frontends.common.source import Source
from nnc.frontends.formats import examine_model, find_format, import_model
from nnc.ir.diagnostics import NncError
from nnc.test.frontends.protobuf_writer import written

FILES = Path(__file__).parent / "files"
NETS = sorted(path.stem for path in FILES.glob("*.prototxt"))


def expected(name: str) -> tuple[dict, dict]:
    with np.load(FILES / f"{name}.npz") as arrays:
        sides = [
            {key.partition(":")[2]: arrays[key] for key in arrays if key.startswith(side)}
            for side in ("in:", "out:")
        ]
    return sides[0], sides[1]


def agree(found: np.ndarray, wanted: np.ndarray) -> None:
    wanted = wanted.reshape(found.shape) if wanted.size == found.size else wanted
    assert found.shape == wanted.shape
    assert np.ptp(wanted) > 0
    assert np.abs(found - wanted).max() <= 1e-4 * np.abs(wanted).max()


@pytest.mark.parametrize("name", NETS)
def test_opencv_agrees(name):
    inputs, outputs = expected(name)
    found = nnc.compile(FILES / f"{name}.prototxt").run(inputs)
    assert found
    for key, value in found.items():
        wanted = outputs[key]
        if name == "boxes":  # OpenCV's rows stand in another order
            assert 3 < value.shape[2] < 30
            assert set(value[0, 0, :, 1]) == {1, 2}
            value, wanted = (rows[0, 0][np.lexsort(rows[0, 0].T)] for rows in (value, wanted))
        agree(value, wanted)


def test_weights_carry_their_own_net(tmp_path):
    shutil.copy(FILES / "old.caffemodel", tmp_path / "alone.caffemodel")
    inputs, outputs = expected("old")
    agree(nnc.compile(tmp_path / "alone.caffemodel").run(inputs)["s"], outputs["s"])
    data = (tmp_path / "alone.caffemodel").read_bytes()
    assert find_format(Source(data)).name == "Caffe"


def test_files_find_each_other(tmp_path):
    shutil.copy(FILES / "old.prototxt", tmp_path / "deploy.prototxt")
    shutil.copy(FILES / "old.caffemodel", tmp_path / "old_iter_100.caffemodel")
    for given in ("deploy.prototxt", "old_iter_100.caffemodel", "."):
        assert examine_model(tmp_path / given).module is not None
    shutil.copy(FILES / "old.caffemodel", tmp_path / "other.caffemodel")
    with pytest.raises(NncError, match="give two the same name"):
        import_model(tmp_path / "deploy.prototxt")


HEAD = 'input: "x" input_shape { dim: 2 dim: 3 dim: 4 } '


def result(tmp_path: Path, layer: str, x: np.ndarray, **blobs) -> np.ndarray:
    """What one layer gives for x."""
    (tmp_path / "net.prototxt").write_text(
        f'{HEAD} layer {{ name: "l" bottom: "x" top: "y" {layer} }}'
    )
    if blobs:
        values = [{"shape": {"dim": list(b.shape)}, "data": b.reshape(-1)} for b in blobs.values()]
        data = written(SCHEMA, "Net", {"layer": [{"name": "l", "blobs": values}]})
        (tmp_path / "net.caffemodel").write_bytes(data)
    return nnc.compile(tmp_path / "net.prototxt").run({"x": x})["y"]


X = np.random.default_rng(3).standard_normal((2, 3, 4)).astype(np.float32)
PLAIN = [
    ('type: "Exp" exp_param { base: 2 scale: 0.5 shift: 1 }', 2 ** (0.5 * X + 1)),
    ('type: "Log" log_param { base: 10 scale: 0 shift: 7 }', np.log10(0 * X + 7) + 0 * X),
    ('type: "Threshold" threshold_param { threshold: 0.3 }', X > 0.3),
    ('type: "Reduction" reduction_param { operation: ASUM axis: 1 coeff: 2 }',
     2 * np.abs(X).sum((1, 2))),
    ('type: "Reduction" reduction_param { operation: MEAN axis: -1 }', X.mean(-1)),
    ('type: "Tile" tile_param { axis: 2 tiles: 3 }', np.tile(X, (1, 1, 3))),
    ('type: "ArgMax" argmax_param { axis: 2 }', X.argmax(2)[:, :, None]),
    ('type: "ArgMax" argmax_param { out_max_val: true }',
     np.stack([X.reshape(2, -1).argmax(1), X.reshape(2, -1).max(1)], 1)[:, :, None]),
    ('type: "Reshape" reshape_param { shape { dim: 2 dim: 2 } axis: 2 num_axes: 1 }',
     X.reshape(2, 3, 2, 2)),
    ('type: "Flatten" flatten_param { axis: 0 end_axis: 1 }', X.reshape(6, 4)),
    ('type: "Swish"', X / (1 + np.exp(-X))),
    ('type: "Clip" clip_param { min: -0.5 max: 1 }', X.clip(-0.5, 1)),
]  # fmt: skip


@pytest.mark.parametrize(("layer", "wanted"), PLAIN)
def test_layers_as_numpy(tmp_path, layer, wanted):
    found = result(tmp_path, layer, X)
    assert found.shape == wanted.shape
    np.testing.assert_allclose(found, wanted, rtol=1e-5, atol=1e-6)


def test_embedding(tmp_path):
    table = np.random.default_rng(1).standard_normal((5, 6)).astype(np.float32)
    ids = np.arange(24).reshape(2, 3, 4) % 5
    layer = 'type: "Embed" embed_param { num_output: 6 input_dim: 5 bias_term: false }'
    found = result(tmp_path, layer, ids.astype(np.float32), table=table)
    np.testing.assert_array_equal(found, table[ids])


def test_layers_of_training_are_left_out(tmp_path):
    text = (
        HEAD
        + """
    layer { name: "a" type: "ReLU" bottom: "x" top: "x" include { phase: TRAIN } }
    layer { name: "b" type: "AbsVal" bottom: "x" top: "x" exclude { phase: TRAIN } }
    layer { name: "l" type: "SoftmaxWithLoss" bottom: "x" bottom: "y" top: "loss" }
    layer { name: "s" type: "Silence" bottom: "x" }"""
    )
    (tmp_path / "n.prototxt").write_text(text.replace('bottom: "y" ', ""))
    found = nnc.compile(tmp_path / "n.prototxt").run({"x": X})["loss"]
    powers = np.exp(np.abs(X))
    np.testing.assert_allclose(found, powers / powers.sum(1, keepdims=True), rtol=1e-5)


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("layer { name: 3 }", r"net\.prototxt:1:\d+: error: field 'name' is a string, found '3'"),
        ("layer {\n  name: 'a'\n  }}", r"net\.prototxt:3:4: error: expected the name of a field"),
        ('layer { name: "a" type: "ReLU" bottom: "q" top: "y" }', "its bottom 'q' is no top"),
        ('layer { name: "a" type: "Zork" bottom: "x" top: "y" }', r"layer 'a' \(Zork\): not supp"),
        (
            'layer { name: "a" type: "InnerProduct" bottom: "x" top: "y" '
            "inner_product_param { num_output: 2 } }",
            "layer 'a' .*it needs 1 blobs of weights and has 0",
        ),
        (
            'layer { name: "a" type: "Slice" bottom: "x" top: "y" top: "z" '
            "slice_param { slice_point: 9 } }",
            "3 elements do not split",
        ),
    ],
)
def test_errors_name_their_place(tmp_path, text, message):
    (tmp_path / "net.prototxt").write_text(HEAD + text if "layer {\n" not in text else text)
    with pytest.raises(NncError, match=message) as caught:
        import_model(tmp_path / "net.prototxt")
    assert "net.prototxt" in str(caught.value)
