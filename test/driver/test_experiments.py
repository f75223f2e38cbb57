"""Experiments of `nnc tune`: kernels in a table, their checks, and the process that makes them."""

import errno
import itertools
import os
import pickle
import sys
import threading
import time
from dataclasses import replace
from pathlib import Path

import nnc
import numpy as np
import pytest
from nnc.dialects import schedule
from nnc.driver.compile import mark_entry, run_stages
from nnc.driver.tuning import patching, tune
from nnc.driver.tuning.default import running_default, scheduled_kernels, store_default
from nnc.driver.tuning.experiments import ExperimentError, Experiments, LostError
from nnc.driver.tuning.graph import GraphFound
from nnc.driver.tuning.patched import Kernel, PatchedProgram
from nnc.driver.tuning.tune import tune_model
from nnc.driver.tuning.worker import Answer, Request, Worker
from nnc.ir.diagnostics import NncError
from nnc.ir.passes import PassContext, PassManager
from nnc.ir.weights_file import write_module
from nnc.kernels.policy import variants_of
from nnc.kernels.policy.variants import Variants
from nnc.kernels.tuned import TunedSchedule, check_schedule, fingerprint
from nnc.lowering.pipelines import pipeline
from nnc.targets.attribute import detailed, target_of
from nnc.targets.base import target as find_target
from nnc.targets.processor import processor_of

from ..targets.emulated import require_emulator

CHAIN = """
func.func @main(%x: tensor<24x48xf32>, %w: tensor<48x40xf32>, %v: tensor<40x32xf32>) -> tensor<24x32xf32> {
  %0 = nn.matmul %x, %w : (tensor<24x48xf32>, tensor<48x40xf32>) -> tensor<24x40xf32>
  %1 = nn.matmul %0, %v : (tensor<24x40xf32>, tensor<40x32xf32>) -> tensor<24x32xf32>
  return %1 : tensor<24x32xf32>
}
"""


def bufferized(text, target=None):
    module = nnc.parse(text)
    mark_entry(module)
    return run_stages(module, last="bufferize", target=target)


def inputs():
    rng = np.random.default_rng(0)
    shapes = [(24, 48), (48, 40), (40, 32)]
    return {f"input{i}": rng.standard_normal(s, np.float32) for i, s in enumerate(shapes)}


@pytest.fixture(scope="module")
def prepared(tmp_path_factory):
    """The folder of a model's experiments, and variants of its kernels by their fingerprints."""
    folder = tmp_path_factory.mktemp("experiments")
    module = bufferized(CHAIN)
    PassManager(pipeline("builtin.module(instrument-kernels)"), PassContext(), (), False).run(
        module
    )
    request = Request(folder, folder / "schedules", 1, 0.0, 1e-4, 0)
    write_module(module, request.model)
    kernels = scheduled_kernels(module.clone())
    store_default(request, module)
    request.inputs.write_bytes(pickle.dumps(inputs()))
    machine = processor_of(module)
    made = {}
    for name, function in kernels.items():
        variants = Variants(name, function.body.blocks[0], machine, ("parallel",))
        made[fingerprint(function)] = [
            TunedSchedule(fingerprint(function), one.schedule, machine=detailed(target_of(module)))
            for _, one in zip(range(6), variants.ranked(), strict=False)
        ]
    return request, made


def folder_of(request, schedules, tmp_path):
    for one in schedules:
        one.write(tmp_path)
    return Request(request.folder, tmp_path, 1, 0.0, 1e-4, 0)


def test_candidates_in_the_table_compute_what_numpy_does(prepared, tmp_path):
    request, made = prepared
    worker = Worker(request)
    given = inputs()
    x, w, v = given.values()
    for number in range(3):
        folder = tmp_path / str(number)
        folder.mkdir()
        chosen = {key: ones[number] for key, ones in made.items()}
        answer = worker.run(folder_of(request, chosen.values(), folder))
        assert answer.wrong == "" and answer.faults == {}
        assert len(answer.whole) >= 5 and len(answer.kernels) == 2
    patched = worker._patched
    assert patched is not None and patched._checks
    program = patched._program
    schedules = {n: made[k.key][1].copy() for n, k in program._kernels.items()}
    codes = patched._compiled(schedules, answer)
    default = program.run(given)["output0"]
    program.use({name: program.load(name, code) for name, code in codes.items()})
    np.testing.assert_allclose(program.run(given)["output0"], x @ w @ v, rtol=1e-4, atol=1e-4)
    program.use({})
    assert np.array_equal(program.run(given)["output0"], default)


