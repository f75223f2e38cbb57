"""The forms of StableHLO: text, MLIR bytecode, what `jax.export` writes, objects of JAX."""

from __future__ import annotations

import re
from importlib import import_module
from typing import Any

from ..common.source import Source

BYTECODE = b"ML\xefR"
EXPORT_HEAD = 4096
"""Bytes of an export before its bytecode, at most, for the look at what a file is."""

_USES = re.compile(rb"\b(?:stablehlo|chlo|mhlo|jax)\.[a-z_]+")


def is_stablehlo(source: Source) -> bool:
    """Whether a source looks like StableHLO."""
    if source.object is not None:
        return _is_of_jax(source.object)
    head = source.head
    if BYTECODE in head:
        return True
    return b"module" in head and b"\0" not in head and _USES.search(head) is not None


def _is_of_jax(given: Any) -> bool:
    """Whether an object is a lowered, exported or compiled function, by its type alone."""
    return type(given).__module__.split(".")[0] in ("jax", "jaxlib") and (
        hasattr(given, "mlir_module") or hasattr(given, "as_text")
    )


def text_of(source: Source) -> str:
    """The module as text. Raises NncError where it cannot be had."""
    if source.object is not None:
        given = source.object
        return str(given.mlir_module() if hasattr(given, "mlir_module") else given.as_text())
    if BYTECODE not in source.head:
        return source.text
    return _by_jax(source)


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
