"""Measures a model on each engine, and makes the package to take away."""

from __future__ import annotations

import json
import shutil
import tempfile
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime
from hashlib import file_digest
from importlib.metadata import PackageNotFoundError, distribution
from pathlib import Path
from typing import Any

import numpy as np

from ..driver.checking.dimensions import input_names
from ..driver.compile import load_module
from ..driver.explaining.explain import explain
from ..driver.explaining.text import overview
from ..driver.hosting import entry_of
from ..driver.tuning.tune import tune_model
from ..frontends.formats import model_files
from ..ir.core import Operation
from ..ir.diagnostics import NncError
from ..ir.files import encoded
from ..ir.numpy_types import type_to_numpy
from ..kernels.tuned import TunedFolder
from ..targets.attribute import TARGET, target_of
from ..targets.base import HOST, Target
from .engines.table import TUNED, UNTUNED, engine
from .engines.turns import outputs_of
from .library import Library, compile_library
from .measuring import Reference, Row, Study, save_arrays
from .page import html_page, readme
from .precision import AS_IT_IS, in_precision
from .recommending import Recommendation, recommend
from .report import Findings, report
from .request import Request, Say

Arrays = Mapping[str, np.ndarray]


def measured(request: Request, module: Operation, inputs: Arrays, say: Say) -> dict[str, Any]:
    """The report on a module of the graph, without a library.

    Raises NncError.
    """
    with tempfile.TemporaryDirectory(prefix="nnc-package-") as name:
        work = _Work(request, module, inputs, Path(name), Path(name) / "content", say)
        work.content.mkdir()
        work.tune()
        work.compile(to_ship=False)
        work.measure()
        return report(work.findings(Library(failure="none was asked for")))


def package(
    request: Request, module: Operation, inputs: Arrays, content: Path, say: Say
) -> dict[str, Any]:
    """Fill an empty folder with the package of a module of the graph; returns its report.

    Raises NncError.
    """
    with tempfile.TemporaryDirectory(prefix="nnc-package-") as name:
        work = _Work(request, module, inputs, Path(name), content, say)
        work.tune()
        work.compile(to_ship=True)
        work.measure()
        work.explain()
        say("write", 0.0, "report and page")
        work.save_outputs()
        library = work.shipped().moved(content, request.languages)
        found = report(work.findings(library))
    save_arrays(content / "inputs.npz", inputs)
    _write(content, found, library)
    return found


def _write(content: Path, found: dict[str, Any], library: Library) -> None:
    texts = {
        "report.json": json.dumps(found, indent=1, allow_nan=False) + "\n",
        "report.html": html_page(found),
        "README.md": readme(found, library.steps()),
        "LICENSE-nnc.txt": licence(),
    }
    if found["why"]:
        texts["why.txt"] = "\n".join(found["why"]) + "\n"
    for name, text in texts.items():
        (content / name).write_bytes(encoded(text))


