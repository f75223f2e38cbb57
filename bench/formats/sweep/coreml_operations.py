"""Elementwise operations, reductions and sorting."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np
import torch

from .cases import Config, Subject
from .coreml_base import NUMBERS, Arrays, Body, array, given, mb, of_torch, subject

SHAPES = [[2, 3, 4], [4], [1, 4], [2, 2, 4, 6]]
FLOATS = ["float32", "float16"]
UNARY = """abs acos asin atan atanh ceil cos cosh erf exp exp2 floor inverse log logical_not round
rsqrt sign sin sinh sqrt square tan tanh threshold clip relu relu6 sigmoid silu softplus softsign
gelu identity"""


def _input(config: Config, rng: np.random.Generator) -> Arrays:
    dtype = config.get("dtype", "float32")
    return [array(rng, config.get("shape", [2, 3, 4]), dtype, config.get("numbers", ""))]


def _unary() -> Iterator[Subject]:
    def body(config: Config) -> Body:
        op, more = config["op"], {}
        if op == "clip":
            more = {"alpha": np.float32(-1), "beta": np.float32(1.5)}
        if op == "threshold":
            more = {"alpha": np.float32(0.5)}
        if op in ("log", "rsqrt", "inverse") and config["epsilon"] is not None:
            more = {"epsilon": np.float32(config["epsilon"])}
        if more and config.get("dtype") == "float16":
            more = {key: np.float16(value) for key, value in more.items()}
        if op == "logical_not":
            return lambda x: mb.logical_not(x=mb.cast(x=x, dtype="bool"))
        return lambda x: getattr(mb, op)(x=x, **more)

    choices = {"op": UNARY.split(), "dtype": [*FLOATS, "int32"], "shape": SHAPES, **NUMBERS}
    yield subject("unary", choices | {"epsilon": [None, 0.0, 0.5]}, _input, body)
    modes = {
        "mode": [None, "EXACT", "TANH_APPROXIMATION", "SIGMOID_APPROXIMATION"],
        "dtype": FLOATS,
        **NUMBERS,
    }
    yield subject("gelu", modes, _input, lambda c: lambda x: mb.gelu(x=x, **given(c, "mode")))


def _parametric() -> Iterator[Subject]:
    one = ["elu", "leaky_relu", "thresholded_relu"]
    two = ["clamped_relu", "linear_activation", "scaled_tanh", "sigmoid_hard"]
    fits = lambda c: c["op"] != "clamped_relu" or c["beta"] >= 0  # noqa: E731

    def body(config: Config) -> Body:
        half = config["dtype"] == "float16"
        kind = np.float16 if half else np.float32
        how = {"alpha": kind(config["alpha"])}
        if config["op"] in two:
            how["beta"] = kind(config["beta"])
        return lambda x: getattr(mb, config["op"])(x=x, **how)

    choices = {"op": one + two, "alpha": [0.5, 1.0, 2.0, 0.0, -0.5], "beta": [1.0, 0.0, 6.0, -1.0]}
    yield subject(
        "parametric",
        choices | {"dtype": FLOATS, "shape": SHAPES, **NUMBERS},
        _input,
        body,
        None,
        fits,
    )

    def channels(config: Config) -> Body:
        draw = np.random.default_rng(3)
        alpha, beta = (draw.random(3).astype(np.float32) + 0.3 for _ in range(2))
        if config["op"] == "prelu":
            return lambda x: mb.prelu(x=x, alpha=alpha)
        return lambda x: mb.softplus_parametric(x=x, alpha=alpha, beta=beta)

    choices = {
        "op": ["prelu", "softplus_parametric"],
        "shape": [[2, 3, 4], [2, 3, 4, 5], [1, 3, 2, 2, 2]],
    }
    yield subject("by channel", choices, _input, channels)


BINARY = """add sub mul real_div floor_div mod maximum minimum pow equal not_equal greater
greater_equal less less_equal"""
LOGICAL = "logical_and logical_or logical_xor"


def _binary() -> Iterator[Subject]:
    def inputs(config: Config, rng: np.random.Generator) -> Arrays:
        found = [
            array(rng, shape, config["dtype"], config["numbers"]) for shape in config["shapes"]
        ]
        if config["dtype"] == "int32" and config["op"] in ("floor_div", "mod", "real_div"):
            found[1] = np.where(found[1] == 0, 3, found[1]).astype(np.int32)
        if config["dtype"] == "int32" and config["op"] == "pow":
            found[1] = np.abs(found[1])
        return found

    def body(config: Config) -> Body:
        op = getattr(mb, config["op"])
        if config["op"] in LOGICAL.split():
            return lambda x, y: op(x=mb.cast(x=x, dtype="bool"), y=mb.cast(x=y, dtype="bool"))
        return lambda x, y: op(x=x, y=y)

    shapes = [
        [[2, 3, 4], [2, 3, 4]],
        [[2, 3, 4], [4]],
        [[2, 1, 4], [1, 3, 1]],
        [[4], [4]],
        [[3, 4], [2, 3, 4]],
    ]
    choices = {
        "op": [*BINARY.split(), *LOGICAL.split()],
        "dtype": [*FLOATS, "int32"],
        "shapes": shapes,
    }
    yield subject("binary", choices | NUMBERS, inputs, body)

    def numbers(config: Config) -> Body:
        kind = np.dtype(config["dtype"]).type
        y, op = kind(config["y"]), getattr(mb, config["op"])
        return lambda x: op(x=x, y=y) if config["side"] == "right" else op(x=y, y=x)

    choices = {"op": BINARY.split(), "y": [2, -3, 0.5, 1], "side": ["right", "left"]}
    choices |= {"dtype": [*FLOATS, "int32"], **NUMBERS}

    def whole(config: Config) -> bool:
        """Integers are not divided by 0; coremltools takes a root of -inf for a power."""
        op, left = config["op"], config["side"] == "left"
        divides = (op in ("real_div", "floor_div", "mod") and left) or op == "pow"
        if config["dtype"] == "int32":
            return config["y"] != 0.5 and not divides
        return op != "pow" or config["numbers"] == "plain"

    yield subject("numbers", choices, _input, numbers, None, whole)


def _casts() -> Iterator[Subject]:
    names = ["fp32", "fp16", "int32", "bool", "int8", "uint8", "int16", "uint16"]
    choices = {"to": names, "dtype": [*FLOATS, "int32"], "shape": SHAPES}
    yield subject("cast", choices, _input, lambda c: lambda x: mb.cast(x=x, dtype=c["to"]))

    def chosen(config: Config) -> Body:
        flag = lambda c: mb.cast(x=c, dtype="bool")  # noqa: E731
        if config["number"]:
            return lambda c, a, b: mb.select(cond=flag(c), a=a, b=np.float32(7))
        return lambda c, a, b: mb.select(cond=flag(c), a=a, b=b)

    def three(config: Config, rng: np.random.Generator) -> Arrays:
        first = array(rng, config["shapes"][0], "int32")
        return [first, *(array(rng, s, "float32", config["numbers"]) for s in config["shapes"][1:])]

    shapes = [[[2, 3], [2, 3], [2, 3]], [[3], [2, 3], [2, 3]], [[2, 1], [2, 3], [1, 3]]]
    yield subject("select", {"shapes": shapes, "number": [False, True], **NUMBERS}, three, chosen)


REDUCTIONS = "max min mean sum prod sum_square l1_norm l2_norm log_sum log_sum_exp"


def _reductions() -> Iterator[Subject]:
    def body(config: Config) -> Body:
        how = given(config, "axes", "keep_dims")
        return lambda x: getattr(mb, f"reduce_{config['op']}")(x=x, **how)

    axes = [None, [0], [-1], [1, -1], [0, 1], [-2]]
    choices = {"op": REDUCTIONS.split(), "axes": axes, "keep_dims": [None, True, False]}
    choices |= {"dtype": [*FLOATS, "int32"], "shape": [[2, 3, 4], [2, 4], [2, 2, 4, 6]]}
    choices |= {"numbers": ["plain", "odd", "positive"]}

    def allowed(config: Config) -> bool:
        """coremltools' own sums of exponentials take infinity from infinity."""
        if config["op"].startswith("log") and config["dtype"] == "int32":
            return False
        return config["op"] != "log_sum_exp" or config["numbers"] != "odd"

    yield subject("reductions", choices, _input, body, None, allowed)

    def arg(config: Config) -> Body:
        how = given(config, "axis", "keep_dims", "output_dtype")
        return lambda x: getattr(mb, f"reduce_{config['op']}")(x=x, **how)

    choices = {
        "op": ["argmax", "argmin"],
        "axis": [None, 0, 1, -1],
        "keep_dims": [None, True, False],
    }
    choices |= {
        "output_dtype": [None, "int32", "uint16"],
        "dtype": [*FLOATS, "int32"],
        "numbers": ["ties", "plain"],
    }
    yield subject("arg", choices, _input, arg)

    def sums(config: Config) -> Body:
        return lambda x: mb.cumsum(x=x, **given(config, "axis", "exclusive", "reverse"))

    def reference(config: Config) -> Any:
        axis = config["axis"] or 0

        def computed(x: np.ndarray) -> np.ndarray:
            x = np.flip(x, axis) if config["reverse"] else x
            y = np.cumsum(x, axis, dtype=x.dtype)
            y = y - x if config["exclusive"] else y
            return np.flip(y, axis) if config["reverse"] else y

        return computed

    choices = {"axis": [None, 0, 1, -1], "exclusive": [None, True], "reverse": [None, True]}
    yield subject("cumsum", choices | {"dtype": [*FLOATS, "int32"]}, _input, sums, reference)


