"""--expand-math: elementary functions of f32, f16 and bf16 as arithmetic."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cache
from typing import Any

from ...dialects import arith, math, scf, vector
from ...ir.attributes import UnitAttr
from ...ir.builder import Builder
from ...ir.core import Block, Operation, Region, Value
from ...ir.passes import Pass, PassContext
from ...ir.rewriting import Pattern, Rewriter, apply_once, constant_number
from ...ir.types import ShapedType, Type, VectorType, bf16, element_type, f16, f32, f64, i1
from ...targets.attribute import target_of
from . import error_function, exponential, logarithm, power, trigonometric
from .formulas import Bool, Float, Formulas

Formula = Callable[..., "Float | Sequence[Float]"]

EXACT = "nn.exact"
"""Marks an operation that stays: the part of a formula that a library function computes."""

FORMULAS: dict[type[Operation], Formula] = {
    math.Exp: exponential.exp,
    math.Exp2: exponential.exp2,
    math.ExpM1: exponential.expm1,
    math.Sinh: exponential.sinh,
    math.Cosh: exponential.cosh,
    math.Tanh: exponential.tanh,
    math.Log: logarithm.log,
    math.Log2: logarithm.log2,
    math.Log10: logarithm.log10,
    math.Log1p: logarithm.log1p,
    math.Asinh: logarithm.asinh,
    math.Acosh: logarithm.acosh,
    math.Atanh: logarithm.atanh,
    math.Sin: trigonometric.sin,
    math.Cos: trigonometric.cos,
    math.Tan: trigonometric.tan,
    math.SinCos: trigonometric.sincos,
    math.Asin: trigonometric.asin,
    math.Acos: trigonometric.acos,
    math.Atan: trigonometric.atan,
    math.Atan2: trigonometric.atan2,
    math.Erf: error_function.erf,
    math.Erfc: power.erfc,
    math.PowF: power.pow,
    math.Cbrt: power.cbrt,
}
"""Op class -> its formula on as many `Float`s as it has operands."""

PERIODIC = (math.Sin, math.Cos, math.Tan, math.SinCos)
"""Their formulas hold up to `trigonometric.FARTHEST` only."""


def can_expand(op: Operation, elements: Sequence[Type] = (f32, f16, bf16)) -> bool:
    """Whether the op computes scalars or vectors of such elements."""
    type = op.results[0].type
    if isinstance(type, ShapedType) and not isinstance(type, VectorType):
        return False
    return element_type(type) in elements and EXACT not in op.attributes


def expand(op: Operation, rewriter: Rewriter, formula: Formula, fused: bool, has_f64: bool) -> None:
    """Replace the op by its formula, computed in f32."""
    if not can_expand(op):
        return
    code = Formulas(rewriter, op.results[0].type, fused=fused, has_f64=has_f64)
    operands = [Float(code, _extended(v, code)) for v in op.operands]
    if isinstance(op, math.Exp):
        formula = lambda x: exponential.exp(x, gradual=not tail_is_lost(op))  # noqa: E731
    if isinstance(op, math.Erf) and is_beside_one(op):
        formula = error_function.erf_beside_one
    if isinstance(op, PERIODIC) and element_type(op.results[0].type) is not f16:
        results = unless_far(op, operands[0], formula)
    else:
        results = _values(formula(*operands))
    rewriter.replace(op, [_rounded(v, op.results[0].type, rewriter) for v in results])


def _extended(value: Value, code: Formulas) -> Value:
    if value.type is code.float_type:
        return value
    return code.emit(arith.ExtF(value, out=code.float_type))


def _rounded(value: Value, type: Type, builder: Builder) -> Value:
    if value.type is type:
        return value
    return builder.insert(arith.TruncF(value, out=type)).result


def _values(found: Float | Sequence[Float]) -> list[Value]:
    return [found.value] if isinstance(found, Float) else [part.value for part in found]


# -- cases -----------------------------------------------------------------------------------------


def tail_is_lost(op: math.Exp) -> bool:
    """Whether denormal results may be replaced by 0.

    They may if the result is f16 or only rounded to f16, which cannot hold them; if it is only
    added to constants so large that it vanishes (1 + x is 1); or if the op allows approximations.
    """
    if element_type(op.result.type) is f16 or op.properties["fastmath"].allows("afn"):  # type: ignore[attr-defined]
        return True
    return _is_rounded_to_f16(op.result) or _is_added_to(op, 2.0**-64)


def _is_rounded_to_f16(value: Value) -> bool:
    """Whether nothing reads a value but its roundings to f16."""
    return value.has_uses and all(
        isinstance(user, arith.TruncF) and element_type(user.out.type) is f16
        for user in value.users
    )


def is_beside_one(op: math.Erf) -> bool:
    """Whether small errors of the result vanish in sums with 1, as in GELU's 1 + erf(x)."""
    return _is_added_to(op, 1.0)


