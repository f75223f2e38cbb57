"""bench/compare.py: runtimes in processes of their own, interleaved, and what is said of them."""

import sys
from pathlib import Path

import numpy as np
import onnx
import onnx.reference
import pytest
from nnc.delivery.engines.accuracy import accuracy

from bench import compare, layers
from bench.reference import OPERATORS, float64_outputs, to_float64

from ..models.small_models import GraphMaker, small_cnn


@pytest.fixture(scope="module")
def model(tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("bench") / "small.onnx"
    onnx.save(small_cnn(), path)
    return path


@pytest.mark.thorough
def test_nnc_and_onnxruntime(model: Path, tmp_path: Path) -> None:
    inputs = tmp_path / "inputs.npz"
    compare.write_inputs(model, inputs, None)
    assert np.load(inputs)["x"].shape == (1, 3, 35, 37)
    runtimes = {"nnc": sys.executable, "onnxruntime": sys.executable, "openvino": "/bin/false"}
    ours, theirs, broken = compare.compare(model, inputs, runtimes, 1, 6)
    assert len(ours.latencies) == len(theirs.latencies) == 6
    assert compare.error_of(ours) < 1e-5 and compare.error_of(theirs) == 0
    assert ours.peak_bytes > 1e7 and ours.median > 0
    assert 0 < ours.size_bytes < 1e6 < theirs.size_bytes
    assert broken.failure and not broken.latencies
    assert compare.ratio(ours, ours) == 1
    lines = list(compare.table("small", 1, [ours, theirs, broken]))
    assert lines[0].startswith("| small | 1 | nnc ") and "failed: exit code 1" in lines[2]


def test_errors_against_float64(model: Path, tmp_path: Path) -> None:
    inputs = tmp_path / "inputs.npz"
    compare.write_inputs(model, inputs, None)
    given = dict(np.load(inputs))
    (want,) = float64_outputs(model, given)
    assert want.dtype == np.float64
    (near,) = onnx.reference.ReferenceEvaluator(onnx.load(model)).run(None, given)
    found = accuracy([near], [want]).max_rel
    assert found is not None and 0 < found < 1e-5
    (wide,) = onnx.reference.ReferenceEvaluator(to_float64(onnx.load(model))).run(
        None, {name: x.astype(np.float64) for name, x in given.items()}
    )
    np.testing.assert_allclose(want, wide, rtol=1e-12, atol=1e-12)


def test_float64_of_what_names_types() -> None:
    """Casts, constants and branches; ONNX's own operators where ours do not fit."""
    g = GraphMaker()
    half = g.op("Constant", value_float=0.5)
    x = g.op("Cast", "x", to=onnx.TensorProto.FLOAT)
    pooled = g.op("MaxPool", x, kernel_shape=[2, 2], strides=[2, 2], ceil_mode=1)
    zeros = g.op("ConstantOfShape", g.op("Shape", pooled))
    summed = g.op("Add", g.op("Mul", pooled, half), zeros)
    picked = g.op("GatherElements", summed, g.constant(np.array([[[[0, -1]]]])), axis=3)
    model = g.model({"x": (1, 1, 3, 5)}, picked)
    x = np.random.default_rng(0).standard_normal((1, 1, 3, 5)).astype(np.float32)
    evaluator = onnx.reference.ReferenceEvaluator(to_float64(model), new_ops=OPERATORS)
    (found,) = evaluator.run(None, {"x": x.astype(np.float64)})
    first, last = x[0, 0, :2, :2].max(), x[0, 0, :2, 4:].max()
    np.testing.assert_array_equal(found, [[[[first / 2, last / 2]]]])
    assert found.dtype == np.float64


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
