"""Libraries for Windows and macOS: those of Windows in Wine, all by a reader of their formats.

Nothing here runs macOS. What a file for it promises is read: that it needs the system's own library
alone, what it gives, for which processor, and that it is signed as the processor demands.
"""

import json
import os
import shutil
import struct
import subprocess
from functools import cache
from importlib.util import find_spec
from pathlib import Path

import nnc
import numpy as np
import onnx
import pytest
from nnc.ir.diagnostics import NncError
from nnc.targets.base import target
from nnc.targets.linker import find_toolchain
from nnc.tools.nnc import main

from ..conftest import skip_unless_ci
from ..driver.test_prepared_weights import convolutions
from ..models.small_models import tiny_cnn
from ..models.test_small_models import assert_close, wide_cnn
from ..processor import runnable
from .emulated import TOLERANCES, require_emulator

MODEL = """
func.func @main(%x: tensor<4x8xf32>) -> tensor<4x16xf32> {
  %w = nn.constant dense<0.5> : tensor<8x16xf32>
  %y = nn.matmul %x, %w : (tensor<4x8xf32>, tensor<8x16xf32>) -> tensor<4x16xf32>
  return %y : tensor<4x16xf32>
}
"""
UNKNOWN_SHAPES = """
func.func @main(%x: tensor<?x3xf32>) -> tensor<?x3xf32> {
  %y = nn.relu %x : (tensor<?x3xf32>) -> tensor<?x3xf32>
  return %y : tensor<?x3xf32>
}
"""
FUNCTIONS = {"create", "call", "destroy", "free", "message", "run"}
OF_THE_MODEL = {"pool_create", "pool_destroy", "prepare", "check"}
"""It has loops for several threads, weights that are made when it is loaded, and weights inside."""


# -- names ---------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("name", "triple", "suffix"),
    [
        ("x86-64-v3-windows", "x86_64-w64-windows-gnu", ".dll"),
        ("avx2-windows", "x86_64-w64-windows-gnu", ".dll"),
        ("x86-64-macos", "x86_64-apple-macosx11.0.0", ".dylib"),
        ("aarch64-windows", "aarch64-w64-windows-gnu", ".dll"),
        ("apple-m1", "aarch64-apple-macosx11.0.0", ".dylib"),
        ("apple-m1-linux", "aarch64-unknown-linux-gnu", ".so"),
    ],
)
def test_names(name, triple, suffix):
    one = target(name)
    assert (one.triple, one.library) == (triple, suffix)


def test_a_system_that_a_processor_is_not_had_for():
    with pytest.raises(NncError, match="no target is named 'apple-m1-windows'"):
        target("apple-m1-windows")


def test_threads_with_smaller_stacks_get_smaller_buffers():
    stacks = [
        target(f"x86-64{end}").machine.costs.buffers.stack for end in ("", "-windows", "-macos")
    ]
    assert stacks == [512 << 10, 64 << 10, 32 << 10]


@pytest.mark.parametrize(
    ("name", "output", "message"),
    [
        (
            "x86-64-v2", "m.dll",
            "a shared library for 'x86-64-v2' is a .so file, not 'm.dll'; "
            "a .dll file is for target 'x86-64-v2-windows'",
        ),
        (
            "apple-m1", "m.so",
            "a shared library for 'apple-m1' is a .dylib file, not 'm.so'; "
            "a .so file is for target 'apple-m1-linux'",
        ),
        (
            "x86-64-v3", "m.wasm",
            "a shared library for 'x86-64-v3' is a .so file, not 'm.wasm'; a .wasm file is for "
            "target 'wasm32' or 'wasm32-simd' or 'wasm32-relaxed-simd'",
        ),
        ("cortex-a72", "m.dylib", "a shared library for 'cortex-a72' is a .so file, not 'm.dylib'"),
    ],
)  # fmt: skip
def test_a_suffix_of_another_system(name, output, message, tmp_path: Path, capsys):
    model = tmp_path / "model.mlir"
    model.write_text(MODEL)
    assert main(["compile", str(model), "-q", "--target", name, "-o", str(tmp_path / output)]) == 1
    assert capsys.readouterr().err == f"error: {message}\n"
    assert list(tmp_path.iterdir()) == [model]


