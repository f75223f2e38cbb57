"""`nnc why` and the line after a compilation: what each says, as text and as JSON."""

import json
from dataclasses import replace
from pathlib import Path

import onnx
import pytest
from nnc.driver.compile import load_module, run_stages
from nnc.driver.explaining.changes import changes_of
from nnc.driver.explaining.explain import explain
from nnc.driver.explaining.summary import reason, summary
from nnc.ir.decisions import Alternative, Decision, Decisions, Terms
from nnc.ir.location import UNKNOWN
from nnc.ir.passes import PassContext
from nnc.ir.syntax.parser import parse_module
from nnc.passes.nn.choose_algorithms import algorithm
from nnc.passes.nn.work import ConvSizes
from nnc.targets.base import target
from nnc.tools.nnc import main

PRODUCT = """
func.func @main(%x: tensor<{n}x48xf32>, %w: tensor<48x32xf32>) -> tensor<{n}x32xf32> {
  %y = nn.matmul %x, %w : (tensor<{n}x48xf32>, tensor<48x32xf32>) -> tensor<{n}x32xf32> loc("product (MatMul)")
  %z = nn.softmax %y {axis = 1 : i64} : (tensor<{n}x32xf32>) -> tensor<{n}x32xf32> loc("rows (Softmax)")
  return %z : tensor<{n}x32xf32>
}
"""  # fmt: skip
NOTHING = "func.func @main(%x: tensor<4xf32>) -> tensor<4xf32> {\n  return %x : tensor<4xf32>\n}\n"
AVX512 = target("x86-64-v4").machine


def model_in(folder: Path, text: str = PRODUCT, n: str = "64") -> str:
    path = folder / "m.mlir"
    path.write_text(text.replace("{n}", n))
    return str(path)


def why(*arguments: str) -> int:
    return main(["why", "-q", "--target", "x86-64-v4", *arguments])


def test_an_overview_has_each_kernel(tmp_path, capsys):
    assert why(model_in(tmp_path)) == 0
    head, _, *rows, hint = capsys.readouterr().out.splitlines()
    assert "m.mlir for x86-64-v4: 2 kernels in 2 calls, 0 steps of the host, 0 bytes" in head
    assert any("matmul_0: product (MatMul)" in row for row in rows)
    assert any("softmax_0: rows (Softmax); schedule 'apart': exp" in row for row in rows)
    assert "--all" in hint


def test_a_node_is_named_as_the_model_or_the_kernel_is(tmp_path, capsys):
    model = model_in(tmp_path)
    said = []
    for name in ("rows", "rows (Softmax)", "softmax_0"):
        assert why(model, name) == 0
        said.append(capsys.readouterr().out)
    assert said[0] == said[1] == said[2]
    assert "softmax_0: rows (Softmax)" in said[0] and "matmul_0" not in said[0]
    for words in ("schedule\n", " taken, bound by ", " times as long", "at least ", " times that"):
        assert words in said[0], words


def test_an_unknown_node_is_one_error_with_near_names(tmp_path, capsys):
    assert why(model_in(tmp_path), "prodct") == 1
    said = capsys.readouterr()
    assert said.out == "" and said.err.count("\n") == 1
    assert "no node or kernel is called 'prodct'; near names are 'product'" in said.err


FOLDED = """
func.func @main(%x: tensor<2xf32>) -> tensor<2xf32> {
  %c = nn.constant dense<[-1.0, 2.0]> : tensor<2xf32>
  %r = nn.relu %c : (tensor<2xf32>) -> tensor<2xf32> loc("early (Relu)")
  %y = nn.add %x, %r : (tensor<2xf32>, tensor<2xf32>) -> tensor<2xf32> loc("late (Add)")
  return %y : tensor<2xf32>
}
"""


def test_a_node_that_is_gone_is_said_to_be(tmp_path, capsys):
    assert why(model_in(tmp_path, FOLDED), "early") == 1
    assert "no kernel came from node 'early': it was folded" in capsys.readouterr().err


