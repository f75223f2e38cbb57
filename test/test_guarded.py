"""Guarded memory (`guarded.py`) ends a process whose code leaves its buffers."""

import subprocess
import sys
from pathlib import Path

import pytest

PROGRAM = """
import sys
import numpy as np
from nnc.driver.compile import run_stages
from nnc.driver.program import compile_module
from nnc.ir.syntax.parser import parse_module
sys.path.insert(0, "test")
from guarded import install

install()
TEXT = '''
func.func @main(%x: memref<1024xf32>, %y: memref<1024xf32>) attributes {
    nn.entry, nn.inputs = [tensor<1024xf32>], nn.outputs = [tensor<1024xf32>]} {
  %i = arith.constant AT : index
  %j = arith.constant TO : index
  %v = memref.load %x[%i] : memref<1024xf32>
  memref.store %v, %y[%j] : memref<1024xf32>
  return
}
'''
at, to = sys.argv[1:]
run = compile_module(run_stages(parse_module(TEXT.replace("AT", at).replace("TO", to))))
run(np.zeros(1024, np.float32))
print("returned")
"""
ROOT = Path(__file__).resolve().parent.parent


@pytest.mark.sampled(6)
@pytest.mark.parametrize(("at", "to"), [(0, 1023), (1024, 0), (-1, 0), (0, 1024), (0, -1)])
def test_elements_that_are_not_there(at: int, to: int) -> None:
    command = [sys.executable, "-c", PROGRAM, str(at), str(to)]
    run = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=False)
    inside = at in range(1024) and to in range(1024)
    assert (run.stdout == "returned\n") == inside, run.stderr
    assert run.returncode == (0 if inside else -11), run.stderr
