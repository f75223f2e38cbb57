"""The LLVM IR instruction of each op of the llvm dialect, as text: the table `EMITTERS`."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from ...dialects import llvm
from ...ir.core import Operation
from ...ir.parameters import ParametrizedAttr
from ...ir.types import i1
from .constants import quoted, symbol_text, type_text

# The second parameter is the op, of the classes that the emitter is registered for.
Emitter = Callable[[Any, Any], str]

EMITTERS: dict[type[Operation], Emitter] = {}
"""Functions that print an operation's instruction, by op class."""


def emitter(*classes: type[Operation]) -> Callable[[Emitter], Emitter]:
    """Register the function that writes the instruction of these ops and their subclasses."""

    def register(function: Emitter) -> Emitter:
        for cls in classes:
            EMITTERS[cls] = function
            emitter(*cls.__subclasses__())(function)
        return function

    return register


def fastmath(op: Operation) -> str:
    """The op's fast-math flags, each with a space after it."""
    flags = op.properties.get("fastmathFlags")
    if flags is None or flags.value == "none":  # type: ignore[attr-defined]
        return ""
    return flags.value.replace(",", " ") + " "  # type: ignore[attr-defined]


_FLAGS = {"isExact": "exact ", "isDisjoint": "disjoint ", "nonNeg": "nneg "}


def _flags(op: Operation) -> str:
    """All flags of the op, each with a space after it."""
    properties = op.properties
    if not properties:
        return ""
    text = fastmath(op) + "".join([word for key, word in _FLAGS.items() if key in properties])
    if (bits := properties.get("overflowFlags")) is not None:
        text += ("", "nsw ", "nuw ", "nuw nsw ")[bits.value]  # type: ignore[attr-defined]
    return text


def _align(op: Operation) -> str:
    alignment = op.properties.get("alignment")
    return f", align {alignment.value}" if alignment is not None else ""  # type: ignore[attr-defined]


def _word(op: Operation) -> str:
    """The name of the instruction, which the op is named after."""
    return op.name.removeprefix("llvm.")


@emitter(llvm.IntegerBinary, llvm.FloatBinary)
def _binary(w: Any, op: Operation) -> str:
    a, b = op._operands
    return f"{_word(op)} {_flags(op)}{type_text(a.type)} {w.names[a]}, {w.names[b]}"


@emitter(llvm.Cast)
def _cast(w: Any, op: Operation) -> str:
    return f"{_word(op)} {_flags(op)}{w.typed(op._operands[0])} to {type_text(op.result_types[0])}"


@emitter(llvm.FNeg)
def _fneg(w: Any, op: Operation) -> str:
    return f"fneg {fastmath(op)}{w.typed(op._operands[0])}"


@emitter(llvm.Freeze)
def _freeze(w: Any, op: Operation) -> str:
    return f"freeze {w.typed(op._operands[0])}"


@emitter(llvm.ICmp)
def _icmp(w: Any, op: Operation) -> str:
    a, b = op._operands
    return f"icmp {op.predicate} {w.typed(a)}, {w.names[b]}"  # type: ignore[attr-defined]


@emitter(llvm.FCmp)
def _fcmp(w: Any, op: Operation) -> str:
    a, b = op._operands
    word = op.predicate.strip("_")  # type: ignore[attr-defined]
    return f"fcmp {fastmath(op)}{word} {w.typed(a)}, {w.names[b]}"


@emitter(llvm.Select)
def _select(w: Any, op: Operation) -> str:
    return f"select {fastmath(op)}{w.arguments(op._operands)}"


@emitter(llvm.Load)
def _load(w: Any, op: llvm.Load) -> str:
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
def _store(w: Any, op: llvm.Store) -> str:
    atomic, ordering = _atomic(op)
    volatile = "volatile " if op.volatile_ else ""
    tail = ", !nontemporal " + w.module.node("!{i32 1}") if op.nontemporal else ""
    return f"store {atomic}{volatile}{w.arguments(op._operands)}{ordering}{_align(op)}{tail}"


def _atomic(op: llvm.Load | llvm.Store) -> tuple[str, str]:
    """`atomic ` and ` syncscope("x") acquire`, or two empty strings."""
    ordering = op.ordering
    if ordering == "not_atomic":
        return "", ""
    return "atomic ", f"{_syncscope(op)} {ordering}"


def _syncscope(op: Operation) -> str:
    scope = op.properties.get("syncscope")
    return f' syncscope("{scope.value}")' if scope is not None else ""  # type: ignore[attr-defined]


