"""Bounds of the elements of each buffer for all inputs: a proof of their widths.

A function is analyzed once, with all iterations of its loops at the same time: see `intervals.py`.
A sum that a loop accumulates in memory,

    for k
        sum[n] = sum[n] + x[k] * w[k, n]

lies between the value before the loop plus, for each `n` by itself, the sum over `k` of the least
and of the greatest terms, with the weights' own numbers: so does any part of it, in any order.
Buffers that calls pass are one with the callee's arguments.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from math import inf, prod
from typing import Any

import numpy as np

from ...dialects import arith, func, memref, scf
from ...dialects.marks import ENTRY, INPUTS, OUTPUTS, PIPELINE, REPLICATE
from ...ir.attributes import DenseElements, DenseResource
from ...ir.core import Block, Operation, Value
from ...ir.types import FloatType, IndexType, IntegerType, MemRefType
from ..source.entry import element_name
from .formats import Format
from .intervals import AXES, Interval, along, applied, between, held, joined, limits
from .language import language

_SAME_ORDER = (memref.ExpandShape, memref.CollapseShape, memref.Cast)
_MOST_NUMBERS = 1 << 22
"""The most numbers of an interval that are distinguished."""
_ROUNDS = 4
"""The most passes over functions until nothing changes; after them, buffers may hold anything."""


@dataclass(eq=False)
class Store:
    """The stores of one function to a buffer, in order."""

    chain: tuple[scf.For, ...] = ()
    found: Interval | None = None
    places: np.ndarray | None = None
    """The elements written by the last store that did not add to its element."""


@dataclass
class Class:
    """The range that an argument of a function and all buffers that calls pass for it share."""

    type: MemRefType
    low: float = inf
    high: float = -inf
    format: Format | None = None
    """The fixed-point format of its floats, if they have one."""
    stays_float: bool = False
    """Whether it stores a value without a known fixed-point format."""
    constants: list[np.ndarray] = field(default_factory=list)
    is_given: bool = False
    """Whether the entry's caller passes it, or an unknown operation writes it."""
    kind: str = ""
    """The element type in the entry's interface."""
    wraps: bool = False
    """Whether a sum in it may exceed its type."""
    is_written: bool = False
    """Whether anything is stored in it, so that it is not constant."""
    is_moved: bool = False
    """Whether a view reorders its elements, or has some of them only."""
    terms: int = 0
    """The most terms of a sum in it."""
    strides: dict[int, int] = field(default_factory=dict)
    """For each distance between elements accessed at once: the number of such elements."""

    def include(self, found: Interval) -> None:
        low, high = found.span
        self.low, self.high = min(self.low, low), max(self.high, high)

    @property
    def interval(self) -> Interval:
        if self.format is not None:
            return between(*self.format.limits)
        if self.is_given or self.low > self.high:
            return limits(self.type.element_type)
        return between(self.low, self.high)


