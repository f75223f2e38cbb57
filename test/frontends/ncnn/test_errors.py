"""What is wrong with files of ncnn is said in one error."""

import random
import struct
from contextlib import suppress
from pathlib import Path

import nnc
import numpy as np
import pytest
from nnc.frontends.common.source import Source
from nnc.frontends.formats import examine_model, find_format, import_model
from nnc.frontends.ncnn.param import KINDS, MAGIC
from nnc.ir.diagnostics import NncError

FILES = Path(__file__).parent / "files"
NET = """7767517
2 2
Input data 0 1 data 0=4
InnerProduct fc 1 1 data out 0=3 1=1 2=12 9=1
"""


LAYER = "InnerProduct fc 1 1 data out 0=3 1=1 2=12 9=1"
CONVOLUTION = "Convolution1D fc 1 1 data out 0=1 1=3 2=2 3=3 5=0 6=12"


def written(folder, text=NET, weights=None):
    path = folder / "net.param"
    path.write_text(text)
    data = bytes(4) + np.linspace(-1, 1, 15, dtype="f4").tobytes() if weights is None else weights
    (folder / "net.bin").write_bytes(data)
    return path


@pytest.mark.parametrize(
    ("text", "weights", "message"),
    [
        (NET.replace("0=3", "0=5"), None, "its weight has the shape"),
        (NET, b"\0" * 40, "the file ends inside the weights of layer 'fc'"),
        (NET, b"\0" * 100, "36 bytes are left behind"),
        (NET.replace("2 2", "3 2", 1), None, "but 2 layers follow"),
        (NET.replace("fc 1 1", "fc 9 1"), None, "9 inputs and 1 outputs, but fewer names"),
        (NET.replace("InnerProduct", "Mystery"), None, "layer 'fc' (Mystery): not supported"),
        (NET.replace("9=1", "9=8"), None, "layer 'fc' (InnerProduct): activation 8"),
        (
            NET.replace("1 1 data", "1 1 other"),
            None,
            "layer 'fc' (InnerProduct): no layer has the output 'other'",
        ),
        (
            NET.replace(LAYER, CONVOLUTION),
            bytes(52),
            "layer 'fc' (Convolution1D): windows of 5 do not fit into 4 elements",
        ),
        (
            NET.replace(LAYER, "HardSwish fc 1 1 data out 0=-1"),
            b"",
            "layer 'fc' (HardSwish): a slope of -1, expected a positive one",
        ),
        (
            NET.replace(LAYER, "Padding fc 1 1 data out 2=4 4=2"),
            b"",
            "layer 'fc' (Padding): reflections [4, 0] of 4 elements",
        ),
        (
            NET.replace("0=4", "0=8 1=4 2=2").replace(
                LAYER,
                "Pooling fc 1 1 data out 1=1 11=2 2=3 12=1 5=3",
            ),
            b"",
            "layer 'fc' (Pooling): SAME_LOWER for windows of [2, 1] at strides [1, 3]",
        ),
        (
            NET.replace("0=4", "0=9 1=4 2=2").replace(
                LAYER,
                "Pooling fc 1 1 data out 1=1 11=2 2=3 12=1 5=2",
            ),
            b"",
            "layer 'fc' (Pooling): SAME_UPPER for windows of [2, 1] at strides [1, 3]",
        ),
        (
            NET.replace("0=4", "0=8 1=4 2=2").replace(
                LAYER,
                "Pooling fc 1 1 data out 0=1 1=2 3=1 5=2",
            ),
            b"",
            "layer 'fc' (Pooling): means of windows without their padding, beside pads of",
        ),
        (
            NET.replace("0=4", "0=4 1=4 11=-1 2=2").replace(
                LAYER,
                "Pooling3D fc 1 1 data out 1=2 2=2 5=3",
            ),
            b"",
            "layer 'fc' (Pooling3D): SAME_LOWER in three dimensions needs inputs of known extents",
        ),
        (
            NET.replace("0=4", "0=8 1=4 11=3 2=2").replace(LAYER, "Interp fc 1 1 data out 0=1 3=5"),
            b"",
            "layer 'fc' (Interp): resampling of type 1 of 4 dimensions",
        ),
        (
            NET.replace(LAYER, "Crop fc 2 1 data data out 0=1"),
            b"",
            "layer 'fc' (Crop): 4 elements from 1 on, of an axis of 4",
        ),
        (
            NET.replace(LAYER, "CopyTo fc 2 1 data data out -23309=1,-3 -23311=1,0"),
            b"",
            "layer 'fc' (CopyTo): 4 elements from 1 on, of an axis of 4",
        ),
        (
            NET.replace("0=4", "0=8 1=4 2=2").replace(LAYER, "Pooling fc 1 1 data out 0=1"),
            b"",
            "layer 'fc' (Pooling): the window's extents are missing",
        ),
        ("7767517\n", None, "it says '', but 0 layers follow"),
        (
            "7767517\n2 1\npnnx.Input in 0 1 0 #0=(1,4)f32\npnnx.Output out 1 0 0 #0=(1,4)f32\n",
            b"",
            "pnnx's own form of the model; take the .ncnn.param written beside it",
        ),
        (NET.replace("7767517", "77675170"), None, "the first line is not 7767517"),
    ],
)
def test_broken_files(tmp_path, text, weights, message):
    """Each fault has its own message, which names the file."""
    path = written(tmp_path, text, weights)
    with pytest.raises(NncError) as found:
        import_model(path)
    assert message in str(found.value)
    assert "net." in str(found.value)


