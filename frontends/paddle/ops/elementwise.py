"""Elementwise functions: activations, arithmetic, comparisons, casts."""

from __future__ import annotations

from functools import partial

from ...common import bessel, special
from ...common.complexes import pair
from ...common.formulas import (
    around,
    copysign,
    floor_of_quotient,
    fmax,
    fmin,
    isfinite,
    log2,
    log10,
    nextafter,
    widened,
)
from ...common.incomplete import incomplete_gamma
from ...common.vocabulary import *
from ..layer import PaddleLayer, rows


def _unary(op: Callable[[Value], Any]) -> Callable:
    return lambda n, x: n(op(x))


def _real(op: Callable[[Value], Any]) -> Callable:
    """A converter of a function of floats, to which integers are converted."""
    return lambda n, x: n(op(n.floating(x)))


def _activation(name: str, *parameters: tuple[str, float]) -> Callable:
    """An activation whose parameters are attributes with defaults."""
    return lambda n, x: activation(n, name, x, *(n.float(key, d) for key, d in parameters))


def _formula(make: Callable[[Term], Term]) -> Callable:
    def convert(n: PaddleLayer, x: Value) -> Value:
        return make(Term(n, x)).value

    return convert


def _binary(op: Callable[[Value, Value], Any]) -> Callable:
    def convert(n: PaddleLayer, x: Value, y: Value) -> Value:
        x, y = aligned(n, x, y)
        return n(op(x, y))

    return convert


def _logical(op: Callable[[Value, Value], Any]) -> Callable:
    """A converter of a logical op; numbers are true if they are not 0."""

    def convert(n: PaddleLayer, x: Value, y: Value) -> Value:
        x, y = aligned(n, n.cast(x, i1), n.cast(y, i1))
        return n(op(x, y))

    return convert


def aligned(n: PaddleLayer, x: Value, y: Value) -> tuple[Value, Value]:
    """The operands in one element type, y aligned to x from the attribute `axis` on if given."""
    axis = n.int("axis", -1)
    if axis >= 0 and y.type.rank < x.type.rank - axis:
        ones = [1] * (x.type.rank - axis - y.type.rank)
        y = reshape(n, y, [*dims(y), *ones])
    a, b = x.type.element_type, y.type.element_type
    if a is not b:
        wide = a if _rank_of(a) >= _rank_of(b) else b
        x, y = n.cast(x, wide), n.cast(y, wide)
    return x, y


def _rank_of(element: Any) -> tuple[bool, int]:
    return isinstance(element, FloatType), element.width


_LOGICAL = "logical_and=And logical_or=Or logical_xor=Xor"
_REAL = """
    sigmoid tanh exp log sqrt rsqrt sin cos tan asin acos atan sinh cosh asinh acosh atanh erf expm1
    log1p reciprocal softsign silu=Swish swish mish isnan=IsNan isinf=IsInf
"""
_UNARY = "abs floor ceil sign bitwise_not=Not"
_BINARY = """
    add subtract=Sub multiply=Mul divide=Div maximum=Max minimum=Min
    remainder=Mod equal less_than=Less less_equal greater_than=Greater greater_equal
    bitwise_and=And bitwise_or=Or bitwise_xor=Xor
"""
for _made, _words in (
    (_unary, _UNARY),
    (_real, _REAL),
    (_binary, _BINARY),
    (_logical, _LOGICAL),
):
    for _name, _op in named(_words).items():
        rows.add(dict.fromkeys((_name, f"{_name}_"), _made(_op)))


def _special(function: Callable[[Term], Term]) -> Callable:
    return lambda n, x: widened(function, Term(n, n.floating(x))).value


def _derived(order: int) -> Callable[[Term], Term]:
    """The polygamma function of this order: digamma for 0, else its derivative."""
    return (lambda x: special.polygamma(order, x)) if order > 0 else special.digamma


rows.add(
    {
        "lgamma": _special(special.lgamma),
        "gammaln": _special(special.lgamma),
        "digamma": _special(special.digamma),
        "polygamma": lambda n, x: _special(_derived(n.int("n", 0)))(n, x),
        # Beyond 1 it is infinite too.
        "erfinv": _special(lambda x: special.erfinv(x.max(-1.0).min(1.0))),
        "i0": _special(bessel.bessel_i(0, scaled=False)),
        "i1": _special(bessel.bessel_i(1, scaled=False)),
        "i0e": _special(bessel.bessel_i(0, scaled=True)),
        "i1e": _special(bessel.bessel_i(1, scaled=True)),
    }
)


