"""LLVM's intrinsics that access memory as ops `llvm.intr.*`."""

# ruff: noqa: N815 - the names of properties are upstream's

from __future__ import annotations

from ..vocabulary import *
from .aggregates import LLVMVector
from .arithmetic import BoolLike, IntegerLike, LLVMType, PointerLike
from .memory import MemoryAccess
from .types import ptr as default_pointer


class AttributedIntrinsic(Op):
    """Base of intrinsics whose operands have attributes, such as an alignment."""

    arg_attrs: tuple | None = attribute(ARRAY, optional=True)
    res_attrs: tuple | None = attribute(ARRAY, optional=True)


class MemoryIntrinsic(MemoryAccess):
    """Base of intrinsics that copy and set ranges of bytes."""

    arg_attrs: tuple | None = attribute(ARRAY, optional=True)
    res_attrs: tuple | None = attribute(ARRAY, optional=True)


class IntrMaskedLoad(Op, name="llvm.intr.masked.load", traits=(ReadsMemory,)):
    """The elements in memory where the mask is set, else those of the pass-through."""

    data: Operand = operand(PointerLike)
    mask: Operand = operand(BoolLike)
    pass_thru: Operands = operands(LLVMType)
    alignment: int = attribute(I32)
    nontemporal: bool = attribute(UNIT)
    res: Result = result(LLVMVector)

    format = "operands attr-dict `:` functional-type(operands, results)"
    example = (
        "%v = llvm.intr.masked.load %p, %m, %z {alignment = 4 : i32} : "
        "(!llvm.ptr, vector<4xi1>, vector<4xf32>) -> vector<4xf32>"
    )


class IntrMaskedStore(Op, name="llvm.intr.masked.store", traits=(WritesMemory,)):
    """Write the elements where the mask is set."""

    value: Operand = operand(LLVMVector)
    data: Operand = operand(PointerLike)
    mask: Operand = operand(BoolLike)
    alignment: int = attribute(I32)

    format = (
        "$value `,` $data `,` $mask attr-dict `:` type($value) `,` type($mask) `into` type($data)"
    )
    example = (
        "llvm.intr.masked.store %v, %p, %m {alignment = 4 : i32} : "
        "vector<4xf32>, vector<4xi1> into !llvm.ptr"
    )


class IntrMaskedGather(Op, name="llvm.intr.masked.gather", traits=(ReadsMemory,)):
    """The elements at many addresses where the mask is set, else those of the pass-through."""

    ptrs: Operand = operand(PointerLike)
    mask: Operand = operand(BoolLike)
    pass_thru: Operands = operands(LLVMType)
    alignment: int = attribute(I32)
    res: Result = result(LLVMVector)

    format = "operands attr-dict `:` functional-type(operands, results)"
    example = (
        "%v = llvm.intr.masked.gather %p, %m, %z {alignment = 4 : i32} : "
        "(vector<4x!llvm.ptr>, vector<4xi1>, vector<4xf32>) -> vector<4xf32>"
    )


class IntrMaskedScatter(Op, name="llvm.intr.masked.scatter", traits=(WritesMemory,)):
    """Write the elements to many addresses where the mask is set."""

    value: Operand = operand(LLVMVector)
    ptrs: Operand = operand(PointerLike)
    mask: Operand = operand(BoolLike)
    alignment: int = attribute(I32)

    format = (
        "$value `,` $ptrs `,` $mask attr-dict `:` type($value) `,` type($mask) `into` type($ptrs)"
    )
    example = (
        "llvm.intr.masked.scatter %v, %p, %m {alignment = 4 : i32} : "
        "vector<4xf32>, vector<4xi1> into vector<4x!llvm.ptr>"
    )


