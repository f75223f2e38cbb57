"""Lists of tensors, which functions pass and loops write; they exist only at import.

list = TensorList(element, count, shape)
list = list.with_item(n, index, item)
list.stacked(n): [count, ..]
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace

from ...dialects import nn
from ...ir.core import Operation, Value
from ...ir.types import Dim, TensorType, Type, i64
from ..common.layer import Layer
from ..common.movement import FAR, Index, as_vector, column, concat, slice_axis
from ..common.shapes import as_scalar, reshape, shape_vector
from ..common.terms import Term, extent, joined

MOST_ITEMS = 1 << 16
ENDLESS = "a list that grows in a loop of an unknown number of iterations"


@dataclass(frozen=True)
class Written:
    """What a loop iteration writes into a given list."""

    index: Index
    item: Value
    grows: bool = False
    """Whether writing behind the end makes the list longer."""


@dataclass(frozen=True)
class TensorList:
    """A list of `count` tensors: the slices of `stack`, with `items` by index in their place.

    Without a stack, elements that are not in `items` are not written yet, and read as zeros. In a
    loop that does not read the list, `written` is what an iteration has written.
    """

    element: Type
    count: Index
    shape: tuple[Dim, ...] | None = None
    """The shape of an element; None if unknown."""
    stack: Value | None = None
    items: Mapping[int, Value] = field(default_factory=dict)
    state: int | None = None
    """The index of the list among the states of a loop that, as far as is known, only writes it."""
    written: Written | None = None
    grows: bool = False
    """Whether a write behind its end has made it longer, or may."""

    @staticmethod
    def of(n: Layer, x: Value) -> TensorList:
        """The slices of a tensor along its first dimension."""
        extent = x.type.shape[0]
        count = extent if extent is not None else as_scalar(n, shape_vector(n, [(x, 0)]))
        return TensorList(x.type.element_type, count, x.type.shape[1:], x)

    def item(self, n: Layer, index: Value) -> Value:
        """An element. Raises NeedsStack in a loop that should only write."""
        at = _place(n, index)
        if isinstance(at, int) and at in self.items:
            return self.items[at]
        if self.state is not None:
            raise NeedsStack(self.state)
        return column(n, self.stacked(n), 0, at)

    def with_item(self, n: Layer, index: Value, item: Value, grows: bool = False) -> TensorList:
        """The list with an element replaced; with `grows`, it may become longer."""
        at = _place(n, index)
        if self.state is not None:
            if self.written is not None:
                raise NeedsStack(self.state, self.written)
            return replace(self, written=Written(at, item, grows))
        if isinstance(at, int) and isinstance(self.count, int):
            if grows and self.count <= at < MOST_ITEMS:
                return replace(self, count=at + 1, items={**self.items, at: item}, grows=True)
            if not 0 <= at < self.count:
                raise n.error(f"element {at} of a list of {self.count}")
            return replace(self, items={**self.items, at: item})
        if grows:
            return self._longer(n, at, item)._replaced(n, at, item)
        return self._replaced(n, at, item)

    def _longer(self, n: Layer, at: Index, item: Value) -> TensorList:
        """The list extended with zeros, so that the index exists."""
        base = self if self.shape is not None else replace(self, shape=item.type.shape)
        stack = base.stacked(n)
        length = extent(n, (stack, 0))
        place = Term(n, n.constant(at, i64) if isinstance(at, int) else at)
        lacking = (place + 1 - length).max(0).reshape(1)
        shape = shape_vector(n, [(item, i) for i in range(item.type.rank)])
        extents = joined([lacking, Term(n, shape)], 0) if item.type.rank else lacking
        more = Term(n, n.scalar(0, item)).filled(extents).value
        return replace(TensorList.of(n, concat(n, [stack, more], 0)), grows=True)

    def _replaced(self, n: Layer, at: Index, item: Value) -> TensorList:
        """The list with an existing element replaced."""
        base = self if self.shape is not None else replace(self, shape=item.type.shape)
        place = reshape(n, as_vector(n, at), [1, 1])
        row = reshape(n, item, [1, *((item, i) for i in range(item.type.rank))])
        stack = n(nn.ScatterNd(base.stacked(n), place, row))
        return replace(base, stack=stack, items={})

    def stacked(self, n: Layer) -> Value:
        """All elements along a new first dimension; unwritten ones are 0."""
        if self.state is not None:
            raise NeedsStack(self.state, self.written)
        if not self.items:
            return self.stack if self.stack is not None else self._zeros(n)
        assert isinstance(self.count, int)
        like = next(iter(self.items.values()))
        parts, at = [], 0
        while at < self.count:
            if at in self.items:
                item = self.items[at]
                parts.append(reshape(n, item, [1, *((item, i) for i in range(item.type.rank))]))
                at += 1
                continue
            end = next((i for i in range(at, self.count) if i in self.items), self.count)
            parts.append(self._untouched(n, at, end, like))
            at = end
        return concat(n, parts, 0)

    def _untouched(self, n: Layer, begin: int, end: int, like: Value) -> Value:
        """Elements [begin, end), which have not been replaced."""
        if self.stack is not None:
            return slice_axis(n, self.stack, 0, begin, end)
        shape = shape_vector(n, [end - begin, *((like, i) for i in range(like.type.rank))])
        return Term(n, n.scalar(0, like)).filled(Term(n, shape)).value

    def _zeros(self, n: Layer) -> Value:
        if self.shape is None or None in self.shape:
            raise n.error("the shape of a list's elements must be known before it is used")
        number = n.constant(0, self.element)
        if isinstance(self.count, int):
            return n(nn.Fill(number, out=TensorType((self.count, *self.shape), self.element)))
        parts = [as_vector(n, self.count), *(as_vector(n, d) for d in self.shape if d is not None)]
        return Term(n, number).filled(Term(n, n(nn.Concat(parts, axis=0)))).value

    def begun_by(self, n: Layer, stack: Value, limit: Value | None) -> Value:
        """The elements in `stack`, which a loop of at most `limit` iterations has written, then
        those of the list behind them.
        """
        written, length = TensorList.of(n, stack).length(n), self.length(n)
        if limit is not None and is_same(limit, length):
            text = "the loop writes another number of elements than its list has"
            return n(nn.Assume(stack, n(nn.Equal(written, length)), text))
        holds = n(nn.LessEqual(written, length))
        first = n(nn.Assume(stack, holds, "the loop writes more elements than its list has"))
        if self.stack is not None or self.items:
            rest = slice_axis(n, self.stacked(n), 0, written, FAR)
            return concat(n, [first, rest], 0)
        lacking = (Term(n, length) - Term(n, written)).reshape(1)
        shape = shape_vector(n, [(stack, i) for i in range(1, stack.type.rank)])
        extents = joined([lacking, Term(n, shape)], 0) if stack.type.rank > 1 else lacking
        return concat(n, [first, Term(n, n.scalar(0, stack)).filled(extents).value], 0)

    def length(self, n: Layer) -> Value:
        """The number of elements, a 0-d i64."""
        return n.constant(self.count, i64) if isinstance(self.count, int) else self.count

    def pushed(self, n: Layer, item: Value) -> TensorList:
        """The list with one more element. Raises Stacks in a loop."""
        if self.state is not None:
            raise Stacks
        if not isinstance(self.count, int):
            raise n.error(ENDLESS)
        if self.count >= MOST_ITEMS:
            raise n.error(f"a list of more than {MOST_ITEMS} elements")
        longer = replace(self, count=self.count + 1)
        if self.stack is not None:
            items = {i: self.item(n, n.constant(i, i64)) for i in range(self.count)}
            longer = replace(longer, stack=None, items=items)
        return replace(longer, items={**longer.items, self.count: item})

    def popped(self, n: Layer) -> tuple[TensorList, Value]:
        """The list without its last element, and that element. Raises Stacks in a loop."""
        if self.state is not None:
            raise Stacks
        if not isinstance(self.count, int) or not self.count:
            raise n.error("an element is removed from a list that is empty or of unknown length")
        last = self.count - 1
        item = self.item(n, n.constant(last, i64))
        items = {i: v for i, v in self.items.items() if i != last}
        stack = self.stack
        if stack is not None:
            stack = slice_axis(n, stack, 0, 0, last)
        return replace(self, count=last, stack=stack, items=items), item

    def element_shape(self) -> tuple[Dim, ...] | None:
        """The shape of an element, as far as the list or an element of it says; else None."""
        if self.shape is not None and None not in self.shape:
            return self.shape
        if self.stack is not None:
            return self.stack.type.shape[1:]
        return next((item.type.shape for item in self.items.values()), self.shape)

    def added(self, n: Layer, other: TensorList) -> TensorList:
        """The sums of the elements of two lists; of one that is not written, they are zeros."""
        for one, rest in ((self, other), (other, self)):
            if one.stack is None and not one.items and one.state is None:
                return rest
        total = n(nn.Add(self.stacked(n), other.stacked(n)))
        return replace(TensorList.of(n, total), count=self.count)

    def cleared(self) -> TensorList:
        """A list of zeros with the same properties."""
        return replace(self, stack=None, items={})


class Stacks(Exception):  # noqa: N818 - no error, a way out
    """A loop pushes to a list, or pops from it, by which its length differs at each iteration."""


class NeedsStack(Exception):  # noqa: N818
    """A loop reads a list that it also writes; carries the state's number and what was written."""


def _place(n: Layer, index: Value) -> Index:
    known = n.known(index)
    return n.cast(as_scalar(n, index), i64) if known is None else int(known)


def _told(op: Operation) -> tuple[object, object]:
    return op.attributes, op.properties


def is_same(a: Value, b: Value, depth: int = 12) -> bool:
    """Whether two values are computed alike from the same values."""
    if a is b:
        return True
    one, other = a.owner, b.owner
    if not (isinstance(one, Operation) and isinstance(other, Operation)) or depth == 0:
        return False
    alike = type(one) is type(other) and _told(one) == _told(other) and not one.regions
    pairs = zip(one.operands, other.operands, strict=False)
    return (
        alike
        and a.type is b.type
        and len(one.operands) == len(other.operands) > 0
        and all(is_same(x, y, depth - 1) for x, y in pairs)
    )