@emitter(llvm.Alloca)
def _alloca(w: Any, op: llvm.Alloca) -> str:
    inalloca = "inalloca " if op.inalloca else ""
    text = f"alloca {inalloca}{type_text(op.elem_type)}, {w.typed(op.arraySize)}{_align(op)}"
    space = op.results[0].type.address_space
    return f"{text}, addrspace({space})" if space else text


_GEP_WORDS = (
    *("", "inbounds ", "nusw ", "inbounds ", "nuw ", "inbounds nuw "),
    *("nusw nuw ", "inbounds nuw "),
)


@emitter(llvm.GetElementPtr)
def _gep(w: Any, op: Operation) -> str:
    properties = op.properties
    flags = properties.get("noWrapFlags")
    word = _GEP_WORDS[flags.value] if flags is not None else ""  # type: ignore[attr-defined]
    operands = op._operands
    parts = [type_text(properties["elem_type"]), w.typed(operands[0])]
    at = 1
    for i in properties["rawConstantIndices"].values:  # type: ignore[attr-defined]
        if i == llvm.DYNAMIC_INDEX:
            parts.append(w.typed(operands[at]))
            at += 1
        else:
            parts.append(f"i32 {i}")
    return f"getelementptr {word}{', '.join(parts)}"


@emitter(llvm.AtomicRMW)
def _atomicrmw(w: Any, op: llvm.AtomicRMW) -> str:
    volatile = "volatile " if op.volatile_ else ""
    word = op.bin_op.strip("_")
    tail = f"{_syncscope(op)} {op.ordering}{_align(op)}"
    return f"atomicrmw {volatile}{word} {w.arguments(op._operands)}{tail}"


@emitter(llvm.CmpXchg)
def _cmpxchg(w: Any, op: llvm.CmpXchg) -> str:
    words = ("weak " if op.weak else "") + ("volatile " if op.volatile_ else "")
    tail = f"{_syncscope(op)} {op.success_ordering} {op.failure_ordering}{_align(op)}"
    return f"cmpxchg {words}{w.arguments(op._operands)}{tail}"


@emitter(llvm.Fence)
def _fence(w: Any, op: llvm.Fence) -> str:
    return f"fence{_syncscope(op)} {op.ordering}"


# -- vectors and aggregates ------------------------------------------------------------------


@emitter(llvm.ExtractValue)
def _extractvalue(w: Any, op: llvm.ExtractValue) -> str:
    return f"extractvalue {w.typed(op._operands[0])}, {', '.join(map(str, op.position))}"


@emitter(llvm.InsertValue)
def _insertvalue(w: Any, op: llvm.InsertValue) -> str:
    return f"insertvalue {w.arguments(op._operands)}, {', '.join(map(str, op.position))}"


@emitter(llvm.ExtractElement)
def _extractelement(w: Any, op: Operation) -> str:
    return f"extractelement {w.arguments(op._operands)}"


@emitter(llvm.InsertElement)
def _insertelement(w: Any, op: Operation) -> str:
    return f"insertelement {w.arguments(op._operands)}"


@emitter(llvm.ShuffleVector)
def _shufflevector(w: Any, op: llvm.ShuffleVector) -> str:
    mask = op.mask
    if not any(mask):
        text = "zeroinitializer"
    else:
        text = "<" + ", ".join(["i32 poison" if i < 0 else f"i32 {i}" for i in mask]) + ">"
    return f"shufflevector {w.arguments(op._operands)}, <{len(mask)} x i32> {text}"


# -- control flow ----------------------------------------------------------------------------


_LOOP_FLAGS = {
    ("unroll", "disable", True): "unroll.disable",
    ("unroll", "disable", False): "unroll.enable",
    ("unroll", "full", True): "unroll.full",
    ("vectorize", "disable", True): 'vectorize.enable", i1 false',
    ("vectorize", "disable", False): 'vectorize.enable", i1 true',
    ("interleave", "count", None): "interleave.count",
    ("unroll", "count", None): "unroll.count",
    ("vectorize", "width", None): "vectorize.width",
}
"""LLVM's loop metadata for (part of the annotation, parameter, value; None for a number)."""


