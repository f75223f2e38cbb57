"""CoreML: models, and packages with one."""

from __future__ import annotations

from ..common.source import Source
from .messages import fields_of, suffix_of

GROUPS_OF_MODELS = range(200, 3001)
"""The fields of a CoreML model that tell its kind."""


def is_it(source: Source) -> bool:
    """Whether it is a CoreML model, or a package with one."""
    if source.is_folder:
        return source.has_beside("Manifest.json") or suffix_of(source) == ".mlpackage"
    if suffix_of(source) in (".mlmodel", ".mlpackage"):
        return True
    fields = fields_of(source)
    return fields.get(1) == 0 and any(number in GROUPS_OF_MODELS for number in fields)
