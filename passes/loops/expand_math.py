"""--expand-math: elementary functions of f32, f16 and bf16 as arithmetic."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from ...dialects import arith, math
from ...ir.core import Operation, Value
from ...ir.passes import Pass, PassContext
from ...ir.rewriting import Pattern, Rewriter, apply_once
from ...ir.types import ShapedType, VectorType, bf16, element_type, f16, f32
from .elementary import error_function, exponential, logarithm, power, trigonometric
from .elementary.formulas import Float, Formulas

Expansion = Callable[..., Float]

EXPANSIONS: dict[type[Operation], Expansion] = {
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


def is_expandable(op: Operation) -> bool:
    """Whether the op computes scalars or vectors of a float that fits in f32."""
    type = op.results[0].type
    if isinstance(type, ShapedType) and not isinstance(type, VectorType):
        return False
    return element_type(type) in (f32, f16, bf16)


def expand(op: Operation, rewriter: Rewriter, formula: Expansion) -> None:
    """Replace the op by its formula, computed in f32."""
    if not is_expandable(op):
        return
    type = op.results[0].type
    code = Formulas(rewriter, type)
    operands = [Float(code, _widened(v, code)) for v in op.operands]
    result = formula(*operands).value
    if result.type is not type:
        result = rewriter.insert(arith.TruncF(result, out=type)).result
    rewriter.replace(op, result)


def _widened(value: Value, code: Formulas) -> Value:
    if value.type is code.float_type:
        return value
    return code.emit(arith.ExtF(value, out=code.float_type))


def pattern_of(op_class: type[Operation], formula: Expansion) -> Pattern:
    """The rewrite of one op class."""

    def apply(op: Any, rewriter: Rewriter) -> None:
        expand(op, rewriter, formula)

    doc = f"{op_class.name} -> arithmetic"
    return Pattern(f"expand-{op_class.name.removeprefix('math.')}", (op_class,), apply, doc)


PATTERNS = tuple(pattern_of(cls, formula) for cls, formula in EXPANSIONS.items())


@dataclass(frozen=True)
class ExpandMath(Pass, name="expand-math"):
    """Replace elementary functions of f32, f16 and bf16 by arithmetic.

    %y = math.exp %x : vector<16xf32>

        ->  a polynomial of arith and math.fma ops, without calls or branches

    Scalars and vectors are expanded; f64, tensors and operations that are one instruction
    (sqrt, floor, fma, ..) stay. f16 and bf16 are computed in f32.
    """

    def run(self, op: Operation, context: PassContext) -> None:
        apply_once(op, PATTERNS)
