"""Small networks and libraries for other processors, under their emulators."""

import json
import subprocess
import sys
from functools import cache
from pathlib import Path

import nnc
import numpy as np
import pytest
from nnc.artifacts.options import ArtifactOptions
from nnc.driver.compile import load_module, run_stages
from nnc.driver.program import make_program
from nnc.ir.diagnostics import NncError
from nnc.targets.base import target
from nnc.targets.linker import find_toolchain
from nnc.tools.nnc import main

from ..artifacts.test_artifacts import symbols
from ..models.small_models import tiny_cnn
from ..models.test_small_models import assert_close, expected, inputs_of, wide_cnn
from .emulated import PROGRAM_FLAGS, TOLERANCES, require_emulator, sampled
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


@pytest.mark.sampled(3)
@pytest.mark.parametrize("name", sampled("networks"))
@pytest.mark.parametrize("kind", NETWORKS)
def test_networks(kind: str, name: str):
    require_emulator(name)
    model, inputs, wanted, here = network(kind)
    found = nnc.compile(model, target=name)(**inputs)
    assert_close(found, here, TOLERANCES[kind])
    assert_close(found, wanted, TOLERANCES[kind])


@pytest.mark.parametrize("name", sampled("threads"))
def test_two_threads(name: str):
    """The pool is part of the library, and threads share the work without changing numbers."""
    require_emulator(name)
    model = wide_cnn()
    inputs = inputs_of(model)
    program = make_program(run_stages(load_module(model), target=name))
    one, two = (program.target.running(program, threads) for threads in (1, 2))
    assert two.threads == 2
    alone = one(**inputs)
    for _ in range(2):
        np.testing.assert_array_equal(alone, two(**inputs))
    assert_close(alone, expected(model, inputs))


@pytest.mark.parametrize("name", sampled("programs"))
def test_several_calls_and_unknown_shapes(name: str):
    require_emulator(name)
    text = """
    func.func @main(%x: tensor<?x3xf32>, %k: tensor<i64>) -> (tensor<?x3xf32>, tensor<i64>) {
      %y = nn.relu %x : (tensor<?x3xf32>) -> tensor<?x3xf32>
      %n = nn.neg %k : (tensor<i64>) -> tensor<i64>
      return %y, %n : tensor<?x3xf32>, tensor<i64>
    }
    """
    model = nnc.compile(nnc.parse(text), target=name)
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


def compiled(tmp_path: Path, name: str, suffix: str) -> Path:
    """A library for a target."""
    require_emulator(name)
    (tmp_path / "model.mlir").write_text(MODEL)
    library = tmp_path / f"model{suffix}"
    arguments = ["compile", str(tmp_path / "model.mlir"), "-q", "--target", name]
    assert main([*arguments, "-o", str(library)]) == 0
    return library


@pytest.mark.parametrize("name", sampled("programs"))
@pytest.mark.parametrize("suffix", [".so", ".a"])
def test_the_example_in_c(tmp_path: Path, suffix: str, name: str):
    """Header, library and description are those of any target; the program runs."""
    library = compiled(tmp_path, name, suffix)
    about = json.loads((tmp_path / "model.json").read_text())
    assert about["target"] == name
    (output,) = about["outputs"]
    assert (output["name"], output["type"], output["shape"]) == ("output0", "f32", [4, 16])
    assert output["allocated_by"] == "caller"
    one = target(name)
    command = [
        *find_toolchain(one.triple).driver,
        *PROGRAM_FLAGS,
        "-I.",
        str(EXAMPLE),
        f"./{library.name}",
    ]
    subprocess.run([*command, "-o", "main", "-lm"], cwd=tmp_path, check=True)
    command = [*one.emulator.command(), "./main"]
    done = subprocess.run(command, cwd=tmp_path, check=True, capture_output=True, text=True)
    assert done.stdout == "4.000000\n" * 64


@pytest.mark.parametrize("name", sampled("programs"))
def test_a_library_is_small(tmp_path: Path, name: str):
    """What is neither weights nor kernels: pool, context, entry, tables of the file."""
    require_emulator(name)
    program = make_program(run_stages(load_module(wide_cnn()), target=name))
    for suffix in (".so", ".o"):
        program.target.write(program, tmp_path / f"model{suffix}", ArtifactOptions())
    weights = program.signature.weights_bytes
    kernels = sum(
        int(size, 0)
        for _, _, size, kind, _, _, _, name in symbols(tmp_path / "model.o")
        if kind == "FUNC" and name != "main" and not name.startswith("nnc_")
    )
    beyond = (tmp_path / "model.so").stat().st_size - weights
    assert 500 < kernels < beyond < kernels + 40_000
    assert libc_versions(tmp_path / "model.so")
    assert max(libc_versions(tmp_path / "model.so")) <= (2, 28)


