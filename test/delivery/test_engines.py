"""Engines take turns; what one does wrong costs its row only; figures are those of its clock."""

import time
from functools import partial
from pathlib import Path

import numpy as np
import pytest
from nnc.delivery.engines.accuracy import accuracy
from nnc.delivery.engines.energy import Meter
from nnc.delivery.engines.process import EngineError, EngineProcess
from nnc.delivery.engines.table import (
    ENGINES,
    INTERPRETER,
    chosen_engines,
    engines_for,
    reference_for,
)
from nnc.delivery.engines.turns import Effort, measure, outputs_of, ratio
from nnc.frontends.formats import FORMATS
from nnc.ir.diagnostics import NncError

from .fakes import fake_job

SIX = Effort(runs=6, limit=20.0)
near = partial(pytest.approx, rel=1e-4, abs=1e-4)
"""Differences of a clock that began with the machine have some digits less."""


def test_figures_are_those_of_the_clock(tmp_path: Path) -> None:
    log = str(tmp_path / "log")
    jobs = {
        "a": fake_job(tmp_path, "a", times=[0.004, 0.001, 0.002], load=0.5, log=log, letter="a"),
        "b": fake_job(tmp_path, "b", times=[0.008], log=log, letter="b"),
    }
    a, b = measure(jobs, SIX)
    # A run for the outputs and two to warm up come first: the three times start anew behind them.
    assert np.allclose(a.latencies, [4, 1, 2] * 2) and np.allclose(b.latencies, [8] * 6)
    assert a.median == near(2) and b.median == near(8)
    assert a.spread == near((4 - 1) / 2) and b.spread == near(0)
    assert a.throughput == near(6 / 0.014) and b.throughput == near(125)
    assert ratio(a, b) == near(8) and ratio(b, a) == near(1 / 8)
    assert 500 <= a.load_ms < 20_000 and a.compile_ms is None
    assert a.size_bytes == 1234 and a.peak_bytes is not None and a.peak_bytes > 1e6
    assert a.outputs is not None and a.outputs[0].tolist() == [2.0, -6.0]
    assert (tmp_path / "log").read_text() == "aaa" + "bbb" + "aaabbb" * 2
    assert not a.failure and not b.failure


@pytest.mark.thorough
def test_seconds_say_how_long_each_runs(tmp_path: Path) -> None:
    jobs = {
        "slow": fake_job(tmp_path, "slow", times=[0.1]),
        "fast": fake_job(tmp_path, "fast", times=[0.001]),
    }
    # The tenth turn of 0.1 s ends beyond 0.95 s, however the clock's sums are rounded.
    slow, fast = measure(jobs, Effort(seconds=0.95, limit=20.0))
    assert {len(turn) for turn in slow.turns} == {1} and {len(t) for t in fast.turns} == {100}
    assert len(slow.turns) == len(fast.turns) == 10
    assert slow.seconds == near(1) and fast.seconds == near(1)


@pytest.mark.sampled(4)
@pytest.mark.parametrize(
    "options, reason",
    [
        ({"broken": "load"}, "ValueError: this engine does not know the model"),
        ({"broken": "far in"}, "InvalidArgumentError: no such axis"),
        ({"broken": "crash", "at": 1}, "the process ended by SIGSEGV"),
        ({"broken": "crash", "at": 5}, "the process ended by SIGSEGV"),
        ({"broken": "words", "at": 8}, "it gave up: no more memory"),
    ],
)
def test_a_failure_costs_its_row_only(tmp_path: Path, options: dict, reason: str) -> None:
    jobs = {"bad": fake_job(tmp_path, "bad", **options), "good": fake_job(tmp_path, "good")}
    bad, good = measure(jobs, SIX)
    assert bad.failure == reason
    assert not good.failure and len(good.latencies) == 6


@pytest.mark.thorough
def test_a_hung_engine_ends_with_all_it_started(tmp_path: Path) -> None:
    child = tmp_path / "child"
    options = {"broken": "hang", "at": 4, "child": str(child)}
    jobs = {"bad": fake_job(tmp_path, "bad", **options), "good": fake_job(tmp_path, "good")}
    bad, good = measure(jobs, Effort(runs=6, limit=3.0))
    assert bad.failure == "no answer to 'run' within 3 s"
    assert not good.failure and len(good.latencies) == 6
    state = Path(f"/proc/{child.read_text()}/stat")
    for _ in range(100):
        if not state.exists() or state.read_text().rpartition(")")[2].split()[0] == "Z":
            return
        time.sleep(0.05)
    pytest.fail("a process of the engine is still there")


def test_an_interpreter_that_is_not_there(tmp_path: Path) -> None:
    job = fake_job(tmp_path, "a")
    missing = type(job)(job.engine, job.model, job.inputs, 1, job.options, "/no/python")
    (found,) = measure({"a": missing}, SIX)
    assert found.failure == "cannot start '/no/python': No such file or directory"


def test_commands_that_do_not_fit(tmp_path: Path) -> None:
    process = EngineProcess(fake_job(tmp_path, "a"))
    try:
        with pytest.raises(EngineError, match="no model is loaded"):
            process.ask("run 1", 20.0)
    finally:
        process.end()
    assert not Path(process.folder.name).exists()


