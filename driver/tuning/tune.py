"""Tunes a model: its kernels and their candidates, experiments, and the folder of results."""

from __future__ import annotations

import pickle
import time
from collections.abc import Callable, Mapping, Sequence
from contextlib import ExitStack, closing
from dataclasses import replace
from itertools import chain
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING, Any

from ...ir.core import Operation
from ...ir.diagnostics import NncError
from ...ir.types import FloatType, IntegerType, MemRefType
from ...ir.weights_file import write_module
from ...kernels.choose_schedules import choose
from ...kernels.policy.variants import Variant
from ...kernels.tuned import TunedSchedule, fingerprint, kernel_functions
from ...targets.attribute import TARGET, attach, detailed, target_of
from ..compile import run_stages
from .crew import Crew, LocalCrew
from .default import (
    Described,
    run_loops_side_by_side,
    run_pass,
    running_default,
    scheduled_kernels,
    store_default,
)
from .experiments import ExperimentError, OverError
from .fleet import Fleet
from .fleet_crew import FleetCrew
from .foreign import ForeignSchedules
from .graph import GraphFound, tune_graph
from .keeping import Keeper, Origin
from .kinds import Kinds
from .learned import Learned
from .measurements import open_log
from .ratio import Ratio
from .results import Tuned
from .search import FAULTY, KernelSearch, Search, confirm
from .worker import Answer, Request, difference, times_of, unit_names

if TYPE_CHECKING:
    from ...runtime.model import Model
    from ...targets.base import Target
    from ..cache import ModelCache

Say = Callable[[str], None]
Inputs = Callable[["Model"], Mapping[str, Any]]

_MEASURED = 1.0
"""The seconds of runs in an experiment, in which kernels are measured at least five times."""
_CONFIRMED = 12.0
"""The most seconds of runs in the final comparison: many pairs of runs of a large model."""
_COMPARING = 1 / 3
"""The most time of that comparison, as a part of the remaining time."""
_RUNS = 5
"""The runs that determine each kernel's part of the model's time."""
_TIMES_DEFAULT = 8
"""The time and memory limits of an experiment, as a multiple of the default's."""
_LEAST_SECONDS, _LEAST_MEMORY = 60.0, 8 << 30
_ALONE = 6
"""The number of kernels that are tuned if only the whole model can be measured: each candidate then
takes an experiment."""
_LEAST_SHARE = 0.01
_DISTURBED = 0.15
"""The spread of the model's ratio from which on the machine is reported as disturbed."""


def tune_model(
    module: Operation,
    make_inputs: Inputs,
    output: Path,
    *,
    seconds: float = 60.0,
    trials: int | None = None,
    threads: int = 1,
    target: str | None = None,
    seed: int = 0,
    precision: bool = False,
    say: Say = lambda message: None,
    workers: int = 1,
    fleet: Fleet | None = None,
) -> Tuned:
    """Search choices and schedules for a model, which is consumed, and write those kept into a
    folder. With `precision`, products may be computed in other number formats than by default.

    Results are written as soon as they are found. Experiments run on `workers` processes of this
    machine, or on a fleet's workers. Raises NncError.
    """
    started = time.perf_counter()
    chosen = _timed_target(module, target) if fleet is None else None
    keeper = Keeper(output, say)
    log, measured = open_log()
    graph = GraphFound()
    if chosen is not None and chosen.policy == "processor":
        graph = tune_graph(
            module,
            make_inputs,
            output,
            tolerance_of,
            seconds=seconds,
            trials=trials,
            threads=threads,
            precision=precision,
            say=say,
        )
    if graph.was_stopped:
        spent = time.perf_counter() - started
        return Tuned({}, None, "interrupted", (), 0, graph, seconds=spent)
    with ExitStack() as stack:
        folder = stack.enter_context(TemporaryDirectory(prefix="nnc-tune-"))
        made = Prepared(module, make_inputs, Path(folder), threads, target, say, fleet)
        learned = Learned(measured, say)
        known = keeper.of(made.machine)
        foreign = ForeignSchedules(output, made.target, keeper.there.keys())
        crew = stack.enter_context(closing(made.hire(workers, foreign)))
        left = () if threads > 1 else ("parallel",)
        kinds = Kinds(made.origin, known, learned, log, left, seed)
        until = started + seconds
        begun = time.perf_counter() - started
        found = _searched(made, kinds, keeper, crew, until, trials, say)
        left = graph.whole.median if graph.whole is not None else 1.0
        curve = [(begun + seconds, 1 - left * (1 - gain)) for seconds, gain in found.curve]
        spent = time.perf_counter() - started
        return replace(found, graph=graph, curve=curve, seconds=spent)


