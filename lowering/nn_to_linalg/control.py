"""Branches and loops: calls inside `scf.if` and `scf.while`.

A result of static shape is written to a buffer that is allocated before. One with unknown extents
is a buffer on the heap, which the region yields and whoever receives it frees. A loop keeps each
carried tensor of static shape in one buffer; an iteration writes the next value to a second one.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from ...dialects import arith, func, memref, nn, scf
from ...ir.core import Block, Region, Value
from ...ir.types import MemRefType, TensorType, Type, i1
from ...passes.nn.building import is_static
from .emitter import Emitter, buffer_type
from .extents import Size
from .reshaping import reinterpreted
from .signature import Signature

Signatures = Mapping[str, Signature]
"""The signatures of the module's functions, by name."""

FIRST_ROWS = 4
"""For how many rows a stack has room at first; when it is full, its buffer is doubled."""


def call(
    e: Emitter,
    callee: str,
    signatures: Signatures,
    args: Sequence[Value],
    wanted: Sequence[Value | Type],
) -> list[Value]:
    """Emit a call, and return the buffers of its results.

    For each result `wanted` has the buffer to write it to, or the type of a new one on the heap,
    which whoever receives it must free.
    """
    signature = signatures[callee]
    type = signature.tensors
    given = [e.cast(v, buffer_type(t)) for v, t in zip(args, type.inputs, strict=True)]
    made = []
    for place, result, by_argument in zip(wanted, type.results, signature.by_argument, strict=True):
        if by_argument and not isinstance(place, Value):
            # The function knows extents that the type here leaves open.
            assert isinstance(place, MemRefType) and isinstance(result, TensorType)
            place = heap(e, place, [d or 0 for d in result.shape])
        made.append(place if by_argument else None)
        if by_argument:
            given.append(e.cast(place, buffer_type(result)))  # type: ignore[arg-type]
    returned = iter(e.insert(func.Call(callee, given, outs=list(signature.outputs))).outs)
    buffers = []
    for place, found in zip(wanted, made, strict=True):
        buffer = found if found is not None else next(returned)
        buffers.append(buffer if isinstance(place, Value) else e.cast(buffer, place))  # type: ignore[arg-type]
    return buffers


def heap(e: Emitter, type: MemRefType, sizes: Sequence[Size]) -> Value:
    """A new buffer on the heap, which whoever receives it must free."""
    made = e.alloc_typed(type, sizes)
    e.owned.remove(made)
    return made


# -- if -------------------------------------------------------------------------------------------


def lower_if(e: Emitter, op: nn.CallIf, signatures: Signatures) -> None:
    """Emit an `scf.if` of two calls; it yields the results of unknown extents."""
    condition = e.load(e.buffer(op.condition))
    args = [e.buffer(v) for v in op.args]
    wanted: list[Value | Type] = [
        e.destination(v) if is_static(v) else buffer_type(v.type) for v in op.outs
    ]
    yielded = [t for t in wanted if isinstance(t, Type)]
    regions = [Region([Block()]), Region([Block()])]
    made = e.insert(scf.If(condition, *regions, outs=yielded))
    for region, callee in zip(regions, (op.then, op.otherwise), strict=True):
        with e.inside(region.block):
            buffers = call(e, callee, signatures, args, wanted)
            e.insert(scf.Yield([b for b in buffers if b not in wanted]))
    results = iter(made.outs)
    for value in op.outs:
        if not is_static(value):
            _own(e, value, next(results))


def _own(e: Emitter, tensor: Value, buffer: Value) -> None:
    """Let a tensor be held by a heap buffer, which this function must free."""
    e.buffers[tensor] = buffer
    e.owned.append(memref.base_buffer(buffer))


# -- while ----------------------------------------------------------------------------------------


def lower_while(e: Emitter, op: nn.CallWhile, signatures: Signatures) -> None:
    """Emit an `scf.while` that carries the tensors of unknown extents, and the stacks."""
    _Loop(e, op, signatures).lower()