rows.add(
    {
        "relu6": _activation("relu6"),
        "tanh_shrink": _activation("tanhshrink"),
        "leaky_relu": _activation("leakyrelu", ("negative_slope", 0.02)),
        "leaky_relu_": _activation("leakyrelu", ("negative_slope", 0.02)),
        "elu": _activation("elu", ("alpha", 1.0)),
        "celu": _activation("celu", ("alpha", 1.0)),
        "selu": _activation("selu", ("alpha", 1.6732632), ("scale", 1.0507010)),
        "hardsigmoid": _activation("hardsigmoid", ("slope", 0.2), ("offset", 0.5)),
        "hardtanh": _activation("clip", ("t_min", -1.0), ("t_max", 1.0)),
        "brelu": _activation("clip", ("t_min", -1.0), ("t_max", 1.0)),
        "hardshrink": _activation("hardshrink", ("threshold", 0.5)),
        "stanh": _activation("scaledtanh", ("scale_b", 1.7159), ("scale_a", 0.67)),
        "square": _formula(lambda x: x * x),
    }
)


@rows("hardswish")
def hard_swish(n: PaddleLayer, x: Value) -> Value:
    threshold, scale = n.float("threshold", 6.0), n.float("scale", 6.0)
    offset = n.float("offset", 3.0)
    if (threshold, scale, offset) == (6, 6, 3):
        return n(nn.HardSwish(x))
    t = Term(n, x)
    return (t * (t + offset).max(0.0).min(threshold) / scale).value


def _upper_gamma(n: PaddleLayer, order: Value, x: Value) -> Term:
    """The regularized upper incomplete gamma function."""
    formula = partial(incomplete_gamma, lower=False)
    a, t = Term(n, order), Term(n, x)
    return widened(formula, a + t.zeros(), t + a.zeros())


rows.formulas(
    {
        "gelu": lambda n, x: n(nn.Gelu(x, approximate="tanh" if n.flag("approximate") else "none")),
        "not_equal": lambda n, x, y: n(nn.Not(n(nn.Equal(*aligned(n, x, y))))),
        "isfinite": lambda n, x: isfinite(Term(n, n.floating(x))).value,
        "log2": lambda n, x: log2(Term(n, n.floating(x))).value,
        "log10": lambda n, x: log10(Term(n, n.floating(x))).value,
        "round round_": lambda n, x: around(Term(n, x), n.int("decimals")).value,
        "gammaincc": lambda n, x, y: _upper_gamma(n, *aligned(n, x, y)).value,
        "copysign copysign_": lambda n, x, y: (
            copysign(*(Term(n, n.floating(v)) for v in aligned(n, x, y))).value
        ),
        "nextafter": lambda n, x, y: nextafter(*(Term(n, v) for v in aligned(n, x, y))).value,
        "fmax": lambda n, x, y: fmax(*(Term(n, v) for v in aligned(n, x, y))).value,
        "fmin": lambda n, x, y: fmin(*(Term(n, v) for v in aligned(n, x, y))).value,
        "logical_not logical_not_": lambda n, x: n(nn.Not(n.cast(x, i1))),
    }
)


@rows("cast", "cast_")
def cast(n: PaddleLayer, x: Value) -> Any:
    """A cast; to complex numbers with imaginary parts of 0."""
    element = n.element("dtype", n.element("out_dtype", f32))
    if isinstance(element, ComplexType):
        real = Term(n, n.cast(x, element.element_type))
        return pair(real, real.zeros())
    return n.cast(x, element)


@rows("softplus")
def softplus(n: PaddleLayer, x: Value) -> Value:
    beta, threshold = n.float("beta", 1.0), n.float("threshold", 20.0)
    t = Term(n, x)
    soft = (t * beta).function(nn.Softplus) / beta
    return ((t * beta) > threshold).choose(t, soft).value


@rows("softshrink")
def soft_shrink(n: PaddleLayer, x: Value) -> Value:
    """Soft shrinkage; Paddle multiplies by masks, so that infinities become NaN."""
    by, t = n.float("lambda", n.float("threshold", 0.5)), Term(n, x)
    above, below = ((t > by), (t < -by))
    return (above.cast(t.element) * (t - by) + below.cast(t.element) * (t + by)).value


@rows("thresholded_relu", "thresholded_relu_")
def thresholded_relu(n: PaddleLayer, x: Value) -> Value:
    """x above the threshold, else a constant; computed by products with masks, as in Paddle."""
    by, t = n.float("threshold", 1.0), Term(n, x)
    above = (t > by).cast(t.element)
    return (above * t + (1.0 - above) * n.float("value", 0.0)).value


@rows("relu", "relu_")
def relu(n: PaddleLayer, x: Value) -> Value:
    """max(x, 0); 0 for NaN."""
    if isinstance(x.type.element_type, FloatType):
        return n(nn.ThresholdedRelu(x, alpha=0.0))
    return n(nn.Relu(x))


@rows("logsigmoid")
def log_sigmoid(n: PaddleLayer, x: Value) -> Value:
    """log(sigmoid(x)) as in Paddle: NaN for -infinity."""
    t = Term(n, x)
    top = (-t).max(0.0)
    total = (-top).function(nn.Exp) + (-t - top).function(nn.Exp)
    return (-top - total.function(nn.Log)).value


