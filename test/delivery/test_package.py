"""`nnc package`: what is in a package, whether its figures are right, and its commands repeat them."""

from __future__ import annotations

import io
import json
import os
import shlex
import subprocess
import sys
import zipfile
from pathlib import Path

import numpy as np
import onnx
import onnx.parser
import pytest
from nnc.delivery import package as packaging
from nnc.delivery.engines import table
from nnc.delivery.precision import in_precision
from nnc.targets.base import target
from nnc.tools import nnc as nnc_tool
from nnc.tools.command import Streams
from onnx.reference import ReferenceEvaluator

from .fakes import fake

TEXT = """<ir_version: 8, opset_import: ["" : 17]>
g (float[2,3] x, int64[2] i) => (float[4,5] y, int64[4] best)
<float[3,5] w = {1, -2, 3, 0.5, 1, 2, 2, -1, 0.25, 1, -3, 1, 1, 4, 0.125}>
{
   picked = Gather(x, i)
   both = Concat<axis: int = 0>(x, picked)
   m = MatMul(both, w)
   y = Softmax<axis: int = -1>(m)
   best = ArgMax<axis: int = 1, keepdims: int = 0>(y)
}"""


def run(folder: Path, *arguments: object) -> tuple[int, str, str]:
    """(exit code, standard output, standard error) of `nnc`."""
    streams = Streams(io.StringIO(), io.StringIO(), io.StringIO(), folder)
    code = nnc_tool.main([str(one) for one in arguments], streams)
    return code, streams.stdout.getvalue(), streams.stderr.getvalue()


