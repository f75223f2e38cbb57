"""`nnc bench`: a model's latency, interleaved with ONNX Runtime's where that is installed."""

from __future__ import annotations

import argparse
import statistics
import time
from collections.abc import Callable, Iterator
from importlib.util import find_spec
from typing import TYPE_CHECKING, Any

import numpy as np

from ..driver.compile import compile_model
from .inputs import check_inputs, gather_inputs

if TYPE_CHECKING:
    from .session import Session


def bench_model(model: str, args: argparse.Namespace, session: Session) -> Iterator[str]:
    """Lines of a small table: compile time, median and spread in ms, the ratio, the error."""
    started = time.perf_counter()
    executable = compile_model(
        model,
        **session.choices,
        threads=args.threads,
        target=args.target,
        fast_math=session.fast_math,
        cache=False,
        emulate=False,
        fallback=args.fallback != "error",
        tuned=session.tuned(args),
        progress=session.progress,
        accept=lambda module: check_inputs(module, args),
    )
    seconds = time.perf_counter() - started
    inputs = gather_inputs(executable, args, session.streams)
    runners: dict[str, Callable[[], Any]] = {"nnc": lambda: executable.run(inputs)}
    peer = None
    if model.endswith(".onnx"):
        from ..frontends.onnx import constant_values

        constants = constant_values(model, session.choices["constants"])
        peer = _onnxruntime(model, args.threads, {**inputs, **constants})
    if peer is not None:
        runners["onnxruntime"] = peer
    times = interleaved(runners, args.runs)
    yield f"{'':14}{'median ms':>12}{'min':>10}{'max':>10}"
    for name, values in times.items():
        median = statistics.median(values)
        yield f"{name:14}{median:12.3f}{min(values):10.3f}{max(values):10.3f}"
    yield f"compiled in {seconds:.1f} s, {args.threads} thread(s), {args.runs} runs each"
    if peer is not None:
        ratios = [o / n for n, o in zip(times["nnc"], times["onnxruntime"], strict=True)]
        yield f"nnc is {statistics.median(ratios):.2f}x as fast as ONNX Runtime"
        yield f"largest relative difference: {_difference(executable.run(inputs), peer()):.2e}"


def interleaved(runners: dict[str, Callable[[], Any]], runs: int) -> dict[str, list[float]]:
    """Milliseconds of each run; the runners take turns, so that drift meets all of them."""
    for run in runners.values():
        run()
        run()
    times: dict[str, list[float]] = {name: [] for name in runners}
    for _ in range(runs):
        for name, run in runners.items():
            started = time.perf_counter()
            run()
            times[name].append(1e3 * (time.perf_counter() - started))
    return times


def _onnxruntime(model: str, threads: int, inputs: dict) -> Callable[[], Any] | None:
    if find_spec("onnxruntime") is None:
        return None
    from ..driver.comparing.sides import onnxruntime_session

    session = onnxruntime_session(model, threads)
    names = [output.name for output in session.get_outputs()]
    return lambda: dict(zip(names, session.run(names, inputs), strict=True))


def _difference(ours: dict, theirs: dict) -> float:

    worst = 0.0
    for name, want in theirs.items():
        scale = float(np.max(np.abs(want.astype(np.float64)), initial=0.0)) or 1.0
        error = np.max(np.abs(ours[name].astype(np.float64) - want), initial=0.0)
        worst = max(worst, float(error) / scale)
    return worst
