"""Parallel loops on the thread pool: right, fast to start, and tidy."""

from __future__ import annotations

import ctypes
import itertools
import os
import subprocess
import sys
import threading
import time
from pathlib import Path

import numpy as np
import pytest
from nnc.driver.program import compile_module
from nnc.ir.diagnostics import NncError
from nnc.ir.passes import PassContext
from nnc.ir.syntax.parser import parse_module
from nnc.lowering.outline_parallel import OutlineParallel
from nnc.lowering.to_llvm import LowerToLlvm
from nnc.runtime.threadpool import pool_functions
from nnc.targets.base import host
from nnc.targets.llvm.ir import llvm_ir
from nnc.targets.llvm.native import emit_object, load_object

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
    OutlineParallel().run(module, context)
    module.verify()
    LowerToLlvm().run(module, context)
    module.verify()
    return compile_module(module, threads=threads)


def tripled(x):
    y = np.zeros_like(x)
    y[1::3] = 3 * x[1::3]
    return y


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
    best = np.inf
    for _ in range(2):
        start = time.perf_counter()
        found = run(x)
        best = min(best, time.perf_counter() - start)
        np.testing.assert_array_equal(found, expected)
    # Generous: a busy machine may not have a second processor to give.
    assert threads > 2 or best / 10000 < 1e-3


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


# -- the pool itself -------------------------------------------------------------------------------

TASK = ctypes.CFUNCTYPE(None, ctypes.c_void_p, ctypes.c_int64, ctypes.c_int64)


class PoolCode:
    """The pool's functions, without a model."""

    def __init__(self, system=""):
        from nnc.dialects.builtin import ModuleOp
        from nnc.ir.core import Block, Region

        module = ModuleOp(
            Region([Block((), pool_functions(host().pause, system or host().system))])
        )
        module.verify()
        names = ("nnc_pool_create", "nnc_pool_destroy", "nnc_parallel_for")
        self.code = load_object(emit_object(llvm_ir(module), host()), names)
        self.create = ctypes.CFUNCTYPE(ctypes.c_void_p, ctypes.c_int32)(self.code[names[0]])
        self.destroy = ctypes.CFUNCTYPE(None, ctypes.c_void_p)(self.code[names[1]])
        run_type = ctypes.CFUNCTYPE(
            None, ctypes.c_void_p, TASK, ctypes.c_void_p, ctypes.c_int64, ctypes.c_int64
        )
        self.parallel_for = run_type(self.code[names[2]])


@pytest.fixture(scope="module")
def pool_code():
    return PoolCode()


def pieces_of(code, pool, begin, end):
    pieces = []
    lock = threading.Lock()

    def task(environment, first, last):
        assert environment == 77
        with lock:
            pieces.append((first, last, threading.get_ident()))

    code.parallel_for(pool, TASK(task), 77, begin, end)
    return sorted(pieces)


@pytest.mark.parametrize("threads", [2, 3, 8])
@pytest.mark.parametrize("span", [(0, 1), (0, 2), (5, 6), (3, 20), (0, 1000), (-7, 8)])
def test_pieces_are_even_and_always_the_same(pool_code, threads, span):
    begin, end = span
    pool = pool_code.create(threads)
    first = pieces_of(pool_code, pool, begin, end)
    assert first[0][0] == begin and first[-1][1] == end
    assert all(a[1] == b[0] for a, b in itertools.pairwise(first))
    lengths = [b - a for a, b, _ in first]
    assert len(lengths) == min(threads, end - begin) and max(lengths) - min(lengths) <= 1
    for _ in range(5):
        assert [p[:2] for p in pieces_of(pool_code, pool, begin, end)] == [p[:2] for p in first]
    pool_code.destroy(pool)


def test_empty_ranges_and_no_pool(pool_code):
    assert [p[:2] for p in pieces_of(pool_code, None, 2, 9)] == [(2, 9)]
    pool = pool_code.create(2)
    assert pool_code.create(1) is None and pool_code.create(-3) is None
    assert all(a >= b for a, b, _ in pieces_of(pool_code, pool, 4, 4))
    pool_code.destroy(pool)
    pool_code.destroy(None)


def test_a_hundred_pools(pool_code):
    before = len(os.listdir("/proc/self/task")) if os.path.isdir("/proc/self/task") else 0
    for i in range(100):
        pool = pool_code.create(2 + i % 4)
        if i % 3:
            assert pieces_of(pool_code, pool, 0, 10)[-1][1] == 10
        if i % 10 == 5:
            time.sleep(0.002)  # Its threads are asleep by then.
        pool_code.destroy(pool)
    if before:
        assert len(os.listdir("/proc/self/task")) == before


