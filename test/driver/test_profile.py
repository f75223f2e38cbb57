"""nnc profile: kernels counted and timed, in a table, a page and a trace."""

import json
import re
import xml.etree.ElementTree as ElementTree
from dataclasses import replace
from pathlib import Path

import nnc
import numpy as np
import onnx
import pytest
from nnc.dialects import func
from nnc.driver.compile import compile_model, load_module, mark_entry, run_stages
from nnc.driver.explaining.explain import roofline
from nnc.driver.profiling import peaks as peaks_module
from nnc.driver.profiling.collect import Profile, Run, Spread, measure, node_names, profile_model
from nnc.driver.profiling.page import html_page
from nnc.driver.profiling.peaks import Level, Peaks, measure_peaks
from nnc.driver.profiling.report import EXCESS, chrome_trace, summary, table
from nnc.ir.location import UNKNOWN, FileLineColLoc, FusedLoc, NameLoc
from nnc.ir.passes import PassContext, PassManager
from nnc.kernels.kernel_costs import Cost, kernel_cost
from nnc.lowering.pipelines import pipeline
from nnc.memory.instrument_kernels import INNER, TIMES
from nnc.targets.attribute import target_of
from nnc.tools.nnc import main

from ..models.small_models import small_cnn

PRODUCT = """
func.func @main(%x: tensor<4x8xf32>, %w: tensor<8x16xf32>) -> tensor<4x16xf32> {
  %0 = nn.matmul %x, %w : (tensor<4x8xf32>, tensor<8x16xf32>) -> tensor<4x16xf32>
  %1 = nn.relu %0 : (tensor<4x16xf32>) -> tensor<4x16xf32>
  return %1 : tensor<4x16xf32>
}
"""


@pytest.mark.thorough
def test_instrumented_results_are_the_same():
    x = np.random.default_rng(0).standard_normal((1, 3, 35, 37)).astype(np.float32)
    module = load_module(small_cnn())
    run_stages(module, last="bufferize")
    PassManager(pipeline("builtin.module(instrument-kernels)"), PassContext(), (), True).run(module)
    outputs = compile_model(module).run({"x": x})
    times = outputs.pop(TIMES)
    assert times.dtype == np.int64 and np.all(np.diff(times) >= 0)
    (found,) = outputs.values()
    np.testing.assert_array_equal(found, nnc.compile(small_cnn())(x))


def test_costs():
    module = nnc.parse(PRODUCT)
    mark_entry(module)
    run_stages(module, last="bufferize")
    (kernel,) = [
        f for f in module.body_block if isinstance(f, func.FuncOp) and "nn.kernel" in f.attributes
    ]
    # 4 x 16 x 8 products and sums, and one maximum for each element of the result.
    assert kernel_cost(kernel) == Cost(2 * 4 * 16 * 8 + 4 * 16, 4 * (4 * 8 + 8 * 16 + 4 * 16))


@pytest.mark.parametrize(("machine", "speed"), [("", 1), ("tiles = {tile_registers = 8}", 16)])
def test_products_of_bytes_count_as_multiply_adds(machine, speed):
    """x86-64-v4 does 16 multiply-adds in a cycle, a product of 16x16x16 words takes 16 cycles."""
    module = nnc.parse(f"""
      module attributes {{nnc.target = {{name = "x86-64-v4", machine = {{{machine}}}}}}} {{
        func.func @main(%a: tensor<4x8xi32>, %b: tensor<2x8x16xi32>) -> tensor<4x2x16xi32> {{
          %c = nn.packed_matmul %a, %b {{packing = "u8s8"}}
            : (tensor<4x8xi32>, tensor<2x8x16xi32>) -> tensor<4x2x16xi32>
          return %c : tensor<4x2x16xi32>
        }}
      }}""")
    mark_entry(module)
    run_stages(module, last="bufferize")
    (kernel,) = [
        f for f in module.body_block if isinstance(f, func.FuncOp) and "nn.kernel" in f.attributes
    ]
    words = 4 * 2 * 16 * 8
    cost = kernel_cost(kernel)
    assert (cost.operations, cost.in_words) == (2 * words, 2 * words)
    target = target_of(module).machine
    bound = roofline(kernel, replace(target, memory_bandwidth=1e9, l2_bandwidth=1e9), 1)
    cycles = bound.microseconds * target.cycles_per_microsecond
    assert cycles == pytest.approx(words / (16 * speed))


