"""Tuning a model: its kernels and their candidates, experiments, and the folder of what is kept."""

from __future__ import annotations

import pickle
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import chain
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING, Any

from ...dialects import linalg
from ...ir.core import Operation
from ...ir.diagnostics import NncError
from ...ir.passes import PassContext, PassManager
from ...ir.types import FloatType, IntegerType, MemRefType
from ...ir.weights_file import write_module
from ...kernels.policy.variants import Variant
from ...kernels.tuned import TunedSchedule, fingerprint, kernel_functions
from ...lowering.pipelines import pipeline
from ...targets.attribute import attach, target_of
from ..compile import run_stages
from ..program import make_program
from .experiments import Experiments
from .graph import GraphFound, tune_graph
from .keeping import Keeper, Origin
from .kinds import Kinds
from .learned import Learned
from .measurements import open_log
from .ratio import Ratio
from .search import KernelSearch, Search, confirm
from .worker import DEFAULT, Answer, Request, difference, kernel_times, unit_names

if TYPE_CHECKING:
    from ...dialects import func
    from ...runtime.model import Model

Say = Callable[[str], None]
Inputs = Callable[["Model"], Mapping[str, Any]]

_MEASURED = 1.0
"""Seconds that runs take in an experiment, in which kernels are measured at least five times."""
_CONFIRMED = 12.0
"""Seconds that runs take at most where it is decided what is kept: many pairs of a large model."""
_RUNS = 5
"""Runs from which it is known what part of the model's time each kernel takes."""
_TIMES_DEFAULT = 8
"""How many times the default's time and memory an experiment may take before it is ended."""
_LEAST_SECONDS, _LEAST_MEMORY = 60.0, 8 << 30


@dataclass(frozen=True)
class Tuned:
    """What was found: schedules by the fingerprints of their kernels, and the gain of the whole."""

    schedules: Mapping[str, TunedSchedule]
    whole: Ratio | None
    ended: str
    dropped: Sequence[str]
    experiments: int
    graph: GraphFound = GraphFound()
    """The choices on the graph, with which the schedules' default was made."""


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
) -> Tuned:
    """Search choices and schedules for a model, which is consumed, and write those kept into a
    folder. With `precision`, products may be computed in other numbers than by default.

    Found ones are there from the moment on when they are found. Raises NncError.
    """
    started = time.perf_counter()
    keeper = Keeper(output, say)
    log, measured = open_log()
    graph = GraphFound()
    if attach(module, target_of(module, target)).policy == "processor":
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
    with TemporaryDirectory(prefix="nnc-tune-") as folder:
        made = _Tuning(module, make_inputs, Path(folder), threads, target, say)
        learned = Learned(measured, say)
        known = keeper.of(made.machine)
        left = () if threads > 1 else ("parallel",)
        kinds = Kinds(made.origin, known, learned, log, left, seed)
        kernels = made.kernels(kinds)
        say(f"{len(kernels)} kinds of kernels, {len(made.functions)} kernels with schedules")
        if known:
            say(f"{len(kinds.holding)} of {len(known)} schedules found before need not be measured")

        def found(kernel: KernelSearch) -> None:
            if kernel.best is not None:
                keeper.store(kinds.schedule(kernel, kernel.best.candidate, kernel.best.ratio))

        search = Search(
            kernels,
            made.measure,
            clock=time.perf_counter,
            seconds=seconds - (time.perf_counter() - started),
            trials=trials,
            say=say,
            found=found,
        )
        ended = search.run()
        say(f"{ended}; comparing what was found with the default")
        schedules, whole, slower = _compared(made, kinds, search, say)
        judged = {kernel.key for kernel in kernels if kinds.has_judged(kernel)}
        keeper.finish(schedules, judged, made.machine, kinds.holding - slower)
        return Tuned(schedules, whole, ended, search.dropped, search.experiments, graph)


def _compared(
    made: _Tuning, kinds: Kinds, search: Search, say: Say
) -> tuple[dict[str, TunedSchedule], Ratio | None, set[str]]:
    """What is kept, the ratio of the whole, and the kernels whose best one is surely slower."""
    slower: set[str] = set()

    def compare(chosen: Mapping[str, Variant]) -> tuple[dict[str, Ratio], Ratio]:
        ratios, whole = made.compare(chosen)
        slower.update(key for key, ratio in ratios.items() if ratio.low > 1)
        return ratios, whole

    kernels = search.kernels
    best = {key: one.best.candidate for key, one in kernels.items() if one.best is not None}
    kept, whole = confirm(best, lambda key: kernels[key].gain, compare, say)
    schedules = {key: kinds.schedule(kernels[key], best[key], kept[key]) for key in kept}
    return schedules, whole, slower


