"""Levels of WebAssembly engines: no vectors, vectors of 128 bits, and relaxed vectors.

An engine compiles a module for the processor that it finds. Registers, units, latencies and caches
here are those of the 64-bit x86 and Arm cores that most browsers run on: an addition takes 3 to 4
cycles (Zen 2 to 5, Golden Cove; Software Optimization Guides of AMD, Arm), the caches are those of
Zen 2, Skylake and Neoverse N1. Two additions and two multiplications start in a cycle there, but
V8's code for a multiplication with an addition has copies and checks between them: one such pair
starts in a cycle, as `nnc calibrate` measures in Node 20 on Zen 3. Of x86's 16 vector registers V8
can allocate 15 (`kScratchDoubleReg` in its register-x64.h).

TurboFan, V8's optimizing compiler up to Chrome 125 and Node 22, places arithmetic as late as its
result is used and so puts all of a body's loads before it; `node --print-wasm-code` shows it. Its
successor Turboshaft keeps the order. Loop overhead counts as much as instructions: each iteration
asks whether the thread is to stop, and moves and compares its index, 6 micro-operations.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING

from ...artifacts.options import ArtifactOptions, FileKind
from ...ir.core import Operation
from ...ir.timing import Timed, untimed
from ..base import TrialCode
from ..costs import Costs, LoopCosts, TileCosts
from ..llvm.dots import Dot
from ..llvm.target import LlvmTarget
from ..processor import Processor
from .engine import Node
from .linker import WasmToolchain, find_wasm_toolchain
from .names import WASM_NAMES

if TYPE_CHECKING:
    from ...runtime.model import Model
    from ...runtime.program import Program
    from ...runtime.replacing import ReplacingModel

_SIMD = Processor(
    vector_bits=128,
    vector_registers=15,
    full_width_units=1,
    unit_bits=128,
    fma_latency=4,
    loads_per_cycle=2,
    load_bytes_per_cycle=32,
    has_fma=False,
    has_masks=False,
    has_pair_products=True,
    loads_early=True,
    line_bytes=64,
    l1_bytes=32 << 10,
    l1_way_bytes=4 << 10,
    l2_bytes=512 << 10,
    l3_bytes=8 << 20,
    l2_bandwidth=32.0,
    l3_bandwidth=12.0,
    memory_bandwidth=6.0,
    cores=4,
    gigahertz=3.5,
    costs=Costs(
        tiles=TileCosts(streaming_registers=1, loop_micro_ops=6.0),
        loops=LoopCosts(prefetch_passes=0),
    ),
)

_SCALAR = replace(_SIMD, vector_bits=32, unit_bits=32, full_width_units=2, has_pair_products=False)

_RELAXED = replace(_SIMD, has_fma=True, full_width_units=2)

_FEATURES = "+atomics,+bulk-memory,+mutable-globals,+nontrapping-fptoint,+sign-ext"
"""The features of every engine with threads: since Chrome 75, Firefox 79, Safari 15."""


_MODULE = FileKind(holds_weights=True, makes_weights=True, has_names=False)
"""A module is called through its loader, so that symbols need no prefix."""


@dataclass(frozen=True, kw_only=True)
class Wasm(LlvmTarget):
    """Modules of WebAssembly, linked by the ziglang package."""

    @property
    def files(self) -> Mapping[str, FileKind]:
        return {**super().files, ".wasm": _MODULE}

    def toolchain(self) -> WasmToolchain:
        return find_wasm_toolchain()

    def foreign_triple(self) -> str | None:
        return None  # modules have no C library

    def check_file(self, path: Path, options: ArtifactOptions) -> None:
        super().check_file(path, options)
        if path.suffix == self.library:
            self.toolchain()

    def write(
        self, program: Program, path: Path, options: ArtifactOptions, timed: Timed = untimed
    ) -> list[Path]:
        if path.suffix != self.library:
            return super().write(program, path, options, timed)
        from .module import write_module

        return write_module(self, program, path, options, timed)

    def trial(self, module: Operation, kernels: Sequence[str]) -> TrialCode:
        from .module import kernels_module

        return TrialCode(kernels_module(self, module, kernels))

    @property
    def is_native(self) -> bool:
        return False

    def obstacle(self) -> str:
        return "WebAssembly runs in an engine"

    def check_runs(self, emulate: bool = True) -> None:
        # An engine makes code of this processor, so it emulates nothing.
        super().check_runs()

    @property
    def has_clock(self) -> bool:
        return True

    def engine(self) -> Sequence[str]:
        assert self.emulator is not None
        return self.emulator.command()

    def not_timed(self) -> str | None:
        assert self.emulator is not None
        return self.emulator.missing()

    def replaces_kernels(self, threads: int) -> bool:
        # Each further thread has an instance and a table of its own.
        return threads == 1 and self.not_timed() is None

    def replacing(self, program: Program, kernels: int) -> ReplacingModel:
        from .module import replacing_in_engine

        assert self.emulator is not None
        return replacing_in_engine(self, self.emulator, program, kernels)

    def running(
        self, program: Program, threads: int, progress: Callable[[str], None] | None = None
    ) -> Model:
        from .module import in_engine

        assert self.emulator is not None
        return in_engine(self, self.emulator, program, threads)


def _level(number: int, name: str, machine: Processor, summary: str, features: str) -> Wasm:
    return Wasm(
        name=name,
        summary=summary,
        family="wasm",
        machine=machine,
        triple="wasm32-unknown-unknown",
        cpu="mvp",
        features=_FEATURES + features,
        relocation="static",
        names=WASM_NAMES,
        dots=(Dot("s16", 4, "llvm.wasm.dot"),),
        level=number,
        pointer_bits=32,
        system="",
        object_format="wasm",
        library=".wasm",
        exact_fma=False,
        adds_offsets=True,
        has_maxnum=False,
        has_half=False,
        emulator=Node(relaxed="+relaxed-simd" in features),
    )


TARGETS = (
    _level(1, "wasm32", _SCALAR, "any browser, without vectors", ""),
    _level(2, "wasm32-simd", _SIMD, "browsers since 2023, and Node: 128-bit vectors", ",+simd128"),
    _level(
        3, "wasm32-relaxed-simd", _RELAXED, "the same with the processor's own multiply-add",
        ",+simd128,+relaxed-simd",
    ),
)  # fmt: skip
