"""Programs from modules after the last stage: code, weights, and the module's signature."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from contextlib import nullcontext
from typing import Any

import numpy as np

from ..dialects.marks import (
    ARENA_BYTES,
    COMPLEX_OUTPUTS,
    FAILURES,
    HEAP_BYTES,
    INPUT_DIMS,
    INPUT_NAMES,
    INPUT_STARTS,
    INPUTS,
    LIVE_BYTES,
    OUTPUT_DIMS,
    OUTPUT_NAMES,
    OUTPUTS,
    PREPARE_ARENA_BYTES,
    PREPARED_BYTES,
    WEIGHTS_BYTES,
)
from ..ir.attributes import ArrayAttr, IntegerAttr
from ..ir.core import Operation
from ..ir.diagnostics import NncError
from ..ir.timing import Timed, untimed
from ..ir.types import TensorType
from ..runtime.executable import Executable
from ..runtime.memory import aligned_buffer
from ..runtime.program import Program, Signature
from ..targets.attribute import target_of
from ..targets.base import Symbols, Target
from .weights import filling


def compile_module(module: Operation, *, threads: int = 1) -> Executable:
    """An executable from a module of the llvm dialect with an entry. Raises NncError."""
    return Executable(make_program(module), threads=threads)


def make_program(
    module: Operation,
    new_weights: Callable[[int], np.ndarray] | None = None,
    symbols: Symbols | None = None,
    timed: Timed = untimed,
    with_weights: bool = True,
) -> Program:
    """The program of a module with an entry, after its target's last stage.

    Raises NncError. Without weights it uses those of another program. `new_weights` allocates the
    buffer of so many bytes for the weights; by default in memory. `symbols` names the exported
    functions; `timed` measures the steps.
    """
    found, target = signature(module), target_of(module)
    parallel = target.has_pool(module)
    with timed("Weights"):
        bytes = found.weights_bytes if with_weights else 0
        weights = (new_weights or aligned_buffer)(bytes)
    with filling(module, weights, timed) if with_weights else nullcontext():
        code = target.emit(module, symbols or Symbols(), timed)
    notes, elsewhere = target.notes(module), target.fallbacks(module)
    return Program(
        found, code, weights, parallel, target, notes=tuple(notes), elsewhere=tuple(elsewhere)
    )


def check_fallback(elsewhere: Sequence[str], target: Target) -> None:
    """Raise NncError, which lists them, if some steps do not run on the target."""
    if elsewhere:
        raise NncError(
            f"{len(elsewhere)} steps are not for '{target.name}'; --fallback cpu leaves them to "
            f"the host: {'; '.join(elsewhere)}"
        )


# -- what the module says ------------------------------------------------------------------------


def signature(module: Operation) -> Signature:
    """The signature of the module's entry. Raises NncError if it has none."""
    return Signature(
        _strings(module, INPUT_NAMES),
        _types(module, INPUTS),
        _strings(module, OUTPUT_NAMES),
        _types(module, OUTPUTS),
        _integer(module, ARENA_BYTES),
        _integer(module, WEIGHTS_BYTES),
        _integer(module, LIVE_BYTES),
        heap_bytes=_integer(module, HEAP_BYTES, 0),
        prepared_bytes=_integer(module, PREPARED_BYTES, 0),
        prepare_arena_bytes=_integer(module, PREPARE_ARENA_BYTES, 0),
        input_dims=_dims(module, INPUT_DIMS),
        output_dims=_dims(module, OUTPUT_DIMS),
        input_starts=_strings(module, INPUT_STARTS) if module.attribute(INPUT_STARTS) else [],
        failures=_strings(module, FAILURES) if module.attribute(FAILURES) is not None else [],
        complex_outputs=(
            _strings(module, COMPLEX_OUTPUTS) if module.attribute(COMPLEX_OUTPUTS) else []
        ),
    )


def _entry_attribute(module: Operation, name: str) -> Any:
    value = module.attribute(name)
    if value is None:
        raise NncError(
            f"the module has no '{name}': it has no entry function, or is not lowered to the "
            "last stage of its target",
            module.loc,
        )
    return value


def _strings(module: Operation, name: str) -> list[str]:
    return [a.value for a in _entry_attribute(module, name)]


def _types(module: Operation, name: str) -> list[TensorType]:
    value = _entry_attribute(module, name)
    assert isinstance(value, ArrayAttr)
    return list(value.elements)  # type: ignore[arg-type]


def _dims(module: Operation, name: str) -> list[list[str]]:
    value = module.attribute(name)
    if not isinstance(value, ArrayAttr):
        return []
    return [[dim.value for dim in dims] for dims in value]  # type: ignore[attr-defined]


def _integer(module: Operation, name: str, default: int | None = None) -> int:
    if default is not None and module.attribute(name) is None:
        return default
    value = _entry_attribute(module, name)
    assert isinstance(value, IntegerAttr)
    return value.value
