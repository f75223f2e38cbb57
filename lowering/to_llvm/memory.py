"""Lowering of memref: buffers, their views, and access to elements."""

from __future__ import annotations

from collections.abc import Sequence
from math import prod
from typing import Any

from ...dialects import llvm, memref
from ...ir.attributes import (
    Attribute,
    BoolAttr,
    DenseElements,
    DenseResource,
    I64Attr,
    IntegerAttr,
    UnitAttr,
)
from ...ir.core import Value
from ...ir.diagnostics import NncError
from ...ir.types import (
    FloatType,
    IndexType,
    IntegerType,
    MemRefType,
    TensorType,
    Type,
    i32,
)
from ...runtime.abi import ALIGNMENT
from .conversion import FunctionLowering, lowers
from .emitter import Linear
from .failing import freed, made_on_heap, require
from .heap import give, take
from .loops import counted_loop
from .types import MemRef, Size, TypeConverter, byte_width, memref_layout, storage_type


def linear_of(f: FunctionLowering, entry: int | Value) -> Linear:
    """An item of a list of numbers and values, as a sum."""
    return Linear((), entry) if isinstance(entry, int) else f.linear(entry)


def size_of(f: FunctionLowering, index: Linear) -> Size:
    """A sum as a size: a number or a value. It is assumed not to be negative."""
    if not index.terms:
        return index.constant
    value = f.materialize(index)
    f.non_negative.add(value)
    return value


# -- elements ----------------------------------------------------------------------------------


def alignment_of(type: Type) -> IntegerAttr:
    """The alignment of any element's address. Units: bytes."""
    return I64Attr(byte_width(type))


def load_scalar(f: FunctionLowering, pointer: Value, type: Type, op: Any = None) -> Value:
    """Load the element at an address, in its LLVM type; an i1 takes a byte in memory."""
    stored = storage_type(type)
    properties = access_properties(type, op)
    value = f.emit(llvm.Load, [pointer], stored, properties)
    scalar = f.types.scalar(type)
    return value if stored is scalar else f.emit(llvm.Trunc, [value], scalar)


def store_scalar(
    f: FunctionLowering, value: Value, pointer: Value, type: Type, op: Any = None
) -> None:
    """Store an element at an address; an i1 takes a byte in memory."""
    stored = storage_type(type)
    if value.type is not stored:
        value = f.emit(llvm.SExt if isinstance(type, IndexType) else llvm.ZExt, [value], stored)
    f.emit(llvm.Store, [value, pointer], None, access_properties(type, op))


_PLAIN_ACCESS: dict[Type, dict[str, Attribute]] = {}


def access_properties(type: Type, op: Any) -> dict[str, Attribute]:
    """Alignment and hints of a load or store, from `op` if it has them, else from the type."""
    plain = _PLAIN_ACCESS.get(type)
    if plain is None:
        plain = _PLAIN_ACCESS[type] = {"alignment": alignment_of(type)}
    if op is None or not (op.alignment or op.nontemporal):
        return plain
    properties = dict(plain)
    if op.alignment:
        properties["alignment"] = I64Attr(op.alignment)
    if op.nontemporal:
        properties["nontemporal"] = UnitAttr()
    return properties


def element_address(f: FunctionLowering, base: Value, indices: Sequence[Value]) -> Value:
    """The address of an element of a memref of the loop level."""
    return f.address(f.memref(base), base.type, [f.linear(i) for i in indices])


@lowers(memref.Load)
def _load(f: FunctionLowering, op: memref.Load) -> None:
    pointer = element_address(f, op._operands[0], op._operands[1:])
    f.bind(op.results[0], load_scalar(f, pointer, op.results[0].type, op))


@lowers(memref.Store)
def _store(f: FunctionLowering, op: memref.Store) -> None:
    value, base, *indices = op._operands
    store_scalar(f, f.value(value), element_address(f, base, indices), value.type, op)


@lowers(memref.Prefetch)
def _prefetch(f: FunctionLowering, op: memref.Prefetch) -> None:
    indices = [f.linear(i) for i in op.indices]
    pointer = f.address(f.memref(op.memref), op.memref.type, indices, inside=False)
    properties = {
        "rw": IntegerAttr(int(op.isWrite), i32),
        "hint": IntegerAttr(op.localityHint, i32),
        "cache": IntegerAttr(int(op.isDataCache), i32),
    }
    f.emit(llvm.IntrPrefetch, [pointer], None, properties)


# -- buffers -----------------------------------------------------------------------------------


def count_elements(f: FunctionLowering, sizes: Sequence[Size]) -> Linear:
    """The number of elements of a buffer of these sizes."""
    total: Size = 1
    for size in sizes:
        total = f.times(total, size)
    return f.size(total)


def sizes_of(type: MemRefType, dynamic: Sequence[Value], f: FunctionLowering) -> tuple[Size, ...]:
    """All sizes of a memref type, with the `dynamic` values in place of unknown extents."""
    rest = iter(dynamic)
    return tuple(
        size_of(f, f.linear(next(rest))) if extent is None else extent for extent in type.shape
    )


