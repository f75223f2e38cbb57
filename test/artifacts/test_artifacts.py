"""What nnc compile writes, used without nnc: through ctypes, from C, and from C++."""

import ctypes
import json
import shutil
import subprocess
import sys
import threading
from pathlib import Path

import nnc
import numpy as np
import onnx
import pytest
from nnc.ir.diagnostics import NncError
from nnc.targets import linker
from nnc.targets.llvm.elf import data_object
from nnc.tools import nnc as nnc_tool

from ..models.small_models import tiny_cnn
from ..processor import runnable

MAIN = r"""
#include <stdio.h>
#include <stdlib.h>
#include "model.h"

static void *read_all(const char *name, size_t size) {
    void *data = aligned_alloc(64, (size + 63) / 64 * 64);
    FILE *file = fopen(name, "rb");
    if (!file || fread(data, 1, size, file) != size) exit(2);
    fclose(file);
    return data;
}

int main(void) {
    float *x = read_all("x.bin", X_BYTES), *y = malloc(Y_BYTES);
    nnc_tensor input = {x, 0}, output = {y, 0};
    void *arena = aligned_alloc(64, (NNC_ARENA_BYTES + 63) / 64 * 64);
    void *weights = read_all("model.weights", NNC_WEIGHTS_BYTES);
    if (nnc_run(&input, &output, arena, weights, 0)) return 3;
    return fwrite(y, 1, Y_BYTES, stdout) != Y_BYTES;
}
"""

TWO_MODELS = r"""
#include <stdio.h>
#include <stdlib.h>
#include "first.h"
#include "second.h"

int main(void) {
    float *x = malloc(X_BYTES), *y = malloc(Y_BYTES);
    FILE *file = fopen("x.bin", "rb");
    if (!file || fread(x, 1, X_BYTES, file) != X_BYTES) return 2;
    nnc_tensor input = {x, NULL}, output = {y, NULL};
    first_context *first;
    second_context *second;
    if (first_create(&first, NULL, 2) || second_create(&second, NULL, 1)) return 3;
    if (first_call(first, &input, &output)) return 4;
    fwrite(y, 1, Y_BYTES, stdout);
    if (second_call(second, &input, &output)) return 5;
    fwrite(y, 1, Y_BYTES, stdout);
    first_destroy(first);
    second_destroy(second);
    return 0;
}
"""


class Tensor(ctypes.Structure):
    """nnc_tensor"""

    _fields_ = (("data", ctypes.c_void_p), ("shape", ctypes.c_void_p))


class Library:
    """A shared library as a program without nnc sees it."""

    def __init__(self, path: Path) -> None:
        self.code = ctypes.CDLL(str(path))
        self.code.nnc_message.restype = ctypes.c_char_p
        self.about = json.loads(path.with_suffix(".json").read_text())

    def create(self, weights: Path | None = None, threads: int = 1) -> ctypes.c_void_p:
        context = ctypes.c_void_p()
        path = None if weights is None else str(weights).encode()
        self.check(self.code.nnc_create(ctypes.byref(context), path, threads))
        return context

    def call(self, context: ctypes.c_void_p, x: np.ndarray) -> np.ndarray:
        y = np.zeros(self.about["outputs"][0]["shape"], np.float32)
        inputs, outputs = Tensor(x.ctypes.data, None), Tensor(y.ctypes.data, None)
        self.check(self.code.nnc_call(context, ctypes.byref(inputs), ctypes.byref(outputs)))
        return y

    def check(self, status: int) -> None:
        if status:
            raise RuntimeError(self.code.nnc_message(status).decode())


def compile_to(model: Path, *arguments: str) -> int:
    return nnc_tool.main(["compile", str(model), "--quiet", *arguments])


@pytest.fixture(scope="module")
def compiled(tmp_path_factory: pytest.TempPathFactory):
    """A folder with the model compiled in every way, its input and what nnc gives for it."""
    folder = tmp_path_factory.mktemp("artifacts")
    model = folder / "model.onnx"
    onnx.save(tiny_cnn(), model)
    assert compile_to(model, "-o", str(folder / "inside.so")) == 0
    assert compile_to(model, "--weights", "beside", "-o", str(folder / "beside.so")) == 0
    assert compile_to(model, "-o", str(folder / "model.o")) == 0
    x = np.random.default_rng(0).standard_normal((1, 3, 35, 37)).astype(np.float32)
    x.tofile(folder / "x.bin")
    return folder, x, nnc.compile(model)(x)


def build(folder: Path, name: str, text: str, *arguments: str) -> bytes:
    """What a C program prints that is built in the folder."""
    (folder / f"{name}.c").write_text(text)
    command = ["cc", "-Wall", "-Werror", f"{name}.c", *arguments, "-lm", "-lpthread", "-o", name]
    subprocess.run(command, cwd=folder, check=True)
    return subprocess.run([folder / name], cwd=folder, capture_output=True, check=True).stdout


