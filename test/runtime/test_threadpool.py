"""The thread pool itself, without a model: who takes which pieces, asleep, held up, elsewhere."""

from __future__ import annotations

import ctypes
import itertools
import os
import signal
import threading
import time
from contextlib import contextmanager
from dataclasses import dataclass, replace
from pathlib import Path

import llvmlite.binding as binding
import numpy as np
import pytest
from nnc.dialects.builtin import ModuleOp
from nnc.ir.core import Block, Region
from nnc.ir.syntax.parser import parse_module
from nnc.runtime.threadpool import pool_functions
from nnc.targets.base import host
from nnc.targets.llvm.ir import llvm_ir
from nnc.targets.llvm.native import emit_object, load_object

TASK = ctypes.CFUNCTYPE(None, ctypes.c_void_p, ctypes.c_int64, ctypes.c_int64)


def pool_module(target):
    module = ModuleOp(Region([Block((), pool_functions(target))]))
    module.verify()
    return module


class PoolCode:
    """The pool's functions, without a model."""

    def __init__(self, target):
        names = ("nnc_pool_create", "nnc_pool_destroy", "nnc_parallel_for", "nnc_pool_counts")
        module = pool_module(target)
        for function in module.body_block:
            if function.sym_name in names:
                function.linkage = "external"
        self.code = load_object(emit_object(llvm_ir(module), host()), names)
        self.create = ctypes.CFUNCTYPE(ctypes.c_void_p, ctypes.c_int32)(self.code[names[0]])
        self.destroy = ctypes.CFUNCTYPE(None, ctypes.c_void_p)(self.code[names[1]])
        numbers = [ctypes.c_int64] * 3
        run_type = ctypes.CFUNCTYPE(None, ctypes.c_void_p, TASK, ctypes.c_void_p, *numbers)
        self.parallel_for = run_type(self.code[names[2]])
        counts_type = ctypes.CFUNCTYPE(None, ctypes.c_void_p, ctypes.c_void_p, *numbers[:2])
        self._counts = counts_type(self.code[names[3]])

    def counts(self, pool, threads):
        """The time waited, and the pieces done by each thread."""
        table = np.full((3, threads + 1), -1)
        self._counts(pool, table.ctypes.data, 1, threads + 1)
        assert (table[[0, 2]] == -1).all()
        return table[1].tolist()


@pytest.fixture(scope="module")
def pool_code():
    return PoolCode(host())


def pieces_of(code, pool, begin, end, grain=1):
    pieces = []
    lock = threading.Lock()

    def task(environment, first, last):
        assert environment == 77
        with lock:
            pieces.append((first, last))

    code.parallel_for(pool, TASK(task), 77, begin, end, grain)
    return sorted(pieces)


