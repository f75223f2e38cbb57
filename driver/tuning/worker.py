"""The process of experiments: candidates of kernels, compiled and run beside the default program.

It reads requests and writes answers, both files of the parent's own folders, one after the other,
so that common work is done once. A failure, a crash of the compiled code included, ends this
process only. On its standard output it says what it is doing:

    at compile      begins to compile candidates
    at check NAME   begins with a call of a kernel's candidate
    at run          begins with runs of the model
    done            the answer is there
"""

from __future__ import annotations

import os
import pickle
import statistics
import sys
import time
from collections.abc import Callable, Mapping, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from ...dialects import func
from ...dialects.marks import ENTRY
from ...ir.core import Operation
from ...ir.diagnostics import NncError
from ...ir.passes import PassContext, PassManager
from ...kernels.tuned import TunedFolder, kernel_functions
from ...lowering.pipelines import pipeline
from ...memory.instrument_kernels import INNER, TIMES, inner_calls, kernel_units
from ...targets.attribute import target_of
from ...targets.base import processor_name
from ..cache import ModelCache
from ..compile import load_module, run_stages
from ..program import make_program
from .checking import WRONG, difference, largest_error
from .elsewhere import patched
from .patched import Kernel, Patched
from .patching import candidate_module

if TYPE_CHECKING:
    from ...runtime.model import Model
    from ...runtime.program import Program
    from ...targets.base import Target

DEFAULT = "default"
"""The cache key, in experiments, of the program with the default schedules."""
PATCHED = "patched"
"""The cache key of the same program with its kernels called through a table."""
_RUNS = 2
"""The timed runs of a block, of which the fastest counts; one before them warms up the caches."""
_LONG = 0.05
"""The seconds of a run from which on a block is one run, as caches hold little of its data anyway.
"""
_LEAST_PAIRS, _MOST_PAIRS = 5, 60
_KEPT_CODES = 4096
"""The most candidates whose object files are kept for repeated measurements."""


@dataclass(frozen=True)
class Request:
    """What an experiment compiles and runs. Units: seconds, bytes.

    `memory` of 0 means no limit. With `whole` the model is compiled as users do, even if its
    kernels are replaceable.
    """

    folder: Path
    schedules: Path
    threads: int
    seconds: float
    tolerance: float
    memory: int
    whole: bool = False

    @property
    def model(self) -> Path:
        """The path of the bufferized model, with a clock in it if its target has one."""
        return self.folder / "model.mlir"

    @property
    def inputs(self) -> Path:
        """The path of the pickled inputs."""
        return self.folder / "inputs.pickle"

    @property
    def reference(self) -> Path:
        """The path of the pickled outputs to compare with; the file may be missing."""
        return self.folder / "reference.pickle"

    @property
    def kernels(self) -> Path:
        """The path of the pickled replaceable kernels: a `Kernel` by name."""
        return self.folder / "kernels.pickle"

    def cache(self) -> ModelCache:
        """The cache of the programs with the default schedules."""
        return ModelCache(self.folder / "programs", 1 << 60)


Pairs = list[tuple[float, float]]


@dataclass
class Answer:
    """Pairs of times of the default and the candidate, for each kernel by name and for the whole.

    `wrong` says how the outputs differ, if they do; `faults` says, by the fingerprints of kernels,
    why their candidates were left out; `processor` is the one that was measured. `errors` are those
    of the outputs with the default and with the candidate, compared with the request's reference
    and relative to the largest value. Units: nanoseconds.
    """

    kernels: dict[str, Pairs] = field(default_factory=dict)
    whole: Pairs = field(default_factory=list)
    wrong: str = ""
    faults: dict[str, str] = field(default_factory=dict)
    processor: str = ""
    errors: tuple[float, float] | None = None


Say = Callable[[str], None]


