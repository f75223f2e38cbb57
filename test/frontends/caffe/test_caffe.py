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
    ('type: "Dropout" dropout_param { dropout_ratio: 0.25 }', X),
    ('type: "Dropout" dropout_param { dropout_ratio: 0.25 scale_train: false }', 0.75 * X),
    ('type: "Swish"', X / (1 + np.exp(-X))),
    ('type: "Clip" clip_param { min: -0.5 max: 1 }', X.clip(-0.5, 1)),
]  # fmt: skip


@pytest.mark.parametrize(("layer", "wanted"), PLAIN)
def test_layers_as_numpy(tmp_path, layer, wanted):
    found = result(tmp_path, layer, X)
    assert found.shape == wanted.shape
    np.testing.assert_allclose(found, wanted, rtol=1e-5, atol=1e-6)


@pytest.mark.parametrize("where", ["", "axis: 1"])
def test_of_equal_elements_the_last_is_found(tmp_path, where):
    """Caffe sorts pairs of element and index, the greatest first. Source: ArgMaxLayer::Forward_cpu"""
    x = np.random.default_rng(7).integers(0, 2, (2, 3, 4)).astype(np.float32)
    found = result(tmp_path, f'type: "ArgMax" argmax_param {{ top_k: 3 {where} }}', x)
    flat = x if where else x.reshape(2, -1, 1)
    ranks = np.arange(flat.shape[1])[:, None]
    wanted = np.argsort(-(flat + ranks / 100), axis=1)[:, :3]
    np.testing.assert_array_equal(found, wanted.reshape(found.shape))


def test_places_in_images_have_four_dimensions(tmp_path):
    """Source: ArgMaxLayer::Reshape"""
    text = """input: "x" input_shape { dim: 2 dim: 3 dim: 2 dim: 2 }
    layer { name: "l" type: "ArgMax" bottom: "x" top: "y" argmax_param { top_k: 2 } }"""
    (tmp_path / "net.prototxt").write_text(text)
    x = X.reshape(2, 3, 2, 2)
    found = nnc.compile(tmp_path / "net.prototxt").run({"x": x})["y"]
    order = np.argsort(-x.reshape(2, -1), 1)[:, :2]
    np.testing.assert_array_equal(found, order.reshape(2, 1, 2, 1))


def sigmoid(x):
    return 1 / (1 + np.exp(-x))


def stepped(tmp_path, kind, inputs, blobs, expose=False):
    """What a recurrent layer of 4 states gives for bottoms and blobs."""
    heads = "".join(
        f'input: "{k}" input_shape {{ {" ".join(f"dim: {d}" for d in v.shape)} }} '
        for k, v in inputs.items()
    )
    bottoms = " ".join(f'bottom: "{k}"' for k in inputs)
    tops = 'top: "y"' + (' top: "hT"' + ' top: "cT"' * (kind == "LSTM")) * expose
    flag = "expose_hidden: true" * expose
    (tmp_path / "net.prototxt").write_text(
        f'{heads} layer {{ name: "l" type: "{kind}" {bottoms} {tops} '
        f"recurrent_param {{ num_output: 4 {flag} }} }}"
    )
    values = [{"shape": {"dim": list(b.shape)}, "data": b.reshape(-1)} for b in blobs]
    data = written(SCHEMA, "Net", {"layer": [{"name": "l", "blobs": values}]})
    (tmp_path / "net.caffemodel").write_bytes(data)
    return nnc.compile(tmp_path / "net.prototxt").run(inputs)


FLAGS = np.array([[0, 0], [1, 1], [1, 0], [0, 1], [1, 1]], np.float32)