def test_several_threads_run_candidates_too(prepared, tmp_path):
    request, made = prepared
    worker = Worker(replace(request, threads=2))
    chosen = [ones[1] for ones in made.values()]
    answer = worker.run(replace(folder_of(request, chosen, tmp_path), threads=2))
    assert answer.wrong == "" and answer.faults == {} and len(answer.whole) >= 5


def test_a_kernel_that_reports_failures_is_replaced_too(tmp_path):
    """An index out of range is a status of the model, which candidates return as the default."""
    rows, many = "tensor<64x48xf32>", "tensor<24x48xf32>"
    text = f"""
func.func @main(%t: {rows}, %i: tensor<24xi64>) -> {many} {{
  %0 = nn.gather %t, %i {{axis = 0 : i64}} : ({rows}, tensor<24xi64>) -> {many}
  return %0 : {many}
}}
"""
    module = bufferized(text)
    request = Request(tmp_path, tmp_path / "schedules", 1, 0.0, 1e-4, 0)
    marked = module.clone()
    kernels = scheduled_kernels(marked)
    model = running_default(request, store_default(request, module))
    assert isinstance(model, PatchedProgram)
    table = np.random.default_rng(0).standard_normal((64, 48), np.float32)
    index = np.arange(24) * 2
    assert np.array_equal(model.run({"input0": table, "input1": index})["output0"], table[index])
    with pytest.raises(NncError, match="index"):
        model.run({"input0": table, "input1": index + 60})
    ((name, kernel),) = model._kernels.items()
    assert kernel.interface.returns_status
    block, machine = kernels[name].body.blocks[0], processor_of(marked)
    one = Variants(name, block, machine).default.schedule.clone()
    assert isinstance(one, schedule.For)
    part = patching.candidate_module(marked, kernels[name], one, kernel.interface)
    model.use({name: model.load(name, model.compiled(part))})
    assert np.array_equal(model.run({"input0": table, "input1": index})["output0"], table[index])


def test_a_candidate_that_is_wrong_is_a_fault_of_its_kernel_alone(prepared, tmp_path, monkeypatch):
    request, made = prepared
    worker = Worker(request)
    keys = list(made)
    chosen = [made[key][0] for key in keys]
    worker.run(folder_of(request, [], tmp_path))
    assert worker._patched is not None
    real = type(worker._patched)._compiled

    def swapped(self, schedules, answer):
        found = real(self, schedules, answer)
        wrong = next(n for n in found if self._kernels[n].key == keys[0])
        found[wrong] = broken(self, wrong)
        return found

    monkeypatch.setattr(type(worker._patched), "_compiled", swapped)
    answer = worker.run(folder_of(request, chosen, tmp_path))
    assert list(answer.faults) == [keys[0]]
    assert "its numbers are wrong" in answer.faults[keys[0]]
    assert answer.whole and answer.wrong == ""


def broken(patched, name):
    """Code of a candidate that leaves its result as it is."""
    from nnc.dialects import llvm
    from nnc.dialects.builtin import ModuleOp
    from nnc.ir.builder import Builder

    interface = patched._kernels[name].interface
    count = interface.arguments + interface.extra
    part = ModuleOp.of([patching._global(patching._NEEDS)])
    part.attributes.update(patched._module.attributes)
    made = llvm.Func.define(patching.CANDIDATE, llvm.function_type([llvm.ptr] * count))
    Builder.at_end(made.body.blocks[0]).insert(llvm.Return())
    part.body_block.append(made)
    return patched._program.compiled(part)