class _Loop:
    """The lowering of one loop.

    The `scf.while` carries the buffers of tensors with unknown extents, then the values that the
    stacks carry, then the number of iterations so far.
    """

    def __init__(self, e: Emitter, op: nn.CallWhile, signatures: Signatures) -> None:
        self.e, self.op, self.signatures = e, op, signatures
        self.same = [e.buffer(v) for v in op.args[op.carried :]]
        self.limit = self._limit()
        self.states = [self._state(i) for i in range(op.carried)]
        """The buffers of the carried tensors before the first iteration."""
        self.stacks = [self._stack(v) for v in op.outs[op.carried :]]
        self.is_fixed = [is_static(v) for v in op.outs[: op.carried]]

    def _limit(self) -> Value | None:
        """The number of iterations if the loop has a `count`, else None."""
        e = self.e
        if self.op.count is None:
            return None
        value = e.load(e.buffer(self.op.count))
        least = e.constant(0, value.type)
        return e.extent(e.insert(arith.MaxSI(value, least)).result)

    def _state(self, i: int) -> Value:
        e, init, result = self.e, self.e.buffer(self.op.args[i]), self.op.outs[i]
        if is_static(result):
            place = e.destination(result)
        else:
            place = heap(e, buffer_type(result.type), e.sizes(init))
        e.insert(memref.Copy(init, place))
        return place

    def _stack(self, result: Value) -> _Stack:
        e, limit = self.e, self.limit
        type = buffer_type(result.type)
        if None in type.shape[1:]:
            flat = MemRefType((None,), type.element_type)
            sizes = [e.index(0) for d in type.shape[1:] if d is None]
            return _RaggedStack(e, type, heap(e, flat, [e.index(0)]), sizes)
        if limit is None:
            most = MemRefType((None, *type.shape[1:]), type.element_type)
            return _Stack(e, type, heap(e, most, [e.index(FIRST_ROWS), *type.shape[1:]]))
        if type.shape[0] is not None:
            text = f"the loop does not have {type.shape[0]} iterations"
            e.require_equal(type.shape[0], limit, text)
            return _FullStack(e, type, e.destination(result))
        return _FullStack(e, type, e.alloc_typed(type, [limit, *type.shape[1:]]))

    # -- what is carried -----------------------------------------------------------------------

    def lower(self) -> None:
        """Emit the loop, and bind the results."""
        e, op = self.e, self.op
        moving = [s for s, fixed in zip(self.states, self.is_fixed, strict=True) if not fixed]
        inits = [*moving, *(v for s in self.stacks for v in s.carried), e.index(0)]
        flag = e.alloc([], i1)
        places = self._places()
        made = e.insert(scf.While.of(inits, [v.type for v in inits], loc=e.loc))
        with e.inside(made.before.block):
            states, _, _ = self._taken(made.before.block.args)
            call(e, op.before, self.signatures, [*states, *self.same], [flag])
            e.insert(scf.Condition(e.load(flag), made.before.block.args))
        with e.inside(made.after.block):
            self._iteration(made.after.block.args, places)
        states, stacks, count = self._taken(made.outs)
        if self.limit is not None:
            text = "the loop ends before the number of iterations that it says"
            e.require_equal(count, self.limit, text)
        for value, state, fixed in zip(op.outs, states, self.is_fixed, strict=False):
            if not fixed:
                _own(e, value, state)
        for value, stack in zip(op.outs[op.carried :], stacks, strict=True):
            buffer = stack.whole(count)
            e.buffers[value] = e.cast(buffer, buffer_type(value.type))
            if not isinstance(stack, _FullStack):
                e.owned.append(memref.base_buffer(buffer))

    def _places(self) -> list[Value | Type]:
        """The destinations of the next carried tensors and of the new rows; see `call`."""
        e = self.e
        wanted: list[Value | Type] = []
        for value, fixed in zip(self.op.outs, self.is_fixed, strict=False):
            type = buffer_type(value.type)
            wanted.append(e.alloc_typed(type, type.shape) if fixed else type)
        for value in self.op.outs[self.op.carried :]:
            type = buffer_type(value.type)
            row = MemRefType(type.shape[1:], type.element_type)
            static = None not in row.shape
            wanted.append(e.alloc_typed(row, row.shape) if static else row)
        return wanted

    def _taken(self, values: Sequence[Value]) -> tuple[list[Value], list[_Stack], Value]:
        """(tensors, stacks, number of iterations) from the values that the `scf.while` carries."""
        rest = iter(values)
        states = [
            state if fixed else next(rest)
            for state, fixed in zip(self.states, self.is_fixed, strict=True)
        ]
        stacks = [s.taken([next(rest) for _ in s.carried]) for s in self.stacks]
        return states, stacks, next(rest)

    def _iteration(self, args: Sequence[Value], places: Sequence[Value | Type]) -> None:
        e, op = self.e, self.op
        states, stacks, count = self._taken(args)
        if self.limit is not None and stacks:
            text = "the loop has more iterations than it says"
            e.require(e.compare("slt", count, self.limit), text)
        stacks = [stack.with_room(count) for stack in stacks]
        found = call(e, op.after, self.signatures, [*states, *self.same], places)
        pairs = zip(stacks, found[op.carried :], strict=True)
        stacks = [stack.push(row, count) for stack, row in pairs]
        moved = []
        for state, new, fixed in zip(states, found, self.is_fixed, strict=False):
            if fixed:
                e.insert(memref.Copy(new, state))
            else:
                e.insert(memref.Dealloc(state))
                moved.append(new)
        carried = [v for stack in stacks for v in stack.carried]
        e.insert(scf.Yield([*moved, *carried, e.value(e.add(count, 1))]))


