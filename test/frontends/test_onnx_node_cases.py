"""ONNX's own cases through import and interpretation of the nn ops, in three forms.

Compiled: `test_onnx_node_cases_compiled.py`.
"""

import pytest
from nnc.ir.diagnostics import NncError
from nnc.numerics.interpreter import Interpreter

from .onnx_cases import FORMS, arrays, cases, compare
from .onnx_not_covered import TABLES, reason_not_covered

SHARDS = 8
LEAST_COVERED = {"as it is": 2006, "open": 1975, "known": 2004}


def check(name: str, form: str) -> None:
    case = cases()[name]
    for inputs, outputs in case.data_sets:
        module, given = FORMS[form](case, arrays(inputs))
        module.verify()
        found = Interpreter(module).call("main", given)
        for value, expected in zip(found, arrays(outputs), strict=True):
            compare(value, expected, case)


@pytest.mark.parametrize(
    "form", [pytest.param(f, marks=[pytest.mark.thorough] * (f != "as it is")) for f in FORMS]
)
@pytest.mark.parametrize(
    "shard", [pytest.param(s, marks=[pytest.mark.thorough] * bool(s)) for s in range(SHARDS)]
)
def test_cases(shard, form, record_property):
    failures, passed, left_out = [], 0, 0
    for name in sorted(cases())[shard::SHARDS]:
        if reason_not_covered(name, form) is not None:
            left_out += 1
            failures += still_refused(name, form)
            continue
        try:
            check(name, form)
        except (NncError, AssertionError) as error:
            failures.append(f"{name}: {error}")
        passed += 1
    record_property("cases passed", passed - len(failures))
    record_property("cases not covered", left_out)
    assert not failures, f"{len(failures)} cases fail:\n" + "\n".join(failures)


def still_refused(name: str, form: str) -> list[str]:
    """A case of the table must not import, or not give the expected result; never crash."""
    try:
        check(name, form)
    except (NncError, AssertionError):
        return []
    return [f"{name} works now; take it out of test/frontends/onnx_not_covered.py"]


@pytest.mark.parametrize("form", FORMS)
def test_how_many_are_covered(form):
    covered = sum(reason_not_covered(name, form) is None for name in cases())
    assert covered >= LEAST_COVERED[form], f"{covered} of {len(cases())} cases are covered"


def test_every_row_of_the_table_is_needed():
    used = {reason_not_covered(name, form) for form in FORMS for name in cases()}
    rows = (row for tables in TABLES.values() for table in tables for row in table.values())
    assert set(rows) <= used
