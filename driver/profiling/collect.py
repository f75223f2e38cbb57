"""Compiling a model with a clock in it, running it, and adding up what it says."""

from __future__ import annotations

import statistics
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from ...dialects import func
from ...ir.core import Operation
from ...ir.diagnostics import NncError
from ...ir.location import FusedLoc, Location, NameLoc
from ...ir.passes import PassContext, PassManager
from ...lowering.instrument_kernels import TIMES, kernel_calls
from ...lowering.kernel_costs import Cost, kernel_cost
from ...lowering.pipelines import pipeline
from ..compile import compile_model, run_stages
from .peaks import Peaks, measure_peaks

if TYPE_CHECKING:
    from ...runtime.model import Model

Progress = Callable[[str], None]


@dataclass(frozen=True)
class KernelRun:
    """One call of a kernel in the model; times in nanoseconds.

    `nodes` are the model's nodes that it came from, `start` and `duration` those of the
    fastest run, `median` is over all runs.
    """

    kernel: str
    nodes: tuple[str, ...]
    cost: Cost
    start: int
    duration: int
    median: float

    @property
    def gflops(self) -> float | None:
        """Operations in 10^9 a second."""
        return None if self.cost.operations is None else self.cost.operations / self.median

    @property
    def gigabytes(self) -> float | None:
        """Bytes in 10^9 a second."""
        return None if self.cost.bytes is None else self.cost.bytes / self.median


@dataclass(frozen=True)
class Profile:
    """A model's kernels in the order of their calls, and what the machine can do at most."""

    model: str
    threads: int
    runs: int
    kernels: list[KernelRun]
    median: float
    """Of a whole run, in nanoseconds."""
    peaks: Peaks

    @property
    def operations(self) -> int:
        """Of all kernels whose shapes are known."""
        return sum(k.cost.operations or 0 for k in self.kernels)


class _Instrumented:
    """A model that tells the time: its executable and what each time belongs to."""

    def __init__(
        self, module: Operation, threads: int, target: str | None, progress: Progress
    ) -> None:
        self.calls: list[tuple[str, tuple[str, ...], Cost]] = []
        run_stages(module, target=target, last="bufferize", progress=progress)
        clock = pipeline("builtin.module(instrument-kernels)")
        PassManager(clock, PassContext(), (), False).run(module)
        self._describe(module)
        self.executable = compile_model(
            module, threads=threads, cache=False, emulate=False, progress=progress
        )

    def _describe(self, module: Operation) -> None:
        functions = {f.sym_name: f for f in module.body_block if isinstance(f, func.FuncOp)}
        for entry in functions.values():
            if "nn.entry" in entry.attributes:
                for call in kernel_calls(entry, module):
                    cost = kernel_cost(functions[call.callee])
                    self.calls.append((call.callee, node_names(call.loc), cost))
        if not self.calls:
            raise NncError("the model has no kernels to measure")


def profile_model(
    name: str,
    module: Operation,
    make_inputs: Callable[[Model], Mapping[str, Any]],
    *,
    threads: int = 1,
    target: str | None = None,
    runs: int = 20,
    progress: Progress = lambda message: None,
) -> Profile:
    """Compile the module, which is consumed, with a clock in it, and run it `runs` times.

    `make_inputs` gives the inputs of an executable. Raises NncError.
    """
    made = _Instrumented(module, threads, target, progress)
    inputs = make_inputs(made.executable)
    progress(f"running it {runs} times")
    stamps: list[Sequence[int]] = []
    totals: list[float] = []
    for number in range(runs + 2):
        started = time.perf_counter_ns()
        outputs = made.executable.run(inputs)
        if number >= 2:  # the first runs pay for memory that is touched for the first time
            totals.append(time.perf_counter_ns() - started)
            stamps.append([int(t) for t in outputs[TIMES]])
    progress("measuring what the machine can do")
    fastest = min(stamps, key=lambda times: times[-1] - times[0])
    kernels = [
        KernelRun(
            kernel,
            nodes,
            cost,
            fastest[i] - fastest[0],
            fastest[i + 1] - fastest[i],
            statistics.median(max(1, times[i + 1] - times[i]) for times in stamps),
        )
        for i, (kernel, nodes, cost) in enumerate(made.calls)
    ]
    return Profile(name, threads, runs, kernels, statistics.median(totals), measure_peaks(threads))


def node_names(loc: Location) -> tuple[str, ...]:
    """The names in a location: a model's nodes."""
    match loc:
        case NameLoc(name):
            return (name,)
        case FusedLoc(locations):
            return tuple(dict.fromkeys(n for one in locations for n in node_names(one)))
    return ()
