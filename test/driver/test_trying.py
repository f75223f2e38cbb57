"""`nnc try`: a schedule that a person has edited, checked and measured beside the default's."""

import json

import numpy as np
import pytest
from nnc.driver.compile import load_module
from nnc.driver.tuning.checking import largest_error
from nnc.driver.tuning.trying import Beside
from nnc.driver.tuning.worker import Answer
from nnc.numerics.interpreter import Interpreter
from nnc.tools.nnc import main
from nnc.tools.try_schedule import reference_outputs

MODEL = """
func.func @main(%x: tensor<8x16xf32>, %y: tensor<16x8xf32>) -> tensor<8x8xf32> {
  %a = nn.matmul %x, %y : (tensor<8x16xf32>, tensor<16x8xf32>) -> tensor<8x8xf32>
  %b = nn.relu %a : (tensor<8x8xf32>) -> tensor<8x8xf32>
  return %b : tensor<8x8xf32>
}
"""
KERNEL = "matmul_relu_0"
SCHEDULE = """schedule.for @matmul_relu_0 {
^bb0(%fill: !schedule.stage, %contract: !schedule.stage, %map: !schedule.stage):
  %m, %n, %k = schedule.loops 3 of %contract
  %mo, %mi = schedule.split %m by 4
  schedule.reorder %mo, %k, %mi, %n
  schedule.unroll %mi
  schedule.vectorize %n
  schedule.accumulate %k
  schedule.fuse %fill at %mo
  schedule.fuse %map at %mo
}
"""


@pytest.fixture
def folder(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "model.mlir").write_text(MODEL)
    return tmp_path


def tried(folder, text, *options):
    (folder / "edited.mlir").write_text(text)
    return main(["try", "model.mlir", "-q", "--schedule", "edited.mlir", *options])


def test_the_default_is_printed_to_be_edited(folder, capsys):
    assert main(["try", "model.mlir", "-q"]) == 0
    assert capsys.readouterr().out == f"{KERNEL}\n"
    assert main(["try", "model.mlir", "-q", "--kernel", KERNEL, "--target", "x86-64-v3"]) == 0
    assert capsys.readouterr().out.startswith(f"schedule.for @{KERNEL} {{\n^bb0(%fill: ")


@pytest.mark.parametrize(
    ("old", "new", "line", "message"),
    [
        ("%m by 4", "%m by 0", 4, "a factor of at least 1, found 0"),
        ("unroll %mi", "unroll %other", 6, "undeclared SSA value name '%other'"),
        # Wrong as a whole: the line is that of the first step with which it is.
        ("%mo, %k, %mi, %n", "%mo, %k, %n, %mi", 7, "the vectorized loop must be the only one and the innermost"),
        ("@matmul_relu_0", "@other", 1, f"is for '@other', not for '@{KERNEL}'"),
        (SCHEDULE, "", 1, "one 'schedule.for' is expected, found 0"),
        (SCHEDULE, "func.func private @f()", 1, "one 'schedule.for' is expected, found 0"),
        (", %map: !schedule.stage", "", 10, "%map"),
    ],
)  # fmt: skip
def test_what_is_not_legal_is_said_with_its_line(folder, capsys, old, new, line, message):
    assert tried(folder, SCHEDULE.replace(old, new), "--kernel", KERNEL) == 1
    errors = capsys.readouterr().err
    assert f"edited.mlir:{line}:" in errors and message in errors
    assert errors.count("error:") == 1 and "Traceback" not in errors
    assert tried(folder, SCHEDULE.replace(old, new), "--kernel", KERNEL, "--json") == 0
    found = json.loads(capsys.readouterr().out)
    assert found["legal"] is False and found["right"] is None and found["time"] is None
    assert found["fault"]["line"] == line and message in found["fault"]["message"]


@pytest.mark.parametrize(
    ("options", "message"),
    [
        (["--kernel", "none"], f"no kernel 'none' has a schedule; there are: {KERNEL}"),
        (["--seconds", "0"], "--seconds is above 0"),
        (["--schedule", "none.mlir"], "none.mlir': No such file"),
        (["--target", "x86-65"], "no target is named 'x86-65'"),
    ],
)
def test_bad_input_is_one_error(folder, capsys, options, message):
    assert tried(folder, SCHEDULE, *options) == 1
    errors = capsys.readouterr().err
    assert message in errors and errors.count("error:") == 1 and "Traceback" not in errors


