"""Fields that no row reads are refused by name, in each format that has such fields."""

import json
import shutil
from pathlib import Path
from zipfile import ZipFile

import nnc
import numpy as np
import pytest
from nnc.frontends.caffe.schema import SCHEMA
from nnc.test.frontends.protobuf_writer import written

HERE = Path(__file__).parent


def refused(path, message):
    with pytest.raises(nnc.NncError, match=message):
        nnc.load(path)


def edited(tmp_path, name, old, new, *beside):
    """A copy of a file of a format's tests with a text replaced, and of files beside it."""
    source = HERE / name
    for other in beside:
        shutil.copy(source.parent / other, tmp_path)
    text = source.read_bytes()
    assert old in text
    path = tmp_path / source.name
    path.write_bytes(text.replace(old, new, 1))
    return path


CAFFE = """
input: "data" input_shape {{ dim: 2 dim: 3 dim: 4 dim: 4 }}
layer {{ name: "one" type: "{}" bottom: "data" top: "out" {} }}
"""


@pytest.mark.parametrize(
    "kind, more, message",
    [
        ("ReLU", "relu_param { ceiling: 6 }", r"'relu_param.ceiling' is True"),
        (
            "Pooling",
            "pooling_param { kernel_size: 2 stride: 2 shape { dim: 1 } }",
            "pooling_param.shape",
        ),
        ("Softmax", "softmax_param { axis: 1 } power_param { power: 2 }", "'power_param' is"),
    ],
)
def test_caffe(kind, more, message):
    with pytest.raises(nnc.NncError, match=rf"layer 'one' \({kind}\): .*{message}"):
        nnc.load(CAFFE.format(kind, more).encode())


def test_caffes_normalization_that_is_told_to_train(tmp_path):
    blobs = [{"data": np.ones(3, "f"), "shape": {"dim": [3]}}] * 2
    blobs.append({"data": np.ones(1, "f"), "shape": {"dim": [1]}})
    weights = {"layer": [{"name": "one", "type": "BatchNorm", "blobs": blobs}]}
    (tmp_path / "net.caffemodel").write_bytes(written(SCHEMA, "Net", weights))
    more = "batch_norm_param { use_global_stats: false eps: 1e-3 }"
    (tmp_path / "net.prototxt").write_text(CAFFE.format("BatchNorm", more))
    x = np.random.default_rng(0).normal(size=(2, 3, 4, 4)).astype("f")
    mean, var = x.mean((0, 2, 3), keepdims=True), x.var((0, 2, 3), keepdims=True)
    found = nnc.compile(tmp_path / "net.prototxt")(x)
    np.testing.assert_allclose(found, (x - mean) / np.sqrt(var + 1e-3), atol=1e-5)


def test_darknet():
    text = b"[net]\nheight=4\nwidth=4\nchannels=2\n[maxpool]\nsize=2\nceiling=1\n"
    with pytest.raises(nnc.NncError, match=r"\(maxpool\): 'ceiling' is '1', which is not"):
        nnc.load(text)


def test_ncnn():
    text = b"7767517\n2 2\nInput data 0 1 data 0=4 1=4 2=2\nReLU one 1 1 data out 0=0.1 7=3\n"
    with pytest.raises(nnc.NncError, match=r"layer 'one' \(ReLU\): '7' is 3, which is not"):
        nnc.load(text)


def test_mxnet():
    nodes = [
        {"op": "null", "name": "data", "inputs": []},
        {"op": "relu", "name": "one", "attrs": {"ceiling": "6"}, "inputs": [[0, 0, 0]]},
    ]
    symbol = {"nodes": nodes, "arg_nodes": [0], "heads": [[1, 0, 0]]}
    with pytest.raises(nnc.NncError, match=r"layer 'one' \(relu\): 'ceiling' is '6'"):
        nnc.load(json.dumps(symbol).encode(), shapes={"data": (2, 3)})


@pytest.mark.parametrize("form", ["movement", "movement_old"])
def test_paddle(tmp_path, form):
    with ZipFile(HERE / f"paddle/files/{form}.zip") as archive:
        archive.extractall(tmp_path)
    path = tmp_path / (form + (".pdmodel" if form.endswith("_old") else ".json"))
    data = path.read_bytes()
    old = b"\x04axis" if form.endswith("_old") else b'"N":"axis"'
    assert old in data
    path.write_bytes(data.replace(old, old.replace(b"axis", b"axle")))
    refused(path, "'axle' is ")


@pytest.mark.parametrize(
    "name, old, new, message",
    [
        (
            "xgb_square.json",
            b'"name":"gbtree"',
            b'"name":"gbtree","bend":1',
            "'bend' of a gradient",
        ),
        (
            "xgb_square.json",
            b'"num_class":"0"',
            b'"num_class":"0","bend":"2"',
            "'bend' of a learner",
        ),
        ("lgb_regression.txt", b"num_class=1", b"num_class=1\nbend=2", "'bend' of a head is '2'"),
        ("lgb_regression.txt", b"num_cat=", b"bend=2\nnum_cat=", "'bend' of a tree is '2'"),
        (
            "cat_square.json",
            b'"split_index"',
            b'"bend": 2, "split_index"',
            "'bend' of a split is 2",
        ),
    ],
)
def test_boosting(tmp_path, name, old, new, message):
    refused(edited(tmp_path, f"boosting/files/{name}", old, new), message)


def test_gguf(tmp_path):
    old = b"llama.rope.freq_base"
    path = edited(tmp_path, "gguf/files/llama.gguf", old, b"llama.rope.frog_base")
    refused(path, "'llama.rope.frog_base' is 10000.0, which is not supported")
    path = edited(tmp_path, "gguf/files/qwen2.gguf", b"blk.0.attn_q.bias", b"blk.0.attn_q.bent")
    refused(path, "the tensor 'blk.0.attn_q.bent' is not supported")
