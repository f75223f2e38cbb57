"""What is proven of launches whose views depend on more selections than a function has cases for.

The oracle is NumPy: with a fault in a view, the interpreter stops or has other numbers for extents of 1.
"""

import numpy as np
import pytest
from nnc.dialects import arith, cf, func
from nnc.ir.core import Operation
from nnc.ir.diagnostics import NncError
from nnc.ir.passes import PassContext
from nnc.ir.rewriting import constant_int
from nnc.kernels.proof.prove_kernels import ProveKernels
from nnc.numerics.checking.running import Runner
from nnc.numerics.checking.subjects import Subject
from nnc.numerics.options import NumericsOptions

from .test_proven_extents import outlined

pytest.importorskip("islpy")

SUMS = """
func.func @main(%a: tensor<?x?xf32>, %b: tensor<?x?xf32>, %c: tensor<?x?xf32>, %d: tensor<?x?xf32>) -> tensor<?x?xf32> {
  %x = nn.add %a, %b : (tensor<?x?xf32>, tensor<?x?xf32>) -> tensor<?x?xf32>
  %y = nn.mul %c, %d : (tensor<?x?xf32>, tensor<?x?xf32>) -> tensor<?x?xf32>
  %z = nn.sub %x, %y : (tensor<?x?xf32>, tensor<?x?xf32>) -> tensor<?x?xf32>
  return %z : tensor<?x?xf32>
}"""


@pytest.fixture(scope="module")
def launches() -> Operation:
    return outlined(SUMS)


def is_right(module: Operation) -> bool:
    """Whether runs give NumPy's numbers for extents of which some are 1."""
    random = np.random.default_rng(0)
    functions = [op for op in module.walk() if isinstance(op, func.FuncOp)]
    (main,) = (op for op in functions if op.sym_name == "main")
    for shapes in SHAPES:
        a, b, c, d = (random.normal(size=shape).astype(np.float32) for shape in shapes)
        subject = Subject("main", main.function_type)
        outcome = Runner(module, NumericsOptions()).interpret(subject, [a, b, c, d])
        if outcome.error is not None or not np.allclose(outcome.values[0], (a + b) - c * d):
            return False
    return True


SHAPES = [
    [(3, 5)] * 4,
    *([(1, 5) if i == j else (3, 5) for i in range(4)] for j in range(4)),
    *([(3, 1) if i == j else (3, 5) for i in range(4)] for j in range(4)),
    *([((1, 5), (3, 1))[k == i // 2] for i in range(4)] for k in range(2)),
    *([(1, 1) if k == i // 2 else (3, 5) for i in range(4)] for k in range(2)),
]


def steps(module: Operation) -> list[arith.Select]:
    """The selections of a distance that is 0 where an extent is 1."""
    chosen = [op for op in module.walk() if isinstance(op, arith.Select)]
    return [op for op in chosen if constant_int(op.operands[1]) == 0]


def test_many_operands_that_may_be_broadcast(launches):
    assert is_right(launches)
    context = PassContext()
    ProveKernels().run(launches, context)
    assert context.statistics[""] == {"accesses": 9, "proven": 3, "whole": 3, "rewritten": 0}
    assert context.diagnostics == []


@pytest.mark.sampled(6)
@pytest.mark.parametrize("which", [0, 1, 3, 5, 9, 10])
def test_a_distance_that_is_not_0_where_it_has_to_be(launches, which):
    module = launches.clone()
    wrong = steps(module)[which]
    wrong.results[0].replace_all_uses_with(wrong.operands[2])
    assert not is_right(module)
    context = PassContext()
    try:
        ProveKernels().run(module, context)
    except NncError as error:
        assert "outside of its buffer" in error.message
    else:
        assert context.statistics[""]["open"] > 0


def check_planted(module: Operation) -> None:
    """Check that a planted fault makes a run go wrong, and that the proof does not pass it."""
    assert not is_right(module)
    context = PassContext()
    try:
        ProveKernels().run(module, context)
    except NncError:
        return
    assert context.statistics[""]["open"] + context.statistics[""].get("partial", 0) > 0


@pytest.mark.sampled(4)
@pytest.mark.parametrize("which", [0, 1, 2, 3, 5, 8, 11])
def test_a_distance_that_is_0_where_it_must_not_be(launches, which):
    """The two outcomes of a selection are exchanged."""
    module = launches.clone()
    wrong = steps(module)[which]
    zero, distance = wrong.operands[1:]
    wrong.set_operand(1, distance)
    wrong.set_operand(2, zero)
    check_planted(module)


@pytest.mark.sampled(4)
@pytest.mark.parametrize("which", [0, 2, 4, 6])
def test_a_distance_by_the_extent_of_another_operand(launches, which):
    """The distances of two operands are chosen by each other's extents."""
    module = launches.clone()
    found = steps(module)
    one, other = found[which], found[which + 2 if which % 4 == 0 else which - 2]
    condition = one.condition
    one.set_operand(0, other.condition)
    other.set_operand(0, condition)
    check_planted(module)


def test_extents_that_nobody_checked(launches):
    """Without the check that extents fit, an operand may be too small for its view."""
    module = launches.clone()
    for op in [op for op in module.walk() if isinstance(op, cf.Assert)]:
        op.erase()
    context = PassContext()
    with pytest.raises(NncError, match="outside of its buffer"):
        ProveKernels().run(module, context)