def test_a_schedule_is_run_beside_the_default_and_compared_with_the_reference(folder, capsys):
    assert tried(folder, SCHEDULE, "--json", "--seconds", "0.1") == 0
    found = json.loads(capsys.readouterr().out)
    assert found["legal"] and found["right"] and found["fault"] is None
    assert found["kernel"] == KERNEL and found["calls"] == 1 and not found["is_default"]
    assert "NumPy" in found["reference"] and found["errors"]["edited"] < 1e-5
    for times in (found["time"], found["whole"]):
        assert times["pairs"] >= 5 and times["default_us"] > 0 and times["edited_us"] > 0
        assert times["ratio_low"] <= times["ratio"] <= times["ratio_high"]
    assert found["time"]["default_us"] < found["whole"]["default_us"]


@pytest.mark.parametrize(
    ("fault", "right"),
    [("its numbers are wrong, off by one", False), ("it crashed (SIGSEGV)", None)],
)
def test_a_schedule_that_is_at_fault_is_not_right(folder, capsys, monkeypatch, fault, right):
    def run(crew, schedules, seconds=None, whole=False):
        return Answer(faults={str(key): fault for key in schedules})

    monkeypatch.setattr("nnc.driver.tuning.crew.LocalCrew.run", run)
    assert tried(folder, SCHEDULE) == 1
    assert fault in capsys.readouterr().out
    assert tried(folder, SCHEDULE, "--json") == 0
    found = json.loads(capsys.readouterr().out)
    assert found["legal"] and found["right"] is right and fault in found["fault"]["message"]
    assert found["time"] is None


@pytest.mark.thorough
def test_the_default_is_compiled_once(folder, capsys, monkeypatch):
    """Attempts differ in the edited kernel alone; what is damaged is made anew."""
    monkeypatch.setenv("NNC_CACHE_LIMIT", "1G")
    monkeypatch.setenv("XDG_CACHE_HOME", str(folder / "cache"))
    (folder / "edited.mlir").write_text(SCHEDULE)
    command = ["try", "model.mlir", "--schedule", "edited.mlir", "--seconds", "1"]
    said = []
    for step in ("first", "again", "damaged", "made anew", "other threads"):
        if step == "damaged":
            (kept,) = (folder / "cache" / "nnc" / "models").glob("*/kernels.pickle")
            kept.write_bytes(kept.read_bytes()[:-1])
        threads = ["--threads", "2"] if step == "other threads" else []
        assert main([*command, *threads]) == 0
        out, err = capsys.readouterr()
        assert "right: at each call" in out
        said.append("the default is kept from before" in err)
    assert said == [False, True, False, True, False]


def test_what_does_not_run_here_is_checked_only(folder, capsys):
    target = ["--target", "webgpu-browser"]
    assert main(["try", "model.mlir", "-q", "--kernel", KERNEL, *target]) == 0
    assert tried(folder, capsys.readouterr().out, "--json", *target) == 0
    found = json.loads(capsys.readouterr().out)
    assert found["legal"] and found["is_default"] and found["right"] is None
    assert "cannot be run and measured here" in found["fault"]["message"]


def test_the_reference_is_what_the_operators_mean(folder):
    module = load_module(folder / "model.mlir")
    x, y = (np.arange(128, dtype=np.float32).reshape(s) % 7 - 3 for s in ((8, 16), (16, 8)))
    found, _ = reference_outputs(module, {"input0": x, "input1": y}, 60.0)
    assert found is not None
    np.testing.assert_array_equal(found["output0"], np.maximum(x @ y, 0))
    found, why = reference_outputs(module, {"input0": x, "input1": y}, -1.0)
    assert found is None and "takes more than" in why
    assert reference_outputs(module, {"input0": x}, 60.0)[0] is None


def test_errors_are_parts_of_the_largest_value():
    want = {"y": np.array([1.0, -4.0, np.inf], np.float32)}
    assert largest_error(want, want) == 0
    assert largest_error(want, {"y": np.array([2.0, -4.0, np.inf], np.float32)}) == 0.25
    assert largest_error(want, {"y": np.array([np.nan, -4.0, np.inf], np.float32)}) == np.inf
    assert largest_error(want, {"y": np.zeros(2)}) == np.inf
    assert largest_error({"s": np.array(["abc", "d"])}, {"s": np.array(["abc", "e"])}) == np.inf


def test_times_are_medians_of_turns():
    found = Beside.of([(2000.0, 1000.0), (4000.0, 2000.0), (3000.0, 9000.0)])
    assert found is not None
    assert (found.default, found.edited, found.ratio.median, found.pairs) == (3.0, 2.0, 0.5, 3)
    assert Beside.of([]) is None


def test_the_interpreter_agrees_with_what_is_compared(folder):
    """The reference does not depend on passes: it is the model as it was read."""
    module = load_module(folder / "model.mlir")
    ones = [np.ones((8, 16), np.float32), np.ones((16, 8), np.float32)]
    (found,) = Interpreter(module).call("main", ones)
    assert (found == 16).all()