class IntrMaskedExpandLoad(
    AttributedIntrinsic, name="llvm.intr.masked.expandload", traits=(ReadsMemory,)
):
    """Consecutive elements in memory spread over the lanes where the mask is set."""

    ptr: Operand = operand(PointerLike)
    mask: Operand = operand(BoolLike)
    passthru: Operand = operand(LLVMVector)
    res: Result = result(Same("passthru"))

    example = (
        '%v = "llvm.intr.masked.expandload"(%p, %m, %z) : '
        "(!llvm.ptr, vector<4xi1>, vector<4xf32>) -> vector<4xf32>"
    )


class IntrMaskedCompressStore(
    AttributedIntrinsic, name="llvm.intr.masked.compressstore", traits=(WritesMemory,)
):
    """Write the lanes where the mask is set next to each other."""

    value: Operand = operand(LLVMVector)
    ptr: Operand = operand(PointerLike)
    mask: Operand = operand(BoolLike)

    example = (
        '"llvm.intr.masked.compressstore"(%v, %p, %m) : '
        "(vector<4xf32>, !llvm.ptr, vector<4xi1>) -> ()"
    )


class IntrMemcpy(MemoryIntrinsic, name="llvm.intr.memcpy", traits=(WritesMemory,)):
    """Copy bytes; the ranges do not overlap, or are the same."""

    dst: Operand = operand(PointerLike)
    src: Operand = operand(PointerLike)
    len: Operand = operand(IntegerLike)
    isVolatile: bool = attribute(BOOL)

    example = (
        '"llvm.intr.memcpy"(%d, %s, %n) <{isVolatile = false}> : (!llvm.ptr, !llvm.ptr, i64) -> ()'
    )


class IntrMemmove(MemoryIntrinsic, name="llvm.intr.memmove", traits=(WritesMemory,)):
    """Copy bytes between ranges that may overlap."""

    dst: Operand = operand(PointerLike)
    src: Operand = operand(PointerLike)
    len: Operand = operand(IntegerLike)
    isVolatile: bool = attribute(BOOL)

    example = (
        '"llvm.intr.memmove"(%d, %s, %n) <{isVolatile = false}> : (!llvm.ptr, !llvm.ptr, i64) -> ()'
    )


class IntrPrefetch(Op, name="llvm.intr.prefetch", traits=(WritesMemory,)):
    """Ask for a cache line ahead of its use: `rw` 1 to write, `hint` 0 to 3 (keep)."""

    addr: Operand = operand(PointerLike)
    rw: int = attribute(I32)
    hint: int = attribute(I32)
    cache: int = attribute(I32)

    example = (
        '"llvm.intr.prefetch"(%p) <{cache = 1 : i32, hint = 3 : i32, rw = 0 : i32}> '
        ": (!llvm.ptr) -> ()"
    )


class IntrLaunderInvariantGroup(Op, name="llvm.intr.launder.invariant.group"):
    """The same pointer, but nothing that `invariant.group` promised of its memory holds for it."""

    ptr: Operand = operand(PointerLike)
    res: Result = result(Same("ptr"))

    format = "$ptr attr-dict `:` type($ptr)"
    example = "%r = llvm.intr.launder.invariant.group %p : !llvm.ptr"


class IntrInvariantStart(Op, name="llvm.intr.invariant.start"):
    """Promise that the bytes do not change from here on; the result is for `invariant.end`."""

    size: int = attribute(I64)
    ptr: Operand = operand(PointerLike)
    res: Result = result(Exactly(default_pointer, "LLVM pointer in address space 0"))

    format = "$size `,` $ptr attr-dict `:` type($ptr)"
    example = "%i = llvm.intr.invariant.start 4, %p : !llvm.ptr"


class IntrInvariantEnd(Op, name="llvm.intr.invariant.end"):
    """From here on, bytes may change again."""

    start: Operand = operand(Exactly(default_pointer, "LLVM pointer in address space 0"))
    size: int = attribute(I64)
    ptr: Operand = operand(PointerLike)

    format = "$start `,` $size `,` $ptr attr-dict `:` type($ptr)"
    example = "llvm.intr.invariant.end %i, 4, %p : !llvm.ptr"
