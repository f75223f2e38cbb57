"""Compiles a model with a clock in it, runs it, and aggregates the times."""

from __future__ import annotations

import itertools
import statistics
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

import numpy as np

from ...dialects import func, scf
from ...dialects.marks import ENTRY
from ...ir.core import Operation
from ...ir.decisions import Decisions
from ...ir.diagnostics import NncError
from ...ir.location import node_names
from ...ir.passes import PassContext, PassManager
from ...kernels.kernel_costs import Cost, kernel_cost
from ...kernels.model.executions import kernel_calls
from ...lowering.pipelines import pipeline
from ...memory.instrument_kernels import INNER, PIECES, TIMES, inner_calls, kernel_units
from ...targets.attribute import attach, target_of
from ..compile import compile_model, run_stages
from ..explaining.summary import Expected
from .peaks import Peaks, measure_peaks

if TYPE_CHECKING:
    from ...runtime.model import Model

WARM_UP = 2
"""The runs that do not count: they touch memory for the first time."""

Progress = Callable[[str], None]
Called = tuple[str, tuple[str, ...], Cost, float | None]
"""(the name of a called kernel, the names of the model's nodes in it, its cost, its expected time).
"""


@dataclass(frozen=True)
class Spread:
    """The distribution over runs: the median, the 10th and the 90th percentile.

    Units: nanoseconds.
    """

    median: float
    low: float
    high: float

    @staticmethod
    def of(samples: Sequence[float]) -> Spread:
        """The spread of samples; percentiles between two samples are interpolated."""
        # It asks for two samples or more; of one sample, all percentiles are the sample.
        several = samples if len(samples) > 1 else [*samples, *samples]
        tenths = statistics.quantiles(several, n=10, method="inclusive")
        return Spread(tenths[4], tenths[0], tenths[8])


@dataclass(frozen=True)
class Run:
    """One measured run. Units: nanoseconds.

    `stamps` has the time before each kernel, and the time after the last.
    """

    wall: int
    stamps: tuple[int, ...]

    @property
    def kernels(self) -> list[int]:
        """The time of each kernel."""
        return [after - before for before, after in itertools.pairwise(self.stamps)]

    @property
    def outside(self) -> int:
        """The time of this run outside of its kernels: entering from Python and returning there."""
        return self.wall - (self.stamps[-1] - self.stamps[0])


@dataclass(frozen=True)
class KernelRun:
    """One call of a kernel in the model.

    `nodes` are the model's nodes that it came from, `start` and `duration` those of the fastest
    run, `time` is over all runs. `pieces` has for each thread the number of pieces of parallel
    loops that it did, empty if all ran on the calling thread; `waited` is the time that the calling
    thread waited for the others at the end. Both are means over all runs. Units: nanoseconds.

    `expected` is the time that the choice of the schedule was based on, for all of these calls;
    None if unknown.

    `inner_calls` is the number of calls per run of a kernel inside a branch or loop; its times are
    for all of them. A branch or loop itself has the time outside of its kernels.
    """

    kernel: str
    nodes: tuple[str, ...]
    cost: Cost
    expected: float | None
    start: int
    duration: int
    time: Spread
    pieces: tuple[float, ...] = ()
    waited: float = 0.0
    inner_calls: float | None = None

    @property
    def label(self) -> str:
        """The kernel's name, with the number of its calls in a branch or loop."""
        return self.kernel if self.inner_calls is None else f"{self.kernel} x {self.inner_calls:g}"

    @property
    def median(self) -> float:
        """The median time over all runs, at least the clock's smallest step."""
        return max(1.0, self.time.median)

    @property
    def gflops(self) -> float | None:
        """Operations per second, in 10^9; None if unknown."""
        return None if self.cost.operations is None else self.cost.operations / self.median

    @property
    def gigabytes(self) -> float | None:
        """Bytes per second, in 10^9; None if unknown."""
        return None if self.cost.bytes is None else self.cost.bytes / self.median

    @property
    def footprint(self) -> float | None:
        """Bytes of the arguments of one call; None if unknown."""
        return None if self.cost.bytes is None else self.cost.bytes / (self.inner_calls or 1)