@pytest.mark.parametrize(
    ("name", "start"),
    [("x86-64-v2-windows", b"\x64\x86"), ("aarch64-macos", b"\xcf\xfa\xed\xfe\x0c\x00\x00\x01")],
)
def test_an_object_file_needs_no_linker(name, start, tmp_path: Path, monkeypatch):
    monkeypatch.setattr("nnc.targets.linker.find_spec", lambda name: None)
    (tmp_path / "model.mlir").write_text(MODEL)
    output = tmp_path / "model.o"
    arguments = [str(tmp_path / "model.mlir"), "-q", "--target", name, "-o", str(output)]
    assert main(["compile", *arguments]) == 0
    assert output.read_bytes().startswith(start)


# -- what the files say --------------------------------------------------------------------------


@cache
def library(name: str, folder: Path, *options: str):
    """A library with threads for a target, and what a reader of its format finds."""
    if not find_spec("ziglang"):
        skip_unless_ci("ziglang is not installed")
    import lief

    model = wide_cnn()
    onnx.save(model, folder / "model.onnx")
    path = folder / f"{name}{''.join(options)}{target(name).library}"
    arguments = [str(folder / "model.onnx"), "-q", "--target", name, *options, "-o", str(path)]
    assert main(["compile", *arguments]) == 0
    found = lief.parse(str(path))
    assert found is not None
    return path, found


@pytest.fixture(scope="module")
def folder(tmp_path_factory) -> Path:
    return tmp_path_factory.mktemp("systems")


SYSTEM_LIBRARIES = {"kernel32.dll"} | {
    f"api-ms-win-crt-{part}-l1-1-0.dll" for part in ("heap", "math", "string", "environment")
}
"""Parts of Windows 10 and later."""


@pytest.mark.emulated
@pytest.mark.parametrize(
    ("name", "machine"), [("x86-64-v3-windows", "AMD64"), ("aarch64-windows", "ARM64")]
)
def test_a_dll_says(name: str, machine: str, folder: Path):
    path, found = library(name, folder)
    assert found.header.machine.name == machine
    assert {one.name for one in found.exported_functions} == {
        f"nnc_{f}" for f in FUNCTIONS | OF_THE_MODEL
    }
    assert {one.name.lower() for one in found.imports} <= SYSTEM_LIBRARIES
    imported = {entry.name for one in found.imports for entry in one.entries}
    assert {"CreateThread", "CreateSemaphoreW", "_aligned_malloc"} <= imported
    assert not any("gettime" in one or "pthread" in one for one in imported)
    assert found.optional_header.dll_characteristics & 0x140 == 0x140, (
        "may lie anywhere; no data runs"
    )
    weights = json.loads(path.with_suffix(".json").read_text())["weights_bytes"]
    assert found.get_section(".rdata").size >= weights > 0
    executable = [one.name for one in found.sections if one.characteristics & 0x20000000]
    assert executable == [".text"]
    # The import library names the DLL that it is for.
    imports = path.with_suffix(".lib").read_bytes()
    assert imports.startswith(b"!<arch>\n") and path.name.encode() in imports


@pytest.mark.emulated
@pytest.mark.parametrize(("name", "kind"), [("x86-64-v3-macos", "X86_64"), ("apple-m1", "ARM64")])
def test_a_dylib_says(name: str, kind: str, folder: Path):
    path, found = library(name, folder)
    assert found.header.cpu_type.name == kind
    assert found.header.file_type.name == "DYLIB"
    exported = {one.name for one in found.exported_symbols}
    assert {f"_nnc_{f}" for f in FUNCTIONS | OF_THE_MODEL} <= exported
    # dyld's own, and the number of threads that share a range, which a profile counts by.
    rest = exported - {f"_nnc_{f}" for f in FUNCTIONS | OF_THE_MODEL}
    assert rest <= {"_nnc_parallel_for", "__mh_dylib_header", "___dso_handle"}
    own, *others = (one.name for one in found.libraries)
    assert (own, others) == (f"@rpath/{path.name}", ["/usr/lib/libSystem.B.dylib"])
    assert found.build_version.platform.name == "MACOS"
    assert found.build_version.minos == [11, 0, 0]
    imported = {one.name for one in found.imported_symbols}
    assert "_pthread_create" in imported
    assert not {"_sem_init", "_sem_wait", "_sched_getcpu"} & imported
    if kind == "ARM64":
        assert found.has_code_signature, "Apple's processors run nothing that is not signed"
    text = next(one for one in found.segments if one.name == "__TEXT")
    assert text.max_protection == 5, "nothing is written where code is"


