"""Compares nnc with PyTorch on networks that coremltools has converted, as programs and networks.

    python bench/formats/coreml_models.py write FOLDER [NAMES]       # by coremltools 9 and torch 2
    python -m nnc.bench.formats.coreml_models compare FOLDER [NAMES]    # a row for each

CoreML predicts on macOS only: the oracle is the network that was converted. Weights are random;
batch normalizations get the statistics of a batch of noise, so that activations keep their scale.
"""

from __future__ import annotations

import itertools
import sys
import time
from pathlib import Path
from typing import Any

import numpy as np

NAMES = ["mobilenet_v2", "resnet50", "vit_b_16", "bert", "unet", "lstm"]
KINDS = {"mlprogram": "mlpackage", "neuralnetwork": "mlmodel"}
"""The kinds of models that coremltools writes, each with the suffix of its file."""


def unet(width: int = 16) -> Any:
    """A U-Net of three levels, [N, 3, H, W] -> [N, 2, H, W]."""
    import torch
    from torch import nn

    def twice(inner: int, outer: int) -> nn.Sequential:
        parts = []
        for channels in (inner, outer):
            parts += [nn.Conv2d(channels, outer, 3, padding=1), nn.BatchNorm2d(outer), nn.ReLU()]
        return nn.Sequential(*parts)

    class UNet(nn.Module):
        def __init__(self) -> None:
            super().__init__()
            widths = [width, 2 * width, 4 * width, 8 * width]
            pairs = list(itertools.pairwise(widths))
            self.first = twice(3, width)
            self.down = nn.ModuleList(twice(a, b) for a, b in pairs)
            self.up = nn.ModuleList(nn.ConvTranspose2d(b, a, 2, 2) for a, b in reversed(pairs))
            self.after = nn.ModuleList(twice(b, a) for a, b in reversed(pairs))
            self.last = nn.Conv2d(width, 2, 1)

        def forward(self, x: torch.Tensor) -> torch.Tensor:
            levels = [self.first(x)]
            for down in self.down:
                levels.append(down(nn.functional.max_pool2d(levels[-1], 2)))
            x = levels.pop()
            for up, after in zip(self.up, self.after, strict=True):
                x = after(torch.cat([levels.pop(), up(x)], 1))
            return self.last(x)

    return UNet()


def _bert() -> Any:
    """BERT of four layers and 256 features: its last hidden states."""
    from torch import nn
    from transformers import BertConfig, BertModel

    config = BertConfig(
        hidden_size=256, num_hidden_layers=4, num_attention_heads=4, intermediate_size=1024
    )
    config._attn_implementation = "eager"

    class Bert(nn.Module):
        def __init__(self) -> None:
            super().__init__()
            self.model = BertModel(config, add_pooling_layer=False)

        def forward(self, ids: Any, mask: Any) -> Any:
            return self.model(ids, mask, return_dict=False)[0]

    return Bert()


def _net(name: str) -> tuple[Any, tuple[Any, ...]]:
    """The network in training mode, and inputs for it."""
    import torch
    import torchvision

    if name == "bert":
        mask = torch.ones(1, 64, dtype=torch.int32)
        mask[:, 50:] = 0
        return _bert(), (torch.randint(0, 30522, (1, 64), dtype=torch.int32), mask)
    if name == "lstm":
        return torch.nn.LSTM(64, 128, num_layers=2, bidirectional=True), (torch.randn(40, 1, 64),)
    net = unet() if name == "unet" else getattr(torchvision.models, name)(weights=None)
    for part in net.modules():
        if isinstance(part, torch.nn.Linear) and not part.weight.any():
            torch.nn.init.normal_(part.weight, std=0.05)  # a head that is to be trained
    return net, (torch.randn(1, 3, *((224, 224) if name != "unet" else (128, 128))),)


def write(folder: Path, names: list[str]) -> None:
    """Write the files of each network, and one with its inputs and outputs."""
    import coremltools as ct  # type: ignore[import-not-found]
    import torch

    torch.backends.mha.set_fastpath_enabled(False)
    for name in names or NAMES:
        torch.manual_seed(0)
        net, values = _net(name)
        if any(isinstance(part, torch.nn.BatchNorm2d) for part in net.modules()):
            _calibrate(net, values[0].shape)
        net.eval()
        with torch.no_grad():
            wanted = net(*values)
            traced = torch.jit.trace(net, values, check_trace=False)
        wanted = wanted[0] if isinstance(wanted, tuple) else wanted
        arrays = {f"in{i}": v.numpy() for i, v in enumerate(values)}
        np.savez(folder / f"{name}.npz", out=wanted.numpy(), **arrays)
        inputs = [
            ct.TensorType(f"in{i}", v.shape, np.float32 if v.is_floating_point() else np.int32)
            for i, v in enumerate(values)
        ]
        for kind, suffix in KINDS.items():
            precision = {"compute_precision": ct.precision.FLOAT32} if kind == "mlprogram" else {}
            try:
                model = ct.convert(traced, inputs=inputs, convert_to=kind, **precision)
            except Exception as error:  # coremltools has no common kind of error
                print(name, kind, "not converted:", str(error).splitlines()[0], flush=True)
                continue
            model.save(str(folder / f"{name}.{suffix}"))
            print(name, kind, flush=True)


def _calibrate(net: Any, shape: tuple[int, ...]) -> None:
    """Give batch normalizations parameters that differ, and the statistics of a batch."""
    import torch

    for part in net.modules():
        if isinstance(part, torch.nn.BatchNorm2d):
            part.momentum = 1.0
            part.weight.data.uniform_(0.7, 1.3)
            part.bias.data.normal_(0, 0.2)
    with torch.no_grad():
        net.train()(torch.randn(4, *shape[1:]))


def compare(folder: Path, names: list[str]) -> None:
    """Print a row for each file: the largest difference, relative to the largest value."""
    import nnc

    for name in names or NAMES:
        arrays = np.load(folder / f"{name}.npz")
        wanted = arrays["out"]
        for kind, suffix in KINDS.items():
            path = folder / f"{name}.{suffix}"
            if not path.exists():
                continue
            begin = time.perf_counter()
            model = nnc.compile(path)
            given = {key: arrays[key] for key in arrays if key != "out"}
            if kind == "neuralnetwork":  # whose inputs are all floats
                given = {key: value.astype(np.float32) for key, value in given.items()}
            got = next(iter(model.run(given).values()))
            error = float(np.abs(got.reshape(wanted.shape) - wanted).max() / np.abs(wanted).max())
            seconds = time.perf_counter() - begin
            print(f"| {name} | {kind} | {error:.1e} | {seconds:.1f} s |", flush=True)


if __name__ == "__main__":
    {"write": write, "compare": compare}[sys.argv[1]](Path(sys.argv[2]), sys.argv[3:])