def test_the_whole_is_compiled_where_that_is_asked_for(prepared, tmp_path):
    request, made = prepared
    worker = Worker(request)
    folder = folder_of(request, [ones[0] for ones in made.values()], tmp_path)
    whole = Request(folder.folder, folder.schedules, 1, 0.0, 1e-4, 0, whole=True)
    answer = worker.run(whole)
    assert answer.wrong == "" and len(answer.whole) >= 5 and worker._patched is None


# -- the process -----------------------------------------------------------------------------------

SERVER = """
import os, pathlib, pickle, sys
from nnc.driver.tuning.worker import Answer
folder = pathlib.Path(sys.argv[1])
number = 0
while True:
    kernels = sorted(p.name.partition("-")[0] for p in (folder / "schedules").iterdir())
    for name in kernels:
        print("at check", name, flush=True)
        CHECK
    print("at run", flush=True)
    RUN
    (folder / "answer.pickle").write_bytes(pickle.dumps(Answer(whole=[(os.getpid(), number)])))
    print("done", flush=True)
    number += 1
    line = sys.stdin.readline()
    if not line:
        break
    folder = pathlib.Path(line.rstrip())
"""


def experiments(tmp_path, check="pass", run="pass", limit=60.0):
    code = SERVER.replace("CHECK", check).replace("RUN", run)
    request = Request(tmp_path, tmp_path, 1, 0.0, 1e-4, 0)
    interface = patching.Interface(0, 1, 0, False, {})
    kernels = {name: Kernel(f"key of {name}", interface, None) for name in ("good", "bad")}
    request.kernels.write_bytes(pickle.dumps(kernels))
    return Experiments(request, limit, [sys.executable, "-c", code])


def schedules(prepared, *names):
    (one, *_), *_ = prepared[1].values()
    found = {}
    for name in names:
        copy = one.copy()
        copy.kernel = name
        found[f"key of {name}"] = TunedSchedule(f"key of {name}", copy)
    return found


def test_one_process_serves_several_experiments(tmp_path):
    made = experiments(tmp_path)
    first, second = made.run({}).whole[0], made.run({}).whole[0]
    made.stop()
    third = made.run({}).whole[0]
    made.close()
    assert first[0] == second[0] != third[0] and (first[1], second[1]) == (0, 1)
    assert [p.name for p in tmp_path.iterdir()] == ["kernels.pickle"]


def test_none_starts_once_they_were_closed(tmp_path):
    """As when a worker's scheduler is gone, while a thread goes on with what it was asked."""
    made = experiments(tmp_path)
    made.run({})
    made.close()
    with pytest.raises(LostError, match="no more experiments"):
        made.run({})
    assert [p.name for p in tmp_path.iterdir()] == ["kernels.pickle"]


def test_one_that_starts_while_they_are_closed_is_ended(tmp_path):
    made = experiments(tmp_path, run="import time; time.sleep(1000)")
    failed = []

    def run():
        try:
            made.run({})
        except LostError as error:
            failed.append(error)

    thread = threading.Thread(target=run)
    thread.start()
    time.sleep(0.3)  # at whatever it is then
    made.close()
    thread.join(30)
    assert failed and not thread.is_alive()


def test_experiments_go_on_after_they_were_stopped(tmp_path):
    """As when a search has ended, and what it found is compared."""
    made = experiments(tmp_path)
    first = made.run({}).whole[0]
    made.stop()
    second = made.run({}).whole[0]
    made.close()
    assert first[0] != second[0] and second[1] == 0


@pytest.mark.parametrize(
    "check, fault",
    [
        ("name == 'bad' and os.abort()", r"it crashed (SIGABRT)"),
        pytest.param(
            "name == 'bad' and sys.exit('no memory')",
            r"it failed (no memory)",
            marks=pytest.mark.thorough,
        ),
        pytest.param(
            "import time; name == 'bad' and time.sleep(1000)",
            r"it took more than 5 s",
            marks=pytest.mark.thorough,
        ),
    ],
)
def test_the_candidate_that_ends_the_process_is_known(prepared, tmp_path, check, fault):
    made = experiments(tmp_path, check, limit=5.0 if "sleep" in check else 60.0)
    answer = made.run(schedules(prepared, "good", "bad"))
    made.close()
    assert answer.faults == {"key of bad": fault} and len(answer.whole) == 1


