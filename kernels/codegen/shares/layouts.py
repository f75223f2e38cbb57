"""Layouts: which thread of a group has which elements of a vector.

Along each dimension a thread has `run` elements that follow one another, `repeats` times; of the
`threads` that cover it, `stride` bits of a thread's number say which one it is:

    vector<64x96xf32>, 128 threads        run  threads  stride  repeats
    dimension 0                            4       8      16       2
    dimension 1                            4       8       1       3

    rows 4 * (t / 16 % 8) .. and again 32 further, columns 4 * (t % 8) .. and 32, and 64 further

So a layout maps bits linearly: along a dimension the lowest bits of a coordinate count within a
run, those above are bits of the thread's number from log2(stride) on, and what is above these
counts the repeats. Threads whose numbers differ only in bits that no dimension uses have the same
elements. `threads` and `stride` are powers of two; `run` and `repeats` are any numbers: 96 elements
are 3 times 32. The last repeat may reach beyond the vector; elements there do not exist.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import product
from math import gcd, prod

from ....ir.attributes import ArrayAttr, DenseArrayAttr
from ....ir.core import Operation
from ....ir.types import VectorType, i64

LAYOUT = "nn.layout"
"""On an operation: for each result, the layout of a vector, `unit` for other values. A layout is an
array for each dimension: how many consecutive elements each thread has, how many threads cover it,
the stride between these threads' numbers, and how often that repeats."""


@dataclass(frozen=True)
class Along:
    """A layout along one dimension."""

    run: int
    threads: int = 1
    stride: int = 1
    repeats: int = 1

    @property
    def each(self) -> int:
        """How many elements a thread has."""
        return self.run * self.repeats

    @property
    def tile(self) -> int:
        """The distance between two repeats of a thread's elements."""
        return self.run * self.threads

    @property
    def bits(self) -> int:
        """The bits of a thread's number that select its position along the dimension."""
        return (self.threads - 1) * self.stride

    def place(self, i: int) -> int:
        """How far a thread's i-th element is from its first one."""
        return i // self.run * self.tile + i % self.run


@dataclass(frozen=True)
class Layout:
    """Which thread has which elements of a vector, by dimension."""

    dims: tuple[Along, ...]

    @property
    def share(self) -> tuple[int, ...]:
        """The shape of a thread's share."""
        return tuple(along.each for along in self.dims)

    @property
    def runs(self) -> tuple[int, ...]:
        """The shape of a piece, the elements of a share that are contiguous in the vector."""
        return tuple(along.run for along in self.dims)

    @property
    def bits(self) -> int:
        """The bits of a thread's number that its share depends on."""
        return sum(along.bits for along in self.dims)

    def along(self, dims: Sequence[int]) -> Layout:
        """The layout of these dimensions alone, in this order."""
        return Layout(tuple(self.dims[d] for d in dims))

    def pieces(self) -> Iterator[tuple[int, ...]]:
        """The index of each piece's first element in a share."""
        return product(*(range(0, along.each, along.run) for along in self.dims))

    def places(self, piece: Sequence[int]) -> tuple[int, ...]:
        """The distance of a piece from the share's first element, within the vector."""
        return tuple(along.place(i) for along, i in zip(self.dims, piece, strict=True))

    def covers(self, shape: Sequence[int]) -> bool:
        """Whether no thread has elements beyond the end of a vector of this shape."""
        return all(a.each * a.threads == n for a, n in zip(self.dims, shape, strict=True))

    def attribute(self) -> ArrayAttr:
        """The layout as an attribute, in the form that `LAYOUT` describes."""
        return ArrayAttr(
            tuple(DenseArrayAttr(i64, (a.run, a.threads, a.stride, a.repeats)) for a in self.dims)
        )

    @staticmethod
    def of(attribute: ArrayAttr) -> Layout:
        """The layout that an attribute describes."""
        return Layout(tuple(Along(*a.values) for a in attribute.elements))  # type: ignore[attr-defined]


def is_count_of_threads(size: Sequence[int]) -> bool:
    """Whether layouts can distribute vectors over groups of this size: a power of two along x."""
    along_x, *others = size
    return along_x > 0 and power_below(along_x) == along_x and all(n == 1 for n in others)


def is_layout_of(attribute: object, shape: Sequence[int], threads: int) -> bool:
    """Whether an attribute is a valid layout of a vector of this shape over `threads` threads."""
    if not isinstance(attribute, ArrayAttr) or len(attribute.elements) != len(shape):
        return False
    taken = 0
    for entry, extent in zip(attribute.elements, shape, strict=True):
        if not isinstance(entry, DenseArrayAttr) or len(entry.values) != 4:
            return False
        along = Along(*(int(value) for value in entry.values))
        count, stride = along.threads, along.stride
        if min(along.run, count, stride, along.repeats) < 1 or along.each * count < extent:
            return False
        if power_below(count) != count or power_below(stride) != stride:
            return False
        if count * stride > threads or along.bits & taken:
            return False
        taken |= along.bits
    return True


