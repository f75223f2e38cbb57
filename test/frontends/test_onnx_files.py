"""A file that holds no model, or broken weights, is said in one error."""

import contextlib
import os
import random

import numpy as np
import pytest
from nnc.frontends.onnx import import_model
from nnc.ir.diagnostics import NncError
from onnx import TensorProto

from .models import initializer, make_model, node, save, value
from .test_onnx_errors import expect, relu_model

# -- the file --------------------------------------------------------------------------------------


def test_no_such_file(tmp_path):
    expect(tmp_path / "none.onnx", r"none\.onnx: error: cannot read the model: No such file")


def test_a_folder(tmp_path):
    expect(tmp_path, "is a folder, expected a model's file")


def test_an_empty_file(tmp_path):
    path = tmp_path / "m.onnx"
    path.write_bytes(b"")
    expect(path, r"m\.onnx: error: the file is empty, expected a model")


@pytest.mark.parametrize(
    ("data", "what"),
    [
        (b"PK\x03\x04 rest of it", "ZIP archive"),
        (b"<html><body>not found</body></html>", "XML or HTML"),
        (b'{"a": 1}', "JSON"),
        (b"version https://git-lfs.github.com/spec/v1\n", "Git LFS pointer"),
        (b"\x08\x00\x00\x00ORTM\x00\x00", "ONNX Runtime's own format"),
        (b"hello, world\n", "it is text"),
        (b'{"a": ', "it is text"),
        (b"\x93NUMPY\x01\x00", "an array of NumPy"),
        (b"\x1f\x8b\x08\x00" + bytes(20), "compressed by gzip; unpack it first"),
        (b"\x7f\0\0\0\0\0\0\0" + b'{"}', "cannot be decoded"),
        (b"\x02\0\0\0\0\0\0\0" + b'{"a":{}}', "weights of safetensors, without a program"),
        (b"\x00" * 100, "cannot be decoded"),
        (b"\x08\x07", "it has no graph"),
    ],
)
def test_not_a_model(tmp_path, data, what):
    path = tmp_path / "m.onnx"
    path.write_bytes(data)
    expect(path, f"m.onnx: error: not an ONNX model.*{what}")


def test_a_truncated_file(tmp_path):
    weights = [initializer("w", np.ones((64, 64), np.float32))]
    model = make_model(
        [node("MatMul", ["x", "w"], ["y"])], [value("x", (2, 64))], [value("y", (2, 64))], weights
    )
    data = model.SerializeToString()
    path = tmp_path / "m.onnx"
    for size in (1, 10, 50, len(data) // 2, len(data) - 1):
        path.write_bytes(data[:size])
        expect(path, "not an ONNX model")


@pytest.mark.sampled(10)
@pytest.mark.parametrize("seed", range(30))
def test_damaged_bytes_are_at_worst_an_error(tmp_path, seed):
    weights = [initializer("w", np.ones((3, 3), np.float32)), initializer("s", [1, 6])]
    nodes = [
        node("MatMul", ["x", "w"], ["a"], "product"),
        node("Softmax", ["a"], ["b"], "soft", axis=1),
        node("Reshape", ["b", "s"], ["y"], "shape"),
    ]
    data = make_model(nodes, ["x"], [value("y", (1, 6))], weights).SerializeToString()
    path = tmp_path / "m.onnx"
    pick = random.Random(seed)
    for _ in range(150):
        damaged = bytearray(data)
        for _ in range(pick.randint(1, 3)):
            damaged[pick.randrange(len(damaged))] = pick.randrange(256)
        path.write_bytes(damaged)
        with contextlib.suppress(NncError):
            import_model(path).verify()


def test_a_file_that_may_not_be_read(tmp_path):
    path = save(relu_model(), tmp_path / "m.onnx")
    path.chmod(0)
    if os.access(path, os.R_OK):  # root reads everything
        path.unlink()
        path.symlink_to(path)
    expect(path, "cannot read the model")


# -- tensors ---------------------------------------------------------------------------------------


def with_tensor(change):
    tensor = initializer("w", np.ones((2, 3), np.float32))
    change(tensor)
    return make_model([node("Add", ["x", "w"], ["y"], "sum")], ["x"], ["y"], [tensor])


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (
            lambda t: setattr(t, "raw_data", b"123"),
            r"3 bytes of data, but shape \[2, 3\] of FLOAT needs 24",
        ),
        (lambda t: t.dims.append(-1), r"shape \[2, 3, -1\] has a negative extent"),
        (lambda t: t.dims.append(9), r"24 bytes of data, but shape \[2, 3, 9\]"),
        (lambda t: t.ClearField("raw_data"), r"0 elements of data, but shape \[2, 3\] needs 6"),
        (
            lambda t: setattr(t, "data_type", TensorProto.STRING),
            r"0 strings, but shape \[2, 3\] needs 6",
        ),
        (lambda t: setattr(t, "data_type", 0), "element type UNDEFINED is not supported"),
        (lambda t: setattr(t, "data_type", 12345), "element type number 12345 is not supported"),
        (lambda t: t.segment.SetInParent(), "segments are not supported"),
    ],
)
def test_a_broken_tensor(change, message):
    expect(with_tensor(change), r"node 'sum' \(Add\): tensor 'w': .*" + message)
