"""C's heap with a count: what compiled code takes from it, and what it gives back."""

from __future__ import annotations

import ctypes

from nnc.dialects import llvm
from nnc.ir.core import Operation
from nnc.ir.syntax.parser import parse_module

_LIBRARY = ctypes.CDLL(None)
_LIBRARY.aligned_alloc.restype = ctypes.c_void_p
_LIBRARY.aligned_alloc.argtypes = [ctypes.c_size_t, ctypes.c_size_t]
_LIBRARY.free.argtypes = [ctypes.c_void_p]


class CountedHeap:
    """Stands for C's `aligned_alloc` and `free` in a module of the llvm dialect."""

    def __init__(self):
        self.blocks: dict[int, int] = {}
        self.taken: list[int] = []
        self.limit: int | None = None
        self._functions = (
            ctypes.CFUNCTYPE(ctypes.c_void_p, ctypes.c_size_t, ctypes.c_size_t)(self._take),
            ctypes.CFUNCTYPE(None, ctypes.c_void_p)(self.free),
        )

    @property
    def bytes(self) -> int:
        """What is held now."""
        return sum(self.blocks.values())

    def _take(self, alignment, bytes):
        assert alignment == 64
        if self.limit is not None and self.bytes + bytes > self.limit:
            return None
        address = _LIBRARY.aligned_alloc(alignment, bytes)
        if address:
            self.blocks[address] = bytes
            self.taken.append(bytes)
        return address

    def free(self, address):
        """What C's `free` does."""
        if address:
            del self.blocks[address]
            _LIBRARY.free(address)

    def put_into(self, module: Operation) -> None:
        """Define the two functions where a module declares them."""
        take, give = (ctypes.cast(one, ctypes.c_void_p).value for one in self._functions)
        made = parse_module(f"""
            llvm.func internal @aligned_alloc(%a: i64, %b: i64) -> !llvm.ptr {{
              %n = llvm.mlir.constant({take} : i64) : i64
              %f = llvm.inttoptr %n : i64 to !llvm.ptr
              %r = llvm.call %f(%a, %b) : !llvm.ptr, (i64, i64) -> !llvm.ptr
              llvm.return %r : !llvm.ptr
            }}
            llvm.func internal @free(%a: !llvm.ptr) {{
              %n = llvm.mlir.constant({give} : i64) : i64
              %f = llvm.inttoptr %n : i64 to !llvm.ptr
              llvm.call %f(%a) : !llvm.ptr, (!llvm.ptr) -> ()
              llvm.return
            }}""")
        defined = {op.sym_name: op for op in made.body_block if isinstance(op, llvm.Func)}
        for op in list(module.body_block):
            if isinstance(op, llvm.Func) and op.sym_name in defined:
                op.erase()
        for op in defined.values():
            op.detach()
            module.body_block.append(op)
