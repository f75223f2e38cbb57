"""Choices on a model's graph (layouts, algorithms, fusion, batches, precision), measured in it.

Decisions of passes by expected times are overridden, one decision at a time: all equal operations
of a model change together. Each candidate is an experiment, in which the whole model alternates
with the default model.
"""

from __future__ import annotations

import pickle
import sys
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING, Any

from ... import __version__
from ...ir.core import Operation
from ...ir.decisions import Decision, Decisions
from ...ir.diagnostics import NncError
from ...ir.weights_file import write_module
from ...kernels.tuned import TunedFolder
from ...passes.nn.choose_algorithms import ERROR
from ...targets.attribute import machine_name, target_of
from ..compile import run_stages
from ..program import make_program
from .choices import TunedChoice, for_machine, read_choices
from .experiments import ExperimentError, Experiments
from .ratio import Ratio
from .worker import DEFAULT, Request

if TYPE_CHECKING:
    from ...runtime.model import Model

Say = Callable[[str], None]

FACTOR = 2.0
"""A candidate is considered if it is expected to take less than this multiple of the chosen one's
time."""
LEAST_SHARE = 0.02
"""The least part of the model's expected time for which a decision is worth an experiment."""
PRECISION = ("precision", "integers")
"""The kinds of decisions that change the precision of products, which the user must allow."""
PATIENCE = 12
"""The number of consecutive candidates without a gain after which the search ends."""
_UNSURE = 0.25
"""The relative error assumed of the cost model: candidates are ranked by an expected gain that
includes it, so that those that affect much of the model's time come first."""
_LEAST_COMPILATIONS = 6
"""The least compilations for the search to find anything: the default, a few candidates, and all
faster ones together. They take most of its time."""
_ELSEWHERE = 10
"""How many times longer compilation takes if code runs outside of this process: it is also linked,
and an engine compiles and starts it."""
_PART = 1 / 3
"""The part of the time and of the trials of tuning that choices on the graph may use."""
_MEASURED, _CONFIRMED = 1.0, 8.0
"""Seconds of runs in an experiment, and in the final comparison."""
_TIMES_DEFAULT = 8
"""The time and memory limits of an experiment, as a multiple of the default's."""
_LEAST_SECONDS, _LEAST_MEMORY = 60.0, 8 << 30


@dataclass(frozen=True)
class Candidate:
    """An alternative for equal decisions, which take `share` of the model's expected time.

    `gain` is the part of the model's time that it is expected to save; negative if it takes more.
    """

    choice: TunedChoice
    share: float
    gain: float
    count: int

    @property
    def promise(self) -> float:
        """The part of the model's time that the candidate may save if the cost model errs."""
        return self.gain + _UNSURE * self.share

    @property
    def key(self) -> str:
        return f"{self.choice.key} {self.choice.taken}"


@dataclass(frozen=True)
class GraphFound:
    """The choices that are kept, with the ratio of the model with all of them to the default."""

    choices: Sequence[TunedChoice] = ()
    whole: Ratio | None = None
    experiments: int = 0
    dropped: Sequence[str] = ()
    tried: frozenset[str] = frozenset()
    """The keys of the decisions that have been measured."""
    was_stopped: bool = False
    """Whether Ctrl-C ended the search."""


def candidates(
    decisions: Sequence[Decision], machine: str, precision: bool = False, factor: float = FACTOR
) -> list[Candidate]:
    """The alternatives worth an experiment, the most promising first.

    The cost model expects them to take less than `factor` times as long as the chosen one, and
    their decisions take a part of the model's time.
    """
    total = sum(one.chosen.cycles for one in decisions if one.kind == "schedule") or 1.0
    alike: dict[str, list[Decision]] = {}
    for one in decisions:
        if one.operation and one.chosen.terms is not None:
            alike.setdefault(one.key, []).append(one)
    found = []
    for same in alike.values():
        first, count = same[0], len(same)
        if first.kind in PRECISION and not precision:
            continue
        share = min(1.0, count * first.chosen.cycles / total)
        for other in first.others:
            ratio = other.cycles / max(first.chosen.cycles, 1.0)
            if other.fault or share < LEAST_SHARE or ratio > factor:
                continue
            names = (first.kind, first.operation, other.name, first.taken)
            choice = TunedChoice(*names, machine=machine, version=__version__)
            found.append(Candidate(choice, share, share * (1 - ratio), count))
    return sorted(found, key=lambda one: -one.promise)