def test_all_files_or_none(compiled, tmp_path: Path, capsys) -> None:
    """A library whose header cannot be written leaves the one that was there."""
    folder, _, _ = compiled
    library = tmp_path / "m.so"
    library.write_bytes(b"earlier")
    (tmp_path / "m.json").write_text("earlier")
    (tmp_path / "m.weights").mkdir()
    model = folder / "model.onnx"
    assert compile_to(model, "--weights", "beside", "-o", str(library)) == 1
    assert "m.weights': Is a directory" in capsys.readouterr().err
    assert library.read_bytes() == b"earlier"
    assert (tmp_path / "m.json").read_text() == "earlier"
    assert sorted(p.name for p in tmp_path.iterdir()) == ["m.json", "m.so", "m.weights"]


def test_description(compiled) -> None:
    folder, _, _ = compiled
    inside = json.loads((folder / "inside.json").read_text())
    assert inside["inputs"] == [{"name": "x", "type": "f32", "shape": [1, 3, 35, 37]}]
    assert inside["outputs"][0]["shape"] == [1, 10]
    assert inside["weights"] == "inside"
    assert not (folder / "inside.weights").exists()
    beside = json.loads((folder / "beside.json").read_text())
    assert beside["weights"] == "beside"
    assert beside["weights_bytes"] + 8 == (folder / "beside.weights").stat().st_size


@pytest.mark.parametrize("name", ["inside", "beside"])
def test_library_through_ctypes(compiled, name: str) -> None:
    folder, x, want = compiled
    library = Library(folder / f"{name}.so")
    context = library.create(folder / "beside.weights" if name == "beside" else None)
    np.testing.assert_array_equal(library.call(context, x), want)
    np.testing.assert_array_equal(library.call(context, x), want)
    library.code.nnc_destroy(context)
    library.code.nnc_destroy(None)


def test_one_context_for_each_thread(compiled) -> None:
    folder, x, want = compiled
    library = Library(folder / "inside.so")
    faults: list[int] = []

    def work(scale: float) -> None:
        context = library.create(threads=2)
        results = [library.call(context, x * np.float32(scale)) for _ in range(20)]
        if not all(np.array_equal(r, results[0]) for r in results):
            faults.append(1)
        if scale == 1 and not np.array_equal(results[0], want):
            faults.append(2)
        library.code.nnc_destroy(context)

    threads = [threading.Thread(target=work, args=(scale,)) for scale in (1.0, -1.0, 3.0)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert faults == []


def test_every_error_has_its_message(compiled, tmp_path: Path) -> None:
    folder, x, _ = compiled
    library = Library(folder / "beside.so")
    with pytest.raises(RuntimeError, match="the weights file cannot be read"):
        library.create(tmp_path / "missing")
    for data in (b"", b"short", (folder / "beside.weights").read_bytes()[:-1] + b"x"):
        (tmp_path / "wrong").write_bytes(data)
        with pytest.raises(RuntimeError, match="belongs to another model, or is damaged"):
            library.create(tmp_path / "wrong")
    with pytest.raises(RuntimeError, match="an argument is NULL"):
        library.create(None)
    with pytest.raises(RuntimeError, match="out of range"):
        library.create(folder / "beside.weights", threads=0)
    with pytest.raises(RuntimeError, match="an argument is NULL"):
        library.call(ctypes.c_void_p(), x)
    assert library.code.nnc_message(99) == b"unknown status"


def test_object_from_c(compiled) -> None:
    folder, x, want = compiled
    sizes = (f"-DX_BYTES={x.nbytes}", f"-DY_BYTES={want.nbytes}")
    out = build(folder, "main", MAIN, "model.o", *sizes)
    np.testing.assert_array_equal(np.frombuffer(out, np.float32), want.ravel())


def test_two_static_libraries_in_one_program(compiled) -> None:
    folder, x, want = compiled
    for prefix in ("first", "second"):
        target = str(folder / f"{prefix}.a")
        assert compile_to(folder / "model.onnx", "--static", "--prefix", prefix, "-o", target) == 0
    sizes = (f"-DX_BYTES={x.nbytes}", f"-DY_BYTES={want.nbytes}")
    out = build(folder, "two", TWO_MODELS, "first.a", "second.a", *sizes)
    found = np.frombuffer(out, np.float32).reshape(2, -1)
    np.testing.assert_array_equal(found[0], want.ravel())
    np.testing.assert_array_equal(found[1], want.ravel())


def test_the_library_needs_libc_libm_and_threads_alone(compiled) -> None:
    if shutil.which("readelf") is None:
        pytest.fail("readelf comes with the linker")
    path = compiled[0] / "inside.so"
    text = subprocess.run(["readelf", "-d", path], capture_output=True, text=True, check=True)
    needed = [line.split("[")[1][:-1] for line in text.stdout.splitlines() if "NEEDED" in line]
    assert set(needed) <= {"libc.so.6", "libm.so.6", "libpthread.so.0"}


@pytest.mark.slow
def test_zig_where_there_is_no_c_compiler(compiled, monkeypatch: pytest.MonkeyPatch) -> None:
    folder, x, want = compiled
    monkeypatch.setattr(linker.shutil, "which", lambda name: None)
    assert linker.find_toolchain().driver == (sys.executable, "-m", "ziglang", "cc")
    assert compile_to(folder / "model.onnx", "-o", str(folder / "zig.so")) == 0
    library = Library(folder / "zig.so")
    np.testing.assert_array_equal(library.call(library.create(), x), want)
    assert compile_to(folder / "model.onnx", "-o", str(folder / "zig.a")) == 0
    monkeypatch.setattr(linker, "find_spec", lambda name: None)
    with pytest.raises(NncError, match="a library needs a linker: install a C compiler"):
        linker.find_toolchain()


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["-o", "m.exe"], "the output's suffix is .mlir, .ll, .s, .o, .so, "),
        (["-o", "m.exe"], ", .wasm, .c, .cl, "),
        (["-o", "m.exe"], "; found '.exe'"),
        (["-o", "m"], "found none"),
        (["-o", "m.so", "--static"], "--static writes a .a file, not 'm.so'"),
        (
            ["-o", "m.o", "--weights", "inside"],
            "only a .so, .a, .dll, .dylib, .wasm, .c or ",
        ),
        (["-o", "m.so", "--prefix", "1x"], "--prefix is the start of C names"),
    ],
)
def test_bad_outputs(arguments: list[str], message: str, compiled, tmp_path, capsys) -> None:
    arguments[1] = str(tmp_path / arguments[1])
    assert compile_to(compiled[0] / "model.onnx", *arguments) == 1
    assert message in capsys.readouterr().err
    assert list(tmp_path.iterdir()) == []


