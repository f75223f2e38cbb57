"""Functions of two tensors, or of a tensor and a number, of any two element types."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from functools import partial
from typing import Any

import numpy as np
import torch

from .cases import Config, Subject
from .pytorch_base import FLOATS, LAYOUTS, ROUGH, numbers, subject
from .sampled import SampledSubject

Tensors = Sequence[Sequence[torch.Tensor]]

ELEMENTS = [*FLOATS, *"int64 int32 int8 uint8 bool".split()]  # noqa: SIM905
NUMBERS = [2, -1, 300, 2**33, 2.5, True, 0, -3.5, 0.1, -300]
"""Python numbers, some of which a tensor's type cannot represent."""
EXTENTS = ([3, 4], [5, 7])
"""The shapes of the two runs with dynamic shapes."""

MAIN = """add sub mul div floor_divide true_divide remainder fmod pow maximum minimum fmax fmin eq
ne lt le gt ge hypot atan2 copysign xlogy where logical_and""".split()  # noqa: SIM905
OTHERS = """bitwise_and bitwise_or bitwise_xor logical_or logical_xor logaddexp logaddexp2 heaviside
float_power rsub ldexp nextafter isclose special.xlog1py special.zeta gcd lcm bitwise_left_shift
bitwise_right_shift lerp addcmul addcdiv clamp clamp_min clamp_max masked_fill div_trunc div_floor
add_alpha sub_alpha isin dist polar complex special.xlogy outer kron cross dot matmul mm addmm bmm
baddbmm addmv addr inner tensordot vdot cdist equal cat stack index_fill prelu
nn.functional.mse_loss nn.functional.l1_loss nn.functional.smooth_l1_loss bucketize searchsorted
iadd isub imul idiv ipow itrue_copy""".split()  # noqa: SIM905

FUNCTIONS: dict[str, Callable[..., Any]] = {
    "where": lambda x, y: (
        torch.where(x > 0, x, y) if isinstance(x, torch.Tensor) else torch.where(y > 0, x, y)
    ),
    "lerp": lambda x, y: torch.lerp(x, y, 0.3),
    "addcmul": lambda x, y: torch.addcmul(x, y, y, value=2),
    "addcdiv": lambda x, y: torch.addcdiv(x, x, y, value=2),
    "clamp": lambda x, y: torch.clamp(x, max=y),
    "clamp_min": lambda x, y: torch.clamp_min(x, y),
    "clamp_max": lambda x, y: torch.clamp_max(x, y),
    "masked_fill": lambda x, y: x.masked_fill(x > 0, y),
    "div_trunc": lambda x, y: torch.div(x, y, rounding_mode="trunc"),
    "div_floor": lambda x, y: torch.div(x, y, rounding_mode="floor"),
    "add_alpha": lambda x, y: torch.add(x, y, alpha=3),
    "sub_alpha": lambda x, y: torch.sub(x, y, alpha=2),
    "matmul": lambda x, y: x @ y.mT,
    "mm": lambda x, y: torch.mm(x, y.t()),
    "addmm": lambda x, y: torch.addmm(x[:, :1], x, y.t(), beta=2, alpha=3),
    "bmm": lambda x, y: torch.bmm(x[None].expand(2, -1, -1), y.t()[None].expand(2, -1, -1)),
    "baddbmm": lambda x, y: torch.baddbmm(x[None, :, :1], x[None], y.t()[None], alpha=2),
    "addmv": lambda x, y: torch.addmv(x[:, 0], x, y[0]),
    "addr": lambda x, y: torch.addr(x, x[:, 0], y[0]),
    "dot": lambda x, y: torch.dot(x[0], y.reshape(-1)[: x.shape[1]]),
    "vdot": lambda x, y: torch.vdot(x[0], y[0]),
    "tensordot": lambda x, y: torch.tensordot(x, y, ([1], [1])),
    "outer": lambda x, y: torch.outer(x[0], y.reshape(-1)),
    "cross": lambda x, y: torch.linalg.cross(x[:, :3], y[..., :3]),
    "equal": lambda x, y: torch.eq(x, y).all(),
    "cat": lambda x, y: torch.cat([x, y, x], -1),
    "stack": lambda x, y: torch.stack([x, y]),
    "index_fill": lambda x, y: x.index_fill(0, torch.tensor([0, 2]), y),
    "prelu": lambda x, y: torch.nn.functional.prelu(x, y.reshape(-1)[:1]),
    "bucketize": lambda x, y: torch.bucketize(x, y.reshape(-1).sort()[0]),
    "searchsorted": lambda x, y: torch.searchsorted(x.sort(-1)[0], y),
    "iadd": lambda x, y: x.clone().add_(y),
    "isub": lambda x, y: x.clone().sub_(y),
    "imul": lambda x, y: x.clone().mul_(y),
    "idiv": lambda x, y: x.clone().div_(y),
    "ipow": lambda x, y: x.clone().pow_(y),
    "itrue_copy": lambda x, y: x.clone().copy_(y),
}
"""The functions that are not simply `torch.NAME` of two operands."""