def tune_graph(
    module: Operation,
    make_inputs: Callable[[Model], Mapping[str, Any]],
    output: Path,
    tolerance_of: Callable[[Operation], float],
    *,
    seconds: float,
    trials: int | None = None,
    threads: int = 1,
    precision: bool = False,
    say: Say = lambda message: None,
) -> GraphFound:
    """Search choices for a graph and write those kept into a folder; the module is lowered to
    kernels with them.

    It takes at most a third of the seconds and trials. Earlier choices in the folder are tried
    first; those that the default beats are removed. Raises NncError.
    """
    started = time.perf_counter()
    limit, most = _PART * seconds, None if trials is None else int(_PART * trials)
    machine = machine_name(target_of(module))
    decisions = Decisions()
    looked = run_stages(module.clone(), last="schedule", progress=say, decisions=decisions)
    found = candidates(decisions.made, machine, precision)
    known = {one.key for one in decisions.made if one.operation}
    earlier = for_machine(read_choices(TunedFolder(output)), machine)
    earlier = [one for one in earlier if one.key in known]
    found = _first(earlier, found)
    kept = GraphFound()
    looking = time.perf_counter() - started
    once = looking if target_of(module).obstacle() is None else _ELSEWHERE * looking
    if found and limit < _LEAST_COMPILATIONS * once:
        say(f"{limit:.0f} s are too few for choices on the graph, each of which compiles it anew")
    elif found and most != 0:
        say(f"{len(found)} choices on the graph that may be as fast as the default's")
        with TemporaryDirectory(prefix="nnc-tune-graph-") as folder:
            measured = _Measuring(module, Path(folder), tolerance_of(looked), threads)
            measured.prepare(make_inputs, say)
            left = limit - (time.perf_counter() - started)
            kept = search(
                found, measured.ratio, seconds=left, trials=most, say=say, longest=measured.spent
            )
        keep(output, kept.choices, [one for one in earlier if one.key in kept.tried])
    left = [one for one in earlier if one.key not in kept.tried]
    told = {one.key: one.taken for one in (*left, *kept.choices)}
    run_stages(module, last="bufferize", decisions=Decisions(told=told, told_by="tuned"))
    return kept


def _first(earlier: Sequence[TunedChoice], found: Sequence[Candidate]) -> list[Candidate]:
    """The candidates, with those found earlier first."""
    names = {(one.key, one.taken) for one in earlier}
    return sorted(found, key=lambda one: (one.choice.key, one.choice.taken) not in names)


def keep(output: Path, kept: Sequence[TunedChoice], earlier: Sequence[TunedChoice]) -> None:
    """Write choices, and remove the model's earlier ones that are not among them."""
    written = {one.write(output) for one in kept}
    for one in earlier:
        if (path := output / one.file_name) not in written:
            path.unlink(missing_ok=True)


