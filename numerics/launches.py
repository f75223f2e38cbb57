"""Interpretation of kernel launches: each thread runs in turn until it waits for others.

A kernel that does not use thread ids is a tile program, which runs once for each group. In other
kernels, a thread runs until it reaches a barrier or an exchange within its subgroup, and goes on
when all threads that take part have reached it. `races.py` finds races.
"""

from __future__ import annotations

import itertools
import threading
from collections.abc import Callable, Sequence
from contextlib import contextmanager
from typing import Any

import numpy as np

from ..dialects import gpu
from ..dialects.memref.aliasing import base_buffer, is_buffer
from ..dialects.memref.buffers import new_array
from ..ir.core import BlockArgument, Operation
from ..ir.diagnostics import Diagnostic, NncError
from ..ir.traits import WritesMemory
from .races import Memory
from .threads import Axes, Gate, Group, Runner, Thread, Waiting

_MEETING = (gpu.Barrier, gpu.Shuffle, gpu.SubgroupReduce)


class _Cancelled(BaseException):
    """Ends a thread because another one failed."""


def launch(
    runner: Runner,
    kernel: gpu.GPUFuncOp,
    groups: Axes,
    threads: Axes,
    args: Sequence[np.ndarray],
) -> None:
    """Run a kernel. Raises NncError, which names the thread, if a thread fails or
    there is a race.
    """
    _check_sizes(kernel, groups, threads)
    ops = list(kernel.walk())
    alone = gpu.is_by_thread(kernel)
    meets = alone and any(isinstance(op, _MEETING) for op in ops)
    shared = Memory([args[i] for i in _written(kernel, ops)])
    size = gpu.subgroup_size(kernel)
    for z, y, x in itertools.product(*map(range, reversed(groups))):
        buffers = [new_array(b.type) for b in kernel.workgroup_buffers]
        # Of one that is all of its group, no other is in the way in the group's own memory.
        memories = (shared, Memory(buffers)) if alone else (shared,)
        group = Group((x, y, z), groups, threads, size, memories)

        def body(thread: Thread, buffers: list[Any] = buffers) -> None:
            own = [new_array(b.type) for b in kernel.private_buffers]
            runner.run_body(kernel.body, [*args, *buffers, *own])

        with _restored(runner):
            if meets:
                _Together(runner, group, body).run()
            else:
                count = group.size if alone else 1
                for number in range(count):
                    _run(runner, Thread(group, number, is_whole_group=not alone), body)


def _written(kernel: gpu.GPUFuncOp, ops: Sequence[Operation]) -> list[int]:
    """The indices of the arguments that the kernel may write to.

    Races are looked for only in their memory, through whatever argument it is read.
    """
    numbers = {id(arg): i for i, arg in enumerate(kernel.args) if is_buffer(arg)}
    written = set()
    for op in ops:
        for value in op.operands if op.has_trait(WritesMemory) else ():
            if not is_buffer(value):
                continue
            base = base_buffer(value)
            if id(base) in numbers:
                written.add(numbers[id(base)])
            elif isinstance(base, BlockArgument) and base.owner is not kernel.body.blocks[0]:
                return sorted(numbers.values())  # It may be any of them.
    return sorted(written)


def _check_sizes(kernel: gpu.GPUFuncOp, groups: Axes, threads: Axes) -> None:
    """Raise NncError if the kernel was made for another number of threads or groups."""
    for what, known, found in (
        ("threads", kernel.known_block_size, threads),
        ("groups", kernel.known_grid_size, groups),
    ):
        if known is not None and tuple(known) != found:
            raise NncError(
                f"'@{kernel.sym_name}' is made for {tuple(known)} {what}, "
                f"but is launched with {found}"
            )


@contextmanager
def _restored(runner: Runner) -> Any:
    before = runner.thread, runner.observer
    runner.observer = None  # To whom a launch is one operation.
    try:
        yield
    finally:
        runner.thread, runner.observer = before


