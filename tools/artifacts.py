"""What `nnc compile` writes: a module of the llvm dialect as a file for the world outside.

By suffix: `.mlir` the llvm dialect, `.ll` LLVM IR, `.s` assembler text, `.o` an object file,
`.so` a shared library, `.a` a static one. Beside the last three go a C header and a JSON
description of inputs, outputs and memory. A library holds its weights, or has them beside it
as one file to map (`.weights`), as an object file always has.
"""

from __future__ import annotations

import json
import re
import tempfile
from collections.abc import Callable
from dataclasses import dataclass
from hashlib import blake2b
from pathlib import Path
from typing import Any

from ..ir.core import Operation
from ..ir.diagnostics import NncError
from ..ir.timing import Timed, untimed
from ..ir.types import TensorType
from ..ir.weights_file import write_module
from ..runtime.abi import ENTRY
from ..runtime.header import c_header
from ..runtime.program import Program, Signature, make_program
from ..runtime.threadpool import PARALLEL_FOR
from ..runtime.threads import POOL_SYMBOLS
from ..targets.linker import find_toolchain
from ..targets.llvm_ir import has_scalar_loops, llvm_ir
from ..targets.native import NativeTarget, emit_assembly
from .command import write_whole
from .driver import processor

CONTEXT_SOURCE = Path(__file__).parent.parent / "runtime" / "context.c"
SUFFIXES = (".mlir", ".ll", ".s", ".o", ".so", ".a")
_INSIDE_LIMIT = 1 << 30
"""Bytes of weights that a library may hold: code reaches no further than 2 GiB."""


@dataclass(frozen=True)
class ArtifactOptions:
    """How an artifact is made; see the options of `nnc compile`."""

    machine: str = "host"
    weights: str | None = None
    prefix: str = "nnc"
    static: bool = False


def write_artifact(
    module: Operation,
    path: Path,
    options: ArtifactOptions | None = None,
    timed: Timed = untimed,
) -> list[Path]:
    """Write `path` and what belongs to it; returns the files. Raises NncError."""
    options = options or ArtifactOptions()
    check_output(path, options)
    target = NativeTarget(*processor(options.machine))
    if path.suffix == ".mlir":
        write_module(module, path)
        return [path]
    texts: dict[str, Callable[[], str]] = {
        ".ll": lambda: llvm_ir(module),
        ".s": lambda: emit_assembly(llvm_ir(module), target, has_scalar_loops(module)),
    }
    if path.suffix in texts:
        write_whole(path, texts[path.suffix]())
        return [path]
    program = make_program(module, target, rename=_renaming(options.prefix), timed=timed)
    with timed("Link"):
        files = _binary(program, path, options)
    with timed("Output"):
        for file, data in files.items():
            write_whole(file, data)
    return list(files)


def check_output(path: Path, options: ArtifactOptions) -> None:
    """Refuse what cannot be written, before any work. Raises NncError."""
    if path.suffix not in SUFFIXES:
        found = f"'{path.suffix}'" if path.suffix else "none"
        raise NncError(f"the output's suffix is .mlir, .ll, .s, .o, .so or .a; found {found}")
    if options.static and path.suffix != ".a":
        raise NncError(f"--static writes a .a file, not '{path.name}'")
    if options.weights == "inside" and path.suffix not in (".so", ".a"):
        raise NncError(f"only a .so or .a file holds weights, not '{path.name}'")
    if not re.fullmatch(r"[A-Za-z][A-Za-z0-9_]*", options.prefix):
        raise NncError(f"--prefix is the start of C names, such as resnet, not '{options.prefix}'")


def _renaming(prefix: str) -> Callable[[str], str]:
    """LLVM IR text with the exported functions under another prefix than `nnc`."""
    names = "|".join(name.removeprefix("nnc") for name in (ENTRY, PARALLEL_FOR, *POOL_SYMBOLS))
    pattern = re.compile(rf'("(?:[^"\\]|\\.)*")|@nnc({names})\b')
    return lambda text: pattern.sub(lambda m: m[1] or f"@{prefix}{m[2]}", text)


def _binary(program: Program, path: Path, options: ArtifactOptions) -> dict[Path, bytes]:
    """The contents of an object file or library, and of the files beside it."""
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
    description = _description(program.signature, options.prefix, inside)
    header = c_header(program.signature, options.prefix, library=library, inside=inside)
    files = {
        path: _link(program, path.suffix, options.prefix, inside, stamp)
        if library
        else program.code,
        path.with_suffix(".h"): header.encode(),
        path.with_suffix(".json"): (json.dumps(description, indent=2) + "\n").encode(),
    }
    if not inside:
        files[path.with_suffix(".weights")] = program.weights.tobytes() + stamp
    return files


def _link(program: Program, suffix: str, prefix: str, inside: bool, stamp: bytes) -> bytes:
    """A library of the code, its context and perhaps its weights."""
    tools = find_toolchain()
    found = program.signature
    defines = {
        "P": prefix,
        "WEIGHTS_BYTES": str(found.weights_bytes),
        "ARENA_BYTES": str(found.arena_bytes),
        "STAMP": f"0x{int.from_bytes(stamp, 'little'):016x}u",
        "PARALLEL": str(int(program.parallel)),
        "INSIDE": str(int(inside)),
    }
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        code = folder / f"{prefix}_model.o"
        code.write_bytes(program.code)
        objects = [code, folder / f"{prefix}_context.o"]
        tools.compile(CONTEXT_SOURCE, objects[1], defines)
        if inside:
            (folder / "weights").write_bytes(program.weights.data)
            (folder / "weights.s").write_text(_weights_text(prefix, folder / "weights"))
            objects.append(folder / f"{prefix}_weights.o")
            tools.compile(folder / "weights.s", objects[2], {})
        result = folder / f"library{suffix}"
        (tools.archive if suffix == ".a" else tools.shared_library)(objects, result)
        return result.read_bytes()


def _weights_text(prefix: str, file: Path) -> str:
    """Assembler text of a read-only section that holds a file."""
    return f"""\
        .section .rodata.{prefix}_weights, "a", @progbits
        .globl {prefix}_weights
        .hidden {prefix}_weights
        .balign 64
{prefix}_weights:
        .incbin "{file}"
        .byte 0
        .section .note.GNU-stack, "", @progbits
"""


def _description(found: Signature, prefix: str, inside: bool) -> dict[str, Any]:
    """Names and types of inputs and outputs, and how many bytes of memory a run needs."""

    def tensors(names: list[str], types: list[TensorType]) -> list[dict[str, Any]]:
        return [
            {"name": name, "type": str(type.element_type), "shape": list(type.shape)}
            for name, type in zip(names, types, strict=True)
        ]

    return {
        "prefix": prefix,
        "inputs": tensors(found.input_names, found.input_types),
        "outputs": tensors(found.output_names, found.output_types),
        "arena_bytes": found.arena_bytes,
        "weights_bytes": found.weights_bytes,
        "weights": "inside" if inside else "beside",
        "alignment": 64,
    }
