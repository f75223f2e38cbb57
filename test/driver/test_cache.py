"""Compiled models on disk: found again, told apart, whole, bounded."""

import json
import shutil
import subprocess
import sys
import threading
from hashlib import sha256
from pathlib import Path

import nnc
import numpy as np
import onnx
import onnx.numpy_helper
import onnx.parser
import pytest
from nnc.driver import cache
from nnc.driver.cache import ModelCache, limit, model_key
from nnc.ir.syntax.parser import parse_type
from nnc.ir.types import TensorType
from nnc.runtime.model import Model
from nnc.runtime.program import Signature
from nnc.targets.base import host, target
from nnc.tools.nnc import main
from onnx import helper

X = (np.arange(4096, dtype=np.float32) % 7).reshape(64, 64)
W = (np.arange(4096, dtype=np.float32) % 5).reshape(64, 64)


def model(scale: float = 1.0) -> onnx.ModelProto:
    """y = x · (scale W): all in small integers, so that every order of summing gives the same."""
    info = helper.make_tensor_value_info
    graph = helper.make_graph(
        [helper.make_node("MatMul", ["x", "w"], ["y"])],
        "g",
        [info("x", onnx.TensorProto.FLOAT, [64, 64])],
        [info("y", onnx.TensorProto.FLOAT, [64, 64])],
        [onnx.numpy_helper.from_array(scale * W, "w")],
    )
    return helper.make_model(graph, opset_imports=[helper.make_opsetid("", 20)])


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A cache of one's own, switched on."""
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    monkeypatch.setenv("NNC_CACHE_LIMIT", "100M")
    return tmp_path / "nnc" / "models"


def entries(folder: Path) -> list[Path]:
    return sorted(folder.iterdir()) if folder.exists() else []


def test_second_compilation_reads_the_first(folder: Path, monkeypatch: pytest.MonkeyPatch):
    first = nnc.compile(model())(X)
    (entry,) = entries(folder)

    def fail(*_, **__):
        raise AssertionError("compiled again")

    monkeypatch.setattr("nnc.driver.compile.run_stages", fail)
    again = nnc.compile(model())
    np.testing.assert_array_equal(again(X), X @ W)
    np.testing.assert_array_equal(again(X), first)
    assert again.input_names == ["x"]
    assert entries(folder) == [entry]


def test_other_weights_threads_machines(folder: Path):
    nnc.compile(model())
    np.testing.assert_array_equal(nnc.compile(model(3.0))(X), X @ (3 * W))
    assert len(entries(folder)) == 2
    nnc.compile(model(), threads=2)
    assert len(entries(folder)) == 2, "threads are a matter of the call"
    nnc.compile(model(), target="sse")
    assert len(entries(folder)) == 3


def test_key_depends_on_names_and_source(folder: Path, monkeypatch: pytest.MonkeyPatch):
    key = model_key(nnc.load(model()), host())
    assert model_key(nnc.load(model()), host()) == key
    assert model_key(nnc.load(model()), target("x86-64")) != key
    assert model_key(nnc.load(model(1.5)), host()) != key
    monkeypatch.setattr("nnc.driver.cache._compiler", lambda: sha256(b"another"))
    assert model_key(nnc.load(model()), host()) != key


def test_no_cache(folder: Path):
    nnc.compile(model(), cache=False)
    assert entries(folder) == []


