"""Lowering of ops that make tensors from shapes and scalars."""

from __future__ import annotations

from typing import Any

from ...dialects import arith, math, nn
from ...ir.core import Value
from ...ir.types import FloatType, MemRefType, f64, i64, index
from .emitter import Emitter, buffer_type
from .extents import Size
from .scalars import compute_type, convert, narrow
from .storage import storage_type
from .table import lowers


def scalar(e: Emitter, tensor: Value) -> Value:
    """The only element of a tensor that has one."""
    held = e.operand(tensor)
    if isinstance(held.type, MemRefType):
        return e.load(held, [0] * held.type.rank)
    return held


@lowers(nn.ShapeOf)
def lower_shape_of(e: Emitter, op: nn.ShapeOf) -> None:
    """Store each extent of the operand."""
    source = e.buffer(op.x)
    out = e.destination(op.out)
    for axis, size in enumerate(e.sizes(source)):
        value = e.constant(size, i64) if isinstance(size, int) else e.from_index(size, i64)
        e.store(value, out, [axis])


@lowers(nn.FillDynamic)
def lower_fill_dynamic(e: Emitter, op: nn.FillDynamic) -> None:
    """Fill a buffer whose shape is read from memory."""
    shape = e.buffer(op.shape)
    known = buffer_type(op.out.type).shape
    sizes: list[Size] = [
        d if d is not None else e.load_extent(shape, [axis]) for axis, d in enumerate(known)
    ]
    value = scalar(e, op.value)
    e.fill(value, e.destination(op.out, sizes))


@lowers(nn.Range)
def lower_range(e: Emitter, op: nn.Range) -> None:
    """Write start + i * delta for each i < ceil((limit - start) / delta)."""
    element = op.out.type.element_type
    wide = compute_type(element)
    start, limit, delta = (
        convert(e, scalar(e, v), element, wide) for v in (op.start, op.limit, op.delta)
    )
    out = e.destination(op.out, [_range_length(e, start, limit, delta)])

    def at(e: Emitter, _: Value) -> Value:
        if isinstance(wide, FloatType):
            i = convert(e, e.from_index(e.position(0), i64), i64, wide)
            step = e.insert(arith.MulF(i, delta)).result
            return narrow(e, e.insert(arith.AddF(start, step)).result, element)
        i = e.from_index(e.position(0), storage_type(wide))
        step = e.insert(arith.MulI(i, delta)).result
        return e.insert(arith.AddI(start, step)).result

    e.elementwise([], out, at)


def _range_length(e: Emitter, start: Value, limit: Value, delta: Value) -> Size:
    """The number of elements; emits checks that delta is not 0 and an index can hold the number."""
    most = e.globals.largest_index
    if isinstance(start.type, FloatType):
        zero = e.constant(0.0, delta.type)
        e.require(e.insert(arith.CmpF("une", delta, zero)).result, _NO_STEP)
        span = e.insert(arith.SubF(limit, start)).result
        count = e.insert(math.Ceil(e.insert(arith.DivF(span, delta)).result)).result
        # Half of the range, since `most` itself may round up; NaN fails the comparison too.
        bound = e.constant(float((most + 1) // 2), count.type)
        e.require(e.insert(arith.CmpF("olt", count, bound)).result, _TOO_LONG)
        positive = e.insert(arith.MaximumF(count, e.constant(0.0, count.type))).result
        whole = e.insert(arith.FPToSI(positive, out=i64)).result
        return e.max(e.insert(arith.IndexCast(whole, out=index)).result, 0)
    first, last, step = (convert(e, v, v.type, i64) for v in (start, limit, delta))
    zero = e.constant(0, i64)
    e.require(e.insert(arith.CmpI("ne", step, zero)).result, _NO_STEP)
    span = e.insert(arith.SubI(last, first)).result
    is_up = e.insert(arith.CmpI("sgt", last, first)).result
    seems_up = e.insert(arith.CmpI("sgt", span, zero)).result
    exact = e.insert(arith.CmpI("eq", is_up, seems_up)).result
    # The least number divided by a step of -1 would overflow.
    other = e.insert(arith.CmpI("ne", span, e.constant(-(2**63), i64))).result
    e.require(e.insert(arith.AndI(exact, other)).result, _TOO_LONG)
    count = e.insert(arith.CeilDivSI(span, step)).result
    small = e.insert(arith.CmpI("sle", count, e.constant(most, i64))).result
    e.require(small, _TOO_LONG)
    return e.max(e.to_index(count), 0)


_NO_STEP = "delta is 0"
_TOO_LONG = "the range has too many elements, or a bound is not a number"


@lowers(nn.Holds)
def lower_holds(e: Emitter, op: nn.Holds) -> None:
    """Compute the steps on scalars; the result is in memory if others than checks read it."""
    numbers, found = e.buffer(op.numbers), []
    count = op.numbers.type.shape[0]

    def operand(place: Any) -> Value:
        if not isinstance(place, tuple):
            return e.constant(place, f64 if isinstance(place, float) else i64)
        kind, at = place
        return found[at] if kind == "v" else e.load(numbers, [at])

    for a, operator, b in nn.steps_of(op.code, count):
        x, y = operand(a), operand(b)
        if operator == "/" or f64 in (x.type, y.type):
            found.append(
                _step_of_floats(e, operator, *(convert(e, v, v.type, f64) for v in (x, y)))
            )
            continue
        if operator in nn.DIVISIONS:
            y = e.insert(arith.MaxSI(y, e.constant(1, i64))).result
        found.append(_step(e, operator, x, y))
    e.flags[op.out] = found[-1]
    if op.out in e.placed or not all(isinstance(user, nn.Assume) for user in op.out.users):
        e.store(found[-1], e.destination(op.out))


def _step(e: Emitter, operator: str, x: Value, y: Value) -> Value:
    if operator == "%":  # rounded down, as the quotient is
        quotient = e.insert(arith.FloorDivSI(x, y)).result
        return e.insert(arith.SubI(x, e.insert(arith.MulI(quotient, y)).result)).result
    if operator in _PREDICATES:
        return e.insert(arith.CmpI(_PREDICATES[operator], x, y)).result
    return e.insert(_ARITHMETIC[operator](x, y)).result


def _step_of_floats(e: Emitter, operator: str, x: Value, y: Value) -> Value:
    if operator in _FLOAT_PREDICATES:
        return e.insert(arith.CmpF(_FLOAT_PREDICATES[operator], x, y)).result
    found = e.insert(_FLOAT_ARITHMETIC[operator](x, y)).result
    if operator != "//":
        return found
    return e.insert(arith.FPToSI(e.insert(math.Floor(found)).result, out=i64)).result


_PREDICATES = {"==": "eq", "!=": "ne", "<": "slt", "<=": "sle", ">": "sgt", ">=": "sge"}
_ARITHMETIC: dict[str, Any] = {
    "+": arith.AddI,
    "-": arith.SubI,
    "*": arith.MulI,
    "//": arith.FloorDivSI,
    "max": arith.MaxSI,
    "min": arith.MinSI,
    "and": arith.AndI,
    "or": arith.OrI,
}
_FLOAT_PREDICATES = {"==": "oeq", "!=": "une", "<": "olt", "<=": "ole", ">": "ogt", ">=": "oge"}
_FLOAT_ARITHMETIC: dict[str, Any] = {
    "+": arith.AddF,
    "-": arith.SubF,
    "*": arith.MulF,
    "/": arith.DivF,
    "//": arith.DivF,
    "max": arith.MaximumF,
    "min": arith.MinimumF,
}
