"""Decisions on graphs: what each alternative computes, what is kept of them, which are measured."""

from dataclasses import replace

import numpy as np
import onnx
import onnxruntime
import pytest
from nnc.driver.compile import compile_model, load_module, run_stages
from nnc.driver.explaining.explain import explain
from nnc.driver.explaining.summary import reason, summary
from nnc.driver.program import make_program
from nnc.driver.tuning.choices import TunedChoice, read_choices, tell
from nnc.driver.tuning.experiments import ExperimentError
from nnc.driver.tuning.folders import export, merge
from nnc.driver.tuning.graph import PATIENCE, Candidate, candidates, search, tune_graph
from nnc.driver.tuning.kept import random_inputs
from nnc.driver.tuning.ratio import Ratio
from nnc.driver.tuning.tune import tolerance_of
from nnc.ir.decisions import Alternative, Decision, Decisions, Terms
from nnc.ir.diagnostics import NncError
from nnc.kernels.tuned import TunedFolder
from nnc.targets.attribute import attach, machine_name, target_of
from nnc.tools.nnc import main
from onnx import TensorProto, helper, numpy_helper

RANDOM = np.random.default_rng(7)
INTEGERS = RANDOM.integers(-60, 61, (64, 48)).astype(np.int8)
"""Small enough for ONNX Runtime, whose sums of two products saturate at 16 bits on some machines."""


def written(folder, nodes, inputs, constants, output):
    """The path of a model of these nodes."""
    given = [helper.make_tensor_value_info(name, kind, shape) for name, kind, shape in inputs]
    made = [helper.make_tensor_value_info(*output)]
    weights = [numpy_helper.from_array(array, name) for name, array in constants.items()]
    graph = helper.make_graph(nodes, "g", given, made, weights)
    opset = [helper.make_opsetid("", 17)]
    path = folder / "m.onnx"
    onnx.save(helper.make_model(graph, opset_imports=opset, ir_version=9), path)
    return str(path)


def network(folder, dtype=np.float32):
    """Two convolutions and a product for a batch of two, with an attention-like end."""
    weights = {
        "w": 0.1 * RANDOM.standard_normal((32, 16, 3, 3)),
        "b": RANDOM.standard_normal(32),
        "v": 0.2 * RANDOM.standard_normal((64, 32, 1, 1)),
        "m": 0.2 * RANDOM.standard_normal((64, 48)),
    }
    node = helper.make_node
    nodes = [
        node("Conv", ["x", "w", "b"], ["c"], name="first", pads=[1, 1, 1, 1]),
        node("Relu", ["c"], ["r"], name="relu"),
        node("Conv", ["r", "v"], ["d"], name="second"),
        node("GlobalAveragePool", ["d"], ["p"], name="pool"),
        node("Flatten", ["p"], ["f"], name="flat"),
        node("MatMul", ["f", "m"], ["q"], name="product"),
        node("Softmax", ["q"], ["y"], name="rows"),
    ]
    kind = helper.np_dtype_to_tensor_dtype(np.dtype(dtype))
    constants = {name: array.astype(dtype) for name, array in weights.items()}
    return written(
        folder, nodes, [("x", kind, (2, 16, 12, 12))], constants, ("y", kind, (2, 48))
    )  # fmt: skip


def quantized(folder):
    """A product of dequantized integers."""
    scale, zero = np.float32(0.02), np.uint8(128)
    node = helper.make_node
    nodes = [
        node("QuantizeLinear", ["x", "s", "z"], ["i"], name="steps"),
        node("DequantizeLinear", ["i", "s", "z"], ["f"], name="numbers"),
        node("DequantizeLinear", ["m", "t", "n"], ["w"], name="weights"),
        node("MatMul", ["f", "w"], ["y"], name="product"),
    ]
    constants = {
        "s": np.asarray(scale), "z": np.asarray(zero), "m": INTEGERS,
        "t": np.asarray(np.float32(0.01)), "n": np.asarray(np.int8(0)),
    }  # fmt: skip
    inputs = [("x", TensorProto.FLOAT, (8, 64))]
    return written(folder, nodes, inputs, constants, ("y", TensorProto.FLOAT, (8, 48)))


MODELS = {
    "f32": (network, 1e-4),
    "f16": (lambda folder: network(folder, np.float16), 2e-2),
    "int8": (quantized, 1e-4),
}


def made_with(path, told):
    """The model where decisions are told otherwise, and all that was decided."""
    module, decisions = load_module(path), Decisions(told=told)
    target = attach(module, target_of(module))
    run_stages(module, decisions=decisions)
    return target.running(make_program(module), 1, None), decisions


