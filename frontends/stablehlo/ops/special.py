"""The functions of chlo, most of them formulas of those that `nn` has."""

from __future__ import annotations

from functools import wraps

from ...common import complex_functions
from ...common.complexes import product
from ...common.formulas import nextafter
from ...common.special import hurwitz_zeta, polygamma_of_orders
from ...common.vocabulary import *
from ..layer import HloLayer, rows
from .formulas import square
from .pointwise import function, real_or_complex

# Source: M. Giles, Approximating the erfinv function (2012), single precision.
_ERF_INV_NEAR = (
    2.81022636e-08, 3.43273939e-07, -3.5233877e-06, -4.39150654e-06, 0.00021858087,
    -0.00125372503, -0.00417768164, 0.246640727, 1.50140941,
)  # fmt: skip
_ERF_INV_FAR = (
    -0.000200214257, 0.000100950558, 0.00134934322, -0.00367342844, 0.00573950773, -0.0076224613,
    0.00943887047, 1.00167406, 2.83297682,
)  # fmt: skip


def erf_inv(x: Term) -> Term:
    """The number whose error function is x; two steps of Newton's method for f64."""
    w = -((1.0 - x) * (x + 1.0)).function(nn.Log)
    near = polyval(_ERF_INV_NEAR, w - 2.5)
    far = polyval(_ERF_INV_FAR, w.max(5.0).function(nn.Sqrt) - 3.0)
    found = (w < 5.0).choose(near, far) * x
    if x.element is f64:
        for _ in range(2):
            slope = (found * found).function(nn.Exp) * (math.sqrt(math.pi) / 2)
            found = found - (found.function(nn.Erf) - x) * slope
    end = x.function(nn.Abs).equals(1.0)
    return end.choose(x * math.inf, found)


# Source: Lanczos approximation with g = 7 and nine terms.
_LANCZOS = (
    676.520368121885098567, -1259.13921672240287047, 771.32342877765307885,
    -176.61502916214059906, 12.507343278686904814, -0.13857109526572011690,
    9.9843695780195708595e-6, 1.50563273514931155834e-7,
)  # fmt: skip
_G = 7.5


def _lanczos(x: Term) -> tuple[Term, Term, Term, Term]:
    """Lanczos's sum: (x < 1/2, z, the sum at z, its derivative), z being -x there, else x - 1."""
    reflected = x < 0.5
    z = reflected.choose(-x, x - 1.0)
    total, slope = z.zeros() + 0.99999999999980993227684700473478, z.zeros()
    for i, c in enumerate(_LANCZOS):
        inverse = 1.0 / (z + float(i + 1))
        total = total + inverse * c
        slope = slope - inverse * inverse * c
    return reflected, z, total, slope


def lgamma(x: Term) -> Term:
    """log|gamma(x)|; below 1/2 by reflection."""
    reflected, z, total, _ = _lanczos(x)
    t = z + _G
    log_t = (z / _G + 1.0).function(nn.Log) + math.log(_G)
    plain = (z + 0.5 - t / log_t) * log_t + total.function(nn.Log) + math.log(2 * math.pi) / 2
    size = x.function(nn.Abs)
    part = size - size.function(nn.Floor)
    part = (part > 0.5).choose(1.0 - part, part)
    sine = (part * math.pi).function(nn.Sin).function(nn.Log)
    mirrored = math.log(math.pi) - sine - plain
    found = reflected.choose(mirrored, plain)
    return size.equals(math.inf).choose(math.inf, found)


def digamma(x: Term) -> Term:
    """The derivative of lgamma; below 1/2 by reflection."""
    reflected, z, total, slope = _lanczos(x)
    t = z + _G
    log_t = (z / _G + 1.0).function(nn.Log) + math.log(_G)
    plain = log_t + slope / total - 7.0 / t
    part = x + (-x + 0.5).function(nn.Floor)
    angle = part * math.pi
    mirrored = plain - angle.function(nn.Cos) / angle.function(nn.Sin) * math.pi
    pole = (x <= 0.0) & x.equals(x.function(nn.Floor))
    return pole.choose(math.nan, reflected.choose(mirrored, plain))


def zeta(order: Term, x: Term) -> Term:
    """The sum of (x + k)**-order, in f64; NaN where either is infinite."""
    wide_order, wide_x = order.cast(f64), x.cast(f64)
    found = hurwitz_zeta(wide_order, wide_x, math.nan)
    is_infinite = wide_order.equals(math.inf) | wide_x.equals(math.inf)
    is_infinite = is_infinite & ~wide_order.equals(1.0)
    return is_infinite.choose(math.nan, found).cast(x.element)


