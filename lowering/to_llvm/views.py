"""Lowering of memref's views, and of reading sizes and strides; nothing is copied."""

from __future__ import annotations

from typing import Any

from ...dialects import llvm, memref, packed
from ...dialects.index_lists import mix
from ...dialects.memref.layouts import collapse, expand
from ...ir.core import Value
from ...ir.diagnostics import NncError
from ...ir.types import IntegerType, MemRefType
from .casts import resize_integer
from .conversion import FunctionLowering, lowers
from .emitter import Linear
from .memory import contiguous, linear_of, load_scalar, size_of, sizes_of
from .types import MemRef, Size, memref_layout

# -- views -------------------------------------------------------------------------------------


@lowers(memref.View)
def _view(f: FunctionLowering, op: memref.View) -> None:
    type = op.results[0].type
    memref_layout(type)
    pointer = f.step(f.memref(op.source).pointer, f.linear(op.byte_shift), IntegerType(8))
    f.bind(op.results[0], contiguous(f, pointer, sizes_of(type, op.sizes, f)))


@lowers(packed.HalfWords)
def _half_words(f: FunctionLowering, op: packed.HalfWords) -> None:
    source = f.memref(op.source)
    sizes = (*source.sizes[:-1], op.result.type.shape[-1])
    f.bind(op.result, contiguous(f, source.pointer, sizes))


@lowers(memref.SubView)
def _subview(f: FunctionLowering, op: memref.SubView) -> None:
    source_type, type = op.source.type, op.results[0].type
    source = f.memref(op.source)
    offsets = [linear_of(f, v) for v in op.mixed_offsets]
    sizes = [size_of(f, linear_of(f, v)) for v in op.mixed_sizes]
    steps = [linear_of(f, v) for v in op.mixed_strides]
    pointer = f.step(source.pointer, f.offset(source, offsets), source_type.element_type)
    strides = [
        stride if not step.terms and step.constant == 1 else f.times(stride, _stride(f, step))
        for stride, step in zip(source.strides, steps, strict=True)
    ]
    kept = op.kept
    if kept is None:
        raise NncError(f"cannot tell which dimensions {type} drops")
    f.bind(
        op.results[0],
        _as_typed(
            MemRef(pointer, tuple(sizes[i] for i in kept), tuple(strides[i] for i in kept)), type
        ),
    )


def _stride(f: FunctionLowering, index: Linear) -> Size:
    return f.materialize(index) if index.terms else index.constant


def _as_typed(found: MemRef, type: MemRefType) -> MemRef:
    """The memref with the sizes and strides that its type tells in place of values."""
    strides, _ = memref_layout(type)
    sizes = tuple(
        size if extent is None else extent
        for size, extent in zip(found.sizes, type.shape, strict=True)
    )
    return MemRef(
        found.pointer,
        sizes,
        tuple(
            value if known is None else known
            for value, known in zip(found.strides, strides, strict=True)
        ),
    )


def base_pointer(f: FunctionLowering, source: MemRef, type: MemRefType, op: Any) -> Value:
    """The start of a view's buffer: the address of the view's first element less the offset."""
    _, offset = memref_layout(type)
    if offset is None:
        raise op.error(
            f"needs the start of the buffer, which is not known for {type} of dynamic offset"
        )
    return f.step(source.pointer, Linear((), -offset), type.element_type)


@lowers(memref.ReinterpretCast)
def _reinterpret_cast(f: FunctionLowering, op: memref.ReinterpretCast) -> None:
    source_type, type = op.source.type, op.results[0].type
    if memref.begins_alike(op):
        pointer = f.memref(op.source).pointer
    else:
        pointer = base_pointer(f, f.memref(op.source), source_type, op)
        pointer = f.step(pointer, linear_of(f, op.mixed_offsets[0]), type.element_type)
    sizes = [size_of(f, linear_of(f, v)) for v in op.mixed_sizes]
    strides = [_stride(f, linear_of(f, v)) for v in op.mixed_strides]
    f.bind(op.results[0], _as_typed(MemRef(pointer, tuple(sizes), tuple(strides)), type))


@lowers(memref.Cast)
def _cast(f: FunctionLowering, op: memref.Cast) -> None:
    source, type = op.source, op.results[0].type
    if not isinstance(source.type, MemRefType) or not isinstance(type, MemRefType):
        raise NncError("unranked memrefs have no form in the llvm dialect")
    memref_layout(type)
    f.bind(op.results[0], _as_typed(f.memref(source), type))


