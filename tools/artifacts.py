"""What `nnc compile` writes: a module of the llvm dialect as a file for the world outside.

By suffix: `.mlir` the llvm dialect, `.ll` LLVM IR, `.s` assembler text, `.o` an object file,
`.so` a shared library. Beside `.o` and `.so` go a C header, the weights as one file to map
(`.weights`), and a JSON description of inputs, outputs and memory.
"""

from __future__ import annotations

import json
import shutil
import subprocess
import tempfile
from collections.abc import Callable
from pathlib import Path
from typing import Any

from ..ir.core import Operation
from ..ir.diagnostics import NncError
from ..ir.types import TensorType
from ..ir.weights_file import write_module
from ..runtime.abi import HEADER
from ..runtime.program import packed_weights, signature
from ..targets.llvm_ir import has_scalar_loops, llvm_ir
from ..targets.native import NativeTarget, emit_assembly, emit_object
from .command import write_whole
from .driver import processor


def write_artifact(module: Operation, path: Path, machine: str = "host") -> list[Path]:
    """Write `path` and what belongs to it; returns the files. Raises NncError."""
    cpu, features = processor(machine)
    target = NativeTarget(cpu, features)
    if path.suffix == ".mlir":
        write_module(module, path)
        return [path]
    texts: dict[str, Callable[[], str]] = {
        ".ll": lambda: llvm_ir(module),
        ".s": lambda: emit_assembly(llvm_ir(module), target),
    }
    if path.suffix in texts:
        write_whole(path, texts[path.suffix]())
        return [path]
    if path.suffix not in (".o", ".so"):
        found = f"'{path.suffix}'" if path.suffix else "none"
        raise NncError(f"the output's suffix is .mlir, .ll, .s, .o or .so; found {found}")
    code = emit_object(llvm_ir(module), target, has_scalar_loops(module))
    files = {
        path: code if path.suffix == ".o" else _link(code),
        path.with_suffix(".h"): HEADER.encode(),
        path.with_suffix(".weights"): packed_weights(module).tobytes(),
        path.with_suffix(".json"): (json.dumps(_description(module), indent=2) + "\n").encode(),
    }
    for file, data in files.items():
        write_whole(file, data)
    return list(files)


def _link(code: bytes) -> bytes:
    """A shared library of an object file, made by the system's C compiler driver."""
    linker = shutil.which("cc") or shutil.which("gcc") or shutil.which("clang")
    if linker is None:
        raise NncError("a .so needs a linker: install cc (gcc or clang), or write a .o instead")
    with tempfile.TemporaryDirectory() as folder:
        source, library = Path(folder) / "model.o", Path(folder) / "model.so"
        source.write_bytes(code)
        command = [linker, "-shared", "-o", str(library), str(source), "-lm", "-lpthread"]
        done = subprocess.run(command, capture_output=True, text=True, check=False)
        if done.returncode:
            raise NncError(f"{linker} cannot link the library: {done.stderr.strip()}")
        return library.read_bytes()


def _description(module: Operation) -> dict[str, Any]:
    """Names and types of inputs and outputs, and how many bytes of memory a run needs."""
    found = signature(module)

    def tensors(names: list[str], types: list[TensorType]) -> list[dict[str, Any]]:
        return [
            {"name": name, "type": str(type.element_type), "shape": list(type.shape)}
            for name, type in zip(names, types, strict=True)
        ]

    return {
        "inputs": tensors(found.input_names, found.input_types),
        "outputs": tensors(found.output_names, found.output_types),
        "arena_bytes": found.arena_bytes,
        "weights_bytes": found.weights_bytes,
        "alignment": 64,
    }
