"""Functions on scalars, vectors and memrefs, run as machine code on the interpreter's values.

    BufferFunctions(module).call("f", [array, 3]) -> results; arrays are written in place

The module is one of the loop level; a copy of it is lowered. `lowering/to_llvm/types.py` says how
its types are represented: a memref by a pointer and its dynamic sizes and strides, a vector of
higher rank by its rows.
"""

from __future__ import annotations

import ctypes
from collections.abc import Sequence
from typing import Any

import numpy as np

from ..dialects import func, llvm
from ..ir.core import Operation
from ..ir.diagnostics import NncError
from ..ir.numpy_types import type_to_numpy
from ..ir.passes import PassContext
from ..ir.symbols import symbol_name
from ..ir.types import FunctionType, MemRefType, Type, VectorType, i64, row_major_strides
from ..kernels.codegen.addresses.flatten_addresses import FlattenAddresses
from ..kernels.codegen.vectors.lower_tiles import LowerTiles
from ..lowering.to_llvm import LowerToLlvm
from ..lowering.to_llvm.types import TypeConverter, dynamic_parts
from ..passes.dead_code import symbol_references
from .native_functions import NativeFunctions

_TYPES = TypeConverter(i64)
"""The functions are called in this process, whose pointers have 64 bits."""


class BufferFunctions:
    """Machine code of a module below the tensor level. Raises NncError."""

    def __init__(
        self,
        module: Operation,
        names: Sequence[str] | None = None,
    ) -> None:
        types = function_types(module)
        chosen = list(types if names is None else names)
        missing = [name for name in chosen if name not in types]
        if missing:
            raise NncError(f"there is no function '@{missing[0]}' to run", module.loc)
        lowered = reachable(module, chosen)
        for step in (LowerTiles(), FlattenAddresses(), LowerToLlvm()):
            step.run(lowered, PassContext())
        self.types = {name: types[name] for name in chosen}
        self.native = NativeFunctions(lowered, chosen)

    def call(self, name: str, arguments: Sequence[Any]) -> list[Any]:
        """Call a function and return its results. Buffers that it makes are copied, and stay on its
        heap.
        """
        return call_flat(self.native, name, self.types[name], arguments)


def reachable(module: Operation, names: Sequence[str]) -> Operation:
    """A copy of the module with only the named functions and all that they call."""
    copy = module.clone()
    symbols = {symbol_name(op): op for op in copy.body_block}
    wanted: set[Operation] = set()
    waiting = [symbols[name] for name in names]
    while waiting:
        op = waiting.pop()
        if op not in wanted:
            wanted.add(op)
            waiting += [symbols[n] for n in symbol_references(op) if n in symbols]
    for op in list(copy.body_block):
        if isinstance(op, func.FuncOp) and op not in wanted:
            op.erase()
    return copy


def function_types(module: Operation) -> dict[str, FunctionType]:
    """The types of the functions that have a body."""
    return {
        op.sym_name: op.function_type
        for op in module.body_block
        if isinstance(op, func.FuncOp) and not op.is_declaration
    }


def call_flat(
    native: NativeFunctions, name: str, type: FunctionType, arguments: Sequence[Any]
) -> list[Any]:
    """Call the lowered form of a function that has this type before lowering."""
    if len(arguments) != len(type.inputs):
        raise NncError(
            f"'@{name}' takes {len(type.inputs)} arguments, but {len(arguments)} are given"
        )
    flat = [
        part for value, t in zip(arguments, type.inputs, strict=True) for part in _flat(value, t)
    ]
    found = native.call(name, flat)
    types = [t for result in type.results for t in _TYPES.flat(result)]
    parts = found[0] if len(types) > 1 else found
    results, at = [], 0
    for result in type.results:
        count = len(_TYPES.flat(result))
        results.append(_value(parts[at : at + count], result))
        at += count
    return results


def _flat(value: Any, type: Type) -> list[Any]:
    """The llvm-level values that represent a value."""
    match type:
        case MemRefType():
            if not isinstance(value, np.ndarray):
                raise NncError(f"{value!r} is not an array for a {type}")
            parts: list[Any] = [value.ctypes.data]
            for kind, dim in dynamic_parts(type):
                size = value.shape[dim] if kind == "size" else value.strides[dim] // value.itemsize
                parts.append(size)
            return parts
        case VectorType():
            array = _bits(np.asarray(value), type.element_type)
            return list(array.reshape(-1, array.shape[-1] if array.ndim else 1))
        case llvm.PointerType():
            return [value.ctypes.data if isinstance(value, np.ndarray) else int(value)]
    return [_bits(np.asarray(value), type)[()]]


def _bits(array: np.ndarray, element: Type) -> np.ndarray:
    """The array; with floats of a type that LLVM does not have as integers of the same bits."""
    (llvm_type,) = _TYPES.flat(element)
    dtype = type_to_numpy(llvm_type)
    return (
        array
        if array.dtype == dtype or array.dtype.itemsize != dtype.itemsize
        else array.view(dtype)
    )


def _value(parts: Sequence[Any], type: Type) -> Any:
    """The interpreter's value for the llvm-level values that represent it."""
    match type:
        case MemRefType():
            return _buffer(parts, type)
        case VectorType():
            dtype = type_to_numpy(type.element_type)
            rows = [np.asarray(row) for row in parts]
            array = np.stack(rows).reshape(type.shape)
            return array if array.dtype == dtype else array.view(dtype)
        case llvm.PointerType():
            return int(parts[0])
    dtype = type_to_numpy(type)
    return (
        np.asarray(parts[0]).astype(dtype)[()]
        if dtype.kind in "biu"
        else (np.asarray(parts[0]).view(dtype)[()])
    )


def _buffer(parts: Sequence[Any], type: MemRefType) -> np.ndarray:
    """A copy of the elements of a returned memref."""
    found = type.strides_and_offset()
    assert found is not None
    shape, strides = list(type.shape), list(found[0])
    for (kind, dim), value in zip(dynamic_parts(type), parts[1:], strict=True):
        (shape if kind == "size" else strides)[dim] = int(value)
    strides = [
        dense if stride is None else stride
        for stride, dense in zip(strides, row_major_strides(shape), strict=True)
    ]
    dtype = type_to_numpy(type.element_type)
    if 0 in shape:
        return np.empty(shape, dtype)
    span = 1 + sum((n - 1) * s for n, s in zip(shape, strides, strict=True))
    memory = (ctypes.c_uint8 * (span * dtype.itemsize)).from_address(int(parts[0]))
    flat = np.ctypeslib.as_array(memory).view(dtype)
    steps = [s * dtype.itemsize for s in strides]
    return np.lib.stride_tricks.as_strided(flat, shape, steps).copy()