@pytest.mark.parametrize("exposed", [False, True])
def test_lstm(tmp_path, exposed):
    """Flags of 0 begin a sequence: its step gets no state. Gates are i, f, o, g."""
    rng = np.random.default_rng(5)
    shapes = [(16, 6), (16,), (16, 3), (16, 4)]
    weight, bias, of_static, recurrent = (rng.normal(size=s).astype("f4") / 2 for s in shapes)
    inputs = {"x": rng.normal(size=(5, 2, 2, 3)), "cont": FLAGS, "s": rng.normal(size=(2, 3))}
    h, c = np.zeros((2, 4)), np.zeros((2, 4))
    flags = FLAGS
    if exposed:
        h, c = rng.normal(size=(2, 2, 4))
        inputs |= {"h": h[None], "c": c[None]}
        flags = inputs["cont"] = np.maximum(FLAGS, 1 - np.arange(5)[:, None]).clip(0, 1)
    inputs = {k: np.asarray(v, np.float32) for k, v in inputs.items()}
    found = stepped(tmp_path, "LSTM", inputs, [weight, bias, of_static, recurrent], exposed)
    wanted = []
    for x, flag in zip(inputs["x"].reshape(5, 2, 6), flags[:, :, None], strict=True):
        total = x @ weight.T + bias + inputs["s"] @ of_static.T + (flag * h) @ recurrent.T
        i, f, o, g = np.split(total, 4, 1)
        c = sigmoid(f) * c * flag + sigmoid(i) * np.tanh(g)
        h = sigmoid(o) * np.tanh(c)
        wanted.append(h)
    np.testing.assert_allclose(found["y"], wanted, rtol=1e-4, atol=1e-5)
    if exposed:
        np.testing.assert_allclose(found["hT"], h[None], rtol=1e-4, atol=1e-5)
        np.testing.assert_allclose(found["cT"], c[None], rtol=1e-4, atol=1e-5)


def test_rnn(tmp_path):
    rng = np.random.default_rng(6)
    shapes = [(4, 6), (4,), (4, 4), (4, 4), (4,)]
    blobs = [rng.normal(size=s).astype("f4") / 2 for s in shapes]
    x = rng.normal(size=(5, 2, 6)).astype("f4")
    found = stepped(tmp_path, "RNN", {"x": x, "cont": FLAGS}, blobs)["y"]
    h, wanted = np.zeros((2, 4)), []
    for step, flag in zip(x, FLAGS[:, :, None], strict=True):
        h = np.tanh(step @ blobs[0].T + blobs[1] + (flag * h) @ blobs[2].T)
        wanted.append(np.tanh(h @ blobs[3].T + blobs[4]))
    np.testing.assert_allclose(found, wanted, rtol=1e-4, atol=1e-5)


IMAGE = np.random.default_rng(8).standard_normal((2, 3, 5, 6)).astype(np.float32)


def imaged(tmp_path, layers):
    """The outputs of a net of layers on IMAGE, their bottom 'x'."""
    head = 'input: "x" input_shape { dim: 2 dim: 3 dim: 5 dim: 6 } '
    (tmp_path / "net.prototxt").write_text(head + layers)
    return nnc.compile(tmp_path / "net.prototxt").run({"x": IMAGE})


def test_pyramid(tmp_path):
    """Poolings to 1 and 4 places; those of the larger grid are padded at their begin first."""
    layer = 'layer { name: "l" type: "SPP" bottom: "x" top: "y" spp_param { pyramid_height: 2 } }'
    wide = np.pad(IMAGE, ((0, 0), (0, 0), (1, 0), (0, 0)), constant_values=-np.inf)
    fine = wide.reshape(2, 3, 2, 3, 2, 3).max((3, 5)).reshape(2, -1)
    wanted = np.concatenate([IMAGE.max((2, 3)), fine], 1)
    np.testing.assert_array_equal(imaged(tmp_path, layer)["y"], wanted)


