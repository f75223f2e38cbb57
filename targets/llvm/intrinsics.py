"""The call of LLVM's intrinsic for each op `llvm.intr.*`, registered in `EMITTERS`."""

from __future__ import annotations

import re
from collections.abc import Iterable
from typing import TYPE_CHECKING

from ...dialects import llvm
from ...ir.core import Operation, Value
from ...ir.types import Type, VectorType
from .constants import float_text, mangled, type_text
from .instructions import EMITTERS, Emitter, emitter, fastmath, refuse

if TYPE_CHECKING:
    from .ir import FunctionWriter


def intrinsic_call(
    w: FunctionWriter,
    name: str,
    op: Operation,
    overloads: Iterable[Type],
    extra: str = "",
    flags: str = "",
) -> str:
    """The call of an intrinsic with the op's operands and constant arguments after them."""
    full = f"@llvm.{name}" + "".join(f".{mangled(t)}" for t in overloads)
    result = type_text(op.results[0].type) if op.results else "void"
    if full not in w.module.declarations:
        types = [type_text(v.type) for v in op._operands]
        types += [part.split()[0] for part in extra.split(", ") if part]
        w.module.declare(full, result, ", ".join(types))
    tail = f", {extra}" if extra else ""
    return f"call {flags}{result} {full}({w.arguments(op._operands)}{tail})"


def _intrinsic(name: str) -> Emitter:
    def emit(w: FunctionWriter, op: Operation) -> str:
        return intrinsic_call(w, name, op, [op.results[0].type], flags=fastmath(op))

    return emit


def _flag_intrinsic(name: str, key: str) -> Emitter:
    def emit(w: FunctionWriter, op: Operation) -> str:
        flag = "i1 true" if op.properties[key].value else "i1 false"  # type: ignore[attr-defined]
        return intrinsic_call(w, name, op, [op.results[0].type], flag)

    return emit


def _reduction(name: str) -> Emitter:
    def emit(w: FunctionWriter, op: Operation) -> str:
        return intrinsic_call(w, name, op, [op._operands[-1].type], flags=fastmath(op))

    return emit


def _memory_intrinsic(name: str) -> Emitter:
    def emit(w: FunctionWriter, op: Operation) -> str:
        types = [v.type for v in op._operands]
        volatile = op.properties.get("isVolatile")
        flag = "i1 true" if volatile is not None and volatile.value else "i1 false"  # type: ignore[attr-defined]
        if name == "memset":
            types = [types[0], types[2]]
        return intrinsic_call(w, name, op, types, flag)

    return emit


for _cls in (
    *(llvm.IntrFabs, llvm.IntrSqrt, llvm.IntrFloor, llvm.IntrCeil, llvm.IntrRint),
    *(llvm.IntrNearbyInt, llvm.IntrRoundEven, llvm.IntrRound, llvm.IntrTrunc),
    *(llvm.IntrExp, llvm.IntrExp2, llvm.IntrLog, llvm.IntrLog2, llvm.IntrLog10),
    *(llvm.IntrSin, llvm.IntrCos, llvm.IntrTan, llvm.IntrAsin, llvm.IntrAcos, llvm.IntrAtan),
    *(llvm.IntrSinh, llvm.IntrCosh, llvm.IntrTanh, llvm.IntrPow, llvm.IntrCopySign),
    *(llvm.IntrMaxNum, llvm.IntrMinNum, llvm.IntrMaximum, llvm.IntrMinimum),
    *(llvm.IntrFma, llvm.IntrFMulAdd, llvm.IntrSMax, llvm.IntrSMin, llvm.IntrUMax),
    *(llvm.IntrUMin, llvm.IntrCtPop, llvm.IntrBitReverse, llvm.IntrBSwap),
):
    EMITTERS[_cls] = _intrinsic(_cls.name.removeprefix("llvm.intr."))