def _timed_target(module: Operation, target: str | None) -> Target:
    """The target to tune for, which this machine runs. Raises NncError."""
    wanted = target_of(module, target)
    if why := wanted.not_timed():
        raise NncError(f"nnc tune measures, and code for '{wanted.name}' cannot be: {why}")
    return attach(module, wanted)


def _searched(
    made: Prepared,
    kinds: Kinds,
    keeper: Keeper,
    crew: Crew,
    until: float,
    trials: int | None,
    say: Say,
) -> Tuned:
    """Search schedules until a time of `time.perf_counter`, compare, and keep the best. Raises
    NncError.
    """
    kernels = made.kernels(kinds)
    say(f"{len(kernels)} kinds of kernels, {len(made.functions)} kernels with schedules")
    if known := keeper.of(made.machine):
        say(f"{len(kinds.holding)} of {len(known)} schedules found before need not be measured")

    def found(kernel: KernelSearch) -> None:
        if kernel.best is not None:
            keeper.store(kinds.schedule(kernel, kernel.best.candidate, kernel.best.ratio))

    seconds = until - time.perf_counter()
    comparison = made.comparison and min(made.comparison, _COMPARING * seconds)
    search = Search(
        kernels,
        made.measure,
        clock=time.perf_counter,
        seconds=seconds,
        trials=trials,
        slots=crew.slots,
        abandon=crew.abandon,
        say=say,
        found=found,
        comparison=comparison,
    )
    try:
        ended = search.run()
        say(f"{ended}; comparing what was found with the default")
        schedules, whole, slower = _compared(made, kinds, search, say)
    except OverError as error:
        count = sum(kernel.best is not None for kernel in kernels)
        raise NncError(
            f"{error}; {count} schedules that were faster in an experiment are in "
            f"'{keeper.folder}', not compared together"
        ) from None
    judged = {kernel.key for kernel in kernels if kinds.has_judged(kernel)}
    keeper.finish(schedules, judged, made.machine, kinds.holding - slower)
    dropped = [*search.dropped, *made.dropped]
    return Tuned(schedules, whole, ended, dropped, search.experiments, curve=search.curve)


def _compared(
    made: Prepared, kinds: Kinds, search: Search, say: Say
) -> tuple[dict[str, TunedSchedule], Ratio | None, set[str]]:
    """The schedules kept, the ratio of the whole model, and the kernels whose best candidate turned
    out slower than the default.
    """
    slower: set[str] = set()
    kernels = search.kernels
    some = {key: [t.candidate for t in one.finalists()] for key, one in kernels.items()}

    def compare(chosen: Mapping[str, Variant]) -> tuple[dict[str, Ratio], Ratio]:
        ratios, whole = made.compare(chosen)
        best = (key for key, candidate in chosen.items() if candidate is some[key][0])
        slower.update(key for key in best if ratios[key].low > 1)
        return ratios, whole

    kept, whole = confirm(some, lambda key: kernels[key].gain, compare, say)
    schedules = {key: kinds.schedule(kernels[key], *found) for key, found in kept.items()}
    return schedules, whole, slower