def _is_added_to(op: Operation, least: float) -> bool:
    """Whether a result is only added to constants of magnitude `least` or more."""
    return op.has_used_results and all(
        isinstance(user, arith.AddF) and any(_size(v) >= least for v in user.operands)
        for user in op.results[0].users
    )


def _size(value: Value) -> float:
    """The magnitude of a constant; 0 for any other value."""
    number = constant_number(value)
    return 0.0 if number is None else abs(number)


def unless_far(op: Operation, x: Float, formula: Formula) -> list[Value]:
    """The formula, but the op itself (a library call) if any number is too large for it."""
    code = x.code
    assert isinstance(code.builder, Rewriter)
    branch = scf.If(
        any_of(x.abs() > trigonometric.FARTHEST),
        Region([Block()]),
        Region([Block()]),
        outs=[code.float_type] * len(op.results),
    )
    far = Builder.at_end(branch.then_block, op.loc)
    exact = type(op).create(
        [x.value], [code.float_type] * len(op.results), {EXACT: UnitAttr()}, op.properties
    )
    far.insert(exact)
    far.insert(scf.Yield(exact.results))
    assert branch.else_block is not None
    near = Builder.at_end(branch.else_block, op.loc)
    inside = Formulas(near, code.shape_of, fused=code.fused, has_f64=code.has_f64)
    found = _values(formula(Float(inside, x.value)))
    near.insert(scf.Yield(found))
    return list(code.builder.insert(branch).results)


def any_of(condition: Bool) -> Value:
    """Whether the condition holds in some element."""
    code, type = condition.code, condition.value.type
    if not isinstance(type, VectorType):
        return condition.value
    row = VectorType((type.num_elements,), i1)
    flat = condition.value
    if type is not row:
        flat = code.emit(vector.ShapeCast(flat, result=row))
    return code.emit(vector.Reduction("or", flat))


# -- patterns --------------------------------------------------------------------------------------


def pattern_of(op_class: type[Operation], formula: Formula, fused: bool, has_f64: bool) -> Pattern:
    """The rewrite of one op class."""

    def apply(op: Any, rewriter: Rewriter) -> None:
        expand(op, rewriter, formula, fused, has_f64)

    name = op_class.name.removeprefix("math.")
    return Pattern(f"expand-{name}", (op_class,), apply, f"{op_class.name} -> arithmetic")


def expand_constant_power(op: Any, rewriter: Rewriter) -> None:
    """Replace a power with a constant exponent by products or a square root."""
    exponent = constant_number(op.rhs)
    if exponent is None or not can_expand(op, (f32, f16, bf16, f64)):
        return
    wide = element_type(op.lhs.type) is f64
    code = Formulas(rewriter, op.lhs.type, wide=wide)
    base = Float(code, _extended(op.lhs, code))
    result = power.pow_constant(base, float(exponent))
    if result is not None:
        rewriter.replace(op, [_rounded(result.value, op.lhs.type, rewriter)])


CONSTANT_POWER = Pattern(
    "expand-constant-power",
    (math.PowF, math.FPowI),
    expand_constant_power,
    "x ** 3 -> x * x * x",
    benefit=2,
)


@cache
def patterns(fused: bool, has_f64: bool = True) -> tuple[Pattern, ...]:
    """All rewrites, for machines with a fused multiply-add or without, with f64 or without."""
    found = (pattern_of(cls, f, fused, has_f64) for cls, f in FORMULAS.items())
    return CONSTANT_POWER, *found


@dataclass(frozen=True)
class ExpandMath(Pass, name="expand-math"):
    """Replace elementary functions of f32, f16 and bf16 by arithmetic.

    %y = math.exp %x : vector<16xf32>

        ->  a polynomial of arith and math.fma ops, without calls or branches

    A machine without a fused multiply-add multiplies and adds, which rounds once more a step; one
    without f64 has powers and erfc in pairs of f32.

    Scalars and vectors are expanded; f64, tensors and operations that are one instruction
    (sqrt, floor, fma, ..) stay. f16 and bf16 are computed in f32. The sine, the cosine and
    the tangent of numbers beyond 2**18 are left to a library, in a branch of their own.
    """

    numerics = "rounding"

    def run(self, op: Operation, context: PassContext) -> None:
        """Expand all operations inside."""
        machine = target_of(op).machine
        apply_once(op, patterns(machine.has_fma, machine.has_f64), context.trace)
