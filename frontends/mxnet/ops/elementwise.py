"""Elementwise functions of one tensor, of two, or of a tensor and a number.

Comparisons return 0 and 1 in the operands' type; NumPy-like ones (`_npi_`) return booleans.
"""

from __future__ import annotations

from ...common import special
from ...common.formulas import (
    cbrt,
    hypot,
    isfinite,
    log2,
    log10,
    round_half_away,
    trunc,
    widened,
)  # fmt: skip
from ...common.vocabulary import *
from ..layer import MxnetLayer, rows

Formula = Callable[[Term], Term]


def _of(op) -> Formula:
    return lambda x: x.function(op)


def _negation(x: Term) -> Term:
    return x.equals(0).cast(x.element)


def _gamma(x: Term) -> Term:
    sign = (x < 0.0).choose(special.sine_of_turn(x).function(nn.Sign), 1.0)
    return special.exp(special.lgamma(x)) * sign


_UNARY: dict[str, Formula] = {
    name: _of(op)
    for op in (
        nn.Abs, nn.Ceil, nn.Floor, nn.Exp, nn.Log, nn.Sqrt, nn.Rsqrt, nn.Sign, nn.Sin, nn.Cos,
        nn.Tan, nn.Sinh, nn.Cosh, nn.Tanh, nn.Erf, nn.Relu, nn.Sigmoid, nn.Softsign,
        nn.Reciprocal,
    )
    for name in (op.__name__.lower(),)
} | {
    "negative": lambda x: -x,
    "square": lambda x: x * x,
    "cbrt": cbrt,
    "rcbrt": lambda x: 1.0 / cbrt(x),
    "arcsin": _of(nn.Asin),
    "arccos": _of(nn.Acos),
    "arctan": _of(nn.Atan),
    "arcsinh": _of(nn.Asinh),
    "arccosh": _of(nn.Acosh),
    "arctanh": _of(nn.Atanh),
    "log2": log2,
    "log10": log10,
    "log1p": _of(nn.Log1p),
    "expm1": _of(nn.Expm1),
    "degrees": lambda x: x * (180 / math.pi),
    "radians": lambda x: x * (math.pi / 180),
    "round": round_half_away,
    "fix": trunc,
    "trunc": trunc,
    "rint": lambda x: (x - 0.5).function(nn.Ceil),
    "gamma": lambda x: widened(_gamma, x),
    "gammaln": lambda x: widened(special.lgamma, x),
    "digamma": lambda x: widened(special.digamma, x),
    "erfinv": lambda x: widened(special.erfinv, x),
    "logical_not": _negation,
    "identity": lambda x: x,
}  # fmt: skip

_ALIASES = {
    "Sigmoid": "sigmoid",
    "LogisticRegressionOutput": "sigmoid",
    "_npx_sigmoid": "sigmoid",
    "_npx_relu": "relu",
    "_npx_erf": "erf",
    "_contrib_round_ste": "round",
    "_contrib_sign_ste": "sign",
    "BlockGrad": "identity",
    "stop_gradient": "identity",
    "MakeLoss": "identity",
    "make_loss": "identity",
    "LinearRegressionOutput": "identity",
    "MAERegressionOutput": "identity",
    "SVMOutput": "identity",
    "_copy": "identity",
    "_CrossDeviceCopy": "identity",
    "IdentityAttachKLSparseReg": "identity",
    "_np_copy": "identity",
    "_contrib_gradientmultiplier": "identity",
}
"""MXNet's further names of these functions."""


def _unary(formula: Formula) -> Callable[[MxnetLayer, Value], Value]:
    return lambda n, x: formula(n.term(x)).value


def _numpy_unary(formula: Formula) -> Callable[[MxnetLayer, Value], Value]:
    """A converter of a function that converts integers to floats."""

    def convert(n: MxnetLayer, x: Value) -> Value:
        return formula(n.term(n.floating(x))).value

    return convert


_KEEP_INTEGERS = {"abs", "absolute", "negative", "sign", "square", "bitwise_not", "identity"}

rows.add({name: _unary(f) for name, f in _UNARY.items()})
rows.add({name: _unary(_UNARY[known]) for name, known in _ALIASES.items()})


def _around(n: MxnetLayer, x: Value) -> Value:
    scale = 10.0 ** n.int("decimals", 0)
    return (round_half_away(n.term(x) * scale) / scale).value