@pytest.mark.parametrize(
    ("damage", "how"),
    [(name, how) for name in ("model.o", "model.json", "weights") for how in ("cut", "gone")]
    + [("model.o", "reversed"), ("model.json", "reversed")],
)
def test_damaged_entries_are_made_anew(folder: Path, damage: str, how: str, monkeypatch):
    nnc.compile(model())
    (entry,) = entries(folder)
    file = entry / damage
    data = file.read_bytes()
    if how == "gone":
        file.unlink()
    else:
        file.write_bytes(data[: len(data) // 2] if how == "cut" else data[::-1])
    np.testing.assert_array_equal(nnc.compile(model())(X), X @ W)
    assert entries(folder) == [entry]
    monkeypatch.delattr("nnc.driver.compile.run_stages")  # what was mended is found again
    np.testing.assert_array_equal(nnc.compile(model())(X), X @ W)


def test_the_least_recently_used_goes_first(folder: Path, monkeypatch: pytest.MonkeyPatch):
    for weight in (1.0, 2.0, 3.0):
        nnc.compile(model(weight))
    cache = ModelCache()
    newest, middle, oldest = cache.entries()
    nnc.compile(model(1.0))  # used again
    small = ModelCache(limit_bytes=newest.bytes + oldest.bytes)
    assert small.trim() == middle.bytes
    assert {e.path for e in small.entries()} == {newest.path, oldest.path}


def test_limit(monkeypatch: pytest.MonkeyPatch):
    for text, size in (("0", 0), ("12", 12), ("3k", 3072), ("2G", 2 << 30)):
        monkeypatch.setenv("NNC_CACHE_LIMIT", text)
        assert limit() == size
    monkeypatch.setenv("NNC_CACHE_LIMIT", "much")
    with pytest.raises(nnc.NncError, match="NNC_CACHE_LIMIT is a size such as 500M, 8G or 0"):
        limit()


def test_an_unwritable_folder_is_no_error(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    blocker = tmp_path / "file"
    blocker.write_text("")
    monkeypatch.setenv("XDG_CACHE_HOME", str(blocker))
    monkeypatch.setenv("NNC_CACHE_LIMIT", "1G")
    np.testing.assert_array_equal(nnc.compile(model())(X), X @ W)


def test_a_failed_compilation_leaves_nothing(folder: Path, monkeypatch: pytest.MonkeyPatch):
    def fail(*_, **__):
        raise nnc.NncError("no")

    monkeypatch.setattr("nnc.driver.compile.run_stages", fail)
    with pytest.raises(nnc.NncError):
        nnc.compile(model())
    assert entries(folder) == []


def test_concurrent_compilations(folder: Path):
    results: list[np.ndarray] = []
    threads = [
        threading.Thread(target=lambda: results.append(nnc.compile(model())(X))) for _ in range(4)
    ]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert len(results) == 4
    for result in results:
        np.testing.assert_array_equal(result, results[0])
    assert len(entries(folder)) == 1


def test_another_process_finds_it(folder: Path, tmp_path: Path):
    file = tmp_path / "m.onnx"
    onnx.save(model(), file)
    command = [sys.executable, "-m", "nnc.tools.nnc", "run", str(file), "--random"]
    first, second = (
        subprocess.run(command, capture_output=True, text=True, check=True) for _ in range(2)
    )
    assert "found in the cache" not in first.stderr
    assert "found in the cache" in second.stderr
    assert first.stdout == second.stdout


def test_a_file_seen_before_is_not_read(folder: Path, tmp_path: Path, monkeypatch):
    file = tmp_path / "m.onnx"
    onnx.save(model(), file)
    nnc.compile(file)
    assert ModelCache().entries()[0].path.is_dir()

    def fail(*_, **__):
        raise AssertionError("read again")

    with monkeypatch.context() as patched:
        patched.setattr("nnc.driver.compile.load_module", fail)
        np.testing.assert_array_equal(nnc.compile(file)(X), X @ W)
    onnx.save(model(3.0), file)
    np.testing.assert_array_equal(nnc.compile(file)(X), X @ (3 * W))
    assert len(ModelCache().entries()) == 2
    ModelCache().clear()
    assert entries(folder) == []
    np.testing.assert_array_equal(nnc.compile(file)(X), X @ (3 * W))


HOSTED = """
<ir_version: 10, opset_import: ["" : 21, "ai.onnx.ml" : 4]>
agraph (string[N] words, float[64,64] x, int64 n, int64 at)
        => (float[N] numbers, float[R,64] rows, float[64,64] one) {
    numbers = ai.onnx.ml.LabelEncoder<
        keys_strings = ["a", "b"], values_floats = [1.5, 2.5], default_float = -1.0>(words)
    go = Constant<value = bool {1}>()
    none = SequenceEmpty()
    all = Loop(n, go, none) <body = b (int64 i, bool c, seq(float[64,64]) q)
            => (bool d, seq(float[64,64]) r) {
        k = Cast<to = 1>(i)
        scaled = Mul(x, k)
        product = MatMul(scaled, w)
        r = SequenceInsert(q, product)
        d = Identity(c)
    }>
    rows = ConcatFromSequence<axis = 0>(all)
    [pick] one = SequenceAt(all, at)
}"""


def test_a_file_with_steps_of_the_host_is_not_read_again(folder: Path, tmp_path, monkeypatch):
    proto = onnx.parser.parse_model(HOSTED)
    proto.graph.initializer.append(onnx.numpy_helper.from_array(W, "w"))
    file = tmp_path / "m.onnx"
    onnx.save(proto, file)

    def check(model: Model) -> None:
        words = np.array(["b", "c", "a"], object)
        inputs = {"words": words, "x": X, "n": np.array(3), "at": np.array(1)}
        found = model.run(inputs)
        assert found["numbers"].tolist() == [2.5, -1, 1.5]
        np.testing.assert_array_equal(found["rows"], np.concatenate([X @ W * i for i in range(3)]))
        np.testing.assert_array_equal(found["one"], X @ W)
        with pytest.raises(nnc.NncError, match=r"node 'pick' \(SequenceAt\)"):
            model.run(inputs | {"at": np.array(3)})

    check(nnc.compile(file))
    kept = len(entries(folder))
    with monkeypatch.context() as patched:
        patched.delattr("nnc.driver.compile.load_module")
        check(nnc.compile(file))
    assert len(entries(folder)) == kept >= 2
    # A part that is gone is compiled anew, and so is what the host does where its text is damaged.
    (part, *_) = [path for path in entries(folder) if not (path / "host.mlir").exists()]
    shutil.rmtree(part)
    check(nnc.compile(file))
    (host,) = [path for path in entries(folder) if (path / "host.mlir").exists()]
    (host / "host.mlir").write_text("func.func @")
    check(nnc.compile(file))
    assert len(entries(folder)) == kept
    with monkeypatch.context() as patched:
        patched.delattr("nnc.driver.compile.load_module")
        check(nnc.compile(file))


def test_other_files_of_a_model_count(folder: Path, tmp_path: Path):
    file = tmp_path / "m.onnx"
    for scale in (1.0, 2.0):
        proto = model(scale)
        onnx.save(proto, file, save_as_external_data=True, location="w.bin", size_threshold=0)
        np.testing.assert_array_equal(nnc.compile(file)(X), X @ (np.float32(scale) * W))


def test_command(folder: Path, capsys: pytest.CaptureFixture[str]):
    nnc.compile(model())
    assert main(["cache"]) == 0
    out = capsys.readouterr().out
    assert "models:  1" in out and str(folder) in out
    assert main(["cache", "--clear"]) == 0
    assert entries(folder) == []
    assert main(["cache"]) == 0
    assert "models:  0" in capsys.readouterr().out


@pytest.mark.parametrize(
    "text", ["f32", "bf16", "i1", "ui8", "si4", "i64", "index", "complex<f64>"]
)
def test_element_types_are_read_back(text: str):
    element = parse_type(text)
    kept = Signature(["x"], [TensorType((2, None), element)], [], [], 3, 4, 2)
    about = json.loads(json.dumps(cache._described(kept)))
    assert cache._signature(about) == kept
