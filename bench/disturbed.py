"""Measures the gain of a second thread, here and in other runtimes, on a quiet and a busy machine.

    python -m bench.disturbed resnet18.onnx squeezenet.onnx
    python -m bench.disturbed bert_base.onnx --tree before=/path/with/another/nnc --blocks 20

Every runtime has a process for one thread and one for two. They take turns: a pause, so that
threads fall asleep, then a block of runs, of which the median counts. All take a turn on the quiet
machine, then all while another program uses part of one core: bursts of some milliseconds, on
whichever core the system chooses. Prints for each model, quiet and disturbed: the medians over the
blocks in ms on one thread and on two, the gain of the second thread, and how many times as fast nnc
is as the runtime. Ratios are medians over the turns, each of neighbouring blocks.
"""

import argparse
import multiprocessing
import statistics
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from nnc.delivery.engines.process import EngineProcess
from nnc.delivery.engines.turns import PAUSE

from .command import run
from .compare import LIMIT, job, write_inputs

BURST = 0.004
"""The length of the other program's bursts. Units: seconds."""

BLOCK = 0.08
"""The approximate length of a block of runs. Units: seconds."""

Key = tuple[str, int]
"""A runtime and its number of threads."""


def disturb(part: float) -> None:
    """Keep one core busy, in bursts, for `part` of the time; never returns."""
    while True:
        end = time.perf_counter() + BURST
        while time.perf_counter() < end:
            pass
        time.sleep(BURST * (1 - part) / part)


@contextmanager
def disturbance(part: float) -> Iterator[None]:
    """Run `disturb` in another process while the block runs; nothing if `part` is 0."""
    if not part:
        yield
        return
    program = multiprocessing.Process(target=disturb, args=(part,), daemon=True)
    program.start()
    try:
        yield
    finally:
        program.kill()
        program.join()


def measure(
    model: Path,
    inputs: Path,
    runtimes: dict[str, str],
    threads: list[int],
    blocks: int,
    part: float,
) -> dict[bool, dict[Key, list[float]]]:
    """The medians of the blocks in ms, by whether the machine was disturbed, and by runtime and
    threads.

    `runtimes` gives the folder of each runtime's nnc, empty for this one.
    """
    workers: dict[Key, EngineProcess] = {}
    found: dict[bool, dict[Key, list[float]]] = {False: {}, True: {}}
    try:
        for name, folder in runtimes.items():
            for count in threads:
                kind = "nnc" if folder else name
                what = job(kind, model, inputs, count, packages=folder)
                workers[name, count] = EngineProcess(what)
        runs: dict[Key, int] = {}
        for key, worker in workers.items():
            worker.ask("load", LIMIT)
            fastest = min(worker.ask("run 5", LIMIT)["ms"])
            runs[key] = max(3, round(1e3 * BLOCK / fastest))
        for _ in range(blocks):
            for disturbed, medians in found.items():
                with disturbance(part if disturbed else 0.0):
                    for key, worker in workers.items():
                        time.sleep(PAUSE)
                        times = worker.ask(f"run {runs[key]}", LIMIT)["ms"]
                        medians.setdefault(key, []).append(statistics.median(times))
    finally:
        for worker in workers.values():
            worker.end()
    return found


def rows(
    model: str, found: dict[bool, dict[Key, list[float]]], runtimes: dict[str, str]
) -> Iterator[str]:
    """The table's rows of one model."""
    for disturbed, medians in found.items():
        counts = sorted({count for _, count in medians})
        for name in runtimes:
            times = [f"{statistics.median(medians[name, count]):.2f}" for count in counts]
            gain = _ratio(medians[name, counts[0]], medians[name, counts[-1]])
            faster = [f"{_ratio(medians[name, c], medians['nnc', c]):.2f}" for c in counts]
            cells = [model, "disturbed" if disturbed else "quiet", name, *times, f"{gain:.2f}"]
            yield f"| {' | '.join([*cells, *(faster if name != 'nnc' else [''] * len(counts))])} |"


def _ratio(above: list[float], below: list[float]) -> float:
    return statistics.median(a / b for a, b in zip(above, below, strict=True))


def main() -> None:
    """Measure the models of the command line."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("models", nargs="+", type=Path)
    parser.add_argument("--peers", nargs="*", default=["onnxruntime"])
    parser.add_argument("--tree", action="append", default=[], metavar="NAME=FOLDER")
    parser.add_argument("--threads", nargs="+", type=int, default=[1, 2])
    parser.add_argument("--blocks", type=int, default=15)
    parser.add_argument(
        "--part", type=float, default=0.3, help="of one core, for the other program"
    )
    args = parser.parse_args()
    trees = dict(option.split("=", 1) for option in args.tree)
    runtimes = {"nnc": "", **trees, **dict.fromkeys(args.peers, "")}
    counts = sorted(args.threads)
    heads = ["model", "machine", "runtime", *(f"ms, {c} thread(s)" for c in counts), "gain"]
    heads += [f"nnc is faster by, {c}" for c in counts]
    print(f"| {' | '.join(heads)} |\n{'|---' * len(heads)}|", flush=True)
    with tempfile.TemporaryDirectory() as folder:
        for model in args.models:
            inputs = Path(folder) / f"{model.stem}.npz"
            write_inputs(model, inputs, None)
            found = measure(model.resolve(), inputs, runtimes, counts, args.blocks, args.part)
            print("\n".join(rows(model.stem, found, runtimes)), flush=True)


if __name__ == "__main__":
    run(main)