def _orders() -> Iterator[Subject]:
    def argsort(config: Config) -> Body:
        return lambda x: mb.argsort(x=x, **given(config, "axis", "ascending"))

    def sorted_places(config: Config) -> Any:
        axis, up = -1 if config["axis"] is None else config["axis"], config["ascending"]
        return lambda x: np.argsort(x if up else -x, axis, kind="stable")

    choices = {
        "axis": [None, 0, 1, -1],
        "ascending": [None, True, False],
        "numbers": ["plain", "ties"],
    }
    yield subject(
        "argsort", choices | {"dtype": [*FLOATS, "int32"]}, _input, argsort, sorted_places
    )

    def topk(config: Config) -> Body:
        names = ["k", "axis", "ascending"]
        if config["target"] != "iOS15":
            names += ["sort", "return_indices"]
        if config["target"] in ("iOS17", "iOS18"):
            names += ["output_indices_dtype"]

        def made(x: Any) -> Any:
            found = mb.topk(x=x, **given(config, *names))
            return found[:1] if config["return_indices"] is False and "sort" in names else found

        return made

    def best(config: Config) -> Any:
        axis = -1 if config["axis"] is None else config["axis"]
        k = 1 if config["k"] is None else config["k"]

        def computed(x: np.ndarray) -> Any:
            order = np.argsort(x if config["ascending"] else -x, axis, kind="stable")
            order = np.take(order, range(x.shape[axis] if k == -1 else k), axis)
            values = np.take_along_axis(x, order, axis)
            short = config["return_indices"] is False and config["target"] != "iOS15"
            return [values] if short else [values, order]

        return computed

    choices = {"k": [2, None, 1, -1], "axis": [None, 0, 1, -1], "ascending": [None, True, False]}
    choices |= {
        "sort": [None, True],
        "return_indices": [None, False, True],
        "numbers": ["plain", "ties"],
    }
    choices |= {"output_indices_dtype": [None, "int32", "uint16"], "dtype": FLOATS}
    yield subject("topk", choices, _input, topk, best)

    def softmax(config: Config) -> Any:
        return of_torch(
            lambda x: torch.softmax(x, -1 if config["axis"] is None else config["axis"])
        )

    choices = {
        "axis": [None, 0, 1, -1, -2],
        "dtype": FLOATS,
        "shape": [[2, 3, 4], [3, 4], [2, 2, 4, 6]],
    }
    made = lambda c: lambda x: mb.softmax(x=x, **given(c, "axis"))  # noqa: E731
    yield subject("softmax", choices, _input, made, softmax)


def subjects() -> Iterator[Subject]:
    """Yield the subjects of this file."""
    for made in (_unary, _parametric, _binary, _casts, _reductions, _orders):
        yield from made()
