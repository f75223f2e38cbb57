"""Arithmetic on extents and indices, and run-time checks of them."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

from ...dialects import arith, cf, memref
from ...dialects.folding import number_attribute
from ...ir.attributes import Attribute
from ...ir.builder import Builder
from ...ir.conversions import is_small_float
from ...ir.core import Block, Operation, Value
from ...ir.diagnostics import PassError
from ...ir.location import Location
from ...ir.polynomial import Poly
from ...ir.types import FloatType, IndexType, IntegerType, MemRefType, Type, index
from .globals import Globals
from .storage import storage_type

Size = int | Value
"""An extent or index: a number, or a value of type index."""

_KEEPING_RANGE = (arith.AddI, arith.MinSI, arith.FloorDivSI, arith.CeilDivSI)
"""Ops whose result is in the range of extents if both operands are. A sum is, because both extents
lie in memory together.
"""


class ExtentBuilder(Builder):
    """A builder that computes each extent only once, and emits run-time checks.

    Known extents are ints, and arithmetic on them emits nothing.
    """

    def __init__(self, block: Block, globals: Globals, loc: Location) -> None:
        super().__init__(block, None, loc)
        self.entry = block
        self.globals = globals
        self._in_range: set[Value] = set()
        """Values that are known to be extents: neither negative nor larger than an index can be."""
        self._required: set[tuple[Value, ...]] = set()
        """The conditions that were checked already, at the function's top level."""
        self._constants: dict[Attribute, Value] = {}
        self._sizes: dict[tuple[Value, int], Size] = {}
        self.named: dict[str, tuple[Value, int]] = {}
        """The first (buffer, axis) with each named extent."""
        self._names: dict[tuple[Value, int], str] = {}
        self._computed: dict[tuple, Value] = {}
        """Results of arithmetic on extents, at the function's top level."""
        self._shifted: dict[Value, tuple[Value, int]] = {}
        """For each sum of a value and a number (see `_shift`): (the value, the number)."""
        self._head: Operation | None = None

    def _at_start(self, op: Operation) -> Operation:
        """Insert an operation at the start of the function, after those already inserted there."""
        if self._head is None:
            self.entry.prepend(op)
        else:
            self.entry.insert_after(op, self._head)
        self._head = op
        return op

    # -- extents and index arithmetic ----------------------------------------------------

    def size(self, buffer: Value, axis: int) -> Size:
        """An extent of a buffer: a number, or a `memref.dim` if it is unknown.

        A `memref.dim` at the function's top level is used again.
        """
        type = buffer.type
        assert isinstance(type, MemRefType)
        known = type.shape[axis]
        if known is not None:
            return known
        if (name := self._names.get((buffer, axis))) is not None:
            buffer, axis = self.named[name]
        if (buffer, axis) not in self._sizes:
            dim = self.insert(memref.Dim(buffer, self.index(axis))).result
            self._in_range.add(dim)
            if self.block is not self.entry:
                return dim
            self._sizes[buffer, axis] = dim
        return self._sizes[buffer, axis]

    def name_extent(self, buffer: Value, axis: int, name: str) -> bool:
        """Name an unknown extent; extents of one name are equal. Returns whether the name was
        known.
        """
        if buffer.type.shape[axis] is not None:
            return False
        self._names[buffer, axis] = name
        return self.named.setdefault(name, (buffer, axis)) != (buffer, axis)

    def sizes(self, buffer: Value) -> list[Size]:
        return [self.size(buffer, axis) for axis in range(buffer.type.rank)]

    def index(self, number: int) -> Value:
        return self.constant(number, index)

    def constant(self, number: float, type: Type) -> Value:
        """A scalar constant; it stands at the function's start."""
        value = number_attribute(number, type)
        if value is None:
            raise PassError(f"a constant of type {type} has no lowering", self.loc)
        if value not in self._constants:
            op = arith.Constant(value, loc=self.loc)
            self._constants[value] = self._at_start(op).result
        return self._constants[value]

    def element(self, number: float, type: Type) -> Value:
        """A constant of an element type, in the form that elements have in memory."""
        if is_small_float(type):
            assert isinstance(type, FloatType)
            number = int.from_bytes(type.to_bytes(number))
        return self.constant(number, storage_type(type))

    def value(self, size: Size) -> Value:
        """An extent as an SSA value."""
        return self.index(size) if isinstance(size, int) else size

    def _fold(
        self, op: type[Operation], a: Size, b: Size, known: Callable[[int, int], int]
    ) -> Size:
        if isinstance(a, int) and isinstance(b, int):
            return known(a, b)
        if (op, a, b) in self._computed:
            return self._computed[op, a, b]
        found = self.insert(op(self.value(a), self.value(b))).result  # type: ignore[call-arg]
        if self.block is self.entry:
            self._computed[op, a, b] = found
        both = self._is_in_range(a), self._is_in_range(b)
        if any(both) if op is arith.MaxSI else all(both) and op in _KEEPING_RANGE:
            self._in_range.add(found)
        return found

    def _is_in_range(self, size: Size) -> bool:
        return size >= 0 if isinstance(size, int) else size in self._in_range

    def add(self, a: Size, b: Size) -> Size:
        if a == 0 or b == 0:
            return b if a == 0 else a
        if isinstance(a, int) and not isinstance(b, int):
            a, b = b, a
        if not isinstance(b, int) or isinstance(a, int):
            return self._fold(arith.AddI, a, b, lambda x, y: x + y)
        return self._shift(a, b)

    def sub(self, a: Size, b: Size) -> Size:
        if isinstance(b, int) and not isinstance(a, int):
            return self._shift(a, -b)
        return a if b == 0 else self._fold(arith.SubI, a, b, lambda x, y: x - y)

    def _shift(self, a: Value, by: int) -> Size:
        """`a + by`; if `a` is itself a value plus a number, the numbers are added first."""
        base, before = self._shifted.get(a, (a, 0))
        if before + by == 0:
            return base
        op, number = (arith.AddI, before + by) if before + by > 0 else (arith.SubI, -before - by)
        found = self._fold(op, base, number, lambda x, y: x + y)
        assert isinstance(found, Value)
        if self.block is self.entry:
            self._shifted[found] = base, before + by
        return found

    def mul(self, a: Size, b: Size) -> Size:
        if a == 1 or b == 1:
            return b if a == 1 else a
        return self._fold(arith.MulI, a, b, lambda x, y: x * y)

    def floordiv(self, a: Size, b: Size) -> Size:
        return a if b == 1 else self._fold(arith.FloorDivSI, a, b, lambda x, y: x // y)

    def ceildiv(self, a: Size, b: Size) -> Size:
        return a if b == 1 else self._fold(arith.CeilDivSI, a, b, lambda x, y: -(-x // y))

    def min(self, a: Size, b: Size) -> Size:
        return self._fold(arith.MinSI, a, b, min)

    def max(self, a: Size, b: Size) -> Size:
        return self._fold(arith.MaxSI, a, b, max)

    def product(self, sizes: Sequence[Size]) -> Size:
        total: Size = 1
        for size in sizes:
            total = self.mul(total, size)
        return total

    def evaluated(self, size: int | Poly, extents: Mapping[Any, Size]) -> Size:
        """A polynomial evaluated with the extents that its symbols stand for."""
        if isinstance(size, int):
            return size
        total: Size = 0
        for product, factor in size.terms.items():
            total = self.add(total, self.product([*map(extents.__getitem__, product), factor]))
        return total

    def strides(self, sizes: Sequence[Size]) -> list[Size]:
        """The strides of a contiguous buffer of these sizes. Units: elements."""
        found: list[Size] = [1] * len(sizes)
        for axis in range(len(sizes) - 2, -1, -1):
            found[axis] = self.mul(found[axis + 1], sizes[axis + 1])
        return found

    def compare(self, predicate: str, a: Size, b: Size) -> Value:
        return self.insert(arith.CmpI(predicate, self.value(a), self.value(b))).result

    def select(self, condition: Value, a: Size, b: Size) -> Value:
        found = self.insert(arith.Select(condition, self.value(a), self.value(b))).result
        if self._is_in_range(a) and self._is_in_range(b):
            self._in_range.add(found)
        return found

    def to_index(self, value: Value, unsigned: bool = False) -> Value:
        """An integer as an index."""
        if isinstance(value.type, IndexType):
            return value
        cast = arith.IndexCastUI if unsigned else arith.IndexCast
        return self.insert(cast(value, out=index)).result

    def bounded_index(self, value: Value, most: Size) -> Value:
        """An integer clamped to [-most, most] and then converted to an index, which may be
        narrower.
        """
        type = value.type
        if not isinstance(type, IntegerType) or type.width < 64:
            return self.to_index(value)
        high = self.from_index(most, type)
        low = self.insert(arith.SubI(self.constant(0, type), high)).result
        value = self.insert(arith.MinSI(value, high)).result
        return self.to_index(self.insert(arith.MaxSI(value, low)).result)

    def from_index(self, size: Size, type: Type) -> Value:
        """An index as an integer of another type."""
        return self.insert(arith.IndexCast(self.value(size), out=storage_type(type))).result

    # -- checks at run time --------------------------------------------------------------

    def require(self, condition: Value, text: str) -> None:
        """Emit a check that a condition is true; `text` is the message if it is not."""
        self.insert(cf.Assert(condition, text))

    def require_equal(self, a: Size, b: Size, text: str, *, or_one: bool = False) -> None:
        """Emit a check that two extents are equal, if that is not known; with `or_one`, `a` may be
        1.
        """
        if a is b or (isinstance(a, int) and (a == b or (or_one and a == 1))):
            return
        key = (*(self.value(n) for n in (a, b)), self.index(int(or_one)))
        if key in self._required:
            return
        if self.block is self.entry:
            self._required.add(key)
        fits = self.compare("eq", a, b)
        if or_one:
            fits = self.insert(arith.OrI(fits, self.compare("eq", a, 1))).result
        self.require(fits, text)

    def require_at_most(self, a: Size, b: Size, text: str) -> None:
        """Emit a check that extent `a` is at most `b`, if that is not known."""
        if a is b or (isinstance(a, int) and (a <= 0 or (isinstance(b, int) and a <= b))):
            return
        self.require(self.compare("sle", a, b), text)

    def _require_extent(self, size: Value) -> None:
        """Emit a check that a computed extent is not negative."""
        if size in self._in_range or isinstance(size.defining_op, arith.Constant):
            return
        self.require(self.compare("sge", size, 0), "an extent of its result is negative")
        self._in_range.add(size)

    def extent(self, value: Value, least: int = 0) -> Value:
        """An integer as an extent, with the checks of `load_extent`."""
        type = value.type
        assert isinstance(type, IntegerType)
        most = self.globals.largest_index
        fits = self.insert(arith.CmpI("sge", value, self.constant(least, type))).result
        text = "an extent is " + ("negative" if not least else f"less than {least}")
        if most < (1 << (type.width - 1)) - 1:
            small = self.insert(arith.CmpI("sle", value, self.constant(most, type))).result
            fits = self.insert(arith.AndI(fits, small)).result
            text += f" or more than {most}"
        self.require(fits, text)
        found = self.to_index(value)
        if least >= 0:
            self._in_range.add(found)
        return found
