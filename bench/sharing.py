"""The part of what threads ask for that comes from memory, where groups share the second cache.

Groups that run at the same time and read the same elements go over them together, so that these
come from memory once. A device starts groups in the order of their numbers; those that run at the
same time are as many as its cores have room for, if each thread has all registers that it may.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from math import prod

import numpy as np
from nnc.dialects import gpu
from nnc.ir.core import Operation
from nnc.ir.types import MemRefType
from nnc.ir.values import Value
from nnc.kernels.kernel_costs import buffer_bytes
from nnc.kernels.model.extents import UNKNOWN_EXTENT
from nnc.kernels.proof.counting import Counting
from nnc.kernels.proof.numbers import FirstThreads, NotKnownError
from nnc.targets.groups import GroupMachine

_MOST_GROUPS = 1 << 14
"""The most groups that are looked at, the first ones of a launch."""


class Sharing:
    """The groups of a launch that run at the same time, and which of their accesses are alike.

    `threads` and `grid` are the numbers of threads of a group and of groups along x, y and z.
    """

    def __init__(
        self,
        kernel: gpu.GPUFuncOp,
        arguments: Mapping[Value, Value],
        threads: Sequence[int],
        grid: Sequence[int],
        machine: GroupMachine,
    ) -> None:
        groups = np.arange(min(prod(grid), _MOST_GROUPS))
        numbers = FirstThreads(arguments, threads, gpu.subgroup_size(kernel), grid, groups)
        self._counting = Counting(numbers, machine.device_memory)
        self._threads = numbers.thread.size
        each = self._threads // max(1, groups.size)
        self._waves = np.arange(self._threads) // (each * running_groups(kernel, threads, machine))

    def part(self, op: Operation) -> float:
        """The part of the bytes that an access asks for that come from memory: 1 if all differ."""
        try:
            first = self._counting.first(op)
        except NotKnownError:
            return 1.0
        pairs = np.stack([self._waves, np.broadcast_to(first, self._threads)])
        return np.unique(pairs, axis=1).shape[1] / max(1, self._threads)


def running_groups(kernel: gpu.GPUFuncOp, threads: Sequence[int], machine: GroupMachine) -> int:
    """How many groups of a kernel run at once on all cores, with as many registers as can be."""
    together = machine.together
    count = -(-prod(threads) // together) * together
    types = [buffer.type for buffer in kernel.workgroup_buffers]
    own = sum(buffer_bytes(t, UNKNOWN_EXTENT) or 0 for t in types if isinstance(t, MemRefType))
    each = min(
        machine.core_groups,
        machine.core_threads // count,
        machine.core_registers // (machine.thread_registers * count),
        machine.core_workgroup_bytes // max(1, own),
    )
    return machine.cores * max(1, each)
