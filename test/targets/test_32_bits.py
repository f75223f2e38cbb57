"""Code for targets of 32 bits: what an index is, what they cannot hold, their object files."""

import re
import subprocess
from pathlib import Path

import numpy as np
import pytest
from nnc.ir.diagnostics import NncError
from nnc.ir.passes import PassContext
from nnc.ir.syntax.parser import parse_module
from nnc.lowering.to_llvm import LowerToLlvm
from nnc.targets.base import target
from nnc.targets.llvm.elf import data_object
from nnc.targets.llvm.ir import llvm_ir
from nnc.tools.nnc import main

from ..lowering.to_llvm.native import call_native


def lowered(text: str, name: str) -> str:
    """A module of loops for a target, as LLVM IR."""
    module = parse_module(f'module attributes {{nnc.target = "{name}"}} {{\n{text}\n}}')
    module.verify()
    LowerToLlvm().run(module, PassContext())
    module.verify()
    return llvm_ir(module)


SUM = """
func.func @sum(%x: memref<?xf32>, %from: index, %to: index) -> f32 {
  %one = arith.constant 1 : index
  %zero = arith.constant 0.0 : f32
  %sum = scf.for %i = %from to %to step %one iter_args(%a = %zero) -> (f32) {
    %v = memref.load %x[%i] : memref<?xf32>
    %b = arith.addf %a, %v : f32
    scf.yield %b : f32
  }
  return %sum : f32
}
"""


def test_an_index_is_as_wide_as_a_pointer():
    assert "i64" not in lowered(SUM, "armv7")
    assert "i32" not in lowered(SUM, "riscv64")


def test_a_loop_over_wider_integers_counts_in_them():
    text = """
    func.func @count(%to: i64) -> i64 {
      %from = arith.constant 4294967296 : i64
      %one = arith.constant 1 : i64
      %n = scf.for %i = %from to %to step %one iter_args(%a = %one) -> (i64) : i64 {
        %b = arith.addi %a, %i : i64
        scf.yield %b : i64
      }
      return %n : i64
    }
    """
    found = lowered(text, "armv7")
    assert "4294967296" in found and "i32" not in found


@pytest.mark.parametrize("extent", ["536870897", "?x600000000"])
def test_a_buffer_that_cannot_be_addressed(extent: str):
    text = f"func.func @f(%x: memref<{extent}xf32>) {{\n  return\n}}"
    lowered(text, "riscv64")
    with pytest.raises(NncError, match=r"more than 2147483584 bytes, .* what 32 bits can address"):
        lowered(text, "armv7")


def test_a_model_that_cannot_be_addressed(tmp_path: Path, capsys: pytest.CaptureFixture[str]):
    x = "tensor<600000000xf32>"
    (tmp_path / "m.mlir").write_text(
        f"func.func @main(%x: {x}) -> {x} {{\n"
        f"  %y = nn.relu %x : ({x}) -> {x}\n  return %y : {x}\n}}\n"
    )
    arguments = ["compile", str(tmp_path / "m.mlir"), "-q", "--target", "cortex-a7"]
    assert main([*arguments, "-o", str(tmp_path / "m.o")]) == 1
    said = capsys.readouterr().err.splitlines()[0]
    assert "is too large: more than 2147483584 bytes, which is what 32 bits can address" in said
    assert not (tmp_path / "m.o").exists()


@pytest.mark.parametrize("op", ["maximumf", "minimumf"])
def test_extrema_by_comparisons(op: str):
    """What 32-bit Arm does for f64, here on this machine."""
    from itertools import product

    numbers = [0.0, -0.0, 1.5, -2.0, np.inf, -np.inf, np.nan, 5e-324, -5e-324, 1.7e308]
    x, y = (np.array(part) for part in zip(*product(numbers, repeat=2), strict=True))
    body = f"""
    func.func @f(%x: memref<100xf64>, %y: memref<100xf64>, %z: memref<100xf64>) {{
      %c0 = arith.constant 0 : index
      %c1 = arith.constant 1 : index
      %n = arith.constant 100 : index
      scf.for %i = %c0 to %n step %c1 {{
        %a = memref.load %x[%i] : memref<100xf64>
        %b = memref.load %y[%i] : memref<100xf64>
        %m = arith.{op} %a, %b : f64
        memref.store %m, %z[%i] : memref<100xf64>
      }}
      return
    }}
    """
    one = '{name = "x86-64", machine = {widest_lane = 4 : i64}}'
    assert "llvm.m" not in lowered(body, "cortex-a7")
    target("cortex-a7").object_of(lowered(body, "cortex-a7"))
    z = np.zeros(100)
    call_native(f"module attributes {{nnc.target = {one}}} {{{body}}}", [x, y, z])
    np.testing.assert_array_equal(z, (np.maximum if op == "maximumf" else np.minimum)(x, y))
    signs = np.signbit(x) & np.signbit(y) if op == "maximumf" else np.signbit(x) | np.signbit(y)
    zeros = (x == 0) & (y == 0)
    np.testing.assert_array_equal(np.signbit(z[zeros]), signs[zeros])


@pytest.mark.parametrize("name", ["armv7", "cortex-a7", "riscv64", "spacemit-x60"])
def test_objects_of_weights_are_like_those_of_code(tmp_path: Path, name: str):
    """Class, processor, and the flags that say how floats are passed; a symbol of that size."""
    code = target(name).object_of("define void @f() { ret void }")
    frame = data_object("weights", 130, 64, code)
    (tmp_path / "code.o").write_bytes(code)
    (tmp_path / "data.o").write_bytes(frame.head + bytes(range(130)) + frame.tail)

    def said(file: str, option: str) -> str:
        command = ["readelf", "-W", option, file]
        return subprocess.run(
            command, cwd=tmp_path, check=True, capture_output=True, text=True
        ).stdout

    for line in ("Class", "Data", "Machine", "Flags"):
        wanted = re.search(rf"{line}:.*", said("code.o", "-h"))
        assert wanted and wanted[0] in said("data.o", "-h")
    assert re.search(r"130 OBJECT +GLOBAL HIDDEN +1 weights", said("data.o", "-s"))
    dumped = said("data.o", "--hex-dump=1")
    assert "00010203 04050607" in dumped and "8081" in dumped