class Ranges:
    """The ranges of a module's buffers."""

    sums_tolerance = 1e-4
    """The tolerance relative to the largest result if floats are added in another order than the
    reference's."""

    def __init__(self, module: Operation, inputs: Sequence[tuple[float, float]] = ()) -> None:
        self._functions = func.functions_by_name(module)
        self._globals = {g.sym_name: g for g in module.body_block if isinstance(g, memref.Global)}
        self._tensors = [
            *module.attributes[INPUTS].elements,  # type: ignore[attr-defined]
            *module.attributes[OUTPUTS].elements,  # type: ignore[attr-defined]
        ]
        self.formats: dict[Value, Format] = {}
        """The formats of fixed-point values."""
        self._parents: dict[Value, Value] = {}
        self._classes: dict[Value, Class] = {}
        self._constants: dict[str, Value] = {}
        for function in self._functions.values():
            self._unite(function, inputs)
        self._choose_formats()
        for _ in range(_ROUNDS):
            before = self._spans()
            for function in self._functions.values():
                self._walk(self).block(function.body.blocks[0])
            if self._spans() == before:
                break
        else:
            for one in self._classes.values():
                if not one.constants:
                    one.is_given = True

    @property
    def _walk(self) -> type[Walk]:
        """The class that analyzes a function."""
        return Walk

    def _choose_formats(self) -> None:
        """Choose fixed-point formats for buffers of floats; here none."""

    def _spans(self) -> list[Any]:
        classes = self._classes.values()
        return [(one.low, one.high, one.is_given, one.is_written, one.format) for one in classes]

    @property
    def tolerance(self) -> float:
        """The tolerance of results relative to the largest of the reference's."""
        classes = self._classes.values()
        floats = (c for c in classes if c.terms > 1 and isinstance(c.type.element_type, FloatType))
        return self.sums_tolerance if any(floats) else 0.0

    def constant(self, symbol: str) -> Class | None:
        """The range of a constant; None if nothing reads it."""
        found = self._constants.get(symbol)
        return None if found is None else self.of(found)

    def of(self, buffer: Value) -> Class:
        """The range of a buffer, or of a view of one."""
        root = self.root(buffer)
        if root not in self._classes:
            self._classes[root] = Class(root.type)
        return self._classes[root]

    def root(self, value: Value) -> Value:
        """The buffer that represents all buffers whose range it shares, see `Class`."""
        while value in self._parents:
            value = self._parents[value]
        return value

    def _unite(self, function: func.FuncOp, inputs: Sequence[tuple[float, float]]) -> None:
        for i, arg in enumerate(function.args):
            if isinstance(arg.type, MemRefType) and ENTRY in function.attributes:
                found = self.of(arg)
                found.kind = element_name(self._tensors[i], language())
                found.is_given = i >= len(inputs)
                if not found.is_given:
                    found.include(between(*inputs[i]))
        for op in function.walk():
            match op:
                case memref.GetGlobal():
                    numbers = _numbers(self._globals[op.symbol])
                    self.of(op.results[0]).constants.append(numbers)
                    self.of(op.results[0]).include(Interval(numbers, numbers))
                    self._join(self._constants.setdefault(op.symbol, op.results[0]), op.results[0])
                case func.Call():
                    callee = self._functions[op.callee]
                    for given, arg in zip(op.operands, callee.args, strict=True):
                        self._join(given, arg)
                case _ if op.results and isinstance(op.results[0].type, MemRefType):
                    for operand in op.operands:
                        if isinstance(operand.type, MemRefType):
                            self._join(op.results[0], operand)
                            self.of(operand).is_moved |= not isinstance(op, _SAME_ORDER)

    def _join(self, one: Value, other: Value) -> None:
        one, other = self.root(one), self.root(other)
        if one is other or not isinstance(one.type, MemRefType):
            return
        mine, theirs = self.of(one), self.of(other)
        if mine.type.element_type is not theirs.type.element_type:
            mine.is_given = True
        mine.low, mine.high = min(mine.low, theirs.low), max(mine.high, theirs.high)
        mine.constants += theirs.constants
        mine.is_given |= theirs.is_given
        mine.is_moved |= theirs.is_moved
        mine.kind = mine.kind or theirs.kind
        del self._classes[other]
        self._parents[other] = one


def _numbers(op: memref.Global) -> np.ndarray:
    """A constant's numbers in order; integers as signed ones."""
    value = op.initial_value
    if isinstance(value, DenseResource | DenseElements):
        array = np.asarray(value.to_numpy()).reshape(-1)
        if array.dtype.kind == "u":
            array = array.view(f"i{array.itemsize}")
        found = array.astype(np.float64)
        return np.full(op.type.num_elements, found[0]) if found.size == 1 else found
    return np.zeros(max(1, op.type.num_elements or 1))


