"""Functions of single elements: activations, arithmetic."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from ....dialects import nn
from ....ir.core import Value
from ....ir.types import f32, i8
from ...common.terms import Term
from .. import rows
from ..layer import NcnnLayer


def _plain(op: Callable[[Value], Any]) -> Callable:
    def convert(n: NcnnLayer, x: Value) -> Value:
        return n(op(x))

    return convert


rows.add(
    {
        "AbsVal": _plain(nn.Abs),
        "BNLL": _plain(nn.Softplus),
        "Erf": _plain(nn.Erf),
        "Mish": _plain(nn.Mish),
        "Sigmoid": _plain(nn.Sigmoid),
        "Softplus": _plain(nn.Softplus),
        "Swish": _plain(nn.Swish),
        "TanH": _plain(nn.Tanh),
    }
)


@rows("ReLU")
def relu(n: NcnnLayer, x: Value) -> Value:
    return _leaky(n, x, n.float(0))


def _leaky(n: NcnnLayer, x: Value, slope: float) -> Value:
    return n(nn.LeakyRelu(x, alpha=slope)) if slope else n(nn.Relu(x))


@rows("PReLU")
def prelu(n: NcnnLayer, x: Value) -> Value:
    return n(nn.Prelu(x, n.per_channel("slope", x)))


@rows("Clip")
def clip(n: NcnnLayer, x: Value) -> Value:
    most = float(np.finfo(np.float32).max)
    return _clipped(n, x, n.float(0, -most), n.float(1, most))


def _clipped(n: NcnnLayer, x: Value, low: float, high: float) -> Value:
    return n(nn.Clip(x, n.scalar(low, x), n.scalar(high, x)))


@rows("ELU")
def elu(n: NcnnLayer, x: Value) -> Value:
    return n(nn.Elu(x, alpha=n.float(0, 0.1)))


@rows("CELU")
def celu(n: NcnnLayer, x: Value) -> Value:
    return n(nn.Celu(x, alpha=n.float(0, 1.0)))


@rows("SELU")
def selu(n: NcnnLayer, x: Value) -> Value:
    return n(nn.Selu(x, alpha=n.float(0, 1.67326324), gamma=n.float(1, 1.050700987)))


@rows("GELU")
def gelu(n: NcnnLayer, x: Value) -> Value:
    return n(nn.Gelu(x, approximate="tanh" if n.int(0) else "none"))


@rows("HardSigmoid")
def hard_sigmoid(n: NcnnLayer, x: Value) -> Value:
    return n(nn.HardSigmoid(x, alpha=n.float(0, 0.2), beta=n.float(1, 0.5)))


@rows("HardSwish")
def hard_swish(n: NcnnLayer, x: Value) -> Value:
    return _hard_swish(n, x, n.float(0, 0.2), n.float(1, 0.5))


def _hard_swish(n: NcnnLayer, x: Value, alpha: float, beta: float) -> Value:
    if abs(alpha - 1 / 6) < 1e-6 and beta == 0.5:
        return n(nn.HardSwish(x))
    return n(nn.Mul(x, n(nn.HardSigmoid(x, alpha=alpha, beta=beta))))


@rows("Shrink")
def shrink(n: NcnnLayer, x: Value) -> Value:
    bias, limit, t = n.float(0), n.float(1, 0.5), Term(n, x)
    inner = (t > limit).choose(t - bias, 0.0)
    return (t < -limit).choose(t + bias, inner).value


@rows("Threshold")
def threshold(n: NcnnLayer, x: Value) -> Value:
    return n.cast((Term(n, x) > n.float(0)).value, f32)


@rows("Dropout")
def dropout(n: NcnnLayer, x: Value) -> Value:
    scale = n.float(0, 1.0)
    return x if scale == 1 else (Term(n, x) * scale).value


@rows("Power")
def power(n: NcnnLayer, x: Value) -> Value:
    base, exponent = _scaled(n, x), n.float(0, 1.0)
    return base.value if exponent == 1 else (base**exponent).value


def _scaled(n: NcnnLayer, x: Value) -> Term:
    """x * scale + shift"""
    found, scale, shift = Term(n, x), n.float(1, 1.0), n.float(2)
    found = found if scale == 1 else found * scale
    return found if shift == 0 else found + shift


@rows("Exp")
def exp(n: NcnnLayer, x: Value) -> Value:
    base = n.float(0, -1.0)
    inner = _scaled(n, x)
    return (inner if base == -1 else inner * float(np.log(base))).function(nn.Exp).value


@rows("Log")
def log(n: NcnnLayer, x: Value) -> Value:
    base = n.float(0, -1.0)
    found = _scaled(n, x).function(nn.Log)
    return (found if base == -1 else found / float(np.log(base))).value


@rows("GLU")
def glu(n: NcnnLayer, x: Value) -> Value:
    axis = n.axis(x, n.int(0))
    extent = x.type.shape[axis]
    if extent is None or extent % 2:
        raise n.error(f"an axis of {extent or '?'} elements has no two halves")
    gate = Term(n, x).part(axis, extent // 2, extent)
    return n(nn.Mul(Term(n, x).part(axis, 0, extent // 2).value, n(nn.Sigmoid(gate.value))))


def activated(n: NcnnLayer, x: Value, kind: int, given: list[float]) -> Value:
    """What a layer's own activation makes of its result."""
    needs = {2: 1, 3: 2, 6: 2}.get(kind, 0)
    if not 0 <= kind <= 6 or len(given) < needs:
        raise n.error(f"activation {kind} with {len(given)} parameters")
    match kind:
        case 0:
            return x
        case 1:
            return n(nn.Relu(x))
        case 2:
            return _leaky(n, x, given[0])
        case 3:
            return _clipped(n, x, given[0], given[1])
        case 4:
            return n(nn.Sigmoid(x))
        case 5:
            return n(nn.Mish(x))
    return _hard_swish(n, x, given[0], given[1])


