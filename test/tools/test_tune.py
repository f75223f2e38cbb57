"""nnc tune's command line: what is refused at once, --explain, --replay, and --tuned elsewhere."""

import io

import pytest
from nnc.tools.command import Streams
from nnc.tools.nnc import main

from ..driver.test_tuning import PRODUCT, scheduled


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
        (["tune", "m.mlir"], "tune takes one of -o FOLDER, --replay FOLDER and --explain FOLDER"),
        (["tune", "m.mlir", "-o", "a", "--replay", "b"], "tune takes one of"),
        (["tune", "m.mlir", "-o", "a", "--seconds", "0"], "--seconds is above 0, not 0"),
        (["tune", "m.mlir", "-o", "a", "--trials", "0"], "--trials is at least 1, not 0"),
        (["tune", "m.mlir", "-o", "no/a"], "there is no folder"),
        (["tune", "m.mlir", "--replay", "none"], "there is no folder"),
        (["run", "m.mlir", "--tuned", "none"], "there is no folder"),
        (["bench", "m.mlir", "--tuned-anywhere"], "says something of --tuned, which is missing"),
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
