"""Running results by all threads of a device: each element is combined with all those before it.

In a long list each element is combined with those before it in its block, and with the results of
the blocks before. That combines each element often, but none waits for the one before it. The order
is the same in each run.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

from ...dialects import arith
from ...ir.affine import AffineDim, AffineMap
from ...ir.core import Operation, Value
from .emitter import Emitter
from .extents import Size
from .ranks import all_threads_pay
from .reshaping import reinterpreted

BLOCK = 256
"""The elements of a block. An element is combined with as many as are in its block, and as there
are blocks, which are least together if both are the square root of all: that of 65,536 elements."""

SHORT = 1024
"""The most elements of a list without blocks: then there is one launch instead of about five, each
of which takes as long as a device with thousands of threads needs for a million combinations."""


def is_short(count: Size) -> bool:
    """Whether a list of `count` elements has no blocks."""
    return isinstance(count, int) and count <= SHORT


def scan_pays(e: Emitter, op: Operation, beside: Sequence[Size], count: Size) -> bool:
    """Whether lists of `count` elements are scanned sooner by all threads than by one for each.

    `beside` are the extents of the other axes.
    """
    if is_short(count):
        return all_threads_pay(e, op, [*beside, count], count)
    return all_threads_pay(e, op, [*beside, BLOCK], count, launches=4)


@dataclass(frozen=True)
class Scan:
    """How the elements of lists are combined."""

    e: Emitter
    start: Value
    """What changes no number that it is combined with."""
    combine: Callable[[Value, Value], Value]
    """Inserts the combination of two numbers, the first from elements before those of the second.
    """
    exclusive: bool = False
    """Whether an element's own result is without it."""
    reverse: bool = False
    """Whether lists are scanned from their end."""

    def short(
        self, source: Value, axis: int, out: Value, read: Callable[[Value], Value] = lambda x: x
    ) -> None:
        """Set `out` to the running results along an axis of `source`, without blocks.

        `read` inserts what makes a number of an element.
        """
        self.e.fill(self.start, out)
        self._over(source, axis, out, self.exclusive, read)

    def long(self, source: Value, axis: int, read: Callable[[Value], Value] = lambda x: x) -> Value:
        """The running results along an axis of `source`, then some of the whole list.

        There are some, so that there is an element to read.
        """
        e, sizes, number = self.e, self.e.sizes(source), self.start.type
        length = e.min(e.add(sizes[axis], 1), BLOCK)  # Many lists may be short.
        blocks = e.add(e.floordiv(sizes[axis], BLOCK), 1)
        before, behind = sizes[:axis], sizes[axis + 1 :]
        lists = e.alloc([*before, blocks, length, *behind], number)
        padded = [*before, e.mul(blocks, length), *behind]
        elements = reinterpreted(e, lists, padded)
        e.fill(self.start, elements)
        part = e.subview(elements, [0] * len(sizes), sizes)
        e.elementwise([source], part, lambda _, x, __: read(x))
        return reinterpreted(e, self._by_blocks(lists, axis), padded)

    def _by_blocks(self, lists: Value, axis: int) -> Value:
        """The running results of lists that are divided into the blocks that `axis` counts.

        The next axis has the elements of each.
        """
        e, sizes, number = self.e, self.e.sizes(lists), self.start.type
        rank = len(sizes)
        sums, befores = (e.alloc(sizes[: axis + 1] + sizes[axis + 2 :], number) for _ in range(2))
        every = tuple(map(AffineDim, range(rank)))
        each = AffineMap(rank, 0, every)
        of_block = AffineMap(rank, 0, every[: axis + 1] + every[axis + 2 :])
        kinds = ["reduction" if d == axis + 1 else "parallel" for d in range(rank)]
        e.fill(self.start, sums)
        e.generic([lists], [sums], [each, of_block], kinds, lambda _, x, y: self.combine(y, x))
        e.fill(self.start, befores)
        self._over(sums, axis, befores, exclusive=True)
        ends = e.alloc(sizes, number)
        e.generic([befores], [ends], [of_block, each], ["parallel"] * rank, lambda _, x, __: x)
        self._over(lists, axis + 1, ends, self.exclusive)
        return ends

    def _over(
        self,
        source: Value,
        axis: int,
        out: Value,
        exclusive: bool,
        read: Callable[[Value], Value] = lambda x: x,
    ) -> None:
        """Combine each element of `out` with those of `source` before it along an axis."""
        rank = len(self.e.sizes(source))
        every = tuple(map(AffineDim, range(rank)))
        other = (*every[:axis], AffineDim(rank), *every[axis + 1 :])
        maps = [AffineMap(rank + 1, 0, results) for results in (other, every)]
        relation = ("sg" if self.reverse else "sl") + ("t" if exclusive else "e")

        def add(e: Emitter, x: Value, so_far: Value) -> Value:
            is_before = e.compare(relation, e.position(rank), e.position(axis))
            x = e.insert(arith.Select(is_before, read(x), self.start)).result
            return self.combine(so_far, x)

        self.e.generic([source], [out], maps, [*["parallel"] * rank, "reduction"], add)
