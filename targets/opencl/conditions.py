"""Keeps PoCL from merging conditions of threads between barriers.

PoCL 3.1 (LLVM 15) runs the threads of a group one after the other between two barriers. If LLVM
sees that one condition implies others, as that of a column does for all of its rows, a branch on it
skips them up to the barrier. PoCL assumes that all threads take this branch alike, and makes the
other threads follow the first one: an attention with 17 rows was wrong. A condition in a volatile
variable implies nothing about others.
"""

from __future__ import annotations

from typing import Any

from ...dialects import gpu
from ...ir.core import Value
from ...ir.types import i1, lane_type
from ..source.kernels import KernelPrinter


class OpenClPrinter(KernelPrinter):
    """Prints one kernel; keeps its conditions apart if threads meet at barriers."""

    def text(self) -> str:
        self._has_barriers = any(isinstance(op, gpu.Barrier) for op in self.op.walk())
        return super().text()

    def template_of(self, value: Value) -> str:
        type: Any = value.type
        element = lane_type(type)
        return "kept" if element is i1 and self._has_barriers else "constant"
