"""From scf, cf, func, arith, math, memref and vector to the llvm dialect, in one walk."""

from __future__ import annotations

from dataclasses import dataclass

from ...ir.core import Operation
from ...ir.passes import Pass, PassContext
from . import (  # noqa: F401 - they fill LOWERINGS
    calls,
    casts,
    control,
    elementwise,
    integers,
    loops,
    mathematics,
    matrices,
    memory,
    products,
    reductions,
    vector_memory,
    vectors,
    views,
)
from .module import ModuleLowering


@dataclass(frozen=True)
class LowerToLlvm(Pass, name="lower-to-llvm", anchor="builtin.module"):
    """Lower everything below the tensor level to the llvm dialect.

    A memref becomes a pointer to its first element, and its dynamic sizes and strides, so a
    static one is a bare pointer. A vector of higher rank becomes its rows;
    `--lower-tiles` leaves few of these. Structured control flow becomes branches between blocks. A
    function with `nn.entry` gets a C function `nnc_run` that calls it, and a function in which a
    `cf.assert` or an allocation may fail returns a status. Kernels of a device for which LLVM
    generates code become `llvm.func`s of their `gpu.module`. An op that has no lowering is an
    error.
    """

    numerics = "rounding"

    def run(self, op: Operation, context: PassContext) -> None:
        """Lower the module."""
        ModuleLowering(op).lower()
