"""The library of a package: what the target's code is written as, with bindings where it can be."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

from ..artifacts.bindings.language import language
from ..artifacts.options import ArtifactOptions
from ..driver.artifacts import kind_of, write_artifact
from ..driver.compile import run_stages, told
from ..ir.core import Operation
from ..ir.diagnostics import NncError
from ..kernels.tuned import TunedFolder
from ..targets.attribute import attach, target_of
from ..targets.base import Target
from .request import Request, Say

FOLDER = "library"
USUAL = ("c", "python")
"""The languages of bindings, unless others are asked for."""


@dataclass(frozen=True)
class Library:
    """What was compiled: its main `file` and all `files`, by their paths in the package, and the
    languages of its bindings. `failure` says why there is none.
    """

    file: str = ""
    size: int = 0
    files: tuple[str, ...] = ()
    languages: tuple[str, ...] = ()
    tuned: bool = False
    failure: str = ""

    def steps(self) -> list[tuple[str, str, str]]:
        """For each language its title, folder, and what its bindings need."""
        spoken = [(name, language(name)) for name in self.languages]
        return [(one.title, f"{FOLDER}/{name}", one.needs) for name, one in spoken]


@dataclass(frozen=True)
class _Form:
    """What is written: with bindings a folder of this name, else a file."""

    output: Path
    options: ArtifactOptions


def compile_library(
    module: Operation, request: Request, tuned: TunedFolder | None, folder: Path, say: Say
) -> Library:
    """Compile a module, which is consumed, into `library/` of a folder.

    Raises NncError where the bindings that were asked for cannot be made; a model that no library
    can be made of is a library with a `failure`.
    """
    target = attach(module, target_of(module, request.target))
    form = _form(target, request, folder)
    file = target.file_in(form.output, form.options)

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
        write_artifact(module, form.output, form.options, progress=progress)
    except NncError as error:
        return Library(failure=error.message)
    there = sorted(path for path in (folder / FOLDER).rglob("*") if path.is_file())
    return Library(
        file.relative_to(folder).as_posix(),
        file.stat().st_size,
        tuple(path.relative_to(folder).as_posix() for path in there),
        form.options.bindings,
        tuned is not None,
    )


def _form(target: Target, request: Request, folder: Path) -> _Form:
    """A library with bindings where the target has them, else the file that holds most of it."""
    wanted = USUAL if request.bindings is None else request.bindings
    form = _Form(folder / FOLDER, ArtifactOptions(prefix=request.prefix, bindings=wanted))
    if wanted:
        try:
            target.check_file(target.file_in(form.output, form.options), form.options)
        except NncError:
            if request.bindings is not None:
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