def test_profile_names_the_nodes_of_the_model():
    module = load_module(small_cnn())
    x = np.zeros((1, 3, 35, 37), np.float32)
    profile = profile_model("small", module, lambda executable: {"x": x}, runs=3)
    named = {node for kernel in profile.kernels for node in kernel.nodes}
    expected = {f"{n.name} ({n.op_type})" for n in small_cnn().graph.node}
    # Batch norms are folded into convolutions, Flatten is a view.
    assert {n for n in expected if "BatchNorm" not in n and "Flatten" not in n} <= named
    assert all(k.median > 0 for k in profile.kernels)
    starts = [k.start for k in profile.kernels]
    assert starts == sorted(starts) and starts[0] == 0


MS = 1_000_000
LEVELS = (Level("L2", 1000.0, 200.0), Level("memory", float("inf"), 50.0))
# Kernel, kernel, outside. Every run but the first is disturbed, each at another place.
MEASURED = [(10, 20, 1), (60, 20, 1), (10, 70, 1), (10, 20, 41), (10, 20, 2)]


def disturbed() -> Profile:
    """Five runs of 31, 81, 81, 71 and 32 ms: their median is 71, though that of each kernel and
    of what is outside of them is that of an undisturbed run."""
    runs = [
        Run((a + b + rest) * MS, (i * MS, (i + a) * MS, (i + a + b) * MS))
        for i, (a, b, rest) in enumerate(MEASURED)
    ]
    calls = [
        ("first", ("n",), Cost(10 * MS, 5 * MS), 8.0 * MS),
        ("second", (), Cost(None, None), None),
    ]
    return Profile.of("model", 1, calls, runs, Peaks(100.0, LEVELS))


def test_what_is_outside_of_kernels_is_measured_run_by_run():
    profile = disturbed()
    assert profile.whole.median == 71 * MS
    assert [k.median for k in profile.kernels] == [10 * MS, 20 * MS]
    # Not 71 - 10 - 20: no run had 41 ms outside of its kernels, but one.
    assert profile.outside.median == 1 * MS
    assert [run.outside for run in profile.runs] == [rest * MS for *_, rest in MEASURED]


def test_what_varies_is_shown_as_variation():
    profile = disturbed()
    for spread, samples in [
        (profile.outside, [rest for *_, rest in MEASURED]),
        (profile.whole, [sum(run) for run in MEASURED]),
        *((k.time, [run[i] for run in MEASURED]) for i, k in enumerate(profile.kernels)),
    ]:
        expected = np.percentile(samples, [50, 10, 90]) * MS
        np.testing.assert_allclose([spread.median, spread.low, spread.high], expected)
    assert Spread.of([7]) == Spread(7, 7, 7)
    lines = list(table(profile))
    assert lines[0] == summary(profile)
    assert "71.000 ms a run (median of 5; 31.400 to 81.000 from the 10th to the 90th" in lines[0]
    assert [line.split()[:4] for line in lines[2:4]] == [
        ["20.000", "20.000", "50.000", "66.7%"],
        ["10.000", "10.000", "40.000", "33.3%"],
    ]
    assert "? " in lines[2] and " 8.000  first: n" in lines[3]
    assert lines[4].split()[:6] == ["1.000", "1.000", "25.400", "outside", "of", "kernels:"]
    assert lines[2].index("second") == lines[4].index("outside")
    page = html_page(profile)
    assert "<td>20.000</td><td>20.000 to 50.000</td><td>66.7%</td>" in page
    assert "<td>1.000</td><td>1.000 to 25.400</td>" in page
    assert EXCESS not in page
    assert "run 4: 71.000 ms, 41.000 of it outside of kernels" in page
    (first, _) = json.loads(chrome_trace(profile))["traceEvents"]
    assert (first["ts"], first["dur"]) == (0, 10_000)
    assert (first["args"]["10th percentile"], first["args"]["90th percentile"]) == (1e4, 4e4)


def test_the_first_runs_do_not_count():
    number = 0

    def run() -> Run:
        nonlocal number
        number += 1
        return Run(10 * number, (3, 10 * number - 2))

    assert measure(run, 2) == [Run(30, (3, 28)), Run(40, (3, 38))]
    number = 2
    assert [r.outside for r in measure(run, 1)] == [5]


