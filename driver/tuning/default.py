"""The program of a model with the default schedules, which runs beside candidates."""

from __future__ import annotations

import pickle
import shutil
import sys
from collections.abc import Callable, Mapping
from contextlib import suppress
from hashlib import sha256
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING, NoReturn

import numpy as np

from ...dialects import linalg, scf, schedule
from ...ir.core import Operation
from ...ir.diagnostics import NncError
from ...ir.passes import PassContext, PassManager
from ...ir.sealed_json import sealed, unsealed
from ...kernels.on_host import keep_on_host
from ...kernels.tuned import fingerprint, kernel_functions
from ...lowering.pipelines import pipeline
from ...runtime.model import Model
from ...targets.attribute import target_of
from ..cache import ModelCache, model_key
from ..compile import load_module, run_stages
from ..program import make_program
from .checking import buffers_of
from .elsewhere import patched
from .patched import Kernel
from .patching import Interface, is_patchable, lower_scheduled, make_patchable
from .worker import DEFAULT, PATCHED, Answer, Request

if TYPE_CHECKING:
    from ...dialects import func
    from ...runtime.program import Program
    from ...targets.base import Target

_ABOUT = "experiments.json"
"""A file in the cache: whether kernels can be replaced, and their digest."""

Say = Callable[[str], None]


def run_pass(module: Operation, name: str) -> None:
    """Run a pass, given by its name, on a module."""
    PassManager(pipeline(f"builtin.module({name})"), PassContext(), (), False).run(module)


def run_loops_side_by_side(module: Operation) -> None:
    """Decide for a bufferized module which of its loops run side by side, by the default schedules.

    This precedes the insertion of clocks: as all loops write their times, none could run side by
    side after it. So candidates are measured beside the other loop, as they run later.
    """
    if not any(isinstance(op, scf.While) for op in module.walk()):
        return
    scheduled = run_stages(module.clone(), last="schedule")
    schedules = [one.clone() for one in schedule.schedules(scheduled).values()]
    for one in schedules:
        module.body_block.append(one)
    run_pass(module, "overlap-loops")
    for one in schedules:
        one.erase()


def scheduled_kernels(module: Operation) -> dict[str, func.FuncOp]:
    """The kernels of a bufferized module that get schedules, by name.

    They are marked as by `choose-schedules`: what they may do in place, and whether a device runs
    them.
    """
    run_pass(module, "mark-in-place")
    found = {f.sym_name: f for f in kernel_functions(module) if _has_stages(f)}
    for function in found.values():
        keep_on_host(function, target_of(module))
    return found


def _has_stages(function: func.FuncOp) -> bool:
    return any(isinstance(op, linalg.StructuredOp) for op in function.body.blocks[0])


def store_default(
    request: Request,
    module: Operation,
    say: Say = lambda message: None,
    kept: ModelCache | None = None,
) -> Program:
    """Compile a bufferized model, which is consumed, for experiments, or take it from the cache
    `kept`.

    If kernels can be replaced, the program calls them through a table. Raises NncError.
    """
    if kept is None or not kept.limit:
        return _compiled(request, module, say)
    key = model_key(module, target_of(module), "default of experiments", str(request.threads))
    if key is None:
        return _compiled(request, module, say)
    if (program := _taken(request, kept, key, target_of(module))) is not None:
        say("the default is kept from before")
        return program
    program = _compiled(request, module, say)
    _keep(request, kept, key)
    return program


def _taken(request: Request, kept: ModelCache, key: str, target: Target) -> Program | None:
    """The default program as cached by `_keep`; None if it is missing or damaged."""
    with TemporaryDirectory(dir=request.folder) as home:
        made = Path(home) / "entry"
        if not kept.copy(key, made):
            return None
        try:
            about = unsealed((made / _ABOUT).read_bytes())
            kernels = made / request.kernels.name
            if sha256(kernels.read_bytes()).hexdigest() != about["digest"]:
                return None
            own = request.cache().folder
            own.mkdir(exist_ok=True)
            if about["replaced"]:
                kernels.rename(request.kernels)
            made.rename(own / (PATCHED if about["replaced"] else DEFAULT))
        except (OSError, ValueError, KeyError, TypeError):
            return None
    return request.cache().find(PATCHED if request.kernels.exists() else DEFAULT, target)


