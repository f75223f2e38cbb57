"""nnc tune's command line: what is refused at once, --explain, --replay, and --tuned elsewhere."""

import csv
import io
import os
import subprocess
import sys
from dataclasses import replace
from math import log2

import pytest
from nnc.driver.tuning.graph import GraphFound
from nnc.driver.tuning.measurements import Log
from nnc.driver.tuning.ratio import Ratio
from nnc.driver.tuning.results import Tuned
from nnc.ir.version import VERSION
from nnc.kernels.tuned import TunedFolder
from nnc.tools.command import Streams
from nnc.tools.nnc import main

from ..driver.test_tuning import PRODUCT, made_up, scheduled
from ..driver.test_tuning_measurements import ONE


@pytest.fixture
def place(tmp_path):
    (tmp_path / "m.mlir").write_text(PRODUCT)
    (tmp_path / "tuned").mkdir()
    scheduled().write(tmp_path / "tuned")
    return tmp_path


def run(place, *arguments):
    """(exit code, standard output, standard error)"""
    streams = Streams(io.StringIO(), io.StringIO(), io.StringIO(), place)
    return main(arguments, streams), streams.stdout.getvalue(), streams.stderr.getvalue()


@pytest.mark.parametrize(
    "arguments, message",
    [
        (["tune", "m.mlir"], "tune takes one of -o FOLDER, --replay FOLDER, --explain FOLDER"),
        (["tune", "-o", "a"], "tune -o needs a model"),
        (["tune", "--prune", "tuned"], "tune --prune needs a model"),
        (["tune", "m.mlir", "--prune", "tuned", "-o", "a"], "tune takes one of"),
        (["tune", "m.mlir", "--merge", "tuned", "-o", "a"], "tune --merge takes no model"),
        (["tune", "--merge", "tuned"], "tune takes one of"),
        (["tune", "--merge", "none", "-o", "a"], "cannot read"),
        (["tune", "--export", "none", "-o", "a.json"], "there is no folder"),
        (["tune", "m.mlir", "--replay", "a", "--curve", "c.csv"], "--curve needs a search"),
        (["tune", "m.mlir", "-o", "a", "--curve", "no/c.csv"], "c.csv': there is no folder"),
        (["tune", "m.mlir", "-o", "a", "--drop", "kernels"], "--drop needs --prune"),
        (["tune", "--measurements", "a.csv"], "NNC_MEASUREMENTS is 'off'"),
        (["tune", "m.mlir", "-o", "a", "--replay", "b"], "tune takes one of"),
        (["tune", "m.mlir", "-o", "a", "--seconds", "0"], "--seconds is above 0, not 0"),
        (["tune", "m.mlir", "-o", "a", "--trials", "0"], "--trials is at least 1, not 0"),
        (["tune", "m.mlir", "-o", "no/a"], "there is no folder"),
        (["tune", "m.mlir", "--replay", "none"], "there is no folder"),
        (["run", "m.mlir", "--tuned", "none"], "there is no folder"),
        (["bench", "m.mlir", "--tuned-anywhere"], "--tuned-anywhere needs --tuned"),
        (["compile", "m.mlir", "-o", "m.o", "--tuned", "none"], "there is no folder"),
    ],
)
def test_what_cannot_be_is_said_at_once(place, arguments, message):
    status, _, said = run(place, *arguments)
    assert status == 1 and message in said and len(said.strip().splitlines()) == 1


def test_a_damaged_folder_is_said_before_anything_is_measured(place):
    (place / "tuned" / "bad.mlir").write_text("module {")
    status, _, said = run(place, "tune", "m.mlir", "-o", "tuned", "-q")
    assert status == 1 and "bad.mlir:1:" in said


def test_explain_shows_what_differs_from_the_default(place):
    status, said, _ = run(place, "tune", "m.mlir", "--explain", "tuned", "-q")
    assert status == 0
    first, *lines = said.splitlines()
    assert "10.0% faster, +- 1.0%; x = 1" in first
    assert any(line.startswith("  -") for line in lines)
    assert any(line.startswith("  +") for line in lines)


def test_replay_gives_the_same_code_as_compile(place):
    """The object that --replay makes a digest of is the one that `nnc compile` writes."""
    from hashlib import sha256

    status, said, _ = run(place, "tune", "m.mlir", "--replay", "tuned", "-q")
    assert status == 0
    objects = []
    for options in (["--tuned", "tuned"], ["--tuned", "tuned"], []):
        assert run(place, "compile", "m.mlir", "-o", "m.o", *options)[0] == 0
        objects.append((place / "m.o").read_bytes())
    assert objects[0] == objects[1] != objects[2]
    again = run(place, "tune", "m.mlir", "--replay", "tuned", "-q")[1]
    assert again == said and len(said.split()[0]) == len(sha256().hexdigest())


def test_compile_says_how_many_kernels_have_a_tuned_schedule(place):
    status, _, said = run(place, "compile", "m.mlir", "-o", "m.o", "--tuned", "tuned")
    assert status == 0 and "tuned: 1 of 1 kernels have a tuned schedule" in said


# -- without a search ------------------------------------------------------------------------------


@pytest.fixture
def measured(place, monkeypatch):
    """A place with a log of measurements."""
    monkeypatch.setenv("NNC_MEASUREMENTS", str(place / "log.jsonl"))
    Log(place / "log.jsonl").append([ONE])
    return place