rows.add(
    {
        f"_npi_{name}": (_unary if name in _KEEP_INTEGERS else _numpy_unary)(formula)
        for name, formula in (
            {**_UNARY, "absolute": _UNARY["abs"]} | {"bitwise_not": lambda x: ~x}
        ).items()
        if name not in ("logical_not", "round", "identity")
    }
    | {
        "_npi_around": _around,
        "_npi_logical_not": lambda n, x: n.term(x).equals(0).value,
        "_npi_isnan": lambda n, x: n(nn.IsNan(n.floating(x))),
        "_npi_isinf": lambda n, x: n(nn.IsInf(n.floating(x))),
        "_npi_isfinite": lambda n, x: isfinite(n.term(n.floating(x))).value,
        "_contrib_div_sqrt_dim": lambda n, x: (
            (n.term(x) / math.sqrt(n.extent(x, x.type.rank - 1))).value
        ),
    }
)


@rows("hard_sigmoid")
def hard_sigmoid(n: MxnetLayer, x: Value) -> Value:
    return n(nn.HardSigmoid(x, alpha=n.float("alpha", 0.2), beta=n.float("beta", 0.5)))


@rows("clip", "_npi_clip", "_sparse_clip")
def clip(n: MxnetLayer, x: Value) -> Value:
    term = n.term(x)
    if n.get("a_min") is not None:
        term = term.max(n.float("a_min"))
    return (term if n.get("a_max") is None else term.min(n.float("a_max"))).value


@rows("smooth_l1", "_npx_smooth_l1")
def smooth_l1(n: MxnetLayer, x: Value) -> Value:
    square, term = n.float("scalar", 1.0) ** 2, n.term(x)
    size = term.function(nn.Abs)
    return (size < 1 / square).choose(term * term * (0.5 * square), size - 0.5 / square).value


@rows("Cast", "cast", "amp_cast", "_npi_cast", "_npx_cast")
def cast(n: MxnetLayer, x: Value) -> Value:
    return n.cast(x, n.element("dtype", f32))


@rows("amp_multicast")
def amp_multicast(n: MxnetLayer, *inputs: Value) -> list[Value]:
    """All inputs cast to the widest of their types, or to the narrowest."""
    sizes = [type_to_numpy(x.type.element_type).itemsize for x in inputs]
    best = (min if n.flag("cast_narrow") else max)(sizes)
    element = inputs[sizes.index(best)].type.element_type
    return [n.cast(x, element) for x in inputs]


@rows("add_n", "ElementWiseSum", "_sparse_add_n", "_sparse_ElementWiseSum")
def add_n(n: MxnetLayer, *inputs: Value) -> Value:
    return combined(n, nn.Add, inputs)


# -- two operands ------------------------------------------------------------------------------


def _mod(a: Term, b: Term) -> Term:
    """The remainder, with the sign of the divisor; 0 if the divisor is 0."""
    return b.equals(0).choose(0, a % b)


def _logical(combine: Callable[[Term, Term], Term]) -> Callable[[Term, Term], Term]:
    return lambda a, b: combine(a.cast(i1), b.cast(i1))


_BINARY: dict[str, Callable[[Term, Term], Term]] = {
    "add": lambda a, b: a + b,
    "sub": lambda a, b: a - b,
    "mul": lambda a, b: a * b,
    "div": lambda a, b: a / b,
    "mod": _mod,
    "power": lambda a, b: a**b,
    "maximum": lambda a, b: a.max(b),
    "minimum": lambda a, b: a.min(b),
    "hypot": hypot,
    "arctan2": atan2,
    "bitwise_and": lambda a, b: a & b,
    "bitwise_or": lambda a, b: a | b,
    "bitwise_xor": lambda a, b: a ^ b,
}
_COMPARISONS: dict[str, Callable[[Term, Term], Term]] = {
    "equal": lambda a, b: a.equals(b),
    "not_equal": lambda a, b: ~a.equals(b),
    "greater": lambda a, b: a > b,
    "greater_equal": lambda a, b: a >= b,
    "lesser": lambda a, b: a < b,
    "lesser_equal": lambda a, b: a <= b,
    "logical_and": _logical(lambda a, b: a & b),
    "logical_or": _logical(lambda a, b: a | b),
    "logical_xor": _logical(lambda a, b: a ^ b),
}
_OTHER_NAMES = {"add": "plus", "sub": "minus"}
_NUMPY_NAMES = {
    "sub": "subtract",
    "mul": "multiply",
    "div": "true_divide",
    "lesser": "less",
    "lesser_equal": "less_equal",
}


def _pair(n: MxnetLayer, a: Value, b: Value) -> tuple[Term, Term]:
    """The operands in one type: a float type if there is one, else the wider."""
    types = [type_to_numpy(v.type.element_type) for v in (a, b)]
    if types[0] == types[1]:
        return n.term(a), n.term(b)
    floats = [t for t in types if t.kind not in "biu"]
    best = max(floats or types, key=lambda t: (t.kind != "b", t.itemsize))
    element = numpy_to_type(best)
    return n.term(n.cast(a, element)), n.term(n.cast(b, element))