EMITTERS[llvm.IntrCtLz] = _flag_intrinsic("ctlz", "is_zero_poison")
EMITTERS[llvm.IntrCtTz] = _flag_intrinsic("cttz", "is_zero_poison")
EMITTERS[llvm.IntrAbs] = _flag_intrinsic("abs", "is_int_min_poison")
for _cls in (
    *(llvm.IntrVectorReduceAdd, llvm.IntrVectorReduceMul, llvm.IntrVectorReduceAnd),
    *(llvm.IntrVectorReduceOr, llvm.IntrVectorReduceXor, llvm.IntrVectorReduceSMax),
    *(llvm.IntrVectorReduceSMin, llvm.IntrVectorReduceUMax, llvm.IntrVectorReduceUMin),
    *(llvm.IntrVectorReduceFMax, llvm.IntrVectorReduceFMin, llvm.IntrVectorReduceFMaximum),
    *(llvm.IntrVectorReduceFMinimum, llvm.IntrVectorReduceFAdd, llvm.IntrVectorReduceFMul),
):
    EMITTERS[_cls] = _reduction(_cls.name.removeprefix("llvm.intr."))
EMITTERS[llvm.IntrMemcpy] = _memory_intrinsic("memcpy")
EMITTERS[llvm.IntrMemmove] = _memory_intrinsic("memmove")
EMITTERS[llvm.IntrMemset] = _memory_intrinsic("memset")


def tabulated(w: FunctionWriter, op: Operation) -> str:
    """The call for an op of the table of intrinsics.

    The name ends in all types, and LLVM's parser corrects which of them belong there.
    """
    types = [v.type for v in (*op.results, *op._operands)]
    suffix = ".".join(re.sub(r"\W+", "", type_text(t)) for t in types)
    name = f"@{op.name.replace('.intr.', '.')}{'.' if suffix else ''}{suffix}"
    if op.name.startswith("llvm.intr.lifetime."):
        # LLVM up to 21 wants the size too; -1 is all there is.
        w.module.declare(name, "void", f"i64, {type_text(types[0])}")
        return f"call void {name}(i64 -1, {w.arguments(op._operands)})"
    result = type_text(op.results[0].type) if op.results else "void"
    w.module.declare(name, result, ", ".join(type_text(v.type) for v in op._operands))
    return f"call {fastmath(op)}{result} {name}({w.arguments(op._operands)})"


@emitter(llvm.IntrPowI)
def _powi(w: FunctionWriter, op: Operation) -> str:
    return intrinsic_call(w, "powi", op, op.operand_types, flags=fastmath(op))


@emitter(llvm.IntrIsFPClass)
def _is_fpclass(w: FunctionWriter, op: llvm.IntrIsFPClass) -> str:  # type: ignore[misc]
    return intrinsic_call(w, "is.fpclass", op, op.operand_types, f"i32 {op.bit}")


@emitter(llvm.IntrPrefetch)
def _prefetch(w: FunctionWriter, op: llvm.IntrPrefetch) -> str:  # type: ignore[misc]
    extra = f"i32 {op.rw}, i32 {op.hint}, i32 {op.cache}"
    return intrinsic_call(w, "prefetch", op, op.operand_types, extra)


@emitter(llvm.IntrAssume)
def _assume(w: FunctionWriter, op: Operation) -> str:
    refuse(op, "op_bundle_tags")
    return intrinsic_call(w, "assume", op, [])


def _aligned(w: FunctionWriter, pointer: Value, op: Operation) -> str:
    alignment = op.properties["alignment"].value  # type: ignore[attr-defined]
    return f"{type_text(pointer.type)} align {alignment} {w.names[pointer]}"