@dataclass(frozen=True)
class Profile:
    """A model's kernels in the order of their calls, and the machine's peaks."""

    model: str
    threads: int
    runs: Sequence[Run]
    kernels: Sequence[KernelRun]
    peaks: Peaks
    expected: float
    """The time of a run that is expected of all kernels, in nanoseconds; 0 if unknown."""

    @staticmethod
    def of(
        model: str,
        threads: int,
        calls: Sequence[Called],
        runs: Sequence[Run],
        peaks: Peaks,
        expected: float = 0.0,
    ) -> Profile:
        """The profile from the calls of kernels and the measurements of each run."""
        fastest = min(runs, key=lambda run: run.stamps[-1] - run.stamps[0])
        times = zip(*(run.kernels for run in runs), strict=True)
        kernels = [
            KernelRun(
                *call,
                start=fastest.stamps[i] - fastest.stamps[0],
                duration=fastest.kernels[i],
                time=Spread.of(samples),
            )
            for i, (call, samples) in enumerate(zip(calls, times, strict=True))
        ]
        return Profile(model, threads, runs, kernels, peaks, expected)

    def with_pieces(self, counts: Sequence[np.ndarray]) -> Profile:
        """The profile with the pieces that each thread did, from the pool's counters."""
        if not counts:
            return self
        means = np.mean([np.diff(one, axis=0) for one in counts], axis=0)
        kernels = [
            replace(kernel, pieces=tuple(map(float, pieces)), waited=float(waited))
            if any(pieces)
            else kernel
            for kernel, (waited, *pieces) in zip(self.kernels, means, strict=True)
        ]
        return replace(self, kernels=kernels)

    def with_inner(
        self, calls: Sequence[tuple[int, Called]], times: Sequence[np.ndarray]
    ) -> Profile:
        """The profile with kernels inside branches and loops, each with the index of its parent.

        `times` has a row for each of them in each run: the time and the number of its calls.
        """
        if not calls:
            return self
        units = list(self.kernels)
        inside = np.zeros((len(self.runs), len(units)))
        found = []
        for i, (unit, (name, nodes, cost, expected)) in enumerate(calls):
            took = [float(one[i, 0]) for one in times]
            count = float(np.mean([one[i, 1] for one in times]))
            inside[:, unit] += took
            if count:
                all_calls = Cost(_times(cost.operations, count), _times(cost.bytes, count))
                start = units[unit].start
                whole = None if expected is None else count * expected
                about = (name, nodes, all_calls, whole, start, 0, Spread.of(took))
                found.append(KernelRun(*about, inner_calls=count))
        for unit in {unit for unit, _ in calls}:
            # Of loops side by side, the kernels may take more time than has passed.
            own = [max(0.0, run.kernels[unit] - inside[r, unit]) for r, run in enumerate(self.runs)]
            units[unit] = replace(units[unit], time=Spread.of(own))
        return replace(self, kernels=[*units, *found])

    @property
    def whole(self) -> Spread:
        """The time of a run."""
        return Spread.of([run.wall for run in self.runs])

    @property
    def outside(self) -> Spread:
        """The time of a run outside of its kernels."""
        return Spread.of([run.outside for run in self.runs])

    def part_of_arithmetic(self, kernel: KernelRun) -> float | None:
        """A kernel's operations per second relative to the arithmetic peak; None if unknown."""
        return None if kernel.gflops is None else kernel.gflops / self.peaks.gflops

    def part_of_reading(self, kernel: KernelRun) -> tuple[float, str] | None:
        """A kernel's speed relative to the memory that holds its bytes, and that memory's name."""
        if kernel.gigabytes is None or kernel.footprint is None:
            return None
        level = self.peaks.level(kernel.footprint)
        return kernel.gigabytes / level.gigabytes, level.name

    @property
    def operations(self) -> int:
        """The operations of all kernels with known shapes."""
        return sum(k.cost.operations or 0 for k in self.kernels)


def _times(number: int | None, count: float) -> int | None:
    return None if number is None else round(number * count)


class _Instrumented:
    """A model with clocks: its executable, and the kernel of each time stamp."""

    def __init__(
        self, module: Operation, threads: int, target: str | None, progress: Progress
    ) -> None:
        self.calls: list[Called] = []
        self.inner: list[tuple[int, Called]] = []
        self.target = attach(module, target_of(module, target))
        self.target.check_runs(emulate=False)
        decisions = Decisions()
        run_stages(module, target=target, last="schedule", progress=progress, decisions=decisions)
        executed = kernel_calls(module)
        expected = Expected.of(decisions.made, executed, target_of(module).machine)
        self.expected = 1e3 * expected.of_run(module, threads)
        counted = threads if threads > 1 else 0
        clock = pipeline(f"builtin.module(instrument-kernels{{threads={counted}}})")
        PassManager(clock, PassContext(), (), False).run(module)
        beside = {name for name, own in executed.items() if any(one.is_beside for one in own)}
        self._describe(
            module, lambda name: expected.of_a_call(name, 1 if name in beside else threads)
        )
        self.executable = compile_model(
            module, threads=threads, cache=False, emulate=False, progress=progress
        )

    def _describe(self, module: Operation, expected: Callable[[str], float | None]) -> None:
        functions = func.functions_by_name(module)

        def called(op: Operation) -> Called:
            if isinstance(op, func.Call):
                time = expected(op.callee)
                cost = kernel_cost(functions[op.callee])
                return op.callee, node_names(op.loc), cost, None if time is None else 1e3 * time
            kinds = {scf.If: "branch", scf.Parallel: "loops side by side"}
            kind = kinds.get(type(op), "loop")
            return kind, node_names(op.loc), Cost(None, None), None

        for entry in functions.values():
            if ENTRY in entry.attributes:
                units = kernel_units(entry, module)
                self.calls += map(called, units)
                self.inner += ((i, called(call)) for i, call in inner_calls(units, module))
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

    `make_inputs` makes the inputs for the executable. Raises NncError.
    """
    made = _Instrumented(module, threads, target, progress)
    inputs = make_inputs(made.executable)
    progress(f"running it {runs} times")
    counts: list[np.ndarray] = []
    inner: list[np.ndarray] = []
    timed = made.executable.timed_on(inputs)

    def run() -> Run:
        wall, outputs = timed.run(), timed.outputs()
        if INNER in outputs:
            inner.append(outputs[INNER])
        if PIECES in outputs:
            counts.append(outputs[PIECES])
        return Run(wall, tuple(map(int, outputs[TIMES])))

    measured = measure(run, runs)
    progress("measuring what the machine can do")
    engine = made.target if made.target.engine() is not None else None
    peaks = measure_peaks(threads, engine)
    profile = Profile.of(name, threads, made.calls, measured, peaks, made.expected)
    return profile.with_pieces(counts[WARM_UP:]).with_inner(made.inner, inner[WARM_UP:])


def measure(run: Callable[[], Run], runs: int) -> list[Run]:
    """The results of `runs` runs, after some to warm up."""
    return [run() for _ in range(runs + WARM_UP)][WARM_UP:]
