"""Conditions of threads between barriers, which PoCL has to be kept from connecting.

PoCL 3.1 (LLVM 15) runs the threads of a group one after the other between two barriers. Where LLVM
sees that one condition decides others, as that of a column does for all of its rows, a branch on it
leads past them to the barrier. PoCL takes it for one that all threads follow alike, and the other
threads do as the first one does: an attention with 17 rows was wrong. A condition in a volatile
variable decides only what it stands at.
"""

from __future__ import annotations

from typing import Any

from ...dialects import gpu
from ...ir.core import Value
from ...ir.types import VectorType, i1
from ..source.kernels import KernelPrinter


class OpenClPrinter(KernelPrinter):
    """The text of one kernel, whose conditions PoCL keeps apart where threads meet at barriers."""

    def text(self) -> str:
        self._has_barriers = any(isinstance(op, gpu.Barrier) for op in self.op.walk())
        return super().text()

    def template_of(self, value: Value) -> str:
        type: Any = value.type
        element = type.element_type if isinstance(type, VectorType) else type
        return "kept" if element is i1 and self._has_barriers else "constant"
