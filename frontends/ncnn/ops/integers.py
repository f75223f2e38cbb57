"""Quantization and products of quantized matrices, as in ncnn's int8 layers."""

from __future__ import annotations

from ...common.formulas import round_half_away
from ...common.vocabulary import *
from ..layer import NcnnLayer, rows
from .elementwise import activated


def rounded(n: Layer, x: Value) -> Value:
    """x rounded to i8 in -127..127, halves away from 0."""
    nearest = round_half_away(Term(n, x))
    return n.cast(nearest.max(-127.0).min(127.0).value, i8)


def integers(x: Term, *axes: int) -> tuple[Term, Term]:
    """(x quantized to -127..127 by its largest magnitude along the axes, still as floats; the
    scale: steps per unit).
    """
    most = x.function(nn.Abs).largest(*axes, keep=True)
    scale = most.equals(0.0).choose(1.0, 127.0 / most)
    return Term(x.n, rounded(x.n, (x * scale).value)).cast(f32), scale


Quantized = tuple[Term, Term]
"""(integers stored as floats, the scale: steps per unit)."""


def product(a: Term | Quantized, b: Term | Quantized) -> Term:
    """a @ b. Float operands are quantized first: each row of a, and each matrix b."""
    left = integers(a, a.rank - 1) if isinstance(a, Term) else a
    right = integers(b, b.rank - 2, b.rank - 1) if isinstance(b, Term) else b
    return left[0] @ right[0] / (left[1] * right[1])


@rows("Quantize")
def quantize(n: NcnnLayer, x: Value) -> Value:
    if x.type.rank == 2:  # vectors are of one channel
        return rounded(n, n(nn.Mul(x, n.stored("scale", n.array_of("scale")[:1]))))
    return rounded(n, n(nn.Mul(x, n.per_channel("scale", x))))


@rows("Dequantize")
def dequantize(n: NcnnLayer, x: Value) -> Value:
    found = n(nn.Mul(n.cast(x, f32), n.per_channel("scale", x)))
    return n(nn.Add(found, n.per_channel("bias", x))) if n.has_weight("bias") else found


@rows("Requantize")
def requantize(n: NcnnLayer, x: Value) -> Value:
    found = n(nn.Mul(n.cast(x, f32), n.per_channel("scale_in", x)))
    if n.has_weight("bias"):
        found = n(nn.Add(found, n.per_channel("bias", x)))
    found = activated(n, found, 3, 4)
    return rounded(n, n(nn.Mul(found, n.per_channel("scale_out", x))))
