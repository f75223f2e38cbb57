"""The call of LLVM's intrinsic for each op `llvm.intr.*`."""

from __future__ import annotations

from typing import Any

from ...dialects import llvm
from ...ir.attributes import FloatAttr, IntegerAttr
from ...ir.core import Operation, Value
from ...ir.types import VectorType
from .constants import constant_text, mangled, type_text
from .instructions import emitter, fastmath, refuse


def intrinsic(w: Any, op: Operation) -> str:
    """The call for an op `llvm.intr.*`: its operands, then its attributes as constant arguments.

    The name ends in all types, each once; LLVM's parser corrects which of them belong there.
    """
    name = op.name.removeprefix("llvm.intr.")
    types = [v.type for v in (*op.results, *op._operands)]
    if name.startswith("vector.reduce."):
        del types[:-1]
    full = ".".join([f"@llvm.{_LLVM_NAMES.get(name, name)}", *dict.fromkeys(map(mangled, types))])
    arguments = [(type_text(v.type), w.names[v]) for v in op._operands]
    arguments += [
        (type_text(value.type), constant_text(value, value.type))
        for key in op.definition.attributes
        if isinstance(value := op.properties.get(key), IntegerAttr | FloatAttr)
    ]
    result = type_text(op.results[0].type) if op.results else "void"
    if name.startswith("lifetime."):
        arguments.insert(0, ("i64", "-1"))  # LLVM up to 21 wants the size too; -1 is all there is
    if full not in w.module.declarations:
        w.module.declare(full, result, ", ".join([type for type, _ in arguments]))
    given = ", ".join([f"{type} {text}" for type, text in arguments])
    return f"call {fastmath(op)}{result} {full}({given})"


_LLVM_NAMES = {"vacopy": "va_copy", "vastart": "va_start", "vaend": "va_end"}


@emitter(llvm.IntrAssume)
def _assume(w: Any, op: Operation) -> str:
    refuse(op, "op_bundle_tags")
    w.module.declare("@llvm.assume", "void", "i1")
    return f"call void @llvm.assume({w.arguments(op._operands)})"


def _aligned(w: Any, pointer: Value, op: Operation) -> str:
    alignment = op.properties["alignment"].value  # type: ignore[attr-defined]
    return f"{type_text(pointer.type)} align {alignment} {w.names[pointer]}"


@emitter(llvm.IntrMaskedLoad, llvm.IntrMaskedGather)
def _masked_load(w: Any, op: Operation) -> str:
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
def _masked_store(w: Any, op: Operation) -> str:
    value, pointer, mask = op._operands
    name = "scatter" if isinstance(pointer.type, VectorType) else "store"
    full = f"@llvm.masked.{name}.{mangled(value.type)}.{mangled(pointer.type)}"
    w.module.declare(full, "void", ", ".join(type_text(v.type) for v in op._operands))
    return f"call void {full}({w.typed(value)}, {_aligned(w, pointer, op)}, {w.typed(mask)})"


@emitter(llvm.IntrInvariantStart)
def _invariant_start(w: Any, op: llvm.IntrInvariantStart) -> str:
    name = f"@llvm.invariant.start.{mangled(op.ptr.type)}"
    w.module.declare(name, "ptr", f"i64, {type_text(op.ptr.type)}")
    return f"call ptr {name}(i64 {op.size}, {w.typed(op.ptr)})"


@emitter(llvm.IntrInvariantEnd)
def _invariant_end(w: Any, op: llvm.IntrInvariantEnd) -> str:
    name = f"@llvm.invariant.end.{mangled(op.ptr.type)}"
    w.module.declare(name, "void", f"ptr, i64, {type_text(op.ptr.type)}")
    return f"call void {name}({w.typed(op.start)}, i64 {op.size}, {w.typed(op.ptr)})"
