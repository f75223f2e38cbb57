"""Lowering of products of words: one instruction where the target has it, else arithmetic."""

from __future__ import annotations

from ...dialects import arith, llvm, packed
from ...ir.core import Value
from ...ir.packing import PACKINGS
from ...ir.types import IntegerType, Type, VectorType, i8, i32
from ...targets.base import Target
from ...targets.llvm.target import have
from .conversion import FunctionLowering, lowers
from .elementwise import by_rows
from .rearrange import element, from_scalars, shuffle


def dot_intrinsic(target: Target, packing: str, lanes: int) -> str | None:
    """The target's intrinsic of `sum + dot` on so many lanes; None where it has none."""
    features = have(getattr(target, "features", "")) | getattr(target, "needs", frozenset())
    if packing == "u8s8" and not features.isdisjoint(("avx512vnni", "avxvnni")):
        bits = 32 * lanes
        fits = bits in (128, 256, 512) and bits <= target.machine.vector_bits
        return f"llvm.x86.avx512.vpdpbusd.{bits}" if fits else None
    if packing == "s8" and "dotprod" in features and lanes == 4:
        return "llvm.aarch64.neon.sdot.v4i32.v16i8"
    return None


def pair_intrinsic(target: Target, lanes: int) -> str | None:
    """The target's intrinsic of a dot product of pairs; None where it has none of so many lanes."""
    if 32 * lanes > target.machine.vector_bits:
        return None
    return _PAIRS.get((target.family, lanes))


_PAIRS = {
    ("x86", 4): "llvm.x86.sse2.pmadd.wd",
    ("x86", 8): "llvm.x86.avx2.pmadd.wd",
    ("x86", 16): "llvm.x86.avx512.pmaddw.d.512",
    ("wasm", 4): "llvm.wasm.dot",
}


def accumulated(f: FunctionLowering, op: arith.AddI) -> bool:
    """Lower a sum with the dot product that is computed for it alone; whether it is one."""
    for number, value in enumerate(op._operands):
        dot = value.defined_by(packed.Dot)
        if dot is None or (name := _joins(f, dot)) is None:
            continue
        operands = (op._operands[1 - number], *dot._operands)
        by_rows(f, op, lambda *row, name=name: _call(f, name, *row), operands)
        return True
    return False


def _joins(f: FunctionLowering, dot: packed.Dot) -> str | None:
    """The intrinsic that computes a dot product together with the one sum that needs it."""
    type = dot.out.type
    if not isinstance(type, VectorType) or not dot.out.has_one_use:
        return None
    (user,) = dot.out.users
    # Of a sum of two such products, the first one joins and the other stays.
    first = next((v for v in user._operands if v.defined_by(packed.Dot)), None)
    if not isinstance(user, arith.AddI) or first is not dot.out:
        return None
    return dot_intrinsic(f.module.target, dot.packing, type.shape[-1])  # type: ignore[arg-type]


def _call(f: FunctionLowering, name: str, total: Value, a: Value, b: Value) -> Value:
    if "neon" in name:
        a, b = (f.emit(llvm.Bitcast, [v], VectorType((16,), i8)) for v in (a, b))
    return _intrinsic(f, name, [total, a, b], total.type)


def _intrinsic(f: FunctionLowering, name: str, args: list[Value], type: Type) -> Value:
    op = f.append(llvm.CallIntrinsic(name, args, op_bundle_operands=(), res=type))
    return op.results[0]


@lowers(packed.Dot)
def _dot(f: FunctionLowering, op: packed.Dot) -> None:
    if _joins(f, op) is None:
        by_rows(f, op, lambda a, b: _spelled_out(f, op.packing, a, b))


def _spelled_out(f: FunctionLowering, packing: str, a: Value, b: Value) -> Value:
    """The products one by one, as LLVM knows them: `vpmaddwd`, `smlal`, .."""
    if not isinstance(a.type, VectorType):
        row = _spelled_out(f, packing, from_scalars(f, [a]), from_scalars(f, [b]))
        return element(f, row, 0)
    kind, lanes = PACKINGS[packing], a.type.shape[0]
    name = pair_intrinsic(f.module.target, lanes) if packing == "s16" else None  # type: ignore[arg-type]
    if name is not None:
        halves = VectorType((2 * lanes,), kind.lhs)  # type: ignore[operator]
        apart = [f.emit(llvm.Bitcast, [v], halves) for v in (a, b)]
        return _intrinsic(f, name, apart, a.type)
    total = None
    for number in range(kind.count):
        parts = [_part(f, v, number, t) for v, t in ((a, kind.lhs), (b, kind.rhs))]
        term = f.emit(llvm.Mul, parts, a.type)
        total = term if total is None else f.emit(llvm.Add, [total, term], a.type)
    assert total is not None
    return total


def _part(f: FunctionLowering, words: Value, number: int, type: IntegerType) -> Value:
    """One of the integers of each word, widened."""
    count, lanes = 32 // type.width, words.type.shape[0]  # type: ignore[attr-defined]
    small = IntegerType(type.width)
    apart = f.emit(llvm.Bitcast, [words], VectorType((count * lanes,), small))
    one = shuffle(f, apart, None, [count * i + number for i in range(lanes)])
    cast = llvm.ZExt if type.signedness == "u" else llvm.SExt
    return f.emit(cast, [one], VectorType((lanes,), i32))
