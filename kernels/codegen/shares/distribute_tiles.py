"""--distribute-tiles: a group's vectors become each thread's shares of them."""

from __future__ import annotations

from dataclasses import dataclass

from ....dialects import gpu, scf
from ....ir.attributes import ArrayAttr
from ....ir.core import Operation, Value
from ....ir.passes import Pass, PassContext
from .barriers import place_barriers
from .layouts import LAYOUT, Layout, is_count_of_threads, is_layout_of, layouts_of
from .links import is_vector, links, obstacle, together
from .rules import distribute
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

    %v = vector.transfer_read %a[%i, %j], %p {nn.layout = [[array<i64: 4, 16, 8, 1>,
        array<i64: 4, 8, 1, 3>]]} : memref<64x96xf32>, vector<64x96xf32>

        ->

    %t = gpu.thread_id x
    %m = 4 * (%t / 8 % 16), %n = 4 * (%t % 8)
    %0 = vector.transfer_read %a[%i + %m, %j + %n], %p : memref<64x96xf32>, vector<4x4xf32>
    %1 = vector.transfer_read %a[%i + %m, %j + %n + 32], %p : ..
    %2 = vector.transfer_read %a[%i + %m, %j + %n + 64], %p : ..
    %v = %0, %1 and %2 side by side : vector<4x12xf32>

    Arithmetic and products stay what they are, on smaller vectors. Reads and writes become one for
    each repeat of a layout. Reductions over several threads' shares use shuffles within a subgroup,
    and a buffer of the group beyond. Where several threads have the same elements, one of them
    writes. Buffers that the kernel allocates are the group's, and barriers stand where one thread
    reads or overwrites what another wrote or read.
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
            Shares(kernel, distribute).distribute()
            move_to_group(kernel)
            if size[0] > 1:
                context.statistic("barriers", place_barriers(kernel))
            context.statistic("kernels")


def _check_layouts(kernel: gpu.GPUFuncOp, threads: int) -> None:
    """Raise if a layout is missing, does not fit its vector, or does not follow from others."""
    layouts: dict[Value, Layout | None] = {}
    for op in kernel.walk():
        if any(is_vector(v) for v in op.results):
            _check_layout(op, threads)
            layouts |= zip(op.results, layouts_of(op), strict=True)
            if isinstance(op, scf.For):
                layouts |= zip(op.iter_args, layouts_of(op), strict=True)
    for op in kernel.walk():
        agree = all(len({layouts[v] for v in values}) == 1 for values in together(op))
        for link in links(op):
            like = layouts[link.like]
            agree &= like is not None and link.layout(like) == layouts[link.value]
        if not agree:
            raise op.error(
                f"has operands and results whose '{LAYOUT}' do not follow from each other"
            )


def _check_layout(op: Operation, threads: int) -> None:
    found = op.attributes.get(LAYOUT)
    if found is None:
        raise op.error(f"has no '{LAYOUT}'; assign-layouts gives it one")
    entries = found.elements if isinstance(found, ArrayAttr) else ()
    if len(entries) != len(op.results) or not all(
        is_layout_of(entry, v.type.shape, threads)  # type: ignore[attr-defined]
        for entry, v in zip(entries, op.results, strict=True)
        if is_vector(v)
    ):
        raise op.error(f"has a '{LAYOUT}' that does not fit its results over {threads} threads")