class Walk:
    """Analyzes the values of one function."""

    def __init__(self, ranges: Ranges) -> None:
        self.ranges = ranges
        self.values: dict[Value, Interval] = {}
        self.chain: list[scf.For] = []
        self.stores: dict[Value, Store] = {}
        self.conditions = 0
        """How many `scf.if` ops enclose the current operation."""

    def of(self, value: Value) -> Interval:
        return self.values.get(value) or limits(value.type)

    def block(self, block: Block) -> None:
        for op in block:
            self.operation(op)

    def operation(self, op: Operation) -> None:
        """Record the intervals of an operation's results, and its effects on buffers."""
        match op:
            case arith.Constant() if not isinstance(op.results[0].type, MemRefType):
                number = getattr(op.properties["value"], "value", None)
                if number is not None:
                    self.values[op.results[0]] = between(number, number)
            case memref.Load():
                self.values[op.results[0]] = self.loaded(op)
            case memref.Store():
                self.store(op)
            case memref.Copy():
                self.copy(op)
            case scf.For():
                self.loop(op)
            case scf.If():
                self.branches(op)
            case func.Call() | func.Return() | scf.Yield():
                pass
            case _ if op.regions or not _is_plain(op):
                self.unknown(op)
            case _ if len(op.results) == 1:
                self.values[op.results[0]] = self.computed(op)

    def branches(self, op: scf.If) -> None:
        """Analyze both branches of an `scf.if`."""
        self.conditions += 1
        for region in op.regions:
            for block in region.blocks:
                self.block(block)
        self.conditions -= 1

    def computed(self, op: Operation) -> Interval:
        """The interval that an operation without effects gives."""
        return applied(op, [self.of(v) for v in op.operands])

    def copy(self, op: memref.Copy) -> None:
        """Record a copy: all elements of one buffer are stored in another."""
        buffer, found = self.ranges.root(op.target), self.ranges.of(op.source).interval
        state = self.stores.setdefault(buffer, Store())
        before = found if state.found is None else state.found
        state.found, state.places = between(*joined(before, found).span), None
        self.ranges.of(buffer).is_written = True
        self.ranges.of(buffer).include(state.found)

    def unknown(self, op: Operation) -> None:
        """Record an unknown operation: it may write to its buffers, and give any result."""
        for one in op.walk():
            for value in one.operands:
                if isinstance(value.type, MemRefType) and not isinstance(one, memref.Load):
                    self.ranges.of(value).is_given |= not one.results

    def loop(self, op: scf.For) -> None:
        """Analyze all iterations of a loop at once."""
        low, high, step = (self.of(v) for v in op.operands[:3])
        axis, block = len(self.chain), op.body_block
        if axis >= AXES:
            self.unknown(op)
            return
        first, last = low.span[0], high.span[1]
        if all(one.is_known and one.low.size == 1 for one in (low, high, step)):
            self.values[block.args[0]] = along(axis, np.arange(first, last, step.span[0]))
        else:
            self.values[block.args[0]] = between(first, max(first, last - 1))
        self.chain.append(op)
        self.block(block)
        self.chain.pop()

    # -- memory --------------------------------------------------------------------------------

    def loaded(self, op: memref.Load) -> Interval:
        """The interval of a load: each element of a constant by itself, else the buffer's range."""
        self.touch(op)
        found = self.ranges.of(op.memref)
        shape = op.memref.type.shape
        if isinstance(op.results[0].type, IndexType) or not found.constants or found.is_written:
            return found.interval
        at = [self.of(v) for v in op.indices]
        sizes = np.broadcast_shapes(*(one.low.shape for one in at)) if at else ()
        same = all(one.size == prod(shape) for one in found.constants) and not found.is_moved
        if not same or prod(sizes) > _MOST_NUMBERS or not all(one.is_known for one in at):
            return found.interval
        whole = [np.clip(one.low.astype(int), 0, n - 1) for one, n in zip(at, shape, strict=True)]
        place = np.zeros((1,) * AXES, int)
        for one, size in zip(whole, shape, strict=True):
            place = place * size + one
        read = [one[place] for one in found.constants]
        return Interval(np.minimum.reduce(read), np.maximum.reduce(read))

    def touch(self, op: Any) -> None:
        """Record the distance between the elements that parallel copies of an access refer to."""
        strides = self.ranges.of(op.memref).strides
        for axis, loop in enumerate(self.chain):
            inside = any(PIPELINE in one.attributes for one in self.chain[:axis])
            if not inside and REPLICATE not in loop.attributes:
                continue
            pair = tuple(slice(0, 2 if a == axis else 1) for a in range(AXES))
            places, step = np.zeros((1,) * AXES), 1
            for at, size in zip(reversed(op.indices), reversed(op.memref.type.shape), strict=True):
                places, step = places + self.of(at).low[pair] * step, step * size
            if places.size > 1 and (stride := int(np.ptp(places))):
                strides[stride] = max(strides.get(stride, 1), self.extent(loop))

    def store(self, op: memref.Store) -> None:
        """Record a store of a value, or the addition of one to an element."""
        buffer = self.ranges.root(op.memref)
        self.touch(op)
        state, chain = self.stores.setdefault(buffer, Store()), tuple(self.chain)
        type = op.value.type
        term = _term(op)
        if term is None or state.found is None:
            found = self.of(op.value) if term is None else limits(type)
            before = found if state.found is None else state.found
            state.found = between(*joined(before, found).span)
            state.chain = chain
            state.places = None if self.conditions else self.places(op)
        else:
            common = sum(a is b for a, b in zip(state.chain, chain, strict=False))
            common = common if self.covers(state.places, self.places(op), common) else 0
            total = self.total(op, self.of(term), common, self.ranges.of(buffer))
            low, high = state.found.span
            sums = Interval(low + np.minimum(total.low, 0), high + np.maximum(total.high, 0))
            state.found = between(*held(sums, type).span)
            if isinstance(type, IntegerType):
                self.ranges.of(buffer).wraps |= sums.span != state.found.span
        self.ranges.of(buffer).is_written = True
        self.ranges.of(buffer).include(state.found)

    def total(self, op: memref.Store, term: Interval, common: int, found: Class) -> Interval:
        """The interval of what a sum adds to one element: its `term` over all iterations of the
        loops, except the outer `common` ones and those whose iterations add to other elements.
        """
        inside = range(common, len(self.chain))
        extents = [self.extent(self.chain[axis]) for axis in inside]
        places = self.places(op)
        chosen = [axis for axis in inside if places is not None and places.shape[axis] > 1]
        if places is not None and chosen:
            first = places[tuple(slice(None) if a in chosen else slice(0, 1) for a in range(AXES))]
            if len(np.unique(first)) < first.size:
                chosen = []
        low, high, terms = np.minimum(term.low, 0), np.maximum(term.high, 0), 1
        for axis, extent in zip(inside, extents, strict=True):
            if axis in chosen:
                continue
            terms *= extent
            times = extent if low.shape[axis] == 1 else 1
            low = low.sum(axis, keepdims=True) * times
            times = extent if high.shape[axis] == 1 else 1
            high = high.sum(axis, keepdims=True) * times
        found.terms = max(found.terms, terms)
        return Interval(low, high)

    @staticmethod
    def covers(first: np.ndarray | None, later: np.ndarray | None, common: int) -> bool:
        """Whether each iteration of the `common` outer loops is known to write all elements that it
        adds to: `first` are the indices written, `later` those added to.
        """
        if first is None or later is None:
            return False
        turns, size = np.zeros((1,) * AXES), 1 + max(first.max(), later.max())
        for axis in range(common):
            if extent := max(first.shape[axis], later.shape[axis]):
                along_axis = (1,) * axis + (extent,) + (1,) * (AXES - axis - 1)
                turns = turns * extent + np.arange(extent).reshape(along_axis)
        if turns.size * max(first.size, later.size) > _MOST_NUMBERS:
            return False
        one, other = turns * size + first, turns * size + later
        return bool(np.isin(other, one).all())

    def extent(self, op: scf.For) -> int:
        """The largest number of iterations of a loop."""
        low, high, step = (self.of(v).span for v in op.operands[:3])
        return max(0, int(-(-(high[1] - low[0]) // max(1.0, step[0]))))

    def places(self, op: memref.Store) -> np.ndarray | None:
        """The flat index that each iteration writes; None if unknown."""
        at = [self.of(v) for v in op.indices]
        sizes = np.broadcast_shapes(*(one.low.shape for one in at)) if at else (1,) * AXES
        if prod(sizes) > _MOST_NUMBERS or not all(one.is_known for one in at):
            return None
        total, step = np.zeros((1,) * AXES), 1
        for one, size in zip(reversed(at), reversed(op.memref.type.shape), strict=True):
            total, step = total + one.low * step, step * size
        return total


def _is_plain(op: Operation) -> bool:
    """Whether an operation only computes, or only makes a view of a buffer."""
    return (
        op.has_trait(memref.ViewLike)
        or op.name.split(".")[0] in ("arith", "math")
        or isinstance(op, memref.Alloca | memref.GetGlobal | memref.Dim)
    )


def _term(op: memref.Store) -> Value | None:
    """The value that a store adds to its element; None if it does not add."""
    total = op.value.defining_op
    if not isinstance(total, arith.AddI | arith.AddF):
        return None
    for loaded, term in (total.operands, total.operands[::-1]):
        read = loaded.defined_by(memref.Load)
        if read is not None and read.memref is op.memref and list(read.indices) == list(op.indices):
            return term
    return None


def bits_of(low: float, high: float) -> tuple[int, bool]:
    """The least width of integers from `low` to `high`, and whether they are signed."""
    if low >= 0:
        return max(1, int(high).bit_length()), False
    return max((-int(low) - 1).bit_length(), int(high).bit_length()) + 1, True
