"""--check-numerics raises no false alarm: pass tests, small models, exported models."""

import re
from pathlib import Path

import numpy as np
import pytest
from nnc.driver.compile import load_module
from nnc.ir.diagnostics import NncError
from nnc.ir.passes import PassManager
from nnc.ir.syntax.parser import parse_module
from nnc.lowering.catalog import PASS_MODULES
from nnc.lowering.pipelines import DEFAULT, named_pipelines, pipeline, stages_of
from nnc.numerics.checking import CheckNumerics, NumericsOptions
from nnc.targets.base import target

from ..models.small_models import SMALL_MODELS

LIT = Path(__file__).parent.parent / "lit"
FOLDERS = ("passes", "lowering", "dialects/arith", "dialects/nn", "dialects/memref", "dialects/scf")
SLOW = ("winograd", "matmul", "conv")
LONG = ("cache-workgroup",)
"""Kernels of as many threads as devices have; `test_groups.py` has them with fewer."""


def steps_of(text: str) -> list[str]:
    """The passes that a RUN line of nn-opt names."""
    steps = []
    for word in re.findall(r"--?[\w-]+(?:='[^']*'|=\S+)?", text):
        name, _, options = word.lstrip("-").partition("=")
        options = options.strip("'\"")
        if name == "pass-pipeline":
            steps.append(options)
        elif name in PASS_MODULES or name in named_pipelines():
            steps.append(
                f"builtin.module({name}{{{options}}})" if options else f"builtin.module({name})"
            )
    return steps


def cases() -> list[tuple[Path, list[str]]]:
    found = []
    for folder in FOLDERS:
        for path in sorted((LIT / folder).rglob("*.mlir")):
            lines = re.findall(r"RUN: (nn-opt .*%s.*)", path.read_text())
            if lines and "verify-diagnostics" not in lines[0] and (steps := steps_of(lines[0])):
                found.append((path, steps))
    return found


CASES = cases()


def check_file(path: Path, steps: list[str]) -> int:
    compared = 0
    for part in re.split(r"^// -----.*$", path.read_text(), flags=re.MULTILINE):
        try:
            module = parse_module(part, path.name)
            module.verify()
        except NncError:
            continue  # what is wrong on purpose
        check = CheckNumerics()
        for step in steps:
            PassManager(pipeline(step), instrumentations=[check]).run(module)
        compared += check.compared
    return compared


def test_there_are_cases() -> None:
    assert len(CASES) > 30


@pytest.mark.sampled(11)
@pytest.mark.parametrize(
    "path, steps",
    [
        pytest.param(
            path,
            steps,
            id=str(path.relative_to(LIT)),
            marks=[pytest.mark.slow] * path.stem.startswith(SLOW)
            + [pytest.mark.exhaustive] * path.stem.startswith(LONG),
        )
        for path, steps in CASES
    ],
)
def test_a_golden_test_of_a_pass(path: Path, steps: list[str]) -> None:
    check_file(path, steps)


def check_model(model, options: NumericsOptions = NumericsOptions()) -> CheckNumerics:  # noqa: B008
    module = load_module(model)
    check = CheckNumerics(options)
    for stage in stages_of(target(DEFAULT)):
        PassManager(pipeline(stage.text()), instrumentations=[check]).run(module)
    assert check.notes == []
    passes = sum(len(stage.passes) for stage in stages_of(target(DEFAULT)))
    assert check.compared >= passes * options.samples
    return check


@pytest.mark.slow
@pytest.mark.parametrize(
    "name",
    [pytest.param(name, marks=[pytest.mark.exhaustive] * (name == "cnn")) for name in SMALL_MODELS],
)
def test_a_small_model(name: str) -> None:
    check_model(SMALL_MODELS[name]())


EXPORTED = [pytest.param("mobilenet_v2", marks=pytest.mark.exhaustive), "bert_base", "gpt2_step"]
"""One network of each kind, on ordinary and special values; the small models above have all kinds."""


@pytest.mark.slow
@pytest.mark.parametrize("name", EXPORTED)
def test_an_exported_model(name: str, export_model) -> None:
    check_model(export_model(name, "--tiny"), NumericsOptions(samples=2))