@pytest.mark.parametrize("threads", [2, 3, 8])
@pytest.mark.parametrize("span", [(0, 1), (0, 2), (5, 6), (3, 20), (0, 1000), (-7, 8)])
@pytest.mark.parametrize("grain", [1, 3, 7])
def test_pieces_follow_from_the_job_alone(pool_code, threads, span, grain):
    begin, end = span
    count = -(-(end - begin) // grain)
    length = -(-(end - begin) // count)
    starts = range(begin, end, length)
    pool = pool_code.create(threads)
    for _ in range(3):
        found = pieces_of(pool_code, pool, begin, end, grain)
        assert found == [(start, min(start + length, end)) for start in starts]
    pool_code.destroy(pool)


def test_a_run_of_pieces_has_an_end(pool_code):
    """More indices than pieces that can be told apart, and grains that are no grains."""
    pool = pool_code.create(2)
    for length, grain in ((100_000, 1), (70_000, 0), (65_536, -5)):
        found = pieces_of(pool_code, pool, 0, length, grain)
        assert found[0][0] == 0 and found[-1][1] == length
        assert all(a[1] == b[0] for a, b in itertools.pairwise(found))
        assert 10_000 < len(found) <= 32_768
    pool_code.destroy(pool)


def test_empty_ranges_and_no_pool(pool_code):
    assert pieces_of(pool_code, None, 2, 9) == [(2, 9)]
    pool = pool_code.create(2)
    assert pool_code.create(1) is None and pool_code.create(-3) is None
    assert all(a >= b for a, b in pieces_of(pool_code, pool, 4, 4))
    pool_code.destroy(pool)
    pool_code.destroy(None)


def test_pieces_are_counted(pool_code):
    assert pool_code.counts(None, 3) == [0, 0, 0, 0]
    pool = pool_code.create(2)
    assert pool_code.counts(pool, 3) == [0, 0, 0, 0]
    for _ in range(10):
        pieces_of(pool_code, pool, 0, 12, 2)
    _, caller, worker, nobody = pool_code.counts(pool, 3)
    assert caller + worker == 10 * 6 and nobody == 0
    pool_code.destroy(pool)


def test_each_thread_begins_with_its_own_pieces(pool_code):
    """And takes them in order, while the others are busy with theirs."""
    pool = pool_code.create(2)
    all_there = threading.Barrier(2)
    firsts = {}

    def task(environment, first, last):
        done = firsts.setdefault(threading.get_ident(), [])
        done.append(first)
        if len(done) == 1:
            all_there.wait()

    for _ in range(5):
        firsts.clear()
        pool_code.parallel_for(pool, TASK(task), None, 0, 8, 1)
        own = firsts.pop(threading.get_ident())
        (others,) = firsts.values()
        assert own[0] == 0 and others[0] == 4
        assert sorted(own + others) == list(range(8))
        # Then its own from the front, and of the other's the last.
        assert own == [p for p in own if p < 4] + sorted((p for p in own if p >= 4), reverse=True)
    pool_code.destroy(pool)


def test_whoever_is_free_takes_the_next(pool_code):
    """One thread is held up in its first piece until the other has done all the rest."""
    pool = pool_code.create(2)
    rest = threading.Semaphore(0)

    def task(environment, first, last):
        if first == environment:
            for _ in range(9):
                assert rest.acquire(timeout=60)
        else:
            rest.release()

    for held in (1, 5) * 5:
        pool_code.parallel_for(pool, TASK(task), held, 0, 10, 1)
    pool_code.destroy(pool)


class Frozen:
    """Threads that do not run: a signal's handler is `pause`, which another signal ends."""

    def __init__(self, tasks):
        self.tasks = tasks
        self.libc = ctypes.CDLL(None)
        self.libc.signal.argtypes = [ctypes.c_int, ctypes.c_void_p]
        self.libc.signal.restype = ctypes.c_void_p

    def handle(self, number, function):
        address = ctypes.cast(getattr(self.libc, function), ctypes.c_void_p)
        return self.libc.signal(number, address)

    def tell(self, number):
        for task in self.tasks:
            assert self.libc.tgkill(os.getpid(), task, number) == 0

    def __enter__(self):
        self.before = [self.handle(signal.SIGUSR1, "pause"), self.handle(signal.SIGUSR2, "abs")]
        self.tell(signal.SIGUSR1)

    def __exit__(self, *_):
        while any(handling(task, signal.SIGUSR1) for task in self.tasks):
            self.tell(signal.SIGUSR2)  # In vain until the thread has come to `pause`.
            time.sleep(0.005)
        for number, before in zip((signal.SIGUSR1, signal.SIGUSR2), self.before, strict=True):
            self.libc.signal(number, before)


def wait_until(condition):
    while not condition():
        time.sleep(0.005)


def status(task, key):
    lines = Path(f"/proc/self/task/{task}/status").read_text().splitlines()
    return next(line.split()[1] for line in lines if line.startswith(key + ":"))


def handling(task, number):
    """Whether a signal waits for the thread, or the thread is in its handler."""
    masks = (int(status(task, key), 16) for key in ("SigPnd", "SigBlk"))
    return any(mask >> (number - 1) & 1 for mask in masks)


@contextmanager
def sleeping_workers(code, threads):
    """A pool, and the system's numbers of its workers, which sleep."""
    before = set(os.listdir("/proc/self/task"))
    pool = code.create(threads)
    tasks = [int(task) for task in set(os.listdir("/proc/self/task")) - before]
    for task in tasks:
        wait_until(lambda task=task: status(task, "State") == "S")
    yield pool, tasks
    code.destroy(pool)


@pytest.mark.parametrize("threads", [2, 4])
def test_a_worker_that_gets_no_processor_holds_up_nobody(pool_code, threads):
    with sleeping_workers(pool_code, threads) as (pool, tasks):
        with Frozen(tasks[:1]):
            wait_until(lambda: handling(tasks[0], signal.SIGUSR1))
            for _ in range(20):
                assert len(pieces_of(pool_code, pool, 0, 30)) == 30
        for _ in range(5):
            assert len(pieces_of(pool_code, pool, 0, 30)) == 30


@pytest.mark.parametrize("threads", [2, 3, 8])
def test_threads_that_are_held_up_now_and_then(pool_code, threads):
    """Each index is done once, whoever sleeps where."""
    pool = pool_code.create(threads)
    rng = np.random.default_rng(threads)
    for _ in range(60):
        naps = rng.choice([0.0, 0.0, 0.0, 1e-4, 1e-3], 24)
        counts = [0] * 24

        def task(environment, first, last, naps=naps, counts=counts):
            for i in range(first, last):
                time.sleep(naps[i])
                counts[i] += 1

        pool_code.parallel_for(pool, TASK(task), None, 0, 24, int(rng.integers(1, 5)))
        assert counts == [1] * 24
        time.sleep(rng.choice([0.0, 1e-3]))
    pool_code.destroy(pool)


def test_a_hundred_pools(pool_code):
    before = set(os.listdir("/proc/self/task")) if os.path.isdir("/proc/self/task") else set()
    for i in range(100):
        pool = pool_code.create(2 + i % 4)
        if i % 3:
            assert pieces_of(pool_code, pool, 0, 10)[-1][1] == 10
        if i % 10 == 5:
            time.sleep(0.002)  # Its threads are asleep by then.
        pool_code.destroy(pool)
    # A thread that was joined stands in /proc for a moment longer.
    until = time.monotonic() + 20
    while before and not set(os.listdir("/proc/self/task")) <= before:
        assert time.monotonic() < until, "threads of pools that are gone live on"
        time.sleep(0.001)


def test_waking_sleeping_threads(pool_code):
    pool = pool_code.create(3)
    for _ in range(20):
        time.sleep(0.003)
        assert len(pieces_of(pool_code, pool, 0, 9, 3)) == 3
    pool_code.destroy(pool)


def test_the_caller_sleeps_until_slow_pieces_are_done(pool_code):
    pool = pool_code.create(3)
    done = []

    def task(environment, first, last):
        if first:
            time.sleep(0.02)
        done.append(first)

    pool_code.parallel_for(pool, TASK(task), None, 0, 3, 1)
    assert sorted(done) == [0, 1, 2]
    pool_code.destroy(pool)


RECORD = """
llvm.func @sched_getcpu() -> i32
llvm.func @sched_yield() -> i32
// Notes the processor of each of two pieces, plus one; each waits for the other.
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
  %here = llvm.load %places atomic acquire {alignment = 4 : i64} : !llvm.ptr -> i32
  %r = llvm.call @sched_yield() : () -> i32
  %fewer = llvm.intr.umin(%here, %there) : (i32, i32) -> i32
  %absent = llvm.icmp "eq" %fewer, %zero : i32
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
    apart: list[bool] = []
    with sleeping_workers(pool_code, 2) as (pool, (worker,)):
        try:
            # Once it is up, the system may move it before it looks: three in four is enough, and
            # a machine that is busy with other work gets more rounds.
            while len(apart) < 8 or (sum(apart) < 0.75 * len(apart) and len(apart) < 400):
                processor = sorted(allowed)[len(apart) % min(2, len(allowed))]
                wait_until(lambda: status(worker, "State") == "S")
                os.sched_setaffinity(0, {processor})
                places = (ctypes.c_int32 * 2)()
                pool_code.parallel_for(pool, record, ctypes.addressof(places), 0, 2, 1)
                assert places[0] - 1 == processor
                apart.append(places[1] - 1 in (allowed - {processor} or allowed))
                assert os.sched_getaffinity(worker) == allowed
        finally:
            os.sched_setaffinity(0, allowed)
    assert sum(apart) >= 0.75 * len(apart)


def test_threads_keep_to_the_processors_that_they_were_given(pool_code):
    allowed = os.sched_getaffinity(0)
    one = {min(allowed)}
    try:
        os.sched_setaffinity(0, one)
        pool = pool_code.create(3)
        for _ in range(5):
            time.sleep(0.003)
            assert len(pieces_of(pool_code, pool, 0, 9, 3)) == 3
        threads = {int(task) for task in os.listdir("/proc/self/task")}
        narrow = [thread for thread in threads if os.sched_getaffinity(thread) == one]
        assert len(narrow) >= 3  # The caller and both workers.
    finally:
        os.sched_setaffinity(0, allowed)
    pool_code.destroy(pool)


def test_a_system_that_does_not_tell_processors():
    code = PoolCode(replace(host(), system="darwin"))  # Nor has it semaphores.
    pool = code.create(3)
    for _ in range(3):
        time.sleep(0.003)
        assert len(pieces_of(code, pool, 0, 9, 3)) == 3
    code.destroy(pool)


# -- other processors ------------------------------------------------------------------------------


@dataclass(frozen=True)
class Other:
    """A target of the pool; `head` is class and machine in the head of its object files."""

    triple: str
    pointer_bits: int
    pause: tuple[str, int | None] | None
    head: tuple[int, int]
    cpu: str = ""
    system: str = "linux"


OTHERS = [
    Other("x86_64-unknown-linux-gnu", 64, ("llvm.x86.sse2.pause", None), (2, 62)),
    Other("i686-unknown-linux-gnu", 32, ("llvm.x86.sse2.pause", None), (1, 3), "pentium4"),
    Other("armv7-unknown-linux-gnueabihf", 32, ("llvm.arm.hint", 1), (1, 40)),
    Other("aarch64-unknown-linux-gnu", 64, ("llvm.aarch64.isb", 15), (2, 183)),
    Other("riscv64-unknown-linux-gnu", 64, None, (2, 243)),
]


@pytest.mark.parametrize("system", ["linux", "darwin"])
@pytest.mark.parametrize("target", OTHERS, ids=lambda target: target.triple)
def test_the_pool_for_other_processors(target, system):
    """Its types fit, in our verifier's view and in LLVM's, and it becomes an object file."""
    module = pool_module(replace(target, system=system))
    pthread_join = next(f for f in module.body_block if f.sym_name == "pthread_join")
    assert [str(t) for t in pthread_join.function_type.inputs] == [
        f"i{target.pointer_bits}",
        "!llvm.ptr",
    ]
    binding.initialize_all_targets()
    binding.initialize_all_asmprinters()
    machine = binding.Target.from_triple(target.triple).create_target_machine(
        cpu=target.cpu, reloc="pic", codemodel="small"
    )
    head = f'target datalayout = "{machine.target_data}"\ntarget triple = "{target.triple}"\n'
    parsed = binding.parse_assembly(head + llvm_ir(module), binding.create_context())
    parsed.verify()
    code = machine.emit_object(parsed)
    assert code[:4] == b"\x7fELF"
    assert (code[4], int.from_bytes(code[18:20], "little")) == target.head


def test_the_end_of_a_pool_that_a_fork_copied(pool_code):
    """The child's own thread may have the number of one that stayed behind."""
    pool = pool_code.create(2)
    child = os.fork()
    if child == 0:
        signal.alarm(20)
        own = pool_code.create(2)
        pool_code.destroy(pool)
        pool_code.destroy(own)
        os._exit(7)
    _, status = os.waitpid(child, 0)
    pool_code.destroy(pool)
    assert os.waitstatus_to_exitcode(status) == 7
