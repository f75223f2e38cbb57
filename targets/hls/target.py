"""HLS C++ as a target: one function of hardware, for a part whose numbers decide the schedule."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from ...artifacts.options import ArtifactOptions, FileKind
from ...ir.core import Operation
from ...ir.files import Part, write_together
from ...ir.stages import Stage, stage
from ...ir.timing import Timed, untimed
from ..base import Symbols, Target
from ..fpga import FpgaMachine

if TYPE_CHECKING:
    from ...runtime.program import LinkedCode, Program

_SAMPLES = stage(
    "samples",
    "the same, with what a few inputs give, and between which numbers kernels' floats were",
    "sample-ranges",
)
_LOOPS = stage(
    "hardware-loops",
    "loops over elements: scf, memref and arith, with marks of pipelines and copies",
    "apply-schedules",
    "canonicalize",
    "cse",
    ("expand-math", "for the numbers that processors have"),
    ("keep-on-chip", "behind schedules, which shrink buffers"),
    "canonicalize",
    "cse",
    ("describe-entry", "what callers have to know, and the statuses of what may fail"),
)


@dataclass(frozen=True, kw_only=True)
class HlsTarget(Target):
    """C++ that synthesis makes hardware of, with pragmas; any C++ compiler runs it."""

    machine: FpgaMachine  # type: ignore[assignment]
    policy: str = "pipelines"

    @property
    def stages(self) -> tuple[Stage, ...]:
        return _SAMPLES, _LOOPS

    @property
    def files(self) -> Mapping[str, FileKind]:
        return {".cpp": FileKind(holds_weights=True)}

    def has_pool(self, module: Operation) -> bool:
        return False

    def emit(self, module: Operation, symbols: Symbols, timed: Timed = untimed) -> bytes:
        from .text import hls_text

        with timed("Print"):
            return hls_text(module, symbols.prefix, self.machine).encode()

    def notes(self, module: Operation) -> list[str]:
        from .ranges import Ranges
        from .text import report_of

        return list(report_of(module, Ranges(module), self.machine).lines())

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

        return None if cpp_compiler() else "no C++ compiler is here: install g++ or clang++"

    def load(self, code: bytes, exports: tuple[str, ...]) -> LinkedCode:
        self.check_runs_here()
        from ..c.running import load_cpp

        return load_cpp(code)
