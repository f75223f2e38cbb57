"""JavaScript on a browser's GPU: the types of the model's own module."""

from dataclasses import replace

from ..wasm import LANGUAGE as WASM

LANGUAGE = replace(WASM, name="webgpu")
"""Not one of `LANGUAGES`: what it needs is written with the module, without being asked for."""
