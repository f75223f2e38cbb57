"""nnc and other runtimes side by side: one run, interleaved, same threads, same input.

    python -m bench.compare resnet18.onnx mobilenet_v2.onnx --peers onnxruntime openvino
    python -m bench.compare model.onnx --threads 1 2 --runs 30 --plot ratios.svg --json all.json
    python -m bench.compare model.onnx --python openvino=/path/to/another/bin/python
    python -m bench.compare model.onnx --errors

Each runtime has a process of its own; they take turns, a few runs each, so that what disturbs
the machine meets all of them. Prints a table: median latency in ms, its spread (half the
distance between the quartiles), how many times as fast as the peer nnc is (the median of the
ratios of neighbouring turns), the time to make the model ready, the most memory that the process
had, the size of what is shipped, and the largest error relative to the output's largest value:
against ONNX Runtime's outputs, or with `--errors` against those of the model in float64.
"""

import argparse
import json
import math
import os
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np
import onnx

from .command import model_file, read_onnx, run
from .reference import float64_outputs

ROOT = Path(__file__).parent.parent
TURN = 3
"""Runs in a row of one runtime."""

PAUSE = 0.1
"""Seconds before a turn on several threads: those of the runtime before may go on spinning and
take a processor from this one. ONNX Runtime's do for 50 ms."""


@dataclass
class Result:
    """One runtime on one model with one number of threads; latencies in ms."""

    runtime: str
    version: str = ""
    compile_seconds: float = math.nan
    peak_bytes: int = 0
    size_bytes: int = 0
    latencies: list[float] = field(default_factory=list)
    error: float = math.nan
    failure: str = ""

    @property
    def median(self) -> float:
        return statistics.median(self.latencies) if self.latencies else math.nan

    @property
    def spread(self) -> float:
        """Half the distance between the quartiles."""
        if len(self.latencies) < 2:
            return math.nan
        first, _, third = statistics.quantiles(self.latencies, n=4)
        return (third - first) / 2


class Worker:
    """A runtime in its process; `packages` is a folder that modules are looked for in first."""

    def __init__(
        self,
        runtime: str,
        python: str,
        model: Path,
        inputs: Path,
        threads: int,
        packages: str = "",
    ) -> None:
        command = [python, "-m", "bench.peer", runtime, str(model), str(inputs)]
        command += ["--threads", str(threads)]
        pipe = subprocess.PIPE
        self.log = tempfile.TemporaryFile("w+")  # noqa: SIM115 - closed in `end`
        self.process = subprocess.Popen(
            command,
            cwd=ROOT,
            stdin=pipe,
            stdout=pipe,
            stderr=self.log,
            text=True,
            env={**os.environ, **({"PYTHONPATH": packages} if packages else {})},
        )

    def ask(self, command: str) -> dict[str, Any]:
        """Send a command and wait for the answer. Raises RuntimeError if the process ended."""
        assert self.process.stdin is not None and self.process.stdout is not None
        try:
            print(command, file=self.process.stdin, flush=True)
            line = self.process.stdout.readline()
        except BrokenPipeError:
            line = ""
        if not line:
            self.process.wait()
            self.log.seek(0)
            lines = [text.strip() for text in self.log.read().splitlines() if text.strip()]
            raise RuntimeError(lines[-1] if lines else f"exit code {self.process.returncode}")
        return json.loads(line)

    def end(self) -> None:
        """End the process, which removes its files when nobody talks to it any more."""
        assert self.process.stdin is not None
        with suppress(BrokenPipeError):
            self.process.stdin.close()
        try:
            self.process.wait(timeout=10)
        except subprocess.TimeoutExpired:
            self.process.kill()
            self.process.wait()
        self.log.close()


