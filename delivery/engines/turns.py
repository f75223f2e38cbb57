"""Engines take turns of a few runs each, so that disturbances affect all of them."""

from __future__ import annotations

import math
import statistics
import tempfile
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path

import numpy as np

from .accuracy import Accuracy
from .energy import Meter
from .process import EngineError, EngineProcess, Job

TURN = 3
"""The least number of consecutive runs of one engine."""

PAUSE = 0.1
"""Seconds before a turn with several threads: the threads of the previous engine may go on spinning
and occupy a processor. ONNX Runtime's do for 50 ms."""

_TURN_SECONDS = 0.05
"""The least seconds of a turn if seconds are given, so that a timer or an interrupt matters little.
"""
_LEAST_TURNS = 4
"""The least turns of each engine if seconds are given, however slow one is."""
_MOST_RUNS = 10_000
"""The most runs of a turn."""
_WARM_UP = 2
"""The runs before the first turn."""


@dataclass(frozen=True)
class Effort:
    """The time that engines run: `seconds` each on average, or `runs` runs each.

    `limit` is the longest time in seconds for an engine to load, or for one turn.
    """

    seconds: float | None = None
    runs: int = 30
    limit: float = 300.0


@dataclass
class Result:
    """The result of one engine on one model with one number of threads.

    Latencies are in ms: `turns` has those of each turn, `pace` is the least of the warm-up runs.
    `joules` is the energy of the machine's processors in all turns. `outputs` are those of a run;
    None if there are none, as `failure` says. `accuracy` is None until they are compared.
    """

    name: str
    threads: int
    version: str = ""
    load_ms: float = math.nan
    compile_ms: float | None = None
    peak_bytes: int | None = None
    size_bytes: int = 0
    pace: float = math.nan
    turns: list[list[float]] = field(default_factory=list)
    seconds: float = 0.0
    joules: float | None = None
    output_names: list[str] | None = None
    outputs: list[np.ndarray] | None = None
    accuracy: Accuracy | None = None
    failure: str = ""
    _sorted: list[float] = field(default_factory=list, repr=False, compare=False)

    @property
    def runs(self) -> int:
        """The number of latencies."""
        return sum(map(len, self.turns))

    @property
    def latencies(self) -> list[float]:
        return [one for turn in self.turns for one in turn]

    def ascending(self) -> list[float]:
        """The latencies, sorted; cached, as short runs have hundreds of thousands."""
        if len(self._sorted) != self.runs:
            self._sorted = sorted(self.latencies)
        return self._sorted

    @property
    def median(self) -> float:
        return statistics.median(self.ascending()) if self.turns else math.nan

    @property
    def spread(self) -> float:
        """Half the interquartile range of the latencies."""
        if self.runs < 2:
            return math.nan
        first, _, third = statistics.quantiles(self.ascending(), n=4)
        return (third - first) / 2

    @property
    def throughput(self) -> float:
        """Runs per second, one after the other."""
        return self.runs / self.seconds if self.seconds else math.nan

    @property
    def energy(self) -> float | None:
        """Joules per run; None if unknown."""
        return None if self.joules is None else self.joules / max(1, self.runs)


def measure(
    jobs: Mapping[str, Job],
    effort: Effort,
    said: Callable[[str, float], None] = lambda text, done: None,
    meter: Meter | None = None,
) -> list[Result]:
    """The result of each job, named and in order. `said` gets messages and the part that is done.

    An engine that fails is left out from then on: its result says why.
    """
    meter = meter or Meter.here()
    results = [Result(name, job.threads) for name, job in jobs.items()]
    processes: dict[str, EngineProcess] = {}
    try:
        for i, result in enumerate(results):
            said(f"load {result.name}", 0.5 * i / len(results))
            with _failing(result):
                process = processes[result.name] = EngineProcess(jobs[result.name])
                _load(process, result, effort.limit)
        alive = [one for one in results if not one.failure]
        counts = _counts(alive, effort)
        for done in _rounds(alive, effort):
            said(", ".join(one.name for one in alive if not one.failure), 0.5 + 0.5 * done)
            for result in alive:
                if not result.failure:
                    with _failing(result):
                        _turn(
                            processes[result.name], result, counts[result.name], effort.limit, meter
                        )
        for result in alive:
            if not result.failure:
                with _failing(result):
                    told = processes[result.name].ask("quit", effort.limit)
                    result.peak_bytes = told["peak_bytes"]
    finally:
        for process in processes.values():
            process.end()
    return results