def test_kernels_between_steps_of_the_host(tmp_path):
    value = onnx.helper.make_tensor_value_info
    graph = onnx.helper.make_graph(
        [
            onnx.helper.make_node("Exp", ["x"], ["e"], name="grow"),
            onnx.helper.make_node("SequenceConstruct", ["e", "x"], ["s"], name="both"),
        ],
        "g",
        [value("x", onnx.TensorProto.FLOAT, [4])],
        [onnx.helper.make_tensor_sequence_value_info("s", onnx.TensorProto.FLOAT, None)],
    )
    sets = [onnx.helper.make_opsetid("", 17)]
    path = tmp_path / "m.onnx"
    onnx.save(onnx.helper.make_model(graph, opset_imports=sets, ir_version=9), path)
    found = explain("m", load_module(str(path)), target="x86-64-v4", node="grow")
    assert [one.nodes for one in found.kernels] == [("grow (Exp)",)]
    assert found.host_steps == ("'nn.sequence_construct'",)


def test_json_has_the_same_numbers(tmp_path, capsys):
    assert why(model_in(tmp_path), "--json") == 0
    found = json.loads(capsys.readouterr().out)
    assert set(found) == {
        "model", "target", "kernels", "host_steps", "launches", "copied", "copying",
        "microseconds", "calls", "choices",
    }  # fmt: skip
    assert found["microseconds"] == pytest.approx(
        sum(one["calls"] * one["microseconds"] for one in found["kernels"])
    )
    assert not any(one["is_assumed"] or one["beside"] for one in found["kernels"])
    for kernel in found["kernels"]:
        assert sum(kernel["terms"].values()) == pytest.approx(kernel["microseconds"])
        assert kernel["terms"][kernel["bound"]] == max(kernel["terms"].values())
        assert kernel["roofline"]["microseconds"] <= kernel["microseconds"]
        (schedule,) = [one for one in kernel["choices"] if one["kind"] == "schedule"]
        options = {one["name"]: one for one in schedule["options"]}
        assert options[schedule["taken"]]["microseconds"] == kernel["microseconds"]
        assert all(bool(one["why_not"]) == (n != schedule["taken"]) for n, one in options.items())


def test_open_extents_have_a_time_and_no_roofline(tmp_path, capsys):
    assert why(model_in(tmp_path, n="?"), "rows") == 0
    said = capsys.readouterr().out
    assert "its roofline depends on extents that only a run tells" in said
    assert said.count("assumed of extents that only a run tells (--shape fixes them): 1,024") == 1
    assert why(model_in(tmp_path)) == 0
    assert "assumed" not in capsys.readouterr().out


def test_a_model_without_kernels(tmp_path, capsys):
    assert why(model_in(tmp_path, NOTHING)) == 0
    assert "0 kernels in 0 calls" in capsys.readouterr().out
    out = str(tmp_path / "m.ll")
    assert main(["compile", model_in(tmp_path, NOTHING), "-o", out]) == 0
    assert "expected" not in capsys.readouterr().err


@pytest.mark.parametrize("name", ["opencl", "hls"])
def test_devices_say_what_bounds_them(name, tmp_path):
    found = explain("m", load_module(model_in(tmp_path)), target=name)
    assert found.kernels and all(one.bound for one in found.kernels)
    if name == "opencl":
        assert found.launches == 2 and found.copied == 4 * (64 * 48 + 48 * 32 + 64 * 32)
        assert all(one.terms["launches"] > 0 for one in found.kernels)


def test_a_kernel_on_a_device_has_the_time_of_the_host_beside_it(tmp_path):
    found = explain("m", load_module(model_in(tmp_path)), target="opencl")
    for kernel in found.kernels:
        (place,) = [one for one in kernel.choices if one.kind == "place"]
        device, host = place.options
        assert place.taken == device.name == "opencl"
        assert device.microseconds == pytest.approx(kernel.microseconds)
        assert host.terms["copies"] > 0 and host.microseconds > host.terms["copies"]


def test_a_longer_launch_is_what_bounds(tmp_path):
    module = load_module(model_in(tmp_path))
    text = str(module).replace(
        "module {", 'module attributes {nnc.target = {name = "opencl", machine = '
        "{launch_microseconds = 5000.0}}} {", 1,
    )  # fmt: skip
    found = explain("m", parse_module(text))
    assert {one.bound for one in found.kernels} == {"launches"}


