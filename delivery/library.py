"""The library of a package: the target's compiled code, with bindings if it supports them."""

from __future__ import annotations

import shutil
import time
from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path

import numpy as np

from ..artifacts.bindings.language import language
from ..artifacts.options import ArtifactOptions
from ..driver.artifacts import kind_of, write_artifact
from ..driver.compile import run_stages, told
from ..driver.program import signature
from ..ir.core import Operation
from ..ir.diagnostics import NncError
from ..ir.numpy_types import type_to_numpy
from ..ir.types import TensorType
from ..kernels.tuned import TunedFolder
from ..runtime.program import Signature
from ..targets.attribute import attach, target_of
from ..targets.base import Target
from .request import Request, Say

FOLDER = "library"
PYTHON = "python"
"""The language of the bindings through which a library is measured."""
WEIGHTS = ".weights"


@dataclass(frozen=True)
class Library:
    """The compiled library, in `library/` of the folder `home`: its main `file` and all `files` by
    their relative paths, and the languages of its bindings. `shipped` are the files needed to
    run it, and `module` its Python bindings, if NumPy has all its types. `failure` says why
    there is no library.
    """

    home: Path = Path()
    file: str = ""
    size: int = 0
    files: tuple[str, ...] = ()
    languages: tuple[str, ...] = ()
    shipped: tuple[str, ...] = ()
    module: str = ""
    tuned: bool = False
    compile_ms: float = 0.0
    failure: str = ""

    def steps(self) -> list[tuple[str, str, str]]:
        """The title, folder and requirements of the bindings for each language."""
        spoken = [(name, language(name)) for name in self.languages]
        return [(one.title, f"{FOLDER}/{name}", one.needs) for name, one in spoken]

    def moved(self, folder: Path, languages: Sequence[str]) -> Library:
        """The library moved to another folder, with the bindings of these languages only."""
        if self.failure:
            return self
        shutil.move(self.home / FOLDER, folder / FOLDER)
        for name in set(self.languages) - set(languages):
            shutil.rmtree(folder / FOLDER / name)
        kept = tuple(name for name in self.languages if name in languages)
        return replace(self, home=folder, files=_listed(folder), languages=kept, module="")


@dataclass(frozen=True)
class _Form:
    """The form to write: with bindings a folder of this name, else a file."""

    output: Path
    options: ArtifactOptions


def compile_library(
    module: Operation, request: Request, tuned: TunedFolder | None, home: Path, say: Say
) -> Library:
    """Compile a module, which is consumed, into `library/` of a folder. Python bindings are
    included if the target supports them, so that it can be measured.

    If no library can be made of the model, the result has a `failure`.
    """
    target = attach(module, target_of(module, request.target))
    form = _form(target, request, home, measured=True)
    file = target.file_in(form.output, form.options)
    started = time.perf_counter()

    def progress(text: str) -> None:
        say("compile", 0.0, text)

    try:
        form.output.parent.mkdir(exist_ok=True)
        target.check_file(file, form.options)
        run_stages(
            module,
            tuned=tuned,
            progress=progress,
            prepare_milliseconds=form.options.prepare_milliseconds(kind_of(file, target)),
            timed=told(progress),
        )
        plain = _is_plain(signature(module))
        written = write_artifact(module, form.output, form.options, progress=progress)
    except NncError as error:
        return Library(failure=error.message)
    found = sorted((home / FOLDER / PYTHON).glob("*.py"))
    bindings = next((path for path in found if path.name != "example.py"), None)
    shipped = [path for path in written if path == file or path.suffix == WEIGHTS]
    return Library(
        home,
        file.relative_to(home).as_posix(),
        file.stat().st_size,
        _listed(home),
        form.options.bindings,
        tuple(path.relative_to(home).as_posix() for path in shipped),
        bindings.relative_to(home).as_posix() if bindings is not None and plain else "",
        tuned is not None,
        1e3 * (time.perf_counter() - started),
    )


def _listed(home: Path) -> tuple[str, ...]:
    there = sorted(path for path in (home / FOLDER).rglob("*") if path.is_file())
    return tuple(path.relative_to(home).as_posix() for path in there)


def _is_plain(found: Signature) -> bool:
    """Whether all inputs and outputs are arrays of NumPy's own types."""
    return not found.complex_outputs and all(
        isinstance(type, TensorType) and np.dtype(type_to_numpy(type.element_type)).isbuiltin == 1
        for type in (*found.input_types, *found.output_types)
    )


def _form(target: Target, request: Request, folder: Path, measured: bool = False) -> _Form:
    """A library with bindings if the target supports them, else one file (see `_suffix`). If it is
    to be `measured`, it has Python bindings, too.

    Raises NncError if requested bindings are not supported.
    """
    asked = request.languages
    choices = [(*asked, PYTHON)] if measured and PYTHON not in asked else []
    for languages in (*choices, asked):
        form = _Form(folder / FOLDER, ArtifactOptions(prefix=request.prefix, bindings=languages))
        try:
            target.check_file(target.file_in(form.output, form.options), form.options)
        except NncError:
            if languages == asked and request.bindings is not None:
                raise
        else:
            return form
    suffix = _suffix(target)
    kind = target.files[suffix]
    options = ArtifactOptions(prefix=request.prefix) if kind.has_names else ArtifactOptions()
    return _Form(folder / FOLDER / f"{request.prefix}{suffix}", options)


def _suffix(target: Target) -> str:
    """A suffix of the target's files: if possible of files that hold the weights, else of files
    that are not text.
    """
    kinds = target.files
    holders = [suffix for suffix, kind in kinds.items() if kind.holds_weights]
    programs = [suffix for suffix, kind in kinds.items() if not kind.is_text]
    return next(iter((*holders, *programs, *kinds)))


def check_bindings(request: Request, target: Target) -> None:
    """Raise NncError, before any work, for bindings that a target does not support."""
    if request.bindings:
        _form(target, request, Path.cwd())
