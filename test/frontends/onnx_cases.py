"""ONNX's own cases, in three forms: as they are, with open shapes, and with their inputs known.

As they are, all inputs are given when the model runs: also axes, sizes and conditions.
"""

import os
import pickle
import warnings
from functools import cache
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import onnx
from nnc.frontends.onnx import import_model
from nnc.ir.core import Operation
from onnx import numpy_helper

KEPT = Path(__file__).parents[2] / ".pytest_cache"
KINDS = ("node", "simple", "pytorch-converted", "pytorch-operator")


class Case(NamedTuple):
    """A model with inputs and what it makes of them, within tolerances."""

    model: onnx.ModelProto
    data_sets: list[tuple[list, list]]
    rtol: float
    atol: float


@cache
def cases() -> dict[str, Case]:
    """All cases by name, but those of whole networks: kept in a file, since ONNX computes them anew."""
    path = KEPT / f"onnx-{onnx.__version__}-numpy-{np.__version__}.pickle"
    if path.exists():
        return {name: Case(*case) for name, case in pickle.loads(path.read_bytes()).items()}
    found = _made()
    path.parent.mkdir(exist_ok=True)
    made = path.with_suffix(f".{os.getpid()}")
    made.write_bytes(pickle.dumps({name: tuple(case) for name, case in found.items()}))
    made.rename(path)
    return found


def _made() -> dict[str, Case]:
    from onnx.backend.test.loader import load_model_tests

    found = {}
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # NumPy's, while onnx computes the expected values
        for kind in KINDS:
            for case in load_model_tests(kind=kind):
                model, sets = case.model, case.data_sets
                if case.model_dir is not None:
                    model, sets = _stored(Path(case.model_dir))
                found[case.name] = Case(model, sets, case.rtol, case.atol)
    return found


def _stored(folder: Path) -> tuple[onnx.ModelProto, list]:
    """A case that lies in files."""
    model = onnx.load(folder / "model.onnx")
    sets = []
    for one in sorted(folder.glob("test_data_set_*")):
        sides = (("input", model.graph.input), ("output", model.graph.output))
        sets.append(
            tuple(
                [
                    _value(one / f"{word}_{i}.pb", value.type)
                    for i, value in enumerate(values)
                    if (one / f"{word}_{i}.pb").exists()
                ]
                for word, values in sides
            )
        )
    return model, sets


def _value(path: Path, type: onnx.TypeProto) -> Any:
    proto = {
        "sequence_type": onnx.SequenceProto,
        "optional_type": onnx.OptionalProto,
    }.get(type.WhichOneof("value"), onnx.TensorProto)()
    proto.ParseFromString(path.read_bytes())
    return proto


def arrays(values) -> list:
    """The values as arrays where they are tensors; lists are sequences, None is an optional."""

    def convert(value):
        match value:
            case onnx.TensorProto():
                return numpy_helper.to_array(value)
            case onnx.SequenceProto():
                return numpy_helper.to_list(value)
            case onnx.OptionalProto():
                return numpy_helper.to_optional(value)
        return np.asarray(value) if isinstance(value, np.generic | bool | float | int) else value

    return [convert(value) for value in values]


# -- forms -----------------------------------------------------------------------------------------


def as_it_is(case: Case, inputs: list) -> tuple[Operation, list]:
    """The module, and the inputs that are left to give."""
    return import_model(case.model), inputs


def with_open_shapes(case: Case, inputs: list) -> tuple[Operation, list]:
    """Every extent of the inputs has a name; of other values the ranks are known."""
    model = onnx.ModelProto()
    model.CopyFrom(case.model)
    for value in (*model.graph.input, *model.graph.output, *model.graph.value_info):
        for i, dim in enumerate(value.type.tensor_type.shape.dim):
            dim.Clear()
            if any(value is one for one in model.graph.input):
                dim.dim_param = f"{value.name}_{i}"
    return import_model(model), inputs


def with_known_inputs(case: Case, inputs: list) -> tuple[Operation, list]:
    """All tensors that are inputs become constants."""
    pairs = list(zip(case.model.graph.input, inputs, strict=False))
    known = {info.name: value for info, value in pairs if info.type.HasField("tensor_type")}
    rest = [value for info, value in pairs if info.name not in known]
    return import_model(case.model, constants=known), rest


FORMS = {"as it is": as_it_is, "open": with_open_shapes, "known": with_known_inputs}


def compare(found: Any, expected: Any, case: Case) -> None:
    """Raises AssertionError unless a value is what the case expects, within its tolerances."""
    if isinstance(expected, list):
        assert isinstance(found, list)
        for one, wanted in zip(found, expected, strict=True):
            compare(one, wanted, case)
    elif expected is None:
        assert found is None
    else:
        _compare_arrays(np.asarray(found), np.asarray(expected), case)


def _compare_arrays(found: np.ndarray, expected: np.ndarray, case: Case) -> None:
    if expected.dtype.kind in "OU":
        assert (found.dtype, found.shape) == (np.dtype(object), expected.shape)
        assert found.tolist() == expected.tolist()
        return
    assert (found.dtype, found.shape) == (expected.dtype, expected.shape)
    if expected.dtype.kind in "iub":
        np.testing.assert_array_equal(found, expected)
        return
    wide = complex if expected.dtype.kind == "c" else float
    pair = found.astype(wide), expected.astype(wide)
    np.testing.assert_allclose(*pair, rtol=case.rtol, atol=case.atol)