def contiguous(f: FunctionLowering, pointer: Value, sizes: tuple[Size, ...]) -> MemRef:
    """A row-major memref of these sizes."""
    return MemRef(pointer, sizes, f.contiguous_strides(sizes))


def _check_new(types: TypeConverter, type: MemRefType) -> None:
    """Raise NncError for a buffer that cannot be allocated."""
    if not type.is_row_major:
        raise NncError(f"a new buffer must have a contiguous layout, not {type}")
    memref_layout(type)
    types.check_size(type)


def allocate(
    f: FunctionLowering, sizes: Sequence[Size], op: memref.Alloc | memref.Realloc
) -> Value:
    """Allocate a buffer of these sizes, on the call's heap or on C's heap: see `heap.py`.

    Its bytes are rounded up to the alignment. If there is no memory, `op` fails, provided that it
    is among the function's checks.
    """
    element = op.results[0].type.element_type
    alignment = max(op.alignment or 0, ALIGNMENT)
    is_checked = f.module.checks.before(op) is not None
    if is_checked and any(isinstance(size, Value) for size in sizes):
        require(f, _fits(f, sizes, byte_width(element), 2 * alignment), op)
    count = count_elements(f, sizes).scaled(byte_width(element))
    if not count.terms:
        size = f.integer(max(1, -(-count.constant // alignment)) * alignment)
    else:
        padded = f.materialize(count.plus(Linear((), alignment - 1)))
        whole = f.emit(llvm.And, [padded, f.integer(-alignment)], padded.type)
        # At least one alignment, since an allocation of nothing may give no address.
        size = f.emit(llvm.IntrUMax, [whole, f.integer(alignment)], padded.type)
    if f.call_heap is not None:
        pointer = take(f, size, is_result=op in f.module.heap.given_away)
    else:
        f.module.need_function("aligned_alloc", [size.type, size.type], llvm.ptr)
        call = llvm.Call.of("aligned_alloc", [f.integer(alignment), size], llvm.ptr)
        pointer = f.append(call).results[0]
    if is_checked:
        null = f.emit(llvm.Zero, [], llvm.ptr)
        require(f, f.append(llvm.ICmp("ne", pointer, null)).results[0], op)
    f.depths[pointer] = len(f.scopes) - 1
    made_on_heap(f, op.results[0], pointer)
    return pointer


def _fits(f: FunctionLowering, sizes: Sequence[Size], width: int, more: int) -> Value:
    """Whether a buffer's bytes plus `more` fit a signed index; an extent of 0 counts as 1.

    It is computed in integers of twice the bits, in which the product of two indices does not
    overflow.
    """
    values = [size for size in sizes if isinstance(size, Value)]
    bits = f.types.index.width
    wide, most = IntegerType(2 * bits), 1 << (bits - 1)
    known = width * prod(size or 1 for size in sizes if isinstance(size, int))
    total = f.integer(min(known, most), wide)
    for value in values:
        extent = f.emit(llvm.IntrUMax, [value, f.integer(1)], f.types.index)
        product = f.emit(llvm.Mul, [total, f.emit(llvm.ZExt, [extent], wide)], wide)
        total = f.emit(llvm.IntrUMin, [product, f.integer(most, wide)], wide)
    return f.append(llvm.ICmp("ult", total, f.integer(most - more, wide))).results[0]


@lowers(memref.Alloc)
def _alloc(f: FunctionLowering, op: memref.Alloc) -> None:
    type = op.results[0].type
    _check_new(f.types, type)
    sizes = sizes_of(type, op.dynamicSizes, f)
    pointer = allocate(f, sizes, op)
    f.bind(op.results[0], contiguous(f, pointer, sizes))


@lowers(memref.Realloc)
def _realloc(f: FunctionLowering, op: memref.Realloc) -> None:
    """Make a new buffer with those elements of the old one that fit in it."""
    type = op.results[0].type
    element = type.element_type
    old = f.memref(op.source)
    given = [] if op.dynamicResultSize is None else [op.dynamicResultSize]
    (size,) = sizes_of(type, given, f)
    pointer = allocate(f, (size,), op)
    sizes = [f.materialize(f.size(n)) for n in (old.sizes[0], size)]
    kept = f.emit(llvm.IntrUMin, sizes, f.types.index)
    width = f.integer(byte_width(element))
    length = f.emit(llvm.Mul, [kept, width], f.types.index)
    operands = [pointer, old.pointer, length]
    f.emit(llvm.IntrMemcpy, operands, None, {"isVolatile": BoolAttr(False)})
    freed(f, old.pointer)
    give(f, old.pointer)
    f.bind(op.results[0], contiguous(f, pointer, (size,)))


@lowers(memref.Dealloc)
def _dealloc(f: FunctionLowering, op: memref.Dealloc) -> None:
    pointer = f.memref(op.memref).pointer
    freed(f, pointer)
    give(f, pointer)


@lowers(memref.Alloca)
def _alloca(f: FunctionLowering, op: memref.Alloca) -> None:
    """Allocate on the stack; a buffer of known size once, at the start of the function."""
    type = op.results[0].type
    _check_new(f.types, type)
    sizes = sizes_of(type, op.dynamicSizes, f)
    count = count_elements(f, sizes)
    alignment = max(op.alignment or 0, ALIGNMENT)
    properties = {"elem_type": storage_type(type.element_type), "alignment": I64Attr(alignment)}
    if count.terms:
        pointer = f.emit(llvm.Alloca, [f.materialize(count)], llvm.ptr, properties)
        f.depths[pointer] = len(f.scopes) - 1
    else:
        made = llvm.Alloca.create([f.integer(count.constant)], (llvm.ptr,), None, properties)
        made.loc = op.loc
        f.func.regions[0].blocks[0].prepend(made)
        pointer = made.results[0]
        f.depths[pointer] = 0
    f.bind(op.results[0], contiguous(f, pointer, sizes))


@lowers(memref.GetGlobal)
def _get_global(f: FunctionLowering, op: memref.GetGlobal) -> None:
    type = op.results[0].type
    pointer = f.address_of(op.symbol)
    f.bind(op.results[0], f.memref_from(type, [pointer]))


def lower_global(types: TypeConverter, op: memref.Global) -> llvm.Global:
    """The LLVM global of a memref.global, with i1 as bytes."""
    type: MemRefType = op.type
    memref_layout(type)
    types.check_size(type)
    stored = storage_type(type.element_type)
    value = op.initial_value
    external = value is None
    # One without elements still has an address, so it gets one element that nobody reads.
    count = type.num_elements or 1
    array = llvm.ArrayType(count, stored)
    if isinstance(value, UnitAttr) or (value is not None and type.num_elements == 0):
        value = DenseElements.splat(0, TensorType((count,), stored))
    elif isinstance(value, (DenseElements, DenseResource)):
        value = _stored_elements(value, type, stored)
    made = llvm.Global(
        op.sym_name,
        array,
        value,
        linkage="external" if external else "internal",
        constant=bool(op.constant),
        alignment=max(op.alignment or 0, ALIGNMENT),
        loc=op.loc,
    )
    return made


def _tensor(type: MemRefType, element: Type) -> Any:
    return TensorType((type.num_elements,), element)


def _stored_elements(value: Any, type: MemRefType, stored: Type) -> Attribute:
    """The elements as one row, in the type that elements have in memory."""
    same = type.element_type is stored or isinstance(type.element_type, FloatType)
    if same and isinstance(value, DenseResource):
        return DenseResource(value.key, _tensor(type, stored), value.blob)
    if isinstance(value, DenseResource):
        value = DenseElements.from_numpy(value.to_numpy(), value.type)
    return DenseElements(_tensor(type, stored), value.data)


# -- copies ------------------------------------------------------------------------------------


def _is_dense(type: MemRefType) -> bool:
    """Whether the elements lie side by side in row-major order."""
    strides, _ = memref_layout(type)
    step: int | None = 1
    for extent, stride in zip(reversed(type.shape), reversed(strides), strict=True):
        if extent != 1 and (stride is None or stride != step):
            return type.layout is None
        step = None if step is None or extent is None else step * extent
    return True


@lowers(memref.Copy)
def _copy(f: FunctionLowering, op: memref.Copy) -> None:
    """Emit a memmove if both are contiguous, else loops over all dimensions."""
    source, target = f.memref(op.source), f.memref(op.target)
    source_type, target_type = op.source.type, op.target.type
    width = byte_width(source_type.element_type)
    if _is_dense(source_type) and _is_dense(target_type):
        count = count_elements(f, source.sizes).scaled(width)
        if count.terms or count.constant:
            operands = [target.pointer, source.pointer, f.materialize(count)]
            f.emit(llvm.IntrMemmove, operands, None, {"isVolatile": BoolAttr(False)})
        return

    def body(indices: list[Linear]) -> None:
        if len(indices) < len(source.sizes):
            size = f.size(source.sizes[len(indices)])
            one = Linear((), 1)
            counted_loop(f, Linear((), 0), size, one, lambda i: body([*indices, i]))
            return
        value = f.emit(
            llvm.Load,
            [f.address(source, source_type, indices)],
            storage_type(source_type.element_type),
            {"alignment": alignment_of(source_type.element_type)},
        )
        store_scalar(f, value, f.address(target, target_type, indices), source_type.element_type)

    body([])


@lowers(memref.AllocaScope)
def _alloca_scope(f: FunctionLowering, op: memref.AllocaScope) -> None:
    """Lower the region in place; its buffers live until the function returns."""
    block = op.body.blocks[0]
    f.lower_block(block)
    for result, value in zip(op.results, block.last._operands, strict=True):  # type: ignore[union-attr]
        f.bind_flat(result, f.flat(value))