# -- what would change a decision --------------------------------------------------------------

CONVOLUTION = (ConvSizes(1, 64, 28, 28, 64, 1, 9.0 * 64 * 64 * 28 * 28, False),)


def test_the_least_change_of_a_number_that_changes_a_decision():
    """Transformed weights are 36 numbers for 9, so that slow memory is for smaller tiles."""
    deep = (ConvSizes(1, 512, 14, 14, 512, 1, 9.0 * 512 * 512 * 14 * 14, False),)
    decided = algorithm(AVX512, deep, UNKNOWN)
    assert decided.taken == "winograd 4x4"
    (less,) = [c for c in changes_of(decided, AVX512) if c.number == "memory_bandwidth"]
    assert less.factor < 1 and less.taken == "winograd 2x2"
    for factor, taken in ((less.factor, less.taken), (0.99, decided.taken)):
        machine = replace(AVX512, memory_bandwidth=AVX512.memory_bandwidth * factor)
        assert algorithm(machine, deep, UNKNOWN).taken == taken


def test_a_slower_cache_bounds_winograds_algorithm():
    for number, resource in (("l2_bandwidth", "l2"), ("l3_bandwidth", "l3")):
        slower = replace(AVX512, **{number: 0.5})
        found = algorithm(slower, CONVOLUTION, UNKNOWN).alternatives[2]
        assert found.terms is not None and found.terms.bound == resource


LOOP = """
func.func @main(%n: tensor<i64>, %x: tensor<256x256xf32>) -> tensor<256x256xf32> {
  %i0 = nn.constant dense<0> : tensor<i64>
  %one = nn.constant dense<1> : tensor<i64>
  %limit = nn.constant dense<200> : tensor<i64>
  %i, %y = nn.while (%i = %i0, %v = %x) : (tensor<i64>, tensor<256x256xf32>) -> (tensor<i64>, tensor<256x256xf32>) {
    %go = nn.less %i, %limit : (tensor<i64>, tensor<i64>) -> tensor<i1>
    nn.condition(%go)
  } do {
  ^bb0(%i: tensor<i64>, %v: tensor<256x256xf32>):
    %next = nn.add %i, %one : (tensor<i64>, tensor<i64>) -> tensor<i64>
    %w = nn.exp %v : (tensor<256x256xf32>) -> tensor<256x256xf32>
    nn.yield %next, %w : tensor<i64>, tensor<256x256xf32>
  }{count}
  return %y : tensor<256x256xf32>
}
"""  # fmt: skip


@pytest.mark.parametrize(("rows", "home"), [(64, {"l2"}), (1024, {"l3"}), (4096, {"memory"})])
def test_arguments_lie_where_the_last_run_left_them(tmp_path, rows, home):
    """8 KB a row, in caches of 1 and 16 MB."""
    text = (
        f"func.func @main(%x: tensor<{rows}x1024xf32>) -> tensor<{rows}x1024xf32> {{\n"
        f"  %y = nn.relu %x : (tensor<{rows}x1024xf32>) -> tensor<{rows}x1024xf32>\n"
        f"  return %y : tensor<{rows}x1024xf32>\n}}\n"
    )
    explained = explain("m", load_module(model_in(tmp_path, text)), target="x86-64-v4")
    (kernel,) = explained.kernels
    assert {"l2", "l3", "memory"} & kernel.terms.keys() == home
    machine = target("x86-64-v4").machine
    bandwidths = {"l2": 32.0, "l3": 12.0, "memory": 6.0}
    moved = rows * 8192 / bandwidths[kernel.bound] / machine.cycles_per_microsecond
    assert kernel.terms[kernel.bound] * kernel.cores == pytest.approx(moved)


