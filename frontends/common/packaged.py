"""Models that ship in the `onnx` package, for first steps and tests: `onnx:light_resnet50`."""

from __future__ import annotations

from importlib.util import find_spec
from pathlib import Path

from ...ir.diagnostics import NncError

PACKAGED = "onnx:"
"""The start of the names of such models."""


def packaged_model(name: str) -> Path:
    """The path of a model by its name, `onnx:light_resnet50`. Raises NncError that lists them."""
    spec = find_spec("onnx")
    assert spec is not None and spec.origin is not None
    folder = Path(spec.origin).parent / "backend" / "test" / "data" / "light"
    found = {path.stem: path for path in sorted(folder.glob("*.onnx"))}
    wanted = name.removeprefix(PACKAGED)
    if wanted not in found:
        listed = ", ".join(f"{PACKAGED}{stem}" for stem in found) or "none in this version"
        raise NncError(f"no model '{name}'; the onnx package has: {listed}")
    return found[wanted]
