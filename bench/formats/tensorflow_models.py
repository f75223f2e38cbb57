"""Compares nnc with TensorFlow on SavedModels: Keras' architectures as Keras exports them.

python bench/formats/tensorflow_models.py write FOLDER [NAMES]           # by TensorFlow
python -m nnc.bench.formats.tensorflow_models compare FOLDER [NAMES]     # a row for each
"""

from __future__ import annotations

import sys
import time
from pathlib import Path
from typing import Any

import numpy as np

SIZES = {
    "DenseNet121": 64,
    "EfficientNetB0": 64,
    "EfficientNetV2B0": 64,
    "InceptionV3": 96,
    "MobileNet": 96,
    "MobileNetV2": 96,
    "MobileNetV3Small": 96,
    "NASNetMobile": 96,
    "ResNet50": 64,
    "ResNet50V2": 64,
    "VGG16": 32,
    "Xception": 96,
    "ConvNeXtTiny": 64,
}
"""The height and width of the images of each architecture."""

WITH_SCALING = ("Efficient", "MobileNetV3", "ConvNeXt")
"""Architectures that scale their inputs themselves, from numbers up to 255."""


def write(folder: Path, names: list[str]) -> None:
    """Write a SavedModel and a file with images and logits for each architecture."""
    import keras

    rng = np.random.default_rng(0)
    for name in names or SIZES:
        size = SIZES[name]
        net = getattr(keras.applications, name)(
            weights=None, input_shape=(size, size, 3), classes=100, classifier_activation=None
        )
        for weight in net.weights:
            # With more, a change of the last bit of a pixel changes the logits of V2 by percents.
            gain = 1 if name == "EfficientNetV2B0" else 2
            if (numbers := _numbers(weight, rng, gain)) is not None:
                weight.assign(numbers)
        scale = 100 if name.startswith(WITH_SCALING) else 1
        images = (rng.normal(size=(2, size, size, 3)) * scale).astype(np.float32)
        net.export(folder / name, verbose=False)
        logits = np.asarray(net(images, training=False))
        np.savez(folder / f"{name}.npz", images=images, logits=logits)


def _numbers(weight: Any, rng: np.random.Generator, gain: float) -> np.ndarray | None:
    """Random values for a weight or a statistic, which keep the scale of activations."""
    name, shape = weight.path.split("/")[-1], weight.shape
    if name == "moving_variance":
        return rng.uniform(0.5, 1.5, shape)
    if name == "gamma":
        return rng.uniform(0.7, 1.3, shape)
    if name in ("beta", "bias", "moving_mean"):
        return rng.normal(size=shape) * 0.1
    if name.endswith("kernel") and len(shape) == 4:
        count = np.prod(shape[:2]) * (1 if shape[3] == 1 else shape[2])
        return rng.normal(size=shape) * np.sqrt(gain / count)
    return None


def compare(folder: Path, names: list[str]) -> None:
    """Print the largest difference from TensorFlow's logits for each, relative to the largest
    logit.
    """
    import nnc

    for path in sorted(folder.glob("*.npz")):
        if names and path.stem not in names:
            continue
        arrays = np.load(path)
        images, logits = arrays["images"], arrays["logits"]
        model = folder / path.stem
        begin = time.perf_counter()
        name = _input_name(model)
        compiled = nnc.compile(model, shapes={name: list(images.shape)}, cache=False)
        seconds = time.perf_counter() - begin
        largest = np.abs(logits).max()
        apart = np.abs(compiled(images) - logits).max() / largest
        varies = np.abs(logits[0] - logits[1]).max() / largest
        verdict = "ok" if apart <= 1e-4 and varies > 1e-3 else "differs"
        print(
            f"| TensorFlow | {path.stem} | {verdict} | {apart:.1e} | {varies:.3f} |",
            f"{seconds:.0f} s |",
            flush=True,
        )


def _input_name(model: Path) -> str:
    from nnc.frontends.common.source import Source
    from nnc.frontends.tensorflow.model import read

    return read(Source(model)).inputs[0].name


if __name__ == "__main__":
    task, folder, *names = sys.argv[1:]
    {"write": write, "compare": compare}[task](Path(folder), names)
