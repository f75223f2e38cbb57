"""A compiled model in this process."""

from __future__ import annotations

import ctypes
import weakref
from collections.abc import Callable, Sequence
from copy import copy
from functools import partial
from typing import Any

import numpy as np

from ..ir.diagnostics import NncError
from ..ir.types import TensorType
from .abi import (
    PREPARE,
    PREPARE_TYPE,
    RELEASE,
    RELEASE_TYPE,
    REUSE,
    REUSE_TYPE,
    RUN,
    RUN_TYPE,
)
from .memory import HeapMemory, HeapResult, OutputMemory, aligned_buffer, shape_of_rank
from .model import Model
from .program import LinkedCode, Program, Signature
from .threads import POOL_SYMBOLS, Pool


class Executable(Model):
    """A compiled model in this process. Calls are thread-safe.

    It can be pickled, and unpickled on a machine that can run its code; copies share the code's
    bytes and the weights.
    """

    def __init__(self, program: Program, *, threads: int = 1, exports: Sequence[str] = ()) -> None:
        """`exports` are further symbols of the code, which are found in `_code`."""
        found = program.signature
        super().__init__(found)
        exports = [RUN, *exports]
        exports += [RELEASE, REUSE] if found.heap_bytes else []
        exports += POOL_SYMBOLS if program.parallel else ()
        exports += [PREPARE] if found.prepared_bytes else []
        self._code = program.target.load(program.code, tuple(exports))
        self._run = RUN_TYPE(self._code[RUN])
        made = _prepared_weights(self._code, program) if found.prepared_bytes else program.weights
        self._program, self._weights = program, made
        self._weights_address = made.ctypes.data
        types = list(enumerate(found.output_types))
        self._outputs = [(i, OutputMemory(type)) for i, type in types if type.has_static_shape]
        self._heap = HeapMemory(len(types) - len(self._outputs))
        self._release, self._reuse = (
            (RELEASE_TYPE(self._code[RELEASE]), REUSE_TYPE(self._code[REUSE]))
            if found.heap_bytes
            else (None, None)
        )
        self._frames: list[_Frame] = []
        self._pool = Pool(self._code if program.parallel else None)
        self.threads = threads

    @property
    def threads(self) -> int:
        return self._pool.threads

    @threads.setter
    def threads(self, count: int) -> None:
        self._pool.resize(count)

    def __reduce__(self):
        return partial(Executable, threads=self.threads), (self._program,)

    def __deepcopy__(self, memo: dict[int, Any]) -> Executable:
        return copy(self)

    def release_memory(self) -> None:
        self._frames.clear()
        self._heap.clear()

    def call_at(self, given: Sequence[int], made: Sequence[int]) -> int:
        """Run on the caller's memory, at the addresses of inputs and outputs; returns the status.

        Only for models of static shapes. Nothing is checked.
        """
        frame = self._frame()
        try:
            frame.enter(given, made)
            return self._run_in(frame)
        finally:
            self._frames.append(frame)

    def _call(self, inputs: list[np.ndarray]) -> list[np.ndarray]:
        frame = self._frame()
        try:
            frame.fill(inputs)
            arrays: list = [None] * len(self.output_names)
            for i, memory in self._outputs:
                arrays[i] = frame.output(i, memory.array())
            heap = self._heap
            if self._reuse is not None:
                frame.lend(heap, self._reuse)
            if status := self._run_in(frame):
                raise self._failed(status, inputs)
            for i, result in frame.results:
                arrays[i] = frame.heap_array(i, result, heap)
            return arrays
        finally:
            self._frames.append(frame)

    def _failed(self, status: int, inputs: Sequence[np.ndarray]) -> NncError:
        said = self._code.message(status)
        return NncError(said) if said else super()._failed(status, inputs)

    def _frame(self) -> _Frame:
        """A frame for exclusive use, to be returned to `_frames`."""
        try:
            return self._frames.pop()
        except IndexError:
            frame = _Frame(self.signature)
            if self._release is not None:
                frame.free_by(self._release, self._code)
            return frame

    def _run_in(self, frame: _Frame) -> int:
        """Run on a frame's inputs and outputs; returns the status."""
        pool = self._pool.borrow()
        try:
            return self._run(*frame.addresses, self._weights_address, pool)
        finally:
            self._pool.give_back(pool)


