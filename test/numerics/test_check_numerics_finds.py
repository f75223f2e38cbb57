"""--check-numerics finds rules that are planted wrong into real passes, and names the place."""

import io
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest
from nnc.dialects import arith
from nnc.ir.passes import PassManager
from nnc.ir.syntax.parser import parse_module
from nnc.lowering.pipelines import pipeline
from nnc.numerics.checking import CheckNumerics, Finding, NumericsError, NumericsOptions
from nnc.tools import nn_opt, nnc
from nnc.tools.command import Streams

from .wrong_rules import (
    a_coefficient_is_off,
    blocks_come_back_in_another_order,
    constants_of_addresses_go,
    differences_become_sums,
    differences_fold_backwards,
    everything_lies_at_the_start,
    kernels_take_operands_in_reverse,
    kernels_with_equal_names_are_equal,
    masks_forget_the_last_lane,
    maxima_become_minima,
    means_are_forgotten,
    one_is_neutral_to_sums,
    products_are_negated,
    properties_do_not_matter,
    ranges_begin_late,
    softmax_is_negated,
    sums_are_products,
    users_are_forgotten,
    zero_absorbs_maxima,
)

Plant = Callable[[pytest.MonkeyPatch], None]


def checked(text: str, passes: str, **options) -> CheckNumerics:
    """Run passes with the check; raises what it finds."""
    module = parse_module(text, "in.mlir")
    module.verify()
    check = CheckNumerics(NumericsOptions(**options))
    PassManager(pipeline(f"builtin.module({passes})"), instrumentations=[check]).run(module)
    return check


def found(text: str, passes: str, **options) -> Finding:
    with pytest.raises(NumericsError) as caught:
        checked(text, passes, **options)
    return caught.value.finding


# -- where they show --------------------------------------------------------------------------

SCALARS = """
func.func @sums(%x: f32, %y: f32) -> f32 {
  %one = arith.constant 1.0 : f32
  %a = arith.mulf %x, %y : f32
  %b = arith.addf %a, %one : f32
  %c = arith.mulf %b, %x : f32
  return %c : f32
}"""

MAXIMA = """
func.func @maxima(%x: i32) -> i32 {
  %zero = arith.constant 0 : i32
  %a = arith.maxsi %x, %zero : i32
  %b = arith.addi %a, %x : i32
  return %b : i32
}"""

COMPARISONS = """
func.func @comparisons(%x: i32, %y: i32) -> (i1, i1) {
  %a = arith.cmpi slt, %x, %y : i32
  %b = arith.cmpi sgt, %x, %y : i32
  return %a, %b : i1, i1
}"""

CONSTANTS = """
func.func @constants(%x: tensor<2xf32>) -> tensor<2xf32> {
  %a = nn.constant dense<[1.0, 2.0]> : tensor<2xf32>
  %b = nn.constant dense<[4.0, 3.0]> : tensor<2xf32>
  %c = nn.sub %a, %b : (tensor<2xf32>, tensor<2xf32>) -> tensor<2xf32>
  %d = nn.mul %c, %x : (tensor<2xf32>, tensor<2xf32>) -> tensor<2xf32>
  return %d : tensor<2xf32>
}"""

BATCH_NORM = """
func.func @norm(%x: tensor<1x2x4x4xf32>) -> tensor<1x2x2x2xf32> {
  %w = nn.constant dense<0.5> : tensor<2x2x3x3xf32>
  %s = nn.constant dense<[1.5, -2.0]> : tensor<2xf32>
  %m = nn.constant dense<[0.5, 1.0]> : tensor<2xf32>
  %v = nn.constant dense<[1.0, 4.0]> : tensor<2xf32>
  %c = nn.conv %x, %w : (tensor<1x2x4x4xf32>, tensor<2x2x3x3xf32>) -> tensor<1x2x2x2xf32>
  %n = nn.batch_norm %c, %s, %m, %m, %v : (tensor<1x2x2x2xf32>, tensor<2xf32>, tensor<2xf32>, tensor<2xf32>, tensor<2xf32>) -> tensor<1x2x2x2xf32>
  %r = nn.relu %n : (tensor<1x2x2x2xf32>) -> tensor<1x2x2x2xf32>
  return %r : tensor<1x2x2x2xf32>
}"""

