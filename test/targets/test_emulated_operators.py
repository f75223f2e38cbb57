"""Every nn op on other processors, under their emulators: what NumPy says."""

import re

import nnc
import numpy as np
import pytest
from nnc.ir.attributes import ArrayAttr, StringAttr, UnitAttr
from nnc.ir.core import Operation
from nnc.ir.syntax.parser import parse_module
from nnc.numerics.interpreter import Interpreter
from nnc.targets.base import target

from ..lowering.nn_cases import CONVOLUTIONS, MOVEMENT, one_op
from ..lowering.running import check_equal, entry, inputs_of
from ..lowering.test_nn_to_linalg import OPS, example_of
from .emulated import TOLERANCES, emulated, require_emulator, sampled

TOGETHER = 12
"""Ops in one model, to start the linker and the emulator less often."""
GROUPS = [OPS[i : i + TOGETHER] for i in range(0, len(OPS), TOGETHER)]

FUNCTION = re.compile(
    r"func\.func @main\((.*?)\) -> \((.*?)\) \{\n(.*)\n  func\.return (.*?) : [^:]*\}\n?", re.DOTALL
)


def one_function(texts: list[str]) -> str:
    """A function that does what these functions do, its arguments and results in their order."""
    parts = []
    for i, text in enumerate(texts):
        match = FUNCTION.fullmatch(re.sub(r"%(\w+)", rf"%v{i}_\1", text))
        assert match, text
        parts.append(match.groups())
    arguments, types, ops, results = zip(*parts, strict=True)
    listed = (", ".join(filter(None, one)) for one in (arguments, types, results))
    arguments, types, results = listed
    body = "\n".join(ops)
    return (
        f"func.func @main({arguments}) -> ({types}) {{\n{body}\n"
        f"  func.return {results} : {types}\n}}\n"
    )


def together(texts: list[str]) -> Operation:
    """A module whose entry point does what these functions do."""
    module = parse_module(one_function(texts))
    module.verify()
    function = entry(module)
    function.attributes["nn.entry"] = UnitAttr()
    kind = function.function_type
    for side, types in (("input", kind.inputs), ("output", kind.results)):
        names = tuple(StringAttr(f"{side}{i}") for i in range(len(types)))
        function.attributes[f"nn.{side}_names"] = ArrayAttr(names)
    return module


def truth_values():
    """Casts of truth values: from memory, whose last vector has parts, and of comparisons."""
    found = []
    for kind in ("f32", "f16", "bf16", "i8", "i64"):
        cast = f"nn.cast %x : (tensor<3x5xi1>) -> tensor<3x5x{kind}>"
        found.append((f"stored, {kind}", one_op(cast, "%x: tensor<3x5xi1>"), None, ()))
        for count in (1, 40):
            type, truth, made = (f"tensor<{count}x{element}>" for element in ("f32", "i1", kind))
            text = f"func.func @main(%a: {type}, %b: {type}) -> ({made}) {{\n"
            text += f"  %c = nn.less %a, %b : ({type}, {type}) -> {truth}\n"
            text += f"  %y = nn.cast %c : ({truth}) -> {made}\n"
            text += f"  func.return %y : {made}\n}}"
            found.append((f"{count} compared, {kind}", text, None, ()))
    return found


def check_together(functions, name):
    """Check that functions (what it is, its text, inputs or None, sizes) give the expected numbers.

    They run as one model.
    """
    if target(name).caller is target(name):
        require_emulator(name)
    values, expected = [], []
    for label, text, given, sizes in functions:
        module = parse_module(text)
        module.verify()
        inputs = inputs_of(entry(module).function_type.inputs, given, sizes, seed=0)
        with np.errstate(all="ignore"):
            expected += [(label, one) for one in Interpreter(module).call("main", inputs)]
        values += inputs
    module = together([text for _, text, *_ in functions])
    found = nnc.compile(module, target=name)(*values)
    found = found if isinstance(found, tuple) else (found,)
    for (label, want), got in zip(expected, found, strict=True):
        want = np.asarray(want)
        tolerance = TOLERANCES["f16" if want.dtype == np.float16 else "operator"]
        try:
            check_equal(got, want, tolerance, tolerance)
        except AssertionError as error:
            raise AssertionError(f"{label}: {error}") from None


