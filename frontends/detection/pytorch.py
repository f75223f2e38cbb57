"""PyTorch: archives of torch.export, pickles (which get an error), and live objects."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from ...ir.diagnostics import NncError
from ..common.source import Source
from ..wire.archive import Archive

_CLASSES = {
    "torch.export.exported_program.ExportedProgram",
    "torch.nn.modules.module.Module",
}
_PICKLES = tuple(b"\x80" + bytes([version]) for version in range(2, 6))


def is_it(source: Source) -> bool:
    """Whether a source looks like one of PyTorch's."""
    if source.object is not None:
        return _is_object(source.object, source.inputs)
    if source.head[:2] in _PICKLES:
        return True
    if not source.head.startswith(b"PK\x03\x04"):
        return False
    ends = ("/data.pkl", ".pt2_archive", "/archive_format", "serialized_exported_program.json")
    try:
        return any(name.endswith(ends) for name in Archive(source).members)
    except NncError:
        return b"/data.pkl" in source.head or b"/data/weights/" in source.head


def _is_object(given: Any, inputs: Any) -> bool:
    """Whether an object is a program, module, named weights, or function with example tensors."""
    names = _classes(given)
    if isinstance(given, Mapping):
        given, inputs = None, list(given.values())[:1]
    elif callable(given) and isinstance(inputs, Mapping):
        inputs = list(inputs.values())
    if given is None or (callable(given) and names.isdisjoint(_CLASSES)):
        examples = inputs if isinstance(inputs, list | tuple) else [inputs]
        return any("torch.Tensor" in _classes(x) for x in examples)
    return not names.isdisjoint(_CLASSES)


def _classes(given: Any) -> set[str]:
    """The qualified names of an object's classes."""
    return {f"{c.__module__}.{c.__qualname__}" for c in type(given).__mro__}