@pytest.mark.emulated
@pytest.mark.parametrize("name", ["x86-64-v3-macos", "apple-m1"])
def test_weights_inside_a_dylib_lie_on_cache_lines(name: str, folder: Path):
    """Their bytes are those of the weights file."""
    import lief

    path, _ = library(name, folder, "--weights", "beside", "--weights", "packed")
    weights = path.with_suffix(".weights").read_bytes()[:-8]
    path, found = library(name, folder, "--weights", "packed")
    at = path.read_bytes().find(weights)
    assert at > 0 and (at - _start_of_text(found)) % 64 == 0
    assert isinstance(found, lief.MachO.Binary)


def _start_of_text(found) -> int:
    return next(one for one in found.segments if one.name == "__TEXT").file_offset


# -- Windows, in Wine ----------------------------------------------------------------------------


def windows(level: str = "x86-64-v3") -> str:
    """The target of a level, or of the lowest where this machine does not run that."""
    runs = runnable(level, "x86-64")
    if not runs:
        pytest.skip("this machine is no x86")
    name = f"{runs[0]}-windows"
    require_emulator(name)
    return name


@pytest.mark.emulated
def test_outputs_that_the_library_makes(tmp_path: Path):
    """Their memory goes back the way it came, which is not `free()` there."""
    path = tmp_path / "model.mlir"
    path.write_text(UNKNOWN_SHAPES)
    model = nnc.compile(path, target=windows())
    for rows in (1, 5, 2000):
        x = np.random.default_rng(rows).standard_normal((rows, 3)).astype(np.float32)
        np.testing.assert_array_equal(model(x), np.maximum(x, 0))


PROGRAM = r"""
#include <stdio.h>
#include <stdlib.h>
#include "model.h"

int main(int count, char **arguments) {
    static float x[X], y[Y];
    FILE *file = fopen("x.bin", "rb");
    if (!file || fread(x, sizeof x, 1, file) != 1) return 2;
    nnc_tensor input = {x, NULL}, output = {y, NULL};
    nnc_context *first, *second;
    if (nnc_create(&first, "none", 2) != NNC_NO_WEIGHTS) return 3;
    if (nnc_create(&first, "x.bin", 2) != NNC_OTHER_WEIGHTS) return 4;
    if (nnc_create(&first, "weights \xc3\xa4.bin", 2)) return 5;
    if (nnc_create(&second, "weights \xc3\xa4.bin", 1)) return 6;
    if (nnc_call(first, &input, &output)) return 7;
    nnc_destroy(first);
    if (nnc_call(second, &input, &output)) return 8;
    nnc_destroy(second);
    file = fopen("y.bin", "wb");
    return !file || fwrite(y, sizeof y, 1, file) != 1 || fclose(file);
}
"""


@pytest.mark.emulated
def test_a_program_in_c_with_a_file_of_weights(tmp_path: Path):
    """By the import library; the file is mapped, its name is UTF-8, and weights are made of it."""
    name = windows()
    onnx.save(convolutions(64), tmp_path / "model.onnx")
    options = ["-q", "--target", name, "--weights", "beside", "--weights", "original"]
    output = tmp_path / "model.dll"
    assert main(["compile", str(tmp_path / "model.onnx"), *options, "-o", str(output)]) == 0
    assert json.loads((tmp_path / "model.json").read_text())["prepared_bytes"] > 0
    (tmp_path / "model.weights").rename(tmp_path / "weights ä.bin")
    here = nnc.compile(tmp_path / "model.onnx")
    shape = here.input_types[0].shape
    x = np.random.default_rng(3).standard_normal(shape).astype(np.float32)
    x.tofile(tmp_path / "x.bin")
    y = here(x)
    (tmp_path / "main.c").write_text(PROGRAM)
    sizes = {"X": str(x.size), "Y": str(y.size)}
    made = tmp_path / "main.exe"
    tools = find_toolchain(target(name).triple)
    tools.program(tmp_path / "main.c", made, [tmp_path / "model.lib"], sizes)
    emulator = target(name).emulator
    assert emulator is not None
    subprocess.run([*emulator.command(), "main.exe"], cwd=tmp_path, check=True)
    found = np.fromfile(tmp_path / "y.bin", np.float32).reshape(y.shape)
    assert_close(found, y, TOLERANCES["resnet18"])