@pytest.mark.parametrize("pool", ["MAX", "AVE"])
def test_windows_behind_the_end(tmp_path, pool):
    """Without padding, strides beyond the kernel leave a last window of no element."""
    options = f"pooling_param {{ pool: {pool} kernel_size: 1 stride_h: 3 stride_w: 5 }}"
    found = imaged(
        tmp_path, f'layer {{ name: "l" type: "Pooling" bottom: "x" top: "y" {options} }}'
    )
    empty = np.finfo(np.float32).min if pool == "MAX" else 0  # lengths -1, over which 0 is 0
    wanted = np.full((2, 3, 3, 2), empty, np.float32)
    wanted[:, :, :2] = IMAGE[:, :, ::3, ::5]
    np.testing.assert_array_equal(found["y"], wanted)


@pytest.mark.parametrize("pool", ["MAX", "AVE"])
def test_windows_at_the_end(tmp_path, pool):
    """Columns begin at 0, 3 and 6 of 6; the last has a length of 0, and its mean is 0 / 0."""
    options = f"pooling_param {{ pool: {pool} kernel_size: 1 stride_h: 1 stride_w: 3 }}"
    layers = f'layer {{ name: "l" type: "Pooling" bottom: "x" top: "y" {options} }}'
    wanted = np.full((2, 3, 5, 3), np.finfo(np.float32).min if pool == "MAX" else np.nan, "f4")
    wanted[..., :2] = IMAGE[..., ::3]
    np.testing.assert_array_equal(imaged(tmp_path, layers)["y"], wanted)


def test_means_are_taken_away(tmp_path):
    """An epsilon counts for nothing where the variance is left as it is."""
    layer = """layer { name: "l" type: "MVN" bottom: "x" top: "y"
      mvn_param { normalize_variance: false eps: 0.1 } }"""
    wanted = IMAGE - IMAGE.mean((2, 3), keepdims=True)
    np.testing.assert_allclose(imaged(tmp_path, layer)["y"], wanted, rtol=1e-5, atol=1e-6)


def test_unpooling(tmp_path):
    """What a pooling found goes back to where it was."""
    found = imaged(
        tmp_path,
        """layer { name: "p" type: "Pooling" bottom: "x" top: "p" top: "m"
             pooling_param { kernel_size: 2 stride: 2 } }
           layer { name: "u" type: "Upsample" bottom: "p" bottom: "m" top: "y"
             upsample_param { scale: 2 upsample_h: 5 upsample_w: 6 } }""",
    )["y"]
    blocks = np.pad(IMAGE, ((0, 0), (0, 0), (0, 1), (0, 0)), constant_values=-np.inf)
    largest = blocks.reshape(2, 3, 3, 2, 3, 2).max((3, 5), keepdims=True)
    kept = (blocks.reshape(2, 3, 3, 2, 3, 2) == largest).reshape(blocks.shape)[:, :, :5]
    np.testing.assert_array_equal(found, np.where(kept, IMAGE, 0))


