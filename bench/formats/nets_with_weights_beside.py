"""Compares nnc with ncnn, PaddlePaddle and OpenCV (for Darknet) on real models.

    python bench/formats/nets_with_weights_beside.py write-ncnn FOLDER SIZE FILES...
    python bench/formats/nets_with_weights_beside.py write-paddle FOLDER SIZE NAMES...
    python bench/formats/nets_with_weights_beside.py write-darknet FOLDER SIZE CFGS...
    python -m nnc.bench.formats.nets_with_weights_beside compare FOLDER    # a row for each

The first three need the framework. Missing weights are random, with statistics that make results
depend on the inputs. `compare` needs nnc.
"""

from __future__ import annotations

import shutil
import sys
import time
from pathlib import Path
from typing import Any

import numpy as np


def write_ncnn(folder: Path, size: int, files: list[str]) -> None:
    """Copy the files, and write an image and ncnn's results for each."""
    import ncnn  # type: ignore[import-not-found]

    for file in map(Path, files):
        net = ncnn.Net()
        net.opt.num_threads = 1
        net.opt.use_fp16_packed = net.opt.use_fp16_storage = False
        net.opt.use_fp16_arithmetic = net.opt.use_bf16_storage = False
        assert net.load_param(str(file)) == 0
        assert net.load_model(str(file.with_suffix(".bin"))) == 0
        image = np.random.default_rng(0).random((3, size, size), np.float32)
        run = net.create_extractor()
        run.input(net.input_names()[0], ncnn.Mat(image).clone())
        results = [np.array(run.extract(name)[1]).copy() for name in net.output_names()]
        name = f"{file.parent.name}.{file.stem}"
        shutil.copy(file, folder / f"{name}.param")
        shutil.copy(file.with_suffix(".bin"), folder / f"{name}.bin")
        _store(folder / f"{name}.param.npz", net.input_names()[0], image, results)


def write_paddle(folder: Path, size: int, names: list[str]) -> None:
    """Write programs of networks of paddle.vision, with images and PaddlePaddle's results."""
    import paddle  # type: ignore[import-not-found]
    from paddle import nn  # type: ignore[import-not-found]

    rng = np.random.default_rng(0)
    for name in names:
        net = getattr(paddle.vision.models, name)()
        for layer in net.sublayers():
            if isinstance(layer, nn.BatchNorm2D):
                count = layer.weight.shape
                layer._mean.set_value(rng.normal(0, 0.3, count).astype("f4"))
                layer._variance.set_value(rng.uniform(0.5, 2, count).astype("f4"))
                layer.weight.set_value(rng.uniform(0.8, 1.4, count).astype("f4"))
            elif isinstance(layer, nn.Conv2D | nn.Linear):
                shape = layer.weight.shape
                fan = np.prod(shape[1:]) if len(shape) == 4 else shape[0]
                layer.weight.set_value(rng.normal(0, (2 / fan) ** 0.5, shape).astype("f4"))
        net.eval()
        images = rng.normal(size=(2, 3, size, size)).astype("f4")
        results = net(paddle.to_tensor(images))
        results = results if isinstance(results, list | tuple) else [results]
        spec = paddle.static.InputSpec([None, 3, size, size], "float32", "x")
        program = paddle.jit.to_static(net, full_graph=True, input_spec=[spec])
        paddle.jit.save(program, str(folder / name))
        written = next(p for p in folder.glob(f"{name}.*") if p.suffix in (".json", ".pdmodel"))
        _store(Path(f"{written}.npz"), "x", images, [r.numpy() for r in results])


def write_darknet(folder: Path, size: int, files: list[str]) -> None:
    """Write cfg files for a smaller image with random weights, and OpenCV's results."""
    import cv2  # type: ignore[import-not-found]

    for file in map(Path, files):
        lines = file.read_text().splitlines()
        lines = [
            f"{line.split('=')[0]}={size}"
            if line.replace(" ", "").startswith(("width=", "height="))
            else line
            for line in lines
        ]
        path = folder / file.name
        path.write_text("\n".join(lines) + "\n")
        path.with_suffix(".weights").write_bytes(_weights("\n".join(lines)))
        net = cv2.dnn.readNetFromDarknet(str(path), str(path.with_suffix(".weights")))
        image = np.random.default_rng(0).random((1, 3, size, size), np.float32)
        net.setInput(image)
        results = net.forward(net.getUnconnectedOutLayersNames())
        _store(Path(f"{path}.npz"), "data", image, list(results))


def _weights(text: str) -> bytes:
    """The bytes of a random weights file with the parameters that a cfg file needs."""
    from nnc.frontends.darknet import weights
    from nnc.frontends.formats import import_model

    rng = np.random.default_rng(0)
    written = [np.array([0, 2, 5, 0, 0], "<i4").tobytes()]

    def take(self: object, layer: str, shape: tuple[int, ...]) -> np.ndarray:
        if len(shape) == 1:
            made = rng.uniform(0.5, 1.5, shape).astype("<f4")
        else:
            fan = np.prod(shape[1:])
            made = rng.normal(0, (0.5 / fan) ** 0.5, shape).astype("<f4")
        written.append(made.tobytes())
        return made

    weights.Weights.take = take  # type: ignore[method-assign]
    import_model(text.encode())
    return b"".join(written)


def _store(path: Path, name: str, given: np.ndarray, results: list[np.ndarray]) -> None:
    stored: dict[str, Any] = {f"result{i}": v for i, v in enumerate(results)}
    stored[f"input {name}"] = given
    np.savez(path, **stored)
    print(path.name, [v.shape for v in results], flush=True)


def compare(folder: Path) -> None:
    """Print a row for each model: the largest difference relative to the largest number, and the
    time.
    """
    import nnc

    for stored in sorted(folder.glob("*.npz")):
        data = np.load(stored)
        inputs = {k.removeprefix("input "): data[k] for k in data if k.startswith("input ")}
        shapes = {name: value.shape for name, value in inputs.items()}
        start = time.perf_counter()
        model = nnc.compile(stored.with_suffix(""), shapes=shapes)
        seconds = time.perf_counter() - start
        worst = 0.0
        for i, value in enumerate(model.run(inputs).values()):
            wanted = data[f"result{i}"]
            assert wanted.shape == value.shape, (wanted.shape, value.shape)
            assert np.isfinite(wanted).all(), "no oracle: its results overflow"
            worst = max(worst, float(np.abs(value - wanted).max() / np.abs(wanted).max()))
        print(f"| {stored.stem} | {worst:.1e} | {seconds:.1f} s |", flush=True)


if __name__ == "__main__":
    command, folder = sys.argv[1], Path(sys.argv[2])
    folder.mkdir(parents=True, exist_ok=True)
    if command == "compare":
        compare(folder)
    else:
        writers = {"write-ncnn": write_ncnn, "write-paddle": write_paddle}
        writers["write-darknet"] = write_darknet
        writers[command](folder, int(sys.argv[3]), sys.argv[4:])