def polygamma(order: Term, x: Term) -> Term:
    """The order-th derivative of digamma; NaN for invalid orders."""
    wide_order, wide_x = order.cast(f64), x.cast(f64)
    is_order = (wide_order >= 0.0) & wide_order.equals(wide_order.function(nn.Floor))
    is_order = is_order & (wide_order < math.inf) & (wide_x < math.inf)
    found = polygamma_of_orders(wide_order, wide_x).cast(x.element)
    return order.equals(0.0).choose(digamma(x), is_order.choose(found, math.nan))


def _chebyshev(x: Term, coefficients: Sequence[float]) -> Term:
    """The sum of Chebyshev's polynomials with these coefficients, by Clenshaw's recurrence."""
    first, *rest = coefficients
    found, before = x.zeros() + rest[-1], x.zeros()
    for c in reversed(rest[:-1]):
        found, before = x * found * 2.0 - before + c, found
    return x * found - before + first


# Chebyshev's series of i1e(x) / x up to 8, and of i1e(x) sqrt(x) from there, interpolated.
_I1E_NEAR = (
    0.12629359322182, -0.17641651835783, 0.10264365868985, -0.052945981208095, 0.024726449030627,
    -0.010564084894626, 0.0041564229443128, -0.0015135724506315, 0.00051228595616866,
    -0.00016176081582607, 4.7815651075578e-05, -1.3273163656083e-05, 3.4702513081186e-06,
    -8.5687202651952e-07, 2.0032947546517e-07, -4.4450591271672e-08, 9.3815374468953e-09,
    -1.8872497759004e-09, 3.6255889956927e-10, -6.6634858741921e-11, 1.1736189277356e-11,
    -1.9840150355943e-12, 3.2242403191773e-13, -5.0581761001922e-14,
)  # fmt: skip
_I1E_FAR = (
    0.38928811750914, -0.0097610974913614, -0.00011058893876248, -3.8825648087729e-06,
    -2.5122362381615e-07, -2.631468843696e-08, -3.8353803854217e-09, -5.5897436956887e-10,
    -1.897497589826e-11, 3.2525989020205e-11, 1.4125762777366e-11, 2.035629260641e-12,
    -7.1980997551346e-13, -4.0834267391043e-13,
)  # fmt: skip


def bessel_i1e(x: Term) -> Term:
    """The modified Bessel function of order one, divided by exp|x|."""
    size = x.function(nn.Abs)
    near = _chebyshev(size.min(8.0) / 4.0 - 1.0, _I1E_NEAR) * x
    large = size.max(8.0)
    far = _chebyshev(16.0 / large - 1.0, _I1E_FAR) / large.function(nn.Sqrt)
    return (size < 8.0).choose(near, far * x.function(nn.Sign))


def _of_halves(formula: Callable[..., Term]) -> Callable[..., Term]:
    """The formula computed in f32 where its operands have fewer bits, as XLA computes it.

    Rounded after each operation, terms that cancel each other leave few correct digits.
    """

    @wraps(formula)
    def computed(*operands: Term) -> Term:
        element = operands[0].element
        if element in (f32, f64):
            return formula(*operands)
        return formula(*(x.cast(f32) for x in operands)).cast(element)

    return computed


_OPS = named("acos acosh asin asinh atan atanh cosh sinh tan erf erfc")
_FORMULAS = {
    **{name: function(op) for name, op in _OPS.items()},
    "erf_inv": _of_halves(erf_inv),
    "lgamma": _of_halves(lgamma),
    "digamma": _of_halves(digamma),
    "zeta": zeta,
    "polygamma": _of_halves(polygamma),
    "bessel_i1e": _of_halves(bessel_i1e),
    "next_after": nextafter,
    "is_inf": complex_functions.is_inf,
    "is_pos_inf": lambda x: x.equals(math.inf),
    "is_neg_inf": lambda x: x.equals(-math.inf),
}
_COMPLEX = {
    "acos": complex_functions.acos,
    "acosh": complex_functions.acosh,
    "asin": complex_functions.asin,
    "asinh": complex_functions.asinh,
    "atan": complex_functions.atan,
    "atanh": complex_functions.atanh,
    "cosh": complex_functions.cosh,
    "sinh": complex_functions.sinh,
    "tan": complex_functions.tan,
}
rows.add({f"chlo.{k}": real_or_complex(v, _COMPLEX.get(k)) for k, v in _FORMULAS.items()})
rows.add({"chlo.square": real_or_complex(square, lambda x: product(x, x))})


@rows("custom_call @shape_assertion")
def shape_assertion(n: HloLayer, *inputs: Any) -> list[Any]:
    return []


@rows("custom_call @xla_ffi_python_cpu_callback")
def callback(n: HloLayer, *inputs: Any) -> list[Any]:
    """A Python callback: printing is left out; results are not supported."""
    if n.op.results:
        raise n.error("it calls a function of Python, which the file does not have")
    return []


@rows("custom_call @Sharding", "custom_call @annotate_device_placement", "sdy.sharding_constraint")
def marked(n: HloLayer, x: Any) -> Any:
    """A sharding annotation, which is dropped."""
    return x
