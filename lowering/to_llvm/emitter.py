"""The insertion point in an LLVM function, and arithmetic on indices and addresses.

An index is kept as a sum `c0*v0 + c1*v1 + .. + constant`. It is emitted when something needs it, as
far out in the nest of loops as its parts are known. So the addresses in an unrolled loop body share
what they have in common, what does not change in a loop is computed before it, and the constant
becomes part of the machine's addressing mode.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from ...dialects import llvm
from ...dialects.llvm.attributes import FCMP_PREDICATE, GEP_FLAGS, ICMP_PREDICATE
from ...ir.attribute_kinds import I32_ARRAY
from ...ir.attributes import Attribute, DenseElements, FloatAttr, IntegerAttr
from ...ir.core import Block, Operation, Value
from ...ir.location import UNKNOWN, Location
from ...ir.types import MemRefType, Type, VectorType, i1, row_major_strides, with_shape_of
from .types import MemRef, Size, TypeConverter, storage_type


@dataclass(frozen=True, slots=True)
class Linear:
    """An index `sum(coefficient * value) + constant`, which wraps in the width of an index."""

    terms: tuple[tuple[Value, int], ...]
    constant: int

    def scaled(self, factor: int) -> Linear:
        """The product with a number."""
        if factor == 0:
            return Linear((), 0)
        return Linear(tuple((v, c * factor) for v, c in self.terms), self.constant * factor)

    def plus(self, other: Linear) -> Linear:
        """The sum; terms with the same value are joined."""
        if not other.terms:
            return Linear(self.terms, self.constant + other.constant)
        if not self.terms:
            return Linear(other.terms, self.constant + other.constant)
        terms = dict(self.terms)
        for value, coefficient in other.terms:
            terms[value] = terms.get(value, 0) + coefficient
        return Linear(tuple((v, c) for v, c in terms.items() if c), self.constant + other.constant)


@dataclass(slots=True)
class Scope:
    """A region that is being lowered.

    `computed` caches the values computed in it; `leaves_from` is the block whose terminator enters
    the inner region that is being lowered.
    """

    leaves_from: Block | None = None
    computed: dict[Any, Value] = field(default_factory=dict)


class Emitter:
    """Emits llvm ops into one function, at the end of `block`."""

    def __init__(self, func: llvm.Func, types: TypeConverter) -> None:
        self.func = func
        self.types = types
        self.block: Block = func.regions[0].blocks[0]
        self.loc: Location = UNKNOWN
        self.scopes: list[Scope] = [Scope()]
        self.depths: dict[Value, int] = {}
        self.non_negative: set[Value] = set()
        self._constants: dict[Any, Value] = {}
        self._integers: dict[tuple[int, Type], Value] = {}

    # -- emitting --------------------------------------------------------------------------

    def emit(
        self,
        cls: type[Operation],
        operands: Sequence[Value],
        type: Type | None = None,
        properties: Mapping[str, Attribute] | None = None,
    ) -> Any:
        """Append an op with at most one result, and return that; None without a `type`."""
        op = cls.create(
            operands, () if type is None else (type,), None, properties, (), (), self.loc
        )
        self.block.append(op)
        return None if type is None else op.results[0]

    def append(self, op: Operation) -> Operation:
        """Append an op that has been made."""
        op.loc = self.loc
        self.block.append(op)
        return op

    def cast(self, cls: type[Operation], value: Value, element: Type) -> Value:
        """Cast a scalar or row to another element type."""
        return self.emit(cls, [value], with_shape_of(value.type, element))

    def icmp(self, predicate: str, a: Value, b: Value) -> Value:
        """Compare integers."""
        properties = {"predicate": ICMP_PREDICATE.from_python(predicate)}
        return self.emit(llvm.ICmp, [a, b], with_shape_of(a.type, i1), properties)

    def fcmp(self, predicate: str, a: Value, b: Value) -> Value:
        """Compare floats."""
        properties = {"predicate": FCMP_PREDICATE.from_python(predicate)}
        return self.emit(llvm.FCmp, [a, b], with_shape_of(a.type, i1), properties)

    def emit_at(
        self,
        depth: int,
        cls: type[Operation],
        operands: Sequence[Value],
        type: Type,
        properties: dict[str, Attribute] | None = None,
    ) -> Value:
        """Emit into the scope of this depth, before the terminator that enters the next inner
        scope.
        """
        if depth >= len(self.scopes) - 1:
            return self.emit(cls, operands, type, properties)
        block = self.scopes[depth].leaves_from
        assert block is not None and block.last is not None
        op = cls.create(operands, (type,), None, properties, (), (), self.loc)
        block.insert_before(op, block.last)
        return op.results[0]

    def new_block(self, types: Sequence[Type] = ()) -> Block:
        """A new last block of the function; it does not become the insertion point."""
        return self.func.regions[0].append(Block(types))

    # -- constants -------------------------------------------------------------------------

    def constant(self, value: Attribute, type: Type) -> Value:
        """A constant; each is made once, in the function's first block."""
        key = (value, type)
        known = self._constants.get(key)
        if known is None:
            op = llvm.Constant.create((), (type,), None, {"value": value})
            known = self._constants[key] = op.results[0]
        return known

    def integer(self, value: int, type: Type | None = None) -> Value:
        """An integer constant: an index without a `type`; of a vector type, a splat."""
        if type is None:
            type = self.types.index
            value = type.wrap(value)
        known = self._integers.get((value, type))
        if known is None:
            if isinstance(type, VectorType):
                known = self.constant(DenseElements.splat(value, type), type)
            else:
                known = self.constant(IntegerAttr(value, type), type)
            self._integers[(value, type)] = known
        return known

    def number(self, value: float, type: Type) -> Value:
        """A float constant; of a vector type, a splat."""
        if isinstance(type, VectorType):
            return self.constant(DenseElements.splat(value, type), type)
        return self.constant(FloatAttr(value, type), type)

    def poison(self, type: Type) -> Value:
        """A value of the type that will never be used."""
        key = ("poison", type)
        known = self._constants.get(key)
        if known is None:
            known = self._constants[key] = llvm.Poison.create((), (type,)).results[0]
        return known

    def address_of(self, symbol: str) -> Value:
        """The address of a global or a function."""
        key = ("address", symbol)
        known = self._constants.get(key)
        if known is None:
            op = llvm.AddressOf(symbol, res=llvm.ptr)
            known = self._constants[key] = op.results[0]
            self.depths[known] = 0
        return known

    def place_constants(self) -> None:
        """Put the constants at the start of the function, as the last step."""
        entry = self.func.regions[0].blocks[0]
        first = entry.first
        for value in self._constants.values():
            op = value.defining_op
            assert op is not None
            if value.has_uses:
                if first is None:
                    entry.append(op)
                else:
                    entry.insert_before(op, first)

    # -- indices and addresses -----------------------------------------------------------------

    def product(self, a: Value, b: Value) -> Value:
        """The product of two indices, emitted as far out as both are known."""
        depth = max(self.depth(a), self.depth(b))
        return self._shared(depth, ("mul", a, b), llvm.Mul, [a, b], self.types.index)

    def _shared(
        self,
        depth: int,
        key: Any,
        cls: type[Operation],
        operands: Sequence[Value],
        type: Type,
        properties: dict[str, Attribute] | None = None,
    ) -> Value:
        """The value for a key in the scope of this depth; it is emitted the first time."""
        computed = self.scopes[depth].computed
        known = computed.get(key)
        if known is None:
            known = self.emit_at(depth, cls, operands, type, properties)
            computed[key] = known
            self.depths[known] = depth
            if all(v in self.non_negative for v in operands):
                self.non_negative.add(known)
        return known

    def materialize(self, index: Linear) -> Value:
        """Emit a sum as a value. Outer parts are added first, so that this happens outside of inner
        loops.
        """
        terms = index.terms
        if not terms:
            return self.integer(index.constant)
        if len(terms) == 1 and terms[0][1] == 1 and not index.constant:
            return terms[0][0]
        total: Value | None = None
        depth, type = 0, self.types.index
        for value, coefficient in self._outer_first(terms):
            depth = max(depth, self.depth(value))
            part = self._scaled(value, coefficient)
            if total is None:
                total = part
            else:
                total = self._shared(depth, ("add", total, part), llvm.Add, [total, part], type)
        assert total is not None
        if index.constant:
            constant = self.integer(index.constant)
            if index.constant > 0:
                self.non_negative.add(constant)
            total = self._shared(depth, ("add", total, constant), llvm.Add, [total, constant], type)
        return total

    def _outer_first(self, terms: tuple[tuple[Value, int], ...]) -> list[tuple[Value, int]]:
        if len(terms) == 1:
            return list(terms)
        return sorted(terms, key=lambda term: self.depth(term[0]))

    def _scaled(self, value: Value, coefficient: int) -> Value:
        if coefficient == 1:
            return value
        factor = self.integer(coefficient)
        if coefficient > 0:
            self.non_negative.add(factor)
        key = ("mul", value, factor)
        return self._shared(self.depth(value), key, llvm.Mul, [value, factor], self.types.index)

    def offset(self, memref: MemRef, indices: Sequence[Linear]) -> Linear:
        """How far an element is from the first one, in elements."""
        total = Linear((), 0)
        for index, stride in zip(indices, memref.strides, strict=True):
            if isinstance(stride, int):
                total = total.plus(index.scaled(stride))
            elif index.terms or index.constant:
                at = self.materialize(index)
                if index.constant > 0 and not index.terms:
                    total = total.plus(Linear(((stride, index.constant),), 0))
                else:
                    total = total.plus(Linear(((self.product(at, stride), 1),), 0))
        return total

    def address(
        self, memref: MemRef, type: MemRefType, indices: Sequence[Linear], inside: bool = True
    ) -> Value:
        """The address of an element. It may be outside of the buffer unless `inside`."""
        return self.step(memref.pointer, self.offset(memref, indices), type.element_type, inside)

    def step(self, pointer: Value, offset: Linear, element: Type, inside: bool = True) -> Value:
        """The pointer moved by a number of elements.

        With `inside`, the result is in the buffer. Intermediate sums are marked as inside too if no
        part is negative.
        """
        storage = storage_type(element)
        inside = inside and offset.constant >= 0
        inside = inside and all(c > 0 and v in self.non_negative for v, c in offset.terms)
        flags = "inbounds, nuw" if inside else "none"
        depth = self.depth(pointer)
        by_depth: dict[int, list[tuple[Value, int]]] = {}
        for term in offset.terms:
            by_depth.setdefault(max(depth, self.depth(term[0])), []).append(term)
        for level in sorted(by_depth):
            step = self.materialize(Linear(tuple(by_depth[level]), 0))
            pointer = self._element(level, pointer, step, storage, flags)
            depth = level
        if offset.constant:
            pointer = self._element(depth, pointer, offset.constant, storage, flags)
        return pointer

    def _element(
        self, depth: int, pointer: Value, index: Value | int, storage: Type, flags: str
    ) -> Value:
        fits = isinstance(index, int) and -(2**31) < index < 2**31
        if isinstance(index, int) and not fits:
            index = self.integer(index)
        raw = index if isinstance(index, int) else llvm.DYNAMIC_INDEX
        operands = [pointer] if isinstance(index, int) else [pointer, index]
        key = ("gep", pointer, index, storage, flags)
        properties = _gep_properties(raw, storage, flags)
        return self._shared(depth, key, llvm.GetElementPtr, operands, pointer.type, properties)

    def depth(self, value: Value) -> int:
        """The depth of the scope in which a value becomes known."""
        return self.depths.get(value, len(self.scopes) - 1)

    def size(self, size: Size) -> Linear:
        """A size or stride as a `Linear` sum."""
        return Linear((), size) if isinstance(size, int) else Linear(((size, 1),), 0)

    def size_value(self, size: Size) -> Value:
        """A size or stride as an LLVM value."""
        return self.integer(size) if isinstance(size, int) else size

    def times(self, a: Size, b: Size) -> Size:
        """The product of two sizes."""
        if isinstance(a, int) and isinstance(b, int):
            return a * b
        if isinstance(a, int):
            a, b = b, a
        if isinstance(b, int):
            return 0 if b == 0 else self.materialize(Linear(((a, b),), 0))  # type: ignore[arg-type]
        return self.product(a, b)  # type: ignore[arg-type]

    def contiguous_strides(self, sizes: Sequence[Size]) -> tuple[Size, ...]:
        """The strides of a row-major buffer of these sizes; emits the products that
        are not known.
        """
        return tuple(row_major_strides(sizes, self.times))

    # -- nested regions --------------------------------------------------------------------------

    def enter(self) -> None:
        """Start an inner region. The current block must have the terminator that leads into it."""
        self.scopes[-1].leaves_from = self.block
        self.scopes.append(Scope())

    def leave(self) -> None:
        """End the innermost region."""
        self.scopes.pop()


_GEP_PROPERTIES: dict[Any, dict[str, Attribute]] = {}
"""The properties of `getelementptr` ops by (index, element type, flags), each made once."""


def _gep_properties(raw: int, storage: Type, flags: str) -> dict[str, Attribute]:
    key = (raw, storage, flags)
    known = _GEP_PROPERTIES.get(key)
    if known is None:
        known = {
            "rawConstantIndices": I32_ARRAY.from_python((raw,)),
            "elem_type": storage,
            "noWrapFlags": GEP_FLAGS.from_python(flags),
        }
        _GEP_PROPERTIES[key] = known
    return known