def decisions_of(path, told=None):
    """All that is decided on a model's graph."""
    decisions = Decisions(told=told or {})
    run_stages(load_module(path), last="make-kernels", decisions=decisions)
    return decisions


# -- every alternative computes what ONNX Runtime does -----------------------------------------


@pytest.mark.sampled(3)
@pytest.mark.parametrize("name", MODELS)
def test_all_alternatives_compute_the_same(name, tmp_path):
    make, tolerance = MODELS[name]
    path = make(tmp_path)
    model, decisions = made_with(path, {})
    inputs = random_inputs(model)
    (expected,) = onnxruntime.InferenceSession(path).run(None, inputs)
    open_ones = [one for one in decisions.made if one.operation]
    rounds = max(len(one.others) for one in open_ones)
    seen = set()
    for number in range(rounds):
        told = {}
        for one in open_ones:
            legal = [other for other in one.others if not other.fault]
            if number < len(legal):
                told[(one.places or (one.key,))[0]] = legal[number].name
        other, changed = made_with(path, told)
        seen |= {(one.kind, one.taken) for one in changed.made if one.told}
        for found in (model, other):
            got = found.run(inputs)["y"].astype(np.float64)
            scale = np.abs(expected.astype(np.float64)).max()
            assert np.abs(got - expected).max() <= tolerance * scale, told
    kinds = {"f32": {"layout", "algorithm", "fusion", "batch"}, "f16": {"precision", "layout"}}
    assert kinds.get(name, {"integers"}) <= {kind for kind, _ in seen}


def test_each_alternative_that_is_legal_has_a_time(tmp_path):
    decisions = decisions_of(network(tmp_path))
    kinds = {one.kind: one for one in decisions.made}
    assert {"layout", "algorithm", "fusion", "batch"} <= kinds.keys()
    for one in decisions.made:
        for option in one.alternatives:
            assert option.fault or (option.terms is not None and option.cycles > 0), one


def test_what_is_told_and_cannot_be_is_noted(tmp_path):
    told = {"layout second": "blocks of 7 channels", "algorithm nowhere": "direct"}
    decisions = decisions_of(network(tmp_path), told)
    (note,) = decisions.notes
    assert "layout 'blocks of 7 channels' of nn.conv" in note and "no such alternative" in note
    assert not any(one.told for one in decisions.made)


def test_equal_operations_have_one_key_whatever_their_names(tmp_path):
    first, other = (
        {one.key for one in decisions_of(network(tmp_path)).made if one.kind == "layout"}
        for _ in range(2)
    )
    assert first == other and len(first) == 3


# -- what nnc why and the line after a compilation say -----------------------------------------


def test_why_has_the_graphs_decisions(tmp_path):
    found = explain("m", load_module(network(tmp_path)), target="x86-64-v4")
    (batch,) = found.choices
    assert batch.kind == "batch" and batch.taken == "whole"
    assert {one.name for one in batch.options} == {"whole", "2 parts"}
    kinds = {choice.kind for kernel in found.kernels for choice in kernel.choices}
    assert {"layout", "fusion", "algorithm", "schedule"} <= kinds


def test_a_decision_that_was_told_is_no_alternative_of_the_line(tmp_path):
    module, decisions = load_module(network(tmp_path)), Decisions(told={"layout first": ""})
    run_stages(module, target="x86-64-v4", last="schedule", decisions=decisions)
    found = summary(module, decisions.made)
    assert found is not None and found.not_taken is not None
    slow, fast = Alternative("a", Terms({"l2": 4.0})), Alternative("b", Terms({"l2": 2.0}))
    told = Decision("layout", (slow, fast), "a", told="tuned")
    assert reason(fast, told) == "expected to take 0.5 times as long; the other was tuned"
    by_rule = replace(told, told="", because="blocks fill vectors")
    assert reason(fast, by_rule).endswith("by rule, blocks fill vectors")


# -- files -------------------------------------------------------------------------------------

CHOICE = TunedChoice("layout", "nn.conv {} : (t) -> (t)", "b", "a", 0.05, 0.01, "'here'", "1")


@pytest.mark.parametrize("sent", ["as a folder", "as a file"])
@pytest.mark.parametrize(
    "ours, theirs, kept",
    [(None, 0.05, "b"), (0.05, 0.02, "c"), (0.02, 0.05, "b"), (0.05, 0.055, "c")],
)
def test_choices_are_sent_and_merged(tmp_path, sent, ours, theirs, kept):
    """The one that saves more counts, as far as is sure."""
    source, into = tmp_path / "source", tmp_path / "into"
    source.mkdir()
    into.mkdir()
    if ours is not None:
        replace(CHOICE, taken="c", gain=ours).write(into)
    replace(CHOICE, gain=theirs, spread=0.02).write(source)
    if sent == "as a file":
        assert len(export(source, None, tmp_path / "sent").choices) == 1
        source = tmp_path / "sent"
    merge(source, into, None, lambda line: None)
    (found,) = read_choices(TunedFolder(into))
    assert found.taken == kept


