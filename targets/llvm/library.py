"""Object files and libraries, and the files beside them.

Beside an object file or library are a C header and a JSON description of inputs, outputs and
memory; beside a `.dll` its import library (`.lib`). A library holds its weights, or has them beside
it as one file to map (`.weights`), as an object file always has. Bindings are a folder with a
shared library, and a folder for each language.
"""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import dataclass
from hashlib import blake2b
from pathlib import Path
from typing import Any

from ...artifacts.bindings.language import files_of, language
from ...artifacts.header import c_header
from ...artifacts.interface import Interface
from ...artifacts.options import IR, ArtifactOptions
from ...ir.checked_files import Sums, mark, sums_of
from ...ir.diagnostics import NncError
from ...ir.files import Part, folder_beside, folders_of, write_together
from ...ir.timing import Timed, untimed
from ...runtime.abi import ALIGNMENT
from ...runtime.program import Program
from ...runtime.systems import SYSTEMS
from ..base import Target, all_targets
from .elf import data_object

RUNTIME = Path(__file__).parents[2] / "runtime"
"""The folder of the C sources that are linked into libraries."""
_INSIDE_LIMIT = 1 << 30
"""The most bytes of weights in a library: code can address 2 GiB."""


def check_bindings(target: Any, options: ArtifactOptions) -> None:
    """Raise NncError if bindings cannot call the target's libraries."""
    system = next((one for one in SYSTEMS if one.name == target.system), None)
    if options.bindings and system is None:
        raise NncError(f"bindings call libraries; '{target.name}' is for no operating system")
    for name in options.bindings:
        if target.system not in language(name).systems:
            assert system is not None
            raise NncError(
                f"there are no bindings for {language(name).title} under {system.title}, "
                f"which '{target.name}' is for"
            )


def check_system(target: Any, path: Path) -> None:
    """Raise NncError if the path's suffix is not that of a library for the target's system."""
    if path.suffix in target.files or path.suffix == IR:
        return
    rows = [[row, *row.variants] for row in all_targets()]
    row = next((row for row in rows if target.name in (one.name for one in row)), [])
    named = [one.name for one in row if path.suffix in one.files][:1]
    if not named:  # what one family alone is written as
        families = {one.family for row in rows for one in row if path.suffix in one.files}
        first = [row[0].name for row in rows if path.suffix in row[0].files]
        named = first if len(families) == 1 else []
    targets = " or ".join(f"'{name}'" for name in named)
    instead = f"; a {path.suffix} file is for target {targets}" if named else ""
    raise NncError(
        f"a shared library for '{target.name}' is a {target.library} file, "
        f"not '{path.name}'{instead}"
    )


def write_binary(
    target: Any,
    program: Program,
    path: Path,
    options: ArtifactOptions,
    timed: Timed = untimed,
    sources: Sequence[Path] = (),
) -> list[Path]:
    """Write an object file or library, and the files beside it; returns them, `path` first.

    `sources` is C text that is linked into a library beside the model's code and its context.
    """
    library = path.suffix != ".o"
    inside = library and options.weights != "beside"
    if inside and program.weights.size > _INSIDE_LIMIT:
        if options.weights == "inside":
            raise NncError(
                f"{program.weights.size / 1e6:,.0f} MB of weights are too many to put inside; "
                "leave them beside the library"
            )
        inside = False
    codes = [one.code for one in program.levels] or [program.code]
    stamp = blake2b(b"".join(codes), digest_size=8).digest()
    levels = tuple(one.target.name for one in program.levels)
    named = ",".join(levels) or target.name
    found = Interface.of(program.signature, options.prefix, named, inside=inside)
    header = c_header(
        program.signature, options.prefix, library=library, inside=inside, levels=levels
    )
    stem = path.with_name(options.prefix) if options.bindings else path
    beside: dict[Path, Sequence[Part] | Path] = {
        stem.with_suffix(".h"): (header,),
        stem.with_suffix(".json"): (json.dumps(found.as_json(), indent=2), "\n"),
    }
    sums = sums_of([program.weights])
    if not inside:
        beside[stem.with_suffix(".weights")] = (program.weights.data, stamp)
    for spoken in options.bindings:
        for name, text in files_of(spoken, found, path.name).items():
            beside[path.parent / spoken / name] = (text,)
    # Beside its place: it may be too large for the folder of temporary files.
    folders = folders_of(beside if options.bindings else ())
    with folders, folder_beside(path) as folder:
        made: Sequence[Part] | Path = (program.code,)
        if library:
            with timed("Link"):
                link = _Link(target, program, options.prefix, inside, stamp, sums, sources)
                made = link.into(folder, path.name)
            imports = made.with_suffix(".lib")
            if imports.exists():
                beside[path.with_suffix(".lib")] = imports
        with timed("Output"):
            write_together({path: made, **beside})
    if not inside:
        mark(stem.with_suffix(".weights"), sums)
    return [path, *beside]