def compare(
    model: Path,
    inputs: Path,
    runtimes: dict[str, str],
    threads: int,
    runs: int,
    reference: Sequence[np.ndarray] | None = None,
) -> list[Result]:
    """Results in the order of `runtimes`, which gives each one's Python interpreter.

    Errors are those against the reference, else against ONNX Runtime.
    """
    results = [Result(runtime) for runtime in runtimes]
    workers: dict[str, Worker] = {}
    outputs: dict[str, list[np.ndarray]] = {}
    with tempfile.TemporaryDirectory() as folder:
        try:
            for result in results:
                worker = Worker(result.runtime, runtimes[result.runtime], model, inputs, threads)
                workers[result.runtime] = worker
                with _failing(result):
                    loaded = worker.ask("load")
                    result.version = loaded["version"]
                    result.compile_seconds = loaded["seconds"]
                    result.size_bytes = loaded["bytes"]
                    file = Path(folder) / f"{result.runtime}.npz"
                    worker.ask(f"save {file}")
                    worker.ask("run 2")
                    outputs[result.runtime] = [a for _, a in sorted(np.load(file).items())]
            alive = [r for r in results if not r.failure]
            for _ in range(-(-runs // TURN)):
                for result in alive:
                    time.sleep(PAUSE if threads > 1 else 0)
                    result.latencies += workers[result.runtime].ask(f"run {TURN}")["ms"]
            for result in alive:
                result.peak_bytes = workers[result.runtime].ask("quit")["peak_bytes"]
        finally:
            for worker in workers.values():
                worker.end()
    if reference is None:
        reference = outputs.get("onnxruntime")
    for result in alive:
        if reference is not None:
            result.error = relative_error(outputs[result.runtime], reference)
    return results


class _failing:  # noqa: N801 - reads as a clause
    """Notes that a runtime cannot do this model, and goes on with the others."""

    def __init__(self, result: Result) -> None:
        self.result = result

    def __enter__(self) -> None:
        pass

    def __exit__(self, kind: Any, error: BaseException | None, trace: Any) -> bool:
        if isinstance(error, RuntimeError):
            self.result.failure = str(error)[:160]
            return True
        return False


def relative_error(found: Sequence[np.ndarray], want: Sequence[np.ndarray]) -> float:
    """The largest difference relative to each output's largest value."""
    worst = 0.0
    for a, b in zip(found, want, strict=True):
        scale = float(np.max(np.abs(b.astype(np.float64)), initial=0.0)) or 1.0
        difference = np.abs(a.reshape(b.shape).astype(np.float64) - b.astype(np.float64))
        worst = max(worst, float(np.max(difference, initial=0.0)) / scale)
    return worst


def ratio(ours: Result, theirs: Result) -> float:
    """How many times as fast `ours` is: the median over the turns, each against its neighbour."""
    pairs = zip(_turns(ours), _turns(theirs), strict=True)
    return statistics.median(b / a for a, b in pairs)


def _turns(result: Result) -> list[float]:
    values = result.latencies
    return [min(values[i : i + TURN]) for i in range(0, len(values), TURN)]


def write_inputs(model: Path, path: Path, given: Path | None, seed: int = 0) -> None:
    """The model's inputs as .npz: those of the file given, the others at random.

    Floats are normal, integers 0 or 1, and an open dimension is 1.
    """
    known = dict(np.load(given)) if given else {}
    random = np.random.default_rng(seed)
    graph = read_onnx(model).graph
    weights = {tensor.name for tensor in graph.initializer}
    arrays = {}
    for value in graph.input:
        if value.name in weights:
            continue
        if value.name in known:
            arrays[value.name] = known[value.name]
            continue
        tensor = value.type.tensor_type
        shape = [max(1, dim.dim_value) for dim in tensor.shape.dim]
        dtype = onnx.helper.tensor_dtype_to_np_dtype(tensor.elem_type)
        floats = np.issubdtype(dtype, np.floating)
        made = random.standard_normal(shape) if floats else random.integers(0, 2, shape)
        arrays[value.name] = made.astype(dtype)
    np.savez(path, **arrays)


def table(model: str, threads: int, results: list[Result]) -> Iterator[str]:
    """Markdown rows for one model and number of threads."""
    ours = next((r for r in results if r.runtime == "nnc" and not r.failure), None)
    for result in results:
        if result.failure:
            yield f"| {model} | {threads} | {result.runtime} | failed: {result.failure} | | | | | |"
            continue
        times = ""
        if ours is not None and result is not ours:
            times = f"**{ratio(ours, result):.2f}**"
        yield (
            f"| {model} | {threads} | {result.runtime} {result.version} | {result.median:.2f} ± "
            f"{result.spread:.2f} | {times} | {result.compile_seconds:.1f} | "
            f"{result.peak_bytes / 1e6:.0f} | {result.size_bytes / 1e6:.1f} | {result.error:.1e} |"
        )


COLUMNS = (
    *("model", "threads", "runtime", "ms", "nnc is faster by", "compile s", "peak MB"),
    *("size MB", "error"),
)
HEAD = f"| {' | '.join(COLUMNS)} |\n{'|---' * len(COLUMNS)}|"


def plot(rows: list[tuple[str, int, list[Result]]], path: Path) -> None:
    """Bars: each peer's latency divided by nnc's, one group for each model."""
    import matplotlib.pyplot as plt

    labels = [f"{model}, {threads} thread{'s' * (threads > 1)}" for model, threads, _ in rows]
    peers = list(dict.fromkeys(r.runtime for _, _, rs in rows for r in rs if r.runtime != "nnc"))
    figure, axes = plt.subplots(figsize=(8, 0.35 * (len(peers) + 1) * len(rows) + 1))
    height = 0.8 / max(1, len(peers))
    for i, peer in enumerate(peers):
        values = []
        for _, _, results in rows:
            found = {r.runtime: r for r in results if not r.failure}
            known = peer in found and "nnc" in found
            values.append(ratio(found["nnc"], found[peer]) if known else 0.0)
        places = [n + i * height for n in range(len(rows))]
        bars = axes.barh(places, values, height, label=peer)
        axes.bar_label(bars, [f"{value:.2f}" if value else "" for value in values], padding=3)
    axes.axvline(1.0, color="gray", linewidth=1)
    axes.set_yticks([n + height * (len(peers) - 1) / 2 for n in range(len(rows))], labels)
    axes.invert_yaxis()
    axes.margins(x=0.1)
    axes.set_xlabel("latency relative to nnc's (above 1: nnc is faster)")
    axes.legend()
    figure.tight_layout()
    figure.savefig(path)


def main() -> None:
    """Compare the models of the command line."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("models", nargs="+", type=Path)
    parser.add_argument("--peers", nargs="*", default=["onnxruntime"])
    parser.add_argument("--threads", nargs="+", type=int, default=[1])
    parser.add_argument("--runs", type=int, default=30)
    parser.add_argument("--python", action="append", default=[], metavar="RUNTIME=PYTHON")
    parser.add_argument(
        "--inputs", type=Path, help="a .npz, or a folder with MODEL.npz; random otherwise"
    )
    parser.add_argument(
        "--errors", action="store_true", help="errors against the model in float64 (slow)"
    )
    parser.add_argument("--plot", type=Path, help="write bars of the ratios, .svg or .png")
    parser.add_argument("--json", type=Path, help="write all figures")
    args = parser.parse_args()
    pythons = dict(option.split("=", 1) for option in args.python)
    runtimes = {name: pythons.get(name, sys.executable) for name in ["nnc", *args.peers]}
    rows: list[tuple[str, int, list[Result]]] = []
    for model in args.models:
        model_file(model)
    print(HEAD, flush=True)
    with tempfile.TemporaryDirectory() as folder:
        for model in args.models:
            given = args.inputs
            if given is not None and given.is_dir():
                given = given / f"{model.stem}.npz"
                given = given if given.exists() else None
            inputs = Path(folder) / f"{model.stem}.npz"
            write_inputs(model, inputs, given)
            reference = float64_outputs(model, dict(np.load(inputs))) if args.errors else None
            for threads in args.threads:
                results = compare(model.resolve(), inputs, runtimes, threads, args.runs, reference)
                rows.append((model.stem, threads, results))
                print("\n".join(table(model.stem, threads, results)), flush=True)
    for peer in args.peers:
        ratios = [
            ratio(found["nnc"], found[peer])
            for _, _, results in rows
            if {"nnc", peer} <= (found := {r.runtime: r for r in results if not r.failure}).keys()
        ]
        if ratios:
            mean = statistics.geometric_mean(ratios)
            print(f"\nnnc against {peer}: {mean:.2f} (geometric mean), least {min(ratios):.2f}")
    if args.json:
        text = json.dumps([[m, t, [vars(r) for r in rs]] for m, t, rs in rows], indent=1)
        args.json.write_text(text + "\n")
    if args.plot:
        plot(rows, args.plot)


if __name__ == "__main__":
    run(main)
