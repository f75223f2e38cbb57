"""The process of one experiment on choices of the graph: the whole model beside the default.

It reads a request and writes an answer, both files of the parent's own folder; a crash of the
compiled code ends this process only.
"""

from __future__ import annotations

import pickle
import sys
import time
from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

from ...kernels.tuned import TunedFolder
from ...targets.attribute import target_of
from ..compile import load_module, run_stages
from ..program import make_program
from .worker import DEFAULT, Answer, Request, difference

if TYPE_CHECKING:
    from ...runtime.model import Model

_RUNS = 3
"""The runs of a block, of which the fastest counts: the first ones warm up the caches."""
_LEAST_PAIRS, _MOST_PAIRS = 7, 60


def run(request: Request) -> Answer:
    """Compile the graph with the request's choices, and alternate it with the default.

    The answer has times of the whole model only.
    """
    module = load_module(request.model)
    target = target_of(module)
    default = request.cache().find(DEFAULT, target)
    if default is None:
        raise FileNotFoundError(f"{request.folder}: no program of the default choices")
    run_stages(module, tuned=TunedFolder(request.schedules, anywhere=True))
    programs = (default, make_program(module))
    sides = [target.running(program, request.threads, None) for program in programs]
    inputs = pickle.loads(request.inputs.read_bytes())
    expected, found = (side.run(inputs) for side in sides)
    answer = Answer(wrong=difference(expected, found, request.tolerance))
    started = time.perf_counter()
    while not answer.wrong and len(answer.whole) < _MOST_PAIRS:
        answer.whole.append((fastest(sides[0], inputs), fastest(sides[1], inputs)))
        if len(answer.whole) >= _LEAST_PAIRS and time.perf_counter() - started > request.seconds:
            break
    return answer


def fastest(model: Model, inputs: Mapping[str, Any], runs: int = _RUNS) -> float:
    """The minimal time of a few consecutive runs. Units: nanoseconds."""
    times = []
    for _ in range(runs):
        started = time.perf_counter_ns()
        model.run(inputs)
        times.append(float(time.perf_counter_ns() - started))
    return min(times)


def main() -> None:
    """Run the request in the folder named as argument, and write the answer into that folder."""
    folder = Path(sys.argv[1])
    request: Request = pickle.loads((folder / "request.pickle").read_bytes())
    made = folder / "answer.new"
    made.write_bytes(pickle.dumps(run(request)))
    made.rename(folder / "answer.pickle")
