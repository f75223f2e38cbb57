"""--distribute-tiles: a group's vectors become each thread's shares of them."""

from __future__ import annotations

from dataclasses import dataclass

from ....dialects import gpu
from ....ir.attributes import ArrayAttr
from ....ir.core import Operation
from ....ir.passes import Pass, PassContext
from .barriers import place_barriers
from .layouts import LAYOUT, is_count_of_threads, is_layout_of
from .links import is_vector, obstacle
from .shares import Shares
from .workgroup_memory import move_to_group


@dataclass(frozen=True)
class DistributeTiles(
    Pass,
    name="distribute-tiles",
    anchor="builtin.module",
    statistics={
        "kernels": "Number of kernels distributed",
        "barriers": "Number of barriers placed",
    },
):
    """Give each thread its share of every vector, as the layouts of `assign-layouts` say.

    %v = vector.transfer_read %a[%i, %j], %p {nn.layout = [[array<i64: 8, 8, 16>,
        array<i64: 6, 16, 1>]]} : memref<64x96xf32>, vector<64x96xf32>

        ->

    %t = gpu.thread_id x
    %m = 8 * (%t / 16 % 8), %n = 6 * (%t % 16)
    %v = vector.transfer_read %a[%i + %m, %j + %n], %p : memref<64x96xf32>, vector<8x6xf32>

    Arithmetic and products stay what they are, on smaller vectors. Reductions over several
    threads' shares go by shuffles within a subgroup and by a buffer of the group beyond. Where
    several threads have the same elements, one of them writes. Buffers that the kernel allocates
    are the group's, and barriers stand where one thread reads or overwrites what another wrote or
    read.
    """

    numerics = "rounding"

    def run(self, op: Operation, context: PassContext) -> None:
        for kernel in [k for k in op.walk() if isinstance(k, gpu.GPUFuncOp)]:
            size = kernel.known_block_size
            if size is None or not is_count_of_threads(size) or gpu.is_by_thread(kernel):
                continue
            if any(obstacle(inner) for inner in kernel.walk()):
                continue
            _check_layouts(kernel, size[0])
            Shares(kernel).distribute()
            move_to_group(kernel)
            context.statistic("barriers", place_barriers(kernel))
            context.statistic("kernels")


def _check_layouts(kernel: gpu.GPUFuncOp, threads: int) -> None:
    """Raise where a vector has no layout, or none that its threads can have."""
    for op in kernel.walk():
        if not any(is_vector(v) for v in op.results):
            continue
        found = op.attributes.get(LAYOUT)
        if found is None:
            raise op.error(f"has no '{LAYOUT}'; assign-layouts gives it one")
        entries = found.elements if isinstance(found, ArrayAttr) else ()
        if len(entries) != len(op.results) or not all(
            is_layout_of(entry, v.type.shape, threads)  # type: ignore[attr-defined]
            for entry, v in zip(entries, op.results, strict=True)
            if is_vector(v)
        ):
            raise op.error(f"has a '{LAYOUT}' that is none of its results over {threads} threads")