UNARY = """abs acos acosh angle asin asinh atan atanh bitwise_not ceil conj_physical cos cosh
deg2rad digamma erf erfc erfinv exp exp2 expm1 floor frac i0 isfinite isinf isnan isneginf
isposinf isreal lgamma log log10 log1p log2 logical_not logit nan_to_num neg positive rad2deg real
reciprocal relu round rsqrt sgn sigmoid sign signbit sin sinc sinh sqrt square tan tanh trunc
special.bessel_j0 special.bessel_j1 special.bessel_y0 special.bessel_y1 special.entr special.erfcx
special.i0e special.i1 special.i1e special.log_ndtr special.ndtr special.ndtri
special.modified_bessel_i0 special.modified_bessel_i1 special.modified_bessel_k0
special.modified_bessel_k1 special.scaled_modified_bessel_k0 special.scaled_modified_bessel_k1
special.spherical_bessel_j0 special.airy_ai special.psi nn.functional.celu nn.functional.elu
nn.functional.gelu nn.functional.glu nn.functional.hardshrink nn.functional.hardsigmoid
nn.functional.hardswish nn.functional.hardtanh nn.functional.leaky_relu nn.functional.logsigmoid
nn.functional.mish nn.functional.relu6 nn.functional.selu nn.functional.silu
nn.functional.softplus nn.functional.softshrink nn.functional.softsign nn.functional.tanhshrink
frexp zeros_like ones_like nn.functional.normalize flatten clone ravel diag_embed tril triu trace
nonzero argwhere msort special.multigammaln""".split()  # noqa: SIM905


def _function(name: str) -> Callable[..., Any]:
    if name in FUNCTIONS:
        return FUNCTIONS[name]
    if name == "special.multigammaln":
        return lambda x: torch.special.multigammaln(x.abs() + 2, 2)
    if name == "nn.functional.threshold":
        return lambda x: torch.nn.functional.threshold(x, 0.1, 20)
    found: Any = torch
    for part in name.split("."):
        found = getattr(found, part)
    return found


def _binary(name: str, config: Config, rng: np.random.Generator) -> tuple[Any, Tensors]:
    function, second, number = _function(name), config["second"], config["number"]
    order = (lambda x, y: function(y, x)) if config["swapped"] else function
    runs = []
    for shape in EXTENTS:
        x = numbers(shape, config["elements"], config["values"], rng)
        if second == "number":
            runs.append([x])
            continue
        if second == "0-d":
            own: Any = torch.tensor(number).to(getattr(torch, config["other"]))
        else:
            extents = {"same": shape, "row": shape[-1:], "column": [shape[0], 1], "one": [1]}
            own = numbers(extents[second], config["other"], config["values"], rng)
        runs.append([x, own])
    return (lambda x: order(x, number)) if second == "number" else order, runs


def _unary(name: str, config: Config, rng: np.random.Generator) -> tuple[Any, Tensors]:
    shapes = {"plain": EXTENTS, "0-d": ([], []), "empty": ([0, 3], [0, 5]), "one": ([1], [1])}
    make = partial(numbers, dtype=config["elements"], how=config["values"], rng=rng)
    return _function(name), [[make(shape)] for shape in shapes[config["shape"]]]


def sampled(found: Subject, single: int, pairs: int) -> Subject:
    """The subject with random configurations: `single` with one changed value and
    `pairs` with two.
    """
    return SampledSubject(
        found.name, found.choices, found.make, found.allowed, single=single, pairs=pairs
    )


def subjects() -> Iterator[Subject]:
    """A subject for each function."""
    choices: dict[str, Sequence[Any]] = {
        "elements": ELEMENTS, "other": ELEMENTS, "number": NUMBERS,
        "second": ["same", "number", "0-d", "row", "column", "one"], "swapped": [False, True],
        "values": ["plain", "odd", "ties"], **LAYOUTS,
    }  # fmt: skip
    for name in MAIN:
        yield sampled(subject(f"two: {name}", partial(_binary, name), **choices), 24, 16)
    for name in OTHERS:
        yield sampled(subject(f"two: {name}", partial(_binary, name), **choices), 10, 8)
    one: dict[str, Sequence[Any]] = {
        "elements": [*ELEMENTS, "int16", "complex64", "complex128"], **LAYOUTS,
        "values": ["plain", "odd", "ties", "positive"], "shape": ["plain", "0-d", "empty", "one"],
    }  # fmt: skip
    for name in UNARY:
        tolerances = {"float64": ROUGH} if "bessel_j" in name else {}
        made = subject(f"one: {name}", partial(_unary, name), tolerances=tolerances, **one)
        yield sampled(made, 7, 3)