def _loop(w: Any, op: Operation) -> str:
    annotation = op.properties.get("loop_annotation")
    if annotation is None:
        return ""
    parts = []
    for part, chosen in _parameters(annotation):
        if part == "mustProgress" and chosen.value:
            parts.append('!"llvm.loop.mustprogress"')
            continue
        if not isinstance(chosen, ParametrizedAttr):
            raise op.error(f"loop annotation '{part}' has no translation to LLVM IR")
        for key, value in _parameters(chosen):
            is_flag = value.type is i1
            word = _LOOP_FLAGS.get((part, key, bool(value.value) if is_flag else None))
            if word is None:
                raise op.error(f"loop annotation '{part}.{key}' has no translation to LLVM IR")
            number = "" if is_flag else f", {type_text(value.type)} {value.value}"
            closed = word if '"' in word else word + '"'
            parts.append(f'!"llvm.loop.{closed}{number}')
    nodes = [w.module.node(f"!{{{part}}}") for part in parts]
    number = len(w.module.metadata)
    inner = ", ".join([f"!{number}", *nodes])
    w.module.metadata[f"distinct !{{{inner}}}"] = number
    return f", !llvm.loop !{number}"


def _parameters(attribute: Any) -> list[tuple[str, Any]]:
    """The names and values of an attribute's parameters that are given."""
    names = attribute.definition.parameters
    return [(n, v) for n, v in zip(names, attribute.values, strict=True) if v not in (None, ())]


@emitter(llvm.Br)
def _br(w: Any, op: llvm.Br) -> str:
    return f"br label %{w.labels[op.successors[0]]}{_loop(w, op)}"


@emitter(llvm.CondBr)
def _cond_br(w: Any, op: llvm.CondBr) -> str:
    true, false = op.successors
    weights = ""
    if op.branch_weights:
        inner = ", ".join(f"i32 {n}" for n in op.branch_weights)
        weights = ", !prof " + w.module.node(f'!{{!"branch_weights", {inner}}}')
    labels = f"label %{w.labels[true]}, label %{w.labels[false]}"
    return f"br i1 {w.names[op._operands[0]]}, {labels}{weights}{_loop(w, op)}"


@emitter(llvm.Switch)
def _switch(w: Any, op: llvm.Switch) -> str:
    type = type_text(op.value.type)
    cases = " ".join(f"{type} {case}, label %{w.labels[block]}" for case, block, _ in op.cases())
    default = w.labels[op.defaultDestination]
    return f"switch {w.typed(op.value)}, label %{default} [ {cases} ]"


@emitter(llvm.Return)
def _return(w: Any, op: Operation) -> str:
    return f"ret {w.typed(op._operands[0])}" if op._operands else "ret void"


@emitter(llvm.Unreachable)
def _unreachable(w: Any, op: Operation) -> str:
    return "unreachable"


@emitter(llvm.Call)
def _call(w: Any, op: llvm.Call) -> str:
    refuse(op, "op_bundle_tags", "arg_attrs", "res_attrs", "memory_effects", "convergent")
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
    flags = {"no_unwind": "nounwind", "will_return": "willreturn", "no_inline": "noinline",
             "always_inline": "alwaysinline"}  # fmt: skip
    tail = "".join(f" {word}" for key, word in flags.items() if key in op.properties)
    called = f"call {fastmath(op)}{convention}{result} {target}({w.arguments(operands)})"
    return f"{words}{called}{tail}"


def refuse(op: Operation, *keys: str) -> None:
    """Raise NncError if the op has one of these attributes, which are not translated."""
    for key in keys:
        if key in op.properties:
            raise op.error(f"'{key}' has no translation to LLVM IR")


@emitter(llvm.CallIntrinsic)
def _call_intrinsic(w: Any, op: llvm.CallIntrinsic) -> str:
    refuse(op, "op_bundle_tags", "arg_attrs", "res_attrs")
    result = type_text(op.results[0].type) if op.results else "void"
    name = symbol_text(op.intrin)
    w.module.declare(name, result, ", ".join(type_text(v.type) for v in op._operands))
    return f"call {fastmath(op)}{result} {name}({w.arguments(op._operands)})"


@emitter(llvm.InlineAsm)
def _inline_asm(w: Any, op: llvm.InlineAsm) -> str:
    refuse(op, "operand_attrs")
    kind = op.tail_call_kind
    words = "" if kind == "none" else kind + " "
    flags = "sideeffect " if op.has_side_effects else ""
    flags += "alignstack " if op.is_align_stack else ""
    flags += "inteldialect " if op.asm_dialect == "intel" else ""
    result = type_text(op.results[0].type) if op.results else "void"
    text = f"asm {flags}{quoted(op.asm_string)}, {quoted(op.constraints)}"
    return f"{words}call {result} {text}({w.arguments(op._operands)})"


@emitter(llvm.VaArg)
def _va_arg(w: Any, op: Operation) -> str:
    return f"va_arg {w.typed(op._operands[0])}, {type_text(op.results[0].type)}"
