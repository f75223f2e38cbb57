"""Layouts: which thread of a group has which elements of a vector.

Along each dimension a thread has `each` elements that follow one another, and `threads` of them
cover it; which one a thread is, `stride` bits of its number say:

    vector<64x96xf32>, 128 threads        each  threads  stride
    dimension 0                              8        8      16     rows 8 * (t / 16 % 8) ..
    dimension 1                              6       16       1     columns 6 * (t % 16) ..

So a layout maps bits linearly: the bits of a thread's number from log2(stride) on are those of a
coordinate above the bits in `each`. Threads that differ in bits of no dimension have the same
elements. `threads` and `stride` are powers of two; `each` is any number, and where all of a
dimension's threads have more than it has elements, what is beyond is nothing.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from math import prod

from ....ir.attributes import ArrayAttr, DenseArrayAttr
from ....ir.core import Operation
from ....ir.types import VectorType, i64

LAYOUT = "nn.layout"
"""Of an operation, for each of its results: the layout of a vector, `unit` for other values.

A layout is an array for each dimension: how many elements each thread has, how many threads cover
it, and the stride of the threads' numbers.
"""


@dataclass(frozen=True)
class Along:
    """A layout along one dimension."""

    each: int
    threads: int = 1
    stride: int = 1

    @property
    def bits(self) -> int:
        """The bits of a thread's number that say which of the threads along it one is."""
        return (self.threads - 1) * self.stride


@dataclass(frozen=True)
class Layout:
    """Who has which elements of a vector, dimension by dimension."""

    dims: tuple[Along, ...]

    @property
    def share(self) -> tuple[int, ...]:
        """The shape of what one thread has."""
        return tuple(along.each for along in self.dims)

    @property
    def bits(self) -> int:
        """The bits of a thread's number that make a difference."""
        return sum(along.bits for along in self.dims)

    def along(self, dims: Sequence[int]) -> Layout:
        """Of these dimensions alone, in this order."""
        return Layout(tuple(self.dims[d] for d in dims))

    def covers(self, shape: Sequence[int]) -> bool:
        """Whether nobody has anything beyond the vector."""
        return all(a.each * a.threads == n for a, n in zip(self.dims, shape, strict=True))

    def attribute(self) -> ArrayAttr:
        """As an attribute."""
        return ArrayAttr(
            tuple(DenseArrayAttr(i64, (a.each, a.threads, a.stride)) for a in self.dims)
        )

    @staticmethod
    def of(attribute: ArrayAttr) -> Layout:
        """From an attribute."""
        return Layout(tuple(Along(*a.values) for a in attribute.elements))  # type: ignore[attr-defined]


def is_count_of_threads(size: Sequence[int]) -> bool:
    """Whether groups of this size along x, y and z can be dealt to: a power of two along x."""
    along_x, *others = size
    return along_x > 0 and power_below(along_x) == along_x and all(n == 1 for n in others)


def is_layout_of(attribute: object, shape: Sequence[int], threads: int) -> bool:
    """Whether an attribute, which a text may have, is a layout of a vector over so many threads."""
    if not isinstance(attribute, ArrayAttr) or len(attribute.elements) != len(shape):
        return False
    for entry, extent in zip(attribute.elements, shape, strict=True):
        if not isinstance(entry, DenseArrayAttr) or len(entry.values) != 3:
            return False
        each, count, stride = (int(value) for value in entry.values)
        if min(each, count, stride) < 1 or each * count < extent or count * stride > threads:
            return False
        if power_below(count) != count or power_below(stride) != stride:
            return False
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


def in_rows(shape: Sequence[int], threads: int, fastest: Sequence[int], width: int) -> Layout:
    """Neighbours in memory to neighbouring threads, `width` elements to each where they suffice.

    `fastest` has the dimensions from the one whose elements lie next to each other on.
    """
    while width > 1 and _threads_used(shape, threads, fastest, width) < threads:
        width //= 2
    return _in_rows(shape, threads, fastest, width)


def _threads_used(shape: Sequence[int], threads: int, fastest: Sequence[int], width: int) -> int:
    return prod(a.threads for a in _in_rows(shape, threads, fastest, width).dims)


def _in_rows(shape: Sequence[int], threads: int, fastest: Sequence[int], width: int) -> Layout:
    dims = [Along(extent) for extent in shape]
    stride = 1
    for place, d in enumerate(fastest):
        least = width if place == 0 else 1
        count = min(threads // stride, power_below(-(-shape[d] // least)))
        dims[d] = Along(-(-shape[d] // count), count, stride if count > 1 else 1)
        stride *= count
    return Layout(tuple(dims))


def balanced(shape: Sequence[int], threads: int) -> Layout:
    """Shares that are as long as they are wide: of products, whose operands are then shortest."""
    counts = [1] * len(shape)
    while prod(counts) < threads:
        each = [-(-extent // count) for extent, count in zip(shape, counts, strict=True)]
        longest = max(range(len(shape)), key=lambda d: each[d])
        if each[longest] == 1:
            break
        counts[longest] *= 2
    dims = []
    stride = 1
    for extent, count in zip(reversed(shape), reversed(counts), strict=True):
        dims.append(Along(-(-extent // count), count, stride if count > 1 else 1))
        stride *= count
    return Layout(tuple(reversed(dims)))


def power_below(number: int) -> int:
    """The largest power of two that is at most a positive number."""
    return 1 << (number.bit_length() - 1)
