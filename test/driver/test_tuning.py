"""nnc tune: what is kept of a search, processes that fail, folders of schedules."""

import os
import signal
import subprocess
import sys
from dataclasses import replace

import nnc
import numpy as np
import pytest
from nnc.driver.compile import compile_model, load_module, mark_entry, run_stages
from nnc.driver.program import make_program
from nnc.driver.tuning.checking import difference
from nnc.driver.tuning.experiments import ExperimentError, Experiments, worker_command
from nnc.driver.tuning.keeping import Keeper
from nnc.driver.tuning.kept import kept_schedules
from nnc.driver.tuning.tune import tolerance_of, tune_model
from nnc.driver.tuning.worker import Answer, Request, kernel_times
from nnc.ir.diagnostics import NncError
from nnc.kernels.policy.variants import Variants
from nnc.kernels.tuned import (
    TunedFolder,
    TunedSchedule,
    fingerprint,
    kernel_functions,
    schedule_digest,
)
from nnc.targets.attribute import machine_name, target_of
from nnc.targets.base import host

PRODUCT = """
func.func @main(%x: tensor<8x24xf32>, %w: tensor<24x40xf32>) -> tensor<8x40xf32> {
  %0 = nn.matmul %x, %w : (tensor<8x24xf32>, tensor<24x40xf32>) -> tensor<8x40xf32>
  return %0 : tensor<8x40xf32>
}
"""


# -- processes -------------------------------------------------------------------------------------


def experiments(tmp_path, code, limit=60.0):
    request = Request(tmp_path, tmp_path, 1, 0.0, 1e-4, 1 << 40)
    return Experiments(request, limit, [sys.executable, "-c", code])


def test_a_worker_takes_nothing_from_the_folder_it_is_started_in(monkeypatch, tmp_path):
    (tmp_path / "nnc").mkdir()
    (tmp_path / "nnc" / "__init__.py").write_text("raise SystemExit(3)")
    monkeypatch.chdir(tmp_path)
    (tmp_path / "request").mkdir()
    command = [*worker_command(), str(tmp_path / "request")]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert done.returncode == 1 and "request.pickle" in done.stderr


ANSWER = """
import pickle, pathlib, sys
from nnc.driver.tuning.worker import Answer
folder = pathlib.Path(sys.argv[1])
(folder / "answer.pickle").write_bytes(pickle.dumps(Answer({}, [], %r)))
"""


@pytest.mark.parametrize(
    "code, message",
    [
        ("import os; os.abort()", r"it crashed \(SIGABRT\)"),
        ("raise MemoryError('no memory')", r"it failed \(MemoryError: no memory\)"),
        ("pass", r"it failed \(status 0\)"),
        (ANSWER % "y: relative error 0.5", r"its numbers are wrong, y: relative error 0.5"),
    ],
)
def test_an_experiment_that_fails_costs_itself_only(tmp_path, code, message):
    with pytest.raises(ExperimentError, match=message):
        experiments(tmp_path, code).run({})
    assert list(tmp_path.iterdir()) == []


def test_an_experiment_that_hangs_is_ended(tmp_path):
    with pytest.raises(ExperimentError, match="it took more than 0 s"):
        experiments(tmp_path, "import time; time.sleep(1000)", limit=0.3).run({})


def test_differences_of_outputs():
    x = np.array([1.0, 2.0], np.float32)
    assert difference({"y": x}, {"y": x * (1 + 1e-6)}, 1e-4) == ""
    assert "relative error 0.5" in difference({"y": x}, {"y": x - 1}, 1e-4)
    assert "NaN" in difference({"y": x}, {"y": x * np.float32("nan")}, 1e-4)
    assert "shape" in difference({"y": x}, {"y": x[:1]}, 1e-4)
    assert difference({"y": x, "nnc.times": x}, {"y": x, "nnc.times": -x}, 1e-4) == ""


