"""bench/compare.py: runtimes in processes of their own, interleaved, and what is said of them."""

import sys
from pathlib import Path

import numpy as np
import onnx
import pytest

from bench import compare, layers

from ..models.small_models import small_cnn


@pytest.fixture(scope="module")
def model(tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("bench") / "small.onnx"
    onnx.save(small_cnn(), path)
    return path


def test_nnc_and_onnxruntime(model: Path, tmp_path: Path) -> None:
    inputs = tmp_path / "inputs.npz"
    compare.write_inputs(model, inputs, None)
    assert np.load(inputs)["x"].shape == (1, 3, 35, 37)
    runtimes = {"nnc": sys.executable, "onnxruntime": sys.executable, "openvino": "/bin/false"}
    ours, theirs, broken = compare.compare(model, inputs, runtimes, 1, 6)
    assert len(ours.latencies) == len(theirs.latencies) == 6
    assert ours.error < 1e-5 and theirs.error == 0
    assert ours.peak_bytes > 1e7 and ours.median > 0
    assert broken.failure and not broken.latencies
    assert compare.ratio(ours, ours) == 1
    lines = list(compare.table("small", 1, [ours, theirs, broken]))
    assert lines[0].startswith("| small | 1 | nnc ") and "failed: exit code 1" in lines[2]


def test_given_inputs_are_taken(model: Path, tmp_path: Path) -> None:
    given, made = tmp_path / "given.npz", tmp_path / "made.npz"
    x = np.ones((1, 3, 35, 37), np.float32)
    np.savez(given, x=x)
    compare.write_inputs(model, made, given)
    np.testing.assert_array_equal(np.load(made)["x"], x)


def test_layers_are_models() -> None:
    found = [one for make in layers.GROUPS.values() for one in make()]
    assert len({one.name for one in found}) > 60
    for one in [*list(layers.gemm())[:2], layers.Conv(8, 16, 9), layers.Conv(8, 8, 9, 3, 2, 8)]:
        onnx.checker.check_model(one.model(), full_check=True)


def test_relative_error() -> None:
    assert compare.relative_error([np.array([1.0, 4.0])], [np.array([1.5, 5.0])]) == 0.2
