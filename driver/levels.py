"""A library with a model compiled for several levels of a processor family."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from pathlib import Path

from ..artifacts.options import ArtifactOptions, FileKind
from ..dialects.marks import STORED, WEIGHTS
from ..ir.core import Operation
from ..ir.diagnostics import NncError
from ..ir.timing import Timed, untimed
from ..runtime.program import Program
from ..targets.attribute import target_of
from ..targets.base import HOST, Symbols, Target, target
from .artifacts import file_kind
from .program import make_program


def check_levels(names: Sequence[str], path: Path, options: ArtifactOptions) -> list[Target]:
    """The targets of these names, for one library, the lowest level first.

    Raises NncError if one library cannot hold them.
    """
    found = [target(name) for name in names]
    path = found[0].file_in(path, options)
    if not (file_kind(path.suffix) or FileKind()).holds_weights:
        raise NncError(f"several targets go into a library, not into '{path.name}'")
    for i, one in enumerate(found):
        if one in found[:i]:
            raise NncError(f"target '{one.name}' is given twice")
        if names[i] == HOST or not one.joins(one):
            raise NncError(
                f"'{names[i]}' is not a level of a family of processors, as x86-64-v3 is"
            )
        if not one.joins(found[0]):
            raise NncError(
                f"one library holds levels of one family, for one system: not '{found[0].name}' "
                f"and '{one.name}'"
            )
        one.check_file(path, options)
    return sorted(found, key=lambda one: one.level)


def make_levels(
    module: Operation,
    targets: Sequence[Target],
    compile: Callable[[Operation], None],
    options: ArtifactOptions,
    timed: Timed = untimed,
) -> Program:
    """The program of a module of any stage for several levels, the lowest first.

    `compile` takes a module down to the llvm dialect. Weights used by several levels are stored
    once. Raises NncError.
    """
    programs: list[Program] = []
    stored = None
    for one in targets:
        own = module.clone()
        target_of(own, one.name)
        if stored is not None:
            own.attributes[STORED] = stored
        compile(own)
        symbols = Symbols(f"{options.prefix}_{one.word}", hidden=True)
        last = one is targets[-1]
        programs.append(make_program(own, symbols=symbols, timed=timed, with_weights=last))
        stored = own.attributes.get(WEIGHTS, stored)
    signatures = [one.signature for one in programs]
    signature = replace(
        signatures[-1],
        arena_bytes=max(one.arena_bytes for one in signatures),
        heap_bytes=max(one.heap_bytes for one in signatures),
        live_bytes=max(one.live_bytes for one in signatures),
        prepared_bytes=max(one.prepared_bytes for one in signatures),
        prepare_arena_bytes=max(one.prepare_arena_bytes for one in signatures),
    )
    parallel = any(one.parallel for one in programs)
    return replace(
        programs[-1], signature=signature, parallel=parallel, code=b"", levels=tuple(programs)
    )
