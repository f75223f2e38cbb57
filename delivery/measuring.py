"""Measures a model on each engine, and the errors of its outputs."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

import numpy as np

from ..ir.numpy_types import type_to_numpy
from ..ir.types import TensorType
from ..ir.version import VERSION
from .engines.accuracy import accuracy
from .engines.process import Job
from .engines.table import INTERPRETER, TUNED, Engine, engines_for, reference_for
from .engines.turns import Result, measure, outputs_of
from .library import Library
from .request import Request, Say

FOREIGN = 2
"""NumPy's `dtype.isbuiltin` for element types of other packages such as bfloat16, which array files
cannot store."""


@dataclass(frozen=True)
class Reference:
    """The original model's outputs, to compare with, and the engine that computed them. If
    `outputs` is None, `failure` says why.
    """

    engine: str
    title: str
    version: str
    outputs: list[np.ndarray] | None
    names: list[str] | None = None
    failure: str = ""


@dataclass
class Row:
    """A row of the table: an engine with a number of threads. `within` says whether its outputs are
    within the tolerance; None if there is nothing to compare.
    """

    engine: Engine
    result: Result
    tuned: bool = False
    within: bool | None = None


@dataclass
class Study:
    """The subject of measurements.

    `model` is the original or its form in another precision. `inputs` are arrays by name, in the
    original's types; `types` are the types of the inputs of `model`. `libraries` has nnc's library
    with (True) and without (False) the schedules of the folder `tuned`.
    """

    request: Request
    model: Path
    inputs: Mapping[str, np.ndarray]
    types: Mapping[str, Any]
    folder: Path
    tuned: Path | None = None
    libraries: dict[bool, Library] = field(default_factory=dict)
    notes: list[str] = field(default_factory=list)

    def reference(self, say: Say) -> Reference:
        """The original's outputs, by its own framework if that runs it, else by nnc's reference
        interpreter.
        """
        file = self.folder / "original.npz"
        save_arrays(file, self.inputs)
        first = reference_for(self.request.format)
        for engine in dict.fromkeys((first, INTERPRETER)):
            say("reference", 0.0, f"the original's outputs, by {engine.title}")
            job = Job(engine, self.request.model, file, 1, self._options(engine, plain=True))
            found = outputs_of(job, self.request.effort.limit)
            if not found.failure:
                break
            self.notes.append(f"no reference by {engine.title}: {found.failure}")
        return Reference(
            *(engine.name, engine.title, found.version, found.outputs, found.output_names),
            found.failure,
        )

    def rows(self, reference: Reference, say: Say) -> list[Row]:
        """The rows of all engines with all numbers of threads, run in turns."""
        file = self.folder / "inputs.npz"
        save_arrays(file, self.typed())
        found: list[Row] = []
        for i, threads in enumerate(self.request.threads):

            def said(text: str, done: float, i: int = i, threads: int = threads) -> None:
                word = "thread" if threads == 1 else "threads"
                part = (i + done) / len(self.request.threads)
                say("measure", part, f"{threads} {word}: {text}")

            found += self._with_threads(threads, file, said)
        for row in found:
            if reference.outputs is not None and row.result.outputs is not None:
                outputs = in_order(row.result, reference.names)
                row.result.accuracy = accuracy(outputs, reference.outputs)
                row.within = row.result.accuracy.within(self.request.allowed)
        return found

    def _with_threads(self, threads: int, file: Path, said: Any) -> list[Row]:
        rows, jobs = [], {}
        for engine in engines_for(self.request.format, self.request.engines):
            reason = engine.missing() or self._not_tuned(engine)
            rows.append(Row(engine, Result(engine.name, threads, failure=reason)))
            rows[-1].tuned = engine.name == TUNED
            if not reason:
                jobs[engine.name] = self.job(engine, file, threads)
        found = {one.name: one for one in measure(jobs, self.request.effort, said)}
        for name, job in jobs.items():
            found[name].compile_ms = job.options.get("compile_ms", found[name].compile_ms)
        return [replace(row, result=found.get(row.engine.name, row.result)) for row in rows]

    def job(self, engine: Engine, file: Path, threads: int) -> Job:
        """The job of an engine, with inputs in a file. nnc's library is measured as it is shipped;
        if NumPy lacks some of its types, or there is no library, as `nnc.compile` runs it.
        """
        library = self.libraries.get(engine.name == TUNED)
        if not engine.is_nnc or library is None or not library.module:
            return Job(engine, self.model, file, threads, self._options(engine))
        options = {
            "module": str(library.home / library.module),
            "files": [str(library.home / path) for path in library.shipped],
            "version": VERSION,
            "compile_ms": library.compile_ms,
        }
        as_shipped = replace(engine, loads="library.load", imports=())
        return Job(as_shipped, self.model, file, threads, options)

    def _not_tuned(self, engine: Engine) -> str:
        if engine.name != TUNED or self.tuned is not None:
            return ""
        if not self.request.tune_seconds:
            return "not tuned: --tune SECONDS or --tuned FOLDER was not given"
        return "no schedule was found that is faster than the default's"

    def _options(self, engine: Engine, plain: bool = False) -> dict[str, Any]:
        """An engine's options, beyond the model, its inputs and threads."""
        choices: dict[str, Any] = dict(self.request.choices)
        if not (engine.is_nnc or engine is INTERPRETER):
            given: dict[str, Any] = {"plain": plain, "signature": choices.get("signature")}
            given["constants"] = self._constants(choices.get("constants") or {})
            if self.request.precision in ("f16", "bf16"):
                given["precision"] = self.request.precision
            return given
        choices["ops"] = self.request.ops
        if engine.is_nnc:
            choices["fast_math"] = self.request.fast_math
            choices["target"] = self.request.target
            choices["cache_folder"] = str(self.folder / f"cache-{engine.name}")
            if engine.name == TUNED:
                choices["tuned"] = str(self.tuned)
        return choices

    def _constants(self, given: Mapping[str, Any]) -> dict[str, np.ndarray]:
        """Constants in the types of the model's inputs; other engines take them as inputs."""
        if self.request.format != "ONNX" or not given:
            return {}
        from ..frontends.onnx import constant_values

        return dict(constant_values(str(self.model), given))

    def typed(self) -> dict[str, np.ndarray]:
        """The inputs in the types that the model has for them."""
        return {name: typed(x, self.types.get(name)) for name, x in self.inputs.items()}


def typed(value: np.ndarray, type: Any) -> np.ndarray:
    """An array in an element type, if NumPy's files support it; else unchanged."""
    if not isinstance(type, TensorType):
        return value
    dtype = np.dtype(type_to_numpy(type.element_type))
    return value if dtype.isbuiltin == FOREIGN else value.astype(dtype)


def in_order(found: Result, names: Sequence[str] | None) -> list[np.ndarray]:
    """The outputs of an engine in the order of these names, if it uses the same names."""
    assert found.outputs is not None
    own = found.output_names
    if not names or not own or sorted(own) != sorted(names) or len(set(own)) < len(own):
        return found.outputs
    return [found.outputs[own.index(name)] for name in names]


def save_arrays(file: Path, arrays: Mapping[str, Any]) -> None:
    """Write an .npz file with any names; `np.savez` reserves the names of its parameters."""
    from zipfile import ZipFile

    with ZipFile(file, "w") as archive:
        for name, value in arrays.items():
            with archive.open(f"{name}.npy", "w", force_zip64=True) as member:
                np.lib.format.write_array(member, np.asarray(value), allow_pickle=False)
