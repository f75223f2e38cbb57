"""The process of one experiment: a model with candidates, compiled and run beside the default.

It reads a request and writes an answer, both files of the parent's own folder. What goes wrong in
it, a crash of the compiled code included, ends this process only.
"""

from __future__ import annotations

import pickle
import sys
import time
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from ...dialects import func
from ...dialects.marks import ENTRY
from ...ir.core import Operation
from ...kernels.tuned import TunedFolder
from ...memory.instrument_kernels import INNER, TIMES, inner_calls, kernel_units
from ...targets.attribute import target_of
from ...targets.base import processor_name
from ..cache import ModelCache
from ..compile import load_module, run_stages
from ..program import make_program

if TYPE_CHECKING:
    from ...runtime.model import Model

DEFAULT = "default"
"""The key in the cache of the experiment of the program with the default schedules."""
_RUNS = 2
"""Timed runs of a block, of which the fastest counts; one before them warms the caches up."""
_LEAST_PAIRS, _MOST_PAIRS = 5, 60


@dataclass(frozen=True)
class Request:
    """What an experiment compiles and runs. Units: seconds, bytes."""

    folder: Path
    schedules: Path
    threads: int
    seconds: float
    tolerance: float
    memory: int

    @property
    def model(self) -> Path:
        """The bufferized model with a clock in it."""
        return self.folder / "model.mlir"

    @property
    def inputs(self) -> Path:
        """Its inputs, pickled."""
        return self.folder / "inputs.pickle"

    def cache(self) -> ModelCache:
        """Where the program with the default schedules is."""
        return ModelCache(self.folder / "programs", 1 << 60)


Pairs = list[tuple[float, float]]


@dataclass
class Answer:
    """Pairs of times of the default and the candidate, for each kernel by name and for the whole.

    `wrong` says how the outputs differ, if they do, `processor` what they were measured on. Units:
    nanoseconds.
    """

    kernels: dict[str, Pairs] = field(default_factory=dict)
    whole: Pairs = field(default_factory=list)
    wrong: str = ""
    processor: str = ""


def run(request: Request) -> Answer:
    """Carry out an experiment."""
    module = load_module(request.model)
    target = target_of(module)
    names = unit_names(module)
    default = request.cache().find(DEFAULT, target)
    if default is None:
        raise FileNotFoundError(f"{request.folder}: no program of the default schedules")
    run_stages(module, tuned=TunedFolder(request.schedules, anywhere=True))
    programs = (default, make_program(module))
    sides = [target.running(program, request.threads) for program in programs]
    inputs = pickle.loads(request.inputs.read_bytes())
    answer = Answer(processor=processor_name())
    expected, found = (side.run(inputs) for side in sides)
    answer.wrong = difference(expected, found, request.tolerance)
    if answer.wrong:
        return answer
    started = time.perf_counter()
    while len(answer.whole) < _MOST_PAIRS and (
        len(answer.whole) < _LEAST_PAIRS or time.perf_counter() - started < request.seconds
    ):
        blocks = [_block(side, inputs, names) for side in sides]
        answer.whole.append((blocks[0][0], blocks[1][0]))
        for name, took in blocks[0][1].items():
            answer.kernels.setdefault(name, []).append((took, blocks[1][1][name]))
    return answer


def _block(
    model: Model, inputs: Mapping[str, Any], names: tuple[list[str], list[str]]
) -> tuple[float, dict[str, float]]:
    """The fastest of a few runs after each other: the whole, and each kernel."""
    model.run(inputs)
    walls, runs = [], []
    for _ in range(_RUNS):
        started = time.perf_counter_ns()
        outputs = model.run(inputs)
        walls.append(float(time.perf_counter_ns() - started))
        runs.append(kernel_times(outputs, names))
    return min(walls), {name: min(one[name] for one in runs) for name in runs[0]}


def kernel_times(
    outputs: Mapping[str, Any], names: tuple[list[str], list[str]]
) -> dict[str, float]:
    """What all calls of each kernel took in a run, those in branches and loops included."""
    units, inner = names
    found: dict[str, float] = {}
    for name, took in zip(units, np.diff(outputs[TIMES]), strict=True):
        if name:
            found[name] = found.get(name, 0.0) + float(took)
    for name, (took, _) in zip(inner, outputs.get(INNER, ()), strict=True):
        found[name] = found.get(name, 0.0) + float(took)
    return found


def unit_names(module: Operation) -> tuple[list[str], list[str]]:
    """The kernels that the model calls, empty for a branch or loop; and those inside of these."""
    units: list[str] = []
    inner: list[str] = []
    for entry in module.body_block:
        if isinstance(entry, func.FuncOp) and ENTRY in entry.attributes:
            found = kernel_units(entry, module)
            units += (op.callee if isinstance(op, func.Call) else "" for op in found)
            inner += (call.callee for _, call in inner_calls(found, module))
    return units, inner


def difference(expected: Mapping[str, Any], found: Mapping[str, Any], tolerance: float) -> str:
    """How the outputs of two runs differ; empty where they agree.

    Units of `tolerance`: the largest finite value of an output.
    """
    from ..comparing.difference import flattened

    clocks = (TIMES, INNER)
    ours, theirs = (
        flattened({n: v for n, v in one.items() if n not in clocks}) for one in (found, expected)
    )
    for name, want in theirs.items():
        got = ours.get(name)
        if got is None or got.shape != want.shape:
            return f"{name}: another shape"
        if want.dtype.kind not in "biufc" and want.dtype.itemsize > 2:
            if got.tolist() != want.tolist():
                return f"{name}: other values"
            continue
        kind = np.complex128 if want.dtype.kind == "c" else np.float64
        a, b = got.astype(kind), want.astype(kind)
        finite = np.isfinite(a) & np.isfinite(b)
        if not (finite | (a == b) | (np.isnan(a) & np.isnan(b))).all():
            return f"{name}: NaN or infinity in other places"
        scale = float(np.max(np.abs(b[finite]), initial=0.0)) or 1.0
        error = float(np.max(np.abs(a - b)[finite], initial=0.0)) / scale
        if error > tolerance:
            return f"{name}: relative error {error:.3g} exceeds {tolerance:g}"
    return ""


def _limit_memory(bytes: int) -> None:
    try:
        import resource
    except ImportError:  # no POSIX
        return
    resource.setrlimit(resource.RLIMIT_AS, (bytes, bytes))


def main() -> None:
    """Carry out the request in the folder that is named, and leave the answer beside it."""
    folder = Path(sys.argv[1])
    request: Request = pickle.loads((folder / "request.pickle").read_bytes())
    _limit_memory(request.memory)
    made = folder / "answer.new"
    made.write_bytes(pickle.dumps(run(request)))
    made.rename(folder / "answer.pickle")
