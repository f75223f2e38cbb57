"""Compares nnc with MXNet on Gluon's model zoo: every architecture, by its outputs.

    python bench/formats/mxnet_models.py write FOLDER [NAMES]           # by MXNet 1.9.1
    python -m nnc.bench.formats.mxnet_models compare FOLDER [NAMES]     # a row for each

Batch normalizations get the statistics of a batch of noise, so that activations keep their scale.
"""

from __future__ import annotations

import sys
import time
from pathlib import Path
from typing import Any

import numpy as np

ONE_OF_EACH = [
    "alexnet", "densenet121", "inceptionv3", "mobilenet0.25", "mobilenetv2_0.25", "resnet18_v1",
    "resnet18_v2", "resnet50_v1", "resnet50_v2", "squeezenet1.0", "squeezenet1.1", "vgg11",
    "vgg11_bn",
]  # fmt: skip
"""One architecture of each family of the zoo."""

SIZES = dict.fromkeys(("alexnet", "densenet121", "squeezenet1.0", "squeezenet1.1"), 224)
SIZES |= {"inceptionv3": 299, "vgg11": 224, "vgg11_bn": 224}
"""Heights and widths of images; others are 96."""


def write(folder: Path, names: list[str]) -> None:
    """Write the model's files, and one with images and logits, for each architecture."""
    import mxnet as mx

    mx.random.seed(0)
    random = np.random.default_rng(0)
    for name in names or ONE_OF_EACH:
        net = mx.gluon.model_zoo.vision.get_model(name)
        net.initialize(mx.init.Xavier(magnitude=2.2))
        size = SIZES.get(name, 96)
        images = mx.nd.array(random.standard_normal((4, 3, size, size)))
        net(images)
        for key, value in net.collect_params().items():
            if key.endswith(("gamma", "beta", "bias")):
                around = 0.8 if key.endswith("gamma") else 0.0
                value.set_data(mx.nd.array(random.normal(around, 0.1, value.shape)))
        net.apply(_forget)
        with mx.autograd.record(train_mode=True):
            out = net(images)
        out.backward()  # statistics are those of the batch after it
        net.hybridize()
        logits = net(images)
        net.export(str(folder / name), epoch=0)
        np.savez(folder / f"{name}.npz", data=images.asnumpy(), logits=logits.asnumpy())
        print(name, flush=True)


def _forget(block: Any) -> None:
    """Let a batch normalization keep the statistics of the last batch only."""
    if "momentum" in getattr(block, "_kwargs", {}):
        block._kwargs["momentum"] = 0.0


def compare(folder: Path, names: list[str]) -> None:
    """Print a row for each architecture: the largest difference, and how much outputs vary over
    images.
    """
    import nnc

    for name in names or ONE_OF_EACH:
        arrays = np.load(folder / f"{name}.npz")
        images, wanted = arrays["data"][:1], arrays["logits"][:1]
        begin = time.perf_counter()
        model = nnc.compile(folder / f"{name}-symbol.json", shapes={"data": images.shape})
        (got,) = model.run({"data": images}).values()
        scale = float(np.abs(wanted).max())
        error = float(np.abs(got - wanted).max()) / scale
        varies = float(np.abs(arrays["logits"][1:] - wanted).max()) / scale
        seconds = time.perf_counter() - begin
        print(f"| {name} | {error:.1e} | {varies:.1e} | {seconds:.1f} s |", flush=True)


if __name__ == "__main__":
    command, home, *chosen = sys.argv[1:]
    {"write": write, "compare": compare}[command](Path(home), chosen)
