"""--single-rows: products with an unknown number of rows also get code for a single row.

    call @k(%x, %w, %out)      ->      %is_one = arith.cmpi eq, %rows, %c1
                                       scf.if %is_one {
                                         %x1 = memref.cast %x : memref<?x8xf32> to memref<1x8xf32>
                                         %out1 = memref.cast %out ..
                                         call @k_row(%x1, %w, %out1)
                                       } else {
                                         call @k(%x, %w, %out)
                                       }

One row takes the time of reading the matrix, and is scheduled for that; a language model's steps
have one. Several rows are bound by arithmetic.
"""

from __future__ import annotations

from dataclasses import dataclass
from math import prod

from ..dialects import arith, func, linalg, memref, scf
from ..dialects.marks import EXPECTED_EXTENTS, INPUT_DIMS, KERNEL, ON_HOST
from ..ir.affine import AffineDim
from ..ir.builder import Builder
from ..ir.core import Operation, Value
from ..ir.passes import Pass, PassContext, option
from ..ir.types import MemRefType
from ..targets.attribute import target_of
from ..targets.machine import Machine
from .model.extents import Size
from .model.stages import Access, Stage, stages_of

Place = tuple[int, int]
"""(the number of a kernel's argument, the number of its dimension)."""

_PLAIN = linalg.Generic | linalg.Fill | linalg.Copy | memref.Alloc | memref.Dealloc | memref.Dim
"""Operations that stay valid when unknown extents become 1."""


@dataclass(frozen=True)
class SingleRows(
    Pass,
    name="single-rows",
    anchor="builtin.module",
    statistics={"kernels": "Number of kernels with separate code for one row"},
):
    """Give products of an unknown number of rows with large matrices separate code for one row.

    The matrix is an operand of known shape that no core's own memory holds, and all unknown
    extents of the kernel are numbers of rows. Each call checks whether they are 1. This is for
    machines that call kernels themselves.
    """

    target: str = option("", help="a target's name (default: the module's)", alias="machine")

    def run(self, op: Operation, context: PassContext) -> None:
        machine = target_of(op, self.target).machine
        if not machine.calls_kernels:
            return
        calls = [c for c in op.walk() if isinstance(c, func.Call) and not _is_chosen(c)]
        called = {call.callee for call in calls}
        found: dict[str, tuple[func.FuncOp, list[Place]]] = {}
        for function in list(op.regions[0].ops):
            if not isinstance(function, func.FuncOp) or KERNEL not in function.attributes:
                continue
            if function.sym_name in called and (places := open_rows(function, machine)):
                found[function.sym_name] = _of_one_row(function), places
                context.statistic("kernels")
        for call in calls:
            if call.callee in found:
                _choose(call, *found[call.callee])


def _is_chosen(call: func.Call) -> bool:
    """Whether a call is in a branch on the number of rows already, as this pass leaves it."""
    return isinstance(call.parent_op, scf.If)


def open_rows(function: func.FuncOp, machine: Machine) -> list[Place]:
    """The (argument, dimension) of each unknown extent, if all of them count rows that are
    multiplied with a large matrix; else empty.
    """
    if ON_HOST in function.attributes or len(function.body.blocks) != 1:
        return []
    block = function.body.block
    open_types = [a.type for a in function.args if open_dims(a)]
    known = arith.Constant | func.Return
    if not open_types or not all(isinstance(op, _PLAIN | known) for op in block):
        return []
    if any(not isinstance(t, MemRefType) or t.layout is not None for t in open_types):
        return []
    stages = stages_of(block)
    rows = next((r for s in stages if (r := _rows(s, function, machine))), [])
    sizes = [e for s in stages for e in s.extents if not isinstance(e, int)]
    if not rows or any(size not in rows for size in sizes):
        return []
    told = _told(stages, function)
    opened = [(i, d) for i, argument in enumerate(function.args) for d in open_dims(argument)]
    if any(place not in told for place in opened):
        return []
    first = {told[place]: place for place in reversed(opened)}
    return [first[size] for size in rows] if all(size in first for size in rows) else []


