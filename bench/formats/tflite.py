"""Compares TensorFlow Lite models with LiteRT's interpreter, in outputs and time.

    python -m bench.formats.tflite expect FOLDER EXPECTED    (needs ai-edge-litert)
    python -m bench.formats.tflite compare FOLDER EXPECTED   (needs nnc)

The first writes for each `.tflite` file of a folder the interpreter's outputs for random inputs,
with its own kernels and with XNNPACK, and its time on one thread; the second prints a table's rows.
"""

from __future__ import annotations

import sys
import time
from functools import partial
from pathlib import Path

import numpy as np

OPEN = 8000
"""The size of dynamic dimensions other than the batch: half a second of sound."""


def expect(folder: Path, out: Path) -> None:
    """Write the outputs of three successive runs of every model."""
    from ai_edge_litert.interpreter import Interpreter, OpResolverType

    kinds = {
        "own": OpResolverType.BUILTIN_WITHOUT_DEFAULT_DELEGATES,
        "xnnpack": OpResolverType.AUTO,
    }
    out.mkdir(exist_ok=True)
    for path in sorted(folder.glob("*.tflite")):
        for kind, resolver in kinds.items():
            try:
                interpreter = Interpreter(
                    str(path), experimental_op_resolver_type=resolver, num_threads=1
                )
                for detail in interpreter.get_input_details():
                    if -1 in detail["shape_signature"]:
                        given = detail["shape_signature"]
                        shape = [d if d >= 0 else OPEN if i else 1 for i, d in enumerate(given)]
                        interpreter.resize_tensor_input(detail["index"], shape)
                interpreter.allocate_tensors()
            except (RuntimeError, ValueError) as error:
                print(path.name, kind, str(error).splitlines()[0][:100])
                continue
            found = {f"in{i}": x for i, x in enumerate(_set_inputs(interpreter))}
            details = interpreter.get_output_details()
            for run in range(3):
                interpreter.invoke()
                arrays = (interpreter.get_tensor(d["index"]) for d in details)
                found |= {f"out{run}_{i}": array.copy() for i, array in enumerate(arrays)}
            scales = np.array([d["quantization"][0] for d in details])
            ms = _time(interpreter.invoke)
            np.savez(out / f"{path.stem}.{kind}.npz", ms=ms, scales=scales, **found)


def _set_inputs(interpreter) -> list[np.ndarray]:
    rng = np.random.default_rng(0)
    given = []
    for detail in interpreter.get_input_details():
        kind = np.dtype(detail["dtype"])
        if kind.kind == "f" and len(detail["shape"]) == 4:
            given.append(_image(rng, detail["shape"]).astype(kind))
        elif kind.kind == "f":
            given.append(rng.standard_normal(detail["shape"]).astype(kind) / 2)
        else:
            low, high = (0, 3) if kind.itemsize > 1 else (-100, 100)
            given.append(rng.integers(low, high, detail["shape"]).astype(kind))
        interpreter.set_tensor(detail["index"], given[-1])
    return given


def _image(rng: np.random.Generator, shape: np.ndarray) -> np.ndarray:
    """Waves in all channels, from 0 to 1, with a little noise, like photos. On pure noise the
    outputs of a segmentation network are 1000 times as large, and kernels of the same interpreter
    differ by 2e-3.
    """
    y, x = np.mgrid[: shape[1], : shape[2]] / shape[2]
    by, bx, start = rng.uniform(-6, 6, (3, shape[0], 1, 1, shape[3]))
    image = 0.5 + 0.4 * np.sin(by * y[..., None] + bx * x[..., None] + start)
    return np.clip(image + rng.normal(0, 0.03, image.shape), 0, 1)


def compare(folder: Path, expected: Path) -> None:
    """Print for each model the difference from the interpreter's outputs, and both times."""
    import nnc

    print("| model | off own kernels | off XNNPACK | ms | XNNPACK ms |\n|---|---|---|---|---|")
    for path in sorted(folder.glob("*.tflite")):
        model = nnc.compile(path)
        files = [expected / f"{path.stem}.{kind}.npz" for kind in ("own", "xnnpack")]
        loaded = [np.load(file) if file.exists() else None for file in files]
        one = next((data for data in loaded if data is not None), None)
        if one is None:
            print(f"| {path.stem} | - | - | - | - |")
            continue
        count = sum(key.startswith("in") for key in one)
        given = {name: one[f"in{i}"] for i, name in enumerate(model.input_names[:count])}
        states, runs = model.input_names[count:], []
        for _ in range(3):
            runs.append(model.run(given))
            given |= {name: runs[-1][name] for name in states}
        off = ["-" if data is None else _off(data, runs) for data in loaded]
        ms, theirs = _time(partial(model.run, given)), loaded[1]
        print(f"| {path.stem} | {off[0]} | {off[1]} | {ms:.2f} |", end="")
        print(f" {theirs['ms']:.2f} |" if theirs is not None else " - |", flush=True)


def _off(data, runs: list[dict[str, np.ndarray]]) -> str:
    """The largest difference: relative to the largest value, or in quantization steps."""
    worst, steps = 0.0, 0.0
    for run, outputs in enumerate(runs):
        for i, (scale, got) in enumerate(zip(data["scales"], outputs.values(), strict=False)):
            want = data[f"out{run}_{i}"].astype(np.float64)
            apart = np.abs(got.astype(np.float64) - want).max()
            if scale:
                steps = max(steps, apart)
            else:
                worst = max(worst, apart / max(np.abs(want).max(), 1e-30))
    return f"{steps:.0f} steps" if data["scales"].any() else f"{worst:.0e}"


def _time(run) -> float:
    """The least time of several runs, in milliseconds."""
    best = float("inf")
    for _ in range(10):
        start = time.perf_counter()
        run()
        best = min(best, time.perf_counter() - start)
    return best * 1e3


if __name__ == "__main__":
    {"expect": expect, "compare": compare}[sys.argv[1]](*map(Path, sys.argv[2:4]))