class Worker:
    """Runs requests for one model."""

    def __init__(self, base: Request, say: Say = lambda message: None) -> None:
        self.base, self.say = base, say
        self.module = load_module(base.model)
        self.target: Target = target_of(self.module)
        self.names = unit_names(self.module)
        self.inputs: Mapping[str, Any] = pickle.loads(base.inputs.read_bytes())
        self._whole: Model | None = None
        self._patched: _Patched | None = None

    def run(self, request: Request) -> Answer:
        """Run an experiment."""
        answer = self._run(request)
        answer.processor = processor_name()
        return answer

    def _run(self, request: Request) -> Answer:
        kernels = _kernels(self.base)
        folder = TunedFolder(request.schedules, anywhere=True)
        chosen = {one.kernel: one for one in folder.read().values()}
        known = {one.key for one in kernels.values()}
        if request.whole or not kernels or not known.issuperset(chosen):
            return self._run_whole(request, folder)
        if self._patched is None:
            self._patched = _Patched(self, kernels)
        return self._patched.run(request, {key: one.copy() for key, one in chosen.items()})

    def program(self, key: str) -> Program:
        """A program with the default schedules, compiled if it is not cached yet."""
        cache = self.base.cache()
        if (program := cache.find(key, self.target)) is not None:
            return program
        module = run_stages(self.module.clone())
        with cache.new_entry(key) as entry:
            program = make_program(module, entry.weights if entry is not None else None)
            if entry is not None:
                entry.store(program)
        return cache.find(key, self.target) or program

    def _run_whole(self, request: Request, schedules: TunedFolder) -> Answer:
        """Run with the whole model compiled, as by `--tuned`."""
        self.say("at compile")
        if self._whole is None:
            self._whole = self.target.running(self.program(DEFAULT), request.threads)
        module = run_stages(self.module.clone(), tuned=schedules)
        sides = [self._whole, self.target.running(make_program(module), request.threads)]
        self.say("at run")
        expected, found = (side.run(self.inputs) for side in sides)
        answer = Answer(wrong=difference(expected, found, request.tolerance))
        answer.errors = self.errors(expected, found)
        if not answer.wrong:
            self.measure(answer, request.seconds, [lambda: None] * 2, sides)
        return answer

    def errors(
        self, default: Mapping[str, Any], candidate: Mapping[str, Any]
    ) -> tuple[float, float] | None:
        """The errors of two runs against the reference; None if there is none."""
        if not self.base.reference.exists():
            return None
        wanted = pickle.loads(self.base.reference.read_bytes())
        return largest_error(wanted, default), largest_error(wanted, candidate)

    def measure(
        self,
        answer: Answer,
        seconds: float,
        switches: Sequence[Callable[[], None]],
        sides: Sequence[Model],
    ) -> None:
        """Run blocks of both sides in turns; before each, switch to its side."""
        started = time.perf_counter()
        long = False
        while len(answer.whole) < _MOST_PAIRS and (
            len(answer.whole) < _LEAST_PAIRS or time.perf_counter() - started < seconds
        ):
            blocks = []
            for switch, side in zip(switches, sides, strict=True):
                switch()
                blocks.append(_block(side, self.inputs, self.names, long))
            (wall, kernels), (other_wall, others) = blocks
            answer.whole.append((wall, other_wall))
            long = statistics.median(one for one, _ in answer.whole) > _LONG * 1e9
            for name, took in kernels.items():
                answer.kernels.setdefault(name, []).append((took, others[name]))


class _Patched:
    """The default program with a table of kernels, which candidates can replace."""

    def __init__(self, worker: Worker, kernels: Mapping[str, Kernel]) -> None:
        self._worker = worker
        program = worker.base.cache().find(PATCHED, worker.target)
        if program is None:
            raise FileNotFoundError(f"{worker.base.folder}: no program of the default schedules")
        self._program = patched(program, kernels, worker.base.threads)
        self._kernels = kernels
        self._module = worker.module.clone()
        steps = pipeline("builtin.module(mark-in-place)")
        PassManager(steps, PassContext(), (), False).run(self._module)
        self._functions = {f.sym_name: f for f in kernel_functions(self._module)}
        self._codes: dict[tuple[str, str], bytes] = {}
        self._expected = self._program.run(worker.inputs)
        self._checks = self._can_check()

    def _can_check(self) -> bool:
        """Whether kernels can be called twice at a call: the default must agree with itself."""
        with self._program.comparing({}) as faults:
            found = self._program.run(self._worker.inputs)
        return not any(faults().values()) and not difference(self._expected, found, 0.0)

    def run(self, request: Request, schedules: Mapping[str, Any]) -> Answer:
        """Measure one candidate of each of these kernels, given by their fingerprints."""
        answer = Answer()
        names = [name for name, one in self._kernels.items() if one.key in schedules]
        codes = self._compiled({name: schedules[self._kernels[name].key] for name in names}, answer)
        loaded = self._program.load_all(codes)
        for name, fault in self._faults(loaded).items():
            answer.faults.setdefault(self._kernels[name].key, f"{WRONG}, {fault}")
        loaded = {n: c for n, c in loaded.items() if self._kernels[n].key not in answer.faults}
        self._worker.say("at run")
        program, inputs = self._program, self._worker.inputs
        program.use(loaded)
        found = program.run(inputs)
        answer.wrong = difference(self._expected, found, request.tolerance)
        answer.errors = self._worker.errors(self._expected, found)
        if not answer.wrong and (loaded or not schedules):
            switches = [lambda: program.use({}), lambda: program.use(loaded)]
            self._worker.measure(answer, request.seconds, switches, [program, program])
        program.use({})
        if difference(self._expected, program.run(inputs), 0.0):
            raise RuntimeError("a candidate has damaged the memory of the default program")
        return answer

    def _compiled(self, schedules: Mapping[str, Any], answer: Answer) -> dict[str, bytes]:
        """The code of candidates by their kernels' names; equal ones are compiled once.

        LLVM compiles one while the next is lowered.
        """
        waiting: dict[str, Future[bytes]] = {}
        self._worker.say("at compile")
        keys = {name: self._code_key(name, one) for name, one in schedules.items()}
        with ThreadPoolExecutor(max(1, os.cpu_count() or 1)) as threads:
            made: dict[tuple[str, str], Future[bytes]] = {}
            for name, one in schedules.items():
                kernel, key = self._kernels[name], keys[name]
                if key not in made and key not in self._codes:
                    try:
                        function = self._functions[name]
                        part = candidate_module(self._module, function, one, kernel.interface)
                        made[key] = threads.submit(self._program.compiled, part)
                    except NncError as error:
                        answer.faults[kernel.key] = str(error)
                if key in made:
                    waiting[name] = made[key]
        if len(self._codes) > _KEPT_CODES:
            self._codes.clear()
        for name, future in waiting.items():
            try:
                self._codes[keys[name]] = future.result()
            except NncError as error:
                answer.faults[self._kernels[name].key] = str(error)
        return {
            name: self._codes[key]
            for name, key in keys.items()
            if self._kernels[name].key not in answer.faults
        }

    def _code_key(self, name: str, one: Any) -> tuple[str, str]:
        """The key of a candidate's code: kernels with one fingerprint and interface share code."""
        kernel = self._kernels[name]
        one.kernel = "kernel"
        return f"{kernel.key} {kernel.interface.alike}", str(one)

    def _faults(self, loaded: Mapping[str, Any]) -> dict[str, str]:
        """How results of candidates differ from the default's in a run, by kernel name."""
        if not self._checks or not loaded:
            return {}
        say = self._worker.say
        with self._program.comparing(loaded, lambda name: say(f"at check {name}")) as faults:
            self._program.run(self._worker.inputs)
        return {name: fault for name, fault in faults().items() if fault}


