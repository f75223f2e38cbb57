"""A WebAssembly module, and the JavaScript that loads it.

The weights are the last part of the `.wasm` file, in a section that engines skip: they go from the
network to where the code reads them, without a copy of the whole file.

    code | section "nnc": weights, digest of the code
"""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import dataclass
from hashlib import blake2b
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import numpy as np

from ...artifacts.bindings.language import ModelView, TensorView, language, rendered
from ...artifacts.interface import Interface
from ...artifacts.options import ArtifactOptions
from ...dialects import llvm
from ...ir.checked_files import sums_of
from ...ir.core import Operation
from ...ir.diagnostics import NncError
from ...ir.files import Part, write_together
from ...ir.timing import Timed, untimed
from ...runtime.abi import FIRST_FAILURE, PARALLEL_FOR, POOL_CREATE, PREPARE, RUN
from ...runtime.program import Program
from ..emulator import Runner
from ..llvm.ir import llvm_ir
from ..llvm.target import LlvmTarget
from .engine import AT_ONCE
from .in_engine import InEngine
from .linker import MEMORY, PAGE, STACK, WasmToolchain, find_wasm_toolchain
from .replacing import EngineModel

ROOM = Path(__file__).parent
RUNTIME_SOURCE, LOADER_SOURCE = ROOM / "wasm.c", ROOM / "wasm.mjs"
MATHEMATICS_SOURCE, SHARED_SOURCE = ROOM / "mathematics.mjs", ROOM / "shared.mjs"
"""Code that all loaders share."""
RUNNER_SOURCE = ROOM / "wasm_runner.mjs"
"""The program that runs in an engine and answers this process, like `runtime/runner.c`."""
_CALLED = (
    "fmaxf",
    "fminf",
    "fmax",
    "fmin",
    "__extendhfsf2",
    "__truncsfhf2",
    "aligned_alloc",
    "free",
)
"""The functions of `wasm.c` that kernels may call."""
SECTION = "nnc"
REPLACING_SOURCE = ROOM / "wasm_replacing.mjs"
_PLACEHOLDER = 'const MODEL = "MODEL";'
_PROBES = {"simd128": "128-bit vectors (SIMD)", "relaxed-simd": "relaxed vectors (relaxed SIMD)"}
"""The LLVM features that an engine may lack, with their names in the loader's messages."""


def in_engine(target: LlvmTarget, engine: Runner, program: Program, threads: int) -> InEngine:
    """The program as a callable that runs in an engine outside of browsers. Raises NncError."""
    folder = TemporaryDirectory(prefix="nnc-")
    path = Path(folder.name) / "model.wasm"
    loader = write_module(target, program, path, ArtifactOptions())[1]
    start, *flags = engine.command()
    run = [*flags, str(RUNNER_SOURCE), str(loader), str(threads)]
    return InEngine(program, [start, *run], [start, *AT_ONCE, *run], folder, threads)


def replacing_in_engine(
    target: LlvmTarget, engine: Runner, program: Program, count: int
) -> EngineModel:
    """The program as a callable in an engine, with `count` replaceable kernels. Raises NncError."""
    folder = TemporaryDirectory(prefix="nnc-")
    path = Path(folder.name) / "model.wasm"
    options, replaceable = ArtifactOptions(), Replaceable(count)
    loader = write_module(target, program, path, options, replaceable=replaceable)[1]
    start, *flags = engine.command()
    command = [start, *AT_ONCE, *flags, str(REPLACING_SOURCE), str(loader), str(count)]
    return EngineModel(target, find_wasm_toolchain(), program, command, folder)


def write_module(
    target: LlvmTarget,
    program: Program,
    path: Path,
    options: ArtifactOptions,
    timed: Timed = untimed,
    replaceable: Replaceable | None = None,
) -> list[Path]:
    """Write a `.wasm` file, its `.mjs` loader and the loader's types; returns them, `path` first.

    With `replaceable` the kernels and their table are exported. TypeScript takes `.d.mts` for an
    import with the suffix `.mjs`, `.d.ts` for one without a suffix. Raises NncError.
    """
    inside = options.weights != "beside"
    spoken = language("wasm")
    found = Interface.of(program.signature, path.stem, target.name, inside=inside)
    view = ModelView(found, spoken, path.name)
    pages = memory_pages(program, path, view)
    stamp = blake2b(program.code, digest_size=8).digest()
    exports = [RUN]
    exports += [POOL_CREATE] if program.parallel else []
    exports += [PREPARE] if program.signature.prepared_bytes else []
    table = replaceable is not None
    exports += replaceable.exports(program.parallel) if replaceable is not None else []
    with timed("Link"):
        code = linked(find_wasm_toolchain(), program.code, exports, pages, program.parallel, table)
    weights = program.weights.data
    stored = (weights, stamp) if inside else (stamp,)
    head = _section_head(sum(map(len, stored)))
    layout = _Layout(len(code), len(code) + len(head), pages, stamp.hex(), inside)
    types = rendered("model.d.ts", view, spoken)
    files: dict[Path, Sequence[Part]] = {
        path: (code, head, *stored),
        path.with_suffix(".mjs"): (_loader(target, program, path, view, layout),),
        **dict.fromkeys(map(path.with_suffix, (".d.ts", ".d.mts")), (types,)),
    }
    if not inside:
        files[path.with_suffix(".weights")] = (weights, stamp)
    with timed("Output"):
        write_together(files)
    return list(files)


@dataclass(frozen=True)
class Replaceable:
    """A program that calls `kernels` kernels through a table that is filled from outside."""

    kernels: int

    def exports(self, parallel: bool) -> list[str]:
        """The exports that the filler of the table needs, and the functions candidates call."""
        names = [f"nnc_kernel_{i}" for i in range(self.kernels)]
        return ["nnc_kernels", *names, *_CALLED, *([PARALLEL_FOR] if parallel else [])]