@emitter(llvm.IntrMaskedLoad, llvm.IntrMaskedGather)
def _masked_load(w: FunctionWriter, op: Operation) -> str:
    pointer, mask, *rest = op._operands
    type = op.results[0].type
    name = "gather" if isinstance(pointer.type, VectorType) else "load"
    full = f"@llvm.masked.{name}.{mangled(type)}.{mangled(pointer.type)}"
    through = w.typed(rest[0]) if rest else f"{type_text(type)} poison"
    result = type_text(type)
    types = ", ".join([type_text(pointer.type), type_text(mask.type), result])
    w.module.declare(full, result, types)
    return f"call {result} {full}({_aligned(w, pointer, op)}, {w.typed(mask)}, {through})"


@emitter(llvm.IntrMaskedStore, llvm.IntrMaskedScatter)
def _masked_store(w: FunctionWriter, op: Operation) -> str:
    value, pointer, mask = op._operands
    name = "scatter" if isinstance(pointer.type, VectorType) else "store"
    full = f"@llvm.masked.{name}.{mangled(value.type)}.{mangled(pointer.type)}"
    w.module.declare(full, "void", ", ".join(type_text(v.type) for v in op._operands))
    return f"call void {full}({w.typed(value)}, {_aligned(w, pointer, op)}, {w.typed(mask)})"


@emitter(llvm.IntrMaskedExpandLoad)
def _expand_load(w: FunctionWriter, op: Operation) -> str:
    return intrinsic_call(w, "masked.expandload", op, [op.results[0].type])


@emitter(llvm.IntrMaskedCompressStore)
def _compress_store(w: FunctionWriter, op: Operation) -> str:
    return intrinsic_call(w, "masked.compressstore", op, [op._operands[0].type])


@emitter(llvm.IntrExpect)
def _expect(w: FunctionWriter, op: Operation) -> str:
    return intrinsic_call(w, "expect", op, [op.results[0].type])


@emitter(llvm.IntrExpectWithProbability)
def _expect_with(w: FunctionWriter, op: llvm.IntrExpectWithProbability) -> str:  # type: ignore[misc]
    extra = f"double {float_text(op.prob, 'f64')}"
    return intrinsic_call(w, "expect.with.probability", op, [op.results[0].type], extra)


@emitter(llvm.IntrVectorInsert)
def _vector_insert(w: FunctionWriter, op: llvm.IntrVectorInsert) -> str:  # type: ignore[misc]
    types = [v.type for v in op._operands]
    return intrinsic_call(w, "vector.insert", op, types, f"i64 {op.pos}")


@emitter(llvm.IntrVectorExtract)
def _vector_extract(w: FunctionWriter, op: llvm.IntrVectorExtract) -> str:  # type: ignore[misc]
    types = [op.results[0].type, op._operands[0].type]
    return intrinsic_call(w, "vector.extract", op, types, f"i64 {op.pos}")


@emitter(llvm.IntrGetActiveLaneMask)
def _lane_mask(w: FunctionWriter, op: Operation) -> str:
    types = [op.results[0].type, op._operands[0].type]
    return intrinsic_call(w, "get.active.lane.mask", op, types)


@emitter(llvm.IntrVaCopy)
def _va_copy(w: FunctionWriter, op: Operation) -> str:
    return intrinsic_call(w, "va_copy", op, [op._operands[0].type])


@emitter(llvm.IntrInvariantStart)
def _invariant_start(w: FunctionWriter, op: llvm.IntrInvariantStart) -> str:  # type: ignore[misc]
    name = f"@llvm.invariant.start.{mangled(op.ptr.type)}"
    w.module.declare(name, "ptr", f"i64, {type_text(op.ptr.type)}")
    return f"call ptr {name}(i64 {op.size}, {w.typed(op.ptr)})"


@emitter(llvm.IntrInvariantEnd)
def _invariant_end(w: FunctionWriter, op: llvm.IntrInvariantEnd) -> str:  # type: ignore[misc]
    name = f"@llvm.invariant.end.{mangled(op.ptr.type)}"
    w.module.declare(name, "void", f"ptr, i64, {type_text(op.ptr.type)}")
    return f"call void {name}({w.typed(op.start)}, i64 {op.size}, {w.typed(op.ptr)})"
