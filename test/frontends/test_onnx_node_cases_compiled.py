"""ONNX's own cases for every operator, compiled to machine code.

By default the first case of each operator runs, the others are slow.
"""

import pytest
from nnc.driver.compile import compile_model
from nnc.ir.diagnostics import NncError

from .onnx_not_covered import reason_not_covered
from .test_onnx_node_cases import arrays, cases, compare_values, imported

SHARDS = 8


def check_compiled(case) -> None:
    module, frozen = imported(case)
    executable = compile_model(module, cache=False)
    names = [info.name for info in case.model.graph.input]
    for inputs, outputs in case.data_sets:
        given = dict(zip(names, arrays(inputs), strict=False))
        found = executable.run({n: v for n, v in given.items() if n not in frozen})
        for value, expected in zip(found.values(), arrays(outputs), strict=True):
            compare_values(value, expected, case)


def covered() -> list[str]:
    return [name for name in sorted(cases()) if reason_not_covered(name) is None]


def first_of_each_operator() -> list[str]:
    first: dict[tuple[str, ...], str] = {}
    for name in covered():
        operators = tuple(node.op_type for node in cases()[name].model.graph.node)
        if len(operators) == 1:
            first.setdefault(operators, name)
    return list(first.values())


def check_all(names: list[str]) -> None:
    failures = []
    for name in names:
        try:
            check_compiled(cases()[name])
        except (NncError, AssertionError) as error:
            failures.append(f"{name}: {error}")
    assert not failures, f"{len(failures)} cases fail:\n" + "\n".join(failures)


@pytest.mark.parametrize("shard", range(SHARDS))
def test_each_operator(shard: int) -> None:
    check_all(first_of_each_operator()[shard::SHARDS])


@pytest.mark.slow
@pytest.mark.parametrize("shard", range(SHARDS))
def test_all_cases(shard: int) -> None:
    check_all(covered()[shard::SHARDS])