def _run(runner: Runner, thread: Thread, body: Callable[[Thread], None]) -> None:
    runner.thread = thread
    try:
        body(thread)
    except NncError as error:
        raise _in_thread(error, thread) from error


def _in_thread(error: NncError, thread: Thread) -> NncError:
    notes = [*error.diagnostic.notes, Diagnostic("note", f"in {thread}", error.location)]
    return type(error)(error.message, error.location, notes)


class _Together:
    """The threads of a group, each a Python thread; only one of them runs at a time."""

    def __init__(self, runner: Runner, group: Group, body: Callable[[Thread], None]) -> None:
        self.runner = runner
        self.members = [Thread(group, i, together=self) for i in range(group.size)]
        self.group = group
        self._body = body
        self._back = Gate()
        self._cancelled = False

    def run(self) -> None:
        """Run all threads to their ends. Raises what one of them raises."""
        workers = [
            threading.Thread(target=self._work, args=(t,), daemon=True) for t in self.members
        ]
        for worker in workers:
            worker.start()
        try:
            while running := [t for t in self.members if not t.ended]:
                for thread in running:
                    if thread.waiting is None:
                        self._resume(thread)
                self._release()
        finally:
            self._cancelled = True
            for thread in self.members:
                thread.go.open()
            for worker in workers:
                worker.join()

    def _work(self, thread: Thread) -> None:
        thread.go.enter()
        try:
            if not self._cancelled:
                self._body(thread)
        except _Cancelled:
            pass
        except BaseException as error:
            thread.error = error
        thread.ended = True
        self._back.open()

    def _resume(self, thread: Thread) -> None:
        """Let a thread run until it waits or ends."""
        self.runner.thread = thread
        thread.go.open()
        self._back.enter()
        if isinstance(thread.error, NncError):
            raise _in_thread(thread.error, thread) from thread.error
        if thread.error is not None:
            raise thread.error

    def wait(self, thread: Thread, waiting: Waiting) -> Any:
        """Called by the running thread: wait until all threads that it must meet have arrived."""
        thread.waiting = waiting
        self._back.open()
        thread.go.enter()
        if self._cancelled:
            raise _Cancelled
        return waiting.answer

    def _release(self) -> None:
        """Resume threads that have all arrived. Raises NncError at a deadlock."""
        waiting = [t for t in self.members if t.waiting is not None]
        if not waiting:
            return
        released = False
        for scope in dict.fromkeys(t.waiting.scope for t in waiting):  # type: ignore[union-attr]
            released |= self._release_scope(scope)
        if not released:
            raise self._parted()

    def _members_of(self, scope: Any) -> list[Thread]:
        if scope == self.group.threads:
            return self.members
        return [t for t in self.members if t.subgroup == scope]

    def _release_scope(self, scope: Any) -> bool:
        members = self._members_of(scope)
        found = [t.waiting for t in members]
        first = found[0]
        if any(w is None or w.op is not first.op or w.scope != scope for w in found):  # type: ignore[union-attr]
            return False
        answer = {t.lane: t.waiting.value for t in members}  # type: ignore[union-attr]
        for thread in members:
            thread.waiting.answer = answer  # type: ignore[union-attr]
            thread.waiting = None
        if members is self.members:
            self.group.interval += 1
        return True

    def _parted(self) -> NncError:
        """The error for threads that wait for one another forever."""
        thread = next(t for t in self.members if t.waiting is not None)
        waiting = thread.waiting
        assert waiting is not None
        other = next(
            t
            for t in self._members_of(waiting.scope)
            if t.waiting is None or t.waiting.op is not waiting.op
        )
        if other.waiting is None:
            does, place = "has ended", None
        else:
            does, place = f"waits at another '{other.waiting.op.name}'", other.waiting.op.loc
        message = f"{thread} waits at '{waiting.op.name}' for {other}, which {does}"
        notes = [Diagnostic("note", "it waits here", place)] if place is not None else []
        return NncError(message, waiting.op.loc, notes)