def open_dims(value: Value) -> list[int]:
    """The dimensions of a buffer whose extents are known at run time only."""
    shape = value.type.shape if isinstance(value.type, MemRefType) else ()
    return [d for d, extent in enumerate(shape) if extent is None]


def _rows(stage: Stage, function: func.FuncOp, machine: Machine) -> list[Size]:
    """The unknown extents along which a product reads a large matrix again; [] for other stages."""
    if not stage.has_reduction:
        return []
    for access in stage.inputs:
        if access.value not in function.args or not _is_large(access, machine):
            continue
        again = [d for d in range(stage.rank) if d not in access.used]
        rows = [stage.extents[d] for d in again if stage.kinds[d] == "parallel"]
        if all(size == 1 for size in rows if isinstance(size, int)):
            return [size for size in dict.fromkeys(rows) if not isinstance(size, int)]
    return []


def _is_large(access: Access, machine: Machine) -> bool:
    shape = access.shape
    if None in shape or None in access.plain_dims():
        return False
    size = prod(extent for extent in shape if extent is not None) * access.element_bytes
    return size > machine.private_memory.bytes


def _told(stages: list[Stage], function: func.FuncOp) -> dict[Place, Size]:
    """The extents of arguments' dimensions that one loop alone runs over."""
    numbers: dict[Value, int] = {value: i for i, value in enumerate(function.args)}
    return {
        (numbers[access.value], d): stage.extents[expr.position]
        for stage in stages
        for access in stage.accesses
        if access.value in numbers
        for d, expr in enumerate(access.exprs)
        if isinstance(expr, AffineDim)
    }


# -- rewriting -------------------------------------------------------------------------------------


def _of_one_row(function: func.FuncOp) -> func.FuncOp:
    """A copy of a kernel, inserted after it, in which all unknown extents are 1."""
    copy = function.clone()
    assert isinstance(copy, func.FuncOp)
    Builder.after_op(function).insert(copy)
    copy.sym_name = _free_name(function)
    for name in (EXPECTED_EXTENTS, INPUT_DIMS):
        copy.attributes.pop(name, None)
    for argument in copy.args:
        argument.type = _single(argument)
    for op in list(copy.body.block):
        if isinstance(op, memref.Alloc) and open_dims(op.memref):
            made = memref.Alloc([], [], memref=_single(op.memref), loc=op.loc)
            op.replace_with(Builder.before_op(op).insert(made).memref)
    types = tuple(a.type for a in copy.args)
    copy.function_type = type(copy.function_type)(types, copy.function_type.results)
    return copy


def _single(value: Value) -> MemRefType:
    """A buffer's type with 1 for each unknown extent."""
    own = value.type
    assert isinstance(own, MemRefType)
    shape = tuple(1 if extent is None else extent for extent in own.shape)
    return MemRefType(shape, own.element_type, own.layout, own.memory_space)


def _free_name(function: func.FuncOp) -> str:
    module = function.parent_op
    assert module is not None
    taken = {f.sym_name for f in module.regions[0].ops if isinstance(f, func.FuncOp)}
    name = f"{function.sym_name}_row"
    while name in taken:
        name += "_"
    return name


def _choose(call: func.Call, row: func.FuncOp, places: list[Place]) -> None:
    """Call the code for one row if there is only one."""
    b = Builder.before_op(call)
    one = b.insert(arith.Constant.index(1)).result
    count = one
    for i, (argument, d) in enumerate(places):
        at = b.insert(arith.Constant.index(d)).result
        extent = b.insert(memref.Dim(call.args[argument], at)).result
        count = extent if i == 0 else b.insert(arith.MulI(count, extent)).result
    is_one = b.insert(arith.CmpI("eq", count, one)).result
    chosen = b.insert(scf.If.of(is_one, has_else=True, loc=call.loc))
    then, otherwise = (Builder.at_end(r.blocks[0]) for r in chosen.regions)
    given = [
        value
        if value.type is wanted.type
        else then.insert(memref.Cast(value, dest=wanted.type)).result
        for value, wanted in zip(call.args, row.args, strict=True)
    ]
    then.insert(func.Call(row.sym_name, given, outs=[], loc=call.loc))
    then.insert(scf.Yield())
    call.detach()
    otherwise.insert(call)
    otherwise.insert(scf.Yield())