def test_places_are_those_in_each_plane(tmp_path):
    """The mask of a pooling counts within a channel, in floats. Source: PoolingLayer::Forward_cpu"""
    found = imaged(
        tmp_path,
        """layer { name: "p" type: "Pooling" bottom: "x" top: "p" top: "m"
             pooling_param { kernel_size: 3 stride: 2 pad: 1 } }
           layer { name: "u" type: "Upsample" bottom: "p" bottom: "m" top: "y"
             upsample_param { upsample_h: 7 upsample_w: 8 } }""",
    )
    assert set(found) == {"y"}
    layer = """layer { name: "p" type: "Pooling" bottom: "x" top: "p" top: "m"
      pooling_param { kernel_size: 3 stride: 2 pad: 1 } }"""
    pooled = imaged(tmp_path, layer)
    wide = np.pad(IMAGE, ((0, 0), (0, 0), (1, 1), (1, 2)), constant_values=-np.inf)
    windows = np.lib.stride_tricks.sliding_window_view(wide, (3, 3), (2, 3))[:, :, ::2, ::2]
    flat = windows.reshape(*windows.shape[:4], 9)
    rows, columns = (np.arange(k)[:, None] * 2 - 1 for k in windows.shape[2:4])
    best = flat.argmax(-1)
    wanted = (rows + best // 3) * 6 + (columns[:, 0] + best % 3)
    assert pooled["m"].dtype == np.float32
    np.testing.assert_array_equal(pooled["m"], wanted)
    planes = np.zeros((2, 3, 7 * 8), np.float32)
    np.put_along_axis(planes, wanted.reshape(2, 3, -1), pooled["p"].reshape(2, 3, -1), 2)
    np.testing.assert_array_equal(found["y"], planes.reshape(2, 3, 7, 8))


def test_columns_of_windows(tmp_path):
    layer = """layer { name: "l" type: "Im2col" bottom: "x" top: "y"
      convolution_param { kernel_size: 3 stride: 2 pad: 1 } }"""
    wide = np.pad(IMAGE, ((0, 0), (0, 0), (1, 1), (1, 1)))
    windows = np.lib.stride_tricks.sliding_window_view(wide, (3, 3), (2, 3))[:, :, ::2, ::2]
    wanted = windows.transpose(0, 1, 4, 5, 2, 3).reshape(2, 27, 3, 3)
    np.testing.assert_array_equal(imaged(tmp_path, layer)["y"], wanted)


def test_items(tmp_path):
    """Items by number, those that are not 0, and channels that are scaled."""
    found = imaged(
        tmp_path,
        """layer { name: "a" type: "Reduction" bottom: "x" top: "sum" reduction_param { axis: 1 } }
           layer { name: "t" type: "Threshold" bottom: "sum" top: "order" }
           layer { name: "b" type: "BatchReindex" bottom: "x" bottom: "order" top: "items" }
           layer { name: "f" type: "Filter" bottom: "x" bottom: "order" top: "some" }
           layer { name: "g" type: "Pooling" bottom: "x" top: "mean"
             pooling_param { pool: AVE global_pooling: true stride: 1 pad: 0 } }
           layer { name: "s" type: "Axpy" bottom: "mean" bottom: "x" bottom: "x" top: "y" }""",
    )
    order = (IMAGE.sum((1, 2, 3)) > 0).astype(int)
    np.testing.assert_array_equal(found["items"], IMAGE[order])
    np.testing.assert_array_equal(found["some"], IMAGE[order != 0])
    wanted = IMAGE.mean((2, 3), keepdims=True) * IMAGE + IMAGE
    np.testing.assert_allclose(found["y"], wanted, rtol=1e-5, atol=1e-6)


def test_python_is_not_executed(tmp_path):
    """Faster R-CNN's proposals have their options in a text; other code is an error."""
    shutil.copy(FILES / "proposals.prototxt", tmp_path / "n.prototxt")
    text = (tmp_path / "n.prototxt").read_text()
    head = text[: text.index("layer {")]
    layer = """layer { name: "rois" type: "Python" bottom: "scores" bottom: "moves" bottom: "info"
      top: "rois" python_param { module: "rpn.proposal_layer" layer: "%s"
        param_str: "{'feat_stride': 16, 'scales': [2, 4]}" } }"""
    inputs, _ = expected("proposals")
    (tmp_path / "n.prototxt").write_text(head + layer % "ProposalLayer")
    found = nnc.compile(tmp_path / "n.prototxt").run(inputs)["rois"]
    native = text.replace("min_size: 1", "").replace("0.6", "0.7")
    native = native.replace("pre_nms_topn: 80 post_nms_topn: 20", "")
    (tmp_path / "n.prototxt").write_text(native)
    np.testing.assert_array_equal(found, nnc.compile(tmp_path / "n.prototxt").run(inputs)["rois"])
    (tmp_path / "n.prototxt").write_text(head + layer % "Other")
    with pytest.raises(NncError, match=r"code of Python, rpn\.proposal_layer\.Other"):
        import_model(tmp_path / "n.prototxt")


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
        ('layer { name: "a" type: "ReLU" bottom: "q" top: "y" }', "its bottom 'q' is not a top"),
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
