"""`nnc bench`: a model's latency, interleaved with ONNX Runtime's if that is installed."""

from __future__ import annotations

import argparse
import statistics
import time
from collections.abc import Callable, Iterator, Mapping
from importlib.util import find_spec
from typing import TYPE_CHECKING, Any

import numpy as np

from ..driver.comparing.difference import flattened
from ..driver.compile import compile_model
from ..driver.profiling.collect import Spread
from ..ir.diagnostics import NncError
from ..ir.numpy_types import number_kind
from .inputs import check_inputs, gather_inputs

if TYPE_CHECKING:
    from .session import Session


def bench_model(model: str, args: argparse.Namespace, session: Session) -> Iterator[str]:
    """Lines of a small table: compile time, median and spread in ms, the ratio, the error.

    Code is timed where it runs: in this process, on a device, or in an engine.
    """
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
        accept=lambda module: check_inputs(module, args, session.streams),
    )
    seconds = time.perf_counter() - started
    inputs = gather_inputs(executable, args, session.streams)
    ours = executable.timed_on(inputs)
    runners: dict[str, Callable[[], int]] = {"nnc": ours.run}
    peer = None
    if model.endswith(".onnx"):
        from ..frontends.onnx import constant_values

        constants = constant_values(model, session.choices["constants"])
        try:
            peer = _onnxruntime(model, args.threads, {**inputs, **constants})
        except NncError as error:
            session.progress(f"without its times: {error.message}")
    if peer is not None:
        runners["onnxruntime"] = _timed(peer)
    times = interleaved(runners, args.runs)
    yield f"{'':14}{'median ms':>12}{'min':>10}{'max':>10}{'10 %':>10}{'90 %':>10}"
    for name, values in times.items():
        shown = Spread.of(values)
        bounds = (min(values), max(values), shown.low, shown.high)
        yield f"{name:14}{shown.median:12.3f}" + "".join(f"{ms:10.3f}" for ms in bounds)
    where = f", nnc's timed {ours.where}" if ours.where else ""
    yield f"compiled in {seconds:.1f} s, {args.threads} thread(s), {args.runs} runs each{where}"
    if peer is not None:
        ratios = [o / n for n, o in zip(times["nnc"], times["onnxruntime"], strict=True)]
        yield f"nnc is {statistics.median(ratios):.2f}x as fast as ONNX Runtime"
        yield f"largest relative difference: {_difference(ours.outputs(), peer()):.2e}"


def interleaved(runners: dict[str, Callable[[], int]], runs: int) -> dict[str, list[float]]:
    """Milliseconds of each run; the runners, which return nanoseconds, take turns, so that drift
    affects all of them.
    """
    for run in runners.values():
        run()
        run()
    times: dict[str, list[float]] = {name: [] for name in runners}
    for _ in range(runs):
        for name, run in runners.items():
            times[name].append(run() / 1e6)
    return times


def _timed(run: Callable[[], Any]) -> Callable[[], int]:
    """A function that makes a call and returns its nanoseconds."""

    def timed() -> int:
        started = time.perf_counter_ns()
        run()
        return time.perf_counter_ns() - started

    return timed


def _onnxruntime(model: str, threads: int, inputs: dict) -> Callable[[], Any] | None:
    if find_spec("onnxruntime") is None:
        return None
    from ..driver.comparing.sides import onnxruntime_session

    session = onnxruntime_session(model, threads)
    names = [output.name for output in session.get_outputs()]
    return lambda: dict(zip(names, session.run(names, inputs), strict=True))


def _difference(ours: Mapping[str, Any], theirs: Mapping[str, Any]) -> float:
    """The largest difference of a numeric output, relative to its largest value."""
    worst = 0.0
    ours, theirs = flattened(ours), flattened(theirs)
    for name, want in theirs.items():
        if number_kind(want.dtype) not in "biufc":
            continue
        scale = float(np.max(np.abs(want.astype(np.float64)), initial=0.0)) or 1.0
        error = np.max(np.abs(ours[name].astype(np.float64) - want), initial=0.0)
        worst = max(worst, float(error) / scale)
    return worst