@dataclass
class _Work:
    """The steps, in the order of `STEPS`, and their results for later steps.

    `folder` is for temporary files, `content` becomes the package.
    """

    request: Request
    module: Operation
    inputs: Arrays
    folder: Path
    content: Path
    say: Say
    reference: Reference | None = None
    rows: list[Row] = field(default_factory=list)
    outputs: dict[str, np.ndarray] = field(default_factory=dict)
    why: Sequence[str] = ()

    def __post_init__(self) -> None:
        self.say("read", 0.0, f"{self.request.name} in {self.request.precision}")
        self.model = self._in_precision()
        self.target: Target = target_of(self.module, self.request.target)
        self.unmeasured = self.target.not_timed() or ""
        entry = entry_of(self.module)
        assert entry is not None
        types = dict(zip(input_names(entry), entry.function_type.inputs, strict=False))
        self.study = Study(self.request, self.model, self.inputs, types, self.folder)
        self.tuned: TunedFolder | None = None
        if self.request.tuned is not None:
            self.tuned = TunedFolder(self.request.tuned)
            self.tuned.read()
            self.study.tuned = self.request.tuned

    def _in_precision(self) -> Path:
        request = self.request
        if request.precision == AS_IT_IS:
            return request.model
        if request.format != "ONNX":
            raise NncError(
                f"--precision {request.precision} is for ONNX models; '{request.name}' is of "
                f"{request.format}"
            )
        made = in_precision(request.model, request.precision, self.folder, [self.inputs])
        choices: dict[str, Any] = dict(request.choices)
        try:
            self.module = load_module(str(made), fast_math=request.fast_math, **choices)
        except NncError as error:
            raise NncError(
                f"'{request.name}' in {request.precision} is not a valid model: {error.message}"
            ) from None
        return made

    # -- tune ------------------------------------------------------------------------------------

    def tune(self) -> None:
        """Search schedules, if requested and if they can be measured here."""
        request = self.request
        if self.tuned is not None:
            shutil.copytree(self.tuned.path, self.content / "tuned")
        if not request.tune_seconds or self.unmeasured:
            return
        folder = self.content / "tuned"
        existed = folder.exists()
        folder.mkdir(exist_ok=True)
        threads = max(request.threads)

        def said(text: str) -> None:
            self.say("tune", 0.0, text)

        try:
            found = tune_model(
                self.module.clone(),
                lambda model: self._exactly_typed(),
                folder,
                seconds=request.tune_seconds,
                threads=threads,
                target=request.target,
                seed=request.seed,
                say=said,
            )
            kept = bool(found.schedules or found.graph.choices)
        except NncError as error:
            self.study.notes.append(f"not tuned: {error.message}")
            kept = False
        if kept or existed:
            self.tuned, self.study.tuned = TunedFolder(folder), folder
        else:
            shutil.rmtree(folder)

    def _exactly_typed(self) -> dict[str, np.ndarray]:
        """The inputs in the model's types, including types that files do not support."""
        found = {}
        for name, type in self.study.types.items():
            dtype = type_to_numpy(type.element_type)
            found[name] = self.inputs[name].astype(dtype)
        return found

    # -- compile, measure, explain ---------------------------------------------------------------

    def compile(self, to_ship: bool) -> None:
        """Compile the libraries to measure, and one to ship."""
        names = {one.name for one in self.request.engines} if not self.unmeasured else set()
        kinds = [kind for kind in (False, True) if (TUNED if kind else UNTUNED) in names]
        if to_ship and (not kinds or self.tuned is not None):
            kinds = list(dict.fromkeys((*kinds, self.tuned is not None)))
        for kind in kinds:
            if kind and self.tuned is None:
                continue
            told = ", with tuned schedules" if kind else ""
            self.say("compile", 0.0, f"the library for {self.target.name}{told}")
            home = self.folder / f"compiled-{'tuned' if kind else 'untuned'}"
            home.mkdir()
            tuned = self.tuned if kind else None
            made = compile_library(self.module.clone(), self.request, tuned, home, self.say)
            self.study.libraries[kind] = made

    def shipped(self) -> Library:
        """The library of the package: with tuned schedules, unless they turned out slower."""
        threads = max(self.request.threads)
        times = {
            row.tuned: row.result.median
            for row in self.rows
            if row.engine.is_nnc and row.result.threads == threads and not row.result.failure
        }
        faster = min(times, key=lambda kind: times[kind]) if len(times) > 1 else None
        kind = self.tuned is not None if faster is None else faster
        return self.study.libraries[kind]

    def measure(self) -> None:
        """Run all engines, unless times here mean nothing for the target."""
        if self.unmeasured:
            return
        self.reference = self.study.reference(self.say)
        self.rows = self.study.rows(self.reference, self.say)

    def save_outputs(self) -> None:
        """Write nnc's outputs for the inputs: for the target if it was measured, else for this
        machine.
        """
        best = self.recommendation.row
        own = [row for row in self.rows if row.engine.is_nnc and not row.result.failure]
        result = next((row.result for row in own if row is best), own[0].result if own else None)
        if result is None:
            file = self.folder / "typed.npz"
            save_arrays(file, self.study.typed())
            study = self.study
            if self.unmeasured:
                here = replace(self.request, target=HOST)
                study = replace(study, request=here, libraries={False: self._for(here)})
            job = study.job(engine(UNTUNED), file, max(self.request.threads))
            result = outputs_of(job, self.request.effort.limit)
        if result.outputs is None:
            self.study.notes.append(f"no outputs.npz: {result.failure}")
            return
        names = result.output_names or [f"output{i}" for i in range(len(result.outputs))]
        self.outputs = dict(zip(names, result.outputs, strict=True))
        save_arrays(self.content / "outputs.npz", self.outputs)

    def _for(self, here: Request) -> Library:
        """A library for this machine, if the requested one is for another target."""
        home = self.folder / "here"
        home.mkdir()
        module = self.module.clone()
        module.attributes.pop(TARGET)
        return compile_library(module, here, None, home, lambda *said: None)

    @property
    def recommendation(self) -> Recommendation:
        """The recommendation from what was measured."""
        if self.unmeasured:
            text = f"Nothing was measured here: {self.unmeasured}."
            return Recommendation(None, self.unmeasured, text)
        compared = self.reference is not None and self.reference.outputs is not None
        return recommend(self.rows, self.request.allowed, compared)

    def explain(self) -> None:
        """Record the explanation of `nnc why`."""
        self.say("explain", 0.0, "what bounds the kernels")
        try:
            found = explain(self.request.name, self.module.clone(), target=self.request.target)
            self.why = list(overview(found))
        except NncError as error:
            self.study.notes.append(f"no explanation: {error.message}")

    # -- the report ------------------------------------------------------------------------------

    def findings(self, library: Library) -> Findings:
        """All contents of the report."""
        request = self.request
        about = {
            "folder": "library",
            "file": library.file or None,
            "bytes": library.size or None,
            "files": list(library.files),
            "bindings": list(library.languages),
            "tuned": library.tuned,
            "command": None,
            "failed": library.failure or None,
        }
        if not library.failure:
            output = "library" if library.languages else library.file
            about["command"] = request.compile_command(library.languages, output, library.tuned)
        return Findings(
            request,
            self.target,
            {
                "name": request.name,
                "format": request.format,
                "files": [_file(path) for path in _files(request)],
            },
            about,
            _arrays(self.inputs),
            _arrays(self.outputs),
            self.reference,
            self.rows,
            self.recommendation,
            self.why,
            self.study.notes,
            datetime.now(UTC).strftime("%Y-%m-%d %H:%M UTC"),
            self.unmeasured,
        )


def _files(request: Request) -> list[Path]:
    if request.model.suffix == ".mlir":
        return [request.model]
    return [path for path in model_files(request.model) if path.is_file()]


def _file(path: Path) -> dict[str, Any]:
    try:
        with path.open("rb") as file:
            digest = file_digest(file, "sha256").hexdigest()
        return {"name": path.name, "bytes": path.stat().st_size, "sha256": digest}
    except OSError as error:
        raise NncError(f"cannot read '{path}': {error.strerror or error}") from None


def _arrays(arrays: Arrays) -> list[dict[str, Any]]:
    return [
        {"name": name, "type": str(array.dtype), "shape": list(array.shape)}
        for name, array in arrays.items()
    ]


def licence() -> str:
    """The text of nnc's licence, from a checkout or from the installed package."""
    beside = Path(__file__).parents[1] / "LICENSE"
    if beside.is_file():
        return beside.read_text(encoding="utf-8")
    try:
        files = distribution("nnc").files or []
    except PackageNotFoundError:
        files = []
    for file in files:
        if file.name == "LICENSE":
            return file.read_text(encoding="utf-8")
    return "Apache-2.0: https://www.apache.org/licenses/LICENSE-2.0\n"