SOFTMAX = """
func.func @attention(%x: tensor<3x5xf32>) -> tensor<3x5xf32> {
  %a = nn.add %x, %x : (tensor<3x5xf32>, tensor<3x5xf32>) -> tensor<3x5xf32>
  %b = nn.softmax %a {axis = 1 : i64} : (tensor<3x5xf32>) -> tensor<3x5xf32>
  %c = nn.relu %b : (tensor<3x5xf32>) -> tensor<3x5xf32>
  return %c : tensor<3x5xf32>
}"""

PRODUCT = """
func.func @product(%x: tensor<8x8xf32>, %y: tensor<8x32xf32>) -> tensor<8x32xf32> {
  %a = nn.matmul %x, %y : (tensor<8x8xf32>, tensor<8x32xf32>) -> tensor<8x32xf32>
  return %a : tensor<8x32xf32>
}"""

CONV = """
func.func @conv(%x: tensor<1x16x18x18xf32>) -> tensor<1x16x16x16xf32> {
  %w = nn.constant dense<WEIGHTS> : tensor<16x16x3x3xf32>
  %c = nn.conv %x, %w : (tensor<1x16x18x18xf32>, tensor<16x16x3x3xf32>) -> tensor<1x16x16x16xf32>
  %r = nn.relu %c : (tensor<1x16x16x16xf32>) -> tensor<1x16x16x16xf32>
  return %r : tensor<1x16x16x16xf32>
}""".replace(
    "WEIGHTS",
    f'"0x{np.random.default_rng(0).standard_normal(16 * 16 * 9).astype("f4").tobytes().hex().upper()}"',
)

BLOCKED_CONV = """
func.func @blocked(%x: tensor<1x4x32x32x16xf32>, %s: tensor<16xf32>) -> tensor<1x4x30x30x16xf32> {
  %w = nn.constant dense<0.5> : tensor<4x4x3x3x16x16xf32>
  %c = nn.blocked_conv %x, %w : (tensor<1x4x32x32x16xf32>, tensor<4x4x3x3x16x16xf32>) -> tensor<1x4x30x30x16xf32>
  %b = nn.add %c, %s : (tensor<1x4x30x30x16xf32>, tensor<16xf32>) -> tensor<1x4x30x30x16xf32>
  return %b : tensor<1x4x30x30x16xf32>
}"""

ELEMENTWISE = """
func.func @main(%x: tensor<8xf32>, %y: tensor<8xf32>) -> tensor<8xf32> attributes {nn.entry} {
  %a = nn.sub %x, %y : (tensor<8xf32>, tensor<8xf32>) -> tensor<8xf32>
  %b = nn.exp %a : (tensor<8xf32>) -> tensor<8xf32>
  return %b : tensor<8xf32>
}"""

KERNELS = """
func.func @main(%x: tensor<2x8xf32>) -> tensor<2x8xf32> {
  %a = nn.softmax %x {axis = 0 : i64} : (tensor<2x8xf32>) -> tensor<2x8xf32>
  %b = nn.softmax %a {axis = 1 : i64} : (tensor<2x8xf32>) -> tensor<2x8xf32>
  return %b : tensor<2x8xf32>
}"""

MAXIMUM = """
func.func @main(%x: tensor<8xf32>, %y: tensor<8xf32>) -> tensor<8xf32> {
  %a = nn.add %x, %y : (tensor<8xf32>, tensor<8xf32>) -> tensor<8xf32>
  %b = nn.max %a, %y : (tensor<8xf32>, tensor<8xf32>) -> tensor<8xf32>
  %c = nn.mul %b, %x : (tensor<8xf32>, tensor<8xf32>) -> tensor<8xf32>
  return %c : tensor<8xf32>
}"""

