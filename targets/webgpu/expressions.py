"""Operations that WGSL writes otherwise than C: loads, comparisons, selections, casts, masks."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import replace
from typing import Any

from ...dialects import arith, memref, vector
from ...ir.core import Operation
from ...ir.diagnostics import NncError
from ...ir.types import FloatType, IndexType, IntegerType, VectorType, lane_type
from ..source.kernels import Kernels, print_kernels
from ..source.memory import Buffer, grouped, plus, times
from ..source.printing import elements_of, is_half, lanes_of
from ..source.scalars import compared, number_of
from .language import WGSL, functions_for
from .printer import WgslPrinter


def _prints(*names: str) -> Callable[[Any], Any]:
    def register(function: Any) -> Any:
        for name in names:
            WgslPrinter.operations[name] = function
        return function

    return register


def _states(*classes: type[Operation]) -> Callable[[Any], Any]:
    def register(function: Any) -> Any:
        for one in classes:
            WgslPrinter.statements[one] = function
        return function

    return register


for _one in (
    memref.Alloc,
    memref.Realloc,
    memref.Dealloc,
    memref.Copy,
    memref.GetGlobal,
    memref.Reshape,
):
    del WgslPrinter.statements[_one]


# -- memory ------------------------------------------------------------------------------------


@_states(memref.Store)
def _store(p: WgslPrinter, op: memref.Store) -> None:
    p.write(op, op.memref, op.value, op.indices)


@_states(vector.Store, vector.MaskedStore)
def _vector_store(p: WgslPrinter, op: Any) -> None:
    p.write(op, op.base, op.valueToStore, op.indices)


@_states(vector.Scatter)
def _scatter(p: WgslPrinter, op: vector.Scatter) -> None:
    type = op.valueToStore.type
    region, start = p.place(op.base, op.offsets)
    mask, index, value = (p.text_of(v) for v in (op.mask, op.indices, op.valueToStore))
    lane = lambda text, i: text if lanes_of(type) == 1 else p.lane(text, i)  # noqa: E731
    for i in range(lanes_of(type)):
        at = p.converted(lane(index, i), lane_type(op.indices.type), IndexType())
        place = plus(start, times(at, p.values[op.base].strides[-1]))
        text = p.stored_as(lane(value, i), lane_type(type))
        p.line(f"if ({lane(mask, i)}) {{ {region.assigned(place, text)} }}")


@_states(memref.Alloca)
def _alloca(p: WgslPrinter, op: memref.Alloca) -> None:
    if not op.memref.type.has_static_shape:
        raise NncError("has a dynamic size, expected a static one")
    p._own("local", op.memref)


@_states(memref.Prefetch)
def _prefetch(p: WgslPrinter, op: memref.Prefetch) -> None:
    """Print nothing: WGSL has no prefetches."""


@_prints("memref.load")
def _load(p: WgslPrinter, op: memref.Load) -> str:
    return p.read(op, op.memref, op.indices)


@_prints("vector.load")
def _vector_load(p: WgslPrinter, op: vector.Load) -> str:
    return p.read(op, op.base, op.indices)


@_prints("vector.maskedload")
def _masked_load(p: WgslPrinter, op: vector.MaskedLoad) -> str:
    """A masked load; elements outside of the buffer read as any number, which is not chosen."""
    read = grouped(p.read(op, op.base, op.indices))
    return p.chosen(p.text_of(op.mask), read, p.text_of(op.pass_thru))


@_prints("vector.gather")
def _gather(p: WgslPrinter, op: vector.Gather) -> str:
    type = op.results[0].type
    region, start = p.place(op.base, op.offsets)
    index, kind, stride = (
        p.text_of(op.indices),
        lane_type(op.indices.type),
        p.values[op.base].strides[-1],
    )
    count = lanes_of(type)
    parts = [index] if count == 1 else [p.lane(index, i) for i in range(count)]
    places = [plus(start, times(p.converted(i, kind, IndexType()), stride)) for i in parts]
    found = p.lanes(type, [p.value_of(region.element(at), lane_type(type)) for at in places])
    return p.chosen(p.text_of(op.mask), grouped(found), p.text_of(op.pass_thru))


# -- constants and masks -------------------------------------------------------------------------


def _indices(p: WgslPrinter, op: Any, values: list[int]) -> str:
    return p.lanes(
        op.results[0].type, [p.language.literal(v, lane_type(op.results[0].type)) for v in values]
    )


@_prints("arith.constant")
def _constant(p: WgslPrinter, op: arith.Constant) -> Any:
    type = op.results[0].type
    if lanes_of(type) > 1 or not isinstance(type, IndexType | IntegerType | FloatType):
        values = elements_of(op)
        if len(set(map(repr, values))) == 1:
            return p.call("splat", type, p.language.literal(values[0], lane_type(type)))
        return _indices(p, op, values)
    value = op.properties["value"].value  # type: ignore[attr-defined]
    return value if isinstance(type, IndexType) else p.language.literal(value, type)


@_prints("vector.step")
def _step(p: WgslPrinter, op: Operation) -> str:
    return _indices(p, op, list(range(lanes_of(op.results[0].type))))


@_prints("ub.poison")
def _poison(p: WgslPrinter, op: Operation) -> Any:
    type = op.results[0].type
    return 0 if isinstance(type, IndexType) else f"{p.language.type(type)}()"


@_prints("vector.create_mask", "vector.constant_mask")
def _create_mask(p: WgslPrinter, op: Any) -> str:
    type = op.results[0].type
    given = (
        op.mask_dim_sizes
        if isinstance(op, vector.ConstantMask)
        else [p.values[v] for v in op._operands]
    )
    if lanes_of(type) == 1:
        return " & ".join(f"({grouped(b)} > 0)" for b in given)
    if type.rank > 1:
        raise NncError(f"mask {type} must be lowered to masks of one dimension before")
    kind = p.language.wide("i32", lanes_of(type))
    return f"{kind}({', '.join(map(str, range(lanes_of(type))))}) < {kind}({given[0]})"


@_prints("vector.insert")
def _insert(p: WgslPrinter, op: vector.Insert) -> str:
    type, text = op.dest.type, p.text_of(op.valueToStore)
    if lanes_of(type) == 1:
        return text
    (at,) = op.static_position
    old = p.text_of(op.dest)
    if op.dynamic_position:
        raise NncError("inserts at a position known only at run time, which WGSL does not support")
    return p.lanes(type, [text if i == at else p.lane(old, i) for i in range(lanes_of(type))])


# -- comparisons and selections ------------------------------------------------------------------


@_prints("arith.cmpf")
def _cmpf(p: WgslPrinter, op: arith.CmpF) -> str:
    """A comparison. Where NaN fulfils it, bits tell NaN, as compilers may suppose there is none."""
    a, b = (p.text_of(v) for v in op._operands)
    type, predicate = op._operands[0].type, op.predicate
    if is_half(type):
        a, b = p.widened(a, type), p.widened(b, type)
    if predicate[0] == "o" and predicate != "ord":
        return compared(predicate, a, b, "!")
    mask = op.results[0].type
    single = VectorType((lanes_of(type),), FloatType("f32"))
    is_order = predicate in ("ord", "uno")
    numbers = [math.nan if is_order else number_of(v) for v in op._operands]
    asked = [t for t, n in zip((a, b), numbers, strict=True) if n is None or math.isnan(n)]
    found = [p.lanewise("isnan_32", single, mask, text) for text in dict.fromkeys(asked)]
    if predicate == "ord":
        return f"!({' | '.join(found)})"
    if not is_order:
        found.insert(0, f"({compared('o' + predicate[1:], a, b, '!')})")
    return " | ".join(found)


_SIGNS = {"eq": "==", "ne": "!=", "gt": ">", "ge": ">=", "lt": "<", "le": "<="}


@_prints("arith.cmpi")
def _cmpi(p: WgslPrinter, op: arith.CmpI) -> str:
    type, mask, predicate = op._operands[0].type, op.results[0].type, op.predicate
    a, b = (p.text_of(v) for v in op._operands)
    kind, sign = p.kind(type), _SIGNS[predicate[-2:]]
    if kind == "w":
        if sign in ("==", "!="):
            return f"{'all' if sign == '==' else 'any'}({a} {sign} {b})"
        a, b = (b, a) if sign in (">", "<=") else (a, b)
        less = p.lanewise(f"less_{predicate[0]}64", type, mask, a, b)
        return f"!{less}" if "=" in sign else less
    if predicate[0] == "s" and kind in "su":
        bits = p.language.bits(lane_type(type))
        if kind == "s":
            a, b = (p.lanewise(f"sext_{bits}", type, type, one) for one in (a, b))
        a, b = (f"{p.vector_type(type, 'i')}({one})" for one in (a, b))
    elif (predicate[0] == "u" and kind == "x") or (kind == "b" and sign not in ("==", "!=")):
        a, b = (f"{p.vector_type(type, 'u')}({one})" for one in (a, b))
        a, b = (b, a) if kind == "b" and predicate[0] == "s" else (a, b)
    return f"{a} {sign} {b}"


@_prints("arith.select")
def _select(p: WgslPrinter, op: arith.Select) -> Any:
    condition, a, b = op._operands
    if isinstance(p.values[a], Buffer):
        raise NncError(f"a choice of buffers has no form in {p.language.name}")
    return p.chosen(*map(p.text_of, (condition, a, b)))


# -- casts -------------------------------------------------------------------------------------


@_prints("arith.extui", "arith.extsi", "arith.trunci", "arith.index_cast", "arith.index_castui")
def _integer_cast(p: WgslPrinter, op: Operation) -> Any:
    (source,), type = op._operands, op.results[0].type
    signed = op.name in ("arith.extsi", "arith.index_cast")
    return p.converted(p.text_of(source), source.type, type, signed)


@_prints("arith.bitcast", "vector.bitcast")
def _bitcast(p: WgslPrinter, op: Operation) -> str:
    (source,), type = op._operands, op.results[0].type
    text, kind = p.text_of(source), source.type
    if lanes_of(kind) != lanes_of(type):
        raise NncError(f"{kind} as {type} has no form in {p.language.name}")
    names = [p.short(t) for t in (kind, type)]
    if "f32" not in names or names[0] == names[1]:
        return text
    if lanes_of(type) > 1:
        return f"bitcast<{p.language.type(type)}>({text})"
    return f"{names[1]}_of_{names[0]}({text})"


# -- whole kernels -----------------------------------------------------------------------------


def wgsl_kernels(kernels: Any) -> Kernels:
    """A module of kernels as text. Raises PassError."""
    language = replace(WGSL, needed={})
    found = print_kernels(kernels, language, WgslPrinter)
    own = "".join(language.needed.values())
    prelude = functions_for(own + found.text)
    return replace(found, text="\n".join((prelude, own, found.text)))
