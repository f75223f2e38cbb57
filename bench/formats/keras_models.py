"""Compares nnc with Keras on `keras.applications`: every architecture, by its logits.

    python bench/formats/keras_models.py write FOLDER [NAMES]           # by Keras
    python -m nnc.bench.formats.keras_models compare FOLDER [NAMES]     # a row for each

Batch normalizations get the statistics of a batch of noise, so that activations keep their scale.
"""

from __future__ import annotations

import sys
import time
from pathlib import Path
from typing import Any

import numpy as np

SIZE = 96
"""Height and width of images; the least that all architectures take."""


def architectures() -> list[str]:
    """The names of all."""
    import keras

    found = vars(keras.applications)
    return sorted(name for name in found if name[0].isupper() and callable(found[name]))


def write(folder: Path, names: list[str]) -> None:
    """A file with the model and one with images and logits for each architecture."""
    import keras

    rng = np.random.default_rng(3)
    for name in names or architectures():
        keras.backend.clear_session()
        net = getattr(keras.applications, name)(
            weights=None, input_shape=(SIZE, SIZE, 3), classifier_activation=None
        )
        _randomize(net, rng)
        images = rng.uniform(0, 255, (4, SIZE, SIZE, 3)).astype(np.float32)
        for layer in net.layers:
            if "BatchNormalization" in type(layer).__name__:
                layer.momentum = 0.0
        net(images, training=True)
        net.save(folder / f"{name}.keras")
        logits = net.predict(images[:2], verbose=0)
        np.savez(folder / f"{name}.npz", images=images[:2], logits=logits)
        print(f"{name}: {net.count_params() / 1e6:.1f} million weights", flush=True)


def _randomize(net: Any, rng: np.random.Generator) -> None:
    """Scales and biases, which are 1 and 0 (ConvNeXt: 1e-6) at first, as numbers around that."""
    for weight in net.weights:
        shape = weight.shape
        if len(shape) == 1 and "moving" not in weight.path:
            around = 0.0 if weight.name in ("bias", "beta") else 0.6
            weight.assign(rng.normal(around, 0.15, shape).astype(np.float32))


def compare(folder: Path, names: list[str]) -> None:
    """How far nnc's logits are from those of Keras, relative to the largest."""
    import nnc

    for path in sorted(folder.glob("*.keras")):
        if names and path.stem not in names:
            continue
        arrays = np.load(path.with_suffix(".npz"))
        images, logits = arrays["images"], arrays["logits"]
        begin = time.perf_counter()
        model = nnc.compile(path, cache=False)
        compiled = time.perf_counter() - begin
        found = model(images)
        largest = np.abs(logits).max()
        apart = np.abs(found - logits).max() / largest
        varies = np.abs(logits[0] - logits[1]).max() / largest
        verdict = "ok" if apart <= 1e-4 and varies > 1e-2 else "differs"
        print(
            f"| Keras | {path.stem} | {verdict} | {apart:.1e} | {varies:.2f} | {compiled:.0f} s |"
        )
        sys.stdout.flush()


def main() -> None:
    """By the command line."""
    work, folder, *names = sys.argv[1:]
    {"write": write, "compare": compare}[work](Path(folder), names)


if __name__ == "__main__":
    main()
