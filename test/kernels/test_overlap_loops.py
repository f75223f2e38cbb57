"""Both directions of recurrent networks run side by side, with the results of one thread."""

import pickle
from collections import Counter
from dataclasses import replace

import numpy as np
import onnx
import onnxruntime
import pytest
from nnc.dialects import scf
from nnc.dialects.marks import REPEATED
from nnc.driver.compile import run_stages
from nnc.driver.explaining.explain import explain
from nnc.driver.profiling.collect import profile_model
from nnc.driver.program import make_program
from nnc.driver.tuning.checking import difference
from nnc.driver.tuning.default import (
    run_loops_side_by_side,
    run_pass,
    running_default,
    scheduled_kernels,
    store_default,
)
from nnc.driver.tuning.patching import candidate_module
from nnc.driver.tuning.worker import Request, Worker, _kernels, _Patched
from nnc.frontends.onnx import import_model
from nnc.ir.decisions import Decisions
from nnc.ir.weights_file import write_module
from nnc.kernels.policy.variants import Variants
from nnc.kernels.tuned import fingerprint
from nnc.runtime.executable import Executable
from nnc.targets.attribute import attach
from nnc.targets.base import find_host, target
from nnc.targets.processor import processor_of
from onnx.helper import make_graph, make_model, make_node, make_opsetid, make_tensor_value_info

HIDDEN, STEPS = 128, 40


def network(kind, batch=1, steps=STEPS, layers=1, lengths=None, peepholes=False, **options):
    """A bidirectional network of several layers with random weights."""
    random = np.random.default_rng(0)
    gates, states = {"RNN": 1, "GRU": 3, "LSTM": 4}[kind], 2 if kind == "LSTM" else 1
    weights = {"shape": np.array([0, 0, -1], np.int64)}
    if lengths is not None:
        weights["lengths"] = np.array(lengths, np.int32)
    nodes, outputs, inputs = [], [f"x{layers}"], 4
    for i in range(layers):
        weights |= {
            f"{name}{i}": (random.standard_normal(shape) * 0.1).astype(np.float32)
            for name, shape in {
                "w": (2, gates * HIDDEN, inputs),
                "r": (2, gates * HIDDEN, HIDDEN),
                "b": (2, 2 * gates * HIDDEN),
                **({"p": (2, 3 * HIDDEN)} if peepholes else {}),
            }.items()
        }
        given = [f"{name}{i}" for name in "xwrb"] + ["lengths" if lengths else ""]
        given += ["", "", f"p{i}"] if peepholes else []
        last = [f"{name}{i}" for name in "hc"[:states]]
        recurrence = {"direction": "bidirectional", "hidden_size": HIDDEN, **options}
        nodes += [
            make_node(kind, given, [f"y{i}", *last], **recurrence),
            make_node("Transpose", [f"y{i}"], [f"t{i}"], perm=[0, 2, 1, 3]),
            make_node("Reshape", [f"t{i}", "shape"], [f"x{i + 1}"]),
        ]
        outputs += last
        inputs = 2 * HIDDEN
    graph = make_graph(
        nodes,
        "recurrent",
        [make_tensor_value_info("x0", onnx.TensorProto.FLOAT, (steps, batch, 4))],
        [make_tensor_value_info(name, onnx.TensorProto.FLOAT, None) for name in outputs],
        [onnx.numpy_helper.from_array(array, name) for name, array in weights.items()],
    )
    return make_model(graph, opset_imports=[make_opsetid("", 17)], ir_version=10)


def beside(module):
    """For each parallel loop over loops, how many of them it has."""
    switches = [op for op in module.walk() if isinstance(op, scf.IndexSwitch)]
    assert all(isinstance(op.parent_op, scf.Parallel) for op in switches)
    return [len(op.regions) for op in switches]


def for_two_cores(module):
    """Compile a module for this machine, with two cores."""
    found = find_host() or target("x86-64")
    attach(module, replace(found, machine=replace(found.machine, cores=2)))


CASES = {
    "RNN": {},
    "LSTM": {"batch": 2, "lengths": [40, 17], "peepholes": True},
    "GRU": {"batch": 3, "lengths": [1, 40, 39], "linear_before_reset": 1},
    "stacked LSTM": {"layers": 2},
    "open GRU": {"steps": "steps"},
}