class Prepared:
    """A model prepared for experiments: the default program, inputs, candidates."""

    def __init__(
        self,
        module: Operation,
        make_inputs: Inputs,
        folder: Path,
        threads: int,
        target: str | None,
        say: Say,
        fleet: Fleet | None = None,
        kept: ModelCache | None = None,
    ) -> None:
        """`kept` is the cache of the default program.

        The module is consumed. Raises NncError.
        """
        self._fleet = fleet
        chosen = self.target = self._chosen(module, target)
        run_stages(module, last="bufferize", progress=say)
        self._clocked = chosen.has_clock
        if self._clocked:
            run_loops_side_by_side(module)
            run_pass(module, "instrument-kernels")
        self._names = unit_names(module)
        if not any(chain(*self._names)):
            raise NncError("the model has no kernels to measure")
        self._threads, self._say = threads, say
        self._disturbed = False
        self._sees_kernels = self._clocked
        """Whether experiments measure each kernel, not only the whole model."""
        self._searched: dict[tuple[str, str], Ratio] = {}
        """The ratios of candidates on targets whose usual programs have no clock."""
        self.dropped: list[str] = []
        """Messages on candidates at fault."""
        request = Request(folder, folder, threads, _MEASURED, tolerance_of(module), 0)
        write_module(module, request.model)
        self.origin = Origin.of(chosen, threads)
        self.machine = self.origin.machine
        self._kept = module.clone()
        self.functions = scheduled_kernels(self._kept)
        self.keys = {name: fingerprint(one) for name, one in self.functions.items()}
        say("compiling it with the default schedules")
        before = time.perf_counter()
        program = store_default(request, module, say, kept)
        local = fleet is None
        self._default = running_default(request, program) if local else Described(program.signature)
        inputs = make_inputs(self._default)
        request.inputs.write_bytes(pickle.dumps(dict(inputs)))
        self._inputs = inputs
        if local:
            self._times = self._run(inputs, request.tolerance)
        spent = time.perf_counter() - before
        self._limit = max(_LEAST_SECONDS, _TIMES_DEFAULT * spent)
        self.comparison = 2 * spent + _CONFIRMED if local else None
        """The estimated seconds of the final comparison, for which both sides are compiled."""
        signature = self._default.signature
        memory = signature.weights_bytes + signature.prepared_bytes + signature.arena_bytes
        # Code outside of this process has limits of its own, and engines reserve addresses freely.
        if not local or chosen.obstacle() is None:
            request = replace(request, memory=_LEAST_MEMORY + _TIMES_DEFAULT * memory)
        self._request = request

    @property
    def request(self) -> Request:
        """The request that all experiments share."""
        return self._request

    @property
    def inputs(self) -> Mapping[str, Any]:
        """The inputs of the model's runs, by name."""
        return self._inputs

    def _chosen(self, module: Operation, target: str | None) -> Target:
        """The target to tune for: this machine's or the fleet's workers'. Raises NncError."""
        written = TARGET in module.attributes
        if self._fleet is None:
            return _timed_target(module, target)
        found, self._processor = self._fleet.choose(target_of(module, target))
        if not written:
            module.attributes.pop(TARGET, None)
        return attach(module, found)

    def hire(self, workers: int, foreign: ForeignSchedules) -> Crew:
        """Set up `workers` processes, or the fleet, to run experiments.

        They then measure the default times of the kernels. Raises NncError.
        """
        if self._fleet is None:
            self._crew: Crew = self.local_crew(workers)
            return self._crew

        def elsewhere(schedules: Mapping[str, TunedSchedule], answer: Answer) -> None:
            foreign.add(schedules, self._ratios(answer), answer.processor)

        kind = (detailed(self.target), self._processor)
        self._crew = FleetCrew(self._fleet, self._request, self._inputs, kind, elsewhere)
        try:
            answer = self._crew.run({}, _MEASURED)
        except (ExperimentError, OverError) as error:
            raise NncError(f"the fleet cannot measure the model: {error}") from None
        measured = {name: min(a for a, _ in pairs) for name, pairs in answer.kernels.items()}
        self._sees_kernels = bool(measured)
        self._times = measured or self._expected_times()
        return self._crew

    def local_crew(self, workers: int = 1) -> LocalCrew:
        """`workers` processes of this machine for the experiments."""
        return LocalCrew(self._request, self._limit, workers)

    def _run(self, inputs: Mapping[str, Any], tolerance: float) -> dict[str, float]:
        """Times of kernels in the default model. Raises NncError if two runs differ."""
        times: list[Mapping[str, float]] = []
        first = self._default.run(inputs)
        for number in range(_RUNS):
            outputs = self._default.run(inputs)
            fault = difference(first, outputs, tolerance) if not number else ""
            if fault:
                raise NncError(f"two runs of the model differ, which cannot be tuned: {fault}")
            times.append(times_of(self._default, outputs, self._names))
        self._sees_kernels = bool(times[0])
        found = {name: min(one[name] for one in times) for name in times[0]}
        return found or self._expected_times()

    def _expected_times(self) -> dict[str, float]:
        """The expected time of all calls of each kernel, if no clock measures it."""
        found: dict[str, float] = {}
        for name in filter(None, chain(*self._names)):
            if (function := self.functions.get(name)) is not None:
                own = target_of(function)
                _, chosen = choose(function, own.policy, own.machine, every=False)
                found[name] = found.get(name, 0.0) + chosen.cycles
        return found

    def kernels(self, kinds: Kinds) -> list[KernelSearch]:
        """The searches of all kinds of kernels, the most expensive first."""
        times: dict[str, float] = {}
        names: dict[str, list[str]] = {}
        for name, key in self.keys.items():
            if name in self._times:
                times[key] = times.get(key, 0.0) + self._times[name]
                names.setdefault(key, []).append(name)
        whole = sum(times.values()) or 1.0
        found = [
            kinds.search(
                key,
                self.functions[names[key][0]],
                times[key] / whole,
                self._default_of_a_call(times[key], names[key]),
            )
            for key in sorted(times, key=lambda key: -times[key])
        ]
        self._shares = {one.key: one.share for one in found}
        if not self._sees_kernels:
            for one in found[_ALONE:]:
                one.frozen = "too small to be seen in the whole"
        return found

    def _default_of_a_call(self, nanoseconds: float, names: Sequence[str]) -> float:
        """Nanoseconds of one default call; 0 if the number of calls depends on a loop or branch, or
        is not measured.
        """
        calls = self.calls_of(names)
        return nanoseconds / calls if calls and self._sees_kernels else 0.0

    def calls_of(self, names: Sequence[str]) -> int:
        """The number of calls of these kernels per run; 0 if it depends on a loop or branch."""
        units, inner = self._names
        return 0 if any(name in inner for name in names) else sum(map(units.count, names))

    def measure(self, chosen: Mapping[str, Variant]) -> dict[str, Ratio]:
        """Ratios of candidates to the default; `FAULTY` for those at fault.

        Raises ExperimentError.
        """
        if not self._sees_kernels and chosen:
            return self._measured_alone(chosen)
        answer = self._answer(chosen, _MEASURED)
        ratios = self._ratios(answer)
        for key in chosen.keys() & ratios.keys():
            self._searched[key, chosen[key].text] = ratios[key]
        for key, fault in answer.faults.items():
            if len(chosen) == 1:
                raise ExperimentError(fault)
            ratios[key] = self._dropped(key, chosen[key], fault)
        return ratios

    def _measured_alone(self, chosen: Mapping[str, Variant]) -> dict[str, Ratio]:
        """Ratios of candidates measured one at a time, by the time of the whole model."""
        ratios: dict[str, Ratio] = {}
        for key, variant in chosen.items():
            try:
                whole = Ratio.of(self._answer({key: variant}, _MEASURED).whole)
            except ExperimentError as error:
                if len(chosen) == 1:
                    raise
                ratios[key] = self._dropped(key, variant, str(error))
                continue
            share = max(self._shares[key], _LEAST_SHARE)
            parts = (1 + (sample - 1) / share for sample in whole.samples)
            ratios[key] = Ratio.of([(1.0, max(_LEAST_SHARE, part)) for part in parts])
            self._searched[key, variant.text] = ratios[key]
        return ratios

    def _dropped(self, key: str, variant: Variant, fault: str) -> Ratio:
        label = next(name for name, one in self.keys.items() if one == key)
        self.dropped.append(f"{label}, {variant}: {fault}")
        self._say(f"dropped a candidate of {self.dropped[-1]}")
        return FAULTY

    def compare(self, chosen: Mapping[str, Variant]) -> tuple[dict[str, Ratio], Ratio]:
        """Ratios from more runs of code as users compile it, and the ratio of the whole.

        Raises ExperimentError.
        """
        answer = self._answer(chosen, _CONFIRMED, whole=True)
        whole = Ratio.of(answer.whole)
        if self._clocked:
            return self._ratios(answer), whole
        alone = {key: self._searched.get((key, one.text), whole) for key, one in chosen.items()}
        return (alone if whole.is_faster else dict.fromkeys(chosen, whole)), whole

    def _answer(self, chosen: Mapping[str, Variant], seconds: float, whole: bool = False) -> Answer:
        schedules = {
            key: TunedSchedule(key, variant.schedule, machine=self.machine, told=str(variant))
            for key, variant in chosen.items()
        }
        answer = self._crew.run(schedules, seconds, whole)
        if answer.whole and not self._disturbed:
            spread = Ratio.of(answer.whole).spread
            self._disturbed = spread > _DISTURBED
            if self._disturbed:
                self._say(
                    f"this machine is disturbed: the same runs differ by +- {spread:.0%}, so "
                    "only larger gains can be seen; what is not sure is not kept"
                )
        return answer

    def _ratios(self, answer: Answer) -> dict[str, Ratio]:
        """The ratio for each kernel fingerprint, from the summed times of all its kernels."""
        together: dict[str, list[tuple[float, float]]] = {}
        for name, pairs in answer.kernels.items():
            if (key := self.keys.get(name)) is None:
                continue
            old = together.get(key, [(0.0, 0.0)] * len(pairs))
            together[key] = [(a + c, b + d) for (a, b), (c, d) in zip(old, pairs, strict=True)]
        return {key: Ratio.of(pairs) for key, pairs in together.items()}


_TOLERANCES = (("f64", 1e-9), ("f32", 1e-4), ("f16", 2e-2), ("bf16", 5e-2), ("i8", 5e-2))
"""The tolerance of outputs, relative to their largest value, by the coarsest type that a kernel
uses."""


def tolerance_of(module: Operation) -> float:
    """How much the outputs of a model may differ by the order of its sums."""
    types = {
        argument.type.element_type
        for function in kernel_functions(module)
        for argument in function.body.blocks[0].args
        if isinstance(argument.type, MemRefType)
    }
    names = {f"i{t.width}" if isinstance(t, IntegerType) else str(t) for t in types}
    small = any(isinstance(t, FloatType) and t.byte_width < 2 for t in types)
    return max([1e-9, 0.2 * small, *(most for name, most in _TOLERANCES if name in names)])
