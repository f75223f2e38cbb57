"""Files that nnc wrote and that something changed since: never another number, and never a crash."""

import json
import os
import random
import re
import shutil
import warnings
from pathlib import Path

import nnc
import numpy as np
import onnx
import pytest
from nnc.driver.cache import ModelCache
from nnc.ir.checked_files import is_whole, sums_of
from nnc.targets.base import host
from nnc.tools.nnc import main

from ..artifacts.test_artifacts import Library, compile_to
from .test_cache import W, X, folder, model

__all__ = ["folder"]


def changed(data: bytes, chance: random.Random) -> bytes:
    """The data with one byte changed, removed or added, or cut, or two of its parts exchanged."""
    at, other = sorted(chance.sample(range(len(data)), 2))
    byte = bytes([chance.randrange(256)])
    return chance.choice(
        [
            data[:at] + byte + data[at + 1 :],
            data[:at] + bytes([data[at] ^ 1 << chance.randrange(8)]) + data[at + 1 :],
            data[:at] + data[at + 1 :],
            data[:at] + byte + data[at:],
            data[:at],
            data[other:] + data[at:other] + data[:at],
        ]
    )


def entry_changed(about: dict, chance: random.Random) -> dict:
    """JSON with one of its entries changed, removed or given another name, at any depth."""
    made = json.loads(json.dumps(about))
    place, key = made, "about"
    while isinstance(place[key], dict | list) and place[key] and chance.random() < 0.8:
        place = place[key]
        key = chance.choice(list(place) if isinstance(place, dict) else range(len(place)))
    match chance.randrange(3):
        case 0:
            del place[key]
        case 1 if isinstance(place, dict):
            place[f"{key}_"] = place.pop(key)
        case _:
            place[key] = chance.choice(
                [None, [], {}, "", "f64", -1, 0, 7, 2**31, 2**63, 2**70, True, 1.5, [[[2], "f32"]]]
            )
    return made


@pytest.fixture
def entry(folder: Path) -> Path:
    """The entry of a small model in the cache."""
    nnc.compile(model())
    (made,) = folder.iterdir()
    return made


@pytest.mark.thorough
def test_each_change_of_an_entry_is_found(entry: Path, tmp_path: Path):
    """Two thousand changes of its files: what is found is what was written, or nothing is."""
    cache = ModelCache(tmp_path / "changed")
    want = ModelCache(entry.parent).find(entry.name, host())
    assert want is not None
    files = {path.name: path.read_bytes() for path in entry.iterdir()}
    about = json.loads(files["model.json"])
    chance = random.Random(0)
    for turn in range(2000):
        name = chance.choice(["model.json", "model.json", "model.o", "weights"])
        if turn % 4 == 0:
            name, data = "model.json", json.dumps(entry_changed(about, chance)).encode()
        else:
            data = changed(files[name], chance)
        if data == files[name]:
            continue
        place = cache.folder / "key"
        place.mkdir(parents=True)
        for other, content in (files | {name: data}).items():
            (place / other).write_bytes(content)
        with warnings.catch_warnings(record=True) as said:
            warnings.simplefilter("always")
            found = cache.find("key", host())
        if found is None:
            assert not place.exists()
            assert len(said) == 1 and "is damaged" in str(said[0].message)
            continue
        # White space in JSON, say.
        assert name == "model.json" and found.signature == want.signature
        assert (found.code, found.parallel) == (want.code, want.parallel)
        shutil.rmtree(place)