class _Tuning:
    """A model made ready for experiments: the default program, inputs, candidates."""

    def __init__(
        self,
        module: Operation,
        make_inputs: Inputs,
        folder: Path,
        threads: int,
        target: str | None,
        say: Say,
    ) -> None:
        chosen = attach(module, target_of(module, target))
        chosen.check_runs(emulate=False)
        if chosen.policy != "processor":
            raise NncError(f"nnc tune is for processors; '{chosen.name}' is none")
        run_stages(module, last="bufferize", progress=say)
        self._pass(module, "instrument-kernels")
        self._names = unit_names(module)
        if not any(chain(*self._names)):
            raise NncError("the model has no kernels to measure")
        self._threads, self._say = threads, say
        request = Request(folder, folder, threads, _MEASURED, tolerance_of(module), 0)
        write_module(module, request.model)
        scheduled = module.clone()
        self._pass(scheduled, "mark-in-place")
        self.origin = Origin.of(chosen, threads)
        self.machine = self.origin.machine
        self._kept = scheduled
        functions = [f for f in kernel_functions(scheduled) if _has_stages(f)]
        self.functions = {f.sym_name: f for f in functions}
        self.keys = {f.sym_name: fingerprint(f) for f in functions}
        say("compiling it with the default schedules")
        before = time.perf_counter()
        self._default = self._compiled(request, module, say)
        inputs = make_inputs(self._default)
        request.inputs.write_bytes(pickle.dumps(dict(inputs)))
        self._times = self._run(inputs, request.tolerance)
        spent = time.perf_counter() - before
        limit = max(_LEAST_SECONDS, _TIMES_DEFAULT * spent)
        signature = self._default_signature
        memory = signature.weights_bytes + signature.prepared_bytes + signature.arena_bytes
        request = replace(request, memory=_LEAST_MEMORY + _TIMES_DEFAULT * memory)
        self._experiments = Experiments(request, limit)

    @staticmethod
    def _pass(module: Operation, name: str) -> None:
        PassManager(pipeline(f"builtin.module({name})"), PassContext(), (), False).run(module)

    def _compiled(self, request: Request, module: Operation, say: Say) -> Model:
        """The model with the default schedules, whose program goes where workers find it."""
        cache, target = request.cache(), target_of(module)
        run_stages(module, progress=say)
        with cache.new_entry(DEFAULT) as entry:
            if entry is None:
                raise NncError(f"cannot write to '{request.folder}', where experiments are made")
            program = make_program(module, entry.weights)
            entry.store(program)
        if cache.find(DEFAULT, target) is None:
            raise NncError(f"there is no room in '{request.folder}' for experiments")
        self._default_signature = program.signature
        return target.running(program, self._threads, None)

    def _run(self, inputs: Mapping[str, Any], tolerance: float) -> dict[str, float]:
        """Times of kernels in the default model. Raises NncError where two runs differ."""
        first, *others = [self._default.run(inputs) for _ in range(1 + _RUNS)]
        if fault := difference(first, others[0], tolerance):
            raise NncError(f"two runs of the model differ, which cannot be tuned: {fault}")
        times = [kernel_times(one, self._names) for one in others]
        return {name: min(one[name] for one in times) for name in times[0]}

    def kernels(self, kinds: Kinds) -> list[KernelSearch]:
        """The kinds of kernels, the longest first; each with its candidates."""
        times: dict[str, float] = {}
        names: dict[str, list[str]] = {}
        for name, key in self.keys.items():
            if name in self._times:
                times[key] = times.get(key, 0.0) + self._times[name]
                names.setdefault(key, []).append(name)
        whole = sum(times.values()) or 1.0
        return [
            kinds.search(
                key,
                self.functions[names[key][0]],
                times[key] / whole,
                times[key] / self._calls(names[key]) if self._calls(names[key]) else 0.0,
            )
            for key in sorted(times, key=lambda key: -times[key])
        ]

    def _calls(self, names: Sequence[str]) -> int:
        """How often kernels are called in a run; 0 where a loop or branch decides it."""
        units, inner = self._names
        return 0 if any(name in inner for name in names) else sum(map(units.count, names))

    def measure(self, chosen: Mapping[str, Variant]) -> dict[str, Ratio]:
        """Ratios of candidates to the default. Raises ExperimentError."""
        return self._ratios(self._answer(chosen, _MEASURED))

    def compare(self, chosen: Mapping[str, Variant]) -> tuple[dict[str, Ratio], Ratio]:
        """The same by more runs, and the ratio of the whole. Raises ExperimentError."""
        answer = self._answer(chosen, _CONFIRMED)
        return self._ratios(answer), Ratio.of(answer.whole)

    def _answer(self, chosen: Mapping[str, Variant], seconds: float) -> Answer:
        schedules = {
            key: TunedSchedule(key, variant.schedule, machine=self.machine)
            for key, variant in chosen.items()
        }
        return self._experiments.run(schedules, seconds)

    def _ratios(self, answer: Answer) -> dict[str, Ratio]:
        """By the kernels' fingerprints, all kernels of one kind together."""
        together: dict[str, list[tuple[float, float]]] = {}
        for name, pairs in answer.kernels.items():
            if (key := self.keys.get(name)) is None:
                continue
            old = together.get(key, [(0.0, 0.0)] * len(pairs))
            together[key] = [(a + c, b + d) for (a, b), (c, d) in zip(old, pairs, strict=True)]
        return {key: Ratio.of(pairs) for key, pairs in together.items()}


def _has_stages(function: func.FuncOp) -> bool:
    return any(isinstance(op, linalg.StructuredOp) for op in function.body.blocks[0])


_TOLERANCES = (("f64", 1e-9), ("f32", 1e-4), ("f16", 2e-2), ("bf16", 5e-2), ("i8", 5e-2))
"""How far outputs may differ, of their largest value, by the coarsest type that a kernel uses."""


def tolerance_of(module: Operation) -> float:
    """How far the outputs of a model may differ by the order of its sums."""
    types = {
        argument.type.element_type
        for function in kernel_functions(module)
        for argument in function.body.blocks[0].args
        if isinstance(argument.type, MemRefType)
    }
    names = {f"i{t.width}" if isinstance(t, IntegerType) else str(t) for t in types}
    small = any(isinstance(t, FloatType) and t.byte_width < 2 for t in types)
    return max([1e-9, 0.2 * small, *(most for name, most in _TOLERANCES if name in names)])
