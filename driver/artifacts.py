"""Writes the output files of `nnc compile`: a module after its target's last stage.

`.mlir` is the module itself; the target defines all other kinds of files.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from pathlib import Path

from ..artifacts.options import IR, ArtifactOptions, FileKind, check_options
from ..ir.core import Operation
from ..ir.diagnostics import NncError
from ..ir.files import write_whole
from ..ir.timing import Timed, untimed
from ..ir.weights_file import write_module as write_ir
from ..runtime.program import Signature
from ..targets.attribute import target_of
from ..targets.base import Symbols, Target, all_targets
from .program import make_program


def _files() -> Iterator[tuple[str, FileKind]]:
    """(suffix, kind of file) of each target; if several targets have a suffix, the first counts."""
    for row in all_targets():
        for one in (row, *row.variants):
            yield from one.files.items()


def file_kinds() -> Mapping[str, FileKind]:
    """The kinds of files that targets are written as, by suffix."""
    found: dict[str, FileKind] = {}
    for suffix, kind in _files():
        found.setdefault(suffix, kind)
    return found


def file_kind(suffix: str) -> FileKind | None:
    """The kind of file that a suffix has for the first target that supports it; None if none does.

    It loads target families only until one is found.
    """
    return next((kind for one, kind in _files() if one == suffix), None)


def check_output(path: Path, options: ArtifactOptions) -> None:
    """Raise NncError, before any work, for a path that no target can be written as."""
    check_options(path, options, file_kind(path.suffix), file_kinds)


def kind_of(path: Path, target: Target) -> FileKind:
    """The kind of a file for a target."""
    return target.files.get(path.suffix, FileKind(is_text=True))


def write_artifact(
    module: Operation,
    path: Path,
    options: ArtifactOptions | None = None,
    timed: Timed = untimed,
    progress: Callable[[str], None] = lambda message: None,
) -> list[Path]:
    """Write `path` and the files that belong to it; returns these files. Raises NncError."""
    options, target = options or ArtifactOptions(), target_of(module)
    check_output(path, options)
    path = target.file_in(path, options)
    target.check_file(path, options)
    if path.suffix == IR:
        write_ir(module, path)
        return [path]
    if kind_of(path, target).is_text:
        write_whole(path, target.text(module, path.suffix))
        return [path]
    program = make_program(module, symbols=Symbols(options.prefix), timed=timed)
    progress(_memory(program.signature))
    _check_memory(program.signature, options)
    return target.write(program, path, options, timed)


def _check_memory(found: Signature, options: ArtifactOptions) -> None:
    """Raise NncError for a model that needs more memory to run than there is."""
    if options.memory is not None and found.arena_bytes > options.memory:
        raise NncError(
            f"a run needs an arena of {found.arena_bytes:,} bytes ({found.live_bytes:,} in use at "
            f"one time), more than the {options.memory:,} of --memory"
        )


def _memory(found: Signature) -> str:
    """The memory that a run needs, in words, and how near that is to the lower bound."""
    arena, live = map(_size, (found.arena_bytes, found.live_bytes))
    needed = f"an arena of {arena} (at most {live} in use at one time)"
    if found.heap_bytes:
        fixed = f" beside {needed}" if found.live_bytes else ""
        needed = f"what the shapes of a call ask for{fixed}"
    made = f", {_size(found.prepared_bytes)} made of them" if found.prepared_bytes else ""
    return f"memory: {needed}, {_size(found.weights_bytes)} of weights{made}"


def _size(count: int) -> str:
    return f"{count / 1e6:,.2f} MB" if count >= 100_000 else f"{count:,} bytes"