def test_a_process_that_earlier_ones_may_have_damaged_is_not_believed(prepared, tmp_path):
    """It crashes in its second experiment; a new one does not."""
    made = experiments(tmp_path, run="number == 1 and os.abort()")
    first, second = made.run({}).whole[0], made.run({}).whole[0]
    made.close()
    assert first[0] != second[0] and second[1] == 0


def test_a_process_that_is_ended_from_outside_is_lost(tmp_path):
    made = experiments(tmp_path, run="import signal; os.kill(os.getpid(), signal.SIGKILL)")
    with pytest.raises(LostError, match="SIGKILL"):
        made.run({})


@pytest.mark.parametrize("end", ["time.sleep(1000)", "os.abort()"])
def test_temporary_files_of_a_process_that_is_killed_are_removed(tmp_path, monkeypatch, end):
    temporary, folder = tmp_path / "temporary", tmp_path / "folder"
    temporary.mkdir()
    folder.mkdir()
    monkeypatch.setenv("TMPDIR", str(temporary))
    begun = "import tempfile, time; open(tempfile.mkdtemp() + '/model.o', 'w').close()"
    made = experiments(folder, run=f"{begun}; {end}", limit=5.0 if "sleep" in end else 60.0)
    with pytest.raises(ExperimentError):
        made.run({})
    made.close()
    assert [*temporary.iterdir()] == []
    assert [one.name for one in folder.iterdir()] == ["kernels.pickle"]


def test_an_answer_that_cannot_be_read_fails(tmp_path):
    run = "(folder / 'answer.pickle').write_bytes(b'x'); print('done', flush=True); sys.exit()"
    made = experiments(tmp_path, run=run)
    with pytest.raises(ExperimentError, match="answer cannot be read"):
        made.run({})


def test_an_interruption_ends_the_process_and_leaves_nothing(tmp_path, monkeypatch):
    from nnc.driver.tuning import experiments as room

    made = experiments(tmp_path)
    pid = int(made.run({}).whole[0][0])

    def interrupted(self, folder, limit):
        raise KeyboardInterrupt

    monkeypatch.setattr(room._Process, "wait", interrupted)
    with pytest.raises(KeyboardInterrupt):
        made.run({})
    with pytest.raises(ProcessLookupError):
        os.kill(pid, 0)
    assert [p.name for p in tmp_path.iterdir()] == ["kernels.pickle"]


def test_a_full_disk_is_one_error(tmp_path, monkeypatch):
    made = experiments(tmp_path)

    def full(self, data):
        raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))

    monkeypatch.setattr(Path, "write_bytes", full)
    with pytest.raises(NncError, match=r"cannot write to .*No space left on device"):
        made.run({})
    assert [p.name for p in tmp_path.iterdir()] == ["kernels.pickle"]


# -- other targets ---------------------------------------------------------------------------------------


def test_variants_of_devices_are_legal_and_differ():
    module = bufferized(CHAIN, target="opencl-cpu")
    own = find_target("opencl-cpu")
    made = variants_of(own.policy)
    for name, function in scheduled_kernels(module).items():
        block = function.body.blocks[0]
        variants = made(name, block, own.machine)
        found = [one for _, one in zip(range(8), variants.ranked(), strict=False)]
        texts = {variants.default.text, *(one.text for one in found)}
        assert len(texts) == 1 + len(found) == 9
        for one in found:
            check_schedule(one.schedule.clone(), block)


# -- what a user is told ---------------------------------------------------------------------------


