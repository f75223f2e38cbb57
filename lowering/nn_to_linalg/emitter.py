"""Emitting the code of one function: where to insert, and which buffer holds which tensor."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import AbstractContextManager, contextmanager

from ...dialects import linalg, memref, nn, scf
from ...dialects.gpu.attributes import MAPPING, BlockMapping
from ...dialects.marks import THREADS
from ...dialects.nn.known_values import is_short
from ...ir.affine import AffineMap
from ...ir.attributes import ArrayAttr, DenseElements, DenseResource, I64Attr
from ...ir.builder import Builder
from ...ir.core import Block, Value
from ...ir.diagnostics import PassError
from ...ir.location import Location
from ...ir.types import IntegerType, MemRefType, TensorType, Type
from ...passes.nn.parts import Parts
from .extents import ExtentBuilder, Size
from .globals import Globals
from .storage import storage_type


def buffer_type(type: Type) -> MemRefType:
    """The contiguous memref that holds a tensor."""
    assert isinstance(type, TensorType)
    return MemRefType(type.shape, storage_type(type.element_type))


class Emitter(ExtentBuilder):
    """A builder for one function, which knows the buffer of each of its tensors."""

    def __init__(self, block: Block, globals: Globals, loc: Location) -> None:
        super().__init__(block, globals, loc)
        self.buffers: dict[Value, Value] = {}
        self.placed: dict[Value, Value] = {}
        """The buffers for results of the function itself: its out-arguments, or views of them."""
        self.shared: dict[Value, Value] = {}
        """Results of reshapes and checks, each with its operand, which was written to its place."""
        self.parts = Parts()
        """Tensors that are stored as a part of another tensor."""
        self._storage: dict[Value, Value] = {}
        """The buffers of bytes for tensors in which others lie."""
        self._parts: dict[Value, Value] = {}
        """The views in `_storage` of tensors that are parts of others."""
        self.owned: list[Value] = []
        """Buffers on the heap that this function must free."""
        self.contents: dict[Value, Sequence[Size]] = {}
        """Buffers of small integers that are constant or follow from extents: these, in order."""
        self.flags: dict[Value, Value] = {}
        """Conditions that this function computes on scalars, which checks need not load."""
        self._globals: dict[str, Value] = {}

    # -- tensors and buffers -------------------------------------------------------------

    def operand(self, tensor: Value) -> Value:
        """The memref that holds a tensor, or a scalar if that is what all its elements are."""
        constant = tensor.defined_by(nn.Constant)
        held = constant.value if constant is not None else None
        if isinstance(held, DenseElements) and held.is_splat and held.strings is None:
            return self.element(held.values()[0], held.type.element_type)
        buffer = self.buffer(tensor)
        contents = self.contents.get(buffer, ())
        return self.load(buffer, [0] * buffer.type.rank) if len(contents) == 1 else buffer

    def buffer(self, tensor: Value) -> Value:
        """The memref that holds a tensor. Raises PassError if there is none."""
        found = self.buffers.get(tensor)
        constant = tensor.defined_by(nn.Constant)
        if found is None and constant is not None:
            found = self.buffers[tensor] = self.global_(constant.value)
            if is_short(tensor.type) and isinstance(constant.value, DenseElements):
                self.contents[found] = [int(n) for n in constant.value.to_numpy().flat]
        if found is None:
            definer = tensor.defining_op
            name = definer.name if definer is not None else "a block argument"
            raise PassError(f"the tensor of '{name}' has no buffer", self.loc)
        return found

    def bind(self, tensor: Value, buffer: Value) -> None:
        """Let a buffer hold a tensor; if the tensor has a fixed place (`placed`), copy it there."""
        wanted = buffer_type(tensor.type)
        if tensor in self.placed:
            place = self.placed[tensor]
            if place is not buffer:
                self.copy(buffer, place)
            buffer = place
        self.buffers[tensor] = self.cast(buffer, wanted)

    def destination(self, tensor: Value, sizes: Sequence[Size] | None = None) -> Value:
        """The buffer to write a tensor to: its fixed place, such as an out-argument, or a new one.

        `sizes` are needed if the tensor's type has unknown extents.
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
                if found.type.shape[axis] is None:
                    self._sizes[found, axis] = size
        self.buffers[tensor] = found
        return found

    def part(self, tensor: Value) -> Value:
        """The memory of a tensor that lies within another one, or that others lie within."""
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
        """Copy a tensor to its place within a larger one, unless it was written there."""
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
        """A new temporary buffer of a type; `sizes` are all its extents."""
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
        """A buffer that is never read: its shape gives a structured op the extents of a window."""
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

    # -- elements ------------------------------------------------------------------------

    def load(self, buffer: Value, at: Sequence[Size] = ()) -> Value:
        size = self._content(buffer, at)
        if size is not None:
            element = buffer.type.element_type
            is_number = isinstance(size, int)
            return self.constant(size, element) if is_number else self.from_index(size, element)
        return self.insert(memref.Load(buffer, [self.value(i) for i in at])).result

    def store(self, value: Value, buffer: Value, at: Sequence[Size] = ()) -> None:
        self.insert(memref.Store(value, buffer, [self.value(i) for i in at]))

    def load_extent(self, buffer: Value, at: Sequence[Size], least: int = 0) -> Value:
        """Load an integer from `buffer` as an extent or another number of that range.

        Emits checks that it is at least `least` and fits an index of the target.
        """
        size = self._content(buffer, at)
        if size is not None and self._is_in_range(size):
            return self.value(size)
        value = self.load(buffer, at)
        return self.extent(value, least)

    def _content(self, buffer: Value, at: Sequence[Size]) -> Size | None:
        """An element of a buffer, if it is known without reading memory; else None."""
        sizes = self.contents.get(buffer)
        if sizes is None or not all(isinstance(i, int) for i in at):
            return None
        return sizes[at[0] if at else 0]  # type: ignore[index]

    def load_index(self, buffer: Value, at: Sequence[Size] = ()) -> Value:
        """Load an element of a buffer of integers, as an index."""
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
        """Emit a structured op; `body(builder, *elements)` inserts its body and returns the
        results.
        """
        self.insert(linalg.Generic.build(inputs, outputs, maps, iterators, self._inside(body)))

    def _inside(self, body: Callable[..., Value | Sequence[Value]]) -> Callable:
        def build(builder: Builder, *elements: Value) -> Value | Sequence[Value]:
            with self.inside(builder.block):
                return body(self, *elements)

        return build

    def elementwise(
        self, inputs: Sequence[Value], output: Value, body: Callable[..., Value]
    ) -> None:
        """Emit a structured op on buffers of one shape, with `body` as in `generic`."""
        rank = output.type.rank
        maps = [AffineMap.identity(rank)] * (len(inputs) + 1)
        self.generic(inputs, [output], maps, ["parallel"] * rank, body)

    def position(self, dim: int) -> Value:
        """The index in dimension `dim` of the current point, in the body of a structured op."""
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
        """Within the context, insert into an `scf.for`; gives its induction variable."""
        made = self.insert(
            scf.For.of(self.value(lower), self.value(upper), self.index(1), loc=self.loc)
        )
        with self.inside(made.body_block):
            yield made.induction_var
            self.insert(scf.Yield([]))

    @contextmanager
    def parallel(self, uppers: Sequence[Size], threads: int = 1) -> Iterator[list[Value]]:
        """Within the context, insert into an `scf.parallel` over groups of threads.

        Gives the induction variables. The groups are counted along one axis of the grid.
        """
        if not uppers:
            yield []
            return
        zero, one = self.index(0), self.index(1)
        rank = len(uppers)
        bounds = [zero] * rank, [self.value(upper) for upper in uppers], [one] * rank
        made = self.insert(scf.Parallel.of(*bounds, loc=self.loc))
        made.attributes[THREADS] = I64Attr(threads)
        made.attributes[MAPPING] = ArrayAttr((BlockMapping("x"),) * rank)
        with self.inside(made.body_block):
            yield list(made.body_block.args)
            self.insert(scf.Reduce([], []))

    def apart(self, uppers: Sequence[Size]) -> AbstractContextManager[list[Value]]:
        """Nested loops with independent iterations; on a device they run in parallel."""
        return self.parallel(uppers) if self.globals.has_groups else self.loops(uppers)

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
        """Emit an `scf.for` with carried values, and return the last ones.

        `body(i, *carried)` returns the carried values of the next iteration.
        """
        made = self.insert(
            scf.For.of(self.value(lower), self.value(upper), self.index(1), inits, loc=self.loc)
        )
        with self.inside(made.body_block):
            self.insert(scf.Yield(list(body(made.induction_var, *made.iter_args))))
        return list(made.outs)

    @contextmanager
    def when(self, condition: Value) -> Iterator[None]:
        """Within the context, insert into an `scf.if` without results."""
        made = self.insert(scf.If.of(condition, loc=self.loc))
        with self.inside(made.then_block):
            yield
            self.insert(scf.Yield([]))