def test_a_failing_linker_is_an_error(compiled, tmp_path, monkeypatch, capsys) -> None:
    monkeypatch.setattr(linker.shutil, "which", lambda name: "/bin/false")
    target = tmp_path / "m.so"
    assert compile_to(compiled[0] / "model.onnx", "-o", str(target)) == 1
    assert "/bin/false failed" in capsys.readouterr().err
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize("machine", runnable("avx2", "sse"))
def test_other_processors(machine: str, compiled) -> None:
    """Code for older processors runs here too and gives the same numbers."""
    folder, x, want = compiled
    found = nnc.compile(folder / "model.onnx", target=machine)(x)
    np.testing.assert_allclose(found, want, rtol=1e-4, atol=1e-6)


def test_timing(compiled, tmp_path, capsys) -> None:
    arguments = ["-o", str(tmp_path / "m.so"), "--mlir-timing"]
    assert compile_to(compiled[0] / "model.onnx", *arguments) == 0
    report = capsys.readouterr().err
    for name in ("Import", "'loops' Stage", "  PlanMemory", "LLVM", "  Code generation", "Link"):
        assert f"  {name}\n" in report
    assert compile_to(compiled[0] / "model.onnx", *arguments, "--mlir-timing-display=list") == 0
    assert "(100.0%)  root\n" in capsys.readouterr().err


def symbols(path: Path, *options: str) -> list[list[str]]:
    """The rows of readelf's table: number, value, size, type, binding, visibility, section, name."""
    command = ["readelf", "-W", *(options or ("-s",)), str(path)]
    text = subprocess.run(command, capture_output=True, text=True, check=True).stdout
    rows = (line.split() for line in text.splitlines())
    return [row for row in rows if len(row) == 8 and row[0][:-1].isdigit()]


def test_the_library_is_small(compiled) -> None:
    """What is neither weights nor a kernel of the model: pool, context, entry, tables of the file."""
    folder, _, _ = compiled
    kernels = sum(
        int(size, 0)
        for _, _, size, kind, _, _, _, name in symbols(folder / "model.o")
        if kind == "FUNC" and name != "main" and not name.startswith("nnc_")
    )
    about = json.loads((folder / "inside.json").read_text())
    beyond = (folder / "inside.so").stat().st_size - about["weights_bytes"]
    assert kernels > 1000
    assert beyond < 500_000
    assert beyond - kernels < 40_000


def test_only_the_prefix_is_exported(compiled, tmp_path: Path) -> None:
    folder, _, _ = compiled
    target = tmp_path / "tiny.so"
    assert compile_to(folder / "model.onnx", "--prefix", "tiny", "-o", str(target)) == 0
    rows = [row for row in symbols(target, "--dyn-syms") if row[6] != "UND"]
    exported = {row[7] for row in rows if row[4] in ("GLOBAL", "WEAK")}
    functions = ("run", "create", "call", "destroy", "free", "message", "check")
    functions += ("pool_create", "pool_destroy")
    assert exported >= {f"tiny_{name}" for name in functions[:7]}
    assert exported <= {f"tiny_{name}" for name in (*functions, "parallel_for")}


def test_weights_need_an_elf_system() -> None:
    with pytest.raises(NncError, match="on systems with little-endian ELF files only"):
        data_object("w", 4, 64, b"\xcf\xfa\xed\xfe" + bytes(60))
