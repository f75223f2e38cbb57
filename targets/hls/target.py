"""HLS C++ as a target: one hardware function, scheduled for the resources of an FPGA part."""

from __future__ import annotations

import json
import os
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from ...artifacts.options import ArtifactOptions, FileKind
from ...ir.core import Operation
from ...ir.files import Part, write_together
from ...ir.stages import Stage, stage
from ...ir.timing import Timed, untimed
from ..base import Listing, Symbols, Target
from ..fpga import FpgaMachine

if TYPE_CHECKING:
    from ...runtime.program import LinkedCode, Program

_SAMPLES = stage(
    "samples",
    "the same, with the results for a few inputs, and the ranges of the kernels' floats",
    "sample-ranges",
)
_LOOPS = stage(
    "hardware-loops",
    "loops over elements: scf, memref and arith, with marks of pipelines and copies",
    "apply-schedules",
    "canonicalize",
    "cse",
    ("expand-math", "for the element types that processors have"),
    ("keep-on-chip", "after schedules, which shrink buffers"),
    "canonicalize",
    "cse",
    ("describe-entry", "the description for callers, and the numbers of checks"),
)


_FIXED = stage(
    "fixed-point-loops",
    "the same, with functions such as exp as they are",
    "apply-schedules",
    ("keep-on-chip", "after schedules, which shrink buffers"),
    "canonicalize",
    "cse",
    ("describe-entry", "the description for callers, and the numbers of checks"),
)


@dataclass(frozen=True, kw_only=True)
class HlsTarget(Target):
    """C++ with pragmas that synthesis turns into hardware; any C++ compiler can run it."""

    machine: FpgaMachine
    policy: str = "pipelines"
    exact: bool = False
    """Whether arrays of integers use types of exactly as many bits as they need."""
    fixed: int = 0
    """The bits of the fixed-point numbers that replace floats; 0 if floats stay."""

    @property
    def stages(self) -> tuple[Stage, ...]:
        return _SAMPLES, _FIXED if self.fixed else _LOOPS

    @property
    def files(self) -> Mapping[str, FileKind]:
        return {".cpp": FileKind(holds_weights=True)}

    def has_pool(self, module: Operation) -> bool:
        return False

    def emit(self, module: Operation, symbols: Symbols, timed: Timed = untimed) -> bytes:
        from .text import hls_text

        with timed("Print"):
            text = hls_text(module, symbols.prefix, self.machine, self.exact, self.fixed)
        return text.encode()

    def listing(self, module: Operation, line_of: Mapping[Operation, int]) -> Listing:
        return Listing.of(".cpp", self.emit(module, Symbols()).decode())

    def told(self, module: Operation) -> str:
        return self.notes(module)[0]

    def notes(self, module: Operation) -> list[str]:
        from .fixed import FixedRanges
        from .text import ranges_of, report_of

        ranges = ranges_of(module, self.fixed)
        found = list(report_of(module, ranges, self.machine).lines())
        if isinstance(ranges, FixedRanges) and (nodes := ranges.with_floats()):
            found.append(f"some numbers stay floats in {len(nodes)} kernels: {', '.join(nodes)}")
        return found

    def write(
        self, program: Program, path: Path, options: ArtifactOptions, timed: Timed = untimed
    ) -> list[Path]:
        from .text import PART, bench_text, header

        code, _, report, samples, _ = program.code.decode().split(PART)
        beside, bench = path.with_suffix(".h"), path.with_name(f"{path.stem}_tb.cpp")
        files: dict[Path, tuple[Part, ...]] = {
            path: (f'#include "{beside.name}"\n', code),
            beside: (header(program.signature, options.prefix),),
            path.with_suffix(".json"): (report,),
        }
        given = json.loads(samples)
        if given:
            text = bench_text(program.signature, options.prefix, beside.name, given)
            files[bench] = (text,)
        with timed("Output"):
            write_together(files)
        return list(files)

    def obstacle(self) -> str | None:
        from ..c.running import cpp_compiler

        if not cpp_compiler():
            return "no C++ compiler is here: install g++ or clang++"
        if (self.exact or self.fixed) and not _has_types():
            return (
                "ap_int.h and ap_fixed.h are not found: name the folder of AMD's types, from Vitis "
                "or from hls4ml, in CPLUS_INCLUDE_PATH"
            )
        return None

    def not_timed(self) -> str | None:
        return "what runs here is C++, and no hardware that was made of it"

    def load(self, code: bytes, exports: tuple[str, ...]) -> LinkedCode:
        self.check_runs_here()
        from ..c.running import load_cpp

        return load_cpp(code)


def _has_types() -> bool:
    """Whether the C++ compiler finds the arbitrary-width types (`ap_fixed.h`)."""
    words = ":".join(os.environ.get(name, "") for name in ("CPLUS_INCLUDE_PATH", "CPATH"))
    folders = [Path(word) for word in words.split(":") if word] + [Path("/usr/include")]
    return any((folder / "ap_fixed.h").exists() for folder in folders)
