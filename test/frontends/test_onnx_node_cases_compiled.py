"""ONNX's own cases, compiled to machine code.

By default and in the thorough tests the first case of each operator runs, the others are slow.
"""

import ml_dtypes
import numpy as np
import pytest
from nnc.driver.compile import compile_model
from nnc.ir.diagnostics import NncError

from .onnx_cases import FORMS, arrays, cases, compare
from .onnx_not_covered import reason_not_covered

SHARDS = 8
ONE_IN = {"as it is": 27, "open": 54, "known": 81}
"""Form -> of how many cases of the same operators one is compiled.

The interpreter runs all cases in all forms.
"""


def check_compiled(name: str, form: str) -> None:
    case = cases()[name]
    executable = None
    for inputs, outputs in case.data_sets:
        if executable is None or form == "known":
            module, given = FORMS[form](case, arrays(inputs))
            module.verify()
            executable = compile_model(module, cache=False, fast_math=not has_16_bits(given))
        else:
            given = arrays(inputs)
        names = executable.input_names
        found = executable.run(dict(zip(names, given, strict=True)))
        for value, expected in zip(found.values(), arrays(outputs), strict=True):
            compare(value, expected, case)


def has_16_bits(given: list) -> bool:
    """Whether numbers are given whose every rounding shows in what the case expects."""
    return any(getattr(one, "dtype", None) in (np.float16, ml_dtypes.bfloat16) for one in given)


def covered(form: str) -> list[str]:
    return [name for name in sorted(cases()) if reason_not_covered(name, form) is None]


def operators(name: str) -> tuple[str, ...]:
    return tuple(node.op_type for node in cases()[name].model.graph.node)


def first_of_each_operator() -> list[str]:
    first: dict[tuple[str, ...], str] = {}
    for name in covered("as it is"):
        if len(operators(name)) == 1:
            first.setdefault(operators(name), name)
    return list(first.values())


def sample(form: str) -> list[str]:
    """One in so many cases of the same operators, of those that no other test compiles."""
    others = set(covered(form)).difference(first_of_each_operator())
    return sorted(others, key=lambda name: (operators(name), name))[:: ONE_IN[form]]


def check_all(names: list[str], form: str = "as it is") -> None:
    failures = []
    for name in names:
        try:
            check_compiled(name, form)
        except (NncError, AssertionError) as error:
            failures.append(f"{name}: {error}")
    assert not failures, f"{len(failures)} cases fail:\n" + "\n".join(failures)


@pytest.mark.sampled(8)
@pytest.mark.parametrize("shard", range(SHARDS))
def test_each_operator(shard: int) -> None:
    check_all(first_of_each_operator()[shard::SHARDS])


@pytest.mark.slow
@pytest.mark.parametrize("form", FORMS)
@pytest.mark.parametrize("shard", range(SHARDS))
def test_all_cases(shard: int, form: str) -> None:
    check_all(sample(form)[shard::SHARDS], form)