def search(
    found: Sequence[Candidate],
    ratio: Callable[[Sequence[Candidate], float], Ratio],
    *,
    seconds: float,
    trials: int | None = None,
    clock: Callable[[], float] = time.perf_counter,
    say: Say = lambda message: None,
    longest: float = 0.0,
) -> GraphFound:
    """Measure candidates one by one, then those together that were faster beyond the spread.

    `ratio` measures candidates for so many seconds; an experiment is first assumed to take
    `longest` seconds. Of several candidates for one decision the best counts. If all together are
    not faster, the half that gained less is left out. It ends with the time, after `PATIENCE`
    candidates in vain, or by Ctrl-C.
    """
    started, experiments = clock(), 0
    faster: dict[str, tuple[Candidate, Ratio]] = {}
    dropped: list[str] = []
    tried, vain, was_stopped = set[str](), 0, False
    try:
        for one in found:
            before = clock()
            over = vain >= PATIENCE or (trials is not None and experiments >= trials)
            if over or seconds - (before - started) < 2 * longest:
                break
            experiments, vain = experiments + 1, vain + 1
            tried.add(one.choice.key)
            try:
                measured = ratio([one], _MEASURED)
            except ExperimentError as error:
                dropped.append(f"{one.choice}: {error}")
                say(f"dropped {dropped[-1]}")
                continue
            finally:
                longest = max(longest, clock() - before)
            say(f"{one.choice.kind} '{one.choice.taken}': {measured} of the model's time")
            best = faster.get(one.choice.key)
            if measured.is_faster and (best is None or measured.median < best[1].median):
                faster[one.choice.key] = one, measured
                vain = 0
    except KeyboardInterrupt:
        was_stopped = True
        say("stopped; comparing what was found on the graph")
    left = sorted(faster.values(), key=lambda row: row[1].median)
    while left:
        experiments += 1
        try:
            whole = ratio([one for one, _ in left], _CONFIRMED)
        except ExperimentError as error:
            say(f"all choices together fail: {error}; half of them is left out")
            whole = None
        if whole is not None and whole.is_faster:
            choices = [replace(c.choice, gain=r.gain, spread=r.spread) for c, r in left]
            return GraphFound(choices, whole, experiments, dropped, frozenset(tried), was_stopped)
        left = left[: len(left) // 2]
    return GraphFound((), None, experiments, dropped, frozenset(tried), was_stopped)


def worker_command() -> list[str]:
    """The command that starts a worker, without the folder of its request."""
    return [sys.executable, "-P", "-c", f"from {__package__}.graph_worker import main; main()"]


class _Measuring:
    """A graph prepared for experiments: as a file, with its default program and inputs."""

    def __init__(self, module: Operation, folder: Path, tolerance: float, threads: int) -> None:
        self._module, self._tolerance = module, tolerance
        self._request = Request(folder, folder, threads, _MEASURED, tolerance, 0)
        self.spent = 0.0
        """Seconds that compiling the default took."""

    def prepare(self, make_inputs: Callable[[Model], Mapping[str, Any]], say: Say) -> None:
        """Compile the default. Raises NncError."""
        request, target = self._request, target_of(self._module)
        before = time.perf_counter()
        write_module(self._module, request.model)
        say("compiling it with the default choices")
        module = run_stages(self._module.clone())
        with request.cache().new_entry(DEFAULT) as entry:
            if entry is None:
                raise NncError(f"cannot write to '{request.folder}', where experiments are made")
            program = make_program(module, entry.weights)
            entry.store(program)
        inputs = make_inputs(target.running(program, request.threads, None))
        request.inputs.write_bytes(pickle.dumps(dict(inputs)))
        self.spent = spent = time.perf_counter() - before
        signature = program.signature
        memory = signature.weights_bytes + signature.prepared_bytes + signature.arena_bytes
        self._request = replace(request, memory=_LEAST_MEMORY + _TIMES_DEFAULT * memory)
        self._limit = max(_LEAST_SECONDS, _TIMES_DEFAULT * spent)

    def ratio(self, chosen: Sequence[Candidate], seconds: float) -> Ratio:
        """The ratio of the model with choices to the default. Raises ExperimentError.

        Outputs may differ by the order of sums, and by the errors of algorithms that are exchanged.
        """
        changed = sum(one.count for one in chosen if one.choice.kind == "algorithm")
        request = replace(self._request, tolerance=self._tolerance + ERROR * changed)
        experiments = Experiments(request, self._limit, worker_command())
        choices: Any = {one.key: one.choice for one in chosen}
        answer = experiments.run(choices, seconds)
        return Ratio.of(answer.whole)
