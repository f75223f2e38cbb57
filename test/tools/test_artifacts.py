"""What nnc compile writes, used without nnc: a library through ctypes, an object from C."""

import ctypes
import json
import shutil
import subprocess
from pathlib import Path

import nnc
import numpy as np
import onnx
import pytest
from nnc.tools import nnc as nnc_tool

from ..models.small_models import small_cnn

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
    void *arena = aligned_alloc(64, (ARENA + 63) / 64 * 64), *weights = read_all("model.weights", WEIGHTS);
    if (nnc_run(&input, &output, arena, weights, 0)) return 3;
    return fwrite(y, 1, Y_BYTES, stdout) != Y_BYTES;
}
"""


@pytest.fixture(scope="module")
def compiled(tmp_path_factory: pytest.TempPathFactory):
    """A folder with the model compiled to .o and .so, its input and what nnc gives for it."""
    folder = tmp_path_factory.mktemp("artifacts")
    model = small_cnn()
    onnx.save(model, folder / "model.onnx")
    if shutil.which("cc") is None:
        pytest.skip("no C compiler")
    for name in ("model.o", "model.so"):
        arguments = ["compile", str(folder / "model.onnx"), "-o", str(folder / name), "--quiet"]
        assert nnc_tool.main(arguments) == 0
    x = np.random.default_rng(0).standard_normal((1, 3, 35, 37)).astype(np.float32)
    return folder, x, nnc.compile(model)(x)


def description(folder: Path) -> dict:
    return json.loads((folder / "model.json").read_text())


def test_description(compiled) -> None:
    found = description(compiled[0])
    assert found["inputs"] == [{"name": "x", "type": "f32", "shape": [1, 3, 35, 37]}]
    assert found["outputs"][0]["shape"] == [1, 10]
    assert found["weights_bytes"] == (compiled[0] / "model.weights").stat().st_size


def test_library_through_ctypes(compiled) -> None:
    folder, x, want = compiled
    library = ctypes.CDLL(str(folder / "model.so"))
    found = description(folder)

    class Tensor(ctypes.Structure):
        _fields_ = (("data", ctypes.c_void_p), ("shape", ctypes.c_void_p))

    def aligned(size: int) -> np.ndarray:
        raw = np.zeros(size + 64, np.uint8)
        start = -raw.ctypes.data % 64
        return raw[start : start + size]

    arena, weights = aligned(found["arena_bytes"]), aligned(found["weights_bytes"])
    weights[:] = np.fromfile(folder / "model.weights", np.uint8)
    y = np.zeros_like(want)
    inputs, outputs = Tensor(x.ctypes.data, None), Tensor(y.ctypes.data, None)
    code = library.nnc_run(
        ctypes.byref(inputs),
        ctypes.byref(outputs),
        ctypes.c_void_p(arena.ctypes.data),
        ctypes.c_void_p(weights.ctypes.data),
        None,
    )
    assert code == 0
    np.testing.assert_array_equal(y, want)


def test_object_from_c(compiled) -> None:
    folder, x, want = compiled
    found = description(folder)
    x.tofile(folder / "x.bin")
    (folder / "main.c").write_text(MAIN)
    defines = {
        "X_BYTES": x.nbytes,
        "Y_BYTES": want.nbytes,
        "ARENA": found["arena_bytes"],
        "WEIGHTS": found["weights_bytes"],
    }
    flags = [f"-D{name}={value}" for name, value in defines.items()]
    command = ["cc", *flags, "main.c", "model.o", "-lm", "-lpthread", "-o", "main"]
    subprocess.run(command, cwd=folder, check=True)
    done = subprocess.run([folder / "main"], cwd=folder, capture_output=True, check=True)
    np.testing.assert_array_equal(np.frombuffer(done.stdout, np.float32), want.ravel())


@pytest.mark.parametrize("machine", ["avx2", "sse"])
def test_other_processors(machine: str, compiled) -> None:
    """Code for older processors runs here too and gives the same numbers."""
    folder, x, want = compiled
    found = nnc.compile(folder / "model.onnx", machine=machine)(x)
    np.testing.assert_allclose(found, want, rtol=1e-4, atol=1e-6)