@pytest.mark.parametrize(
    "case", ["RNN", *(pytest.param(one, marks=pytest.mark.slow) for one in list(CASES)[1:])]
)
def test_directions_run_side_by_side(case):
    """Against ONNX Runtime; equal bit for bit for any number of threads, and run after run."""
    model = network(case.split()[-1], **CASES[case])
    module = import_model(model)
    for_two_cores(module)
    groups, decisions = [], Decisions()
    run_stages(
        module,
        after_stage=lambda name, at: groups.extend(beside(at) if name == "schedule" else ()),
        decisions=decisions,
    )
    assert groups == [2] * CASES[case].get("layers", 1)
    assert [d.taken for d in decisions.made if d.kind == "loops"] == ["side by side"] * len(groups)
    x = np.random.default_rng(1).standard_normal(
        (STEPS, CASES[case].get("batch", 1), 4), np.float32
    )
    wanted = onnxruntime.InferenceSession(model.SerializeToString()).run(None, {"x0": x})
    program = make_program(module)
    runs = [Executable(program, threads=threads) for threads in (1, 2, 2, 2, 4)]
    first, *others = ([np.array(one) for one in run.run({"x0": x}).values()] for run in runs)
    for other in others:
        for one, same in zip(other, first, strict=True):
            np.testing.assert_array_equal(one, same)
    for one, expected in zip(first, wanted, strict=True):
        np.testing.assert_allclose(one, expected, rtol=1e-4, atol=1e-5)


@pytest.mark.slow
def test_candidates_are_measured_beside_the_other_loop(tmp_path):
    """Both loops are in one candidate's code at once, each with temporary memory of its own."""
    module = import_model(network("RNN"))
    for_two_cores(module)
    run_stages(module, last="bufferize")
    one_by_one = scheduled_kernels(module.clone())
    run_loops_side_by_side(module)
    assert beside(module) == [2]
    run_pass(module, "instrument-kernels")
    kernels = scheduled_kernels(module.clone())
    step = next(n for n, one in kernels.items() if "matmul" in n and REPEATED in one.attributes)
    assert fingerprint(kernels[step]) == fingerprint(one_by_one[step])
    request = Request(tmp_path, tmp_path / "schedules", 2, 0.0, 1e-4, 0)
    write_module(module, request.model)
    model = running_default(request, store_default(request, module))
    x = np.random.default_rng(1).standard_normal((STEPS, 1, 4), np.float32)
    request.inputs.write_bytes(pickle.dumps({"x0": x}))
    patched = _Patched(Worker(request), _kernels(request))
    program, machine = patched._program, processor_of(module)
    variants = Variants(step, kernels[step].body.blocks[0], machine, ("parallel",))
    wanted, count = model.run({"x0": x}), 0
    for _, variant in zip(range(40), variants.ranked(), strict=False):
        part = candidate_module(
            patched._module, patched._functions[step], variant.schedule,
            patched._kernels[step].interface,
        )  # fmt: skip
        if "@nnc_candidate_scratch" not in str(part):
            continue
        count += 1
        program.use({step: program.load(step, program.compiled(part))})
        for _ in range(100):
            assert difference(wanted, program.run({"x0": x}), 1e-4) == ""
    assert count


@pytest.mark.slow
def test_profiles_tell_of_loops_side_by_side():
    """Their kernels are rows of their own, and may take more time together than has passed."""
    module = import_model(network("RNN"))
    for_two_cores(module)
    x = np.zeros((STEPS, 1, 4), np.float32)
    found = explain("rnn", module.clone())
    profile = profile_model("rnn", module, lambda _: {"x0": x}, threads=2, runs=5)
    (loops,) = [one for one in profile.kernels if one.kernel == "loops side by side"]
    assert loops.time.low >= 0
    steps = [one for one in profile.kernels if one.inner_calls == STEPS]
    assert len(steps) > 4
    # What a run is expected to call is what it calls, and the longer of both loops counts.
    called = Counter[str]()
    for one in profile.kernels:
        called[one.kernel] += one.inner_calls or 1
    assert {one.kernel: one.calls for one in found.kernels}.items() <= called.items()
    assert not any(one.is_assumed for one in found.kernels)
    assert {one.beside for one in found.kernels} >= {0, STEPS, 2 * STEPS}
    whole = sum(one.total for one in found.kernels)
    assert whole / 2 < found.microseconds < 0.7 * whole
    assert found.microseconds == pytest.approx(profile.expected / 1e3)