def test_outputs_alone(tmp_path: Path) -> None:
    found = outputs_of(fake_job(tmp_path, "a", factor=3, names=["y"]), 20.0)
    assert found.outputs is not None and found.outputs[0].tolist() == [3.0, -9.0]
    assert found.output_names == ["y"] and not found.turns


def _zone(folder: Path, place: str, name: str, energy: int) -> Path:
    zone = folder / place
    zone.mkdir()
    (zone / "name").write_text(f"{name}\n")
    (zone / "energy_uj").write_text(f"{energy}\n")
    (zone / "max_energy_range_uj").write_text("1000000\n")
    return zone


def test_energy_of_all_packages(tmp_path: Path) -> None:
    first = _zone(tmp_path, "intel-rapl:0", "package-0", 999_000)
    second = _zone(tmp_path, "intel-rapl:1", "package-1", 5_000)
    _zone(tmp_path, "intel-rapl:0:0", "core", 7)
    (tmp_path / "dtpm").mkdir()
    meter = Meter.here(tmp_path)
    before = meter.read()
    (first / "energy_uj").write_text("2000")  # behind its largest value it began anew
    (second / "energy_uj").write_text("25000")
    assert meter.between(before, meter.read()) == pytest.approx((3_001 + 20_000) / 1e6)
    (second / "energy_uj").unlink()
    assert meter.read() is None and meter.between(before, None) is None
    assert Meter.here(tmp_path / "none").read() is None


def test_accuracy_by_hand() -> None:
    found = accuracy([np.array([1.0, 4.0])], [np.array([1.5, 5.0])])
    assert found.max_abs == 1.0 and found.max_rel == 0.2 and found.equal == 0
    assert found.cosine == pytest.approx(21.5 / (17**0.5 * 27.25**0.5))
    assert found.within(0.2) and not found.within(0.19)
    two = accuracy([np.zeros(3), np.ones(1)], [np.zeros(3), np.ones(1)])
    assert two.max_rel == 0 and two.equal == 1 and two.cosine == 1


def test_accuracy_of_what_are_no_real_numbers() -> None:
    nan, inf = np.nan, np.inf
    same = accuracy([np.array([nan, inf, 1.0])], [np.array([nan, inf, 1.0])])
    assert same.within(1e-9) and same.equal == 1 and not same.fault
    lost = accuracy([np.array([nan, -inf, 1.0])], [np.array([0.0, inf, 2.0])])
    assert lost.fault == "output 0: 2 of 3 values are not finite on one side alone"
    assert lost.max_abs == 1 and lost.max_rel == 0.5 and not lost.within(1.0)
    labels = accuracy([np.array([3, 7])], [np.array([3, 8])])
    assert labels.max_abs == 1 and labels.max_rel is None and labels.equal == 0.5
    assert not labels.within(1.0)
    assert accuracy([np.array([254], np.uint8)], [np.array([255], np.uint8)]).within(1e-9)
    assert not accuracy([np.array([253], np.uint8)], [np.array([255], np.uint8)]).within(1e-9)
    large = np.array([1 << 53, (1 << 53) + 1])
    assert not accuracy([large], [large[::-1].copy()]).integers_agree
    complexes = accuracy([np.array([3 + 4j])], [np.array([3 + 3j])])
    assert complexes.max_abs == 1
    texts = accuracy([np.array(["a", "b"])], [np.array(["a", "c"])])
    assert texts.equal == 0.5 and not texts.within(1.0) and texts.max_abs is None
    assert accuracy([np.array([True])], [np.array([True])]).within(1e-9)
    assert accuracy([np.zeros((0, 4))], [np.zeros((0, 4))]).within(1e-9)


def test_accuracy_of_other_shapes() -> None:
    assert "shape [2], the original's [3]" in accuracy([np.ones(2)], [np.ones(3)]).fault
    assert accuracy([], [np.ones(3)]).fault == "0 outputs, but 1"
    assert accuracy([np.ones(())], [np.ones(1)]).within(1e-9)


def test_engines_by_name_and_format() -> None:
    names = [one.name for one in ENGINES]
    assert len(set(names)) == len(names)
    assert [one.name for one in chosen_engines("onnxruntime, nnc")] == ["nnc", "onnxruntime"]
    assert chosen_engines("all") == tuple(ENGINES)
    for text, said in (("onnx", "no engine is called 'onnx'; there are nnc,"), (",", "is named")):
        with pytest.raises(NncError, match=said):
            chosen_engines(text)
    read = [one.name for one in engines_for("PyTorch", ENGINES)]
    assert read == ["nnc", "nnc-tuned", "pytorch", "torch-compile"]
    assert reference_for("Darknet") is INTERPRETER


def test_rows_name_formats_and_functions_that_are_there() -> None:
    known = {one.name for one in FORMATS}
    for one in (*ENGINES, INTERPRETER):
        assert set(one.formats) <= known, one.name
        assert f"\ndef {one.function}(task: Task) -> Run:" in one.file.read_text(), one.name
        assert one.is_nnc or one is INTERPRETER or (one.formats and one.distributions)


def test_what_is_not_installed_is_said() -> None:
    for one in ENGINES:
        assert bool(one.missing()) == (bool(one.distributions) and not one.version), one.name
