"""Models for other processors, run here by an emulator."""

from __future__ import annotations

from collections.abc import Callable
from hashlib import sha256
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

from ...artifacts.options import ArtifactOptions
from ...ir.cache_home import cache_home
from ...ir.diagnostics import NncError
from ...runtime.emulated import RUNNER_SOURCE, Emulated
from ...runtime.program import Program
from ..emulator import Runner
from .library import write_binary


def emulated(
    target: Any,
    emulator: Runner,
    program: Program,
    threads: int,
    progress: Callable[[str], None] | None = None,
) -> Emulated:
    """A program that runs in an emulator, as a callable. Raises NncError."""
    folder = TemporaryDirectory(prefix="nnc-")
    if progress is not None:
        progress(f"linking for {emulator.program} (the first time takes some seconds)")
    runner = _runner(target)
    options, path = ArtifactOptions(), Path(folder.name) / f"model{target.library}"
    library, *beside = write_binary(target, program, path, options)
    seen = emulator.argument
    weights = [seen(path) for path in beside if path.suffix == ".weights"] or [""]
    command = [seen(runner), seen(library), options.prefix, *weights, str(threads)]
    return Emulated(program, [*emulator.command(), *command], folder, threads)


def _runner(target: Any) -> Path:
    """The executable that loads libraries of a target; built once, then cached. Raises NncError."""
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