def test_a_choice_from_elsewhere_stays_in_its_folder(tmp_path):
    """Its kind is part of the file's name."""
    source, into = tmp_path / "source", tmp_path / "into"
    source.mkdir()
    into.mkdir()
    hostile = replace(CHOICE, kind="../../layout")
    (source / "a.choice.mlir").write_text(hostile.content())
    merge(source, into, None, lambda line: None)
    assert [path.parent for path in tmp_path.rglob("*layout*")] == [into]


def test_a_choice_is_what_it_was_written_as(tmp_path):
    path = CHOICE.write(tmp_path)
    assert TunedChoice.read(path) == CHOICE
    folder = TunedFolder(tmp_path)
    assert folder.files() == [] and folder.choice_files() == [path]
    told = Decisions(told={CHOICE.key: "c"})
    tell(told, folder, "'here'")
    assert told.told == {CHOICE.key: "c"}
    elsewhere = Decisions()
    tell(elsewhere, folder, "'there'")
    assert not elsewhere.told
    tell(elsewhere, replace(folder, anywhere=True), "'there'")
    assert elsewhere.told == {CHOICE.key: "b"}


def test_the_digest_of_a_folder_depends_on_its_choices(tmp_path):
    folder = TunedFolder(tmp_path)
    before = folder.digest()
    CHOICE.write(tmp_path)
    assert folder.digest() != before


@pytest.mark.parametrize(
    "text, message",
    [
        ("module {\n}\n", "is not a choice of nnc tune"),
        ("module attributes {nnc.choice = {kind = 1 : i64}} {\n}\n", "has no 'kind'"),
        ("module", "expected"),
        (b"\xff\xfe", "not UTF-8"),
    ],
)
def test_a_damaged_choice_is_one_error_with_its_file(text, message, tmp_path):
    path = tmp_path / "layout-1.choice.mlir"
    path.write_bytes(text if isinstance(text, bytes) else text.encode())
    with pytest.raises(NncError) as error:
        read_choices(TunedFolder(tmp_path))
    shown = str(error.value)
    assert message in shown and "layout-1.choice.mlir" in shown


def test_two_choices_for_one_operation_are_an_error(tmp_path):
    path = CHOICE.write(tmp_path)
    (tmp_path / "copy.choice.mlir").write_bytes(path.read_bytes())
    with pytest.raises(NncError, match="another choice of its operation and machine"):
        read_choices(TunedFolder(tmp_path))


def test_a_compilation_takes_the_choices_of_its_folder(tmp_path, capsys):
    path = network(tmp_path)
    decisions = decisions_of(path)
    (one,) = [d for d in decisions.made if d.places == ("layout second",)]
    module = load_module(path)
    machine = machine_name(target_of(module))
    folder = tmp_path / "tuned"
    folder.mkdir()
    choice = TunedChoice("layout", one.operation, "as the model has it", machine=machine)
    choice.write(folder)
    usual, told = decisions, Decisions()
    run_stages(module, last="schedule", tuned=TunedFolder(folder), decisions=told)
    assert [d.taken for d in told.made if d.told] == ["as the model has it"]
    assert not any(d.told for d in usual.made)
    model = compile_model(path, tuned=TunedFolder(folder), cache=False)
    inputs = random_inputs(model)
    (expected,) = onnxruntime.InferenceSession(path).run(None, inputs)
    np.testing.assert_allclose(model.run(inputs)["y"], expected, rtol=1e-3, atol=1e-5)
    assert main(["tune", "-q", path, "--explain", str(folder)]) == 0
    assert "layout 'as the model has it' for '' of nn.conv" in capsys.readouterr().out


# -- which are measured, and what is kept ------------------------------------------------------


def decided(kind, *cycles, operation="op", fault=""):
    options = [Alternative(f"{i}", Terms({"memory": n})) for i, n in enumerate(cycles)]
    if fault:
        options.append(Alternative("broken", Terms({"memory": 1.0}), fault=fault))
    return Decision(kind, tuple(options), "0", operation=operation)