def tuned(monkeypatch, tmp_path, answer, trials=2):
    """A search whose experiments answer with what a function makes of their number and keys."""
    count = itertools.count()

    def run(self, schedules, seconds=None, whole=False):
        kernels = pickle.loads(self.base.kernels.read_bytes())
        return answer(next(count), dict(schedules), kernels)

    monkeypatch.setattr(Experiments, "run", run)
    said = []
    module = nnc.parse(CHAIN)
    mark_entry(module)
    found = tune_model(
        module, lambda model: inputs(), tmp_path / "tuned", trials=trials, say=said.append
    )
    return found, said


def test_kernels_of_which_no_candidate_is_right_are_left_as_they_are(monkeypatch, tmp_path):
    def answer(number, schedules, kernels):
        return Answer(faults=dict.fromkeys(schedules, "its numbers are wrong"))

    found, said = tuned(monkeypatch, tmp_path, answer)
    assert found.schedules == {} and list((tmp_path / "tuned").iterdir()) == []
    assert len(found.dropped) == 4 and all("its numbers are wrong" in d for d in found.dropped)
    assert sum("dropped a candidate of" in line for line in said) == 4


def test_ctrl_c_among_choices_on_the_graph_ends_it(monkeypatch, tmp_path):
    graph = GraphFound(was_stopped=True)
    monkeypatch.setattr(tune, "tune_graph", lambda *_, **options: graph)
    found, _ = tuned(monkeypatch, tmp_path, lambda *_: pytest.fail("it went on"))
    assert (found.ended, found.graph, found.experiments) == ("interrupted", graph, 0)


def test_a_fault_of_one_candidate_costs_the_others_nothing(monkeypatch, tmp_path):
    def answer(number, schedules, kernels):
        bad = kernels["matmul_0"].key
        pairs = [(100.0, 80.0)] * 6
        names = [n for n, k in kernels.items() if k.key in schedules and k.key != bad]
        faults = {bad: "it crashed (SIGSEGV)"} if bad in schedules else {}
        return Answer(dict.fromkeys(names, pairs), pairs, faults=faults)

    found, _ = tuned(monkeypatch, tmp_path, answer)
    (one,) = found.schedules.values()
    assert one.gain == pytest.approx(0.2) and one.schedule.kernel != "matmul_0"
    assert all(line.startswith("matmul_0, ") for line in found.dropped)


def test_a_machine_too_disturbed_to_measure_is_said_and_nothing_is_kept(monkeypatch, tmp_path):
    def answer(number, schedules, kernels):
        pairs = [(100.0, 50.0 + 25 * i) for i in range(6)]
        return Answer(dict.fromkeys(kernels, pairs), pairs)

    found, said = tuned(monkeypatch, tmp_path, answer)
    assert found.schedules == {}
    (line,) = [line for line in said if "disturbed" in line]
    assert "the same runs differ by +- 62%" in line


def test_an_emulated_processor_is_refused(tmp_path):
    said, folder = [], tmp_path / "tuned"
    with pytest.raises(NncError, match="code for 'cortex-a76' cannot be: this machine is"):
        module = nnc.parse(CHAIN)
        mark_entry(module)
        tune_model(module, lambda model: inputs(), folder, target="cortex-a76", say=said.append)
    assert not said and not folder.exists()


@pytest.mark.emulated
def test_kernels_of_webassembly_have_a_clock_in_an_engine(tmp_path):
    require_emulator("wasm32-simd")
    module = bufferized(CHAIN, target="wasm32-simd")
    steps = pipeline("builtin.module(instrument-kernels)")
    PassManager(steps, PassContext(), (), False).run(module)
    request = Request(tmp_path, tmp_path / "schedules", 1, 0.0, 1e-4, 0)
    model = running_default(request, store_default(request, module))
    assert not isinstance(model, PatchedProgram)
    x, w, v = inputs().values()
    before = time.monotonic_ns()
    outputs = [model.run(inputs()) for _ in range(20)]
    took = time.monotonic_ns() - before
    np.testing.assert_allclose(outputs[0]["output0"], x @ w @ v, rtol=1e-4, atol=1e-4)
    times = np.concatenate([one["nnc.times"] for one in outputs])
    assert (np.diff(times) >= 0).all() and 0 < times[-1] - times[0] <= took
