"""Times each kernel of a model in runs of the whole model, in Chromium, as WebAssembly."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from nnc.dialects.marks import INPUT_NAMES
from nnc.driver.artifacts import write_artifact
from nnc.driver.compile import load_module, run_stages
from nnc.driver.hosting import entry_of
from nnc.driver.tuning.worker import kernel_times, unit_names
from nnc.ir.passes import PassContext, PassManager
from nnc.ir.types import TensorType
from nnc.lowering.pipelines import pipeline
from nnc.memory.instrument_kernels import INNER, TIMES
from nnc.targets.attribute import attach, target_of
from nnc.tools.inputs import random_array

from ..browser import serving, showing

_ARRAYS = {
    "float32": "Float32Array",
    "float64": "Float64Array",
    "int64": "BigInt64Array",
    "int32": "Int32Array",
    "int8": "Int8Array",
    "uint8": "Uint8Array",
    "bool": "Uint8Array",
}
_BLOCKS = 9
"""The number of blocks of consecutive runs. A browser's clock is coarse, so only means resolve
times below its steps.
"""
_STEP = 5_000
"""The resolution of that clock in an isolated page. Units: nanoseconds."""
_PAGE = """<!doctype html><meta charset="utf-8"><script type="module">
const post = (body) => fetch("/", { method: "POST", body: JSON.stringify(body) });
try {
  const { load } = await import("/site/model.mjs");
  const model = await load();
  const given = {};
  for (const { name, array, dims, file } of INPUTS) {
    const data = await (await fetch(`/site/${file}`)).arrayBuffer();
    given[name] = { data: new globalThis[array](data), dims };
  }
  const numbers = (made) => (made ? Array.from(made.data, Number) : []);
  const runs = [];
  for (let i = 0; i < 5; i++) await model.run(given);
  const until = performance.now() + SECONDS * 1000;
  while (runs.length < 10 || performance.now() < until) {
    const outputs = await model.run(given);
    runs.push([numbers(outputs[TIMES]), numbers(outputs[INNER])]);
  }
  await post({ runs });
} catch (error) { await post({ failure: String(error?.stack ?? error) }); }
</script>"""


class WholeModel:
    """A model with a clock around each kernel, and a page in a new folder that runs it on random
    inputs for so many seconds.
    """

    def __init__(
        self,
        model: str,
        shapes: Mapping[str, Sequence[int]],
        target: str,
        folder: Path,
        seconds: float,
    ) -> None:
        folder.mkdir()
        self._folder = folder
        module = load_module(model, shapes=shapes)
        entry = entry_of(module)
        assert entry is not None
        names = [one.value for one in entry.attributes[INPUT_NAMES].elements]
        self._prepare(dict(zip(names, entry.function_type.inputs, strict=True)), seconds)
        attach(module, target_of(module, target))
        run_stages(module, last="bufferize")
        steps = pipeline("builtin.module(instrument-kernels)")
        PassManager(steps, PassContext(), (), False).run(module)
        self._names = unit_names(module)
        run_stages(module)
        write_artifact(module, folder / "model.wasm")

    def _prepare(self, inputs: Mapping[str, TensorType], seconds: float) -> None:
        """Write the page and the inputs."""
        generator, rows = np.random.default_rng(0), []
        for number, (name, type) in enumerate(inputs.items()):
            array = random_array(type, generator, name)
            file = f"{number}.bin"
            (self._folder / file).write_bytes(array.tobytes())
            rows.append(
                {
                    "name": name,
                    "array": _ARRAYS[str(array.dtype)],
                    "dims": list(array.shape),
                    "file": file,
                }
            )
        known = {"INPUTS": rows, "SECONDS": seconds, "TIMES": TIMES, "INNER": INNER}
        head = "".join(f"const {name} = {json.dumps(value)};\n" for name, value in known.items())
        page = _PAGE.replace("const post", head + "const post", 1)
        (self._folder / "page.html").write_text(page)

    def times(self, patience: float = 600.0) -> dict[str, InRun]:
        """The times of all calls of each kernel in a run. Raises RuntimeError."""
        with (
            serving({"site": self._folder}) as server,
            showing(f"{server.address}/site/page.html"),
        ):
            found = server.posted(patience)
        if "failure" in found:
            raise RuntimeError(found["failure"])
        return times_of_runs(found["runs"], self._names)


@dataclass(frozen=True)
class InRun:
    """The time of all calls of a kernel in a run, in microseconds: the mean of the fastest block of
    runs, and the median over all blocks.
    """

    low: float
    median: float


def times_of_runs(
    runs: Sequence[Sequence[Sequence[float]]], names: tuple[list[str], list[str]]
) -> dict[str, InRun]:
    """The times of kernels, from timestamps in nanoseconds.

    As in the page, runs in which something else used the processor are left out: those that take
    1.5 times the median and two steps of the clock.
    """
    each: dict[str, list[float]] = {}
    for stamps, inner in runs:
        outputs: dict[str, Any] = {TIMES: np.array(stamps)}
        if inner:
            outputs[INNER] = np.reshape(inner, (-1, 2))
        for name, took in kernel_times(outputs, names).items():
            each.setdefault(name, []).append(took)
    return {name: _of_blocks(np.array(samples)) for name, samples in each.items()}


def _of_blocks(samples: np.ndarray) -> InRun:
    kept = samples[samples <= 1.5 * np.median(samples) + 2 * _STEP]
    blocks = np.array_split(kept, min(_BLOCKS, len(kept)))
    means = [float(block.mean()) / 1e3 for block in blocks]
    return InRun(min(means), float(np.median(means)))