def _kernels(request: Request) -> dict[str, Kernel]:
    """The replaceable kernels; empty if the target does not support them."""
    if not request.kernels.exists():
        return {}
    return pickle.loads(request.kernels.read_bytes())


def run(request: Request) -> Answer:
    """Run one experiment in this process."""
    return Worker(request).run(request)


def _block(
    model: Model, inputs: Mapping[str, Any], names: tuple[list[str], list[str]], long: bool
) -> tuple[float, dict[str, float]]:
    """The fastest of a few consecutive runs: nanoseconds of the whole, and of each kernel."""
    if not long:
        model.run(inputs)
    walls, runs = [], []
    for _ in range(1 if long else _RUNS):
        started = time.perf_counter_ns()
        outputs = model.run(inputs)
        walls.append(float(time.perf_counter_ns() - started))
        runs.append(times_of(model, outputs, names))
    return min(walls), {name: min(one[name] for one in runs) for name in runs[0]}


def times_of(
    model: Model, outputs: Mapping[str, Any], names: tuple[list[str], list[str]]
) -> Mapping[str, float]:
    """The time of all calls of each kernel in the last run, by a clock in or around the code."""
    own = model.times() if isinstance(model, Patched) else None
    return kernel_times(outputs, names) if own is None else own


def kernel_times(
    outputs: Mapping[str, Any], names: tuple[list[str], list[str]]
) -> dict[str, float]:
    """The time of all calls of each kernel in a run, including those in branches and loops.

    Empty if the target has no clock.
    """
    if TIMES not in outputs:
        return {}
    units, inner = names
    found: dict[str, float] = {}
    for name, took in zip(units, np.diff(outputs[TIMES]), strict=True):
        if name:
            found[name] = found.get(name, 0.0) + float(took)
    for name, (took, _) in zip(inner, outputs.get(INNER, ()), strict=True):
        found[name] = found.get(name, 0.0) + float(took)
    return found


def unit_names(module: Operation) -> tuple[list[str], list[str]]:
    """The kernels that the model calls, "" for a branch or loop; and those inside of these."""
    units: list[str] = []
    inner: list[str] = []
    for entry in module.body_block:
        if isinstance(entry, func.FuncOp) and ENTRY in entry.attributes:
            found = kernel_units(entry, module)
            units += (op.callee if isinstance(op, func.Call) else "" for op in found)
            inner += (call.callee for _, call in inner_calls(found, module))
    return units, inner


def _limit_memory(bytes: int) -> None:
    try:
        import resource
    except ImportError:  # no POSIX
        return
    resource.setrlimit(resource.RLIMIT_AS, (bytes, bytes))


def _own_output() -> Say:
    """A function that sends lines to the parent; other standard output goes to standard error."""
    told = os.fdopen(os.dup(1), "w", buffering=1)
    os.dup2(2, 1)

    def say(line: str) -> None:
        print(line, file=told, flush=True)

    return say


def main() -> None:
    """Run the requests in the folder named as argument, then in those named on standard input.

    Each answer is written beside its request.
    """
    say = _own_output()
    folder = Path(sys.argv[1])
    worker: Worker | None = None
    while True:
        request: Request = pickle.loads((folder / "request.pickle").read_bytes())
        if worker is None:
            if request.memory:
                _limit_memory(request.memory)
            worker = Worker(request, say)
        made = folder / "answer.new"
        made.write_bytes(pickle.dumps(worker.run(request)))
        made.rename(folder / "answer.pickle")
        say("done")
        line = sys.stdin.readline()
        if not line:
            return
        folder = Path(line.rstrip("\n"))
