"""Compares nnc with Keras on `keras.applications`: every architecture, by its logits.

    python -m bench.formats.keras_models [NAMES]     # where both are installed: a row for each

Weights are random, but as trained ones are: kernels keep the scale of activations, branches of
residual blocks weigh less than what they are added to, and batch normalizations have the
statistics of the images. Where nnc and Keras are more than 1e-4 apart, of the largest logit, both
are compared with Keras in float64.
"""

from __future__ import annotations

import subprocess
import sys
import tempfile
import time
from pathlib import Path
from typing import Any

import numpy as np

SIZES = {"Inception": 96, "Xception": 96, "NASNet": 96, "MobileNet": 96}
"""The height and width of images, by how the name of the architecture begins."""
SMALL = 64
"""The height and width of images for all other architectures."""
BATCH = 16
"""The number of images whose statistics batch normalizations get; with a few, some variances are so
small that errors explode.
"""
ENOUGH = 1e-4
PATIENCE = 900
"""The time limit for one architecture. Units: seconds."""


def architectures() -> list[str]:
    """The names of all architectures of `keras.applications`."""
    import keras

    found = vars(keras.applications)
    return sorted(name for name in found if name[0].isupper() and callable(found[name]))


def _network(name: str) -> Any:
    import keras

    size = next((size for begin, size in SIZES.items() if name.startswith(begin)), SMALL)
    make = getattr(keras.applications, name)
    return make(weights=None, input_shape=(size, size, 3), classifier_activation=None)


def _images(rng: np.random.Generator, size: int) -> np.ndarray:
    """Waves in three colors with noise, from 0 to 255; no two images are alike."""
    y, x = np.mgrid[:size, :size] / size
    waves = rng.uniform(-6, 6, (3, BATCH, 1, 1, 3))
    image = np.sin(waves[0] * x[..., None] + waves[1] * y[..., None] + waves[2])
    image = image * rng.uniform(20, 90, (BATCH, 1, 1, 3)) + rng.uniform(60, 190, (BATCH, 1, 1, 3))
    return np.clip(image + rng.normal(0, 15, image.shape), 0, 255).astype(np.float32)


def _branches(net: Any) -> set[str]:
    """The names of the layers with weights at the ends of the branches of residual blocks."""
    order = {layer.name: i for i, layer in enumerate(net.layers)}
    found = set()
    for layer in net.layers:
        if type(layer).__name__ == "Add":
            sources = [tensor._keras_history.operation for tensor in layer.input]
            last = max(sources, key=lambda source: order[source.name])
            while not last.weights and isinstance(last.input, type(layer.input[0])):
                last = last.input._keras_history.operation
            found.add(last.name)
    return found


def _randomize(net: Any, rng: np.random.Generator) -> None:
    """Set weights that keep the scale of activations; those of branches are a quarter as large."""
    branches = _branches(net)
    for layer in net.layers:
        scale = 0.25 if layer.name in branches else 1.0
        ends_in_norm = any(weight.name == "gamma" for weight in layer.weights)
        for weight in layer.weights:
            shape, name = weight.shape, weight.name
            if name.endswith("kernel"):
                fan_in = np.prod(shape[:2] if "depthwise" in weight.path else shape[:-1])
                weight.assign(rng.normal(size=shape) * np.sqrt(2 / fan_in) * scale)
            elif name == "gamma":
                weight.assign(rng.normal(1, 0.1, shape) * scale)
            elif name in ("beta", "bias"):
                weight.assign(rng.normal(0, 0.1, shape) * (scale if ends_in_norm else 1))


def _calibrate(net: Any, images: np.ndarray) -> None:
    """Give batch normalizations the statistics of the images, without dropout."""
    for layer in net.layers:
        if "BatchNormalization" in type(layer).__name__:
            layer.momentum = 0.0
        if hasattr(layer, "rate"):
            layer.rate = 0.0
    net(images, training=True)


def _in_float64(name: str, weights: list[np.ndarray], images: np.ndarray) -> np.ndarray:
    import keras

    keras.config.set_floatx("float64")
    keras.config.set_dtype_policy("float64")
    net = _network(name)
    net.set_weights([weight.astype(np.float64) for weight in weights])
    return np.asarray(net(images.astype(np.float64), training=False))


def compare(name: str) -> None:
    """Print the row of an architecture."""
    import nnc

    rng = np.random.default_rng(3)
    net = _network(name)
    _randomize(net, rng)
    images = _images(rng, net.input_shape[1])
    _calibrate(net, images)
    images = images[:2]
    logits = np.asarray(net(images, training=False))
    largest, name_in = np.abs(logits).max(), net.layers[0].name
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / f"{name}.keras"
        net.save(path)
        begin = time.perf_counter()
        model = nnc.compile(path, shapes={name_in: list(images.shape)}, cache=False)
        seconds = time.perf_counter() - begin
        found = next(iter(model.run({name_in: images}).values()))

    def off(one: np.ndarray, other: np.ndarray) -> float:
        return float(np.abs(one - other).max() / largest)

    apart, varies = off(found, logits), off(logits[0], logits[1])
    valid = varies > 1e-2 and np.isfinite(logits).all()
    row = f"| {name} | {images.shape[1]} | {net.count_params() / 1e6:.0f} M | {apart:.1e} |"
    if apart > ENOUGH:
        exact = _in_float64(name, net.get_weights(), images)
        row += f" {off(found, exact):.1e} | {off(logits, exact):.1e} |"
    else:
        row += " | |"
    verdict = "ok" if apart <= ENOUGH and valid else "differs"
    print(f"{row} {varies:.2f} | {seconds:.0f} | {verdict} |", flush=True)


def main() -> None:
    """Compare each architecture in a process of its own, so that a failure costs only its row."""
    print(
        "| architecture | pixels | weights | apart | nnc off float64 | Keras off float64 |", end=""
    )
    print(
        " images differ | seconds to compile | |\n|---|---|---|---|---|---|---|---|---|", flush=True
    )
    for name in sys.argv[1:] or architectures():
        command = [sys.executable, "-m", __spec__.name, "--one", name]
        try:
            done = subprocess.run(command, capture_output=True, text=True, timeout=PATIENCE)
            lines = done.stdout.splitlines() or [f"| {name} | failed: {done.stderr[-300:]!r} |"]
        except subprocess.TimeoutExpired:
            lines = [f"| {name} | took more than {PATIENCE} s |"]
        print(lines[-1], flush=True)


if __name__ == "__main__":
    if sys.argv[1:2] == ["--one"]:
        compare(sys.argv[2])
    else:
        main()
