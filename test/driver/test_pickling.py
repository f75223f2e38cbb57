"""Compiled models that are pickled and copied, and what they give in another process."""

import copy
import pickle
import subprocess
import sys

import nnc
import numpy as np
import onnx
import pytest
from nnc.ir.diagnostics import NncError
from onnx import TensorProto, helper
from onnx.reference import ReferenceEvaluator

from .test_specializing import squeezed

OTHER_PROCESS = """
import pickle, sys
import numpy as np
model = pickle.load(sys.stdin.buffer)
np.save(sys.argv[2], model(np.load(sys.argv[1])))
print(model.threads, [a.size for a in ([] if model.parts else [model._program.weights])])
"""


def product(*shape):
    """relu(x @ w), where w is 300 x 5."""
    w = np.random.default_rng(1).standard_normal((300, 5)).astype(np.float32)
    x = helper.make_tensor_value_info("x", TensorProto.FLOAT, shape)
    y = helper.make_empty_tensor_value_info("y")
    y.type.tensor_type.elem_type = TensorProto.FLOAT
    nodes = [helper.make_node("MatMul", ["x", "w"], ["a"]), helper.make_node("Relu", ["a"], ["y"])]
    graph = helper.make_graph(nodes, "g", [x], [y], [onnx.numpy_helper.from_array(w, "w")])
    return helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)], ir_version=8)


def texts():
    """Texts put together, which a host does."""
    a, b = (helper.make_tensor_value_info(n, TensorProto.STRING, ["n"]) for n in "ab")
    y = helper.make_tensor_value_info("y", TensorProto.STRING, ["n"])
    graph = helper.make_graph(
        [helper.make_node("StringConcat", ["a", "b"], ["y"])], "g", [a, b], [y]
    )
    return helper.make_model(graph, opset_imports=[helper.make_opsetid("", 20)], ir_version=9)


def expected(proto, x) -> np.ndarray:
    (y,) = ReferenceEvaluator(proto).run(None, {"x": x})
    return np.asarray(y)


@pytest.mark.sampled(2)
@pytest.mark.parametrize("shape", [(4, 300), ("n", 300)])
@pytest.mark.parametrize("cache", [False, True])
def test_another_process_computes_the_same(tmp_path, shape, cache):
    proto = product(*shape)
    model = nnc.compile(proto, threads=2, cache=cache)
    x = np.random.default_rng(0).standard_normal((4, 300)).astype(np.float32)
    np.save(tmp_path / "x.npy", x)
    command = [sys.executable, "-c", OTHER_PROCESS, tmp_path / "x.npy", tmp_path / "y.npy"]
    said = subprocess.run(command, input=pickle.dumps(model), check=True, capture_output=True)
    assert said.stdout.split()[0] == b"2"
    y = np.load(tmp_path / "y.npy")
    np.testing.assert_allclose(y, expected(proto, x), rtol=1e-4, atol=1e-5)


@pytest.mark.parametrize("protocol", [2, 4, 5])
def test_each_protocol(protocol):
    proto = product(2, 300)
    x = np.random.default_rng(0).standard_normal((2, 300)).astype(np.float32)
    again = pickle.loads(pickle.dumps(nnc.compile(proto), protocol))
    np.testing.assert_allclose(again(x), expected(proto, x), rtol=1e-4, atol=1e-5)


def test_weights_need_not_be_copied_twice():
    buffers = []
    text = pickle.dumps(nnc.compile(product(2, 300)), 5, buffer_callback=buffers.append)
    assert len(buffers) == 1 and len(buffers[0].raw()) >= 300 * 5 * 4
    x = np.ones((2, 300), np.float32)
    again = pickle.loads(text, buffers=buffers)
    np.testing.assert_allclose(again(x), expected(product(2, 300), x), rtol=1e-4, atol=1e-5)


@pytest.mark.parametrize("copied", [copy.copy, copy.deepcopy])
def test_copies_outlive_the_model(copied):
    proto = product("n", 300)
    model = nnc.compile(proto)
    x = np.random.default_rng(0).standard_normal((3, 300)).astype(np.float32)
    model(x)
    other = copied(model)
    assert other is not model
    del model
    np.testing.assert_allclose(other(x), expected(proto, x), rtol=1e-4, atol=1e-5)


@pytest.mark.parametrize("again", [copy.deepcopy, lambda m: pickle.loads(pickle.dumps(m))])
def test_models_with_steps_of_the_host(again):
    model = again(nnc.compile(texts()))
    got = model(np.array(["a", "bc"], object), np.array(["x", ""], object))
    assert np.asarray(got).tolist() == ["ax", "bc"]


@pytest.mark.parametrize("again", [copy.deepcopy, lambda m: pickle.loads(pickle.dumps(m))])
def test_models_that_compile_themselves_for_shapes(again):
    proto = squeezed()
    model = again(nnc.compile(proto))
    for n in (4, 1):
        x = np.random.default_rng(0).standard_normal((n, 1, 3)).astype(np.float32)
        got = model(x)
        assert got.shape == expected(proto, x).shape
        np.testing.assert_allclose(got, expected(proto, x), rtol=1e-6)


def test_a_pickle_of_another_processor_is_one_error(monkeypatch):
    text = pickle.dumps(nnc.compile(product(2, 300)))
    target = type(nnc.compile(product(2, 300))._program.target)  # type: ignore[attr-defined]
    monkeypatch.setattr(target, "obstacle", lambda self: "it is another processor's")
    with pytest.raises(NncError, match="does not run here: it is another processor's"):
        pickle.loads(text)