def test_times_of_all_calls_of_a_kernel_are_added():
    outputs = {"nnc.times": np.array([5, 7, 17, 18]), "nnc.inner": np.array([[4, 2]])}
    assert kernel_times(outputs, (["a", "", "a"], ["b"])) == {"a": 3.0, "b": 4.0}


# -- folders ---------------------------------------------------------------------------------------


def product():
    module = nnc.parse(PRODUCT)
    mark_entry(module)
    return module


def scheduled(number=1):
    """A kernel's fingerprint, the machine, and a schedule beside the default one."""
    module = product()
    run_stages(module, last="bufferize")
    (function,) = [f for f in kernel_functions(module) if "nn.kernel" in f.attributes]
    variants = Variants("k", function.body.blocks[0], target_of(module).machine)
    *_, variant = (one for _, one in zip(range(number), variants.ranked(), strict=False))
    machine = machine_name(host())
    return TunedSchedule(fingerprint(function), variant.schedule, 0.1, 0.01, machine, "1", "x = 1")


def code(tuned=None, said=None):
    module = product()
    run_stages(module, tuned=tuned, progress=said.append if said is not None else None)
    return make_program(module).code


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    folder = tmp_path_factory.mktemp("tuned")
    scheduled().write(folder)
    return folder


def test_a_schedule_is_read_as_it_was_written(folder):
    (path,) = folder.iterdir()
    one, found = scheduled(), TunedSchedule.read(path)
    assert str(found.schedule) == str(one.schedule)
    assert replace(found, schedule=one.schedule) == one


def test_schedules_of_a_folder_are_used_and_give_the_same_code_each_time(folder):
    said = []
    tuned = code(TunedFolder(folder), said)
    assert any("1 of 1 kernels have a tuned schedule" in line for line in said)
    assert tuned == code(TunedFolder(folder)) != code()
    x, w = (
        np.random.default_rng(i).standard_normal(s, np.float32)
        for i, s in enumerate([(8, 24), (24, 40)])
    )
    run = compile_model(product(), tuned=TunedFolder(folder), cache=False)
    np.testing.assert_allclose(run(x, w), x @ w, rtol=1e-4, atol=1e-5)


def test_a_schedule_of_another_machine_is_used_only_if_told(tmp_path):
    replace(scheduled(), machine="'avr'").write(tmp_path)
    said = []
    default = code()
    assert code(TunedFolder(tmp_path), said) == default
    assert any("1 schedules are for 'avr' and are not used" in line for line in said)
    assert code(TunedFolder(tmp_path, anywhere=True)) != default


def test_a_schedule_that_was_edited_is_used_where_it_is_legal(folder, tmp_path):
    (path,) = folder.iterdir()
    text = path.read_text()
    edited = tmp_path / "edited.mlir"
    at = text.index("    schedule.vectorize")
    line = text[at:].splitlines()[0]
    edited.write_text(text[:at] + line + "\n" + text[at:])
    said = []
    assert code(TunedFolder(tmp_path), said) == code()
    (note,) = [line for line in said if "the default is taken" in line]
    assert "edited.mlir:" in note and "the loop is already" in note
    edited.write_text(text.replace("    schedule.accumulate", "    // schedule.accumulate"))
    said.clear()
    assert code(TunedFolder(tmp_path), said) != code(TunedFolder(folder))
    assert any("1 of 1 kernels" in line for line in said)


@pytest.mark.parametrize(
    "content, message",
    [
        ("module {", "bad.mlir:1:"),
        ("module {\n}\n", "is not a file of nnc tune"),
        ("module attributes {nnc.tuned = {}} {\nschedule.for @k {\n^bb0:\n}\n}\n", "'kernel'"),
        (b"\xff\xfe", "not UTF-8 text"),
    ],
)
def test_a_file_that_is_none_is_one_error_with_its_name(tmp_path, content, message):
    path = tmp_path / "bad.mlir"
    path.write_bytes(content if isinstance(content, bytes) else content.encode())
    with pytest.raises(NncError) as error:
        TunedFolder(tmp_path).read()
    assert "bad.mlir" in str(error.value) and message in str(error.value)


