"""Parallel loops on the thread pool: right, the same for any number of threads, and tidy."""

from __future__ import annotations

import os
import subprocess
import sys
import threading

import nnc
import numpy as np
import pytest
from nnc.driver.compile import compile_model, mark_entry
from nnc.driver.program import compile_module
from nnc.ir.diagnostics import NncError
from nnc.ir.passes import PassContext
from nnc.ir.syntax.parser import parse_module
from nnc.lowering.to_llvm import LowerToLlvm
from nnc.memory.outline_parallel import OutlineParallel

SAXPY = """
func.func private @kernel(%x: memref<{n}xf32>, %y: memref<{n}xf32>, %s: f32) attributes {{nn.kernel}} {{
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c3 = arith.constant 3 : index
  %n = arith.constant {n} : index
  scf.parallel (%i) = (%c1) to (%n) step (%c3) {{
    %v = memref.load %x[%i] : memref<{n}xf32>
    %w = arith.mulf %v, %s : f32
    memref.store %w, %y[%i] : memref<{n}xf32>
    scf.reduce
  }}
  return
}}
func.func @main(%x: memref<{n}xf32>, %y: memref<{n}xf32>) attributes {{
    nn.entry, nn.input_names = ["x"], nn.output_names = ["y"]}} {{
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %n = arith.constant {n} : index
  %zero = arith.constant 0.0 : f32
  %s = arith.constant 3.0 : f32
  scf.for %i = %c0 to %n step %c1 {{
    memref.store %zero, %y[%i] : memref<{n}xf32>
  }}
  call @kernel(%x, %y, %s) : (memref<{n}xf32>, memref<{n}xf32>, f32) -> ()
  return
}}
"""

NESTED = """
func.func @main(%x: memref<6x10xi64>, %y: memref<6x10xi64>) attributes {
    nn.entry, nn.input_names = ["x"], nn.output_names = ["y"]} {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c6 = arith.constant 6 : index
  %c10 = arith.constant 10 : index
  scf.parallel (%i) = (%c0) to (%c6) step (%c1) {
    func.call @row(%x, %y, %i) : (memref<6x10xi64>, memref<6x10xi64>, index) -> ()
    scf.reduce
  }
  return
}
func.func private @row(%x: memref<6x10xi64>, %y: memref<6x10xi64>, %i: index) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c10 = arith.constant 10 : index
  scf.parallel (%j) = (%c0) to (%c10) step (%c1) {
    %v = memref.load %x[%i, %j] : memref<6x10xi64>
    %w = arith.addi %v, %v : i64
    memref.store %w, %y[%i, %j] : memref<6x10xi64>
    scf.reduce
  }
  return
}
"""

MANY = """
func.func @main(%x: memref<64xi64>, %y: memref<64xi64>) attributes {
    nn.entry, nn.input_names = ["x"], nn.output_names = ["y"]} {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c64 = arith.constant 64 : index
  %n = arith.constant 10000 : index
  memref.copy %x, %y : memref<64xi64> to memref<64xi64>
  scf.for %k = %c0 to %n step %c1 {
    scf.parallel (%i) = (%c0) to (%c64) step (%c1) {
      %old = memref.load %y[%i] : memref<64xi64>
      %number = arith.index_cast %k : index to i64
      %new = arith.xori %old, %number : i64
      %one = arith.constant 1 : i64
      %next = arith.addi %new, %one : i64
      memref.store %next, %y[%i] : memref<64xi64>
      scf.reduce
    }
  }
  return
}
"""


def build(text, threads=1):
    module = parse_module(text)
    context = PassContext()
    OutlineParallel(piece_operations=1).run(module, context)
    module.verify()
    LowerToLlvm().run(module, context)
    module.verify()
    return compile_module(module, threads=threads)


def tripled(x):
    y = np.zeros_like(x)
    y[1::3] = 3 * x[1::3]
    return y


@pytest.mark.sampled(3)
@pytest.mark.parametrize("threads", [1, 2, 3, 8])
@pytest.mark.parametrize("n", [1, 2, 7, 20, 1001])
def test_every_index_is_done_once(n, threads):
    run = build(SAXPY.format(n=n), threads)
    x = np.random.default_rng(n).standard_normal(n).astype(np.float32)
    for _ in range(3):
        np.testing.assert_array_equal(run(x), tripled(x))


@pytest.mark.parametrize("threads", [1, 2, 8])
def test_a_loop_in_a_task_runs_in_that_task(threads):
    run = build(NESTED, threads)
    x = np.arange(60).reshape(6, 10)
    np.testing.assert_array_equal(run(x), 2 * x)


@pytest.mark.parametrize("threads", [1, 2, 3])
def test_ten_thousand_small_loops(threads):
    run = build(MANY, threads)
    x = np.arange(64) * 977
    expected = x.copy()
    for k in range(10000):
        expected = (expected ^ k) + 1
    for _ in range(2):
        np.testing.assert_array_equal(run(x), expected)


