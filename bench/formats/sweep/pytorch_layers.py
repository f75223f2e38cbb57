"""Layers of `torch.nn`, with values for the arguments that their signatures name."""

from __future__ import annotations

import inspect
from collections.abc import Iterator, Mapping, Sequence
from functools import partial
from typing import Any

import numpy as np
import torch

from .cases import Config, Subject
from .pytorch_base import FLOATS, LAYOUTS, numbers, subject
from .pytorch_operands import sampled

ARGUMENTS: Mapping[str, Sequence[Any]] = {
    "in_channels": [4], "out_channels": [4], "kernel_size": [3, 2, 1], "stride": [1, 2],
    "padding": [0, 1, "same"], "dilation": [1, 2], "groups": [1, 2, 4], "bias": [True, False],
    "padding_mode": ["zeros", "reflect", "replicate", "circular"], "output_padding": [0, 1],
    "ceil_mode": [False, True], "return_indices": [False, True], "divisor_override": [None, 3],
    "count_include_pad": [True, False], "norm_type": [2, 1, 3.0],
    "output_size": [3, 1, 2], "num_features": [4], "eps": [1e-5, 0.1], "affine": [True, False],
    "track_running_stats": [True, False], "num_groups": [2, 4, 1], "num_channels": [4],
    "normalized_shape": [[8], [8, 8]], "elementwise_affine": [True, False], "size": [3, 2],
    "alpha": [1.0, 0.3], "k": [0.75, 1.5], "beta": [1, 2.5], "threshold": [20, 0.5],
    "negative_slope": [0.01, 0.3], "lambd": [0.5, 1.0], "min_val": [-1.0, -0.5],
    "max_val": [1.0, 2.0], "value": [0.5, 2], "approximate": ["none", "tanh"], "dim": [1, -1, 0],
    "num_parameters": [1, 4], "in_features": [8], "out_features": [5], "p": [2, 1, 0.5],
    "upscale_factor": [2], "downscale_factor": [2, 4], "scale_factor": [2, 1.5, [2, 1.2]],
    "mode": ["nearest", "linear", "bilinear", "bicubic", "nearest-exact", "trilinear"],
    "align_corners": [None, True, False], "input_size": [8], "hidden_size": [5],
    "num_layers": [1, 2], "batch_first": [False, True], "bidirectional": [False, True],
    "proj_size": [0, 3], "nonlinearity": ["tanh", "relu"], "embed_dim": [8], "num_heads": [2, 4],
    "add_bias_kv": [False, True], "add_zero_attn": [False, True], "d_model": [8], "nhead": [2],
    "dim_feedforward": [16], "activation": ["relu", "gelu"], "norm_first": [False, True],
    "layer_norm_eps": [1e-5, 0.1], "reduction": ["mean", "sum", "none"], "delta": [1.0, 0.5],
    "margin": [1.0, 0.2], "log_input": [True, False], "full": [False, True],
    "label_smoothing": [0.0, 0.1], "ignore_index": [-100, 1], "keepdim": [False, True],
    "groups_": [2], "inplace": [False, True], "unflattened_size": [[2, -1]],
    "start_dim": [1, 0, -2], "end_dim": [-1, 2],
}  # fmt: skip
"""Values by the argument's name; the first is the simplest."""

IMAGES = """Conv1d Conv2d Conv3d ConvTranspose1d ConvTranspose2d ConvTranspose3d MaxPool1d MaxPool2d
MaxPool3d AvgPool1d AvgPool2d AvgPool3d LPPool1d LPPool2d LPPool3d AdaptiveAvgPool1d
AdaptiveAvgPool2d AdaptiveAvgPool3d AdaptiveMaxPool1d AdaptiveMaxPool2d AdaptiveMaxPool3d
BatchNorm1d BatchNorm2d BatchNorm3d InstanceNorm1d InstanceNorm2d InstanceNorm3d GroupNorm LayerNorm
RMSNorm LocalResponseNorm ELU CELU SELU GELU GLU Hardshrink Hardsigmoid Hardswish Hardtanh LeakyReLU
LogSigmoid LogSoftmax Mish PReLU ReLU ReLU6 Sigmoid SiLU Softmax Softmin Softplus Softshrink
Softsign Tanh Tanhshrink Threshold Linear PixelShuffle PixelUnshuffle Upsample UpsamplingNearest2d
UpsamplingBilinear2d ChannelShuffle ReflectionPad1d ReflectionPad2d ReflectionPad3d ReplicationPad1d
ReplicationPad2d ReplicationPad3d ZeroPad1d ZeroPad2d ZeroPad3d CircularPad1d CircularPad2d
CircularPad3d ConstantPad1d ConstantPad2d ConstantPad3d Flatten Unflatten Softmax2d Dropout
Unfold""".split()  # noqa: SIM905
SEQUENCES = """RNN LSTM GRU MultiheadAttention TransformerEncoderLayer TransformerDecoderLayer
RNNCell LSTMCell GRUCell""".split()  # noqa: SIM905
PAIRS = """MSELoss L1Loss SmoothL1Loss HuberLoss KLDivLoss BCELoss BCEWithLogitsLoss SoftMarginLoss
PoissonNLLLoss CosineSimilarity PairwiseDistance CrossEntropyLoss MultiLabelSoftMarginLoss
MultiLabelMarginLoss HingeEmbeddingLoss""".split()  # noqa: SIM905


