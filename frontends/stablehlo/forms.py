"""The forms of StableHLO: text, MLIR bytecode, what `jax.export` writes, objects of JAX."""

from __future__ import annotations

from importlib import import_module
from typing import Any

from ..common.source import Source
from ..signs.stablehlo import BYTECODE, is_of_jax


def text_of(source: Source) -> str:
    """The module as text. Raises NncError where it cannot be had."""
    if source.object is not None:
        given = source.object if is_of_jax(source.object) else _lowered(source)
        return str(given.mlir_module() if hasattr(given, "mlir_module") else given.as_text())
    if BYTECODE not in source.head:
        return source.text
    return _by_jax(source)


def _lowered(source: Source) -> Any:
    """A function lowered for its example inputs, a tuple or by name. Raises NncError."""
    jax = import_module("jax")
    function, given = source.object, source.inputs
    by_name = given if isinstance(given, dict) else {}
    in_order = () if by_name else given if isinstance(given, tuple | list) else (given,)
    try:
        jitted = function if hasattr(function, "lower") else jax.jit(function)
        return jitted.lower(*in_order, **by_name)
    except Exception as error:
        first = (str(error).strip().splitlines() or [""])[0]
        raise source.error(f"JAX cannot lower it: {type(error).__name__}: {first}") from None


def _by_jax(source: Source) -> str:
    """The text of bytecode, which JAX itself reads: the dialects' encodings are its own."""
    data = source.data.tobytes()
    try:
        if not data.startswith(BYTECODE):
            return str(import_module("jax.export").deserialize(bytearray(data)).mlir_module())
        mlir, ir = import_module("jax._src.interpreters.mlir"), import_module("jaxlib.mlir.ir")
        stablehlo = import_module("jaxlib.mlir.dialects.stablehlo")
        with mlir.make_ir_context() as context:
            try:
                return str(stablehlo.deserialize_portable_artifact(context, data))
            except Exception:  # plain bytecode, which is no portable artifact
                return str(ir.Module.parse(data))
    except ImportError:
        raise source.error(
            "it is MLIR bytecode, which needs the package 'jax' to be read; install it, or give "
            "the text of the module: `exported.mlir_module()` or `lowered.as_text()`"
        ) from None
    except Exception as error:
        first = str(error).strip().splitlines()[0] if str(error).strip() else type(error).__name__
        raise source.error(f"JAX cannot read the bytecode: {first}") from None
