"""The program of a model with the default schedules, which experiments run beside candidates."""

from __future__ import annotations

import pickle
import sys
from collections.abc import Callable
from pathlib import Path
from typing import NoReturn

import numpy as np

from ...ir.core import Operation
from ...ir.diagnostics import NncError
from ...runtime.model import Model
from ...runtime.program import Program
from ...targets.attribute import target_of
from ..compile import load_module, run_stages
from ..program import make_program
from .worker import DEFAULT, Answer, Request


def store_default(
    request: Request, module: Operation, say: Callable[[str], None] = lambda message: None
) -> Program:
    """Compile a bufferized model, which is consumed, where experiments find it. Raises NncError."""
    cache, target = request.cache(), target_of(module)
    run_stages(module, progress=say)
    with cache.new_entry(DEFAULT) as entry:
        if entry is None:
            raise NncError(f"cannot write to '{request.folder}', where experiments are made")
        program = make_program(module, entry.weights)
        entry.store(program)
    if cache.find(DEFAULT, target) is None:
        raise NncError(f"there is no room in '{request.folder}' for experiments")
    return program


class Described(Model):
    """A program that runs elsewhere: what it takes and gives, for who makes its inputs."""

    @property
    def threads(self) -> int:
        return 1

    def _call(self, inputs: list[np.ndarray]) -> NoReturn:
        raise NncError("the program is for the workers of a fleet and is not run here")


def command() -> list[str]:
    """What does so in a process of its own, but for the folder of its request."""
    return [sys.executable, "-P", "-c", f"from {__name__} import main; main()"]


def main() -> None:
    """Compile the model of the request in the folder that is named, and leave an empty answer."""
    folder = Path(sys.argv[1])
    request: Request = pickle.loads((folder / "request.pickle").read_bytes())
    try:
        store_default(request, load_module(request.model))
    except NncError as error:
        sys.exit(str(error))
    (folder / "answer.pickle").write_bytes(pickle.dumps(Answer()))
