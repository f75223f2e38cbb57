"""Weights in files beside the model: where they may lie, what they must hold, what is mapped."""

import re

import numpy as np
import onnx
import pytest
from nnc.dialects import nn
from nnc.frontends.onnx import import_model
from nnc.ir.diagnostics import NncError
from onnx import helper

from .models import initializer, main_of, make_model, node, run, save, value

W = np.arange(64 * 32, dtype=np.float32).reshape(64, 32)


def external(location="w.bin", **entries):
    """A model whose weight `w` lies in another file, by these entries."""
    tensor = initializer("w", W)
    tensor.ClearField("raw_data")
    tensor.data_location = onnx.TensorProto.EXTERNAL
    for key, text in {"location": location, **entries}.items():
        tensor.external_data.add(key=key, value=str(text))
    return make_model(
        [node("MatMul", ["x", "w"], ["y"], "product")],
        [value("x", (2, 64))],
        [value("y", (2, 32))],
        [tensor],
    )


def expect(path, message):
    with pytest.raises(NncError) as caught:
        import_model(path)
    text = str(caught.value)
    assert text.startswith(f"{path}: error: node 'product' (MatMul): tensor 'w': ")
    assert re.search(message, text), text


def test_it_is_read(tmp_path):
    path = save(external(), tmp_path / "m.onnx")
    (tmp_path / "w.bin").write_bytes(W.tobytes())
    x = np.ones((2, 64), np.float32)
    np.testing.assert_allclose(run(path, x)[0], x @ W)


def test_offset_and_length(tmp_path):
    path = save(external(offset=7, length=W.nbytes), tmp_path / "m.onnx")
    (tmp_path / "w.bin").write_bytes(b"1234567" + W.tobytes() + b"rest")
    x = np.ones((2, 64), np.float32)
    np.testing.assert_allclose(run(path, x)[0], x @ W)


def test_what_onnx_saves(tmp_path):
    model = make_model(
        [node("MatMul", ["x", "w"], ["y"])],
        [value("x", (2, 64))],
        [value("y", (2, 32))],
        [initializer("w", W)],
    )
    path = tmp_path / "m.onnx"
    onnx.save(model, path, save_as_external_data=True, location="m.data", size_threshold=0)
    x = np.ones((2, 64), np.float32)
    np.testing.assert_allclose(run(path, x)[0], x @ W)


def test_below_the_folder(tmp_path):
    (tmp_path / "data").mkdir()
    (tmp_path / "data" / "w.bin").write_bytes(W.tobytes())
    import_model(save(external("data/w.bin"), tmp_path / "m.onnx"))


def weight_of(module):
    (constant,) = [op for op in main_of(module).body_block if isinstance(op, nn.Constant)]
    return constant.value


def is_mapped(array):
    while array is not None and not isinstance(array, np.memmap):
        base = array.base
        if isinstance(base, memoryview):
            base = base.obj
        array = base
    return array is not None


@pytest.mark.parametrize("where", ["inside the model", "as floats", "beside it"])
def test_weights_are_mapped(tmp_path, where):
    if where == "beside it":
        model = external()
        (tmp_path / "w.bin").write_bytes(W.tobytes())
    elif where == "as floats":
        weight = helper.make_tensor("w", onnx.TensorProto.FLOAT, W.shape, W.reshape(-1).tolist())
        assert weight.float_data
        model = make_model(
            [node("MatMul", ["x", "w"], ["y"])],
            [value("x", (2, 64))],
            [value("y", (2, 32))],
            [weight],
        )
    else:
        model = make_model(
            [node("MatMul", ["x", "w"], ["y"])],
            [value("x", (2, 64))],
            [value("y", (2, 32))],
            [initializer("w", W)],
        )
    module = import_model(save(model, tmp_path / "m.onnx"))
    resource = weight_of(module)
    np.testing.assert_array_equal(resource.to_numpy(), W)
    assert is_mapped(resource.blob.bytes())


# -- what goes wrong -------------------------------------------------------------------------------


def test_missing_file(tmp_path):
    path = save(external(), tmp_path / "m.onnx")
    expect(path, f"external data file 'w.bin' does not exist in {tmp_path}")


def test_a_folder_instead(tmp_path):
    (tmp_path / "w.bin").mkdir()
    expect(save(external(), tmp_path / "m.onnx"), "external data file 'w.bin' is not a file")


def test_empty_file(tmp_path):
    (tmp_path / "w.bin").write_bytes(b"")
    expect(save(external(), tmp_path / "m.onnx"), "external data file 'w.bin' is empty")


@pytest.mark.parametrize(
    ("location", "message"),
    [
        ("/etc/passwd", "must be a path relative to the model"),
        ("..\\w.bin", "must be a path relative to the model"),
        ("../w.bin", "'../w.bin' lies outside the model's folder"),
        ("a/../../w.bin", "lies outside the model's folder"),
        (".", "lies outside the model's folder"),
        ("", "external data without a location"),
        ("w\0.bin", "has a zero byte"),
        ("x" * 5000, "cannot read external data file"),
    ],
)
def test_places_that_are_refused(tmp_path, location, message):
    (tmp_path / "w.bin").write_bytes(W.tobytes())
    folder = tmp_path / "model"
    folder.mkdir()
    expect(save(external(location), folder / "m.onnx"), message)


@pytest.mark.parametrize("link", ["file", "folder", "loop"])
def test_symbolic_links_that_lead_out(tmp_path, link):
    outside, folder = tmp_path / "outside", tmp_path / "model"
    outside.mkdir()
    folder.mkdir()
    (outside / "w.bin").write_bytes(W.tobytes())
    location = "w.bin"
    if link == "file":
        (folder / "w.bin").symlink_to(outside / "w.bin")
    elif link == "folder":
        (folder / "sub").symlink_to(outside)
        location = "sub/w.bin"
    else:
        (folder / "w.bin").symlink_to(folder / "w.bin")
    message = "cannot read|does not exist" if link == "loop" else "lies outside"
    expect(save(external(location), folder / "m.onnx"), message)


def test_a_link_inside_the_folder(tmp_path):
    (tmp_path / "real.bin").write_bytes(W.tobytes())
    (tmp_path / "w.bin").symlink_to("real.bin")
    import_model(save(external(), tmp_path / "m.onnx"))


@pytest.mark.parametrize(
    ("entries", "size", "message"),
    [
        ({}, W.nbytes - 1, r"ends at byte 8192 of 'w.bin', which has 8191 \(is the file truncated"),
        ({"offset": 1}, W.nbytes, "ends at byte 8193 of 'w.bin', which has 8192"),
        ({"offset": 2**70}, W.nbytes, "ends at byte .*, which has 8192"),
        ({"offset": -4}, W.nbytes, "offset '-4', expected a number of bytes"),
        ({"offset": "four"}, W.nbytes, "offset 'four', expected a number of bytes"),
        ({"offset": "9" * 5000}, W.nbytes, "9', expected a number of bytes"),
        ({"length": 8}, W.nbytes, "external data of 8 bytes, but its shape needs 8192"),
        ({"length": "1e3"}, W.nbytes, "length '1e3', expected a number of bytes"),
    ],
)
def test_offsets_and_lengths_that_do_not_fit(tmp_path, entries, size, message):
    (tmp_path / "w.bin").write_bytes(W.tobytes()[:size])
    expect(save(external(**entries), tmp_path / "m.onnx"), message)


def test_a_model_without_a_file():
    with pytest.raises(NncError, match=r"external data in 'w.bin', but the model has no file"):
        import_model(external())