CHAIN = """
func.func @main(%x: tensor<11xf32>) -> tensor<11xf32> attributes {nn.entry} {
  %a = nn.softmax %x {axis = 0 : i64} : (tensor<11xf32>) -> tensor<11xf32>
  %b = nn.softmax %a {axis = 0 : i64} : (tensor<11xf32>) -> tensor<11xf32>
  %c = nn.add %a, %b : (tensor<11xf32>, tensor<11xf32>) -> tensor<11xf32>
  %d = nn.softmax %c {axis = 0 : i64} : (tensor<11xf32>) -> tensor<11xf32>
  %e = nn.mul %d, %a : (tensor<11xf32>, tensor<11xf32>) -> tensor<11xf32>
  return %e : tensor<11xf32>
}"""

MATH = """
func.func @elementary(%x: vector<8xf32>) -> vector<8xf32> {
  %half = arith.constant dense<0.5> : vector<8xf32>
  %a = arith.mulf %x, %half : vector<8xf32>
  %b = math.exp %a : vector<8xf32>
  %c = arith.addf %b, %half : vector<8xf32>
  return %c : vector<8xf32>
}"""

LOOP = """
func.func @loop(%x: memref<8xf32>, %y: memref<8xf32>) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c8 = arith.constant 8 : index
  scf.for %i = %c0 to %c8 step %c1 {
    %a = memref.load %x[%i] : memref<8xf32>
    %b = memref.load %y[%i] : memref<8xf32>
    %m = arith.mulf %a, %a : f32
    %d = arith.subf %m, %b : f32
    memref.store %d, %y[%i] : memref<8xf32>
  }
  return
}"""

PARALLEL = """
func.func @fill(%x: memref<8xf32>) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c8 = arith.constant 8 : index
  %one = arith.constant 1.0 : f32
  scf.parallel (%i) = (%c0) to (%c8) step (%c1) {
    memref.store %one, %x[%i] : memref<8xf32>
    scf.reduce
  }
  return
}"""

EXECUTED = """
llvm.func @executed(%x: i32, %y: i32) -> i32 {
  %s = llvm.add %x, %y : i32
  %a = llvm.icmp "slt" %s, %y : i32
  %b = llvm.icmp "sgt" %s, %y : i32
  %c = llvm.select %a, %x, %y : i1, i32
  %d = llvm.select %b, %c, %s : i1, i32
  llvm.return %d : i32
}"""

GRAPH_TO_LINALG = "fuse,outline-kernels,lower-to-linalg"

CASES = [
    ("cse", properties_do_not_matter, EXECUTED, "cse", "executed", "llvm.icmp"),
    ("canonicalize", one_is_neutral_to_sums, SCALARS, "canonicalize", "sums", "arith.addf"),
    ("canonicalize", zero_absorbs_maxima, MAXIMA, "canonicalize", "maxima", "arith.maxsi"),
    ("cse", properties_do_not_matter, COMPARISONS, "canonicalize,cse", "comparisons", "arith.cmpi"),
    (
        "fold-constants",
        differences_fold_backwards,
        CONSTANTS,
        "fold-constants",
        "constants",
        "nn.sub",
    ),
    (
        "fold-batch-norm",
        means_are_forgotten,
        BATCH_NORM,
        "fold-batch-norm",
        "norm",
        "nn.batch_norm",
    ),
    ("decompose", softmax_is_negated, SOFTMAX, "decompose", "attention", "nn.softmax"),
    (
        "choose-layouts",
        blocks_come_back_in_another_order,
        CONV,
        "choose-layouts",
        "conv",
        "nn.conv",
    ),
    (
        "choose-algorithms",
        products_are_negated,
        BLOCKED_CONV,
        "choose-algorithms",
        "blocked",
        "nn.blocked_conv",
    ),
    ("fuse", kernels_take_operands_in_reverse, ELEMENTWISE, "fuse", "main", "nn.sub"),
    (
        "outline-kernels",
        kernels_with_equal_names_are_equal,
        KERNELS,
        "fuse,outline-kernels",
        "main",
        "nn.softmax",
    ),
    ("lower-to-linalg", maxima_become_minima, MAXIMUM, "lower-to-linalg", "main", "nn.max"),
    (
        "apply-schedules",
        masks_forget_the_last_lane,
        CHAIN,
        f"{GRAPH_TO_LINALG},choose-schedules,apply-schedules",
        None,
        "linalg.generic",
    ),
    (
        "lower-tiles",
        sums_are_products,
        PRODUCT,
        f"{GRAPH_TO_LINALG},choose-schedules,apply-schedules,lower-tiles",
        "matmul_0",
        None,
    ),
    (
        "flatten-addresses",
        constants_of_addresses_go,
        PRODUCT,
        f"{GRAPH_TO_LINALG},choose-schedules,apply-schedules,lower-tiles,flatten-addresses",
        "matmul_0",
        None,
    ),
    (
        "plan-memory",
        everything_lies_at_the_start,
        CHAIN,
        f"{GRAPH_TO_LINALG},plan-memory",
        None,
        None,
    ),
    ("expand-math", a_coefficient_is_off, MATH, "expand-math", "elementary", "math.exp"),
    ("lower-to-llvm", differences_become_sums, LOOP, "lower-to-llvm", "loop", "arith.subf"),
    ("outline-parallel", ranges_begin_late, PARALLEL, "outline-parallel", "fill", "memref.store"),
    ("remove-dead-values", users_are_forgotten, LOOP, "remove-dead-values", "loop", "memref.store"),
]


