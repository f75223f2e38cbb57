"""Expected beside measured times: the numbers of the table, and the kernels of a model."""

import csv
from math import isnan
from pathlib import Path

import pytest
from nnc.ir.diagnostics import NncError

from bench import predicted
from bench.predicted import Agreement, Point
from bench.ranking import rank_correlation

from .test_mca import product


def points(*pairs: tuple[float, float]) -> list[Point]:
    return [Point("m", f"k{i}", 1, "loads", *pair) for i, pair in enumerate(pairs)]


def test_ranks() -> None:
    assert rank_correlation([1, 2, 3, 4], [10, 20, 25, 90]) == pytest.approx(1)
    assert rank_correlation([1, 2, 3, 4], [9, 8, 7, 1]) == pytest.approx(-1)
    # Two neighbours of four in the wrong order: 1 - 6 * 2 / (4 * 15).
    assert rank_correlation([1, 2, 3, 4], [1, 3, 2, 4]) == pytest.approx(0.8)
    assert isnan(rank_correlation([1, 2], [1, 2]))


def test_agreement() -> None:
    found = Agreement(points((10, 10), (22, 20), (15, 30), (80, 40)))
    assert found.error == pytest.approx((0.1 + 0.5) / 2)
    assert found.near == 0.5
    assert found.factor == pytest.approx(1.1**0.25)
    assert found.row("all") == "| all | 4 | 0.800 | 30.0% | 50% | 1.02 |"


def test_kernels_of_a_model(tmp_path: Path, capsys, monkeypatch) -> None:
    model, rows = product(tmp_path / "product.onnx", 64, 96, 128), tmp_path / "rows.csv"
    arguments = ["predicted", str(model), "--runs", "2", "--least", "0", "--csv", str(rows)]
    monkeypatch.setattr("sys.argv", arguments)
    predicted.main()
    lines = capsys.readouterr().out.splitlines()
    assert [line.split(" | ")[0] for line in lines[2:]] == ["| product", "| all"]
    head, *found = csv.reader(rows.read_text().splitlines())
    assert head == ["model", "kernel", "calls", "bound", "expected us", "measured us"]
    assert all(row[0] == "product" and float(row[4]) > 0 and float(row[5]) > 0 for row in found)
    # 786,432 multiply-adds are at least 1 us on any core.
    assert max(float(row[5]) for row in found) > 1


def test_no_runs(tmp_path: Path, monkeypatch) -> None:
    model = product(tmp_path / "product.onnx", 4, 4, 4)
    monkeypatch.setattr("sys.argv", ["predicted", str(model), "--runs", "0"])
    with pytest.raises(NncError, match="at least 1"):
        predicted.main()
