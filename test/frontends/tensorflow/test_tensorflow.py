"""TensorFlow's models give what TensorFlow gives; `make.py` wrote them."""

from pathlib import Path
from types import SimpleNamespace

import numpy as np
import pytest
from nnc import NncError, compile
from nnc.frontends.tensorflow.functions import FunctionValues, output_arguments
from nnc.frontends.wire.protobuf import WireError

from ..interpreted import interpreted

FILES = Path(__file__).parent / "files"
LARGE = ("gradients_of_images",)
"""Models that are not compiled, as that takes a minute."""
OWN_TESTS = ("assigned", "optimized")
"""Models with tests of their own."""
NAMES = sorted(
    path.stem
    for path in FILES.glob("*.npz")
    if not path.stem.endswith("_runs") and path.stem not in OWN_TESTS
)
assert NAMES, "make.py writes them"


def model_path(name: str) -> Path:
    folder = FILES / name
    return folder if folder.is_dir() else FILES / f"{name}.pb"


def arrays(stored, prefix: str) -> list[np.ndarray]:
    return [stored[f"{prefix}{i}"] for i in range(sum(k.startswith(prefix) for k in stored))]


def decoded(array: np.ndarray) -> np.ndarray:
    """Text as objects."""
    if array.dtype.kind != "S":
        return array
    return np.array(
        [text.decode("utf-8", "surrogateescape") for text in array.flat], object
    ).reshape(array.shape)


@pytest.mark.parametrize("name", NAMES)
def test_model(name):
    check_model(name, interpreted(model_path(name)))


@pytest.mark.sampled(5)
@pytest.mark.parametrize("name", sorted({*NAMES} - {*LARGE}))
def test_machine_code(name):
    check_model(name, compile(model_path(name)))


def check_model(name, model):
    with np.load(FILES / f"{name}.npz") as stored:
        inputs, outputs = (list(map(decoded, arrays(stored, k))) for k in ("in", "out"))
    names = sorted(model.input_names)
    found = model.run(dict(zip(names, inputs, strict=True)))
    assert len(found) == len(outputs)
    # TensorFlow names them Identity, Identity_1, ..
    order = sorted(found, key=lambda key: (len(key), key))
    for key, wanted in zip(order, outputs, strict=True):
        value = found[key]
        assert value.dtype == wanted.dtype, key
        assert value.shape == wanted.shape, key
        if wanted.dtype.kind in "Oiu":
            assert value.tolist() == wanted.tolist(), key
            continue
        wide = complex if wanted.dtype.kind == "c" else float
        if not np.isfinite(wanted.astype(wide)).all():
            np.testing.assert_allclose(value, wanted, rtol=1e-4, atol=1e-5, err_msg=key)
            continue
        most = 1e-4 * np.abs(wanted).max(initial=0)
        assert np.abs(value.astype(wide) - wanted.astype(wide)).max(initial=0) <= most, key


def test_variables_that_are_written():
    """They are inputs and outputs; the next run gets what came out."""
    model = compile(FILES / "counter")
    assert set(model.input_names) == {"x0", "total", "runs"}
    states = {"total": np.zeros(3, np.float32), "runs": np.array(1, np.int32)}
    with np.load(FILES / "counter_runs.npz") as stored:
        for i in range(4):
            found = model.run({"x0": stored[f"in{i}"], **states})
            np.testing.assert_allclose(found["y"], stored[f"out{i}"], rtol=1e-5)
            np.testing.assert_allclose(found["total"], stored[f"total{i}"], rtol=1e-5)
            states = {name: found[name] for name in states}
    assert states["runs"] == 5


@pytest.mark.parametrize(("signature", "power"), [(None, 1), ("serving_default", 1), ("square", 2)])
def test_signatures(signature, power):
    model = compile(FILES / "signatures", signature=signature)
    given = np.array([1, 2, 3], np.float32)
    np.testing.assert_array_equal(model(x=given), given * 2 if power == 1 else given**2)


def test_a_signature_that_is_not_there():
    with pytest.raises(NncError, match=r"no signature 'cube'; signatures: .*'square'"):
        compile(FILES / "signatures", signature="cube")
    with pytest.raises(NncError, match="models of ONNX have none"):
        compile(b"\x08\x08", signature="cube")