def test_a_search_leaves_measurements_that_the_next_one_learns_from(monkeypatch, measured):
    """And a table of them: the ratio that was measured beside the one that was expected."""
    made_up(monkeypatch, [0.8, 0.8])
    assert run(measured, "tune", "m.mlir", "-o", "new", "--trials", "1", "-q")[0] == 0
    status, said, _ = run(measured, "tune", "--measurements", "all.csv")
    assert status == 0 and "2 measurements of 2 kernels" in said
    _, row = csv.DictReader((measured / "all.csv").open())
    (written,) = TunedFolder(measured / "new").read().values()
    assert (row["kernel"], row["told"], row["machine"]) == (
        written.kernel,
        written.told,
        written.machine,
    )
    assert float(row["ratio"]) == 0.8 and float(row["default"]) > 0
    assert float(row["kernel.points"]) == pytest.approx(log2(1 + 8 * 24 * 40), abs=1e-3)
    assert row["threads"] == "1" and row["nnc"] == VERSION


def test_a_search_writes_what_was_saved_by_when(monkeypatch, place):
    """Screened, measured again, which counts; then what the comparison of the whole says."""
    made_up(monkeypatch, [0.7, 0.8, 0.9])
    given = ["tune", "m.mlir", "-o", "new", "--trials", "2", "--curve", "curve.csv", "-q"]
    assert run(place, *given)[0] == 0
    rows = list(csv.DictReader((place / "curve.csv").open()))
    assert [(row["measured"], float(row["gain"])) for row in rows] == [
        ("search", 0.0),
        ("search", pytest.approx(0.2)),
        ("whole", pytest.approx(0.1)),
    ]
    seconds = [float(row["seconds"]) for row in rows]
    assert seconds == sorted(seconds)


def kept(median):
    return Ratio(median, median - 0.02, median + 0.02) if median is not None else None


@pytest.mark.parametrize(
    "choices, schedules, median, spread",
    [
        (0.9, 0.8, 0.72, (0.92 * 0.82 - 0.88 * 0.78) / 2),
        (0.9, None, 0.9, 0.02),
        (None, 0.8, 0.8, 0.02),
        (None, None, None, None),
    ],
)
@pytest.mark.parametrize("searched", [0.95, None])
def test_the_total_is_of_choices_and_schedules(choices, schedules, median, spread, searched):
    """Schedules that were compared and not kept do not count."""
    graph = GraphFound(whole=kept(choices))
    files = {"kernel": scheduled()} if schedules is not None else {}
    whole = kept(schedules if schedules is not None else searched)
    total = Tuned(files, whole, "", (), 1, graph).total
    assert (total is None) == (median is None)
    if total is not None:
        assert (total.median, total.spread) == pytest.approx((median, spread))


@pytest.mark.parametrize("what", ["read", "written"])
def test_a_log_that_cannot_be_used_costs_the_log_only(monkeypatch, place, what):
    (place / "file").write_text("")
    path = place if what == "read" else place / "file" / "log"
    monkeypatch.setenv("NNC_MEASUREMENTS", str(path))
    if what == "written":
        monkeypatch.setattr(Log, "read", lambda self: [])
    made_up(monkeypatch, [0.8, 0.7, 0.7])
    status, _, said = run(place, "tune", "m.mlir", "-o", "new", "--trials", "2", "-q")
    assert status == 0 and said.count("what is measured is not kept") == 1
    assert len(list((place / "new").iterdir())) == 1


def test_folders_are_sent_and_merged(measured):
    assert run(measured, "tune", "--export", "tuned", "-o", "out.json")[0] == 0
    (measured / "log.jsonl").unlink()
    status, said, _ = run(measured, "tune", "--merge", "out.json", "-o", "again")
    assert status == 0
    assert "1 schedules and choices of" in said and "1 measurements were added" in said
    ours, theirs = (next(iter((measured / name).iterdir())) for name in ("tuned", "again"))
    assert ours.read_bytes() == theirs.read_bytes() and ours.name == theirs.name
    assert "0 schedules" in run(measured, "tune", "--merge", "tuned", "-o", "again")[1]


def test_a_folder_is_pruned_for_a_model(place):
    replace(scheduled(), machine="'avr'").write(place / "tuned")
    options = ["--prune", "tuned", "--drop", "machines", "--drop", "kernels"]
    status, said, _ = run(place, "tune", "m.mlir", *options, "-q")
    assert status == 0 and "it is for 'avr'" in said
    assert "1 files removed, 1 left" in said
    assert len(list((place / "tuned").iterdir())) == 1


def test_explain_says_what_does_not_hold_any_more(place):
    replace(scheduled(), version="0.0.9", threads=2).write(place / "tuned")
    _, said, _ = run(place, "tune", "m.mlir", "--explain", "tuned", "-q")
    assert f"measured with nnc 0.0.9, this is {VERSION}: to be measured again" in said
    assert "measured with 2 threads" in said
    assert "the default has changed since it was compared with it" in said
    (place / "elsewhere").mkdir()
    replace(scheduled(), machine="'avr'").write(place / "elsewhere")
    _, said, _ = run(place, "tune", "m.mlir", "--explain", "elsewhere", "-q")
    assert "measured on 'avr'; this is " in said and "only with --tuned-anywhere" in said
    assert "has changed" not in said


@pytest.mark.thorough
def test_replay_is_the_same_in_any_process(place):
    """Bit for bit, whatever the order of sets and the hashes of strings are in a process."""
    found = []
    for seed in ("1", "2"):
        start = [sys.executable, "-c", "from nnc.tools.start import nnc; nnc()"]
        done = subprocess.run(
            [*start, "tune", "m.mlir", "--replay", "tuned", "-q"],
            cwd=place,
            env={**os.environ, "PYTHONHASHSEED": seed, "NNC_CALIBRATION": "off"},
            capture_output=True,
            text=True,
            check=True,
        )
        found.append(done.stdout)
    assert found[0] == found[1] and len(found[0].split()[0]) == 64