@pytest.mark.thorough
def test_profile_tells_who_did_the_pieces():
    module = load_module(small_cnn())
    x = np.zeros((1, 3, 35, 37), np.float32)
    profile = profile_model("small", module, lambda executable: {"x": x}, threads=2, runs=3)
    for kernel in profile.kernels:
        # All pieces of a run, which are the same in each, or none: on the caller's thread.
        total = sum(kernel.pieces)
        assert kernel.pieces == () or (len(kernel.pieces) == 2 and abs(total - round(total)) < 1e-6)
        assert kernel.waited >= 0
    # Of two runs, at three moments: waited, pieces of the caller, of the worker.
    counts = [
        np.array([[5, 1, 1], [5, 1, 1], [1005, 13, 9]]),
        np.array([[0, 0, 0], [0, 0, 0], [2000, 12, 8]]),
    ]
    plain = [replace(kernel, pieces=(), waited=0.0) for kernel in profile.kernels[:2]]
    two = replace(profile, kernels=plain).with_pieces(counts)
    assert [(k.pieces, k.waited) for k in two.kernels] == [((), 0.0), ((12.0, 8.0), 1500.0)]
    _, heads, *lines = table(two)
    (line,) = [line for line in lines if "12+8" in line]
    assert line[: heads.index("pieces") + len("pieces")].endswith("  12+8")
    assert line[: heads.index("waited us") + len("waited us")].endswith("  1.5")
    assert "pieces by thread 12+8, waited 1.5 us" in html_page(two)


LOOP = """
func.func @main(%x: tensor<16x16xf32>, %n: tensor<i64>, %c: tensor<i1>) -> tensor<16x16xf32> {
  %zero = nn.constant dense<0> : tensor<i64>
  %one = nn.constant dense<1> : tensor<i64>
  %e = nn.exp %x : (tensor<16x16xf32>) -> tensor<16x16xf32>
  %i, %s = nn.while (%i = %zero, %s = %e) : (tensor<i64>, tensor<16x16xf32>)
      -> (tensor<i64>, tensor<16x16xf32>) {
    %go = nn.less %i, %n : (tensor<i64>, tensor<i64>) -> tensor<i1>
    nn.condition(%go)
  } do {
  ^bb0(%i: tensor<i64>, %s: tensor<16x16xf32>):
    %next = nn.add %i, %one : (tensor<i64>, tensor<i64>) -> tensor<i64>
    %p = nn.matmul %s, %x : (tensor<16x16xf32>, tensor<16x16xf32>) -> tensor<16x16xf32>
    %t = nn.if %c -> (tensor<16x16xf32>) {
      %0 = nn.sigmoid %p : (tensor<16x16xf32>) -> tensor<16x16xf32>
      nn.yield %0 : tensor<16x16xf32>
    } else {
      %0 = nn.tanh %p : (tensor<16x16xf32>) -> tensor<16x16xf32>
      nn.yield %0 : tensor<16x16xf32>
    }
    nn.yield %next, %t : tensor<i64>, tensor<16x16xf32>
  }
  return %s : tensor<16x16xf32>
}
"""


def test_kernels_in_loops_and_branches():
    """Each with the number of its calls; the loop has what is left."""
    module = nnc.parse(LOOP)
    mark_entry(module)
    x = np.random.default_rng(0).standard_normal((16, 16)).astype(np.float32)
    given = {"input0": x, "input1": np.array(7), "input2": np.array(True)}
    profile = profile_model("loop", module, lambda executable: given, runs=3)
    calls = {k.kernel.rpartition("_")[0] or k.kernel: k.inner_calls for k in profile.kernels}
    assert calls == {"exp": None, "loop": None, "less": 8, "add": 7, "matmul": 7, "sigmoid": 7}
    product = next(k for k in profile.kernels if k.kernel.startswith("matmul"))
    assert product.cost.operations == 7 * 2 * 16**3
    assert product.label.endswith(" x 7")
    # Of each run, the loop and what is in it are the loop's stamps.
    assert len(json.loads(chrome_trace(profile))["traceEvents"]) == 2
    page = html_page(profile)
    assert "sigmoid" in page and " x 7</td>" in page
    assert any(" x 7: " in line for line in table(profile))


def test_a_loop_with_a_clock_gives_the_same():
    module = nnc.parse(LOOP)
    mark_entry(module)
    x = np.random.default_rng(0).standard_normal((16, 16)).astype(np.float32)
    given = {"input0": x, "input1": np.array(3), "input2": np.array(False)}
    expected = compile_model(module.clone()).run(given)["output0"]
    run_stages(module, last="bufferize")
    PassManager(pipeline("builtin.module(instrument-kernels)"), PassContext(), (), True).run(module)
    outputs = compile_model(module).run(given)
    np.testing.assert_array_equal(outputs["output0"], expected)
    inner = outputs[INNER]
    assert sorted(inner[:, 1]) == [0, 3, 3, 3, 4]  # the other branch, body, condition
    assert (inner[inner[:, 1] == 0, 0] == 0).all() and (inner[:, 0] >= 0).all()
    assert inner[:, 0].sum() <= np.diff(outputs[TIMES])[1]