def test_candidates_are_near_legal_and_matter():
    made = [
        Decision("schedule", (Alternative("s", Terms({"memory": 1000.0})),), "s"),
        decided("layout", 300.0, 330.0, 900.0, operation="a", fault="not legal"),
        decided("layout", 300.0, 330.0, 900.0, operation="a"),
        decided("fusion", 100.0, 50.0, operation="b"),
        decided("fusion", 5.0, 4.0, operation="small"),
        decided("precision", 200.0, 210.0, operation="c"),
        decided("schedule", 200.0, 210.0, operation=""),
    ]
    found = candidates(made, "m")
    assert [(c.choice.kind, c.choice.operation, c.choice.taken) for c in found] == [
        ("layout", "a", "1"), ("fusion", "b", "1"),
    ]  # fmt: skip
    assert found[0].count == 2
    allowed = candidates(made, "m", precision=True)
    assert "precision" in {c.choice.kind for c in allowed}


def sure(median):
    return Ratio(median, median, median)


def some(*names):
    return [Candidate(TunedChoice("layout", n[0], n), 0.5, 0.1, 1) for n in names]


def test_the_best_of_each_decision_is_kept_where_all_together_are_faster():
    times = {"a1": 0.9, "a2": 0.8, "b1": 0.95, "c1": 1.1}

    def ratio(chosen, seconds):
        product = 1.0
        for one in chosen:
            product *= times[one.choice.taken]
        return sure(product)

    kept = search(some(*times), ratio, seconds=1e9)
    assert [one.taken for one in kept.choices] == ["a2", "b1"]
    assert kept.whole == sure(0.8 * 0.95) and kept.experiments == 5
    assert [one.gain for one in kept.choices] == pytest.approx([0.2, 0.05])


def test_of_what_is_slower_together_the_better_half_is_kept():
    def ratio(chosen, seconds):
        return sure(0.9) if len(chosen) == 1 else sure(1.1)

    kept = search(some("a1", "b1"), ratio, seconds=1e9)
    assert [one.taken for one in kept.choices] == ["a1"] and kept.whole == sure(0.9)


def test_nothing_within_the_spread_is_kept_and_what_fails_is_told():
    def ratio(chosen, seconds):
        if chosen[0].choice.taken == "a1":
            raise ExperimentError("its numbers are wrong, y: relative error 1")
        return Ratio(0.9, 0.7, 1.01)

    kept = search(some("a1", "b1"), ratio, seconds=1e9)
    assert kept.choices == () and kept.whole is None
    assert kept.dropped == ["layout 'a1' for '' of a: its numbers are wrong, y: relative error 1"]
    assert len(kept.tried) == 2


def test_what_is_known_to_take_too_long_is_not_begun():
    """An experiment and the comparison at the end take as long as compiling the default at least."""

    def ratio(chosen, seconds):
        raise AssertionError("measured")

    assert search(some("a1", "b1"), ratio, seconds=10, longest=6).experiments == 0


def test_time_and_trials_end_the_search():
    now = [0.0]

    def ratio(chosen, seconds):
        now[0] += 10
        return sure(1.0)

    names = [f"{letter}1" for letter in "abcdefgh"]
    kept = search(some(*names), ratio, seconds=45, clock=lambda: now[0])
    assert kept.experiments == 3 and len(kept.tried) == 3
    assert search(some(*names), ratio, seconds=1e9, trials=2).experiments == 2


def test_a_graph_without_gains_is_left_alone():
    names = [f"{chr(97 + i)}1" for i in range(PATIENCE + 5)]
    kept = search(some(*names), lambda chosen, seconds: sure(1.02), seconds=1e9)
    assert kept.experiments == PATIENCE and kept.choices == ()


def test_ctrl_c_keeps_what_was_found():
    asked = []

    def ratio(chosen, seconds):
        asked.append([one.choice.taken for one in chosen])
        if asked[-1] == ["b1"]:
            raise KeyboardInterrupt
        return sure(0.9)

    kept = search(some("a1", "b1", "c1"), ratio, seconds=1e9)
    assert [one.taken for one in kept.choices] == ["a1"] and asked == [["a1"], ["b1"], ["a1"]]
    assert kept.was_stopped and not search(some("a1"), lambda *_: sure(1.0), seconds=1).was_stopped


@pytest.mark.thorough
def test_an_experiment_measures_the_whole_model_in_a_process(tmp_path):
    module = load_module(network(tmp_path))
    attach(module, target_of(module))
    output, said = tmp_path / "tuned", []
    output.mkdir()
    kept = tune_graph(
        module, random_inputs, output, tolerance_of, seconds=1e4, trials=3, say=said.append
    )
    assert kept.experiments in (1, 2) and not kept.dropped
    assert any("of the model's time" in line for line in said)
    assert len(read_choices(TunedFolder(output))) == len(kept.choices)
    text = str(module)
    assert "linalg.generic" in text
