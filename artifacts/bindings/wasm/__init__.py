"""JavaScript on a WebAssembly module: the types of the loader beside the module."""

from dataclasses import replace

from ..node import LANGUAGE as NODE

LANGUAGE = replace(
    NODE,
    name="wasm",
    title="JavaScript",
    files={"model.d.ts": "{prefix}.d.ts"},
    systems=(),
)
"""Not in `LANGUAGES`, since its files are always written with the module."""
