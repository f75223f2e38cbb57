"""What `nnc compile` writes: a module of the llvm dialect as a file for the world outside.

By suffix: `.mlir` the llvm dialect, `.ll` LLVM IR, `.s` assembler text, `.o` an object file,
`.so`, `.dll` or `.dylib` the shared library of the target's system, `.a` a static one. Beside
an object file or library go a C header and a JSON description of inputs, outputs and memory, beside
a `.dll` its import library (`.lib`). A library holds its weights, or has them beside it as one file
to map (`.weights`), as an object file always has. Bindings are a folder with a shared library, and
a folder for each language.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Sequence
from hashlib import blake2b
from pathlib import Path

from ..ir.checked_files import Sums, mark, sums_of
from ..ir.core import Operation
from ..ir.diagnostics import NncError
from ..ir.files import Part, folder_beside, folders_of, write_together, write_whole
from ..ir.timing import Timed, untimed
from ..ir.weights_file import write_module as write_ir
from ..runtime.abi import ALIGNMENT, FAILURE, PARALLEL_FOR, PREPARE, RELEASE, REUSE, RUN
from ..runtime.program import Program, Signature
from ..runtime.threads import POOL_SYMBOLS
from ..targets.attribute import target_of
from ..targets.base import Target, all_targets
from ..targets.elf import data_object
from ..targets.llvm.ir import has_scalar_loops, llvm_ir
from .artifact_options import (
    LIBRARIES,
    SHARED,
    WASM,
    ArtifactOptions,
    check_bindings,
    check_output,
)
from .bindings.language import files_of
from .header import c_header
from .interface import Interface
from .program import make_program
from .wasm import write_module

RUNTIME = Path(__file__).parent.parent / "runtime"
"""Where the C text is that libraries get beside the model's code."""
_INSIDE_LIMIT = 1 << 30
"""Bytes of weights that a library may hold: code reaches no further than 2 GiB."""


def write_artifact(
    module: Operation,
    path: Path,
    options: ArtifactOptions | None = None,
    timed: Timed = untimed,
    progress: Callable[[str], None] = lambda message: None,
) -> list[Path]:
    """Write `path` and what belongs to it; returns the files. Raises NncError."""
    options = options or ArtifactOptions()
    check_output(path, options)
    check_bindings(target_of(module), options)
    path = options.file_in(path, target_of(module))
    if path.suffix == ".mlir":
        write_ir(module, path)
        return [path]
    texts: dict[str, Callable[[], str]] = {
        ".ll": lambda: llvm_ir(module),
        ".s": lambda: target_of(module).emit_assembly(llvm_ir(module), has_scalar_loops(module)),
    }
    if path.suffix in texts:
        write_whole(path, texts[path.suffix]())
        return [path]
    program = make_program(module, rename=renaming(options.prefix), timed=timed)
    progress(_memory(program.signature))
    if path.suffix == WASM:
        return write_module(program, path, options, timed)
    return write_binary(program, path, options, timed)


def check_linker(module: Operation, path: Path) -> None:
    """Refuse a library for a target that nothing here links for, before any work.

    Raises NncError.
    """
    target = target_of(module)
    check_system(target, path)
    if path.suffix in LIBRARIES:
        target.toolchain()


def check_system(target: Target, path: Path) -> None:
    """Refuse a shared library of another system than the target's. Raises NncError."""
    alone = target.library == WASM and path.suffix == ".a"
    if not alone and (path.suffix not in (*SHARED, WASM) or path.suffix == target.library):
        return
    rows = ((row, *row.variants) for row in all_targets())
    row = next((row for row in rows if target.name in (one.name for one in row)), ())
    named = [one.name for one in row if one.library == path.suffix][:1]
    if path.suffix == WASM:
        named = [row.name for row in all_targets() if row.library == WASM]
    targets = " or ".join(f"'{name}'" for name in named)
    instead = f"; a {path.suffix} file is for target {targets}" if named else ""
    raise NncError(
        f"a shared library for '{target.name}' is a {target.library} file, "
        f"not '{path.name}'{instead}"
    )


def renaming(prefix: str, hidden: bool = False) -> Callable[[str], str]:
    """LLVM IR text with the exported functions under another prefix than `nnc`.

    `hidden` ones are seen inside of the library alone.
    """
    exported = (RUN, RELEASE, REUSE, FAILURE, PREPARE, PARALLEL_FOR, *POOL_SYMBOLS)
    names = "|".join(name.removeprefix("nnc") for name in exported)
    pattern = re.compile(rf'("(?:[^"\\]|\\.)*")|@nnc({names})\b')
    defined = re.compile(rf"^define (?=[^@\n]*@nnc(?:{names})\()", re.MULTILINE)

    def rename(text: str) -> str:
        text = defined.sub("define hidden ", text) if hidden else text
        return pattern.sub(lambda m: m[1] or f"@{prefix}{m[2]}", text)

    return rename