def _keep(request: Request, kept: ModelCache, key: str) -> None:
    """Cache the default program, and the facts about its kernels."""
    has_kernels = request.kernels.exists()
    with TemporaryDirectory(dir=request.folder) as home, suppress(OSError, shutil.Error):
        made = Path(home) / "entry"
        shutil.copytree(request.cache().folder / (PATCHED if has_kernels else DEFAULT), made)
        kernels = request.kernels.read_bytes() if has_kernels else b""
        (made / request.kernels.name).write_bytes(kernels)
        about = {"replaced": has_kernels, "digest": sha256(kernels).hexdigest()}
        (made / _ABOUT).write_text(sealed(about))
        kept.keep(key, made)


def _compiled(request: Request, module: Operation, say: Say) -> Program:
    """The default program, compiled. Raises NncError."""
    marked = module.clone()
    functions = scheduled_kernels(marked)
    run_stages(module, last="schedule", progress=say)
    names = [name for name, one in functions.items() if is_patchable(one, marked)]
    if not target_of(module).replaces_kernels(request.threads) or not names:
        run_stages(module, progress=say)
        return _stored(request, DEFAULT, module)
    say("from loops to machine code, with a table of the kernels")
    found = make_patchable(module, lower_scheduled(module, lambda name: None), names)
    kernels = {name: _kernel(functions[name], one) for name, one in found.items()}
    try:
        request.kernels.write_bytes(pickle.dumps(kernels))
    except OSError as error:
        raise NncError(f"cannot write '{request.kernels}': {error.strerror or error}") from None
    return _stored(request, PATCHED, module)


def running_default(request: Request, program: Program) -> Model:
    """The program of `store_default`, as a callable."""
    if not request.kernels.exists():
        return program.target.running(program, request.threads, None)  # type: ignore[attr-defined]
    kernels: Mapping[str, Kernel] = pickle.loads(request.kernels.read_bytes())
    return patched(program, kernels, request.threads)


class Described(Model):
    """The inputs and outputs of a program that runs elsewhere, to make inputs for it; no calls."""

    @property
    def threads(self) -> int:
        return 1

    def _call(self, inputs: list[np.ndarray]) -> NoReturn:
        raise NncError("the program is for the workers of a fleet and is not run here")


def command() -> list[str]:
    """The command that stores the default in a process of its own, without the request's folder."""
    return [sys.executable, "-P", "-c", f"from {__name__} import main; main()"]


def main() -> None:
    """Compile the model of the request in the folder given as argument; write an empty answer."""
    folder = Path(sys.argv[1])
    request: Request = pickle.loads((folder / "request.pickle").read_bytes())
    try:
        store_default(request, load_module(request.model))
    except NncError as error:
        sys.exit(str(error))
    (folder / "answer.pickle").write_bytes(pickle.dumps(Answer()))


def _kernel(function: func.FuncOp, interface: Interface) -> Kernel:
    buffers = buffers_of(function)
    if buffers is not None and len(buffers) != interface.arguments:
        buffers = None
    return Kernel(fingerprint(function), interface, buffers)


def _stored(request: Request, key: str, module: Operation) -> Program:
    cache, target = request.cache(), target_of(module)
    with cache.new_entry(key) as entry:
        if entry is None:
            raise NncError(f"cannot write to '{request.folder}', where experiments are made")
        entry.store(make_program(module, entry.weights))
    if (program := cache.find(key, target)) is None:
        raise NncError(f"'{request.folder}' has no space for experiments: free some on its disk")
    return program
