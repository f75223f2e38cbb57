"""The tests with all memory of compiled code between pages that nobody may touch: `NNC_GUARDED=1`.

Inputs (which may not be written either), outputs, arenas, weights and what code takes from C's heap
are blocks of `guarded.c`. An access outside of one, or to one that was freed, ends the process, and
faulthandler shows the test. Buffers inside of one arena have no such pages between them.
"""

from __future__ import annotations

import ctypes
import subprocess
from collections.abc import Sequence
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import numpy as np

_SOURCE = Path(__file__).with_suffix(".c")

_HEAP = """
llvm.func @guarded_take(!llvm.ptr, i64) -> !llvm.ptr
llvm.func @guarded_give(!llvm.ptr, !llvm.ptr)
llvm.func @guarded_end(!llvm.ptr)
llvm.func @guarded_alloc(i64, i64) -> !llvm.ptr
llvm.func @guarded_free(!llvm.ptr)
llvm.func internal @nnc_heap_start(%heap: !llvm.ptr) {
  llvm.call @guarded_end(%heap) : (!llvm.ptr) -> ()
  llvm.return
}
llvm.func internal @nnc_heap_take(%heap: !llvm.ptr, %bytes: i64) -> !llvm.ptr {
  %made = llvm.call @guarded_take(%heap, %bytes) : (!llvm.ptr, i64) -> !llvm.ptr
  llvm.return %made : !llvm.ptr
}
llvm.func internal @nnc_heap_give(%heap: !llvm.ptr, %block: !llvm.ptr) {
  llvm.call @guarded_give(%heap, %block) : (!llvm.ptr, !llvm.ptr) -> ()
  llvm.return
}
llvm.func internal @nnc_heap_end(%heap: !llvm.ptr) {
  llvm.call @guarded_end(%heap) : (!llvm.ptr) -> ()
  llvm.return
}
llvm.func internal @nnc_heap_result(%heap: !llvm.ptr, %bytes: i64) -> !llvm.ptr {
  %line = llvm.mlir.constant(64 : i64) : i64
  %made = llvm.call @guarded_alloc(%line, %bytes) : (i64, i64) -> !llvm.ptr
  llvm.return %made : !llvm.ptr
}
llvm.func @nnc_reuse(%arena: !llvm.ptr, %block: !llvm.ptr, %bytes: i64) {
  llvm.call @guarded_free(%block) : (!llvm.ptr) -> ()
  llvm.return
}
llvm.func @nnc_release(%arena: !llvm.ptr) {
  llvm.call @guarded_end(%arena) : (!llvm.ptr) -> ()
  llvm.return
}
"""
"""The heap of calls (`runtime/heap.mlir`) with a guarded block for each of its own."""


class Guarded:
    """The library, and arrays in its blocks."""

    def __init__(self) -> None:
        with TemporaryDirectory(prefix="nnc-guarded-") as folder:
            path = Path(folder) / "guarded.so"
            command = ["cc", "-O2", "-shared", "-fPIC", "-pthread", str(_SOURCE), "-o", str(path)]
            subprocess.run(command, check=True)
            self.code = ctypes.CDLL(str(path))
        for name in ("alloc", "take"):
            getattr(self.code, f"guarded_{name}").restype = ctypes.c_void_p
        self.code.guarded_alloc.argtypes = [ctypes.c_size_t, ctypes.c_size_t]
        for name in ("free", "freeze"):
            getattr(self.code, f"guarded_{name}").argtypes = [ctypes.c_void_p]
            getattr(self.code, f"guarded_{name}").restype = None
        self.names = [f"guarded_{name}" for name in ("alloc", "take", "give", "end", "free")]

    def address(self, name: str) -> int:
        """Of one of the library's functions."""
        found = ctypes.cast(getattr(self.code, name), ctypes.c_void_p).value
        assert found
        return found

    def array(self, shape: Sequence[int], dtype: Any, alignment: int) -> np.ndarray:
        """An array in a block of its own."""
        count = int(np.prod(shape, dtype=np.int64))
        block = _Block(self.code, count * np.dtype(dtype).itemsize, alignment)
        return np.asarray(block).view(dtype).reshape(shape)

    def buffer(self, size: int) -> np.ndarray:
        """In place of `aligned_buffer`."""
        return self.array([size], np.uint8, 64)

    def frozen(self, array: np.ndarray) -> np.ndarray:
        """A copy that nobody may write to."""
        if not isinstance(array, np.ndarray) or not array.size:
            return array
        found = self.array(array.shape, array.dtype, array.dtype.alignment)
        found[...] = array
        self.code.guarded_freeze(found.ctypes.data)
        return found


