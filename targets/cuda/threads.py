"""The intrinsics of NVIDIA's devices."""

from __future__ import annotations

from typing import Any, ClassVar

from ...ir.core import Value
from ...ir.types import i32
from ..llvm.threads import Threads, call

_REGISTER = "llvm.nvvm.read.ptx.sreg"


class CudaThreads(Threads):
    """NVIDIA's intrinsics; see LLVM's user guide of NVPTX and the PTX ISA."""

    convention: ClassVar[str] = "ptx_kernelcc"

    def thread(self, f: Any, axis: int) -> Value:
        return call(f, f"{_REGISTER}.tid.{'xyz'[axis]}")

    def group(self, f: Any, axis: int) -> Value:
        return call(f, f"{_REGISTER}.ctaid.{'xyz'[axis]}")

    def groups(self, f: Any, axis: int, threads: int) -> Value:
        return call(f, f"{_REGISTER}.nctaid.{'xyz'[axis]}")

    def barrier(self, f: Any) -> None:
        call(f, "llvm.nvvm.barrier0", (), None)

    def from_lane(self, f: Any, word: Value, lane: Value, threads: int) -> Value:
        members = (1 << min(threads, 32)) - 1
        args = [f.integer(i32.wrap(members), i32), word, lane, f.integer(31, i32)]
        return call(f, "llvm.nvvm.shfl.sync.idx.i32", args)

    def attributes(self, threads: int) -> list[tuple[str, str]]:
        # Told that one group is enough, ptxas does not spill to make room for more of them.
        return [("nvvm.reqntid", f"{threads},1,1"), ("nvvm.minctasm", "1")]