@pytest.mark.parametrize(
    ("count", "calls", "said"),
    [
        (" count %limit", 200, "exp_0 x 200"),
        (" count %n", 1024, "exp_0 x 1,024 (assumed)"),
        ("", 64, "exp_0 x 64 (assumed)"),
    ],
)
def test_kernels_in_loops_count_for_each_iteration(count, calls, said, tmp_path, capsys):
    model = model_in(tmp_path, LOOP.replace("{count}", count))
    assert why(model) == 0
    assert said in (text := capsys.readouterr().out)
    assert ("assumed of loops whose iterations only a run tells: 1,024, or 64" in text) == (
        calls != 200
    )
    assert why(model, "--json") == 0
    found = json.loads(capsys.readouterr().out)
    (one,) = [kernel for kernel in found["kernels"] if kernel["kernel"] == "exp_0"]
    assert one["calls"] == calls and one["is_assumed"] == (calls != 200)
    assert found["microseconds"] > calls * one["microseconds"]
    decisions = Decisions()
    module = run_stages(
        load_module(model), target="x86-64-v4", last="schedule", decisions=decisions
    )
    line = summary(module, decisions.made)
    assert line is not None and line.calls == found["calls"]
    assert line.microseconds == pytest.approx(found["microseconds"])


# -- the line ----------------------------------------------------------------------------------


def test_a_compilation_ends_with_a_line_of_what_is_expected(tmp_path, capsys):
    out = str(tmp_path / "m.ll")
    arguments = ["compile", model_in(tmp_path), "--target", "x86-64-v4", "-o", out]
    assert main(arguments) == 0
    assert "2 kernels in 2 calls, 0 steps of the host, 0 bytes copied per run, " in (
        capsys.readouterr().err
    )
    assert main([*arguments, "-q"]) == 0
    assert capsys.readouterr().err == ""


def test_the_line_names_the_alternative_that_comes_nearest(tmp_path):
    module = load_module(model_in(tmp_path))
    decisions = Decisions(every=True)
    run_stages(module, target="x86-64-v4", last="schedule", decisions=decisions)
    found = summary(module, decisions.made)
    assert found is not None and found.not_taken is not None
    gaps = [
        other.cycles - one.chosen.cycles
        for one in decisions.made if one.kind == "schedule"
        for other in one.others if other.terms != one.chosen.terms and not other.fault
    ]  # fmt: skip
    unit = AVX512.cycles_per_microsecond
    least = found.not_taken.microseconds - found.not_taken.chosen
    assert least * unit == pytest.approx(min(gaps))
    assert "; fastest not taken: 'apart' of " in found.line("")


@pytest.mark.parametrize("n", ["64", "?"])
def test_the_line_says_what_is_assumed_of_open_extents(n, tmp_path):
    module, decisions = load_module(model_in(tmp_path, n=n)), Decisions()
    run_stages(module, target="x86-64-v4", last="schedule", decisions=decisions)
    found = summary(module, decisions.made)
    said = " if each extent that only a run tells is 1,024"
    assert found is not None and (said in found.line("")) == (n == "?")


def test_the_line_says_of_which_kernels_no_time_is_expected(tmp_path):
    module, decisions = load_module(model_in(tmp_path)), Decisions()
    run_stages(module, target="x86-64-v4", last="schedule", decisions=decisions)
    all_of_them = summary(module, decisions.made)
    assert all_of_them is not None and "ms expected; " in all_of_them.line("")
    known = [one for one in decisions.made if one.subject != "softmax_0"]
    fewer = summary(module, known)
    assert fewer is not None and fewer.microseconds < all_of_them.microseconds
    assert "ms expected of all but 1 kernels" in fewer.line("")


def test_reasons():
    first, slower = Alternative("a", Terms({"memory": 10.0})), Alternative("b", Terms({"l2": 25.0}))
    faster, broken = Alternative("c", Terms({"l2": 9.0})), Alternative("d", fault="not legal")
    decided = Decision("schedule", (first, slower, faster, broken), "a", margin=0.8)
    assert reason(slower, decided) == "expected to take 2.5 times as long"
    assert reason(faster, decided) == (
        "a gain of 10% is less than the 20% that the models tell apart"
    )
    assert reason(broken, decided) == "not legal"
    assert decided.others == [faster, slower, broken]
    assert PassContext().decisions.made == []