@dataclass(frozen=True)
class _Link:
    """The parts of a library: the code, its context, and perhaps its weights."""

    target: Any
    program: Program
    prefix: str
    inside: bool
    stamp: bytes
    sums: Sums
    sources: Sequence[Path] = ()

    def into(self, folder: Path, name: str) -> Path:
        """Link the library `name` in the folder; returns its path."""
        tools, program = self.target.toolchain(), self.program
        codes = {level_of(one).name: one.code for one in program.levels} or {"model": program.code}
        sources = [RUNTIME / "context.c", *([RUNTIME / "levels.c"] if program.levels else [])]
        sources += self.sources
        objects = []
        for part, code in codes.items():
            objects.append(folder / f"{self.prefix}_{part}.o")
            objects[-1].write_bytes(code)
        for source in sources:
            objects.append(folder / f"{self.prefix}_{source.stem}.o")
            tools.compile(source, objects[-1], self._defines())
        if self.inside:
            objects.append(self._weights(folder, next(iter(codes.values()))))
        result = folder / name
        if result.suffix == ".a":
            tools.archive(objects, result)
        else:
            tools.shared_library(objects, result, self._exports())
        return result

    def _defines(self) -> dict[str, str]:
        """The preprocessor definitions that the context's C text needs."""
        found = self.program.signature
        defines = {
            "P": self.prefix,
            "WEIGHTS_BYTES": str(found.weights_bytes),
            "ARENA_BYTES": str(found.arena_bytes),
            "STAMP": f"0x{int.from_bytes(self.stamp, 'little'):016x}u",
            "SUM": f"0x{self.sums.plain:016x}u",
            "WEIGHTED_SUM": f"0x{self.sums.weighted:016x}u",
            "PARALLEL": str(int(self.program.parallel)),
            "INSIDE": str(int(self.inside)),
            "PREPARED_BYTES": str(found.prepared_bytes),
            "PREPARE_ARENA_BYTES": str(found.prepare_arena_bytes),
            "HEAP_BYTES": str(found.heap_bytes),
            "FAILURES": str(int(bool(found.failures))),
            "DEVICE": str(int(bool(self.sources))),
        }
        if self.program.levels:
            defines["LEVELS"] = _rows(self.program)
        return defines

    def _weights(self, folder: Path, code: bytes) -> Path:
        """An object file with the weights, for the processor of the code's object file."""
        made = folder / f"{self.prefix}_weights.o"
        # An empty section would have no address.
        weights = self.program.weights.data if self.program.signature.weights_bytes else b"\0"
        symbol = f"{self.prefix}_weights"
        if self.target.object_format == "elf":
            frame = data_object(symbol, len(weights), ALIGNMENT, code)
            with made.open("wb") as file:
                file.writelines((frame.head, weights, frame.tail))
        else:
            data = folder / f"{symbol}.bin"
            data.write_bytes(weights)
            self.target.toolchain().data_object(symbol, data, ALIGNMENT, made)
        return made

    def _exports(self) -> list[str]:
        """The names of the library's exported functions."""
        program, names = self.program, ["create", "call", "destroy", "free", "message", "run"]
        if self.inside:
            names.append("check")
        if program.parallel:
            names += ("pool_create", "pool_destroy")
        if program.signature.prepared_bytes:
            names.append("prepare")
        if program.signature.heap_bytes:
            names += ("release", "reuse", "give_back", "trim")
        if program.signature.failures:
            names.append("failure")
        if program.levels:
            names.append("target")
        return [f"{self.prefix}_{name}" for name in names]


def level_of(program: Program) -> Target:
    """The target of one of the library's levels."""
    assert isinstance(program.target, Target)
    return program.target


def _rows(program: Program) -> str:
    """The levels' initializers for `levels.c`."""
    rows = []
    for one in program.levels:
        made = int(one.signature.prepared_bytes > 0)
        level = level_of(one)
        values = (level.word, f'"{level.name}"', level.level, made)
        found = one.signature
        flags = one.parallel, bool(found.failures), bool(found.heap_bytes)
        rows.append(f"ROW({', '.join(map(str, (*values, *map(int, flags))))})")
    return " ".join(rows)
