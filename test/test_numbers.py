"""Numbers that a cost model, a layout or a threshold uses are the target's: `targets/costs.py`.

A number at the top of a module in the rooms that choose and lower is a limit of what is right or can
be represented, or what it stands for has nothing to do with the machine; the reason stands here.
"""

import ast
from collections.abc import Iterator
from dataclasses import fields, is_dataclass
from pathlib import Path

import nnc
import pytest
from nnc.targets import costs
from nnc.targets.base import all_targets

ROOT = Path(nnc.__file__).parent
ROOMS = ("kernels", "passes", "memory", "lowering")

COEFFICIENTS = "kernels/math/"
"""Elementary functions: coefficients, constants of mathematics, and where a formula ends."""

EXPLAINED = {
    ("kernels/codegen/addresses/flatten_addresses.py", "_BUFFERS"): "numbers of operands",
    ("kernels/codegen/addresses/linear.py", "MAX_TERMS"): "time to compile",
    ("kernels/codegen/buffers.py", "_STORES"): "numbers of operands",
    ("kernels/codegen/vectors/expansion.py", "MAX_CHAIN"): "the depth of recursion",
    ("kernels/codegen/vectors/reads.py", "MAX_SHUFFLED_STRIDE"): "strides that code is written for",
    ("kernels/codegen/code.py", "SECOND_LEVEL"): "how LLVM's prefetch names a cache",
    ("kernels/model/nest.py", "MAX_LANES"): "legality: lanes that vectors may have",
    ("kernels/model/nest.py", "MAX_UNROLLED"): "legality: code that is bounded",
    ("kernels/model/extents.py", "UNKNOWN_EXTENT"): "of models, not machines: a length not known",
    ("kernels/proof/cases.py", "_MOST"): "time to prove",
    ("kernels/proof/cases.py", "_MOST_OF_LAUNCH"): "time to prove",
    ("kernels/proof/enumeration.py", "MOST_POINTS"): "memory to prove",
    ("kernels/proof/parameters.py", "_MOST"): "indices have 64 bits",
    ("kernels/proof/sets.py", "OPERATIONS"): "time to prove",
    ("kernels/proof/sets.py", "EQUALITIES"): "time to prove",
    ("passes/inline.py", "MOST"): "time and memory to compile",
    ("passes/nn/byte_rows.py", "_MOST"): "numbers of 8 bits",
    ("passes/nn/byte_rows.py", "_LEAST_SCALE"): "numerics: whose reciprocals f32 holds",
    ("passes/nn/choose_algorithms.py", "ERROR"): "numerics: what an algorithm is said to be off by",
    ("kernels/proof/sets.py", "SIZES"): "extents with which a counterexample is looked for",
    ("kernels/policy/group_tiles.py", "_MOST_LIKELY"): "how long looking for variants may take",
    ("kernels/policy/tiles.py", "ALONG"): "which tiles are looked at: time to compile",
    ("kernels/policy/tiles.py", "ACROSS"): "which tiles are looked at: time to compile",
    ("kernels/policy/traffic.py", "MOST_PERMUTED"): "which orders are looked at: time to compile",
    ("kernels/policy/choices.py", "MOST_OPTIONS"): "which options are looked at: time to tune",
    ("kernels/policy/shaping.py", "MOST_STEPS"): "which options are looked at: time to tune",
    ("kernels/policy/features.py", "VERSION"): "of what features mean",
    ("kernels/policy/features.py", "_INNERMOST"): "how much a model that learns is told",
    ("kernels/policy/variants.py", "_CROSSED"): "which options are looked at: time to tune",
    ("kernels/tuned.py", "_DIGITS"): "of digests in files",
    ("kernels/policy/variants.py", "_LARGE"): "which options are looked at first: time to tune",
    ("kernels/policy/variants.py", "_NEAR"): "which options are looked at first: time to tune",
    ("passes/nn/choose_layouts.py", "MAX_PARTS"): "three parts in each of three dimensions",
    ("passes/nn/constants.py", "INLINE"): "text: what a person reads",
    ("passes/nn/decompose_graph.py", "ORDINARY"): "numerics: whose reciprocals are precise",
    ("kernels/policy/operands.py", "FAR"): "what cannot be known: neighbours that share no line",
    ("passes/nn/decompose_graph.py", "FEW_NUMBERS"): "time to compile",
    ("passes/nn/simplify_algebra.py", "_PRECISION"): "bits of types",
    ("lowering/checks.py", "MOST"): "what a status tells apart",
    ("lowering/to_llvm/failing.py", "LIKELY"): "weights of a branch that is hardly ever taken",
    ("lowering/entry_signature.py", "HEADER"): "the C interface: what lies before prepared weights",
    ("passes/nn/integer_products.py", "MOST_TERMS_OF_FLOATS"): "bits of types",
    ("passes/nn/integer_products.py", "_MIDDLE"): "numbers of 8 bits",
    ("passes/nn/merge_quantizations.py", "MOST_BITS"): "bits of types",
    ("passes/nn/merge_quantizations.py", "MOST_MOVES"): "how deep a graph is searched",
    ("passes/nn/merge_quantizations.py", "SCALES"): "where f32 neither overflows nor loses bits",
    ("passes/nn/use_integers.py", "MOST_TERMS"): "numbers of 8 and of 32 bits",
    ("passes/nn/prepare_weights.py", "WORTH"): "the size of what is stored",
    ("memory/align_arguments.py", "WIDEST"): "the widest access of any device",
    ("memory/loop_work.py", "UNKNOWN_WORK"): "what cannot be known: larger than any piece",
    ("lowering/nn_to_linalg/bounds.py", "LANES"): "divided by the vectors of all machines",
    ("lowering/nn_to_linalg/bounds.py", "GROUP_ROWS"): "a few rows for each of a group's threads",
    ("lowering/nn_to_linalg/bounds.py", "GROUP_THREADS"): "a power of two that all devices have",
    ("lowering/nn_to_linalg/control.py", "FIRST_ROWS"): "where doubling starts, on any machine",
    ("lowering/nn_to_linalg/movement.py", "_MOST_STEPS"): "strides that an index surely holds",
    ("lowering/nn_to_linalg/resizing.py", "_UNROLLED"): "code size: a sum without a loop",
    ("lowering/nn_to_linalg/scans.py", "BLOCK"): "the square root of a usual number of elements",
    ("lowering/nn_to_linalg/scans.py", "SHORT"): "as many elements as a few blocks have",
    ("lowering/nn_to_linalg/suppression.py", "BLOCK"): "the bits of an integer",
    ("lowering/nn_to_linalg/trees.py", "LANES"): "chains of loads that wait for each other, anywhere",
    ("lowering/nn_to_linalg/trees.py", "STEPS"): "code size, and a test of a few steps",
    ("lowering/nn_to_linalg/winograd.py", "RANK"): "the rank of a blocked image",
    ("lowering/to_llvm/kernels.py", "GLOBAL"): "how LLVM numbers spaces of memory",
    ("lowering/to_llvm/mathematics.py", "_NAN"): "how LLVM names classes of floats",
    ("lowering/to_llvm/rearrange.py", "ANY"): "how LLVM names a lane that does not matter",
}  # fmt: skip