class _Block:
    def __init__(self, code: Any, size: int, alignment: int) -> None:
        self._free = code.guarded_free
        self._address = code.guarded_alloc(alignment, size)
        if not self._address:
            raise MemoryError(f"{size} bytes")
        self.__array_interface__ = {
            "data": (self._address, False),
            "shape": (size,),
            "typestr": "|u1",
            "version": 3,
        }

    def __del__(self) -> None:
        self._free(self._address)


def install() -> None:
    """Let compiled code have guarded memory alone."""
    import nnc.driver.cache
    import nnc.driver.program
    import nnc.lowering.to_llvm.heap
    import nnc.runtime.executable
    import nnc.runtime.memory
    import nnc.runtime.program

    guarded = Guarded()
    rooms = nnc.driver.cache, nnc.driver.program, nnc.runtime.executable, nnc.runtime.program
    for room in (*rooms, nnc.runtime.memory):
        setattr(room, "aligned_buffer", guarded.buffer)  # noqa: B010 - pyright wants no assignment
    setattr(nnc.runtime.memory, "_c_free", lambda: guarded.code.guarded_free)  # noqa: B010
    setattr(nnc.lowering.to_llvm.heap, "heap_functions", _heap_functions)  # noqa: B010
    _guard_outputs(guarded)
    _guard_calls(guarded)
    _guard_symbols(guarded)


def _heap_functions(pointer_bits: int, system: str) -> list[Any]:
    from nnc.dialects import llvm
    from nnc.ir.syntax.parser import parse_module

    assert pointer_bits == 64
    module = parse_module(_HEAP)
    return [op.clone() for op in module.body_block if isinstance(op, llvm.Func)]


def _guard_outputs(guarded: Guarded) -> None:
    from nnc.runtime.memory import OutputMemory

    def array(self: OutputMemory) -> np.ndarray:
        return guarded.array(self.shape, self.dtype, self.dtype.alignment)

    OutputMemory.array = array


def _guard_calls(guarded: Guarded) -> None:
    from nnc.ir.numpy_types import type_to_numpy
    from nnc.runtime.executable import Executable

    call, call_at = Executable._call, Executable.call_at

    def on_copies(self: Executable, inputs: list[np.ndarray]) -> list[np.ndarray]:
        return call(self, [guarded.frozen(array) for array in inputs])

    def at_copies(self: Executable, given: Sequence[int], made: Sequence[int]) -> int:
        def arrays(types: Any, addresses: Sequence[int]) -> list[np.ndarray]:
            found = []
            for type, address in zip(types, addresses, strict=True):
                dtype = type_to_numpy(type.element_type)
                size = int(np.prod(type.shape)) * dtype.itemsize
                memory: Any = (ctypes.c_uint8 * size).from_address(address)
                found.append(np.frombuffer(memory, dtype).reshape(type.shape))
            return found

        inputs = [guarded.frozen(x) for x in arrays(self.input_types, given)]
        wanted = arrays(self.output_types, made)
        outputs = [guarded.array(x.shape, x.dtype, x.dtype.alignment) for x in wanted]
        places = [[x.ctypes.data for x in xs] for xs in (inputs, outputs)]
        status = call_at(self, *places)
        for to, array in zip(wanted, outputs, strict=True):
            to[...] = array
        return status

    Executable._call, Executable.call_at = on_copies, at_copies


def _guard_symbols(guarded: Guarded) -> None:
    """Code finds the library's functions where it looks for those of C's heap."""
    import llvmlite.binding as binding

    class Builder(binding.JITLibraryBuilder):
        def link(self, *given: Any) -> Any:
            for name in guarded.names:
                self.import_symbol(name, guarded.address(name))
            self.import_symbol("aligned_alloc", guarded.address("guarded_alloc"))
            self.import_symbol("free", guarded.address("guarded_free"))
            return super().link(*given)

    binding.JITLibraryBuilder = Builder
