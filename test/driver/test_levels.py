"""One library for several levels of x86: which code it chooses, what it stores, what it refuses."""

import ctypes
import json
import os
import platform
import shutil
import subprocess
import sys
from pathlib import Path

import numpy as np
import onnx
import pytest

from ..artifacts.test_artifacts import compile_to
from ..conftest import skip_unless_ci
from ..processor import machine_level
from .test_prepared_weights import convolutions

pytestmark = [
    pytest.mark.thorough,
    pytest.mark.skipif(
        platform.machine().lower() not in ("x86_64", "amd64"), reason="the levels are those of x86"
    ),
]

LEVELS = {"x86-64": 1, "x86-64-v3": 3, "x86-64-v4": 4, "sapphirerapids": 5}
HERE = [name for name, least in LEVELS.items() if machine_level() >= least]
JOINT = ",".join(LEVELS)
SHAPE = (1, 64, 12, 12)

CALL = """
import ctypes, sys
import numpy as np
class Tensor(ctypes.Structure):
    _fields_ = [("data", ctypes.c_void_p), ("shape", ctypes.c_void_p)]
path, weights, threads, out = sys.argv[1:]
code = ctypes.CDLL(path)
x = np.load("x.npy")
y = np.zeros_like(x)
given, made = Tensor(x.ctypes.data, None), Tensor(y.ctypes.data, None)
context = ctypes.c_void_p()
name = weights.encode() or None
for _ in range(2):
    status = code.nnc_create(ctypes.byref(context), name, int(threads))
    if status:
        sys.exit(status)
    assert not code.nnc_call(context, ctypes.byref(given), ctypes.byref(made))
    code.nnc_destroy(context)
np.save(out, y)
if hasattr(code, "nnc_target"):
    code.nnc_target.restype = ctypes.c_char_p
    print(code.nnc_target().decode())
"""


def call(folder: Path, library: str, level: str = "", weights: str = "", threads: int = 1):
    """What a library gives in a process of its own, and what it says that it used."""
    command = [sys.executable, "-c", CALL, f"./{library}", weights, str(threads), "y.npy"]
    environment = {**os.environ, "NNC_LEVEL": level}
    done = subprocess.run(command, cwd=folder, env=environment, capture_output=True, text=True)
    assert not done.returncode, done.stderr
    return np.load(folder / "y.npy"), done.stdout.strip()


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A model for each level by itself and for all, with weights in different forms and places."""
    folder = tmp_path_factory.mktemp("levels")
    onnx.save(convolutions(SHAPE[1]), folder / "model.onnx")
    np.save(folder / "x.npy", np.random.default_rng(6).standard_normal(SHAPE).astype(np.float32))
    for name, output, *options in (
        *((name, name, "original") for name in LEVELS),
        (JOINT, "original", "original", "--weights", "beside"),
        (JOINT, "packed", "packed"),
    ):
        options = ["--target", name, "--weights", *options, "-o", str(folder / f"{output}.so")]
        assert compile_to(folder / "model.onnx", *options) == 0
    return folder


@pytest.mark.parametrize("level", HERE)
def test_each_level_gives_what_its_own_library_gives(folder: Path, level: str):
    wanted, _ = call(folder, f"{level}.so")
    for library, weights in (("original.so", "original.weights"), ("packed.so", "")):
        found, used = call(folder, library, level, weights, threads=2)
        assert used == level
        np.testing.assert_array_equal(found, wanted)


def test_the_best_that_this_processor_has_is_used(folder: Path):
    assert call(folder, "packed.so", "")[1] == HERE[-1]


def test_weights_are_stored_once(folder: Path):
    """What the levels read alike is there once; original weights are those of the model."""
    model = (folder / "model.onnx").stat().st_size
    files = ("original", "packed", *LEVELS)
    about = {name: json.loads((folder / f"{name}.json").read_text()) for name in files}
    assert about["original"]["weights_bytes"] < 1.1 * model
    assert about["packed"]["weights_bytes"] < 1.1 * about["original"]["prepared_bytes"]
    for key in ("arena_bytes", "prepared_bytes", "prepare_arena_bytes"):
        assert about["original"][key] == max(about[name][key] for name in LEVELS)
    assert about["original"]["prepared_bytes"] > 0
    assert about["packed"]["target"] == JOINT


def test_only_its_own_functions_are_seen(folder: Path):
    assert "const char *nnc_target(void);" in (folder / "original.h").read_text()
    code = (folder / "original.so").read_bytes()
    assert b"\0nnc_target\0" in code and b"nnc_x86_64_v3_run" not in code


@pytest.mark.parametrize(
    ("targets", "output", "message"),
    [
        ("x86-64-v2,avx2,x86-64-v3", "m.so", "target 'x86-64-v3' is given twice"),
        ("x86-64-v2,x86-64-v3", "m.o", "several targets go into a library, not into 'm.o'"),
        ("x86-64-v2,x86-64-v3", "m.ll", "several targets go into a library, not into 'm.ll'"),
        (
            "x86-64-v2,cortex-a72", "m.so",
            "'cortex-a72' is not a level of a family of processors, as x86-64-v3 is",
        ),
        ("host,avx2", "m.so", "'host' is not a level of a family of processors, as x86-64-v3 is"),
        (
            "x86-64-v2,x86-64-v3-macos", "m.so",
            "one library holds levels of one family, for one system: not 'x86-64-v2' and "
            "'x86-64-v3-macos'",
        ),
        ("x86-64-v2,x86-64-v9", "m.so", "no target is named 'x86-64-v9'; near: "),
        (
            "x86-64-v2,x86-64-v3", "m.dll",
            "a shared library for 'x86-64-v2' is a .so file, not 'm.dll'; a .dll file is for target "
            "'x86-64-v2-windows'",
        ),
    ],
)  # fmt: skip
def test_targets_that_do_not_go_together(tmp_path: Path, capsys, targets, output, message):
    onnx.save(convolutions(16), tmp_path / "model.onnx")
    options = ["--target", targets, "-o", str(tmp_path / output)]
    assert compile_to(tmp_path / "model.onnx", *options) == 1
    assert message in capsys.readouterr().err
    assert [path.name for path in tmp_path.iterdir()] == ["model.onnx"]


# -- other processors ----------------------------------------------------------------


@pytest.mark.emulated
@pytest.mark.parametrize(
    ("processor", "used"), [("qemu64", "x86-64"), ("Nehalem", "x86-64"), ("max", "x86-64-v3")]
)
def test_lesser_processors(folder: Path, processor: str, used: str):
    """QEMU has no AVX-512."""
    wanted, _ = call(folder, f"{used}.so")
    np.load(folder / "x.npy").tofile(folder / "x.bin")
    assert run_on(processor, folder, "packed", wanted.size) == used
    found = np.fromfile(folder / "y.bin", np.float32).reshape(wanted.shape)
    np.testing.assert_array_equal(found, wanted)


def run_on(processor: str, folder: Path, library: str, count: int) -> str:
    """What a program that calls a library says on another x86, in QEMU."""
    if not shutil.which("qemu-x86_64"):
        skip_unless_ci("QEMU is not installed")
    (folder / "main.c").write_text(MAIN)
    about = [f'-DHEADER="{library}.h"', f"-DCOUNT={count}"]
    subprocess.run(
        ["cc", *about, "main.c", f"./{library}.so", "-o", "main"], cwd=folder, check=True
    )
    command = ["qemu-x86_64", "-cpu", processor, "./main"]
    done = subprocess.run(command, cwd=folder, capture_output=True, text=True, check=True)
    return done.stdout.strip()


MAIN = r"""
#include <stdio.h>
#include HEADER