def _binary(formula, compares: bool, numpy: bool, divides: bool) -> Callable:
    def convert(n: MxnetLayer, a: Value, b: Value) -> Value:
        lhs, rhs = _pair(n, a, b)
        if numpy and divides:
            lhs, rhs = (n.term(n.floating(v.value)) for v in (lhs, rhs))
        found = formula(lhs, rhs)
        return (found.cast(lhs.element) if compares and not numpy else found).value

    return convert


def _scalar(formula, compares: bool, numpy: bool, divides: bool, turned: bool) -> Callable:
    """A converter of an operation with a number as right operand or, if `turned`, as left one."""

    def convert(n: MxnetLayer, x: Value) -> Value:
        term, number = n.term(x), n.float("scalar", 1.0)
        whole = number == int(number) if math.isfinite(number) else False
        whole = n.flag("is_int", whole)
        if term.element is i1 or (numpy and (divides or not whole)):
            term = n.term(n.floating(x))
        value = n.term(n.constant(number, term.element))
        found = formula(value, term) if turned else formula(term, value)
        return (found.cast(term.element) if compares and not numpy else found).value

    return convert


def _names(name: str) -> list[str]:
    """The legacy MXNet names of an operation on two tensors."""
    both = [name, _OTHER_NAMES.get(name, name)]
    found = [f"{lead}_{one}" for one in both for lead in ("elemwise", "broadcast", "")]
    words = "".join(word.capitalize() for word in both[1].split("_"))
    apart = "_".join(word.capitalize() for word in both[1].split("_"))
    return [*dict.fromkeys([*found, f"_{words}", f"_{apart}"])]


_REVERSED = {"sub": "rminus", "div": "rdiv", "mod": "rmod", "power": "rpower"}
_NUMPY_REVERSED = {
    "sub": "rsubtract",
    "div": "rtrue_divide",
    "mod": "rmod",
    "power": "rpower",
    "arctan2": "rarctan2",
}

for _name, _formula in {**_BINARY, **_COMPARISONS}.items():
    _kind = (_name in _COMPARISONS, False, _name == "div")
    _np_kind = (_name in _COMPARISONS, True, _name in ("div", "arctan2"))
    _deep = _NUMPY_NAMES.get(_name, _name)
    _scalars = [f"_{_name}_scalar", f"_{_OTHER_NAMES.get(_name, _name)}_scalar"]
    rows.add({name: _binary(_formula, *_kind) for name in _names(_name)})
    rows.add({name: _scalar(_formula, *_kind, False) for name in dict.fromkeys(_scalars)})
    rows.add({f"_npi_{_deep}": _binary(_formula, *_np_kind)})
    rows.add({f"_npi_{_deep}_scalar": _scalar(_formula, *_np_kind, False)})
    if _name in _REVERSED:
        rows.add({f"_{_REVERSED[_name]}_scalar": _scalar(_formula, *_kind, True)})
    if _name in _NUMPY_REVERSED:
        rows.add({f"_npi_{_NUMPY_REVERSED[_name]}_scalar": _scalar(_formula, *_np_kind, True)})

rows.add({"_grad_add": _binary(_BINARY["add"], False, False, False)})


# -- choices -----------------------------------------------------------------------------------


@rows("where", "_npi_where", "_sparse_where")
def where(n: MxnetLayer, condition: Value, a: Value, b: Value) -> Value:
    lhs, rhs = _pair(n, a, b)
    chosen = n.term(condition).cast(i1)
    if n.kind == "where" and chosen.rank == 1 and lhs.rank > 1:
        chosen = chosen.spread(0, lhs.rank - 1)
    return chosen.choose(lhs, rhs).value


@rows("_npi_where_lscalar", "_npi_where_rscalar")
def where_scalar(n: MxnetLayer, condition: Value, x: Value) -> Value:
    chosen, number = n.term(condition).cast(i1), n.float("scalar")
    pair = (number, n.term(x)) if n.kind == "_npi_where_lscalar" else (n.term(x), number)
    return chosen.choose(*pair).value


@rows("zeros_like", "_sparse_zeros_like", "ones_like", "_npi_full_like")
def like(n: MxnetLayer, x: Value) -> Value:
    number = {"zeros_like": 0, "_sparse_zeros_like": 0, "ones_like": 1}.get(n.kind)
    value = n.float("fill_value") if number is None else number
    fill = n.term(n.constant(value, n.element("dtype", x.type.element_type)))
    return fill.filled(n.term(shape_of(n, x))).value