@rows("rrelu")
def random_leaky_relu(n: PaddleLayer, x: Value) -> list[Value | None]:
    """Leaky relu with the mean of the random slopes that training would draw."""
    if not n.flag("is_test"):
        raise n.error("random slopes, which are of training, are not supported")
    slope = (n.float("lower", 1 / 8) + n.float("upper", 1 / 3)) / 2
    return [activation(n, "leakyrelu", x, slope), None]


@rows("prelu")
def prelu(n: PaddleLayer, x: Value, alpha: Value) -> Value:
    mode, layout = n.text("mode", "all"), n.text("data_format", "NCHW")
    if mode == "channel" and layout == "NCHW":
        count = alpha.type.shape[0] if alpha.type.rank == 1 else alpha.type.shape[1]
        alpha = reshape(n, alpha, [count or -1, *[1] * (x.type.rank - 2)])
    return n(nn.Prelu(x, alpha))


@rows("scale", "scale_")
def scale(n: PaddleLayer, x: Value, by: Value) -> Value:
    """x * scale + bias, or (x + bias) * scale, in the type of x."""
    bias, factor = n.float("bias"), n.known(by)
    element = x.type.element_type
    t = Term(n, x)
    if factor is None:
        multiplier: Any = Term(n, n.cast(as_scalar(n, by), element))
    else:
        multiplier = factor.reshape(-1)[0].item()
    if isinstance(element, IntegerType) and factor is not None:
        given = np.array([int(multiplier), int(bias)], np.int64)
        multiplier, bias = given.astype(type_to_numpy(element)).tolist()  # -1 of u8 is 255
    early = bias and not n.flag("bias_after_scale", True)
    t = t + bias if early else t
    if isinstance(multiplier, Term) or multiplier != 1:
        t = t * multiplier
    t = t + bias if bias and not early else t
    return t.cast(element).value


@rows("clip", "clip_")
def clip(n: PaddleLayer, x: Value, low: Value, high: Value) -> Value:
    element = x.type.element_type
    low, high = (n.cast(as_scalar(n, v), element) for v in (low, high))
    return n(nn.Clip(x, low, high))


@rows("pow", "pow_")
def power(n: PaddleLayer, x: Value) -> Value:
    exponent = n.float("y", n.float("factor", 1.0))
    return (Term(n, x) ** exponent).value


@rows("floor_divide", "floor_divide_")
def floor_divide(n: PaddleLayer, x: Value, y: Value) -> Value:
    a, b = (Term(n, v) for v in aligned(n, x, y))
    return (floor_of_quotient if isinstance(a.element, FloatType) else floor_div)(a, b).value


@rows("elementwise_pow")
def power_of(n: PaddleLayer, x: Value, y: Value) -> Value:
    """x ** y; integers to negative powers give 0, except for 1 and -1."""
    a, b = (Term(n, v) for v in aligned(n, x, y))
    if isinstance(a.element, FloatType) or b.element is i1:
        return (a**b).value
    odd = (b % 2).equals(0)
    unit = odd.choose(a * a, a)
    below = (a * a).equals(1).choose(unit, 0)
    return (b < 0).choose(below, a ** b.max(0)).value


@rows("angle")
def angle(n: PaddleLayer, x: Value) -> Value:
    """The angle of real numbers: 0 or pi."""
    t = Term(n, n.floating(x))
    found = (t < 0.0).choose(constant(n, math.pi, t.element), 0.0)
    return t.function(nn.IsNan).choose(t, found).value


@rows("masked_fill", "masked_fill_")
def masked_fill(n: PaddleLayer, x: Value, mask: Value, fill: Value) -> Value:
    return n(nn.Where(mask, n.cast(as_scalar(n, fill), x.type.element_type), x))


@rows("where")
def where(n: PaddleLayer, condition: Value, x: Value, y: Value) -> Value:
    x, y = aligned(n, x, y)
    return n(nn.Where(n.cast(condition, i1), x, y))


@rows("dropout")
def dropout(n: PaddleLayer, x: Value, *rest: Value) -> list[Value]:
    by = n.get("p", n.get("dropout_prob", 0.5))
    known = n.known(rest[1]) if len(rest) > 1 else None
    by = float(known.reshape(-1)[0]) if known is not None else float(by)
    mode = n.text("mode", n.text("dropout_implementation", "downgrade_in_infer"))
    kept = float(np.float32(1) - np.float32(by))  # Paddle's has 32 bits
    return [x if mode == "upscale_in_train" else (Term(n, x) * kept).value, x]


@rows("assign", "assign_", "share_data_", "print", "builtin.shadow_output", "memcpy_h2d", "memcpy")
def same(n: PaddleLayer, x: Any) -> Any:
    return [x]


rows.add({"memcpy_d2h": same, "stop_gradient": same, "contiguous": same, "share_data": same})


rows.add({"add_n": lambda n, inputs: combined(n, nn.Add, inputs)})