@pytest.mark.parametrize("name", ["weights", "model.json", "model.o"])
def test_a_changed_byte_is_warned_of_and_mended(entry: Path, name: str):
    data = bytearray((entry / name).read_bytes())
    data[len(data) // 2] ^= 1
    (entry / name).write_bytes(data)
    with pytest.warns(RuntimeWarning, match=rf"compiled model .*{entry.name} is damaged"):
        again = nnc.compile(model())
    np.testing.assert_array_equal(again(X), X @ W)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        np.testing.assert_array_equal(nnc.compile(model())(X), X @ W)


def test_the_command_line_says_so(folder: Path, tmp_path: Path, capsys):
    onnx.save(model(), tmp_path / "m.onnx")
    run = ["run", str(tmp_path / "m.onnx"), "--random"]
    assert main(run) == 0
    want = capsys.readouterr().out
    (entry,) = folder.iterdir()
    (entry / "weights").write_bytes((entry / "weights").read_bytes()[::-1])
    assert main(run) == 0
    said = capsys.readouterr()
    assert said.out == want
    line = f"nnc: warning: the compiled model {entry} is damaged (weights was changed after it was written)"
    assert line in said.err and ".py" not in said.err


def test_a_file_is_summed_once(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    path, data = tmp_path / "f", np.arange(1000, dtype=np.uint8)
    path.write_bytes(data)
    sums = sums_of([data])
    assert is_whole(path, data, sums)
    monkeypatch.delattr("nnc.ir.checked_files.sums_of")
    assert is_whole(path, data, sums)
    path.write_bytes(data)
    with pytest.raises(NameError):
        is_whole(path, data, sums)


@pytest.mark.parametrize("size", [0, 1, 3, 4, 5, 4 * (1 << 14) - 1, 300_003])
def test_sums_are_those_of_the_definition(size: int):
    """In Python's integers, also where the data comes in parts that cut words."""
    data = np.random.default_rng(size).integers(0, 256, size, dtype=np.uint8)
    whole = data.tobytes() + b"\0" * (-size % 4)
    words = [int.from_bytes(whole[i : i + 4], "little") for i in range(0, len(whole), 4)]
    want = sum(words) % 2**64, sum(i * word for i, word in enumerate(words)) % 2**64
    assert sums_of([data]) == want
    assert sums_of([data[1:], data[:0]] if not size else np.array_split(data, 7)) == want


@pytest.fixture(scope="module")
def library(tmp_path_factory: pytest.TempPathFactory) -> Library:
    """One with its weights beside it."""
    place = tmp_path_factory.mktemp("library")
    onnx.save(model(), place / "m.onnx")
    assert compile_to(place / "m.onnx", "--weights", "beside", "-o", str(place / "m.so")) == 0
    found = Library(place / "m.so")
    found.weights = place / "m.weights"
    return found


def called(library: Library, weights: Path) -> np.ndarray:
    context = library.create(weights)
    try:
        return library.call(context, X)
    finally:
        library.code.nnc_destroy(context)


def test_a_library_refuses_changed_weights(library: Library, tmp_path: Path):
    data = library.weights.read_bytes()
    np.testing.assert_array_equal(called(library, library.weights), X @ W)
    chance = random.Random(1)
    for _ in range(500):
        (tmp_path / "w").write_bytes(other := changed(data, chance))
        if other != data:
            with pytest.raises(RuntimeError, match="belongs to another model, or is damaged"):
                library.create(tmp_path / "w")


def test_a_library_marks_what_it_has_checked(library: Library, tmp_path: Path):
    copy = tmp_path / "w"
    shutil.copyfile(library.weights, copy)
    os.utime(copy, ns=(0, 10**18))
    np.testing.assert_array_equal(called(library, copy), X @ W)
    mark = library.weights.stat().st_mtime_ns % 10**9
    assert copy.stat().st_mtime_ns == 10**18 + mark
    os.chmod(copy, 0o400)
    np.testing.assert_array_equal(called(library, copy), X @ W)


def test_a_library_can_check_the_weights_in_it(library: Library, tmp_path: Path):
    """`check` finds them. What is beside them is not theirs."""
    onnx.save(model(), tmp_path / "m.onnx")
    assert compile_to(tmp_path / "m.onnx", "-o", str(tmp_path / "m.so")) == 0
    data = (tmp_path / "m.so").read_bytes()
    weights = library.weights.read_bytes()[:-8]  # Without the stamp of a file.
    assert data.count(weights) == 1
    at = data.index(weights)
    for name, place in (("whole", None), ("first", at), ("last", at + len(weights) - 1)):
        other = bytearray(data)
        if place is not None:
            other[place] ^= 1
        (tmp_path / f"{name}.so").write_bytes(other)
        shutil.copyfile(tmp_path / "m.json", tmp_path / f"{name}.json")
        found = Library(tmp_path / f"{name}.so")
        if place is None:
            assert found.code.nnc_check() == 0
        else:
            with pytest.raises(RuntimeError, match="the weights in the library are damaged"):
                found.check(found.code.nnc_check())


def test_changed_weights_of_a_stage_are_an_error(tmp_path: Path, capsys):
    onnx.save(model(), tmp_path / "m.onnx")
    assert main(["stages", "-q", str(tmp_path / "m.onnx"), "-o", str(tmp_path / "s")]) == 0
    stage = next((tmp_path / "s").glob("4-*.mlir"))
    (name,) = re.findall(r'weights_file = "(.*?)"', stage.read_text())
    file = stage.with_name(name)
    data = bytearray(file.read_bytes())
    run = ["run", "-q", str(stage), "--random"]
    assert main(run) == 0
    capsys.readouterr()
    for at in (-7, 60 + data[60:].index(b"[")):  # of the elements, and where they are
        other = data.copy()
        other[at] ^= 1
        file.write_bytes(other)
        assert main(run) == 1
        error = capsys.readouterr().err
        assert error.startswith(("error", str(stage))) and "Traceback" not in error
        assert "cannot read weights" in error or "valid" in error
    file.write_bytes(data)
    assert main(run) == 0
