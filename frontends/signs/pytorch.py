"""PyTorch: archives of torch.export, pickles (which get an error), and live objects."""

from __future__ import annotations

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
        classes = type(source.object).__mro__
        names = {f"{c.__module__}.{c.__qualname__}" for c in classes}
        return not names.isdisjoint(_CLASSES)
    if source.head[:2] in _PICKLES:
        return True
    if not source.head.startswith(b"PK\x03\x04"):
        return False
    ends = ("/data.pkl", ".pt2_archive", "/archive_format", "serialized_exported_program.json")
    try:
        return any(name.endswith(ends) for name in Archive(source).members)
    except NncError:
        return b"/data.pkl" in source.head or b"/data/weights/" in source.head
