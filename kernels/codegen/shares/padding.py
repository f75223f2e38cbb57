"""Rows of workgroup memory are so much longer that the threads of a subgroup want other banks."""

from __future__ import annotations

from collections.abc import Sequence
from math import prod

from ....ir.lazy import np
from ...model.transactions import DeviceMemory
from .layouts import Layout


def padding_of_rows(
    layouts: Sequence[Layout],
    shape: Sequence[int],
    size: int,
    threads: int,
    memory: DeviceMemory,
) -> int:
    """How many elements more rows of a buffer need, in which vectors have these layouts.

    None, a bank's word, or what a thread accesses at once: the first with the fewest turns.
    """
    choices = [0, *(max(1, n // size) for n in (memory.bank_bytes, memory.vector_bytes))]
    return min(
        choices,
        key=lambda more: sum(_turns(one, shape, more, size, threads, memory) for one in layouts),
    )


def _turns(
    layout: Layout,
    shape: Sequence[int],
    padding: int,
    size: int,
    threads: int,
    memory: DeviceMemory,
) -> int:
    """The turns of the banks that a subgroup takes to access a vector."""
    rows = [*shape[:-1], shape[-1] + padding]
    rank, thread = len(shape), np.arange(threads)
    turns = 0
    for piece in layout.pieces():
        address, active = np.zeros((1,) * (rank + 1), int), np.True_
        for d, (along, begin) in enumerate(zip(layout.dims, piece, strict=True)):
            first = thread // along.stride % along.threads * along.run + along.place(begin)
            place = np.expand_dims(
                first[:, None] + np.arange(along.run), tuple(i + 1 for i in range(rank) if i != d)
            )
            active = active & (place < shape[d])
            address = address + place * (size * prod(rows[d + 1 :]))
        active = np.broadcast_to(active, address.shape)
        turns += memory.count(address, active, size, rank - 1, is_global=False)[0]
    return turns