@pytest.mark.sampled(5)
@pytest.mark.parametrize(
    "name, plant, text, passes, function, op",
    CASES,
    ids=[f"{c[0]}-{c[1].__name__}" for c in CASES],
)
def test_a_planted_rule_is_found(
    monkeypatch: pytest.MonkeyPatch,
    name: str,
    plant: Plant,
    text: str,
    passes: str,
    function: str | None,
    op: str | None,
) -> None:
    checked(text, passes)
    plant(monkeypatch)
    finding = found(text, passes)
    report = str(finding.diagnostic(NumericsOptions()))
    assert finding.one.name == name, report
    assert finding.fault is not None
    if function is not None:
        assert finding.fault.function == function, report
    assert finding.op is not None, report
    if op is not None:
        assert finding.op.name == op, report
    assert f"pass '{name}" in report and finding.op.name in report


# -- on the command line ------------------------------------------------------------------------


def run_tool(arguments: list[str], folder: Path, stdin: str = "") -> tuple[int, str, str]:
    streams = Streams(io.StringIO(stdin), io.StringIO(), io.StringIO(), folder)
    code = nn_opt.main(arguments, streams)
    return code, streams.stdout.getvalue(), streams.stderr.getvalue()


def test_the_tool_reports_and_writes_a_reproducer(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    (tmp_path / "in.mlir").write_text(SCALARS)
    code, _, said = run_tool(["--check-numerics", "--canonicalize", "in.mlir"], tmp_path)
    assert code == 0 and said == ""
    one_is_neutral_to_sums(monkeypatch)
    arguments = ["--check-numerics=seed=5", "--cse", "--canonicalize", "in.mlir"]
    code, out, said = run_tool(arguments, tmp_path)
    assert code == 1 and out == ""
    assert "in.mlir:5:8: error: pass 'canonicalize' changes what '@sums' computes" in said
    assert "the first operation whose value differs is 'arith.addf' in '@sums'" in said
    assert "--check-numerics=seed=5 input 0" in said
    assert "in.numerics.mlir" in said
    text = (tmp_path / "in.numerics.mlir").read_text()
    assert "arith.addf" in text
    code, _, again = run_tool(
        ["--run-reproducer", "--check-numerics=seed=5", "in.numerics.mlir"], tmp_path
    )
    assert code == 1 and "'arith.addf' in '@sums'" in again
    code, _, _ = run_tool(["--run-reproducer", "in.numerics.mlir"], tmp_path)
    assert code == 0


def test_the_reproducer_goes_where_it_is_told(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    one_is_neutral_to_sums(monkeypatch)
    arguments = ["--check-numerics", "--check-numerics-reproducer=bad.mlir", "--canonicalize"]
    code, _, said = run_tool(arguments, tmp_path, SCALARS)
    assert code == 1 and "bad.mlir" in said
    assert "arith.addf" in (tmp_path / "bad.mlir").read_text()


@pytest.mark.parametrize(
    "flag, message",
    [
        ("--check-numerics=sead=1", "has no option 'sead'"),
        ("--check-numerics=seed=x", "'x' is not a value of 'seed'"),
        ("--check-numerics=samples=0", "samples and max-steps are at least 1"),
        ("--check-numerics-seed=3", "need --check-numerics"),
    ],
)
def test_faulty_options(flag: str, message: str, tmp_path: Path) -> None:
    code, _, said = run_tool([flag, "--cse"], tmp_path, SCALARS)
    assert code == 1 and message in said


def test_a_crash_is_part_of_the_report(monkeypatch: pytest.MonkeyPatch) -> None:
    """Addresses go wrong, so the machine code ends with a signal, and this process goes on."""
    from nnc.dialects import llvm
    from nnc.lowering.to_llvm.conversion import LOWERINGS

    def wrong(f, op):
        huge = f.integer(1 << 60)
        f.bind(op.results[0], f.append(llvm.Add(f.value(op.operands[0]), huge)).results[0])

    monkeypatch.setitem(LOWERINGS, arith.AddI, wrong)
    text = """
      func.func @crash(%x: memref<8xf32>, %i: index) -> f32 {
        %c1 = arith.constant 1 : index
        %n = memref.load %x[%c1] : memref<8xf32>
        %j = arith.addi %i, %c1 : index
        %m = memref.load %x[%j] : memref<8xf32>
        %s = arith.addf %n, %m : f32
        return %s : f32
      }"""
    finding = found(text, "lower-to-llvm")
    assert finding.error is not None and "SIG" in finding.error.message
    assert finding.op is not None and finding.op.name == "arith.addi"


def test_nnc_compile_checks_too(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    (tmp_path / "in.mlir").write_text(SOFTMAX)
    softmax_is_negated(monkeypatch)
    streams = Streams(io.StringIO(), io.StringIO(), io.StringIO(), tmp_path)
    command = ["compile", "in.mlir", "--check-numerics", "-o", "out.mlir", "--quiet"]
    assert nnc.main(command, streams) == 1
    said = streams.stderr.getvalue()
    assert "pass 'lower-to-linalg" in said and "'nn.softmax'" in said
    assert (tmp_path / "in.numerics.mlir").exists() and not (tmp_path / "out.mlir").exists()


def test_what_is_not_compared_is_said(tmp_path: Path) -> None:
    text = """
      func.func @main(%x: i32) -> i32 {
        %z = arith.constant 0 : i32
        %q = arith.divsi %x, %z : i32
        return %q : i32
      }"""
    code, _, said = run_tool(["--check-numerics", "--cse"], tmp_path, text)
    assert code == 0
    assert "remark: --check-numerics: '@main' was not compared: 'arith.divsi'" in said
    assert "divides by zero" in said


def test_a_wrong_lowering_is_not_blamed_on_the_pass_before(monkeypatch: pytest.MonkeyPatch) -> None:
    """What is too long to interpret is lowered and executed, which may itself be at fault."""
    text = ELEMENTWISE.replace("8xf32", "40x16xf32")
    passes = f"{GRAPH_TO_LINALG},choose-schedules,apply-schedules"
    checked(text, passes, max_steps=10)
    differences_become_sums(monkeypatch)
    finding = found(text, passes, max_steps=10)
    report = str(finding.diagnostic(NumericsOptions()))
    assert finding.one.name == "lower-to-llvm", report
    assert finding.executed_after is not None and finding.executed_after.name == "apply-schedules"
    assert finding.op is not None and finding.op.name == "arith.subf", report
    assert "found when the code after 'apply-schedules' was lowered and executed" in report
