"""Models for other processors, run here by an emulator."""

from __future__ import annotations

from collections.abc import Callable
from hashlib import sha256
from pathlib import Path
from tempfile import TemporaryDirectory

from ..ir.cache_home import cache_home
from ..ir.diagnostics import NncError
from ..runtime.emulated import RUNNER_SOURCE, WASM_RUNNER_SOURCE, Emulated
from ..runtime.executable import Executable
from ..runtime.model import Model
from ..runtime.program import Program
from ..targets.base import Target
from .artifacts import ArtifactOptions, write_binary
from .wasm import write_module


def check_runs(target: Target, emulate: bool = True) -> None:
    """Raise NncError where nothing here runs a target's code: it says what to install.

    Without `emulate` an emulator does not count.
    """
    obstacle = target.obstacle()
    if obstacle is None:
        return
    if target.emulator is None or not emulate:
        target.check_runs_here()
    elif missing := target.emulator.missing():
        raise NncError(f"code for '{target.name}' does not run here: {obstacle}, and {missing}")
    else:
        target.toolchain()


def running(program: Program, threads: int, progress: Callable[[str], None] | None = None) -> Model:
    """The program as a callable: in this process where it can run, else in an emulator.

    Raises NncError.
    """
    target = program.target
    if target.obstacle() is None or target.emulator is None:
        return Executable(program, threads=threads)
    folder = TemporaryDirectory(prefix="nnc-")
    if target.object_format == "wasm":
        loader = write_module(program, Path(folder.name) / "model.wasm", ArtifactOptions())[1]
        command = [*target.emulator.command(), str(WASM_RUNNER_SOURCE), str(loader), str(threads)]
        return Emulated(program, command, folder, threads)
    if progress is not None:
        progress(f"linking for {target.emulator.program} (the first time takes half a minute)")
    runner = _runner(target)
    options = ArtifactOptions()
    library, *beside = write_binary(program, Path(folder.name) / f"model{target.library}", options)
    seen = target.emulator.argument
    weights = [seen(path) for path in beside if path.suffix == ".weights"] or [""]
    command = [seen(runner), seen(library), options.prefix, *weights, str(threads)]
    return Emulated(program, [*target.emulator.command(), *command], folder, threads)


def _runner(target: Target) -> Path:
    """The program that loads libraries of a target; made once. Raises NncError."""
    tools = target.toolchain()
    about = f"{tools.driver}".encode() + RUNNER_SOURCE.read_bytes()
    name = f"{target.family}-{sha256(about).hexdigest()[:16]}.exe"
    runner = cache_home() / "runners" / name
    if runner.exists():
        return runner
    try:
        runner.parent.mkdir(parents=True, exist_ok=True)
        with TemporaryDirectory(dir=runner.parent) as folder:
            made = Path(folder) / "runner.exe"
            tools.program(RUNNER_SOURCE, made)
            made.replace(runner)
    except OSError as error:
        raise NncError(f"cannot write '{runner}': {error.strerror or error}") from None
    return runner