GATHER = """
func.func @main(%x: tensor<5x3xf32>, %i: tensor<4xi64>) -> tensor<4x3xf32> attributes {nn.entry} {
  %y = nn.gather %x, %i {axis = 0 : i64} : (tensor<5x3xf32>, tensor<4xi64>) -> tensor<4x3xf32>
  return %y : tensor<4x3xf32>
}"""


def test_indices_are_drawn_within_their_range() -> None:
    check = CheckNumerics()
    module = parse_module(GATHER)
    for stage in stages_of(target(DEFAULT)):
        PassManager(pipeline(stage.text()), instrumentations=[check]).run(module)
    assert check.notes == []
    passes = sum(len(stage.passes) for stage in stages_of(target(DEFAULT)))
    assert check.compared >= passes * NumericsOptions().samples


DYNAMIC = """
func.func @main(%x: tensor<?x3xf32>) -> tensor<?x3xf32> attributes {nn.entry} {
  %y = nn.relu %x : (tensor<?x3xf32>) -> tensor<?x3xf32>
  %z = nn.softmax %y {axis = 1 : i64} : (tensor<?x3xf32>) -> tensor<?x3xf32>
  return %z : tensor<?x3xf32>
}"""


def test_unknown_extents() -> None:
    check = CheckNumerics()
    module = parse_module(DYNAMIC)
    for stage in stages_of(target(DEFAULT)):
        PassManager(pipeline(stage.text()), instrumentations=[check]).run(module)
    assert check.notes == []


def test_loops_without_end_are_left_out() -> None:
    text = """
      func.func @forever(%x: f32) -> f32 {
        cf.br ^loop(%x : f32)
      ^loop(%y: f32):
        %z = arith.addf %y, %y : f32
        cf.br ^loop(%z : f32)
      }"""
    check = CheckNumerics(NumericsOptions(samples=1, max_steps=100, seconds=0.5))
    PassManager(pipeline("builtin.module(cse)"), instrumentations=[check]).run(parse_module(text))
    assert check.compared == 0
    assert "did not end within 0.5 s" in check.notes[0]


def test_undefined_results_are_no_alarm(monkeypatch: pytest.MonkeyPatch) -> None:
    """NaN has no integer: what a pass makes of it is its own affair."""
    from nnc.dialects import arith

    text = """
      func.func @main(%x: f32) -> i32 {
        %n = arith.fptosi %x : f32 to i32
        %z = arith.constant 0 : i32
        %m = arith.maxsi %n, %z : i32
        return %m : i32
      }"""
    check = CheckNumerics(NumericsOptions(samples=8))
    PassManager(pipeline("builtin.module(lower-to-llvm)"), instrumentations=[check]).run(
        parse_module(text)
    )
    assert arith.FPToSI.name == "arith.fptosi"
    assert check.compared == 8


def test_seeds_are_reproducible() -> None:
    from nnc.ir.types import MemRefType, TensorType, f32
    from nnc.numerics.checking.inputs import KINDS, LADDER, Sample

    types = (TensorType((40, 50), f32), MemRefType((7,), f32))
    for kind in KINDS:
        one, two = (Sample(types, kind, (3, 1), LADDER[0]).values() for _ in range(2))
        other = Sample(types, kind, (4, 1), LADDER[0]).values()
        for a, b, c in zip(one, two, other, strict=True):
            np.testing.assert_array_equal(a, b)
            assert not np.array_equal(a, c, equal_nan=True)
    special = Sample(types, "special", (0, 0), LADDER[0]).values()[0]
    assert np.isnan(special).any() and np.isposinf(special).any() and np.isneginf(special).any()
    assert ((special == 0) & np.signbit(special)).any() and (
        (special == 0) & ~np.signbit(special)
    ).any()
    tiny = np.finfo(np.float32).tiny
    assert ((special != 0) & (np.abs(special) < tiny)).any()
    extreme = Sample(types, "extreme", (0, 0), LADDER[0]).values()[0]
    assert (np.abs(extreme) == np.finfo(np.float32).max).any()
