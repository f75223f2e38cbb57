"""Elementwise functions and reductions, from the signatures of `paddle.*`."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

import paddle
import paddle.nn.functional as fn

from .cases import Config, Subject
from .paddle_base import FLOATS, IS_OLD, TYPES, Function, Operand, given, subject

UNARY = """abs acos acosh asin asinh atan atanh ceil cos cosh digamma erf erfinv exp expm1 floor
frac i0 i0e i1 i1e isfinite isinf isnan isneginf isposinf isreal lgamma log log10 log1p log2 logit
neg positive reciprocal round rsqrt sgn sigmoid sign signbit sin sinc sinh sqrt square tan tanh
trunc nan_to_num deg2rad rad2deg bitwise_not logical_not stanh angle"""
BINARY = """add subtract multiply divide floor_divide remainder maximum minimum fmax fmin pow atan2
equal not_equal less_than less_equal greater_than greater_equal logical_and logical_or logical_xor
bitwise_and bitwise_or bitwise_xor heaviside hypot copysign gcd lcm logaddexp kron outer inner dist
nextafter ldexp isclose allclose equal_all bitwise_left_shift bitwise_right_shift"""
REDUCTIONS = """sum mean max min prod amax amin std var logsumexp median nanmedian nansum nanmean
all any count_nonzero argmax argmin cumsum cumprod logcumsumexp cummax cummin sort argsort mode
norm"""
SHAPES = [[2, 3, 4], [4], [1, 4], [0, 4], [2, 2, 4, 6], []]
NUMBERS = {"numbers": ["plain", "odd"]}


def _function(name: str) -> Function:
    return next(getattr(m, name) for m in (paddle, fn) if hasattr(m, name))


def _one(config: Config) -> list[Operand]:
    kind = config.get("numbers", "plain")
    return [Operand(config.get("shape", [2, 3, 4]), config.get("dtype", "float32"), kind)]


def _is_replaced(op: str, config: Config) -> bool:
    """Whether Paddle 3.0 differs from 3.3, which nnc follows: 3.0 rounds ties away from zero, drops
    NaN in minima and maxima, and computes negative powers of integers in floats.
    """
    if not IS_OLD:
        return False
    if op in ("pow", "x**y", "y**x"):
        return "int" in config["dtype"]
    return op in ("round", "maximum", "minimum", "normalize") and config["numbers"] == "odd"


def _unary() -> Subject:
    choices = {"op": UNARY.split(), "dtype": TYPES, "shape": SHAPES, **NUMBERS}
    allowed = lambda c: not _is_replaced(c["op"], c)  # noqa: E731
    return subject("unary", choices, _one, lambda c: _function(c["op"]), allowed)


ACTIVATIONS: dict[str, dict[str, Sequence[Any]]] = {
    "celu": {"alpha": [1.0, 0.5]},
    "elu": {"alpha": [1.0, 0.3]},
    "gelu": {"approximate": [False, True]},
    "hardshrink": {"threshold": [0.5, 0.0, 2.0]},
    "hardsigmoid": {"slope": [0.2, 0.1666667], "offset": [0.5, 0.1]},
    "hardswish": {},
    "hardtanh": {"min": [-1.0, 0.0], "max": [1.0, 6.0]},
    "leaky_relu": {"negative_slope": [0.01, 0.5, -0.5]},
    "log_sigmoid": {},
    "log_softmax": {"axis": [-1, 0, 1], "dtype": [None, "float64"]},
    "mish": {},
    "relu": {},
    "relu6": {},
    "selu": {"scale": [1.0507009, 2.0], "alpha": [1.6732632, 0.5]},
    "silu": {},
    "softmax": {"axis": [-1, 0, 1], "dtype": [None, "float64"]},
    "softplus": {"beta": [1, 3.0], "threshold": [20, 1.0]},
    "softshrink": {"threshold": [0.5, 0.0, 2.0]},
    "softsign": {},
    "swish": {},
    "tanhshrink": {},
    "thresholded_relu": {"threshold": [1.0, -0.5], "value": [0.0, 7.0]},
    "rrelu": {"lower": [0.125], "upper": [0.5]},
    "glu": {"axis": [-1, 0, 1]},
    "normalize": {"p": [2, 1, 3, 0.5], "axis": [1, -1, 0], "epsilon": [1e-12, 1.0]},
}


def _activation(name: str, parameters: dict[str, Sequence[Any]]) -> Subject:
    renamed = {f"@{key}": values for key, values in parameters.items()}

    def build(config: Config) -> Function:
        how = given(config, **{key: f"@{key}" for key in parameters})
        if name == "rrelu":
            how["training"] = False
        return lambda x: getattr(fn, name)(x, **how)

    shapes = [[2, 4, 6], [4], [2, 0], [2, 2, 4, 6]]
    choices = {**renamed, "dtype": [*FLOATS, "int32"], "shape": shapes, **NUMBERS}
    return subject(f"F.{name}", choices, _one, build, lambda c: not _is_replaced(name, c))


def _binary() -> Subject:
    def operands(config: Config) -> list[Operand]:
        pairs = zip(config["shapes"], (config["dtype"], config["other"]), strict=True)
        shifts = "shift" in config["op"]
        least = 0 if shifts else -4
        return [Operand(shape, dtype, config["numbers"], least) for shape, dtype in pairs]

    def allowed(config: Config) -> bool:
        floats = "float" in config["dtype"] + config["other"]
        op, odd = config["op"], config["numbers"] == "odd"
        endless = op in ("gcd", "lcm") and floats  # Paddle does not end
        undefined = op == "hypot" and odd  # its vectors' square roots of infinity are NaN
        return not (endless or undefined or _is_replaced(op, config))

    shapes = [
        [[2, 3, 4], [2, 3, 4]],
        [[2, 3, 4], [4]],
        [[2, 1, 4], [1, 3, 1]],
        [[4], [4]],
        [[0, 4], [4]],
        [[2, 3], []],
    ]
    others = ["same", "float32", "int64", "bool"]
    choices = {"op": BINARY.split(), "dtype": TYPES, "other": others, "shapes": shapes, **NUMBERS}

    def same(config: Config) -> Config:
        other = config["dtype"] if config["other"] == "same" else config["other"]
        return {**config, "other": other}

    return subject(
        "binary",
        choices,
        lambda c: operands(same(c)),
        lambda c: _function(c["op"]),
        lambda c: allowed(same(c)),
    )


OPERATIONS: dict[str, Function] = {
    "x+y": lambda x, y: x + y,
    "x-y": lambda x, y: x - y,
    "y-x": lambda x, y: y - x,
    "x*y": lambda x, y: x * y,
    "x/y": lambda x, y: x / y,
    "y/x": lambda x, y: y / x,
    "x//y": lambda x, y: x // y,
    "x%y": lambda x, y: x % y,
    "x**y": lambda x, y: x**y,
    "y**x": lambda x, y: y**x,
    "x<y": lambda x, y: x < y,
    "x==y": lambda x, y: x == y,
    "maximum": lambda x, y: paddle.clip(x, min=y),
    "minimum": lambda x, y: paddle.clip(x, max=y),
    "clip": lambda x, y: paddle.clip(x, -y, y),
    "scale": lambda x, y: paddle.scale(x, y, 1.5),
    "early": lambda x, y: paddle.scale(x, y, 1.5, bias_after_scale=False),
    "pow": paddle.pow,
    "round": lambda x, y: paddle.round(x, int(y)),
    "increment": lambda x, y: paddle.increment(x.sum(), y),
    "full_like": paddle.full_like,
    "masked_fill": lambda x, y: paddle.masked_fill(x, x > 0, y),
    "where": lambda x, y: paddle.where(x > 0, x, y),
    "isin": lambda x, y: paddle.isin(x, paddle.to_tensor([y]).astype(x.dtype)),
    "lerp": lambda x, y: paddle.lerp(x, x * 2, y),
    "nan_to_num": lambda x, y: paddle.nan_to_num(x, y, y + 1, -y),
    "logit": lambda x, y: paddle.logit(x, 0.01 * y),
    "polygamma": lambda x, y: paddle.polygamma(x, int(y)),
    "stanh": lambda x, y: paddle.stanh(x, y, 2 * y),
}


def _with_number() -> Subject:
    numbers = [2, 0.5, -3, 0, 2.5]
    choices = {"op": list(OPERATIONS), "y": numbers, "dtype": TYPES, "shape": SHAPES, **NUMBERS}

    def build(config: Config) -> Function:
        return lambda x: OPERATIONS[config["op"]](x, config["y"])

    allowed = lambda c: not _is_replaced(c["op"], c)  # noqa: E731
    return subject("numbers", choices, _one, build, allowed)


def _casts() -> Subject:
    kinds = [*TYPES, "uint8", "int8", "int16", "bfloat16"]
    choices = {"to": kinds, "dtype": [*TYPES, "uint8", "int8", "int16"], "shape": SHAPES}
    choices |= {"numbers": ["plain"]}

    def build(config: Config) -> Function:
        to = config["to"]  # NumPy has no bfloat16
        return lambda x: [
            paddle.cast(v, "float32") if to == "bfloat16" else v for v in [paddle.cast(x, to)]
        ]

    return subject("cast", choices, _one, build)


_RUNNING = {"cumsum", "cumprod", "logcumsumexp", "cummax", "cummin"}
_KEEP = {*REDUCTIONS.split()} - _RUNNING - {"sort", "argsort"}
_TYPED = {"sum", "mean", "prod", "nansum", "argmax", "argmin"} | _RUNNING


def _reductions() -> Subject:
    def build(config: Config) -> Function:
        op, how = config["op"], {}
        how["dim" if "cumprod" in op else "axis"] = config["axis"]
        if config["keep"] and op in _KEEP:
            how["keepdim"] = True
        if config["typed"] and op in _TYPED:
            how["dtype"] = "int32" if op in ("argmax", "argmin", "cummax", "cummin") else "float64"
        if config["other"]:
            how |= {
                "sort": {"descending": True},
                "argsort": {"descending": True},
                "std": {"unbiased": False},
                "var": {"unbiased": False},
                "norm": {"p": 1},
                "median": {"mode": "min"},
                "nanmedian": {"mode": "min"},
            }.get(op, {})
        return lambda x: getattr(paddle, op)(x, **how)

    choices = {"op": REDUCTIONS.split(), "axis": [None, 0, -1, 1, [0, 1], [-1], []]}
    choices |= {"keep": [False, True], "typed": [False, True], "other": [False, True]}
    choices |= {"dtype": TYPES, "shape": SHAPES, "numbers": ["plain", "odd", "ties"]}

    def allowed(config: Config) -> bool:
        """Of nothing Paddle gives what was in memory, and other types."""
        return config["shape"] != [0, 4] or not (config["typed"] or config["op"][0] == "a")

    return subject("reductions", choices, _one, build, allowed)


def _quantiles() -> Subject:
    choices = {
        "op": ["quantile", "nanquantile"],
        "q": [0.5, 0.3, [0.25, 1.0]],
        "axis": [None, 0, -1],
    }
    choices |= {
        "keepdim": [False, True],
        "numbers": ["plain", "odd"],
        "dtype": ["float32", "float64"],
    }
    choices |= {"interpolation": ["linear", "higher", "lower", "midpoint", "nearest"]}

    def build(config: Config) -> Function:
        how = given(config, "q", "axis", "keepdim", "interpolation")
        return lambda x: getattr(paddle, config["op"])(x, **how)

    return subject("quantile", choices, _one, build, opens=("", "batch"))


def _norms() -> Subject:
    choices = {
        "p": [None, 2, 1, 0, 3, 0.5, "inf", "-inf", "fro"],
        "axis": [None, 0, -1, [0, 1], [-2, -1]],
    }
    choices |= {
        "keepdim": [False, True],
        "numbers": ["plain", "odd"],
        "dtype": ["float32", "float64"],
    }
    choices |= {"shape": [[2, 3, 4], [4], [3, 4]]}

    def build(config: Config) -> Function:
        how = given(config, "axis", "keepdim")
        if config["p"] is not None:
            how["p"] = float(config["p"]) if "inf" in str(config["p"]) else config["p"]
        return lambda x: paddle.linalg.norm(x, **how)

    def allowed(config: Config) -> bool:
        """Where NaN is, Paddle's extremes depend on the order of the elements."""
        return config["numbers"] == "plain" or "inf" not in str(config["p"])

    return subject("linalg.norm", choices, _one, build, allowed)


def subjects() -> Iterator[Subject]:
    """Yield the subjects of this file."""
    yield _unary()
    for name, parameters in ACTIVATIONS.items():
        yield _activation(name, parameters)
    yield _binary()
    yield _with_number()
    yield _casts()
    yield _reductions()
    yield _quantiles()
    yield _norms()