@pytest.fixture(scope="module")
def home(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("home")
    onnx.save(onnx.parser.parse_model(TEXT), folder / "two words.onnx")
    (folder / "text.onnx").write_bytes((folder / "two words.onnx").read_bytes())
    return folder


QUICK = ("--seconds-each", "0.05", "--limit", "100")


@pytest.fixture(scope="module")
def made(home: Path) -> tuple[Path, str]:
    """The folder of an unpacked package of two engines, and the lines of its progress."""
    code, _, said = run(
        *(home, "package", "two words.onnx", "-o", "made.zip", "--engines", "nnc,onnxruntime"),
        *(*QUICK, "--progress-json", "--seed", "3"),
    )
    assert code == 0, said
    with zipfile.ZipFile(home / "made.zip") as archive:
        assert not [name for name in archive.namelist() if "__pycache__" in name]
        archive.extractall(home)
    return home / "made", said


def test_figures_of_the_report(made: tuple[Path, str]) -> None:
    """Accuracy beside ONNX's reference implementation in float64; what a figure has to be."""
    report = json.loads((made[0] / "report.json").read_text())
    assert report["schema"] == 1 and report["measured"] and report["seed"] == 3
    assert report["reference"]["engine"] == "onnxruntime"
    ours, theirs = report["engines"]
    assert (ours["name"], theirs["name"]) == ("nnc", "onnxruntime")
    inputs = dict(np.load(made[0] / "inputs.npz"))
    y, best = ReferenceEvaluator(onnx.parser.parse_model(TEXT)).run(None, inputs)
    outputs = dict(np.load(made[0] / "outputs.npz"))
    np.testing.assert_allclose(outputs["y"], y, rtol=1e-5)
    np.testing.assert_array_equal(outputs["best"], best)
    for row in (ours, theirs):
        assert row["within_tolerance"] is True and row["failed"] is None
        assert row["error_max_rel"] < 1e-5 and row["cosine"] > 0.99999
        assert row["runs"] >= 4 and row["median_ms"] > 0 and row["spread_ms"] >= 0
        assert 0 < row["throughput_per_s"] < 1.2e3 / row["median_ms"] * 2
        assert row["load_ms"] > 0 and row["peak_bytes"] > 1e6 and row["size_bytes"] > 0
    assert ours["compile_ms"] > 0 and theirs["compile_ms"] is None
    assert ours["size_bytes"] < 1e6 < theirs["size_bytes"]
    assert report["recommendation"]["engine"] == min(
        report["engines"], key=lambda row: row["median_ms"]
    )["name"]  # fmt: skip
    (file,) = report["model"]["files"]
    assert file["bytes"] == len((made[0].parent / "text.onnx").read_bytes())


def test_the_library_gives_the_outputs(made: tuple[Path, str]) -> None:
    """By the bindings for Python, in a process that has no nnc."""
    inputs, outputs = (dict(np.load(made[0] / f"{n}.npz")) for n in ("inputs", "outputs"))
    code = (
        "import sys, numpy as np; sys.path.insert(0, 'library/python')\n"
        "from two_words import Model\n"
        "inputs = dict(np.load('inputs.npz'))\n"
        "with Model(threads=1) as model: np.savez('found.npz', **model.run(inputs))\n"
    )
    environment = {k: v for k, v in os.environ.items() if k != "PYTHONPATH"}
    subprocess.run([sys.executable, "-c", code], cwd=made[0], check=True, env=environment)
    found = dict(np.load(made[0] / "found.npz"))
    assert set(inputs) == {"x", "i"}
    for name, want in outputs.items():
        np.testing.assert_array_equal(found[name], want)


@pytest.mark.thorough
def test_commands_of_the_readme_repeat(made: tuple[Path, str]) -> None:
    """Each line is run by a shell in the package's folder, with the model in it."""
    folder = made[0]
    (folder / "two words.onnx").write_bytes((folder.parent / "two words.onnx").read_bytes())
    report = json.loads((folder / "report.json").read_text())
    lines = [line.strip() for line in (folder / "README.md").read_text().splitlines()]
    commands = [line for line in lines if line.startswith("nnc package")]
    assert commands == [row["command"] for row in report["engines"]]
    for command, row in zip(commands, report["engines"], strict=True):
        code, told, said = run(folder, *shlex.split(command)[1:], "--json")
        assert code == 0, said
        (again,) = json.loads(told)["engines"]
        same = (
            "name",
            "threads",
            "error_max_abs",
            "error_max_rel",
            "cosine",
            "equal",
            "size_bytes",
        )
        assert {key: again[key] for key in same} == {key: row[key] for key in same}
    (compiles,) = [line for line in lines if line.startswith("nnc compile")]
    library = folder / report["library"]["file"]
    before = library.read_bytes()
    code, _, said = run(folder, *shlex.split(compiles)[1:])
    assert code == 0 and library.read_bytes() == before, said


def test_files_and_page(made: tuple[Path, str]) -> None:
    folder = made[0]
    report = json.loads((folder / "report.json").read_text())
    for name in ("README.md", "report.html", "why.txt", "LICENSE-nnc.txt", "library/c/README.md"):
        assert (folder / name).stat().st_size > 100, name
    assert set(report["library"]["files"]) >= {
        "library/python/README.md",
        report["library"]["file"],
    }
    assert "Apache License" in (folder / "LICENSE-nnc.txt").read_text()
    page = (folder / "report.html").read_text()
    assert "<script" not in page and "default-src 'none'" in page and page.count("<svg") == 3
    assert "http" not in page.replace("http-equiv", "").replace("https://", "")
    for row in report["engines"]:
        assert row["title"] in page


def test_progress_for_programs(made: tuple[Path, str]) -> None:
    found = [json.loads(line) for line in made[1].splitlines()]
    assert all(set(one) == {"step", "done", "text"} for one in found)
    steps = list(dict.fromkeys(one["step"] for one in found))
    assert steps == ["read", "compile", "reference", "measure", "explain", "write"]
    done = [one["done"] for one in found]
    assert done == sorted(done) and done[0] >= 0 and done[-1] <= 1


@pytest.fixture
def fakes(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    """Two engines of ONNX's files that nobody has, and the original's, which doubles `x`."""
    engines = [fake(tmp_path, name) for name in ("right", "wrong", "dead")]
    monkeypatch.setattr(table, "ENGINES", engines)


SMALL = '<ir_version: 8, opset_import: ["" : 17]> g (float[2] x) => (float[2] y) { y = Add(x, x) }'


@pytest.mark.usefixtures("fakes")
def test_a_wrong_engine_is_not_recommended(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    """Of three engines one is faster but wrong, one dies; nnc's interpreter is the reference."""
    onnx.save(onnx.parser.parse_model(SMALL), tmp_path / "m<b>.onnx")
    options = {
        "right": {"times": [0.008]},
        "wrong": {"times": [0.002], "factor": 3},
        "dead": {"times": [0.001], "broken": "crash", "at": 4},
    }
    monkeypatch.setattr(
        packaging.Study, "_options", lambda self, engine, plain=False: options.get(engine.name, {})
    )
    code, told, said = run(
        *(tmp_path, "package", "m<b>.onnx", "--only-measure", "--json", *QUICK, "-q")
    )
    assert code == 0, said
    report = json.loads(told)
    assert report["reference"]["engine"] == "interpreter"
    right, wrong, dead = report["engines"]
    assert right["error_max_abs"] == 0 and right["within_tolerance"] is True
    x = np.random.default_rng(0).standard_normal(2, dtype=np.float32)
    assert wrong["error_max_abs"] == pytest.approx(np.abs(x).max())
    assert wrong["error_max_rel"] == pytest.approx(0.5) and wrong["within_tolerance"] is False
    assert dead["failed"] == "the process ended by SIGSEGV" and dead["median_ms"] is None
    assert right["median_ms"] == pytest.approx(8, rel=1e-3)
    advice = report["recommendation"]
    assert (
        advice["engine"] == "right" and "RIGHT on 1 thread is the fastest: 8 ms" in advice["text"]
    )
    assert "WRONG on 1 thread takes 2 ms, but its outputs are not within 0.001" in advice["text"]


@pytest.mark.sampled(2)
@pytest.mark.parametrize("name", ["hls", "riscv64"])
def test_a_target_that_does_not_run_here(home: Path, name: str) -> None:
    if name == os.uname().machine:
        pytest.skip("it runs here")
    code, told, said = run(home, "package", "text.onnx", "-o", name, "--target", name, "-q")
    assert code == 0, said
    report = json.loads((home / name / "report.json").read_text())
    assert not report["measured"] and report["engines"] == []
    assert report["recommendation"]["engine"] is None and "Nothing was measured here" in told
    assert "No figures" in (home / name / "report.html").read_text()
    assert report["library"]["file"] == {"hls": "library/text.cpp"}.get(name, "library/libtext.so")
    assert (home / name / report["library"]["file"]).stat().st_size > 1000
    inputs = dict(np.load(home / name / "inputs.npz"))
    y, _ = ReferenceEvaluator(onnx.parser.parse_model(TEXT)).run(None, inputs)
    np.testing.assert_allclose(np.load(home / name / "outputs.npz")["y"], y, rtol=1e-5)


@pytest.mark.parametrize(
    "arguments, message",
    [
        ([], "package takes one of -o PACKAGE and --only-measure"),
        (["-o", "p.zip", "--only-measure"], "package takes one of -o PACKAGE and --only-measure"),
        (["-o", "p.zip", "--json"], "--json needs --only-measure"),
        (["-o", "no/p.zip"], "there is no folder"),
        (["-o", "."], "the folder is not empty"),
        (["-o", "two words.onnx"], "it is a file; an archive ends in .zip"),
        (["-o", "p.zip", "--engines", "magic"], "no engine is called 'magic'; there are nnc,"),
        (["-o", "p.zip", "--threads", "1", "0"], "--threads is at least 1, not 0"),
        (["-o", "p.zip", "--seconds-each", "nan"], "--seconds-each is above 0, not nan"),
        (["-o", "p.zip", "--tune", "-1"], "--tune is at least 0, not -1"),
        (["-o", "p.zip", "--precision", "f8"], "invalid choice: 'f8'"),
        (["-o", "p.zip", "--prefix", "3x"], "--prefix is the start of C names"),
        (["-o", "p.zip", "--tuned", "none"], "there is no folder"),
        (["-o", "p.zip", "--inputs", "none.npz"], "cannot read"),
        (["-o", "p.zip", "--inputs", "text.onnx"], "not a readable array file"),
        (
            ["-o", "p.zip", "--inputs", "other.npz"],
            "there is no input 'z'; the inputs are 'x', 'i'",
        ),
        (["-o", "p.zip", "--inputs", "shape.npz"], "but the array given is [3, 3]"),
        (["-o", "p.zip", "--inputs", "type.npz"], "but the array given is of int64"),
        (["-o", "p.zip", "--target", "wasm32", "--bindings", "go"], "bindings"),
    ],
)
def test_what_cannot_be_is_said_at_once(home: Path, arguments: list[str], message: str) -> None:
    np.savez(home / "other.npz", z=np.zeros(2))
    np.savez(home / "shape.npz", x=np.zeros((3, 3), np.float32))
    np.savez(home / "type.npz", x=np.zeros((2, 3), np.int64))
    before = sorted(path.name for path in home.iterdir())
    code, _, said = run(home, "package", "text.onnx", *arguments, "-q")
    assert code == 1 and message in said and said.count("\n") <= 2, said
    assert sorted(path.name for path in home.iterdir()) == before


def test_open_shapes_and_other_formats(tmp_path: Path) -> None:
    text = SMALL.replace("float[2] x", "float[n] x").replace("float[2] y", "float[n] y")
    onnx.save(onnx.parser.parse_model(text), tmp_path / "open.onnx")
    code, _, said = run(tmp_path, "package", "open.onnx", "-o", "p.zip", "-q")
    assert code == 1 and "give its shape with --shape x=" in said
    words = onnx.parser.parse_model(
        """<ir_version: 10, opset_import: ["" : 20]> g (string[2] s) => (string[2] t)
        { t = StringConcat(s, s) }"""
    )
    onnx.save(words, tmp_path / "words.onnx")
    code, _, said = run(tmp_path, "package", "words.onnx", "-o", "p.zip", "-q")
    assert code == 1 and "models whose inputs are tensors of numbers are packaged" in said
    (tmp_path / "words.onnx").unlink()
    (tmp_path / "m.mlir").write_text(
        "func.func @main(%x: tensor<2xf32>) -> tensor<2xf32> { func.return %x : tensor<2xf32> }"
    )
    code, _, said = run(tmp_path, "package", "m.mlir", "-o", "p.zip", "--precision", "f16", "-q")
    assert code == 1 and "--precision f16 is for ONNX models" in said
    assert sorted(path.name for path in tmp_path.iterdir()) == ["m.mlir", "open.onnx"]


@pytest.mark.parametrize("output", ["p.zip", "p"])
def test_a_full_disk_leaves_nothing(
    home: Path, output: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    def full(*_: object) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(packaging._Work, "measure", lambda self: None)
    monkeypatch.setattr(packaging._Work, "explain", lambda self: None)
    monkeypatch.setattr(packaging._Work, "compile", lambda self, to_ship: None)
    monkeypatch.setattr(packaging._Work, "save_outputs", full)
    before = sorted(path.name for path in home.iterdir())
    code, _, said = run(home, "package", "text.onnx", "-o", output, "-q")
    assert code == 1 and "No space left on device" in said and "cannot write" in said
    assert sorted(path.name for path in home.iterdir()) == before


def test_names_are_text_on_the_page(made: tuple[Path, str]) -> None:
    from nnc.delivery.page import html_page, readme

    hostile = '<script>alert(1)</script>"onload=x `|*'
    report = json.loads((made[0] / "report.json").read_text())
    report["notes"] = [hostile]
    report["model"]["name"] = report["engines"][0]["title"] = hostile
    report["engines"][1]["failed"] = report["recommendation"]["text"] = hostile
    page = html_page(report)
    assert "<script" not in page and "&lt;script&gt;" in page and '"onload' not in page
    text = readme(report, [])
    assert "<script" not in text.replace("\\<script", "")


@pytest.mark.parametrize("name", ["hls", "c-cortex-m7"])
def test_code_that_runs_here_for_something_else_is_not_timed(name: str) -> None:
    """A C compiler of this machine takes both, whose times are those of something else."""
    assert target(name).not_timed()


@pytest.mark.parametrize("precision, dtype", [("f16", "float16"), ("bf16", "bfloat16")])
def test_other_floats_stand_for_f32(tmp_path: Path, precision: str, dtype: str) -> None:
    """Weights are rounded once, to the nearest; integers stay."""
    path = tmp_path / "m.onnx"
    onnx.save(onnx.parser.parse_model(TEXT.replace("0.125", "0.1")), path)
    made = onnx.load(in_precision(path, precision, tmp_path, []))
    weights = onnx.numpy_helper.to_array(made.graph.initializer[0])
    assert weights.dtype == dtype and float(weights[2, 4]) != 0.1
    assert abs(float(weights[2, 4]) - 0.1) < 0.1 * 2.0 ** (-8 if precision == "bf16" else -11)
    types = {one.name: one.type.tensor_type.elem_type for one in made.graph.input}
    assert types["i"] == onnx.TensorProto.INT64 and types["x"] != onnx.TensorProto.FLOAT
