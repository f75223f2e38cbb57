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

    Static memrefs become bare pointers, dynamic ones a pointer and the sizes and strides that
    their type does not say; vectors of higher rank, which `--lower-tiles` leaves few of, their
    rows; structured control flow branches between blocks. A function with `nn.entry` gets a C
    function `nnc_run` that calls it, and returns a status where a `cf.assert` or an allocation
    fails. Kernels of a device that LLVM makes code for become `llvm.func`s of their `gpu.module`.
    An op that has no lowering is an error.
    """

    numerics = "rounding"

    def run(self, op: Operation, context: PassContext) -> None:
        """Lower the module."""
        ModuleLowering(op).lower()