def outputs_of(job: Job, limit: float) -> Result:
    """The outputs of one engine, without timing."""
    (result,) = measure({job.engine.name: job}, Effort(runs=0, limit=limit))
    return result


def ratio(ours: Result, theirs: Result) -> float:
    """How many times as fast `ours` is: the median ratio over neighbouring turns."""
    pairs = zip(ours.turns, theirs.turns, strict=False)
    return statistics.median(min(b) / min(a) for a, b in pairs)


def _load(process: EngineProcess, result: Result, limit: float) -> None:
    loaded = process.ask("load", limit)
    result.version, result.load_ms = loaded["version"], loaded["load_ms"]
    result.compile_ms, result.size_bytes = loaded["compile_ms"], loaded["bytes"]
    result.output_names = loaded["names"]
    with tempfile.TemporaryDirectory(prefix="nnc-outputs-") as folder:
        file = Path(folder) / "outputs.npz"
        process.ask(f"save {file}", limit)
        result.outputs = _read(file)
    result.pace = min(process.ask(f"run {_WARM_UP}", limit)["ms"])


def _read(file: Path) -> list[np.ndarray]:
    try:
        with np.load(file, allow_pickle=False) as arrays:
            return [arrays[name] for name in sorted(arrays.files)]
    except Exception as error:  # NumPy raises many kinds for a file that is none
        raise EngineError(f"its outputs cannot be read: {error}") from None


def _counts(results: Sequence[Result], effort: Effort) -> dict[str, int]:
    """The runs per turn of each engine: with `seconds` given, all turns last about as long."""
    if effort.seconds is None or not results:
        return {one.name: TURN for one in results}
    slowest = 1e-3 * max(one.pace for one in results)
    span = max(_TURN_SECONDS, min(slowest, effort.seconds / (2 * _LEAST_TURNS)))
    wanted = {one.name: round(span / max(1e-3 * one.pace, 1e-7)) for one in results}
    return {name: min(_MOST_RUNS, max(1, count)) for name, count in wanted.items()}


def _turn(process: EngineProcess, result: Result, count: int, limit: float, meter: Meter) -> None:
    time.sleep(PAUSE if result.threads > 1 else 0)
    before = meter.read()
    told = process.ask(f"run {count}", limit)
    joules = meter.between(before, meter.read())
    times = told["ms"]
    if not isinstance(times, list) or len(times) != count:
        raise EngineError("the process gave no times")
    result.turns.append(times)
    result.seconds += told["seconds"]
    if joules is not None:
        result.joules = (result.joules or 0.0) + joules


def _rounds(results: Sequence[Result], effort: Effort) -> Iterator[float]:
    """Yield the completed part, from 0 to 1, before each round of turns, until all are done."""
    if effort.seconds is None:
        count = -(-effort.runs // TURN)
        yield from (i / count for i in range(count))
        return
    turn = 0
    while left := [one for one in results if not one.failure]:
        spent = sum(one.seconds for one in left) / (len(left) * effort.seconds)
        done = min(spent, turn / _LEAST_TURNS)
        if done >= 1.0:
            return
        yield done
        turn += 1


@contextmanager
def _failing(result: Result) -> Iterator[None]:
    """Record an engine's failure in its result, and continue with the others."""
    try:
        yield
    except EngineError as error:
        result.failure = str(error)
    except (KeyError, TypeError, ValueError):
        result.failure = "the process gave an answer that is none"
