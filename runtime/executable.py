"""A compiled model in this process: a callable on NumPy arrays."""

from __future__ import annotations

import ctypes
import threading
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from ..ir.core import Operation
from ..ir.diagnostics import NncError
from ..ir.numpy_types import type_to_numpy
from ..ir.types import TensorType
from ..targets.native import LoadedCode, NativeTarget, load_object
from .abi import ENTRY, RUN_TYPE, NncTensor
from .program import Program, aligned_buffer, make_program
from .recycling import OutputMemory
from .threads import POOL_SYMBOLS, Pool


def compile_module(
    module: Operation,
    *,
    cpu: str | None = None,
    features: str | None = None,
    opt_level: int = 2,
    threads: int = 1,
) -> Executable:
    """An executable from a module of the llvm dialect that has an entry.

    `cpu` and `features` are LLVM's names, this machine's by default. Raises NncError.
    """
    program = make_program(module, NativeTarget(cpu or "", features or "", opt_level))
    return Executable(program, threads=threads)


class Executable:
    """A compiled model. Calls may come from several threads at once."""

    def __init__(self, program: Program, *, threads: int = 1) -> None:
        found = program.signature
        self.input_names, self.input_types = found.input_names, found.input_types
        self.output_names, self.output_types = found.output_names, found.output_types
        self._arena_bytes = found.arena_bytes
        exports = (ENTRY, *POOL_SYMBOLS) if program.parallel else (ENTRY,)
        self._code: LoadedCode = load_object(program.code, exports)
        self._run = RUN_TYPE(self._code[ENTRY])
        self._weights = program.weights
        self._outputs = {
            i: OutputMemory(type)
            for i, type in enumerate(self.output_types)
            if type.has_static_shape
        }
        self._arenas: list[np.ndarray] = []
        self._lock = threading.Lock()
        self._pool = Pool(self._code if program.parallel else None)
        self.threads = threads

    @property
    def threads(self) -> int:
        """How many threads a call may use; without parallel loops the number has no effect."""
        return self._pool.threads

    @threads.setter
    def threads(self, count: int) -> None:
        self._pool.resize(count)

    # -- calling -----------------------------------------------------------------------------

    def __call__(self, *arrays: Any, **named: Any) -> Any:
        """The output, or a tuple of several. Inputs in order, by name, or as one mapping.

        Raises NncError for inputs of another type or shape than the model's.
        """
        if len(arrays) == 1 and isinstance(arrays[0], Mapping) and not named:
            named, arrays = dict(arrays[0]), ()
        outputs = tuple(self._call(self._in_order(arrays, named)))
        return outputs[0] if len(outputs) == 1 else outputs

    def run(self, inputs: Mapping[str, Any]) -> dict[str, np.ndarray]:
        """The outputs by name, from inputs by name."""
        outputs = self._call(self._in_order((), inputs))
        return dict(zip(self.output_names, outputs, strict=True))

    def _in_order(self, arrays: Sequence[Any], named: Mapping[str, Any]) -> list[np.ndarray]:
        names = self.input_names
        if len(arrays) > len(names):
            raise NncError(f"expected {len(names)} inputs, got {len(arrays)}")
        given = dict(zip(names, arrays, strict=False))
        for name, array in named.items():
            if name not in names:
                known = ", ".join(f"'{n}'" for n in names) or "none"
                raise NncError(f"there is no input '{name}'; the inputs are {known}")
            if name in given:
                raise NncError(f"input '{name}' is given twice")
            given[name] = array
        missing = [n for n in names if n not in given]
        if missing:
            raise NncError("missing input " + ", ".join(f"'{n}'" for n in missing))
        return [
            _checked(name, given[name], type)
            for name, type in zip(names, self.input_types, strict=True)
        ]

    def _call(self, inputs: list[np.ndarray]) -> list[np.ndarray]:
        outputs = _Tensors(len(self.output_types))
        arrays: list[np.ndarray | None] = []
        for i, type in enumerate(self.output_types):
            made = None
            if type.has_static_shape:
                made = self._outputs[i].array()
                outputs.set(i, made, False)
            else:
                outputs.set_rank(i, type.rank)
            arrays.append(made)
        given = _Tensors(len(inputs))
        for i, (array, type) in enumerate(zip(inputs, self.input_types, strict=True)):
            given.set(i, array, not type.has_static_shape)
        arena = self._take_arena()
        try:
            with self._pool.lent() as pool:
                status = self._run(
                    given.array, outputs.array, arena.ctypes.data, self._weights.ctypes.data, pool
                )
        finally:
            self._give_arena(arena)
        if status:
            raise NncError(f"the compiled model failed with status {status}")
        return [
            array if array is not None else outputs.heap_array(i, self.output_types[i])
            for i, array in enumerate(arrays)
        ]

    def _take_arena(self) -> np.ndarray:
        """Scratch memory that no other call uses now."""
        with self._lock:
            if self._arenas:
                return self._arenas.pop()
        return aligned_buffer(self._arena_bytes)

    def _give_arena(self, arena: np.ndarray) -> None:
        with self._lock:
            self._arenas.append(arena)


class _Tensors:
    """An array of nnc_tensor and the shapes that it points to."""

    def __init__(self, count: int) -> None:
        self.array = (NncTensor * count)()
        self.shapes: list[Any] = [None] * count

    def set(self, i: int, array: np.ndarray, with_shape: bool) -> None:
        """Make tensor i one of an array, which has to outlive it.

        Nobody reads the shape of a tensor whose type says it.
        """
        tensor = self.array[i]
        tensor.data = array.ctypes.data
        if with_shape:
            self.shapes[i] = (ctypes.c_int64 * max(1, array.ndim))(*array.shape)
            tensor.shape = self.shapes[i]

    def set_rank(self, i: int, rank: int) -> None:
        """Make room for the shape of a tensor that the callee makes."""
        self.shapes[i] = (ctypes.c_int64 * max(1, rank))()
        self.array[i].shape = self.shapes[i]

    def heap_array(self, i: int, type: TensorType) -> np.ndarray:
        """The tensor that the callee made, as an array that frees it."""
        dtype = type_to_numpy(type.element_type)
        shape = tuple(self.shapes[i][: type.rank])
        buffer = _HeapBuffer(self.array[i].data, shape, dtype.itemsize)
        return np.asarray(buffer).view(dtype)


class _HeapBuffer:
    """A buffer from C's heap, freed with the last array that looks at it."""

    def __init__(self, address: int, shape: tuple[int, ...], itemsize: int) -> None:
        self._address = address
        self.__array_interface__ = {
            "data": (address, False),
            "shape": shape,
            "typestr": f"{'|' if itemsize == 1 else '<'}u{itemsize}",
            "version": 3,
        }

    def __del__(self) -> None:
        _c_free(self._address)


def _c_free(address: int) -> None:
    free = ctypes.CDLL(None).free
    free.argtypes = [ctypes.c_void_p]
    free.restype = None
    free(address)


# -- inputs ------------------------------------------------------------------------------------


def _checked(name: str, value: Any, type: TensorType) -> np.ndarray:
    """The input as a contiguous array of the right type."""
    array = np.asarray(value)
    dtype = type_to_numpy(type.element_type)
    fits = array.ndim == type.rank and all(
        want is None or want == have for want, have in zip(type.shape, array.shape, strict=False)
    )
    if array.dtype.newbyteorder("=") != dtype or not fits:
        raise NncError(f"input '{name}': expected {type}, got {array.dtype} {array.shape}")
    if array.dtype != dtype:
        array = array.astype(dtype)
    return np.ascontiguousarray(array) if array.ndim else array.reshape(())
