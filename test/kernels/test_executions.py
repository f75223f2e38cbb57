"""How often a run executes what stands in loops and branches, and how long all kernels take."""

import pytest
from nnc.ir.syntax.parser import parse_module
from nnc.kernels.model.executions import executions, kernel_calls, run_time
from nnc.kernels.model.extents import UNKNOWN_EXTENT

COUNTED = """
  func.func @{name}(%b: memref<4xf32>) attributes {{nn.entry}} {{
    %c0 = arith.constant 0 : index
    %c1 = arith.constant 1 : index
    %c2 = arith.constant 2 : index
    %c5 = arith.constant 5 : index
    %n = memref.dim %b, %c0 : memref<4xf32>
    {body}
    return
  }}
"""
KERNELS = "".join(
    f"  func.func private @{name}(%b: memref<4xf32>) attributes {{nn.kernel}} {{ return }}\n"
    for name in "xyz"
)
CALL = "func.call @{} (%b) : (memref<4xf32>) -> ()\n"
X, Y, Z = (CALL.format(name) for name in "xyz")
WHILE = """
    %r{tag} = scf.while (%i = %c0) : (index) -> index {{
      {before}
      %more = arith.cmpi slt, %i, {count} : index
      scf.condition(%more) %i : index
    }} do {{
    ^bb0(%i: index):
      {after}
      %next = arith.addi %i, %c1 : index
      scf.yield %next : index
    }}
"""
CHECK = """
    %is{tag} = arith.cmpi eq, %r{tag}, {count} : index
    cf.assert %is{tag}, "another number"
"""


def counted(before, after, count, tag="", check=True):
    """A loop, with the check of its number of iterations."""
    about = {"before": before, "after": after, "count": count, "tag": tag}
    return WHILE.format(**about) + (CHECK.format(**about) if check else "")


def beside(*loops):
    cases = "".join(f"case {i} {{ {loop} scf.yield }}\n" for i, loop in enumerate(loops[:-1]))
    return (
        f"scf.parallel (%s) = (%c0) to (%c2) step (%c1) {{ scf.index_switch %s {cases}"
        f"default {{ {loops[-1]} }} scf.reduce }}"
    )


FOR = "scf.for %j = %c0 to {} step %c2 {{ {} }}"
IF = "%c = arith.constant true\n scf.if %c {{ {} }} else {{ {} }}"
# A call of x takes 1, of y 10, of z 100: {body: calls of each, time on two threads}
CASES = {
    "one after the other": (X + Y + Y, {"x": 1, "y": 2}, 21),
    "a loop": (counted(X, Y, "%c5"), {"x": 6, "y": 5}, 56),
    "nested": (counted(X, FOR.format("%c5", Y), "%c5") + Z, {"x": 6, "y": 15, "z": 1}, 256),
    "branches": (IF.format(X + X, Y), {"x": 2, "y": 1}, 10),
    "side by side": (
        beside(counted(X, Y, "%c5", "1"), counted(X, Z, "%c2", "2")), {"x": 9, "y": 5, "z": 2}, 203,
    ),
    "rows of a tensor": (
        counted("", X, "%n"), {"x": UNKNOWN_EXTENT}, UNKNOWN_EXTENT,
    ),
    "as values say": (counted(X, "", "%c5", check=False), {"x": 64}, 64),
}  # fmt: skip


def module_of(body):
    return parse_module("module {" + COUNTED.format(name="main", body=body) + KERNELS + "}")


@pytest.mark.parametrize("case", CASES)
def test_calls_and_times(case):
    body, calls, time = CASES[case]
    module = module_of(body)
    found = kernel_calls(module)
    assert {name: sum(one.times for one in own) for name, own in found.items()} == calls
    is_open = {"rows of a tensor", "as values say"} & {case}
    assert all(one.is_assumed == bool(is_open) for own in found.values() for one in own)
    assert {one.is_beside for own in found.values() for one in own} == {case == "side by side"}
    cost = {"x": 1.0, "y": 10.0, "z": 100.0}
    assert run_time(module, lambda name, _: cost[name], 2) == time


def test_side_by_side_on_one_thread_is_one_after_the_other():
    body, _, _ = CASES["side by side"]
    cost = {"x": 1.0, "y": 10.0, "z": 100.0}
    assert run_time(module_of(body), lambda name, _: cost[name], 1) == 9 + 50 + 200


def test_functions_that_call_themselves_count_once():
    text = (
        "module {"
        + COUNTED.format(name="main", body=CALL.format("again") * 2)
        + "func.func private @again(%b: memref<4xf32>) { "
        + X
        + CALL.format("again")
        + "return }"
        + KERNELS
        + "}"
    )
    module = parse_module(text)
    assert sum(one.times for one in kernel_calls(module)["x"]) == 2
    assert run_time(module, lambda name, _: 1.0, 2) == 2
    assert len(list(executions(module))) == 5 + 1 + 2 * 4
