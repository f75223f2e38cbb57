"""Convolutions, poolings, normalizations, padding and resampling."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np
import paddle
import paddle.nn.functional as fn
from paddle import nn
from paddle.vision import ops

from .cases import Config, Subject
from .paddle_base import FLOATS, Function, Operand, given, subject

PLACES = (7, 8, 6)
FORMATS = {1: ["NCL", "NLC"], 2: ["NCHW", "NHWC"], 3: ["NCDHW", "NDHWC"]}
LAST = {"last": [False, True]}
RANK = {"rank": [2, 1, 3]}


def _image(config: Config, channels: int = 4, dtype: str = "float32") -> Operand:
    """An image operand with `rank` spatial dimensions, whose channels are never dynamic."""
    places = PLACES[: config["rank"]]
    last = config.get("last", False)
    shape = [2, *places, channels] if last else [2, channels, *places]
    kind = config.get("numbers", "plain")
    return Operand(shape, dtype, kind, closed=[len(shape) - 1 if last else 1])


def _format(config: Config) -> str:
    return FORMATS[config["rank"]][config["last"]]


def _each(value: Any, rank: int) -> Any:
    """The first `rank` numbers of a list, or pairs if it holds padding before and after."""
    if not isinstance(value, list):
        return value
    return value[:rank] if len(value) == 3 else value[: 2 * rank]


def _weight(*shape: int) -> Any:
    numbers = np.random.default_rng(7).normal(0, 0.5, shape).astype(np.float32)
    return paddle.to_tensor(numbers)


PADDINGS = [0, 1, [1, 0, 2], [1, 0, 0, 1, 1, 1], "SAME", "VALID"]
STRIDES = [1, 2, [2, 1, 3]]


def _convolved(config: Config) -> Function:
    rank, groups = config["rank"], config["groups"]
    shape = [4 if groups == 4 else 6, 4 // groups, *[config["kernel"]] * rank]
    weight, bias = _weight(*shape), _weight(shape[0]) if config["bias"] else None
    how = {key: _each(config[key], rank) for key in ("stride", "padding", "dilation")}
    how |= {"groups": groups, "data_format": _format(config)}
    return lambda x: getattr(fn, f"conv{rank}d")(x, weight, bias, **how)


def _transposed(config: Config) -> Function:
    rank, groups = config["rank"], config["groups"]
    weight = _weight(4, 4 // groups, *[config["kernel"]] * rank)
    bias = _weight(4) if config["bias"] else None
    how = {key: _each(config[key], rank) for key in ("stride", "padding", "dilation")}
    how |= {"groups": groups, "data_format": _format(config)}
    how["output_padding"] = config["output_padding"]
    if config["output_size"]:
        how["output_size"] = [2 * d for d in PLACES[:rank]]
        del how["output_padding"]
    return lambda x: getattr(fn, f"conv{rank}d_transpose")(x, weight, bias, **how)


def _convolutions() -> Iterator[Subject]:
    common = {**RANK, "kernel": [3, 1, 2], "stride": STRIDES, "padding": PADDINGS}
    common |= {"dilation": [1, 2], "groups": [1, 2, 4], "bias": [True, False], **LAST}
    yield subject("conv", common, lambda c: [_image(c)], _convolved)
    more = {"output_padding": [0, 1], "output_size": [False, True]}
    yield subject("conv_transpose", common | more, lambda c: [_image(c)], _transposed)


def _pooled(config: Config) -> Function:
    rank, op = config["rank"], config["op"]
    how: dict[str, Any] = {key: _each(config[key], rank) for key in ("stride", "padding")}
    how |= {"kernel_size": config["kernel"], "ceil_mode": config["ceil"]}
    if rank > 1 or not config["last"]:
        how |= {"data_format": _format(config)} if rank > 1 else {}
    if op == "avg":
        how["exclusive"] = config["exclusive"]
        if rank > 1 and config["divisor"]:
            how["divisor_override"] = config["divisor"]
    if op == "max" and config["mask"]:
        how["return_mask"] = True
    if op == "lp":
        how["norm_type"] = 3.0
    return lambda x: getattr(fn, f"{op}_pool{rank}d")(x, **how)


def _adaptive(config: Config) -> Function:
    rank, op = config["rank"], config["op"]
    how: dict[str, Any] = {"output_size": config["size"]}
    if isinstance(config["size"], list):
        how["output_size"] = config["size"][0] if rank == 1 else config["size"][:rank]
    if op == "max":
        how["return_mask"] = config["mask"]
    elif rank > 1:
        how["data_format"] = _format(config)
    return lambda x: getattr(fn, f"adaptive_{op}_pool{rank}d")(x, **how)


def _unpooled(config: Config) -> Function:
    rank = config["rank"]

    def function(x: Any) -> Any:
        stride = config["stride"]
        y, at = getattr(fn, f"max_pool{rank}d")(x, 2, stride, return_mask=True)
        return getattr(fn, f"max_unpool{rank}d")(y, at, 2, stride)

    return function


def _poolings() -> Iterator[Subject]:
    choices = {
        "op": ["max", "avg", "lp"],
        **RANK,
        "kernel": [3, 1, 2],
        "stride": [2, 1, [2, 1, 3], None],
    }
    choices |= {"padding": [0, 1, [1, 0, 1], [1, 0, 0, 1, 1, 1], "SAME", "VALID"]}
    choices |= {"ceil": [False, True], "exclusive": [True, False], "divisor": [None, 5]}
    choices |= {"mask": [False, True], **LAST, "numbers": ["plain", "ties"]}
    yield subject("pool", choices, lambda c: [_image(c)], _pooled)
    choices = {"op": ["avg", "max"], **RANK, "size": [2, 1, 3, [3, 2, 5], [None, 4, 1]]}
    choices |= {"mask": [False, True], **LAST}
    yield subject("adaptive_pool", choices, lambda c: [_image(c)], _adaptive)
    choices = {**RANK, "stride": [2, 1]}
    yield subject("max_unpool", choices, lambda c: [_image(c)], _unpooled, opens=("", "batch"))


def _interpolated(config: Config) -> Function:
    rank = config["rank"]
    how: dict[str, Any] = {"mode": config["mode"], "align_corners": config["corners"]}
    how |= {"align_mode": config["align_mode"], "data_format": _format(config)}
    if config["by"][0] == "size":
        how["size"] = config["by"][1][:rank]
    else:
        scale = config["by"][1]
        how["scale_factor"] = scale[:rank] if isinstance(scale, list) else scale
    return lambda x: fn.interpolate(x, **how)


def _interpolations() -> Subject:
    modes = {"nearest": 0, "bilinear": 2, "linear": 1, "bicubic": 2, "trilinear": 3, "area": 0}
    by = [
        ["size", [9, 5, 7]],
        ["scale", 2],
        ["scale", 1.7],
        ["scale", [0.5, 2.0, 1.3]],
        ["size", [1, 1, 1]],
        ["size", [14, 16, 12]],
    ]
    choices = {"mode": list(modes), "rank": [2, 1, 3], "by": by, "corners": [False, True]}
    choices |= {"align_mode": [0, 1], **LAST}
    fits = lambda c: modes[c["mode"]] in (0, c["rank"])  # noqa: E731
    return subject("interpolate", choices, lambda c: [_image(c)], _interpolated, fits)


def _padded(config: Config) -> Function:
    rank = config["rank"]
    width = config["pad"] if not isinstance(config["pad"], list) else config["pad"][: 2 * rank]
    width = [width] * (2 * rank) if isinstance(width, int) else width
    how = {"mode": config["mode"], "data_format": _format(config)}
    if config["mode"] == "constant":
        how["value"] = config["value"]
    return lambda x: fn.pad(x, width, **how)


def _paddings() -> Subject:
    choices = {"mode": ["constant", "reflect", "replicate", "circular"], **RANK}
    choices |= {"pad": [1, [1, 2, 0, 3, 2, 1], [5, 0, 0, 4, 1, 0], [-1, 1, 0, -2, 1, 1]]}
    choices |= {"value": [0.0, 2.5, -7.0], "dtype": [*FLOATS, "int32", "int64"], **LAST}
    return subject("pad", choices, lambda c: [_image(c, dtype=c["dtype"])], _padded)


def _normalized(config: Config) -> Function:
    rank, kind = config["rank"], config["layer"]
    dtype = config["dtype"]
    attribute = None if config["affine"] else False
    weights = {"weight_attr": attribute, "bias_attr": attribute, "epsilon": config["epsilon"]}
    how = {"data_format": _format(config)}
    if kind == "BatchNorm":
        more = {"use_global_stats": config["global"]} if config["global"] is not None else {}
        layer = getattr(nn, f"BatchNorm{rank}D")(4, **weights, **how, **more)
    elif kind == "InstanceNorm":
        layer = getattr(nn, f"InstanceNorm{rank}D")(4, **weights, **how)
    elif kind == "GroupNorm":
        layer = nn.GroupNorm(config["groups"], 4, **weights, **how)
    elif kind == "LayerNorm":
        shape = (*PLACES[:rank], 4) if config["last"] else (4, *PLACES[:rank])
        layer = nn.LayerNorm(list(shape[-config["axes"] :]), **weights)
    elif kind == "RMSNorm":
        size = 4 if config["last"] else PLACES[rank - 1]
        layer = nn.RMSNorm([size], epsilon=config["epsilon"])
    else:
        layer = nn.LocalResponseNorm(3, 0.1, 0.6, 2.0, **how)
    draw = np.random.default_rng(3)
    for name, value in layer.state_dict().items():
        numbers = draw.normal(0, 0.5, value.shape)
        value.set_value(
            np.abs(numbers).astype("float32") + 0.5 if "var" in name else numbers.astype("float32")
        )
    if dtype == "float64":
        layer = layer.astype(dtype)
    (layer.train if config["training"] else layer.eval)()
    return _Held(layer)


class _Held:
    """A layer as a function, which keeps its mode (training or evaluation)."""

    def __init__(self, layer: Any) -> None:
        self.layer = layer

    def __call__(self, x: Any) -> Any:
        return self.layer(x)


def _normalizations() -> Subject:
    kinds = ["BatchNorm", "InstanceNorm", "GroupNorm", "LayerNorm", "LocalResponseNorm", "RMSNorm"]
    choices = {"layer": kinds, **RANK, "affine": [True, False], "epsilon": [1e-5, 0.1]}
    choices |= {"groups": [2, 1, 4], "axes": [1, 2], "global": [None, True, False]}
    choices |= {"training": [False, True], "dtype": ["float32", "float64"], **LAST}
    choices |= {"numbers": ["plain", "odd"]}
    return subject("norms", choices, lambda c: [_image(c, dtype=c["dtype"])], _normalized)


def _channels() -> Subject:
    functions: dict[str, Function] = {
        "pixel_shuffle": lambda x, f: fn.pixel_shuffle(x, 2, f),
        "pixel_unshuffle": lambda x, f: fn.pixel_unshuffle(x, 2, f),
        "channel_shuffle": lambda x, f: fn.channel_shuffle(x, 4, f),
        "temporal_shift": lambda x, f: fn.temporal_shift(x, 2, 0.25, data_format=f),
        "maxout": lambda x, f: fn.maxout(x, 2, -1 if f == "NHWC" else 1),
        "prelu": lambda x, f: fn.prelu(x, _weight(8), f),
        "prelu one": lambda x, f: fn.prelu(x, _weight(1), f),
        "zeropad2d": lambda x, f: fn.zeropad2d(x, [1, 0, 2, 1], f),
        "dropout2d": lambda x, f: fn.dropout2d(x, 0.5, False, f),
        "local_response_norm": lambda x, f: fn.local_response_norm(x, 4, 0.1, data_format=f),
        "softmax2d": lambda x, f: nn.Softmax2D()(x),
    }
    choices = {"op": list(functions), **LAST, "dtype": FLOATS}

    def operands(config: Config) -> list[Operand]:
        last = config["last"]
        return [
            Operand(
                [2, 6, 4, 8] if last else [2, 8, 6, 4], config["dtype"], closed=[3 if last else 1]
            )
        ]

    def build(config: Config) -> Function:
        return lambda x: functions[config["op"]](x, "NHWC" if config["last"] else "NCHW")

    return subject("channels", choices, operands, build)


def _columns() -> Iterator[Subject]:
    def columns(config: Config) -> Function:
        how = given(config, "strides", "paddings", "dilations")

        def function(x: Any) -> Any:
            y = fn.unfold(x, config["kernel"], **how)
            return fn.fold(y, [7, 8], config["kernel"], **how) if config["fold"] else y

        return function

    choices = {
        "kernel": [3, [2, 1]],
        "strides": [1, 2, [2, 1]],
        "paddings": [0, 1, [1, 0], [1, 0, 2, 1]],
    }
    choices |= {"dilations": [1, 2, [1, 2]], "fold": [False, True]}
    operand = lambda c: [Operand([2, 4, 7, 8], closed=[1, 2, 3] if c["fold"] else [1])]  # noqa: E731
    yield subject("unfold", choices, operand, columns)
    choices = {"mode": ["bilinear", "nearest"], "padding_mode": ["zeros", "border", "reflection"]}
    choices |= {"align_corners": [True, False], "rank": [2, 3]}

    def grid(config: Config) -> list[Operand]:
        places = PLACES[: config["rank"]]
        return [
            Operand([2, 4, *places], closed=[1]),
            Operand([2, *places, config["rank"]], closed=[len(places) + 1]),
        ]

    how = ("mode", "padding_mode", "align_corners")
    yield subject(
        "grid_sample", choices, grid, lambda c: lambda x, g: fn.grid_sample(x, g, **given(c, *how))
    )
    choices = {"rank": [2, 3], "align_corners": [True, False], "dtype": ["float32", "float64"]}
    theta = lambda c: [Operand([2, c["rank"], c["rank"] + 1], c["dtype"], closed=[0, 1, 2])]  # noqa: E731
    yield subject(
        "affine_grid",
        choices,
        theta,
        lambda c: lambda t: fn.affine_grid(t, [2, 3, *PLACES[: c["rank"]]], c["align_corners"]),
    )


def _deformed() -> Subject:
    def operands(config: Config) -> list[Operand]:
        out = {0: 5, 1: 7, 2: 9}[config["padding"]]
        size = (out - 1) // config["stride"] + 1, (out + 1 - 1) // config["stride"] + 1
        points = 9 * config["parts"]
        closed = [1, 2, 3]
        found = [
            Operand([2, 4, 7, 8], closed=closed),
            Operand([2, 2 * points, *size], closed=closed),
        ]
        return [*found, Operand([2, points, *size], closed=closed)] if config["mask"] else found

    def build(config: Config) -> Function:
        weight = _weight(6, 4 // config["groups"], 3, 3)
        bias = _weight(6) if config["bias"] else None
        how = given(config, "stride", "padding", "groups", deformable_groups="parts")
        return lambda x, offset, *mask: ops.deform_conv2d(
            x, offset, weight, bias, mask=mask[0] if mask else None, **how
        )

    choices = {"stride": [1, 2], "padding": [0, 1, 2], "groups": [1, 2], "parts": [1, 2]}
    choices |= {"mask": [False, True], "bias": [False, True]}
    return subject("deform_conv2d", choices, operands, build, opens=("", "batch"))


def subjects() -> Iterator[Subject]:
    """Yield the subjects of this file."""
    yield from _convolutions()
    yield from _poolings()
    yield _interpolations()
    yield _paddings()
    yield _normalizations()
    yield _channels()
    yield from _columns()
    yield _deformed()