def libc_versions(library: Path) -> set[tuple[int, ...]]:
    """The versions of Linux's libc whose functions a library asks for."""
    import lief

    found = lief.parse(str(library))
    names = [
        aux.name for one in found.symbols_version_requirement for aux in one.get_auxiliary_symbols()
    ]
    return {tuple(map(int, name.removeprefix("GLIBC_").split("."))) for name in names}


@pytest.mark.parametrize("name", sampled("programs"))
def test_slices_to_the_end(name: str):
    """Bounds that no index of 32 bits can be are brought into range, as NumPy does."""
    require_emulator(name)
    text = """
    func.func @main(%x: tensor<7x5xf32>, %from: tensor<2xi64>, %to: tensor<2xi64>,
                    %axes: tensor<2xi64>, %by: tensor<2xi64>) -> tensor<?x?xf32> {
      %y = nn.slice_dynamic %x, %from, %to, %axes, %by
          : (tensor<7x5xf32>, tensor<2xi64>, tensor<2xi64>, tensor<2xi64>, tensor<2xi64>)
          -> tensor<?x?xf32>
      return %y : tensor<?x?xf32>
    }
    """
    x = np.arange(35, dtype=np.float32).reshape(7, 5)
    axes = np.array([0, 1])
    model = nnc.compile(nnc.parse(text), target=name)
    least, most = -(2**63), 2**63 - 1
    for start, end, step in (
        ((2, 1), (most, most), (1, 2)),
        ((most, -1), (least, least), (-2, -1)),
        ((least, 0), (2**32 + 1, most), (2**32 + 3, 1)),
    ):
        first, second = (slice(*part) for part in zip(start, end, step, strict=True))
        found = model(x, np.array(start), np.array(end), axes, np.array(step))
        np.testing.assert_array_equal(found, x[first, second])


@pytest.mark.parametrize("name", sampled("programs"))
def test_weights_beside(name: str, monkeypatch: pytest.MonkeyPatch):
    """As models above 1 GiB have them: the file is mapped."""
    require_emulator(name)
    monkeypatch.setattr("nnc.targets.llvm.library._INSIDE_LIMIT", 0)
    model = tiny_cnn()
    inputs = inputs_of(model)
    assert_close(nnc.compile(model, target=name)(**inputs), expected(model, inputs))


@pytest.mark.parametrize("name", sampled("programs"))
def test_the_command_line(tmp_path: Path, name: str):
    """A stage's file goes on for the target that it says, in the emulator."""
    require_emulator(name)
    (tmp_path / "model.mlir").write_text(MODEL)
    np.save(tmp_path / "x.npy", np.full((4, 8), 2, np.float32))
    nnc_command = [sys.executable, "-m", "nnc.tools.nnc"]
    subprocess.run(
        [*nnc_command, "stages", "model.mlir", "--target", name, "-o", "s", "-q"],
        cwd=tmp_path, check=True,
    )  # fmt: skip
    for stage in ("schedule", "llvm"):
        (path,) = (tmp_path / "s").glob(f"*-{stage}.mlir")
        found = subprocess.run(
            [*nnc_command, "run", str(path), "--input", "x.npy", "-q"],
            cwd=tmp_path, check=True, capture_output=True, text=True,
        )  # fmt: skip
        assert found.stdout == "output0: float32[4x16] min 8 max 8 mean 8: 8 8 8 8 8 ..\n"


@pytest.mark.parametrize("name", ["armv7", "cortex-a76"])
def test_sizes_that_no_memory_holds_are_errors(name):
    """Of extents that an index of 32 bits would take for smaller ones, too."""
    require_emulator(name)
    text = """
func.func @main(%s: tensor<2xi64>) -> tensor<?x?xf32> {
  %v = nn.constant dense<1.0> : tensor<f32>
  %y = nn.fill_dynamic %s, %v : (tensor<2xi64>, tensor<f32>) -> tensor<?x?xf32>
  return %y : tensor<?x?xf32>
}
"""
    run = nnc.compile(nnc.parse(text), target=name)
    for sizes in ([2**48 + 3, 1], [2**31, 2**31], [-1, 3], [2**62, 2**62]):
        with pytest.raises(NncError, match=r"line 4.*(an extent is negative|not enough memory)"):
            run(np.array(sizes))
        np.testing.assert_array_equal(run(np.array([2, 3])), np.ones((2, 3), np.float32))
