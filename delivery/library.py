"""The library of a package: what the target's code is written as, with bindings where it can be."""

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
"""The language by whose bindings a library is measured."""
WEIGHTS = ".weights"


@dataclass(frozen=True)
class Library:
    """What was compiled, in `library/` of the folder `home`: its main `file` and all `files` by
    their paths from there, and the languages of its bindings. `shipped` are those that a run needs,
    and `module` its bindings for Python where NumPy has all its types. `failure` says why there is
    none.
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
        """For each language its title, folder, and what its bindings need."""
        spoken = [(name, language(name)) for name in self.languages]
        return [(one.title, f"{FOLDER}/{name}", one.needs) for name, one in spoken]

    def moved(self, folder: Path, languages: Sequence[str]) -> Library:
        """The library in another folder, with the bindings of these languages alone."""
        if self.failure:
            return self
        shutil.move(self.home / FOLDER, folder / FOLDER)
        for name in set(self.languages) - set(languages):
            shutil.rmtree(folder / FOLDER / name)
        kept = tuple(name for name in self.languages if name in languages)
        return replace(self, home=folder, files=_listed(folder), languages=kept, module="")


@dataclass(frozen=True)
class _Form:
    """What is written: with bindings a folder of this name, else a file."""

    output: Path
    options: ArtifactOptions


def compile_library(
    module: Operation, request: Request, tuned: TunedFolder | None, home: Path, say: Say
) -> Library:
    """Compile a module, which is consumed, into `library/` of a folder; bindings for Python are
    among its languages where the target has them, so that it can be measured.

    A model that no library can be made of is a library with a `failure`.
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
    """Whether all inputs and outputs are arrays of types that NumPy has."""
    return not found.complex_outputs and all(
        isinstance(type, TensorType) and np.dtype(type_to_numpy(type.element_type)).isbuiltin == 1
        for type in (*found.input_types, *found.output_types)
    )


def _form(target: Target, request: Request, folder: Path, measured: bool = False) -> _Form:
    """A library with bindings where the target has them, else the file that holds most of it. One
    that is to be `measured` has bindings for Python, too.

    Raises NncError where bindings were asked for that the target does not have.
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
    """Of the files that a target is written as, the one that holds its weights, else one that is
    not for people alone.
    """
    kinds = target.files
    holders = [suffix for suffix, kind in kinds.items() if kind.holds_weights]
    programs = [suffix for suffix, kind in kinds.items() if not kind.is_text]
    return next(iter((*holders, *programs, *kinds)))


def check_bindings(request: Request, target: Target) -> None:
    """Refuse, before any work, bindings that a target does not have. Raises NncError."""
    if request.bindings:
        _form(target, request, Path.cwd())
