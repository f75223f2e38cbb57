"""Lowering of dot products of packed integers: one instruction if the target has it, else
arithmetic.
"""

from __future__ import annotations

from ...dialects import arith, llvm, packed
from ...ir.core import Value
from ...ir.packing import HALVES, INTEGERS
from ...ir.types import IntegerType, Type, VectorType, bf16, f32, i8, i32, with_shape_of
from ...targets.llvm.dots import Dot
from .conversion import LOWERINGS, FunctionLowering, lowers
from .elementwise import by_rows
from .rearrange import element, from_scalars, shuffle


def accumulated(f: FunctionLowering, op: arith.AddI | arith.AddF) -> bool:
    """Lower a sum along with a dot product that only it uses; False if it has no such operand."""
    for number, value in enumerate(op._operands):
        dot = value.defining_op
        if not isinstance(dot, _DOTS) or (found := _joins(f, dot)) is None:
            continue
        operands = (op._operands[1 - number], *dot._operands)
        by_rows(f, op, lambda *row, found=found: _call(f, found, *row), operands)
        return True
    return False


_DOTS = (packed.Dot, packed.DotF)


def _joins(f: FunctionLowering, dot: packed.Dot | packed.DotF) -> Dot | None:
    """The instruction that computes a dot product and the only sum that uses it;
    None if none does.
    """
    type = dot.out.type
    if not isinstance(type, VectorType) or not dot.out.has_one_use:
        return None
    (user,) = dot.out.users
    # Of a sum of two such products, the first one joins and the other stays.
    first = next((v for v in user._operands if isinstance(v.defining_op, _DOTS)), None)
    if not isinstance(user, arith.AddI | arith.AddF) or first is not dot.out:
        return None
    lanes: int = type.shape[-1]
    packing = HALVES if isinstance(dot, packed.DotF) else dot.packing
    return f.module.target.dot(packing, lanes, accumulates=True)


def _call(f: FunctionLowering, dot: Dot, total: Value, a: Value, b: Value) -> Value:
    if dot.takes_bytes:
        a, b = (f.emit(llvm.Bitcast, [v], VectorType((4 * dot.lanes,), i8)) for v in (a, b))
    if dot.packing == HALVES:
        a, b = (f.emit(llvm.Bitcast, [v], VectorType((2 * dot.lanes,), bf16)) for v in (a, b))
    return _intrinsic(f, dot.intrinsic, [total, a, b], total.type)


def _intrinsic(f: FunctionLowering, name: str, args: list[Value], type: Type) -> Value:
    op = f.append(llvm.CallIntrinsic(name, args, op_bundle_operands=(), res=type))
    return op.results[0]


_plain_sum = LOWERINGS[arith.AddF]


@lowers(arith.AddF)
def _sum(f: FunctionLowering, op: arith.AddF) -> None:
    if not accumulated(f, op):
        _plain_sum(f, op)


@lowers(packed.DotF)
def _dot_of_halves(f: FunctionLowering, op: packed.DotF) -> None:
    if _joins(f, op) is None:
        by_rows(f, op, lambda a, b: _halves_multiplied(f, a, b))


def _halves_multiplied(f: FunctionLowering, a: Value, b: Value) -> Value:
    """The sum of the products of the bf16 in words: halves are the upper bits of f32."""
    wide = with_shape_of(a.type, f32)
    high, half = f.integer(-(1 << 16), a.type), f.integer(16, a.type)
    lower = [f.emit(llvm.Bitcast, [f.emit(llvm.Shl, [v, half], v.type)], wide) for v in (a, b)]
    upper = [f.emit(llvm.Bitcast, [f.emit(llvm.And, [v, high], v.type)], wide) for v in (a, b)]
    first = f.emit(llvm.FMul, lower, wide)
    return f.emit(llvm.IntrFMulAdd, [*upper, first], wide)


@lowers(packed.Dot)
def _dot(f: FunctionLowering, op: packed.Dot) -> None:
    if _joins(f, op) is None:
        by_rows(f, op, lambda a, b: _spelled_out(f, op.packing, a, b))


def _spelled_out(f: FunctionLowering, packing: str, a: Value, b: Value) -> Value:
    """A dot product alone: one instruction, or products and sums that LLVM makes into a few."""
    if not isinstance(a.type, VectorType):
        row = _spelled_out(f, packing, from_scalars(f, [a]), from_scalars(f, [b]))
        return element(f, row, 0)
    kind, lanes = INTEGERS[packing], a.type.shape[0]
    found = f.module.target.dot(packing, lanes, accumulates=False)
    if found is not None:
        halves = VectorType((2 * lanes,), kind.lhs)
        apart = [f.emit(llvm.Bitcast, [v], halves) for v in (a, b)]
        return _intrinsic(f, found.intrinsic, apart, a.type)
    found = f.module.target.dot(packing, lanes, accumulates=True)
    if found is not None:
        return _call(f, found, f.emit(llvm.Zero, [], a.type), a, b)
    total = None
    for number in range(kind.count):
        parts = [_part(f, v, number, t) for v, t in ((a, kind.lhs), (b, kind.rhs))]
        term = f.emit(llvm.Mul, parts, a.type)
        total = term if total is None else f.emit(llvm.Add, [total, term], a.type)
    assert total is not None
    return total


def _part(f: FunctionLowering, words: Value, number: int, type: IntegerType) -> Value:
    """The integer with index `number` of each word, extended to 32 bits."""
    count, lanes = 32 // type.width, words.type.shape[0]
    small = IntegerType(type.width)
    apart = f.emit(llvm.Bitcast, [words], VectorType((count * lanes,), small))
    one = shuffle(f, apart, None, [count * i + number for i in range(lanes)])
    cast = llvm.ZExt if type.signedness == "u" else llvm.SExt
    return f.emit(cast, [one], VectorType((lanes,), i32))