def test_bytes_are_judged_by_the_memory_that_holds_them():
    calls = [
        ("near", (), Cost(10, 1000), None),  # 1,000 bytes in 4 ns: 250 GB/s, from L2
        ("far", (), Cost(10, 4000), None),  # 4,000 in 100 ns: 40 GB/s
        ("many", (), Cost(10, None), None),
    ]
    profile = Profile.of("model", 1, calls, [Run(130, (0, 4, 104, 124))], Peaks(1.0, LEVELS))
    assert [profile.part_of_reading(k) for k in profile.kernels] == [
        (1.25, "L2"), (0.8, "memory"), None
    ]  # fmt: skip
    assert [profile.part_of_arithmetic(k) for k in profile.kernels] == [2.5, 0.1, 0.5]
    lines = list(table(profile))
    assert "125% L2" in lines[-3] and lines[-1] == EXCESS
    page = html_page(profile)
    assert "<td>80% memory</td>" in page and EXCESS in page and "L2, 200 GB/s" in page
    inner = replace(profile.kernels[1], inner_calls=4)
    assert profile.part_of_reading(inner) == (0.2, "L2")


@pytest.mark.thorough
def test_peaks_are_plausible_and_are_the_best_of_all_runs(tmp_path: Path, monkeypatch):
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    peaks = measure_peaks()
    assert 1 < peaks.gflops < 2000
    assert 0.5 < peaks.gigabytes < 2000
    assert [level.name for level in peaks.levels] == ["L1", "L2", "L3", "memory"]
    assert peaks.level(1).name == "L1" and peaks.level(1e12).name == "memory"
    # A machine that is disturbed from here on: a hundred times slower.
    quiet = peaks_module._best
    monkeypatch.setattr(peaks_module, "_best", lambda *given: 100 * quiet(*given))
    assert measure_peaks() == peaks
    (tmp_path / "nnc" / "peaks.json").write_text('{"x": 1, "y": {"L1": "fast"}')
    assert measure_peaks().gflops < peaks.gflops / 10  # what is damaged is as if not there


def test_command(tmp_path: Path, capsys: pytest.CaptureFixture[str]):
    model = tmp_path / "model.onnx"
    onnx.save(small_cnn(), model)
    page, trace = tmp_path / "p.html", tmp_path / "p.json"
    arguments = ["profile", str(model), "--runs", "2", "-q", "--all"]
    assert main([*arguments, "--html", str(page), "--trace", str(trace)]) == 0
    out = capsys.readouterr().out.removesuffix(f"{EXCESS}\n")
    assert "n_conv_0 (Conv), n_relu_2 (Relu)" in out
    assert "ms a run (median of 2; " in out and "), 1 thread(s)" in out
    events = json.loads(trace.read_text())["traceEvents"]
    assert all(e["ph"] == "X" and e["dur"] >= 0 for e in events)
    assert len(events) == len(out.splitlines()) - 3  # a summary, heads, and what is no kernel
    text = re.sub(r"<!doctype html>|<meta [^>]*>", "", page.read_text())
    root = ElementTree.fromstring(text)  # every element is closed
    assert len(list(root.iter("svg"))) == 3
    assert len(list(root.iter("tr"))) == len(events) + 3  # heads, outside of kernels, a run
    assert "http" not in text, "the page needs nothing from elsewhere"


@pytest.mark.thorough
def test_hostile_names_cannot_leave_their_place(tmp_path: Path):
    model = small_cnn()
    for node in model.graph.node:
        node.name = f"</title><script>{node.name}*/"
    file = tmp_path / "model.onnx"
    onnx.save(model, file)
    page = tmp_path / "p.html"
    assert main(["profile", str(file), "--runs", "1", "-q", "--html", str(page)]) == 0
    assert "<script>" not in page.read_text()


def test_bad_input(tmp_path: Path, capsys: pytest.CaptureFixture[str]):
    file = tmp_path / "model.onnx"
    onnx.save(small_cnn(), file)
    assert main(["profile", str(file), "--runs", "0"]) == 1
    assert "--runs is at least 1, not 0" in capsys.readouterr().err
    view = tmp_path / "view.mlir"
    view.write_text(
        "func.func @main(%x: tensor<2xf32>) -> tensor<2xf32> { return %x : tensor<2xf32> }"
    )
    assert main(["profile", str(view), "-q"]) == 1
    assert capsys.readouterr().err == "error: the model has no kernels to measure\n"


def test_node_names():
    a, b = NameLoc("a"), NameLoc("b", FileLineColLoc("f", 1, 1))
    assert node_names(FusedLoc((a, FusedLoc((b, a)), UNKNOWN))) == ("a", "b")
    assert node_names(FileLineColLoc("f", 1, 1)) == ()
