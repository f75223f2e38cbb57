"""An engine in a process of its own, which runs a model on command.

    python -P worker.py JOB.pickle

The job is a dictionary: the file and the function that load the engine, see `table.py`, and the
fields of `Task`. The process reads lines from standard input and answers each with a line of JSON:

    load        {"load_ms", "compile_ms" or null, "version", "bytes": of what is shipped,
                 "names": of the outputs or null}
    run N       {"ms": [N latencies], "seconds": of all N}
    save FILE   {}, after the outputs are in FILE, an .npz, in order
    quit        {"peak_bytes": of memory}

It imports only NumPy and the engine, and is started by its path, so that an engine can have an
environment of its own without nnc. Run as a program it gets nothing from another user: the job is a
file that the parent has written.
"""

from __future__ import annotations

import atexit
import json
import os
import pickle
import shutil
import sys
import tempfile
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from importlib import import_module
from importlib.metadata import Distribution, PackageNotFoundError, distribution, version
from importlib.util import module_from_spec, spec_from_file_location
from pathlib import Path
from typing import Any

import numpy as np

Run = Callable[[], Sequence[Any]]
"""A function that runs a loaded model and returns its outputs in order."""


_FOREIGN = 2
"""`dtype.isbuiltin` of element types that other packages add to NumPy, such as bfloat16."""


@dataclass
class Task:
    """What an engine loads: a model's path, inputs by name in the model's order, threads, and
    options of the engine's own. The loading function adds the shipped files and, if it knows
    them, the names of the outputs, and a version that no installed distribution tells.

    If the model runs outside of this process, `timed` does a run and returns its milliseconds by
    the clock there.
    """

    model: str
    inputs: dict[str, np.ndarray]
    threads: int
    options: dict[str, Any]
    names: list[str] | None = None
    version: str = ""
    files: list[Path] = field(default_factory=list)
    compile_seconds: float | None = None
    timed: Callable[[], float] | None = None

    def ships(self, *files: Path | str) -> None:
        """Record files that a user of the loaded model needs; a folder counts with all contents."""
        self.files += [Path(file) for file in files]

    def libraries(self, name: str, *parts: str) -> list[Path]:
        """The shared libraries of an installed distribution whose path contains one of `parts`; all
        of them without parts.
        """
        found = [Path(str(file.locate())) for file in _distribution(name).files or ()]
        return [
            f
            for f in found
            if ".so" in f.name and (not parts or any(part in str(f) for part in parts))
        ]

    def folder(self) -> Path:
        """A new folder that is removed when the process ends."""
        folder = tempfile.mkdtemp(prefix="nnc-engine-")
        atexit.register(shutil.rmtree, folder, ignore_errors=True)
        return Path(folder)

    @contextmanager
    def compiling(self) -> Iterator[None]:
        """Count the time of the block as compilation, which is done once, not at each load."""
        started = time.perf_counter()
        yield
        self.compile_seconds = (self.compile_seconds or 0.0) + time.perf_counter() - started


class Engine:
    """The engine of a job and, once it is loaded, its model."""

    def __init__(self, job: dict[str, Any]) -> None:
        self.job = job
        with np.load(job["inputs"]) as arrays:
            inputs = {name: arrays[name] for name in arrays.files}
        self.task = Task(job["model"], inputs, job["threads"], job["options"])
        self.run: Run | None = None

    def load(self) -> dict[str, Any]:
        """Import the engine, then load the model; only the latter is timed."""
        # The file that loads models first: it says what Keras is to run on when that is imported.
        function = getattr(_module(self.job["file"]), self.job["function"])
        for name in self.job["imports"]:
            import_module(name)
        started = time.perf_counter()
        self.run = function(self.task)
        seconds = time.perf_counter() - started - (self.task.compile_seconds or 0.0)
        compiled = self.task.compile_seconds
        return {
            "load_ms": 1e3 * seconds,
            "compile_ms": None if compiled is None else 1e3 * compiled,
            "version": self.task.version or _version(self.job["distributions"]),
            "bytes": sum(map(_bytes, dict.fromkeys(self.task.files))),
            "names": self.task.names,
        }

    def times(self, count: int) -> dict[str, Any]:
        """Milliseconds of `count` consecutive runs."""
        run, timed = self._loaded(), self.task.timed
        if timed is not None:
            found = [timed() for _ in range(count)]
            return {"ms": found, "seconds": sum(found) / 1e3}
        begun = time.perf_counter()
        found = []
        for _ in range(count):
            started = time.perf_counter()
            run()
            found.append(1e3 * (time.perf_counter() - started))
        return {"ms": found, "seconds": time.perf_counter() - begun}

    def save(self, file: str) -> dict[str, Any]:
        """Write the outputs of a run; elements that .npz files do not support become float32."""
        arrays = {f"{i:04}": _plain(one) for i, one in enumerate(self._loaded()())}
        np.savez(file, **arrays)  # type: ignore[arg-type]
        return {}

    def _loaded(self) -> Run:
        if self.run is None:
            raise RuntimeError("no model is loaded")
        return self.run


def answer(engine: Engine, line: str) -> dict[str, Any]:
    """The answer to a command."""
    command, _, argument = line.strip().partition(" ")
    match command:
        case "load":
            return engine.load()
        case "run":
            return engine.times(int(argument))
        case "save":
            return engine.save(argument)
        case "quit":
            return {"peak_bytes": peak_bytes()}
    raise ValueError(f"no command is called '{command}'")


def peak_bytes() -> int | None:
    """The peak memory of this process, from Linux (getrusage counts the parent's too); None if it
    is unknown.
    """
    with suppress(OSError):
        status = Path("/proc/self/status").read_text()
        for line in status.splitlines():
            if line.startswith("VmHWM:"):
                return 1024 * int(line.split()[1])
    return None


def _module(file: str) -> Any:
    spec = spec_from_file_location(f"engine_{Path(file).stem}", file)
    assert spec is not None and spec.loader is not None
    module = module_from_spec(spec)
    sys.modules[spec.name] = module
    spec.loader.exec_module(module)
    return module


def _distribution(name: str) -> Distribution:
    """The installed distribution of a name, or its CPU-only build."""
    with suppress(PackageNotFoundError):
        return distribution(name)
    return distribution(f"{name}-cpu")


def _version(distributions: Sequence[str]) -> str:
    for name in distributions:
        with suppress(PackageNotFoundError):
            return version(name)
    return ""


def _bytes(path: Path) -> int:
    if path.is_dir():
        return sum(file.stat().st_size for file in path.rglob("*") if file.is_file())
    return path.stat().st_size


def _plain(value: Any) -> np.ndarray:
    """An output as an array that a file can hold without pickling."""
    array = np.asarray(value)
    if array.dtype.kind in "OS":
        return np.array([_text(one) for one in array.flat], str).reshape(array.shape)
    return array.astype(np.float32) if array.dtype.isbuiltin == _FOREIGN else array


def _text(value: object) -> str:
    return value.decode("utf-8", "surrogateescape") if isinstance(value, bytes) else str(value)


def main() -> None:
    """Answer the commands on standard input."""
    # What an engine prints must not come between the answers.
    answers = os.fdopen(os.dup(1), "w")
    os.dup2(2, 1)
    engine = Engine(pickle.loads(Path(sys.argv[1]).read_bytes()))
    for line in sys.stdin:
        print(json.dumps(answer(engine, line)), file=answers, flush=True)
        if line.strip() == "quit":
            return


if __name__ == "__main__":
    main()