# -- stacks of rows -------------------------------------------------------------------------------


@dataclass
class _Stack:
    """Rows of static shape in a buffer that the loop carries, and that has room for more rows."""

    e: Emitter
    type: MemRefType
    buffer: Value

    @property
    def carried(self) -> list[Value]:
        return [self.buffer]

    def taken(self, carried: Sequence[Value]) -> _Stack:
        """This stack with the buffer that an iteration carries."""
        return _Stack(self.e, self.type, *carried)

    def with_room(self, count: Value) -> _Stack:
        """The stack with room for another row: its buffer is doubled if it is full."""
        e, row = self.e, list(self.type.shape[1:])
        room = e.value(e.size(self.buffer, 0))
        regions = [Region([Block()]), Region([Block()])]
        full = e.compare("eq", count, room)
        made = e.insert(scf.If(full, *regions, outs=[self.buffer.type]))
        with e.inside(regions[0].block):
            larger = heap(e, self.buffer.type, [e.mul(room, 2), *row])
            part = e.subview(larger, [0] * (1 + len(row)), [room, *row])
            e.insert(memref.Copy(self.buffer, part))
            e.insert(memref.Dealloc(self.buffer))
            e.insert(scf.Yield([larger]))
        with e.inside(regions[1].block):
            e.insert(scf.Yield([self.buffer]))
        return _Stack(e, self.type, made.outs[0])

    def push(self, row: Value, count: Value) -> _Stack:
        """The stack with a row appended, for which there must be room."""
        e, shape = self.e, list(self.type.shape[1:])
        offsets: list[Size] = [count, *([0] * len(shape))]
        part = memref.SubView.of(self.buffer, offsets, [1, *shape], shape=shape)
        e.insert(memref.Copy(row, e.insert(part).result))
        return self

    def whole(self, count: Value) -> Value:
        """A view of the first `count` rows, which after the loop are all rows."""
        return reinterpreted(self.e, self.buffer, [count, *self.type.shape[1:]])


class _FullStack(_Stack):
    """A stack whose number of rows is known before the loop, so that its buffer never grows."""

    @property
    def carried(self) -> list[Value]:
        return []

    def taken(self, carried: Sequence[Value]) -> _Stack:
        return self

    def with_room(self, count: Value) -> _Stack:
        return self

    def whole(self, count: Value) -> Value:
        return self.buffer


@dataclass
class _RaggedStack(_Stack):
    """A stack of rows whose extents only the first row tells: a flat buffer, and those extents."""

    sizes: list[Value]

    @property
    def carried(self) -> list[Value]:
        return [self.buffer, *self.sizes]

    def taken(self, carried: Sequence[Value]) -> _Stack:
        return _RaggedStack(self.e, self.type, carried[0], list(carried[1:]))

    def with_room(self, count: Value) -> _Stack:
        return self

    def push(self, row: Value, count: Value) -> _Stack:
        e = self.e
        unknown = [axis for axis, d in enumerate(row.type.shape) if d is None]
        found = [e.value(e.size(row, axis)) for axis in unknown]
        first = e.compare("eq", count, 0)
        for size, before in zip(found, self.sizes, strict=True):
            fits = e.insert(arith.OrI(first, e.compare("eq", size, before))).result
            e.require(fits, "the rows of a stack differ in their extents")
        elements = e.product(e.sizes(row))
        buffer = self._room(e.mul(e.value(e.add(count, 1)), elements))
        part = e.subview(buffer, [e.mul(count, elements)], [elements])
        e.insert(memref.Copy(reinterpreted(e, row, [e.value(elements)]), part))
        e.insert(memref.Dealloc(row))
        return _RaggedStack(e, self.type, buffer, found)

    def _room(self, needed: Size) -> Value:
        """The buffer, enlarged if it has fewer elements than needed."""
        e = self.e
        room = e.value(e.size(self.buffer, 0))
        regions = [Region([Block()]), Region([Block()])]
        full = e.compare("sgt", needed, room)
        made = e.insert(scf.If(full, *regions, outs=[self.buffer.type]))
        with e.inside(regions[0].block):
            larger = heap(e, self.buffer.type, [e.max(needed, e.mul(room, 2))])
            part = e.subview(larger, [0], [room])
            e.insert(memref.Copy(self.buffer, part))
            e.insert(memref.Dealloc(self.buffer))
            e.insert(scf.Yield([larger]))
        with e.inside(regions[1].block):
            e.insert(scf.Yield([self.buffer]))
        return made.outs[0]

    def whole(self, count: Value) -> Value:
        e, sizes = self.e, iter(self.sizes)
        row = [d if d is not None else next(sizes) for d in self.type.shape[1:]]
        return reinterpreted(e, self.buffer, [count, *row])