@pytest.mark.emulated
@pytest.mark.sampled(3)  # each target runs one in three groups
@pytest.mark.parametrize("group", GROUPS, ids=lambda ops: f"{ops[0].name}..{ops[-1].name}")
@pytest.mark.parametrize("name", sampled("operators"))
def test_examples(group, name):
    there = [cls for cls in group if emulated(name, cls.name)]
    check_together([(cls.name, *example_of(cls)) for cls in there], name)


def halves():
    """Each half of the convolutions on every target; by default one, and the targets take turns."""
    for number, name in enumerate(sampled("shapes")):
        for half in range(2):
            rare = number % 2 != half
            yield pytest.param(name, half, marks=[pytest.mark.thorough] * rare)


@pytest.mark.emulated
@pytest.mark.parametrize(("name", "half"), list(halves()))
def test_convolutions(name, half):
    """Also in groups, of f16, of unknown extents."""
    check_together(
        [
            (label, one_op(text, *args), None, [3, 7, 5])
            for label, (text, args) in list(CONVOLUTIONS.items())[half::2]
        ],
        name,
    )


@pytest.mark.emulated
@pytest.mark.parametrize("name", sampled("shapes"))
def test_movement(name):
    check_together(
        [
            (label, one_op(text, *args), None, sizes)
            for label, (text, args, sizes) in MOVEMENT.items()
        ],
        name,
    )


def remainders(element):
    """Functions on rows and columns that are no multiple of a vector: smaller vectors finish them."""
    functions = []
    for rows, columns in ((1, 3), (3, 7), (6, 13), (7, 31), (19, 18)):
        x = f"tensor<{rows}x{columns}x{element}>"
        turned, row = f"tensor<{columns}x{rows}x{element}>", f"tensor<{rows}x{element}>"
        square = f"tensor<{rows}x{rows}x{element}>"
        texts = [
            (f"nn.add %x, %y : ({x}, {x}) -> {x}", [x, x]),
            (f"nn.transpose %x {{permutation = array<i64: 1, 0>}} : ({x}) -> {turned}", [x]),
            (f"nn.reduce_max %x {{axes = array<i64: 1>}} : ({x}) -> {row}", [x]),
            (f"nn.reduce_sum %x {{axes = array<i64: 1>}} : ({x}) -> {row}", [x]),
            (f"nn.matmul %x, %y : ({x}, {turned}) -> {square}", [x, turned]),
            (f"nn.slice %x {{starts = array<i64: 0, 1>, steps = array<i64: 1, 2>}} : ({x}) -> "
             f"tensor<{rows}x{columns // 2}x{element}>", [x]),
            (f"nn.cumsum %x {{axis = 0 : i64}} : ({x}) -> {x}", [x]),
        ]  # fmt: skip
        if element.startswith("f"):
            texts.append((f"nn.softmax %x {{axis = 1 : i64}} : ({x}) -> {x}", [x]))
            texts.append((f"nn.gelu %x : ({x}) -> {x}", [x]))
        for text, types in texts:
            arguments = [f"%{letter}: {type}" for letter, type in zip("xy", types, strict=False)]
            functions.append((text, one_op(text, *arguments), None, ()))
    return functions


@pytest.mark.emulated
@pytest.mark.sampled(2)
@pytest.mark.parametrize("element", ["f32", "f64", "f16", "i8", "i64"])
@pytest.mark.parametrize("name", sampled("shapes"))
def test_remainders(element, name):
    check_together(remainders(element), name)