def test_outputs_and_inputs_stand_as_the_function_has_them():
    """Not as text sorts them: of `f(zoom, angle)` the second output is output_1, not output_10."""
    model = compile(FILES / "many_outputs")
    assert list(model.input_names) == ["zoom", "angle"]
    zoom, angle = np.array([1, 2], np.float32), np.array([3, 5], np.float32)
    for i, found in enumerate(model(zoom, angle)):
        np.testing.assert_array_equal(found, zoom * i - angle)


@pytest.mark.parametrize("at", [-1, 3])
def test_indices_that_are_out_of_range(at):
    """TensorFlow on processors refuses them: a negative one does not count from the end."""
    model = compile(FILES / "out_of_range.pb")
    x, good = np.ones((3, 2), np.float32), np.array([0, 1, 2], np.int32)
    model.run({"x0": x, "x1": good, "x2": np.array(0, np.int32)})
    for which in range(7):
        with pytest.raises(NncError, match=r"range|negative|class"):
            bad = np.array([0, at, 2], np.int32) if at < 0 else np.array([0, 2, at], np.int32)
            model.run({"x0": x, "x1": bad, "x2": np.array(which, np.int32)})


def test_a_state_with_numbers_of_its_own_may_be_left_out():
    """The seed of a dropout that is on: the first run begins with the file's."""
    model = compile(FILES / "seeded")
    (state,) = model.states
    with np.load(FILES / "seeded_runs.npz") as stored:
        given = {model.input_names[0]: stored["x"]}
        for wanted in stored["found"]:
            found = model.run(given)
            np.testing.assert_array_equal(found["output_0"], wanted)
            given[state] = found[state]


SEVERAL = {
    "BlockLSTMV2": "i cs f o ci co h",
    "CombinedNonMaxSuppression": "nmsed_boxes nmsed_scores nmsed_classes valid_detections",
    "LogMatrixDeterminant": "sign log_abs_determinant",
    "LookupTableExportV2": "keys values",
    "Lu": "lu p",
    "MaxPoolWithArgmax": "output argmax",
    "NonMaxSuppressionV5": "selected_indices selected_scores valid_outputs",
    "Qr": "q r",
    "RaggedRange": "rt_nested_splits rt_dense_values",
    "SelfAdjointEigV2": "e v",
    "SoftmaxCrossEntropyWithLogits": "loss backprop",
    "SparseFillEmptyRows": "output_indices output_values empty_row_indicator reverse_index_map",
    "StringNGrams": "ngrams ngrams_splits",
    "Svd": "s u v",
    "TensorListConcatV2": "tensor lengths",
    "TopKV2": "values indices",
    "UniqueWithCountsV2": "y idx count",
    "_FusedBatchNormEx": "y batch_mean batch_variance reserve_space_1 reserve_space_2 "
    "reserve_space_3",
}
"""What TensorFlow's registry says of operators that have several results."""


@pytest.mark.parametrize("kind", SEVERAL)
def test_results_in_functions_are_known_by_name(kind):
    assert list(output_arguments(kind)) == SEVERAL[kind].split()


def test_a_result_that_an_operator_does_not_have():
    """In functions results have names, and another one is never meant."""
    node = SimpleNamespace(name="two", op="TopKV2")
    values = FunctionValues(SimpleNamespace(node_def=[node]))
    assert values.name("two:indices:0") == "two:1"
    with pytest.raises(WireError, match="names no value"):
        values.name("two:places:0")


def test_parts_of_variables_that_are_written():
    """By each operator; writes other than updates and sums were left out."""
    model = compile(FILES / "assigned")
    with np.load(FILES / "assigned.npz") as stored:
        at, by, wanted = (stored[name] for name in ("in0", "in1", "out0"))
    states = {"Variable": np.arange(1, 13, dtype=np.float32).reshape(4, 3)}
    found = model.run({"x0": at, "x1": by, **states})
    np.testing.assert_allclose(found["y"], wanted, rtol=1e-5, atol=1e-6)
    np.testing.assert_allclose(found["Variable"], wanted[-1], rtol=1e-5, atol=1e-6)
    for one in (-1, 4):
        with pytest.raises(NncError, match=r"range|negative"):
            model.run({"x0": np.array([0, one, 2], np.int32), "x1": by, **states})


def test_unknown_writes_of_variables_are_an_error():
    """They have no results, and were left out."""
    with pytest.raises(NncError, match=r"\(ResourceApplyGradientDescent\): not supported"):
        compile(FILES / "optimized")
