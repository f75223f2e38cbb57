"""ONNX's own cases for every operator, through import and interpretation of the nn ops.

Shapes that depend on the values of inputs (axes, pads, sizes, ..) are not known at import;
where a case needs them, its inputs of that kind are given to the import as constants.
"""

import warnings
from functools import cache

import numpy as np
import onnx
import pytest
from nnc.frontends.onnx import import_model
from nnc.ir.core import Operation
from nnc.ir.diagnostics import NncError
from nnc.numerics.interpreter import Interpreter

from .onnx_not_covered import NOT_COVERED, reason_not_covered

SHARDS = 8
LEAST_COVERED = 1690

# Float inputs that shapes depend on, or whose values must be known for another reason.
FROZEN_NAMES = {"roi", "scales", "start", "limit", "delta", "r", "t"}

# One unit in the last place of the wider types, relative.
TOLERANCES = {"bfloat16": 2e-2, "float16": 4e-3}


@cache
def cases() -> dict:
    from onnx.backend.test.loader import load_model_tests

    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # NumPy's, while onnx computes the expected values
        return {case.name: case for case in load_model_tests(kind="node")}


def arrays(values) -> list:
    """The values as arrays where they are tensors; lists are sequences, None is an optional."""

    def convert(value):
        match value:
            case onnx.TensorProto():
                return onnx.numpy_helper.to_array(value)
            case onnx.SequenceProto():
                return onnx.numpy_helper.to_list(value)
            case onnx.OptionalProto():
                return onnx.numpy_helper.to_optional(value)
        return np.asarray(value) if isinstance(value, np.generic | bool | float | int) else value

    return [convert(value) for value in values]


def constants_of(case) -> dict[str, np.ndarray]:
    """The inputs on which shapes may depend."""
    found = {}
    for info, value in zip(case.model.graph.input, arrays(case.data_sets[0][0]), strict=False):
        if not isinstance(value, np.ndarray):
            continue
        small = value.ndim <= 1 and value.dtype.kind in "iub"
        if info.name in FROZEN_NAMES or (small and info.name not in ("x", "X", "data")):
            found[info.name] = value
    return found


def imported(case) -> tuple[Operation, set[str]]:
    """The verified module, and the inputs that became constants."""
    frozen: dict[str, np.ndarray] = {}
    try:
        module = import_model(case.model)
    except NncError as error:
        frozen = constants_of(case)
        if not frozen:
            raise
        try:
            module = import_model(case.model, constants=frozen)
        except NncError:
            raise error from None
    module.verify()
    return module, set(frozen)


def check(case) -> None:
    module, frozen = imported(case)
    names = [info.name for info in case.model.graph.input]
    for inputs, outputs in case.data_sets:
        given = zip(names, arrays(inputs), strict=False)
        found = Interpreter(module).call("main", [v for n, v in given if n not in frozen])
        for value, expected in zip(found, arrays(outputs), strict=True):
            compare_values(value, expected, case)


def compare_values(found, expected, case) -> None:
    """Values of any kind."""
    if isinstance(expected, list):
        assert isinstance(found, list)
        for one, wanted in zip(found, expected, strict=True):
            compare_values(one, wanted, case)
    elif expected is None:
        assert found is None
    else:
        compare(np.asarray(found), np.asarray(expected), case)


def compare(found: np.ndarray, expected: np.ndarray, case) -> None:
    if expected.dtype.kind in "OU":
        assert (found.dtype, found.shape) == (np.dtype(object), expected.shape)
        assert found.tolist() == expected.tolist()
        return
    assert (found.dtype, found.shape) == (expected.dtype, expected.shape)
    if expected.dtype.kind in "iub":
        np.testing.assert_array_equal(found, expected)
        return
    rtol = max(case.rtol, TOLERANCES.get(expected.dtype.name, 1e-3))
    atol = max(case.atol, 1e-6)
    np.testing.assert_allclose(found.astype(float), expected.astype(float), rtol=rtol, atol=atol)


@pytest.mark.parametrize("shard", range(SHARDS))
def test_node_cases(shard, record_property):
    failures, passed, left_out = [], 0, 0
    for name in sorted(cases())[shard::SHARDS]:
        reason = reason_not_covered(name)
        if reason is not None:
            left_out += 1
            failures += still_refused(name)
            continue
        try:
            check(cases()[name])
        except (NncError, AssertionError) as error:
            failures.append(f"{name}: {error}")
        passed += 1
    record_property("cases passed", passed - len(failures))
    record_property("cases not covered", left_out)
    assert not failures, f"{len(failures)} cases fail:\n" + "\n".join(failures)


def still_refused(name: str) -> list[str]:
    """A case of the table must not import, or not give the expected result; never crash."""
    try:
        check(cases()[name])
    except (NncError, AssertionError):
        return []
    return [f"{name} works now; take it out of test/frontends/onnx_not_covered.py"]


def test_how_many_are_covered():
    covered = sum(reason_not_covered(name) is None for name in cases())
    assert covered >= LEAST_COVERED, f"{covered} of {len(cases())} node cases are covered"


def test_every_row_of_the_table_is_needed():
    used = {reason_not_covered(name) for name in cases()}
    assert set(NOT_COVERED.values()) <= used
