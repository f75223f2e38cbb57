"""PaddlePaddle's operators and layers, in the form of version 3.

With `FLAGS_enable_pir_api=0` in the environment in that of version 2.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import numpy as np
import paddle
import paddle.nn.functional as fn
from paddle import nn

from .cases import Config, Made, Subject, UnmakableError

OLD = os.environ.get("FLAGS_enable_pir_api") == "0"  # noqa: SIM112
"""Whether this process writes the form of version 2."""
Function = Callable[..., Any]


class _Whole(nn.Layer):
    """A layer, or a function of tensors, whose results are a list."""

    def __init__(self, function: Function) -> None:
        super().__init__()
        self.function = function

    def forward(self, x: Any) -> list[Any]:
        found = self.function(x)
        return list(found) if isinstance(found, list | tuple) else [found]


class _OfTwo(_Whole):
    """The same of two tensors."""

    def forward(self, x: Any, y: Any) -> list[Any]:
        return [self.function(x, y)]


def _saved(config: Config, folder: Path, function: Function, inputs: list[np.ndarray]) -> Made:
    """The file of a function, and what Paddle gives for the inputs."""
    layer = (_Whole if len(inputs) == 1 else _OfTwo)(function)
    layer.eval()
    try:
        wanted = [np.asarray(v.numpy()) for v in layer(*(paddle.to_tensor(x) for x in inputs))]
        specs = [
            paddle.static.InputSpec(
                [None, *x.shape[1:]] if config["open"] and x.ndim else list(x.shape),
                str(x.dtype),
                f"x{i}",
            )
            for i, x in enumerate(inputs)
        ]
        program = paddle.jit.to_static(layer, full_graph=True, input_spec=specs)
        paddle.jit.save(program, str(folder / "model"))
    except Exception as error:
        raise UnmakableError(f"{type(error).__name__}: {str(error)[-200:]}") from None
    path = folder / ("model.pdmodel" if OLD else "model.json")
    named = {f"x{i}": x for i, x in enumerate(inputs)}
    return Made(path, [(named, wanted)], interpreted=True)


def _array(rng: np.random.Generator, shape: list[int], dtype: str, kind: str) -> np.ndarray:
    """Numbers as the kind says: `odd` ones have infinities, NaN and large ones."""
    if dtype == "bool":
        return rng.random(shape) < 0.5
    if dtype.startswith(("int", "uint")):
        return rng.integers(-4 if dtype[0] == "i" else 0, 5, shape).astype(dtype)
    x = rng.normal(0, 2, shape)
    if kind == "odd" and x.size:
        odd = rng.choice([np.inf, -np.inf, np.nan, 0.0, -0.0, 1e30, 0.5], shape)
        x = np.where(rng.random(shape) < 0.5, odd, x)
    return x.astype(dtype)


_UNARY = """abs acos acosh asin asinh atan atanh ceil cos cosh digamma erf erfinv exp expm1 floor
frac i0 i1 isfinite isinf isnan lgamma log log10 log1p log2 logit neg reciprocal round rsqrt sigmoid
sign sin sinh sqrt square tan tanh trunc nan_to_num deg2rad rad2deg bitwise_not logical_not stanh"""
_ACTIVATIONS = """celu elu gelu glu hardshrink hardsigmoid hardswish hardtanh leaky_relu log_sigmoid
log_softmax mish relu relu6 selu silu softmax softplus softshrink softsign swish tanhshrink
thresholded_relu maxout normalize"""
_BINARY = """add subtract multiply divide floor_divide remainder maximum minimum fmax fmin pow atan2
equal not_equal less_than less_equal greater_than greater_equal logical_and logical_or logical_xor
bitwise_and bitwise_or bitwise_xor heaviside hypot copysign gcd lcm logaddexp kron outer inner dist
nextafter ldexp"""
_REDUCTIONS = """sum mean max min prod amax amin std var logsumexp median nanmedian nansum nanmean
all any count_nonzero argmax argmin cumsum cumprod logcumsumexp sort argsort mode"""
_FORM = {"open": [False, True]}
_SHAPES = [[2, 3, 4], [4], [1, 4], [0, 4], [2, 2, 4, 6]]
_FLOATS = ["float32", "float64", "int32", "int64", "float16", "bool"]


def _one(names: str, where: tuple[Any, ...]) -> Subject:
    def make(config: Config, rng: np.random.Generator, folder: Path) -> Made:
        function = next(getattr(m, config["op"]) for m in where if hasattr(m, config["op"]))
        if config["op"] == "maxout":
            return _saved(
                config,
                folder,
                lambda x: function(x, 2, 1),
                [_array(rng, [2, 4, 3, 3], "float32", "")],
            )
        x = _array(rng, config["shape"], config["dtype"], config["numbers"])
        return _saved(config, folder, function, [x])

    choices = {"op": names.split(), "dtype": _FLOATS, "shape": _SHAPES, "numbers": ["plain", "odd"]}
    return Subject(names.split()[0], choices | _FORM, make)


def _binary() -> Subject:
    def make(config: Config, rng: np.random.Generator, folder: Path) -> Made:
        pairs = zip(config["shapes"], (config["dtype"], config["other"]), strict=True)
        inputs = [_array(rng, shape, dtype, config["numbers"]) for shape, dtype in pairs]
        return _saved(config, folder, getattr(paddle, config["op"]), inputs)

    shapes = [
        [[2, 3, 4], [2, 3, 4]],
        [[2, 3, 4], [4]],
        [[2, 1, 4], [1, 3, 1]],
        [[4], [4]],
        [[0, 4], [4]],
    ]
    choices = {"op": _BINARY.split(), "dtype": _FLOATS, "other": ["float32", "int64", "bool"]}
    choices |= {"shapes": shapes, "numbers": ["plain", "odd"]}
    return Subject("binary", choices | _FORM, make)


def _reductions() -> Subject:
    def make(config: Config, rng: np.random.Generator, folder: Path) -> Made:
        function, given = getattr(paddle, config["op"]), {}
        given["dim" if "cumprod" in config["op"] else "axis"] = config["axis"]
        if config["keep"]:
            given["keepdim"] = True
        if config["descending"]:
            given["descending"] = True
        x = _array(rng, config["shape"], config["dtype"], config["numbers"])
        return _saved(config, folder, lambda v: function(v, **given), [x])

    choices = {"op": _REDUCTIONS.split(), "axis": [None, 0, -1, 1, [0, 1]], "keep": [False, True]}
    choices |= {"descending": [False, True], "dtype": _FLOATS, "shape": _SHAPES}
    return Subject("reductions", choices | {"numbers": ["plain", "odd"]} | _FORM, make)


def _windows() -> Subject:
    def make(config: Config, rng: np.random.Generator, folder: Path) -> Made:
        last = config["format"] == "NHWC"
        x = _array(rng, [2, 7, 8, 4] if last else [2, 4, 7, 8], "float32", "plain")
        op, how = config["op"], {"data_format": config["format"]}
        sizes = {"stride": config["stride"], "padding": config["padding"]}
        if op in ("conv2d", "conv2d_transpose"):
            groups, k = config["groups"], config["kernel"]
            shape = [4, 6 // groups, k, k] if "transpose" in op else [6, 4 // groups, k, k]
            weight = paddle.to_tensor(_array(rng, shape, "float32", "plain"))
            sizes |= {"dilation": config["dilation"], "groups": groups}
            return _saved(config, folder, lambda v: getattr(fn, op)(v, weight, **sizes, **how), [x])
        sizes |= {"kernel_size": config["kernel"], "ceil_mode": config["ceil"]}
        if op == "avg_pool2d":
            sizes["exclusive"] = config["exclusive"]
        return _saved(config, folder, lambda v: getattr(fn, op)(v, **sizes, **how), [x])

    choices: dict[str, Any] = {
        "op": ["conv2d", "conv2d_transpose", "max_pool2d", "avg_pool2d"],
        "format": ["NCHW", "NHWC"],
        "kernel": [3, 1, 2],
        "stride": [1, 2, [2, 1]],
        "padding": [0, 1, [1, 0], [1, 0, 0, 1], "SAME", "VALID"],
        "dilation": [1, 2],
        "groups": [1, 2],
        "ceil": [False, True],
        "exclusive": [True, False],
    }
    return Subject("windows", choices | _FORM, make)


def _layers() -> Subject:
    def make(config: Config, rng: np.random.Generator, folder: Path) -> Made:
        paddle.seed(int(rng.integers(1 << 30)))
        kind, affine = config["layer"], None if config["affine"] else False
        image = _array(rng, [2, 4, 5, 6], config["dtype"], "plain")
        rows = _array(rng, [2, 5, 4], "float32", "plain")
        weights = {"weight_attr": affine, "bias_attr": affine}
        direction = "bidirect" if config["both"] else "forward"
        recurrent = {"num_layers": config["layers"], "direction": direction}
        made: dict[str, Callable[[], Any]] = {
            "BatchNorm2D": lambda: nn.BatchNorm2D(4, **weights),
            "InstanceNorm2D": lambda: nn.InstanceNorm2D(4, **weights),
            "GroupNorm": lambda: nn.GroupNorm(2, 4, **weights),
            "LayerNorm": lambda: nn.LayerNorm([5, 6], **weights),
            "LocalResponseNorm": lambda: nn.LocalResponseNorm(3),
            "LSTM": lambda: nn.LSTM(4, 3, **recurrent),
            "GRU": lambda: nn.GRU(4, 3, **recurrent),
            "SimpleRNN": lambda: nn.SimpleRNN(4, 3, **recurrent),
            "MultiHeadAttention": lambda: nn.MultiHeadAttention(4, 2),
            "Linear": lambda: nn.Linear(4, 3),
        }
        layer = made[kind]()
        if "Norm" in kind:
            return _saved(config, folder, layer, [image])
        return _saved(
            config, folder, lambda x: layer(x)[0] if kind[-1] in "MUN" else layer(x), [rows]
        )

    names = """BatchNorm2D InstanceNorm2D GroupNorm LayerNorm LocalResponseNorm LSTM GRU SimpleRNN
    MultiHeadAttention Linear"""
    choices = {"layer": names.split(), "affine": [True, False], "dtype": ["float32", "float64"]}
    return Subject("layers", choices | {"both": [False, True], "layers": [1, 2]} | _FORM, make)


def subjects() -> Iterator[Subject]:
    """All subjects."""
    os.environ.setdefault("GLOG_minloglevel", "3")
    yield _one(_UNARY, (paddle,))
    yield _one(_ACTIVATIONS, (fn,))
    yield _binary()
    yield _reductions()
    yield _windows()
    yield _layers()
