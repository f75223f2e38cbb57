"""LLVM's names for WebAssembly's versions and features."""

from __future__ import annotations

from ..llvm.processor import ProcessorNames

_FEATURES = """
    atomics bulk-memory bulk-memory-opt call-indirect-overlong exception-handling extended-const
    fp16 gc multimemory multivalue mutable-globals nontrapping-fptoint reference-types relaxed-simd
    sign-ext simd128 tail-call wide-arithmetic
"""

WASM_NAMES = ProcessorNames(
    frozenset(("mvp", "generic", "lime1", "bleeding-edge")), frozenset(_FEATURES.split()), "wasm"
)
