"""What `nnc compile` writes: a module of the llvm dialect as a file for the world outside.

By suffix: `.mlir` the llvm dialect, `.ll` LLVM IR, `.s` assembler text, `.o` an object file,
`.so` a shared library, `.a` a static one. Beside the last three go a C header and a JSON
description of inputs, outputs and memory. A library holds its weights, or has them beside it
as one file to map (`.weights`), as an object file always has.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Sequence
from hashlib import blake2b
from pathlib import Path
from typing import Any

from ..ir.core import Operation
from ..ir.diagnostics import NncError
from ..ir.files import Part, folder_beside, write_together, write_whole
from ..ir.timing import Timed, untimed
from ..ir.types import TensorType
from ..ir.weights_file import write_module
from ..runtime.abi import ALIGNMENT, PARALLEL_FOR, PREPARE, RUN
from ..runtime.program import Program, Signature
from ..runtime.threads import POOL_SYMBOLS
from ..targets.attribute import target_of
from ..targets.elf import data_object
from ..targets.llvm.ir import has_scalar_loops, llvm_ir
from .artifact_options import LIBRARIES, ArtifactOptions, check_output
from .header import c_header
from .program import make_program

CONTEXT_SOURCE = Path(__file__).parent.parent / "runtime" / "context.c"
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
    if path.suffix == ".mlir":
        write_module(module, path)
        return [path]
    texts: dict[str, Callable[[], str]] = {
        ".ll": lambda: llvm_ir(module),
        ".s": lambda: target_of(module).emit_assembly(llvm_ir(module), has_scalar_loops(module)),
    }
    if path.suffix in texts:
        write_whole(path, texts[path.suffix]())
        return [path]
    program = make_program(module, rename=_renaming(options.prefix), timed=timed)
    progress(_memory(program.signature))
    return write_binary(program, path, options, timed)


def check_linker(module: Operation, path: Path) -> None:
    """Refuse a library for a target that nothing here links for, before any work.

    Raises NncError.
    """
    if path.suffix in LIBRARIES:
        target_of(module).toolchain()


def _renaming(prefix: str) -> Callable[[str], str]:
    """LLVM IR text with the exported functions under another prefix than `nnc`."""
    exported = (RUN, PREPARE, PARALLEL_FOR, *POOL_SYMBOLS)
    names = "|".join(name.removeprefix("nnc") for name in exported)
    pattern = re.compile(rf'("(?:[^"\\]|\\.)*")|@nnc({names})\b')
    return lambda text: pattern.sub(lambda m: m[1] or f"@{prefix}{m[2]}", text)


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
    stamp = blake2b(program.code, digest_size=8).digest()
    description = _description(program, options.prefix, inside)
    header = c_header(program.signature, options.prefix, library=library, inside=inside)
    beside: dict[Path, Sequence[Part]] = {
        path.with_suffix(".h"): (header,),
        path.with_suffix(".json"): (json.dumps(description, indent=2), "\n"),
    }
    if not inside:
        beside[path.with_suffix(".weights")] = (program.weights.data, stamp)
    # Beside its place: it may be too large for the folder of temporary files.
    with folder_beside(path) as folder:
        made: Sequence[Part] | Path = (program.code,)
        if library:
            with timed("Link"):
                made = _linked(program, folder, path.suffix, options.prefix, inside, stamp)
        with timed("Output"):
            write_together({path: made, **beside})
    return [path, *beside]


def _linked(
    program: Program, folder: Path, suffix: str, prefix: str, inside: bool, stamp: bytes
) -> Path:
    """A library of the code, its context and perhaps its weights, in the folder."""
    tools = program.target.toolchain()
    found = program.signature
    defines = {
        "P": prefix,
        "WEIGHTS_BYTES": str(found.weights_bytes),
        "ARENA_BYTES": str(found.arena_bytes),
        "STAMP": f"0x{int.from_bytes(stamp, 'little'):016x}u",
        "PARALLEL": str(int(program.parallel)),
        "INSIDE": str(int(inside)),
        "PREPARED_BYTES": str(found.prepared_bytes),
        "PREPARE_ARENA_BYTES": str(found.prepare_arena_bytes),
    }
    objects = [folder / f"{prefix}_{name}.o" for name in ("model", "context", "weights")]
    objects[0].write_bytes(program.code)
    tools.compile(CONTEXT_SOURCE, objects[1], defines)
    if inside:
        # An empty section would have no address.
        weights = program.weights.data if found.weights_bytes else b"\0"
        frame = data_object(f"{prefix}_weights", len(weights), ALIGNMENT, program.code)
        with objects[2].open("wb") as file:
            file.writelines((frame.head, weights, frame.tail))
    else:
        objects.pop()
    result = folder / f"library{suffix}"
    (tools.archive if suffix == ".a" else tools.shared_library)(objects, result)
    return result


def _memory(found: Signature) -> str:
    """What a run needs, and how near that is to the least that it could."""
    arena, live = found.arena_bytes / 1e6, found.live_bytes / 1e6
    made = f", {found.prepared_bytes / 1e6:,.2f} MB made of them" if found.prepared_bytes else ""
    return (
        f"memory: an arena of {arena:,.2f} MB (at most {live:,.2f} MB in use at one time), "
        f"{found.weights_bytes / 1e6:,.2f} MB of weights{made}"
    )


def _description(program: Program, prefix: str, inside: bool) -> dict[str, Any]:
    """Target, names and types of inputs and outputs, and the bytes of memory that a run needs."""

    def tensors(names: list[str], types: list[TensorType]) -> list[dict[str, Any]]:
        return [
            {"name": name, "type": str(type.element_type), "shape": list(type.shape)}
            for name, type in zip(names, types, strict=True)
        ]

    found = program.signature
    return {
        "prefix": prefix,
        "target": program.target.name,
        "inputs": tensors(found.input_names, found.input_types),
        "outputs": tensors(found.output_names, found.output_types),
        "arena_bytes": found.arena_bytes,
        "live_bytes": found.live_bytes,
        "weights_bytes": found.weights_bytes,
        "prepared_bytes": found.prepared_bytes,
        "prepare_arena_bytes": found.prepare_arena_bytes,
        "weights": "inside" if inside else "beside",
        "alignment": ALIGNMENT,
    }