def _arguments(name: str) -> dict[str, Sequence[Any]]:
    found = {}
    for one in inspect.signature(getattr(torch.nn, name)).parameters.values():
        if one.name in ARGUMENTS:
            values = ARGUMENTS[one.name]
            plain = one.default if isinstance(one.default, bool | int | float | str) else values[0]
            found[f"@{one.name}"] = [plain, *(v for v in values if v != plain)]
    if "Pad" in name:
        sides = 2 * int(name[-2])
        found["@padding"] = [
            1,
            [1, 2, 0, 1, 2, 1][:sides],
            *([[-1] * sides] if "Ref" not in name else []),
        ]
    if name == "Unflatten":
        found["@dim"] = [1, -1]
    if name == "Dropout":
        found.pop("@p")
    if name == "PReLU":
        found["@num_parameters"] = [1, 4]
    if name in ("GRU", "RNN"):
        found |= {"@input_size": [8], "@hidden_size": [5]}
        found |= {
            f"@{k}": ARGUMENTS[k] for k in ("num_layers", "batch_first", "bidirectional", "bias")
        }
    return found


def _layer(name: str, config: Config) -> Any:
    given = {
        k[1:]: tuple(v) if isinstance(v, list) else v for k, v in config.items() if k[0] == "@"
    }
    if name == "Upsample" and "linear" not in given["mode"] and given["mode"] != "bicubic":
        given["align_corners"] = None
    layer = getattr(torch.nn, name)(**given).to(getattr(torch, config["elements"]))
    for key, value in layer.named_buffers():
        if value.is_floating_point():
            value.copy_(torch.rand(value.shape) + 0.5 if "var" in key else torch.randn(value.shape))
    for value in layer.parameters():
        value.data.copy_(torch.randn(value.shape) * 0.5)
    return layer.eval()


def _rank(name: str, config: Config) -> int:
    if name[-2:] in ("1d", "2d", "3d"):
        return int(name[-2])
    mode = config.get("@mode", "")
    return {"linear": 1, "bilinear": 2, "bicubic": 2, "trilinear": 3}.get(mode, 2)


def _image(name: str, config: Config, rng: np.random.Generator) -> tuple[Any, Any]:
    rank, layer = _rank(name, config), _layer(name, config)
    runs = []
    for larger in (0, 3):
        extents = [8 + larger * (config["open"] > 0), 8, 8][:rank]
        lead = {"batch": [2], "one": [1], "none": [], "empty": [0]}[config["batch"]]
        lead = [d + larger if d > 1 else d for d in lead]
        shape = [*lead, 4, *extents]
        runs.append([numbers(shape, config["elements"], config["values"], rng)])
    return layer, runs


def _sequence(name: str, config: Config, rng: np.random.Generator) -> tuple[Any, Any]:
    layer = _layer(name, config)
    make = partial(numbers, dtype=config["elements"], how="plain", rng=rng)
    runs = []
    for larger in (0, 2):
        shape = [4 + larger, 3 + larger, 8] if config["batch"] != "none" else [4 + larger, 8]
        x = make(shape[1:] if "Cell" in name and len(shape) > 2 else shape)
        runs.append(
            [x, x.flip(0), x * 2][
                : {"M": 3, "D": 2}.get(name[11:12] if "Decoder" in name else name[0], 1)
            ]
        )
    return layer, runs


def _pair(name: str, config: Config, rng: np.random.Generator) -> tuple[Any, Any]:
    layer = _layer(name, config)
    make = partial(numbers, dtype=config["elements"], how=config["values"], rng=rng)
    function = (
        (lambda x, y: layer(x.sigmoid(), y.sigmoid()))
        if name in ("BCELoss", "KLDivLoss")
        else layer
    )
    classes = torch.tensor([1, 0, 4])
    if name == "CrossEntropyLoss" and config["batch"] == "one":
        return layer, [[make([3, 5]), classes], [make([3, 5]), classes]]
    if name == "MultiLabelMarginLoss":
        return layer, [[make([1, 3]), torch.tensor([[1, -1, 0]])]] * 2
    return function, [[make(shape), make(shape)] for shape in ([4, 5], [7, 5])]


def subjects() -> Iterator[Subject]:
    """A subject for each layer."""
    common: dict[str, Sequence[Any]] = {
        "elements": FLOATS, "batch": ["batch", "none", "one", "empty"], "open": [0, 1],
        "values": ["plain", "odd", "ties"], **LAYOUTS,
    }  # fmt: skip
    for names, make in ((IMAGES, _image), (SEQUENCES, _sequence), (PAIRS, _pair)):
        for name in names:
            choices = {**_arguments(name), **common}
            yield sampled(subject(f"nn.{name}", partial(make, name), **choices), 8, 5)