def write_binary(
    program: Program, path: Path, options: ArtifactOptions, timed: Timed = untimed
) -> list[Path]:
    """Write an object file or library, and the files beside it; returns them, `path` first."""
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
    named = ",".join(levels) or program.target.name
    found = Interface.of(program.signature, options.prefix, named, inside=inside)
    header = c_header(
        program.signature, options.prefix, library=library, inside=inside, levels=levels
    )
    stem = path.with_name(options.prefix) if options.bindings else path
    beside: dict[Path, Sequence[Part] | Path] = {
        stem.with_suffix(".h"): (header,),
        stem.with_suffix(".json"): (json.dumps(found.as_json(), indent=2), "\n"),
    }
    sums = Sums(0, 0) if inside else sums_of([program.weights])
    if not inside:
        beside[stem.with_suffix(".weights")] = (program.weights.data, stamp)
    for language in options.bindings:
        for name, text in files_of(language, found, path.name).items():
            beside[path.parent / language / name] = (text,)
    # Beside its place: it may be too large for the folder of temporary files.
    folders = folders_of(beside if options.bindings else ())
    with folders, folder_beside(path) as folder:
        made: Sequence[Part] | Path = (program.code,)
        if library:
            with timed("Link"):
                made = _linked(program, folder, path.name, options.prefix, inside, stamp, sums)
            imports = made.with_suffix(".lib")
            if imports.exists():
                beside[path.with_suffix(".lib")] = imports
        with timed("Output"):
            write_together({path: made, **beside})
    if not inside:
        mark(stem.with_suffix(".weights"), sums)
    return [path, *beside]


def _linked(
    program: Program, folder: Path, name: str, prefix: str, inside: bool, stamp: bytes, sums: Sums
) -> Path:
    """A library of a name of the code, its context and perhaps its weights, in the folder."""
    tools = program.target.toolchain()
    found = program.signature
    defines = {
        "P": prefix,
        "WEIGHTS_BYTES": str(found.weights_bytes),
        "ARENA_BYTES": str(found.arena_bytes),
        "STAMP": f"0x{int.from_bytes(stamp, 'little'):016x}u",
        "SUM": f"0x{sums.plain:016x}u",
        "WEIGHTED_SUM": f"0x{sums.weighted:016x}u",
        "PARALLEL": str(int(program.parallel)),
        "INSIDE": str(int(inside)),
        "PREPARED_BYTES": str(found.prepared_bytes),
        "PREPARE_ARENA_BYTES": str(found.prepare_arena_bytes),
        "HEAP_BYTES": str(found.heap_bytes),
        "FAILURES": str(int(bool(found.failures))),
    }
    if program.levels:
        defines["LEVELS"] = _rows(program)
    codes = {one.target.name: one.code for one in program.levels} or {"model": program.code}
    sources = [RUNTIME / "context.c", *([RUNTIME / "levels.c"] if program.levels else [])]
    objects = []
    for part, code in codes.items():
        objects.append(folder / f"{prefix}_{part}.o")
        objects[-1].write_bytes(code)
    for source in sources:
        objects.append(folder / f"{prefix}_{source.stem}.o")
        tools.compile(source, objects[-1], defines)
    if inside:
        objects.append(folder / f"{prefix}_weights.o")
        # An empty section would have no address.
        weights = program.weights.data if found.weights_bytes else b"\0"
        symbol = f"{prefix}_weights"
        if program.target.object_format == "elf":
            frame = data_object(symbol, len(weights), ALIGNMENT, next(iter(codes.values())))
            with objects[-1].open("wb") as file:
                file.writelines((frame.head, weights, frame.tail))
        else:
            data = folder / f"{symbol}.bin"
            data.write_bytes(weights)
            tools.data_object(symbol, data, ALIGNMENT, objects[-1])
    result = folder / name
    if result.suffix == ".a":
        tools.archive(objects, result)
    else:
        tools.shared_library(objects, result, _exports(program, prefix))
    return result


def level_prefix(prefix: str, target: Target) -> str:
    """What the names of one level's functions start with."""
    return f"{prefix}_{level_word(target)}"


def level_word(target: Target) -> str:
    """The name of a target as a part of names in C."""
    return re.sub(r"\W", "_", target.name)


def _rows(program: Program) -> str:
    """The levels, as `levels.c` wants them."""
    rows = []
    for one in program.levels:
        made = int(one.signature.prepared_bytes > 0)
        values = (level_word(one.target), f'"{one.target.name}"', one.target.level, made)
        found = one.signature
        flags = one.parallel, bool(found.failures), bool(found.heap_bytes)
        rows.append(f"ROW({', '.join(map(str, (*values, *map(int, flags))))})")
    return " ".join(rows)


def _exports(program: Program, prefix: str) -> list[str]:
    """The functions of a library."""
    names = ["create", "call", "destroy", "free", "message", "run"]
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
    return [f"{prefix}_{name}" for name in names]


def _memory(found: Signature) -> str:
    """What a run needs, and how near that is to the least that it could."""
    arena, live = map(_size, (found.arena_bytes, found.live_bytes))
    needed = f"an arena of {arena} (at most {live} in use at one time)"
    if found.heap_bytes:
        fixed = f" beside {needed}" if found.live_bytes else ""
        needed = f"what the shapes of a call ask for{fixed}"
    made = f", {_size(found.prepared_bytes)} made of them" if found.prepared_bytes else ""
    return f"memory: {needed}, {_size(found.weights_bytes)} of weights{made}"


def _size(count: int) -> str:
    return f"{count / 1e6:,.2f} MB" if count >= 100_000 else f"{count:,} bytes"
