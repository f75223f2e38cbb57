"""Devices whose kernels LLVM compiles: from the llvm dialect to code, in a separate process."""

from __future__ import annotations

import json
import subprocess
import sys
from abc import abstractmethod
from dataclasses import dataclass
from pathlib import Path
from typing import ClassVar, Literal

from ...dialects import arith, llvm, math
from ...dialects.marks import FAILURES, KERNEL_ARGUMENTS, THREADS
from ...ir.attributes import ArrayAttr, IntegerAttr, StringAttr
from ...ir.core import Operation
from ...ir.diagnostics import NncError
from ...ir.types import i1
from ..device.target import DeviceTarget, computes_in_f64, kernels_in
from ..source.kernels import Kernels
from .ir import ModuleWriter
from .threads import Threads

_GENERATOR = Path(__file__).with_name("generator.py")
_SECONDS = 600

_IN_F64 = (
    math.AbsF,
    math.Ceil,
    math.ClampF,
    math.CopySign,
    math.Floor,
    math.Fma,
    math.FPowI,
    math.Round,
    math.RoundEven,
    math.Rsqrt,
    math.Sqrt,
    math.Trunc,
)
"""The functions of f64 that devices have besides arithmetic; others would need a C library."""

Code = Literal["assembly", "object", "ir"]


@dataclass(frozen=True, kw_only=True)
class KernelTarget(DeviceTarget):
    """A device that LLVM makes code for."""

    triple: ClassVar[str]
    asks: ClassVar[Threads]
    cpu: str
    """LLVM's name of the architecture, which must be one that LLVM knows: it accepts others
    silently."""
    features: str = ""

    @property
    def threads(self) -> Threads:
        return self.asks

    def lacks(self, op: Operation) -> str | None:
        name = op.name.removeprefix("math.")
        if name == op.name or isinstance(op, _IN_F64) or not computes_in_f64(op):
            return None
        if isinstance(op, math.PowF) and op.rhs.defined_by(arith.Constant) is not None:
            return None  # Products or roots, as most are.
        return None if op.results[0].type is i1 else f"'{name}' of f64"

    def code_of(self, kernels: Operation) -> Kernels:
        text = kernels_ir(kernels)
        found = [op for op in kernels.regions[0].blocks[0] if KERNEL_ARGUMENTS in op.attributes]
        failures = kernels.attributes.get(FAILURES)
        messages = failures.elements if isinstance(failures, ArrayAttr) else ()
        checks = [one.value for one in messages if isinstance(one, StringAttr)]
        rows = [_row(op) for op in found if isinstance(op, llvm.Func)]
        return Kernels("", rows, checks, self.made(text))

    def text(self, module: Operation, suffix: str) -> str:
        found = kernels_in(module)
        return self.generated(kernels_ir(found), "assembly").decode() if found is not None else ""

    @abstractmethod
    def made(self, text: str) -> bytes:
        """The code that the host gives the driver, from the kernels' LLVM IR. Raises NncError."""

    def generated(self, text: str, kind: Code) -> bytes:
        """The code of a kind that LLVM makes of IR text. Raises NncError."""
        return generated(text, kind, self.name, self.triple, self.cpu, self.features)


def generated(
    text: str, kind: Code, name: str, triple: str, cpu: str, features: str, level: int = 2
) -> bytes:
    """The code of a kind that LLVM makes of IR text; errors name the target. Raises NncError."""
    words = {"triple": triple, "cpu": cpu, "features": features, "level": level, "kind": kind}
    given = json.dumps(words).encode() + b"\n" + text.encode()
    command = [sys.executable, "-P", _GENERATOR]
    try:
        done = subprocess.run(
            command, input=given, capture_output=True, check=False, timeout=_SECONDS
        )
    except (OSError, subprocess.TimeoutExpired) as error:
        raise NncError(f"LLVM for '{name}' does not run: {error}") from None
    if done.returncode:
        said = done.stderr.decode(errors="replace").strip().splitlines() or ["no reason given"]
        raise NncError(f"LLVM makes no code for '{name}': {said[0]}")
    return done.stdout


def kernels_ir(kernels: Operation) -> str:
    """The LLVM IR text of a module of kernels in the llvm dialect. Raises NncError."""
    return ModuleWriter("nounwind").write(kernels)


def _row(op: llvm.Func) -> str:
    """A kernel's line in `DEVICE_KERNELS`: name, threads and kinds of arguments."""
    kinds, threads = op.attributes[KERNEL_ARGUMENTS], op.attributes[THREADS]
    assert isinstance(kinds, StringAttr) and isinstance(threads, IntegerAttr)
    return f"{op.sym_name} {threads.value} {kinds.value}"
