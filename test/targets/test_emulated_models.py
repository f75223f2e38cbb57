"""Small networks and libraries for other processors, under their emulators."""

import json
import subprocess
import sys
from functools import cache
from pathlib import Path

import nnc
import numpy as np
import pytest
from nnc.ir.diagnostics import NncError
from nnc.targets.base import target
from nnc.targets.linker import find_toolchain
from nnc.tools.nnc import main

from ..models.small_models import small_cnn
from ..models.test_small_models import assert_close, expected, inputs_of, wide_cnn
from .emulated import TOLERANCES, require_emulator
from .small_networks import NETWORKS

pytestmark = pytest.mark.emulated

EXAMPLE = Path(__file__).parents[2] / "examples" / "deploy" / "main.c"
MODEL = """
func.func @main(%x: tensor<4x8xf32>) -> tensor<4x16xf32> {
  %w = nn.constant dense<0.5> : tensor<8x16xf32>
  %y = nn.matmul %x, %w : (tensor<4x8xf32>, tensor<8x16xf32>) -> tensor<4x16xf32>
  return %y : tensor<4x16xf32>
}
"""


@cache
def network(name: str):
    """A network, inputs, and what ONNX Runtime and this machine's code give."""
    model = NETWORKS[name]()
    inputs = inputs_of(model)
    return model, inputs, expected(model, inputs), nnc.compile(model)(**inputs)


@pytest.mark.parametrize("name", ["cortex-a76", "neoverse-v2"])
@pytest.mark.parametrize("kind", NETWORKS)
def test_networks(kind: str, name: str):
    require_emulator(name)
    model, inputs, wanted, here = network(kind)
    found = nnc.compile(model, target=name)(**inputs)
    assert_close(found, here, TOLERANCES[kind])
    assert_close(found, wanted, TOLERANCES[kind])


@pytest.mark.parametrize("name", ["cortex-a76", "apple-m1"])
def test_two_threads(name: str):
    """The pool is part of the library, and threads share the work without changing numbers."""
    require_emulator(name)
    model = wide_cnn()
    inputs = inputs_of(model)
    one, two = (nnc.compile(model, target=name, threads=n) for n in (1, 2))
    assert two.threads == 2
    for _ in range(3):
        np.testing.assert_array_equal(one(**inputs), two(**inputs))
    assert_close(two(**inputs), expected(model, inputs))


@pytest.mark.parametrize("kind", ["mobilenet_v2", "lstm"])
def test_power(kind: str):
    """The target that CONTRIBUTING.md shows."""
    require_emulator("power8")
    model, inputs, wanted, here = network(kind)
    found = nnc.compile(model, target="power8", threads=2)(**inputs)
    assert_close(found, here, TOLERANCES[kind])
    assert_close(found, wanted, TOLERANCES[kind])


def test_several_calls_and_unknown_shapes():
    require_emulator("aarch64")
    text = """
    func.func @main(%x: tensor<?x3xf32>, %k: tensor<i64>) -> (tensor<?x3xf32>, tensor<i64>) {
      %y = nn.relu %x : (tensor<?x3xf32>) -> tensor<?x3xf32>
      %n = nn.neg %k : (tensor<i64>) -> tensor<i64>
      return %y, %n : tensor<?x3xf32>, tensor<i64>
    }
    """
    model = nnc.compile(nnc.parse(text), target="aarch64")
    for rows in (5, 0, 1):
        x = np.random.default_rng(rows).standard_normal((rows, 3)).astype(np.float32)
        y, n = model(x, np.int64(rows))
        np.testing.assert_array_equal(y, np.maximum(x, 0))
        assert n == -rows and n.dtype == np.int64
    with pytest.raises(NncError, match=r"input 'input0': expected tensor<\?x3xf32>, got float64"):
        model(np.zeros((2, 3)), np.int64(1))


def test_an_emulator_that_ends(tmp_path: Path):
    require_emulator("aarch64")
    model = nnc.compile(nnc.parse(MODEL), target="aarch64")
    model._process.kill()
    with pytest.raises(NncError, match="the emulator ended with status -9"):
        model(np.zeros((4, 8), np.float32))


def compiled(tmp_path: Path, *options: str, suffix: str = ".so") -> Path:
    """A library for the Raspberry Pi 5."""
    require_emulator("cortex-a76")
    (tmp_path / "model.mlir").write_text(MODEL)
    library = tmp_path / f"model{suffix}"
    arguments = ["compile", str(tmp_path / "model.mlir"), "-q", "--target", "cortex-a76"]
    assert main([*arguments, "-o", str(library), *options]) == 0
    return library


@pytest.mark.parametrize("suffix", [".so", ".a"])
def test_the_example_in_c(tmp_path: Path, suffix: str):
    """Header, library and description are those of any target; the program runs."""
    library = compiled(tmp_path, suffix=suffix)
    about = json.loads((tmp_path / "model.json").read_text())
    assert about["target"] == "cortex-a76"
    assert about["outputs"] == [{"name": "output0", "type": "f32", "shape": [4, 16]}]
    one = target("cortex-a76")
    command = [*find_toolchain(one.triple).driver, "-I.", str(EXAMPLE), f"./{library.name}"]
    subprocess.run([*command, "-o", "main", "-lm"], cwd=tmp_path, check=True)
    command = [*one.emulator.command(), "./main"]
    done = subprocess.run(command, cwd=tmp_path, check=True, capture_output=True, text=True)
    assert done.stdout == "4.000000\n" * 64


def test_weights_beside(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    """As models above 1 GiB have them: the file is mapped."""
    require_emulator("aarch64")
    monkeypatch.setattr("nnc.driver.artifacts._INSIDE_LIMIT", 0)
    model = small_cnn()
    inputs = inputs_of(model)
    assert_close(nnc.compile(model, target="aarch64")(**inputs), expected(model, inputs))


def test_the_command_line(tmp_path: Path):
    """A stage's file goes on for the target that it says, in the emulator."""
    require_emulator("cortex-a76")
    (tmp_path / "model.mlir").write_text(MODEL)
    np.save(tmp_path / "x.npy", np.full((4, 8), 2, np.float32))
    nnc_command = [sys.executable, "-m", "nnc.tools.nnc"]
    subprocess.run(
        [*nnc_command, "stages", "model.mlir", "--target", "cortex-a76", "-o", "s", "-q"],
        cwd=tmp_path, check=True,
    )  # fmt: skip
    for stage in ("schedule", "llvm"):
        (path,) = (tmp_path / "s").glob(f"*-{stage}.mlir")
        found = subprocess.run(
            [*nnc_command, "run", str(path), "--input", "x.npy", "-q"],
            cwd=tmp_path, check=True, capture_output=True, text=True,
        )  # fmt: skip
        assert found.stdout == "output0: float32[4x16] min 8 max 8 mean 8: 8 8 8 8 8 ..\n"