def test_a_folder_that_is_not_there(tmp_path):
    with pytest.raises(NncError, match="there is no folder"):
        TunedFolder(tmp_path / "none").digest()


def test_the_cache_tells_contents_of_folders_apart(folder, tmp_path):
    one = scheduled()
    path = one.write(tmp_path)
    assert TunedFolder(tmp_path).digest() == TunedFolder(folder).digest()
    assert TunedFolder(tmp_path).digest() != TunedFolder(tmp_path, True).digest()
    path.write_text(path.read_text() + "// edited\n")
    assert TunedFolder(tmp_path).digest() != TunedFolder(folder).digest()


def test_what_is_not_kept_goes_and_the_rest_stays(tmp_path):
    one = scheduled()
    replace(one, machine="'avr'").write(tmp_path)
    replace(one, kernel="another").write(tmp_path)
    one.write(tmp_path)
    Keeper(tmp_path).finish({}, {one.kernel}, one.machine)
    left = {(found.kernel, found.machine) for found in TunedFolder(tmp_path).read().values()}
    assert left == {(one.kernel, "'avr'"), ("another", one.machine)}


def test_kernels_that_differ_in_names_have_one_fingerprint():
    renamed = PRODUCT.replace("%x", "%input").replace("%w", "%weights")
    modules = [product(), nnc.parse(renamed), nnc.parse(PRODUCT.replace("40", "41"))]
    found = []
    for module in modules:
        mark_entry(module)
        run_stages(module, last="bufferize")
        found.append(
            {fingerprint(f) for f in kernel_functions(module) if "nn.kernel" in f.attributes}
        )
    assert found[0] == found[1] != found[2]


def test_tolerances_follow_the_coarsest_type_of_kernels():
    found = {}
    for name in ("f64", "f32", "f16"):
        module = nnc.parse(PRODUCT.replace("f32", name))
        mark_entry(module)
        run_stages(module, last="bufferize")
        found[name] = tolerance_of(module)
    assert found == {"f64": 1e-9, "f32": 1e-4, "f16": 2e-2}


# -- the whole -------------------------------------------------------------------------------------


def inputs_of(executable):
    rng = np.random.default_rng(0)
    shapes = {
        n: t.shape for n, t in zip(executable.input_names, executable.input_types, strict=True)
    }
    return {name: rng.standard_normal(shape, np.float32) for name, shape in shapes.items()}


def made_up(monkeypatch, ratios):
    """Experiments that answer with ratios, or raise; returns which schedules each was given."""
    given = []

    def run(self, schedules, seconds=None, whole=False):
        given.append(schedules)
        answer = ratios[len(given) - 1]
        if isinstance(answer, BaseException):
            raise answer
        pairs = [(100.0, 100.0 * answer)] * 6
        module = load_module(self.base.model)
        names = [f.sym_name for f in kernel_functions(module) if "nn.kernel" in f.attributes]
        return Answer(dict.fromkeys(names, pairs), pairs)

    monkeypatch.setattr(Experiments, "run", run)
    return given


def test_what_was_found_is_written_and_used(monkeypatch, tmp_path):
    given = made_up(monkeypatch, [1.2, 0.8, 0.9, 0.85])
    found = tune_model(product(), inputs_of, tmp_path / "tuned", trials=3)
    (one,) = found.schedules.values()
    assert one.gain == pytest.approx(0.15) and found.whole.gain == pytest.approx(0.15)
    (second,) = given[1].values()
    assert str(one.schedule) == str(second.schedule) and one.told
    assert code(TunedFolder(tmp_path / "tuned")) != code()


def test_where_nothing_is_faster_nothing_is_kept(monkeypatch, tmp_path):
    made_up(monkeypatch, [0.8, 1.01])
    found = tune_model(product(), inputs_of, tmp_path, trials=1)
    assert found.schedules == {} and list(tmp_path.iterdir()) == []


