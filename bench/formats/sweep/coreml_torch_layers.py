"""Layers of PyTorch through coremltools' converter, as programs and as networks."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import torch
import torch.nn.functional as fn
from torch import nn

from .cases import Config, Subject
from .coreml_torch import Function, Shapes, subject


def subjects() -> Iterator[Subject]:
    """Yield the subjects of this file."""
    image, line, volume, rows = [[2, 4, 9, 8]], [[2, 4, 9]], [[2, 4, 5, 6, 7]], [[2, 5, 8]]
    layers: list[tuple[str, Function, Shapes]] = [
        ("Conv1d", lambda: nn.Conv1d(4, 6, 3, 2, 1), line),
        ("Conv2d", lambda: nn.Conv2d(4, 6, 3, (2, 1), (1, 0), bias=False), image),
        ("Conv2d same", lambda: nn.Conv2d(4, 6, 4, padding="same", dilation=2), image),
        ("Conv2d groups", lambda: nn.Conv2d(4, 8, 3, groups=4), image),
        ("Conv2d reflect", lambda: nn.Conv2d(4, 6, 3, padding=1, padding_mode="reflect"), image),
        (
            "Conv2d replicate",
            lambda: nn.Conv2d(4, 6, 3, padding=(2, 1), padding_mode="replicate"),
            image,
        ),
        ("Conv3d", lambda: nn.Conv3d(4, 6, 3, 1, 1), volume),
        ("ConvTranspose1d", lambda: nn.ConvTranspose1d(4, 6, 3, 2, 1, 1), line),
        ("ConvTranspose2d", lambda: nn.ConvTranspose2d(4, 6, 3, 2, 1, 1), image),
        (
            "ConvTranspose2d groups",
            lambda: nn.ConvTranspose2d(4, 6, 3, (2, 1), groups=2, bias=False),
            image,
        ),
        ("ConvTranspose2d dilation", lambda: nn.ConvTranspose2d(4, 6, 3, 1, 1, dilation=2), image),
        ("ConvTranspose3d", lambda: nn.ConvTranspose3d(4, 6, 3, 2, 1), volume),
        ("MaxPool1d", lambda: nn.MaxPool1d(3, 2, 1), line),
        ("MaxPool2d", lambda: nn.MaxPool2d(3, 2, 1), image),
        ("MaxPool2d ceil", lambda: nn.MaxPool2d(2, 2, ceil_mode=True), image),
        ("MaxPool3d", lambda: nn.MaxPool3d(2), volume),
        ("AvgPool1d", lambda: nn.AvgPool1d(3, 2, 1), line),
        ("AvgPool2d", lambda: nn.AvgPool2d(3, 2, 1), image),
        ("AvgPool2d exclude", lambda: nn.AvgPool2d(3, 2, 1, count_include_pad=False), image),
        (
            "AvgPool2d ceil",
            lambda: nn.AvgPool2d(2, 2, ceil_mode=True, count_include_pad=False),
            image,
        ),
        ("AvgPool3d", lambda: nn.AvgPool3d(2), volume),
        ("AdaptiveAvgPool2d", lambda: nn.AdaptiveAvgPool2d((3, 4)), image),
        ("AdaptiveAvgPool2d 1", lambda: nn.AdaptiveAvgPool2d(1), image),
        ("AdaptiveMaxPool2d", lambda: nn.AdaptiveMaxPool2d((3, 2)), image),
        ("AdaptiveAvgPool1d", lambda: nn.AdaptiveAvgPool1d(3), line),
        ("BatchNorm1d", lambda: _filled(nn.BatchNorm1d(4)), line),
        ("BatchNorm2d", lambda: _filled(nn.BatchNorm2d(4, 0.1)), image),
        ("BatchNorm2d plain", lambda: _filled(nn.BatchNorm2d(4, affine=False)), image),
        ("BatchNorm3d", lambda: _filled(nn.BatchNorm3d(4)), volume),
        ("InstanceNorm2d", lambda: nn.InstanceNorm2d(4), image),
        ("InstanceNorm2d affine", lambda: _filled(nn.InstanceNorm2d(4, 0.1, affine=True)), image),
        ("InstanceNorm1d", lambda: nn.InstanceNorm1d(4), line),
        ("GroupNorm", lambda: _filled(nn.GroupNorm(2, 4)), image),
        ("LayerNorm", lambda: _filled(nn.LayerNorm(8)), image),
        ("LayerNorm 2", lambda: _filled(nn.LayerNorm([9, 8], 0.1)), image),
        ("LayerNorm plain", lambda: nn.LayerNorm(8, elementwise_affine=False), image),
        ("RMSNorm", lambda: _filled(nn.RMSNorm(8)), image),
        ("LocalResponseNorm", lambda: nn.LocalResponseNorm(3, 0.1, 0.6, 2.0), image),
        ("PReLU", lambda: nn.PReLU(4), image),
        ("PReLU one", lambda: nn.PReLU(), image),
        ("Softmax2d", lambda: nn.Softmax2d(), image),
        ("Linear", lambda: nn.Linear(8, 3), rows),
        ("Linear plain", lambda: nn.Linear(8, 3, bias=False), image),
        ("Bilinear", lambda: (lambda m: lambda x: m(x, x))(nn.Bilinear(8, 8, 3)), rows),
        ("Dropout", lambda: nn.Dropout(0.4), rows),
        ("Flatten", lambda: nn.Flatten(), image),
        ("Upsample", lambda: nn.Upsample(scale_factor=2), image),
        ("Upsample bilinear", lambda: nn.Upsample(scale_factor=2, mode="bilinear"), image),
        (
            "Upsample corners",
            lambda: nn.Upsample(scale_factor=3, mode="bilinear", align_corners=True),
            image,
        ),
        ("Upsample size", lambda: nn.Upsample((5, 12)), image),
        ("Upsample bilinear size", lambda: nn.Upsample((5, 12), mode="bilinear"), image),
        (
            "Upsample corners size",
            lambda: nn.Upsample((5, 12), mode="bilinear", align_corners=True),
            image,
        ),
        ("Upsample scale", lambda: nn.Upsample(scale_factor=(1.5, 0.5), mode="bilinear"), image),
        ("Upsample 1d", lambda: nn.Upsample(scale_factor=2), line),
        ("ReflectionPad2d", lambda: nn.ReflectionPad2d((1, 2, 0, 1)), image),
        ("ReplicationPad2d", lambda: nn.ReplicationPad2d(2), image),
        ("ZeroPad2d", lambda: nn.ZeroPad2d((1, 0, 2, 1)), image),
        ("ConstantPad1d", lambda: nn.ConstantPad1d((1, 2), 3.5), line),
        ("PixelShuffle", lambda: nn.PixelShuffle(2), image),
        ("ChannelShuffle", lambda: nn.ChannelShuffle(2), image),
        ("Unfold", lambda: nn.Unfold(3, padding=1, stride=2), image),
        ("Fold", lambda: nn.Fold((4, 4), 2, stride=2), [[2, 8, 4]]),
        ("grid_sample", lambda: _grid, image),
        ("LSTM", lambda: nn.LSTM(8, 3, batch_first=True), rows),
        ("LSTM both", lambda: nn.LSTM(8, 3, 2, batch_first=True, bidirectional=True), rows),
        ("LSTM plain", lambda: nn.LSTM(8, 3, bias=False), [[5, 1, 8]]),
        ("GRU", lambda: nn.GRU(8, 3, batch_first=True), rows),
        ("GRU both", lambda: nn.GRU(8, 3, 2, batch_first=True, bidirectional=True), rows),
        ("RNN", lambda: nn.RNN(8, 3, batch_first=True), rows),
        (
            "RNN relu",
            lambda: nn.RNN(8, 3, nonlinearity="relu", bidirectional=True, batch_first=True),
            rows,
        ),
        ("LSTMCell", lambda: (lambda m: lambda x: m(x[:, 0]))(nn.LSTMCell(8, 3)), rows),
        (
            "MultiheadAttention",
            lambda: (lambda m: lambda x: m(x, x, x)[0])(
                nn.MultiheadAttention(8, 2, batch_first=True)
            ),
            rows,
        ),
        ("attention", lambda: lambda x: fn.scaled_dot_product_attention(x, x, x), [[2, 2, 5, 8]]),
        (
            "attention causal",
            lambda: lambda x: fn.scaled_dot_product_attention(x, x, x, is_causal=True),
            [[2, 2, 5, 8]],
        ),
        (
            "Encoder",
            lambda: nn.TransformerEncoderLayer(8, 2, 16, batch_first=True, norm_first=True),
            rows,
        ),
        (
            "Encoder gelu",
            lambda: nn.TransformerEncoderLayer(8, 2, 16, batch_first=True, activation="gelu"),
            rows,
        ),
    ]
    table = {name: (_once(make), shapes) for name, make, shapes in layers}

    def is_meant(config: Config) -> bool:
        """Of nearest elements of a size the converter makes a linear network."""
        return config["op"] != "Upsample size" or config["form"] != "network"

    yield subject("torch layers", table, allowed=is_meant)


def _once(make: Function) -> Function:
    def build(config: Config) -> Any:
        layer = make()
        if isinstance(layer, nn.LSTM | nn.GRU | nn.RNN):
            return _Flat(layer)
        return layer

    return build


class _Flat(nn.Module):
    """A recurrent layer that returns its results as a flat tuple."""

    def __init__(self, layer: Any) -> None:
        super().__init__()
        self.layer = layer

    def forward(self, x: Any) -> Any:
        """The outputs, then the states."""
        outputs, states = self.layer(x)
        return (outputs, *states) if isinstance(states, tuple) else (outputs, states)


def _filled(layer: Any) -> Any:
    """The layer with random weights and statistics."""
    with torch.no_grad():
        for name, value in [*layer.named_parameters(), *layer.named_buffers()]:
            if value.is_floating_point():
                value.normal_(0, 0.5)
            if "var" in name:
                value.abs_().add_(0.5)
    return layer


def _grid(x: Any) -> Any:
    grid = torch.tanh(x[:, :2, :5, :6] * 2).permute(0, 2, 3, 1)
    return fn.grid_sample(x, grid, align_corners=False)
