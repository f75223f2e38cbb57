"""Random numbers: those of NumPy's RandomState, by onnx.reference or drawn here; and moments."""

import numpy as np
import pytest
from nnc.driver.compile import compile_model
from onnx import TensorProto
from onnx.reference import ReferenceEvaluator

from .models import run
from .test_onnx_contributed import model

F, D = TensorProto.FLOAT, TensorProto.DOUBLE


@pytest.mark.parametrize("op", ["RandomUniform", "RandomNormal"])
@pytest.mark.parametrize("shape", [[2, 3], [1000], [313]], ids=str)
def test_as_the_reference_draws(op, shape):
    ranges = {"low": -1.0, "high": 3.0} if op == "RandomUniform" else {"mean": 1.0, "scale": 2.0}
    for dtype in (F, D):
        made, _ = model(op, [], "", [dtype], shape=shape, seed=7.0, dtype=dtype, **ranges)
        (found,), (again,) = run(made), run(made)
        (expected,) = ReferenceEvaluator(made).run(None, {})
        np.testing.assert_array_equal(found, again)
        np.testing.assert_allclose(found, expected, rtol=2e-6, atol=1e-6)
        assert found.dtype == expected.dtype


@pytest.mark.sampled(2)
@pytest.mark.parametrize("op", ["RandomUniformLike", "RandomNormalLike"])
def test_shapes_known_at_run_time_only(op):
    ranges = {"low": 0.0, "high": 1.0} if op == "RandomUniformLike" else {"mean": 0.0, "scale": 1.0}
    made, _ = model(op, [np.zeros((2, 3), np.float32)], "", [F], seed=3.0, **ranges)
    for i, name in enumerate("mn"):
        made.graph.input[0].type.tensor_type.shape.dim[i].dim_param = name
    compiled, reference = compile_model(made), ReferenceEvaluator(made)
    for shape in ((2, 3), (1, 1), (37, 41), (0, 3)):
        x = np.zeros(shape, np.float32)
        (expected,) = reference.run(None, {"x0": x})
        np.testing.assert_allclose(compiled(x), expected, rtol=2e-6, atol=1e-6)


def test_bernoulli_as_the_reference_draws():
    chances = np.random.default_rng(1).random((40, 30))
    chances[0, :5] = [0, 1, 0.5, 0, 0]
    made, given = model("Bernoulli", [chances], "", [D], seed=5.0)
    (found,) = run(made, *given)
    np.testing.assert_array_equal(found, np.random.RandomState(5).binomial(1, chances))


@pytest.mark.parametrize("ratio", [0.25, 0.75, 0.0])
def test_dropout_as_the_reference_draws(ratio):
    x = np.random.default_rng(2).standard_normal((20, 30)).astype(np.float32)
    inputs = [x, np.array(ratio, np.float32), np.array(True)]
    made, given = model("Dropout", inputs, "", [F, TensorProto.BOOL], seed=9)
    y, mask = run(made, *given)
    expected = np.random.RandomState(9).uniform(0, 1, x.shape) >= ratio
    np.testing.assert_array_equal(mask, expected)
    np.testing.assert_allclose(y, np.where(expected, x / (1 - ratio), 0), rtol=1e-6)


def test_nodes_without_a_seed():
    """They draw others than each other, and the same in each run."""
    made, _ = model("RandomNormal", [], "", [D], shape=[500], dtype=D)
    (x,), (again,) = run(made), run(made)
    made.graph.node[0].output[0] = made.graph.output[0].name = "other"
    (y,) = run(made)
    np.testing.assert_array_equal(x, again)
    assert abs(np.corrcoef(x, y)[0, 1]) < 5 / np.sqrt(x.size)


def test_multinomial():
    chances = np.array([[0.1, 0.2, 0.7], [0.5, 0.5, 0.0]])
    logits = np.log(chances + 1e-30).astype(np.float32)
    made, given = model("Multinomial", [logits], "", [TensorProto.INT32], sample_size=20000)
    (found,) = run(made, *given)
    for row, expected in zip(found, chances, strict=True):
        counts = np.bincount(row, minlength=3) / row.size
        np.testing.assert_allclose(counts, expected, atol=5 * 0.5 / np.sqrt(row.size))
