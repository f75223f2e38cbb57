"""A compiled model in this process."""

from __future__ import annotations

import ctypes
from collections.abc import Callable, Iterable, Sequence
from functools import cache
from typing import Any

import numpy as np

from ..ir.numpy_types import type_to_numpy
from ..ir.types import TensorType
from ..targets.llvm.native import LoadedCode
from .abi import PREPARE, PREPARE_TYPE, RUN, RUN_TYPE
from .memory import OutputMemory, aligned_buffer
from .model import Model
from .program import Program
from .threads import POOL_SYMBOLS, Pool


class Executable(Model):
    """A compiled model in this process. Calls may come from several threads at once."""

    def __init__(self, program: Program, *, threads: int = 1) -> None:
        found = program.signature
        super().__init__(found)
        self._arena_bytes = found.arena_bytes
        exports = [RUN]
        exports += POOL_SYMBOLS if program.parallel else ()
        exports += [PREPARE] if found.prepared_bytes else []
        self._code = program.target.load(program.code, tuple(exports))
        self._run = RUN_TYPE(self._code[RUN])
        made = _prepared_weights(self._code, program) if found.prepared_bytes else program.weights
        self._weights = program.weights, made
        self._weights_address = made.ctypes.data
        self._outputs = [
            OutputMemory(type) if type.has_static_shape else None for type in found.output_types
        ]
        self._frames: list[_Frame] = []
        self._pool = Pool(self._code if program.parallel else None)
        self.threads = threads

    @property
    def threads(self) -> int:
        return self._pool.threads

    @threads.setter
    def threads(self, count: int) -> None:
        self._pool.resize(count)

    def call_at(self, given: Sequence[int], made: Sequence[int]) -> int:
        """The status of a run on memory of the caller's, at the addresses of inputs and outputs.

        For models of static shapes only. Nothing is checked.
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
            arrays = [None if memory is None else memory.array() for memory in self._outputs]
            frame.fill(inputs, arrays)
            if status := self._run_in(frame):
                raise self._failed(status, inputs)
            return [
                frame.heap_array(i) if array is None else array for i, array in enumerate(arrays)
            ]
        finally:
            self._frames.append(frame)

    def _frame(self) -> _Frame:
        """A frame that no other call uses, to be given back to `_frames`."""
        try:
            return self._frames.pop()
        except IndexError:
            return _Frame(self.input_types, self.output_types, self._arena_bytes)

    def _run_in(self, frame: _Frame) -> int:
        """The status of a run on what the frame says."""
        pool = self._pool.borrow()
        try:
            return self._run(*frame.addresses, self._weights_address, pool)
        finally:
            self._pool.give_back(pool)


def _prepared_weights(code: LoadedCode, program: Program) -> np.ndarray:
    """The block of weights that the code makes of the stored ones, which have to stay."""
    found = program.signature
    prepare = PREPARE_TYPE(code[PREPARE])
    made, arena = aligned_buffer(found.prepared_bytes), aligned_buffer(found.prepare_arena_bytes)
    step = 0
    blocks = [block.ctypes.data for block in (program.weights, made, arena)]
    while prepare(*blocks, None, step) >= 0:
        step += 1
    return made


class _Frame:
    """What one call at a time needs: scratch memory, and two arrays of nnc_tensor.

    Each nnc_tensor is two numbers, the addresses of its elements and of its shape. Nobody
    reads the shape of a tensor whose type says it.
    """

    def __init__(
        self, inputs: Sequence[TensorType], outputs: Sequence[TensorType], arena_bytes: int
    ) -> None:
        self._given, self._made = (
            (ctypes.c_size_t * (2 * max(1, len(types))))() for types in (inputs, outputs)
        )
        self._results = {i: _HeapResult(type) for i, type in _of_unknown_shape(outputs)}
        for i, result in self._results.items():
            self._made[2 * i + 1] = ctypes.addressof(result.extents)
        self._input_shapes = {i: _shape_of_rank(t) for i, t in _of_unknown_shape(inputs)}
        for i, shape in self._input_shapes.items():
            self._given[2 * i + 1] = ctypes.addressof(shape)
        self._arena = aligned_buffer(arena_bytes)
        self.addresses = (
            ctypes.addressof(self._given),
            ctypes.addressof(self._made),
            self._arena.ctypes.data,
        )

    def fill(self, inputs: list[np.ndarray], outputs: list[np.ndarray | None]) -> None:
        """Enter the arrays, which have to outlive the call; None for what the callee makes."""
        self.enter(
            map(address_of, inputs),
            [0 if array is None else address_of(array) for array in outputs],
        )
        for i, shape in self._input_shapes.items():
            shape[:] = inputs[i].shape or (0,)

    def enter(self, given: Iterable[int], made: Iterable[int]) -> None:
        """Enter the addresses of inputs and outputs."""
        tensors = self._given
        for i, address in enumerate(given):
            tensors[2 * i] = address
        tensors = self._made
        for i, address in enumerate(made):
            tensors[2 * i] = address

    def heap_array(self, i: int) -> np.ndarray:
        """The tensor that the callee made, as an array that frees it."""
        return self._results[i].array(self._made[2 * i])


def _of_unknown_shape(types: Sequence[TensorType]) -> list[tuple[int, TensorType]]:
    return [(i, type) for i, type in enumerate(types) if not type.has_static_shape]


def _shape_of_rank(type: TensorType) -> Any:
    return (ctypes.c_int64 * max(1, type.rank))()


def address_of(array: np.ndarray) -> int:
    """Where a contiguous array's elements lie; the array has to live on."""
    try:
        # Faster than NumPy's own way.
        return ctypes.addressof(ctypes.c_char.from_buffer(array))  # type: ignore[arg-type]
    except (TypeError, ValueError):  # nothing may be written there, or there is nothing
        return array.ctypes.data


class _HeapResult:
    """Makes the arrays of an output that the callee puts on C's heap: `extents` are its shape."""

    def __init__(self, type: TensorType) -> None:
        self.extents = _shape_of_rank(type)
        self._rank = type.rank
        dtype = type_to_numpy(type.element_type)
        # The array interface knows no bfloat16 and the like: those are seen as bytes first.
        self._view = None if dtype.isbuiltin == 1 else dtype
        self._code = (
            dtype.str if self._view is None else f"{'|<'[dtype.itemsize > 1]}u{dtype.itemsize}"
        )

    def array(self, address: int) -> np.ndarray:
        """The elements at an address as an array that frees them."""
        shape = tuple(self.extents[: self._rank])
        found = np.asarray(_HeapBuffer(address, shape, self._code))
        return found if self._view is None else found.view(self._view)


class _HeapBuffer:
    """A buffer from C's heap, freed with the last array that looks at it."""

    __slots__ = ("__array_interface__", "_address", "_free")

    def __init__(self, address: int, shape: tuple[int, ...], code: str) -> None:
        self._address = address
        self._free = _c_free()  # kept, since at exit this module's names go before its arrays
        self.__array_interface__ = {
            "data": (address, False),
            "shape": shape,
            "typestr": code,
            "version": 3,
        }

    def __del__(self) -> None:
        self._free(self._address)


@cache
def _c_free() -> Callable[[int], None]:
    free = ctypes.CDLL(None).free
    free.argtypes = [ctypes.c_void_p]
    free.restype = None
    return free
