"""Emitting the code of one function: the insertion point, and which buffer holds which tensor."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager

from ...dialects import arith, cf, linalg, memref, nn, scf
from ...dialects.folding import number_attribute
from ...ir.affine import AffineMap
from ...ir.attributes import Attribute, DenseElements, DenseResource
from ...ir.builder import Builder
from ...ir.conversions import is_small_float
from ...ir.core import Block, Operation, Value
from ...ir.diagnostics import PassError
from ...ir.location import Location
from ...ir.types import FloatType, IndexType, IntegerType, MemRefType, TensorType, Type, index
from ...passes.nn.parts import Parts
from .globals import Globals
from .storage import storage_type

Size = int | Value
"""An extent or index: known, or a value of type index."""


def buffer_type(type: Type) -> MemRefType:
    """The contiguous memref that holds a tensor."""
    assert isinstance(type, TensorType)
    return MemRefType(type.shape, storage_type(type.element_type))


_KEEPING_RANGE = (arith.AddI, arith.MinSI, arith.FloorDivSI, arith.CeilDivSI)
"""Ops that make an extent of two extents; a sum is one too, since both lie in memory."""


class Emitter(Builder):
    """A builder that knows the buffer of each tensor of the function it writes.

    Extents are ints where they are known, so that arithmetic on them costs no operations.
    """

    def __init__(self, block: Block, globals: Globals, loc: Location) -> None:
        super().__init__(block, None, loc)
        self.entry = block
        self.globals = globals
        self.buffers: dict[Value, Value] = {}
        self.placed: dict[Value, Value] = {}
        """The buffers for results of the function itself: its out-arguments, or views of them."""
        self.shared: dict[Value, Value] = {}
        """Results of reshapes, each with its operand, which was written to the result's place."""
        self.parts = Parts()
        """Tensors that are stored as a part of another tensor."""
        self._storage: dict[Value, Value] = {}
        """The buffers of bytes for tensors in which others lie."""
        self._parts: dict[Value, Value] = {}
        """The views in `_storage` of tensors that are parts of others."""
        self._in_range: set[Value] = set()
        """Values that are known to be extents: neither negative nor larger than an index can be."""
        self._required: set[tuple[Value, ...]] = set()
        """The conditions that were checked already, at the function's top level."""
        self.owned: list[Value] = []
        """Buffers on the heap that this function must free."""
        self._constants: dict[Attribute, Value] = {}
        self._sizes: dict[tuple[Value, int], Size] = {}
        self.named: dict[str, tuple[Value, int]] = {}
        """For the name of an extent, the first (buffer, axis) that has it."""
        self._names: dict[tuple[Value, int], str] = {}
        self._computed: dict[tuple, Value] = {}
        """Results of arithmetic on extents, at the function's top level."""
        self._shifted: dict[Value, tuple[Value, int]] = {}
        """For a sum of a value and a number (see `_shift`), these two."""
        self._globals: dict[str, Value] = {}
        self._head: Operation | None = None

    # -- tensors and buffers -------------------------------------------------------------

    def operand(self, tensor: Value) -> Value:
        """The memref that holds a tensor, or the scalar that all its elements are."""
        constant = tensor.defined_by(nn.Constant)
        held = constant.value if constant is not None else None
        if isinstance(held, DenseElements) and held.is_splat and held.strings is None:
            return self.element(held.values()[0], held.type.element_type)
        return self.buffer(tensor)

    def buffer(self, tensor: Value) -> Value:
        """The memref that holds a tensor. Raises PassError if there is none."""
        found = self.buffers.get(tensor)
        constant = tensor.defined_by(nn.Constant)
        if found is None and constant is not None:
            found = self.buffers[tensor] = self.global_(constant.value)
        if found is None:
            definer = tensor.defining_op
            name = definer.name if definer is not None else "a block argument"
            raise PassError(f"the tensor of '{name}' has no buffer", self.loc)
        return found

    def bind(self, tensor: Value, buffer: Value) -> None:
        """Let a buffer hold a tensor, or copy it to the place that the tensor has (`placed`)."""
        wanted = buffer_type(tensor.type)
        if tensor in self.placed:
            place = self.placed[tensor]
            if place is not buffer:
                self.copy(buffer, place)
            buffer = place
        self.buffers[tensor] = self.cast(buffer, wanted)

    def destination(self, tensor: Value, sizes: Sequence[Size] | None = None) -> Value:
        """A buffer to write a result to: the function's out-argument, or a new one.

        `sizes` are needed where the tensor's type does not know its extents.
        """
        found = self.placed.get(tensor)
        if found is None and self.parts.place(tensor)[0] in self.parts.wholes:
            found = self.part(tensor)
        if found is None:
            type = buffer_type(tensor.type)
            if sizes is None:
                sizes = [d if d is not None else self._unknown(tensor) for d in type.shape]
            found = self.alloc_typed(type, sizes)
        elif sizes is not None and self.block is self.entry:
            for axis, size in enumerate(sizes):
                if found.type.shape[axis] is None:  # type: ignore[attr-defined]
                    self._sizes[found, axis] = size
        self.buffers[tensor] = found
        return found

    def part(self, tensor: Value) -> Value:
        """The memory of a tensor that lies in another one, or in which others lie."""
        if tensor in self._parts:
            return self._parts[tensor]
        whole, first = self.parts.place(tensor)
        type = buffer_type(tensor.type)
        if whole not in self._storage:
            size = buffer_type(whole.type).num_bytes
            self._storage[whole] = self.alloc([size], IntegerType(8))
        shift = self.index(first * getattr(type.element_type, "byte_width", 1))
        view = memref.View(self._storage[whole], shift, [], result=type)
        made = self._parts[tensor] = self.insert(view).result
        return made

    def settle(self, tensor: Value) -> None:
        """Copy a tensor to where it belongs in another one, if it was written elsewhere."""
        whole = self.parts.place(tensor)[0]
        made = self.buffers.get(tensor)
        if made is None or whole not in self.parts.wholes or made is self._parts.get(tensor):
            return
        if isinstance(tensor.defining_op, nn.Reshape):
            return
        part = self.buffers[tensor] = self.part(tensor)
        self.copy(made, part)

    def _unknown(self, tensor: Value) -> Size:
        raise PassError(f"the extents of a {tensor.type} are not known", self.loc)

    def alloc_typed(self, type: MemRefType, sizes: Sequence[Size]) -> Value:
        """A new temporary buffer of a type; `sizes` has the extents that the type does not know."""
        dynamic = [self.value(s) for d, s in zip(type.shape, sizes, strict=True) if d is None]
        for size in dynamic:
            self._require_extent(size)
        made = self.insert(memref.Alloc(dynamic, memref=type)).memref
        for axis, (d, size) in enumerate(zip(type.shape, sizes, strict=True)):
            if d is None:
                self._sizes[made, axis] = size
        self.owned.append(made)
        return made

    def alloc(self, sizes: Sequence[Size], element: Type) -> Value:
        """A new temporary buffer of these sizes."""
        shape = tuple(s if isinstance(s, int) else None for s in sizes)
        return self.alloc_typed(MemRefType(shape, storage_type(element)), sizes)

    def window(self, sizes: Sequence[int]) -> Value:
        """A buffer that is never read; it gives a structured op the extents of a window."""
        type = MemRefType(tuple(sizes), IntegerType(8))
        return self.insert(memref.Alloca([], memref=type)).memref

    def cast(self, buffer: Value, type: MemRefType) -> Value:
        """The buffer under another memref type."""
        if buffer.type is type:
            return buffer
        return self.insert(memref.Cast(buffer, dest=type)).dest

    def global_(self, value: DenseElements | DenseResource) -> Value:
        """The buffer of a constant of the module."""
        name, type = self.globals.of(value)
        if name not in self._globals:
            op = memref.GetGlobal(name, result=type, loc=self.loc)
            self._globals[name] = self._at_start(op).result
        return self._globals[name]

    def _at_start(self, op: Operation) -> Operation:
        """Insert what the whole function may use, in the order of the first uses."""
        if self._head is None:
            self.entry.prepend(op)
        else:
            self.entry.insert_after(op, self._head)
        self._head = op
        return op

    # -- extents and index arithmetic ----------------------------------------------------

    def size(self, buffer: Value, axis: int) -> Size:
        """An extent; `memref.dim` if it is not known.

        A value made at the function's top level is used again.
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
        """Assume that all extents of a name are equal; gives whether there is one already."""
        if buffer.type.shape[axis] is not None:  # type: ignore[attr-defined]
            return False
        self._names[buffer, axis] = name
        return self.named.setdefault(name, (buffer, axis)) != (buffer, axis)

    def sizes(self, buffer: Value) -> list[Size]:
        return [self.size(buffer, axis) for axis in range(buffer.type.rank)]  # type: ignore[attr-defined]

    def index(self, number: int) -> Value:
        return self.constant(number, index)

    def constant(self, number: float, type: Type) -> Value:
        """A scalar constant, at the function's start."""
        value = number_attribute(number, type)
        if value is None:
            raise PassError(f"a constant of type {type} has no lowering", self.loc)
        if value not in self._constants:
            op = arith.Constant(value, loc=self.loc)
            self._constants[value] = self._at_start(op).result
        return self._constants[value]

    def element(self, number: float, type: Type) -> Value:
        """A constant of an element type, as it is in memory."""
        if is_small_float(type):
            assert isinstance(type, FloatType)
            number = int.from_bytes(type.to_bytes(number))
        return self.constant(number, storage_type(type))

    def value(self, size: Size) -> Value:
        """An extent as a value."""
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
        """`a + by`; if `a` is such a sum itself, the two numbers are added first."""
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
        """An integer clamped to [-most, most], as an index, which may have fewer bits."""
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
        """Emit a check that a condition holds; `text` says what is wrong if it does not."""
        self.insert(cf.Assert(condition, text))

    def require_equal(self, a: Size, b: Size, text: str, *, or_one: bool = False) -> None:
        """Emit a check that two extents are equal, unless known; with `or_one`, `a` may be 1."""
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
        """Emit a check that an extent is no larger than another one, unless that is known."""
        if a is b or (isinstance(a, int) and (a <= 0 or (isinstance(b, int) and a <= b))):
            return
        self.require(self.compare("sle", a, b), text)

    def _require_extent(self, size: Value) -> None:
        """Emit a check that a computed extent is not negative."""
        if size in self._in_range or isinstance(size.defining_op, arith.Constant):
            return
        self.require(self.compare("sge", size, 0), "an extent of its result is negative")
        self._in_range.add(size)

    def load_extent(self, buffer: Value, at: Sequence[Size], least: int = 0) -> Value:
        """Load an integer that is an extent, or another number in an extent's range.

        It is checked that it is at least `least`, and that an index of the target can hold it.
        """
        value = self.load(buffer, at)
        return self.extent(value, least)

    def extent(self, value: Value, least: int = 0) -> Value:
        """An integer as an extent, checked; see `load_extent`."""
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

    # -- elements ------------------------------------------------------------------------

    def load(self, buffer: Value, at: Sequence[Size] = ()) -> Value:
        return self.insert(memref.Load(buffer, [self.value(i) for i in at])).result

    def store(self, value: Value, buffer: Value, at: Sequence[Size] = ()) -> None:
        self.insert(memref.Store(value, buffer, [self.value(i) for i in at]))

    def load_index(self, buffer: Value, at: Sequence[Size] = ()) -> Value:
        """An element of a buffer of integers, as an index."""
        return self.to_index(self.load(buffer, at))

    # -- whole buffers ---------------------------------------------------------------------

    def fill(self, value: Value, buffer: Value) -> None:
        self.insert(linalg.Fill([value], [buffer]))

    def copy(self, source: Value, target: Value) -> None:
        self.insert(linalg.Copy([source], [target]))

    def subview(
        self, buffer: Value, offsets: Sequence[Size], sizes: Sequence[Size], steps=None
    ) -> Value:
        """A part of a buffer."""
        made = self.insert(memref.SubView.of(buffer, offsets, sizes, steps)).result
        for axis, size in enumerate(sizes):
            if self.block is self.entry and not isinstance(size, int):
                self._sizes[made, axis] = size
        return made

    def generic(
        self,
        inputs: Sequence[Value],
        outputs: Sequence[Value],
        maps: Sequence[AffineMap],
        iterators: Sequence[str],
        body: Callable[..., Value | Sequence[Value]],
    ) -> None:
        """A structured op; `body(builder, *elements)` writes its region."""
        self.insert(linalg.Generic.build(inputs, outputs, maps, iterators, self._inside(body)))

    def _inside(self, body: Callable[..., Value | Sequence[Value]]) -> Callable:
        def build(builder: Builder, *elements: Value) -> Value | Sequence[Value]:
            with self.inside(builder.block):
                return body(self, *elements)

        return build

    def elementwise(
        self, inputs: Sequence[Value], output: Value, body: Callable[..., Value]
    ) -> None:
        """A structured op over buffers of one shape, with `body` as in `generic`."""
        rank = output.type.rank  # type: ignore[attr-defined]
        maps = [AffineMap.identity(rank)] * (len(inputs) + 1)
        self.generic(inputs, [output], maps, ["parallel"] * rank, body)

    def position(self, dim: int) -> Value:
        """The coordinate along a dimension, in the body of a structured op."""
        return self.insert(linalg.Index(dim)).result

    # -- control flow ----------------------------------------------------------------------

    @contextmanager
    def inside(self, block: Block) -> Iterator[None]:
        """Insert at the end of another block while the context lasts."""
        place = self.block, self.before
        self.block, self.before = block, None
        try:
            yield
        finally:
            self.block, self.before = place

    @contextmanager
    def loop(self, upper: Size, lower: Size = 0) -> Iterator[Value]:
        """An `scf.for` around what is inserted inside; gives the induction variable."""
        made = self.insert(
            scf.For.of(self.value(lower), self.value(upper), self.index(1), loc=self.loc)
        )
        with self.inside(made.body_block):
            yield made.induction_var
            self.insert(scf.Yield([]))

    @contextmanager
    def loops(self, uppers: Sequence[Size]) -> Iterator[list[Value]]:
        """Nested loops, one for each bound, the last innermost."""
        if not uppers:
            yield []
            return
        with self.loop(uppers[0]) as first, self.loops(uppers[1:]) as rest:
            yield [first, *rest]

    def fold_loop(
        self,
        upper: Size,
        inits: Sequence[Value],
        body: Callable[..., Sequence[Value]],
        lower: Size = 0,
    ) -> list[Value]:
        """An `scf.for` that carries values: `body(i, *carried)` gives the next ones."""
        made = self.insert(
            scf.For.of(self.value(lower), self.value(upper), self.index(1), inits, loc=self.loc)
        )
        with self.inside(made.body_block):
            self.insert(scf.Yield(list(body(made.induction_var, *made.iter_args))))
        return list(made.outs)

    @contextmanager
    def when(self, condition: Value) -> Iterator[None]:
        """An `scf.if` without results around what is inserted inside."""
        made = self.insert(scf.If.of(condition, loc=self.loc))
        with self.inside(made.then_block):
            yield
            self.insert(scf.Yield([]))
