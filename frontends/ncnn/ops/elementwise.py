"""Elementwise functions: activations and arithmetic."""

from __future__ import annotations

from ...common.formulas import log10, trunc
from ...common.vocabulary import *
from ..layer import NcnnLayer, rows


def _row(name: str, *defaults: float) -> Callable[[NcnnLayer, Value], Value]:
    """A converter of an activation whose parameters are the layer's first ones."""
    return lambda n, x: activation(n, name, x, *(n.float(i, d) for i, d in enumerate(defaults)))


_MOST = float(np.finfo(np.float32).max)
rows.add(
    {
        "BNLL": _row("softplus"),
        "CELU": _row("celu", 1.0),
        "Clip": _row("clip", -_MOST, _MOST),
        "ELU": _row("elu", 0.1),
        "Mish": _row("mish"),
        "SELU": _row("selu", 1.67326324, 1.050700987),
        "Sigmoid": _row("sigmoid"),
        "Softplus": _row("softplus"),
        "Swish": _row("silu"),
        "TanH": _row("tanh"),
        "Threshold": _row("threshold", 0.0),
    }
)


rows.formulas(
    {
        "AbsVal": lambda n, x: n(nn.Abs(x)),
        "Erf": lambda n, x: n(nn.Erf(x)),
        "ReLU": lambda n, x: _leaky(n, x, n.float(0)),
        "PReLU": lambda n, x: n(nn.Prelu(x, n.per_channel("slope", x))),
        "GELU": lambda n, x: n(nn.Gelu(x, approximate="tanh" if n.int(0) else "none")),
        "GLU": lambda n, x: gated(n, x, n.axis(x, n.int(0))),
        "HardSigmoid": lambda n, x: _hard_sigmoid(n, x, n.float(0, 0.2), n.float(1, 0.5)),
        "HardSwish": lambda n, x: _hard_swish(n, x, n.float(0, 0.2), n.float(1, 0.5)),
    }
)


def _leaky(n: NcnnLayer, x: Value, slope: float) -> Value:
    return activation(n, "leakyrelu", x, slope) if slope else n(nn.Relu(x))


def _hard_sigmoid(n: NcnnLayer, x: Value, alpha: float, beta: float) -> Value:
    _check_slope(n, alpha)
    return activation(n, "hardsigmoid", x, alpha, beta)


def _check_slope(n: NcnnLayer, alpha: float) -> None:
    """Raise NncError if the function falls: ncnn's result then depends on an element's position."""
    if alpha < 0:
        raise n.error(f"a slope of {alpha:g}, expected a positive one")


def _hard_swish(n: NcnnLayer, x: Value, alpha: float, beta: float) -> Value:
    _check_slope(n, alpha)
    if abs(alpha - 1 / 6) < 1e-6 and beta == 0.5:
        return n(nn.HardSwish(x))
    return n(nn.Mul(x, n(nn.HardSigmoid(x, alpha=alpha, beta=beta))))


@rows("Shrink")
def shrink(n: NcnnLayer, x: Value) -> Value:
    bias, limit, t = n.float(0), n.float(1, 0.5), Term(n, x)
    inner = (t > limit).choose(t - bias, 0.0)
    return (t < -limit).choose(t + bias, inner).value


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


_OWN: dict[int, tuple[int, Callable[..., Value]]] = {
    0: (0, lambda n, x: x),
    1: (0, lambda n, x: n(nn.Relu(x))),
    2: (1, _leaky),
    3: (2, clipped),
    4: (0, lambda n, x: n(nn.Sigmoid(x))),
    5: (0, lambda n, x: n(nn.Mish(x))),
    6: (2, _hard_swish),
}
"""Activations fused into other layers, by their numbers: (number of parameters, function)."""


def activated(n: NcnnLayer, x: Value, kind: int = 9, given: int = 10) -> Value:
    """x after the layer's fused activation; `kind` and `given` are the parameters' numbers of its
    kind and its arguments.
    """
    parameters = n.floats(given)
    count, function = _OWN.get(n.int(kind), (1 << 30, None))
    if function is None or len(parameters) < count:
        raise n.error(f"activation {n.int(kind)} with {len(parameters)} parameters")
    return function(n, x, *parameters[:count])


