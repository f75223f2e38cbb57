"""Models and single operators on a device, beside PyTorch on the same GPU where there is one.

    python -m bench.device [MODEL.onnx ..] [--target opencl] [--rounds 20]

Without models: products, convolutions and reductions of usual sizes. A time is the median of runs
on the wall from the host's arrays and back, so copies count; the first run, which compiles kernels,
is a column of its own. PyTorch runs single operators on `cuda` in f32 without matrix units; where
it or a GPU is missing, its column says so and the host's own code is what nnc is compared with.
"""

from __future__ import annotations

import argparse
import statistics
import time
from collections.abc import Callable, Iterator
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import nnc
import numpy as np
from nnc.ir.syntax.parser import parse_module

from .c_target import inputs_of

PRODUCTS = (
    (64, 64, 64), (256, 256, 256), (1024, 1024, 1024), (1, 4096, 1024), (16, 1024, 4096),
    (1000, 333, 777), (4096, 64, 64), (128, 768, 3072),
)  # fmt: skip
"""The sizes (M, K, N) of matrix products."""
CONVOLUTIONS = (
    (64, 56, 64, 3, 1, 1), (128, 28, 128, 3, 1, 1), (3, 224, 64, 7, 2, 1), (256, 14, 1024, 1, 1, 1),
    (96, 56, 96, 3, 1, 96), (512, 7, 512, 3, 1, 1),
)  # fmt: skip
"""Input channels, image size, output channels, window, stride and groups of convolutions."""
REDUCTIONS = ((1, 1 << 20), (1024, 1024), (65536, 16), (7, 50257))
"""Rows and columns of matrices whose columns are summed."""


def operators() -> Iterator[tuple[str, str, Callable[..., Any]]]:
    """The name, the IR text and the PyTorch function of each single operator."""
    for m, k, n in PRODUCTS:
        a, b, c = f"tensor<{m}x{k}xf32>", f"tensor<{k}x{n}xf32>", f"tensor<{m}x{n}xf32>"
        yield (
            f"product {m}x{k}x{n}",
            _function("nn.matmul %a, %b", [a, b], c),
            lambda t, a, b: a @ b,
        )
    for channels, size, results, window, stride, groups in CONVOLUTIONS:
        pad, out = window // 2, -(-size // stride)
        x = f"tensor<1x{channels}x{size}x{size}xf32>"
        w = f"tensor<{results}x{channels // groups}x{window}x{window}xf32>"
        text = (
            f"nn.conv %a, %b {{strides = array<i64: {stride}, {stride}>, pads = array<i64: {pad}, "
            f"{pad}, {pad}, {pad}>, groups = {groups} : i64}}"
        )
        yield (
            f"convolution {channels}x{size} to {results}, {window}x{window}/{stride}, {groups}",
            _function(text, [x, w], f"tensor<1x{results}x{out}x{out}xf32>"),
            lambda t, x, w, s=stride, p=pad, g=groups: t.nn.functional.conv2d(
                x, w, stride=s, padding=p, groups=g
            ),
        )
    for rows, columns in REDUCTIONS:
        x, text = f"tensor<{rows}x{columns}xf32>", "nn.reduce_sum %a {axes = array<i64: 1>}"
        yield (
            f"sum {rows}x{columns}",
            _function(text, [x], f"tensor<{rows}xf32>"),
            lambda t, x: x.sum(1),
        )


def _function(op: str, types: list[str], result: str) -> str:
    arguments = ", ".join(f"%{name}: {type}" for name, type in zip("ab", types, strict=False))
    return (
        f"func.func @main({arguments}) -> {result} {{\n"
        f"  %y = {op} : ({', '.join(types)}) -> {result}\n  func.return %y : {result}\n}}\n"
    )


def median_of(run: Callable[[], Any], rounds: int) -> float:
    """The median time of a run, in milliseconds."""
    times = []
    for _ in range(rounds):
        start = time.perf_counter()
        run()
        times.append(1e3 * (time.perf_counter() - start))
    return statistics.median(times)


def peer(call: Callable[..., Any] | None, inputs: list[np.ndarray], rounds: int) -> float | None:
    """PyTorch's median time for the same on a GPU, in ms, including copies; None if
    there is none.
    """
    if call is None or not find_spec("torch"):
        return None
    import torch  # pyright: ignore[reportMissingImports]

    if not torch.cuda.is_available():
        return None
    torch.backends.cuda.matmul.allow_tf32 = torch.backends.cudnn.allow_tf32 = False

    def run() -> Any:
        return call(torch, *(torch.from_numpy(one).cuda() for one in inputs)).cpu()

    run()
    return median_of(run, rounds)


def measured(
    name: str, model: Any, call: Callable[..., Any] | None, target: str, rounds: int
) -> str:
    """A row of the table."""
    device, host = (nnc.compile(model, target=one, cache=False) for one in (target, "host"))
    inputs = inputs_of(device)
    start = time.perf_counter()
    got = device(*inputs)
    first = 1e3 * (time.perf_counter() - start)
    lists = ((one if isinstance(one, tuple) else (one,)) for one in (got, host(*inputs)))
    worst = max(difference(a, b) for a, b in zip(*lists, strict=True))
    times = [median_of(lambda one=one: one(*inputs), rounds) for one in (device, host)]
    other = peer(call, inputs, rounds)
    ratio = "no GPU" if other is None else f"{other / times[0]:.2f}"
    row = name, f"{times[0]:.3f}", f"{first:.0f}", ratio, f"{times[1] / times[0]:.2f}"
    return f"| {' | '.join(row)} | {worst:.1e} |"


def difference(a: np.ndarray, b: np.ndarray) -> float:
    """The largest difference, relative to the largest number of `b`."""
    return float(np.abs(a - b).max(initial=0) / (np.abs(b).max(initial=0) or 1))


def main() -> None:
    """Measure, and print a table."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("models", nargs="*", type=Path)
    parser.add_argument("--target", default="opencl")
    parser.add_argument("--rounds", type=int, default=20)
    args = parser.parse_args()
    print(f"| {args.target} | ms | first run, ms | PyTorch / nnc | host / nnc | difference |")
    print("|---|---|---|---|---|---|")
    for path in args.models:
        print(measured(path.stem, path, None, args.target, args.rounds), flush=True)
    for name, text, call in () if args.models else operators():
        module = parse_module(text)
        print(measured(name, module, call, args.target, args.rounds), flush=True)


if __name__ == "__main__":
    main()
