"""Compiles kernels to WebAssembly or WebGPU, so that a page can time them on its reader's machine.

The code also has loops that measure that machine's arithmetic and memory.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from ..dialects import llvm
from ..driver.calibrating.loops import accumulators, multiply_adds, reading_open
from ..driver.compile import run_stages
from ..ir.diagnostics import NncError
from ..ir.syntax.parser import parse_module
from ..targets.attribute import target_of
from ..targets.base import TrialCode
from ..targets.base import target as find_target
from ..targets.processor import core_of
from ..targets.wasm.levels import Wasm
from ..targets.wasm.module import program_module
from .compilation import Part

ENGINE = "wasm32-simd"
"""The target of code that runs in pages: every browser has it since 2023."""
GPU_ENGINE = "webgpu-browser"
"""The target of code that runs in pages on a GPU, in browsers with WebGPU."""

_STEPS = 500_000
"""The iterations of the loop that measures arithmetic: a millisecond or two."""
_READ = 4 << 20
"""The elements read by a call of the loop that measures reading, in several passes over smaller
buffers."""


@dataclass(frozen=True)
class Trial:
    """Code with kernels, and for each kernel whether it takes a thread pool."""

    made: TrialCode
    pools: dict[str, bool]


def trial_of(part: Part) -> Trial | None:
    """The kernels of a part that can be called alone; the module is consumed. None if there are
    none, or pages cannot run the target's code. Raises NncError.
    """
    assert part.module is not None
    pools = _callable(part)
    if not pools:
        return None
    code = target_of(part.module).trial(part.module, list(pools))
    return None if code is None else Trial(code, pools)


def _callable(part: Part) -> dict[str, bool]:
    """The kernels that take only buffer addresses, and whether a pool follows these."""
    assert part.module is not None
    found = {}
    for op in part.module.body_block:
        if not isinstance(op, llvm.Func) or op.is_declaration:
            continue
        kernel = part.kernels.get(op.sym_name)
        if kernel is None or kernel.arguments is None:
            continue
        inputs = op.function_type.inputs
        more = len(inputs) - len(kernel.arguments)
        if more in (0, 1) and all(type is llvm.ptr for type in inputs):
            found[op.sym_name] = more == 1
    return found


def engine() -> Wasm:
    """The target whose code pages can run."""
    found = find_target(ENGINE)
    assert isinstance(found, Wasm)
    return found


def missing() -> str:
    """Why no module can be made here; empty if one can."""
    try:
        engine().toolchain()
    except NncError as error:
        return error.message
    return ""


@dataclass(frozen=True)
class Probes:
    """Modules that measure a machine's peaks: of multiply-adds, and of reading a buffer.

    One call of `arithmetic` does `operations` operations. One call of `reading` reads `elements`
    elements, in several passes over a smaller buffer.
    """

    arithmetic: bytes
    reading: bytes
    operations: int
    elements: int

    def as_json(self) -> dict[str, Any]:
        """The numbers for the page."""
        return {"operations": self.operations, "elements": self.elements}


def probes() -> Probes:
    """The loops with which the page measures the machine's peaks, compiled for the engine:
    multiply-adds and reads of memory, as in `nnc calibrate`. Raises NncError.
    """
    target = engine()
    machine = core_of(target)
    lanes, chains = machine.lanes(4), accumulators(machine)
    texts = (
        multiply_adds(machine, lanes, chains, _STEPS).text(),
        reading_open(lanes, _READ, _READ).text(),
    )
    codes = []
    for text in texts:
        module = parse_module(text)
        run_stages(module, target=target.name)
        codes.append(program_module(target, module))
    return Probes(codes[0], codes[1], 2 * lanes * chains * _STEPS, _READ)