@pytest.mark.parametrize("again", [False, True])
def test_an_interruption_leaves_a_folder_that_can_be_used(monkeypatch, tmp_path, again):
    stop = KeyboardInterrupt()
    made_up(monkeypatch, [0.8, 0.8, stop, stop if again else 0.8])
    if again:  # what was found stays as it was measured
        with pytest.raises(KeyboardInterrupt):
            tune_model(product(), inputs_of, tmp_path)
    else:
        assert tune_model(product(), inputs_of, tmp_path).ended == "interrupted"
    said = []
    assert code(TunedFolder(tmp_path), said) != code()
    assert any("1 of 1 kernels have a tuned schedule" in line for line in said)


def test_a_candidate_that_fails_is_dropped_by_name(monkeypatch, tmp_path):
    fault = ExperimentError("its numbers are wrong, y: relative error 0.5")
    made_up(monkeypatch, [fault, 1.0])
    found = tune_model(product(), inputs_of, tmp_path, trials=1)
    (line,) = found.dropped
    assert line.endswith("its numbers are wrong, y: relative error 0.5") and " = 1: " in line


def test_a_schedule_of_any_name_is_written_into_the_folder(tmp_path):
    one = scheduled(3)
    renamed = one.copy()
    renamed.kernel = "../a/b"
    path = replace(one, schedule=renamed).write(tmp_path)
    assert path.parent == tmp_path and list(tmp_path.iterdir()) == [path]
    assert TunedSchedule.read(path).schedule.kernel == "../a/b"


def test_earlier_schedules_are_measured_first_and_go_where_they_are_slower(monkeypatch, tmp_path):
    one = scheduled(3)
    one.write(tmp_path)
    given = made_up(monkeypatch, [1.1])
    tune_model(product(), inputs_of, tmp_path, trials=1)
    (first,) = given[0].values()
    assert schedule_digest(first.schedule) == schedule_digest(one.schedule)
    assert list(tmp_path.iterdir()) == []


@pytest.mark.thorough
def test_a_signal_in_a_search_leaves_a_folder_that_can_be_used(tmp_path):
    """All of it as users have it: processes, Ctrl-C, and the code of `--replay`."""
    (tmp_path / "m.mlir").write_text(PRODUCT)
    start = [sys.executable, "-c", "from nnc.tools.start import nnc; nnc()", "tune", "m.mlir"]
    with subprocess.Popen(
        [*start, "-o", "tuned"], cwd=tmp_path, stderr=subprocess.PIPE, text=True
    ) as child:
        assert child.stderr is not None
        for line in child.stderr:
            if "experiment 1:" in line:
                os.kill(child.pid, signal.SIGINT)
                break
        assert "interrupted" in child.stderr.read()
    assert child.returncode == 0
    digests = {
        subprocess.run([*start, "--replay", "tuned"], cwd=tmp_path, capture_output=True).stdout
        for _ in range(2)
    }
    assert len(digests) == 1


def test_kept_schedules_are_searched_once_for_a_model(monkeypatch, tmp_path):
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    given = made_up(monkeypatch, [0.8, KeyboardInterrupt(), 0.8, RuntimeError("searched again")])
    module = product()
    before = str(module)
    found = kept_schedules(module, 60.0, 1)
    assert str(module) == before and len(given) == 3
    assert kept_schedules(product(), 60.0, 1) == found
    assert code(found) != code()


def test_inputs_of_open_shapes_cannot_be_made_up(monkeypatch, tmp_path):
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    module = nnc.parse(PRODUCT.replace("8x24", "?x24").replace("8x40", "?x40"))
    mark_entry(module)
    with pytest.raises(NncError, match=r"input 'input0' is tensor<\?x24xf32>, of no known shape"):
        kept_schedules(module, 60.0, 1)
