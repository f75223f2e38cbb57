"""What no model's file should be, in each format: one error that names the file, at once."""

import io
import os
import shutil
import zipfile
from pathlib import Path

import nnc
import pytest

HERE = Path(__file__).parent
FILES = {
    "Keras": ("keras/files/nested.keras",),
    "HDF5": ("keras/files/nested.h5",),
    "PyTorch": ("pytorch/files/net.pt2",),
    "TensorFlow Lite": ("tflite/files/convolution.tflite",),
    "TensorFlow": ("tensorflow/files/activations.pb",),
    "GGUF": ("gguf/files/llama.gguf",),
    "ncnn": ("ncnn/files/convolution.param", "ncnn/files/convolution.bin"),
    "Darknet": ("darknet/files/yolo.cfg", "darknet/files/yolo.weights"),
    "Caffe": ("caffe/files/wide.prototxt", "caffe/files/wide.caffemodel"),
    "CoreML": ("coreml/files/network.mlmodel",),
    "XGBoost": ("boosting/files/xgb_dart.json",),
    "UBJSON": ("boosting/files/xgb_softmax.ubj",),
    "LightGBM": ("boosting/files/lgb_binary.txt",),
    "CatBoost": ("boosting/files/cat_two.json",),
}
FOLDERS = {
    "mlpackage": (
        "coreml/files/affine.mlpackage",
        ("Manifest.json", "Data/com.apple.CoreML/model.mlmodel"),
    ),
    "SavedModel": ("tensorflow/files/network", ("saved_model.pb", "variables/variables.index")),
}
PIPE = "a pipe"  # which nobody writes to: to open it takes for ever


def put(path: Path, what: bytes | str) -> None:
    """In place of a file: other bytes, a folder, a pipe, a link, or nothing."""
    path.unlink(missing_ok=True)
    if isinstance(what, bytes):
        path.write_bytes(what)
    elif what == "a folder":
        path.mkdir()
    elif what == PIPE:
        os.mkfifo(path)
    elif what == "a link to itself":
        path.symlink_to(path)
    elif what == "a device":
        path.symlink_to("/dev/zero")


def fails(path: Path) -> str:
    with pytest.raises(nnc.NncError) as caught:
        nnc.load(path)
    text = str(caught.value)
    assert "error: " in text and "Traceback" not in text
    return text


@pytest.mark.parametrize("what", [b"", b"\0", "a folder", PIPE, "a link to itself", "a device"])
@pytest.mark.parametrize("name", FILES)
def test_in_place_of_a_model(tmp_path, name, what):
    path = tmp_path / Path(FILES[name][0]).name
    put(path, what)
    assert path.name in fails(path)


@pytest.mark.parametrize("parts", [0.1, 0.5, 0.9])
@pytest.mark.parametrize("name", FILES)
def test_the_beginning_of_a_model(tmp_path, name, parts):
    """Text may end where it is still a model."""
    data = (HERE / FILES[name][0]).read_bytes()
    path = tmp_path / Path(FILES[name][0]).name
    path.write_bytes(data[: int(parts * len(data))])
    try:
        nnc.load(path)
    except nnc.NncError as error:
        assert str(error).startswith(str(tmp_path))


@pytest.mark.parametrize("what", [b"", "nothing", "a folder", PIPE, "a device"])
@pytest.mark.parametrize("name", [name for name, files in FILES.items() if len(files) > 1])
def test_in_place_of_weights(tmp_path, name, what):
    path, weights = (Path(shutil.copy(HERE / file, tmp_path)) for file in FILES[name])
    put(weights, what)
    fails(path)


@pytest.mark.parametrize("what", [b"", b"\x7f", "nothing", "a folder", PIPE, "a device"])
@pytest.mark.parametrize("place", [(n, m) for n, (_, members) in FOLDERS.items() for m in members])
def test_in_place_of_a_member(tmp_path, place, what):
    name, member = place
    home = Path(shutil.copytree(HERE / FOLDERS[name][0], tmp_path / "model"))
    put(home / member, what)
    fails(home)


@pytest.mark.parametrize("path", ['"x"', "5", "null", '"%s"' % ("a" * 300), '"a\\u0000"', '"../x"'])
@pytest.mark.parametrize("entry", ['{"path": %s}', "[%s]", '"%s'])
def test_the_list_of_a_package(tmp_path, path, entry):
    home = Path(shutil.copytree(HERE / FOLDERS["mlpackage"][0], tmp_path / "model"))
    text = f'{{"itemInfoEntries": {{"a": {entry % path}}}, "rootModelIdentifier": "a"}}'
    (home / "Manifest.json").write_text(text)
    fails(home)
    (home / "Manifest.json").write_text('{"itemInfoEntries": "abc", "rootModelIdentifier": 7}')
    assert "the package's list names no model" in fails(home)


def message_of(path: Path) -> str:
    with pytest.raises(nnc.NncError) as found:
        nnc.compile(path, cache=False)
    return str(found.value)


def test_files_that_are_cut_off_are_called_that(tmp_path: Path) -> None:
    whole = (HERE / "pytorch/files/net.pt2").read_bytes()
    (tmp_path / "net.pt2").write_bytes(whole[: len(whole) // 2])
    assert "the archive is cut off" in message_of(tmp_path / "net.pt2")
    # What `jax.export` writes is a flatbuffer whose first byte may be "<".
    (tmp_path / "f.jax").write_bytes(b"<\0\0\0" + bytes(200) + b"ML\xefR\rStableHLO_v1.0.0")
    assert "part of what jax.export writes, cut off or damaged" in message_of(tmp_path / "f.jax")
    (tmp_path / "page").write_bytes(b"<html><body>404</body></html>" + bytes([10]) * 99)
    assert "XML or HTML text" in message_of(tmp_path / "page")


def test_an_archive_of_which_only_one_inside_has_its_end_is_cut_off(tmp_path: Path) -> None:
    inner, outer = io.BytesIO(), io.BytesIO()
    with zipfile.ZipFile(inner, "w") as file:
        file.writestr("w/data.pkl", b"x")
    with zipfile.ZipFile(outer, "w") as file:
        file.writestr("models/model.json", b"{}")
        file.writestr("data/weights/w.pt", inner.getvalue())
    (tmp_path / "net.pt2").write_bytes(outer.getvalue()[: zipfile.ZipFile(outer).start_dir])
    assert "the archive is cut off: its own end is missing" in message_of(tmp_path / "net.pt2")