ATTENTION = """
func.func @main(%q: tensor<4x96x64xf32>, %k: tensor<4x64x96xf32>, %v: tensor<4x96x64xf32>)
    -> tensor<4x96x64xf32> {
  %0 = nn.matmul %q, %k : (tensor<4x96x64xf32>, tensor<4x64x96xf32>) -> tensor<4x96x96xf32>
  %1 = nn.softmax %0 {axis = 2 : i64} : (tensor<4x96x96xf32>) -> tensor<4x96x96xf32>
  %2 = nn.matmul %1, %v : (tensor<4x96x96xf32>, tensor<4x96x64xf32>) -> tensor<4x96x64xf32>
  return %2 : tensor<4x96x64xf32>
}
"""


ROWS = """
func.func @main(%x: memref<97x1000xf32>, %y: memref<97xf32>) attributes {
    nn.entry, nn.input_names = ["x"], nn.output_names = ["y"]} {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %rows = arith.constant 97 : index
  %columns = arith.constant 1000 : index
  %zero = arith.constant 0.0 : f32
  scf.parallel (%i) = (%c0) to (%rows) step (%c1) {
    %sum = scf.for %j = %c0 to %columns step %c1 iter_args(%s = %zero) -> (f32) {
      %v = memref.load %x[%i, %j] : memref<97x1000xf32>
      %t = arith.addf %s, %v : f32
      scf.yield %t : f32
    }
    memref.store %sum, %y[%i] : memref<97xf32>
    scf.reduce
  }
  return
}
"""


def test_sums_are_the_same_bit_for_bit():
    run = build(ROWS)
    x = np.random.default_rng(3).standard_normal((97, 1000)).astype(np.float32)
    expected = np.cumsum(x, axis=1, dtype=np.float32)[:, -1]
    for threads in (1, 2, 3, 8):
        run.threads = threads
        for _ in range(5):
            np.testing.assert_array_equal(run(x).view(np.int32), expected.view(np.int32))


def test_a_model_gives_the_same_bit_for_bit():
    module = nnc.parse(ATTENTION)
    mark_entry(module)
    run = compile_model(module, cache=False)
    rng = np.random.default_rng(7)
    shapes = ((4, 96, 64), (4, 64, 96), (4, 96, 64))
    inputs = [rng.standard_normal(shape).astype(np.float32) for shape in shapes]
    alone = run(*inputs)
    scores = inputs[0].astype(np.float64) @ inputs[1]
    weights = np.exp(scores - scores.max(-1, keepdims=True))
    np.testing.assert_allclose(
        alone, weights / weights.sum(-1, keepdims=True) @ inputs[2], rtol=1e-4, atol=1e-5
    )
    for threads in (2, 3, 8):
        run.threads = threads
        assert run.threads == threads
        for _ in range(5):
            np.testing.assert_array_equal(run(*inputs).view(np.int32), alone.view(np.int32))


def test_threads_can_be_changed_and_must_be_positive():
    run = build(SAXPY.format(n=30))
    x = np.ones(30, np.float32)
    for threads in (2, 1, 4, 4, 3):
        run.threads = threads
        assert run.threads == threads
        np.testing.assert_array_equal(run(x), tripled(x))
    with pytest.raises(NncError, match="at least 1"):
        run.threads = 0


@pytest.mark.parametrize("shared", [True, False])
def test_calls_from_several_python_threads(shared):
    n = 5000
    one = build(SAXPY.format(n=n), 2)
    runs = [one if shared else build(SAXPY.format(n=n), 2) for _ in range(3)]
    faults = []

    def work(run, seed):
        x = np.random.default_rng(seed).standard_normal(n).astype(np.float32)
        expected = tripled(x)
        for _ in range(200):
            if not np.array_equal(run(x), expected):
                faults.append(seed)

    threads = [threading.Thread(target=work, args=(run, i)) for i, run in enumerate(runs)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert not faults


# -- processes -------------------------------------------------------------------------------------

SCRIPT = """
import os, sys
sys.path.insert(0, {folder!r})
import numpy as np
from test_threads import SAXPY, build, tripled
run = build(SAXPY.format(n=100), 3)
x = np.arange(100, dtype=np.float32)
assert np.array_equal(run(x), tripled(x))
{rest}
"""

FORK = """
child = os.fork()
if child == 0:
    assert np.array_equal(run(x), tripled(x))
    print("child", flush=True)
    sys.exit(0)
assert os.waitpid(child, 0)[1] == 0
assert np.array_equal(run(x), tripled(x))
"""


@pytest.mark.parametrize(
    "rest",
    [
        pytest.param("", marks=pytest.mark.thorough),  # as the parent of a fork ends
        "import gc; del run; gc.collect()",
        FORK,
    ],
)
def test_processes_end_and_fork(rest):
    script = SCRIPT.format(folder=os.path.dirname(__file__), rest=rest + "\nprint('end')")
    found = subprocess.run(
        [sys.executable, "-c", script], capture_output=True, text=True, timeout=60, check=False
    )
    assert found.returncode == 0, found.stderr
    assert found.stdout.split()[-1] == "end"
