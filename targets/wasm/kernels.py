"""The kernels of a model as a module of WebAssembly of their own, for who times them one by one.

Each is exported by its name and takes the addresses of its buffers and a pool of threads, 0 for
none. What the module needs is what those of models need: `memory` and the functions of `env`.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from ...dialects import llvm
from ...ir.core import Operation
from ...runtime.abi import RUN
from ..llvm.ir import llvm_ir
from .linker import PAGE, STACK
from .module import linked

if TYPE_CHECKING:
    from .levels import Wasm


def kernels_module(target: Wasm, module: Operation, names: Sequence[str]) -> bytes:
    """The module with these kernels, of a model's module behind the last stage, which is changed.

    Raises NncError.
    """
    wanted = set(names)
    for op in module.body_block:
        if isinstance(op, llvm.Func) and op.sym_name in wanted:
            op.properties.pop("linkage", None)  # external is what is not said
    return _module(target, module, names)


def program_module(target: Wasm, module: Operation) -> bytes:
    """The module of a program without weights, exported as `RUN`. Raises NncError."""
    return _module(target, module, [RUN])


def _module(target: Wasm, module: Operation, exports: Sequence[str]) -> bytes:
    code = target.object_of(llvm_ir(module))
    pages = -(-(STACK + len(code)) // PAGE)
    return linked(target.toolchain(), code, exports, pages, shared=False)