# -- operators of several operands -----------------------------------------------------------------

_FUNCTIONS = {
    0: nn.Abs, 2: nn.Floor, 3: nn.Ceil, 5: nn.Sqrt, 6: nn.Rsqrt, 7: nn.Exp, 8: nn.Log, 9: nn.Sin,
    10: nn.Cos, 11: nn.Tan, 12: nn.Asin, 13: nn.Acos, 14: nn.Atan, 16: nn.Tanh, 18: nn.Round,
    20: nn.Sign, 22: nn.Sinh, 23: nn.Asinh, 24: nn.Cosh, 25: nn.Acosh, 26: nn.Atanh,
}  # fmt: skip
_UNARY: dict[int, Callable[[Term], Term]] = {
    1: lambda x: -x,
    4: lambda x: x * x,
    15: lambda x: 1.0 / x,
    17: log10,
    19: trunc,
    21: lambda x: x.function(nn.Exp) - 1.0,
    27: lambda x: (x + 1.0).function(nn.Log),
}


@rows("UnaryOp")
def unary(n: NcnnLayer, x: Value) -> Value:
    kind, t = n.int(0), Term(n, x)
    if kind in _FUNCTIONS:
        return t.function(_FUNCTIONS[kind]).value
    if kind not in _UNARY:
        raise n.error(f"operation {kind}")
    return _UNARY[kind](t).value


def _remainder(a: Term, b: Term) -> Term:
    """C's `remainder`: the quotient is rounded to the nearest integer, half to even."""
    return a - b * (a / b).function(nn.Round)


def _truncated_remainder(a: Term, b: Term) -> Term:
    return a - b * trunc(a / b)


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
    10: atan2,
    12: _truncated_remainder,
    14: _log_add_exp,
    15: lambda a, b: (a / b).function(nn.Floor),
    17: _remainder,
}
_EXCHANGED = {7: 1, 8: 3, 9: 6, 11: 10, 13: 12, 16: 15, 18: 17}
"""Operations with exchanged operands: the number of each, and of the one with the usual order."""


@rows("BinaryOp")
def binary(n: NcnnLayer, a: Value, b: Value | None = None) -> Value:
    kind = n.int(0)
    operation = _BINARY.get(_EXCHANGED.get(kind, kind))
    if operation is None:
        raise n.error(f"operation {kind}")
    if b is None or n.int(1):
        pair = [Term(n, a), Term(n, n.scalar(n.float(2), a))]
    else:
        pair = [Term(n, v) for v in aligned(n, a, b)]
    return operation(*(reversed(pair) if kind in _EXCHANGED else pair)).value


def aligned(n: NcnnLayer, a: Value, b: Value) -> tuple[Value, Value]:
    """Two blobs with the same rank: a vector is aligned with the channels if it has as many
    elements.
    """
    rank = max(a.type.rank, b.type.rank)
    return _aligned(n, a, b, rank), _aligned(n, b, a, rank)


def _aligned(n: NcnnLayer, x: Value, other: Value, rank: int) -> Value:
    if x.type.rank == rank:
        return x
    if x.type.rank == 2 and x.type.shape[1] != other.type.shape[1]:
        return n.with_rank(x, rank)
    return Term(n, x).reshape(*dims(x), *[1] * (rank - x.type.rank)).value


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
    if x.type.rank < 4:  # vectors and matrices are of one channel
        return n(nn.Add(x, n.stored("bias", n.array_of("bias")[:1])))
    return n(nn.Add(x, n.per_channel("bias", x)))


@rows("Scale")
def scale(n: NcnnLayer, x: Value, by: Value | None = None) -> Value:
    if by is not None:
        return n(nn.Mul(*aligned(n, x, by)))
    found = n(nn.Mul(x, n.per_channel("scale", x)))
    return n(nn.Add(found, n.per_channel("bias", x))) if n.has_weight("bias") else found