@lowers(memref.MemorySpaceCast)
def _memory_space_cast(f: FunctionLowering, op: memref.MemorySpaceCast) -> None:
    f.bind(op.results[0], f.memref(op.source))


@lowers(memref.ExpandShape)
def _expand_shape(f: FunctionLowering, op: memref.ExpandShape) -> None:
    source, type = f.memref(op.src), op.results[0].type
    sizes = [size_of(f, linear_of(f, v)) for v in mix(op.static_output_shape, op.output_shape)]
    strides = expand(op.groups, sizes, source.strides, f.times)
    f.bind(op.results[0], _as_typed(MemRef(source.pointer, tuple(sizes), tuple(strides)), type))


@lowers(memref.CollapseShape)
def _collapse_shape(f: FunctionLowering, op: memref.CollapseShape) -> None:
    source, type = f.memref(op.src), op.results[0].type
    sizes, strides = collapse(op.groups, source.sizes, source.strides, f.times)
    f.bind(op.results[0], _as_typed(MemRef(source.pointer, tuple(sizes), tuple(strides)), type))


@lowers(memref.Transpose)
def _transpose(f: FunctionLowering, op: memref.Transpose) -> None:
    source, type = f.memref(op._operands[0]), op.results[0].type
    order = op.order
    moved = MemRef(
        source.pointer,
        tuple(source.sizes[i] for i in order),
        tuple(source.strides[i] for i in order),
    )
    f.bind(op.results[0], _as_typed(moved, type))


@lowers(memref.Reshape)
def _reshape(f: FunctionLowering, op: memref.Reshape) -> None:
    type = op.results[0].type
    if not isinstance(type, MemRefType):
        raise NncError("unranked memrefs have no form in the llvm dialect")
    shape, shape_type = f.memref(op.shape), op.shape.type
    sizes: list[Size] = []
    for i, extent in enumerate(type.shape):
        if extent is None:
            pointer = f.address(shape, shape_type, [Linear((), i)])
            loaded = load_scalar(f, pointer, shape_type.element_type)
            value = resize_integer(f, loaded, f.types.index, signed=True)
            f.depths[value] = len(f.scopes) - 1
            f.non_negative.add(value)
            sizes.append(value)
        else:
            sizes.append(extent)
    f.bind(op.results[0], contiguous(f, f.memref(op.source).pointer, tuple(sizes)))


@lowers(memref.AssumeAlignment)
def _assume_alignment(f: FunctionLowering, op: memref.AssumeAlignment) -> None:
    """Let the same buffer represent the result: on the targets, unaligned loads cost nothing."""
    f.bind(op.results[0], f.memref(op.memref))


# -- what is known of a memref -------------------------------------------------------------------


@lowers(memref.Dim)
def _dim(f: FunctionLowering, op: memref.Dim) -> None:
    source = f.memref(op.source)
    at = f.known_integer(op.index)
    if at is not None:
        if not 0 <= at < len(source.sizes):
            raise NncError(f"there is no dimension {at} in {op.source.type}")
        f.bind(op.results[0], f.size(source.sizes[at]))
        return
    index = f.value(op.index)
    chosen = f.size_value(source.sizes[0])
    for i, size in enumerate(source.sizes[1:], 1):
        here = f.icmp("eq", index, f.integer(i))
        chosen = f.emit(llvm.Select, [here, f.size_value(size), chosen], chosen.type)
    f.bind(op.results[0], chosen)
    f.non_negative.add(chosen)


@lowers(memref.Rank)
def _rank(f: FunctionLowering, op: memref.Rank) -> None:
    f.bind(op.results[0], Linear((), op.memref.type.rank))


@lowers(memref.ExtractStridedMetadata)
def _extract_strided_metadata(f: FunctionLowering, op: memref.ExtractStridedMetadata) -> None:
    """Take a memref apart. An unknown offset reads 0, because our pointer includes it."""
    source, type = f.memref(op.source), op.source.type
    _, offset = memref_layout(type)
    pointer = f.step(source.pointer, Linear((), -(offset or 0)), type.element_type)
    f.bind(op.results[0], MemRef(pointer, (), ()))
    f.bind(op.results[1], Linear((), offset or 0))
    for result, size in zip(op.results[2:], (*source.sizes, *source.strides), strict=True):
        f.bind(result, f.size(size))


@lowers(memref.ExtractAlignedPointerAsIndex)
def _extract_pointer(f: FunctionLowering, op: memref.ExtractAlignedPointerAsIndex) -> None:
    pointer = f.memref(op.source).pointer
    f.bind(op.results[0], f.emit(llvm.PtrToInt, [pointer], f.types.index))
