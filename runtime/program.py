"""A compiled model as data: machine code, weights, and the signature of its entry."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np

from ..ir.attributes import ArrayAttr, IntegerAttr, StringAttr
from ..ir.core import Operation
from ..ir.diagnostics import NncError
from ..ir.timing import Timed, untimed
from ..ir.types import TensorType
from ..targets.attribute import target_of
from ..targets.base import Target
from .threads import POOL_SYMBOLS
from .weights import aligned_buffer, filling


@dataclass(frozen=True)
class Signature:
    """The entry of a compiled model: inputs, outputs, and memory in bytes.

    Of the arena, `live_bytes` are in use at one time at most: no arena could be smaller.
    """

    input_names: list[str]
    input_types: list[TensorType]
    output_names: list[str]
    output_types: list[TensorType]
    arena_bytes: int
    weights_bytes: int
    live_bytes: int


@dataclass(frozen=True)
class Program:
    """Machine code of a model and what is needed to call it.

    `code` is an object file; `weights` the bytes of the buffer that the code reads, 64-byte
    aligned, in memory or mapped from a file; `parallel` says whether the code has a pool;
    `target` is what the code is for.
    """

    signature: Signature
    code: bytes
    weights: np.ndarray
    parallel: bool
    target: Target


def make_program(
    module: Operation,
    new_weights: Callable[[int], np.ndarray] | None = None,
    rename: Callable[[str], str] | None = None,
    timed: Timed = untimed,
) -> Program:
    """The program of a module of the llvm dialect that has an entry, for the module's target.

    Raises NncError.
    `new_weights` makes the buffer of so many bytes that the weights go to; memory by default.
    `rename` may change the names in the LLVM IR text; `timed` is told what is being done.
    """
    from ..targets.llvm.ir import has_scalar_loops, llvm_ir

    found, target = signature(module), target_of(module)
    defined = {op.properties.get("sym_name") for op in module.body_block}
    parallel = all(StringAttr(name) in defined for name in POOL_SYMBOLS)
    with timed("Weights"):
        weights = (new_weights or aligned_buffer)(found.weights_bytes)
    with filling(module, weights, timed):
        with timed("LLVM IR"):
            text = llvm_ir(module)
            if rename is not None:
                text = rename(text)
            scalar_loops = has_scalar_loops(module)
        with timed("LLVM"):
            code = target.emit(text, scalar_loops, timed)
    return Program(found, code, weights, parallel, target)


# -- what the module says ------------------------------------------------------------------------


def signature(module: Operation) -> Signature:
    """What the module says of its entry. Raises NncError where it has none."""
    return Signature(
        _strings(module, "nn.input_names"),
        _types(module, "nn.inputs"),
        _strings(module, "nn.output_names"),
        _types(module, "nn.outputs"),
        _integer(module, "nn.arena_bytes"),
        _integer(module, "nn.weights_bytes"),
        _integer(module, "nn.live_bytes"),
    )


def _entry_attribute(module: Operation, name: str) -> Any:
    value = module.attribute(name)
    if value is None:
        raise NncError(
            f"the module has no '{name}': it has no entry function, or is not lowered to the "
            "llvm dialect",
            module.loc,
        )
    return value


def _strings(module: Operation, name: str) -> list[str]:
    return [a.value for a in _entry_attribute(module, name)]


def _types(module: Operation, name: str) -> list[TensorType]:
    value = _entry_attribute(module, name)
    assert isinstance(value, ArrayAttr)
    return list(value.elements)  # type: ignore[arg-type]


def _integer(module: Operation, name: str) -> int:
    value = _entry_attribute(module, name)
    assert isinstance(value, IntegerAttr)
    return value.value