int main(void) {
    static float x[COUNT], y[COUNT];
    FILE *file = fopen("x.bin", "rb");
    if (!file || fread(x, sizeof x, 1, file) != 1) return 2;
    nnc_tensor input = {x, NULL}, output = {y, NULL};
    nnc_context *context;
    int32_t status = nnc_create(&context, NULL, 1);
    if (status) { puts(nnc_message(status)); return 0; }
    if (nnc_call(context, &input, &output)) return 4;
    nnc_destroy(context);
    puts(nnc_target());
    file = fopen("y.bin", "wb");
    return !file || fwrite(y, sizeof y, 1, file) != 1 || fclose(file);
}
"""


@pytest.mark.emulated
def test_a_processor_below_all_levels(tmp_path: Path):
    onnx.save(convolutions(16), tmp_path / "model.onnx")
    options = ["--target", "x86-64-v2,x86-64-v3", "-o", str(tmp_path / "model.so")]
    assert compile_to(tmp_path / "model.onnx", *options) == 0
    np.zeros(SHAPE, np.float32).tofile(tmp_path / "x.bin")
    said = run_on("qemu64,-ssse3,-sse4.1,-sse4.2", tmp_path, "model", np.prod(SHAPE))
    assert said.startswith("the library has no code for this processor, ")


def test_a_level_that_there_is_not_is_an_error(folder: Path):
    command = [sys.executable, "-c", CALL, "./packed.so", "", "1", "y.npy"]
    environment = {**os.environ, "NNC_LEVEL": "nonsense"}
    done = subprocess.run(command, cwd=folder, env=environment, capture_output=True, check=False)
    assert done.returncode == 6, "OTHER_PROCESSOR"
    code = ctypes.CDLL(str(folder / "packed.so"))
    code.nnc_message.restype = ctypes.c_char_p
    assert code.nnc_message(6).endswith(b"or for the level that NNC_LEVEL names")


def test_a_level_between_those_of_the_library_is_not_exceeded(folder: Path, tmp_path: Path):
    """The library has versions 2 and 4 of x86-64, and the environment allows 3."""
    path = tmp_path / "two.so"
    targets = ["--target", "x86-64-v2,x86-64-v4", "-o", str(path)]
    assert compile_to(folder / "model.onnx", *targets) == 0
    (tmp_path / "x.npy").write_bytes((folder / "x.npy").read_bytes())
    assert call(tmp_path, "two.so", "x86-64-v3")[1] == "x86-64-v2"
