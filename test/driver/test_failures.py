"""What a model says of inputs that it cannot be run on: compiled here, as a library, interpreted."""

from pathlib import Path

import nnc
import numpy as np
import onnxruntime
import onnxruntime.capi.onnxruntime_pybind11_state as peer_errors
import pytest
from nnc.driver.compile import load_module, run_stages
from nnc.ir.diagnostics import NncError
from nnc.numerics.interpreter import Interpreter

from .failing_models import ANY1, BAD, GOOD, MODELS, TOO_LARGE, floats, ints, model, one

PEER_ERRORS = tuple(
    getattr(peer_errors, name) for name in ("Fail", "InvalidArgument", "RuntimeException")
)


class MadeOnce(dict):
    """What is made of a model of `MODELS`, by its name, when it is first asked for."""

    def __init__(self, make):
        super().__init__()
        self._make = make

    def __missing__(self, name):
        self[name] = self._make(MODELS[name])
        return self[name]


@pytest.fixture(scope="module")
def compiled():
    return MadeOnce(nnc.compile)


@pytest.fixture(scope="module")
def peers():
    onnxruntime.set_default_logger_severity(4)
    return MadeOnce(
        lambda model: onnxruntime.InferenceSession(
            model.SerializeToString(), providers=["CPUExecutionProvider"]
        )
    )


@pytest.fixture(scope="module")
def lowered():
    """Modules with the loops of the models' kernels."""
    return MadeOnce(lambda model: run_stages(load_module(model), last="loops"))


def tuple_of(found):
    return found if isinstance(found, tuple) else (found,)


def run_peer(session, inputs):
    return session.run(None, dict(zip([i.name for i in session.get_inputs()], inputs, strict=True)))


def interpret(module, executable, inputs):
    """A module of the loop level, called as its caller would."""
    static = [
        np.zeros(t.shape, np.int64 if str(t.element_type) == "i64" else np.float32)
        for t in executable.output_types
        if t.has_static_shape
    ]
    found = executable.signature
    memory = [np.zeros(n, np.int8) for n in (found.arena_bytes - found.heap_bytes, 0)]
    results = Interpreter(module).call("main", [*map(np.asarray, inputs), *static, *memory])
    return results or static


def identifier(case):
    return case[0] + str(
        [v.tolist() if v.size < 4 else list(v.shape) for v in case[1:] if hasattr(v, "size")]
    )


@pytest.mark.sampled(8)
@pytest.mark.parametrize("case", GOOD, ids=identifier)
def test_legal_sizes_and_indices(case, compiled, peers, lowered):
    name, *inputs = case
    expected = run_peer(peers[name], inputs)
    for found in (
        tuple_of(compiled[name](*inputs)),
        interpret(lowered[name], compiled[name], inputs),
    ):
        for result, wanted in zip(found, expected, strict=True):
            np.testing.assert_array_equal(result, wanted)


@pytest.mark.parametrize("case", BAD, ids=identifier)
def test_what_onnx_forbids_is_an_error(case, compiled, peers, lowered):
    """Of the node, compiled and interpreted; and the model can be called again."""
    name, text, *inputs = case
    with pytest.raises(PEER_ERRORS):
        run_peer(peers[name], inputs)
    check_refusal(name, text, inputs, compiled, lowered)


@pytest.mark.parametrize("case", TOO_LARGE, ids=identifier)
def test_what_no_memory_holds_is_an_error(case, compiled, lowered):
    name, text, *inputs = case
    check_refusal(name, text, inputs, compiled, lowered)


def check_refusal(name, text, inputs, compiled, lowered):
    good = next(case for case in GOOD if case[0] == name)[1:]
    before = tuple_of(compiled[name](*good))
    with pytest.raises(NncError, match=rf"^error: node 'y' \(\w+\): .*({text})"):
        compiled[name](*inputs)
    for result, wanted in zip(tuple_of(compiled[name](*good)), before, strict=True):
        np.testing.assert_array_equal(result, wanted)
    with pytest.raises(NncError, match=rf"y \(\w+\): error: .*({text})"):
        interpret(lowered[name], compiled[name], inputs)


@pytest.mark.parametrize("count", [1, 5, 37, 64])
@pytest.mark.parametrize("width", [1, 2, 3])
def test_one_wrong_index_among_many_is_found(count, width):
    """Wherever it stands, and in each column against the extent of its own."""
    extents = [3, 5, 2][:width]
    inputs = {"x": ("f", extents), "i": ("i", ["n", width])}
    run = nnc.compile(one("GatherND", inputs, ANY1))
    x = floats(*extents)
    right = np.stack([np.arange(count) % (2 * n) - n for n in extents], axis=1)
    np.testing.assert_array_equal(run(x, right), x[tuple(right.T)])
    for row in sorted({0, count // 2, count - 1}):
        for column, extent in enumerate(extents):
            for index in (extent, -extent - 1):
                wrong = right.copy()
                wrong[row, column] = index
                with pytest.raises(NncError, match="an index is out of range"):
                    run(x, wrong)


# -- which node it was -----------------------------------------------------------------------------


def test_nodes_that_share_a_kernel_are_told_apart():
    any2 = ("f", [None, None])
    nodes = [
        ("Add", ["a", "b"], ["first"], {}),
        ("Relu", ["first"], ["bent"], {}),
        ("MatMul", ["bent", "c"], ["product"], {}),
        ("Add", ["product", "d"], ["second"], {}),
        ("Relu", ["second"], ["y"], {}),
    ]
    run = nnc.compile(model(nodes, dict.fromkeys("abcd", any2), {"y": any2}))
    a, b, c, d = (np.ones((2, 2), np.float32) for _ in range(4))
    assert run(a, b, c, d).tolist() == [[5, 5], [5, 5]]
    wrong = np.ones((3, 2), np.float32)
    for inputs, node in (
        ((a, wrong, c, d), "first"),
        ((a, b, c, wrong), "second"),
        ((a, b, wrong, d), "product"),
    ):
        with pytest.raises(
            NncError, match=rf"^error: node '{node}' \(\w+\): extent 0 of an operand"
        ):
            run(*inputs)


def test_the_inputs_are_told(compiled):
    """Shapes that contradict each other, and the values that shapes are made of."""
    for name, inputs, told in (
        ("add", (floats(3), floats(4)), ["input 'a' has shape [3]", "input 'b' has shape [4]"]),
        ("expand", (floats(1, 3), ints(2, 4)), ["input 's' is [2, 4]"]),
    ):
        with pytest.raises(NncError) as caught:
            compiled[name](*inputs)
        assert [note.message for note in caught.value.diagnostic.notes] == told


def test_a_model_that_cannot_fail_has_no_table(tmp_path: Path):
    static = one("Relu", {"x": ("f", [4])}, ("f", [4]))
    module = run_stages(load_module(static))
    assert "nn.failures" not in module.attributes
    assert not any("failure" in str(op.properties.get("sym_name")) for op in module.body_block)


@pytest.mark.parametrize("suffix", ["", ".onnx", ".mlir"])
@pytest.mark.parametrize(
    ("name", "said"),
    [("x" * 5000, "cannot read"), ("a\0b", "cannot read"), ("module {\n}\n", "nnc.parse")],
    ids=["long", "nul", "text"],
)
def test_a_string_that_is_no_path(name, said, suffix):
    with pytest.raises(NncError, match=said):
        nnc.compile(name + suffix)
