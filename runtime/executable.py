"""A compiled model in this process: a callable on NumPy arrays."""

from __future__ import annotations

import ctypes
import threading
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from ..ir.attributes import (
    ArrayAttr,
    DenseElements,
    DenseResource,
    DictAttr,
    IntegerAttr,
    StringAttr,
)
from ..ir.core import Operation
from ..ir.diagnostics import NncError
from ..ir.numpy_types import type_to_numpy
from ..ir.types import TensorType
from ..targets.llvm_ir import has_scalar_loops, llvm_ir
from ..targets.native import LoadedCode, NativeTarget, emit_object, load_object
from .abi import ALIGNMENT, ENTRY, RUN_TYPE, NncTensor
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
    target = NativeTarget(cpu or "", features or "", opt_level)
    return Executable(module, target, threads=threads)


class Executable:
    """A compiled model. Calls may come from several threads at once."""

    def __init__(
        self, module: Operation, target: NativeTarget | None = None, *, threads: int = 1
    ) -> None:
        found = signature(module)
        self.input_names, self.input_types = found.input_names, found.input_types
        self.output_names, self.output_types = found.output_names, found.output_types
        self._arena_bytes = found.arena_bytes
        defined = {op.properties.get("sym_name") for op in module.body_block}
        parallel = all(StringAttr(name) in defined for name in POOL_SYMBOLS)
        exports = (ENTRY, *POOL_SYMBOLS) if parallel else (ENTRY,)
        self._code: LoadedCode = load_object(
            emit_object(llvm_ir(module), target, has_scalar_loops(module)), exports
        )
        self._run = RUN_TYPE(self._code[ENTRY])
        self._weights = packed_weights(module)
        self._arenas: list[np.ndarray] = []
        self._lock = threading.Lock()
        self._pool = Pool(self._code if parallel else None)
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
                made = np.empty(type.shape, type_to_numpy(type.element_type))  # type: ignore[arg-type]
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


def aligned_buffer(size: int) -> np.ndarray:
    """Uninitialized bytes at an address that is a multiple of 64."""
    raw = np.empty(size + ALIGNMENT, np.uint8)
    start = -raw.ctypes.data % ALIGNMENT
    return raw[start : start + size]


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


# -- what the module says ------------------------------------------------------------------------


@dataclass(frozen=True)
class Signature:
    """The entry of a module of the llvm dialect: inputs, outputs, and memory in bytes."""

    input_names: list[str]
    input_types: list[TensorType]
    output_names: list[str]
    output_types: list[TensorType]
    arena_bytes: int
    weights_bytes: int


def signature(module: Operation) -> Signature:
    """What the module says of its entry. Raises NncError where it has none."""
    return Signature(
        _strings(module, "nn.input_names"),
        _types(module, "nn.inputs"),
        _strings(module, "nn.output_names"),
        _types(module, "nn.outputs"),
        _integer(module, "nn.arena_bytes"),
        _integer(module, "nn.weights_bytes"),
    )


def _entry_attribute(module: Operation, name: str) -> Any:
    value = module.attribute(name)
    if value is None:
        raise NncError(
            f"the module has no '{name}': it has no entry function, or is not lowered to the "
            "llvm dialect",
            module.loc,
        )
    return value


def _strings(module: Operation, name: str) -> list[str]:
    return [a.value for a in _entry_attribute(module, name)]


def _types(module: Operation, name: str) -> list[TensorType]:
    value = _entry_attribute(module, name)
    assert isinstance(value, ArrayAttr)
    return list(value.elements)  # type: ignore[arg-type]


def _integer(module: Operation, name: str) -> int:
    value = _entry_attribute(module, name)
    assert isinstance(value, IntegerAttr)
    return value.value


def packed_weights(module: Operation) -> np.ndarray:
    """The bytes of the weights buffer that the code expects, 64-byte aligned.

    Raises NncError for data that is missing or does not fit.
    """
    size = _integer(module, "nn.weights_bytes")
    buffer = aligned_buffer(size)
    table = module.attribute("nn.weights")
    if not isinstance(table, DictAttr):
        if size:
            raise NncError(f"the code needs {size} bytes of weights, but 'nn.weights' is missing")
        return buffer
    for key, entry in table.items():
        offset = entry.get("offset")  # type: ignore[attr-defined]
        data = entry.get("data")  # type: ignore[attr-defined]
        if not isinstance(offset, IntegerAttr):
            raise NncError(f"nn.weights: '{key}' has no offset")
        raw = _bytes_of(key, data)
        end = offset.value + raw.size
        if offset.value < 0 or end > size:
            raise NncError(f"nn.weights: '{key}' ends at byte {end} of {size}")
        buffer[offset.value : end] = raw
    return buffer


def _bytes_of(key: str, data: Any) -> np.ndarray:
    match data:
        case DenseResource():
            return np.ascontiguousarray(data.to_numpy()).reshape(-1).view(np.uint8)
        case DenseElements():
            return np.ascontiguousarray(data.to_numpy()).reshape(-1).view(np.uint8)
    raise NncError(f"nn.weights: '{key}' has no data")
