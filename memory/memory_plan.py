"""Offsets for buffers in one arena, so that buffers that are alive at the same time do not overlap.

To find the smallest arena is NP-hard (dynamic storage allocation), so several greedy orders are
tried. Each places one buffer after the other at the lowest offset that is free during its life.

Source: Sekiyama et al., Profile-guided memory optimization for deep neural networks, 2018
(best-fit heuristic); Pisarchyk and Lee, Efficient memory management for deep neural net
inference, 2020 (greedy by size).
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

from ..runtime.abi import aligned


@dataclass(frozen=True)
class Buffer:
    """A buffer of `size` bytes, alive from time `first` to time `last`, both included."""

    size: int
    first: int
    last: int


@dataclass(frozen=True)
class MemoryPlan:
    """The offset of each buffer, in the order given, and the total size. Units: bytes."""

    offsets: tuple[int, ...]
    size: int
    lower_bound: int
    """The most bytes that are alive at one time, which no arena can be smaller than."""


_ORDERS: tuple[Callable[[Buffer], tuple], ...] = (
    lambda b: (-b.size, b.first),
    lambda b: (-(b.last - b.first + 1) * b.size, b.first),
    lambda b: (-(b.last - b.first), -b.size),
    lambda b: (b.first, -b.size),
)


def plan(buffers: Sequence[Buffer]) -> MemoryPlan:
    """The smallest of the plans that the greedy orders give."""
    sizes = [aligned(b.size) for b in buffers]
    bound = _peak(buffers, sizes)
    best: MemoryPlan | None = None
    for order in _ORDERS:
        found = _greedy(buffers, sizes, order, bound)
        if best is None or found.size < best.size:
            best = found
        if best.size == bound:
            break
    assert best is not None
    return best


def peak_of(buffers: Sequence[Buffer]) -> int:
    """The largest sum of the buffers' bytes that are alive at one time."""
    return _peak(buffers, [aligned(b.size) for b in buffers])


def _greedy(
    buffers: Sequence[Buffer], sizes: Sequence[int], order: Callable, bound: int
) -> MemoryPlan:
    placed: list[int] = []
    offsets = [0] * len(buffers)
    for i in sorted(range(len(buffers)), key=lambda i: order(buffers[i])):
        one = buffers[i]
        taken = sorted(
            (offsets[j], offsets[j] + sizes[j])
            for j in placed
            if buffers[j].first <= one.last and one.first <= buffers[j].last
        )
        at = 0
        for start, end in taken:
            if start - at >= sizes[i]:
                break
            at = max(at, end)
        offsets[i] = at
        placed.append(i)
    total = max((o + s for o, s in zip(offsets, sizes, strict=True)), default=0)
    return MemoryPlan(tuple(offsets), total, bound)


def _peak(buffers: Sequence[Buffer], sizes: Sequence[int]) -> int:
    changes: dict[int, int] = {}
    for buffer, size in zip(buffers, sizes, strict=True):
        changes[buffer.first] = changes.get(buffer.first, 0) + size
        changes[buffer.last + 1] = changes.get(buffer.last + 1, 0) - size
    peak = now = 0
    for time in sorted(changes):
        now += changes[time]
        peak = max(peak, now)
    return peak
