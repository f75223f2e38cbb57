"""The same networks in every format, beside their ONNX versions: times and kernels.

    python bench/formats/twins.py write FRAMEWORK FOLDER      # torch, coreml, keras, jax, paddle
    python -m nnc.bench.formats.twins compare FOLDER [NAMES] [--seconds 2]

`write` needs only the framework, so that each can have its own environment; `keras` writes files of
Keras, TensorFlow and TensorFlow Lite. A network is a function of a builder; its weights are random,
seeded by their names, so that all frameworks have the same. `compare` runs all files of a network
in turns, on one thread.
"""

from __future__ import annotations

import argparse
import re
import sys
import time
from collections import Counter
from pathlib import Path
from typing import Any

import numpy as np

if __package__:
    from .twins_nets import NETWORKS, inputs_of
else:
    from twins_nets import NETWORKS, inputs_of  # type: ignore[import-not-found]

FRAMEWORKS = ("torch", "coreml", "keras", "jax", "paddle")


def main() -> None:
    """Run the command line."""
    parser = argparse.ArgumentParser(prog="python -m nnc.bench.formats.twins", description=__doc__)
    commands = parser.add_subparsers(dest="command", required=True)
    write = commands.add_parser("write")
    write.add_argument("framework", choices=FRAMEWORKS)
    write.add_argument("folder", type=Path)
    against = commands.add_parser("compare")
    against.add_argument("folder", type=Path)
    against.add_argument("names", nargs="*", default=list(NETWORKS))
    against.add_argument("--seconds", type=float, default=2.0, help="for each network")
    options = parser.parse_args()
    if options.command == "compare":
        for name in options.names:
            compare(options.folder, name, options.seconds)
        return
    sys.path.insert(0, str(Path(__file__).parent))
    from twins_writers import WRITERS  # type: ignore[import-not-found]

    options.folder.mkdir(parents=True, exist_ok=True)
    for name in NETWORKS:
        WRITERS[options.framework](options.folder, name)
        print(name, flush=True)


def compare(folder: Path, name: str, seconds: float) -> None:
    """Print a row for each format of a network, the ONNX version first."""
    import nnc

    files = sorted(folder.glob(f"{name}.*"), key=lambda f: (f.suffix != ".onnx", f.suffix))
    files = [f for f in files if f.suffix not in (".pdiparams", ".data")]
    models: dict[Path, Any] = {}
    for file in files:
        try:
            models[file] = nnc.compile(file, threads=1, shapes=fixed_batch(file))
        except nnc.NncError as error:
            print(f"{name:10} {file.suffix:14} {str(error)[:200]}")
    image = inputs_of(name)
    given = {file: _arranged(image, model) for file, model in models.items()}
    twin = next(iter(models))
    wanted = _first(models[twin](given[twin]))
    times = in_turns({f: lambda f=f: models[f](given[f]) for f in models}, seconds)
    kinds = {file: kernels(file) for file in models}
    for file in models:
        found = _first(models[file](given[file])).reshape(wanted.shape)
        error = np.abs(found - wanted).max() / np.abs(wanted).max()
        ratio = min(times[file]) / min(times[twin])
        print(
            f"{name:10} {file.suffix:14} {min(times[file]) * 1e3:8.3f} ms "
            f"{ratio:5.2f} of ONNX's  {kinds[file].total():4} kernels  error {error:.0e}  "
            + _difference(kinds[twin], kinds[file])
        )


def fixed_batch(file: Path) -> dict[str, list[int]]:
    """The input shapes with a batch of one, for a file with a dynamic batch."""
    from nnc.dialects import func
    from nnc.dialects.marks import INPUT_NAMES
    from nnc.driver.compile import load_module

    (entry,) = (f for f in load_module(file).body_block if isinstance(f, func.FuncOp))
    names: Any = entry.attributes[INPUT_NAMES]
    types = entry.function_type.inputs
    return {
        name.value: [1, *type.shape[1:]]
        for name, type in zip(names, types, strict=True)
        if type.shape[0] is None
    }


def kernels(file: Path) -> Counter[str]:
    """The number of calls of each kernel in a run, by the kernels' names."""
    from nnc.dialects import func
    from nnc.dialects.marks import ENTRY
    from nnc.driver.compile import load_module, run_stages
    from nnc.memory.instrument_kernels import kernel_units

    module = run_stages(load_module(file, shapes=fixed_batch(file)), last="bufferize")
    functions = (f for f in module.body_block if isinstance(f, func.FuncOp))
    (entry,) = (f for f in functions if ENTRY in f.attributes)
    calls = [unit for unit in kernel_units(entry, module) if isinstance(unit, func.Call)]
    return Counter(re.sub(r"(_\d+)+$", "", call.callee) for call in calls)


def _difference(twin: Counter[str], own: Counter[str]) -> str:
    more, fewer = own - twin, twin - own
    parts = [f"+{n} {kind}" for kind, n in more.items()]
    return ", ".join([*parts, *(f"-{n} {kind}" for kind, n in fewer.items())])[:300]


def in_turns(calls: dict[Path, Any], seconds: float) -> dict[Path, list[float]]:
    """The times of calls that take turns. Units: seconds."""
    times: dict[Path, list[float]] = {file: [] for file in calls}
    end = time.perf_counter() + seconds * len(calls)
    while time.perf_counter() < end:
        for file, call in calls.items():
            began = time.perf_counter()
            call()
            times[file].append(time.perf_counter() - began)
    return times


def _first(found: Any) -> np.ndarray:
    return np.asarray(found[0] if isinstance(found, tuple) else found)


def _arranged(image: np.ndarray, model: Any) -> np.ndarray:
    """The input, transposed to channels-last if the model expects that."""
    shape = model.input_types[0].shape
    return (
        image if shape[1:] == image.shape[1:] else np.ascontiguousarray(np.moveaxis(image, 1, -1))
    )


if __name__ == "__main__":
    main()