def layouts_of(op: Operation) -> list[Layout | None]:
    """The layouts of an operation's results, None for those that are no vectors."""
    found = op.attributes.get(LAYOUT)
    if not isinstance(found, ArrayAttr):
        return [None] * len(op.results)
    return [Layout.of(e) if isinstance(e, ArrayAttr) else None for e in found.elements]


def share_type(type: VectorType, layout: Layout) -> VectorType:
    """The type of what one thread has of a vector."""
    return VectorType(layout.share, type.element_type)


# -- the choice ------------------------------------------------------------------------------------


def spread(extent: int, threads: int, stride: int, run: int) -> Along:
    """A dimension in runs over threads, repeated as often as needed; one thread has all of it."""
    return (
        Along(extent)
        if threads == 1
        else Along(run, threads, stride, -(-extent // (run * threads)))
    )


def in_rows(
    shape: Sequence[int],
    threads: int,
    fastest: Sequence[int],
    width: int,
    line: int,
    in_turns: bool = False,
) -> Layout:
    """The layout in which neighbouring threads have neighbours in memory, to access whole lines.

    `fastest` has the dimensions in the order of their strides, the contiguous one first. A thread
    accesses `width` elements at once, where there are enough threads; memory moves `line` elements
    at once. With `in_turns`, no thread has two rows that follow one another.
    """
    dims = [Along(extent) for extent in shape]
    stride, row = 1, 1
    for place, d in enumerate(fastest):
        extent, left = shape[d], threads // stride
        others = prod(power_below(shape[o]) for o in fastest[place + 1 :])
        run = gcd(extent, width) if place == 0 else 1
        runs = -(-extent // run)
        least = -(-min(line // row, extent) // run)
        count = _threads_along(runs, left, others, least, row < line)
        if place > 0 and row >= line and not in_turns:
            run = -(-extent // count)
        dims[d] = spread(extent, count, stride, run)
        row *= extent
        stride *= count
    if width > 1 and stride < threads:
        return in_rows(shape, threads, fastest, width // 2, line, in_turns)
    return Layout(tuple(dims))


def _threads_along(runs: int, left: int, others: int, least: int, whole: bool) -> int:
    """How many of `left` threads a dimension of `runs` runs is distributed over.

    As many as there are runs, or fewer if each then has equally many and no thread is idle:
    `others` threads can be used along other dimensions, and at least `least` are wanted. With
    `whole`, some threads may have no run, so that the next row begins with the next thread.
    """
    even, most = min(left, runs & -runs), power_above(runs) if whole else power_below(runs)
    most = min(left, most)
    return even if even >= least and even * others >= left else most


def balanced(shape: Sequence[int], threads: int, width: int, line: int = 1) -> Layout:
    """The layout of a product, with nearly square shares, which need the fewest operands.

    Along the last dimension, neighbouring threads have adjacent runs of `width` elements, at least
    enough of them to fill a `line` of memory. Along others, neighbouring threads have adjacent
    rows; these lie in different banks if a row is an odd number of accesses long.
    """
    first, most = 1, min(threads, power_above(max(1, shape[-1]))) if shape else 1
    counts = square_parts(shape, threads, first)
    while first < most and _side_by_side(shape[-1], counts[-1], width) < min(line, shape[-1]):
        first *= 2
        counts = square_parts(shape, threads, first)
    dims = []
    stride = 1
    for d in reversed(range(len(shape))):
        share = -(-shape[d] // counts[d])
        run = gcd(share, width) if d == len(shape) - 1 else 1
        dims.append(spread(shape[d], counts[d], stride, run))
        stride *= counts[d]
    return Layout(tuple(reversed(dims)))


def square_parts(extents: Sequence[int], threads: int, last: int = 1) -> list[int]:
    """How many threads divide each dimension, so that each thread's part is nearly square.

    At least `last` threads divide the last dimension. The product of all is at least `threads`,
    unless there are fewer elements.
    """
    counts = [1] * len(extents)
    counts[-1:] = [last] if extents else []
    while extents and prod(counts) < threads:
        each = [-(-extent // count) for extent, count in zip(extents, counts, strict=True)]
        longest = each.index(max(each))
        if each[longest] == 1:
            break
        counts[longest] *= 2
    return counts


def _side_by_side(extent: int, threads: int, width: int) -> int:
    """How many adjacent elements along a dimension all threads access at once."""
    return threads * gcd(-(-extent // threads), width)


def power_above(number: int) -> int:
    """The smallest power of two that is at least a positive number."""
    return 1 << (number - 1).bit_length()


def power_below(number: int) -> int:
    """The largest power of two that is at most a positive number."""
    return 1 << (number.bit_length() - 1)