def _prepared_weights(code: LinkedCode, program: Program) -> np.ndarray:
    """The weights that the code computes from the stored ones, which must stay alive."""
    found = program.signature
    prepare = PREPARE_TYPE(code[PREPARE])
    made, arena = aligned_buffer(found.prepared_bytes), aligned_buffer(found.prepare_arena_bytes)
    step = 0
    blocks = [block.ctypes.data for block in (program.weights, made, arena)]
    while prepare(*blocks, None, step) >= 0:
        step += 1
    return made


class _Frame:
    """The memory of one call at a time: scratch memory, and two arrays of nnc_tensor.

    Each nnc_tensor is two numbers, the addresses of its elements and of its shape. The shape of a
    tensor with a static type is not read.
    """

    def __init__(self, found: Signature) -> None:
        inputs, outputs = found.input_types, found.output_types
        self._given, self._made = (
            (ctypes.c_size_t * (2 * max(1, len(types))))() for types in (inputs, outputs)
        )
        self.results = [(i, HeapResult(type)) for i, type in _of_unknown_shape(outputs)]
        for i, result in self.results:
            self._made[2 * i + 1] = ctypes.addressof(result.extents)
        self._input_shapes = {i: shape_of_rank(t) for i, t in _of_unknown_shape(inputs)}
        for i, shape in self._input_shapes.items():
            self._given[2 * i + 1] = ctypes.addressof(shape)
        self._entered: dict[int, tuple[int, ...]] = dict.fromkeys(self._input_shapes, ())
        """The shapes that `_input_shapes` holds now, by input."""
        self._arena = aligned_buffer(found.arena_bytes)
        self._arena[: found.heap_bytes] = 0
        self.lent: dict[int, int] = {}
        self.addresses = (
            ctypes.addressof(self._given),
            ctypes.addressof(self._made),
            self._arena.ctypes.data,
        )

    def fill(self, inputs: list[np.ndarray]) -> None:
        """Set the inputs of the next call; the caller keeps them alive until its end."""
        given, i = self._given, 0
        for array in inputs:
            given[i] = address_of(array)
            i += 2
        for i, last in self._entered.items():
            if (shape := inputs[i].shape) != last:
                self._entered[i] = shape
                self._input_shapes[i][:] = shape or (0,)

    def output(self, i: int, array: np.ndarray) -> np.ndarray:
        """Set an output, which has to outlive the call."""
        self._made[2 * i] = address_of(array)
        return array

    def enter(self, given: Sequence[int], made: Sequence[int]) -> None:
        """Set the addresses of inputs and outputs."""
        for tensors, addresses in ((self._given, given), (self._made, made)):
            i = 0
            for address in addresses:
                tensors[i] = address
                i += 2

    def free_by(self, release: Callable[[int], None], code: LinkedCode) -> None:
        """Have a function of the code free the arena's memory when the frame is deleted."""
        address = self._arena.ctypes.data
        weakref.finalize(self, _free, release, address, (self._arena, code)).atexit = False

    def lend(self, memory: HeapMemory, reuse: Callable[[int, int, int], None]) -> None:
        """Pass memory of earlier results to the callee."""
        if memory.kept or self.lent:
            self.lent = lent = memory.take()
            for address in lent:
                reuse(self.addresses[2], address, lent[address])

    def heap_array(self, i: int, result: HeapResult, memory: HeapMemory) -> np.ndarray:
        """The callee's tensor as an array that releases its memory."""
        address = self._made[2 * i]
        return result.array(address, self.lent.get(address, 0), memory)


def _of_unknown_shape(types: Sequence[TensorType]) -> list[tuple[int, TensorType]]:
    return [(i, type) for i, type in enumerate(types) if not type.has_static_shape]


def _free(release: Callable[[int], None], arena: int, alive: object) -> None:
    """Free the memory of an arena; `alive` is kept alive until then."""
    release(arena)


_address, _seen_as_bytes = ctypes.addressof, ctypes.c_char.from_buffer


def address_of(array: np.ndarray) -> int:
    """The address of a contiguous array's elements; the array must stay alive."""
    try:
        # Faster than NumPy's own way.
        return _address(_seen_as_bytes(array))  # type: ignore[arg-type]
    except (TypeError, ValueError):  # read-only, or empty
        return array.ctypes.data
