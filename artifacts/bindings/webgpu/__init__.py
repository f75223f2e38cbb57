"""JavaScript on a browser's GPU: the types of the model's own module."""

from dataclasses import replace

from ..wasm import LANGUAGE as WASM

LANGUAGE = replace(WASM, name="webgpu")
"""Not in `LANGUAGES`, since its files are always written with the module."""
