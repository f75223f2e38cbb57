"""--align-rows: pads images in device buffers, so that each begins at a memory transaction.

    %y = memref.alloc() : memref<1x64x7x7xf32>

        ->

    %0 = memref.alloc() : memref<1x64x56xf32>
    %y = memref.reinterpret_cast %0 to offset: [0], sizes: [1, 64, 7, 7], strides: [3584, 56, 7, 1]

A device moves at least 32 bytes at once, a transaction. 49 elements of 4 bytes are six and an
eighth of these, so that most images would begin within one: threads that read 32 bytes side by side
would then need two transactions, a part of each.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from math import prod

from ..dialects import arith, func, linalg, memref
from ..dialects.marks import KERNEL, ON_HOST
from ..dialects.memref.layouts import strided
from ..ir.builder import Builder
from ..ir.core import Operation, Value
from ..ir.passes import Pass, PassContext, option
from ..ir.rewriting import constant_int
from ..ir.types import FunctionType, MemRefType, row_major_strides
from ..ir.value_classes import ValueClasses
from ..targets.attribute import target_of
from ..targets.machine import Machine


@dataclass(frozen=True)
class AlignRows(
    Pass,
    name="align-rows",
    anchor="builtin.module",
    statistics={"buffers": "Number of buffers whose images were padded"},
):
    """Pad the images in buffers between kernels, so that each begins at a memory transaction.

    An image is all dimensions of a buffer but the first two. The padding is added only where it
    takes little memory; kernels then access the buffers with larger strides. Inputs, results and
    buffers that the host accesses stay as they are, and so does every buffer that a kernel takes
    as the same argument as one of these. This is for devices whose threads run in lockstep.
    """

    target: str = option("", help="a target's name (default: the module's)", alias="machine")

    def run(self, op: Operation, context: PassContext) -> None:
        machine = target_of(op, self.target).machine
        if machine.together > 1:
            context.statistic("buffers", _Aligning(op, machine).align())


@dataclass
class _Aligning:
    """The buffers of a module that can be aligned: those that only kernels of the device touch."""

    module: Operation
    machine: Machine
    classes: ValueClasses = field(default_factory=ValueClasses)
    """Classes of buffers and of the arguments that they are passed for; marked ones stay as they
    are.
    """

    def align(self) -> int:
        """Align all buffers that can be. Returns their number."""
        functions = [f for f in self.module.body_block if isinstance(f, func.FuncOp)]
        self.kernels = {
            f.sym_name: f
            for f in functions
            if KERNEL in f.attributes and ON_HOST not in f.attributes and not f.is_declaration
        }
        buffers = self._candidates(functions)
        stay = set(self.classes.marked())
        chosen = [value for value in buffers if value not in stay]
        arguments = [
            argument
            for kernel in self.kernels.values()
            for argument in kernel.args
            if argument not in stay and self.classes.has(argument)
        ]
        types = {value: self._longer(value) for value in chosen}
        for storage in dict.fromkeys(op.source for op in map(_view_of, chosen) if op is not None):
            self._lengthen(storage)
        for value in chosen:
            self._space_out(value, types[value])
        for argument in arguments:
            self._retype(argument)
        for kernel in self.kernels.values():
            inputs = tuple(v.type for v in kernel.args)
            kernel.function_type = FunctionType(inputs, kernel.function_type.results)
        return len(chosen)

    def _candidates(self, functions: Sequence[func.FuncOp]) -> list[Value]:
        """The buffers to align, in classes with the arguments that they are passed for."""
        buffers: list[Value] = []
        for function in functions:
            if KERNEL in function.attributes:
                continue
            for op in function.walk():
                if isinstance(op, memref.Alloc | memref.View) and self._is_candidate(op.results[0]):
                    buffers.append(op.results[0])
                if isinstance(op, memref.Alloc):
                    self._join_parts(op)
        known = set(buffers)
        for function in functions:
            for call in function.walk():
                if isinstance(call, func.Call) and call.callee in self.kernels:
                    self._join_call(call, known)
        return buffers

    # -- what can be aligned -------------------------------------------------------------------

    def _is_candidate(self, value: Value) -> bool:
        """Whether only kernels use a buffer, and aligning its rows pays."""
        users = [user for user, _ in value.uses if not isinstance(user, memref.Dealloc)]
        return (
            bool(users)
            and all(isinstance(u, func.Call) and u.callee in self.kernels for u in users)
            and self._pitch(value) is not None
        )

    def _pitch(self, value: Value) -> int | None:
        """The aligned distance of rows in elements; None if rows stay as they are."""
        type = value.type
        if not isinstance(type, MemRefType) or not type.has_static_shape or type.rank < 2:
            return None
        if type.layout is not None:
            return None
        size = getattr(type.element_type, "byte_width", 0)
        if not size or self.machine.moved_bytes % size:
            return None
        row, unit = _row(type), self.machine.moved_bytes // size
        longer = -(-row // unit) * unit
        few = longer - row <= self.machine.costs.buffers.longer_rows * row
        return longer if row and longer != row and few else None

    def _join_parts(self, storage: memref.Alloc) -> None:
        """Put the parts of a buffer in one class, so that all or none of them are aligned."""
        views = [user for user, _ in storage.memref.uses if isinstance(user, memref.View)]
        if not views:
            return
        self.classes.join([view.result for view in views])
        others = [u for u, _ in storage.memref.uses if not isinstance(u, memref.View)]
        first = views[0].result.type
        fits = all(isinstance(user, memref.Dealloc) for user in others)
        fits &= all(self._is_candidate(view.result) for view in views)
        for view in views:
            type, shift = view.result.type, constant_int(view.byte_shift)
            fits &= type.has_static_shape and type.rank > 2 and type.shape[0] == 1
            fits &= type.element_type is first.element_type and shift is not None
            fits = fits and _row(type) == _row(first) and not (shift or 0) % _row_bytes(type)
        if not fits:
            self.classes.mark(views[0].result)

    def _join_call(self, call: func.Call, known: set[Value]) -> None:
        """Put a call's operands in the classes of the kernel's arguments: they share a layout."""
        for value, argument in zip(call.args, self.kernels[call.callee].args, strict=True):
            if not isinstance(value.type, MemRefType):
                continue
            self.classes.join([argument, value])
            if value not in known or not all(_is_plain(user) for user, _ in argument.uses):
                self.classes.mark(value)

    # -- rewriting -----------------------------------------------------------------------------

    def _longer(self, value: Value) -> MemRefType:
        """The type of a buffer with the padding after each row."""
        type, pitch = value.type, self._pitch(value)
        assert isinstance(type, MemRefType) and pitch is not None
        return MemRefType((*type.shape[: _lead(type)], pitch), type.element_type)

    def _lengthen(self, storage: Value) -> None:
        """Make a buffer larger, and let its parts begin where their rows now do."""
        op, views = storage.defining_op, [u for u, _ in storage.uses if isinstance(u, memref.View)]
        assert isinstance(op, memref.Alloc) and op.memref.type.num_bytes is not None
        bytes = op.memref.type.num_bytes
        for view in views:
            type, shift = view.result.type, constant_int(view.byte_shift)
            pitch = self._longer(view.result).shape[-1] * type.element_type.byte_width
            assert shift is not None
            start = arith.Constant.index(shift // _row_bytes(type) * pitch)
            view.byte_shift = Builder.before_op(view).insert(start).result
            bytes = max(
                bytes, shift // _row_bytes(type) * pitch + self._longer(view.result).num_bytes
            )
        type = MemRefType((bytes,), op.memref.type.element_type)
        op.replace_with(Builder.before_op(op).insert(memref.Alloc([], [], memref=type)).memref)

    def _space_out(self, value: Value, whole: MemRefType) -> None:
        """Replace a buffer, or a part of one, by a strided view of a buffer with longer rows."""
        op, type = value.defining_op, value.type
        assert op is not None and isinstance(type, MemRefType)
        builder = Builder.before_op(op)
        if isinstance(op, memref.View):
            made = builder.insert(memref.View(op.source, op.byte_shift, [], result=whole)).result
        else:
            made = builder.insert(memref.Alloc([], [], memref=whole)).memref
        view = builder.insert(memref.ReinterpretCast.of(made, 0, type.shape, _strides(type, whole)))
        view.result.name_hint = value.name_hint
        for user, number in list(value.uses):
            user.set_operand(number, made if isinstance(user, memref.Dealloc) else view.result)
        op.erase()

    def _retype(self, argument: Value) -> None:
        """Give an argument of a kernel, and the views of it, the type with longer rows."""
        type, whole = argument.type, self._longer(argument)
        assert isinstance(type, MemRefType)
        argument.type = strided(type, type.shape, _strides(type, whole), 0)
        for user, _ in list(argument.uses):
            if isinstance(user, memref.SubView):
                lists = user.static_offsets, user.static_sizes, user.static_strides
                made = memref.SubView.of(argument, *lists)
                user.replace_with(Builder.before_op(user).insert(made).result)


_ON_STRIDED = linalg.Generic | linalg.Fill | linalg.Copy


def _is_plain(user: Operation) -> bool:
    """Whether an operation of a kernel can have a strided operand."""
    if isinstance(user, memref.SubView):
        known = len(user.operands) == 1 and user.result.type.rank == user.source.type.rank
        return known and all(isinstance(u, _ON_STRIDED) for u, _ in user.result.uses)
    return isinstance(user, _ON_STRIDED)


def _view_of(value: Value) -> memref.View | None:
    return value.defined_by(memref.View)


def _lead(type: MemRefType) -> int:
    """How many leading dimensions, such as batch and channels, are outside of an image."""
    return min(2, type.rank - 1)


def _row(type: MemRefType) -> int:
    """The number of elements of an image, which this file also calls a row: it is contiguous."""
    return prod(type.shape[_lead(type) :])  # type: ignore[arg-type]


def _row_bytes(type: MemRefType) -> int:
    return _row(type) * type.element_type.byte_width


def _strides(type: MemRefType, whole: MemRefType) -> list[int]:
    """The strides of a type whose elements lie in a buffer with longer rows."""
    lead = _lead(type)
    return row_major_strides(whole.shape)[:lead] + row_major_strides(type.shape)[lead:]
