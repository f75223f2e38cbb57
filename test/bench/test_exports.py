"""bench/exports: what a check finds in a file that is right, in one that is wrong, and in none."""

from pathlib import Path

import numpy as np
import onnx
import pytest

from bench.exports.check import check, worst_error

from ..models.small_models import GraphMaker


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """A product of open batch, with values at two sizes."""
    g = GraphMaker()
    y = g.op("MatMul", "x", g.weight(4, 3))
    onnx.save(g.model({"x": ("n", 4)}, y), tmp_path / "m.script.dynamic.onnx")
    sizes = {f"{at}/in/x": np.ones((n, 4), np.float32) for at, n in enumerate((2, 5))}
    np.savez(tmp_path / "m.npz", **sizes)
    return tmp_path


def test_a_right_model_agrees(folder: Path) -> None:
    found = check(folder / "m.script.dynamic.onnx", folder / "m.npz", seconds=0.01)
    assert found.agrees and found.oracle == "onnxruntime"
    assert len(found.ratios) == 2 and min(found.ratios) > 0


def test_the_framework_is_asked_where_onnxruntime_cannot_be(folder: Path) -> None:
    values = dict(np.load(folder / "m.npz"))
    values |= {f"{at}/out/0": np.ones((n, 3), np.float32) for at, n in enumerate((2, 5))}
    np.savez(folder / "m.npz", **values)
    model = onnx.load(folder / "m.script.dynamic.onnx")
    model.ir_version = 99
    onnx.save(model, folder / "m.script.dynamic.onnx")
    found = check(folder / "m.script.dynamic.onnx", folder / "m.npz", seconds=0)
    assert found.oracle == "framework" and not found.failure
    assert found.error > 0.1 and not found.agrees  # a random product is not all ones


def test_a_file_that_neither_runs_is_nobodys_fault(folder: Path) -> None:
    g = GraphMaker()
    cut = g.op("Reshape", "x", g.constant(np.array([7, 1])))  # of 8 elements
    onnx.save(g.model({"x": ("n", 4)}, cut), folder / "m.script.dynamic.onnx")
    found = check(folder / "m.script.dynamic.onnx", folder / "m.npz", seconds=0)
    assert found.oracle == "framework" and found.failure and not found.is_wrong


def test_errors_see_shapes_types_and_what_is_no_number() -> None:
    ones = np.ones(3, np.float32)
    assert worst_error([ones], [ones * 2]) == 0.5
    assert worst_error([ones], [ones[:2]]) == np.inf
    assert worst_error([ones], [ones.astype(np.float64)]) == np.inf
    assert worst_error([ones], [np.array([1, 1, np.nan], np.float32)]) == np.inf
    assert worst_error([ones], []) == np.inf
