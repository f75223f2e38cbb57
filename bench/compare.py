"""nnc and other runtimes side by side: one run, interleaved, same threads, same input.

    python -m bench.compare resnet18.onnx mobilenet_v2.onnx --peers onnxruntime openvino
    python -m bench.compare model.onnx --threads 1 2 --runs 30 --plot ratios.svg --json all.json
    python -m bench.compare model.onnx --python openvino=/path/to/another/bin/python
    python -m bench.compare model.onnx --errors

Each runtime has a process of its own; they take turns, a few runs each, so that what disturbs
the machine meets all of them (`delivery/engines`, as in `nnc package`). Prints a table: median
latency in ms, its spread (half the distance between the quartiles), how many times as fast as the
peer nnc is (the median of the ratios of neighbouring turns), the time to make the model ready, the
most memory that the process had, the size of what is shipped, and the largest error relative to the
output's largest value: against ONNX Runtime's outputs, or with `--errors` against those of the
model in float64.
"""

import argparse
import json
import statistics
import sys
import tempfile
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import onnx
from nnc.delivery.engines.accuracy import accuracy
from nnc.delivery.engines.process import Job
from nnc.delivery.engines.table import ENGINES, TUNED, Engine
from nnc.delivery.engines.turns import Effort, Result, measure, ratio
from nnc.ir.diagnostics import NncError

from .command import model_file, read_onnx, run
from .reference import float64_outputs

ROOT = Path(__file__).parent.parent
LIMIT = 3600.0
"""The longest time in seconds for a runtime to load a model."""

_PEERS = tuple(
    Engine(name, name, ("ONNX",), (distribution,), (module,), f"peer.{name}", folder=ROOT / "bench")
    for name, distribution, module in (
        ("torch", "torch", "torch"),
        ("iree", "iree-base-runtime", "iree.runtime"),
        ("tvm", "apache-tvm", "tvm"),
        ("metaschedule", "apache-tvm", "tvm"),
    )
)
RUNTIMES = {one.name: one for one in (*ENGINES, *_PEERS) if one.reads("ONNX") and one.name != TUNED}
"""The runtimes by name: engines of `nnc package`, and those that only benchmarks use."""


def job(
    runtime: str, model: Path, inputs: Path, threads: int, python: str = "", packages: str = ""
) -> Job:
    """The job of a runtime's process. `packages` is a folder that is searched for modules first.

    Raises NncError for an unknown runtime.
    """
    if runtime not in RUNTIMES:
        raise NncError(f"no runtime is called '{runtime}'; there are {', '.join(RUNTIMES)}")
    engine = RUNTIMES[runtime]
    return Job(engine, model, inputs, threads, {}, python or sys.executable, packages)


def compare(
    model: Path,
    inputs: Path,
    runtimes: dict[str, str],
    threads: int,
    runs: int,
    reference: Sequence[np.ndarray] | None = None,
) -> list[Result]:
    """The results of runtimes, in the order of `runtimes`: their Python interpreters by name.

    Accuracy is relative to `reference`, or to ONNX Runtime's outputs if that is None.
    """
    jobs = {name: job(name, model, inputs, threads, python) for name, python in runtimes.items()}
    results = measure(jobs, Effort(runs=runs, limit=LIMIT))
    if reference is None:
        reference = next((one.outputs for one in results if one.name == "onnxruntime"), None)
    for result in results:
        if reference is not None and result.outputs is not None and not result.failure:
            result.accuracy = accuracy(result.outputs, reference)
    return results


def error_of(result: Result) -> float:
    """The largest difference relative to each output's largest value; NaN where it is not known."""
    found = result.accuracy and result.accuracy.max_rel
    return float("nan") if found is None else found


def as_json(result: Result) -> dict[str, Any]:
    """All figures of a runtime. Units: ms, seconds, bytes."""
    return {
        "runtime": result.name,
        "version": result.version,
        "compile_seconds": ready_seconds(result),
        "peak_bytes": result.peak_bytes,
        "size_bytes": result.size_bytes,
        "latencies": result.latencies,
        "error": error_of(result),
        "failure": result.failure,
    }


def ready_seconds(result: Result) -> float:
    """The seconds to load a model from its file, including compilation."""
    return (result.load_ms + (result.compile_ms or 0.0)) / 1e3


def write_inputs(model: Path, path: Path, given: Path | None, seed: int = 0) -> None:
    """Write the model's inputs to an .npz file: those of the file `given`, and random ones for the
    others.

    Floats are normal, integers 0 or 1, and dimensions of unknown size are 1.
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
    ours = next((r for r in results if r.name == "nnc" and not r.failure), None)
    for result in results:
        if result.failure:
            yield f"| {model} | {threads} | {result.name} | failed: {result.failure} | | | | | |"
            continue
        times = ""
        if ours is not None and result is not ours:
            times = f"**{ratio(ours, result):.2f}**"
        yield (
            f"| {model} | {threads} | {result.name} {result.version} | {result.median:.2f} ± "
            f"{result.spread:.2f} | {times} | {ready_seconds(result):.1f} | "
            f"{(result.peak_bytes or 0) / 1e6:.0f} | {result.size_bytes / 1e6:.1f} | "
            f"{error_of(result):.1e} |"
        )


COLUMNS = (
    *("model", "threads", "runtime", "ms", "nnc is faster by", "compile s", "peak MB"),
    *("size MB", "error"),
)
HEAD = f"| {' | '.join(COLUMNS)} |\n{'|---' * len(COLUMNS)}|"


def plot(rows: list[tuple[str, int, list[Result]]], path: Path) -> None:
    """Write a bar chart: each peer's latency divided by nnc's, with a group for each model."""
    import matplotlib.pyplot as plt

    labels = [f"{model}, {threads} thread{'s' * (threads > 1)}" for model, threads, _ in rows]
    peers = list(dict.fromkeys(r.name for _, _, rs in rows for r in rs if r.name != "nnc"))
    figure, axes = plt.subplots(figsize=(8, 0.35 * (len(peers) + 1) * len(rows) + 1))
    height = 0.8 / max(1, len(peers))
    for i, peer in enumerate(peers):
        values = []
        for _, _, results in rows:
            found = {r.name: r for r in results if not r.failure}
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
            if {"nnc", peer} <= (found := {r.name: r for r in results if not r.failure}).keys()
        ]
        if ratios:
            mean = statistics.geometric_mean(ratios)
            print(f"\nnnc against {peer}: {mean:.2f} (geometric mean), least {min(ratios):.2f}")
    if args.json:
        text = json.dumps([[m, t, [as_json(r) for r in rs]] for m, t, rs in rows], indent=1)
        args.json.write_text(text + "\n")
    if args.plot:
        plot(rows, args.plot)


if __name__ == "__main__":
    run(main)