# -- operators of several operands -----------------------------------------------------------------

_UNARY: dict[int, Callable[[Term], Term]] = {
    0: lambda x: x.function(nn.Abs),
    1: lambda x: -x,
    2: lambda x: x.function(nn.Floor),
    3: lambda x: x.function(nn.Ceil),
    4: lambda x: x * x,
    5: lambda x: x.function(nn.Sqrt),
    6: lambda x: x.function(nn.Rsqrt),
    7: lambda x: x.function(nn.Exp),
    8: lambda x: x.function(nn.Log),
    9: lambda x: x.function(nn.Sin),
    10: lambda x: x.function(nn.Cos),
    11: lambda x: x.function(nn.Tan),
    12: lambda x: x.function(nn.Asin),
    13: lambda x: x.function(nn.Acos),
    14: lambda x: x.function(nn.Atan),
    15: lambda x: 1.0 / x,
    16: lambda x: x.function(nn.Tanh),
    17: lambda x: x.function(nn.Log) * float(1 / np.log(10)),
    18: lambda x: x.function(nn.Round),
    19: lambda x: x.function(nn.Sign) * x.function(nn.Abs).function(nn.Floor),
    20: lambda x: x.function(nn.Sign),
    21: lambda x: x.function(nn.Exp) - 1.0,
    22: lambda x: x.function(nn.Sinh),
    23: lambda x: x.function(nn.Asinh),
    24: lambda x: x.function(nn.Cosh),
    25: lambda x: x.function(nn.Acosh),
    26: lambda x: x.function(nn.Atanh),
    27: lambda x: (x + 1.0).function(nn.Log),
}


@rows("UnaryOp")
def unary(n: NcnnLayer, x: Value) -> Value:
    if n.int(0) not in _UNARY:
        raise n.error(f"operation {n.int(0)}")
    return _UNARY[n.int(0)](Term(n, x)).value


def _atan2(y: Term, x: Term) -> Term:
    """The angle of a point, from the arc tangent of the quotient."""
    pi = float(np.pi)
    half = (y > 0.0).choose(y * 0.0 + pi / 2, (y < 0.0).choose(y * 0.0 - pi / 2, 0.0))
    angle = (y / x).function(nn.Atan)
    left = (y < 0.0).choose(angle - pi, angle + pi)
    return x.equals(0.0).choose(half, (x < 0.0).choose(left, angle))


def _remainder(a: Term, b: Term) -> Term:
    return a - b * (a / b).function(nn.Floor)


def _truncated_remainder(a: Term, b: Term) -> Term:
    quotient = a / b
    return a - b * (quotient.function(nn.Sign) * quotient.function(nn.Abs).function(nn.Floor))