def is_number(value: ast.expr) -> bool:
    match value:
        case ast.Constant(value=int() | float() as number):
            return not isinstance(number, bool)
        case ast.UnaryOp(operand=operand):
            return is_number(operand)
        case ast.BinOp(left=left, right=right):
            return is_number(left) and is_number(right)
        case ast.Tuple(elts=elements) | ast.List(elts=elements) | ast.Set(elts=elements):
            return bool(elements) and all(map(is_number, elements))
        case ast.Dict(values=elements):
            return bool(elements) and all(map(is_number, elements))
    return False


def numbers(room: str) -> Iterator[tuple[str, str]]:
    """(file, name) of each number at the top of a module."""
    for path in sorted((ROOT / room).rglob("*.py")):
        for statement in ast.parse(path.read_text()).body:
            match statement:
                case ast.Assign(targets=[target, *_], value=value) if is_number(value):
                    pass
                case ast.AnnAssign(target=target, value=ast.expr() as value) if is_number(value):
                    pass
                case _:
                    continue
            first = target.elts[0] if isinstance(target, ast.Tuple) else target
            yield path.relative_to(ROOT).as_posix(), ast.unparse(first)


def test_passes_hold_no_number_of_a_machine():
    found = {one for room in ROOMS for one in numbers(room) if not one[0].startswith(COEFFICIENTS)}
    new, gone = found - set(EXPLAINED), set(EXPLAINED) - found
    assert not new, f"to targets/costs.py, or explained in {Path(__file__).name}: {sorted(new)}"
    assert not gone, f"explained, but not there any more: {sorted(gone)}"


def test_what_counts_as_a_number():
    text = (
        "A = -1\nB: int = 1 << 20\nC = (1, 2.0)\nD = {'x': 3}\nE = 'x'\nF = True\nG = f(1)\nH = ()"
    )
    values = [s.value for s in ast.parse(text).body if isinstance(s, ast.Assign | ast.AnnAssign)]
    assert [is_number(v) for v in values if v] == [True] * 4 + [False] * 4


def leaves(one, path="costs"):
    for field in fields(one):
        value = getattr(one, field.name)
        if is_dataclass(value):
            yield from leaves(value, f"{path}.{field.name}")
        else:
            yield f"{path}.{field.name}", value


@pytest.mark.parametrize("target", [t.name for t in all_targets()])
def test_costs_are_plain_numbers_above_0(target):
    """So a module's attribute can hold each of them. No passes with prefetches: there are none."""
    machine = next(t.machine for t in all_targets() if t.name == target)
    found = dict(leaves(machine.costs))
    assert len(found) > 60
    assert all(type(value) in (int, float) for value in found.values()), found
    assert {path for path, value in found.items() if value <= 0} <= {"costs.loops.prefetch_passes"}


def test_every_number_is_used():
    """And none is kept that no cost model reads any more."""
    files = [p for room in ROOMS for p in (ROOT / room).rglob("*.py")]
    machines = [ROOT / "targets" / f"{name}.py" for name in ("processor", "roofline")]
    text = "".join(p.read_text() for p in (*files, *machines))
    by_name = {f.name for f in fields(costs.OperationCosts)} - {"other_math", "divf"}
    for path, _ in leaves(costs.Costs()):
        name = path.rpartition(".")[2]
        assert name in by_name or f".{name}" in text, path