def test_waking_sleeping_threads(pool_code):
    pool = pool_code.create(3)
    for _ in range(20):
        time.sleep(0.003)
        assert len(pieces_of(pool_code, pool, 0, 9)) == 3
    pool_code.destroy(pool)


def test_the_caller_sleeps_until_slow_pieces_are_done(pool_code):
    pool = pool_code.create(3)
    done = []

    def task(environment, first, last):
        if first:
            time.sleep(0.02)
        done.append(first)

    pool_code.parallel_for(pool, TASK(task), None, 0, 3)
    assert sorted(done) == [0, 1, 2]
    pool_code.destroy(pool)


RECORD = """
llvm.func @sched_getcpu() -> i32
llvm.func @sched_yield() -> i32
// Notes the processor of each of two pieces, plus one; the first waits for the second.
llvm.func @record(%places: !llvm.ptr, %begin: i64, %end: i64) {
  %zero = llvm.mlir.constant(0 : i32) : i32
  %one = llvm.mlir.constant(1 : i32) : i32
  %second = llvm.getelementptr %places[1] : (!llvm.ptr) -> !llvm.ptr, i32
  %place = llvm.getelementptr %places[%begin] : (!llvm.ptr, i64) -> !llvm.ptr, i32
  %processor = llvm.call @sched_getcpu() : () -> i32
  %noted = llvm.add %processor, %one : i32
  llvm.store %noted, %place atomic release {alignment = 4 : i64} : i32, !llvm.ptr
  llvm.br ^wait
^wait:
  %there = llvm.load %second atomic acquire {alignment = 4 : i64} : !llvm.ptr -> i32
  %r = llvm.call @sched_yield() : () -> i32
  %absent = llvm.icmp "eq" %there, %zero : i32
  llvm.cond_br %absent, ^wait, ^end
^end:
  llvm.return
}
"""


def test_woken_threads_leave_the_caller_its_processor(pool_code):
    """A worker that sleeps starts elsewhere, and may go anywhere again once it is up."""
    code = load_object(emit_object(llvm_ir(parse_module(RECORD)), host()), ["record"])
    record = ctypes.cast(code["record"], TASK)
    allowed = os.sched_getaffinity(0)
    before = set(os.listdir("/proc/self/task"))
    pool = pool_code.create(2)
    (worker,) = (int(task) for task in set(os.listdir("/proc/self/task")) - before)
    apart = []
    try:
        for processor in sorted(allowed)[:2] * 4:
            while " S " not in Path(f"/proc/self/task/{worker}/stat").read_text():
                time.sleep(0.01)  # Until the worker sleeps.
            os.sched_setaffinity(0, {processor})
            places = (ctypes.c_int32 * 2)()
            pool_code.parallel_for(pool, record, ctypes.addressof(places), 0, 2)
            assert places[0] - 1 == processor
            apart.append(places[1] - 1 in (allowed - {processor} or allowed))
            assert os.sched_getaffinity(worker) == allowed
    finally:
        os.sched_setaffinity(0, allowed)
    # Once it is up, the system may move it before it looks.
    assert len(apart) == 8 and sum(apart) >= 6
    pool_code.destroy(pool)


def test_threads_keep_to_the_processors_that_they_were_given(pool_code):
    allowed = os.sched_getaffinity(0)
    one = {min(allowed)}
    try:
        os.sched_setaffinity(0, one)
        pool = pool_code.create(3)
        for _ in range(5):
            time.sleep(0.003)
            assert len(pieces_of(pool_code, pool, 0, 9)) == 3
        threads = {int(task) for task in os.listdir("/proc/self/task")}
        narrow = [thread for thread in threads if os.sched_getaffinity(thread) == one]
        assert len(narrow) >= 3  # The caller and both workers.
    finally:
        os.sched_setaffinity(0, allowed)
    pool_code.destroy(pool)


def test_a_system_that_does_not_tell_processors():
    code = PoolCode(system="darwin")
    pool = code.create(3)
    for _ in range(3):
        time.sleep(0.003)
        assert len(pieces_of(code, pool, 0, 9)) == 3
    code.destroy(pool)


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


@pytest.mark.parametrize("rest", ["", "import gc; del run; gc.collect()", FORK])
def test_processes_end_and_fork(rest):
    script = SCRIPT.format(folder=os.path.dirname(__file__), rest=rest + "\nprint('end')")
    found = subprocess.run(
        [sys.executable, "-c", script], capture_output=True, text=True, timeout=60, check=False
    )
    assert found.returncode == 0, found.stderr
    assert found.stdout.split()[-1] == "end"
