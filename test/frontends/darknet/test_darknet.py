"""Models of Darknet against OpenCV's results, which `make.py` has stored; and faulty ones."""

import random
from contextlib import suppress
from pathlib import Path

import nnc
import numpy as np
import pytest
from nnc.frontends.common.source import Source
from nnc.frontends.formats import find_format, import_model
from nnc.ir.diagnostics import NncError

FILES = Path(__file__).parent / "files"
NET = """[net]
width=4
height=4
channels=1
[connected]
output=2
activation=relu
"""


@pytest.mark.parametrize("name", ["classes", "region", "yolo"])
def test_nets(name):
    """Each output is what OpenCV gives."""
    stored = np.load(FILES / f"{name}.npz")
    found = list(nnc.compile(FILES / f"{name}.cfg").run({"data": stored["data"]}).values())
    assert len(found) == len(stored) - 1
    for i, value in enumerate(found):
        wanted = stored[f"result{i}"]
        assert value.shape == wanted.shape
        assert np.abs(value - wanted).max() <= 1e-4 * np.abs(wanted).max()


def written(folder, text, numbers):
    path = folder / "net.cfg"
    path.write_text(text)
    head = np.array([0, 1, 0, 0], "<i4").tobytes()  # before version 0.2
    path.with_suffix(".weights").write_bytes(head + np.asarray(numbers, "<f4").tobytes())
    return path


def test_local(tmp_path):
    """A layer with weights for each position, which OpenCV does not have."""
    text = NET[: NET.index("[conn")] + "[local]\nfilters=3\nsize=3\nstride=1\nactivation=linear\n"
    random_ = np.random.default_rng(0)
    bias = random_.normal(size=(3, 2, 2)).astype("f4")
    weight = random_.normal(size=(4, 3, 9)).astype("f4")
    path = written(tmp_path, text, np.concatenate([bias.reshape(-1), weight.reshape(-1)]))
    x = random_.normal(size=(1, 1, 4, 4)).astype("f4")
    expected = bias.copy()
    for i in range(2):
        for j in range(2):
            expected[:, i, j] += weight[2 * i + j] @ x[0, 0, i : i + 3, j : j + 3].reshape(-1)
    (found,) = nnc.compile(path).run({"data": x}).values()
    np.testing.assert_allclose(found[0], expected, rtol=1e-4, atol=1e-5)


def test_shortcut_from_larger_images(tmp_path):
    """Every second element of the larger images is added, of as many channels as there are."""
    text = NET[: NET.index("[conn")].replace("channels=1", "channels=2")
    text += "[convolutional]\nfilters=3\nsize=1\nstride=1\nactivation=linear\n"
    text += "[maxpool]\nsize=2\nstride=2\n[shortcut]\nfrom=-2\nactivation=linear\n"
    random_ = np.random.default_rng(0)
    bias, weight = random_.normal(size=3).astype("f4"), random_.normal(size=(3, 2)).astype("f4")
    path = written(tmp_path, text, np.concatenate([bias, weight.reshape(-1)]))
    x = random_.normal(size=(1, 2, 4, 4)).astype("f4")
    first = np.einsum("fc,nchw->nfhw", weight, x) + bias[:, None, None]
    edged = np.pad(first, ((0, 0), (0, 0), (0, 1), (0, 1)), constant_values=-np.inf)
    pooled = np.maximum.reduce([edged[:, :, i:4:2, j:4:2] for i in (0, 1) for j in (0, 1)])
    (found,) = nnc.compile(path).run({"data": x}).values()
    np.testing.assert_allclose(found, pooled + first[:, :, ::2, ::2], rtol=1e-4, atol=1e-5)


@pytest.mark.parametrize(
    ("text", "message"),
    [
        (NET.replace("output=2", "output=3"), "the file ends inside the weights of layer 'conn"),
        (NET.replace("relu", "wave"), "layer 'connected_0' (connected): activation 'wave'"),
        (NET.replace("[connected]", "[mystery]"), "layer 'mystery_0' (mystery): not supported"),
        (NET.replace("=4", "=" + "9" * 5000, 1), "9, expected a positive number"),
        (NET.replace("=4", "=\u00b2", 1), "[net] has width=\u00b2, expected a positive number"),
        (NET.replace("=4", "=x", 1), "[net] has width=x, expected a positive number"),
        (NET + "[route]\nlayers=-4\n", "layer 'route_1': there is no layer -4 before it"),
        (NET + "[route]\nlayers=one\n", "layer 'route_1': 'one' names no layers"),
        (NET + "[softmax]\ngroups=some\n", "option 'groups' is 'some', expected a number"),
        (NET + "nonsense\n", "line 8 is 'nonsense', expected name=value"),
    ],
)
def test_broken_files(tmp_path, text, message):
    """Each fault has its own message, which names the file."""
    with pytest.raises(NncError) as found:
        import_model(written(tmp_path, text, np.zeros(34)))
    assert message in str(found.value)
    assert "net." in str(found.value)


def test_missing_weights(tmp_path):
    """Weights come from the file of the same name."""
    path = written(tmp_path, NET, [])
    assert find_format(Source(path)).name == "Darknet"
    path.with_suffix(".weights").unlink()
    with pytest.raises(NncError, match=r"'net\.weights' is missing beside the model"):
        import_model(path)


def test_damaged_files(tmp_path):
    """Files with changed bytes are models or give an error of ours."""
    pick = random.Random(3)
    whole = (FILES / "yolo.cfg").read_bytes()
    (tmp_path / "net.weights").write_bytes((FILES / "yolo.weights").read_bytes())
    for _ in range(60):
        data = bytearray(whole)
        for _ in range(pick.randrange(1, 4)):
            data[pick.randrange(len(data))] = pick.choice(b"0123456789-=,.#;[]\nab\xff")
        (tmp_path / "net.cfg").write_bytes(data)
        with suppress(NncError):
            import_model(tmp_path / "net.cfg").verify()


@pytest.mark.parametrize(
    "end", ["[route]\nlayers=-4", "stride=1\n\n[avgpool]", "1\nsize=1\nstride=2"]
)
def test_cut_off_files(tmp_path, end):
    """A `.cfg` that ends too early leaves numbers of its weights."""
    text = (FILES / "yolo.cfg").read_text()
    path = tmp_path / "net.cfg"
    path.write_text(text[: text.index(end)])
    path.with_suffix(".weights").write_bytes((FILES / "yolo.weights").read_bytes())
    with pytest.raises(NncError, match=r"belong to no layer up to the last: the \.cfg is cut off"):
        import_model(path)


def test_numbers_to_spare(tmp_path):
    """A head may be longer than its version says: tools disagree on that by up to 20 bytes."""
    import_model(written(tmp_path, NET, np.zeros(34 + 5)))
    with pytest.raises(NncError, match="6 of the 40 numbers of its weights belong to no layer"):
        import_model(written(tmp_path, NET, np.zeros(34 + 6)))
