"""Times C text beside nnc's library: the same model and schedule, compiled by C compilers and by
LLVM.

    python -m bench.c_target MODEL.onnx.. [--compilers gcc,clang] [--threads 1,2] [--rounds 30]

Both run in this process, in turns, and the best time of each counts. With one thread it is CPU time
of the calling thread, which other programs on the machine disturb little, else wall-clock time.
"""

from __future__ import annotations

import argparse
import shutil
import sys
import time
from pathlib import Path

import nnc
import numpy as np
from nnc.ir.numpy_types import type_to_numpy
from nnc.targets.c import running

COMPILERS = {
    "gcc": ("gcc",),
    "clang": ("clang",),
    "zig": (sys.executable, "-m", "ziglang", "cc"),
}


def inputs_of(model) -> list[np.ndarray]:
    """Random arrays for a model's inputs; dimensions of unknown size are 1."""
    rng, found = np.random.default_rng(0), []
    for type in model.input_types:
        kind = np.dtype(type_to_numpy(type.element_type))
        shape = [1 if n is None else n for n in type.shape]
        wide = rng.standard_normal(shape) if kind.kind == "f" else rng.integers(0, 2, shape)
        found.append(wide.astype(kind))
    return found


def best_times(models, inputs, rounds: int, clock) -> list[float]:
    """The best time of each model, in seconds; they take turns."""
    best = [float("inf")] * len(models)
    for _ in range(rounds):
        for i, model in enumerate(models):
            model(*inputs)  # until then the threads of the model before wait for more work
            start = clock()
            model(*inputs)
            best[i] = min(best[i], clock() - start)
    return best


def compare(path: Path, compilers: list[str], threads: list[int], rounds: int) -> None:
    """Print a row for each compiler and number of threads."""
    library = nnc.compile(path)
    inputs = inputs_of(library)
    want = library(*inputs)
    want = want if isinstance(want, tuple) else (want,)
    for name in compilers:
        running.compiler = lambda name=name: COMPILERS[name]
        start = time.perf_counter()
        text = nnc.compile(path, target="c", cache=False)
        built = time.perf_counter() - start
        got = text(*inputs)
        got = got if isinstance(got, tuple) else (got,)
        same = all(a.tobytes() == b.tobytes() for a, b in zip(got, want, strict=True))
        for count in threads:
            library.threads = text.threads = count
            clock = time.thread_time if count == 1 else time.perf_counter
            one, other = best_times([library, text], inputs, rounds, clock)
            print(
                f"{path.stem:16} {name:6} {count} thread{'s' if count > 1 else ' '} "
                f"library {1e3 * one:8.2f} ms, C {1e3 * other:8.2f} ms, ratio {one / other:.3f}, "
                f"{'the same bits' if same else 'OTHER BITS'}, made in {built:.0f} s",
                flush=True,
            )


def main() -> None:
    """Run the command line."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])  # type: ignore[union-attr]
    parser.add_argument("models", nargs="+", type=Path)
    parser.add_argument("--compilers", default="gcc,clang")
    parser.add_argument("--threads", default="1,2")
    parser.add_argument("--rounds", type=int, default=30)
    given = parser.parse_args()
    there = [name for name in given.compilers.split(",") if shutil.which(COMPILERS[name][0])]
    for path in given.models:
        compare(path, there, [int(n) for n in given.threads.split(",")], given.rounds)


if __name__ == "__main__":
    main()
