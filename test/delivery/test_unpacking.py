"""Archives that stand for models: what is in them is checked before and while it is written."""

import io
import stat
import tarfile
import zipfile
from contextlib import suppress

import pytest
from nnc.delivery.opening import take_out
from nnc.delivery.unpacking import Most, unpack
from nnc.ir.diagnostics import NncError


def zipped(path, *files):
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as made:
        for name, content in files:
            made.writestr(name, content)
    return path


def tarred(path, *members):
    with tarfile.open(path, "w:gz") as made:
        for member, content in members:
            member.size = len(content)
            made.addfile(member, io.BytesIO(content))
    return path


def member(name, kind=tarfile.REGTYPE, link=""):
    made = tarfile.TarInfo(name)
    made.type, made.linkname = kind, link
    return made


MODELS = {
    "one file": (["a.onnx"], "a.onnx"),
    "beside its weights": (["m/a.onnx", "m/a.data"], "m/a.onnx"),
    "a SavedModel": (["s/saved_model.pb", "s/variables/variables.index"], "s"),
    "a folder of CoreML": (["a.mlpackage/Manifest.json", "a.mlpackage/Data/x"], "a.mlpackage"),
    "two files of ncnn": (["x.bin", "x.param"], "x.param"),
    "MXNet": (["n-0000.params", "n-symbol.json"], "n-symbol.json"),
    "Caffe2": (["init_net.pb", "predict_net.pb"], "predict_net.pb"),
    "what systems add": (["__MACOSX/x", ".DS_Store", "a.onnx"], "a.onnx"),
}


@pytest.mark.parametrize("name", MODELS)
def test_the_model_in_an_archive(tmp_path, name):
    files, expected = MODELS[name]
    archive = zipped(tmp_path / "a.zip", *((one, b"x") for one in files))
    found = unpack(archive, tmp_path / "out")
    assert found == tmp_path / "out" / expected
    archive = tarred(tmp_path / "a.tar.gz", *((member(one), b"x") for one in files))
    assert unpack(archive, tmp_path / "out2") == tmp_path / "out2" / expected


@pytest.mark.parametrize(
    "bad",
    [
        "../up",
        "/etc/passwd",
        "a/../../up",
        "C:\\x",
        "a\\..\\b",
        "x\0y",
        "a\nb",
        "..",
        "x/" * 50 + "y",
    ],
)
def test_paths_that_lead_elsewhere(tmp_path, bad):
    for archive in (
        zipped(tmp_path / "a.zip", (bad, b"x")),
        tarred(tmp_path / "a.tgz", (member(bad), b"x")),
    ):
        out = tmp_path / f"out-{archive.suffix}"
        try:
            unpack(archive, out)
        except NncError as error:
            assert "\n" not in error.message
        outside = {"a.zip", "a.tgz", "out-.zip", "out-.tgz"}
        assert {one.name for one in tmp_path.iterdir()} <= outside


@pytest.mark.parametrize(
    "kind", [tarfile.SYMTYPE, tarfile.LNKTYPE, tarfile.FIFOTYPE, tarfile.CHRTYPE, tarfile.BLKTYPE]
)
def test_links_and_devices_in_tar(tmp_path, kind):
    archive = tarred(tmp_path / "a.tar.gz", (member("l", kind, "/etc/passwd"), b""))
    with pytest.raises(NncError, match="not a plain file"):
        unpack(archive, tmp_path / "out")


def test_links_in_zip(tmp_path):
    link = zipfile.ZipInfo("l")
    link.external_attr = (stat.S_IFLNK | 0o777) << 16
    archive = zipped(tmp_path / "a.zip", (link, b"/etc/passwd"), ("l/x", b"x"))
    with pytest.raises(NncError, match="not a plain file"):
        unpack(archive, tmp_path / "out")


@pytest.mark.parametrize("most", [Most(entries=3), Most(bytes=1000)])
def test_more_than_there_is_room_for(tmp_path, most):
    archive = zipped(tmp_path / "a.zip", *((f"{i}.onnx", bytes(400)) for i in range(5)))
    with pytest.raises(NncError, match="more than"):
        unpack(archive, tmp_path / "out", most)


def test_a_bomb_that_says_it_is_small(tmp_path):
    archive = zipped(tmp_path / "a.zip", ("a.onnx", bytes(10_000_000)))
    data = archive.read_bytes().replace((10_000_000).to_bytes(4, "little"), b"\1\0\0\0")
    archive.write_bytes(data)
    with pytest.raises(NncError):
        unpack(archive, tmp_path / "out")
    assert sum(one.stat().st_size for one in (tmp_path / "out").rglob("*")) < 10_000


@pytest.mark.parametrize("content", [b"", b"PK\3\4", b"\x1f\x8b\x08" + bytes(20), b"no archive"])
def test_no_archive(tmp_path, content):
    (tmp_path / "a.zip").write_bytes(content)
    with pytest.raises(NncError, match="no archive, or a damaged one"):
        unpack(tmp_path / "a.zip", tmp_path / "out")


@pytest.mark.parametrize("files", [[], ["a.onnx", "b.onnx"], ["readme.md", "x.py"]])
def test_archives_that_do_not_say_which_model(tmp_path, files):
    archive = zipped(tmp_path / "a.zip", *((one, b"x") for one in files))
    with pytest.raises(NncError):
        unpack(archive, tmp_path / "out")


def test_the_same_name_twice(tmp_path):
    with pytest.warns(UserWarning):
        archive = zipped(tmp_path / "a.zip", ("a.onnx", b"1"), ("a.onnx", b"2"))
    with pytest.raises(NncError, match="twice"):
        unpack(archive, tmp_path / "out")


def test_every_cut_and_many_changes_of_an_archive(tmp_path):
    """Nothing but an error of nnc's comes of it, and nothing is written elsewhere."""
    whole = zipped(
        tmp_path / "a.zip", ("m/a.onnx", b"x" * 50), ("m/b.data", b"y" * 50)
    ).read_bytes()
    changed = [whole[:n] for n in range(0, len(whole), 3)]
    changed += [whole[:n] + bytes([whole[n] ^ 0x41]) + whole[n + 1 :] for n in range(len(whole))]
    for number, data in enumerate(changed):
        (tmp_path / "b.zip").write_bytes(data)
        with suppress(NncError):
            unpack(tmp_path / "b.zip", tmp_path / f"o{number}")
    assert all(one.name[0] in "abo" for one in tmp_path.iterdir())


def test_some_files_of_an_archive_are_taken_out(tmp_path):
    archive = zipped(tmp_path / "a.zip", ("p/report.json", "{}"), ("p/large", "x" * 1000))
    take_out(archive, tmp_path / "opened", ["p/report.json"])
    assert [path.name for path in (tmp_path / "opened").iterdir()] == ["report.json"]
    assert (tmp_path / "opened" / "report.json").read_text() == "{}"


@pytest.mark.parametrize("change", ["missing", "cut", "none", "damaged"])
def test_what_cannot_be_taken_out_is_one_error(tmp_path, change):
    archive, names = zipped(tmp_path / "a.zip", ("report.json", "{}" * 99)), ["report.json"]
    data = bytearray(archive.read_bytes())
    match change:
        case "missing":
            names = ["other"]
        case "cut":
            archive.write_bytes(data[:20])
        case "none":
            archive.unlink()
        case _:
            data[data.index(b"PK\x01\x02") + 16] ^= 255  # its checksum
            archive.write_bytes(data)
    with pytest.raises(NncError, match=r"a\.zip cannot be opened") as raised:
        take_out(archive, tmp_path / "opened", names)
    assert "\n" not in raised.value.message
