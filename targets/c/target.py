"""C as a target: text for any machine with a C compiler, scheduled for one of the known ones."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING

from ...artifacts.options import ArtifactOptions, FileKind
from ...dialects.marks import PARALLEL
from ...ir.core import Operation
from ...ir.diagnostics import NncError
from ...ir.files import Part, write_together
from ...ir.stages import Stage, stage
from ...ir.timing import Timed, untimed
from ..base import Listing, Symbols, Target, find_host, host, target, target_names
from ..processor import Processor
from ..stages import LOOPS, VECTORS

if TYPE_CHECKING:
    from ...runtime.program import LinkedCode, Program

HERE = "c"
"""The name of the target for C with this machine's numbers."""
_INSIDE_LIMIT = 1 << 28
"""The most bytes of weights in C text: compilers take about twelve times as much memory."""

_TEXT = stage(
    "text",
    "the IR that C is printed from",
    ("outline-parallel", "the functions that the caller's threads call"),
    "canonicalize",
    "cse",
    ("describe-entry", "the data of the header, and the numbers of checks"),
)


@dataclass(frozen=True, kw_only=True)
class CTarget(Target):
    """Portable C99; uses the compilers' vector extension if the machine has vectors."""

    @property
    def stages(self) -> tuple[Stage, ...]:
        return LOOPS, VECTORS, _TEXT

    @property
    def files(self) -> Mapping[str, FileKind]:
        return {".c": FileKind(holds_weights=True)}

    @property
    def ends_in_llvm(self) -> bool:
        return False

    def here(self) -> Target:
        if self.name != HERE:
            return self
        found = host()
        machine = found.machine
        if isinstance(machine, Processor):
            machine = machine.without_tiles
        return replace(self, machine=machine, pointer_bits=found.pointer_bits)

    def has_pool(self, module: Operation) -> bool:
        return any(PARALLEL in op.attributes for op in module.walk())

    def emit(self, module: Operation, symbols: Symbols, timed: Timed = untimed) -> bytes:
        from .entry import c_text

        with timed("Print"):
            return c_text(module, symbols.prefix, self.pointer_bits).encode()

    def listing(self, module: Operation, line_of: Mapping[Operation, int]) -> Listing:
        return Listing.of(".c", self.emit(module, Symbols()).decode())

    def write(
        self, program: Program, path: Path, options: ArtifactOptions, timed: Timed = untimed
    ) -> list[Path]:
        from .artifact import call_text, header, weights_text
        from .entry import WEIGHTS_HERE

        inside, found = options.weights != "beside", program.signature
        if inside and program.weights.size > _INSIDE_LIMIT:
            if options.weights == "inside":
                raise NncError(
                    f"{program.weights.size / 1e6:,.0f} MB of weights are too many for C text; "
                    "leave them beside it (--weights beside)"
                )
            inside = False
        weights = weights_text(found, options.prefix, program.weights, inside)
        code, rest = program.code.decode().split(WEIGHTS_HERE)
        include = f'#include "{path.with_suffix(".h").name}"\n'
        parts = (include, code, weights, rest, call_text(found, options.prefix, inside))
        files: dict[Path, tuple[Part, ...]] = {
            path: parts,
            path.with_suffix(".h"): (header(found, options.prefix, inside),),
        }
        if not inside:
            files[path.with_suffix(".weights")] = (program.weights.data,)
        with timed("Output"):
            write_together(files)
        return list(files)

    def obstacle(self) -> str | None:
        from .running import compiler

        return None if compiler() else "no C compiler is here: install gcc, clang, or ziglang (pip)"

    def not_timed(self) -> str | None:
        here = find_host()
        if here is not None and here.pointer_bits != self.pointer_bits:
            return f"it is scheduled for a processor of {self.pointer_bits} bits, which this is not"
        named = self.name.removeprefix(f"{HERE}-")
        other = target(named) if named in target_names() else self
        return self.obstacle() if other is self else other.obstacle() or self.obstacle()

    def replaces_kernels(self, threads: int) -> bool:
        return self.not_timed() is None

    def load(self, code: bytes, exports: tuple[str, ...]) -> LinkedCode:
        self.check_runs_here()
        from .running import load_text

        return load_text(code)

    def built(self, code: bytes) -> bytes:
        from .running import library_of

        return library_of(code)

    def load_built(self, code: bytes, exports: tuple[str, ...]) -> LinkedCode:
        from .running import load_library

        return load_library(code)
