"""The forms of StableHLO: text, MLIR bytecode, what `jax.export` writes, objects of JAX."""

from __future__ import annotations

from contextlib import suppress
from importlib import import_module
from io import BytesIO
from typing import Any

from ...ir.core import Operation
from ...ir.syntax.parser import parse_module
from ..common.source import Source
from ..detection.stablehlo import BYTECODE, exported, is_of_jax
from .bytecode import read_module


def module_of(source: Source) -> Operation:
    """The module, verified. Raises NncError."""
    if source.object is not None:
        given = source.object if is_of_jax(source.object) else _lowered(source)
        module = _of_object(given, source)
    elif source.head.startswith(BYTECODE):
        module = read_module(source.data, source.name)
    elif (found := exported(source)) is not None:
        module = read_module(found.module, source.name)
    else:
        module = parse_module(source.text, source.name, allow_unregistered=True)
    module.verify()
    return module


def platform(source: Source) -> int:
    """The index of the CPU among the platforms that a function was exported for; else 0."""
    given = source.object
    found = exported(source) if given is None else given
    platforms = getattr(found, "platforms", ())
    return platforms.index("cpu") if "cpu" in platforms else 0


def _of_object(given: Any, source: Source) -> Operation:
    """The module of an exported or a lowered function, which have their places in bytecode."""
    if hasattr(given, "mlir_module_serialized"):
        return read_module(given.mlir_module_serialized, source.name)
    if hasattr(given, "compiler_ir"):
        out = BytesIO()
        given.compiler_ir("stablehlo").operation.write_bytecode(out)
        return read_module(out.getvalue(), source.name)
    return parse_module(given.as_text(), source.name, allow_unregistered=True)


def _lowered(source: Source) -> Any:
    """A function lowered for its example inputs, a tuple or by name. Raises NncError."""
    jax = import_module("jax")
    function, given = source.object, source.inputs
    by_name = given if isinstance(given, dict) else {}
    in_order = () if by_name else given if isinstance(given, tuple | list) else (given,)
    try:
        return jax.jit(function, keep_unused=True).lower(*in_order, **by_name)
    except Exception as error:
        if hasattr(function, "lower"):  # it knows which of its arguments are no arrays
            with suppress(Exception):
                return function.lower(*in_order, **by_name)
        first = (str(error).strip().splitlines() or [""])[0]
        raise source.error(f"JAX cannot lower it: {type(error).__name__}: {first}") from None