def test_missing_weights(tmp_path):
    """Weights come from the file of the same name."""
    path = written(tmp_path)
    (tmp_path / "net.bin").unlink()
    with pytest.raises(NncError, match=r"'net\.bin' is missing beside the model"):
        import_model(path)
    with pytest.raises(NncError, match="give a path"):
        import_model(NET.encode())


def test_binary_form(tmp_path):
    """A `.param.bin` has the same layers without names."""
    path = written(tmp_path)
    words = [MAGIC, 2, 2, KINDS.index("Input"), 0, 1, 0, 0, 4, -233]
    words += [KINDS.index("InnerProduct"), 1, 1, 0, 1, 0, 3, 1, 1, 2, 12, 9, 2]
    slope = struct.unpack("<i", struct.pack("<f", 0.5))[0]
    words += [-23310, 1, slope, -233]
    binary = tmp_path / "net.param.bin"
    binary.write_bytes(struct.pack(f"<{len(words)}i", *words))
    assert find_format(Source(binary)).name == "ncnn"
    x = np.array([1.0, -2.0, 3.0, 0.5], "f4")
    stored = np.linspace(-1, 1, 15, dtype="f4")
    y = stored[:12].reshape(3, 4) @ x + stored[12:]
    found = nnc.compile(binary).run({"blob0": x})["blob1"]
    np.testing.assert_allclose(found, np.where(y > 0, y, 0.5 * y), rtol=1e-5)
    assert examine_model(path.with_suffix(".param.bin")).producer == "ncnn"


def test_weights_by_table(tmp_path):
    """Weights as bytes that index a table of floats."""
    table = np.linspace(-1, 1, 256).astype("f4")
    index = np.arange(12, dtype=np.uint8) * 20
    data = b"\1\0\0\0" + table.tobytes() + index.tobytes() + np.ones(3, "f4").tobytes()
    x = np.array([1.0, -2.0, 3.0, 0.5], "f4")
    found = nnc.compile(written(tmp_path, weights=data)).run({"data": x})["out"]
    expected = np.maximum(table[index].reshape(3, 4) @ x + 1, 0)
    np.testing.assert_allclose(found, expected, rtol=1e-5)


def test_open_extents(tmp_path):
    """An input without a shape takes the one that is given; extents may stay open."""
    text = """7767517
5 5
Input data 0 1 data
Pooling pool 1 1 data a 0=0 1=2 2=2
Reshape flat 1 1 a b 0=-1 1=2
Softmax soft 1 1 b c 0=1 1=1
ReLU relu 1 1 c out
"""
    path = written(tmp_path, text, b"")
    with pytest.raises(NncError, match="the rank of input 'data' is unknown"):
        import_model(path)
    model = nnc.compile(path, shapes={"data": (2, None, None)})
    x = np.random.default_rng(0).normal(size=(2, 4, 6)).astype("f4")
    pooled = x.reshape(2, 2, 2, 3, 2).max((2, 4)).reshape(2, 6)
    powers = np.exp(pooled)
    expected = powers / powers.sum(1, keepdims=True)
    np.testing.assert_allclose(model.run({"data": x})["out"], expected, rtol=1e-5)


def test_damaged_files(tmp_path):
    """Files with changed bytes are models or give an error of ours."""
    pick = random.Random(0)
    whole = (FILES / "convolution.param").read_bytes()
    (tmp_path / "net.bin").write_bytes((FILES / "convolution.bin").read_bytes())
    for _ in range(60):
        data = bytearray(whole)
        for _ in range(pick.randrange(1, 4)):
            data[pick.randrange(len(data))] = pick.choice(b"0123456789-=,. \nabX\xff")
        (tmp_path / "net.param").write_bytes(data[: pick.choice([len(data), 900])])
        with suppress(NncError):
            import_model(tmp_path / "net.param").verify()