@pytest.mark.emulated
@pytest.mark.parametrize(
    "compilers_own",
    [
        False,
        # Zig makes MinGW's C library for it first, of hundreds of files.
        pytest.param(True, marks=pytest.mark.thorough),
    ],
    ids=["library of Windows", "library of the compiler"],
)
def test_a_static_library_for_windows(compilers_own: bool, tmp_path: Path):
    """In a program with one C library or the other, with which it shares no name."""
    name = windows()
    model = tiny_cnn()
    onnx.save(model, tmp_path / "model.onnx")
    library, made = tmp_path / "model.a", tmp_path / "main.exe"
    arguments = ["-q", "--target", name, "--static", "-o", str(library)]
    assert main(["compile", str(tmp_path / "model.onnx"), *arguments]) == 0
    assert all(one.startswith("nnc_") for one in indexed(library))
    (tmp_path / "main.c").write_text(
        '#include "model.h"\nint main(void) { nnc_context *c; return nnc_create(&c, 0, 1); }\n'
    )
    tools = find_toolchain(target(name).triple)
    if compilers_own:
        command = [*tools.driver, "-O2", "-s", "main.c", str(library), "-o", str(made)]
        subprocess.run(command, cwd=tmp_path, check=True)
    else:
        tools.program(tmp_path / "main.c", made, [library])
    emulator = target(name).emulator
    assert emulator is not None
    subprocess.run([*emulator.command(), "main.exe"], cwd=tmp_path, check=True)


def indexed(archive: Path) -> list[str]:
    """The names in the index of a static library: its first member, of big-endian numbers."""
    data = archive.read_bytes()
    assert data.startswith(b"!<arch>\n/ ")
    index = data[68 : 68 + int(data[56:66])]
    (count,) = struct.unpack_from(">I", index)
    names = index[4 + 4 * count :].split(b"\0")[:count]
    assert len(names) == count > 0
    return [one.decode() for one in names]


def test_wine_that_is_missing(monkeypatch):
    monkeypatch.setattr(shutil, "which", lambda name: None)
    emulator = target("x86-64-windows").emulator
    assert emulator is not None
    monkeypatch.setattr("nnc.targets.llvm.target.find_host", lambda: target("x86-64"))
    assert emulator.missing() == "wine is not installed: `apt-get install wine64 wine`"


@pytest.mark.emulated
def test_levels_in_one_dll(tmp_path: Path):
    """The code is chosen there too; the environment may hold it back."""
    names = [f"{name}-windows" for name in runnable("x86-64", "x86-64-v3")]
    require_emulator(names[0])
    onnx.save(tiny_cnn(), tmp_path / "model.onnx")
    options = ["-q", "--target", ",".join(names), "-o", str(tmp_path / "model.dll")]
    assert main(["compile", str(tmp_path / "model.onnx"), *options]) == 0
    (tmp_path / "main.c").write_text(
        '#include <stdio.h>\n#include "model.h"\nint main(void) { puts(nnc_target()); return 0; }\n'
    )
    one, made = target(names[0]), tmp_path / "main.exe"
    tools = find_toolchain(one.triple)
    tools.program(tmp_path / "main.c", made, [tmp_path / "model.lib"])
    assert one.emulator is not None
    for level, used in (("", names[-1]), (names[0], names[0])):
        done = subprocess.run(
            [*one.emulator.command(), "main.exe"], cwd=tmp_path, check=True, text=True,
            capture_output=True, env={**os.environ, "NNC_LEVEL": level},
        )  # fmt: skip
        assert done.stdout.strip() == used


def test_struct_of_coff_header():
    """The machine's number stands first in an object file for Windows."""
    code = target("aarch64-windows").object_of("define void @f() { ret void }")
    assert struct.unpack_from("<H", code) == (0xAA64,)
