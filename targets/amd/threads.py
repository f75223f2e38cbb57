"""The intrinsics of AMD's devices."""

from __future__ import annotations

from typing import Any, ClassVar

from ...dialects import llvm
from ...ir.attributes import I64Attr
from ...ir.core import Value
from ...ir.types import i8, i32
from ..llvm.threads import Threads, call

_GRID_SIZE = 12
"""The offset in a dispatch packet of the grid's sizes: 32 bits along each axis. Source: HSA
platform system architecture specification, `hsa_kernel_dispatch_packet_t`."""


class AmdThreads(Threads):
    """AMD's intrinsics; see LLVM's user guide of AMDGPU."""

    convention: ClassVar[str] = "amdgpu_kernelcc"
    private_space: ClassVar[int] = 5

    def thread(self, f: Any, axis: int) -> Value:
        return call(f, f"llvm.amdgcn.workitem.id.{'xyz'[axis]}")

    def group(self, f: Any, axis: int) -> Value:
        return call(f, f"llvm.amdgcn.workgroup.id.{'xyz'[axis]}")

    def groups(self, f: Any, axis: int, threads: int) -> Value:
        packet = call(f, "llvm.amdgcn.dispatch.ptr", (), llvm.PointerType(4))
        field = llvm.GetElementPtr.of(packet, [_GRID_SIZE + 4 * axis], i8, "inbounds")
        found = f.emit(llvm.Load, [f.append(field).results[0]], i32, {"alignment": I64Attr(4)})
        return f.emit(llvm.UDiv, [found, f.integer(threads if axis == 0 else 1, i32)], i32)

    def barrier(self, f: Any) -> None:
        f.append(llvm.Fence("release", syncscope="workgroup"))
        call(f, "llvm.amdgcn.s.barrier", (), None)
        f.append(llvm.Fence("acquire", syncscope="workgroup"))

    def from_lane(self, f: Any, word: Value, lane: Value, threads: int) -> Value:
        place = f.emit(llvm.Shl, [lane, f.integer(2, i32)], i32)
        return call(f, "llvm.amdgcn.ds.bpermute", [place, word])

    def attributes(self, threads: int) -> list[tuple[str, str]]:
        return [
            ("amdgpu-flat-work-group-size", f"{threads},{threads}"),
            ("uniform-work-group-size", "true"),
        ]
