"""The LLVM IR instruction of each op of the llvm dialect, as text: the table `EMITTERS`."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import TYPE_CHECKING, Any

from ..dialects import llvm
from ..ir.attributes import DictAttr, IntegerAttr
from ..ir.core import Operation, Value
from ..ir.types import Type, VectorType
from .llvm_constants import mangled, symbol_text, type_text

if TYPE_CHECKING:
    from .llvm_ir import FunctionWriter

# The second parameter is the op, of the classes that the emitter is registered for.
Emitter = Callable[["FunctionWriter", Any], str]

EMITTERS: dict[type[Operation], Emitter] = {}
"""Op class -> what makes its instruction."""


def emitter(*classes: type[Operation]) -> Callable[[Emitter], Emitter]:
    """Register the function that writes the instruction of these ops."""

    def register(function: Emitter) -> Emitter:
        for cls in classes:
            EMITTERS[cls] = function
        return function

    return register


def _fastmath(op: Operation) -> str:
    flags = op.properties.get("fastmathFlags")
    if flags is None or flags.value == "none":  # type: ignore[attr-defined]
        return ""
    return flags.value.replace(",", " ") + " "  # type: ignore[attr-defined]


def _overflow(op: Operation) -> str:
    bits = op.properties.get("overflowFlags")
    if bits is None:
        return ""
    return ("", "nsw ", "nuw ", "nuw nsw ")[bits.value]  # type: ignore[attr-defined]


def _align(op: Operation) -> str:
    alignment = op.properties.get("alignment")
    return f", align {alignment.value}" if alignment is not None else ""  # type: ignore[attr-defined]


def _binary(word: str) -> Emitter:
    def emit(w: FunctionWriter, op: Operation) -> str:
        a, b = op._operands
        return f"{word} {type_text(a.type)} {w.names[a]}, {w.names[b]}"

    return emit


def _overflow_binary(word: str) -> Emitter:
    def emit(w: FunctionWriter, op: Operation) -> str:
        a, b = op._operands
        return f"{word} {_overflow(op)}{type_text(a.type)} {w.names[a]}, {w.names[b]}"

    return emit


def _flagged_binary(word: str, flag: str, key: str) -> Emitter:
    def emit(w: FunctionWriter, op: Operation) -> str:
        a, b = op._operands
        flagged = flag + " " if key in op.properties else ""
        return f"{word} {flagged}{type_text(a.type)} {w.names[a]}, {w.names[b]}"

    return emit


def _float_binary(word: str) -> Emitter:
    def emit(w: FunctionWriter, op: Operation) -> str:
        a, b = op._operands
        return f"{word} {_fastmath(op)}{type_text(a.type)} {w.names[a]}, {w.names[b]}"

    return emit


def _cast(word: str, flags: Callable[[Operation], str] | None = None) -> Emitter:
    def emit(w: FunctionWriter, op: Operation) -> str:
        (a,) = op._operands
        flag = flags(op) if flags is not None else ""
        return f"{word} {flag}{w.typed(a)} to {type_text(op.results[0].type)}"

    return emit


def _non_negative(op: Operation) -> str:
    return "nneg " if "nonNeg" in op.properties else ""


for _cls, _word in {
    llvm.URem: "urem",
    llvm.SRem: "srem",
    llvm.And: "and",
    llvm.Xor: "xor",
}.items():
    EMITTERS[_cls] = _binary(_word)
for _cls, _word in {
    llvm.Add: "add",
    llvm.Sub: "sub",
    llvm.Mul: "mul",
    llvm.Shl: "shl",
}.items():
    EMITTERS[_cls] = _overflow_binary(_word)
for _cls, _word in {
    llvm.UDiv: "udiv",
    llvm.SDiv: "sdiv",
    llvm.LShr: "lshr",
    llvm.AShr: "ashr",
}.items():
    EMITTERS[_cls] = _flagged_binary(_word, "exact", "isExact")
EMITTERS[llvm.Or] = _flagged_binary("or", "disjoint", "isDisjoint")
for _cls, _word in {
    llvm.FAdd: "fadd",
    llvm.FSub: "fsub",
    llvm.FMul: "fmul",
    llvm.FDiv: "fdiv",
    llvm.FRem: "frem",
}.items():
    EMITTERS[_cls] = _float_binary(_word)
for _cls, _word in {
    llvm.SExt: "sext",
    llvm.SIToFP: "sitofp",
    llvm.FPToSI: "fptosi",
    llvm.FPToUI: "fptoui",
    llvm.Bitcast: "bitcast",
    llvm.PtrToInt: "ptrtoint",
    llvm.IntToPtr: "inttoptr",
    llvm.AddrSpaceCast: "addrspacecast",
}.items():
    EMITTERS[_cls] = _cast(_word)
EMITTERS[llvm.Trunc] = _cast("trunc", _overflow)
EMITTERS[llvm.ZExt] = _cast("zext", _non_negative)
EMITTERS[llvm.UIToFP] = _cast("uitofp", _non_negative)
EMITTERS[llvm.FPExt] = _cast("fpext")
EMITTERS[llvm.FPTrunc] = _cast("fptrunc")


@emitter(llvm.FNeg)
def _fneg(w: FunctionWriter, op: Operation) -> str:
    return f"fneg {_fastmath(op)}{w.typed(op._operands[0])}"


@emitter(llvm.Freeze)
def _freeze(w: FunctionWriter, op: Operation) -> str:
    return f"freeze {w.typed(op._operands[0])}"


@emitter(llvm.ICmp)
def _icmp(w: FunctionWriter, op: Operation) -> str:
    a, b = op._operands
    return f"icmp {op.predicate} {w.typed(a)}, {w.names[b]}"  # type: ignore[attr-defined]


@emitter(llvm.FCmp)
def _fcmp(w: FunctionWriter, op: Operation) -> str:
    a, b = op._operands
    word = op.predicate.strip("_")  # type: ignore[attr-defined]
    return f"fcmp {_fastmath(op)}{word} {w.typed(a)}, {w.names[b]}"


@emitter(llvm.Select)
def _select(w: FunctionWriter, op: Operation) -> str:
    return f"select {_fastmath(op)}{w.arguments(op._operands)}"


@emitter(llvm.Load)
def _load(w: FunctionWriter, op: llvm.Load) -> str:  # type: ignore[misc]
    type = type_text(op.results[0].type)
    properties = op.properties
    if len(properties) <= 1 and "alignment" in properties:  # by far the most common
        return f"load {type}, {w.typed(op._operands[0])}{_align(op)}"
    atomic, ordering = _atomic(op)
    volatile = "volatile " if op.volatile_ else ""
    tail = ", !nontemporal " + w.module.node("!{i32 1}") if op.nontemporal else ""
    if op.invariant:
        tail += ", !invariant.load " + w.module.node("!{}")
    return f"load {atomic}{volatile}{type}, {w.typed(op._operands[0])}{ordering}{_align(op)}{tail}"


@emitter(llvm.Store)
def _store(w: FunctionWriter, op: llvm.Store) -> str:  # type: ignore[misc]
    atomic, ordering = _atomic(op)
    volatile = "volatile " if op.volatile_ else ""
    tail = ", !nontemporal " + w.module.node("!{i32 1}") if op.nontemporal else ""
    return f"store {atomic}{volatile}{w.arguments(op._operands)}{ordering}{_align(op)}{tail}"


def _atomic(op: llvm.Load | llvm.Store) -> tuple[str, str]:
    """`atomic ` and ` syncscope("x") acquire`, or nothing twice."""
    ordering = op.ordering
    if ordering == "not_atomic":
        return "", ""
    return "atomic ", f"{_syncscope(op)} {ordering}"


def _syncscope(op: Operation) -> str:
    scope = op.properties.get("syncscope")
    return f' syncscope("{scope.value}")' if scope is not None else ""  # type: ignore[attr-defined]


@emitter(llvm.Alloca)
def _alloca(w: FunctionWriter, op: llvm.Alloca) -> str:  # type: ignore[misc]
    return f"alloca {type_text(op.elem_type)}, {w.typed(op.arraySize)}{_align(op)}"


_GEP_WORDS = (
    *("", "inbounds ", "nusw ", "inbounds ", "nuw ", "inbounds nuw "),
    *("nusw nuw ", "inbounds nuw "),
)


@emitter(llvm.GetElementPtr)
def _gep(w: FunctionWriter, op: Operation) -> str:
    properties = op.properties
    flags = properties.get("noWrapFlags")
    word = _GEP_WORDS[flags.value] if flags is not None else ""  # type: ignore[attr-defined]
    operands = op._operands
    parts = [type_text(properties["elem_type"]), w.typed(operands[0])]  # type: ignore[arg-type]
    at = 1
    for i in properties["rawConstantIndices"].values:  # type: ignore[attr-defined]
        if i == llvm.DYNAMIC_INDEX:
            parts.append(w.typed(operands[at]))
            at += 1
        else:
            parts.append(f"i32 {i}")
    return f"getelementptr {word}{', '.join(parts)}"


@emitter(llvm.AtomicRMW)
def _atomicrmw(w: FunctionWriter, op: llvm.AtomicRMW) -> str:  # type: ignore[misc]
    volatile = "volatile " if op.volatile_ else ""
    word = op.bin_op.strip("_")
    tail = f"{_syncscope(op)} {op.ordering}{_align(op)}"
    return f"atomicrmw {volatile}{word} {w.arguments(op._operands)}{tail}"


@emitter(llvm.CmpXchg)
def _cmpxchg(w: FunctionWriter, op: llvm.CmpXchg) -> str:  # type: ignore[misc]
    words = ("weak " if op.weak else "") + ("volatile " if op.volatile_ else "")
    tail = f"{_syncscope(op)} {op.success_ordering} {op.failure_ordering}{_align(op)}"
    return f"cmpxchg {words}{w.arguments(op._operands)}{tail}"


@emitter(llvm.Fence)
def _fence(w: FunctionWriter, op: llvm.Fence) -> str:  # type: ignore[misc]
    return f"fence{_syncscope(op)} {op.ordering}"


# -- vectors and aggregates ------------------------------------------------------------------


@emitter(llvm.ExtractValue)
def _extractvalue(w: FunctionWriter, op: llvm.ExtractValue) -> str:  # type: ignore[misc]
    return f"extractvalue {w.typed(op._operands[0])}, {', '.join(map(str, op.position))}"


@emitter(llvm.InsertValue)
def _insertvalue(w: FunctionWriter, op: llvm.InsertValue) -> str:  # type: ignore[misc]
    return f"insertvalue {w.arguments(op._operands)}, {', '.join(map(str, op.position))}"


@emitter(llvm.ExtractElement)
def _extractelement(w: FunctionWriter, op: Operation) -> str:
    return f"extractelement {w.arguments(op._operands)}"


@emitter(llvm.InsertElement)
def _insertelement(w: FunctionWriter, op: Operation) -> str:
    return f"insertelement {w.arguments(op._operands)}"


@emitter(llvm.ShuffleVector)
def _shufflevector(w: FunctionWriter, op: llvm.ShuffleVector) -> str:  # type: ignore[misc]
    mask = op.mask
    if not any(mask):
        text = "zeroinitializer"
    else:
        text = "<" + ", ".join(["i32 poison" if i < 0 else f"i32 {i}" for i in mask]) + ">"
    return f"shufflevector {w.arguments(op._operands)}, <{len(mask)} x i32> {text}"


# -- control flow ----------------------------------------------------------------------------


def _loop(w: FunctionWriter, op: Operation) -> str:
    annotation = op.properties.get("loop_annotation")
    if not isinstance(annotation, DictAttr):
        return ""
    parts = []
    for key, value in annotation.items():
        word = f"llvm.loop.{key}"
        if isinstance(value, IntegerAttr):
            inner = f'!"{word}", {type_text(value.type)} {int(value)}'
        else:
            inner = f'!"{word}"'
        parts.append(w.module.node(f"!{{{inner}}}"))
    number = len(w.module.metadata)
    w.module.metadata[f"distinct !{{!{number}, {', '.join(parts)}}}"] = number
    return f", !llvm.loop !{number}"


@emitter(llvm.Br)
def _br(w: FunctionWriter, op: llvm.Br) -> str:  # type: ignore[misc]
    return f"br label %{w.labels[op.successors[0]]}{_loop(w, op)}"


@emitter(llvm.CondBr)
def _cond_br(w: FunctionWriter, op: llvm.CondBr) -> str:  # type: ignore[misc]
    true, false = op.successors
    weights = ""
    if op.branch_weights:
        inner = ", ".join(f"i32 {n}" for n in op.branch_weights)
        weights = ", !prof " + w.module.node(f'!{{!"branch_weights", {inner}}}')
    labels = f"label %{w.labels[true]}, label %{w.labels[false]}"
    return f"br i1 {w.names[op._operands[0]]}, {labels}{weights}{_loop(w, op)}"


@emitter(llvm.Switch)
def _switch(w: FunctionWriter, op: llvm.Switch) -> str:  # type: ignore[misc]
    type = type_text(op.value.type)
    cases = " ".join(f"{type} {case}, label %{w.labels[block]}" for case, block, _ in op.cases())
    default = w.labels[op.defaultDestination]
    return f"switch {w.typed(op.value)}, label %{default} [ {cases} ]"


@emitter(llvm.Return)
def _return(w: FunctionWriter, op: Operation) -> str:
    return f"ret {w.typed(op._operands[0])}" if op._operands else "ret void"


@emitter(llvm.Unreachable)
def _unreachable(w: FunctionWriter, op: Operation) -> str:
    return "unreachable"


@emitter(llvm.Call)
def _call(w: FunctionWriter, op: llvm.Call) -> str:  # type: ignore[misc]
    kind = op.TailCallKind
    words = "" if kind == "none" else kind + " "
    operands = op.callee_operands
    callee = op.callee
    if callee is None:
        target, operands = w.names[operands[0]], operands[1:]
    else:
        target = symbol_text(callee)
    result = type_text(op.results[0].type) if op.results else "void"
    if op.var_callee_type is not None:
        result = type_text(op.var_callee_type)
    convention = "" if op.CConv == "ccc" else op.CConv + " "
    return f"{words}call {_fastmath(op)}{convention}{result} {target}({w.arguments(operands)})"


# -- intrinsics ------------------------------------------------------------------------------


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
        return intrinsic_call(w, name, op, [op.results[0].type], flags=_fastmath(op))

    return emit


def _flag_intrinsic(name: str, key: str) -> Emitter:
    def emit(w: FunctionWriter, op: Operation) -> str:
        flag = "i1 true" if op.properties[key].value else "i1 false"  # type: ignore[attr-defined]
        return intrinsic_call(w, name, op, [op.results[0].type], flag)

    return emit


def _reduction(name: str) -> Emitter:
    def emit(w: FunctionWriter, op: Operation) -> str:
        return intrinsic_call(w, name, op, [op._operands[-1].type], flags=_fastmath(op))

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


@emitter(llvm.IntrPowI)
def _powi(w: FunctionWriter, op: Operation) -> str:
    return intrinsic_call(w, "powi", op, op.operand_types, flags=_fastmath(op))


@emitter(llvm.IntrIsFPClass)
def _is_fpclass(w: FunctionWriter, op: llvm.IntrIsFPClass) -> str:  # type: ignore[misc]
    return intrinsic_call(w, "is.fpclass", op, op.operand_types, f"i32 {op.bit}")


@emitter(llvm.IntrPrefetch)
def _prefetch(w: FunctionWriter, op: llvm.IntrPrefetch) -> str:  # type: ignore[misc]
    extra = f"i32 {op.rw}, i32 {op.hint}, i32 {op.cache}"
    return intrinsic_call(w, "prefetch", op, op.operand_types, extra)


@emitter(llvm.IntrAssume)
def _assume(w: FunctionWriter, op: Operation) -> str:
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