@dataclass(frozen=True)
class _Layout:
    """The layout of a model's files: the bytes of the `module`, the bytes before the weights
    (`head`), and the pages of memory.
    """

    module: int
    head: int
    pages: int
    stamp: str
    inside: bool


def memory_pages(program: Program, path: Path, view: ModelView) -> int:
    """The pages of memory that the model takes when it is loaded, constants of code included.

    Raises NncError if there are more than the limit.
    """
    found = program.signature
    tensors = [*view.inputs, *view.outputs]
    static = sum(one.count * one.bytes for one in tensors if one.fixed)
    parts = (
        found.weights_bytes,
        found.prepared_bytes,
        found.prepare_arena_bytes,
        found.arena_bytes,
    )
    # Blocks have a header, and end at a line.
    blocks = 128 * (len(parts) + 2 * len(tensors) + 1)
    needed = STACK + len(program.code) + sum(parts) + static + blocks
    if needed > MEMORY:
        raise NncError(
            f"{path.name}: the model needs {needed / 1e6:,.0f} MB "
            f"({found.weights_bytes / 1e6:,.0f} MB of weights), and WebAssembly has "
            f"{MEMORY / 1e6:,.0f}"
        )
    return -(-needed // PAGE)


def linked(
    tools: WasmToolchain,
    code: bytes,
    exports: Sequence[str],
    pages: int,
    shared: bool,
    table: bool = False,
) -> bytes:
    """A module of an object file and the runtime; see `WasmToolchain.module`. Raises NncError."""
    with TemporaryDirectory(prefix="nnc-") as name:
        objects = [Path(name) / "model.o", Path(name) / "runtime.o"]
        objects[0].write_bytes(code)
        tools.compile(RUNTIME_SOURCE, objects[1], {})
        made = Path(name) / "model.wasm"
        tools.module(objects, made, exports, pages, shared, table)
        return made.read_bytes()


def kernels_module(target: LlvmTarget, module: Operation, names: Sequence[str]) -> bytes:
    """A module with these kernels, from a model's module after the last stage, which is changed.

    Each kernel is exported by name; its arguments are the addresses of its buffers and, if it has
    parallel loops, a pool of threads (0 for none). Raises NncError.
    """
    wanted = set(names)
    for op in module.body_block:
        if isinstance(op, llvm.Func) and op.sym_name in wanted:
            op.properties.pop("linkage", None)  # external is what is not said
    return _without_weights(target, module, names)


def program_module(target: LlvmTarget, module: Operation) -> bytes:
    """The module of a program without weights, exported as `RUN`. Raises NncError."""
    return _without_weights(target, module, [RUN])


def _without_weights(target: LlvmTarget, module: Operation, exports: Sequence[str]) -> bytes:
    code = target.object_of(llvm_ir(module))
    pages = -(-(STACK + len(code)) // PAGE)
    return linked(find_wasm_toolchain(), code, exports, pages, shared=False)


def _section_head(size: int) -> bytes:
    """The bytes of a custom section before its contents of `size` bytes."""
    name = SECTION.encode()
    return b"\0" + _leb128(1 + len(name) + size) + _leb128(len(name)) + name


def _leb128(number: int) -> bytes:
    made = bytearray()
    while number > 127:
        made.append(number & 127 | 128)
        number >>= 7
    return bytes((*made, number))


def _loader(
    target: LlvmTarget, program: Program, path: Path, view: ModelView, layout: _Layout
) -> str:
    """The loader's text for this model."""
    features = target.features.split(",")
    about = about_program(program, path, view) | {
        "file": path.name,
        "target": target.name,
        "features": [text for name, text in _PROBES.items() if f"+{name}" in features],
        "module": layout.module,
        "head": layout.head,
        "pages": layout.pages,
        "stamp": layout.stamp,
        "inside": layout.inside,
        "parallel": program.parallel,
    }
    return loader_text(LOADER_SOURCE, about)


def _sums(weights: np.ndarray) -> list[int]:
    """What `sumsOf` of shared.mjs gives for the weights."""
    sums, words = sums_of([weights]), -(-weights.nbytes // 4)
    return [one % 2**32 for one in (sums.plain, words * sums.plain - sums.weighted)]


def about_program(program: Program, path: Path, view: ModelView) -> dict[str, Any]:
    """The facts about a program that all loaders need."""

    def about_tensors(tensors: Sequence[TensorView]) -> list[dict[str, Any]]:
        return [
            {"name": one.name, "type": one.code, "dims": list(one.shape), "array": one.type}
            for one in tensors
        ]

    found = program.signature
    return {
        "name": path.name,
        "weightsFile": path.with_suffix(".weights").name,
        "inputs": about_tensors(view.inputs),
        "outputs": about_tensors(view.outputs),
        "weights": found.weights_bytes,
        "sums": _sums(program.weights),
        "prepared": found.prepared_bytes,
        "prepareArena": found.prepare_arena_bytes,
        "arena": found.arena_bytes,
        "heap": found.heap_bytes,
        "failures": list(found.failures),
        "firstFailure": FIRST_FAILURE,
    }


def loader_text(source: Path, about: dict[str, Any] | None = None, *more: Path) -> str:
    """The text of a loader with its shared parts and `more`; with `about`, for that model."""
    sources = (source, MATHEMATICS_SOURCE, SHARED_SOURCE, *more)
    text, *parts = (one.read_text(encoding="utf-8") for one in sources)
    assert _PLACEHOLDER in text
    known = f"const MODEL = {json.dumps(about, indent=2)};" if about else _PLACEHOLDER
    return text.replace(_PLACEHOLDER, "\n\n".join([known, *map(str.rstrip, parts)]))