def _log_add_exp(a: Term, b: Term) -> Term:
    return a.max(b) + (-(a - b).function(nn.Abs)).function(nn.Softplus)


_BINARY: dict[int, Callable[[Term, Term], Term]] = {
    0: lambda a, b: a + b,
    1: lambda a, b: a - b,
    2: lambda a, b: a * b,
    3: lambda a, b: a / b,
    4: lambda a, b: a.max(b),
    5: lambda a, b: a.min(b),
    6: lambda a, b: a**b,
    7: lambda a, b: b - a,
    8: lambda a, b: b / a,
    9: lambda a, b: b**a,
    10: _atan2,
    11: lambda a, b: _atan2(b, a),
    12: _truncated_remainder,
    13: lambda a, b: _truncated_remainder(b, a),
    14: _log_add_exp,
    15: lambda a, b: (a / b).function(nn.Floor),
    16: lambda a, b: (b / a).function(nn.Floor),
    17: _remainder,
    18: lambda a, b: _remainder(b, a),
}


@rows("BinaryOp")
def binary(n: NcnnLayer, a: Value, b: Value | None = None) -> Value:
    operation = _BINARY.get(n.int(0))
    if operation is None:
        raise n.error(f"operation {n.int(0)}")
    if b is None or n.int(1):
        return operation(Term(n, a), Term(n, n.scalar(n.float(2), a))).value
    left, right = aligned(n, a, b)
    return operation(Term(n, left), Term(n, right)).value


def aligned(n: NcnnLayer, a: Value, b: Value) -> tuple[Value, Value]:
    """Two blobs in one rank: a vector goes along the channels where it has as many elements."""
    rank = max(a.type.rank, b.type.rank)
    return _aligned(n, a, b, rank), _aligned(n, b, a, rank)


def _aligned(n: NcnnLayer, x: Value, other: Value, rank: int) -> Value:
    if x.type.rank == rank:
        return x
    if x.type.rank == 2 and x.type.shape[1] != other.type.shape[1]:
        return n.with_rank(x, rank)
    own = [(x, i) for i in range(x.type.rank)]
    return Term(n, x).reshape(*own, *[1] * (rank - x.type.rank)).value


@rows("Eltwise")
def eltwise(n: NcnnLayer, *inputs: Value) -> Value:
    if not inputs or n.int(0) not in (0, 1, 2):
        raise n.error(f"operation {n.int(0)} of {len(inputs)} blobs")
    terms, weights = [Term(n, x) for x in inputs], n.floats(1)
    if n.int(0) == 1 and weights:
        if len(weights) != len(terms):
            raise n.error(f"{len(weights)} coefficients for {len(terms)} blobs")
        terms = [t if w == 1 else t * w for t, w in zip(terms, weights, strict=True)]
    total = terms[0]
    for term in terms[1:]:
        total = _combined(n.int(0), total, term)
    return total.value


def _combined(operation: int, a: Term, b: Term) -> Term:
    return a * b if operation == 0 else a + b if operation == 1 else a.max(b)


@rows("Bias")
def bias(n: NcnnLayer, x: Value) -> Value:
    return n(nn.Add(x, n.per_channel("bias", x)))


@rows("Scale")
def scale(n: NcnnLayer, x: Value, by: Value | None = None) -> Value:
    if by is not None:
        return n(nn.Mul(*aligned(n, x, by)))
    found = n(nn.Mul(x, n.per_channel("scale", x)))
    return n(nn.Add(found, n.per_channel("bias", x))) if n.has_weight("bias") else found


# -- integers --------------------------------------------------------------------------------------


def rounded(n: NcnnLayer, x: Value) -> Value:
    """The nearest integers from -127 to 127, halves away from 0, as i8."""
    t = Term(n, x)
    nearest = t.function(nn.Sign) * (t.function(nn.Abs) + 0.5).function(nn.Floor)
    return n.cast(nearest.max(-127.0).min(127.0).value, i8)


@rows("Quantize")
def quantize(n: NcnnLayer, x: Value) -> Value:
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
    found = activated(n, found, n.int(3), n.floats(4))
    return rounded(n, n(nn.Mul(found, n.per_channel("scale_out", x))))
